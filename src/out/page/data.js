// SPDX-License-Identifier: GPL-2.0-or-later
//
// Result documents as runs with columns of numbers, and the arithmetic on them.
// No access to the page. The format: docs/internals/results.md.
"use strict";

// Rows of numbers as columns: Float64Arrays with NaN for missing values. A day
// of one-second intervals has ten million numbers; as JavaScript arrays they
// would take a second longer to read and hundreds of megabytes.
class Rows {
    constructor() {
        this.n = 0;
        this.room = 0;
        this.columns = [];
    }

    add(rows) {
        const width = rows.reduce((w, r) => Math.max(w, r.length), 0);
        if (this.n + rows.length > this.room) {
            this.room = Math.max(2 * this.room, this.n + rows.length, 64);
            this.columns = this.columns.map(c => this.grown(c));
        }
        while (this.columns.length < width)
            this.columns.push(this.grown(null));
        for (const row of rows) {
            for (let k = 0; k < row.length; k++) {
                const v = row[k];
                if (v !== null)
                    this.columns[k][this.n] = v;
            }
            this.n++;
        }
    }

    grown(old) {
        const c = new Float64Array(this.room).fill(NaN);
        if (old)
            c.set(old);
        return c;
    }

    column(k) {
        return k < this.columns.length ? this.columns[k].subarray(0, this.n)
            : new Float64Array(this.n).fill(NaN);
    }
}

// Rows of different lengths, one after the other: row i is
// data[start[i]..start[i + 1]].
class Lists {
    constructor() {
        this.start = [0];
        this.data = new Float64Array(1024);
    }

    get n() { return this.start.length - 1; }

    add(rows) {
        let end = this.start.at(-1);
        const more = rows.reduce((sum, r) => sum + r.length, 0);
        if (end + more > this.data.length) {
            const data = new Float64Array(Math.max(end + more,
                2 * this.data.length));
            data.set(this.data);
            this.data = data;
        }
        for (const row of rows) {
            for (let k = 0; k < row.length; k++)
                this.data[end + k] = row[k];
            end += row.length;
            this.start.push(end);
        }
    }
}

// Strings, with the colon behind the name of a member, and brackets: they say
// where a value of a JSON text begins and ends.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[[\]{}]/g;

const ROWS = { intervals: Rows, histograms: Lists };

// A result document as an object in which `rows` of intervals are Rows and those
// of histograms Lists, which are read in pieces. The text may be formatted in
// any way.
function readDocument(text) {
    const token = new RegExp(TOKENS), parts = [], found = [];
    const path = []; // the names of the lists and objects around the token
    let name = "", done = 0, runs = 0;
    for (let m; (m = token.exec(text));) {
        const Kind = path[1] === "runs" && name === "rows" &&
            m[0] === "[" && path.length === 4 && ROWS[path[3]];
        if (Kind) {
            const rows = new Kind();
            parts.push(text.slice(done, m.index), "[]");
            done = readRows(text, token, rows);
            (found[runs - 1] ||= {})[path[3]] = rows;
        } else if (m[0] === "[" || m[0] === "{") {
            path.push(name);
            runs += path.length === 3 && path[1] === "runs";
        } else if (m[0] === "]" || m[0] === "}") {
            path.pop();
        }
        name = m[1] ? JSON.parse(m[0].slice(0, -m[1].length)) : "";
    }
    parts.push(text.slice(done));
    const doc = JSON.parse(parts.join(""));
    (Array.isArray(doc.runs) ? doc.runs : []).forEach((run, i) => {
        for (const part of Object.keys(ROWS)) {
            const rows = (found[i] || {})[part] || new ROWS[part]();
            run[part] = { ...run[part], rows };
        }
    });
    return doc;
}

