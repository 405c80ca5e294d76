// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/ab.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kit/buf.h"
#include "out/json_parts.h"
#include "out/json_value.h"
#include "results/cmd.h"

#define AT(field) offsetof(struct sb_ab_opts, field)

static const struct sb_opt ab_options[] = {
    { .name = "a",
        .type = SB_OPT_STRING,
        .offset = AT(a),
        .def = "",
        .flags = SB_OPT_YIELDS | SB_OPT_SECRET,
        .help = "of sysbench ab, the first side: its name, and the options "
                "that only its runs have ('old: --pgsql-host=db1'); "
                "--program=FILE is another build of sysbench" },
    { .name = "b",
        .type = SB_OPT_STRING,
        .offset = AT(b),
        .def = "",
        .flags = SB_OPT_YIELDS | SB_OPT_SECRET,
        .help = "of sysbench ab, the second side" },
    { .name = "pairs",
        .type = SB_OPT_INT,
        .offset = AT(pairs),
        .def = "20",
        .min = SB_SEQUENTIAL_FIRST,
        .max = SB_AB_PAIRS_MAX,
        .flags = SB_OPT_YIELDS,
        .help = "of sysbench ab, maximum number of pairs of runs; it ends "
                "earlier when the answer is known" },
    { .name = "aa",
        .type = SB_OPT_INT,
        .offset = AT(aa),
        .def = "5",
        .min = 0,
        .max = 100,
        .flags = SB_OPT_YIELDS,
        .help = "of sysbench ab, number of pairs of the first side with itself "
                "that are measured first, to find out what this place can "
                "show" },
    { .name = "margin",
        .type = SB_OPT_DOUBLE,
        .offset = AT(margin),
        .def = "2",
        .min = 0,
        .max = 99,
        .flags = SB_OPT_YIELDS,
        .help = "of sysbench ab, percentage: smaller differences do not "
                "matter" },
    { .name = "confidence",
        .type = SB_OPT_DOUBLE,
        .offset = AT(confidence),
        .def = "95",
        .min = 80,
        .max = 99.9,
        .flags = SB_OPT_YIELDS,
        .help = "of sysbench ab, confidence of the answer and its interval, "
                "percent" },
    { .name = "switch",
        .type = SB_OPT_STRING,
        .offset = AT(switch_to),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "of sysbench ab, a command that makes the server that of a "
                "side, before each run; {side} is the name of the side" },
    { .name = NULL },
};

const struct sb_opt_table sb_ab_opt_table = {
    .title = "A/B options",
    .section = "ab",
    .opts = ab_options,
};

// Sides -----------------------------------------------------------------------

// The only option that is one of a side, and not of its runs.
#define PROGRAM "--program="

static int add_word(struct sb_ab_side *s, const char *word)
{
    char **more = realloc(s->word, (s->n + 1) * sizeof(*more));

    if (!more)
        return SB_ENOMEM;
    s->word = more;
    s->word[s->n] = strdup(word);
    return s->word[s->n] ? (s->n++, 0) : SB_ENOMEM;
}

// Returns the next word, without its quotes, or NULL: the end; *bad: a quote
// has no end. The word replaces the text.
static char *next_word(char **text, bool *bad)
{
    char *from = *text + strspn(*text, " \t\n"), *word = from, *to = from;
    char quote = 0;

    if (!*from)
        return NULL;
    for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
        if (*from == quote)
            quote = 0;
        else if (!quote && (*from == '\'' || *from == '"'))
            quote = *from;
        else
            *to++ = *from;
    }
    *bad = quote != 0;
    *text = *from ? from + 1 : from;
    *to = '\0';
    return word;
}

// The value of a word as it may be shown.
static int show_word(
    struct sb_buf *shown, const char *word, struct sb_opts *opts)
{
    const char *sign = strchr(word, '=');
    char *name = sign ? strndup(word + 2, (size_t)(sign - word - 2)) : NULL;
    const char *value = name ? sb_opts_shown(opts, name, sign + 1) : NULL;

