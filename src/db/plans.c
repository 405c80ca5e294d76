// SPDX-License-Identifier: GPL-2.0-or-later
//
// The list is a table of pointers, which are set once: whoever sets one wins.
#include "db/plans.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "db/internal.h"
#include "kit/sqlscan.h"

#define TEMPORARY_MAX 16u
#define NAME_MAX_LEN  200u

struct sb__plans {
    _Atomic(struct sb__plan_op *) op[SB__PLANS_MAX]; // the first ones are set
    _Atomic(char *) session;
    _Atomic(char *) temporary[TEMPORARY_MAX]; // names of tables
};

// Words ----------------------------------------------------------------------

// The text after blanks, comments and parentheses.
static const char *start_of(
    const struct sb_statement *s, unsigned scan, size_t *len)
{
    size_t i = sb_sqlscan_start(s->sql, s->len, scan);

    while (i < s->len && (s->sql[i] == '(' || s->sql[i] <= ' '))
        i++;
    *len = s->len - i;
    return s->sql + i;
}

static size_t word_length(const char *sql, size_t len)
{
    size_t n = 0;

    while (n < len && sb__sqlscan_word(sql[n]))
        n++;
    return n;
}

static bool is_word(const char *sql, size_t len, const char *word)
{
    size_t n = word_length(sql, len);

    return n == strlen(word) && strncasecmp(sql, word, n) == 0;
}

static bool is_any_word(const char *sql, size_t len, const char *const *words)
{
    while (*words && !is_word(sql, len, *words))
        words++;
    return *words != NULL;
}

// Returns the position after a word and the blanks behind it.
static const char *next_word(const char *sql, size_t *len)
{
    size_t n = word_length(sql, *len);

    while (n < *len && (unsigned char)sql[n] <= ' ')
        n++;
    *len -= n;
    return sql + n;
}

// Whether the text has the word outside of strings and comments.
static bool has_word(
    const char *sql, size_t len, const char *word, unsigned scan)
{
    size_t i = 0;

    while (i < len) {
        size_t n = word_length(sql + i, len - i);

        if (n > 0 && is_word(sql + i, len - i, word))
            return true;
        i = n > 0 ? i + n : sb_sqlscan_skip(sql, len, i, scan);
    }
    return false;
}

// Whether other statements may follow the first one.
static bool is_several(const char *sql, size_t len, unsigned scan)
{
    size_t i = 0;

    while (i < len && sql[i] != ';')
        i = sb_sqlscan_skip(sql, len, i, scan);
    return i < len &&
           sb_sqlscan_start(sql + i + 1, len - i - 1, scan) < len - i - 1;
}

// Sessions -------------------------------------------------------------------

// Sets a pointer, unless it is set. Returns false if it was.
static bool set_once(_Atomic(char *) *to, const char *text, size_t len)
{
    char *own, *was = NULL;

    if (atomic_load_explicit(to, memory_order_acquire))
        return false;
    own = strndup(text, len);
    if (own && atomic_compare_exchange_strong(to, &was, own))
        return true;
    free(own);
    return false;
}

// "TEMPORARY TABLE IF NOT EXISTS t (...". The name is its last part, without
// quotes.
static void note_temporary(struct sb__plans *p, const char *sql, size_t len)
{
    static const char *const before[] = { "create", "global", "local", "temp",
        "temporary", "unlogged", "table", "if", "not", "exists", NULL };
    bool temporary = false;
    size_t n;

    while (len > 0 && is_any_word(sql, len, before)) {
        temporary = temporary || is_word(sql, len, "temp") ||
                    is_word(sql, len, "temporary");
        sql = next_word(sql, &len);
    }
    while (len > 0 && (*sql == '"' || *sql == '`')) {
        sql++;
        len--;
    }
    n = word_length(sql, len);
    for (unsigned i = 0; temporary && n > 0 && i < TEMPORARY_MAX; i++) {
        const char *has = atomic_load_explicit(
            &p->temporary[i], memory_order_acquire);

        if (has ? strlen(has) == n && strncasecmp(has, sql, n) == 0
                : set_once(&p->temporary[i], sql, n))
            return;
    }
}

// "SET LOCAL work_mem": without the value, the first time. Settings of the
// server, and those that no plan depends on, are left out.
static void note_setting(struct sb__plans *p, const char *sql, size_t len)
{
    static const char *const scopes[] = { "session", "local", NULL };
    static const char *const harmless[] = { "global", "persist", "transaction",
        "characteristics", "names", "autocommit", "application_name",
        "password", NULL };
    size_t rest = len, n = 0;
    const char *name = next_word(sql, &rest);

    if (atomic_load_explicit(&p->session, memory_order_relaxed))
        return;
    if (is_any_word(name, rest, scopes))
        name = next_word(name, &rest);
    if (is_any_word(name, rest, harmless))
        return;
    while (n < rest && n < NAME_MAX_LEN &&
           (name[n] == '@' || name[n] == '.' || sb__sqlscan_word(name[n])))
        n++;
    set_once(&p->session, sql, (size_t)(name - sql) + n);
}

// Operations -----------------------------------------------------------------

static struct sb__plans *plans_of(const struct sb__inst *inst)
{
    return atomic_load_explicit(&inst->plans, memory_order_acquire);
}

static struct sb__plans *get_plans(struct sb__inst *inst)
{
    struct sb__plans *p = plans_of(inst), *was = NULL;

