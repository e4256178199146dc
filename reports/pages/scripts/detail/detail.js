/* Detail: one question opened: all bots side by side, with answers, scores, evidence, contexts and raw calls. */

const NARROWEST_SIDE = 300; // pixels that a bot needs beside others
let detailCount = 0;

/** The opened question. `place` is its case in the index, `focus` {bot, against, metric} is what the reader came for. */
async function questionDetail(index, place, focus = {}) {
  const view = await openedView(index, place, focus ?? {});
  if (!view) {
    return make("div", { class: "detail" }, leftOut("the details of this question"));
  }
  const detail = make("div", { class: "detail" });
  view.redraw = () => drawDetail(view, detail);
  await view.redraw();
  return detail;
}

/** The data of the detail; null where the file does not have them. */
async function openedView(index, place, focus) {
  const ids = index.cases.ids[place];
  const entries = await Promise.all(ids.map(async (id, origin) => {
    const found = id === null ? null : await block(`details-${origin}-${Math.floor(id / QUESTIONS_A_BLOCK)}`);
    return found?.[id] ?? null;
  }));
  const question = entries.findLast((entry) => entry);
  if (!question) return null;
  fillFromIndex(index, place, entries);
  detailCount += 1;
  const metrics = new Map(index.metrics.map((metric, number) => [metric.name, { ...metric, number }]));
  const view = {
    index, place, question, entries, id: `detail-${detailCount}`, repeat: index.cases.repeat[place],
    metricOf: (name) => metrics.get(name) ?? null, showsShared: false, chosenSides: null, drawing: 0,
  };
  view.all = index.columns.flatMap((column, at) => sideOf(view, column, at) ?? []);
  view.sides = view.all;
  view.bot = view.all.some(({ name }) => name === focus.bot) ? focus.bot : null;
  view.against = focus.against ?? null;
  view.metric = metrics.has(focus.metric) ? focus.metric : worstMetric(view);
  return view;
}

/** Files do not repeat what is in the index: latencies, and answers that are complete there. */
function fillFromIndex(index, place, entries) {
  const repeat = index.cases.repeat[place];
  for (const [at, { origin, name }] of index.columns.entries()) {
    const rows = entries[origin]?.rows?.[name];
    const { answer, latency_ms } = index.rows[at];
    if (rows?.[repeat]) rows[repeat] = { answer: answer[place], latency_ms: latency_ms[place], ...rows[repeat] };
  }
}

function sideOf(view, column, at) {
  const row = view.entries[column.origin]?.rows?.[column.name]?.[view.repeat];
  if (!row) return null;
  const { index, place } = view;
  const status = index.statuses[index.rows[at].status[place]] ?? "answered";
  return {
    view, column, at, status, name: column.name, id: `${view.id}-${at}`, questionId: index.cases.ids[place][column.origin],
    row: { ...row, contexts: row.contexts ?? [], scores: allScoresOf(index, place, at, row.scores ?? {}) },
    passed: (metric) => index.rows[at].passed[view.metricOf(metric)?.number]?.[place] ?? "-",
  };
}

/** All scores of a row by metric: values and reasons come from the index, details from the block. */
function allScoresOf(index, place, at, details) {
  const { values, missing } = index.rows[at];
  return new Map(index.metrics.flatMap(({ name }, number) => {
    const value = values[number]?.[place] ?? null;
    const reason = index.reasons[missing[number]?.[place]];
    const own = Object.hasOwn(details, name) ? details[name] : null;
    return value === null && reason === undefined && !own ? [] : [[name, { status: value === null ? "not_applicable" : "ok", reason, ...own, value }]];
  }));
}

/** The most informative metric when none was chosen: one that fails and has claims, one that has claims, one that fails. */
function worstMetric({ all, index }) {
  const rank = ({ name }) => {
    const fails = all.some((side) => side.passed(name) === "0");
    const hasItems = all.some(({ row }) => allItems(row.scores.get(name), { name }).length);
    return (fails ? 1 : 0) + (hasItems ? 2 : 0);
  };
  return [...index.metrics].sort((one, other) => rank(other) - rank(one))[0]?.name ?? null;
}

/** All parts of the detail; drawn anew when other bots are chosen. */
async function drawDetail(view, detail) {
  const drawing = ++view.drawing;
  const sides = shownSides(view);
  const pair = settings.pair ? await pairParts(view.entries, view.index, view.place) : null;
  for (const side of sides) side.filled ??= fillSide(side);
  await Promise.all(sides.map(({ filled }) => filled));
  if (drawing !== view.drawing) return; // other bots were chosen meanwhile
  view.sides = sides;
  view.asked = askedElement(view);
  view.scores = scoreTable(view, (metric) => chooseMetric(view, metric));
  const answers = view.sides.map((side) => make("article", { class: sideClass(side), "aria-label": `Answer of ${shown(side.name)}` },
    side.answer.head.element, side.answer.element));
  detail.replaceChildren(
    view.asked.element, toolbar(view), make("div", { class: "bot-sides answers", "data-count": view.sides.length }, answers), pair ?? "",
    make("h4", {}, "Scores"), view.scores.element,
    make("div", { class: "bot-sides", "data-count": view.sides.length }, view.sides.map(({ element }) => element)),
  );
  chooseMetric(view, view.metric);
}

