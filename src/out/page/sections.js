// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of the page, from top to bottom. Each function appends to `main`
// and does nothing if there are no figures for it.

const MOST_RUNS = 8; // in one chart: as many as there are looks

// A line on the timeline. Its columns are read when it is drawn, and again when
// rows were added.
function line(label, look, run, get) {
    return { label, look, get x() { return run.time; },
        get y() { return get(run); } };
}

function section(main, id, title, ...content) {
    const s = h("section", { id, "aria-labelledby": `${id}-title` },
        h("h2", { id: `${id}-title` }, title), content);
    main.append(s);
    return s;
}

function tile(name, text, v, more) {
    return h("div", null, h("dt", null, name),
        h("dd", { id: `tile-${name.replace(/\W+/g, "-")}`, "data-value": v },
            text), more ? h("dd", { class: "more" }, more) : null);
}

function sentence(run) {
    const d = run.doc;
    const parts = [];
    for (const b of d.databases || [])
        parts.push([b.server || b.driver, b.address && `at ${b.address}`]
            .filter(Boolean).join(" "));
    return parts.join("; ");
}

// "after 1.003 s of 5 s": how long a run lasted that --time would have made
// longer.
function lasted(run) {
    const asked = /^[\d.]+s?$/.test(run.option("time") || "")
        ? parseFloat(run.option("time")) : 0;
    return `after ${clock(run.duration)}${asked > 1.05 * run.duration
        ? ` of ${clock(asked)}` : ""}`;
}

// The limits of --assert that were not kept, as a sentence.
function missedLimits(run) {
    const limits = run.doc.limits || [];
    const list = limits.filter(x => !x.passed).map(x => `${x.limit} (${x.why ||
        `measured: ${withUnit(x.value, x.unit)}`})`);
    if (!list.length)
        return "The run did not keep a limit (exit status 3).";
    const shown = list.slice(0, 3).join(", ") + (list.length > 3
        ? ` and ${list.length - 3} more` : "");
    const early = /\babort\b/.test(shown) && / of /.test(lasted(run))
        ? ` and ended ${lasted(run)}` : "";
    return `The run did not keep ${list.length === 1 ? "the limit"
        : `${list.length} of ${limits.length} limits:`} ${shown}${early}.`;
}

function passedText(verdict) {
    return verdict.passed ? "passed" : verdict.passed === null ? "unknown"
        : "not passed";
}

// "failover.lost": the name of a result or verdict, in a mix with its workload.
function ownName(x) {
    return x.workload ? `${x.workload}.${x.name}` : x.name;
}

// The verdicts of workloads that are not true, as sentences, before the limits
// that were not kept.
function missedVerdicts(run) {
    const out = (run.doc.verdicts || []).filter(v => !v.passed).map(v =>
        `The workload's ${ownName(v)} is ${passedText(v)}: ${v.text}.`);
    if (out.length && (run.doc.limits || []).some(x => !x.passed))
        out.push(missedLimits(run));
    return out;
}

const EARLY = { signal: "was interrupted", forced: "was ended by force",
    hung: "was ended, because threads did not end by themselves" };

// Whether the run failed, ended early or did not keep a limit.
function hasEndedBadly(run) {
    const { failure, reason, status } = run.doc.end || {};
    return !!(failure || EARLY[reason] || status || run.doc.warmup);
}

// Returns a sentence about the end of the run if it needs attention, and
// another one if there are no events.
function endings(run) {
    const { end, warmup, search } = run.doc;
    const during = (search || {}).end === "interrupted"
        ? "before its rate was found; the figures are those of the search"
        : warmup
            ? "during its warm-up; the figures are those of the warm-up" : "";
    const out = [];
    if (end && end.failure)
        out.push(`The run failed ${lasted(run)}: ${end.failure}`);
    else if (end && EARLY[end.reason])
        out.push(`The run ${EARLY[end.reason]} ${during || lasted(run)}.`);
    else if (during)
        out.push(`The run ended ${during}.`);
    else if (end && end.status === 3)
        out.push(...missedVerdicts(run).length ? [] : [missedLimits(run)]);
    else if (end && end.status)
        out.push(`The exit status of the program was ${end.status}.`);
    out.push(...missedVerdicts(run));
    if (end && end.overrun)
        out.push(`The run took ${num(end.overrun)} s longer than --time, ` +
            "because users were still busy.");
    if (!run.completed)
        out.push("No event was completed.");
    const { state, checks } = run.doc.validity || {};
    if (state === "doubtful" || state === "bad")
        out.push(`The figures are ${state}: see Validity (${checks.filter(isDoubted)
            .map(c => c.name).join(", ")}).`);
    const missing = run.doc.intervals.missing;
    if (missing)
        out.push(`The charts lack ${whole(missing)} interval${
            missing === 1 ? "" : "s"}, which could not be kept; the totals ` +
            "have them.");
    return out;
}

// "300/s (open loop)"
function rateText(run) {
    const found = (run.doc.search || {}).rate, asked = run.option("rate") ?? "";
    if (!(Number(asked) !== 0) && (run.doc.stages || []).some(s => s.rate))
        return "rates of the stages (open loop)";
    return `rate ${found ? `${num(found)}/s` : isNumber(asked) ? `${asked}/s`
        : asked} (open loop)`;
}

function factsOf(run) {
    const d = run.doc;
    const when = d.started ? new Date(d.started) : null;
    return [d.threads !== undefined ? plural(d.threads, "thread") : "",
        d.open_loop ? rateText(run) : "", `${clock(run.duration)} measured`,
        when && !Number.isNaN(+when)
            ? when.toISOString().replace("T", " ").slice(0, 19) + " UTC" : "",
        (d.host || {}).name ? `from ${d.host.name}` : "",
        d.seed ? `seed ${d.seed}` : ""].filter(Boolean).join(" \u00b7 ");
}

function header(top, runs, run) {
    const d = run.doc;
    const many = runs.length > 1;
    const title = many ? testsOf(runs).join(", ") : d.test || "sysbench";
    top.replaceChildren(...[
        h("h1", null, many ? `${title}: ${runs.length} runs` : title),
        h("p", { class: "facts" }, h("b", null, many
            ? [...new Set(runs.map(r => r.servers))].filter(Boolean).join("; ")
            : sentence(run))),
        many ? null : h("p", { class: "facts" }, factsOf(run)),
        Object.keys(d.labels || {}).length ? h("p", null,
            Object.entries(d.labels).map(([k, v]) =>
                h("span", { class: "label" }, `${k}: ${v}`))) : null,
        h("p", { id: "live", hidden: true, class: "label" }),
        ...many ? sweepTiles(runs)
            : [...endings(run).map(t => h("p", { class: "end" }, t)),
                tiles(run)]].filter(Boolean));
}

