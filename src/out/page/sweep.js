// SPDX-License-Identifier: GPL-2.0-or-later
//
// Charts over an option: of the runs of a sweep, with the error margins, peak
// and knee that the document says, and of any runs that differ in one option.

const MOST_GROUPS = 8;

// The options that tell the runs apart: those of --sweep if there are any.
function sweptNames(runs) {
    if (runs.every(r => r.doc.swept))
        return [...new Set(runs.flatMap(r => Object.keys(r.doc.swept)))];
    return differing(runs);
}

const isNumber = text => text !== "" && Number.isFinite(Number(text));

// The numbers of ports are names of servers.
const isName = option => /(^|-)port$/.test(option);

// The option of the x axis: as the document says, otherwise threads or the
// first option with numbers.
function sweepAxis(runs, names) {
    const axis = runs[0].sweep && runs[0].sweep.axis;
    if (axis && names.includes(axis))
        return axis;
    const numeric = names.filter(n => !isName(n) &&
        runs.every(r => isNumber(optionOf(r, n))));
    return numeric.includes("threads") ? "threads"
        : numeric[0] || (runs.every(r => r.doc.swept) ? names[0] : undefined);
}

// The values of the axis with their positions: numbers to scale, other texts
// side by side.
function sweepScale(runs, name) {
    const texts = [...new Set(runs.map(r => optionOf(r, name)))];
    const numeric = !isName(name) && texts.every(isNumber);
    if (numeric)
        texts.sort((a, b) => a - b);
    const at = texts.map((t, i) => numeric ? Number(t) : i);
    return { texts, at, numeric,
        log: numeric && at[0] > 0 && at[at.length - 1] / at[0] >= 16,
        of: text => at[texts.indexOf(text)],
        text: v => texts[at.indexOf(v)] ?? "" };
}

// Runs with the same values of all other options are one line.
function sweepGroups(runs, name, names) {
    const groups = new Map();
    const several = new Set(runs.map(r => r.of)).size > 1;
    for (const r of runs) {
        const options = names.filter(n => n !== name)
            .map(n => [n, optionOf(r, n)]);
        const key = [several ? r.of : "", ...options.map(([n, v]) =>
            `${n}=${v || "-"}`)].filter(Boolean).join(" ");
        if (!groups.has(key))
            groups.set(key, { key, sweep: r.sweep, points: new Map(),
                options: Object.fromEntries(options) });
        const { points } = groups.get(key), v = optionOf(r, name);
        points.set(v, [...(points.get(v) || []), r]);
    }
    for (const g of groups.values())
        g.peak = groupPeak(g, name);
    return [...groups.values()];
}

const sameOptions = (a, b) => a && Object.keys(a).length ===
    Object.keys(b).length && Object.keys(b).every(n => a[n] === b[n]);

// A figure of a point: of the document, otherwise of the repeats.
function sweepPoint(group, name, value, figure, get) {
    const options = { ...group.options, [name]: value };
    const known = group.sweep && (group.sweep.points || []).find(p =>
        sameOptions(p.options, options));
    const f = known && (figure === "found" ? (known.search || {}).highest
        : figure.metric ? { value: (known.metrics || {})[figure.metric] }
        : known[figure]);
    if (f && Number.isFinite(f.value))
        return { n: known.runs, mean: f.value, low: f.low ?? NaN,
            high: f.high ?? NaN };
    const { n, mean, error } = meanError(group.points.get(value)
        .filter(r => r.completed).map(get));
    return { n, mean, low: mean - error, high: mean + error };
}

function sweepSeries(groups, name, scale, figures) {
    const series = [];
    for (const g of groups) {
        const values = scale.texts.filter(t => g.points.has(t));
        for (const [label, figure, get] of figures) {
            const m = values.map(v => sweepPoint(g, name, v, figure, get));
            const repeats = v => g.points.get(v).filter(r => r.completed)
                .map(get);
            series.push({ label: [g.key, label].filter(Boolean).join(" "),
                look: series.length, group: g,
                dots: values.map(v => repeats(v).length > 1 ? repeats(v) : []),
                x: Float64Array.from(values, v => scale.of(v)),
                y: Float64Array.from(m, e => e.mean), low: m.map(e => e.low),
                high: m.map(e => e.high), runs: m.map(e => e.n) });
        }
    }
    return series;
}

