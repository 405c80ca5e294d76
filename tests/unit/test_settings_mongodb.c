// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options and URL of the MongoDB driver as the client library gets them.
#include <stdlib.h>

#include "check.h"
#include "driver_host.h"
#include "check_folder.h"
#include "drivers/mongodb/internal.h"

static const struct sb_host host = DRIVER_HOST;
static struct sbmo_opts o;
static struct sb_err err;
static struct sb_driver_env env;

// Sets default options and this URL.
static void options(const char *url)
{
    o = (struct sbmo_opts){ .url = url,
        .db = "",
        .user = "",
        .password = "",
        .password_file = "",
        .password_command = "",
        .auth_source = "",
        .write_concern = "",
        .app_name = "",
        .tls_ca = "",
        .tls_cert = "",
        .tls_password = "" };
    env = (struct sb_driver_env){ .host = &host };
    err = (struct sb_err){ 0 };
}

static const struct sbmo_env *init_env(void)
{
    CHECK_INT(sbmo_env_init(&env, &o, &err), 0);
    CHECK_STR(err.msg, "");
    return env.shared;
}

static void check_rejected(const char *what)
{
    CHECK_INT(sbmo_env_init(&env, &o, &err), SB_EUSAGE);
    if (!strstr(err.msg, what))
        CHECK_STR(err.msg, what);
    CHECK(env.shared == NULL);
}

static void database(void)
{
    options("mongodb://h:1");
    CHECK_STR(init_env()->db, "sbtest");
    sbmo_env_done(&env);
    options("mongodb://h:1/mine");
    CHECK_STR(init_env()->db, "mine");
    sbmo_env_done(&env);
    options("mongodb://h:1/mine");
    o.db = "other";
    CHECK_STR(init_env()->db, "other");
    sbmo_env_done(&env);
}

static void hosts(void)
{
    options("mongodb://one:1,two:2/");
    CHECK_STR(init_env()->where, "one:1, two:2");
    sbmo_env_done(&env);
}

static void write_concern(void)
{
    const struct sbmo_env *e;

    options("mongodb://h:1/");
    e = init_env();
    CHECK(mongoc_write_concern_is_default(e->write_concern));
    CHECK(!e->unacknowledged);
    sbmo_env_done(&env);

    options("mongodb://h:1/?w=2&journal=true");
    o.write_concern = "3";
    e = init_env();
    CHECK_INT(mongoc_write_concern_get_w(e->write_concern), 3);
    CHECK(mongoc_write_concern_get_journal(e->write_concern));
    sbmo_env_done(&env);

    options("mongodb://h:1/?w=2");
    o.write_concern = "majority";
    o.journal = 1;
    e = init_env();
    CHECK(mongoc_write_concern_get_wmajority(e->write_concern));
    CHECK(mongoc_write_concern_journal_is_set(e->write_concern));
    CHECK(!mongoc_write_concern_get_journal(e->write_concern));
    sbmo_env_done(&env);

    options("mongodb://h:1/");
    o.write_concern = "eu";
    e = init_env();
    CHECK_STR(mongoc_write_concern_get_wtag(e->write_concern), "eu");
    sbmo_env_done(&env);

    options("mongodb://h:1/");
    o.write_concern = "0";
    CHECK(init_env()->unacknowledged);
    sbmo_env_done(&env);

    options("mongodb://h:1/");
    o.write_concern = "0";
    o.journal = 2;
    check_rejected("journal");
    options("mongodb://h:1/");
    o.write_concern = "-1";
    check_rejected("mongo-write-concern: '-1'");
    o.write_concern = "2x";
    check_rejected("mongo-write-concern: '2x'");
}

static void reads(void)
{
    const struct sbmo_env *e;

    options("mongodb://h:1/?readConcernLevel=local&readPreference=nearest");
    e = init_env();
    CHECK_STR(mongoc_read_concern_get_level(e->read_concern), "local");
    CHECK_INT(mongoc_read_prefs_get_mode(e->prefs), MONGOC_READ_NEAREST);
    sbmo_env_done(&env);
    options("mongodb://h:1/?readConcernLevel=local&readPreference=secondary"
            "&readPreferenceTags=dc:x");
    o.read_concern = 3;    // majority
    o.read_preference = 1; // primary, which allows no tags
    e = init_env();
    CHECK_STR(mongoc_read_concern_get_level(e->read_concern), "majority");
    CHECK_INT(mongoc_read_prefs_get_mode(e->prefs), MONGOC_READ_PRIMARY);
    sbmo_env_done(&env);
}

