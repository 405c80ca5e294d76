// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/errors.h"

#include <string.h>

#include "base/err.h"
#include "kit/errnum.h"

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

static void take_first(struct sbmo_complaint *c, const struct sb_elem *list)
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
        take_first(c, &at_writes);
    else if (failed > 0 && cursor.value)
        take_failed(c, &cursor, failed);
    if (concern && c->native == 0) {
        read_error(c, &at_concern);
        c->write_concern = true;
    }
    return c->native != 0;
}
