// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"
#include "cmd/cmd_private.h"
#include "out/json_parts.h"

int sb__cmd_read(struct sb_result_file *f, const char *path)
{
    struct sb_err err = { 0 };

    if (sb_result_read(f, path, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        return err.code;
    }
    if (f->version > SB_RESULT_VERSION)
        sb_log(SB_LOG_WARNING,
            "%s is a result file of version %d; this program reads version %d "
            "and ignores what is new",
            path, f->version, SB_RESULT_VERSION);
    return 0;
}
