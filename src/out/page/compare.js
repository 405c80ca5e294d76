// SPDX-License-Identifier: GPL-2.0-or-later
//
// The first parts of the page of a comparison (sysbench compare --html): the
// verdict, the differences with their confidence intervals, and what differs
// between the sides. The document: docs/internals/compare.md.

let SIDES = ["A", "B"]; // their names; the look of a side is its index
const MOST_DIFFERENCES = 30; // rows of the chart
const MOST_FILES = 4; // that are named

// "+1.23 %"
function signed(v) {
    if (!Number.isFinite(v))
        return MISSING;
    const t = (100 * Math.abs(v)).toFixed(2);
    return `${v < 0 && t !== "0.00" ? "\u2212" : "+"}${t} %`;
}

// How a verdict on a figure is shown: a sign, and the shape and the class of its
// colour in the chart.
const VERDICTS = {
    better: { sign: "\u25b2", shape: "triangle", name: "good" },
    worse: { sign: "\u25bc", shape: "down", name: "bad" },
    same: { sign: "\u25cb", shape: "circle", name: "" },
    none: { sign: "\u00d7", shape: "cross", name: "faint" } };

function verdictOf(f) {
    if (f.verdict === "none" || f.verdict === "same")
        return VERDICTS[f.verdict];
    if (f.better === null)
        return VERDICTS.same;
    const more = f.better ? f.better === "higher" : f.unit === "/s";
    return (f.verdict === "higher") === more ? VERDICTS.better : VERDICTS.worse;
}

function figureName(f, c) {
    if (f.better !== undefined) // a result of a script, or the headline
        return f.name;
    if (f.group === "costs")
        return `${f.figure} per event`;
    return f.name ? `${f.name} ${f.figure}` : f.unit !== "ms" ? f.figure
        : `${c.open_loop ? "response time" : "latency"} ${f.figure}`;
}

// An interval in words: "-1.00 % to +2.00 %".
function span(f) {
    return f.low === null ? MISSING : `${signed(f.low)} to ${signed(f.high)}`;
}

function verdictCell(f) {
    const v = verdictOf(f);
    return h("span", { class: `verdict ${v.name}` }, `${v.sign} ${f.words}`);
}

function sideBox(look, side, runs) {
    const sample = h("canvas", { "aria-hidden": "true" });
    sample.style.width = "34px";
    sample.style.height = "12px";
    const first = runs[0];
    const times = runs.map(r => r.doc.started).filter(Boolean).sort()
        .map(t => t.replace("T", " ").slice(0, 19));
    const box = h("div", null,
        h("h2", { class: "side" }, sample, ` ${side.name}${
            page.comparison.ab ? "" : `: ${side.files.length > MOST_FILES
                ? plural(side.files.length, "file") : side.files.join(", ")}`}`),
        h("p", { class: "facts" }, `${side.test}, ${plural(side.threads,
            "thread")}, ${plural(side.runs, "run")} of ${
            clock(+side.seconds.toPrecision(3))}`),
        first && h("p", { class: "facts" }, sentence(first)),
        times.length ? h("p", { class: "facts" }, `measured ${
            [...new Set([times[0], times.at(-1)])].join(" to ")} UTC`) : null,
        side.validity ? h("p", { class: "facts" }, sideChecks(side)) : null,
        h("p", null, Object.entries(first && first.doc.labels || {})
            .map(([k, v]) => h("span", { class: "label" }, `${k}: ${v}`))));
    return { box, paint: () => paintSample(sample, look) };
}

// Of how many runs of a side a check doubts the figures.
const doubtedRuns = ({ validity: v }) => v ? v.doubtful + v.bad : 0;

// What the checks of the figures of a side's runs say.
function sideChecks(side) {
    const n = doubtedRuns(side);
    const names = Object.entries(side.validity.checks).map(([name, k]) =>
        side.runs > 1 ? `${name} in ${k}` : name).join(", ");
    return n ? h("span", { class: "bad" }, `${n} of ${plural(side.runs, "run")} ` +
        `doubtful or bad: ${names}`) : "no check is doubtful";
}

// What tells where a server is: the sides show it.
const isPlace = d => d.name === "address" && d.kind === "server" ||
    d.kind === "option" && /(^|-)(host|port|socket)$/.test(d.name);