function sideClass({ name, view }) {
  return name === view.bot && view.all.length > 1 ? "bot-side focused" : "bot-side";
}

/** Makes the parts of a bot that don't depend on the chosen metric. */
async function fillSide(side) {
  side.answer = answerElement(side);
  side.contexts = new ContextList(side);
  side.evidence = make("div", { class: "side-part" });
  side.element = make("article", { class: sideClass(side), "aria-label": `Evidence of ${shown(side.name)}` },
    side.evidence,
    make("div", { class: "side-part" }, make("h5", {}, "Contexts"), side.contexts.element),
    make("div", { class: "side-part" }, make("h5", {}, "How the answer came about"), makingElement(side)));
  await side.contexts.grow();
}

/** Brings another metric forward: its marks in the answers and its evidence. */
function chooseMetric(view, name) {
  view.metric = name;
  const metric = view.metricOf(name);
  view.scores.show(name);
  view.asked.draw();
  for (const side of view.sides) {
    side.answer.draw();
    side.answer.head.show(name);
    const title = make("h4", {}, isolated(side.name), metric ? [": ", isolated(name)] : "");
    side.evidence.replaceChildren(title, metric ? evidenceElement(name, metric, side, view) : make("p", { class: "quiet" }, "No metric was measured for single rows."));
  }
}

/** The bots that are drawn: as many as have room, the one that the reader came for, and its like, among them. */
function shownSides(view) {
  if (view.chosenSides) return view.all.filter(({ name }) => view.chosenSides.has(name));
  const room = Math.max(2, Math.floor(Math.min(innerWidth, 1400) / NARROWEST_SIDE));
  const rank = ({ name }) => (name === view.bot ? 0 : name === view.against ? 1 : 2);
  const first = [...view.all].sort((one, other) => rank(one) - rank(other)).slice(0, room);
  view.chosenSides = new Set(first.map(({ name }) => name));
  return view.all.filter(({ name }) => view.chosenSides.has(name));
}

function toolbar(view) {
  const shared = make("button", { type: "button", "aria-pressed": String(view.showsShared) }, "Shared words");
  shared.title = "Underline words that answers share with what was expected, and contexts with the answer";
  shared.addEventListener("click", () => {
    view.showsShared = !view.showsShared;
    shared.setAttribute("aria-pressed", String(view.showsShared));
    view.asked.draw();
    for (const side of view.sides) {
      side.answer.draw();
      side.contexts.redraw();
    }
  });
  return make("div", { class: "detail-tools controls" }, view.all.length > view.sides.length || view.all.length > 4 ? botChoice(view) : null, shared, linkButton(view));
}

/** Which bots stand side by side, where there are more than have room. */
function botChoice(view) {
  const buttons = view.all.map(({ name }) => {
    const button = make("button", { type: "button", "aria-pressed": String(view.chosenSides.has(name)) }, isolated(name));
    button.addEventListener("click", async () => {
      if (view.chosenSides.has(name) && view.chosenSides.size > 1) view.chosenSides.delete(name);
      else view.chosenSides.add(name);
      const detail = button.closest(".detail");
      await view.redraw();
      detail.querySelectorAll(".bot-choice button")[view.all.findIndex((side) => side.name === name)]?.focus();
    });
    return button;
  });
  return make("div", { class: "bot-choice", role: "group", "aria-label": "Bots side by side" }, make("span", { class: "quiet small" }, "Side by side: "), buttons);
}

/** A button that copies the address of this question; where nothing may be copied, the address itself. */
function linkButton(view) {
  const button = make("button", { type: "button" }, "Copy link");
  button.addEventListener("click", async () => {
    const open = namesOfCases(view.index.cases).ids[view.place];
    const hash = addressOf({ view: "answers", pair: address().pair, bot: view.bot, metric: view.metric, open });
    const link = `${location.href.split("#")[0]}${hash}`;
    if (await isCopied(link)) {
      button.textContent = "Link copied";
      announce("The link to this question is copied.");
    } else {
      const field = make("input", { type: "text", readonly: true, value: link, "aria-label": "Link to this question" });
      button.replaceWith(field);
      field.select();
    }
  });
  return button;
}
