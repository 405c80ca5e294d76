// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options of components of a mix: NAME.option, their plain spelling, copies of
// options of the program, sections.
#include "base/opts.h"

#include "check_opts.h"

static int declare(const char *component, const char *name,
    enum sb_opt_type type, const char *def)
{
    char title[40];

    snprintf(title, sizeof(title), "%s options", component);
    return sb_opts_add_component(
        o, title, component, name, "", type, def, &err);
}

static const char *text(const char *name)
{
    const char *found = text_of(name);

    return found ? found : "(none)";
}

static void own_and_plain_names(void)
{
    struct sb_opt_view view;

    begin();
    give("--a.tables=7");
    give("--tables=3");
    give("--rows=5");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(declare("a", "tables", SB_OPT_INT, "1"), 0);
    CHECK_INT(declare("b", "tables", SB_OPT_INT, "2"), 0);
    CHECK_INT(declare("b", "rows", SB_OPT_INT, "2"), 0);
    CHECK_INT(declare("b", "other", SB_OPT_STRING, "x"), 0);
    CHECK_STR(text("a.tables"), "7"); // also behind the plain name
    CHECK_STR(text("b.tables"), "3");
    CHECK_STR(text("b.rows"), "5");
    CHECK_STR(text("b.other"), "x");
    CHECK_STR(text("tables"), "(none)");
    CHECK_STR(origin_of("a.tables"), "");
    CHECK_STR(origin_of("b.tables"), "tables");
    CHECK_INT(sb_opts_check(o, NULL, &err), 0);
    CHECK(sb_opts_find(o, "b.tables", &view));
    CHECK_STR(view.component, "b");
    CHECK_STR(view.plain, "tables");
    CHECK(sb_opts_find(o, "threads", &view));
    CHECK(view.component == NULL);
    CHECK_STR(view.plain, "threads");
    end();
}