    if (p)
        return p;
    p = calloc(1, sizeof(*p));
    if (!p || atomic_compare_exchange_strong(&inst->plans, &was, p))
        return p;
    free(p);
    return was;
}

// The memory of a copy, from its beginning to its end.
struct room {
    char *next;
};

static void *put(struct room *r, const void *data, size_t len)
{
    char *to = r->next;

    if (len > 0)
        memcpy(to, data, len);
    to[len] = '\0';
    r->next += len + 1;
    return to;
}

static bool is_text(const struct sb_value *v)
{
    return v->type >= SB_VALUE_TEXT;
}

static size_t bytes_of(const struct sb_statement *s)
{
    size_t size = s->len + s->literal_len;

    for (uint32_t i = 0; i < s->nvalues; i++)
        size += is_text(&s->values[i]) ? s->values[i].len : 0;
    return size;
}

// Returns a copy; NULL: no memory.
static struct sb__plan_op *new_op(
    const char *name, const struct sb_statement *s, unsigned scan)
{
    size_t n = s->nvalues, bytes = bytes_of(s);
    bool fits = bytes <= SB__PLANS_TEXT_MAX;
    struct sb__plan_op *op = malloc(sizeof(*op) +
                                    n * (sizeof(struct sb_value) + 2) + bytes +
                                    strlen(name) + 8);
    struct sb_value *values = (struct sb_value *)(op + 1);
    struct room room = { (char *)(values + n) };

    if (!op)
        return NULL;
    *op = (struct sb__plan_op){ .filters = has_word(
                                    s->sql, s->len, "where", scan) };
    op->name = put(&room, name, strlen(name));
    if (!fits)
        snprintf(op->why, sizeof(op->why), "its text is longer than %u KiB",
            SB__PLANS_TEXT_MAX / 1024);
    else if (is_several(s->sql, s->len, scan))
        snprintf(op->why, sizeof(op->why), "its text has several statements");
    if (op->why[0])
        return op;
    op->statement = *s;
    op->statement.sql = put(&room, s->sql, s->len);
    if (s->literal)
        op->statement.literal = put(&room, s->literal, s->literal_len);
    op->statement.types = n ? put(&room, s->types, n) : NULL;
    for (size_t i = 0; i < n; i++) {
        values[i] = s->values[i];
        if (is_text(&values[i]))
            values[i].s = put(&room, values[i].s, values[i].len);
    }
    op->statement.values = values;
    return op;
}

// Adds an operation, unless it is there or there is no room.
static void add_op(struct sb__plans *p, const char *name,
    const struct sb_statement *s, unsigned scan)
{
    struct sb__plan_op *own = NULL;

    for (unsigned i = 0; i < SB__PLANS_MAX; i++) {
        struct sb__plan_op *has = atomic_load_explicit(
            &p->op[i], memory_order_acquire);

        if (!has && !own)
            own = new_op(name, s, scan);
        if (!has &&
            (!own || atomic_compare_exchange_strong(&p->op[i], &has, own)))
            return;
        if (has && strcmp(has->name, name) == 0)
            break;
    }
    free(own);
}

void sb__plans_note(struct sb__inst *inst, const char *op,
    const struct sb_statement *s, unsigned scan)
{
    static const char *const reads[] = { "select", "with", "update", "delete",
        NULL };
    static const char *const adds[] = { "insert", "replace", NULL };
    struct sb__plans *p = inst->db->owner->plans ? get_plans(inst) : NULL;
    size_t len;
    const char *sql;

    if (!p)
        return;
    sql = start_of(s, scan, &len);
    if (is_word(sql, len, "set") || is_word(sql, len, "pragma"))
        note_setting(p, sql, len);
    else if (is_word(sql, len, "create"))
        note_temporary(p, sql, len);
    else if (op && (is_any_word(sql, len, reads) ||
                       (is_any_word(sql, len, adds) &&
                           has_word(sql, len, "select", scan))))
        add_op(p, op, s, scan);
}

unsigned sb__plans_list(
    const struct sb__inst *inst, const struct sb__plan_op **out)
{
    struct sb__plans *p = plans_of(inst);
    unsigned n = 0;

    while (p && n < SB__PLANS_MAX &&
           (out[n] = atomic_load_explicit(&p->op[n], memory_order_acquire)))
        n++;
    return n;
}

const char *sb__plans_session(const struct sb__inst *inst)
{
    struct sb__plans *p = plans_of(inst);

    return p ? atomic_load_explicit(&p->session, memory_order_acquire) : NULL;
}

bool sb__plans_temporary(const struct sb__inst *inst, const char *sql)
{
    struct sb__plans *p = plans_of(inst);
    const char *name;

    for (unsigned i = 0; p && i < TEMPORARY_MAX; i++) {
        name = atomic_load_explicit(&p->temporary[i], memory_order_acquire);
        if (name && has_word(sql, strlen(sql), name, 0))
            return true;
    }
    return false;
}

void sb__plans_free(struct sb__plans *p)
{
    for (unsigned i = 0; p && i < SB__PLANS_MAX; i++)
        free(atomic_load(&p->op[i]));
    for (unsigned i = 0; p && i < TEMPORARY_MAX; i++)
        free(atomic_load(&p->temporary[i]));
    if (p)
        free(atomic_load(&p->session));
    free(p);
}
