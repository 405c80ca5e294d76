// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/result_file.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "kit/buf.h"
#include "base/opts.h"
#include "out/json_parts.h"
#include "out/result_private.h"

#define OPERATIONS_MARK "\"operations\":"

// Text ------------------------------------------------------------------------

static int cannot_read(const char *path, int native, struct sb_err *err)
{
    return sb_err_set(
        err, SB_ESYS, "cannot read %s: %s", SB_SHOWN(path), strerror(native));
}

bool sb_result_is_other(const char *part, size_t n, bool first)
{
    size_t i = 0;

    while (i < n && part[i] && strchr(" \t\r\n", part[i]))
        i++;
    return memchr(part, '\0', n) || (first && i < n && part[i] != '{');
}

// Reads a whole file into *b, which ends with NUL; only the beginning of one
// that is no result file.
static int read_text(
    FILE *in, const char *path, struct sb_buf *b, struct sb_err *err)
{
    char part[65536];
    size_t n;

    while ((n = fread(part, 1, sizeof(part), in)) > 0 && !b->failed) {
        bool other = sb_result_is_other(part, n, b->len == 0);

        sb_buf_add(b, part, n);
        if (other)
            break;
    }
    if (ferror(in))
        return cannot_read(path, errno, err);
    if (b->failed)
        return sb_err_set(err, SB_ENOMEM, "out of memory for %s", path);
    return b->data ? 0 : sb_err_set(err, SB_EUSAGE, "%s is empty", path);
}

static struct sb_rows *new_block(struct sb_result_file *f)
{
    struct sb_rows *block = sb_array_least(
        f->block, &f->nblocks, f->nblocks + 1, sizeof(*block));

    if (!block)
        return NULL;
    f->block = block;
    return &block[f->nblocks - 1];
}

static void free_blocks(struct sb_result_file *f)
{
    for (unsigned i = 0; i < f->nblocks; i++)
        sb__rows_done(&f->block[i]);
    free(f->block);
    f->block = NULL;
    f->nblocks = 0;
}

// Copies the document to `rest`; each list of rows is read into a block, and
// replaced by [number of the block]. SB_EUSAGE: the file has another layout.
static int take_rows(
    struct sb_result_file *f, const char *text, struct sb_buf *rest)
{
    const char *p = text, *mark;

    while ((mark = strstr(p, SB__ROWS_MARK))) {
        struct sb_rows *block = new_block(f);
        int rc;

        if (!block)
            return SB_ENOMEM;
        sb_buf_add(rest, p, (size_t)(mark - p));
        sb_buf_addf(rest, "\"rows\":[%u", f->nblocks - 1);
        p = mark + strlen(SB__ROWS_MARK);
        rc = sb__rows_read(block, &p);
        if (rc)
            return rc;
    }
    sb_buf_adds(rest, p);
    return rest->failed ? SB_ENOMEM : 0;
}

// Returns the "]" of the list that begins behind its "[" at p. NULL: there is
// none.
static const char *list_end(const char *p)
{
    bool quoted = false;
    int depth = 1;

    for (; *p; p++) {
        if (quoted && *p == '\\' && p[1])
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && (*p == '[' || *p == '{'))
            depth++;
        else if (!quoted && (*p == ']' || *p == '}') && --depth == 0)
            return p;
    }
    return NULL;
}

// Copies the document to `rest`; each list of operations, which Jansson would
// need ten times its size for, is replaced by [its number in f->list].
static int take_operations(
    struct sb_result_file *f, const char *text, struct sb_buf *rest)
{
    const char *p = text, *begin, *end;

    while ((begin = strstr(p, OPERATIONS_MARK))) {
        begin += strlen(OPERATIONS_MARK);
        begin += strspn(begin, " ");
        end = *begin == '[' ? list_end(begin + 1) : NULL;
        if (!end)
            return SB_EUSAGE;
        const char **list = sb_array_least(
            f->list, &f->nlists, f->nlists + 1, sizeof(*list));
        if (!list)
            return SB_ENOMEM;
        f->list = list;
        list[f->nlists - 1] = begin + 1;
        sb_buf_add(rest, p, (size_t)(begin - p));
        sb_buf_addf(rest, "[%u", f->nlists - 1);
        p = end;
    }
    sb_buf_adds(rest, p);
    return rest->failed ? SB_ENOMEM : 0;
}

static void free_text(struct sb_result_file *f)
{
    free(f->text);
    free(f->list);
    f->text = NULL;
    f->list = NULL;
    f->nlists = 0;
}

static int not_a_result(const char *path, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE,
        "%s is not a result file (written by --report=json=FILE)", path);
}

static int parse(
    struct sb_result_file *f, const char *text, size_t len, struct sb_err *err)
{
    json_error_t why;
    const char *first = text + strspn(text, " \t\r\n");

