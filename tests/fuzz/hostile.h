// SPDX-License-Identifier: GPL-2.0-or-later
//
// A hostile server. It takes the answers of a real server from a recording,
// changes them according to the fuzz input, and sends them to a driver, its
// client library and the SQL facade, which run unmodified. See
// docs/internals/hostile.md.
//
// The server has no thread. It runs inside the client's connect(), send(),
// recv() and poll(), so the same input always has the same effect. If the
// client waits for data that the server will not send, the connection is closed
// at once.
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/driver.h"

// A growing byte buffer.
struct hostile_bytes {
    uint8_t *data;
    size_t len, cap;
};

// Appends data; aborts if memory is exhausted.
void hostile_add(struct hostile_bytes *b, const void *data, size_t len);
// Replaces `cut` bytes at `at` by len bytes of data.
void hostile_splice(struct hostile_bytes *b, size_t at, size_t cut,
    const void *data, size_t len);

// What the server needs to know about a protocol ----------------------------

// The state of one connection that the framing of requests needs.
struct hostile_session {
    bool begun; // the handshake is over
};

struct hostile_protocol {
    const char *name;  // of the driver and of the recordings
    bool speaks_first; // the server sends the first packet
    size_t head;       // bytes of a packet before its body
    // Returns the length of the first packet of an answer, including its head;
    // len if the packet is incomplete.
    size_t (*packet)(const uint8_t *p, size_t len);
    // Sets the length in the head of a packet of len bytes.
    void (*set_length)(uint8_t *packet, size_t len);
    // Renumbers the packets of an answer from `first`. NULL: packets have no
    // numbers.
    void (*number)(uint8_t *answer, size_t len, uint8_t first);
    // Returns the length of the first request, 0 if it is incomplete. Sets
    // *answered to whether the server answers it.
    size_t (*request)(struct hostile_session *s, const uint8_t *p, size_t len,
        bool *answered);
};

// Recordings ----------------------------------------------------------------

#define HOSTILE_REQUEST 200u // maximum bytes of a request that are stored
#define HOSTILE_TURNS   250u // maximum number of turns of a recording

struct hostile_turn {
    uint8_t request[HOSTILE_REQUEST];
    size_t request_len;
    struct hostile_bytes answer;
};

struct hostile_tape {
    struct hostile_turn turn[HOSTILE_TURNS];
    unsigned n;
};

// Returns false, with the reason on stderr, if there is no valid recording.
bool hostile_tape_load(struct hostile_tape *t, const char *path);
bool hostile_tape_save(const struct hostile_tape *t, const char *path);
// Returns the turn that answers the request: the next one from `at` with the
// same request, otherwise with the same first byte, otherwise the one at `at`.
unsigned hostile_tape_find(const struct hostile_tape *t, unsigned at,
    const uint8_t *request, size_t len);

// Changes -------------------------------------------------------------------

// How one answer is delivered.
struct hostile_fate {
    bool close;    // the connection is closed after the answer
    size_t pieces; // bytes that the client receives at a time; 0: all at once
};

// Applies the changes of the input to answer `number` of the conversation. The
// input is a list of changes of HOSTILE_CHANGE bytes each.
#define HOSTILE_CHANGE 8u
struct hostile_fate hostile_change(const struct hostile_protocol *proto,
    const struct hostile_tape *tape, const uint8_t *input, size_t size,
    unsigned number, struct hostile_bytes *answer);

// The server ----------------------------------------------------------------

// The server has the Unix sockets in this folder, which does not exist.
#define HOSTILE_FOLDER "/hostile"

// Starts the server: connections are answered from the tape, with the changes
// of the input. If `real` is the path of a server's socket, they are forwarded
// there and its answers are added to the tape.
void hostile_begin(const struct hostile_protocol *proto,
    struct hostile_tape *tape, const uint8_t *input, size_t size,
    const char *real);
// Stops the server. Returns the number of connections that the client has not
// closed.
unsigned hostile_end(void);

// The client ----------------------------------------------------------------

// Calls call(arg). Returns false if a client library crashed in it; then the
// call was abandoned without any cleanup.
bool hostile_try(void (*call)(void *arg), void *arg);

enum hostile_act {
    HOSTILE_END,
    HOSTILE_QUERY,     // executes text and reads all of its results
    HOSTILE_PREPARE,   // text: becomes statement n
    HOSTILE_EXECUTE,   // statement n
    HOSTILE_FREE,      // statement n
    HOSTILE_SERVER,    // the line about the server
    HOSTILE_COUNTERS,  // its counters
    HOSTILE_LOAD,      // rows into table `text`; keys from n on
    HOSTILE_INSERT,    // text, then rows: the classic bulk insert; keys from n
    HOSTILE_PIPELINE,  // opens a pipeline: the following steps are collected
    HOSTILE_SEND,      // sends it and reads the results one by one
    HOSTILE_RUN,       // sends it and ignores the results
    HOSTILE_RESET,     // resets the connection as after a failed event
    HOSTILE_RECONNECT, // reconnects
};

struct hostile_step {
    enum hostile_act act;
    const char *text;
    unsigned n;
    bool fails; // also with a server that is not hostile
};

// Steps for the lists in fuzz_*.c; a real server returns an error for REFUSED
// ones.
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

// Runs one input. Its first byte chooses the variant and options of the core;
// the rest is a list of changes.
int hostile_run(
    const struct hostile_program *p, const uint8_t *data, size_t size);

#endif
