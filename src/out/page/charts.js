// SPDX-License-Identifier: GPL-2.0-or-later
//
// Charts, drawn with uPlot. A chart is a figure with a title, a sentence for
// readers who cannot see it, a key and the drawing. Lines differ by colour, by
// dashes, by symbols and by a label at their right end.

const DASHES = [[], [8, 3], [2, 3], [8, 3, 2, 3], [14, 4], [5, 5], [1, 2],
    [14, 3, 2, 3, 2, 3]];
const SHAPES = ["circle", "square", "triangle", "diamond", "plus", "cross",
    "down", "star"];
const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5,
    10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400, 172800];

const BYTES = Array.from({ length: 60 }, (x, i) => 2 ** i);

const NARROW = 36;      // room for labels in a narrow chart, pixels
const SYMBOL_ROOM = 14; // least distance of symbols, pixels

const charts = [];   // all charts of the page, drawn or not
const timeline = { from: 0, to: 1, all: [0, 1], marks: [], print: 0 };

let palette = null;  // values of the custom properties of report.css
function css(name) {
    if (!palette)
        palette = new Map();
    let v = palette.get(name);
    if (v === undefined) {
        v = getComputedStyle(document.documentElement)
            .getPropertyValue(name).trim();
        palette.set(name, v);
    }
    return v;
}

function color(look) {
    return css(`--c${look % 8}`);
}

function faded(c, alpha) {
    const n = parseInt(c.slice(1), 16);
    return `rgba(${n >> 16},${n >> 8 & 255},${n & 255},${alpha})`;
}

// A path of one of SHAPES around x, y. "plus", "cross" and "star" are lines.
function symbol(c, shape, x, y, r) {
    const line = (...p) => {
        c.moveTo(x + p[0] * r, y + p[1] * r);
        for (let i = 2; i < p.length; i += 2)
            c.lineTo(x + p[i] * r, y + p[i + 1] * r);
    };
    c.beginPath();
    switch (shape) {
    case "circle": c.arc(x, y, r, 0, 7); break;
    case "square": c.rect(x - r * .9, y - r * .9, r * 1.8, r * 1.8); break;
    case "triangle": line(0, -1.1, 1, .8, -1, .8); c.closePath(); break;
    case "down": line(0, 1.1, 1, -.8, -1, -.8); c.closePath(); break;
    case "diamond": line(0, -1.2, 1, 0, 0, 1.2, -1, 0); c.closePath(); break;
    case "plus": line(-1, 0, 1, 0); line(0, -1, 0, 1); break;
    case "cross": line(-.8, -.8, .8, .8); line(-.8, .8, .8, -.8); break;
    default: line(-1, 0, 1, 0); line(-.5, -.9, .5, .9); line(-.5, .9, .5, -.9);
    }
}

function paintSymbol(c, look, x, y, r) {
    symbol(c, SHAPES[look % SHAPES.length], x, y, r);
    c.setLineDash([]);
    c.lineWidth = r * 0.45;
    c.strokeStyle = color(look);
    c.fillStyle = css("--back");
    c.fill();
    c.stroke();
}

// The sample of a series in the key.
function paintSample(canvas, look) {
    const k = 2;
    canvas.width = 34 * k;
    canvas.height = 12 * k;
    const c = canvas.getContext("2d");
    c.strokeStyle = color(look);
    c.lineWidth = 1.5 * k;
    c.setLineDash(DASHES[look % DASHES.length].map(d => d * k));
    c.beginPath();
    c.moveTo(0, 6 * k);
    c.lineTo(34 * k, 6 * k);
    c.stroke();
    paintSymbol(c, look, 17 * k, 6 * k, 3.4 * k);
}

// 1, 2 and 5 of each power of ten, or only the powers if there are many.
function logSplits(u, axis, min, max) {
    const out = [];
    const wide = Math.log10(max / min) > 3;
    for (let e = Math.floor(Math.log10(min)); 10 ** e <= max; e++) {
        for (const m of wide ? [1] : [1, 2, 5]) {
            const v = +(m * 10 ** e).toPrecision(1);
            if (v >= min * 0.999 && v <= max * 1.001)
                out.push(v);
        }
    }
    return out;
}

// How far an error bar may reach, of the highest value.
const MOST_BAR = 1.6;

