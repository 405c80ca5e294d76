// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live view: the page asks the program for new rows. The addresses and
// their answers are described in docs/internals/page.md.

const LIVE_EVERY = 1000; // ms
const LIVE_GIVE_UP = 5;  // failed requests in a row before the page says so
const LIVE_NEXT = 900;   // s to wait for the next run of a sweep

// "run 2 of 6 (threads=4, rate=100, round 1)" of a sweep.
function sweepPlace(run) {
    const { swept, round, place, places } = run.doc;
    if (!swept)
        return "";
    const facts = [...Object.keys(swept).map(n => `${n}=${swept[n]}`),
        Number(run.option("repeat")) > 1 ? `round ${round}` : ""]
        .filter(Boolean).join(", ");
    return `run ${place} of ${places}${facts && ` (${facts})`}`;
}

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
    if (more.from !== run.rows.n || more.run !== page.runs.length - 1 ||
        more.started !== run.doc.started)
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

// Returns a text that changes when the page needs a new part.
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

// What the page knows about the run that it shows.
function liveText(run, state) {
    const place = sweepPlace(run);
    const name = place ? `${place[0].toUpperCase()}${place.slice(1)}`
        : "The run";
    return { running: `${name} is in progress; the page updates itself.`,
        waiting: `${name} has ended; the page waits for the next run.`,
        ended: `${name} has ended.` }[state];
}

// Whether no other run follows at this address. Each run of a sweep is a process
// of its own. A limit that was not kept (status 3) is no failure.
function liveLast(run) {
    const { swept, following } = run.doc;
    const { reason, status } = run.doc.end || {};
    return !swept || following === 0 || reason === "signal" ||
        run.option("sweep-stop") === "on" && status > 0 && status !== 3;
}

// Waits until another run answers. Returns its document, null if none does.
async function liveNext(run, wait) {
    const end = performance.now() + 1000 * LIVE_NEXT;
    while (performance.now() < end) {
        await wait();
        try {
            const doc = readDocument(await get("result.json"));
            const last = doc.runs.at(-1) || {};
            if (last.started !== run.doc.started || !last.end)
                return doc;
        } catch (error) {
            // Between two runs nothing answers.
        }
    }
    return null;
}

async function live() {
    let failures = 0;
    let known = null, doc = null;
    const wait = () => new Promise(f => setTimeout(f, LIVE_EVERY));
    for (;;) {
        try {
            if (!known) {
                doc = doc || readDocument(await get("result.json"));
                page.current = Math.max(doc.runs.length - 1, 0);
                page.chosen = [];
                show([{ doc, name: "" }]);
                known = page.runs.at(-1);
                const over = known && known.doc.end && doc.ended !== false;
                doc = null;
                if (over) {
                    if (!liveLast(known)) {
                        liveState("waiting", liveText(known, "waiting"));
                        doc = await liveNext(known, wait);
                    }
                    if (!doc)
                        return liveState("ended", liveText(known, "ended"));
                    known = null;
                    failures = 0;
                    continue;
                }
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
            liveState("running", known ? liveText(known, "running") : "");
        } catch (error) {
            // What is shown stays: the next answer may be of the same run.
            failures++;
            if (failures >= LIVE_GIVE_UP)
                liveState("lost", "The program does not answer. The page " +
                    "shows the last received figures.");
        }
        await wait();
    }
}