// The first differences between the sides, in a sentence. What users change on
// purpose comes first.
function differingSentence(c) {
    const most = 6;
    const kinds = ["label", "program", "workload", "script", "option", "setting",
        "server"];
    const rank = d => isPlace(d) ? kinds.length + 1
        : (kinds.indexOf(d.kind) + kinds.length + 1) % (kinds.length + 1);
    const both = d => d.kind !== "setting" || d.a.length && d.b.length;
    const list = c.differences.filter(both).sort((a, b) => rank(a) - rank(b));
    const named = list.some(d => !isPlace(d)) ? list.filter(d => !isPlace(d))
        : list;
    const text = d => d.a.length === 1 && d.b.length === 1
        ? `${d.name} (${d.a[0] || "empty"} / ${d.b[0] || "empty"})` : d.name;
    const more = c.differences.length - Math.min(named.length, most);
    return c.differences.length ? `What differs: ${[
        ...named.slice(0, most).map(text), more > 0 ? named.length
            ? `${more} more` : `${plural(more, "setting")} that only one server ` +
                "has" : ""]
        .filter(Boolean).join(", ")}.`
        : "Nothing else differs, as far as the results say.";
}

// Why the verdict is less certain than its interval.
function reserve(c) {
    const runs = c.sides.reduce((n, s) => n + s.runs, 0);
    const doubted = c.sides.reduce((n, s) => n + doubtedRuns(s), 0);
    return c.verdict === "none" ? "" : [runs === 2 ? "a single run of each" : "",
        doubted ? `${doubted} of ${runs} runs doubtful or bad` : ""]
        .filter(Boolean).join("; ");
}

// The verdict of B in a sentence, and how it is shown.
function headline(c) {
    const [a, b] = SIDES, margin = `${short(c.margin)} %`;
    if (c.different_work)
        return "No verdict: the sides did different work";
    return { better: `${b} is better than ${a}`,
        worse: `${b} is worse than ${a}`,
        equivalent: `${b} is equivalent to ${a} within ${margin}`,
        inconclusive: c.not_worse
            ? `${b} is not worse than ${a} by more than ${margin}, and may ` +
                "be better"
            : `Inconclusive: ${b} may be better or worse than ${a}`,
        none: "No verdict: too little data" }[c.verdict];
}

function lookOfVerdict(c) {
    return { better: VERDICTS.better, worse: VERDICTS.worse,
        none: VERDICTS.none }[c.verdict] || VERDICTS.same;
}

// The figure that decides.
function deciding(c) {
    const f = c.figures[0];
    if (!f || f.a.value === null || f.b.value === null)
        return "";
    const name = figureName(f, c);
    return `${name[0].toUpperCase()}${name.slice(1)}: ${
        withUnit(f.a.value, f.unit)} in ${SIDES[0]}, ${
        withUnit(f.b.value, f.unit)} in ${SIDES[1]}${
        f.difference === null ? "" : `, a difference of ${
            signed(f.difference)} (${f.low === null ? "no confidence interval"
            : `${short(c.confidence)} % confidence interval: ${span(f)}`})`}.`;
}

function comparisonHeader(top, c, runs) {
    const v = lookOfVerdict(c), less = reserve(c);
    const title = headline(c);
    const boxes = c.sides.map((s, i) =>
        sideBox(i, s, runs.filter(r => r.side === SIDES[i])));
    top.replaceChildren(
        h("h1", { id: "verdict", class: v.name, "data-verdict": c.verdict },
            `${v.sign} ${title}`, less ? h("small", { class: "reserve" },
                ` (${less})`) : null),
        h("p", { id: "sentence" }, deciding(c)),
        ...(c.ab && c.ab.differences ? [h("p", { id: "resolution" },
            resolutionSentence(c.ab))] : []),
        h("p", { id: "differs" }, differingSentence(c)),
        ...c.notes.map(n => h("p", { class: "end" }, n)),
        h("div", { class: "sides" }, boxes.map(b => b.box)));
    boxes.forEach(b => b.paint());
    document.title = `${title} \u2013 sysbench compare`;
}