class Chart {
    // spec: title, unit, series [{label, look, x, y}], time (on the timeline),
    // height, log (switch for a logarithmic axis), small, marks, note, x (axis
    // of a chart that is not on the timeline), points, loose (points without
    // lines), errors (error bars), paint (draws below the lines), bare (draws
    // nothing else), right (width of the room at the right), format (of
    // values).
    constructor(spec) {
        this.spec = { height: 240, ...spec };
        this.hidden = new Set();
        this.log = !!spec.logFirst;
        this.build();
        charts.push(this);
        this.plot.chart = this;
        if (watcher)
            watcher.observe(this.plot);
    }

    get format() {
        return this.spec.format || (v => withUnit(v, this.spec.unit));
    }

    build() {
        const s = this.spec;
        this.at = h("span", { class: "at" });
        this.outputs = [];
        this.samples = [];
        const alone = s.series.length === 1 && !s.keyed;
        this.alone = alone;
        this.key = alone || s.noKey ? null : h("div", { class: "key" },
            s.series.map((one, i) => this.keyButton(one, i)));
        if (alone) {
            this.outputs = [this.at];
        }
        this.plot = h("div", { class: "plot", tabindex: 0, role: "img",
            "aria-label": s.title,
            "aria-roledescription": "chart", onkeydown: e => this.press(e) });
        this.note = h("p", { class: "note" });
        this.figure = h("figure", { id: s.id },
            h("figcaption", null, h("b", null, s.title),
                // Times have their units at the axis.
                s.unit && s.unit !== "ms" && !s.small
                    ? h("span", { class: "faint" }, s.unit) : null, this.at),
            this.key,
            s.log || s.extra ? h("div", { class: "bar" },
                s.log ? this.logButton() : null, s.extra) : null,
            this.plot, this.note);
    }

    keyButton(one, i) {
        const sample = h("canvas", { "aria-hidden": "true" });
        sample.style.width = "34px";
        sample.style.height = "12px";
        this.samples.push([sample, one.look]);
        const out = h("output");
        this.outputs.push(out);
        return h("button", { type: "button", "aria-pressed": "true",
            title: one.label,
            onclick: e => {
                const b = e.currentTarget;
                const off = !this.hidden.has(i);
                if (off)
                    this.hidden.add(i);
                else
                    this.hidden.delete(i);
                b.setAttribute("aria-pressed", String(!off));
                this.remake();
            } }, sample, h("span", null, one.label), out);
    }

    logButton() {
        const b = h("button", { type: "button", class: "screen",
            "aria-pressed": String(this.log), onclick: () => {
                this.log = !this.log;
                b.setAttribute("aria-pressed", String(this.log));
                this.remake();
            } }, "Logarithmic axis");
        return b;
    }

    // The text for readers who cannot see the chart, and the note below it.
    describe() {
        const s = this.spec;
        const text = s.summary ? s.summary() : s.series.map(one => {
            let low = Infinity, high = -Infinity, sum = 0, n = 0;
            const y = one.y;
            for (let i = 0; i < y.length; i++) {
                const v = y[i];
                if (Number.isNaN(v))
                    continue;
                if (v < low)
                    low = v;
                if (v > high)
                    high = v;
                sum += v;
                n++;
            }
            return n ? `${one.label}: mean ${this.format(sum / n)}, ` +
                `minimum ${this.format(low)}, maximum ${this.format(high)}.`
                : `${one.label}: no values.`;
        }).join(" ");
        this.text = text;
        this.plot.setAttribute("aria-label", `${s.title}. ${text}`);
    }

    get width() {
        return timeline.print || Math.max(this.plot.clientWidth, 120);
    }

    draw() {
        if (this.u)
            return;
        for (const [canvas, look] of this.samples)
            paintSample(canvas, look);
        this.make();
    }

    remake() {
        if (!this.u)
            return;
        this.u.destroy();
        this.u = null;
        for (const [canvas, look] of this.samples)
            paintSample(canvas, look);
        this.make();
    }

    make() {
        const reduced = this.data();
        this.u = new uPlot(this.options(reduced), this.arrays(reduced),
            this.plot);
        this.say(reduced);
        this.describe();
    }

    shown() {
        return this.spec.series.filter((s, i) => !this.hidden.has(i));
    }

    data() {
        const s = this.spec;
        const range = s.time ? [timeline.from, timeline.to]
            : [-Infinity, Infinity];
        const inner = Math.max(this.width - 70, 60);
        const one = this.shown();
        if (!s.time)
            return union(one, one.map(x => [0, x.x.length]));
        return reduce(one, range[0], range[1], inner);
    }

