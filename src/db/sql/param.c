// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parameters of prepared statements. They may outlive the statement that they
// were created for.
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "db/sql/sql.h"

#define GROWTH_LEAST 64u

struct param {
    struct sb_param pub; // first: the handle Lua holds
    unsigned refs;       // its creator and the statements it is bound to
    bool grows;          // no maximum length was declared
    struct sb_drivers *owner;
};

struct sb_param *sb__param_new(
    struct sb_drivers *owner, int type, uint64_t max_len, struct sb_err *err)
{
    bool buffer = type >= SB_SQL_TYPE_TIME;
    struct param *p;

    if (type <= SB_SQL_TYPE_NONE || type > SB_SQL_TYPE_BLOB) {
        sb_err_set(err, SB_EUSAGE, "invalid parameter type %d", type);
        return NULL;
    }
    if (buffer && max_len >= UINT32_MAX) {
        sb_err_set(err, SB_EUSAGE,
            "the maximum length of a parameter is %u bytes", UINT32_MAX - 1);
        return NULL;
    }
    p = calloc(1, sizeof(*p));
    if (p && buffer)
        p->pub.buffer = malloc(max_len + 1);
    if (!p || (buffer && !p->pub.buffer)) {
        free(p);
        sb_err_set(err, SB_ENOMEM, "out of memory");
        return NULL;
    }
    p->pub.type = type;
    p->pub.is_null = 1;
    p->pub.max_len = buffer ? max_len : 0;
    p->grows = buffer && max_len == 0;
    p->refs = 1;
    p->owner = owner;
    return &p->pub;
}

struct sb_param *sb__param_keep(struct sb_param *param)
{
    struct param *p = (struct param *)param;

    assert(p->refs > 0);
    p->refs++;
    return param;
}

void sb_param_free(struct sb_param *param)
{
    struct param *p = (struct param *)param;

    assert(!p || p->refs > 0);
    if (!p || --p->refs > 0)
        return;
    free(p->pub.buffer);
    free(p);
}

// Scripts cut texts in many parameters and users: one warning is enough.
static void warn_cut(struct param *p, uint64_t len)
{
    if (!atomic_exchange_explicit(&p->owner->cut, true, memory_order_relaxed))
        sb_log(SB_LOG_WARNING,
            "a text of %" PRIu64 " bytes was cut to %" PRIu64
            ", the length that the script declares with stmt:bind_create(); "
            "without a length, it is sent whole",
            len, p->pub.max_len);
}

int64_t sb_param_room(struct sb_param *param, uint64_t len)
{
    struct param *p = (struct param *)param;
    uint64_t size = 2 * p->pub.max_len;
    char *grown;

    if (len > p->pub.max_len && !p->grows)
        warn_cut(p, len);
    if (len <= p->pub.max_len || !p->grows)
        return (int64_t)(len < p->pub.max_len ? len : p->pub.max_len);
    if (len >= UINT32_MAX)
        return -1;
    size = size < GROWTH_LEAST ? GROWTH_LEAST : size;
    size = size < len ? len : size;
    grown = realloc(p->pub.buffer, size + 1);
    if (!grown)
        return -1;
    p->pub.buffer = grown;
    p->pub.max_len = size;
    return (int64_t)len;
}

void sb__params_counted(char *out, size_t size, size_t n, unsigned marks)
{
    snprintf(out, size,
        "%zu parameter%s bound, but the statement has %u placeholder%s", n,
        n == 1 ? "" : "s", marks, marks == 1 ? "" : "s");
}

int sb__params_check(struct sb_param *const *params, size_t n, unsigned marks,
    const char *sql, struct sb_err *err)
{
    char text[120];

    if (n != marks) {
        sb__params_counted(text, sizeof(text), n, marks);
        return sb_err_set(err, SB_EUSAGE, "%s: '%.200s'", text, sql);
    }
    for (size_t i = 0; i < n; i++) {
        if (!params[i])
            return sb_err_set(err, SB_EUSAGE,
                "parameter %zu of '%.200s' is missing", i + 1, sql);
    }
    return 0;
}

int sb__value_check(
    const struct sb_driver *drv, const struct sb_value *v, struct sb_err *err)
{
    if (!sb__value_is_special(v))
        return 0;
    if (v->type == SB_VALUE_UINT)
        return drv->caps & SB_CAP_UNSIGNED
                   ? 0
                   : sb_err_set(err, SB_ERANGE,
                         "%" PRIu64 " is out of range: the %s driver does not "
                         "support unsigned 64-bit integers",
                         v->u, drv->name);
    if (drv->caps & (isnan(v->d) ? SB_CAP_NAN : SB_CAP_INFINITY))
        return 0;
    return sb_err_set(err, SB_ERANGE,
        "%s is out of range: the %s driver cannot store it",
        isnan(v->d) ? "NaN"
        : v->d < 0  ? "-Infinity"
                    : "Infinity",
        drv->name);
}
