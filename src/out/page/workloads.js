// SPDX-License-Identifier: GPL-2.0-or-later
//
// The workloads of a mix (--mix), which result files have as operations of the
// kind "workload".

function isWorkload(o) {
    return o.kind === "workload";
}

function timesText(run) {
    return run.doc.open_loop ? "response time" : "latency";
}

// Of the tables of workloads, and of stages with workloads.
const workloadHeads = [{ text: "restarts", n: true },
    { text: "failed", n: true }];

function workloadCounts(o) {
    const { restarts = NaN, failed = NaN } = o || {};
    return [value(restarts, whole(restarts)), value(failed, whole(failed))];
}

// Errors and percentiles of a workload, in a run or in a stage.
function workloadCells(o, seconds) {
    const l = o.latency || {};
    const p = q => {
        const v = l.count ? percentile(l, q) / 1e6 : NaN;
        return value(v, ms(v));
    };
    const rate = seconds > 0 ? l.count / seconds : NaN;
    return [value(l.count, whole(l.count)), value(rate, num(rate)),
        value(o.errors, whole(o.errors)), ...workloadCounts(o),
        p(50), p(95), p(99), p(100)];
}

function workloadsTable(run) {
    const list = (run.doc.operations || []).filter(isWorkload);
    const all = list.reduce((sum, o) => sum + (o.latency.count || 0), 0);
    return table(`Workloads of the mix; p50 to max: ${timesText(run)}`,
        [{ text: "workload", t: true }, { text: "share", n: true },
            { text: "events", n: true }, { text: "events/s", n: true },
            { text: "errors", n: true }, ...workloadHeads,
            { text: "p50", n: true },
            { text: "p95", n: true }, { text: "p99", n: true },
            { text: "max", n: true }],
        list.map(o => {
            const share = all ? (o.latency.count || 0) / all : NaN;
            return [o.name, value(share, percent(share)),
                ...workloadCells(o, run.duration)];
        }));
}

function workloadsSection(main, run) {
    const list = (run.doc.operations || []).filter(isWorkload);
    if (!list.length)
        return;
    const s = section(main, "workloads", "Workloads");
    s.append(liveTable(() => workloadsTable(run)));
    const shown = list.filter(o => run.has("operation", o.name, "count"))
        .slice(0, MOST_RUNS);
    if (!run.drawn || !shown.length)
        return;
    const note = list.length > shown.length
        ? `The first ${shown.length} workloads.` : "";
    const chart = (id, title, unit, get) => s.append(new Chart({ id, title,
        unit, time: true, log: unit === "ms", marks: true, note,
        series: shown.map((o, i) => line(o.name, i, run, r => get(r, o.name)))
    }).figure);
    chart("workload-rate", "Throughput of workloads", "events/s",
        (r, name) => r.rate("operation", name, "count"));
    chart("workload-latency", run.doc.open_loop
        ? "Response time of workloads, p95" : "Latency of workloads, p95",
    "ms", (r, name) => r.column("operation", name, "p95"));
}
