#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks of bench/soak on one run, whose files are in the folder DIR. Prints one
line for each violation.

    soak_check.py minute DIR PID MINUTE
    soak_check.py end DIR PID MINUTE [ROWS]   ROWS: that the workload ins has added
    soak_check.py table DIR NAME VIOLATIONS   a line of the table, of all parts
"""
import base64
import csv
import glob
import json
import os
import re
import sys
import urllib.request
import xml.dom.minidom
import zlib

COUNTS = ("events", "failed", "errors", "restarts", "reconnects", "reads",
          "writes", "others", "scheduled")
TOTALS = {"events": "completed"}


class Run:
    """What earlier checks have found is in check.json."""

    def __init__(self, path):
        self.path = path
        self.kept = {"offset": {}, "nd": dict.fromkeys(COUNTS, 0), "csv":
                     dict.fromkeys(COUNTS, 0), "hdr": 0, "hdr_rows": 0, "mix": 0,
                     "time": 0, "rows": 0, "buckets": 0, "samples": [], "differs": {},
                     "told": []}
        if os.path.exists(path + "/check.json"):
            with open(path + "/check.json", encoding="utf-8") as f:
                self.kept = json.load(f)

    def save(self):
        with open(self.path + "/check.json", "w", encoding="utf-8") as f:
            json.dump(self.kept, f)

    def lines(self, name):
        """The complete lines that were written since the last call."""
        offset = self.kept["offset"].get(name, 0)
        with open(f"{self.path}/{name}", "rb") as f:
            f.seek(offset)
            text = f.read()
        text = text[:text.rfind(b"\n") + 1]
        self.kept["offset"][name] = offset + len(text)
        return text.decode().splitlines()

    def once(self, what, text):
        if what not in self.kept["told"]:
            self.kept["told"].append(what)
            bad(what, text)

    def follows(self, at, has, name, wanted):
        """For figures of a moment that are read one after the other: they may
        differ for a moment, but not in ten checks in a row."""
        differs = self.kept["differs"]
        differs[name] = differs.get(name, 0) + 1 if abs(has - wanted) > 8 else 0
        if differs[name] == 10:
            bad(at, f"{has} {name} instead of {wanted} ({has - wanted:+})")


def bad(what, text):
    print(f"{what}: {text}")


def same(what, has, name, wanted):
    if has != wanted:
        bad(what, f"{has} {name} instead of {wanted} ({has - wanted:+})")


def add(sums, row):
    for name in COUNTS:
        sums[name] += int(row[name])


def histogram_count(text):
    data = zlib.decompress(base64.b64decode(text)[8:])
    count = at = 0
    data = data[40:]
    while at < len(data):
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte if shift == 56 else byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 56:
                break
        value = (value >> 1) ^ -(value & 1)
        count += max(value, 0)
    return count


def read_ndjson(run, cumulated):
    """Adds the new intervals; cumulated has the sums by the end of each."""
    kept = run.kept
    for line in run.lines("r.nd"):
        row = json.loads(line)
        if row["line"] == "end":
            return row
        if row["line"] != "interval":
            continue
        at = f"r.nd, interval at {row['time']} s"
        if abs(row["time"] - row["seconds"] - kept["time"]) > 1e-5 * row["time"]:
            bad(at, f"is {row['seconds']} s long, but begins at {kept['time']} s")
        kept["time"] = row["time"]
        kept["stage"] = row.get("stage", 0)
        kept["rows"] += 1
        add(kept["nd"], row)
        kept["mix"] += sum(row.get("operation", {}).get(w, {}).get("count", 0)
                           for w in ("rw", "ins"))
        nd = kept["nd"]
        run.follows(at, nd["events"] + nd["failed"] + row["queue"] +
                    row["concurrency"], "completed, failed, queued or in progress",
                    nd["scheduled"])
        run.follows(at, kept["mix"], "events of all workloads", nd["events"])
        cumulated.append((row["time"], dict(nd)))
    return None


def read_csv(run):
    names = None
    for row in csv.reader(run.lines("r.csv")):
        if row[0] == "time":
            run.kept["names"] = row
            continue
        names = names or run.kept["names"]
        if row[2] == "run":
            add(run.kept["csv"], dict(zip(names, row)))


def read_hdr(run, cumulated):
    kept = run.kept
    first = kept["rows"] - len(cumulated)
    for line in run.lines("r.hdr"):
        if not re.match(r"[0-9]", line):
            continue
        kept["hdr"] += histogram_count(line.rsplit(",", 1)[1])
        kept["hdr_rows"] += 1
        if first < kept["hdr_rows"] <= kept["rows"]:
            time, sums = cumulated[kept["hdr_rows"] - first - 1]
            run.follows(f"r.hdr, interval at {time} s", kept["hdr"],
                        "latencies in the log", sums["events"])


def read_files(run, cumulated):
    end = read_ndjson(run, cumulated)
    read_csv(run)
    read_hdr(run, cumulated)
    return end


def process(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        status = dict(line.split(":", 1) for line in f)
    return {"rss": int(status["VmRSS"].split()[0]),
            "threads": int(status["Threads"]),
            "descriptors": len(os.listdir(f"/proc/{pid}/fd"))}


KB_PER_BUCKET = 0.5


def growth(a, b):
    """KB of memory, without that for new buckets of the totals: /result.json
    makes a JSON value of each, and the C library keeps the memory."""
    return b["rss"] - a["rss"] - KB_PER_BUCKET * (b["buckets"] - a["buckets"])


def check_process(run, pid, minute):
    """The users are as many as they will ever be, and most faults were there, in
    the warm-up: 8 minutes, or a third of the time that --time says. What a run
    then uses is bounded by what it used in the warm-up. Its memory may grow as
    long as histograms meet new values, which becomes rarer: in the last half of
    the time not by more than in the quarter before and 8 MB, and 8 MB for the
    histograms of each stage that has begun meanwhile."""
    samples = run.kept["samples"]
    samples.append(dict(process(pid), stage=run.kept.get("stage", 0),
                        buckets=run.kept["buckets"]))
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
        seconds = float(re.search("--time=([0-9.]+)", f.read()).group(1))
    warm, n = int(min(8, max(seconds / 3 / minute, 1))), len(samples)
    for name, more in (("threads", 2), ("descriptors", 4)):
        bound = max(s[name] for s in samples[:warm]) + more
        if n > warm and samples[-1][name] > bound:
            run.once(name, f"{samples[-1][name]} after {n} minutes; at most"
                     f" {bound} are allowed")
    if n < 8:
        return
    before, half, now = samples[n // 4 - 1], samples[n // 2 - 1], samples[-1]
    more, earlier = growth(half, now), growth(before, half)
    if more > max(earlier, 0) + 8192 * (1 + now["stage"] - half["stage"]):
        run.once("memory", f"{now['rss']} KB after {n} minutes: {more:.0f} KB more"
                 f" than after {n // 2}, which was {earlier:.0f} KB more than after"
                 f" {n // 4}, without {KB_PER_BUCKET} KB for each bucket")


def fetch(address, path):
    with urllib.request.urlopen(address + path, timeout=50) as answer:
        return answer.read().decode()


def check_live(run, cumulated):
    """The figures of /metrics are those of the rows up to the same interval."""
    with open(run.path + "/err", encoding="utf-8") as f:
        address = re.search("Live view: (http://.*/)", f.read()).group(1)
    total = {}
    for line in fetch(address, "metrics").splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            name = name.split("{")[0]
            total[name] = total.get(name, 0) + float(value)
    try:
        result = json.loads(fetch(address, "result.json"))["runs"][0]
        run.kept["buckets"] = sum(
            len(o["latency"]["histogram"]) for o in result["operations"])
    except (ValueError, KeyError):
        bad("live view", "/result.json is not complete")
    rows = [sums for time, sums in cumulated
            if abs(time - total["sysbench_elapsed_seconds"]) < 1e-3]
    if not rows:
        return
    for name, figure in (("events", "events"), ("failed", "failed_events"),
                         ("scheduled", "scheduled_events"), ("errors", "errors"),
                         ("restarts", "restarts"), ("reconnects", "reconnects")):
        same("/metrics", int(total.get(f"sysbench_{figure}_total", 0)), name,
             rows[0][name])
    run.follows("/metrics", int(total["sysbench_latency_seconds_count"]),
                "latencies in /metrics", rows[0]["events"])


def check_minute(path, pid, minute):
    run, cumulated = Run(path), []
    read_files(run, cumulated)
    check_live(run, cumulated)
    check_process(run, pid, minute)
    if not any(sums["events"] for _, sums in cumulated) or \
            cumulated[0][1]["events"] == cumulated[-1][1]["events"]:
        bad("progress", f"no events in a minute, before {run.kept['time']} s")
    run.save()


def check_identities(c):
    same("totals", c["started"] + c["skipped"] + c["queue"],
         "started, skipped or pending", c["scheduled"])
    same("totals", c["completed"] + c["failed"] + c["unfinished"],
         "completed, failed or unfinished", c["started"])
    same("totals", c["started"] + c["restarts"], "started or restarted",
         c["tries"])


def check_files(run, end, result):
    c = result["counters"]
    check_identities(c)
    with open(run.path + "/r.html", encoding="utf-8") as f:
        page = re.search('class="result"[^>]*>(.*?)</script>', f.read(), re.S)
    if json.loads(page.group(1))["runs"][0]["counters"] != c:
        bad("r.html", "the totals are not those of r.json")
    if end["counters"] != c:
        bad("r.nd", "the totals are not those of r.json")
    for what, sums in (("r.nd", run.kept["nd"]), ("r.csv", run.kept["csv"])):
        for name in COUNTS[:1] + COUNTS[1:2] + COUNTS[3:8]:
            same(f"{what}, all intervals", sums[name], name,
                 c[TOTALS.get(name, name)])
    same("r.nd, all intervals", run.kept["nd"]["errors"], "errors",
         run.kept["csv"]["errors"])
    same("r.nd, all intervals", run.kept["mix"], "events of all workloads",
         c["completed"])
    same("r.nd", run.kept["rows"], "intervals", len(result["intervals"]["rows"]))
    same("r.hdr", run.kept["hdr"], "latencies", c["completed"])
    with open(run.path + "/r.hgrm", encoding="utf-8") as f:
        same("r.hgrm", int(re.search(r"Total count += *(\d+)", f.read()).group(1)),
             "latencies", c["completed"])
    xml.dom.minidom.parse(run.path + "/r.xml")


def check_end(path, rows=None):
    run = Run(path)
    end = read_files(run, [])
    with open(path + "/r.json", encoding="utf-8") as f:
        result = json.load(f)["runs"][0]
    check_files(run, end, result)
    with open(path + "/err", encoding="utf-8") as f:
        for line in f:
            if re.match("FATAL|.*accounting", line):
                bad("err", line.strip())
    if rows is not None:
        ins = [o for o in result["operations"]
               if (o["kind"], o["name"]) == ("workload", "ins")][0]
        least = ins["latency"]["count"]
        # A statement whose answer was lost may have been executed.
        if not least <= int(rows) <= least + ins["errors"]:
            bad("server", f"{rows} rows were inserted, {least} events and"
                f" {ins['errors']} errors were counted")
    run.save()


def table(path, name, violations):
    parts = [Run(p).kept for p in sorted(glob.glob(path + "/part-*"))]
    samples = [s for p in parts for s in p["samples"]]
    total = {c: sum(p["nd"].get(c, 0) for p in parts) for c in COUNTS}

    def span(figure, unit=1):
        values = [s[figure] // unit for s in samples] or [0]
        return f"{values[0]}..{max(values)}, {values[-1]}" if unit > 1 else \
            f"{values[0]}..{max(values)}"
    print(f"{name:10} {len(parts):5} {sum(p['time'] for p in parts) / 60:7.1f}"
          f" {total['events']:9} {total['errors']:7} {total['reconnects']:8}"
          f" {span('rss', 1024):>15} {span('descriptors'):>11}"
          f" {span('threads'):>9}  "
          + ("kept" if violations == "0" else f"{violations} VIOLATIONS"))


def main(what, path, *rest):
    try:
        if what == "table":
            table(path, *rest)
        elif what == "minute":
            check_minute(path, rest[0], float(rest[1]))
        else:
            check_end(path, *rest[2:])
    except Exception as why:  # a check that cannot be made is a violation
        bad(f"check of the {what}", f"{type(why).__name__}: {why}")


if __name__ == "__main__":
    main(*sys.argv[1:])
