// SPDX-License-Identifier: GPL-2.0-or-later
//
// The statements that a pipeline collects.
#include "db/sql/sql.h"

#include "fake.h"

// Values are copied: the caller may change them right after. Many of them move
// the buffers.
static void copies(void)
{
    char text[32];
    struct sb_value v[2] = { { .type = SB_VALUE_INT },
        { .type = SB_VALUE_TEXT, .s = text } };
    struct sb__pipe *p = &c.pipe;
    int wrong = 0;

    start();
    sb_buf_init(&p->bytes, 0);
    for (int i = 0; i < 1000; i++) {
        v[0].i = i;
        v[1].len = (uint32_t)snprintf(text, sizeof(text), "text %d", i);
        CHECK_INT(sb__pipe_add_stmt(&c, NULL, v, 2, i), 0);
        memset(text, 'x', sizeof(text));
    }
    CHECK_INT(sb__pipe_add_text(&c, "COMMIT", 6, 7), 0);
    CHECK_INT(p->n, 1001);
    sb__pipe_settle(p);
    for (int i = 0; i < 1000; i++) {
        const struct sb_value *got = p->value + p->item[i].value;

        snprintf(text, sizeof(text), "text %d", i);
        wrong += got[0].i != i || got[1].len != strlen(text) ||
                 memcmp(got[1].s, text, got[1].len) != 0 || p->item[i].op != i;
    }
    CHECK_INT(wrong, 0);
    CHECK(memcmp(p->bytes.data + p->item[1000].text, "COMMIT", 6) == 0);
    CHECK_INT(p->item[1000].nvalues, 0);
    sb__pipe_clear(p);
    CHECK(p->n == 0 && p->nvalues == 0 && p->bytes.len == 0);
    sb__pipe_done(p);
    CHECK(!p->item && !p->value);
    finish();
}

static void refuses_while_open(void)
{
    start();
    CHECK_INT(sb__pipe_refuse(&c, "load()"), 0);
    c.pipe.state = SB__PIPE_OPEN;
    CHECK_INT(sb__pipe_refuse(&c, "load()"), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "load() cannot be used"));
    c.pipe.state = SB__PIPE_SENT;
    CHECK_INT(sb__pipe_refuse(&c, "load()"), 0);
    c.pipe.state = SB__PIPE_NONE;
    finish();
}

CHECK_FILE
{
    RUN(copies);
    RUN(refuses_while_open);
    return check_done();
}
