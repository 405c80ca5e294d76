// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/sha256.h"

#include <string.h>

#include "check.h"

// In parts of `step` bytes.
static const char *digest(const char *text, size_t len, size_t step)
{
    static char out[SB_SHA256_TEXT];
    struct sb_sha256 s;

    sb_sha256_init(&s);
    for (size_t i = 0; i < len; i += step)
        sb_sha256_add(&s, text + i, len - i < step ? len - i : step);
    sb_sha256_text(&s, out);
    return out;
}

// The examples of NIST, and what sha256sum prints.
static void digests_are_those_of_the_standard(void)
{
    static const char two[] =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static char million[1000000];

    CHECK_STR(digest("", 0, 1), "e3b0c44298fc1c149afbf4c8996fb924"
                                "27ae41e4649b934ca495991b7852b855");
    CHECK_STR(digest("abc", 3, 3), "ba7816bf8f01cfea414140de5dae2223"
                                   "b00361a396177a9cb410ff61f20015ad");
    CHECK_STR(digest(two, sizeof(two) - 1, 5),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof(million));
    CHECK_STR(digest(million, sizeof(million), 4096),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The padding needs another block from 56 bytes in the last one.
static void lengths_around_a_block(void)
{
    static const struct {
        size_t len;
        const char *digest;
    } cases[] = {
        { 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f73431"
              "8" },
        { 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738"
              "a" },
        { 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f3"
              "4" },
        { 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668e"
              "b" },
        { 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae"
              "0" },
    };
    char text[65];

    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_STR(digest(text, cases[i].len, 64), cases[i].digest);
        CHECK_STR(digest(text, cases[i].len, 7), cases[i].digest);
    }
}

static void digests_of_files(void)
{
    char out[SB_SHA256_TEXT];

    CHECK(sb_sha256_file("/dev/null", out));
    CHECK_STR(out, digest("", 0, 1));
    CHECK(!sb_sha256_file("/", out));
    CHECK(!sb_sha256_file("/does/not/exist", out));
}

CHECK_FILE
{
    RUN(digests_are_those_of_the_standard);
    RUN(lengths_around_a_block);
    RUN(digests_of_files);
    return check_done();
}
