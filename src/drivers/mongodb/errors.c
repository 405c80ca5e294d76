// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "drivers/mongodb/internal.h"
#include "kit/errnum.h"
#include "kit/limits.h"

// Numbers and names: src/mongo/base/error_codes.yml of the server. Those that
// restart the event are the ones its isTransientTransactionError() and its
// categories RetriableError and SnapshotError name, without those that end the
// connection, and conflicts that its own tests try again.
static const struct sb_errnum table[] = {
    { 6, SB_ELOST, "" }, // HostUnreachable
    { 7, SB_ELOST, "" }, // HostNotFound
    { 13, SB_EQUERY, "the user lacks the privilege" },
    { 18, SB_EQUERY, "" },   // AuthenticationFailed
    { 20, SB_EQUERY, "" },   // IllegalOperation
    { 24, SB_ERESTART, "" }, // LockTimeout
    { 46, SB_ERESTART, "" }, // LockBusy
    { 64, SB_EQUERY, "not acknowledged within wtimeoutMS" },
    { 79, SB_EQUERY, "the replica set has no such write concern" },
    { 89, SB_ELOST, "" }, // NetworkTimeout
    { 91, SB_ELOST, "" }, // ShutdownInProgress
    { 100, SB_EQUERY, "it requires more servers than exist" },
    { 112, SB_ERESTART, "" }, // WriteConflict
    { 117, SB_ERESTART, "" }, // ConflictingOperationInProgress
    { 133, SB_ELOST, "" },    // FailedToSatisfyReadPreference
    { 134, SB_ERESTART, "" }, // ReadConcernMajorityNotAvailableYet
    { 150, SB_ERESTART, "" }, // StaleEpoch
    { 175, SB_ERESTART, "" }, // QueryPlanKilled: an index was dropped
    { 189, SB_ELOST, "" },    // PrimarySteppedDown
    { 202, SB_ELOST, "" },    // NetworkInterfaceExceededTimeLimit
    { 238, SB_EQUERY, "this server does not support it" },
    { 239, SB_ERESTART, "" },   // SnapshotTooOld
    { 246, SB_ERESTART, "" },   // SnapshotUnavailable
    { 249, SB_ERESTART, "" },   // StaleDbVersion
    { 250, SB_ERESTART, "" },   // StaleChunkHistory
    { 251, SB_ERESTART, "" },   // NoSuchTransaction
    { 262, SB_ERESTART, "" },   // ExceededTimeLimit
    { 267, SB_ERESTART, "" },   // PreparedTransactionInProgress
    { 272, SB_ERESTART, "" },   // MigrationConflict
    { 365, SB_ERESTART, "" },   // TemporarilyUnavailable
    { 407, SB_ERESTART, "" },   // PooledConnectionAcquisitionExceededTimeLimit
    { 453, SB_ERESTART, "" },   // InterruptedDueToReshardingCriticalSection
    { 462, SB_ERESTART, "" },   // IngressRequestRateLimitExceeded
    { 9001, SB_ELOST, "" },     // SocketException
    { 10058, SB_ELOST, "" },    // LegacyNotPrimary
    { 10107, SB_ELOST, "" },    // NotWritablePrimary
    { 11600, SB_ELOST, "" },    // InterruptedAtShutdown
    { 11602, SB_ELOST, "" },    // InterruptedDueToReplStateChange
    { 12586, SB_ERESTART, "" }, // BackgroundOperationInProgressForDatabase
    { 12587, SB_ERESTART, "" }, // BackgroundOperationInProgressForNamespace
    { 13388, SB_ERESTART, "" }, // StaleConfig
    { 13435, SB_ELOST, "" },    // NotPrimaryNoSecondaryOk
    { 13436, SB_ELOST, "" },    // NotPrimaryOrSecondary
    { 91331, SB_ERESTART, "" }, // RetriableRemoteCommandFailure
};

#define ENTRIES (sizeof(table) / sizeof(table[0]))

int sbmo_classify(int native)
{
    return sb_errnum_kind(table, ENTRIES, native, SB_EQUERY);
}

const char *sbmo_hint(int native)
{
    return sb_errnum_hint(table, ENTRIES, native);
}