// Adds the rows of a list whose "[" was the last token. Returns the index behind
// the list.
function readRows(text, token, rows) {
    let depth = 1, from = -1, to = -1;
    for (let m; depth && (m = token.exec(text));) {
        if (m[0] === "[" && depth++ === 1 && from < 0)
            from = m.index;
        if (m[0] === "]" && --depth === 1)
            to = m.index + 1;
        if (from >= 0 && (!depth || (depth === 1 && to - from > 200000))) {
            rows.add(JSON.parse(`[${text.slice(from, to)}]`));
            from = -1;
        }
    }
    return depth ? text.length : token.lastIndex;
}

// The columns of a run's intervals, and figures of the whole run.
class Run {
    constructor(doc, name) {
        this.doc = doc;
        this.name = name;
        this.rows = doc.intervals.rows;
        this.columns = doc.intervals.columns || [];
        this.hists = doc.histograms.rows;
        this.octave = doc.histograms.octave || 4;
        this.forget();
    }

    // The rows have changed (live view).
    forget() {
        this.cache = new Map();
        this.drawn = this.rows.n;
        this.index = new Map(this.columns.map(
            (c, i) => [`${c.group}\n${c.name}\n${c.figure}`, i]));
        // The last interval ends with the run. If it is shorter than half of
        // the one before, its figures say nothing, and it is not drawn.
        const sec = this.column("run", "", "seconds");
        const n = sec.length;
        this.partial = n > 1 && this.doc.end && sec[n - 1] < sec[n - 2] / 2
            ? sec[n - 1] : 0;
        this.partialErrors = this.partial
            ? this.column("run", "", "errors")[n - 1] || 0 : 0;
        if (this.partial) {
            this.cache.clear();
            this.drawn = n - 1;
        }
    }

    // A count that must not disappear, such as errors, as a rate: {x, y}. A last
    // interval that is not drawn is added to the one before, because its own rate
    // would be far too high.
    trouble(figure) {
        const y = this.rate("run", "", figure);
        const all = f => this.rows.column(
            this.index.get(`run\n\n${f}`) ?? Infinity);
        const i = this.drawn, count = all(figure), sec = all("seconds");
        if (!this.partial || !(count[i] > 0))
            return { x: this.time, y };
        const x = Float64Array.from(this.time), sum = Float64Array.from(y);
        x[i - 1] = all("time")[i];
        sum[i - 1] = ((count[i - 1] || 0) + count[i]) / (sec[i - 1] + sec[i]);
        return { x, y: sum };
    }

    has(group, name, figure) {
        return this.index.has(`${group}\n${name}\n${figure}`);
    }

    column(group, name, figure) {
        const key = `${group}\n${name}\n${figure}`;
        let out = this.cache.get(key);
        if (!out) {
            out = this.rows.column(this.index.get(key) ?? Infinity)
                .subarray(0, this.drawn);
            this.cache.set(key, out);
        }
        return out;
    }

    get time() { return this.column("run", "", "time"); }
    get seconds() { return this.column("run", "", "seconds"); }

    // A count per interval as a rate.
    rate(group, name, figure) {
        const key = `rate\n${group}\n${name}\n${figure}`;
        let out = this.cache.get(key);
        if (!out) {
            const sec = this.seconds;
            out = this.column(group, name, figure)
                .map((v, i) => sec[i] > 0 ? v / sec[i] : NaN);
            this.cache.set(key, out);
        }
        return out;
    }

    get throughput() { return this.rate("run", "", "events"); }

    // The rate of an open loop in the middle of each interval, per second; null: of
    // a closed loop, or unknown.
    get target() {
        const stages = (this.doc.stages || []).filter(s => s.rate);
        const fixed = (this.doc.search || {}).rate ??
            Number(this.option("rate") || NaN);
        if (!this.doc.open_loop || !stages.length && !(fixed > 0))
            return null;
        const sec = this.seconds;
        return this.time.map((t, i) => {
            const at = t - sec[i] / 2;
            const s = stages.find(x => at >= x.start && at < x.start + x.seconds);
            if (!stages.length)
                return at >= 0 ? fixed : NaN;
            return s ? s.rate[0] + (s.rate[1] - s.rate[0]) *
                (at - s.start) / s.seconds : NaN;
        });
    }

