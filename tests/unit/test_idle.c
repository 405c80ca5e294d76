// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options of drivers that are not loaded, with those of the null driver.
#include "world.h"

static struct sb_drivers d;
static struct sb_err err;
static unsigned visits;
static char rows[32];

static int see(void *arg, const struct sb_opt_view *view)
{
    visits++;
    CHECK_INT(view->source, SB_SRC_DEFAULT);
    CHECK(strncmp(view->opt->name, "null-", 5) == 0);
    if (strcmp(view->opt->name, "null-rows") == 0)
        snprintf(rows, sizeof(rows), "%s", view->text);
    return arg ? *(int *)arg : 0;
}

static int see_all(const char *name)
{
    visits = 0;
    return sb__idle_each(&d, name, see, NULL);
}

static void has_the_defaults(void)
{
    CHECK_INT(sb__idle_add(&d, "null", &err), 0);
    CHECK_INT(see_all("null"), 0);
    CHECK(visits > 1);
    CHECK_STR(rows, "1");
    sb__idle_done(&d);
}

static void is_added_once(void)
{
    const struct sb__idle *first;

    CHECK_INT(sb__idle_add(&d, "null", &err), 0);
    first = d.idle;
    CHECK_INT(sb__idle_add(&d, "null", &err), 0);
    CHECK(first && d.idle == first);
    sb__idle_done(&d);
    CHECK(d.idle == NULL);
    sb__idle_done(&d);
    CHECK_INT(see_all("null"), 0);
    CHECK_INT(visits, 0);
}

// Drivers from elsewhere may have no module with options.
static void allows_drivers_without_such_a_module(void)
{
    CHECK_INT(sb__idle_add(&d, "nosuch", &err), 0);
    CHECK(d.idle == NULL);
    CHECK_INT(sb__idle_add(&d, "null", &err), 0);
    CHECK_INT(see_all("nosuch"), 0);
    CHECK_INT(visits, 0);
    sb__idle_done(&d);
}

static void a_visit_ends_the_others(void)
{
    int rc = SB_ENOMEM;

    CHECK_INT(sb__idle_add(&d, "null", &err), 0);
    visits = 0;
    CHECK_INT(sb__idle_each(&d, "null", see, &rc), SB_ENOMEM);
    CHECK_INT(visits, 1);
    sb__idle_done(&d);
}

CHECK_FILE
{
    if (!find_modules()) {
        printf("1..0 # SKIP no modules in %s\n", modules);
        return 0;
    }
    d.dir = modules;
    RUN(has_the_defaults);
    RUN(is_added_once);
    RUN(allows_drivers_without_such_a_module);
    RUN(a_visit_ends_the_others);
    return check_done();
}
