// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers and times as text, and building elements. All text of a result is
// inserted as text nodes.

const MISSING = "\u2013";

// Four significant digits, thousands separated: 12,345 or 0.01234.
function num(v, digits = 4) {
    if (v === null || v === undefined || !Number.isFinite(v))
        return MISSING;
    if (v === 0)
        return "0";
    const big = Math.abs(v);
    if (big >= 10 ** (digits - 1))
        return Math.round(v).toLocaleString("en");
    const places = digits - 1 - Math.floor(Math.log10(big));
    if (places > 9)
        return v.toExponential(digits - 1);
    return v.toFixed(Math.min(places, 9));
}

// The same without zeros at the end; for axes and shares.
function short(v, digits = 4) {
    const t = num(v, digits);
    return t.includes(".") && !t.includes("e")
        ? t.replace(/0+$/, "").replace(/\.$/, "") : t;
}

function plural(n, word) {
    return `${whole(n)} ${word}${n === 1 ? "" : "s"}`;
}

function whole(v) {
    return Number.isFinite(v) ? Math.round(v).toLocaleString("en") : MISSING;
}

// A time in ms with its unit.
function ms(v) {
    if (!Number.isFinite(v))
        return MISSING;
    if (v !== 0 && Math.abs(v) < 0.1)
        return `${num(v * 1000, 3)} \u00b5s`;
    return Math.abs(v) >= 10000 ? `${num(v / 1000)} s` : `${num(v)} ms`;
}

// Seconds since the start: "12.5 s" in short runs, "1:02:03" in long ones.
function clock(v, long) {
    if (!Number.isFinite(v))
        return MISSING;
    const sign = v < 0 ? "-" : "";
    const a = Math.abs(v);
    if (!long && a < 600)
        return `${sign}${short(Math.round(a * 1000) / 1000)} s`;
    const h = Math.floor(a / 3600), m = Math.floor(a / 60) % 60;
    const s = Math.round(a % 60 * 1000) / 1000;
    const two = x => String(x).padStart(2, "0");
    const tail = Number.isInteger(s) ? two(s)
        : two(Math.floor(s)) + (s % 1).toFixed(1).slice(1);
    return h ? `${sign}${h}:${two(m)}:${tail}` : `${sign}${m}:${tail}`;
}

// One decimal, so that the figures of a column look alike, and two for small
// shares.
function percent(v) {
    if (!Number.isFinite(v))
        return MISSING;
    const p = Math.abs(v * 100);
    if (p < 0.01)
        return p ? "< 0.01 %" : "0 %";
    return `${(v * 100).toFixed(p < 0.1 ? 2 : 1)} %`;
}

// A time in ms at an axis: as in tables, without zeros at the end.
function shortMs(v) {
    if (v !== 0 && Math.abs(v) < 0.1)
        return `${short(+(v * 1000).toPrecision(6))} \u00b5s`;
    return Math.abs(v) >= 10000 ? `${short(+(v / 1000).toPrecision(6))} s`
        : `${short(+v.toPrecision(6))} ms`;
}

function bytes(v) {
    if (!Number.isFinite(v))
        return MISSING;
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let i = 0;
    while (Math.abs(v) >= 1024 && i < units.length - 1) {
        v /= 1024;
        i++;
    }
    return `${i ? num(v, 3) : whole(v)} ${units[i]}`;
}

function withUnit(v, unit) {
    if (typeof v === "string")
        return v;
    if (unit === "ms")
        return ms(v);
    if (unit === "B")
        return bytes(v);
    return unit && Number.isFinite(v) ? `${num(v)} ${unit}` : num(v);
}

// An element. Attributes that begin with "on" are listeners; children are
// elements, text or nothing.
function h(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) {
        if (v === undefined || v === null || v === false)
            continue;
        if (k.startsWith("on"))
            e.addEventListener(k.slice(2), v);
        else
            e.setAttribute(k, v === true ? "" : v);
    }
    for (const c of children.flat()) {
        if (c !== null && c !== undefined && c !== false)
            e.append(c);
    }
    return e;
}

// A cell of a table: text with the exact value for programs.
function value(v, text) {
    return { text, v };
}

// A table. heads: {text, n: a number, t: long text}. rows: arrays of text or
// value(). The first cell is the row's header. The first `first` rows are
// shown; a button shows the others.
function table(caption, heads, rows, first = 200) {
    const body = h("tbody");
    const add = some => {
        for (const row of some) {
            const tr = h("tr");
            row.forEach((c, i) => {
                const cell = c !== null && typeof c === "object" &&
                    !(c instanceof Node) ? c : { text: c };
                const head = heads[i] || {};
                tr.append(h(i ? "td" : "th", {
                    class: head.n ? "n" : head.t ? "t" : null,
                    scope: i ? null : "row",
                    "data-value": cell.v }, cell.text ?? MISSING));
            });
            body.append(tr);
        }
    };
    add(rows.slice(0, first));
    const t = h("table", null, h("caption", null, h("span", null, caption)),
        h("thead", null, h("tr", null, heads.map(c =>
            h("th", { scope: "col", class: c.n ? "n" : c.t ? "t" : null },
                c.text)))), body);
    const out = h("div", { class: "wide", tabindex: 0, role: "region",
        "aria-label": `Table: ${caption}` }, t);
    if (rows.length > first) {
        const more = h("button", { class: "more", type: "button",
            onclick: () => { add(rows.slice(first)); more.remove(); } },
        `Show all ${whole(rows.length)} rows`);
        out.append(more);
    }
    return out;
}

function pairs(list) {
    return h("dl", { class: "pairs" }, list
        .filter(([, v]) => v !== null && v !== undefined && v !== "")
        .flatMap(([k, v]) => [h("dt", null, k), h("dd", null, v)]));
}