// What the document says about a group: {peak, knee}.
function sweepFound(group) {
    const list = group.sweep && group.sweep.groups || [];
    return list.find(g => sameOptions(g.options, group.options)) || {};
}

// The rate that the search of a run found, otherwise NaN.
function foundRate(run) {
    const { end, highest } = run.doc.search || {};
    return ["found", "exhausted"].includes(end) ? highest ?? NaN : NaN;
}

// Returns the figure whose peak and knee a group has: "throughput"; "search":
// the rates that searches found; "headline of NAME"; null: none, because the rate
// is given, which determines the throughput. It is taken from the document if that
// has it, otherwise derived from the runs.
function groupPeak(group, name) {
    const { peak_of: said, headline } = group.sweep || {};
    if (said !== undefined)
        return headline ? `headline of ${headline.figure}` : said;
    const runs = [...group.points.values()].flat();
    if (runs.every(r => (r.doc.search || {}).limit))
        return "search";
    // --rate=80% is a share of a maximum that was measured, but is given if
    // the shares are what is compared.
    return runs.every(r => r.doc.open_loop && (!r.doc.search ||
        name === "rate" && !r.doc.search.limit)) ? null : "throughput";
}

// Returns the figure that the charts of all groups show first.
function peakOf(groups) {
    const all = new Set(groups.map(g => g.peak));
    return all.size === 1 ? [...all][0] : "throughput";
}

// Peak and knee of a group in a chart of this figure.
const marksOf = (group, main) => group.peak === main ? sweepFound(group) : {};

// The figure of peak and knee: its name in the document, how to get it from a
// run, words for it, and its chart.
const MAIN_FIGURES = {
    throughput: { figure: "throughput", get: r => r.mean, peak: "peak",
        sentence: "Peak", unit: "events/s", id: "sweep-throughput",
        title: "Throughput", label: "events/s" },
    search: { figure: "found", get: foundRate, peak: "highest rate",
        sentence: "Highest rate that keeps the limit", unit: "events/s",
        id: "sweep-found", title: "Highest rate that keeps the limit",
        label: "highest rate" } };

// The same of a group, also of one whose peak is that of a headline.
function mainFigure({ peak, sweep }) {
    if (!sweep || !sweep.headline)
        return MAIN_FIGURES[peak] || MAIN_FIGURES.throughput;
    const { figure: name, unit, better } = sweep.headline;
    return { figure: "headline", get: r => (r.doc.headline || {}).value ?? NaN,
        peak: `peak of ${name}`, sentence: `Peak of ${name}`, unit,
        id: "sweep-headline", title: name, label: name,
        none: better === "lower" ? `a lower ${name} is better` : "" };
}

// The highest value of the axis up to which the rate was reached: as the document
// says, otherwise the throughput was at least KEPT_UP of the rate. "" if there is
// none, null if the axis is not the rate.
const KEPT_UP = 0.99;
function keptUp(group, name, scale) {
    const { reached } = sweepFound(group);
    if (name !== "rate" || !scale.numeric)
        return null;
    if (reached)
        return reached.value ?? "";
    let last = "";
    for (const t of scale.texts.filter(x => group.points.has(x))) {
        const p = sweepPoint(group, name, t, "throughput", r => r.mean);
        // With an error margin, the whole margin must be below.
        if (!(Math.max(p.mean, Number.isNaN(p.high) ? 0 : p.high) >=
            KEPT_UP * t))
            break;
        last = t;
    }
    return last;
}

function keptUpSentence(group, name, scale) {
    const last = keptUp(group, name, scale);
    if (last === null)
        return "";
    const of = group.key ? ` (${group.key})` : "";
    const { reached } = sweepFound(group);
    const share = `${short(100 * (reached ? reached.share : KEPT_UP))} %`;
    const what = reached ? `At least ${share} of the arrivals were completed`
        : `The throughput was at least ${share} of the rate`;
    return last === "" ? `No rate was reached to ${share}${of}.`
        : `${what} up to ${name}=${last}${of}${last === scale.texts.at(-1)
            ? ", the highest that was measured" : ""}.`;
}