static void credentials(void)
{
    const struct sbmo_env *e;
    FILE *f = fopen("password", "w");

    fputs("of the file\nnot this\n", f);
    fclose(f);
    options("mongodb://u:p@h:1/?appname=mine&authSource=a");
    e = init_env();
    CHECK_STR(mongoc_uri_get_username(e->uri), "u");
    CHECK_STR(mongoc_uri_get_password(e->uri), "p");
    CHECK_STR(mongoc_uri_get_appname(e->uri), "mine");
    CHECK_STR(mongoc_uri_get_auth_source(e->uri), "a");
    sbmo_env_done(&env);
    options("mongodb://u:p@h:1/?appname=mine&authSource=a");
    o.user = "me";
    o.password_file = "password";
    o.auth_source = "b";
    o.app_name = "other";
    e = init_env();
    CHECK_STR(mongoc_uri_get_username(e->uri), "me");
    CHECK_STR(mongoc_uri_get_password(e->uri), "of the file");
    CHECK_STR(mongoc_uri_get_appname(e->uri), "other");
    CHECK_STR(mongoc_uri_get_auth_source(e->uri), "b");
    sbmo_env_done(&env);
    options("mongodb://h:1/");
    CHECK_STR(mongoc_uri_get_appname(init_env()->uri), "sysbench");
    sbmo_env_done(&env);
    o.password = "x";
    check_rejected("neither --mongo-user");
    options("mongodb://u@h:1/");
    o.password_file = "nosuch";
    check_rejected("'nosuch'");
    remove("password");
}

static void timeouts(void)
{
    const struct sbmo_env *e;

    options("mongodb://h:1/?connectTimeoutMS=70&socketTimeoutMS=80");
    o.connect_timeout = o.socket_timeout = o.selection_timeout = 1;
    e = init_env();
    CHECK_INT(e->connect_ms, 70);
    CHECK_INT(
        mongoc_uri_get_option_as_int32(e->uri, MONGOC_URI_SOCKETTIMEOUTMS, 0),
        80);
    CHECK_INT(e->selection_ns, 0);
    sbmo_env_done(&env);
    options("mongodb://h:1/?connectTimeoutMS=70&socketTimeoutMS=80");
    o.connect_timeout = o.socket_timeout = 2000000000;
    o.selection_timeout = 3000000;
    o.given.connect_timeout = o.given.socket_timeout = true;
    o.given.selection_timeout = true;
    e = init_env();
    CHECK_INT(e->connect_ms, 2000);
    CHECK_INT(
        mongoc_uri_get_option_as_int32(e->uri, MONGOC_URI_SOCKETTIMEOUTMS, 0),
        2000);
    CHECK_INT(e->selection_ns, 3000000);
    // The library itself tries once.
    CHECK(mongoc_uri_get_option_as_bool(
        e->uri, MONGOC_URI_SERVERSELECTIONTRYONCE, false));
    sbmo_env_done(&env);
    options("mongodb://h:1/?serverSelectionTryOnce=false"
            "&serverSelectionTimeoutMS=70");
    e = init_env();
    CHECK_INT(e->selection_ns, 70000000);
    CHECK(mongoc_uri_get_option_as_bool(
        e->uri, MONGOC_URI_SERVERSELECTIONTRYONCE, false));
    o.given.selection_timeout = true; // 0: once
    sbmo_env_done(&env);
    CHECK_INT(init_env()->selection_ns, 0);
    sbmo_env_done(&env);
    // No timeout differs from the library's default.
    options("mongodb://h:1/");
    o.given.socket_timeout = true;
    e = init_env();
    CHECK_INT(
        mongoc_uri_get_option_as_int32(e->uri, MONGOC_URI_SOCKETTIMEOUTMS, 1),
        INT32_MAX);
    sbmo_env_done(&env);
}

static void tls(void)
{
    const struct sbmo_env *e;

    options("mongodb://h:1/");
    CHECK(!mongoc_uri_get_tls(init_env()->uri));
    sbmo_env_done(&env);
    options("mongodb://h:1/?tls=true");
    o.tls = 1;
    CHECK(!mongoc_uri_get_tls(init_env()->uri));
    sbmo_env_done(&env);
    options("mongodb://h:1/");
    o.tls_ca = "ca.pem";
    o.tls_allow_invalid = 2;
    e = init_env();
    CHECK(mongoc_uri_get_tls(e->uri));
    CHECK_STR(mongoc_uri_get_option_as_utf8(e->uri, MONGOC_URI_TLSCAFILE, ""),
        "ca.pem");
    CHECK(mongoc_uri_get_option_as_bool(
        e->uri, MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, false));
    sbmo_env_done(&env);
    o.tls = 1;
    check_rejected("turned off");
}

static void urls(void)
{
    options("mongodb//h");
    check_rejected("--mongo-url: ");
    options("mongodb://h:1/?readPreference=nosuch");
    check_rejected("--mongo-url: ");
    options("mongodb://h:99999/");
    check_rejected("--mongo-url: ");
}

CHECK_FILE
{
    check_folder();
    RUN(database);
    RUN(hosts);
    RUN(write_concern);
    RUN(reads);
    RUN(credentials);
    RUN(timeouts);
    RUN(tls);
    RUN(urls);
    return check_done();
}
