// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/mix.h"

#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "kit/units.h"

#define BLANKS " \t\r\n"

_Static_assert(DBL_MAX_10_EXP < 1000, "weights have exponents of three digits");

// Names that no component may have. Limits (`read.p95`, `lag.max`), columns of
// files and charts name an operation without its kind, so these names would
// have two meanings there. `connect` is an operation of the program.
static const char *const reserved[] = { "read", "write", "other", "service",
    "response", "lag", "client_delay", "connect", "validity", "costs",
    "beside" };

// One part of the text of --mix, without blanks around it.
struct piece {
    const char *at;
    size_t len;
    unsigned number; // 1 first
    struct sb_err *err;
};

static int fail_piece(const struct piece *p, int code, const char *why)
{
    char part[128], shown[512];

    snprintf(part, sizeof(part), "%.*s", (int)p->len, p->at);
    sb_escape_line(shown, sizeof(shown), part);
    return sb_err_set(p->err, code,
        "Invalid value for the 'mix' option: workload %u, '%.120s': %s",
        p->number, shown, why);
}

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '-' &&
            text[i] != '_')
            return false;
    return len > 0;
}

// The end of a workload: the last ':', if a number follows, or the end.
static size_t workload_length(const struct piece *p)
{
    size_t n = p->len;

    while (n > 0 && p->at[n - 1] != ':' && p->at[n - 1] != '/')
        n--;
    return n > 0 && p->at[n - 1] == ':' ? n - 1 : p->len;
}

// Parses a weight. Returns NULL, or what is wrong with it.
static const char *read_weight(
    const char *text, size_t len, bool zero, double *out)
{
    char number[32];

    if (len == 0)
        return "a weight must follow the colon";
    if (len >= sizeof(number))
        return "the weight is too long";
    memcpy(number, text, len);
    number[len] = '\0';
    if (sb_units_number(number, out))
        return "the weight is not a number";
    if (*out < 0 || (*out == 0 && !zero) || !(*out <= SB_MIX_WEIGHT))
        return zero ? "the weight must be from 0 to 1000000000"
                    : "the weight must be above 0 and at most 1000000000";
    return NULL;
}

static size_t default_name(const char **text, size_t len)
{
    const char *at = *text;

    for (size_t i = 0; i < len; i++)
        if ((*text)[i] == '/')
            at = *text + i + 1;
    len -= (size_t)(at - *text);
    if (len > 4 && memcmp(at + len - 4, ".lua", 4) == 0)
        len -= 4;
    *text = at;
    return len;
}

static int find_part(const struct sb_mix *m, const char *name, size_t len)
{
    for (unsigned i = 0; i < m->n; i++)
        if (strlen(m->part[i].name) == len &&
            memcmp(m->part[i].name, name, len) == 0)
            return (int)i;
    return -1;
}

static bool is_reserved(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strlen(reserved[i]) == len && memcmp(reserved[i], name, len) == 0)
            return true;
    return false;
}

static int set_name(struct sb_mix *m, const struct piece *p, const char *name,
    size_t len, bool given)
{
    struct sb_mix_part *part = &m->part[m->n];

    assert(m->n < SB_MIX_MAX);
    if (!is_name(name, len))
        return fail_piece(p, SB_EUSAGE,
            given ? "a name has only letters, digits, '-' and '_'"
                  : "this needs a name of letters, digits, '-' and '_': "
                    "NAME=WORKLOAD");
    if (len >= sizeof(part->name))
        return fail_piece(p, SB_ERANGE,
            "the maximum length of a name is 31; another one can be given: "
            "NAME=WORKLOAD");
    if (is_reserved(name, len))
        return fail_piece(p, SB_EUSAGE,
            "this name has another meaning in limits and figures; another one "
            "can be given: NAME=WORKLOAD");
    if (find_part(m, name, len) >= 0)
        return fail_piece(p, SB_EUSAGE,
            "this name occurs twice; give other names: a=WORKLOAD,b=WORKLOAD");
    snprintf(part->name, sizeof(part->name), "%.*s", (int)len, name);
    snprintf(part->prefix, sizeof(part->prefix), "%.*s/", (int)len, name);
    return 0;
}

static int add_part(struct sb_mix *m, const struct piece *p)
{
    size_t len = workload_length(p), named = strcspn(p->at, "=/:");
    struct sb_mix_part *part = &m->part[m->n];
    const char *workload = p->at, *name = p->at, *wrong = NULL;
    bool given = named < len && p->at[named] == '=';
    size_t name_len = named;

    if (m->n == SB_MIX_MAX)
        return fail_piece(p, SB_ERANGE, "the maximum is 16 workloads");
    m->weight[m->n] = 1;
    if (len < p->len)
        wrong = read_weight(
            p->at + len + 1, p->len - len - 1, false, &m->weight[m->n]);
    if (wrong)
        return fail_piece(p, SB_ERANGE, wrong);
    if (given) {
        workload += named + 1;
        len -= named + 1;
    } else {
        name = workload;
        name_len = default_name(&name, len);
    }
    if (len == 0)
        return fail_piece(p, SB_EUSAGE, "the name of the workload is missing");
    if (len >= sizeof(part->workload))
        return fail_piece(p, SB_ERANGE, "the name of the workload is too long");
    snprintf(
        part->workload, sizeof(part->workload), "%.*s", (int)len, workload);
    int rc = set_name(m, p, name, name_len, given);
    m->n += rc == 0;
    return rc;
}

