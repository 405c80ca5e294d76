// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reading BSON: elements, their sizes, and malformed documents.
#include "db/doc/doc_bson.h"

#include <string.h>

#include "check.h"

// {i: 7, t: "ab", l: [1.5, true]}
static const uint8_t doc[] = { 44, 0, 0, 0, 0x10, 'i', 0, 7, 0, 0, 0, 0x02, 't',
    0, 3, 0, 0, 0, 'a', 'b', 0, 0x04, 'l', 0, 20, 0, 0, 0, 0x01, '0', 0, 0, 0,
    0, 0, 0, 0, 0xf8, 0x3f, 0x08, '1', 0, 1, 0, 0 };
#define LEN (sizeof(doc))

static uint8_t copy[sizeof(doc)];

static void make(void)
{
    memcpy(copy, doc, LEN);
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

int main(void)
{
    RUN(numbers);
    RUN(elements);
    RUN(malformed);
    return check_done();
}
