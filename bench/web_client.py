#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches what the page of --report=web fetches, and /metrics, once per second
until the run has ended. The argument is a file with the run's stderr. Prints how
often it fetched."""
import http.client
import json
import re
import sys
import time


def address(path):
    for _ in range(600):
        with open(path, encoding="utf-8") as f:
            found = re.search(r"Live view: http://(.*)/", f.read())
        if found:
            return found.group(1)
        time.sleep(0.05)
    sys.exit("no live view")


def main():
    page = http.client.HTTPConnection(address(sys.argv[1]), timeout=60)
    other = http.client.HTTPConnection(page.host, page.port, timeout=60)

    def get(connection, path):
        connection.request("GET", path)
        return connection.getresponse().read()

    count = 0
    get(page, "/")
    rows = len(json.loads(get(page, "/result.json"))["runs"][0]["intervals"][
        "rows"])
    try:
        while True:
            time.sleep(1)
            more = json.loads(get(page, "/intervals.json?from=%d" % rows))
            if more["end"]:
                get(page, "/result.json")
                break
            get(other, "/metrics")
            rows += len(more["rows"])
            count += 1
    except OSError:
        pass
    print(count)


main()
