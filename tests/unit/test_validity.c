// SPDX-License-Identifier: GPL-2.0-or-later
// Not with tsan: one thread.
#include "out/validity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void say(struct sb_validity *v, enum sb_check_id id,
    enum sb_validity_state state, const char *meaning, const char *advice)
{
    struct sb_check *c = sb_validity_make(v, id, state);

    snprintf(c->meaning, sizeof(c->meaning), "%s", meaning);
    snprintf(c->advice, sizeof(c->advice), "%s", advice);
}

static void names(void)
{
    for (int i = 0; i < SB_CHECKS; i++) {
        const char *name = sb_check_name(i);

        CHECK_INT(sb_check_named(name, strlen(name)), i);
    }
    CHECK_INT(sb_check_named("steadyx", 6), SB_CHECK_STEADY);
    CHECK_INT(sb_check_named("steadyx", 7), SB_CHECKS);
    CHECK_INT(sb_check_named("", 0), SB_CHECKS);
    for (int i = 0; i < SB_VALIDITY_STATES; i++)
        CHECK_INT(sb_validity_named(sb_validity_name(i)), i);
    CHECK_INT(sb_validity_named("Ok"), SB_VALIDITY_STATES);
}

static void the_worst_state_counts(void)
{
    struct sb_validity v = { 0 };

    CHECK_INT(sb_validity_worst(&v), SB_VALIDITY_OK);
    CHECK_INT(sb_validity_known(&v), 0);
    say(&v, SB_CHECK_CLIENT, SB_VALIDITY_UNKNOWN, "why", "");
    say(&v, SB_CHECK_MISSES, SB_VALIDITY_NOT_APPLICABLE, "why", "");
    CHECK_INT(sb_validity_worst(&v), SB_VALIDITY_OK);
    CHECK_INT(sb_validity_known(&v), 0);
    say(&v, SB_CHECK_STEADY, SB_VALIDITY_OK, "", "");
    say(&v, SB_CHECK_SAMPLES, SB_VALIDITY_DOUBTFUL, "", "");
    CHECK_INT(sb_validity_worst(&v), SB_VALIDITY_DOUBTFUL);
    say(&v, SB_CHECK_ERRORS, SB_VALIDITY_BAD, "", "");
    CHECK_INT(sb_validity_worst(&v), SB_VALIDITY_BAD);
    CHECK_INT(sb_validity_known(&v), 3);
}

static void the_line_has_what_is_doubted(void)
{
    struct sb_validity v = { 0 };
    char line[200], cut[20];

    say(&v, SB_CHECK_STEADY, SB_VALIDITY_OK, "fine", "");
    say(&v, SB_CHECK_CLIENT, SB_VALIDITY_UNKNOWN, "why", "");
    CHECK(!sb_validity_line(&v, line, sizeof(line)));
    CHECK_STR(line, "");
    say(&v, SB_CHECK_SAMPLES, SB_VALIDITY_DOUBTFUL, "few", "more");
    say(&v, SB_CHECK_ERRORS, SB_VALIDITY_BAD, "many", "");
    say(&v, SB_CHECK_MISSES, SB_VALIDITY_BAD, "said before", "");
    v.check[SB_CHECK_MISSES].told = true;
    CHECK(sb_validity_line(&v, line, sizeof(line)));
    CHECK_STR(line, "errors is bad: many; samples is doubtful: few");
    CHECK(sb_validity_line(&v, cut, sizeof(cut)));
    CHECK_STR(cut, "errors is bad: many");
}

static void example(struct sb_validity *v)
{
    *v = (struct sb_validity){ 0 };
    say(v, SB_CHECK_STEADY, SB_VALIDITY_DOUBTFUL, "it fell", "measure longer");
    v->check[SB_CHECK_STEADY].value = 7.5;
    v->check[SB_CHECK_STEADY].unit = "%";
    say(v, SB_CHECK_CLIENT, SB_VALIDITY_NOT_APPLICABLE, "no server", "");
    v->npercentiles = 2;
    v->percentile[0] = (struct sb_percentile){ 99, 8, NAN, NAN, 3, true };
    v->percentile[1] = (struct sb_percentile){ 95, 5, 4.5, 5.5, 50, false };
}

static void text(void)
{
    struct sb_validity v;
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    example(&v);
    sb_validity_text(&v, out);
    fclose(out);
    CHECK_STR(got, "Validity: doubtful (1 check known)\n"
                   "    steady      doubtful  it fell\n"
                   "                          measure longer\n"
                   "    client      n/a       no server\n\n");
    free(got);
}

