// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sessions and transactions. All commands of a connection share one session;
// otherwise the library would create one per command.
#include <stdlib.h>

#include "drivers/mongodb/internal.h"
#include "drivers/mongodb/mongodb.ffi.h"

// Maximum tries of a commit whose outcome is unknown.
#define COMMITS 3

// Sessions -------------------------------------------------------------------

// NULL if the servers do not support sessions.
static mongoc_client_session_t *session_new(struct sbmo_conn *c)
{
    mongoc_session_opt_t *o = mongoc_session_opts_new();
    mongoc_client_session_t *s;
    bson_error_t e;

    mongoc_session_opts_set_causal_consistency(o, false);
    s = mongoc_client_start_session(c->client, o, &e);
    mongoc_session_opts_destroy(o);
    return s;
}

// True if the servers store the numbers of writes: replica set members and
// routers do.
static bool remembers(struct sbmo_conn *c)
{
    size_t n = 0;
    mongoc_server_description_t **all = mongoc_client_get_server_descriptions(
        c->client, &n);
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        const char *type = mongoc_server_description_type(all[i]);

        if (strcmp(type, "Mongos") == 0 || strcmp(type, "LoadBalancer") == 0 ||
            strncmp(type, "RS", 2) == 0)
            found = true;
    }
    mongoc_server_descriptions_destroy_all(all, n);
    return found;
}

static bool options_init(struct sbmo_conn *c)
{
    bson_error_t e;
    bool done = true;

    for (unsigned i = 0; i < SBMO_WITHS; i++) {
        bson_t *o = c->with[i] = bson_new();

        if (i & SBMO_WITH_READ)
            done = mongoc_read_concern_append(c->env->read_concern, o) && done;
        if (i & SBMO_WITH_WRITE &&
            !mongoc_write_concern_is_default(c->env->write_concern))
            done = mongoc_write_concern_append(c->env->write_concern, o) &&
                   done;
        if (i & SBMO_WITH_SESSION && c->session)
            done = mongoc_client_session_append(c->session, o, &e) && done;
    }
    if (!c->numbered)
        return done;
    c->with_number = bson_new();
    if (!mongoc_write_concern_is_default(c->env->write_concern))
        done = mongoc_write_concern_append(
                   c->env->write_concern, c->with_number) &&
               done;
    return BSON_APPEND_INT64(c->with_number, "txnNumber", 0) &&
           mongoc_client_session_append(c->numbered, c->with_number, &e) &&
           done;
}

int sbmo_sessions_init(struct sbmo_conn *c, struct sb_err *err)
{
    bool twice = mongoc_uri_get_option_as_bool(
        c->env->uri, MONGOC_URI_RETRYWRITES, true);

    assert(!c->session && !c->numbered);
    c->session = session_new(c);
    // The library uses the numbers of the first session for findAndModify and
    // transactions, so numbered writes need another session.
    if (c->session && twice && remembers(c))
        c->numbered = session_new(c);
    return options_init(c) ? 0
                           : sb_err_set(err, SB_ECONNECT,
                                 "cannot create the options of commands");
}

void sbmo_sessions_done(struct sbmo_conn *c)
{
    for (unsigned i = 0; i < SBMO_WITHS; i++) {
        if (c->with[i])
            bson_destroy(c->with[i]);
        c->with[i] = NULL;
    }
    if (c->with_number)
        bson_destroy(c->with_number);
    c->with_number = NULL;
    if (c->session)
        mongoc_client_session_destroy(c->session);
    if (c->numbered)
        mongoc_client_session_destroy(c->numbered);
    c->session = c->numbered = NULL;
}

// Transactions ---------------------------------------------------------------

static int no_transactions(struct sbmo_conn *c, struct sb_err *err)
{
    return sb_err_set(err, SB_EUNSUPPORTED,
        "the server at %s does not support transactions; they require a "
        "replica set or a sharded cluster",
        sbmo_stream_last(c) ? sbmo_stream_last(c) : c->env->where);
}

static bool set_read_concern(
    mongoc_transaction_opt_t *o, const struct sb_elem *e)
{
    mongoc_read_concern_t *rc = mongoc_read_concern_new();
    struct sb_elem level;
    bool done = sb_bson_find(e->value, e->len, "level", &level) &&
                mongoc_read_concern_set_level(rc, sb_elem_text(&level, NULL));

    if (done)
        mongoc_transaction_opts_set_read_concern(o, rc);
    mongoc_read_concern_destroy(rc);
    return done;
}

