/* Answer: what was asked and expected, and what a bot answered, with the parts that a metric judged marked. */

/** The question with all that is known of it: {element, draw}; `draw(claim)` marks the expected sentence that is nearest to it. */
function askedElement(view) {
  const { question, index, place, id } = view;
  const expected = make("div", { class: "expected-answers", id: `${id}-expected`, tabindex: "-1" });
  const note = make("p", { class: "context-note small", hidden: true });
  const element = make("section", { class: "asked", "aria-label": "Question" },
    make("h3", { class: "asked-text" }, longText(question.text ?? "", { length: question.text_length, characters: 1500, lines: 20 })),
    note, expected, make("p", { class: "asked-facts small" }, askedFacts(view)),
    question.history?.length ? foldedPart(`Messages before (${question.history.length})`, () => messageList(question.history)) : null,
    question.constraints?.length ? constraintList(question.constraints) : null,
    question.evidence?.length ? foldedPart(`Gold evidence (${question.evidence.length})`, () => evidenceGroups(question.evidence)) : null,
    ["expected", "constraints", "evidence", "extra", "history"].filter((name) => question[`${name}_length`])
      .map((name) => make("p", { class: "quiet small" }, tooLong(name, question[`${name}_length`]))),
    Object.keys(question.extra ?? {}).length ? foldedPart("Other fields of the question", () => recordElement(question.extra)) : null,
  );
  function draw(claim = null, from = null) {
    note.hidden = true;
    const texts = Array.isArray(question.expected) ? question.expected : [];
    const best = claim && nearestSentence(claim, texts);
    const score = view.sides.map(({ row }) => evidenceScore(row.scores, view.metric)).find((each) => each?.details);
    const drawn = texts.map((text, number) => {
      const near = best?.text === number ? [{ ...best, kind: "nearest", tag: "closest sentence" }] : [];
      const judged = claim || view.sides.length > 1 ? [] : verdictRanges(text, "expected", score, view.metricOf(view.metric));
      const shared = view.showsShared ? sharedWords(text, wordSet(view.sides.map(({ row }) => row.answer ?? "").join("\n"))) : [];
      return make("div", { class: "expected" }, longText(text, { ranges: [...judged, ...near, ...shared] }));
    });
    const title = make("p", { class: "part-title" }, texts.length > 1 ? "Expected: any of" : "Expected");
    const none = index.cases.answerable[place] === 0 ? "No answer: the documents don't have one." : "No expected answer is given.";
    expected.replaceChildren(title, ...(drawn.length ? drawn : [make("p", { class: "quiet" }, none)]));
    if (from) pointOut(expected, note, from);
  }
  draw();
  return { element, draw };
}

function askedFacts({ question, index, place }) {
  const { cases } = index;
  const parts = [["Key ", isolated(question.key)]];
  if (cases.repeat[place]) parts.push([`repeat ${cases.repeat[place] + 1}`]);
  if (cases.turn?.[place]) parts.push(talkLink(cases, place));
  if (cases.document[place]) parts.push(["document ", isolated(cases.document[place])]);
  if (cases.answerable[place] !== null) parts.push([cases.answerable[place] ? "answerable" : make("span", { class: "label doubt" }, "not answerable")]);
  const perturbed = question.extra?.perturbs;
  if (perturbed !== undefined) {
    const other = isolated(typeof perturbed === "string" ? perturbed : JSON.stringify(perturbed));
    parts.push(make("span", { class: "label" }, "perturbation of ", other));
  }
  for (const tag of cases.tags[place] ?? []) parts.push([make("span", { class: "label" }, isolated(cases.tag_names[tag]))]);
  return between(parts, " \u00b7 ");
}

/** Which turn of which conversation it is, with a link to the transcript where the page has them. */
function talkLink(cases, place) {
  const name = cases.conversation_names[cases.conversation[place]];
  const open = cases.repeat[place] ? `${name}~${cases.repeat[place]}` : name;
  const words = [`turn ${cases.turn[place]} of `, isolated(clipped(name, 80))];
  return byId("conversations") ? make("a", { href: addressOf({ view: "conversations", open }) }, words) : words;
}

/** Messages of a file, each with who wrote it. */
function messageList(messages) {
  const draw = ({ role, content, ranges = [] }) => make("li", { class: role === "user" ? "said user" : "said" },
    make("span", { class: "said-by" }, role === "user" ? "User" : "Assistant"), longText(String(content ?? ""), { ranges }));
  return someOf(messages, "message", draw, { holder: make("ol", { class: "plain messages" }) });
}