// The main figures of the run whose details follow. The page of one run has them
// at its top.
function detailSection(main, runs, run) {
    if (runs.length < 2)
        return;
    section(main, "detail", `In detail: ${run.name}`, liveTable(() => h("div",
        null, h("p", { class: "facts" }, h("b", null, sentence(run))),
        h("p", { class: "facts" }, factsOf(run)),
        endings(run).map(t => h("p", { class: "end" }, t)), tiles(run))));
}

// The headline of the run, and what its workloads say of it.
function answerTiles(run) {
    const { headline, verdicts = [] } = run.doc;
    const missed = verdicts.filter(v => !v.passed);
    return [headline ? tile(headline.figure, headline.value === null
        ? "unknown" : withUnit(headline.value, headline.unit), headline.value,
    headline.why || "headline") : null,
    verdicts.length ? tile("verdict", h("span",
        { class: missed.length ? "bad" : "good" },
        missed.length ? passedText(missed[0]) : "passed"), missed.length,
    verdicts.length > 1 ? `${verdicts.length - missed.length} of ${
        verdicts.length} passed` : null) : null];
}

// The results and verdicts of workloads.
function answersSection(main, run) {
    const { results = [], verdicts = [] } = run.doc;
    if (!results.length && !verdicts.length)
        return;
    section(main, "results", "Results of the workload",
        table("What the workload says of the run",
            [{ text: "result" }, { text: "value", n: true },
                { text: "better" }, { text: "note", t: true }],
            [...results.map(r => [ownName(r), value(r.value, r.value === null
                ? "unknown" : withUnit(r.value, r.unit)), r.better || "",
            r.why || ""]),
            ...verdicts.map(v => [ownName(v), v.passed ? passedText(v)
                : h("span", { class: "bad" }, passedText(v)), "", v.text])]));
}

function tiles(run) {
    const l = run.doc.latency || {};
    const what = run.doc.open_loop ? "response time" : "service time";
    const n = run.completed, errors = run.errors;
    const failed = (run.doc.counters || {}).failed || 0;
    const limits = run.doc.limits || [];
    const bad = limits.filter(x => !x.passed).length;
    // During a run: what the last interval adds to the figures of the whole.
    const live = root.dataset.live === "running" && run.drawn > 0;
    const now = (y, text) => live && Number.isFinite(y.at(-1))
        ? `now ${text(y.at(-1))}` : "";
    const queue = run.column("run", "", "queue");
    const p = [50, 95, 99].map(q => {
        const v = run.percentile(q);
        return tile(`p${q}`, [run.bound(q), ms(v)], v, [q === 50 ? what : "",
            now(run.column("run", "", `p${q}`), ms)].filter(Boolean).join("; "));
    });
    const target = run.target;
    return h("dl", { class: "tiles", "aria-label": "Main figures" },
        answerTiles(run),
        searchTile(run),
        tile("throughput", [num(run.mean), " ", h("small", null, "events/s")],
            run.mean, [`${whole(n)} events`, (run.doc.stages || []).length > 1
                ? "the mean of all stages" : "", now(run.throughput, num),
                target && live ? `target ${num(target.at(-1))}` : ""]
                .filter(Boolean).join("; ")),
        run.doc.open_loop && live ? tile("queue length", whole(queue.at(-1)),
            queue.at(-1)) : null,
        p, tile("max", l.count ? ms(l.max / 1e6) : MISSING,
            l.count ? l.max / 1e6 : NaN),
        tile("errors", whole(errors), errors, n + failed
            ? failed ? `${percent(failed / (n + failed))} of events failed`
            : "no event failed" : null),
        limits.length ? tile("limits", bad
            ? [h("span", { class: "bad" }, `${bad} not kept`)]
            : [h("span", { class: "good" }, limits.length > 1 ? "all kept"
                : "kept")], bad, limits.length > 1 ? `of ${limits.length}`
            : limits[0].limit) : null);
}

// The answer of a search for the rate.
function searchTile(run) {
    const f = run.doc.search;
    if (!f || !f.limit)
        return null;
    return tile("highest rate", f.highest === null ? "not found"
        : [num(f.highest), " ", h("small", null, "events/s")], f.highest ?? NaN,
    [`keeps ${f.limit}`, f.low === null ? "" : `95 % interval ${num(f.low)} to ${
        num(f.high)}`].filter(Boolean).join("; "));
}

function isDoubted(check) {
    return check.state === "doubtful" || check.state === "bad";
}

// The checks of the run's figures: doubts with what to do, and all in a table that
// is closed.
function validitySection(main, run) {
    const { known, checks } = run.doc.validity || {};
    if (!checks || !checks.length)
        return;
    const doubted = checks.filter(isDoubted);
    section(main, "validity", "Validity", ...doubted.map(c => h("p", { class: "end" },
        h("b", null, `${c.name}: ${c.state}`), `. ${c.meaning}.${c.advice
            ? ` What to do: ${c.advice}.` : ""}`)), h("details", null,
        h("summary", null, `${plural(known, "check")} known, ${doubted.length
            ? `${doubted.length} doubtful or bad` : "none doubtful"}`),
        table("Whether the figures of the run may be believed",
            [{ text: "check" }, { text: "state" }, { text: "meaning", t: true },
                { text: "what to do", t: true }],
            checks.map(c => [c.name, isDoubted(c)
                ? h("span", { class: "bad" }, c.state) : c.state,
            c.meaning, c.advice]))));
}

const COSTS = { cpu_us: "processor time, us",
    cpu_system_us: "processor time in the kernel, us",
    context_switches: "context switches", storage_read_kb: "read from storage, KB",
    storage_written_kb: "written to storage, KB", read_kb: "pages read, KB",
    written_kb: "pages written, KB", log_bytes: "log, bytes",
    log_flushes: "flushes of the log", fsyncs: "flushes of all files",
    rows_examined: "rows examined", energy_j: "energy, J" };