static void json(void)
{
    struct sb_validity v, again;
    json_t *o, *list;
    double value;
    int known;

    example(&v);
    o = sb_validity_json(&v);
    list = json_object_get(o, "percentiles");
    CHECK_INT(json_array_size(list), 2);
    CHECK(json_is_null(json_object_get(json_array_get(list, 0), "low")));
    CHECK_INT(json_unpack(json_array_get(list, 1), "{s:f}", "high", &value), 0);
    CHECK_NEAR(value, 5.5, 1e-12);
    CHECK_INT(json_unpack(o, "{s:i}", "known", &known), 0);
    CHECK_INT(known, 1);
    // Of a later version.
    json_array_append_new(json_object_get(o, "checks"),
        json_pack("{s:s,s:s}", "name", "steady", "state", "splendid"));
    json_array_append_new(json_object_get(o, "checks"),
        json_pack("{s:s,s:s}", "name", "weather", "state", "bad"));
    sb_validity_read(&again, o);
    CHECK_INT(sb_validity_worst(&again), SB_VALIDITY_DOUBTFUL);
    CHECK_INT(sb_validity_known(&again), 1);
    CHECK_NEAR(again.check[SB_CHECK_STEADY].value, 7.5, 1e-12);
    CHECK_STR(again.check[SB_CHECK_STEADY].unit, "%");
    CHECK_STR(again.check[SB_CHECK_STEADY].meaning, "it fell");
    CHECK_STR(again.check[SB_CHECK_STEADY].advice, "measure longer");
    CHECK(isnan(again.check[SB_CHECK_CLIENT].value));
    CHECK(!again.check[SB_CHECK_ERRORS].made);
    json_decref(o);
    sb_validity_read(&again, NULL);
    CHECK_INT(sb_validity_known(&again), 0);
}

static void runs_together(void)
{
    struct sb_validity all = { 0 }, a = { 0 }, b = { 0 };

    say(&a, SB_CHECK_STEADY, SB_VALIDITY_OK, "it was", "");
    say(&a, SB_CHECK_CLIENT, SB_VALIDITY_NOT_APPLICABLE, "no server", "");
    say(&a, SB_CHECK_ERRORS, SB_VALIDITY_UNKNOWN, "lost", "");
    say(&a, SB_CHECK_CACHED, SB_VALIDITY_BAD, "cold", "warm");
    say(&b, SB_CHECK_STEADY, SB_VALIDITY_DOUBTFUL, "it fell", "wait");
    say(&b, SB_CHECK_CLIENT, SB_VALIDITY_OK, "idle", "");
    say(&b, SB_CHECK_ERRORS, SB_VALIDITY_OK, "none", "");
    say(&b, SB_CHECK_CACHED, SB_VALIDITY_DOUBTFUL, "cool", "");
    b.check[SB_CHECK_CENSORED] = b.check[SB_CHECK_CLIENT];
    b.check[SB_CHECK_CENSORED].value = 3;
    a.npercentiles = 1;
    sb_validity_add(&all, &a, 1);
    sb_validity_add(&all, &b, 2);
    CHECK_STR(all.check[SB_CHECK_STEADY].meaning, "run 2: it fell");
    CHECK_STR(all.check[SB_CHECK_STEADY].advice, "wait");
    CHECK_STR(all.check[SB_CHECK_CLIENT].meaning, "idle");
    CHECK_STR(all.check[SB_CHECK_ERRORS].meaning, "run 1: lost");
    CHECK_STR(all.check[SB_CHECK_CACHED].meaning, "run 1: cold");
    CHECK(!all.check[SB_CHECK_DEBT].made);
    CHECK_INT(sb_validity_worst(&all), SB_VALIDITY_BAD);
    CHECK_INT(all.npercentiles, 0);
    CHECK(sb_validity_censored(&all) == 3);
    CHECK(sb_validity_censored(&a) == 0);
    // Each share of unknown times counts, not only that of the first run.
    b.check[SB_CHECK_CENSORED].value = 4;
    sb_validity_add(&all, &b, 3);
    CHECK(sb_validity_censored(&all) == 4);
    b.check[SB_CHECK_CENSORED].value = 2;
    sb_validity_add(&all, &b, 4);
    CHECK(sb_validity_censored(&all) == 4);
}

CHECK_FILE
{
    RUN(runs_together);
    RUN(names);
    RUN(the_worst_state_counts);
    RUN(the_line_has_what_is_doubted);
    RUN(text);
    RUN(json);
    return check_done();
}