// "95 % interval 11.00 ms to 13.60 ms"; nothing that is measured is below 0.
function margin(f, text) {
    return Number.isFinite(f.low) && Number.isFinite(f.high)
        ? `95 % interval ${f.low > 0 ? text(f.low) : "0"} to ${
            text(f.high)}` : null;
}

// Why a group of the document has no peak; nothing if it has one.
function noPeak(group) {
    const { none, figure } = mainFigure(group);
    const { resolved, estimated } = sweepFound(group);
    if (none || resolved !== false)
        return none;
    return !estimated ? "no difference between the values was seen"
        : `there are no error margins (${figure === "headline" ? ""
            : "measure longer or "}use --repeat)`;
}

const MOST_TILES = 4; // groups

// Peak and knee of a group, and the latency there.
function peakTiles(g, name, i) {
    const { peak, knee } = sweepFound(g);
    const { figure, get, unit, peak: top, none } = mainFigure(g);
    const of = g.key && !none ? `, ${g.key}` : "";
    const out = [];
    // What holds for all groups is said once.
    if (!peak && noPeak(g) && !(none && i))
        out.push(tile(`${top}${of}`, "none", NaN, noPeak(g)));
    const same_ = peak && knee && peak.value === knee.value;
    for (const [what, at] of same_ ? [[`${top} and knee`, peak]]
        : [[top, peak], ["knee", knee]]) {
        if (!at || !g.points.has(at.value))
            continue;
        const f = sweepPoint(g, name, at.value, figure, get);
        const t = sweepPoint(g, name, at.value, "throughput", r => r.mean);
        const l = sweepPoint(g, name, at.value, "p95", r => r.percentile(95));
        const range_ = at.low === at.high ? ""
            : ` (within the margins: ${at.low} to ${at.high})`;
        out.push(tile(`${what}${of}`, [num(f.mean), " ", h("small", null,
            unit)], f.mean, [`at ${name}=${at.value}${range_}`,
            margin(f, num)].filter(Boolean).join("; ")),
        tile(`p95 at the ${what}${of}`, ms(l.mean), l.mean, [margin(l, ms),
            // A search is followed by a measured part of another rate.
            g.peak === "search" ? `measured with ${num(t.mean)} events/s` : ""]
            .filter(Boolean).join("; ")));
    }
    return out;
}

// Latency at the lowest and highest rate.
function openTiles(g, name, scale) {
    const of = g.key ? `, ${g.key}` : "";
    const values = scale.texts.filter(t => g.points.has(t));
    const last = keptUp(g, name, scale);
    const shown = new Set([values[0], last || values[0], values.at(-1)]);
    return [...shown].map(v => {
        const l = sweepPoint(g, name, v, "p95", r => r.percentile(95));
        const f = sweepPoint(g, name, v, "throughput", r => r.mean);
        return tile(`p95 at ${name}=${v}${of}`, ms(l.mean), l.mean,
            [margin(l, ms), `${num(f.mean)} events/s`, v === last
                ? "highest rate reached" : ""].filter(Boolean).join("; "));
    });
}

// Returns a sentence if users ran on workers in some runs and had threads in
// others, as with --workers=auto; otherwise "".
function workersSentence(runs, names) {
    const on = runs.filter(r => r.doc.workers);
    if (!on.length || !runs.some(r => r.doc.workers === null))
        return "";
    const values = (list, n) => [...new Set(list.map(r => optionOf(r, n)))];
    const rest = runs.filter(r => r.doc.workers === null);
    const name = names.find(n => !values(on, n).some(v =>
        values(rest, n).includes(v)));
    const list = name && values(on, name).join(", ");
    const where = name ? `with ${name}=${list.replace(/, ([^,]*)$/, " and $1")}`
        : `in ${on.length} of ${runs.length} runs`;
    return ` Users shared workers ${where}: latencies there do not include ` +
        "client delay.";
}

