// SPDX-License-Identifier: GPL-2.0-or-later
//
// Instances of a driver: which connections share one, and how long it lives.
#include "base/opts.h"
#include "fake.h"

struct fake_opts {
    const char *host, *socket;
    int64_t port;
};

static const struct sb_opt fake_options[] = {
    { .name = "fake-host",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct fake_opts, host),
        .def = "h",
        .instead_of = "fake-socket" },
    { .name = "fake-tcp-port",
        .type = SB_OPT_INT,
        .offset = offsetof(struct fake_opts, port),
        .def = "1" },
    { .name = "fake-server", .type = SB_OPT_STRING, .alias_of = "fake-host" },
    { .name = "fake-socket",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct fake_opts, socket),
        .def = "/s" },
    { 0 },
};
static const struct sb_opt_table table = { .title = "fake",
    .opts = fake_options };

static int env_fails;
static struct sb_err err;
static struct fake_opts base;

static int env_init(
    struct sb_driver_env *env, const void *values, struct sb_err *e)
{
    CHECK(env->host == &owner.host);
    note("init(%s) ", ((const struct fake_opts *)values)->host);
    return env_fails ? sb_err_set(e, env_fails, "no such library") : 0;
}

static void env_done(struct sb_driver_env *env)
{
    note("done ");
}

static const struct sb_generic_ops generic = { .env_init = env_init,
    .env_done = env_done };

static void begin(void)
{
    start();
    pthread_mutex_init(&owner.lock, NULL);
    owner.o = sb_opts_new();
    owner.dbs = &db;
    drv.opts = &table;
    drv.opts_size = sizeof(base);
    drv.generic = &generic;
    db.base = (struct sb__inst){ .db = &db, .opts = &base };
    CHECK_INT(sb_opts_add(owner.o, &table, &base, NULL), 0);
    env_fails = 0;
    sb_err_clear(&err);
}

static void end(void)
{
    sb__insts_free(&db);
    sb__inst_done(&db.base);
    CHECK(db.more == NULL);
    sb_opts_free(owner.o);
    owner.dbs = NULL;
    pthread_mutex_destroy(&owner.lock);
    finish();
}

static struct sb__inst *get(const char *name, const char *value)
{
    struct sb__inst *i = NULL;

    CHECK_INT(sb__inst_get(&db, &name, &value, name ? 1 : 0, &i, &err), 0);
    return i;
}

static int refused(const char *name, const char *value)
{
    struct sb__inst *i = &db.base;
    int rc = sb__inst_get(&db, &name, &value, 1, &i, &err);

    CHECK(i == NULL); // a reference to it was not added
    return rc;
}

static const struct fake_opts *opts_of(const struct sb__inst *i)
{
    return i->opts;
}

// Its environment may hold data that must survive two runs.
static void the_base_stays(void)
{
    begin();
    CHECK(get(NULL, NULL) == &db.base);
    CHECK(get(NULL, NULL) == &db.base);
    CHECK_INT(db.base.refs, 2);
    CHECK_STR(logged(), "init(h) ");
    sb__inst_put(&db.base);
    sb__inst_put(&db.base);
    CHECK(db.base.ready);
    CHECK_INT(db.base.refs, 0);
    CHECK(get(NULL, NULL) == &db.base);
    sb__inst_put(&db.base);
    CHECK_STR(logged(), "");
    end();
    CHECK_STR(logged(), "done ");
    CHECK(!db.base.ready);
}

static void equal_overrides_share_an_instance(void)
{
    struct sb__inst *a, *b;

    begin();
    a = get("host", "x");
    CHECK(a != &db.base);
    CHECK_STR(opts_of(a)->host, "x");
    CHECK_INT(opts_of(a)->port, 1); // as in the base
    CHECK(get("host", "x") == a);
    CHECK_INT(a->refs, 2);
    b = get("host", "y");
    CHECK(a != b);
    CHECK_STR(base.host, "h");
    CHECK_STR(logged(), "init(x) init(y) ");
    sb__inst_put(a);
    CHECK_STR(logged(), "");
    sb__inst_put(a);
    CHECK_STR(logged(), "done ");
    CHECK(db.more == b && b->next == NULL);
    sb__inst_put(b);
    CHECK_STR(logged(), "done ");
    CHECK(db.more == NULL);
    end();
}

// The socket of the run does not hide the host of a connection.
static void a_host_replaces_the_socket(void)
{
    const char *names[] = { "fake_socket", "host" }, *values[] = { "/t", "x" };
    struct sb__inst *i;

    begin();
    i = get("tcp_port", "2");
    CHECK_STR(opts_of(i)->socket, "/s");
    sb__inst_put(i);
    i = get("server", "x");
    CHECK_STR(opts_of(i)->socket, "");
    CHECK_STR(base.socket, "/s");
    sb__inst_put(i);
    CHECK_INT(sb__inst_get(&db, names, values, 2, &i, &err), 0);
    CHECK_STR(opts_of(i)->socket, "/t");
    sb__inst_put(i);
    end();
}

