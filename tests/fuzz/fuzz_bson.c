// SPDX-License-Identifier: GPL-2.0-or-later
//
// The input is a command in BSON. It is compiled and executed with values made
// of its own bytes; if it is well-formed, what is sent must be, too. The first
// byte chooses the values.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "db/call.h"
#include "db/op.h"
#include "drivers/mongodb/documents.h"
#include "fuzz.h"

static const uint8_t *given;
static size_t given_len;
static bool sound; // the given document is well-formed at all levels

static bool well_formed(const uint8_t *doc, size_t len, unsigned depth)
{
    struct sb_walk w;
    struct sb_elem e;
    int more;

    if (!sb_bson_framed(doc, len) || depth > 2 * SB_BSON_DEPTH)
        return false;
    sb_walk_begin(&w, doc, len);
    while ((more = sb_walk_next(&w, &e)) == 1) {
        if ((e.type == SB_BSON_DOCUMENT || e.type == SB_BSON_ARRAY) &&
            !well_formed(e.value, e.len, depth + 1))
            return false;
    }
    return more == 0;
}

// The driver ------------------------------------------------------------------

static const struct sb_sql_ops sql_ops = { .query = NULL };
const struct sb_driver sb_driver = { .name = "fuzz", .sql = &sql_ops };
static struct sbmo_conn conn;

int sbmo_command(struct sb_conn *to, const uint8_t *body, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    assert(sb_bson_framed(body, len));
    assert(!sound || well_formed(body, len, 1));
    // The error makes the caller convert the command to JSON.
    return sb_err_set(err, SB_EQUERY, "no");
}

char *sbmo_to_json(
    const uint8_t *doc, size_t len, size_t *json_len, struct sb_err *err)
{
    assert(sb_bson_framed(doc, len));
    *json_len = 2;
    return strdup("{}");
}

// Not called.
int sbmo_next(struct sb_conn *from, struct sb_result *res, const uint8_t **doc,
    size_t *len, struct sb_err *err)
{
    abort();
}

const uint8_t *sbmo_reply(struct sb_conn *from, size_t *len)
{
    abort();
}

int sbmo_transaction(struct sb_conn *on, const struct sbmo_doc_transaction *t,
    struct sb_err *err)
{
    abort();
}

uint8_t *sbmo_from_json(
    const char *json, size_t len, size_t *doc_len, struct sb_err *err)
{
    abort();
}

// A connection of it ----------------------------------------------------------

static bool not_shared(void)
{
    return false;
}

static struct sb_db_opts opts;
static struct sb_drivers owner = { .opts = &opts };
static struct sb_db db = { .owner = &owner, .drv = &sb_driver };
static struct sb__inst inst = { .db = &db };
static struct sb_clock still = { .ns0 = UINT64_C(1) << 62 };

static struct sbmo_doc_value value(unsigned choice)
{
    static const double numbers[] = { 1, -0.0, 0.5, 1e10, 1e300, -1e18 };
    struct sbmo_doc_value v = { .type = (int32_t)(choice % 7) };

    if (v.type == SBMO_DOC_TEXT || v.type == SBMO_DOC_ELEMENT) {
        v.s = (const char *)given;
        v.len = (uint32_t)(choice < given_len ? choice : given_len);
        if (v.type == SBMO_DOC_ELEMENT && v.len)
            sound = false; // only the framing of an element is checked
    } else if (v.type == SBMO_DOC_DOUBLE) {
        v.d = numbers[choice % 6];
    } else {
        v.i = (int64_t)((uint64_t)choice << (choice % 64));
    }
    return v;
}

static void execute(struct sb_con *con, struct sbmo_doc_op *op, unsigned choice)
{
    uint32_t n = sbmo_doc_op_nargs(op);
    struct sbmo_doc_value *v = calloc(n + 1, sizeof(*v));
    struct sbmo_doc_execution x = { op, v, n };

    for (uint32_t i = 0; v && i < n; i++)
        v[i] = value(choice * 31 + i);
    if (v)
        sbmo_doc_execute(con, &x);
    free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sb_rec *const no_rec; // nothing is recorded
    struct sb_host host = { .shared = not_shared };
    struct sb_db_ctx ctx = { .rec = &no_rec, .clock = &still };
    struct sb_con_priv c = { .ctx = &ctx,
        .inst = &inst,
        .drv = &sb_driver,
        .sql = &sql_ops,
        .conn = (struct sb_conn *)&conn,
        .state = SB__CON_OPEN };
    struct sbmo_doc_command command;
    struct sbmo_doc_op *op;

    if (size < 1)
        return 0;
    sb_log_set_level(-1);
    sb__own_host(&host);
    c.pub.host = &host;
    c.pub.sql_state = c.pub.sql_errmsg = "";
    given = data + 1;
    given_len = size - 1;
    sound = well_formed(given, given_len, 1);
    op = sbmo_doc_compile(&c.pub, given, given_len, NULL);
    assert(!op || sound);
    assert(op || c.err.code == SB_EUSAGE);
    c.outcome = SB__OUTCOME_NONE;
    if (op)
        execute(&c.pub, op, data[0]);
    c.outcome = SB__OUTCOME_NONE; // this driver has no result to free
    command = (struct sbmo_doc_command){ given, given_len, NULL };
    sbmo_doc_command(&c.pub, &command);
    sb_object_drop(op);
    sb__handles_free(&ctx); // also those that were not compiled
    assert(!c.children && ctx.handles == 0);
    free(c.failed_sql);
    sb__op_names_free(&ctx);
    return 0;
}