// The run whose details a page shows first: at the knee of the first group, otherwise
// the first one.
function firstInDetail(runs) {
    const name = runs.every(r => r.doc.swept && r.sweep) && testsOf(runs).length === 1
        ? sweepAxis(runs, sweptNames(runs)) : undefined;
    if (!name)
        return 0;
    const group = sweepGroups(runs, name, sweptNames(runs))[0];
    const { knee, peak } = sweepFound(group);
    const run = (knee || peak) && (group.points.get((knee || peak).value) || [])
        .find(r => r.completed);
    return Math.max(runs.indexOf(run), 0);
}

// What the checks of the runs say, if they doubt the figures of some.
function doubtsSentence(runs) {
    const checks = runs.map(r => ((r.doc.validity || {}).checks || [])
        .filter(isDoubted));
    const names = [...new Set(checks.flat().map(c => c.name))];
    const n = checks.filter(list => list.length).length;
    return n ? `The figures of ${n} of ${runs.length} runs are doubtful or bad: ${
        names.map(x => `${x} in ${checks.filter(list => list.some(c =>
            c.name === x)).length}`).join(", ")}.` : "";
}

// The main figures of a sweep. Other runs that are shown together have none.
function sweepTiles(runs) {
    if (!runs.every(r => r.doc.swept && r.sweep) || testsOf(runs).length > 1)
        return [];
    const names = sweptNames(runs), name = sweepAxis(runs, names);
    if (!name)
        return [];
    const scale = sweepScale(runs, name);
    const list = sweepGroups(runs, name, names).slice(0, MOST_TILES).flatMap((g, i) =>
        g.peak ? peakTiles(g, name, i) : openTiles(g, name, scale));
    const count = (test, what) => {
        const n = runs.filter(test).length;
        return n ? ` Runs ${what}: ${n} of ${runs.length}.` : "";
    };
    const { others } = runs[0].sweep, doubts = doubtsSentence(runs);
    const percent = share => `${short(Number((100 * share).toPrecision(2)))} %`;
    const text = names.map(n => `${n}=${[...new Set(runs.map(r =>
        optionOf(r, n)))].join(",")}`).join("; ");
    return [h("p", { class: "facts" }, `Swept: ${text}.${
        count(hasEndedBadly, "that ended early or missed a limit")}${
        others
        ? ` Other processes, with a server on this machine, used ${
            percent(others.mean)} of its processor time (${
            percent(others.low)} to ${percent(others.high)} per run).` : ""}${
        workersSentence(runs, names)}`),
    doubts ? h("p", { class: "end" }, doubts) : null,
    list.length ? h("dl", { class: "tiles", "aria-label":
        "Main figures of the sweep" }, list) : null];
}

function sweepSentence(group, name, main) {
    if (group.peak !== main)
        return "";
    const { peak, knee } = sweepFound(group), words = mainFigure(group);
    const of = !group.key || words.none ? ""
        : `${words.figure === "headline" ? "," : " of"} ${group.key}`;
    if (!peak || !knee)
        return !noPeak(group) ? "" : words.none ? `No peak${of}: ${words.none}.`
            : `No ${words.peak}${of} can be named: ${noPeak(group)}.`;
    const span = (x, text) => peak.estimated || x.low === x.high ? ""
        : ` (${text} ${x.low} to ${x.high})`;
    return `${words.sentence}${of}: ${name}=${peak.value}${
        span(peak, "no difference seen from")}${peak.still_rising
        ? "; still rising at the highest value" : ""}. Knee: ${name}=${
        knee.value}, the lowest with ${short(100 * knee.share)} % of the ${words.peak}${
        span(knee, "within the error margins from")}.${peak.estimated
        ? ` There are no error margins: ${words.figure === "headline" ? ""
            : "measure longer or "}use --repeat.` : ""}`;
}

