// SPDX-License-Identifier: GPL-2.0-or-later
//
// Uses a connection as scripts do, step by step, through the SQL facade and a
// driver, and reads every byte of the results.
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/con.h"
#include "loop/helper.h"
#include "loop/io.h"
#include "hostile.h"

#define VARIANTS   4u
#define STATEMENTS 8u
#define ATTEMPTS   3u // maximum number of reconnects per input
#define COLUMNS    64u
#define PARAMS     4u
#define TEXT       300u

static struct hostile_tape tape[VARIANTS];
static struct sb_opts *opts[VARIANTS];
static void *values[VARIANTS]; // of the driver's options

struct client {
    const struct hostile_program *p;
    struct sb_db_ctx ctx;
    struct sb_con *con;
    struct sb_stmt_handle *stmt[STATEMENTS];
    struct sb_param *param[STATEMENTS][PARAMS];
    unsigned attempts, waits;
    unsigned failed;  // steps
    unsigned strange; // steps whose outcome differs from that of a real server
};

// Reading -------------------------------------------------------------------

static volatile unsigned sink;

static void look_at(const char *s, size_t len)
{
    unsigned sum = 0;

    for (size_t i = 0; i < len; i++)
        sum += (unsigned char)s[i];
    sink += sum;
}

static void look_at_text(const char *s)
{
    if (s)
        look_at(s, strlen(s));
}

static const struct sb_err *error_of(const struct client *cl)
{
    return &((const struct sb_con_priv *)cl->con)->err;
}

static void look_at_errors(struct client *cl)
{
    const struct sb_err *e = error_of(cl);

    look_at_text(cl->con->sql_errmsg);
    look_at_text(cl->con->sql_state);
    look_at_text(sb_con_failed_sql(cl->con));
    assert(cl->con->error == SB_SQL_NONE || *cl->con->sql_errmsg);
    assert(strlen(e->msg) < sizeof(e->msg));
}

static void look_at_rows(struct sb_rs *rs)
{
    uint64_t rows = rs->nrows, n = 0;
    struct sb_sql_cell *cell = calloc(rs->nfields + 1, sizeof(*cell));

    if (!cell)
        return;
    // Names are read before and after rows, because a driver may parse them
    // late.
    for (uint32_t i = 0; i < rs->nfields && i < COLUMNS; i++)
        look_at_text(sb_rs_column(rs, i));
    while (sb_rs_fetch(rs, cell) == 1) {
        assert(n++ < rows);
        for (uint32_t i = 0; i < rs->nfields; i++) {
            if (cell[i].s)
                look_at(cell[i].s, cell[i].len);
        }
    }
    for (uint32_t i = rs->nfields; i > 0 && i < COLUMNS; i--)
        look_at_text(sb_rs_column(rs, i));
    free(cell);
}

static void look_at_results(struct client *cl, struct sb_rs *rs)
{
    do {
        if (rs)
            look_at_rows(rs);
        sb_con_affected(cl->con);
        sb_con_insert_id(cl->con);
    } while (sb_rs_more(cl->con) == 1 &&
             ((rs = sb_rs_next(cl->con)) || cl->con->error == SB_SQL_NONE));
}

// Steps ---------------------------------------------------------------------

static bool good(const struct client *cl)
{
    return cl->con->error == SB_SQL_NONE;
}

static bool query(struct client *cl, const char *sql)
{
    struct sb_rs *rs = sb_con_query(cl->con, sql, strlen(sql));

    if (good(cl))
        look_at_results(cl, rs);
    return good(cl);
}

static void set_param(struct sb_param *p, unsigned round)
{
    p->i = round + 1;
    p->d = round + 0.5;
    p->is_null = round % 3 == 2 && p->buffer;
    p->data_len = round % 2 ? TEXT : 7;
    if (p->buffer)
        memset(p->buffer, 'a' + (int)round % 20, p->data_len);
}

