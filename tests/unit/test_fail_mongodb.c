// SPDX-License-Identifier: GPL-2.0-or-later
//
// Messages about MongoDB servers that cannot be reached, which replace those of
// the library.
#include <errno.h>

#include "check.h"
#include "drivers/mongodb/internal.h"

static struct sbmo_env env;
static struct sbmo_conn conn = { .env = &env };

// Returns our message for one of the library. message: the library's message
// without the list of servers; why: errno of the last call on a socket.
static const char *reason_of(uint32_t domain, const char *message, int why)
{
    static struct sb_err err;
    bson_error_t e;

    err = (struct sb_err){ 0 };
    conn.why = why;
    bson_set_error(&e, domain, MONGOC_ERROR_STREAM_CONNECT, "%s", message);
    CHECK_INT(sbmo_no_connection(&conn, &e, &err), SB_ECONNECT);
    return err.msg;
}

#define UNABLE "unable to connect to MongoDB server "
#define CLOSED \
    "127.0.0.1:7: the server closed the connection; is it a MongoDB server?"
#define NO_SERVER "No suitable servers found (`serverSelectionTryOnce` set): "

// The reason is the same whether server selection or a command failed.
static void both_ways(const char *message, int why, const char *expected)
{
    char text[200];

    snprintf(text, sizeof(text),
        NO_SERVER "[%s calling hello on '127.0.0.1:7']", message);
    CHECK_STR(reason_of(MONGOC_ERROR_SERVER_SELECTION, text, why), expected);
    CHECK_STR(reason_of(MONGOC_ERROR_STREAM, message, why), expected);
}

// The library's message depends on how far the handshake had come.
static void closed_by_server(void)
{
    static const char *const ends[] = { "connection closed",
        "connection closed while polling", "connection refused",
        "unknown connection error", "unknown socket error",
        "Server closed connection.", NULL };
    static const char *const calls[] = { "Failed to write rpc bytes.",
        "Failed to receive length header from server.",
        "Failed to receive rpc bytes from server.", NULL };

    for (const char *const *end = ends; *end; end++)
        both_ways(*end, 0, UNABLE CLOSED);
    for (const char *const *call = calls; *call; call++) {
        both_ways(*call, EPIPE, UNABLE CLOSED);
        both_ways(*call, 0, UNABLE CLOSED);
        both_ways(
            *call, ECONNRESET, UNABLE "127.0.0.1:7: Connection reset by peer");
    }
}

static void others(void)
{
    both_ways("socket timeout", 0, UNABLE "127.0.0.1:7: no answer in time");
    both_ways("Invalid reply from server.", 0,
        UNABLE "127.0.0.1:7: Invalid reply from server.");
    // Both servers are named.
    CHECK_STR(
        reason_of(MONGOC_ERROR_SERVER_SELECTION,
            NO_SERVER "[connection refused calling hello on '127.0.0.1:7'] "
                      "[127.0.0.1:8: Connection refused]",
            0),
        UNABLE CLOSED "; 127.0.0.1:8: Connection refused");
    // With two servers it is unknown which of them errno belongs to.
    CHECK_STR(reason_of(MONGOC_ERROR_SERVER_SELECTION,
                  NO_SERVER "[Failed to write rpc bytes. calling hello on "
                            "'127.0.0.1:7'] [127.0.0.1:8: Connection refused]",
                  ECONNREFUSED),
        UNABLE CLOSED "; 127.0.0.1:8: Connection refused");
}

// Checks the error of a call on an established connection. message: the
// library's message; found: the library had found the connection closed.
static void call_fails(uint32_t domain, const char *message, bool found,
    int native, const char *want)
{
    struct sb_err err = { 0 };
    bson_error_t e;

    conn.why = 0;
    conn.found_closed = found;
    snprintf(conn.last_name, sizeof(conn.last_name), "127.0.0.1:7");
    bson_set_error(&e, domain, MONGOC_ERROR_STREAM_SOCKET, "%s", message);
    CHECK_INT(sbmo_fail(&conn, &e, NULL, &err), SB_ELOST);
    CHECK_STR(err.msg, want);
    CHECK_INT(err.native, native);
}

// The library calls every failure during a login a failed login.
static void login(void)
{
    struct sb_err err = { 0 };
    bson_error_t e;

    conn.why = ECONNRESET;
    conn.found_closed = false;
    snprintf(conn.last_name, sizeof(conn.last_name), "127.0.0.1:7");
    bson_set_error(&e, MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE,
        "Failed to send \"saslStart\"");
    conn.broken = true;
    CHECK_INT(sbmo_fail(&conn, &e, NULL, &err), SB_ELOST);
    CHECK_STR(err.msg,
        "the connection to 127.0.0.1:7 is lost: Connection reset by peer");
    CHECK_INT(sbmo_no_connection(&conn, &e, &err), SB_ECONNECT);
    CHECK_INT(err.native, SBMO_SOCKET);
    CHECK(strstr(err.msg, UNABLE) == err.msg);
    conn.broken = false;
    CHECK_INT(sbmo_fail(&conn, &e, NULL, &err), SB_EQUERY);
    CHECK_INT(sbmo_no_connection(&conn, &e, &err), SB_ECONNECT);
    CHECK_INT(err.native, SBMO_AUTH_FAILED);
    CHECK(strstr(err.msg, "rejects user ''"));
}

#define REFUSED "127.0.0.1:7: Connection refused"

static void lost_connections(void)
{
    call_fails(MONGOC_ERROR_STREAM, "Failed to read 4 bytes", false,
        SBMO_SOCKET,
        "the connection to 127.0.0.1:7 is lost: closed by the server");
    // The loss is detected only when the library uses the connection again.
    call_fails(MONGOC_ERROR_SERVER_SELECTION, NO_SERVER "[" REFUSED "]", true,
        SBMO_SOCKET,
        "the connection to 127.0.0.1:7 is lost: closed by the server; no "
        "server is available for the command: " REFUSED);
    call_fails(MONGOC_ERROR_SERVER_SELECTION, NO_SERVER "[" REFUSED "]", false,
        SBMO_NO_SERVER, "no server is available for the command: " REFUSED);
}

// A server that requires a certificate rejects the client only after the
// handshake, which looks as if it closed the connection.
static void with_tls(void)
{
    mongoc_uri_t *plain = env.uri;

    env.uri = mongoc_uri_new("mongodb://127.0.0.1:7/?tls=true");
    both_ways("Failed to receive length header from server.", 0,
        UNABLE "127.0.0.1:7: the server closed the connection; does it require "
               "a certificate?");
    both_ways("Failed to write rpc bytes.", ECONNRESET,
        UNABLE "127.0.0.1:7: Connection reset by peer");
    mongoc_uri_destroy(env.uri);
    env.uri = plain;
}

CHECK_FILE
{
    env.where = "127.0.0.1:7";
    env.uri = mongoc_uri_new("mongodb://127.0.0.1:7");
    RUN(closed_by_server);
    RUN(others);
    RUN(with_tls);
    RUN(login);
    RUN(lost_connections);
    mongoc_uri_destroy(env.uri);
    return check_done();
}