// Dashed lines with a name at peak and knee of a single line; of several, the
// names at their points in their colours, where they do not cover each other.
// main: the figure of the chart.
function paintFound(u, series, scale, main) {
    const c = u.ctx, k = devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    const taken = [];
    c.save();
    c.font = `${10 * k}px system-ui`;
    c.textAlign = "left";
    c.textBaseline = "top";
    c.lineWidth = k;
    for (const s of series) {
        const found = marksOf(s.group, main);
        const at = new Map();
        for (const [what, text] of [["knee", "knee"],
            ["peak", mainFigure(s.group).peak]]) {
            if (found[what])
                at.set(found[what].value, [...(at.get(found[what].value) || []),
                    text]);
        }
        for (const [value, names] of at) {
            const x = Math.round(u.valToPos(scale.of(value), "x", true)) + 0.5;
            if (!Number.isFinite(x))
                continue;
            const text = names.join(", "), w = c.measureText(text).width;
            c.fillStyle = series.length > 1 ? color(s.look) : css("--faint");
            let y = top;
            if (series.length > 1) {
                const v = s.y[s.x.indexOf(scale.of(value))];
                y = u.valToPos(v, "y", true) + 6 * k;
            } else {
                c.strokeStyle = css("--faint");
                c.setLineDash([3 * k, 3 * k]);
                c.beginPath();
                c.moveTo(x, top);
                c.lineTo(x, top + height);
                c.stroke();
            }
            const from = x + 5 * k + w < left + width ? x + 5 * k
                : Math.max(left, x - 5 * k - w);
            const box = { from, to: from + w, y };
            const covered = () => taken.some(t => box.from < t.to &&
                t.from < box.to && Math.abs(box.y - t.y) < 11 * k);
            while (covered())
                box.y += 4 * k;
            if (box.y > top + height - 10 * k)
                continue;
            taken.push({ ...box, text });
            c.fillText(text, box.from, box.y);
        }
    }
    c.restore();
    return taken;
}

const avgOf = (run, metric) => ((run.doc.metrics || [])
    .find(m => m.name === metric.name) || {}).avg ?? NaN;

// The distributions of the scripts: the first ones, as in the program's table.
function distributions(runs) {
    const found = new Map(runs.flatMap(r => r.doc.metrics || [])
        .filter(m => m.kind === "distribution").reverse()
        .map(m => [m.name, m]));
    return [...found.values()].reverse().slice(0, 4);
}

// Names and units of the results of the workloads, headlines first, except those
// that have a chart.
function ownResults(runs, shown) {
    const all = runs.flatMap(r => r.doc.results || []).filter(r =>
        Number.isFinite(r.value) && !shown.includes(ownName(r)));
    return [...new Map(all.sort((a, b) => !!b.headline - !!a.headline)
        .map(r => [ownName(r), r.unit || ""]))];
}

const resultOf = (run, name) => ((run.doc.results || [])
    .find(r => ownName(r) === name) || {}).value ?? NaN;

// Each combination of values: means of its repeats with their error margins.
function pointsTable(runs, groups, name, names, scale) {
    const several = new Set(runs.map(r => r.of)).size > 1;
    const percent_ = f => {
        const half = Math.max(f.high - f.mean, f.mean - f.low) / f.mean;
        return value(half, Number.isFinite(half) ? `${(100 * half).toFixed(1)} %`
            : MISSING);
    };
    const rows = groups.flatMap(g => scale.texts.filter(t => g.points.has(t))
        .map(t => {
            const list = g.points.get(t);
            const f = (figure, get) => sweepPoint(g, name, t, figure, get);
            const rate = f("throughput", r => r.mean);
            const [p50, p95, p99] = [50, 95, 99].map(p =>
                f(`p${p}`, r => r.percentile(p)));
            const errors = list.reduce((sum, r) => sum + r.errors, 0);
            const time = m => value(m.mean, ms(m.mean));
            return [...several ? [list[0].of] : [],
                ...names.map(n => n === name ? t : g.options[n]),
                value(rate.n, whole(rate.n)), value(rate.mean, num(rate.mean)),
                percent_(rate), time(p50), time(p95), percent_(p95), time(p99),
                value(errors, whole(errors))];
        }));
    return table("Means of the repeats with half of their 95 % confidence " +
        "intervals", [...several ? [{ text: "file" }] : [],
        ...names.map(n => ({ text: n })), { text: "runs", n: true },
        { text: "events/s", n: true }, { text: "\u00b1", n: true },
        { text: "p50", n: true }, { text: "p95", n: true },
        { text: "\u00b1", n: true }, { text: "p99", n: true },
        { text: "errors of all", n: true }], rows, 50);
}

