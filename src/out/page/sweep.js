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

function sweptValue(run, name) {
    return (run.doc.swept || {})[name] ?? run.option(name) ?? "";
}

const isNumber = text => text !== "" && Number.isFinite(Number(text));

// The option of the x axis: as the document says, otherwise threads or the
// first option with numbers.
function sweepAxis(runs, names) {
    const axis = runs[0].sweep && runs[0].sweep.axis;
    if (axis && names.includes(axis))
        return axis;
    const numeric = names.filter(n =>
        runs.every(r => isNumber(sweptValue(r, n))));
    return numeric.includes("threads") ? "threads"
        : numeric[0] || (runs.every(r => r.doc.swept) ? names[0] : undefined);
}

// The values of the axis with their positions: numbers to scale, other texts
// side by side.
function sweepScale(runs, name) {
    const texts = [...new Set(runs.map(r => sweptValue(r, name)))];
    const numeric = texts.every(isNumber);
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
            .map(n => [n, sweptValue(r, n)]);
        const key = [several ? r.of : "", ...options.map(([n, v]) =>
            `${n}=${v || "-"}`)].filter(Boolean).join(" ");
        if (!groups.has(key))
            groups.set(key, { key, sweep: r.sweep, points: new Map(),
                options: Object.fromEntries(options) });
        const { points } = groups.get(key), v = sweptValue(r, name);
        points.set(v, [...(points.get(v) || []), r]);
    }
    return [...groups.values()];
}

const sameOptions = (a, b) => a && Object.keys(a).length ===
    Object.keys(b).length && Object.keys(b).every(n => a[n] === b[n]);

// A figure of a point: of the document, otherwise of the repeats.
function sweepPoint(group, name, value, figure, get) {
    const options = { ...group.options, [name]: value };
    const known = group.sweep && (group.sweep.points || []).find(p =>
        sameOptions(p.options, options));
    const f = known && known[figure];
    if (f && f.value !== null)
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
            series.push({ label: [g.key, label].filter(Boolean).join(" "),
                look: series.length, group: g,
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

function sweepSentence(group, name) {
    const { peak, knee } = sweepFound(group);
    if (!peak || !knee)
        return "";
    const of = group.key ? ` of ${group.key}` : "";
    const span = (x, text) => peak.estimated || x.low === x.high ? ""
        : ` (${text} ${x.low} to ${x.high})`;
    return `Peak${of}: ${name}=${peak.value}${
        span(peak, "no difference seen from")}${peak.still_rising
        ? "; still rising at the highest value" : ""}. Knee: ${name}=${
        knee.value}, the lowest with ${percent(knee.share)} of the peak${
        span(knee, "within the error margins from")}.${peak.estimated
        ? " There are no error margins: measure longer or use --repeat." : ""}`;
}

// Dashed lines with a name at peak and knee.
function paintFound(u, groups, scale) {
    const c = u.ctx, k = devicePixelRatio;
    const { top, height } = u.bbox;
    let row = 0;
    c.save();
    c.font = `${10 * k}px system-ui`;
    c.textBaseline = "top";
    c.setLineDash([3 * k, 3 * k]);
    c.lineWidth = k;
    for (const g of groups) {
        const found = sweepFound(g);
        const at = new Map();
        for (const what of ["knee", "peak"]) {
            if (found[what])
                at.set(found[what].value, [...(at.get(found[what].value) || []),
                    what]);
        }
        for (const [value, names] of at) {
            const x = Math.round(u.valToPos(scale.of(value), "x", true)) + 0.5;
            if (!Number.isFinite(x))
                continue;
            c.strokeStyle = c.fillStyle = css("--faint");
            c.beginPath();
            c.moveTo(x, top);
            c.lineTo(x, top + height);
            c.stroke();
            const right = x > u.bbox.left + u.bbox.width * 0.7;
            c.textAlign = right ? "right" : "left";
            c.fillText([names.join(", "), g.key].filter(Boolean).join(" "),
                x + (right ? -4 : 4) * k, top + 12 * k * (row++ % 5));
        }
    }
    c.restore();
}

function sweepCharts(main, runs) {
    const names = sweptNames(runs);
    const name = sweepAxis(runs, names);
    if (!name)
        return;
    const scale = sweepScale(runs, name);
    const groups = sweepGroups(runs, name, names);
    if (groups.length > MOST_GROUPS || !groups.some(g => g.points.size > 1))
        return;
    const found = groups.map(g => sweepSentence(g, name)).filter(Boolean);
    const chart = (title, unit, id, figures) => {
        const series = sweepSeries(groups, name, scale, figures);
        const repeats = Math.max(...series.flatMap(s => s.runs)) > 1;
        const bars = series.some(s => s.low.some(v => !Number.isNaN(v)));
        const c = new Chart({ id, title: `${title} over ${name}`, unit, series,
            points: true, errors: true, found: groups.map(sweepFound),
            summary: () => series.map(s => {
                let best = 0;
                s.y.forEach((v, i) => { if (v > s.y[best]) best = i; });
                return `${s.label}: highest ${withUnit(s.y[best], unit)} at ` +
                    `${name}=${scale.text(s.x[best])}.`;
            }).join(" "),
            note: [id === "sweep-throughput" ? found.join(" ") : "",
                repeats ? "A point is the mean of the repeats." : "",
                bars ? "Bars are 95 % confidence intervals." : ""]
                .filter(Boolean).join(" "),
            paint: u => paintFound(u, groups, scale),
            x: { format: v => `${name} ${scale.text(v)}`,
                scale: { ...(scale.log ? { distr: 3, log: 2 } : {}),
                    range: () => margins(scale.at, scale.log) },
                axis: { space: 30, size: 28, splits: () => scale.at,
                    filter: (u, s) => s,
                    values: (u, list) => list.map(v => v === null ? ""
                        : scale.numeric ? short(v) : scale.text(v)) } } });
        main.append(c.figure);
    };
    chart("Throughput", "events/s", "sweep-throughput",
        [["events/s", "throughput", r => r.mean]]);
    chart("Latency", "ms", "sweep-latency",
        [["p50", "p50", r => r.percentile(50)],
            ["p95", "p95", r => r.percentile(95)],
            ["p99", "p99", r => r.percentile(99)]]);
}

// The range of an axis, with room beside the first and last point.
function margins(values, log, share = 0.03) {
    const a = values[0], b = values[values.length - 1];
    if (a === b)
        return log ? [a / 2, a * 2] : [a - 1, a + 1];
    const f = (b / a) ** share, d = (b - a) * share;
    return log ? [a / f, b * f] : [a - d, b + d];
}