    f->json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (f->json)
        return 0;
    if (*first != '{')
        return not_a_result(f->path, err);
    if (strncmp(first, "{\"line\":", 8) == 0)
        return sb_err_set(err, SB_EUSAGE,
            "%s is not a result file: it was written by --report=ndjson=FILE; "
            "use the file of --report=json=FILE",
            f->path);
    if (json_error_code(&why) != json_error_premature_end_of_input)
        return sb_err_set(err, SB_EUSAGE,
            "%s is not valid JSON: line %d, column %d: %s", f->path, why.line,
            why.column, why.text);
    return sb_err_set(err, SB_EUSAGE,
        "%s is not a complete JSON document: line %d, column %d: %s", f->path,
        why.line, why.column, why.text);
}

// Reads what is large, and then the rest. SB_EUSAGE: the file has another
// layout, or is wrong.
static int parse_parts(struct sb_result_file *f, const char *text)
{
    struct sb_buf some, rest;
    int rc;

    sb_buf_init(&some, 0);
    sb_buf_init(&rest, 0);
    rc = take_operations(f, text, &some);
    if (rc == 0)
        rc = take_rows(f, some.data, &rest);
    sb_buf_done(&some);
    if (rc == 0)
        rc = parse(f, rest.data, rest.len, NULL);
    sb_buf_done(&rest);
    return rc;
}

static int load_text(struct sb_result_file *f, FILE *in, struct sb_err *err)
{
    struct sb_buf text;
    int rc;

    sb_buf_init(&text, 0);
    rc = read_text(in, f->path, &text, err);
    if (rc) {
        sb_buf_done(&text);
        return rc;
    }
    f->text = text.data;
    rc = parse_parts(f, text.data);
    if (rc == SB_ENOMEM)
        sb_err_set(err, rc, "out of memory for %s", f->path);
    // Errors are those of the text as it is.
    if (rc == SB_EUSAGE) {
        free_blocks(f);
        rc = parse(f, text.data, text.len, err);
        free_text(f);
    }
    return rc;
}

// Runs ------------------------------------------------------------------------

// Converts rows that Jansson read.
static int convert(
    struct sb_result_file *f, const json_t *rows, struct sb_err *err)
{
    struct sb_rows *block = new_block(f);
    int rc = block ? 0 : SB_ENOMEM;

    for (size_t i = 0; rc == 0 && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        rc = sb__rows_begin(block);
        for (size_t n = 0; rc == 0 && n < json_array_size(row); n++) {
            const json_t *v = json_array_get(row, n);

            if (!json_is_number(v) && !json_is_null(v))
                return sb_err_set(err, SB_EUSAGE,
                    "%s: row %zu has a value that is not a number", f->path,
                    i + 1);
            rc = sb__rows_value(
                block, json_is_number(v) ? json_number_value(v) : NAN);
        }
    }
    return rc ? sb_err_set(err, rc, "out of memory for %s", f->path) : 0;
}

// The number of the block with the rows of `member`, converted if necessary.
static int find_block(struct sb_result_file *f, const json_t *run,
    const char *member, unsigned *block, struct sb_err *err)
{
    json_t *rows = json_object_get(json_object_get(run, member), "rows");
    json_t *first = json_array_get(rows, 0);

    if (json_is_integer(first) && json_array_size(rows) == 1 &&
        json_integer_value(first) >= 0 &&
        json_integer_value(first) < (json_int_t)f->nblocks) {
        *block = (unsigned)json_integer_value(first);
        return 0;
    }
    *block = f->nblocks;
    return convert(f, rows, err);
}

// The text of the operations of a run; NULL if they are in the document.
static const char *find_operations(
    const struct sb_result_file *f, const json_t *run)
{
    json_t *list = json_object_get(run, "operations");
    json_t *first = json_array_get(list, 0);

    if (!json_is_integer(first) || json_array_size(list) != 1 ||
        json_integer_value(first) < 0 ||
        json_integer_value(first) >= (json_int_t)f->nlists)
        return NULL;
    return f->list[json_integer_value(first)];
}

static int read_columns(struct sb_result_run *r)
{
    json_t *list = json_object_get(
        json_object_get(r->json, "intervals"), "columns");
    size_t n = json_array_size(list);

    r->col = calloc(n ? n : 1, sizeof(*r->col));
    if (!r->col)
        return SB_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_t *c = json_array_get(list, i);

        r->col[i] = (struct sb_result_column){ sb_result_member(c, "group"),
            sb_result_member(c, "name"), sb_result_member(c, "figure"),
            sb_result_member(c, "unit") };
    }
    r->ncols = (unsigned)n;
    return 0;
}

// What the program itself counts or measures; not the time, which is negative
// in a warm-up, and not counters of servers.
static bool is_positive(const struct sb_result_column *c)
{
    static const char *const groups[] = { "run", "operation", "metric",
        "client" };

    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (strcmp(c->group, groups[i]) == 0)
            return strcmp(c->figure, "time") != 0;
    return false;
}

