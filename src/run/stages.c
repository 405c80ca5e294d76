// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/stages.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/opts.h"
#include "kit/clock.h"
#include "kit/units.h"

#define USERS_MAX 1000000                           // as --threads
#define RATE_MAX  1e7                               // as --rate
#define TIME_MAX  ((int64_t)(10000000 * SB_SECOND)) // as --time
#define TOKEN     128

// Parser state. A token is a run of characters other than spaces and commas;
// ';' ends a stage.
struct parse {
    struct sb_stages *s;
    const char *text, *at; // at: next character
    const char *token;     // start of the current token
    size_t len;
    double base_rate; // --rate
    const struct sb_mix *mix;
    bool sets_rate; // a stage sets the rate
    bool has_rate;  // the first stage has a rate, which may be 0
    struct sb_err *err;
};

static int fail_stage(struct parse *p, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail_stage(struct parse *p, int code, const char *format, ...)
{
    char why[320], name[4 * TOKEN], part[TOKEN];
    va_list ap;

    va_start(ap, format);
    vsnprintf(why, sizeof(why), format, ap);
    va_end(ap);
    snprintf(part, sizeof(part), "%.*s", (int)p->len, p->token);
    sb_escape_line(name, sizeof(name), SB_SHOWN(part));
    return sb_err_set(p->err, code,
        "Invalid value for the 'stages' option: stage %u, character %zu, "
        "'%.100s': %s",
        p->s->n + 1, (size_t)(p->token - p->text) + 1, name, why);
}

static bool separates(char c)
{
    return c == ',' || isspace((unsigned char)c);
}

// Moves to the next token; its length is 0 at the end of the stage.
static void next_token(struct parse *p)
{
    while (separates(*p->at))
        p->at++;
    p->token = p->at;
    while (*p->at && *p->at != ';' && !separates(*p->at))
        p->at++;
    p->len = (size_t)(p->at - p->token);
}

static bool token_is(const struct parse *p, const char *word)
{
    return p->len == strlen(word) && strncmp(p->token, word, p->len) == 0;
}

// Copies len characters; false if there are too many.
static bool copy_text(char *out, size_t size, const char *from, size_t len)
{
    if (len >= size)
        return false;
    memcpy(out, from, len);
    out[len] = '\0';
    return true;
}

static int users_value(struct parse *p, const char *text, double *out)
{
    int64_t n;

    if (sb_units_count(text, &n))
        return fail_stage(
            p, SB_EUSAGE, "'%s' is not a number of threads", text);
    if (n < 0 || n > USERS_MAX)
        return fail_stage(
            p, SB_ERANGE, "%s threads; the range is 0 to %d", text, USERS_MAX);
    *out = (double)n;
    return 0;
}

static int rate_value(struct parse *p, char *text, double *out)
{
    size_t len = strlen(text);
    bool percent = len > 0 && text[len - 1] == '%';

    if (percent)
        text[len - 1] = '\0';
    if (percent && p->base_rate <= 0)
        return fail_stage(p, SB_EUSAGE, "a percentage requires --rate");
    if (sb_units_number(text, out))
        return fail_stage(p, SB_EUSAGE, "'%s' is not a rate", text);
    if (percent)
        *out *= p->base_rate / 100;
    p->s->sets_rate = p->s->sets_rate || (!percent && *out > 0);
    if (!(*out >= 0 && *out <= RATE_MAX))
        return fail_stage(p, SB_ERANGE,
            "%.10g events per second; the range is 0 to "
            "%.0f",
            *out, RATE_MAX);
    p->sets_rate = true;
    p->has_rate = p->has_rate || p->s->n == 0;
    return 0;
}

static int read_value(struct parse *p, bool rate, char *text, double *out)
{
    if (text[0] == '\0')
        return fail_stage(p, SB_EUSAGE, "a value is missing");
    return rate ? rate_value(p, text, out) : users_value(p, text, out);
}

// Parses "5", "5..10" or "..10". *from: what the stage before ended with.
static int read_range(
    struct parse *p, bool rate, const char *text, double *from, double *to)
{
    const char *dots = strstr(text, "..");
    char part[TOKEN];
    int rc = 0;

    if (!dots) {
        snprintf(part, sizeof(part), "%s", text);
        rc = read_value(p, rate, part, to);
        *from = *to;
        return rc;
    }
    copy_text(part, sizeof(part), text, (size_t)(dots - text));
    if (part[0])
        rc = read_value(p, rate, part, from);
    if (rc)
        return rc;
    snprintf(part, sizeof(part), "%s", dots + 2);
    return read_value(p, rate, part, to);
}

// What the settings of a stage have set so far.
struct seen {
    bool users, rate, mix;
    const char *first, *end; // text of the settings
};

static void note_seen(const struct parse *p, struct seen *seen)
{
    if (!seen->first)
        seen->first = p->token;
    seen->end = p->token + p->len;
}

#define MIX "mix="

// "mix=" and weights, which may be longer than other settings.
static int mix_setting(struct parse *p, struct sb_stage *st, struct seen *seen)
{
    static const struct sb_mix none;
    size_t skip = strlen(MIX);
    char why[300];
    int rc;

    if (seen->mix)
        return fail_stage(p, SB_EUSAGE, "mix is set twice in this stage");
    rc = sb_mix_weights(p->mix ? p->mix : &none, p->token + skip, p->len - skip,
        st->mix, why, sizeof(why));
    if (rc)
        return fail_stage(p, rc, "%s", why);
    sb_mix_text(p->mix, st->mix, st->mix_text, sizeof(st->mix_text));
    seen->mix = true;
    note_seen(p, seen);
    return 0;
}

static int read_setting(struct parse *p, struct sb_stage *st, struct seen *seen)
{
    double from, to;
    char text[TOKEN];
    int rc;

    if (p->len >= strlen(MIX) && strncmp(p->token, MIX, strlen(MIX)) == 0)
        return mix_setting(p, st, seen);
    if (!copy_text(text, sizeof(text), p->token, p->len))
        return fail_stage(p, SB_EUSAGE, "too long");
    char *equals = strchr(text, '=');
    if (!equals)
        return fail_stage(p, SB_EUSAGE,
            "expected threads=N, rate=N, mix=... or 'for' and the length of "
            "the "
            "stage");
    *equals = '\0';
    bool rate = strcmp(text, "rate") == 0;
    if (!rate && strcmp(text, "threads") != 0)
        return fail_stage(p, SB_EUSAGE,
            "there is no setting '%s'; a stage has threads, rate and mix",
            text);
    if (rate ? seen->rate : seen->users)
        return fail_stage(p, SB_EUSAGE, "%s is set twice in this stage", text);
    from = rate ? st->rate_from : st->users_from;
    rc = read_range(p, rate, equals + 1, &from, &to);
    if (rc)
        return rc;
    if (rate) {
        st->rate_from = from;
        st->rate_to = to;
        seen->rate = true;
    } else {
        st->users_from = (uint32_t)from;
        st->users_to = (uint32_t)to;
        seen->users = p->s->sets_users = true;
    }
    note_seen(p, seen);
    return 0;
}

// Parses "name:" before the settings; the settings may follow without a space.
static int stage_name(struct parse *p, struct sb_stage *st)
{
    size_t n = 0;

    while (n < p->len && (isalnum((unsigned char)p->token[n]) ||
                             p->token[n] == '-' || p->token[n] == '_'))
        n++;
    if (n == 0 || n == p->len || p->token[n] != ':')
        return 0;
    if (!copy_text(st->name, sizeof(st->name), p->token, n))
        return fail_stage(p, SB_ERANGE, "the maximum length of a name is %d",
            SB_STAGE_NAME - 1);
    p->at = p->token + n + 1;
    next_token(p);
    return 0;
}

static int length(struct parse *p, struct sb_stage *st)
{
    char text[TOKEN];
    int64_t ns;

    next_token(p);
    if (p->len == 0)
        return fail_stage(
            p, SB_EUSAGE, "expected the length of the stage, such as 10s");
    if (!copy_text(text, sizeof(text), p->token, p->len) ||
        sb_units_duration(text, SB_SECOND, &ns))
        return fail_stage(p, SB_EUSAGE, "not a time");
    if (ns <= 0 || ns > TIME_MAX - (int64_t)p->s->ns)
        return fail_stage(p, SB_ERANGE,
            "the length of a stage must be above 0, and the sum at most %lld s",
            (long long)(TIME_MAX / (int64_t)SB_SECOND));
    st->ns = (uint64_t)ns;
    next_token(p);
    if (p->len > 0)
        return fail_stage(
            p, SB_EUSAGE, "expected ';' after the length of the stage");
    return 0;
}

static void default_name(struct sb_stage *st, const struct seen *seen)
{
    if (st->name[0])
        return;
    if (!seen->first)
        snprintf(st->name, sizeof(st->name), "hold");
    else
        snprintf(st->name, sizeof(st->name), "%.*s",
            (int)(seen->end - seen->first), seen->first);
}

// Parses the stage whose first token is the current one.
static int stage(struct parse *p)
{
    struct sb_stages *s = p->s;
    struct sb_stage *st = &s->stage[s->n];
    struct seen seen = { 0 };
    int rc;

    if (s->n == SB_STAGES_MAX)
        return fail_stage(
            p, SB_ERANGE, "the maximum is %d stages", SB_STAGES_MAX);
    st->name[0] = '\0';
    if (s->n > 0) {
        st->users_from = st->users_to = st[-1].users_to;
        st->rate_from = st->rate_to = st[-1].rate_to;
        memcpy(st->mix, st[-1].mix, sizeof(st->mix));
        memcpy(st->mix_text, st[-1].mix_text, sizeof(st->mix_text));
    }
    rc = stage_name(p, st);
    while (rc == 0 && p->len > 0 && !token_is(p, "for")) {
        rc = read_setting(p, st, &seen);
        next_token(p);
    }
    if (rc)
        return rc;
    if (p->len == 0)
        return fail_stage(p, SB_EUSAGE,
            "expected 'for' and the length of the stage, such as 'for 10s'");
    rc = length(p, st);
    if (rc)
        return rc;
    default_name(st, &seen);
    s->ns += st->ns;
    if (st->users_from > s->max_users)
        s->max_users = st->users_from;
    if (st->users_to > s->max_users)
        s->max_users = st->users_to;
    s->n++;
    return 0;
}

// In an open loop every arrival has a time: there is no stage without a rate.
static int check_rates(struct parse *p)
{
    struct sb_stages *s = p->s;

    for (unsigned i = 0; i < s->n; i++)
        if (s->stage[i].rate_from > 0 || s->stage[i].rate_to > 0)
            s->open_loop = true;
    if (p->sets_rate && !s->open_loop)
        return sb_err_set(p->err, SB_EUSAGE,
            "Invalid value for the 'stages' option: all rates are 0");
    if (s->open_loop && !p->has_rate)
        return sb_err_set(p->err, SB_EUSAGE,
            "Invalid value for the 'stages' option: some stages have a rate, "
            "but the first one has none; set one there (rate=0: no events), or "
            "with --rate");
    return 0;
}

int sb_stages_parse(struct sb_stages *s, const char *text, uint32_t users,
    double rate, const struct sb_mix *mix, struct sb_err *err)
{
    struct parse p = { .s = s,
        .text = text,
        .at = text,
        .mix = mix,
        .base_rate = rate,
        .has_rate = rate > 0,
        .err = err };

    memset(s, 0, sizeof(*s));
    s->max_users = 1;
    s->stage[0].users_from = s->stage[0].users_to = users;
    s->stage[0].rate_from = s->stage[0].rate_to = rate;
    if (mix && mix->n) {
        memcpy(s->stage[0].mix, mix->weight, sizeof(s->stage[0].mix));
        sb_mix_text(mix, mix->weight, s->stage[0].mix_text, SB_MIX_TEXT);
    }
    next_token(&p);
    if (p.len == 0 && *p.at == '\0')
        return fail_stage(&p, SB_EUSAGE, "no stages");
    while (p.len > 0 || *p.at == ';') {
        int rc = stage(&p);

        if (rc)
            return rc;
        if (*p.at == ';')
            p.at++;
        next_token(&p);
    }
    return check_rates(&p);
}

// Users -----------------------------------------------------------------------

unsigned sb_stages_at(const struct sb_stages *s, uint64_t ns)
{
    unsigned i = 0;

    while (i + 1 < s->n && ns >= s->stage[i].ns)
        ns -= s->stage[i++].ns;
    return i;
}

// Returns the part of a ramp's length after which `done` of `all` users have
// come or gone.
static uint64_t part_of_time(uint64_t ns, uint32_t done, uint32_t all)
{
    assert(all > 0 && done <= all);
    return (uint64_t)((unsigned __int128)ns * done / all);
}

// The time in which a user runs within a stage, from its start: [*on, *off),
// empty if they are equal.
static void presence(
    const struct sb_stage *st, uint32_t id, uint64_t *on, uint64_t *off)
{
    uint32_t a = st->users_from, b = st->users_to;

    *on = 0;
    *off = st->ns;
    if (id < a && id < b)
        return;
    if (id >= a && id >= b)
        *off = 0;
    else if (id < b)
        *on = part_of_time(st->ns, id - a, b - a);
    else
        *off = part_of_time(st->ns, a - id, a - b);
}

bool sb_stages_user(
    const struct sb_stages *s, uint32_t id, uint64_t ns, uint64_t *until)
{
    uint64_t start = 0, on, off;
    unsigned i = sb_stages_at(s, ns);
    bool now;

    assert(s->n > 0);
    for (unsigned k = 0; k < i; k++)
        start += s->stage[k].ns;
    presence(&s->stage[i], id, &on, &off);
    // After the end, the state is that of the last moment.
    uint64_t at = ns - start < s->stage[i].ns ? ns - start : s->stage[i].ns - 1;
    now = on <= at && at < off;
    *until = UINT64_MAX;
    if (now ? off < s->stage[i].ns : at < on) {
        *until = start + (now ? off : on);
        return now;
    }
    for (start += s->stage[i++].ns; i < s->n; start += s->stage[i++].ns) {
        presence(&s->stage[i], id, &on, &off);
        bool first = on == 0 && off > 0;

        if (now == first && (now ? off == s->stage[i].ns : on >= off))
            continue;
        *until = start + (now != first ? 0 : now ? off : on);
        break;
    }
    return now;
}

uint32_t sb_stages_users(const struct sb_stages *s, uint64_t ns)
{
    uint32_t low = 0, high = s->max_users;
    uint64_t until;

    // Users run in the order of their numbers.
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sb_stages_user(s, middle, ns, &until))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
