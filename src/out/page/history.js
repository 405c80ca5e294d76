// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page of results over time (sysbench history --html): the verdict on the
// newest result, and a chart of each figure with its changes. The document:
// docs/history.schema.json.

// A change has 3 results on each side (SB_CHANGES_SIDE_MIN).
const HISTORY_FEW = 6;
const HISTORY_VERDICTS = { better: VERDICTS.better, worse: VERDICTS.worse,
    "as before": VERDICTS.same, undecided: VERDICTS.none,
    "not enough history": VERDICTS.none };

const timeText = t => t.replace("T", " ").slice(0, 19);

// "c30, 2026-11-02 06:00"
function pointText(p) {
    const time = timeText(p.started || "");
    return p.label && time ? `${p.label}, ${time.slice(0, 16)}`
        : p.label || time || MISSING;
}

// A difference: a share of the level, or in the unit of the figure.
function changeText(f, v) {
    if (!Number.isFinite(v))
        return MISSING;
    return f.relative ? signed(v) : `${v < 0 ? "\u2212" : "+"}${
        withUnit(Math.abs(v), f.unit)}`;
}

function changeSpan(f, d) {
    return d.low === null ? MISSING
        : `${changeText(f, d.low)} to ${changeText(f, d.high)}`;
}

function historyMark(word, text) {
    const v = HISTORY_VERDICTS[word];
    return h("span", { class: `verdict ${v.name}` }, `${v.sign} ${text || word}`);
}

// The levels as lines, a dashed line with a sign at each change, and the newest
// result with the sign of its verdict.
function paintHistory(u, f, s) {
    const c = u.ctx, k = devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    const x = v => Math.min(Math.max(u.valToPos(v, "x", true), left),
        left + width);
    const y = v => u.valToPos(v, "y", true);
    const n = f.values.length;
    c.save();
    c.setLineDash([]);
    let from = 0;
    const levels = f.changes.map(one => {
        const level = [from, one.at - 1, one.before];
        from = one.at;
        return level;
    });
    if (f.changes.length)
        levels.push([from, n - 1, f.changes.at(-1).after]);
    c.strokeStyle = faded(color(1), 0.85);
    c.lineWidth = 3 * k;
    for (const [a, b, level] of levels) {
        c.beginPath();
        c.moveTo(x(a - 0.5), y(level));
        c.lineTo(x(b + 0.5), y(level));
        c.stroke();
    }
    for (const one of f.changes) {
        const v = HISTORY_VERDICTS[one.word];
        c.strokeStyle = c.fillStyle = css(`--${v.name}`);
        c.lineWidth = k;
        c.setLineDash([4 * k, 3 * k]);
        c.beginPath();
        c.moveTo(x(one.at - 0.5), top);
        c.lineTo(x(one.at - 0.5), top + height);
        c.stroke();
        c.setLineDash([]);
        symbol(c, v.shape, x(one.at - 0.5), top + 7 * k, 5 * k);
        c.fill();
    }
    if (s.newest && f.values[n - 1] !== null) {
        const v = HISTORY_VERDICTS[f.newest.verdict];
        c.strokeStyle = css(v.name ? `--${v.name}` : "--ink");
        c.lineWidth = 2 * k;
        symbol(c, v.shape, x(n - 1), y(f.values[n - 1]), 8 * k);
        c.stroke();
    }
    c.restore();
}

function historyChart(f, s, id) {
    const points = s.points, n = points.length;
    const days = new Set(points.map(p => (p.started || "").slice(0, 10)));
    const axisName = p => p.label ? p.label.slice(0, 10)
        : timeText(p.started || MISSING).slice(...days.size > 1 ? [0, 10] : [11]);
    // The axis spans at least a tenth of the level, so that chance looks small.
    const room = (min, max) => f.relative
        ? Math.max(0, 0.1 * Math.abs(min + max) / 2 - (max - min)) / 2 : 0;
    const text = f.changes.map(c => `${changeText(f, c.difference.value)} since ${
        c.since}, ${c.word}`);
    return new Chart({ id, title: f.figure, unit: f.unit,
        height: 220, points: n <= 60, keyed: false,
        scale: { range: (u, min, max) => margins([min - room(min, max),
            max + room(min, max)], false, 0.08) },
        series: [{ label: f.figure, look: 0,
            x: Float64Array.from(points, (p, i) => i),
            y: Float64Array.from(f.values, v => v ?? NaN) }],
        x: { format: i => pointText(points[i] || {}),
            scale: { range: () => [-0.7, Math.max(n, 2) - 0.3] },
            axis: { size: 28, space: 90,
                splits: (u, axis, min, max, incr) => {
                    const step = Math.max(1, Math.round(incr)), out = [];
                    for (let i = 0; i < n; i += step)
                        out.push(i);
                    return out;
                },
                values: (u, list) => list.map(i => points[i]
                    ? axisName(points[i]) : "") } },
        paint: u => paintHistory(u, f, s),
        summary: () => `${plural(n, "result")}. ${text.length
            ? text.join(". ") : "No change was found"}. The newest one is ${
            withUnit(f.values[n - 1], f.unit)}.` });
}

