// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "out/context.h"

// Returns what is printed for a run; the caller frees it.
static char *printed(const char *json)
{
    json_t *run = json_loads(json, 0, NULL);
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    CHECK(run != NULL);
    sb_context_print(run, out);
    fclose(out);
    json_decref(run);
    return text;
}

static void check_printed(const char *json, const char *want)
{
    char *got = printed(json);

    CHECK_STR(got, want);
    free(got);
}

static void everything(void)
{
    check_printed(
        "{\"test\": \"oltp_read_only\", \"started\": \"2026-11-22T11:50:00Z\","
        " \"seed\": \"12\", \"labels\": {\"disk\": \"nvme\"},"
        " \"host\": {\"name\": \"load1\", \"cpu\": \"Xeon\","
        "  \"processors\": 2, \"memory_bytes\": 25165824000,"
        "  \"kernel\": \"Linux 6.1\","
        "  \"container\": {\"cpus\": 1, \"memory_bytes\": 536870912}},"
        " \"databases\": [{\"driver\": \"pgsql\", \"client\": \"libpq 15\","
        "  \"server\": \"PostgreSQL 15.8\", \"address\": \"10.0.0.1:5432\","
        "  \"bypass\": true,"
        "  \"settings\": {\"shared_buffers\": \"128MB\", \"fsync\": \"on\"}}]}",
        "Context:\n"
        "    workload:                            oltp_read_only\n"
        "    started:                             2026-11-22T11:50:00Z\n"
        "    seed:                                12\n"
        "    label disk:                          nvme\n"
        "    host:                                load1\n"
        "    processor:                           Xeon\n"
        "    machine:                             2 processors, 23.44 GiB of "
        "memory\n"
        "    limits of the container:             1 processor, 0.5 GiB of "
        "memory\n"
        "    system:                              Linux 6.1\n"
        "\n"
        "Server:\n"
        "    name:                                PostgreSQL 15.8\n"
        "    address:                             10.0.0.1:5432\n"
        "    driver:                              pgsql\n"
        "    client library:                      libpq 15\n"
        "    statements:                          sent without the client "
        "library\n"
        "    settings:\n"
        "        shared_buffers:                  128MB\n"
        "        fsync:                           on\n"
        "\n");
}

static void missing_members(void)
{
    check_printed("{}", "Context:\n\n");
    check_printed("{\"test\": null, \"labels\": {}, \"host\": {\"name\": \"\","
                  " \"processors\": 0, \"container\": {\"cpus\": null}},"
                  " \"databases\": []}",
        "Context:\n\n");
    check_printed("{\"databases\": [{\"driver\": \"mysql\", \"server\": \"\","
                  " \"bypass\": false, \"settings\": {}}, {\"server\": \"S\","
                  " \"bypass\": false}]}",
        "Context:\n"
        "\n"
        "Server:\n"
        "    name:                                unknown: it did not answer\n"
        "    driver:                              mysql\n"
        "\n"
        "Server:\n"
        "    name:                                S\n"
        "    statements:                          sent by the client library\n"
        "\n");
}

// Control characters would write to the terminal of the reader.
static void texts_stay_on_their_lines(void)
{
    check_printed("{\"test\": \"a\\nb\\u001b[1m\","
                  " \"labels\": {\"x\\ny\": \"1\"}}",
        "Context:\n"
        "    workload:                            a b\\x1b[1m\n"
        "    label x y:                           1\n"
        "\n");
    check_printed("{\"labels\": {\"a_name_that_is_longer_than_the_column_is\":"
                  " \"1\"}}",
        "Context:\n"
        "    label a_name_that_is_longer_than_the_column_is: 1\n"
        "\n");
}

int main(void)
{
    RUN(everything);
    RUN(missing_members);
    RUN(texts_stay_on_their_lines);
    return check_done();
}