// Reads an error document: code, errmsg, codeName.
static void read_error(struct sbmo_complaint *c, const struct sb_elem *doc)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, doc);
    while (sb_walk_more(&w, &e)) {
        if (sb_elem_is(&e, "code"))
            c->native = (int)sb_elem_int(&e);
        else if (sb_elem_is(&e, "errmsg"))
            c->text = sb_elem_text(&e, &c->len);
        else if (sb_elem_is(&e, "codeName"))
            c->name = sb_elem_text(&e, NULL);
    }
    if (c->native == 0)
        c->native = 8; // UnknownError
}

static void take_labels(struct sbmo_complaint *c, const struct sb_elem *labels)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, labels);
    while (sb_walk_more(&w, &e)) {
        const char *label = sb_elem_text(&e, NULL);

        // RetryableError: a server that is overloaded has done nothing.
        if (strcmp(label, "TransientTransactionError") == 0 ||
            strcmp(label, "RetryableError") == 0)
            c->transient = true;
        else if (strcmp(label, "UnknownTransactionCommitResult") == 0)
            c->unknown = true;
        else if (strcmp(label, "RetryableWriteError") == 0)
            c->retryable = true;
    }
}

static void mo_take_first(struct sbmo_complaint *c, const struct sb_elem *list)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, list);
    if (!sb_walk_more(&w, &e))
        return;
    read_error(c, &e);
    c->write_concern = false;
    while (sb_walk_more(&w, &e))
        c->others++;
}

// Takes the first of n failed writes of a bulkWrite: its reply has a cursor
// with a document for each write, or for each that failed.
static void take_failed(
    struct sbmo_complaint *c, const struct sb_elem *cursor, int64_t n)
{
    struct sb_elem batch, doc, e;
    struct sb_walk w;

    c->others = n > 1 ? (uint32_t)n - 1 : 0;
    c->native = 8; // its document may be in a later batch
    c->text = "a write of bulkWrite failed";
    c->len = strlen(c->text);
    if (!sb_bson_find(cursor->value, cursor->len, "firstBatch", &batch))
        return;
    sb_walk_into(&w, &batch);
    while (sb_walk_more(&w, &doc))
        if (sb_bson_find(doc.value, doc.len, "ok", &e) && !sb_elem_int(&e)) {
            c->native = 0;
            read_error(c, &doc);
            return;
        }
}

bool sbmo_read_complaint(
    struct sbmo_complaint *c, const uint8_t *reply, size_t len)
{
    struct sb_elem whole = {
        .type = SB_BSON_DOCUMENT, .value = reply, .len = (uint32_t)len
    };
    bool bad = false, concern = false, writes = false;
    struct sb_elem e, at_concern = { 0 }, at_writes = { 0 }, cursor = { 0 };
    int64_t failed = 0; // writes of a bulkWrite
    struct sb_walk w;

    *c = (struct sbmo_complaint){ .text = "", .name = "" };
    sb_walk_open(&w, reply, len);
    while (sb_walk_more(&w, &e)) {
        if (sb_elem_is(&e, "ok")) {
            bad = sb_elem_int(&e) == 0;
        } else if (sb_elem_is(&e, "writeErrors")) {
            writes = true;
            at_writes = e;
        } else if (sb_elem_is(&e, "writeConcernError")) {
            concern = true;
            at_concern = e;
        } else if (sb_elem_is(&e, "cursor")) {
            cursor = e;
        } else if (sb_elem_is(&e, "nErrors")) {
            failed = sb_elem_int(&e);
        } else if (sb_elem_is(&e, "errorLabels")) {
            take_labels(c, &e);
        }
    }
    if (bad) {
        read_error(c, &whole);
        return true;
    }
    if (writes)
        mo_take_first(c, &at_writes);
    else if (failed > 0 && cursor.value)
        take_failed(c, &cursor, failed);
    if (concern && c->native == 0) {
        read_error(c, &at_concern);
        c->write_concern = true;
    }
    return c->native != 0;
}

// Errors of the library and of servers as one sentence and one code.

static void mo_append_text(
    struct sb_err *err, const char *before, const char *text, const char *after)
{
    size_t n;

    if (!err || !*text)
        return;
    n = strlen(err->msg);
    snprintf(err->msg + n, sizeof(err->msg) - n, "%s%s%s", before, text, after);
}

