// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command of --beside: its executions, and the workload before, during and
// after it.

const BESIDE_PHASES = [["before", "before"], ["during", "during"],
    ["edges", "start/end"], ["after", "after"]];

// The figures of the run, or of each of the merged runs that had a command.
function besideOf(run) {
    const d = run.doc;
    if (d.beside)
        return [{ name: d.beside.name, figures: d.beside }];
    return (d.merged || []).flatMap((m, i) => m.beside
        ? [{ name: `${m.beside.name}, run ${i + 1} of ${d.merged.length}`,
            figures: m.beside }] : []);
}

function besideEnd(c) {
    if (c.stopped)
        return "stopped at the end of the run";
    if (c.signal)
        return `ended by signal ${c.signal}`;
    return c.status === null || c.status === undefined
        ? "exit status unknown" : `exit status ${c.status}`;
}

function besideExecutions({ name, figures }) {
    const seconds = v => value(v, Number.isFinite(v) ? `${num(v)} s` : MISSING);
    const row = (label, c) => c && c.seconds !== null ? [[label,
        seconds(c.seconds), seconds(c.cpu_user), seconds(c.cpu_system),
        value(c.rss_bytes, bytes(Number(c.rss_bytes))), besideEnd(c)]] : [];
    const { command } = figures;
    const rows = [...row("alone", figures.alone), ...row(command.start === null
        ? "" : `with the workload, from ${clock(command.start)} to ${
            clock(command.end)}`, command)];
    if (!rows.length)
        return h("p", null, "The run ended before the command was started.");
    return table(`The command ${name}`, [{ text: "execution" },
        { text: "time", n: true }, { text: "CPU user", n: true },
        { text: "CPU system", n: true }, { text: "memory", n: true },
        { text: "end", t: true }], rows);
}

function besideWorkload({ name, figures }) {
    if (figures.command.start === null)
        return null;
    const phases = BESIDE_PHASES.map(([key]) => figures[key] || {});
    const d = figures.difference || {};
    const signed = v => Number.isFinite(v)
        ? `${v > 0 ? "+" : ""}${percent(v)}` : MISSING;
    const compared = x => x ? [value(x.value, signed(x.value)),
        Number.isFinite(x.low) && Number.isFinite(x.high)
            ? `${signed(x.low)} to ${signed(x.high)}` : MISSING] : ["", ""];
    const row = (label, get, text, x) => [label, ...phases.map(p => {
        const v = get(p);
        return value(v, text(v));
    }), ...compared(x)];
    const rate = p => p.seconds > 0 ? p.events / p.seconds : NaN;
    const rows = [
        row("events/s", rate, v => num(v), d.events_per_s),
        row("mean", p => p.latency_avg_ms, ms, d.latency_avg),
        ...figures.percentile > 0 ? [row(`p${figures.percentile}`,
            p => p.latency_pct_ms, ms, d.latency_pct)] : [],
        row("maximum", p => p.latency_max_ms, ms),
        row("errors", p => p.errors, whole),
        row("intervals", p => p.intervals, whole)];
    return table(`The workload beside ${name}`, [{ text: "figure" },
        ...BESIDE_PHASES.map(([, text]) => ({ text, n: true })),
        { text: `during to ${d.to || "before"}`, n: true },
        { text: "95 % interval", n: true }], rows);
}

function besideSection(main, run) {
    const list = besideOf(run);
    if (!list.length)
        return;
    section(main, "beside", "Beside the run",
        ...list.flatMap(x => [besideExecutions(x), besideWorkload(x)]),
        h("p", { class: "note" }, "start/end: the intervals in which the " +
            "command started or ended. Events that it blocked until its end " +
            "complete there."));
}