static void sources_and_errors(void)
{
    const char *conf = "a.tables=8\ntables=9\na.rows=4\n";

    begin();
    give("--tables=3");
    give("--rows=x");
    CHECK_INT(read_args(), 0);
    CHECK_INT(sb_opts_file_text(o, "f", conf, strlen(conf), &err), 0);
    CHECK_INT(declare("a", "tables", SB_OPT_INT, "1"), 0);
    CHECK_STR(text("a.tables"), "3"); // the command line is stronger
    CHECK_INT(declare("a", "rows", SB_OPT_INT, "1"), SB_EUSAGE);
    CHECK_STR(err.msg,
        "Invalid value for the 'rows' option: 'x' (must be a whole number)");
    end();
    begin();
    give("--a.rows=x");
    give("--c.rows=1");
    CHECK_INT(read_args(), 0);
    CHECK_INT(declare("a", "rows", SB_OPT_INT, "1"), SB_EUSAGE);
    CHECK_STR(err.msg,
        "Invalid value for the 'a.rows' option: 'x' (must be a whole number)");
    end();
    begin();
    give("--c.rows=1");
    CHECK_INT(read_args(), 0);
    CHECK_INT(declare("a", "rows", SB_OPT_INT, "1"), 0);
    CHECK_INT(sb_opts_check(o, NULL, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "invalid option: --c.rows (did you mean --a.rows?)");
    end();
}

static bool not_time(void *arg, const struct sb_opt_view *view)
{
    return strcmp(view->opt->name, "time") != 0;
}

static void copies(void)
{
    struct sb_opt_view view;
    struct sample copy;

    begin();
    give("--a.mode=disable");
    give("--a.db-password=geheim");
    give("--ratio=2");
    give("--a.ratio=3");
    CHECK_INT(read_args(), 0);
    CHECK_STR(args[2], "--a.db-password=******");
    CHECK_INT(add(), 0);
    CHECK_INT(sb_opts_own(o, "a options", "a", not_time, NULL, &err), 0);
    CHECK_STR(text("a.mode"), "disable");
    CHECK_STR(text("mode"), "auto");
    CHECK_STR(text("a.db-password"), "***");
    CHECK_STR(text("a.ratio"), "3");
    CHECK_STR(text("a.threads"), "(none)");
    CHECK_INT(sb_opts_check(o, NULL, &err), 0);
    copy = v;
    CHECK(sb_opts_find(o, "a.db-password", &view));
    for (const struct sb_opt *opt = sample_opts; opt->name; opt++)
        if (strcmp(opt->name, "db-password") == 0)
            sb_opts_copy_own(&view, opt, &copy);
    CHECK_STR(copy.password, "geheim");
    CHECK_STR(v.password, "");
    end();
    begin();
    give("--a.time=3");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(
        sb_opts_own(o, "a options", "a", not_time, NULL, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "--a.time: --time applies to all workloads of a mix");
    end();
}

static const struct sb_opt later_opts[] = {
    { "later-db", SB_OPT_STRING, .offset = 0, .def = "none" },
    { .name = NULL },
};
static const struct sb_opt_table later = { .title = "Later options",
    .opts = later_opts };

static bool all(void *arg, const struct sb_opt_view *view)
{
    return true;
}

// Called again when a driver has added its options.
static void copies_of_options_added_later(void)
{
    const char *db = NULL;

    begin();
    give("--a.mode=disable");
    give("--a.later-db=x");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(sb_opts_own(o, "a options", "a", all, NULL, &err), 0);
    CHECK_STR(text("a.later-db"), "(none)");
    CHECK_INT(sb_opts_check(o, NULL, &err), SB_EUSAGE);
    CHECK_INT(sb_opts_add(o, &later, (void *)&db, &err), 0);
    CHECK_INT(sb_opts_own(o, "a options", "a", all, NULL, &err), 0);
    CHECK_STR(text("a.later-db"), "x");
    CHECK_STR(text("a.mode"), "disable");
    CHECK_STR(db, "none");
    CHECK_INT(sb_opts_check(o, NULL, &err), 0);
    end();
}

// A stronger setting of the program's option is the value of the copy, also of
// a secret.
static void copies_have_stronger_values(void)
{
    const char *conf = "a.db-password=weak\na.ratio=3\na.mode=disable\n";
    struct sb_opt_view view;

    begin();
    give("--db-password=strong");
    give("--ratio=2");
    CHECK_INT(read_args(), 0);
    CHECK_INT(sb_opts_file_text(o, "f", conf, strlen(conf), &err), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(sb_opts_own(o, "a options", "a", all, NULL, &err), 0);
    CHECK_STR(text("a.ratio"), "2");
    CHECK_STR(text("a.mode"), "disable");
    CHECK(sb_opts_find(o, "a.db-password", &view));
    CHECK_STR(view.text, "***");
    CHECK_STR(*(const char *const *)view.value, "strong");
    end();
}

static enum sb_opts_section kind(void *arg, const char *name)
{
    return strcmp(name, "w") == 0   ? SB_SECTION_MINE
           : strcmp(name, "z") == 0 ? SB_SECTION_OTHER
                                    : SB_SECTION_UNKNOWN;
}

static const char *as(void *arg, const char *section, unsigned n)
{
    static const char *const components[] = { "a", "b", NULL };

    return components[n];
}

static void sections(void)
{
    const char *conf = "tables=1\n[w]\ntables=2\n[z]\ntables=5\n";

    begin();
    give("--b.tables=6");
    CHECK_INT(read_args(), 0);
    CHECK_INT(sb_opts_file_text(o, "f", conf, strlen(conf), &err), 0);
    sb_opts_sections_as(o, as, NULL);
    CHECK_INT(sb_opts_sections(o, false, kind, NULL, &err), 0);
    CHECK_INT(declare("a", "tables", SB_OPT_INT, "0"), 0);
    CHECK_INT(declare("b", "tables", SB_OPT_INT, "0"), 0);
    CHECK_INT(declare("c", "tables", SB_OPT_INT, "0"), 0);
    CHECK_STR(text("a.tables"), "2");
    CHECK_STR(origin_of("a.tables"), "f:3");
    CHECK_STR(text("b.tables"), "6");
    CHECK_STR(text("c.tables"), "1");
    end();
}

static int note(void *arg, const char *name, const char *value,
    enum sb_opt_source source, const char *where)
{
    char *all = arg;

    snprintf(all + strlen(all), 100, "%s=%s;", name, value ? value : "");
    return 0;
}

static void undeclared(void)
{
    char all[300] = "";

    begin();
    give("--one=1");
    give("--a.two=2");
    give("--b.three=3");
    give("--threads=4");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(declare("b", "one", SB_OPT_INT, "0"), 0);
    CHECK_INT(sb_opts_undeclared(o, "a", note, all), 0);
    CHECK_STR(all, "one=1;two=2;");
    end();
}

CHECK_FILE
{
    RUN(own_and_plain_names);
    RUN(sources_and_errors);
    RUN(copies);
    RUN(copies_of_options_added_later);
    RUN(copies_have_stronger_values);
    RUN(sections);
    RUN(undeclared);
    return check_done();
}
