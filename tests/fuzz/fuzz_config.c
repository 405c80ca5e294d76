// SPDX-License-Identifier: GPL-2.0-or-later
//
// The input is a config file. Reading it before and after the option table is
// added must give the same values, and so must reading the output of
// --print-config.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "fuzz.h"

struct target {
    bool b;
    int64_t i;
    const char *s;
    struct sb_opt_list l;
};

#define AT(field) .offset = offsetof(struct target, field)

static const struct sb_opt opts[] = {
    { "bool", SB_OPT_BOOL, AT(b) },
    { "int", SB_OPT_INT, AT(i), .def = "5" },
    { "string", SB_OPT_STRING, AT(s), .def = "x" },
    { "list", SB_OPT_LIST, AT(l), .def = "1,2" },
    { .name = NULL },
};
static const struct sb_opt_table table = { .title = "Options", .opts = opts };

static bool same_list(const struct sb_opt_list *a, const struct sb_opt_list *b)
{
    bool equal = a->count == b->count;

    for (size_t i = 0; equal && i < a->count; i++)
        equal = strcmp(a->item[i], b->item[i]) == 0;
    return equal;
}

static bool same(const struct target *a, const struct target *b)
{
    return a->b == b->b && a->i == b->i && strcmp(a->s, b->s) == 0 &&
           same_list(&a->l, &b->l);
}

// Returns whether --print-config comments the line out, because a config file
// cannot or must not contain the value: control characters, both kinds of
// quotes, a password.
static bool commented_out(
    struct sb_opts *o, const char *printed, const char *name, const char *line)
{
    struct sb_opt_view view;

    return sb_opts_find(o, name, &view) && view.source != SB_SRC_DEFAULT &&
           strstr(printed, line);
}

static void read_back(struct sb_opts *o, const struct target *t)
{
    struct sb_opts *again = sb_opts_new();
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    struct target got;
    struct sb_err err;

    assert(again && f);
    sb_opts_print_config(o, f);
    fclose(f);
    assert(sb_opts_file_text(again, "again", text, len, &err) == 0);
    assert(sb_opts_add(again, &table, &got, &err) == 0);
    assert(got.b == t->b && got.i == t->i);
    assert(commented_out(o, text, "string", "\n#string=") ||
           strcmp(got.s, t->s) == 0);
    assert(
        commented_out(o, text, "list", "\n#list=") || same_list(&got.l, &t->l));
    sb_opts_free(again);
    free(text);
}

static enum sb_opts_section any_kind(void *arg, const char *name)
{
    return (enum sb_opts_section)((unsigned char)name[0] % 3);
}

static int sections(struct sb_opts *o, struct sb_err *err)
{
    return sb_opts_sections(o, false, any_kind, NULL, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_opts *early = sb_opts_new(), *late = sb_opts_new();
    const char *text = (const char *)data;
    struct target a, b;
    struct sb_err err;
    int rc_a, rc_b;

    if (!early || !late)
        goto out;
    rc_a = sb_opts_add(early, &table, &a, &err);
    assert(rc_a == 0);
    rc_a = sb_opts_file_text(early, "f", text, size, &err);
    if (!rc_a)
        rc_a = sections(early, &err);
    rc_b = sb_opts_file_text(late, "f", text, size, &err);
    if (!rc_b)
        rc_b = sections(late, &err);
    if (!rc_b)
        rc_b = sb_opts_add(late, &table, &b, &err);
    assert((rc_a == 0) == (rc_b == 0));
    if (rc_a == 0) {
        assert(same(&a, &b));
        read_back(early, &a);
    }
out:
    sb_opts_free(early);
    sb_opts_free(late);
    return 0;
}