function constraintList(constraints) {
  const words = constraints.slice(0, 50).map((constraint) => {
    const members = Array.isArray(constraint) ? constraint : [constraint];
    return between(members.map((member) => isolated(String(member), { class: "wanted-text" })), " or ");
  });
  return make("p", { class: "small" },
    make("span", { class: "quiet" }, "The answer must contain: "), between(words, "; "), constraints.length > 50 ? ` and ${constraints.length - 50} more` : "");
}

function evidenceGroups(groups) {
  const member = ({ document: name, quote, start, end }) => make("div", {},
    make("span", { class: "small quiet" }, isolated(name), Number.isInteger(start) ? `, ${placeInWords(start, end)}` : ""),
    quote ? make("blockquote", {}, longText(quote)) : "");
  const draw = (group) => make("li", {}, group.map((each, place) => [place ? make("span", { class: "quiet small" }, "or ") : "", member(each)]));
  return someOf(groups, "group", draw, { holder: make("ol") });
}

/** The answer of a bot: {element, draw}; `draw(claim)` marks the sentence that is nearest to it. */
function answerElement(side) {
  const { row, status } = side;
  const body = make("div", { class: "answer", tabindex: "-1", id: `${side.id}-answer` });
  const note = make("p", { class: "context-note small", hidden: true });
  const element = make("div", {}, note, body);
  function draw(claim = null, from = null) {
    note.hidden = true;
    if (row.error && status !== "answered") {
      body.replaceChildren(make("div", { class: "failure" }, longText(row.error, { length: row.error_length })));
      return;
    }
    if (row.answer === null || row.answer === undefined) return body.replaceChildren(make("p", { class: "quiet" }, "There is no answer."));
    if (!row.answer.trim()) return body.replaceChildren(make("p", { class: "bad" }, "The answer is blank."));
    body.replaceChildren(longText(row.answer, { ranges: answerRanges(side, claim), length: row.answer_length }), differenceFrom(side));
    if (from) pointOut(body, note, from);
  }
  draw();
  return { element, draw, head: sideHead(side) };
}

function answerRanges({ row, view }, claim) {
  const ranges = verdictRanges(row.answer, "answer", evidenceScore(row.scores, view.metric), view.metricOf(view.metric));
  if (REQUIRED.test(view.metric ?? "")) ranges.push(...requiredRanges(row.answer, view.question.constraints));
  if (LEXICAL.test(view.metric ?? "")) ranges.push(...sharedWords(row.answer, wordSet((view.question.expected ?? []).join("\n"))));
  const literal = claim && literalRange(row.answer, claim);
  const near = literal || (claim && nearestSentence(claim, [row.answer]));
  if (near) ranges.push({ ...near, kind: "nearest", tag: literal ? "" : "closest sentence" });
  if (view.showsShared) ranges.push(...sharedWords(row.answer, wordSet((view.question.expected ?? []).join("\n"))));
  return ranges;
}

/** Goes to what was marked for a claim, or says that there is nothing like it. */
function pointOut(body, note, from) {
  const mark = body.querySelector("mark.nearest");
  tellMarked(note, mark ? "closest sentence" : "no sentence here shares a word with the claim", from);
  (mark ?? body).scrollIntoView({ block: "center" });
  body.focus({ preventScroll: true });
}

/** Of two runs: how the answer of the second one differs from that of the first, word by word. */
function differenceFrom({ view, row, at }) {
  const before = view.all.find((side) => side.at === 0)?.row.answer;
  if (!settings.pair || at !== 1 || !before || before === row.answer) return "";
  return foldedPart("Word by word against the baseline", () => wordDifferenceElement(before, row.answer), { open: true });
}

/** Name, status, latency and the chosen score of a bot: the head of its column. */
function sideHead(side) {
  const { column, row, name } = side;
  const value = make("span", { class: "head-score" });
  const about = [column.model ?? column.kind, column.embedded ? "no LLM" : null].filter(Boolean);
  const element = make("header", { class: "side-head" },
    make("h4", {}, isolated(name)), statusLabel(side.status, row.abstained), " ",
    make("span", { class: "quiet small" }, about.flatMap((each) => [isolated(each), " \u00b7 "]), milliseconds(row.latency_ms)), value);
  return {
    element,
    show(metric) {
      const score = row.scores.get(metric);
      const words = score && scoreWords(score.value, side.view.metricOf(metric), side.passed(metric));
      value.replaceChildren(...(words ? [isolated(metric), " ", make("strong", {}, words)] : []));
    },
  };
}
