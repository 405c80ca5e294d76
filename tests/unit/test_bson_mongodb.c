// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reading BSON: elements, their sizes, and malformed documents.
#include "drivers/mongodb/bson.h"

#include <stdlib.h>

#include "check.h"

// {i: 7, t: "ab", l: [1.5, true]}
static const uint8_t small[] = { 44, 0, 0, 0, 0x10, 'i', 0, 7, 0, 0, 0, 0x02,
    't', 0, 3, 0, 0, 0, 'a', 'b', 0, 0x04, 'l', 0, 20, 0, 0, 0, 0x01, '0', 0, 0,
    0, 0, 0, 0, 0, 0xf8, 0x3f, 0x08, '1', 0, 1, 0, 0 };
#define LEN (sizeof(small))

static uint8_t copy[sizeof(small)];

static void make(void)
{
    memcpy(copy, small, LEN);
    sb_put32(copy, LEN);
}

static void numbers(void)
{
    uint8_t p[8];

    sb_put64(p, UINT64_C(0x8877665544332211));
    CHECK_INT(p[0], 0x11);
    CHECK_INT(p[7], 0x88);
    CHECK(sb_get64(p) == UINT64_C(0x8877665544332211));
    CHECK(sb_get32(p + 4) == 0x88776655);
}

static void elements(void)
{
    struct sb_walk w;
    struct sb_elem e;

    make();
    CHECK(sb_bson_framed(copy, LEN));
    sb_walk_begin(&w, copy, LEN);
    CHECK_INT(sb_walk_next(&w, &e), 1);
    CHECK(e.type == SB_BSON_INT32 && e.key_len == 1 && e.len == 4);
    CHECK(sb_elem_number(&e) == 7);
    CHECK_INT(sb_walk_next(&w, &e), 1);
    CHECK(e.type == SB_BSON_TEXT && e.len == 7);
    CHECK(sb_elem_number(&e) == 0);
    CHECK_INT(sb_walk_next(&w, &e), 1);
    CHECK_STR(e.key, "l");
    CHECK_INT(sb_walk_next(&w, &e), 0);
    sb_walk_begin(&w, e.value, e.len);
    CHECK_INT(sb_walk_next(&w, &e), 1);
    CHECK(sb_elem_number(&e) == 1.5);
    CHECK_INT(sb_walk_next(&w, &e), 1);
    CHECK(e.type == SB_BSON_BOOL && sb_elem_number(&e) == 1);
    CHECK_INT(sb_walk_next(&w, &e), 0);
    CHECK(sb_bson_find(copy, LEN, "t", &e) && e.value[4] == 'a');
    CHECK(!sb_bson_find(copy, LEN, "0", &e));
}

// Each element with a length one byte beyond the end of its document.
static void malformed(void)
{
    struct sb_walk w;
    struct sb_elem e;

    make();
    copy[14] = 200; // the text
    sb_walk_begin(&w, copy, LEN);
    CHECK_INT(sb_walk_next(&w, &e), 1);
    CHECK_INT(sb_walk_next(&w, &e), -1);
    make();
    copy[20] = 'c'; // its NUL
    CHECK(!sb_bson_find(copy, LEN, "l", &e));
    make();
    copy[24] = 21; // the array
    CHECK(!sb_bson_find(copy, LEN, "l", &e));
    CHECK(!sb_bson_framed(copy, LEN - 1));
    CHECK(sb_bson_size(0x10, copy, 3) == SIZE_MAX);
    CHECK(sb_bson_size(0x10, copy, 4) == 4);
    CHECK(sb_bson_size(0x07, copy, 12) == 12);
    CHECK(sb_bson_size(0x99, copy, LEN) == SIZE_MAX);
}

// One element of each type, in the order of the table below.
static const uint8_t all[] = "\xba\0\0\0"
                             "\x01"
                             "d\0\0\0\0\0\0\0\xf8\x3f"
                             "\x02"
                             "s\0\4\0\0\0abc\0"
                             "\x03"
                             "o\0\5\0\0\0\0"
                             "\x04"
                             "a\0\14\0\0\0\x10"
                             "0\0\7\0\0\0\0"
                             "\x05"
                             "b\0\2\0\0\0\0xy"
                             "\x06"
                             "u\0"
                             "\x07"
                             "i\0"
                             "123456789012"
                             "\x08"
                             "t\0\1"
                             "\x09"
                             "w\0\1\0\0\0\0\0\0\0"
                             "\x0a"
                             "n\0"
                             "\x0b"
                             "r\0ab\0i\0"
                             "\x0c"
                             "p\0\2\0\0\0x\0"
                             "123456789012"
                             "\x0d"
                             "c\0\2\0\0\0x\0"
                             "\x0e"
                             "y\0\2\0\0\0x\0"
                             "\x0f"
                             "z\0\17\0\0\0\2\0\0\0x\0\5\0\0\0\0"
                             "\x10"
                             "j\0\xff\xff\xff\xff"
                             "\x11"
                             "m\0\1\0\0\0\0\0\0\0"
                             "\x12"
                             "l\0\xfe\xff\xff\xff\xff\xff\xff\xff"
                             "\x13"
                             "e\0"
                             "1234567890123456"
                             "\x7f"
                             "k\0"
                             "\xff"
                             "v\0";
#define ALL (sizeof(all) - 1 + 1) // the literal's NUL ends the document