// What the events cost the server: the figures that are known.
function costsSection(main, run) {
    const costs = run.doc.costs;
    if (!costs)
        return;
    const known = (costs.figures || []).filter(f => f.total !== null);
    const cell = v => value(v, num(v));
    const rows = known.map(f => [COSTS[f.name] || f.name, cell(f.per_event),
        cell(f.per_query), f.source]);
    if (costs.watts)
        rows.push(["power, W", cell(costs.watts), MISSING, "this machine"]);
    if (costs.price)
        rows.push(["a million events, USD", cell(costs.usd_per_million_events),
            MISSING, `${num(costs.price)} USD per hour`]);
    section(main, "costs", "Costs of the server", table(
        "What an event and a query cost the server",
        [{ text: "cost", t: true }, { text: "per event", n: true },
            { text: "per query", n: true }, { text: "source", t: true }], rows));
}

function limitsSection(main, run) {
    const list = run.doc.limits || [];
    if (!list.length)
        return;
    section(main, "limits", "Limits", table("Limits and measured values",
        [{ text: "limit" }, { text: "measured", n: true }, { text: "result" }],
        list.map(x => [x.limit, value(x.value, x.why
            ? `${MISSING} (${x.why})` : withUnit(x.value, x.unit)),
            x.passed ? "kept" : h("span", { class: "bad" }, "not kept")])));
}

// How sure a search is, as in the text report.
const SEARCH_ENDS = {
    found: "The interval is as narrow as was asked for.",
    exhausted: "The number of trials was not enough for a narrower interval.",
    below: "The limit is not kept even at the lowest rate of the search.",
    above: "The limit is kept even at the highest rate of the search.",
    interrupted: "The search was interrupted." };

// How the run found its rate: trials as points.
function rateSection(main, run) {
    const f = run.doc.search;
    if (!f)
        return;
    const trials = f.trials || [];
    const rate = v => v ? `${num(v)}/s` : MISSING;
    // A rate is null if it is beyond a bound of the search, or trials were too few.
    const bounded = v => value(v, v !== null ? rate(v)
        : f.end === "above" ? `unknown (above ${rate(f.bounds[1])})`
            : f.end === "below" ? `unknown (below ${rate(f.bounds[0])})`
                : "unknown");
    const s = section(main, "rate", f.limit ? `Rate search: ${f.limit}`
        : "Rate", table("How the rate was found",
        [{ text: "figure", t: true }, { text: "value", n: true }],
        [["maximum of a closed loop", value(f.maximum, rate(f.maximum))],
            ...trials.length ? [
                ["kept in half of the trials", bounded(f.highest)],
                ...f.low === null ? [] : [["95 % confidence interval",
                    `${rate(f.low)} to ${rate(f.high)}`]],
                ["kept in 95 % of trials (estimate)", bounded(f.safe)],
                ["trials", value(trials.length, `${trials.length} (${
                    trials.filter(t => t.kept).length} kept the limit)`)],
                ["measured part", f.measured_kept === null ? MISSING
                    : `${f.measured_kept ? "kept" : "did not keep"} the limit`]]
                : [],
            [(run.doc.stages || []).length && f.measured_kept === null
                ? "rate found, 100 % of the stages"
                : "rate of the measured part", value(f.rate, rate(f.rate))]]));
    if (!trials.length)
        return;
    s.append(h("p", { class: "note" }, SEARCH_ENDS[f.end] || ""));
    const points = (label, look, kept) => {
        const list = trials.filter(t => t.kept === kept && t.value !== null)
            .sort((a, b) => a.rate - b.rate);
        // Trials at the same rate are next to each other.
        const x = list.map((t, i) => t.rate * (1 + 1e-9 * i));
        return { label, look, x: Float64Array.from(x),
            y: Float64Array.from(list, t => t.value) };
    };
    const series = [points("kept", 0, true), points("not kept", 5, false)]
        .filter(x => x.x.length);
    if (!series.length)
        return;
    const all = trials.map(t => t.rate).sort((a, b) => a - b);
    s.append(new Chart({ id: "trials", title: "Trials: the first limit over " +
        "the rate", unit: f.unit, series, points: true, loose: true, log: true,
    keyed: true, note: "A point is a trial" + (f.low === null ? "."
        : "; the band is the confidence interval of the rate at which half " +
        "of the trials keep the limit."),
    paint: u => {
        if (f.low === null)
            return;
        const a = u.valToPos(Math.max(f.low, u.scales.x.min), "x", true);
        const b = u.valToPos(Math.min(f.high, u.scales.x.max), "x", true);
        u.ctx.fillStyle = faded(color(0), 0.12);
        u.ctx.fillRect(a, u.bbox.top, Math.max(b - a, 1), u.bbox.height);
    },
    x: { format: v => `${num(v)}/s`,
        scale: { range: () => margins(all, false) },
        axis: { space: 60, size: 28, values: (u, list) =>
            list.map(v => v === null ? "" : short(v)) } } }).figure);
}

// The runs together: charts over what differs between them, and a table. Returns
// false if they cannot be compared in this way.
function pointsSection(main, runs) {
    if (runs.length < 2)
        return false;
    const tests = testsOf(runs), several = tests.length > 1;
    const s = section(main, "sweep", "Overview");
    tests.forEach((test, i) => sweepCharts(s,
        runs.filter(r => (r.doc.test || "sysbench") === test),
        several ? { suffix: i ? `-${i + 1}` : "", of: `: ${test}` } : {}));
    if (s.childElementCount > 1)
        return true;
    s.remove();
    return false;
}

// Table of the runs; choosing one shows its details.
function runsSection(main, runs, current, chosen, choose, overlay) {
    if (runs.length < 2)
        return;
    const box = (r, i) => h("input", { type: "checkbox",
        "aria-label": `${r.name}: in the charts`,
        checked: chosen.includes(i), onchange: e => {
            const on = e.currentTarget.checked;
            if (on && chosen.length >= MOST_RUNS) {
                e.currentTarget.checked = false;
                say(`At most ${MOST_RUNS} runs are drawn.`);
                return;
            }
            overlay(on ? [...chosen, i].sort((a, b) => a - b)
                : chosen.filter(x => x !== i));
        } });
    const several = testsOf(runs).length > 1;
    const rows = runs.map((r, i) => [
        h("button", { type: "button", "aria-pressed": String(r === current),
            onclick: () => choose(i) }, r.name), box(r, i),
        ...several ? [r.doc.test] : [],
        value(r.mean, num(r.mean)),
        ...[50, 95, 99].map(p => value(r.percentile(p),
            r.bound(p) + ms(r.percentile(p)))),
        value((r.doc.latency || {}).max / 1e6,
            r.completed ? ms(r.doc.latency.max / 1e6) : MISSING),
        value(r.errors, whole(r.errors)), endings(r).join(" ")]);
    section(main, "runs", "Runs",
        table(`${runs.length} runs; up to ${MOST_RUNS} are drawn in the charts`,
            [{ text: "run (shows its details)", t: true }, { text: "drawn" },
                ...several ? [{ text: "workload" }] : [],
                { text: "events/s", n: true }, { text: "p50", n: true },
                { text: "p95", n: true }, { text: "p99", n: true },
                { text: "max", n: true }, { text: "errors", n: true },
                { text: "note", t: true }], rows));
}

