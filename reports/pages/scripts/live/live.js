/* Live: a served page follows its run: it shows the progress and reloads itself. */

const OFTEN = 2_000; // milliseconds between two questions to the server while a run goes on
const SELDOM = 15_000; // where nothing goes on, and the longest wait for a server that is away
const SHARE = 4; // a page that takes long to make is asked for less often: this many times as long
const SILENCE = 60_000; // without a new row for so long, a run may be dead

const following = { tag: settings.tag, running: null, over: false, away: 0, took: 0, changed: performance.now(), timer: 0, isAsking: false };
const liveLine = make("p", { class: "live", hidden: true });
const stopButton = make("button", { type: "button", class: "run-stop", "data-stop": settings.stop }, "Stop");

/** What the server says of itself: {tag, status, running, rows, expected, silence}; null where it does not answer. */
async function askedState() {
  try {
    const reply = await fetch(settings.state, { signal: AbortSignal.timeout(30_000) });
    return reply.ok ? await reply.json() : null;
  } catch {
    return null;
  }
}

async function followOnce() {
  const state = await askedState();
  if (state === null) {
    following.away += 1;
    if (following.away > 1) tellAway(); // one that is lost is no news
    return;
  }
  const wasAway = following.away > 1;
  following.away = 0;
  if (state.tag !== following.tag) await redraw();
  const hasEnded = following.running === true && !state.running;
  following.running = state.running;
  following.over = (following.over || hasEnded) && !state.running;
  if (hasEnded) announce(`The run is over: ${state.status}.`);
  else if (wasAway) announce("The server answers again.");
  tellState(state);
}

/** Draws the page anew where the server has another; the place, the focus and what is open stay as they are. */
async function redraw() {
  const began = performance.now();
  const fresh = await freshPage();
  if (!fresh) return;
  redrawFrom(fresh);
  await readAnew();
  following.tag = JSON.parse(fresh.getElementById("settings").textContent).tag;
  following.changed = performance.now();
  following.took = performance.now() - began;
}

function tellState(state) {
  liveLine.hidden = !state.running && !following.over;
  if (state.running) tellRunning(state);
  else if (following.over) liveLine.replaceChildren(stateLabel(state.status), counted(state.rows, "row"));
}

function tellRunning({ status, rows, expected, silence, failed, left, worked_on }) {
  const soFar = expected ? `${rows.toLocaleString("en")} of ${counted(expected, "row")}` : counted(rows, "row");
  const still = Math.max(performance.now() - following.changed, silence * 1000); // it may have been before we looked
  liveLine.replaceChildren(
    ...[
      stateLabel(status),
      soFar,
      left && `, ${left}`,
      failed > 0 && make("span", { class: "label bad" }, `${failed.toLocaleString("en")} failed`),
      expected && make("progress", { max: expected, value: Math.min(rows, expected), "aria-label": "Rows that are there" }),
      worked_on && settings.stop && stopButton,
      still > SILENCE && `, nothing new for ${lasting(still)}; if the run was killed, the same command goes on with it`,
    ].filter(Boolean),
  );
}

function lasting(time) {
  const minutes = Math.floor(time / 60_000);
  if (minutes < 120) return counted(minutes, "minute");
  return minutes < 48 * 60 ? counted(Math.floor(minutes / 60), "hour") : counted(Math.floor(minutes / 1440), "day");
}

function stateLabel(status) {
  const kind = { running: "doubt", finished: "good" }[status] ?? "bad";
  return make("span", { class: `label ${kind}` }, status);
}

function tellAway() {
  if (following.away === 2) announce("The server does not answer. What is shown stays.");
  liveLine.hidden = false;
  liveLine.replaceChildren(
    make("span", { class: "label doubt" }, "not connected"),
    "What is shown stays. When proctor view is started again on the same port, this page updates again by itself.",
  );
}

function tellStuck() {
  liveLine.hidden = false;
  liveLine.replaceChildren(make("span", { class: "label doubt" }, "stopped"), "This page can no longer update itself: reload it.");
}

function nextWait() {
  if (following.away) return Math.min(OFTEN * 2 ** Math.min(following.away - 1, 5), SELDOM);
  return Math.max(following.running ? OFTEN : SELDOM, SHARE * following.took);
}

async function follow() {
  clearTimeout(following.timer);
  if (document.hidden || following.isAsking) return; // goes on when it is seen again, and one at a time
  following.isAsking = true;
  try {
    await followOnce();
  } catch {
    tellStuck(); // what the server gives is of another kind than this page: it was begun anew by another version
  }
  following.isAsking = false;
  following.timer = setTimeout(follow, nextWait());
}

if (settings.state) {
  document.querySelector("header .title").append(liveLine);
  document.addEventListener("visibilitychange", follow);
  follow();
}
