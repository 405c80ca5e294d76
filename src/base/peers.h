// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the sockets of this process are connected to.
#ifndef SB_PEERS_H
#define SB_PEERS_H

#include <stdint.h>

enum sb_peers {
    SB_PEERS_NONE,   // no socket is connected
    SB_PEERS_REMOTE, // to other machines only
    SB_PEERS_LOCAL,  // at least one to this machine
};

// Looks at the first 4,096 file descriptors but the standard ones, which takes
// less than a millisecond. A TCP connection whose two ends have the same
// address stays on this machine, and so does a Unix socket; those without a
// name (socketpair) are not counted, nor are clients of this process, which
// have connected to a TCP port on which it listens (the live view). A container
// on this machine with an address of its own counts as another machine. Any
// thread.
enum sb_peers sb_peers(void);

// What the process has been connected to so far. {0}: nothing.
struct sb_peers_seen {
    enum sb_peers peers; // LOCAL if it was at any time
    uint64_t next;       // when to look again, ns
};

// Adds the current connections of the process to *seen. now: ns. Until a
// connection is found, each call looks for connections; after that, one call in
// 5 seconds does, because intervals may be short; after SB_PEERS_LOCAL, none
// does. Returns seen->peers. The caller protects *seen.
enum sb_peers sb_peers_look(struct sb_peers_seen *seen, uint64_t now);

#endif
