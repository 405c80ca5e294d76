// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "drivers/mongodb/walk.h"

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
    uint32_t len;
} want[] = { { 0x01, 'd', 8 }, { 0x02, 's', 8 }, { 0x03, 'o', 5 },
    { 0x04, 'a', 12 }, { 0x05, 'b', 7 }, { 0x06, 'u', 0 }, { 0x07, 'i', 12 },
    { 0x08, 't', 1 }, { 0x09, 'w', 8 }, { 0x0a, 'n', 0 }, { 0x0b, 'r', 5 },
    { 0x0c, 'p', 18 }, { 0x0d, 'c', 6 }, { 0x0e, 'y', 6 }, { 0x0f, 'z', 15 },
    { 0x10, 'j', 4 }, { 0x11, 'm', 8 }, { 0x12, 'l', 8 }, { 0x13, 'e', 16 },
    { 0x7f, 'k', 0 }, { 0xff, 'v', 0 } };
#define COUNT (sizeof(want) / sizeof(want[0]))

static uint8_t *copy(void)
{
    uint8_t *doc = malloc(ALL);

    memcpy(doc, all, ALL);
    doc[0] = (uint8_t)ALL;
    doc[1] = (uint8_t)(ALL >> 8);
    return doc;
}

static void every_type(void)
{
    uint8_t *doc = copy();
    struct sbmo_walk w;
    struct sbmo_elem e;

    CHECK(sbmo_walk_init(&w, doc, ALL));
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(sbmo_walk_next(&w, &e));
        CHECK_INT(e.type, want[i].type);
        CHECK_INT(e.key[0], want[i].key);
        CHECK_INT(e.key_len, 1);
        CHECK_INT(e.len, want[i].len);
    }
    CHECK(!sbmo_walk_next(&w, &e));
    free(doc);
}

static void values(void)
{
    uint8_t *doc = copy();
    struct sbmo_elem e;
    struct sbmo_walk w;
    uint32_t len;

    CHECK(sbmo_walk_find(doc, ALL, "d", &e));
    CHECK_NEAR(sbmo_f64(e.value), 1.5, 0);
    CHECK_INT(sbmo_number(&e), 1);
    CHECK(sbmo_walk_find(doc, ALL, "s", &e));
    CHECK_STR(sbmo_text(&e, &len), "abc");
    CHECK_INT(len, 3);
    CHECK_INT(sbmo_number(&e), 0);
    CHECK(sbmo_walk_find(doc, ALL, "t", &e));
    CHECK_INT(sbmo_number(&e), 1);
    CHECK_STR(sbmo_text(&e, &len), "");
    CHECK(sbmo_walk_find(doc, ALL, "j", &e));
    CHECK_INT(sbmo_number(&e), -1);
    CHECK(sbmo_walk_find(doc, ALL, "l", &e));
    CHECK_INT(sbmo_number(&e), -2);
    CHECK(sbmo_walk_find(doc, ALL, "a", &e));
    sbmo_walk_into(&w, &e);
    CHECK(sbmo_walk_next(&w, &e));
    CHECK(sbmo_is(&e, "0"));
    CHECK_INT(sbmo_number(&e), 7);
    CHECK(!sbmo_walk_next(&w, &e));
    CHECK(!sbmo_walk_find(doc, ALL, "nosuch", &e));
    CHECK(sbmo_walk_find(doc, ALL, "s", &e));
    sbmo_walk_into(&w, &e); // not a document
    CHECK(!sbmo_walk_next(&w, &e));
    free(doc);
}

// With any byte changed, nothing outside the document is read. The copy has the
// document's exact size, so that the address sanitizer detects such reads.
static void changed_bytes(void)
{
    static const uint8_t bytes[] = { 0, 1, 2, 5, 0x7f, 0x80, 0xff };
    struct sbmo_walk w;
    struct sbmo_elem e;
    unsigned seen = 0;

    for (size_t at = 4; at < ALL; at++) {
        for (size_t b = 0; b < sizeof(bytes); b++) {
            uint8_t *doc = copy();

            doc[at] = bytes[b];
            sbmo_walk_init(&w, doc, ALL);
            for (seen = 0; sbmo_walk_next(&w, &e); seen++) {
                CHECK(e.value + e.len <= doc + ALL - 1);
                sbmo_number(&e);
                sbmo_text(&e, NULL);
            }
            CHECK(seen <= ALL);
            free(doc);
        }
    }
}

static void truncated(void)
{
    struct sbmo_walk w;
    struct sbmo_elem e;

    for (size_t len = 0; len < ALL; len++) {
        uint8_t *doc = malloc(len + 1);

        memcpy(doc, all, len);
        CHECK(!sbmo_walk_init(&w, doc, len));
        CHECK(!sbmo_walk_next(&w, &e));
        if (len >= 5) { // a valid frame, but truncated elements
            doc[0] = (uint8_t)len;
            doc[1] = (uint8_t)(len >> 8);
            doc[len - 1] = 0;
            CHECK(sbmo_walk_init(&w, doc, len));
            while (sbmo_walk_next(&w, &e))
                CHECK(e.value + e.len <= doc + len - 1);
        }
        free(doc);
    }
}

int main(void)
{
    RUN(every_type);
    RUN(values);
    RUN(changed_bytes);
    RUN(truncated);
    return check_done();
}