static int check_rows(const struct sb_result_run *r, struct sb_err *err)
{
    for (unsigned i = 0; i < r->ncols; i++) {
        // Scripts may have larger values.
        double most = strcmp(r->col[i].group, "metric") == 0 ? INFINITY
                                                             : SB__LARGEST;

        for (size_t row = 0;
             is_positive(&r->col[i]) && row < r->intervals->nrows; row++) {
            double v = sb_result_value(r, row, i);

            if (v < 0 || v > most)
                return sb_err_set(err, SB_EUSAGE,
                    "row %zu of the intervals: \"%s\" is %s", row + 1,
                    r->col[i].figure, v < 0 ? "negative" : "too large");
        }
    }
    return 0;
}

static int read_run(
    struct sb_result_file *f, struct sb_result_run *r, struct sb_err *err)
{
    struct sb_err why = { 0 };
    int rc = read_columns(r);

    if (rc == 0)
        rc = sb__result_numbers(r->json, &why);
    if (rc == 0)
        rc = check_rows(r, &why);
    if (rc == 0 && json_is_object(json_object_get(r->json, "counters")))
        rc = sb__result_totals(r, &why);
    if (rc == SB_ENOMEM)
        return sb_err_set(err, rc, "out of memory for %s", f->path);
    return rc ? sb_err_set(err, rc, "%s: %.300s", f->path, why.msg) : 0;
}

static int read_runs(struct sb_result_file *f, struct sb_err *err)
{
    json_t *runs = json_object_get(f->json, "runs");
    size_t n = json_array_size(runs);
    unsigned *block = calloc(2 * n + 1, sizeof(*block));
    int rc = 0;

    f->run = calloc(n ? n : 1, sizeof(*f->run));
    if (!f->run || !block)
        rc = sb_err_set(err, SB_ENOMEM, "out of memory for %s", f->path);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        f->run[i].json = json_array_get(runs, i);
        f->run[i].operations = find_operations(f, f->run[i].json);
        f->nruns = (unsigned)i + 1;
        rc = find_block(f, f->run[i].json, "intervals", &block[2 * i], err);
        if (rc == 0)
            rc = find_block(
                f, f->run[i].json, "histograms", &block[2 * i + 1], err);
    }
    // Blocks do not move any more.
    for (size_t i = 0; rc == 0 && i < n; i++) {
        assert(block[2 * i] < f->nblocks && block[2 * i + 1] < f->nblocks);
        f->run[i].intervals = &f->block[block[2 * i]];
        f->run[i].histograms = &f->block[block[2 * i + 1]];
        rc = read_run(f, &f->run[i], err);
        f->run[i].operations = NULL;
    }
    free(block);
    return rc;
}

static int read_document(struct sb_result_file *f, struct sb_err *err)
{
    if (strcmp(sb_result_member(f->json, "format"), "sysbench-result") != 0)
        return not_a_result(f->path, err);
    f->version = (int)json_integer_value(json_object_get(f->json, "version"));
    if (f->version < 1)
        return sb_err_set(
            err, SB_EUSAGE, "%s: \"version\" is not a number above 0", f->path);
    return read_runs(f, err);
}

int sb_result_read(
    struct sb_result_file *f, const char *path, struct sb_err *err)
{
    // Two commas in a list of files.
    if (!*path) {
        *f = (struct sb_result_file){ .path = path };
        return sb_err_set(err, SB_EUSAGE, "the name of a result file is empty");
    }
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    int rc;

    *f = (struct sb_result_file){ .path = path };
    if (!in)
        return cannot_read(path, errno, err);
    rc = sb_result_read_from(f, in, path, err);
    if (in != stdin)
        fclose(in);
    return rc;
}

int sb_result_read_from(
    struct sb_result_file *f, FILE *in, const char *path, struct sb_err *err)
{
    int rc;

    *f = (struct sb_result_file){ .path = path };
    rc = load_text(f, in, err);
    if (rc == 0)
        rc = read_document(f, err);
    free_text(f);
    return rc;
}

void sb_result_done(struct sb_result_file *f)
{
    for (unsigned i = 0; i < f->nruns; i++) {
        for (unsigned n = 0; n < f->run[i].report.nstages; n++)
            sb_snap_done(&f->run[i].stage_snap[n]);
        free(f->run[i].stage_snap);
        free(f->run[i].stage);
        free(f->run[i].ranks);
        free(f->run[i].col);
        free(f->run[i].trials);
        sb_snap_done(&f->run[i].snap);
        sb_stats_done(&f->run[i].stats);
    }
    free(f->run);
    free_blocks(f);
    json_decref(f->json);
    memset(f, 0, sizeof(*f));
}