    if (shown->len)
        sb_buf_addf(shown, " ");
    if (value)
        sb_buf_addf(shown, "--%s=%s", name, value);
    else if (!sign)
        sb_buf_addf(shown, "%s", word);
    free(name);
    return shown->failed || (sign && !value) ? SB_ENOMEM : 0;
}

// The name before a colon, which is not an option. *rest: what follows it.
static char *split_name(char *text, char **rest)
{
    char *colon = text + strcspn(text, ":=\"'"), *end = colon;

    *rest = text;
    text += strspn(text, " \t\n");
    // A single word is a name, too.
    if (text[0] == '-' || (*colon && *colon != ':') ||
        (!*colon && text[strcspn(text, " \t\n")]))
        return NULL;
    *rest = *colon ? colon + 1 : colon;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

// Options of the experiment: its runs do not have values of their own.
static bool is_common(const char *word)
{
    static const char *const names[] = { "report", "repeat", "test", "launch",
        "launch-timeout" };
    size_t n = strcspn(word + 2, "=");

    for (const struct sb_opt *o = ab_options; o->name; o++)
        if (strlen(o->name) == n && strncmp(word + 2, o->name, n) == 0)
            return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == n && strncmp(word + 2, names[i], n) == 0)
            return true;
    return strncmp(word + 2, "sweep", 5) == 0;
}

