// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loading the modules of drivers and of their options. Broken ones are
// rejected.
#include "check_folder.h"
#include "world.h"

// Broken drivers -------------------------------------------------------------

static int ok_connect(struct sb_conn *c, struct sb_driver_env *e, const void *o,
    const struct sb_conn_info *i, struct sb_err *err)
{
    return 0;
}
static void ok_disconnect(struct sb_conn *c)
{
}
static int ok_query(struct sb_conn *c, const char *s, size_t n,
    struct sb_result *r, struct sb_err *e)
{
    return 0;
}
static int ok_prepare(struct sb_conn *c, struct sb_stmt *st, const char *s,
    size_t n, const uint8_t *t, uint32_t *p, struct sb_err *e)
{
    return 0;
}
static int ok_fetch(
    struct sb_conn *c, struct sb_result *r, struct sb_cell *l, struct sb_err *e)
{
    return 0;
}
static const char *ok_column(struct sb_conn *c, struct sb_result *r, uint32_t i)
{
    return NULL;
}
static void ok_free(struct sb_conn *c, struct sb_result *r)
{
}

static struct sb_generic_ops generic;
static struct sb_sql_ops sql;
static struct sb_driver driver;

static void complete_driver(void)
{
    generic = (struct sb_generic_ops){ .connect = ok_connect,
        .disconnect = ok_disconnect };
    sql = (struct sb_sql_ops){ .query = ok_query,
        .fetch = ok_fetch,
        .column = ok_column,
        .free_result = ok_free };
    driver = (struct sb_driver){ .abi = SB_DRIVER_ABI,
        .name = "x",
        .title = "an x",
        .dialect = "x",
        .conn_size = 1,
        .generic = &generic,
        .sql = &sql };
}

static const char *check_error(void)
{
    static struct sb_err err;

    sb_err_clear(&err);
    if (sb__driver_check(&driver, "x", "/lib/x.so", &err) == 0)
        return "";
    CHECK(err.code == SB_EDRIVER && strstr(err.msg, "'x' (/lib/x.so)"));
    return err.msg;
}

static void broken_drivers_are_rejected(void)
{
    static const struct sb_opt stray[] = {
        { .name = "y-host", .type = SB_OPT_STRING }, { 0 }
    };
    static const struct sb_opt_table table = { .title = "X", .opts = stray };

    complete_driver();
    CHECK_STR(check_error(), "");
    driver.abi = 99;
    CHECK(strstr(check_error(), "interface 99"));
    complete_driver();
    driver.name = "z";
    CHECK(strstr(check_error(), "another name: 'z'"));
    complete_driver();
    generic.connect = NULL;
    CHECK(strstr(check_error(), "connect and disconnect"));
    complete_driver();
    sql.fetch = NULL;
    CHECK(strstr(check_error(), "query, fetch"));
    complete_driver();
    sql.prepare = ok_prepare;
    CHECK(strstr(check_error(), "set together"));
    complete_driver();
    driver.caps = SB_CAP_ONE_LOADER;
    CHECK(strstr(check_error(), "require bulk operations"));
    complete_driver();
    driver.caps = 1u << 31;
    CHECK(strstr(check_error(), "capability bits"));
    complete_driver();
    driver.opts = &table;
    driver.opts_size = 64;
    CHECK(strstr(check_error(), "does not begin with"));
    complete_driver();
    driver.conn_size = 0;
    CHECK(strstr(check_error(), "conn_size"));
}

// Modules --------------------------------------------------------------------

static int open_module(const char *dir, const char *name, struct sb_err *err)
{
    struct sb_db *db = NULL;
    int rc = sb__module_open(dir, name, &db, err);

    CHECK(!db == !!rc);
    if (db)
        CHECK_STR(db->drv->name, name);
    sb__module_close(db);
    return rc;
}

static void modules_are_opened_by_name(void)
{
    struct sb_err err = { 0 };

    CHECK_INT(open_module(modules, "null", &err), 0);
    CHECK_INT(open_module(modules, "nosuch", &err), SB_ENOTFOUND);
    CHECK(strstr(err.msg, "no file") && strstr(err.msg, "/nosuch.so"));
    CHECK_INT(open_module("/nonexistent", "null", &err), SB_ENOTFOUND);
    CHECK_INT(open_module(modules, "", &err), SB_ENOTFOUND);
    // A name is not a path.
    CHECK_INT(open_module("/nonexistent/x", "../null", &err), SB_ENOTFOUND);
    CHECK_STR(err.msg, "there is no driver '../null'");
}

static void write_module(const char *name)
{
    FILE *f = fopen(name, "w");

    CHECK(f != NULL);
    if (f)
        fclose(f);
}

static void files_that_are_no_modules_are_named(void)
{
    struct sb_err err = { 0 };
    void *module = NULL;

    write_module("fake.so");
    write_module("fake-options.so");
    CHECK_INT(open_module(".", "fake", &err), SB_EDRIVER);
    CHECK(strstr(err.msg, "'fake' (./fake.so) cannot be loaded: "));
    CHECK(sb__options_open(".", "fake", &module) == NULL);
    CHECK(module == NULL);
    sb__options_close(module);
}

// A module that was renamed is not used under its new name.
static void options_belong_to_their_driver(void)
{
    char from[5000];
    const struct sb_driver_options *o;
    void *module = NULL;

    o = sb__options_open(modules, "null", &module);
    CHECK(o && module);
    if (o)
        CHECK_STR(o->name, "null");
    sb__options_close(module);
    snprintf(from, sizeof(from), "%s/null-options.so", modules);
    CHECK(symlink(from, "nullx-options.so") == 0);
    CHECK(sb__options_open(".", "nullx", &module) == NULL);
    CHECK(module == NULL);
    CHECK(sb__options_open(".", "nosuch", &module) == NULL);
    CHECK(module == NULL);
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(broken_drivers_are_rejected);
    if (!find_modules()) {
        printf("ok %d - modules # SKIP no modules in %s\n", ++check_tests,
            modules);
        return check_done();
    }
    check_folder();
    RUN(modules_are_opened_by_name);
    RUN(files_that_are_no_modules_are_named);
    RUN(options_belong_to_their_driver);
    return check_done();
}