    // "PostgreSQL 15.8 at 127.0.0.1:5432", without the details of the version.
    get servers() {
        return (this.doc.databases || []).map(b => {
            const name = b.server || b.driver || "";
            return [(/^\S+ [\d.]*\d/.exec(name) || [name])[0],
                b.address && `at ${b.address}`].filter(Boolean).join(" ");
        }).filter(Boolean).join("; ");
    }

    // Names of a group in the order of their columns.
    names(group) {
        return [...new Set(this.columns.filter(c => c.group === group)
            .map(c => c.name))];
    }

    get duration() {
        const end = this.doc.end && this.doc.end.seconds;
        const t = this.time;
        return end > 0 ? end : t.length ? Math.max(t[t.length - 1], 0) : 0;
    }

    get completed() {
        const c = this.doc.counters || {};
        return c.completed !== undefined ? c.completed
            : (this.doc.latency || {}).count || 0;
    }

    // Of the whole run, in events per second.
    get mean() {
        return this.duration > 0 ? this.completed / this.duration : NaN;
    }

    // In milliseconds; NaN if there were no events.
    percentile(p) {
        const l = this.doc.latency;
        return l && l.count ? percentile(l, p) / 1e6 : NaN;
    }

    // "> " before a percentile that is only a lower bound, as events without a
    // time may have taken longer; otherwise "".
    bound(p) {
        const { checks } = this.doc.validity || {};
        const c = (checks || []).find(x => x.name === "censored");
        return c && c.value > 0 && p > 100 - c.value ? "> " : "";
    }

    get errors() {
        return (this.doc.errors || []).reduce((s, e) => s + (e.count || 0), 0);
    }

    // What happened and when: of the document, otherwise from the rows. The
    // failure of the run is one of them.
    get marks() {
        const list = this.withMix(this.doc.marks || this.rowMarks);
        const failure = (this.doc.end || {}).failure;
        return !failure || list.some(m => m.kind === "failure") ? list
            : [...list, { time: this.duration, kind: "failure",
                text: failure }];
    }

    // Adds the weights of the mix to the marks of stages. A document has a mark
    // for each stage, in order; marks from rows have the number of their stage.
    withMix(list) {
        const stages = this.doc.stages || [];
        let i = 0;
        return list.map(m => {
            const { mix } = m.kind === "stage" && stages[m.stage ?? i++] || {};
            return !mix || m.text.includes("mix=") ? m
                : { ...m, text: `${m.text}: ${mix}` };
        });
    }

    get rowMarks() {
        const out = [];
        const time = this.time, sec = this.seconds;
        const stage = this.column("run", "", "stage");
        const lost = this.column("run", "", "reconnects");
        for (let i = 0; i < time.length; i++) {
            if (i > 0 && stage[i] !== stage[i - 1] && stage[i] >= 0)
                out.push({ time: time[i] - sec[i], kind: "stage",
                    stage: stage[i], text: `stage ${stage[i]}` });
            if (lost[i] > 0)
                out.push({ time: time[i], kind: "reconnect",
                    text: plural(lost[i], "reconnect") });
        }
        return out;
    }

    option(name) {
        const o = (this.doc.options || []).find(x => x.name === name);
        return o ? o.value : undefined;
    }
}

// In ns: the program's own figure if the document has it, otherwise from the
// histogram, interpolated within the bucket.
function percentile(latency, p) {
    const own = latency.percentiles && latency.percentiles[String(p)];
    if (own !== undefined && own !== null)
        return own;
    if (p >= 100)
        return latency.max;
    const rows = latency.histogram || [];
    const want = latency.count * p / 100;
    let seen = 0;
    for (const [low, high, count] of rows) {
        if (seen + count >= want) {
            const v = low + (high + 1 - low) * (want - seen) / count;
            return Math.min(Math.max(v, latency.min), latency.max);
        }
        seen += count;
    }
    return rows.length ? latency.max : NaN;
}