function historyNewest(s, figures) {
    const rows = figures.map(f => [f.figure,
        historyMark(f.newest.verdict),
        value(f.newest.change.value ?? NaN,
            changeText(f, f.newest.change.value ?? NaN)),
        changeSpan(f, f.newest.change),
        value(f.newest.before ?? NaN, withUnit(f.newest.before ?? NaN, f.unit)),
        value(f.values.at(-1) ?? NaN, withUnit(f.values.at(-1) ?? NaN, f.unit))]);
    return table(`The newest result: ${pointText(s.points.at(-1))}`,
        [{ text: "figure" }, { text: "verdict" }, { text: "change", n: true },
            { text: "interval", n: true }, { text: "level before", n: true },
            { text: "newest", n: true }], rows);
}

function historyChanges(s) {
    const differs = c => (c.differences || []).map(d => `${d.name} ${
        d.a.join(", ") || MISSING} \u2192 ${d.b.join(", ") || MISSING}`).join("; ");
    const rows = s.figures.flatMap(f => f.changes.map(c => [f.figure,
        h("span", { class: "verdict" }, pointText(s.points[c.at])),
        historyMark(c.word),
        value(c.difference.value, changeText(f, c.difference.value)),
        changeSpan(f, c.difference), value(c.before, withUnit(c.before, f.unit)),
        value(c.after, withUnit(c.after, f.unit)), differs(c)]));
    return rows.length ? table("Changes", [{ text: "figure" },
        { text: "since" }, { text: "" }, { text: "change", n: true },
        { text: "interval", n: true }, { text: "before", n: true },
        { text: "after", n: true }, { text: "what else differs", t: true }],
    rows, 50) : h("p", null, s.points.length < HISTORY_FEW
        ? `At least ${HISTORY_FEW} results are needed to find changes.`
        : "No change was found.");
}

function historySeries(main, s, i) {
    const shown = s.figures.filter(f => f.figure !== "errors" ||
        f.values.some(v => v > 0));
    section(main, `series-${i + 1}`, s.name,
        s.newest ? null : h("p", { class: "faint" },
            "The newest results have none of this series."),
        ...shown.map((f, k) =>
            historyChart(f, s, `history-${i + 1}-${k + 1}`).figure),
        s.newest ? historyNewest(s, shown) : null, historyChanges(s));
}

function historySections(top, main, d) {
    const v = HISTORY_VERDICTS[d.verdict];
    const newest = d.series.filter(s => s.newest);
    const title = `${/^\d{4}-\d\d-\d\dT/.test(d.newest || "")
        ? timeText(d.newest) : d.newest || MISSING}: ${d.verdict}`;
    top.replaceChildren(
        h("h1", { id: "verdict", class: v.name, "data-verdict": d.verdict },
            `${v.sign} ${title}`),
        ...newest.map(s => h("p", null, h("b", null, `${s.name}: `), s.sentence)),
        ...(d.reason ? [h("p", null, d.reason)] : []),
        h("p", { class: "facts" }, `${plural(d.runs, "run")} in ${
            plural(d.files, "file")}; ${plural(d.series.length,
            "series").replace(/seriess$/, "series")}; intervals of ${
            short(d.confidence)} %${d.margin
            ? `, margin ${short(d.margin)} %` : ""}`),
        ...d.notes.map(n => h("p", { class: "note" }, n)));
    document.title = `${title} \u2013 sysbench history`;
    d.series.forEach((s, i) => historySeries(main, s, i));
    main.append(h("p", { class: "note" }, "A point is a result. Thick lines are the " +
        "levels between changes; \u25b2 and \u25bc are changes for the better " +
        "and for the worse. The large sign is the newest result."));
}
