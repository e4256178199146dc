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

/** Time, tokens, reasoning and trace of an answer, and the judge's calls. */
function makingElement(side) {
  const { row } = side;
  const trace = row.trace && row.trace !== "{}" ? row.trace : null;
  return [
    timingElement(row),
    row.tool_calls?.length ? foldedPart(`Tools called (${row.tool_calls.length})`, () => toolCallList(row.tool_calls), { open: true }) : null,
    row.tool_calls_length ? make("p", { class: "quiet small" }, tooLong("tool calls", row.tool_calls_length)) : null,
    row.reasoning ? foldedPart("Reasoning of the bot", () => longText(row.reasoning, { length: row.reasoning_length })) : null,
    trace ? foldedPart("Trace of the bot", () => jsonElement(typeof trace === "string" ? trace : JSON.stringify(trace), row.trace_length)) : null,
    callsElement(side),
  ];
}