// Returns the range of the chart. Values far beyond the deciding figure and the
// figures that differ are drawn at the edge, because an interval of hundreds of
// percent would leave no room for the others.
function differenceRange(list, margin) {
    const size = list.map(f => Math.abs(f.difference));
    const limit = Math.max(0.02, 3 * size[0], 1.5 * Math.max(0, ...size.filter(
        (s, i) => /higher|lower/.test(list[i].verdict))),
    5 * quantile([...size].sort((a, b) => a - b), 0.5));
    const ends = list.flatMap(f => [f.difference, f.low ?? f.difference,
        f.high ?? f.difference]).map(v => Math.min(Math.max(v, -limit), limit));
    const low = Math.min(0, -margin, ...ends);
    const high = Math.max(0, margin, ...ends);
    const room = 0.04 * (high - low);
    return [low - room, high + room];
}

// An interval, its ends, and the symbol of the verdict.
function paintDifference(u, f, y, k) {
    const c = u.ctx;
    const v = verdictOf(f);
    const left = u.bbox.left, right = left + u.bbox.width;
    const at = x => u.valToPos(x, "x", true);
    c.strokeStyle = c.fillStyle = css(v.name ? `--${v.name}` : "--ink");
    c.lineWidth = 2 * k;
    c.setLineDash([]);
    if (f.low !== null && f.high !== null) {
        c.beginPath();
        const ends = [[at(f.low), 1], [at(f.high), -1]].map(([x, d]) =>
            [Math.min(Math.max(x, left), right), d, x < left || x > right]);
        c.moveTo(ends[0][0], y);
        c.lineTo(ends[1][0], y);
        for (const [x, d, cut] of ends) {
            const inner = cut ? x + d * 5 * k : x;
            c.moveTo(inner, y - 5 * k);
            if (cut)
                c.lineTo(x, y);
            c.lineTo(inner, y + 5 * k);
        }
        c.stroke();
    }
    // One that is drawn at the edge leaves the arrow in sight.
    const place = at(f.difference);
    symbol(c, v.shape, place < left ? left + 11 * k : place > right
        ? right - 11 * k : place, y, 5 * k);
    if (f.verdict === "same") {
        c.fillStyle = css("--back");
        c.fill();
    } else if (f.verdict !== "none") {
        c.fill();
    }
    c.stroke();
}

function paintDifferences(u, list, margin) {
    const c = u.ctx, k = devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    const at = x => u.valToPos(x, "x", true);
    c.save();
    if (margin > 0) {
        c.fillStyle = faded(css("--ink"), 0.08);
        c.fillRect(at(-margin), top, at(margin) - at(-margin), height);
    }
    c.strokeStyle = css("--ink");
    c.lineWidth = k;
    c.setLineDash([4 * k, 3 * k]);
    c.beginPath();
    c.moveTo(at(0), top);
    c.lineTo(at(0), top + height);
    c.stroke();
    list.forEach((f, i) => {
        const y = u.valToPos(-i, "y", true);
        paintDifference(u, f, y, k);
        c.font = `${11 * k}px system-ui`;
        c.textAlign = "left";
        c.textBaseline = "middle";
        c.fillStyle = c.strokeStyle;
        c.fillText(u.width < 500 ? signed(f.difference) : f.words,
            left + width + 8 * k, y);
    });
    c.restore();
}

function differencesChart(c) {
    const list = c.figures.filter(f => f.difference !== null)
        .slice(0, MOST_DIFFERENCES);
    if (!list.length)
        return null;
    const order = list.map((f, i) => i).sort((a, b) =>
        list[a].difference - list[b].difference);
    const longest = Math.max(...list.map(f => figureName(f, c).length));
    const room = u => Math.min(6.5 * longest + 14, u.width < 500 ? 110 : 240);
    const fit = (u, f) => {
        const text = figureName(f, c), n = Math.floor((room(u) - 14) / 6.5);
        const end = ` ${f.figure}`;
        return text.length <= n ? text
            : `${text.slice(0, Math.max(n - 1 - end.length, 1))}\u2026${end}`;
    };
    const margin = c.margin / 100;
    const text = f => `${figureName(f, c)}: ${signed(f.difference)}, interval ` +
        `${span(f)}, ${f.words}`;
    return new Chart({ id: "differences-chart", bare: true, keyed: false,
        title: `Difference of ${SIDES[1]} from ${SIDES[0]}`, unit: "%",
        height: 46 + 26 * list.length, tall: true,
        right: width => 14 + 6.2 * Math.max(...list.map(f => (width < 500
            ? signed(f.difference) : f.words).length)),
        series: [{ label: "difference", look: 0,
            x: Float64Array.from(order, i => list[i].difference),
            y: Float64Array.from(order, i => -i) }],
        scale: { range: () => [0.6 - list.length, 0.6 - 0.2] },
        x: { format: () => "", scale: { range: () =>
            differenceRange(list, margin) },
        axis: { size: 28, space: 56, values: (u, xs) => xs.map(x =>
            `${x > 0 ? "+" : ""}${short(+(100 * x).toPrecision(6))} %`) } },
        yAxis: { size: room, splits: () => list.map((f, i) => -i),
            grid: { show: false }, ticks: { show: false },
            values: u => list.map(f => fit(u, f)) },
        format: y => text(list[-y]),
        summary: () => list.map(text).join(". ") + ".",
        paint: u => paintDifferences(u, list, margin),
        note: `The bars are ${short(c.confidence)} % confidence intervals; an ` +
            "arrow: it is longer than drawn. " +
            `\u25b2 ${SIDES[1]} is better, \u25bc ${SIDES[1]} is worse, ` +
            "\u25cb no difference seen, \u00d7 too little data." +
            (margin > 0 ? " The margin is shaded." : "") +
            (list.length < c.figures.length ? ` The first ${list.length} of ` +
                `${c.figures.length} figures are drawn.` : "") });
}

