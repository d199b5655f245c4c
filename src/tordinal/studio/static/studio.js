// The page of the studio. Everything from the table goes into the page as text, never as HTML.
"use strict";

const find = (id) => document.getElementById(id);
let state = null; // what the server said last
let version = -1; // of the estimates on the page
let busy = false;
let listsAll = false;

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
}

function make(tag, text = "", attributes = {}) {
  const svg = ["svg", "path", "line", "rect", "circle", "text"].includes(tag);
  const element = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  if (text !== "") element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function tell(text) {
  find("status").textContent = text;
}

function showAlerts(texts) {
  find("alerts").replaceChildren(...texts.map((text) => make("p", text)));
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, { cache: "no-store", ...options });
  const type = response.headers.get("content-type") || "";
  if (!type.startsWith("application/json")) throw new Error(await response.text());
  return response.json();
}

// Send an action. It is tried again with the same id until the server confirms it: nothing counts
// as rated before it is on disk, and nothing is counted twice.
async function act(path, body, said) {
  if (busy) return;
  busy = true;
  document.body.classList.add("busy");
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await ask(path, { ...body, id: (body.id ??= newId()) });
        if (answer.item !== undefined) show(answer);
        if (answer.problem) showAlerts([...(answer.notes || []), answer.problem]);
        else tell(said);
        return;
      } catch (error) {
        if (!(error instanceof TypeError)) { // an answer, but not of this studio
          showAlerts([`Not saved. ${error.message}`]);
          return;
        }
        showAlerts(["Not saved: the studio does not answer. Trying again. If it was stopped, start it again: all ratings that this page has confirmed are on disk."]);
        await wait(Math.min(500 * 2 ** attempt, 5000));
      }
    }
  } finally {
    busy = false;
    document.body.classList.remove("busy");
  }
}

const KINDS = {
  repeat: "You rated this row before. Rate it again without looking back: this measures how far ratings agree.",
  shared: "Another rater has rated this row, too.",
  change: "You rated this row before. Choose another rating, or keep it.",
  skipped: "You skipped this row. Rate it, or go on.",
};

