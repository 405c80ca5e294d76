// SPDX-License-Identifier: GPL-2.0-or-later
//
// Printing: --help and --print-config.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/opts_private.h"
#include "kit/buf.h"

// Lines that fit a terminal ---------------------------------------------------

#define WIDTH       80
#define WIDTH_LEAST 40

// Returns how many characters a line may have: the environment variable COLUMNS
// if it is a number, otherwise the width of the terminal that `out` is, or 80
// if `out` is not a terminal. The minimum is 40.
static size_t wrap_width(FILE *out)
{
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long width = columns ? strtol(columns, &end, 10) : 0;
    struct winsize size;

    if (width <= 0 || *end)
        width = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (width <= 0)
        width = WIDTH;
    return width < WIDTH_LEAST ? WIDTH_LEAST : (size_t)width;
}

struct line {
    FILE *out;
    size_t width, indent, at;
    bool begun; // has a word
};

static void break_line(struct line *l)
{
    fprintf(l->out, "\n%*s", (int)l->indent, "");
    l->at = l->indent;
    l->begun = false;
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t characters(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += begins_character(text[i]);
    return n;
}

// Returns how many bytes of a word that does not fit go into `room` characters:
// up to the last comma, if there is one.
static size_t piece(const char *word, size_t len, size_t room)
{
    size_t n = 0, comma = 0;

    for (size_t i = 0; i < len; i++) {
        n += begins_character(word[i]);
        if (n > room)
            return comma ? comma : i;
        if (word[i] == ',')
            comma = i + 1;
    }
    return len;
}

static void put_word(struct line *l, const char *word, size_t len)
{
    size_t n = characters(word, len);

    if (l->begun && l->at + 1 + n > l->width)
        break_line(l);
    if (l->begun) {
        fputc(' ', l->out);
        l->at++;
    }
    while (l->at + n > l->width) {
        size_t part = piece(word, len, l->width - l->at);

        fwrite(word, 1, part, l->out);
        word += part;
        len -= part;
        n = characters(word, len);
        break_line(l);
    }
    fwrite(word, 1, len, l->out);
    l->at += n;
    l->begun = true;
}

void sb_wrap(FILE *out, size_t at, size_t indent, const char *text)
{
    struct line l = { .out = out, .width = wrap_width(out), .at = at };

    l.indent = indent > l.width / 2 ? l.width / 2 : indent;
    if (at >= l.width)
        break_line(&l);
    for (; *text; text++) {
        size_t len = strcspn(text, " \n");

        if (len)
            put_word(&l, text, len);
        text += len;
        if (*text == '\n')
            break_line(&l);
        if (!*text)
            break;
    }
    fputc('\n', out);
}

// Help ------------------------------------------------------------------------

// Returns the type hint that sysbench prints, such as "=N".
static const char *type_hint(const struct sb_opt *opt)
{
    switch (opt->type) {
    case SB_OPT_BOOL:
        return "[=on|off]";
    case SB_OPT_INT:
    case SB_OPT_DOUBLE:
        return "=N";
    case SB_OPT_SIZE:
        return "=SIZE";
    case SB_OPT_DURATION:
        return "=DURATION";
    case SB_OPT_STRING:
        if (opt->flags & SB_OPT_SWITCH)
            return "[=STRING]";
        return opt->flags & SB_OPT_FILENAME ? "=FILENAME" : "=STRING";
    case SB_OPT_LIST:
        return "=[LIST,...]";
    case SB_OPT_ENUM:
        return "=STRING";
    }
    return "";
}

static int name_width(const struct sb_opt *opt)
{
    return (int)(strlen(opt->name) + strlen(type_hint(opt)));
}

static const char *shown_default(
    const struct sb_opt *opt, const struct sb__opts_decl *d)
{
    if (opt->def && opt->alias_of)
        return opt->def;
    if (d && d->alias)
        d = d->alias;
    if (d && d->def)
        return d->def;
    if (!d && opt->def)
        return opt->def;
    return opt->type == SB_OPT_BOOL ? "off" : NULL;
}

static void add_text(
    struct sb_buf *b, const struct sb_opt *opt, const struct sb__opts_decl *d)
{
    const char *def = shown_default(opt, d);
    bool text = opt->type == SB_OPT_STRING || opt->type == SB_OPT_LIST;

    if (opt->help && *opt->help)
        sb_buf_adds(b, opt->help);
    else if (opt->alias_of)
        sb_buf_addf(b, "%salias for --%s",
            opt->flags & SB_OPT_DEPRECATED ? "deprecated " : "", opt->alias_of);
    if (opt->type == SB_OPT_ENUM) {
        for (int i = 0; opt->choices[i]; i++)
            sb_buf_addf(b, "%s%s", i ? "," : " {", opt->choices[i]);
        sb_buf_adds(b, "}");
    }
    if (def) {
        sb_buf_adds(b, " [");
        sb__opts_mask_into(
            b, def, text && sb__opts_secret(opt, opt->name, def));
        sb_buf_adds(b, "]");
    }
}

// The texts begin in this column. Longer names have a line of their own.
static int text_column(int name_width, FILE *out)
{
    int column = name_width + 5, most = (int)(wrap_width(out) * 2 / 5);

    return column < most ? column : most;
}

static void print_option(const struct sb_opt *opt,
    const struct sb__opts_decl *d, int width, FILE *out)
{
    int column = text_column(width, out), at = name_width(opt) + 4;
    struct sb_buf text;

    sb_buf_init(&text, 0);
    add_text(&text, opt, d);
    fprintf(out, "  --%s%s", opt->name, type_hint(opt));
    if (!text.len) {
        fputc('\n', out);
    } else {
        fprintf(out, "%s%*s", at < column ? "" : "\n",
            at < column ? column - at : column, "");
        sb_wrap(out, (size_t)column, (size_t)column, text.data);
    }
    sb_buf_done(&text);
}

// Help of a script shows its own texts, including those for options of the
// core of which it changes the default.
static bool each_of_script(const struct sb_opts *o,
    const struct sb_opt_table *table,
    void (*visit)(
        void *arg, const struct sb_opt *opt, const struct sb__opts_decl *d),
    void *arg)
{
    const struct sb__opts_script *s = sb__opts_script(o, table->title);

    if (!s || &s->table != table)
        return false;
    for (size_t i = 0; i < s->opts.len; i++) {
        const struct sb_opt *opt = s->opts.item[i];

        visit(arg, opt, sb__opts_lookup(o, opt->name));
    }
    return true;
}

// Calls visit for the declared options of the table, or for its own list if
// the table is not added.
static void each_listed(const struct sb_opts *o,
    const struct sb_opt_table *table,
    void (*visit)(
        void *arg, const struct sb_opt *opt, const struct sb__opts_decl *d),
    void *arg)
{
    bool added = false;

    if (each_of_script(o, table, visit, arg))
        return;
    for (size_t i = 0; i < o->decls.len; i++) {
        const struct sb__opts_decl *d = o->decls.item[i];

        if (d->table != table)
            continue;
        added = true;
        if (!(d->opt->flags & SB_OPT_HIDDEN))
            visit(arg, d->opt, d);
    }
    for (const struct sb_opt *opt = table->opts; !added && opt->name; opt++) {
        if (!(opt->flags & SB_OPT_HIDDEN))
            visit(arg, opt, NULL);
    }
}

struct help {
    const char *title; // still to be printed; NULL: printed
    FILE *out;
    unsigned flags; // that an option must have
    int width;
};

static void measure_option(
    void *arg, const struct sb_opt *opt, const struct sb__opts_decl *d)
{
    struct help *h = arg;

    if ((opt->flags & h->flags) == h->flags && name_width(opt) > h->width)
        h->width = name_width(opt);
}

static void help_option(
    void *arg, const struct sb_opt *opt, const struct sb__opts_decl *d)
{
    struct help *h = arg;

    if ((opt->flags & h->flags) != h->flags)
        return;
    if (h->title)
        fprintf(h->out, "%s:\n", h->title);
    h->title = NULL;
    print_option(opt, d, h->width, h->out);
}

bool sb_opts_script_help(const struct sb_opts *o, const char *title, FILE *out)
{
    const struct sb__opts_script *s = sb__opts_script(o, title);

    return s && sb_opts_help(o, &s->table, 0, out);
}

bool sb_opts_help(const struct sb_opts *o, const struct sb_opt_table *table,
    unsigned flags, FILE *out)
{
    struct help h = { .title = table->title, .out = out, .flags = flags };

    each_listed(o, table, measure_option, &h);
    each_listed(o, table, help_option, &h);
    return !h.title;
}

// Appends text quoted for sb_opts_file_text(). Returns false if no quoting can
// represent it.
static bool add_quoted(struct sb_buf *b, const char *text)
{
    size_t len = strlen(text);
    char quote = strchr(text, '"') ? '\'' : '"';

    if (strpbrk(text, "\n\r\v\f"))
        return false;
    if (len && !strpbrk(text, "#'\"") && text[0] != ' ' && text[0] != '\t' &&
        text[len - 1] != ' ' && text[len - 1] != '\t') {
        sb_buf_adds(b, text);
        return true;
    }
    if (strchr(text, quote))
        return false;
    sb_buf_addf(b, "%c%s%c", quote, text, quote);
    return true;
}

static void print_source(const struct sb__opts_decl *d, FILE *out)
{
    bool typed = d->source == SB_SRC_CMDLINE;

    if (d->source == SB_SRC_DEFAULT)
        fputs("default\n", out);
    else if (typed && *d->origin)
        fprintf(out, "command line, as --%s\n", d->origin);
    else
        fprintf(out, "%s\n", typed || !*d->origin ? "command line" : d->origin);
}

// Defaults, masked values and values that a file cannot represent are
// commented out, so that reading the output back changes no value and no
// default counts as given.
static void print_setting(const struct sb__opts_decl *d, FILE *out)
{
    struct sb_buf b;
    bool real;

    sb_buf_init(&b, 0);
    real = add_quoted(&b, d->shown) && strcmp(d->shown, d->text) == 0 &&
           d->source != SB_SRC_DEFAULT && !(d->opt->flags & SB_OPT_NOFILE);
    fprintf(out, "%s%s=%-*s # ", real ? "" : "#", d->opt->name,
        30 - (int)strlen(d->opt->name) + real, b.data ? b.data : "");
    print_source(d, out);
    sb_buf_done(&b);
}

void sb_opts_print_config(const struct sb_opts *o, FILE *out)
{
    const struct sb_opt_table *table = NULL;

    for (size_t i = 0; i < o->decls.len; i++) {
        const struct sb__opts_decl *d = o->decls.item[i];

        if (d->alias)
            continue;
        if (d->table != table)
            fprintf(out, "%s# %s\n", table ? "\n" : "",
                d->table->title ? d->table->title : "options");
        table = d->table;
        print_setting(d, out);
    }
}