int sb_mix_parse(struct sb_mix *m, const char *text, struct sb_err *err)
{
    struct piece p = { .at = text, .err = err };
    int rc = 0;

    m->n = 0;
    for (;;) {
        size_t whole = strcspn(p.at, ",");
        const char *end = p.at + whole;

        p.number++;
        p.at += strspn(p.at, BLANKS);
        p.len = end > p.at ? (size_t)(end - p.at) : 0;
        while (p.len && strchr(BLANKS, p.at[p.len - 1]))
            p.len--;
        rc = p.len ? add_part(m, &p)
                   : fail_piece(
                         &p, SB_EUSAGE, "the name of a workload is missing");
        if (rc || !*end)
            return rc;
        p.at = end + 1;
    }
}

// The weights of stages -------------------------------------------------------

static int no_such_part(const struct sb_mix *m, const char *text, size_t len,
    char *why, size_t size)
{
    char names[200] = "";

    if (m->n == 0) {
        snprintf(why, size, "mix requires --mix");
        return SB_EUSAGE;
    }
    for (unsigned i = 0; i < m->n; i++) {
        size_t at = strlen(names);

        snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
            m->part[i].name);
    }
    snprintf(why, size, "'%.*s' is not in --mix, which has %s",
        (int)(len < 64 ? len : 64), text, names);
    return SB_EUSAGE;
}

static int one_weight(const struct sb_mix *m, const char *text, size_t len,
    double *weight, bool *seen, char *why, size_t size)
{
    const char *colon = memchr(text, ':', len), *wrong = NULL;
    size_t name = colon ? (size_t)(colon - text) : len;
    int i = find_part(m, text, name);

    if (i < 0)
        return no_such_part(m, text, name, why, size);
    weight[i] = 1;
    if (colon)
        wrong = read_weight(colon + 1, len - name - 1, true, &weight[i]);
    if (!wrong && seen[i])
        wrong = "a workload is named twice";
    seen[i] = true;
    if (wrong)
        snprintf(why, size, "%s", wrong);
    return wrong ? SB_EUSAGE : 0;
}

int sb_mix_weights(const struct sb_mix *m, const char *text, size_t len,
    double *weight, char *why, size_t size)
{
    bool seen[SB_MIX_MAX] = { false };
    const char *end = text + len;
    double sum = 0;

    for (unsigned i = 0; i < SB_MIX_MAX; i++)
        weight[i] = 0;
    for (;;) {
        const char *slash = memchr(text, '/', (size_t)(end - text));
        size_t n = (size_t)((slash ? slash : end) - text);
        int rc = one_weight(m, text, n, weight, seen, why, size);

        if (rc)
            return rc;
        if (!slash)
            break;
        text = slash + 1;
    }
    for (unsigned i = 0; i < m->n; i++)
        sum += weight[i];
    if (sum > 0)
        return 0;
    snprintf(why, size, "all weights are 0");
    return SB_ERANGE;
}

void sb_mix_text(
    const struct sb_mix *m, const double *weight, char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < m->n && at < size; i++)
        if (weight[i] > 0)
            at += (size_t)snprintf(out + at, size - at, "%s%s:%.10g",
                at ? "/" : "", m->part[i].name, weight[i]);
}

// Who runs what ---------------------------------------------------------------

unsigned sb_mix_draw(const double *weight, unsigned n, double x)
{
    unsigned last = 0;
    double sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += weight[i];
    x *= sum;
    for (unsigned i = 0; i < n; i++) {
        if (weight[i] <= 0)
            continue;
        last = i; // rounding may leave x at the end
        if (x < weight[i])
            return i;
        x -= weight[i];
    }
    return last;
}

// Returns the component that lacks most of its share if there is one more user,
// and counts that user.
static unsigned next_user(
    const double *weight, unsigned n, double sum, uint32_t users, uint32_t *has)
{
    double most = -1;
    unsigned best = 0;

    assert(sum > 0);
    for (unsigned i = 0; i < n; i++) {
        double lack = (double)(users + 1) * weight[i] / sum - has[i];

        // Differences below this are rounding.
        if (weight[i] > 0 && lack > most + 1e-9) {
            most = lack;
            best = i;
        }
    }
    has[best]++;
    return best;
}

static double sum_of(const double *weight, unsigned n)
{
    double sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += weight[i];
    return sum;
}

void sb_mix_assign(
    const double *weight, unsigned n, uint8_t *of, uint32_t users)
{
    uint32_t has[SB_MIX_MAX] = { 0 };
    double sum = sum_of(weight, n);

    for (uint32_t i = 0; i < users; i++)
        of[i] = (uint8_t)next_user(weight, n, sum, i, has);
}

void sb_mix_users(
    const double *weight, unsigned n, uint32_t *least, uint32_t most)
{
    uint32_t has[SB_MIX_MAX] = { 0 };
    double sum = sum_of(weight, n);
    unsigned missing = 0;

    for (unsigned i = 0; i < n; i++) {
        missing += weight[i] > 0;
        least[i] = 0;
    }
    for (uint32_t i = 0; missing > 0 && i < most; i++) {
        unsigned k = next_user(weight, n, sum, i, has);

        if (has[k] == 1) {
            least[k] = i + 1;
            missing--;
        }
    }
}
