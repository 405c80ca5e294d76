// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pipelines: several statements in one text. The server answers them one after
// the other, and stops at the first one that fails.
#include <stdlib.h>
#include <strings.h>

#include "drivers/mysql/internal.h"
#include "kit/array.h"

// Returns the length without blanks and semicolons at the end, because an empty
// statement between two semicolons is an error.
static size_t my_trimmed(const struct sb_item *item)
{
    size_t n = item->len;

    while (n > 0 &&
           (item->sql[n - 1] == ';' || (unsigned char)item->sql[n - 1] <= ' '))
        n--;
    return n;
}

// Joins the statements by "\n;". The newline ends a comment.
static char *join_statements(
    const struct sb_item *items, uint32_t n, size_t *len)
{
    size_t at = 0, size = 1;
    char *text;

    for (uint32_t i = 0; i < n; i++)
        size += items[i].len + 2;
    text = malloc(size);
    for (uint32_t i = 0; text && i < n; i++) {
        size_t part = my_trimmed(&items[i]);

        if (i > 0) {
            text[at++] = '\n';
            text[at++] = ';';
        }
        memcpy(text + at, items[i].sql, part);
        at += part;
    }
    *len = at;
    return text;
}

static bool is_call(const struct sb_item *item)
{
    size_t at = sb_sqlscan_start(item->sql, item->len, SBMY_SCAN);

    return item->len - at > 4 && strncasecmp(item->sql + at, "CALL", 4) == 0 &&
           strchr(" \t\n\r/#`", item->sql[at + 4]);
}

// Stores which statements are CALLs.
static bool note_calls(
    struct sbmy_conn *c, const struct sb_item *items, uint32_t n)
{
    bool *calls = sb_array_room(c->calls, &c->cap_calls, 0, n, sizeof(*calls));

    if (!calls)
        return false;
    c->calls = calls;
    for (uint32_t i = 0; i < n; i++)
        calls[i] = is_call(&items[i]);
    return true;
}

int sbmy_pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    size_t len;
    char *text;
    int rc;

    if (c->o->dry_run)
        return 0;
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    assert(c->piped == 0);
    text = note_calls(c, items, n) ? join_statements(items, n, &len) : NULL;
    if (!text)
        return sbmy_call_end(c, sb_err_no_memory(err));
    if (c->o->debug)
        sbmy_trace(c, "mysql_send_query(%.*s)", (int)len, text);
    rc = sbmy_send_query(c, text, len) ? sbmy_fail(c, err) : 0;
    free(text);
    if (rc)
        sbmy_name_limit(err, len);
    c->piped = rc ? 0 : n;
    c->npiped = n;
    c->piped_bytes = len;
    c->first = true;
    return sbmy_call_end(c, rc);
}

// Waits for the next answer. Returns 0, or the library's error code.
static int await_answer(struct sbmy_conn *c)
{
    bool first = c->first;

    c->first = false;
    return first ? sbmy_read_query_result(c) != 0 : sbmy_next_result(c);
}

// The results that are left after the last item are of a text with several
// statements. They are received because one of them may be an error.
static int receive_surplus(struct sbmy_conn *c, struct sb_err *err)
{
    int rc;

    if (c->piped > 0 || !mysql_more_results(c->my))
        return 0;
    sbmy_result_drop(c);
    rc = sbmy_text_drain(c, err);
    return rc ? rc
              : sb_err_set(err, SB_EUSAGE,
                    "the server sent more results than the pipeline has "
                    "statements: each text must be one statement with one "
                    "result, or a CALL");
}

// After an error the server executes, and answers, nothing else.
static int my_receive(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    int rc = await_answer(c);

    c->piped--;
    if (rc > 0)
        rc = sbmy_fail(c, err);
    else if (rc < 0)
        rc = sb_err_set(
            err, SB_EQUERY, "the server sent fewer results than statements");
    else
        rc = sbmy_text_begin(c,
            c->calls[c->npiped - c->piped - 1] ? SBMY_OF_CALL : SBMY_ONE, res,
            err);
    if (rc == 0)
        rc = sbmy_result_collect(c, res, err);
    if (rc == 0)
        rc = receive_surplus(c, err);
    if (rc) {
        sbmy_name_limit(err, c->piped_bytes);
        c->piped = 0;
    }
    return rc;
}

int sbmy_pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->dry_run)
        return sbmy_dry(res);
    if (c->piped == 0)
        return sb_err_set(err, SB_EUSAGE, "no more pipeline results");
    rc = sbmy_call_begin(c, err);
    return rc ? rc : sbmy_call_end(c, my_receive(c, res, err));
}

int sbmy_pipeline_end(struct sb_conn *conn, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc = 0;

    if (c->o->dry_run || !c->my)
        return 0;
    sbmy_call_resume(c);
    sbmy_result_drop(c);
    while (rc == 0 && c->piped > 0) {
        struct sb_result unused = { 0 };

        rc = my_receive(c, &unused, err);
        sbmy_result_drop(c);
    }
    // If the library ran out of memory for a result, others may follow it.
    sbmy_text_drain(c, NULL);
    return sbmy_call_end(c, rc);
}