static void set_write_concern(
    mongoc_transaction_opt_t *o, const struct sb_elem *e)
{
    mongoc_write_concern_t *wc = mongoc_write_concern_new();
    struct sb_walk w;
    struct sb_elem f;

    sb_walk_into(&w, e);
    while (sb_walk_more(&w, &f)) {
        if (sb_elem_is(&f, "w") && f.type == SB_BSON_TEXT)
            mongoc_write_concern_set_wtag(wc, sb_elem_text(&f, NULL));
        else if (sb_elem_is(&f, "w"))
            mongoc_write_concern_set_w(wc, (int32_t)sb_elem_int(&f));
        else if (sb_elem_is(&f, "j"))
            mongoc_write_concern_set_journal(wc, sb_elem_int(&f) != 0);
        else if (sb_elem_is(&f, "wtimeout"))
            mongoc_write_concern_set_wtimeout_int64(wc, sb_elem_int(&f));
    }
    mongoc_transaction_opts_set_write_concern(o, wc);
    mongoc_write_concern_destroy(wc);
}

// Options of BEGIN: readConcern, writeConcern, maxCommitTimeMS.
static int read_options(mongoc_transaction_opt_t *o, const uint8_t *doc,
    size_t len, struct sb_err *err)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_open(&w, doc, len);
    while (sb_walk_more(&w, &e)) {
        bool nested = e.type == SB_BSON_DOCUMENT, fine = true;

        if (sb_elem_is(&e, "readConcern") && nested)
            fine = set_read_concern(o, &e);
        else if (sb_elem_is(&e, "writeConcern") && nested)
            set_write_concern(o, &e);
        else if (sb_elem_is(&e, "maxCommitTimeMS"))
            mongoc_transaction_opts_set_max_commit_time_ms(o, sb_elem_int(&e));
        else
            fine = false;
        if (!fine)
            return sb_err_set(err, SB_EQUERY,
                "transaction option '%s' is unknown or has an invalid value",
                e.key);
    }
    return 0;
}

static int mo_begin(
    struct sbmo_conn *c, const uint8_t *options, size_t len, struct sb_err *err)
{
    mongoc_transaction_opt_t *o;
    bson_error_t e = { 0 };
    int rc = 0;

    if (!c->session || !remembers(c))
        return no_transactions(c, err);
    if (c->in_trx)
        return sb_err_set(
            err, SB_EQUERY, "a transaction is already open on this connection");
    o = mongoc_transaction_opts_new();
    mongoc_transaction_opts_set_read_concern(o, c->env->read_concern);
    if (!c->env->unacknowledged)
        mongoc_transaction_opts_set_write_concern(o, c->env->write_concern);
    if (options)
        rc = read_options(o, options, len, err);
    if (rc == 0 && !mongoc_client_session_start_transaction(c->session, o, &e))
        rc = sbmo_fail(c, &e, NULL, err);
    mongoc_transaction_opts_destroy(o);
    c->in_trx = rc == 0;
    return rc;
}

static bool unknown_outcome(const bson_t *reply)
{
    struct sbmo_complaint p;

    sbmo_read_complaint(&p, bson_get_data(reply), reply->len);
    return p.unknown;
}

static int mo_commit(struct sbmo_conn *c, struct sb_err *err)
{
    bson_t *reply;
    bson_error_t e = { 0 };
    bool fine = false, again = true;

    if (!c->in_trx)
        return sb_err_set(err, SB_EQUERY, "there is no transaction to commit");
    c->in_trx = false;
    for (int i = 0; i < COMMITS && !fine && again && !sbmo_canceled(c); i++) {
        sbmo_result_clear(&c->result);
        reply = sbmo_result_batch(&c->result);
        if (!reply)
            return sb_err_no_memory(err);
        fine = mongoc_client_session_commit_transaction(c->session, reply, &e);
        again = !fine && unknown_outcome(reply);
        c->has_reply = reply->len > 5;
    }
    if (fine)
        return 0;
    return sbmo_fail(c, &e, c->has_reply ? c->result.batch[0] : NULL, err);
}

int sbmo_abort(struct sbmo_conn *c, struct sb_err *err)
{
    bson_error_t e = { 0 };
    bool was_open = c->in_trx;

    assert(!was_open || c->session);
    c->in_trx = false;
    // A transaction that the server never received, or has ended, is not a
    // failure.
    if (!was_open || mongoc_client_session_abort_transaction(c->session, &e) ||
        e.domain == MONGOC_ERROR_SERVER)
        return 0;
    return sbmo_fail(c, &e, NULL, err);
}

int sbmo_transaction(struct sb_conn *conn, const struct sbmo_doc_transaction *t,
    struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    sbmo_result_clear(&c->result);
    c->has_reply = false;
    switch ((enum sbmo_doc_step)t->step) {
    case SBMO_DOC_BEGIN:
        rc = mo_begin(c, t->options, t->len, err);
        break;
    case SBMO_DOC_COMMIT:
        rc = mo_commit(c, err);
        break;
    case SBMO_DOC_ABORT:
    default:
        rc = sbmo_abort(c, err);
    }
    sbmo_end(c);
    return rc;
}