    // x, means, then low and high of each series.
    arrays(r) {
        const log = this.log;
        const clean = a => a && log ? a.map(v => v > 0 ? v : null) : a;
        const empty = new Array(r.x.length).fill(null);
        const out = [r.x, ...r.mean.map(clean)];
        r.low.forEach((low, i) => {
            out.push(clean(low) || empty, clean(r.high[i]) || empty);
        });
        return out;
    }

    say(r) {
        const s = this.spec;
        const parts = [];
        if (r.step > 1)
            parts.push(`A point is the mean of ${num(r.step, 2)} intervals, ` +
                "the band reaches from their minimum to their maximum.");
        if (s.note)
            parts.push(s.note);
        this.note.textContent = s.small ? "" : parts.join(" ");
    }

    update() {
        if (!this.u)
            return;
        const r = this.data();
        const s = this.spec;
        this.u.batch(() => {
            this.u.setData(this.arrays(r), !s.time);
            if (s.time)
                this.u.setScale("x", { min: timeline.from, max: timeline.to });
        });
        this.say(r);
    }

    resize() {
        if (!this.u || !this.width || this.u.width === this.width)
            return;
        this.u.setSize({ width: this.width, height: this.height });
        this.update();
    }

    get height() {
        return this.spec.small ? 120
            : this.width < 420 && !this.spec.tall ? 190
            : this.spec.height;
    }

    axis(more) {
        return { stroke: () => css("--faint"), font: "11px system-ui",
            grid: { stroke: () => css("--grid"), width: 1 },
            ticks: { stroke: () => css("--grid"), width: 1, size: 4 },
            gap: 3, ...more };
    }

    xAxis() {
        const s = this.spec;
        if (!s.time)
            return this.axis(s.x && s.x.axis || {});
        return this.axis({ incrs: SECONDS, size: 28, space: 60,
            values: (u, list) => {
                const long = timeline.to > 600;
                return list.map(v => v === null ? "" : clock(v, long));
            } });
    }

    yAxis() {
        const s = this.spec;
        const text = v => v === null ? "" : s.unit === "B" ? bytes(v)
            : s.unit === "ms" ? shortMs(v)
            : Math.abs(v) >= 1e6 ? `${short(v / 1e6)}M`
                : Math.abs(v) >= 1e5 ? `${short(v / 1e3)}k` : short(v);
        const log = this.log || s.scale && s.scale.distr === 3;
        return this.axis({ size: s.time || s.unit === "ms" ? 58 : 52,
            space: s.small ? 28 : 36,
            ...(s.unit === "B" ? { incrs: BYTES } : {}),
            ...(log ? { splits: logSplits, filter: (u, list) => list } : {}),
            values: (u, list) => list.map(text), ...(s.yAxis || {}) });
    }

    options(r) {
        const s = this.spec;
        const shown = this.shown();
        const dense = r.step > 1;
        const lines = shown.map(one => ({
            label: one.label, scale: "y", stroke: () => color(one.look),
            width: s.small ? 1.25 : 1.5, dash: DASHES[one.look % 8],
            ...(s.bare || s.loose ? { paths: () => null } : {}),
            spanGaps: this.spans(shown), points: { show: false } }));
        const edges = shown.flatMap(() => [0, 1].map(() => ({ scale: "y",
            stroke: "transparent", width: 0, points: { show: false } })));
        const first = shown.length + 1;
        const labels = s.small || this.alone ? [] : shown;
        // Charts on the timeline have the same width, so that moments are
        // below each other.
        const narrow = this.width < 500;
        // The letters of marks are above the lines.
        this.head = s.marks && timeline.marks.length ? 15 : 8;
        const right = s.right ? s.right(this.width) : s.small ? 22
            : s.time ? narrow ? NARROW : 124
            : !labels.length ? 22 : Math.min(narrow ? NARROW : 180,
                22 + 6.5 * Math.max(...labels.map(l => l.label.length)));
        return {
            width: this.width, height: this.height,
            padding: [this.head, right, 0, 0],
            legend: { show: false },
            cursor: { sync: s.time ? { key: "time" } : undefined, y: false,
                drag: { x: !!s.time, y: false, setScale: false },
                points: { size: 6 } },
            scales: {
                x: { time: false, ...(s.x && s.x.scale || {}),
                    ...(s.time ? { range: () => [timeline.from, timeline.to] }
                        : {}) },
                y: this.scale() },
            series: [{}, ...lines, ...edges],
            bands: dense ? shown.map((one, i) => ({
                series: [first + 2 * i + 1, first + 2 * i],
                fill: () => faded(color(one.look), 0.18) })) : [],
            axes: [this.xAxis(), this.yAxis()],
            hooks: {
                drawAxes: [u => s.paint && s.paint(u, this)],
                draw: [u => this.over(u, right)],
                setCursor: [u => this.point(u)],
                setSelect: [u => this.select(u)] } };
    }