// more: {suffix of the ids, of: behind the titles}.
function sweepCharts(main, runs, more = {}) {
    const names = sweptNames(runs);
    const name = sweepAxis(runs, names);
    if (!name)
        return;
    const scale = sweepScale(runs, name);
    const groups = sweepGroups(runs, name, names);
    if (groups.length > MOST_GROUPS || !groups.some(g => g.points.size > 1))
        return;
    const peak = peakOf(groups);
    const open = peak === null;
    const of = open ? MAIN_FIGURES.throughput
        : mainFigure(groups.find(g => g.peak === peak) || { peak });
    const first = of.id;
    const found = groups.map(g => open ? keptUpSentence(g, name, scale)
        : sweepSentence(g, name, peak)).filter(Boolean);
    const chart = (title, unit, id, figures) => {
        const series = sweepSeries(groups, name, scale, figures);
        const repeats = Math.max(...series.flatMap(s => s.runs)) > 1;
        const bars = series.some(s => s.low.some(v => !Number.isNaN(v)));
        const marked = !open && id === first;
        const c = new Chart({ id: id + (more.suffix || ""), unit, series,
            title: `${title} over ${name}${more.of || ""}`,
            points: true, errors: true, loose: !scale.numeric,
            found: open ? [] : groups.map(g => marksOf(g, peak)),
            summary: () => series.map(s => {
                let best = 0;
                s.y.forEach((v, i) => {
                    if (v > s.y[best] || Number.isNaN(s.y[best]))
                        best = i;
                });
                return `${s.label}: highest ${withUnit(s.y[best], unit)} at ` +
                    `${name}=${scale.text(s.x[best])}.`;
            }).join(" "),
            note: [id === first ? [...new Set(found)].join(" ") : "",
                repeats ? "A symbol is the mean of the repeats, which are dots."
                    : "",
                bars ? "Bars are 95 % confidence intervals; an arrow: it is " +
                    "longer than drawn." : ""]
                .filter(Boolean).join(" "),
            paint: (u, chart_) => {
                chart_.foundLabels = marked || !open && groups.length === 1
                    ? paintFound(u, marked ? series : series.slice(0, 1), scale,
                        peak)
                    : [];
            },
            x: { format: v => `${name} ${scale.text(v)}`,
                scale: { ...(scale.log ? { distr: 3, log: 2 } : {}),
                    range: () => margins(scale.at, scale.log) },
                axis: { space: 30, size: 28, splits: () => scale.at,
                    filter: (u, s) => s,
                    values: (u, list) => list.map(v => v === null ? ""
                        : scale.numeric ? short(v) : scale.text(v)) } } });
        main.append(c.figure);
        if (!main.querySelector(`#points${more.suffix || ""}`)) {
            const t = pointsTable(runs, groups, name, names, scale);
            t.id = `points${more.suffix || ""}`;
            main.append(t);
        }
    };
    const draw = f => chart(f.title, f.unit, f.id, [[f.label, f.figure, f.get]]);
    // With a given rate the latency is what the rate changes.
    if (!open)
        draw(of);
    chart(runs.every(r => r.doc.open_loop) ? "Response time" : "Latency", "ms",
        "sweep-latency", [["p50", "p50", r => r.percentile(50)],
            ["p95", "p95", r => r.percentile(95)],
            ["p99", "p99", r => r.percentile(99)]]);
    if (open || of !== MAIN_FIGURES.throughput)
        draw(MAIN_FIGURES.throughput);
    const head = of.figure === "headline" ? [of.title] : [];
    const spread = distributions(runs).filter(m => !head.includes(m.name));
    spread.forEach((m, i) => chart(`Average ${m.name}`,
        m.unit || "", `sweep-metric-${i + 1}`, [[m.name, { metric: m.name },
            r => avgOf(r, m)]]));
    ownResults(runs, [...head, ...spread.map(m => m.name)])
        .forEach(([own, unit], i) => chart(own, unit, `sweep-result-${i + 1}`,
            [[own, "", r => resultOf(r, own)]]));
}

// The range of an axis, with room beside the first and last point.
function margins(values, log, share = 0.03) {
    const a = values[0], b = values[values.length - 1];
    if (a === b)
        return log ? [a / 2, a * 2] : [a - 1, a + 1];
    const f = (b / a) ** share, d = (b - a) * share;
    return log ? [a / f, b * f] : [a - d, b + d];
}
