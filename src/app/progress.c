// SPDX-License-Identifier: GPL-2.0-or-later
//
// --progress: whether there is a line of progress, and the line.
#include <assert.h>
#include <unistd.h>

#include "app/private.h"
#include "base/log.h"

// --progress is on by default if no interval lines show how the run is going.
bool sb__app_has_progress(const struct sb_app *a)
{
    if (sb_log_level() < SB_LOG_NOTICE || !a->report_opts.progress ||
        !isatty(STDERR_FILENO))
        return false;
    return a->run.report_interval == 0 ||
           sb_opts_given(a->opts, "progress", false);
}

void sb__app_show_progress(const struct sb_app *a, const char *line)
{
    assert(a->place <= a->places); // both are 0 without a sweep
    if (a->places)
        sb_log_progress("run %u/%u, %s", a->place, a->places, line);
    else
        sb_log_progress("%s", line);
}
