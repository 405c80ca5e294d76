// SPDX-License-Identifier: GPL-2.0-or-later
//
// Result files may come from anywhere: whatever is in them, they are read or
// rejected with a message.
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "out/result_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/fuzz-result-XXXXXX";
    struct sb_result_file f;
    struct sb_err err = { 0 };
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    if (sb_result_read(&f, path, &err) == 0) {
        for (unsigned i = 0; i < f.nruns; i++)
            if (f.run[i].has_totals)
                sb_report_percentile(&f.run[i].report, 95);
    } else if (!err.msg[0]) {
        abort();
    }
    sb_result_done(&f);
    unlink(path);
    return 0;
}
