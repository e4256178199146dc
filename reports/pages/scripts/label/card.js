/* Card: one answer as a person labels it: question, expected answer, answer and contexts, and nothing of the metric. */

/** What a metric lets people say: yes or no by words, or a number. */
function labelScale(rows, metric) {
  const { better, low, high, threshold, name } = rows.metrics[metric];
  const values = rows.everyColumn.flatMap((column) => [...rows.values(column, metric)]).filter((value) => !Number.isNaN(value));
  const isBinary = low === 0 && high === 1 && values.every((value) => value === 0 || value === 1);
  const isDecided = isBinary || (threshold !== null && better !== "neither");
  const words = name === "correct" ? ["Right", "Wrong"] : ["Passes", "Fails"];
  const bound = isBinary || threshold === null ? "" : `It passes ${better === "lower" ? "up to" : "from"} ${figure(threshold, rows.metrics[metric])}.`;
  const passes = (value) => (isBinary ? value === (better === "lower" ? 0 : 1) : better === "lower" ? value <= threshold : value >= threshold);
  return { isDecided, words, bound, low, high, passes };
}

/** The row with its texts: {question, row, contexts}; contexts are null where the file leaves them out. */
async function labelTexts(index, { column, place }) {
  const { origin, name } = index.columns[column];
  const id = index.cases.ids[place][origin];
  const entry = (await block(`details-${origin}-${Math.floor(id / QUESTIONS_A_BLOCK)}`))?.[id] ?? null;
  const found = entry?.rows?.[name]?.[index.cases.repeat[place]] ?? null;
  const passages = found?.contexts && (await Promise.all(found.contexts.map(([passage]) => passageOf(origin, passage))));
  return {
    text: entry?.text ?? index.cases.text[place],
    expected: entry?.expected ?? index.cases.expected[place] ?? [],
    history: entry?.history ?? [],
    evidence: entry?.evidence ?? [],
    answer: found?.answer ?? index.rows[column].answer[place],
    length: found?.answer_length,
    passages: found ? passages ?? [] : null,
  };
}

function labelPart(title, ...content) {
  return make("section", { class: "label-part" }, make("h3", {}, title), content);
}

/** What was asked, after the messages before it. */
function labelQuestion({ history, text }) {
  return [history.length ? labelPart("Messages before", messageList(history)) : null, labelPart("Question", longText(text, { lines: 12 }))];
}

function labelExpected({ expected }) {
  return labelPart(expected.length > 1 ? "Expected: any of" : "Expected",
    expected.length ? expected.map((text) => longText(text, {})) : make("p", { class: "quiet" }, "No expected answer is given."));
}

/** The card; `say` is called with a verdict, `move` with a step. */
function labelCard(row, texts, scale, given, { say, move, bot }) {
  const verdicts = [["yes", scale.words[0], "1"], ["no", scale.words[1], "2"], ["unsure", "Unsure", "3"]];
  return make("article", { class: "label-card", tabindex: "-1", "aria-label": `Answer ${row.number}` },
    bot ? make("p", { class: "small" }, "Bot: ", isolated(bot)) : null,
    labelQuestion(texts),
    make("div", { class: "label-answers" }, labelExpected(texts),
      labelPart("Answer", texts.answer?.trim() ? longText(texts.answer, { length: texts.length }) : make("p", { class: "quiet" }, "The answer is blank."))),
    labelContexts(texts.passages),
    scale.isDecided ? labelButtons(verdicts, given, say, move) : labelNumber(scale, given, say, move),
  );
}

function labelContexts(passages) {
  if (passages === null) return leftOut("the contexts of this answer");
  if (!passages.length) return null;
  const line = (passage) => make("li", {}, make("p", { class: "small quiet" }, isolated(passage.document || "no document named")),
    passage.text === null ? noPassage(passage) : longText(passage.text, { lines: 8 }));
  return make("details", {}, make("summary", {}, counted(passages.length, "context")), make("ol", { class: "label-contexts" }, passages.map(line)));
}

/** A button for each verdict, as [verdict, word, key]. */
function labelButtons(verdicts, given, say, move) {
  const buttons = verdicts.map(([verdict, word, key]) => make("button",
    { type: "button", "data-verdict": verdict, "aria-pressed": String(given === verdict), "aria-keyshortcuts": key, on: { click: () => say(verdict) } },
    make("kbd", { "aria-hidden": "true" }, key), ` ${word}`));
  return make("div", { class: "label-buttons", role: "group", "aria-label": "Verdict" }, buttons, labelSteps(given, say, move));
}

function labelNumber({ low, high }, given, say, move) {
  const field = make("input", { type: "number", step: "any", min: low, max: high, value: Number.isNaN(Number(given)) ? "" : given ?? "", "aria-label": "Your figure" });
  const form = make("form", { class: "label-buttons" }, field, make("button", { type: "submit" }, "Store"),
    make("button", { type: "button", "data-verdict": "unsure", "aria-pressed": String(given === "unsure"), on: { click: () => say("unsure") } }, "Unsure"),
    labelSteps(given, say, move));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value !== "" && field.reportValidity()) say(field.value);
  });
  return form;
}

function labelSteps(given, say, move) {
  return [
    make("button", { type: "button", class: "label-back", on: { click: () => move(-1) } }, "\u2190 Back"),
    make("button", { type: "button", on: { click: () => move(1) } }, "Skip \u2192"),
    given ? make("button", { type: "button", on: { click: () => say("") } }, "Take back") : null,
  ];
}
