// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands as text: all of a short one, and as much of a long one as fits.
#include "fake_doc.h"

#define PART_MAX 4096u

static uint8_t large[16384];
static size_t len, opened[4];
static int depth;

static void add(const void *p, size_t n)
{
    memcpy(large + len, p, n);
    len += n;
}

static void add_key(uint8_t type, const char *name)
{
    add(&type, 1);
    add(name, strlen(name) + 1);
}

static void open_large(uint8_t type, const char *name)
{
    if (name)
        add_key(type, name);
    else
        len = depth = 0;
    opened[depth++] = len;
    len += 4;
}

static void close_large(void)
{
    size_t at = opened[--depth];

    large[len++] = '\0';
    sb_put32(large + at, (uint32_t)(len - at));
}

// A text of n bytes.
static void add_text(const char *name, size_t n)
{
    uint8_t size[4];

    add_key(0x02, name);
    sb_put32(size, (uint32_t)n + 1);
    add(size, 4);
    memset(large + len, 'x', n);
    large[len + n] = '\0';
    len += n + 1;
}

static const char *text_of(const uint8_t *body, size_t size)
{
    static char copy[16384];
    size_t n = 99;
    char *text = sb__doc_text(&c, body, size, &n);

    snprintf(copy, sizeof(copy), "%s", text ? text : "(null)");
    CHECK_INT(n, strlen(copy));
    free(text);
    return copy;
}

static void short_commands_are_complete(void)
{
    struct doc d;

    start_docs();
    put_text(begin(&d), "find", "t");
    put_int(&d, "limit", 1);
    end(&d);
    CHECK_STR(text_of(d.data, d.len), "{find:'t',limit:1}");
    // Exactly as long as what is converted at most.
    open_large(0, NULL);
    add_text("a", PART_MAX - 4 - 3 - 4 - 1 - 1);
    close_large();
    CHECK_INT(len, PART_MAX);
    CHECK(strstr(text_of(large, len), "xx'}") != NULL);
    CHECK(strstr(text_of(large, len), "...") == NULL);
    finish_docs();
}

// The last element that fits ends at PART_MAX.
static void long_commands_are_cut(void)
{
    const char *text;

    start_docs();
    open_large(0, NULL);
    add_text("a", PART_MAX - 4 - 3 - 4 - 1);
    CHECK_INT(len, PART_MAX);
    add_text("b", 1);
    close_large();
    text = text_of(large, len);
    CHECK(strncmp(text, "{a:'xxx", 7) == 0);
    CHECK_STR(text + strlen(text) - 7, "xx'}...");
    CHECK(strstr(text, "b:") == NULL);
    open_large(0, NULL);
    add_text("a", PART_MAX - 4 - 3 - 4);
    add_text("b", 1);
    close_large();
    CHECK_STR(text_of(large, len), "{}...");
    finish_docs();
}

// A document within a command is cut, not left out.
static void documents_in_commands_are_cut(void)
{
    start_docs();
    open_large(0, NULL);
    add_text("insert", 2);
    open_large(0x04, "docs");
    open_large(0x03, "0");
    add_text("s", 3);
    close_large();
    open_large(0x03, "1");
    add_text("s", 1);
    add_text("t", 5000);
    close_large();
    open_large(0x03, "2");
    add_text("s", 3);
    close_large();
    close_large();
    add_text("z", 1);
    close_large();
    CHECK_STR(
        text_of(large, len), "{insert:'xx',docs:{0:{s:'xxx'},1:{s:'x'}}}...");
    finish_docs();
}

static char *no_json(
    const uint8_t *doc, size_t n, size_t *json_len, struct sb_err *err)
{
    sb_err_set(err, SB_EUSAGE, "not BSON");
    return NULL;
}

static void unreadable_commands_have_their_length(void)
{
    start_docs();
    doc_ops.to_json = no_json;
    CHECK_STR(text_of((const uint8_t *)"abc", 3), "(a command of 3 bytes)");
    memset(large, 'x', sizeof(large));
    CHECK_STR(text_of(large, 5000), "(a command of 5000 bytes)");
    doc_ops.to_json = doc_to_json;
    CHECK_STR(text_of(large, 0), "(a command of 0 bytes)");
    finish_docs();
}

CHECK_FILE
{
    RUN(short_commands_are_complete);
    RUN(long_commands_are_cut);
    RUN(documents_in_commands_are_cut);
    RUN(unreadable_commands_have_their_length);
    return check_done();
}
