// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/document.h"

#include <inttypes.h>

#include "out/json_parts.h"

static void write_member(FILE *out, const char *name, json_t *value)
{
    fprintf(out, "\"%s\":", name);
    if (!value || json_dumpf(value, out, SB_JSON_FLAGS))
        fputs("null", out);
}

// Writes the members of an object, one per line, each followed by a comma.
static void write_members(FILE *out, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        write_member(out, name, value);
        fputs(",\n", out);
    }
}

void sb_document_begin(FILE *out, json_t *program)
{
    fprintf(out, "{\"format\":\"sysbench-result\",\n\"version\":%d,\n",
        SB_RESULT_VERSION);
    write_member(out, "program", program);
    fputs(",\n\"runs\":[", out);
}

static int write_rows(
    FILE *out, const struct sb_document_run *run, struct sb_err *err)
{
    int rc;

    fputs("\"intervals\":{\"rows\":[\n", out);
    rc = run->rows(run->arg, out, err);
    fputs("],\n", out);
    if (run->columns)
        write_member(out, "columns", run->columns);
    else
        fputs("\"columns\":[]", out);
    if (run->missing)
        fprintf(out, ",\n\"missing\":%" PRIu64, run->missing);
    fputs("},\n\"histograms\":{\"octave\":4,\"rows\":[\n", out);
    if (rc == 0)
        rc = run->heat(run->arg, out, err);
    fputs("]},\n", out);
    return rc;
}

int sb_document_run(FILE *out, const struct sb_document_run *run, bool first,
    struct sb_err *err)
{
    int rc;

    fputs(first ? "{\n" : ",\n{\n", out);
    write_members(out, run->facts);
    rc = write_rows(out, run, err);
    write_members(out, run->totals);
    if (run->marks) {
        write_member(out, "marks", run->marks);
        fputs(",\n", out);
    }
    if (run->limits) {
        write_member(out, "limits", run->limits);
        fputs(",\n", out);
    }
    write_member(out, "end", run->end);
    fputs("}", out);
    if (rc == 0 && (!run->facts || !run->end))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    return rc;
}

void sb_document_end(FILE *out)
{
    fputs("]}\n", out);
}