static const struct {
    uint8_t type;
    char key;
    size_t len;
} want[] = { { 0x01, 'd', 8 }, { 0x02, 's', 8 }, { 0x03, 'o', 5 },
    { 0x04, 'a', 12 }, { 0x05, 'b', 7 }, { 0x06, 'u', 0 }, { 0x07, 'i', 12 },
    { 0x08, 't', 1 }, { 0x09, 'w', 8 }, { 0x0a, 'n', 0 }, { 0x0b, 'r', 5 },
    { 0x0c, 'p', 18 }, { 0x0d, 'c', 6 }, { 0x0e, 'y', 6 }, { 0x0f, 'z', 15 },
    { 0x10, 'j', 4 }, { 0x11, 'm', 8 }, { 0x12, 'l', 8 }, { 0x13, 'e', 16 },
    { 0x7f, 'k', 0 }, { 0xff, 'v', 0 } };
#define COUNT (sizeof(want) / sizeof(want[0]))

static uint8_t *copy_all(void)
{
    uint8_t *doc = malloc(ALL);

    memcpy(doc, all, ALL);
    doc[0] = (uint8_t)ALL;
    doc[1] = (uint8_t)(ALL >> 8);
    return doc;
}

static void every_type(void)
{
    uint8_t *doc = copy_all();
    struct sb_walk w;
    struct sb_elem e;

    CHECK(sb_walk_open(&w, doc, ALL));
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(sb_walk_more(&w, &e));
        CHECK_INT(e.type, want[i].type);
        CHECK_INT(e.key[0], want[i].key);
        CHECK_INT(e.key_len, 1);
        CHECK_INT(e.len, want[i].len);
    }
    CHECK(!sb_walk_more(&w, &e));
    free(doc);
}

static void values(void)
{
    uint8_t *doc = copy_all();
    struct sb_elem e;
    struct sb_walk w;
    size_t len;

    CHECK(sb_bson_find(doc, ALL, "d", &e));
    CHECK_NEAR(sb_get_double(e.value), 1.5, 0);
    CHECK_INT(sb_elem_int(&e), 1);
    CHECK(sb_bson_find(doc, ALL, "s", &e));
    CHECK_STR(sb_elem_text(&e, &len), "abc");
    CHECK_INT(len, 3);
    CHECK_INT(sb_elem_int(&e), 0);
    CHECK(sb_bson_find(doc, ALL, "t", &e));
    CHECK_INT(sb_elem_int(&e), 1);
    CHECK_STR(sb_elem_text(&e, &len), "");
    CHECK(sb_bson_find(doc, ALL, "j", &e));
    CHECK_INT(sb_elem_int(&e), -1);
    CHECK(sb_bson_find(doc, ALL, "l", &e));
    CHECK_INT(sb_elem_int(&e), -2);
    CHECK(sb_bson_find(doc, ALL, "a", &e));
    sb_walk_into(&w, &e);
    CHECK(sb_walk_more(&w, &e));
    CHECK(sb_elem_is(&e, "0"));
    CHECK_INT(sb_elem_int(&e), 7);
    CHECK(!sb_walk_more(&w, &e));
    e = (struct sb_elem){ .type = SB_BSON_DOUBLE,
        .value = (const uint8_t *)"\0\0\0\0\0\0\xf0\x7f",
        .len = 8 }; // infinity
    CHECK_INT(sb_elem_int(&e), 0);
    CHECK(!sb_bson_find(doc, ALL, "nosuch", &e));
    CHECK(sb_bson_find(doc, ALL, "s", &e));
    sb_walk_into(&w, &e); // not a document
    CHECK(!sb_walk_more(&w, &e));
    free(doc);
}

// With any byte changed, nothing outside the document is read. The copy has the
// document's exact size, so that the address sanitizer detects such reads.
static void changed_bytes(void)
{
    static const uint8_t bytes[] = { 0, 1, 2, 5, 0x7f, 0x80, 0xff };
    struct sb_walk w;
    struct sb_elem e;
    unsigned seen = 0;

    for (size_t at = 4; at < ALL; at++) {
        for (size_t b = 0; b < sizeof(bytes); b++) {
            uint8_t *doc = copy_all();

            doc[at] = bytes[b];
            sb_walk_open(&w, doc, ALL);
            for (seen = 0; sb_walk_more(&w, &e); seen++) {
                CHECK(e.value + e.len <= doc + ALL - 1);
                sb_elem_int(&e);
                sb_elem_text(&e, NULL);
            }
            CHECK(seen <= ALL);
            free(doc);
        }
    }
}

static void truncated(void)
{
    struct sb_walk w;
    struct sb_elem e;

    for (size_t len = 0; len < ALL; len++) {
        uint8_t *doc = malloc(len + 1);

        memcpy(doc, all, len);
        CHECK(!sb_walk_open(&w, doc, len));
        CHECK(!sb_walk_more(&w, &e));
        if (len >= 5) { // a valid frame, but truncated elements
            doc[0] = (uint8_t)len;
            doc[1] = (uint8_t)(len >> 8);
            doc[len - 1] = 0;
            CHECK(sb_walk_open(&w, doc, len));
            while (sb_walk_more(&w, &e))
                CHECK(e.value + e.len <= doc + len - 1);
        }
        free(doc);
    }
}

CHECK_FILE
{
    RUN(numbers);
    RUN(elements);
    RUN(malformed);
    RUN(every_type);
    RUN(values);
    RUN(changed_bytes);
    RUN(truncated);
    return check_done();
}