function figuresSection(main, c) {
    const chart = differencesChart(c);
    const rows = c.figures.map(f => {
        const above = i => (f.lower_bounds || [])[i] ? "> " : "";
        const v = (x, i) => value(x ?? NaN,
            above(i) + withUnit(x ?? NaN, f.unit));
        const p = x => value(x ?? NaN, signed(x ?? NaN));
        // What a narrow screen shows first is what was found.
        return [figureName(f, c), verdictCell(f), p(f.difference),
            value(f.low ?? NaN, span(f)), v(f.a.value, 0), v(f.b.value, 1)];
    });
    section(main, "figures", "Figures", chart && chart.figure,
        table("Figures of the sides", [{ text: "figure" },
            { text: `verdict of ${SIDES[1]}` },
            { text: "difference", n: true },
            { text: `${short(c.confidence)} % interval`, n: true },
            { text: SIDES[0], n: true }, { text: SIDES[1], n: true }], rows,
        100),
        h("p", { class: "note" }, "The first figure decides. The verdicts on " +
            "the others are corrected for their number; their intervals " +
            "are not."));
}

// Documents of earlier versions have no rates of errors.
function workSection(main, c) {
    const work = (c.work || []).filter(w => w.a || w.b);
    const share = x => value(x ?? NaN, x === null ? MISSING : `${short(x)} %`);
    if (work.length)
        section(main, "work", "Errors, restarts, lookups without a result",
            table("Rates of both sides", [{ text: "rate" },
                { text: SIDES[0], n: true }, { text: SIDES[1], n: true },
                { text: "" }], work.map(w => [`${w.name}, % of ${w.of}`,
                share(w.a), share(w.b), w.differs
                    ? h("span", { class: "bad" }, "differs") : "similar"])));
}

const KINDS = { program: "sysbench", workload: "workload", script: "script",
    option: "option",
    users: "how users were run", server: "server",
    setting: "setting of the server", client: "client", label: "label" };

function differencesSection(main, c) {
    const s = section(main, "differences", "What differs between the sides");
    const text = list => list.length
        ? list.slice(0, 5).map(v => v || "(empty)").join(", ") +
            (list.length > 5 ? `, ${list.length - 5} more` : "") : MISSING;
    const facts = (title, list) => table(title,
        [{ text: "name" }, { text: "kind" }, { text: SIDES[0], t: true },
            { text: SIDES[1], t: true }], list.map(d =>
            [d.name, KINDS[d.kind] || d.kind, text(d.a), text(d.b)]));
    // Of another product, nearly all.
    const single = d => d.kind === "setting" && !(d.a.length && d.b.length);
    const lone = c.differences.filter(single);
    if (lone.length < c.differences.length)
        s.append(facts("Facts of the runs that are not the same on both sides",
            c.differences.filter(d => !single(d))));
    if (lone.length)
        s.append(h("details", null, h("summary", null,
            `${plural(lone.length, "setting")} that only one server has`),
        facts("Settings that only one server has", lone)));
    if (!c.differences.length)
        s.append(h("p", null, "Nothing: program, workload, options, server, " +
            "its settings and the client are the same, as far as the results " +
            "say."));
}

