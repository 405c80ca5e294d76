// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/wrap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define WIDTH       80
#define WIDTH_LEAST 40

size_t sb_wrap_width(FILE *out)
{
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long width = columns ? strtol(columns, &end, 10) : 0;
    struct winsize size;

    if (width <= 0 || *end)
        width = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (width <= 0)
        width = WIDTH;
    return width < WIDTH_LEAST ? WIDTH_LEAST : (size_t)width;
}

struct line {
    FILE *out;
    size_t width, indent, at;
    bool begun; // has a word
};

static void break_line(struct line *l)
{
    fprintf(l->out, "\n%*s", (int)l->indent, "");
    l->at = l->indent;
    l->begun = false;
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t characters(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += begins_character(text[i]);
    return n;
}

// Returns how many bytes of a word that does not fit go into `room` characters:
// up to the last comma, if there is one.
static size_t piece(const char *word, size_t len, size_t room)
{
    size_t n = 0, comma = 0;

    for (size_t i = 0; i < len; i++) {
        n += begins_character(word[i]);
        if (n > room)
            return comma ? comma : i;
        if (word[i] == ',')
            comma = i + 1;
    }
    return len;
}

static void put_word(struct line *l, const char *word, size_t len)
{
    size_t n = characters(word, len);

    if (l->begun && l->at + 1 + n > l->width)
        break_line(l);
    if (l->begun) {
        fputc(' ', l->out);
        l->at++;
    }
    while (l->at + n > l->width) {
        size_t part = piece(word, len, l->width - l->at);

        fwrite(word, 1, part, l->out);
        word += part;
        len -= part;
        n = characters(word, len);
        break_line(l);
    }
    fwrite(word, 1, len, l->out);
    l->at += n;
    l->begun = true;
}

void sb_wrap(FILE *out, size_t at, size_t indent, const char *text)
{
    struct line l = { .out = out, .width = sb_wrap_width(out), .at = at };

    l.indent = indent > l.width / 2 ? l.width / 2 : indent;
    if (at >= l.width)
        break_line(&l);
    for (; *text; text++) {
        size_t len = strcspn(text, " \n");

        if (len)
            put_word(&l, text, len);
        text += len;
        if (*text == '\n')
            break_line(&l);
        if (!*text)
            break;
    }
    fputc('\n', out);
}