// Parameters are alternately numbers and strings.
static bool prepare(struct client *cl, const char *sql, unsigned n)
{
    static const int type[PARAMS] = { SB_SQL_TYPE_INT, SB_SQL_TYPE_VARCHAR,
        SB_SQL_TYPE_BIGINT, SB_SQL_TYPE_DOUBLE };
    struct sb_stmt_handle *st = sb_stmt_open(cl->con, sql, strlen(sql), NULL);
    unsigned marks = 0;

    if (!st)
        return false;
    sb_stmt_free(cl->stmt[n]);
    cl->stmt[n] = st;
    for (const char *s = sql; *s; s++)
        marks += *s == '?';
    for (unsigned i = 0; i < marks; i++) {
        sb_param_free(cl->param[n][i]);
        cl->param[n][i] = sb_stmt_param(st, type[i], TEXT);
        assert(cl->param[n][i]);
        set_param(cl->param[n][i], n);
    }
    return sb_stmt_bind(st, cl->param[n], marks) == 0;
}

static bool execute(struct client *cl, unsigned n, unsigned round)
{
    struct sb_rs *rs;

    for (unsigned i = 0; i < PARAMS && cl->param[n][i]; i++)
        set_param(cl->param[n][i], i == 1 ? round : n);
    rs = sb_stmt_execute(cl->stmt[n]);
    if (good(cl))
        look_at_results(cl, rs);
    return good(cl);
}

static bool load(struct client *cl, const char *table, unsigned key)
{
    static const char text[] = "a\tb\\c\n'\"";
    struct sb_load *ld = sb_load_open(cl->con, table, "id,c,d");
    int rc = 0;

    if (!ld)
        return false;
    sb_load_block(ld, 2);
    for (unsigned i = 0; i < 5 && rc == 0; i++) {
        rc = sb_load_int(ld, key + i);
        if (rc == 0)
            rc = i == 3 ? sb_load_null(ld)
                        : sb_load_text(ld, text, sizeof(text) - 1);
        if (rc == 0)
            rc = sb_load_double(ld, i / 8.0);
    }
    return sb_load_close(ld, rc == 0) == 0 && rc == 0;
}

static bool insert(struct client *cl, const char *sql, unsigned key)
{
    char row[40];
    int rc = sb_con_bulk_init(cl->con, sql, strlen(sql));

    for (unsigned i = 0; i < 3 && rc == 0; i++) {
        snprintf(row, sizeof(row), "(%u,'%u')", key + i, i);
        rc = sb_con_bulk_next(cl->con, row, strlen(row));
    }
    return rc == 0 && sb_con_bulk_done(cl->con) == 0;
}

static bool send_pipeline(struct client *cl)
{
    int n = sb_con_pipeline_send(cl->con);

    for (int i = 0; i < n && good(cl); i++) {
        struct sb_rs *rs = sb_con_pipeline_next(cl->con);

        if (rs && i % 2 == 0)
            look_at_rows(rs);
    }
    return n >= 0 && good(cl);
}

// One source of each driver, because the answers are recorded.
static bool wanted(void *arg, const char *prefix)
{
    return strcmp(prefix, "metric.") != 0 && strcmp(prefix, "wal_") != 0 &&
           strcmp(prefix, "buffers_") != 0 &&
           strncmp(prefix, "checkpoint", 10) != 0 &&
           strcmp(prefix, "maxwritten_") != 0 &&
           strcmp(prefix, "locks_") != 0 &&
           strcmp(prefix, "connections_") != 0 &&
           strcmp(prefix, "oldest_") != 0;
}

static int visit(void *arg, const struct sb_counter *c)
{
    look_at_text(c->name);
    return 0;
}

static void missing(void *arg, const char *source, const struct sb_err *why)
{
    look_at_text(why->msg);
}

static bool ask_server(struct client *cl, bool counters)
{
    struct sb_con_priv *c = (struct sb_con_priv *)cl->con;
    const struct sb_counter_sink to = { NULL, wanted, visit, missing };
    struct sb_err err = { 0 };
    char line[200];

    if (!counters) {
        sb_con_server(cl->con, line, sizeof(line));
        look_at_text(line);
        return true;
    }
    // The facade has no call for these.
    return !sb__con_connected(c) ||
           c->drv->info->counters(c->conn, &to, &err) == 0;
}

