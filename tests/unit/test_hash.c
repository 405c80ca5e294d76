// SPDX-License-Identifier: GPL-2.0-or-later
//
// With the values that the authors of FNV publish.
#include "kit/hash.h"

#include "check.h"

static void published(void)
{
    CHECK(sb_hash_text("") == UINT64_C(0xcbf29ce484222325));
    CHECK(sb_hash_text("a") == UINT64_C(0xaf63dc4c8601ec8c));
    CHECK(sb_hash_text("foobar") == UINT64_C(0x85944171f73967e8));
}

static void bytes(void)
{
    static const char text[] = "gr\xc3\xbc\xc3\x9f"
                               "e";

    CHECK(sb_hash(text, sizeof(text) - 1) == sb_hash_text(text));
    CHECK(sb_hash("a\0b", 3) != sb_hash("a\0c", 3));
    CHECK(sb_hash("", 0) == SB_HASH_START);
    CHECK(sb_hash_more(sb_hash("foo", 3), "bar", 3) == sb_hash("foobar", 6));
}

CHECK_FILE
{
    RUN(published);
    RUN(bytes);
    return check_done();
}