int sbmo_set_complaint(const struct sbmo_complaint *p, struct sb_err *err)
{
    int code = p->transient ? SB_ERESTART : sbmo_classify(p->native);

    sb_err_set(err, code, "%s%.*s%s",
        p->write_concern ? "write concern not met: " : "",
        (int)(p->len < 400 ? p->len : 400), p->text,
        p->len || *p->name ? "" : "the server gave no reason");
    if (!err)
        return code;
    err->native = p->native;
    mo_append_text(err, " (", p->name, ")");
    mo_append_text(err, " (", sbmo_hint(p->native), ")");
    if (p->others) {
        char text[40];

        snprintf(text, sizeof(text), "%u", (unsigned)p->others);
        mo_append_text(err, "; ", text, " further statements failed as well");
    }
    return code;
}

static bool is_login(const bson_error_t *e)
{
    return (e->domain == MONGOC_ERROR_CLIENT &&
               e->code == MONGOC_ERROR_CLIENT_AUTHENTICATE) ||
           e->domain == MONGOC_ERROR_SASL || e->domain == MONGOC_ERROR_SCRAM ||
           (e->domain == MONGOC_ERROR_SERVER && e->code == SBMO_AUTH_FAILED);
}

// Whether the socket failed. The library reports that as a failed login if it
// happens during one.
static bool is_network(const struct sbmo_conn *c, const bson_error_t *e)
{
    return e->domain == MONGOC_ERROR_STREAM || (is_login(e) && c->broken);
}

// The number that servers use for this error.
static int network_number(const struct sbmo_conn *c, const bson_error_t *e)
{
    if (e->domain == MONGOC_ERROR_SERVER_SELECTION)
        return c->found_closed ? SBMO_SOCKET : SBMO_NO_SERVER;
    if (e->code == MONGOC_ERROR_STREAM_NAME_RESOLUTION)
        return SBMO_HOST_NOT_FOUND;
    if (e->code == MONGOC_ERROR_STREAM_CONNECT)
        return SBMO_HOST_UNREACHABLE;
    return c->why == ETIMEDOUT ? SBMO_NETWORK_TIMEOUT : SBMO_SOCKET;
}

// The library's texts for a stream that ends during the handshake. "refused"
// means that it ended before the library sent anything; the socket was
// connected (stream.c).
static bool is_hang_up(const char *text)
{
    static const char *const ends[] = { "connection closed",
        "connection closed while polling", "Server closed connection.",
        "connection refused", "unknown connection error",
        "unknown socket error" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        if (strcmp(text, ends[i]) == 0)
            return true;
    }
    return false;
}

// Facts in addition to the library's text.
struct known {
    int why; // errno of the last failed socket call, which the library does not
             // report; 0: no call failed, the stream ended
    bool tls;
};

// Rewrites one reason.
static const char *mo_in_words(const char *text, const struct known *k)
{
    const char *hangs_up =
        k->tls
            ? "the server closed the connection; does it require a certificate?"
            : "the server closed the connection; is it a MongoDB server?";

    if (strcmp(text, "socket timeout") == 0)
        return "no answer in time";
    if (strncmp(text, "Failed to write", 15) == 0 ||
        strncmp(text, "Failed to receive", 17) == 0)
        return k->why == 0 || k->why == EPIPE ? hangs_up : strerror(k->why);
    return is_hang_up(text) ? hangs_up : text;
}

// Adds one reason. "socket timeout calling hello on 'db1:27017'" is rewritten
// to begin with its address, as other reasons do.
static void add_reason(
    char *text, const struct known *k, char *out, size_t size)
{
    char *call = strstr(text, " calling ");
    char *from = call ? strchr(call, '\'') : NULL;
    char *to = from ? strchr(from + 1, '\'') : NULL;
    size_t n = strlen(out);

    if (!to) {
        snprintf(out + n, size - n, "%s", mo_in_words(text, k));
        return;
    }
    *call = *to = '\0';
    snprintf(out + n, size - n, "%s: %s", from + 1, mo_in_words(text, k));
}

// Extracts the reasons of "No suitable servers found (...): [reason] [reason]",
// each of which names its address; other messages are used whole.
static void mo_reason(
    const struct sbmo_conn *c, const char *message, char *out, size_t size)
{
    const char *open = strchr(message, '['), *close = strrchr(message, ']');
    char all[sizeof(((bson_error_t *)0)->message)], *next, *one = all;
    struct known k = { .why = c->why, .tls = mongoc_uri_get_tls(c->env->uri) };

    out[0] = '\0';
    if (strncmp(message, "No suitable servers", 19) != 0 || !open ||
        close < open) {
        snprintf(all, sizeof(all), "%s", message);
        add_reason(all, &k, out, size);
        return;
    }
    snprintf(all, sizeof(all), "%.*s", (int)(close - open - 1), open + 1);
    if (strstr(all, "] ["))
        k.why = 0; // the errno may belong to any of them
    while ((next = strstr(one, "] [")) != NULL) {
        *next = '\0';
        add_reason(one, &k, out, size);
        snprintf(out + strlen(out), size - strlen(out), "; ");
        one = next + 3;
    }
    add_reason(one, &k, out, size);
}