static bool act(struct client *cl, const struct hostile_step *s, unsigned round)
{
    switch (s->act) {
    case HOSTILE_QUERY:
        return query(cl, s->text);
    case HOSTILE_PREPARE:
        return prepare(cl, s->text, s->n);
    case HOSTILE_EXECUTE:
        return !cl->stmt[s->n] || execute(cl, s->n, round);
    case HOSTILE_FREE:
        sb_stmt_free(cl->stmt[s->n]);
        cl->stmt[s->n] = NULL;
        return true;
    case HOSTILE_SERVER:
    case HOSTILE_COUNTERS:
        return ask_server(cl, s->act == HOSTILE_COUNTERS);
    case HOSTILE_LOAD:
        return load(cl, s->text, s->n);
    case HOSTILE_INSERT:
        return insert(cl, s->text, s->n);
    case HOSTILE_PIPELINE:
        return sb_con_pipeline(cl->con) == 0;
    case HOSTILE_SEND:
        return send_pipeline(cl);
    case HOSTILE_RUN:
        return sb_con_pipeline_run(cl->con) >= 0;
    case HOSTILE_RESET:
        return sb_con_reset(cl->con) == 0;
    case HOSTILE_RECONNECT:
        return sb_con_reconnect(cl->con) == 0;
    case HOSTILE_END:
        break;
    }
    return true;
}

// Continues after a lost connection, so that later steps are tested, too.
static void recover(struct client *cl)
{
    int code = error_of(cl)->code;

    if (code == SB_ERECONNECT || code == SB_ERESTART)
        sb_con_reset(cl->con);
    else if (code == SB_ELOST && cl->attempts++ < ATTEMPTS)
        sb_con_reconnect(cl->con);
}

static void act_all(struct client *cl)
{
    const struct hostile_step *s = cl->p->steps;

    for (unsigned round = 0; s->act != HOSTILE_END; s++, round++) {
        bool fine = act(cl, s, round);

        look_at_errors(cl);
        cl->failed += !fine;
        if (fine == s->fails) {
            cl->strange++;
            if (getenv("HOSTILE_VERBOSE"))
                fprintf(stderr, "step %u (%s, %u): %s\n", round,
                    s->text ? s->text : "", s->n, cl->con->sql_errmsg);
        }
        if (!fine)
            recover(cl);
    }
}

// One input -----------------------------------------------------------------

static bool no_time_passes(void *arg, uint64_t ns)
{
    struct client *cl = arg;

    return cl->waits++ < 4;
}

static void converse(struct client *cl, struct sb_db *db)
{
    static struct sb_clock still = { .ns0 = UINT64_C(1) << 62 };

    sb_db_ctx_init(&cl->ctx, db->owner, NULL, &still, 0, 1);
    cl->ctx.wait = no_time_passes;
    cl->ctx.wait_arg = cl;
    cl->con = sb_con_open(&cl->ctx, db, NULL, NULL, 0);
    if (cl->con) {
        act_all(cl);
        sb_con_free(cl->con);
    } else {
        look_at_text(cl->ctx.err.msg);
        assert(cl->ctx.err.code < 0 && *cl->ctx.err.msg);
        cl->strange++;
    }
    for (unsigned i = 0; i < STATEMENTS; i++) {
        sb_stmt_free(cl->stmt[i]);
        for (unsigned k = 0; k < PARAMS; k++)
            sb_param_free(cl->param[i][k]);
    }
    sb_db_ctx_done(&cl->ctx);
}

static void no_log(int level, const char *text)
{
    look_at_text(text);
}

// The complete state for one input; the next input starts with a new one.
struct course {
    const struct hostile_program *p;
    struct sb_db_opts o;
    struct sb_drivers owner;
    struct sb_db db;
    struct client cl;
};

static void run_course(void *arg)
{
    struct course *c = arg;

    converse(&c->cl, &c->db);
}