static int take_program(struct sb_ab_side *s, const char *option,
    const char *file, struct sb_err *err)
{
    if (!*file)
        return sb_err_set(
            err, SB_EUSAGE, "%s: --program= requires a file", option);
    free(s->program);
    s->program = strdup(file);
    return s->program ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

static int read_words(struct sb_ab_side *s, const char *option, char *rest,
    struct sb_opts *opts, struct sb_err *err)
{
    struct sb_buf shown = { 0 };
    bool bad = false;
    char *word;
    int rc = 0;

    while (rc == 0 && (word = next_word(&rest, &bad))) {
        if (bad)
            rc = sb_err_set(
                err, SB_EUSAGE, "%s: a quotation mark has no end", option);
        else if (word[0] != '-' && !strchr(word, '=') && !s->test && !s->n)
            rc = (s->test = strdup(word)) &&
                         sb_buf_addf(&shown, "%s", word) == 0
                     ? 0
                     : sb_err_set(err, SB_ENOMEM, "out of memory");
        else if (strncmp(word, "--", 2) != 0 || !word[2])
            rc = sb_err_set(err, SB_EUSAGE,
                "%s: '%.100s' is not an option: 'NAME: [SCRIPT] --OPTION=VALUE "
                "...' is expected",
                option, sb_opts_secret_name(word) ? "***" : word);
        else if (strncmp(word, PROGRAM, strlen(PROGRAM)) == 0)
            rc = take_program(s, option, word + strlen(PROGRAM), err);
        else if (is_common(word))
            rc = sb_err_set(err, SB_EUSAGE,
                "%s: %.*s cannot differ between the sides", option,
                (int)strcspn(word, "="), word);
        else if (add_word(s, word) || show_word(&shown, word, opts))
            rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    s->shown = shown.data ? shown.data : strdup("");
    if (rc == 0 && !s->shown)
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    return rc;
}

int sb_ab_side_read(struct sb_ab_side *s, const char *option, const char *text,
    const char *name, struct sb_opts *opts, struct sb_err *err)
{
    char *copy = strdup(text), *rest = copy, *own = NULL;
    int rc = copy ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");

    *s = (struct sb_ab_side){ 0 };
    if (rc == 0) {
        own = split_name(copy, &rest);
        s->name = strdup(own && *own ? own : name);
        if (!s->name)
            rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    if (rc == 0 && (strlen(s->name) > 40 || strpbrk(s->name, ",:=")))
        rc = sb_err_set(err, SB_EUSAGE,
            "%s: '%.60s' is too long or has unsuitable characters for a name",
            option, s->name);
    if (rc == 0 && strcmp(s->name, SB_AB_SAME) == 0)
        rc = sb_err_set(err, SB_EUSAGE,
            "%s: a side cannot have the name " SB_AB_SAME, option);
    if (rc == 0)
        rc = read_words(s, option, rest, opts, err);
    free(copy);
    return rc;
}

void sb_ab_side_done(struct sb_ab_side *s)
{
    for (unsigned i = 0; i < s->n; i++)
        free(s->word[i]);
    free(s->word);
    free(s->name);
    free(s->test);
    free(s->program);
    free(s->build);
    free(s->shown);
    *s = (struct sb_ab_side){ 0 };
}

// Pairs -----------------------------------------------------------------------

int sb_ab_init(struct sb_ab *ab, const struct sb_ab_opts *o, unsigned planned,
    const struct sb_ab_side side[2])
{
    *ab = (struct sb_ab){ .side = side,
        .o = { o->confidence / 100, o->margin / 100, planned },
        .most = (unsigned)o->pairs,
        .resolution = { NAN, NAN, NAN } };
    sb_pairs_judge(ab->pair, 0, &ab->o, NULL, &ab->answer);
    return sb_pairs_design(&ab->o, &ab->levels);
}

void sb_ab_done(struct sb_ab *ab)
{
    sb_sequential_free(ab->levels);
    ab->levels = NULL;
}

// The deviation of a pair, from those of both kinds, and its degrees of
// freedom; NaN: unknown.
static double deviation(const struct sb_ab *ab, double *df)
{
    double sum = 0, squares = 0, n = ab->nsame;

    for (unsigned i = 0; i < ab->nsame; i++)
        sum += ab->same[i];
    for (unsigned i = 0; i < ab->nsame; i++)
        squares += (ab->same[i] - sum / n) * (ab->same[i] - sum / n);
    *df = n > 1 ? n - 1 : 0;
    if (isfinite(ab->answer.deviation)) {
        double more = ab->n - 2;

        squares += more * ab->answer.deviation * ab->answer.deviation;
        *df += more;
    }
    return sqrt(squares / *df);
}

// In an open loop, the throughput is given.
static struct sb_figure figure_of(const struct sb_result_run *r)
{
    bool open = r->report.open_loop;

    return (struct sb_figure){ "run", "", open ? "p95" : "throughput",
        open ? "ms" : "/s", open };
}

bool sb_ab_add(struct sb_ab *ab, const struct sb_result_run *a,
    const struct sb_result_run *b, bool same, bool b_first)
{
    struct sb_mean x = { .value = NAN }, y = x;
    double df, one;

    if (!ab->figure.name)
        ab->figure = figure_of(a);
    if (sb_result_run_mean(a, &ab->figure, &x) ||
        sb_result_run_mean(b, &ab->figure, &y) || !(x.value > 0) ||
        !(y.value > 0) || ab->n == SB_AB_PAIRS_MAX ||
        ab->nsame == SB_AB_PAIRS_MAX)
        return false;
    ab->last[0] = x.value;
    ab->last[1] = y.value;
    if (same) {
        ab->same[ab->nsame++] = log(y.value / x.value);
    } else {
        ab->pair[ab->n++] = (struct sb_pair){ x.value, y.value, b_first };
        sb_pairs_judge(ab->pair, ab->n, &ab->o, ab->levels, &ab->answer);
    }
    one = deviation(ab, &df);
    sb_pairs_resolve(one, df, &ab->o, ab->levels, &ab->resolution);
    return true;
}

bool sb_ab_is_known(const struct sb_ab *ab)
{
    return ab->answer.verdict != SB_PAIRS_UNKNOWN;
}

// Text ------------------------------------------------------------------------

static void print_percent(FILE *out, double share)
{
    fprintf(out, "%+.2f %%", 100 * share);
}

static const char *number(char *out, size_t size, double value)
{
    return sb_number_text(out, size, value);
}

void sb_ab_print_pair(const struct sb_ab *ab, bool same, FILE *out)
{
    const char *unit = ab->figure.less_is_better ? "ms" : "events/s";
    char a[32], b[32];

    if (same)
        fprintf(out, "A/A pair %u: %s and %s %s", ab->nsame,
            number(a, sizeof(a), ab->last[0]),
            number(b, sizeof(b), ab->last[1]), unit);
    else
        fprintf(out, "Pair %u of %u: %s %s, %s %s %s", ab->n, ab->most,
            ab->side[0].name, number(a, sizeof(a), ab->last[0]),
            ab->side[1].name, number(b, sizeof(b), ab->last[1]), unit);
    fprintf(out, ", ");
    print_percent(out, ab->last[1] / ab->last[0] - 1);
    if (!same && isfinite(ab->answer.low)) {
        fprintf(out, "; all pairs: ");
        print_percent(out, ab->answer.difference);
        fprintf(out, " (");
        print_percent(out, ab->answer.low);
        fprintf(out, " to ");
        print_percent(out, ab->answer.high);
        fprintf(out, ")");
    }
    fprintf(out, "\n");
}

// Two significant digits without an exponent: "110".
static const char *rough(char *out, size_t size, double share)
{
    snprintf(out, size, "%.1e", 100 * share);
    double rounded = strtod(out, NULL);

    snprintf(out, size, rounded < 100 ? "%.2g" : "%.0f", rounded);
    return out;
}

void sb_ab_print_resolution(const struct sb_ab *ab, FILE *out)
{
    const struct sb_pairs_resolution *r = &ab->resolution;
    char value[32], low[32], high[32];

    if (!isfinite(r->value))
        return;
    fprintf(out,
        "With %u pairs, this place shows differences from %s %% on (%s %% ",
        ab->o.planned, rough(value, sizeof(value), ab->o.margin + r->value),
        rough(low, sizeof(low), ab->o.margin + r->low));
    if (isfinite(r->high))
        fprintf(out, "to %s %%)",
            rough(high, sizeof(high), ab->o.margin + r->high));
    else
        fprintf(out, "or more)");
    if (r->value > ab->o.margin)
        fprintf(out,
            "; for a margin of %g %%, measure longer, or use more pairs",
            100 * ab->o.margin);
    fprintf(out, ".\n");
}

static void print_effect(
    const struct sb_pairs_effect *e, const char *what, FILE *out)
{
    // Two effects are looked at.
    if (!(e->p < 0.005))
        return;
    fprintf(out, "%s: ", what);
    print_percent(out, e->value);
    fprintf(out, " (p = %.2g).\n", e->p);
}

void sb_ab_print_end(const struct sb_ab *ab, FILE *out)
{
    const unsigned most = SB_AB_PAIRS_MAX + 1 - ab->n;
    char what[120];

    if (sb_ab_is_known(ab)) {
        fprintf(out, "The answer took %u of %u pairs.\n", ab->n, ab->most);
    } else if (isfinite(ab->answer.deviation)) {
        unsigned more = sb_pairs_more(
            &ab->answer, ab->n, &ab->o, ab->levels, most);

        if (more < most)
            fprintf(out,
                "The answer is not known after %u pairs. Some %u more are "
                "likely to give it: --pairs=%u --sweep-resume.\n",
                ab->n, more, ab->n + more);
        else
            fprintf(out,
                "The answer is not known after %u pairs, and %u are not likely "
                "to give it: measure longer. A difference that equals the "
                "margin "
                "is never known to be on one side of it.\n",
                ab->n, SB_AB_PAIRS_MAX);
    }
    print_effect(&ab->answer.order,
        "The second run of a pair differs from the first", out);
    snprintf(what, sizeof(what), "Runs after one of %s differ from others",
        ab->side[1].name);
    print_effect(&ab->answer.carry, what, out);
}

// JSON ------------------------------------------------------------------------

static json_t *effect_json(const struct sb_pairs_effect *e)
{
    return json_pack("{s:o,s:o}", "value", sb_json_number(e->value), "p",
        sb_json_number(e->p));
}

// The differences of the pairs, and those of the A/A pairs.
static json_t *differences_json(const struct sb_ab *ab, bool same)
{
    json_t *list = json_array();
    unsigned n = same ? ab->nsame : ab->n;

    for (unsigned i = 0; i < n; i++)
        json_array_append_new(list,
            sb_json_number(
                same ? expm1(ab->same[i]) : ab->pair[i].b / ab->pair[i].a - 1));
    return list;
}

json_t *sb_ab_json(const struct sb_ab *ab)
{
    static const char *const verdicts[] = { "unknown", "higher", "lower",
        "equivalent" };
    const struct sb_pairs_answer *a = &ab->answer;
    const struct sb_pairs_resolution *r = &ab->resolution;

    json_t *o = json_pack(
        "{s:o,s:o,s:i,s:i,s:i,s:f,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:o,s:o,"
        "s:o},s:o,s:o}",
        "a", sb_json_text(ab->side[0].name), "b",
        sb_json_text(ab->side[1].name), "planned", (int)ab->o.planned, "pairs",
        (int)ab->n, "aa", (int)ab->nsame, "margin", 100 * ab->o.margin,
        "figure", ab->figure.name ? ab->figure.figure : "", "verdict",
        verdicts[a->verdict], "difference", sb_json_number(a->difference),
        "low", sb_json_number(a->low), "high", sb_json_number(a->high),
        "deviation", sb_json_number(a->deviation), "order",
        effect_json(&a->order), "carry", effect_json(&a->carry), "resolution",
        "value", sb_json_number(r->value), "low", sb_json_number(r->low),
        "high", sb_json_number(r->high), "differences",
        differences_json(ab, false), "same", differences_json(ab, true));
    if (o && ab->side[0].build)
        json_object_set_new(o, "programs",
            json_pack("[o,o]", sb_json_text(ab->side[0].build),
                sb_json_text(ab->side[1].build)));
    return o;
}

int sb_ab_side_of(const json_t *ab, const json_t *run)
{
    const char *side = sb_result_member(json_object_get(run, "swept"), "side");

    if (strcmp(side, SB_AB_SAME) == 0 ||
        strcmp(side, sb_result_member(ab, "a")) == 0)
        return 0;
    return strcmp(side, sb_result_member(ab, "b")) == 0 ? 1 : -1;
}

void sb_ab_show(const json_t *ab, FILE *out)
{
    const json_t *programs = json_object_get(ab, "programs");
    const char *verdict = sb_result_member(ab, "verdict");
    const char *const word[] = { sb_result_member(ab, "figure"),
        sb_result_member(ab, "b"), sb_result_member(ab, "a") };
    bool known = strcmp(verdict, "higher") == 0 ||
                 strcmp(verdict, "lower") == 0;

    fprintf(out,
        "\n%.0f pairs after %.0f A/A pairs: ", sb__json_number_of(ab, "pairs"),
        sb__json_number_of(ab, "aa"));
    for (int i = 0; i < 3; i++) {
        sb__cmd_print_line(out, word[i]);
        fputs(i == 0 ? " of " : i == 1 ? " over that of " : " ", out);
    }
    print_percent(out, sb__json_number_of(ab, "difference"));
    fprintf(out, " (");
    print_percent(out, sb__json_number_of(ab, "low"));
    fprintf(out, " to ");
    print_percent(out, sb__json_number_of(ab, "high"));
    if (known)
        fprintf(out, "), %s by more than the margin of %g %%\n", verdict,
            sb__json_number_of(ab, "margin"));
    else if (strcmp(verdict, "equivalent") == 0)
        fprintf(out, "), equivalent within the margin of %g %%\n",
            sb__json_number_of(ab, "margin"));
    else
        fprintf(out, "), inconclusive with the margin of %g %%\n",
            sb__json_number_of(ab, "margin"));
    for (int i = 0; i < 2 && json_array_size(programs) == 2; i++) {
        const char *text = json_string_value(
            json_array_get(programs, (size_t)i));

        sb__cmd_print_line(out, word[2 - i]);
        fputs(": ", out);
        sb__cmd_print_line(out, text ? text : "");
        fputs("\n", out);
    }
}
