/* Sent: the messages that a model was sent for an answer, put together from template, contexts and history as the bot does. */

const NOTHING_FOUND = "(Nothing was found.)"; // in place of contexts, as bots/prompting.py has it

/** What was sent to the model; for a bot without one, what it looked up or was handed. */
function sentPart(side) {
  const { row, column } = side;
  const template = column.prompts?.prompt;
  if (typeof template === "string" && !column.embedded) {
    if (side.status !== "answered") return null; // its contexts are not stored
    return foldedPart(row.sent ? "Prompt as sent" : "Prompt, rendered", () => sentRequest(side, template));
  }
  if (column.kind === "recorded") return null; // nobody knows what was sent
  const handed = column.kind === "faq" || template !== undefined ? "What was looked up" : "What the bot was given";
  return foldedPart(handed, () => lookedUp(side, template));
}

async function sentRequest(side, template) {
  const { row, column, view } = side;
  const { messages, question, cut } = askedAgain(row, view);
  const { text, ranges, isWhole } = await filledPrompt(side, template, question);
  const condense = column.prompts.condense && row.history?.length ? condensePart(column.prompts.condense, row, cut, view) : null;
  const note = row.sent ? "The model got exactly this: its hash is the one stored with the answer."
    : `Rendered from the stored template, contexts and messages. The request itself was not stored${isWhole ? "" : ", and a text below is cut"}.`;
  return [
    make("p", { class: "quiet small" }, note, " Marked parts were filled in."),
    condense,
    messageList([...messages, { role: "user", content: text, ranges }]),
  ];
}

/** The question as it was put, and the messages that were sent before it: as bots/history.py puts them. */
function askedAgain(row, view) {
  const trace = traceOf(row);
  const history = row.history ?? [];
  const cut = trace.history_messages_cut ?? 0;
  if (trace.history === "concatenate") return { messages: history.slice(cut), question: view.question.text, cut };
  return { messages: [], question: trace.question_asked ?? view.question.text, cut };
}

function traceOf({ trace }) {
  try {
    return JSON.parse(trace ?? "{}") ?? {};
  } catch {
    return {}; // cut
  }
}

/** The prompt with its places filled: {text, ranges, isWhole}. */
async function filledPrompt({ row, column, view }, template, question) {
  const passages = await Promise.all(row.contexts.map(([id]) => passageOf(column.origin, id)));
  const titles = view.index.titles?.[column.origin] ?? {};
  const rendered = passages.map((passage, place) => renderedContext(passage, place + 1, titles[passage.document] ?? ""));
  const isWhole = passages.every(({ text, text_length: length }) => text !== null && !length);
  return { ...filledTemplate(template, { context: rendered.join("\n\n") || NOTHING_FOUND, question }), isWhole };
}

function renderedContext({ document: name, text }, number, title) {
  const named = title && title !== name ? `${title} (${name})` : name;
  return `${`[${number}] ${named}`.trimEnd()}\n${text ?? "(The text of this passage is not in this file.)"}`;
}

/** A template with its places filled in one pass, and where: what is filled in is not looked at again. */
function filledTemplate(template, values) {
  let text = "";
  let from = 0;
  const ranges = [];
  for (const { 0: place, 1: name, index } of template.matchAll(/\{(\w+)\}/g)) {
    if (!Object.hasOwn(values, name)) continue;
    text += template.slice(from, index);
    ranges.push({ start: text.length, end: text.length + values[name].length, kind: "filled", tag: "" });
    text += values[name];
    from = index + place.length;
  }
  return { text: text + template.slice(from), ranges };
}

/** The request by which the model made one question of the conversation. */
function condensePart(template, row, cut, view) {
  const lines = row.history.slice(cut).map(({ role, content }) => `${role.charAt(0).toUpperCase()}${role.slice(1).toLowerCase()}: ${content}`);
  const { text, ranges } = filledTemplate(template, { history: lines.join("\n"), question: view.question.text });
  return foldedPart("Sent before: the request for a question that stands by itself", () => messageList([{ role: "user", content: text, ranges }]));
}

/** Of a bot without a language model, or whose requests are its own: the question as it got it, and what came before. */
function lookedUp({ row, column, view }, template) {
  const { question, messages } = askedAgain(row, view);
  const before = column.kind === "faq" || template !== undefined ? messages : row.history ?? [];
  const note = column.kind === "faq" ? "No model was asked. This question was compared with the entries of the list."
    : template !== undefined ? "No language model was asked. Sentences were picked from the contexts above by this question and the rules of the prompt."
    : "The bot was given this. What it sent on to a model is not recorded.";
  return [
    make("p", { class: "quiet small" }, note),
    messageList([...before, { role: "user", content: question }]),
    template === undefined ? null : foldedPart("Rules of the prompt", () => make("div", { class: "mono" }, longText(String(template)))),
  ];
}