function show(next) {
  const before = state && state.item ? `${state.item.place} ${state.item.kind} ${state.mine}` : "";
  state = next;
  const item = state.item;
  showAlerts(state.notes);
  showCounts();
  find("row-title").textContent = item ? `Row ${item.row}` : "Every row is rated or skipped.";
  find("kind").hidden = !(item && KINDS[item.kind]);
  find("kind").textContent = item ? KINDS[item.kind] || "" : "";
  find("texts").replaceChildren(...(item ? item.texts : []).map(([name, text]) => {
    const part = make("div");
    part.append(make("h2", name), make("p", text));
    return part;
  }));
  find("others").replaceChildren(...(item ? item.others : []).flatMap(([name, text]) =>
    [make("dt", name), make("dd", text)]));
  for (const button of document.querySelectorAll("button.rating")) {
    button.disabled = !item;
    button.setAttribute("aria-pressed", String(Boolean(item) && item.rating === button.dataset.rating));
  }
  const changing = Boolean(item) && (item.kind === "change" || item.kind === "skipped");
  find("back").hidden = !changing;
  find("skip").hidden = find("unsure").hidden = changing || (Boolean(item) && item.kind === "repeat");
  find("skip").disabled = find("unsure").disabled = !item;
  find("undo").disabled = !state.history.length;
  if (!listsAll) showHistory(state.history, state.mine + state.skipped);
  showFinish();
  if (before !== (item ? `${item.place} ${item.kind} ${state.mine}` : "") && before !== "") {
    find("row-title").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
}

function showCounts() {
  find("bar").value = state.rated / Math.max(state.rows, 1);
  find("counts").textContent = `${state.rated.toLocaleString("en")} of ${state.rows.toLocaleString("en")} rated`
    + (state.skipped ? `, ${state.skipped.toLocaleString("en")} skipped` : "");
}

function entry(e, rating) {
  const line = make("li");
  const button = make("button", "", { type: "button" });
  button.append(make("b", rating), make("span", ` row ${e.row}`));
  if (e.predicted !== undefined && e.predicted !== null) {
    button.append(make("span", ` · predicted ${e.predicted}`, { class: "model" }));
  }
  const more = e.note ? `${e.snippet} (${e.note})` : e.snippet;
  button.append(make("span", more, { class: "snippet" }));
  button.addEventListener("click", () => act("/api/look", { place: e.place }, `Row ${e.row} is shown.`));
  line.append(button);
  return line;
}

function showHistory(entries, n) {
  const names = { skip: "skipped", unsure: "unsure" };
  find("history").replaceChildren(...entries.map((e) => entry(e, names[e.event] || e.rating)));
  find("all").hidden = listsAll || n <= entries.length;
}

// Estimates ---------------------------------------------------------------------------------------

function showEstimates(e) {
  version = e.version;
  if (e.failure) showAlerts([...state.notes, `The estimates could not be computed: ${e.failure}`]);
  if (e.error) {
    const round = (x) => x.toFixed(2);
    const box = find("error");
    box.replaceChildren(
      make("b", `off by ${round(e.error.value)} steps`),
      document.createTextNode(
        `on average, in 9 of 10 cases between ${round(e.error.low)} and ${round(e.error.high)}. `
        + `However often you look, it is at most ${round(e.error.high_anytime)}.`),
    );
  }
  find("course").replaceChildren(...(e.course.length > 1 ? [courseOf(e)] : []));
  find("sentences").replaceChildren(...e.sentences.map((text) => make("li", text)));
  find("shares").replaceChildren(...(e.shares.length ? [sharesOf(e.shares)] : []));
  find("looks-section").hidden = !e.looks.length;
  find("looks").replaceChildren(...e.looks.map((l) => entry(l, l.rating)));
  find("discuss-section").hidden = !e.discuss.length;
  find("discuss").replaceChildren(...e.discuss.map((d) => entry(d, `you ${d.rating}, ${d.rater} ${d.other}`)));
}

function courseOf(e) {
  const width = 360, height = 150, left = 34, bottom = 22, top = 8;
  const points = e.course;
  const most = points[points.length - 1].n_ratings, least = points[0].n_ratings;
  const highest = Math.max(...points.map((p) => p.high), e.goal || 0) * 1.05 || 1;
  const x = (n) => left + (width - left - 8) * (n - least) / Math.max(most - least, 1);
  const y = (v) => top + (height - top - bottom) * (1 - v / highest);
  const last = points[points.length - 1];
  const label = `Estimated error of the finished table: ${points[0].error.toFixed(2)} steps after ${least} ratings, ${last.error.toFixed(2)} after ${most}.`;
  const svg = make("svg", "", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const path = (ps) => ps.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  const band = [...points.map((p) => [x(p.n_ratings), y(p.high)]), ...[...points].reverse().map((p) => [x(p.n_ratings), y(p.low)])];
  svg.append(make("path", "", { d: `${path(band)}Z`, class: "band" }));
  for (const v of [0, highest / 1.05]) {
    svg.append(make("line", "", { x1: left, x2: width - 8, y1: y(v), y2: y(v), class: "axis" }));
    svg.append(make("text", v.toFixed(2), { x: left - 6, y: y(v) + 4, "text-anchor": "end" }));
  }
  if (e.goal) {
    svg.append(make("line", "", { x1: left, x2: width - 8, y1: y(e.goal), y2: y(e.goal), class: "goal" }));
    svg.append(make("text", `goal ${e.goal}`, { x: left + 4, y: y(e.goal) + (y(e.goal) > height - bottom - 16 ? -4 : 14) }));
  }
  svg.append(make("path", "", { d: path(points.map((p) => [x(p.n_ratings), y(p.error)])), class: "line" }));
  svg.append(make("circle", "", { cx: x(most), cy: y(last.error), r: 4, class: "dot" }));
  svg.append(make("text", `${least} ratings`, { x: left, y: height - 5 }));
  svg.append(make("text", `${most} ratings`, { x: width - 8, y: height - 5, "text-anchor": "end" }));
  return svg;
}

function sharesOf(shares) {
  const table = make("table");
  table.append(make("caption", "Estimated share of all rows, with 90 % intervals"));
  const body = make("tbody");
  const percent = (v) => `${Math.round(100 * v)} %`;
  for (const s of shares) {
    const line = make("tr");
    const known = s.low !== null;
    const svg = make("svg", "", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    if (known) svg.append(make("rect", "", { x: 100 * s.low, y: 0, width: Math.max(100 * (s.high - s.low), 0.5), height: 10, class: "band" }));
    svg.append(make("rect", "", { x: Math.max(100 * s.value - 0.7, 0), y: 0, width: 1.4, height: 10, class: "dot" }));
    const picture = make("td", "", { class: "picture" });
    picture.append(svg);
    line.append(make("th", s.label, { scope: "row" }), picture,
      make("td", known ? `${percent(s.value)} (${Math.round(100 * s.low)} to ${percent(s.high)})` : percent(s.value), { class: "n" }));
    body.append(line);
  }
  table.append(body);
  return table;
}

async function poll() {
  for (;;) {
    let pause = 3000;
    try {
      const e = await ask("/api/estimates");
      if (e.version !== version) showEstimates(e);
      if (state && e.rated !== state.rated && !busy) { // others have rated, too
        state.rated = e.rated;
        showCounts();
      }
      if (e.behind) pause = 400;
      if (state && state.finish.state === "running") {
        const now = await ask("/api/state");
        state.finish = now.finish;
        showFinish();
        pause = 500;
      }
    } catch (error) {
      if (!(error instanceof TypeError)) {
        showAlerts([error.message]);
        return;
      }
    }
    await Promise.race([wait(pause), new Promise((hurry) => { poll.hurry = hurry; })]);
  }
}

// Finish ------------------------------------------------------------------------------------------

let reportShown = null;

function showFinish() {
  const f = state.finish;
  find("finish-ok").disabled = f.state === "running";
  find("finish-ok").textContent = f.state === "done" ? "Rate the rest again" : "Rate the rest of the table";
  find("finish-bar").hidden = f.state !== "running";
  if (f.total) find("finish-bar").value = f.done / f.total;
  else find("finish-bar").removeAttribute("value");
  find("finish-text").textContent = {
    idle: "This rates all rows that have no rating, and writes the table, a report and a model. You can go on rating afterwards, and finish again.",
    running: `${f.task} …`,
    done: f.message,
    failed: f.message,
  }[f.state];
  find("finish-files").replaceChildren(...Object.entries(f.paths).map(([what, path]) => make("li", `${what}: ${path}`)));
  if (f.state !== "done") {
    reportShown = null;
    find("report").replaceChildren();
  } else if (reportShown !== f) {
    if (reportShown === null) {
      find("report").replaceChildren(make("iframe", "", { src: "/report", title: "Report", sandbox: "" }));
    }
    reportShown = f;
  }
}

// Keys and buttons --------------------------------------------------------------------------------

function rate(rating) {
  if (!state || !state.item) return;
  const { place, kind, row } = state.item;
  act("/api/rate", { place, kind, rating }, `Row ${row} is rated ${rating}.`).then(() => poll.hurry && poll.hurry());
}

function openDialog(id) {
  const dialog = find(id);
  if (!dialog.open) dialog.showModal();
}

for (const button of document.querySelectorAll("button.rating")) {
  button.addEventListener("click", () => rate(button.dataset.rating));
}
for (const button of document.querySelectorAll("dialog .close")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
find("undo").addEventListener("click", () => act("/api/undo", {}, "Undone."));
find("skip").addEventListener("click", () => {
  if (state && state.item) act("/api/skip", { place: state.item.place }, `Row ${state.item.row} is skipped.`);
});
find("back").addEventListener("click", () => act("/api/back", {}, "Left unchanged.").then(() => poll.hurry && poll.hurry()));
find("unsure").addEventListener("click", () => {
  find("note").value = "";
  openDialog("unsure-dialog");
});
find("unsure-ok").addEventListener("click", () => {
  find("unsure-dialog").close();
  if (!state || !state.item) return;
  act("/api/unsure", { place: state.item.place, note: find("note").value }, `Row ${state.item.row} is left unrated.`);
});
find("finish").addEventListener("click", () => openDialog("finish-dialog"));
find("finish-ok").addEventListener("click", () => act("/api/finish", {}, "Rating the rest …").then(() => poll.hurry && poll.hurry()));
find("all").addEventListener("click", async () => {
  listsAll = true;
  const { history } = await ask("/api/history");
  showHistory(history, history.length);
  listsAll = false;
});

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]") || event.target.closest("textarea, input")) return;
  const named = { u: "undo", Backspace: "undo", s: "skip", n: "unsure", Escape: "back" }[event.key];
  const key = event.key.toLowerCase();
  const button = [...document.querySelectorAll("button.rating")].find((b) => b.dataset.key === key)
    || (named && find(named));
  if (!button || button.disabled || button.hidden) return;
  event.preventDefault();
  button.click();
});

ask("/api/state").then((first) => { show(first); poll(); }, (error) => showAlerts([error.message]));
