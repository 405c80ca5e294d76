// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/kinds.h"

#include <string.h>
#include <strings.h>

#include "db/driver.h"

#define NONE  SB_RESULT_NONE
#define ROWS  SB_RESULT_ROWS
#define WRITE SB_RESULT_WRITE

// The first entry is for all commands without one of their own.
static const struct sbmo_kind table[] = {
    { "", SBMO_OTHER, SBMO_REPLY, NONE, NULL, false, false },
    { "find", SBMO_READ, SBMO_CURSOR, ROWS, NULL, true, false },
    { "insert", SBMO_WRITE, SBMO_REPLY, WRITE, "documents", false, true },
    { "update", SBMO_WRITE, SBMO_REPLY, WRITE, "updates", false, true },
    { "delete", SBMO_WRITE, SBMO_REPLY, WRITE, "deletes", false, true },
    { "findAndModify", SBMO_WRITE, SBMO_REPLY, WRITE, NULL, false, true },
    { "aggregate", SBMO_READ, SBMO_CURSOR, ROWS, NULL, true, false },
    { "count", SBMO_READ, SBMO_COUNT, ROWS, NULL, true, false },
    { "distinct", SBMO_READ, SBMO_VALUES, ROWS, NULL, true, false },
    { "listIndexes", SBMO_READ, SBMO_CURSOR, ROWS, NULL, false, false },
    { "listCollections", SBMO_READ, SBMO_CURSOR, ROWS, NULL, false, false },
    { "create", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "createIndexes", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "drop", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "dropDatabase", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "dropIndexes", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "collMod", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "renameCollection", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "convertToCapped", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
};

// True for an aggregation that writes.
static const struct sbmo_kind writing = { "aggregate", SBMO_READWRITE,
    SBMO_CURSOR, WRITE, NULL, true, true };

static const struct sbmo_kind *find_kind(const char *name)
{
    for (size_t i = 1; i < sizeof(table) / sizeof(table[0]); i++) {
        // Servers have always accepted this one in lower case as well.
        if (strcmp(name, table[i].name) == 0 ||
            (strcmp(name, "findandmodify") == 0 &&
                strcasecmp(name, table[i].name) == 0))
            return &table[i];
    }
    return &table[0];
}

static const char *first_key(const struct sb_elem *doc)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, doc);
    return sb_walk_more(&w, &e) ? e.key : "";
}

static void look_at_pipeline(
    struct sbmo_command *c, const struct sb_elem *pipeline)
{
    struct sb_walk w;
    struct sb_elem e;
    const char *key = "";

    sb_walk_into(&w, pipeline);
    while (sb_walk_more(&w, &e)) {
        key = first_key(&e);
        if (strcmp(key, "$changeStream") == 0)
            c->tailable = true;
    }
    if (strcmp(key, "$out") == 0 || strcmp(key, "$merge") == 0)
        c->kind = &writing;
}

// Reads an element of "updates" or "deletes".
static bool is_multi(const struct sb_elem *statement)
{
    struct sb_walk w;
    struct sb_elem e;
    bool multi = false;

    sb_walk_into(&w, statement);
    while (sb_walk_more(&w, &e)) {
        if (sb_elem_is(&e, "multi"))
            multi = sb_elem_int(&e) != 0;
        else if (sb_elem_is(&e, "limit"))
            multi = sb_elem_int(&e) != 1;
    }
    return multi;
}

static void look_at_statements(
    struct sbmo_command *c, const struct sb_elem *list)
{
    bool plain = strcmp(c->kind->writes, "documents") == 0;
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, list);
    while (sb_walk_more(&w, &e)) {
        c->statements++;
        if (!plain && is_multi(&e))
            c->multi = true;
    }
}

static int64_t batch_size(const struct sb_elem *cursor)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, cursor);
    while (sb_walk_more(&w, &e)) {
        if (sb_elem_is(&e, "batchSize"))
            return sb_elem_int(&e);
    }
    return 0;
}

static void look_at(struct sbmo_command *c, const struct sb_elem *e)
{
    if (c->kind->writes && sb_elem_is(e, c->kind->writes))
        look_at_statements(c, e);
    else if (sb_elem_is(e, "pipeline"))
        look_at_pipeline(c, e);
    else if (sb_elem_is(e, "batchSize"))
        c->batch = sb_elem_int(e);
    else if (sb_elem_is(e, "cursor"))
        c->batch = batch_size(e);
    else if (sb_elem_is(e, "tailable"))
        c->tailable = sb_elem_int(e) != 0;
    else if (sb_elem_is(e, "readConcern"))
        c->own_read_concern = true;
    else if (sb_elem_is(e, "writeConcern"))
        c->own_write_concern = true;
    else if (sb_elem_is(e, "$db"))
        c->db = sb_elem_text(e, NULL);
}

bool sbmo_look(struct sbmo_command *c, const uint8_t *body, size_t len)
{
    struct sb_walk w;
    struct sb_elem e;

    *c = (struct sbmo_command){ .kind = &table[0], .name = "" };
    if (!sb_walk_open(&w, body, len) || !sb_walk_more(&w, &e))
        return false;
    c->name = e.key;
    c->kind = find_kind(e.key);
    while (sb_walk_more(&w, &e))
        look_at(c, &e);
    return true;
}
