// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads the documents, builds the page, and updates it during a run.
//
// For programs: <html data-drawn="ms"> when the charts in the visible part are
// drawn, data-complete="ms" when all are; data-live is "running", "waiting",
// "ended" or "lost" in the live view.

const root = document.documentElement;
// refresh: functions that update tables when rows were added (live view).
const page = { runs: [], current: null, chosen: [], refresh: [],
    comparison: null };

// The documents of both sides, of which some runs may not belong to the side.
function takeSides(comparison, documents) {
    SIDES = comparison.sides.map(s => s.name);
    for (const side of comparison.sides)
        documents.filter(d => d.side === side.name).forEach(({ doc }, i) => {
            doc.runs = doc.runs.filter((r, k) =>
                side.numbers[i].includes(k + 1));
        });
}

function readDocuments() {
    const out = [];
    for (const e of document.querySelectorAll("script.result")) {
        try {
            out.push({ name: e.dataset.name || "", side: e.dataset.side,
                doc: readDocument(e.textContent) });
        } catch (error) {
            document.getElementById("main").append(h("p", { class: "end" },
                `${e.dataset.name || "The result"} cannot be read: ` +
                error.message));
        }
    }
    const compared = document.querySelector("script.comparison");
    page.comparison = compared && JSON.parse(compared.textContent);
    if (compared)
        takeSides(page.comparison, out);
    return out;
}

function setTimeline(runs, chosen, current) {
    let from = 0, to = 0;
    const list = runs.length > 1 ? chosen.map(i => runs[i]) : runs;
    for (const r of [...list, current]) {
        const t = r.time;
        if (t.length) {
            from = Math.min(from, t[0] - (r.seconds[0] || 0));
            // The end of the run, also if its last interval is not drawn.
            to = Math.max(to, t[t.length - 1], r.duration);
        }
    }
    if (!(to > from))
        to = from + 1;
    timeline.all = [from, to];
    timeline.from = from;
    timeline.to = to;
    timeline.marks = current.marks;
}

function navigation(main) {
    const list = [...main.querySelectorAll("section > h2")].map(t =>
        h("li", null, h("a", { href: `#${t.parentNode.id}` },
            t.textContent.replace(/: .*/, ""))));
    const theme = h("button", { type: "button", onclick: () => {
        setTheme(root.dataset.theme === "dark" ? "light" : "dark");
        theme.textContent = themeText();
    } }, themeText());
    main.prepend(h("nav", { "aria-label": "Parts of the page" },
        h("ul", null, list), theme));
}

// Marks an element with the class "cut" while there is more of it to the right.
const scrolled = new ResizeObserver(list => list.forEach(e => cut(e.target)));

function cut(e) {
    e.classList.toggle("cut", e.scrollLeft + e.clientWidth < e.scrollWidth - 2);
}

function hintScroll(e) {
    e.addEventListener("scroll", () => cut(e), { passive: true });
    scrolled.observe(e);
    cut(e);
}

function themeText() {
    return root.dataset.theme === "dark" ? "Light colours" : "Dark colours";
}

function build() {
    const main = document.getElementById("main");
    const { runs, chosen } = page;
    const run = runs[page.current];
    for (const c of charts) {
        if (c.u)
            c.u.destroy();
    }
    charts.length = 0;
    scrolled.disconnect();
    page.refresh.length = 0;
    main.replaceChildren();
    setTimeline(runs, chosen, run);
    if (page.comparison)
        comparisonSections(document.getElementById("top"), main,
            page.comparison, runs);
    else
        header(document.getElementById("top"), runs, run);
    const together = !page.comparison && pointsSection(main, runs);
    const list = () => runsSection(main, runs, run, chosen, i => {
        page.current = i;
        build();
        document.getElementById("detail").scrollIntoView();
    }, indexes => { page.chosen = indexes; build(); });
    // The list comes last if the runs were summed up before.
    if (!together && !page.comparison)
        list();
    detailSection(main, runs, run);
    answersSection(main, run);
    validitySection(main, run);
    timelineSection(main, runs, run, chosen);
    workloadsSection(main, run);
    stagesSection(main, run);
    stabilitySection(main, run);
    curveSection(main, runs, run, chosen);
    operationsSection(main, run);
    statementsSection(main, run);
    limitsSection(main, run);
    rateSection(main, run);
    besideSection(main, run);
    errorsSection(main, run);
    costsSection(main, run);
    serverSection(main, run);
    waitsSection(main, run);
    clientSection(main, run);
    metricsSection(main, run);
    configurationSection(main, run);
    if (together || page.comparison)
        list();
    complete(main);
}

// Navigation, and the charts.
function complete(main) {
    navigation(main);
    for (const e of main.querySelectorAll(".wide, nav ul"))
        hintScroll(e);
    drawRest();
}

// Draws the visible charts, then the others between other work.
function drawRest() {
    const edge = innerHeight;
    for (const c of charts) {
        if (c.plot.getBoundingClientRect().top < edge)
            c.draw();
    }
    // After the next frame was painted.
    requestAnimationFrame(() => setTimeout(() => {
        root.dataset.drawn ??= Math.round(performance.now());
        next();
    }));
    const next = () => {
        const c = charts.find(x => !x.u && x.plot.isConnected);
        if (c) {
            c.draw();
            setTimeout(next);
        } else {
            root.dataset.complete ??= Math.round(performance.now());
        }
    };
}

function setTheme(name) {
    root.dataset.theme = name;
    redrawAll();
}

// Paper is white and has one width.
let before = null;
function toPaper(on) {
    if (on === (before !== null))
        return;
    if (on) {
        before = root.dataset.theme;
        timeline.print = 660;
        root.dataset.theme = "light";
        palette = null;
        for (const c of charts) {
            const small = c.spec.small;
            timeline.print = small && c.plot.closest(".many") ? 320 : 660;
            c.remake();
            c.draw();
        }
        for (const d of document.querySelectorAll("details:not([open])"))
            d.dataset.closed = d.open = true;
    } else {
        timeline.print = 0;
        for (const d of document.querySelectorAll("details[data-closed]")) {
            delete d.dataset.closed;
            d.open = false;
        }
        setTheme(before);
        before = null;
    }
}

function watch() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", e => setTheme(e.matches ? "dark"
        : "light"));
    root.dataset.theme = dark.matches ? "dark" : "light";
    addEventListener("beforeprint", () => toPaper(true));
    addEventListener("afterprint", () => toPaper(false));
    matchMedia("print").addEventListener("change", e => toPaper(e.matches));
    let wait = 0;
    new ResizeObserver(() => {
        clearTimeout(wait);
        wait = setTimeout(() => {
            if (before === null)
                charts.forEach(c => c.resize());
        }, 60);
    }).observe(document.body);
}

function show(documents) {
    page.runs = runsOf(documents);
    if (!page.runs.length) {
        document.getElementById("main").append(
            h("p", null, "There are no results to show."));
        root.dataset.drawn = root.dataset.complete =
            Math.round(performance.now());
        return;
    }
    page.current = Math.min(page.current ?? (page.comparison ? 0
        : firstInDetail(page.runs)), page.runs.length - 1);
    if (!page.chosen.length)
        page.chosen = firstChosen(page.runs);
    build();
}

watch();
const history_ = document.querySelector("script.history");
if (root.dataset.live !== undefined) {
    live();
} else if (history_) {
    const main = document.getElementById("main");
    main.replaceChildren();
    historySections(document.getElementById("top"), main,
        JSON.parse(history_.textContent));
    complete(main);
} else {
    show(readDocuments());
}
