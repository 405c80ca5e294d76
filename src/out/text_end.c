// SPDX-License-Identifier: GPL-2.0-or-later
//
// The last line of the report of a run that ended early or late.
#include <string.h>

#include "base/escape.h"
#include "base/log.h"
#include "out/facts.h"
#include "out/text_private.h"

void sb_text_end(struct sb_text *t, const struct sb_outcome *o,
    const struct sb_text_times *times)
{
    bool interrupted = strcmp(o->reason, "signal") == 0;
    char why[1024] = "", of[40] = "";

    if (t->none || t->o.verbosity < SB_LOG_NOTICE)
        return;
    if (times->planned > times->seconds)
        snprintf(of, sizeof(of), " of %g", times->planned);
    if (o->limit)
        sb_escape_line(why, sizeof(why), o->limit);
    if (interrupted && times->warmup)
        fprintf(t->out, "The run was interrupted during its warm-up\n\n");
    else if (interrupted)
        fprintf(t->out, "The run was interrupted after %.1f%s s\n\n",
            times->seconds, of);
    else if (o->limit)
        fprintf(t->out, "The run ended after %.1f%s s: %s\n\n", times->seconds,
            of, why);
    else if (o->overrun > 0)
        fprintf(t->out,
            "The run took %.1f s longer than --time: users were still "
            "busy\n\n",
            o->overrun);
    fflush(t->out);
}