static int mo_lost_con(
    struct sbmo_conn *c, const bson_error_t *e, struct sb_err *err)
{
    const char *last = sbmo_stream_last(c);
    const char *how = c->why ? strerror(c->why) : "closed by the server";
    char text[300];

    mo_reason(c, e->message, text, sizeof(text));
    if (e->domain == MONGOC_ERROR_SERVER_SELECTION && c->found_closed)
        sb_err_set(err, SB_ELOST,
            "the connection to %s is lost: %s; no server is available for the "
            "command: %s",
            last ? last : c->env->where, how, text);
    else if (e->domain == MONGOC_ERROR_SERVER_SELECTION)
        sb_err_set(
            err, SB_ELOST, "no server is available for the command: %s", text);
    else if (is_network(c, e) && c->why == ETIMEDOUT)
        sb_err_set(err, SB_ELOST, "%s did not answer in time",
            last ? last : c->env->where);
    else if (is_network(c, e))
        sb_err_set(err, SB_ELOST, "the connection to %s is lost: %s",
            last ? last : c->env->where, how);
    else
        sb_err_set(err, SB_ELOST, "the connection to %s cannot be used: %s",
            last ? last : c->env->where, text);
    if (err)
        err->native = network_number(c, e);
    return SB_ELOST;
}

static int mo_canceled(struct sb_err *err)
{
    return sb_err_set(err, SB_ECANCELED, "the call was canceled");
}

int sbmo_fail(struct sbmo_conn *c, const bson_error_t *e, const bson_t *reply,
    struct sb_err *err)
{
    struct sbmo_complaint p;

    if (sbmo_canceled(c))
        return mo_canceled(err);
    if (reply && sbmo_read_complaint(&p, bson_get_data(reply), reply->len) &&
        p.native)
        return sbmo_set_complaint(&p, err);
    if (is_network(c, e) || e->domain == MONGOC_ERROR_SERVER_SELECTION ||
        e->domain == MONGOC_ERROR_PROTOCOL)
        return mo_lost_con(c, e, err);
    sb_err_set(err, SB_EQUERY, "%s", e->message);
    if (err && e->domain == MONGOC_ERROR_SERVER)
        err->native = (int)e->code;
    return SB_EQUERY;
}

static void mo_add_limit(const char *text, struct sb_err *err)
{
    char limit[80];

    if (!strstr(text, strerror(EMFILE)))
        return;
    sb_limit_of_files(limit, sizeof(limit));
    mo_append_text(err, "", limit, "");
}

int sbmo_no_connection(
    struct sbmo_conn *c, const bson_error_t *e, struct sb_err *err)
{
    const char *user = mongoc_uri_get_username(c->env->uri);
    const char *source = mongoc_uri_get_auth_source(c->env->uri);
    const mongoc_host_list_t *first = mongoc_uri_get_hosts(c->env->uri);
    const char *last = sbmo_stream_last(c);
    bool named;
    char text[300];
    int native;

    if (sbmo_canceled(c))
        return sb_err_set(err, SB_ECANCELED, "connecting was canceled");
    mo_reason(c, e->message, text, sizeof(text));
    if (is_login(e) && !c->broken) {
        native = SBMO_AUTH_FAILED;
        sb_err_set(err, SB_ECONNECT,
            "the MongoDB server at %s rejects user '%s' of database '%s': %s",
            last ? last : c->env->where, user ? user : "",
            source ? source : "admin", text);
    } else {
        native = e->domain == MONGOC_ERROR_SERVER ? (int)e->code
                                                  : network_number(c, e);
        // Most reasons name their addresses.
        named = first && strstr(text, first->host_and_port);
        sb_err_set(err, SB_ECONNECT,
            "unable to connect to MongoDB server %s%s%s",
            named ? "" : c->env->where, named ? "" : ": ", text);
        mo_add_limit(text, err);
    }
    if (err)
        err->native = native;
    return SB_ECONNECT;
}