// Throughput of each run: what repeats are for.
function repeatsChart(main, runs) {
    const sides = SIDES.map(s => runs.filter(r => r.side === s));
    const most = Math.max(...sides.map(s => s.length));
    if (most < 2)
        return;
    const numbers = Array.from({ length: most }, (x, i) => i + 1);
    main.append(new Chart({ id: "repeats", title: "Throughput of each run",
        unit: "events/s", height: 190, points: true,
        scale: { range: (u, min, max) => margins([min, max], false, 0.15) },
        series: sides.map((list, i) => ({ label: SIDES[i], look: i,
            x: Float64Array.from(list, (r, k) => k + 1),
            y: Float64Array.from(list, r => r.mean) })),
        x: { format: v => `run ${v}`,
            scale: { range: () => margins([1, most], false) },
            axis: { size: 28, space: 30, splits: () => numbers,
                values: (u, list) => list } } }).figure);
}

// An effect of the order of the runs that is more than chance: two are looked at.
const orderEffect = (effect, what) => effect && effect.p < 0.005
    ? ` ${what}: ${signed(effect.value)}.` : "";

// What the A/A pairs of sysbench ab say of the place, and how many pairs the answer
// took.
function resolutionSentence(ab) {
    const most = Math.max(...ab.same.map(Math.abs)), r = ab.resolution.value;
    const pairs_ = plural(ab.differences.length, "pair");
    return `The answer ${ab.verdict === "unknown" ? `is not known after ${pairs_}`
        : `took ${pairs_}`}.${ab.same.length ? ` Runs of ${ab.a} alone differed by up to ${
            short(+(100 * most).toPrecision(2))} %.` : ""}${r === null ? ""
        : ` With ${ab.planned} pairs, this place shows differences from ${
            short(+(ab.margin + 100 * r).toPrecision(2))} % on.`}`;
}

// The pairs of sysbench ab.
function pairsSection(main, ab) {
    const n = ab.differences.length, aa = ab.same.length;
    const list = (values, first) => ({
        x: Float64Array.from(values, (v, i) => i + first),
        y: Float64Array.from(values, v => 100 * v) });
    const chart = new Chart({ id: "pairs-chart", unit: "%", height: 220,
        title: `Difference of ${ab.figure} in each pair`, points: true,
        loose: true,
        series: [{ label: `${ab.b} over ${ab.a}`, look: 0,
            ...list(ab.differences, 1) },
        ...aa ? [{ label: `${ab.a} over itself`, look: 1,
            ...list(ab.same, 1 - aa) }] : []],
        scale: { range: (u, low, high) => margins([Math.min(low, -ab.margin),
            Math.max(high, ab.margin)], false, 0.1) },
        x: { format: v => v > 0 ? `pair ${v}` : `A/A pair ${v + aa}`,
            scale: { range: () => margins([1 - aa, Math.max(n, 1)], false) },
            axis: { size: 28, space: 30, incrs: [1, 2, 5, 10, 20, 50, 100],
                values: (u, xs) => xs.map(x => x > 0 ? x : "") } },
        paint: u => {
            const c = u.ctx, at = y => u.valToPos(y, "y", true);
            c.save();
            c.fillStyle = faded(css("--ink"), 0.08);
            c.fillRect(u.bbox.left, at(ab.margin), u.bbox.width,
                at(-ab.margin) - at(ab.margin));
            c.restore();
        },
        note: "The margin is shaded. The differences between runs of the same " +
            "side are chance." +
            orderEffect(ab.order, "The second run of a pair differs from the " +
                "first") +
            orderEffect(ab.carry, `Runs after one of ${ab.b} differ from ` +
                "others") });
    section(main, "pairs", "Pairs", h("p", null, `${plural(n, "pair")} of runs ` +
        `of ${ab.a} and ${ab.b}, ${aa ? `after ${plural(aa, "pair")} of ${ab.a} ` +
        "alone" : "without A/A pairs"}; chance decided which side came first.`),
    chart.figure);
}

function comparisonSections(top, main, c, runs) {
    comparisonHeader(top, c, runs);
    figuresSection(main, c);
    if (c.ab && c.ab.differences)
        pairsSection(main, c.ab);
    repeatsChart(main.lastChild, runs);
    workSection(main, c);
    differencesSection(main, c);
}