    // Lines with x values of their own continue where only others have values.
    spans(shown) {
        return shown.length > 1 && !shown.every(a => a.x === shown[0].x);
    }

    scale() {
        if (this.spec.scale)
            return this.spec.scale;
        if (this.log)
            return { distr: 3, log: 10 };
        const zero = this.spec.fromZero !== false;
        return { range: (u, min, max) => {
            if (min === null || max === null)
                return [0, 1];
            if (this.spec.errors)
                max = this.withErrors(max);
            const low = zero ? Math.min(min, 0) : min;
            if (max === low)
                return [low, max + (Math.abs(max) || 1)];
            const [, top] = uPlot.rangeNum(low, max, 0.06, true);
            return [low, top];
        } };
    }

    // The highest value with the repeats and error bars; bars that would leave no
    // room for the values are longer than drawn.
    withErrors(max) {
        const all = f => this.shown().flatMap(one => (one[f] || []).flat())
            .filter(v => Number.isFinite(v));
        const values = Math.max(max, ...all("dots"));
        return Math.min(Math.max(values, ...all("high")), MOST_BAR * values);
    }

    // Symbols and labels of lines, marks, error bars.
    over(u, right) {
        const c = u.ctx, k = devicePixelRatio;
        c.save();
        c.beginPath();
        // With room for a symbol at each edge.
        c.rect(u.bbox.left - 6 * k, u.bbox.top - this.head * k,
            u.bbox.width + 12 * k, u.bbox.height + (this.head + 6) * k);
        c.clip();
        if (this.spec.marks)
            this.letters = paintMarks(u, k, this.head);
        const shown = this.shown();
        if (this.spec.errors) {
            paintErrors(u, shown, k);
            paintDots(u, shown, k);
        }
        const ends = [];
        shown.forEach((one, i) => {
            const end = this.spread(u, one, i, k);
            if (end !== null && !this.spec.small && !this.alone)
                ends.push({ y: end, text: one.label, look: one.look });
        });
        c.restore();
        if (ends.length)
            paintLabels(u, ends, right, k);
    }

    // Symbols on all points of a line if there is room, otherwise only on points
    // without neighbours, to which no line leads. Returns the y of the last point
    // in pixels.
    spread(u, one, i, k) {
        const x = u.data[0], y = u.data[i + 1], s = this.spec;
        const is = j => y[j] !== null && y[j] !== undefined;
        const at = [];
        for (let j = 0; j < x.length; j++) {
            if (is(j) && x[j] >= u.scales.x.min && x[j] <= u.scales.x.max)
                at.push(j);
        }
        const all = s.points || !s.small && !s.bare &&
            at.length * SYMBOL_ROOM * k <= u.bbox.width;
        const spans = this.spans(this.shown());
        const lone = j => spans ? at.length === 1 : !is(j - 1) && !is(j + 1);
        one.symbols = 0;
        for (const j of s.bare ? [] : at) {
            if (!all && !lone(j))
                continue;
            paintSymbol(u.ctx, one.look, u.valToPos(x[j], "x", true),
                u.valToPos(y[j], "y", true), (s.small ? 2.4 : 3.2) * k);
            one.symbols++;
        }
        const end = at.length ? u.valToPos(y[at.at(-1)], "y", true) : NaN;
        return Number.isFinite(end) ? end : null;
    }

    point(u) {
        const i = u.cursor.idx;
        const s = this.spec;
        if (i === null || i === undefined || u.cursor.left < 0) {
            this.outputs.forEach(o => { o.textContent = ""; });
            this.at.textContent = "";
            return;
        }
        const x = u.data[0][i];
        const at = s.time ? clock(x, timeline.to > 600)
            : s.x && s.x.format ? s.x.format(x) : num(x);
        if (!this.alone)
            this.at.textContent = s.readout ? s.readout(u, x) : at;
        let k = 1;
        s.series.forEach((one, j) => {
            if (!this.outputs[j])
                return;
            const v = this.hidden.has(j) ? null : u.data[k++][i];
            const text = v === null || v === undefined ? MISSING
                : this.format(v);
            this.outputs[j].textContent = this.outputs[j] === this.at
                ? `${at}: ${text}` : text;
        });
    }