// One override whose text is that of two, if lengths are left out.
static void overrides_are_told_apart(void)
{
    static const char *const one[] = { "a;host=b", "a;4:host=b",
        "a;4:host=1:b" };
    static const char *const names[] = { "host", "host" };
    static const char *const two[] = { "a", "b" };
    struct sb__inst *a, *b;

    begin();
    CHECK_INT(sb__inst_get(&db, names, two, 2, &b, &err), 0);
    CHECK_STR(opts_of(b)->host, "b"); // the last one counts
    for (int i = 0; i < 3; i++) {
        a = get("host", one[i]);
        CHECK(a != b);
        CHECK_STR(opts_of(a)->host, one[i]);
        sb__inst_put(a);
    }
    sb__inst_put(b);
    end();
}

static void kept_instances_end_with_the_driver(void)
{
    struct sb__inst *a;

    begin();
    a = get("host", "x");
    sb__inst_keep(a);
    sb__inst_put(a);
    CHECK(db.more == a);
    CHECK_STR(logged(), "init(x) ");
    CHECK(get("host", "x") == a);
    sb__inst_put(a);
    sb__insts_free(&db);
    CHECK_STR(logged(), "done ");
    end();
}

static void failures_leave_no_instance(void)
{
    struct sb__inst *i;

    begin();
    CHECK_INT(refused("hots", "x"), SB_EUSAGE);
    CHECK_STR(
        err.msg, "the fake driver has no option 'hots'; did you mean 'host'?");
    CHECK_INT(refused("quite-another", "x"), SB_EUSAGE);
    CHECK_STR(err.msg, "the fake driver has no option 'quite-another'");
    CHECK(refused("tcp-port", "many") != 0);
    CHECK(strstr(err.msg, "many") != NULL);
    CHECK_STR(logged(), "");
    env_fails = SB_EDRIVER;
    CHECK_INT(refused("host", "x"), SB_EDRIVER);
    CHECK_STR(err.msg, "no such library");
    CHECK_STR(logged(), "init(x) "); // and nothing is to be undone
    CHECK(db.more == NULL);
    CHECK_INT(sb__inst_get(&db, NULL, NULL, 0, &i, &err), SB_EDRIVER);
    CHECK_INT(db.base.refs, 0);
    env_fails = 0;
    CHECK(get(NULL, NULL) == &db.base); // it is tried again
    sb__inst_put(&db.base);
    end();
}

static void options_have_several_names(void)
{
    begin();
    CHECK(sb__opt_find(&drv, "fake-host") == &fake_options[0]);
    CHECK(sb__opt_find(&drv, "host") == &fake_options[0]);
    CHECK(sb__opt_find(&drv, "fake_tcp_port") == &fake_options[1]);
    CHECK(sb__opt_find(&drv, "tcp-port") == &fake_options[1]);
    CHECK(sb__opt_find(&drv, "server") == &fake_options[0]);
    CHECK(sb__opt_find(&drv, "port") == NULL);
    CHECK(sb__opt_find(&drv, "hos") == NULL);
    CHECK(sb__opt_find(&drv, "hosts") == NULL);
    CHECK(sb__opt_find(&drv, "") == NULL);
    drv.opts = NULL;
    CHECK(sb__opt_find(&drv, "host") == NULL);
    end();
}

static void used_instances_are_listed_once(void)
{
    struct sb__inst *list[3], *a, *b;

    begin();
    get(NULL, NULL);
    a = get("host", "a");
    b = get("host", "b");
    CHECK_INT(sb__insts_used(&owner, list, 0, 3), 0);
    atomic_store(&db.base.used, true);
    atomic_store(&b->used, true);
    CHECK_INT(sb__insts_used(&owner, list, 0, 1), 1);
    CHECK(list[0] == &db.base);
    CHECK_INT(sb__insts_used(&owner, list, 1, 3), 1);
    CHECK(list[1] == b);
    CHECK_INT(b->refs, 2);
    atomic_store(&a->used, true);
    CHECK_INT(sb__insts_used(&owner, list, 2, 3), 1);
    CHECK(list[2] == a);
    CHECK_INT(sb__insts_used(&owner, list, 3, 3), 0);
    for (int i = 0; i < 3; i++)
        sb__inst_put(list[i]);
    sb__inst_put(&db.base);
    sb__inst_put(a);
    sb__inst_put(b);
    CHECK(db.more == NULL);
    end();
}

CHECK_FILE
{
    RUN(the_base_stays);
    RUN(equal_overrides_share_an_instance);
    RUN(a_host_replaces_the_socket);
    RUN(overrides_are_told_apart);
    RUN(kept_instances_end_with_the_driver);
    RUN(failures_leave_no_instance);
    RUN(options_have_several_names);
    RUN(used_instances_are_listed_once);
    return check_done();
}
