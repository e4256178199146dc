/* Calls: raw requests and replies of the judge for a row, and timing, reasoning and trace of the answer. */

const QUESTIONS_A_BLOCK = 50;

/** The raw judge calls of a row, read when they are opened. */
function callsElement(side) {
  return foldedPart("Raw judge calls", async () => {
    const { column, view } = side;
    const number = Math.floor(side.questionId / QUESTIONS_A_BLOCK);
    const [found, prompts] = await Promise.all([block(`calls-${column.origin}-${number}`), block(`prompts-${column.origin}-0`)]);
    const calls = found?.questions?.[side.questionId]?.[column.name]?.[view.repeat] ?? [];
    if (!calls.length && view.index.left_out?.calls?.[column.origin]) {
      return leftOut("the judge calls of some questions");
    }
    if (!calls.length) return make("p", { class: "quiet" }, "No judge was asked about this row.");
    const draw = (call) => make("li", {}, callElement(call, found.requests, prompts ?? {}));
    return someOf(calls, "call", draw, { holder: make("ol", { class: "plain" }) });
  });
}

function callElement(call, requests, prompts) {
  const failed = call.error || call.problem;
  const title = [
    make("span", { class: "call-name" }, isolated(call.call ?? "call")), call.vote ? ` vote ${call.vote}` : "", " ",
    failed ? make("span", { class: "label bad" }, `${SIGNS.bad} ${call.error ? "failed" : "not readable"}`) : "", " ",
    make("span", { class: "quiet small" }, callFigures(call)),
  ];
  return foldedPart(title, () => [
    make("p", { class: "small quiet" }, callFacts(call)),
    rawPart("Error", call, "error"), rawPart("Problem", call, "problem"), rawPart("Reply", call, "reply"), rawPart("Reasoning", call, "reasoning"),
    call.exchange_length ? make("p", { class: "quiet small" }, tooLong("earlier replies", call.exchange_length)) : null,
    call.exchange?.length ? titled("Earlier replies and what was wrong with them", valueElement(call.exchange)) : null,
    requestPart(requests?.[call.request]),
    instructionsPart(prompts[call.prompt]),
  ]);
}

function callFacts({ judge, asked_at: asked, finish_reason: reason }) {
  return between([["Judge: ", isolated(judge ?? "not named")], ...(asked ? [shown(asked)] : []), ...(reason ? [["ended by ", isolated(reason)]] : [])], " \u00b7 ");
}

function instructionsPart(prompt) {
  if (!prompt) return null;
  return foldedPart(["Instructions ", isolated(prompt.name)], () => make("div", { class: "mono" }, longText(prompt.text, { length: prompt.text_length })));
}

function requestPart(request) {
  if (!request) return null;
  return titled("Request", make("div", { class: "mono" }, longText(request.text, { length: request.text_length, characters: 3000, lines: 40 })));
}

function rawPart(title, call, key) {
  const text = call[key];
  if (text === null || text === undefined || text === "") return null;
  return titled(title, key === "reply" ? jsonElement(String(text), call.reply_length) : longText(String(text), { length: call[`${key}_length`] }));
}

function callFigures({ latency_ms: latency, tokens_in: tokensIn, tokens_out: tokensOut, cost, paid }) {
  const parts = [];
  if (typeof latency === "number") parts.push(milliseconds(latency));
  if (Number.isInteger(tokensIn) || Number.isInteger(tokensOut)) parts.push(`${tokenWords(tokensIn)} in, ${tokenWords(tokensOut)} out`);
  if (typeof cost === "number") parts.push(`cost ${shortNumber(cost)}`);
  if (paid === 0 || paid === false) parts.push("cached");
  return parts.join(" \u00b7 ");
}

function tokenWords(count) {
  return Number.isInteger(count) ? `${count.toLocaleString("en")} tokens` : "tokens not reported";
}

/** Time, tokens and cost of an answer; unknown ones are left out. */
function timingElement(row) {
  const attempts = Array.isArray(row.attempts_ms) ? row.attempts_ms : [];
  const facts = {
    Latency: typeof row.latency_ms === "number" ? milliseconds(row.latency_ms) : null,
    "Queue time": row.queue_ms ? milliseconds(row.queue_ms) : null,
    Attempts: attempts.length > 1 ? attempts.slice(0, 20).map(milliseconds).join(", ") : null,
    "In flight at once": row.in_flight,
    "Tokens in": row.tokens_in?.toLocaleString("en"),
    "Tokens out": row.tokens_out?.toLocaleString("en"),
    Cost: row.cost === null || row.cost === undefined ? null : shortNumber(row.cost),
    Asked: row.asked_at && `${shown(row.asked_at).slice(0, 19).replace("T", " ")} UTC`,
  };
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl", { class: "detail-facts" }, known.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
}

/** The tools that a bot called, in their order: name, arguments, and what came of it. */
function toolCallList(calls) {
  const draw = ({ name, arguments: given, result, error }) => make("li", {},
    isolated(name), " ", make("code", {}, isolated(given ? JSON.stringify(given) : "?")),
    error ? make("div", { class: "bad" }, longText(error)) : "",
    result ? make("div", { class: "small" }, longText(result)) : "");
  return someOf(calls, "call", draw, { holder: make("ol") });
}

/** The calls that the question expects beside those that were made; nothing where it says nothing and none was made. */
function toolsPart({ row, view }) {
  const { expected_tools: expected, forbidden_tools: forbidden } = view.question;
  const made = row.tool_calls ?? [];
  const parts = [];
  if (Array.isArray(expected)) {
    const names = made.map(({ name }) => name);
    const draw = ({ name, arguments: given }) => {
      const at = names.indexOf(name);
      if (at >= 0) names[at] = null; // each call stands for one
      return make("li", {}, make("span", { class: `label ${at >= 0 ? "good" : "bad"}` }, `${at >= 0 ? SIGNS.good : SIGNS.bad} ${at >= 0 ? "called" : "not called"}`), " ",
        isolated(String(name)), " ", given ? make("code", {}, isolated(JSON.stringify(given))) : "");
    };
    parts.push(titled(`Tools expected (${expected.length})`, expected.length ? someOf(expected, "call", draw, { holder: make("ol") }) : make("p", { class: "quiet" }, "none")));
  }
  if (Array.isArray(forbidden)) {
    const called = forbidden.filter((name) => made.some((call) => call.name === name));
    parts.push(titled("Tools forbidden", make("p", {}, between(forbidden.map((name) => make("span", { class: called.includes(name) ? "label bad" : "label" }, isolated(String(name)))), " "))));
  }
  if (made.length) parts.push(titled(`Tools called (${made.length})`, toolCallList(made)));
  return parts.length ? make("div", { class: "tools-beside" }, parts) : null;
}

/** Time, tokens, reasoning and trace of an answer, and the judge's calls. */
function makingElement(side) {
  const { row } = side;
  const trace = row.trace && row.trace !== "{}" ? row.trace : null;
  return [
    timingElement(row),
    toolsPart(side),
    row.tool_calls_length ? make("p", { class: "quiet small" }, tooLong("tool calls", row.tool_calls_length)) : null,
    sentPart(side),
    row.reasoning ? foldedPart("Reasoning of the bot", () => longText(row.reasoning, { length: row.reasoning_length })) : null,
    trace ? foldedPart("Trace of the bot", () => jsonElement(typeof trace === "string" ? trace : JSON.stringify(trace), row.trace_length)) : null,
    callsElement(side),
  ];
}
