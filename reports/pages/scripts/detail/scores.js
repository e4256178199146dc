/* Scores: all scores of a question, a line a metric and a column a bot; choosing one shows its evidence. */

const SCORES_AT_FIRST = 8;

/** The table of scores; `choose(metric)` is called with the chosen one. {element, show(metric)} */
function scoreTable(view, choose) {
  const body = make("tbody");
  const all = make("button", { type: "button", class: "show-more", hidden: true });
  const head = make("tr", {}, make("th", { scope: "col" }, "Metric"), view.sides.map(({ name }) => make("th", { scope: "col", class: "number" }, isolated(name))));
  const table = make("table", { class: "scores" }, make("caption", {}, "Choose a metric to see what its value rests on."), make("thead", {}, head), body);
  const lines = new Map();
  const measured = view.index.metrics.filter(({ name }) => view.sides.some(({ row }) => row.scores.has(name)));
  let isWhole = measured.length <= SCORES_AT_FIRST + 3;
  function draw(chosen) {
    const named = isWhole ? measured : worthShowing(view, measured, chosen);
    for (const metric of named) if (!lines.has(metric.name)) lines.set(metric.name, scoreLine(view, metric, choose));
    body.replaceChildren(...named.map(({ name }) => lines.get(name)));
    for (const [name, line] of lines) {
      line.classList.toggle("chosen", name === chosen);
      line.querySelector("button").setAttribute("aria-pressed", String(name === chosen));
    }
    all.hidden = isWhole;
    all.textContent = `Show all ${measured.length} metrics`;
  }
  all.addEventListener("click", () => {
    isWhole = true;
    draw(view.metric);
    body.querySelector(".chosen button")?.focus();
  });
  draw(view.metric);
  return { element: make("div", {}, scrollable("Scores", table), all), show: draw };
}

/** The chosen metric, those that fail or have no value because something went wrong, then the first of the others. */
function worthShowing(view, measured, chosen) {
  const urgency = (metric) => {
    if (metric.name === chosen) return 0;
    if (view.sides.some((side) => side.passed(metric.name) === "0")) return 1;
    if (view.sides.some((side) => !["ok", "not_applicable"].includes(side.row.scores.get(metric.name)?.status ?? "ok"))) return 2;
    return /\.(failures|\w+_failures)$/.test(metric.name) ? 4 : 3;
  };
  const first = measured.map((metric, place) => [urgency(metric), place]).sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  return first.slice(0, SCORES_AT_FIRST).map(([, place]) => place).sort((one, other) => one - other).map((place) => measured[place]);
}

function scoreLine(view, metric, choose) {
  const button = make("button", { type: "button", class: "score-metric", "aria-pressed": "false", on: { click: () => choose(metric.name) } }, breakable(metric.name));
  return make("tr", {}, make("th", { scope: "row" }, button), view.sides.map((side) => scoreCell(side, metric)));
}

/** A name that may be broken after its underscores and dots only. */
function breakable(name) {
  return make("bdi", {}, shown(name).split(/(?<=[_.])/).map((part) => [part, make("wbr")]));
}

function scoreCell(side, metric) {
  const score = side.row.scores.get(metric.name);
  if (!score) return make("td", { class: "number quiet" }, "-", make("span", { class: "unseen" }, " not measured"));
  if (score.value === null || score.value === undefined) {
    const status = score.status ?? "error";
    return make("td", { class: `no-value small ${status === "not_applicable" ? "quiet" : "bad"}` }, reasonSentence(score.reason || status));
  }
  return make("td", { class: "number" }, scoreWords(score.value, metric, side.passed(metric.name)));
}
