// SPDX-License-Identifier: GPL-2.0-or-later
//
// The latency heat map: time, latency, and the share of a moment's events.

const HEAT_LOW = 1e-4; // the share that has the palest colour

function heatColors() {
    const stops = css("--heat").split(" ").map(s => s.split(",").map(Number));
    const out = new Uint8ClampedArray(256 * 4);
    for (let i = 0; i < 256; i++) {
        const at = i / 255 * (stops.length - 1);
        const a = Math.min(Math.floor(at), stops.length - 2);
        for (let k = 0; k < 3; k++)
            out[4 * i + k] = stops[a][k] +
                (stops[a + 1][k] - stops[a][k]) * (at - a);
        out[4 * i + 3] = 255;
    }
    return out;
}

// Index into heatColors() of a share of events.
function heatIndex(share) {
    const t = 1 - Math.log10(Math.max(share, HEAT_LOW)) / Math.log10(HEAT_LOW);
    return Math.round(Math.min(Math.max(t, 0), 1) * 255);
}

// First and last bucket of a run; null without events.
function heatRange(run) {
    let low = Infinity, high = -1;
    const { start, data, n } = run.hists;
    for (let i = 0; i < n; i++) {
        const length = start[i + 1] - start[i] - 1;
        if (length > 0) {
            low = Math.min(low, data[start[i]]);
            high = Math.max(high, data[start[i]] + length - 1);
        }
    }
    return high < 0 ? null : [low, high];
}

// Counts of events by pixel column and bucket for a stretch of time.
function heatCounts(run, range, from, to, width) {
    const n = range[1] - range[0] + 1;
    const counts = new Float64Array(width * n), sums = new Float64Array(width);
    const time = run.time, sec = run.seconds;
    const per = width / (to - from);
    const { start, data } = run.hists;
    for (let i = 0; i < Math.min(run.hists.n, run.drawn); i++) {
        const at = start[i], length = start[i + 1] - at;
        if (length < 2 || time[i] <= from || time[i] - sec[i] >= to)
            continue;
        const a = Math.max(Math.floor((time[i] - sec[i] - from) * per), 0);
        const b = Math.min(Math.max(Math.ceil((time[i] - from) * per), a + 1),
            width);
        for (let x = a; x < b; x++) {
            const base = x * n + data[at] - range[0] - 1;
            for (let k = 1; k < length; k++) {
                counts[base + k] += data[at + k];
                sums[x] += data[at + k];
            }
        }
    }
    return { counts, sums, n };
}

function paintHeat(u, run, range) {
    const { left, top, width, height } = u.bbox;
    const w = Math.max(Math.min(Math.round(width / devicePixelRatio), 2000), 1);
    const hgt = Math.round(height);
    if (hgt < 1)
        return;
    const from = u.scales.x.min, to = u.scales.x.max;
    const { counts, sums, n } = heatCounts(run, range, from, to, w);
    const colors = heatColors();
    const canvas = document.createElement("canvas");
    canvas.width = w;
    canvas.height = hgt;
    const c = canvas.getContext("2d");
    const image = c.createImageData(w, hgt);
    const low = Math.log(u.scales.y.min), high = Math.log(u.scales.y.max);
    // The bucket of each row of pixels.
    const bucket = new Int32Array(hgt);
    let b = range[1];
    for (let y = 0; y < hgt; y++) {
        const ns = Math.exp(high - (y + 0.5) / hgt * (high - low)) * 1e6;
        while (b >= range[0] && bucketLow(b, run.octave) > ns)
            b--;
        bucket[y] = b < range[0] ||
            ns >= bucketLow(b + 1, run.octave) ? -1 : b - range[0];
    }
    for (let x = 0; x < w; x++) {
        if (!sums[x])
            continue;
        for (let y = 0; y < hgt; y++) {
            const v = bucket[y] < 0 ? 0 : counts[x * n + bucket[y]];
            if (!v)
                continue;
            const at = 4 * (y * w + x), k = 4 * heatIndex(v / sums[x]);
            image.data[at] = colors[k];
            image.data[at + 1] = colors[k + 1];
            image.data[at + 2] = colors[k + 2];
            image.data[at + 3] = 255;
        }
    }
    c.putImageData(image, 0, 0);
    u.ctx.save();
    u.ctx.imageSmoothingEnabled = false;
    u.ctx.drawImage(canvas, left, top, width, height);
    u.ctx.restore();
}

// The scale of colours.
function heatScale() {
    const canvas = h("canvas", { width: 120, height: 10,
        "aria-hidden": "true" });
    const paint = () => {
        const c = canvas.getContext("2d");
        const colors = heatColors();
        for (let x = 0; x < 120; x++) {
            const k = 4 * Math.round(x / 119 * 255);
            c.fillStyle = `rgb(${colors[k]},${colors[k + 1]},${colors[k + 2]})`;
            c.fillRect(x, 0, 1, 10);
        }
    };
    return { paint, element: h("p", { class: "scale" },
        h("span", null, "share of a moment's events"),
    h("span", null, "\u2264 0.01 % ", canvas, " 100 %")) };
}

function heatChart(run) {
    if (!heatRange(run))
        return null;
    // The range of a run in progress grows.
    const limits = () => {
        const [first, last] = heatRange(run);
        return [Math.max(bucketLow(first, run.octave), 100) / 1e6,
            bucketLow(last + 1, run.octave) / 1e6];
    };
    const scale = heatScale();
    return new Chart({ id: "heat", title: "Latency heat map", unit: "ms",
        time: true, height: 280, marks: true, keyed: true, extra: scale.element,
        series: [line("p99", 1, run, r => r.column("run", "", "p99"))],
        scale: { distr: 3, log: 10, range: limits },
        summary: () => `Latencies from ${limits().map(ms).join(" to ")}; the ` +
            "timeline of percentiles shows the same events.",
        note: "Each column shows the shares of its own events.",
        paint: u => { scale.paint(); paintHeat(u, run, heatRange(run)); } });
}