// The look of a run that is drawn: of a comparison, that of its side.
function lookOf(runs, chosen, r) {
    return r.side ? SIDES.indexOf(r.side) : chosen.indexOf(runs.indexOf(r));
}

// The runs that are drawn at first: of both sides, the first ones; of many, one
// of each option value, evenly spread.
function firstChosen(runs) {
    let list = runs.map((r, i) => i);
    if (runs[0].side)
        return SIDES.flatMap(s => list.filter(i => runs[i].side === s)
            .slice(0, MOST_RUNS / 2));
    if (list.length > MOST_RUNS)
        list = list.filter(i => !/ #\d+$/.test(runs[i].name));
    const step = (list.length - 1) / (MOST_RUNS - 1);
    return list.length <= MOST_RUNS ? list
        : Array.from({ length: MOST_RUNS }, (x, k) => list[Math.round(k * step)]);
}

function timelineSection(main, runs, run, chosen) {
    if (!run.drawn) {
        section(main, "timeline", "Timeline", h("p", null,
            "The result has no intervals (--report-interval was 0, or the " +
            "run was shorter than one interval)."));
        return;
    }
    const s = section(main, "timeline", "Timeline", zoomBar());
    const many = runs.length > 1;
    const drawn = many ? chosen.map(i => runs[i]).filter(r => r.drawn)
        : [run];
    const looks = r => many ? lookOf(runs, chosen, r) : 0;
    s.append(new Chart({ id: "throughput", title: "Throughput",
        unit: "events/s", time: true, marks: !many, series: [...drawn.map(r =>
            line(many ? r.name : "events/s", looks(r), r, x => x.throughput)),
        ...!many && run.target ? [line("target rate", 4, run, r => r.target)]
            : []]
    }).figure);
    if (many)
        s.append(overlaid(drawn, looks));
    const p = [["p50", 2], ["p95", 0], ["p99", 1], ["max", 3]];
    const open = run.doc.open_loop;
    s.append(new Chart({ id: "latency",
        title: `${open ? "Response time" : "Latency"}${
            many ? `: ${run.name}` : ""}`, unit: "ms",
        time: true, log: true, marks: !many, series: p.map(([f, look]) =>
            line(f, look, run, r => r.column("run", "", f))) }).figure);
    const heat = heatChart(run);
    if (heat)
        s.append(heat.figure);
    if (open)
        s.append(openLoop(run));
    if (run.has("run", "", "client_delay_p99"))
        s.append(clientDelay(run));
    const bad = ["errors", "restarts", "reconnects", "failed"]
        .map((f, i) => ({ label: f, look: [1, 5, 3, 4][i],
            get x() { return run.trouble(f).x; },
            get y() { return run.trouble(f).y; } }))
        .filter(x => x.y.some(v => v > 0));
    if (bad.length)
        s.append(new Chart({ id: "trouble", title: "Errors and restarts",
            unit: "/s", time: true, height: 150, marks: true, series: bad })
            .figure);
    const busy = [["running", "threads running", 0],
        ["concurrency", "events in progress", 2], ["queue", "queue length", 1]]
        .filter(([f]) => run.has("run", "", f))
        .map(([f, label, look]) => line(label, look, run, r =>
            r.column("run", "", f)))
        .filter(x => x.y.some(v => v > 0));
    if (busy.length)
        s.append(new Chart({ id: "users", title: "Load", unit: "",
            time: true, height: 150, marks: true, series: busy }).figure);
    if (run.partial)
        s.append(h("p", { class: "note" }, "The last interval is not drawn, " +
            `because it lasted only ${ms(run.partial * 1000)}.${
                run.partialErrors ? ` Its ${plural(run.partialErrors,
                    "error")} ${run.partialErrors === 1 ? "is" : "are"} drawn ` +
                    "with those of the interval before." : ""}`));
    marksTable(s, run);
}

// "16", or "16 to 64" in a ramp.
function range(pair) {
    const [from, to] = (pair || []).map(v => String(+v.toPrecision(6)));
    return from === undefined ? "" : from === to ? from : `${from} to ${to}`;
}

function stagesSection(main, run) {
    const list = run.doc.stages || [];
    if (!list.length)
        return;
    const open = list.some(x => x.rate);
    const p = (x, pct) => {
        const v = x.latency.count ? percentile(x.latency, pct) / 1e6 : NaN;
        return value(v, ms(v));
    };
    const mix = list.some(x => x.mix);
    // Below a stage: the workloads that had events in it.
    const below = x => (x.workloads || []).map(o => [`\u2003${o.name}`, "", "",
        "", ...(open ? [""] : []), "", ...workloadCells(o, x.seconds)]);
    section(main, "stages", "Stages", table(
        `Stages; p50 to max: ${timesText(run)}`,
        [{ text: "stage", t: true }, { text: "start", n: true },
            { text: "length", n: true }, { text: "threads", n: true },
            ...(open ? [{ text: "rate, /s", n: true }] : []),
            ...(mix ? [{ text: "mix", t: true }] : []),
            { text: "events", n: true }, { text: "events/s", n: true },
            { text: "errors", n: true }, ...(mix ? workloadHeads : []),
            { text: "p50", n: true }, { text: "p95", n: true },
            { text: "p99", n: true }, { text: "max", n: true }],
        list.flatMap(x => {
            const c = x.counters || {};
            const rate = x.seconds > 0 ? c.completed / x.seconds : NaN;
            const errors = (c.err_ignored || 0) + (c.err_restarted || 0) +
                (c.err_givenup || 0);
            return [[x.name, value(x.start, clock(x.start)),
                value(x.seconds, clock(x.seconds)), range(x.threads),
                ...(open ? [range(x.rate)] : []), ...(mix ? [x.mix] : []),
                value(c.completed, whole(c.completed)),
                value(rate, num(rate)), value(errors, whole(errors)),
                ...(mix ? workloadCounts(c) : []),
                p(x, 50), p(x, 95), p(x, 99), p(x, 100)], ...below(x)];
        })));
}

function openLoop(run) {
    const list = [["lag_avg", "lag, mean", 0], ["lag_p99", "lag, p99", 1],
        ["service_avg", "service time, mean", 2],
        ["service_p99", "service time, p99", 3]]
        .filter(([f]) => run.has("run", "", f));
    return new Chart({ id: "lag", title: "Lag and service time", unit: "ms",
        time: true, log: true, height: 200, marks: true,
        series: list.map(([f, label, look]) => line(label, look, run, r =>
            r.column("run", "", f))) }).figure;
}

function clientDelay(run) {
    const list = [["client_delay_avg", "mean", 0],
        ["client_delay_p99", "p99", 1]];
    return new Chart({ id: "delay", title: "Client delay", unit: "ms",
        time: true, log: true, height: 200, marks: true,
        series: list.map(([f, label, look]) => line(label, look, run, r =>
            r.column("run", "", f))) }).figure;
}

function overlaid(drawn, looks) {
    const place = h("div");
    let chart = null;
    const show = f => {
        if (chart) {
            charts.splice(charts.indexOf(chart), 1);
            if (chart.u)
                chart.u.destroy();
        }
        chart = new Chart({ id: "runs-latency", title: `Latency of the runs`,
            unit: "ms", time: true, log: true, extra: pick,
            series: drawn.map(r => line(r.name, looks(r), r, x =>
                x.column("run", "", f))) });
        place.replaceChildren(chart.figure);
    };
    const pick = h("select", { class: "screen", "aria-label": "figure",
        onchange: e => show(e.currentTarget.value) },
    ["avg", "p50", "p95", "p99", "p999", "max"].map(f =>
        h("option", { selected: f === "p99" }, f)));
    show("p99");
    return place;
}

function zoomBar() {
    const all = h("button", { type: "button",
        onclick: () => zoom(...timeline.all) }, "Show everything");
    const text = h("span", { class: "faint", id: "zoomed" });
    timeline.onzoom = () => {
        const long = timeline.to > 600;
        const whole = timeline.from === timeline.all[0] &&
            timeline.to === timeline.all[1];
        all.disabled = whole;
        text.textContent = whole
            ? "Drag in a chart to magnify a stretch of all charts."
            : `Shown: ${clock(timeline.from, long)} to ` +
                clock(timeline.to, long);
    };
    timeline.onzoom();
    return h("div", { class: "bar controls" }, all, text);
}

function marksTable(main, run) {
    const list = run.marks;
    if (!list.length)
        return;
    main.append(h("p", { class: "note" }, "Marks: S stage, L lost " +
        "connections, R reconnect, r restart, B and b start and end of a command " +
        "beside the run, x interrupt, ! failure."),
    h("details", { open: list.length <= 5 },
        h("summary", null, plural(list.length, "mark")),
        table("What happened during the run",
            [{ text: "time", n: true }, { text: "kind" },
                { text: "what", t: true }],
            list.map(m => [value(m.time, clock(m.time)), m.kind, m.text]),
            100)));
}

// Median, quartiles, worst interval, variation and dips of a stretch.
function stabilitySection(main, run) {
    if (!run.drawn || !run.time.some(t => t > 0))
        return;
    const stretch = { from: 0, to: 0, chosen: false };
    let end = 0;
    const lastHalf = () => {
        end = Math.max(run.time[run.time.length - 1], 0);
        stretch.from = end / 2;
        stretch.to = end;
    };
    lastHalf();
    const place = h("div", { "aria-live": "polite" });
    const inputs = ["from", "to"].map(k => h("input", { type: "number",
        step: "any", id: `stretch-${k}`, value: stretch[k],
        onchange: e => {
            stretch.chosen = true;
            const v = Number(e.currentTarget.value);
            if (e.currentTarget.value !== "" && Number.isFinite(v))
                stretch[k] = v;
            show();
        } }));
    let chart = null;
    const show = () => {
        const figures = [["throughput", run.throughput, "/s"],
            ...["p50", "p95", "p99"].map(f =>
                [f, run.column("run", "", f), "ms"])];
        const long = end > 600;
        inputs[0].value = short(stretch.from).replaceAll(",", "");
        inputs[1].value = short(stretch.to).replaceAll(",", "");
        const rows = figures.map(([name, y, unit]) => {
            const s = stability(run, y, stretch.from, stretch.to,
                unit === "ms");
            const f = v => value(v, withUnit(v, unit));
            if (s.few)
                return [name, value(s.n, whole(s.n)), "too few intervals"];
            return [name, value(s.n, whole(s.n)), f(s.median), f(s.low),
                f(s.high), f(s.worst), value(s.worstAt, clock(s.worstAt, long)),
                value(s.variation, percent(s.variation)),
                value(s.dip, s.dips
                    ? `${clock(s.dip)} from ${clock(s.dipAt, long)}` : "none")];
        });
        const what = `Intervals from ${clock(stretch.from, long)} to ${
            clock(stretch.to, long)}`;
        place.replaceChildren(rows.every(row => row.length < 4)
            ? h("p", null, `${what}: too few intervals.`) : table(what,
        [{ text: "figure" }, { text: "intervals", n: true },
            { text: "median", n: true }, { text: "lower quartile", n: true },
            { text: "upper quartile", n: true },
            { text: "worst interval", n: true }, { text: "at", n: true },
            { text: "coefficient of variation", n: true },
            { text: "longest dip or rise", n: true }], rows));
        place.firstChild.id = "stability-table";
        if (chart)
            chart.update();
    };
    chart = new Chart({ id: "stability-chart", small: true, noKey: true,
        title: "Throughput: drag to choose the stretch", unit: "/s",
        time: true, onselect: (a, b) => {
            stretch.from = Math.max(a, 0);
            stretch.to = b;
            stretch.chosen = true;
            show();
        }, paint: u => {
            const a = u.valToPos(stretch.from, "x", true);
            const b = u.valToPos(stretch.to, "x", true);
            u.ctx.fillStyle = faded(color(0), 0.14);
            u.ctx.fillRect(a, u.bbox.top, b - a, u.bbox.height);
        }, series: [line("throughput", 0, run, r => r.throughput)] });
    const whole_ = h("button", { type: "button", onclick: () => {
        stretch.from = 0;
        stretch.to = end;
        stretch.chosen = true;
        show();
    } }, "Whole run");
    const half = h("button", { type: "button", onclick: () => {
        stretch.chosen = false;
        lastHalf();
        show();
    } }, "Last half");
    section(main, "stability", "Stability",
        h("div", { class: "bar controls" },
            h("label", null, "from ", inputs[0], " s"),
            h("label", null, "to ", inputs[1], " s"), half, whole_),
        chart.figure, place, h("p", { class: "note" },
            "Quartiles and the median are those of the intervals' figures; " +
            `fewer than ${LEAST_INTERVALS} intervals are too few for them. A ` +
            "dip is a sequence of intervals with a throughput below " +
            `${100 * DIP} % of the median, a rise one with a latency above ` +
            `${100 / DIP} %. The coefficient of variation is the standard ` +
            "deviation divided by the mean."));
    show();
    page.refresh.push(() => {
        if (!stretch.chosen)
            lastHalf();
        show();
    });
}

function curveSection(main, runs, run, chosen) {
    const list = [];
    const add = (l, label, look) => {
        if (l && l.count && (l.histogram || []).length)
            list.push({ label, look, ...curve(l) });
    };
    if (runs.length > 1) {
        chosen.forEach(i => add(runs[i].doc.latency, runs[i].name,
            lookOf(runs, chosen, runs[i])));
    } else if (run.doc.open_loop) {
        add(run.doc.latency, "response time", 0);
        add(run.doc.service, "service time", 2);
        add(run.doc.lag, "lag", 1);
    } else {
        add(run.doc.latency, "latency", 0);
    }
    if (!list.length)
        return;
    const name = v => `${+(100 - 100 / v).toPrecision(12)} %`;
    const s = section(main, "percentiles", "Percentiles");
    s.append(new Chart({ id: "curve", title: "Latency by percentile",
        unit: "ms", log: true, height: 280, series: list,
        summary: () => list.map(l => `${l.label}: ${l.x.length
            ? `maximum ${ms(l.y[l.y.length - 1])}` : "none"}.`).join(" "),
        x: { scale: { distr: 3, log: 10 },
            format: v => `p${+(100 - 100 / v).toPrecision(6)}`,
            axis: { space: 46, size: 28, splits: (u, a, min, max) =>
                [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(e => 10 ** e)
                    .filter(v => v >= min * 0.999 && v <= max * 1.001),
            // Labels of 60 pixels.
            filter: (u, list) => {
                const step = Math.ceil(list.length * 60 /
                    (u.bbox.width / devicePixelRatio));
                return list.map((v, i) => i % step ? null : v);
            },
            values: (u, x) => x.map(v => v === null ? "" : name(v)) } }
    }).figure);
    const ps = [50, 75, 90, 95, 99, 99.9, 99.99, 99.999];
    const rows = [];
    const row = (label, l) => {
        if (l && l.count)
            rows.push([label, value(l.min / 1e6, ms(l.min / 1e6)),
                value(l.avg / 1e6, ms(l.avg / 1e6)), ...ps.map(p => {
                    const enough = l.count * (1 - p / 100) >= 1;
                    const v = percentile(l, p) / 1e6;
                    return enough || p <= 99 ? value(v, ms(v)) : MISSING;
                }), value(l.max / 1e6, ms(l.max / 1e6))]);
    };
    if (runs.length > 1) {
        runs.forEach(r => row(r.name, r.doc.latency));
    } else {
        row(run.doc.open_loop ? "response time" : "service time",
            run.doc.latency);
        if (run.doc.open_loop) {
            row("service time", run.doc.service);
            row("lag", run.doc.lag);
        }
        row("client delay of answers", run.doc.client_delay);
    }
    s.append(table("Percentiles of all events of the run", [{ text: "times" },
        { text: "min", n: true }, { text: "mean", n: true },
        ...ps.map(p => ({ text: `p${p}`, n: true })),
        { text: "max", n: true }], rows));
}

// A table that is filled again when rows were added (live view).
function liveTable(make) {
    const place = h("div", null, make());
    page.refresh.push(() => place.replaceChildren(make()));
    return place;
}

function operationsOf(run) {
    return (run.doc.operations || []).filter(o => !isWorkload(o));
}

function operationsTable(run) {
    const list = operationsOf(run);
    const dur = run.duration;
    const rows = list.map(o => {
        const l = o.latency || {};
        const p = q => {
            const v = l.count ? percentile(l, q) / 1e6 : NaN;
            return value(v, ms(v));
        };
        const looked = (o.hits || 0) + (o.misses || 0);
        return [o.name, o.kind || "", value(l.count, whole(l.count)),
            value(l.count / dur, num(l.count / dur)),
            value(o.errors, whole(o.errors)), whole(o.rows),
            looked ? percent(o.misses / looked) : MISSING,
            value(l.avg / 1e6, l.count ? ms(l.avg / 1e6) : MISSING), p(50),
            p(95), p(99),
            value(l.max / 1e6, l.count ? ms(l.max / 1e6) : MISSING)];
    });
    return table(plural(list.length, "operation"),
        [{ text: "operation", t: true }, { text: "kind" },
            { text: "count", n: true }, { text: "per second", n: true },
            { text: "errors", n: true }, { text: "rows", n: true },
            { text: "found nothing", n: true }, { text: "mean", n: true },
            ...["p50", "p95", "p99", "max"].map(t => ({ text: t, n: true }))],
        rows, 50);
}

function operationsSection(main, run) {
    const list = operationsOf(run);
    if (!list.length)
        return;
    const s = section(main, "operations", "Operations");
    s.append(liveTable(() => operationsTable(run)));
    const mixed = new Set((run.doc.operations || []).filter(isWorkload)
        .map(o => o.name));
    const names = run.names("operation").filter(n => !mixed.has(n));
    if (!names.length || !run.drawn)
        return;
    const has = new Set(names);
    const top = list.filter(o => has.has(o.name)).sort((a, b) =>
        ((b.latency || {}).count || 0) - ((a.latency || {}).count || 0))
        .slice(0, MOST_RUNS).map(o => o.name);
    if (!top.length)
        top.push(...names.slice(0, MOST_RUNS));
    const note = names.length > top.length
        ? `The ${top.length} operations with the highest counts.` : "";
    const chart = (f, title, unit, id) => s.append(new Chart({ id, title, unit,
        time: true, log: unit === "ms", marks: true, note,
        series: top.map((n, i) => line(n, i, run, r => f === "count"
            ? r.rate("operation", n, f) : r.column("operation", n, f)))
    }).figure);
    chart("count", "Operations per second", "/s", "operation-rate");
    chart("p95", "Latency of operations, p95", "ms", "operation-latency");
}

// What servers counted of statements, beside the operations of the client.
function statementsSection(main, run) {
    const { servers, operations, digests } = run.doc.statements || {};
    if (!servers)
        return;
    const time = v => value(v, ms(v ?? NaN));
    const count = v => value(v, v === null ? MISSING : whole(v));
    const figure = v => value(v, num(v));
    const notes = servers.flatMap(s => [
        s.why && `${s.address}: unknown: ${s.why}`,
        s.lost && `${s.address}: incomplete: the server had no room for all statements`,
        s.reset && `${s.address}: incomplete: its statistics were reset during the run`,
    ]).filter(Boolean);
    section(main, "statements", "Statements on the server",
        notes.map(n => h("p", null, n)),
        table("Operations of the client and what the server counted of them; the " +
            "difference is the network, the client and waiting between both",
        [{ text: "operation" }, { text: "calls", n: true },
            { text: "calls on the server", n: true }, { text: "client", n: true },
            { text: "server", n: true }, { text: "difference", n: true }],
        operations.map(o => [o.name, count(o.client_calls), o.agree ||
            o.server_calls === null ? count(o.server_calls)
            : h("span", { class: "bad" }, whole(o.server_calls)),
        time(o.client_ms), time(o.server_ms), time(o.difference_ms)])),
        digests.length ? table("Statements, figures per call",
            [{ text: "statement" }, { text: "operation" }, { text: "calls", n: true },
                { text: "time", n: true }, { text: "rows", n: true },
                { text: "examined", n: true }, { text: "pages hit", n: true },
                { text: "read", n: true }, { text: "written", n: true }],
            digests.map(d => [h("code", null, d.text.length > 300
                ? `${d.text.slice(0, 300)}...` : d.text), d.operation,
            count(d.calls), time(d.ms), figure(d.rows), figure(d.examined),
            figure(d.hit), figure(d.read), figure(d.written)]), 20) : null);
}

function errorsSection(main, run) {
    if (!(run.doc.errors || []).length)
        return;
    section(main, "errors", "Errors", liveTable(() => table("Errors by code",
        [{ text: "driver" }, { text: "code", n: true }, { text: "SQLSTATE" },
            { text: "count", n: true }, { text: "first seen", n: true },
            { text: "an example", t: true }],
        run.doc.errors.map(e => [e.driver, e.code, e.state, value(e.count,
            whole(e.count)), clock(e.first_seen), e.sample]))));
}

// A small chart for each column of a group.
function smallCharts(s, run, group) {
    const grid = h("div", { class: "many" });
    const all = run.columns.filter(c => c.group === group);
    // During a run, they may still change.
    const zero = root.dataset.live === "running" ? [] : all.filter(c => {
        const y = run.column(group, c.name, c.figure);
        return y.some(v => v === 0) && !y.some(v => v > 0 || v < 0);
    });
    const list = all.filter(c => !zero.includes(c));
    const counter = new Set((run.doc.metrics || [])
        .filter(m => m.kind === "counter").map(m => m.name));
    for (const c of list) {
        const rate = group === "metric" && c.figure === "sum" &&
            counter.has(c.name);
        const plain = /^(value|sum)$/.test(c.figure);
        const unit = rate ? "/s" : c.unit || "";
        grid.append(new Chart({ small: true, time: true, unit,
            title: [c.name, plain ? "" : c.figure,
                unit && unit !== "B" ? `(${unit})` : ""]
                .filter(Boolean).join(" "),
            series: [line(c.name, 0, run, r => rate
                ? r.rate(group, c.name, c.figure)
                : r.column(group, c.name, c.figure))] }).figure);
    }
    s.append(grid);
    if (zero.length)
        s.append(h("details", { class: "zero" }, h("summary", null,
            `${plural(zero.length, "counter")} that stayed 0`),
        h("p", null, zero.map(c => c.name).join(", "))));
}

function serverSection(main, run) {
    if (!run.columns.some(c => c.group === "server"))
        return;
    const s = section(main, "server", "Server");
    const late = Math.max(0, ...(run.doc.databases || [])
        .map(b => b.totals_late || 0));
    if (late > 0)
        s.append(h("p", null, "A server adds up its totals only from time to " +
            `time: the rates are those of up to ${late} s earlier.`));
    smallCharts(s, run, "server");
}

function waitsTable(w) {
    const about = (v, within, digits, unit) => value(v, v.toFixed(digits) +
        unit + (within === null ? "" : ` \u00b1${within.toFixed(digits)}`));
    const row = (r, ...names) => [...names,
        about(r.sessions, r.sessions_within, 2, ""),
        about(100 * r.share, r.share_within === null ? null
            : 100 * r.share_within, 1, " %")];
    const of = (...keys) => (w.shares || []).filter(r =>
        ["class", "event", "operation"].every(k =>
            (r[k] !== undefined) === keys.includes(k)));
    const figures = [{ text: "sessions", n: true }, { text: "share", n: true }];
    return [table("By wait", [{ text: "wait" }, { text: "event", t: true },
        ...figures], of("class").flatMap(c => [row(c, c.class, ""),
        ...of("class", "event").filter(e => e.class === c.class && e.event)
            .map(e => row(e, "", e.event))]), 50),
    table("By operation", [{ text: "operation", t: true }, { text: "wait" },
        ...figures], of("operation").flatMap(o => [row(o, o.operation, ""),
        ...of("class", "operation").filter(c => c.operation === o.operation)
            .map(c => row(c, "", c.class))]), 50)];
}

// What the sessions of the servers waited for.
function waitsSection(main, run) {
    const list = run.doc.waits || [], names = run.names("waits");
    if (!list.length && !names.length)
        return;
    const s = section(main, "waits", "Waits of the server");
    if (names.length && run.drawn)
        s.append(new Chart({ id: "waits", title: "Active sessions by wait",
            unit: "sessions", time: true, marks: true,
            series: names.slice(0, MOST_RUNS).map((n, i) => line(n, i, run, r =>
                r.column("waits", n, "value"))) }).figure);
    for (const w of list) {
        if (list.length > 1)
            s.append(h("h3", null, w.address || ""));
        if (w.why)
            s.append(h("p", null, `Unknown: ${w.why}.`));
        else
            s.append(h("p", null, `${whole(w.samples)} samples, ` +
                `${w.sessions.toFixed(2)} active sessions on average.`),
            ...waitsTable(w));
        if (w.note)
            s.append(h("p", null, `${w.note}.`));
    }
}

function clientSection(main, run) {
    const has = name => run.has("client", name, "value");
    if (!has("cpu"))
        return;
    const s = section(main, "client", "Client");
    const of = (name, label, look) => line(label, look, run, r =>
        r.column("client", name, "value"));
    const cpus = ((run.doc.host || {}).container || {}).cpus ||
        (run.doc.host || {}).processors;
    s.append(new Chart({ id: "cpu", title: "Processors in use",
        unit: "processors", time: true, height: 170, marks: true,
        note: cpus ? `The client may use ${cpus} processors.` : "",
        series: [of("cpu", "this program", 0),
            ...(has("machine") ? [of("machine", "machine", 1)] : [])]
    }).figure);
    if (has("wait"))
        s.append(new Chart({ id: "wait", unit: "", time: true, height: 150,
            title: "Waiting for a processor: share of the time in which " +
                "threads were ready to run", format: percent, marks: true,
            yAxis: { values: (u, list) => list.map(v => v === null ? ""
                : `${short(+(100 * v).toPrecision(6))} %`) },
            series: [of("wait", "waiting", 0)] }).figure);
}

function metricsSection(main, run) {
    const list = run.doc.metrics || [];
    const columns = run.columns.some(c => c.group === "metric");
    if (!list.length && !columns)
        return;
    const s = section(main, "metrics", "Metrics of the script");
    if (list.length)
        s.append(liveTable(() => table("Metrics", [{ text: "metric", t: true },
            { text: "kind" }, { text: "figures", t: true }],
        run.doc.metrics.map(m =>
            [m.name, m.kind, Object.entries(m).filter(([k, v]) =>
                typeof v === "number" || k === "value" && v === null)
                .map(([k, v]) => `${k} ${v === null ? "unknown" : num(v)}`)
                .join(", ")]))));
    if (columns)
        smallCharts(s, run, "metric");
}

// How the users of a run were run; null if its program did not say so. Of a run
// of several processes, only the first process is known.
function usersText(d) {
    if (d.workers === undefined)
        return null;
    const of = d.merged || d.ranks ? "; those of the first process " : ", ";
    const how = [d.event_loop, d.event_loop && d.worker_policy].filter(Boolean);
    if (!d.workers)
        return `${d.threads}${of}${d.threads === 1 ? "" : "each "}with a thread`;
    return `${d.threads}${of}on ${plural(d.workers, "worker")}` +
        (how.length ? ` (${how.join(", ")})` : "");
}

// The options that were set, as if all of them had been on the command line.
function commandLine(d) {
    const word = w => /^[\w\-+=./:,@%]+$/.test(w) ? w
        : `'${w.replaceAll("'", "'\\''")}'`;
    const set = (d.options || []).filter(o => o.source !== "default" &&
        !["report", "config-file", "test"].includes(o.name));
    return ["sysbench", ...set.map(o => `--${o.name}=${o.value}`),
        ...set.some(o => o.name === "mix") ? [] : [d.test], d.command || "run"]
        .map(word).join(" ");
}

// b: a database of the document.
function settingsTables(s, b) {
    const settings = Object.entries(b.settings || {});
    const usual = new Set(b.defaults || []);
    const heads = [{ text: "setting" }, { text: "value", t: true }];
    const changed = settings.filter(([name]) => !usual.has(name));
    if (changed.length)
        s.append(table(`Settings of the server${usual.size
            ? ", without its defaults" : ""}`, heads, changed));
    if (usual.size)
        s.append(h("details", null, h("summary", null,
            `${plural(usual.size, "setting")} with default values`),
        table("Settings with default values", heads,
            settings.filter(([name]) => usual.has(name)))));
}

function configurationSection(main, run) {
    const d = run.doc, host = d.host || {}, box = host.container || {};
    const s = section(main, "configuration", "How this was measured");
    const all = d.options || [];
    const set = all.filter(o => o.source !== "default");
    const rest = all.filter(o => o.source === "default");
    const heads = [{ text: "option" }, { text: "value", t: true },
        { text: "source" }];
    const row = o => [o.name, o.value, [o.source, o.origin].filter(Boolean)
        .join(" ")];
    s.append(h("p", { class: "command" }, h("code", null, commandLine(d))));
    if (set.length)
        s.append(table("Options that were set", heads, set.map(row)));
    if (rest.length)
        s.append(h("details", null, h("summary", null,
            `${plural(rest.length, "option")} with default values`),
        table("Options with default values", heads, rest.map(row))));
    if ((d.scripts || []).length)
        s.append(h("details", null, h("summary", null,
            plural(d.scripts.length, "script file")),
        table("Files with the code of the workload", [{ text: "file" },
            { text: "SHA-256", t: true }],
        d.scripts.map(f => [f.file, f.sha256]))));
    s.append(h("h3", null, "Client"), pairs([["host", host.name],
        ["processor", host.cpu], ["processors", host.processors],
        ["memory", host.memory_bytes ? bytes(host.memory_bytes) : null],
        ["kernel", host.kernel], ["clock source", host.clock],
        ["frequency", [host.governor, host.frequency_driver].filter(Boolean)
            .join(", ")],
        ["container", [box.cpus ? `${box.cpus} processors` : "",
            box.memory_bytes ? bytes(box.memory_bytes) : ""]
            .filter(Boolean).join(", ")],
        ["seed", d.seed], ["users", usersText(d)]]));
    for (const b of d.databases || []) {
        s.append(h("h3", null, b.server || b.driver || "Database"),
            pairs([["driver", b.driver], ["client library", b.client],
                ["address", b.address], ["statements", b.bypass === undefined
                    ? null : b.bypass ? "sent without the client library"
                        : "sent by the client library"]]));
        settingsTables(s, b);
    }
    if ((d.data || []).length)
        s.append(table("Data that was used, after the run", [{ text: "table" },
            { text: "rows", n: true }, { text: "size", n: true }],
        d.data.map(t => [t.table || "database",
            t.rows === null ? MISSING : value(t.rows, whole(t.rows)),
            t.bytes === null ? MISSING : value(t.bytes, bytes(t.bytes))])));
}