    select(u) {
        if (!this.spec.time || u.select.width < 4)
            return;
        const from = u.posToVal(u.select.left, "x");
        const to = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        if (this.spec.onselect)
            this.spec.onselect(from, to);
        else
            zoom(from, to);
    }

    // Arrow keys move the cursor, + and - zoom, Escape shows everything.
    press(e) {
        const u = this.u;
        if (!u)
            return;
        const x = u.data[0], { min, max } = u.scales.x;
        const first = firstFrom(x, min);
        let last = firstFrom(x, max);
        if (!(x[last] <= max))
            last--;
        const step = e.shiftKey ? 10 : 1;
        let i = u.cursor.idx ?? -1;
        const center = (timeline.from + timeline.to) / 2;
        const half = (timeline.to - timeline.from) / 2;
        switch (e.key) {
        case "ArrowRight": i = Math.max(Math.min(i + step, last), first); break;
        case "ArrowLeft": i = Math.min(Math.max(i - step, first), last); break;
        case "Home": i = first; break;
        case "End": i = last; break;
        case "+": case "-":
            if (this.spec.time) {
                const by = e.key === "+" ? 0.5 : 2;
                const at = u.cursor.left >= 0 && i >= 0 ? x[i] : center;
                zoom(at - half * by, at + half * by);
            }
            return;
        case "Escape": zoom(...timeline.all); return;
        default: return;
        }
        e.preventDefault();
        if (i >= first && i <= last) {
            u.setCursor({ left: u.valToPos(x[i], "x"), top: 10 });
            // uPlot calls point() after this function has returned.
            setTimeout(() => say([this.at.textContent,
                ...this.spec.series.map((s, j) =>
                    this.outputs[j] && this.outputs[j] !== this.at
                        ? `${s.label} ${this.outputs[j].textContent}` : "")]
                .join(" ")));
        }
    }
}

function say(text) {
    document.getElementById("say").textContent = text;
}

// Shows this stretch in all charts on the timeline.
function zoom(from, to) {
    const [a, b] = timeline.all;
    const least = (b - a) / 1e5;
    timeline.from = Math.max(Math.min(from, b - least), a);
    timeline.to = Math.min(Math.max(to, timeline.from + least), b);
    for (const c of charts) {
        if (c.spec.time)
            c.update();
    }
    if (timeline.onzoom)
        timeline.onzoom();
}

const MARK = { lost: ["L", "--bad"], reconnect: ["R", "--c3"],
    restart: ["r", "--c5"], stage: ["S", "--faint"],
    beside: ["B", "--c2"], "beside-end": ["b", "--c2"],
    interrupt: ["x", "--c1"], failure: ["!", "--bad"] };

// The name of a stage if it has room until the next one, otherwise "".
function stageName(u, m, x, k) {
    const next = timeline.marks.find(o => o.kind === "stage" && o.time > m.time);
    const right = u.bbox.left + u.bbox.width;
    const end = next ? Math.min(u.valToPos(next.time, "x", true), right) : right;
    return m.kind === "stage" && u.ctx.measureText(m.text).width < end - x - 8 * k
        ? m.text : "";
}

// A vertical line for each mark, with a letter, or the name of the stage. Marks of
// a kind that are less than 9 pixels apart share one letter; letters of different
// kinds are side by side. Returns the letters that were drawn with their
// positions.
function paintMarks(u, k, head) {
    const c = u.ctx;
    const last = new Map(), letters = [];
    c.font = `bold ${11 * k}px system-ui`;
    c.textAlign = "center";
    c.textBaseline = "top";
    c.lineWidth = k;
    for (const m of timeline.marks) {
        if (m.time < u.scales.x.min || m.time > u.scales.x.max)
            continue;
        const [letter, name] = MARK[m.kind] || ["?", "--faint"];
        const x = Math.round(u.valToPos(m.time, "x", true)) + 0.5;
        if (x - (last.get(letter) ?? -1e9) < 9 * k)
            continue;
        last.set(letter, x);
        c.strokeStyle = css(name);
        c.setLineDash(letter === "S" ? [] : [3 * k, 3 * k]);
        c.globalAlpha = 0.6;
        c.beginPath();
        c.moveTo(x, u.bbox.top);
        c.lineTo(x, u.bbox.top + u.bbox.height);
        c.stroke();
        c.globalAlpha = 1;
        const step = (x > u.bbox.left + u.bbox.width / 2 ? -10 : 10) * k;
        let at = x;
        while (letters.some(l => Math.abs(l.x - at) < 9 * k))
            at += step;
        const text = stageName(u, m, x, k) || letter;
        const half = Math.max(c.measureText(text).width / 2 + k, 5 * k);
        // A name begins at its line.
        const middle = text === letter ? at : at + half - 5 * k;
        letters.push({ letter, x: at, text });
        c.fillStyle = css("--back");
        c.fillRect(middle - half, u.bbox.top - head * k, 2 * half, 12 * k);
        c.fillStyle = css(name);
        c.fillText(text, middle, u.bbox.top - (head - 1) * k);
    }
    c.setLineDash([]);
    return letters;
}

