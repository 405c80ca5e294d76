// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is said of a MongoDB server that cannot be reached, in place of what
// the library says.
#include <errno.h>

#include "check.h"
#include "drivers/mongodb/mongodb_priv.h"

static struct sbmo_env env;
static struct sbmo_conn conn = { .env = &env };

// said: the library's, as it comes without its servers; why: errno of the last
// call on a socket.
static const char *reason_of(uint32_t domain, const char *said, int why)
{
    static struct sb_err err;
    bson_error_t e;

    err = (struct sb_err){ 0 };
    conn.why = why;
    bson_set_error(&e, domain, MONGOC_ERROR_STREAM_CONNECT, "%s", said);
    CHECK_INT(sbmo_no_connection(&conn, &e, &err), SB_ECONNECT);
    return err.msg;
}

#define REACH "unable to connect to MongoDB server "
#define RUDE \
    "127.0.0.1:7: the server closed the connection; is it a MongoDB server?"
#define NO_ONE "No suitable servers found (`serverSelectionTryOnce` set): "

// The same reason, from looking for a server and from a command.
static void both_ways(const char *said, int why, const char *expected)
{
    char text[200];

    snprintf(
        text, sizeof(text), NO_ONE "[%s calling hello on '127.0.0.1:7']", said);
    CHECK_STR(reason_of(MONGOC_ERROR_SERVER_SELECTION, text, why), expected);
    CHECK_STR(reason_of(MONGOC_ERROR_STREAM, said, why), expected);
}

// Which of them it is depends on how far the handshake had come.
static void hung_up(void)
{
    static const char *const ends[] = { "connection closed",
        "connection closed while polling", "connection refused",
        "unknown connection error", "unknown socket error",
        "Server closed connection.", NULL };
    static const char *const calls[] = { "Failed to write rpc bytes.",
        "Failed to receive length header from server.",
        "Failed to receive rpc bytes from server.", NULL };

    for (const char *const *end = ends; *end; end++)
        both_ways(*end, 0, REACH RUDE);
    for (const char *const *call = calls; *call; call++) {
        both_ways(*call, EPIPE, REACH RUDE);
        both_ways(*call, 0, REACH RUDE);
        both_ways(
            *call, ECONNRESET, REACH "127.0.0.1:7: Connection reset by peer");
    }
}

static void others(void)
{
    both_ways("socket timeout", 0, REACH "127.0.0.1:7: no answer in time");
    both_ways("Invalid reply from server.", 0,
        REACH "127.0.0.1:7: Invalid reply from server.");
    // Both are named.
    CHECK_STR(reason_of(MONGOC_ERROR_SERVER_SELECTION,
                  NO_ONE "[connection refused calling hello on '127.0.0.1:7'] "
                         "[127.0.0.1:8: Connection refused]",
                  0),
        REACH RUDE "; 127.0.0.1:8: Connection refused");
    // Whose errno it is nobody knows then.
    CHECK_STR(reason_of(MONGOC_ERROR_SERVER_SELECTION,
                  NO_ONE "[Failed to write rpc bytes. calling hello on "
                         "'127.0.0.1:7'] [127.0.0.1:8: Connection refused]",
                  ECONNREFUSED),
        REACH RUDE "; 127.0.0.1:8: Connection refused");
}

// What a call that ended so tells; native: its number.
static void call_fails(
    uint32_t domain, const char *said, bool found, int native, const char *want)
{
    struct sb_err err = { 0 };
    bson_error_t e;

    conn.why = 0;
    conn.found_closed = found;
    snprintf(conn.last_name, sizeof(conn.last_name), "127.0.0.1:7");
    bson_set_error(&e, domain, MONGOC_ERROR_STREAM_SOCKET, "%s", said);
    CHECK_INT(sbmo_fail(&conn, &e, NULL, &err), SB_ELOST);
    CHECK_STR(err.msg, want);
    CHECK_INT(err.native, native);
}

#define REFUSED "127.0.0.1:7: Connection refused"

static void losses(void)
{
    call_fails(MONGOC_ERROR_STREAM, "Failed to read 4 bytes", false,
        SBMO_SOCKET,
        "the connection to 127.0.0.1:7 is lost: closed by the server");
    // Found out only when the library wanted to use it again.
    call_fails(MONGOC_ERROR_SERVER_SELECTION, NO_ONE "[" REFUSED "]", true,
        SBMO_SOCKET,
        "the connection to 127.0.0.1:7 is lost: closed by the server; no "
        "server can take the command: " REFUSED);
    call_fails(MONGOC_ERROR_SERVER_SELECTION, NO_ONE "[" REFUSED "]", false,
        SBMO_NO_SERVER, "no server can take the command: " REFUSED);
}

// A server that wants to see a certificate says so after the handshake, which
// looks like an end.
static void with_tls(void)
{
    mongoc_uri_t *plain = env.uri;

    env.uri = mongoc_uri_new("mongodb://127.0.0.1:7/?tls=true");
    both_ways("Failed to receive length header from server.", 0,
        REACH "127.0.0.1:7: the server closed the connection; does it require "
              "a certificate?");
    both_ways("Failed to write rpc bytes.", ECONNRESET,
        REACH "127.0.0.1:7: Connection reset by peer");
    mongoc_uri_destroy(env.uri);
    env.uri = plain;
}

int main(void)
{
    env.where = "127.0.0.1:7";
    env.uri = mongoc_uri_new("mongodb://127.0.0.1:7");
    RUN(hung_up);
    RUN(others);
    RUN(with_tls);
    RUN(losses);
    mongoc_uri_destroy(env.uri);
    return check_done();
}
