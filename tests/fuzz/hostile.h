// SPDX-License-Identifier: GPL-2.0-or-later
//
// A hostile server: it has the answers of a real one from a recording, changes
// them as the fuzz input says, and gives them to a driver, its client library
// and the SQL facade, which run here as they are. docs/internals/hostile.md
// explains how the parts fit together.
//
// The server has no thread of its own. It acts inside connect(), send(),
// recv() and poll() of the client, so the same input always takes the same
// course, and when a client waits for something that never comes, the
// connection is closed at once.
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/driver.h"

// Bytes that grow.
struct hostile_bytes {
    uint8_t *data;
    size_t len, cap;
};

// Appends; ends the process when memory runs out.
void hostile_add(struct hostile_bytes *b, const void *data, size_t len);
// Puts len bytes in place of `cut` bytes at `at`.
void hostile_splice(struct hostile_bytes *b, size_t at, size_t cut,
    const void *data, size_t len);

// What the server has to know of a protocol ---------------------------------

// The state of one connection that the framing of requests needs.
struct hostile_session {
    bool begun; // the handshake is over
};

struct hostile_protocol {
    const char *name;  // of the driver and of the recordings
    bool speaks_first; // the server greets
    size_t head;       // bytes of a packet before its body
    // Bytes of the first packet of an answer, head included; len when it is
    // not whole.
    size_t (*packet)(const uint8_t *p, size_t len);
    // Makes the head of a packet of len bytes say so.
    void (*set_length)(uint8_t *packet, size_t len);
    // Numbers the packets of an answer again, from `first`; NULL: they have
    // no numbers.
    void (*number)(uint8_t *answer, size_t len, uint8_t first);
    // Bytes of the first request when it is complete, else 0. *answered:
    // whether the server answers it.
    size_t (*request)(struct hostile_session *s, const uint8_t *p, size_t len,
        bool *answered);
};

// Recordings ----------------------------------------------------------------

#define HOSTILE_REQUEST 200u // bytes of a request that are kept
#define HOSTILE_TURNS   250u // of a recording

struct hostile_turn {
    uint8_t request[HOSTILE_REQUEST];
    size_t request_len;
    struct hostile_bytes answer;
};

struct hostile_tape {
    struct hostile_turn turn[HOSTILE_TURNS];
    unsigned n;
};

// False, with the reason on stderr, when there is no good recording there.
bool hostile_tape_load(struct hostile_tape *t, const char *path);
bool hostile_tape_save(const struct hostile_tape *t, const char *path);
// The turn that answers the request: the next one from `at` with the same
// request, else with the same first byte, else the one at `at`.
unsigned hostile_tape_find(const struct hostile_tape *t, unsigned at,
    const uint8_t *request, size_t len);

// Changes -------------------------------------------------------------------

// What happens to one answer.
struct hostile_fate {
    bool close;    // behind the answer
    size_t pieces; // so many bytes at a time reach the client; 0: all at once
};

// The answer `number` of the course, changed as the input says. The input is a
// list of changes of HOSTILE_CHANGE bytes.
#define HOSTILE_CHANGE 8u
struct hostile_fate hostile_change(const struct hostile_protocol *proto,
    const struct hostile_tape *tape, const uint8_t *input, size_t size,
    unsigned number, struct hostile_bytes *answer);

// The server ----------------------------------------------------------------

// A Unix socket below this folder, of which there is none, is the server's.
#define HOSTILE_FOLDER "/hostile"

// Connections to it are answered from the tape, changed by the input. With
// `real`, the path of a server's socket, they go there instead and what it
// answers is added to the tape.
void hostile_begin(const struct hostile_protocol *proto,
    struct hostile_tape *tape, const uint8_t *input, size_t size,
    const char *real);
// Number of connections that the client has not closed.
unsigned hostile_end(void);

// The client ----------------------------------------------------------------

// Calls call(arg). False when a client library crashed in it: it was left then
// without any of its ends.
bool hostile_try(void (*call)(void *arg), void *arg);

enum hostile_act {
    HOSTILE_END,
    HOSTILE_QUERY,     // text: run it and look at all of its results
    HOSTILE_PREPARE,   // text: becomes statement n
    HOSTILE_EXECUTE,   // statement n
    HOSTILE_FREE,      // statement n
    HOSTILE_SERVER,    // the line about the server
    HOSTILE_COUNTERS,  // its counters
    HOSTILE_LOAD,      // rows into table `text`; keys from n on
    HOSTILE_INSERT,    // text, then rows: the classic bulk insert; keys from n
    HOSTILE_PIPELINE,  // what follows is collected
    HOSTILE_SEND,      // sent together, and looked at answer by answer
    HOSTILE_RUN,       // sent together, and not looked at
    HOSTILE_RESET,     // ends what a failed event left
    HOSTILE_RECONNECT, // makes the connection again
};

struct hostile_step {
    enum hostile_act act;
    const char *text;
    unsigned n;
    bool fails; // with a server that is not hostile
};

// Steps as fuzz_*.c list them; the server itself answers REFUSED ones by an
// error.
#define ACT(act)                      \
    {                                 \
        HOSTILE_##act, NULL, 0, false \
    }
#define QUERY(text)                   \
    {                                 \
        HOSTILE_QUERY, text, 0, false \
    }
#define QUERY_REFUSED(text)          \
    {                                \
        HOSTILE_QUERY, text, 0, true \
    }
#define PREPARE(n, text)                \
    {                                   \
        HOSTILE_PREPARE, text, n, false \
    }
#define EXECUTE(n)                      \
    {                                   \
        HOSTILE_EXECUTE, NULL, n, false \
    }
#define EXECUTE_REFUSED(n)             \
    {                                  \
        HOSTILE_EXECUTE, NULL, n, true \
    }
#define FREE(n)                      \
    {                                \
        HOSTILE_FREE, NULL, n, false \
    }
#define SEND_REFUSED                \
    {                               \
        HOSTILE_SEND, NULL, 0, true \
    }
#define LOAD(table, n)                \
    {                                 \
        HOSTILE_LOAD, table, n, false \
    }
#define LOAD_REFUSED(table, n)       \
    {                                \
        HOSTILE_LOAD, table, n, true \
    }
#define INSERT(text, n)                \
    {                                  \
        HOSTILE_INSERT, text, n, false \
    }

// A set of options, with a recording for each.
struct hostile_variant {
    const char *name; // of its recording
    bool emulate;     // --db-ps-mode=disable
    const char *options[8][2];
};

struct hostile_program {
    const struct hostile_protocol *proto;
    const struct sb_driver *driver;
    const struct hostile_variant *variant;
    unsigned variants;
    const struct hostile_step *steps;
};

// One input. Its first byte chooses the variant and options of the core, the
// rest are changes.
int hostile_run(
    const struct hostile_program *p, const uint8_t *data, size_t size);

#endif