// The repeats of each point.
function paintDots(u, shown, k) {
    const c = u.ctx;
    c.globalAlpha = 0.7;
    for (const one of shown) {
        c.fillStyle = color(one.look);
        // Beside the bar.
        (one.dots || []).forEach((list, i) => list.forEach(v => {
            if (!Number.isFinite(v))
                return;
            c.beginPath();
            c.arc(u.valToPos(one.x[i], "x", true) + 7 * k,
                u.valToPos(v, "y", true), 2 * k, 0, 2 * Math.PI);
            c.fill();
        }));
    }
    c.globalAlpha = 1;
}

function paintErrors(u, shown, k) {
    const c = u.ctx;
    c.setLineDash([]);
    c.lineWidth = 1.2 * k;
    for (const one of shown) {
        c.strokeStyle = color(one.look);
        for (let i = 0; i < one.x.length; i++) {
            const low = one.low && one.low[i], high = one.high && one.high[i];
            if (!(high > low))
                continue;
            // No figure is below 0: a bar that would reach further has no end.
            const least = Math.max(u.scales.y.min, 0);
            const cut = low < least;
            const long = high > u.scales.y.max;
            const x = u.valToPos(one.x[i], "x", true);
            const a = u.valToPos(cut ? least : low, "y", true);
            const b = u.valToPos(long ? u.scales.y.max : high, "y", true);
            c.beginPath();
            c.moveTo(x, a);
            c.lineTo(x, b);
            if (!cut) {
                c.moveTo(x - 4 * k, a);
                c.lineTo(x + 4 * k, a);
            }
            // The arms of an arrow, or the end of the bar.
            const down = long ? 5 * k : 0;
            c.moveTo(x - 4 * k, b + down);
            c.lineTo(x, b);
            c.lineTo(x + 4 * k, b + down);
            c.stroke();
        }
    }
}

// Names at the right ends of lines, moved apart. A short line leads to a name
// that was moved. If a name is too long for a narrow chart, only the key has the
// names.
function paintLabels(u, ends, room, k) {
    const c = u.ctx;
    const step = 12 * k;
    const top = u.bbox.top, bottom = top + u.bbox.height;
    c.font = `${11 * k}px system-ui`;
    if (u.width < 500 && ends.some(e =>
        c.measureText(e.text).width > (room - 4) * k))
        return;
    for (const e of ends)
        e.at = e.y;
    ends.sort((a, b) => a.y - b.y);
    let y = -Infinity;
    for (const e of ends)
        y = e.y = Math.max(e.y, y + step, top);
    y = bottom + step;
    for (const e of ends.slice().reverse())
        y = e.y = Math.min(e.y, y - step);
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.lineWidth = k;
    c.setLineDash([]);
    const moved = ends.some(e => Math.abs(e.y - e.at) > 4 * k);
    const right = u.bbox.left + u.bbox.width;
    const gap = moved && u.width >= 500 ? 16 : 5;
    for (const e of ends) {
        let text = e.text;
        while (text.length > 2 &&
            c.measureText(text).width > (room - gap - 1) * k)
            text = text.replace(/\u2026$/, "").slice(0, -1) + "\u2026";
        c.fillStyle = c.strokeStyle = color(e.look);
        if (gap > 5) {
            c.beginPath();
            c.moveTo(right + 4 * k, e.at);
            c.lineTo(right + (gap - 2) * k, e.y);
            c.stroke();
        }
        c.fillText(text, right + gap * k, e.y);
    }
}

// Draws charts when they are near the visible part of the page.
const watcher = "IntersectionObserver" in window
    ? new IntersectionObserver(list => {
        for (const e of list) {
            if (e.isIntersecting) {
                e.target.chart.draw();
                watcher.unobserve(e.target);
            }
        }
    }, { rootMargin: "400px" }) : null;

function redrawAll() {
    palette = null;
    for (const c of charts)
        c.remake();
}
