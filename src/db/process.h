// SPDX-License-Identifier: GPL-2.0-or-later
//
// --server-pid: processor time, memory and disk I/O of a local server process,
// as counters.
#ifndef SB_DB_PROCESS_H
#define SB_DB_PROCESS_H

#include "base/procstat.h"
#include "db/driver.h"

struct sb__process {
    int64_t pid;    // 0: none, or not found yet
    bool automatic; // "auto": the process that listens at the first server
    bool warned;    // about what cannot be read
    uint64_t start_ticks; // of the process, 0: not read yet
};

// Parses the value: "" for none, "auto", a pid. 0 or SB_EUSAGE, also if the
// process does not exist.
int sb__process_init(
    struct sb__process *p, const char *text, struct sb_err *err);
// For "auto": looks for the process. address: of the first server, "" if that
// is not known yet. Logs a warning if there is no such process, and gives up.
void sb__process_find(struct sb__process *p, const char *address);
// Passes process.cpu, .rss, .read_bytes and .write_bytes, as far as they can be
// read, to take(). If the process has ended, this is logged once.
void sb__process_sample(struct sb__process *p,
    void (*take)(void *arg, const struct sb_counter *c), void *arg);

#endif
