// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values and members of JSON: what the parts of result files are made of.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "out/json_value.h"

json_t *sb_json_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();

    if (value)
        return value;
    // Not UTF-8: such bytes become \xNN.
    size_t size = 4 * strlen(text) + 1;
    char *clean = malloc(size);
    if (!clean)
        return NULL;
    sb_escape(clean, size, text);
    value = json_string(clean);
    free(clean);
    return value;
}

json_t *sb_json_count(uint64_t n)
{
    char text[24];

    if (n <= UINT64_C(1) << 53)
        return json_integer((json_int_t)n);
    snprintf(text, sizeof(text), "%" PRIu64, n);
    return json_string(text);
}

json_t *sb_json_number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 9e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}

bool sb__json_set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

bool sb__json_set_text(json_t *object, const char *name, const char *text)
{
    return sb__json_set(object, name, sb_json_text(text));
}

bool sb__json_set_count(json_t *object, const char *name, uint64_t n)
{
    return sb__json_set(object, name, sb_json_count(n));
}

json_t *sb__json_complete(json_t *object, bool ok)
{
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

bool sb__json_append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0;
}

bool sb__json_is_count(const json_t *value, uint64_t *n)
{
    const char *text = json_string_value(value);
    char *end;

    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *n = (uint64_t)json_integer_value(value);
        return true;
    }
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *n = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

const char *sb__json_text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

double sb__json_number_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *sb_number_text(char *out, size_t size, double value)
{
    if (!isfinite(value))
        snprintf(out, size, "-");
    else if (fabs(value) >= 1000)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.4g", value);
    return out;
}
