// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/likely.h"
#include "db/internal.h"
#include "db/texts.h"
#include "kit/hash.h"

#define BUCKETS 64

enum { BEGIN = 6, START, SET = 12 };

static const struct {
    char word[12];
    enum sb_op_kind kind;
} keywords[] = {
    { "query", SB_OP_OTHER }, // any other word
    { "select", SB_OP_READ },
    { "insert", SB_OP_WRITE },
    { "update", SB_OP_CHANGE },
    { "delete", SB_OP_CHANGE },
    { "replace", SB_OP_WRITE },
    [BEGIN] = { "begin", SB_OP_OTHER },
    [START] = { "start", SB_OP_OTHER }, // but START TRANSACTION is "begin"
    { "commit", SB_OP_OTHER },
    { "rollback", SB_OP_OTHER },
    { "create", SB_OP_OTHER },
    { "drop", SB_OP_OTHER },
    [SET] = { "set", SB_OP_OTHER },
    { "call", SB_OP_OTHER },
    { "with", SB_OP_READ },
    // These are not first words of SQL texts. They are for sb__op_of_prepare(),
    // sb__op_of_next(), sb__op_of_reconnect() and sb__op_of_connect().
    { "prepare", SB_OP_CUSTOM },
    { "next_result", SB_OP_OTHER },
    { "reconnect", SB_OP_CUSTOM },
    { "connect", SB_OP_CUSTOM },
};
#define KEYWORDS ((int)(sizeof(keywords) / sizeof(keywords[0])))
#define WORDS    (KEYWORDS - 4)

_Static_assert(sizeof(keywords) / sizeof(keywords[0]) <= SB_DB_KEYWORDS,
    "every keyword has a place in the context");

// Whether the text behind START begins a transaction.
static bool is_transaction(const char *sql, size_t len)
{
    static const char word[] = "transaction";
    size_t i = 0;

    while (i < len && (sql[i] == ' ' || sql[i] == '\n' || sql[i] == '\t'))
        i++;
    return len - i >= sizeof(word) - 1 &&
           strncasecmp(sql + i, word, sizeof(word) - 1) == 0;
}

// Returns the index of the first word of sql in keywords; 0: any other word.
static int keyword(const char *sql, size_t len)
{
    char word[sizeof(keywords[0].word)] = "";
    size_t i = 0, n = 0;

    while (i < len && (sql[i] == ' ' || sql[i] == '\n' || sql[i] == '\t' ||
                          sql[i] == '\r' || sql[i] == '('))
        i++;
    for (; i < len && n < sizeof(word) - 1; i++, n++) {
        char c = (char)(sql[i] | 32);

        if (c < 'a' || c > 'z')
            break;
        word[n] = c;
    }
    for (int k = 1; n > 0 && k < WORDS; k++) {
        if (word[0] == keywords[k].word[0] && word[1] == keywords[k].word[1] &&
            strcmp(word, keywords[k].word) == 0)
            return k == START && is_transaction(sql + i, len - i) ? BEGIN : k;
    }
    return 0;
}

enum sb_op_kind sb__op_kind(const char *sql, size_t len)
{
    return keywords[keyword(sql, len)].kind;
}

int sb__op_named(const struct sb_db_ctx *ctx, struct sb_rec *rec,
    const char *name, enum sb_op_kind kind)
{
    char full[4 * sizeof(((struct sb_op *)0)->name)];
    size_t n;

    if (!ctx->own)
        return sb_stats_op(rec->stats, name, kind);
    n = (size_t)snprintf(full, sizeof(full) / 2, "%s", ctx->own->prefix);
    sb_utf8_name(full + n, sizeof(full) - n, name);
    return sb_stats_op(rec->stats, full, kind);
}

int sb__op_cached(struct sb_db_ctx *ctx, struct sb__op *op, const char *name,
    enum sb_op_kind kind)
{
    struct sb_rec *rec = *ctx->rec;

    if (!rec)
        return -1;
    if (op->stats != rec->stats) {
        op->number = sb__op_named(ctx, rec, name, kind);
        op->stats = rec->stats;
        ctx->op_is_new = true;
    }
    return op->number;
}

static int op_of_keyword(struct sb_db_ctx *ctx, int k)
{
    return sb__op_cached(ctx, &ctx->op[k], keywords[k].word, keywords[k].kind);
}

int sb__op_word(const char *sql, size_t len)
{
    return keyword(sql, len);
}

int sb__op_of_text(struct sb_db_ctx *ctx, const char *sql, size_t len)
{
    struct sb_rec *rec = *ctx->rec;
    int k, number;
    bool first;

    if (!rec) {
        ctx->op_is_new = true;
        return -1;
    }
    k = keyword(sql, len);
    first = !ctx->op[k].stats;
    number = op_of_keyword(ctx, k);
    if (SB_UNLIKELY(k == SET))
        ctx->op_is_new = true; // it may change another setting
    if (SB_UNLIKELY(first) && ctx->drivers)
        sb__texts_add_word(ctx->drivers->texts, rec->stats->op[number].name, k);
    return number;
}

int sb__op_of_prepare(struct sb_db_ctx *ctx)
{
    return op_of_keyword(ctx, WORDS);
}

int sb__op_of_next(struct sb_db_ctx *ctx)
{
    return op_of_keyword(ctx, WORDS + 1);
}

int sb__op_of_reconnect(struct sb_db_ctx *ctx)
{
    return op_of_keyword(ctx, WORDS + 2);
}

int sb__op_of_connect(struct sb_db_ctx *ctx)
{
    return op_of_keyword(ctx, WORDS + 3);
}

// Names that scripts and drivers choose ---------------------------------------

struct name {
    struct name *next;
    struct sb__op op;
    char text[];
};

struct sb__op_names {
    unsigned n;
    struct name *bucket[BUCKETS]; // by hash
};

// Returns the name, which is added if it is new. A script can use any number of
// names: when there are as many as the statistics have room for, all others
// share one. NULL: out of memory.
static struct name *name_of(struct sb_db_ctx *ctx, const char *text)
{
    struct name **list, *name;
    size_t size = strlen(text) + 1;

    if (!ctx->op_names)
        ctx->op_names = calloc(1, sizeof(*ctx->op_names));
    if (!ctx->op_names)
        return NULL;
    list = &ctx->op_names->bucket[sb_hash(text, size - 1) % BUCKETS];
    for (name = *list; name; name = name->next)
        if (strcmp(name->text, text) == 0)
            return name;
    if (ctx->op_names->n >= SB_OPS_MAX && strcmp(text, SB_OPS_REST) != 0)
        return name_of(ctx, SB_OPS_REST);
    name = calloc(1, sizeof(*name) + size);
    if (!name)
        return NULL;
    memcpy(name->text, text, size);
    name->next = *list;
    *list = name;
    ctx->op_names->n++;
    return name;
}

int sb__op_of_name(
    struct sb_db_ctx *ctx, const char *text, enum sb_op_kind kind)
{
    struct name *name;

    if (!*text || !*ctx->rec)
        return -1;
    name = name_of(ctx, text);
    if (!name)
        return sb__op_named(ctx, *ctx->rec, text, kind);
    return sb__op_cached(ctx, &name->op, name->text, kind);
}

void sb__op_names_free(struct sb_db_ctx *ctx)
{
    for (int i = 0; ctx->op_names && i < BUCKETS; i++) {
        for (struct name *name = ctx->op_names->bucket[i], *next; name;
             name = next) {
            next = name->next;
            free(name);
        }
    }
    free(ctx->op_names);
    ctx->op_names = NULL;
}
