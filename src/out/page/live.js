// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live view: the page asks the program for new rows. The addresses and
// their answers are described in docs/internals/page.md.

const LIVE_EVERY = 1000; // ms
const LIVE_GIVE_UP = 5;  // failed requests in a row before the page says so

async function get(address) {
    const answer = await fetch(address, { cache: "no-store" });
    if (!answer.ok)
        throw new Error(`${address}: status ${answer.status}`);
    return answer.text();
}

function liveState(state, text) {
    root.dataset.live = state;
    const e = document.getElementById("live");
    if (e && e.textContent !== text) {
        e.hidden = false;
        e.textContent = text;
    }
}

// Appends the rows of an answer. Returns false if the answer belongs to another
// run, or if the page has missed rows.
function liveAppend(run, more) {
    if (more.from !== run.rows.n || more.run !== page.runs.length - 1)
        return false;
    run.rows.add(more.rows);
    run.hists.add(more.histograms || []);
    run.columns = more.columns || run.columns;
    run.doc.intervals.missing = more.missing;
    run.doc.marks = more.marks || run.doc.marks;
    run.doc.counters = more.counters || run.doc.counters;
    run.doc.latency = more.latency || run.doc.latency;
    run.doc.errors = more.errors || run.doc.errors;
    run.doc.operations = more.operations || run.doc.operations;
    run.doc.metrics = more.metrics || run.doc.metrics;
    run.doc.databases = more.databases || run.doc.databases;
    run.forget();
    return true;
}

// Changes when the page needs a part that it does not have.
function liveParts(run) {
    const d = run.doc;
    return [run.columns, d.operations, d.errors, d.metrics, d.databases]
        .map(list => (list || []).length).join();
}

// Points the charts at the new rows and moves the timeline. Parts of the page
// are built again only if there are new ones; parts: those before.
function liveUpdate(run, parts) {
    const all = timeline.all;
    const follows = timeline.to === all[1];
    const whole = follows && timeline.from === all[0];
    const length = timeline.to - timeline.from;
    if (parts !== liveParts(run) || !charts.length) {
        build();
    } else {
        timeline.all = [all[0], Math.max(all[1], run.time.at(-1) ?? 0)];
        timeline.marks = run.marks;
        page.refresh.forEach(f => f());
        header(document.getElementById("top"), page.runs, run);
        if (whole)
            zoom(...timeline.all);
        else if (follows)
            zoom(timeline.all[1] - length, timeline.all[1]);
    }
}

async function live() {
    let failures = 0;
    let known = null;
    const wait = () => new Promise(f => setTimeout(f, LIVE_EVERY));
    for (;;) {
        try {
            if (!known) {
                const doc = readDocument(await get("result.json"));
                page.current = Math.max(doc.runs.length - 1, 0);
                page.chosen = [];
                show([{ doc, name: "" }]);
                known = page.runs.at(-1);
                if (known && known.doc.end && doc.ended !== false)
                    return liveState("ended", "The run has ended.");
            } else {
                const parts = liveParts(known);
                const missing = known.doc.intervals.missing;
                const more = JSON.parse(await get(
                    `intervals.json?from=${known.rows.n}`));
                if (more.end || !liveAppend(known, more)) {
                    known = null;
                    failures = 0;
                    continue;
                }
                if (more.rows.length || more.missing !== missing)
                    liveUpdate(known, parts);
            }
            failures = 0;
            liveState("running", "The run is in progress; the page updates " +
                "itself.");
        } catch (error) {
            failures++;
            if (failures >= LIVE_GIVE_UP)
                liveState("lost", "The program does not answer; what is " +
                    "shown is what it last reported.");
        }
        await wait();
    }
}