static void end_course(struct course *c)
{
    sb__inst_done(&c->db.base);
    pthread_mutex_destroy(&c->owner.lock);
    pthread_mutex_destroy(&c->owner.feed_lock);
    free(c);
}

// Returns the number of strange steps.
static unsigned course(const struct hostile_program *p, unsigned variant,
    uint8_t flags, const uint8_t *input, size_t size, const char *real)
{
    struct course *c = calloc(1, sizeof(*c));
    unsigned strange, open;

    assert(c);
    c->o = (struct sb_db_opts){
        .driver = "",
        .ps_mode = p->variant[variant].emulate ? SB_DB_PS_DISABLE
                                               : SB_DB_PS_AUTO,
        .reconnect = flags & 1,
        .init_sql = "SELECT 1",
        .statement_cache = flags & 2 ? 1 : 0,
    };
    c->owner.o = opts[variant];
    c->owner.opts = &c->o;
    c->owner.host = (struct sb_host){ .abi = SB_DRIVER_ABI,
        .log = no_log,
        .wait = sb_io_wait,
        .exchange = sb_io_exchange,
        .sleep = sb_io_sleep,
        .apart = sb_helper_run,
        .shared = sb_helper_shared };
    pthread_mutex_init(&c->owner.lock, NULL);
    pthread_mutex_init(&c->owner.feed_lock, NULL);
    c->db = (struct sb_db){ .owner = &c->owner, .drv = p->driver };
    c->db.base.db = &c->db;
    c->db.base.opts = values[variant];
    c->cl.p = p;
    hostile_begin(p->proto, &tape[variant], input, size, real);
    if (!hostile_try(run_course, c)) {
        hostile_end();
        return 1;
    }
    open = hostile_end();
    assert(open == 0); // a socket that is not closed is a bug, too
    strange = c->cl.strange;
    end_course(c);
    return strange;
}

// Begin ---------------------------------------------------------------------

static void set_options(const struct hostile_program *p, unsigned variant)
{
    const char *const(*o)[2] = p->variant[variant].options;
    struct sb_err err = { 0 };

    opts[variant] = sb_opts_new();
    values[variant] = calloc(1, p->driver->opts_size);
    assert(opts[variant] && values[variant]);
    sb_opts_add(opts[variant], p->driver->opts, values[variant], &err);
    for (; (*o)[0]; o++) {
        if (sb_opts_set(
                opts[variant], (*o)[0], (*o)[1], SB_SRC_CMDLINE, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            abort();
        }
    }
}

static void tape_path(
    const struct hostile_program *p, unsigned variant, char *out, size_t size)
{
    const char *top = getenv("SB_SRCDIR");

    snprintf(out, size, "%s/tests/fuzz/tapes/%s-%s", top ? top : ".",
        p->proto->name, p->variant[variant].name);
}

// Sets the options and loads or makes the recordings. Aborts if a recording
// does not match the steps of the program, because it must be made again.
static void begin(const struct hostile_program *p)
{
    const char *real = getenv("HOSTILE_RECORD");
    char path[PATH_MAX];

    assert(p->variants <= VARIANTS);
    sb_log_set_level(-1);
    for (unsigned i = 0; i < p->variants; i++) {
        unsigned strange;

        set_options(p, i);
        tape_path(p, i, path, sizeof(path));
        if (real) {
            strange = course(p, i, 0, NULL, 0, real);
            if (!hostile_tape_save(&tape[i], path))
                strange++;
        } else {
            if (!hostile_tape_load(&tape[i], path))
                abort();
            strange = course(p, i, 0, NULL, 0, NULL);
        }
        if (strange) {
            fprintf(stderr, "%s: %u steps had an unexpected outcome\n", path,
                strange);
            abort();
        }
    }
    if (real)
        exit(0);
}

int hostile_run(
    const struct hostile_program *p, const uint8_t *data, size_t size)
{
    static bool begun;

    if (!begun)
        begin(p);
    begun = true;
    if (size > 0)
        course(
            p, data[0] % p->variants, data[0] >> 5, data + 1, size - 1, NULL);
    return 0;
}