// The lowest latency in ns of a bucket of `histograms`.
function bucketLow(i, octave) {
    return i < octave ? 256 * i
        : 256 * (octave + i % octave) * 2 ** (Math.floor(i / octave) - 1);
}

// All runs of all documents, with names that tell them apart.
function runsOf(documents) {
    const out = [];
    for (const { doc, name, side } of documents) {
        const runs = Array.isArray(doc.runs) ? doc.runs : [];
        runs.forEach((r, i) => {
            const of = side ? `${side} ${name.replace(/^.*\//, "")}`
                : documents.length > 1 ? name : "";
            const run = new Run(r, "");
            run.of = of;
            run.side = side;
            run.sweep = doc.sweep; // peak and knee, if it is a sweep
            out.push({ run, of, number: i + 1, many: runs.length > 1 });
        });
    }
    const runs = out.map(x => x.run);
    const several = testsOf(runs).length > 1;
    // Of a comparison, the names of the sides say more.
    const compared = runs.some(r => r.side);
    const differ = new Set(runs.map(r => r.servers)).size > 1;
    const count = new Map();
    for (const x of out) {
        const parts = out.length > 1 && !compared
            ? telling(x.run, runs).filter(n => !differ || x.run.doc.swept ||
                !OF_SERVER.test(n)).map(n => [n, optionOf(x.run, n)])
                .filter(([, v]) => v !== "").map(([n, v]) => `${n}=${v}`) : [];
        // The name of a file says which workload it is, if there is one in it.
        const test = several && (!x.of ||
            testsOf(runs.filter(r => r.of === x.of)).length > 1);
        let name = [x.of, test ? x.run.doc.test : "", ...parts]
            .filter(Boolean).join(" ");
        if (!name)
            name = x.many ? `run ${x.number}` : x.run.doc.test || "run";
        if (differ && x.run.servers && !compared)
            name += ` (${x.run.servers})`;
        const n = (count.get(name) || 0) + 1;
        count.set(name, n);
        x.run.name = n > 1 ? `${name} #${n}` : name;
    }
    return out.map(x => x.run);
}

// Options that say which server it is, and how it is connected.
const OF_SERVER = /^(db-driver$|(mysql|pgsql|mongodb|sqlite)-)/;

// The workloads of these runs.
function testsOf(runs) {
    return [...new Set(runs.map(r => r.doc.test || "sysbench"))];
}

function optionOf(run, name) {
    return (run.doc.swept || {})[name] ?? run.option(name) ?? "";
}

// Names of the options that tell a run from the others of its workload: in a
// sweep those that were swept. The names of files tell the runs of different
// files apart, unless each file has one run.
function telling(run, runs) {
    if (run.doc.swept)
        return Object.keys(run.doc.swept);
    const alike = runs.filter(r => r.doc.test === run.doc.test);
    const file = alike.filter(r => r.of === run.of);
    const single = new Set(alike.map(r => r.of)).size === alike.length;
    return differing(single ? alike : file);
}

// Names of options that a user set differently in these runs. Options of the
// output and of checks do not change what is measured.
function differing(runs) {
    const names = new Map();
    for (const r of runs) {
        for (const o of r.doc.options || []) {
            if (!names.has(o.name))
                names.set(o.name, new Set());
        }
    }
    for (const r of runs) {
        const have = new Map((r.doc.options || [])
            .map(o => [o.name, o.value]));
        for (const [name, values] of names)
            values.add(String(have.get(name)));
    }
    const quiet = new RegExp("^(report.*|label|assert.*|rand-seed|debug|" +
        "config-file|repeat|sweep.*|.*password.*|percentile|histogram|" +
        "verbosity|print-config|log-.*|trace.*)$");
    return [...names].filter(([n, v]) => v.size > 1 && !quiet.test(n))
        .map(([n]) => n);
}

// The p-quantile (0 to 1) of sorted numbers, interpolated linearly between
// order statistics (type 7 of Hyndman and Fan, as in R and NumPy).
function quantile(sorted, p) {
    if (!sorted.length)
        return NaN;
    const at = (sorted.length - 1) * p, i = Math.floor(at);
    const next = sorted[Math.min(i + 1, sorted.length - 1)];
    return sorted[i] + (next - sorted[i]) * (at - i);
}

const DIP = 0.5;
const LEAST_INTERVALS = 5; // fewer say nothing about stability

// How even `values` are in the intervals whose middle is within from..to
// (seconds); the same definitions as in measure/stability.h. A dip is a sequence
// of intervals below DIP times the median; of latencies, above the median
// divided by DIP. Missing values neither end a dip nor add to it.
function stability(run, values, from, to, latency = false) {
    const time = run.time, sec = run.seconds;
    const used = [];
    for (let i = 0; i < values.length; i++) {
        const middle = time[i] - sec[i] / 2;
        if (middle >= from && middle < to && !Number.isNaN(values[i]))
            used.push(i);
    }
    const sorted = Float64Array.from(used, i => values[i]).sort();
    const n = sorted.length;
    const out = { n, median: quantile(sorted, 0.5), low: quantile(sorted, .25),
        high: quantile(sorted, 0.75), worst: NaN, worstAt: NaN, mean: NaN,
        variation: NaN, few: n < LEAST_INTERVALS, dip: 0, dipAt: NaN, dips: 0 };
    if (!n)
        return out;
    let sum = 0;
    for (const v of sorted)
        sum += v;
    out.mean = sum / n;
    let squares = 0;
    for (const v of sorted)
        squares += (v - out.mean) ** 2;
    if (n > 1 && out.mean !== 0)
        out.variation = Math.sqrt(squares / (n - 1)) / Math.abs(out.mean);
    const worse = latency ? (a, b) => a > b : (a, b) => a < b;
    const limit = latency ? out.median / DIP : out.median * DIP;
    let at = used[0], begin = NaN, length = 0;
    for (const i of used) {
        if (worse(values[i], values[at]))
            at = i;
        if (!worse(values[i], limit)) {
            begin = NaN;
            continue;
        }
        if (Number.isNaN(begin)) {
            begin = time[i] - sec[i];
            length = 0;
            out.dips++;
        }
        length += sec[i];
        if (length > out.dip) {
            out.dip = length;
            out.dipAt = begin;
        }
    }
    out.worst = values[at];
    out.worstAt = time[at] - sec[at];
    return out;
}

// Reduces series to what a chart of `width` pixels can show. Each series is
// {x, y} with ascending x. Returns {x, mean, low, high, step}: arrays with null
// for missing values. If the points fit, they are returned as they are, and low
// and high are null. Otherwise a point is the mean of the values in a bin of
// equal length, low and high are their extremes, and step is the mean number of
// values per bin.
function reduce(lines, from, to, width) {
    const series = lines.map(s => ({ x: s.x, y: s.y }));
    let most = 0;
    const cut = series.map(s => {
        const a = Math.max(firstFrom(s.x, from) - 1, 0);
        const b = Math.min(firstFrom(s.x, to) + 1, s.x.length);
        most = Math.max(most, b - a);
        return [a, b];
    });
    if (most <= 2 * width)
        return union(series, cut);
    const bins = Math.max(Math.floor(width), 1);
    const size = (to - from) / bins;
    const out = { x: [], mean: [], low: [], high: [], step: most / bins };
    const used = new Uint8Array(bins);
    const sums = series.map((s, k) => {
        const sum = new Float64Array(bins), n = new Uint32Array(bins);
        const low = new Float64Array(bins).fill(Infinity);
        const high = new Float64Array(bins).fill(-Infinity);
        for (let i = cut[k][0]; i < cut[k][1]; i++) {
            const v = s.y[i];
            const b = Math.floor((s.x[i] - from) / size);
            if (Number.isNaN(v) || b < 0 || b >= bins)
                continue;
            sum[b] += v;
            n[b]++;
            if (v < low[b])
                low[b] = v;
            if (v > high[b])
                high[b] = v;
            used[b] = 1;
        }
        return { sum, n, low, high };
    });
    const at = [];
    for (let b = 0; b < bins; b++) {
        if (used[b]) {
            at.push(b);
            out.x.push(from + (b + 0.5) * size);
        }
    }
    for (const s of sums) {
        out.mean.push(at.map(b => s.n[b] ? s.sum[b] / s.n[b] : null));
        out.low.push(at.map(b => s.n[b] ? s.low[b] : null));
        out.high.push(at.map(b => s.n[b] ? s.high[b] : null));
    }
    return out;
}

// Index of the first element of ascending x that is at least v.
function firstFrom(x, v) {
    let a = 0, b = x.length;
    while (a < b) {
        const m = (a + b) >> 1;
        if (x[m] < v)
            a = m + 1;
        else
            b = m;
    }
    return a;
}

// The points of several series on one x axis.
function union(series, cut) {
    const same = series.every(s => s.x === series[0].x);
    const plain = v => Number.isNaN(v) ? null : v;
    const none = series.map(() => null);
    if (!series.length)
        return { x: [], mean: [], low: [], high: [], step: 1 };
    if (same) {
        const [a, b] = cut[0];
        return { x: Array.from(series[0].x.subarray(a, b)), step: 1,
            mean: series.map(s => Array.from(s.y.subarray(a, b), plain)),
            low: none, high: none };
    }
    const all = new Set();
    series.forEach((s, k) => {
        for (let i = cut[k][0]; i < cut[k][1]; i++)
            all.add(s.x[i]);
    });
    const x = [...all].sort((a, b) => a - b);
    const place = new Map(x.map((v, i) => [v, i]));
    const mean = series.map((s, k) => {
        const y = new Array(x.length).fill(null);
        for (let i = cut[k][0]; i < cut[k][1]; i++)
            y[place.get(s.x[i])] = plain(s.y[i]);
        return y;
    });
    return { x, mean, low: none, high: none, step: 1 };
}

// Points of the percentile curve: x is 1/(1-p), y is in ms. The last event has
// p = (n - 1/2) / n.
function curve(latency) {
    const x = [], y = [];
    const rows = latency && latency.histogram || [];
    const n = latency && latency.count || 0;
    let seen = 0;
    let before = -Infinity;
    for (const [, high, count] of rows) {
        seen += count;
        const p = Math.min(seen, n - 0.5) / n;
        const v = 1 / (1 - p);
        // Two thousand points per curve: at most 0.3 % apart on a log axis.
        if (Math.log(v) - before < 0.003 && seen < n)
            continue;
        before = Math.log(v);
        x.push(v);
        y.push(Math.min(high, latency.max) / 1e6);
    }
    return { x: Float64Array.from(x), y: Float64Array.from(y) };
}

// Two-sided 95 % quantile of Student's t with `df` degrees of freedom.
function student(df) {
    const t = [NaN, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
        2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101,
        2.093, 2.086];
    return df < t.length ? t[df] : 1.96 + 2.5 / df;
}

// Mean and half of the 95 % confidence interval of repeats; NaN for one value.
function meanError(values) {
    const v = values.filter(x => !Number.isNaN(x));
    const n = v.length;
    const mean = v.reduce((a, b) => a + b, 0) / n;
    if (n < 2)
        return { n, mean, error: NaN };
    const s = Math.sqrt(v.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1));
    return { n, mean, error: student(n - 1) * s / Math.sqrt(n) };
}
