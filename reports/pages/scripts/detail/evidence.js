/* Evidence: what a score rests on, of known forms drawn well and of any other form drawn all the same. */

// What is drawn for a key of details when it has the form that our metrics give it; null sends it to the general drawing.
const EVIDENCE_PARTS = {
  chunks: (value, { side, metric }) => isChunkList(value) && titled("Contexts by rank", chunkList(value, side, metric)),
  citations: (value, { side }) => isCitationList(value) && titled("Citations", citationList(value, side, "citation")),
  quotes: (value, { side }) => isCitationList(value) && titled("Quotations", citationList(value, side, "quote")),
  uncited: (value) => wordsPart("Uncited", value, "bad"),
  ranks: (value, { side, view }) => Array.isArray(value) && titled("Gold evidence", goldRanks(value, side, view)),
  answer: (value) => findingsPart(value, "About the answer"),
  contexts: (value, { side, metric }) => (isChunkList(value) && !value[0].detector
    ? titled("Contexts", chunkList(value, side, metric))
    : findingsPart(value, "About the contexts", side)),
  reason: (value) => typeof value === "string" && (value.trim() ? quoted("Judge's reason", REASON_SENTENCES.get(value) ?? value) : []),
  message: (value) => typeof value === "string" && quoted("Message", value),
  agreement: (value) => typeof value === "number" && make("p", { class: "quiet" }, agreementWords(value)),
  best_contexts: (value, { side }) => rankList(value, side, "Best context"),
  supporting_chunks: (value, { side }) => rankList(value, side, "Supporting contexts"),
  relevant_chunks: (value, { side }) => rankList(value, side, "Relevant contexts"),
  missing: (value) => wordsPart("Missing", value, "bad"),
  found: (value) => wordsPart("Found", value, "good"),
  votes: (value) => Array.isArray(value) && wordsPart("Votes", value.map((vote) => vote ?? "unreadable"), "doubt"),
};
const QUIET_KEYS = new Set(["judge", "model", "truncated", "unit", "reference", "verifier", "reducer", "no_expected"]);

/** The evidence of a metric for one bot; a form that nobody thought of hides nothing but itself. */
function evidenceElement(name, metric, side, view) {
  try {
    return evidenceOf(name, metric, side, view);
  } catch (failure) {
    return make("p", { class: "bad" }, "What this value rests on can't be shown: ", isolated(failure.message));
  }
}

function evidenceOf(name, metric, side, view) {
  const score = evidenceScore(side.row.scores, name);
  if (!score) return make("div", { class: "evidence" }, make("p", { class: "quiet" }, "This metric was not measured for this row."));
  const parts = [evidenceHead(score, metric, side, name)];
  if (score.details_length) {
    parts.push(make("p", { class: "quiet" }, tooLong("the details", score.details_length)));
  }
  if (score.borrowed) parts.push(make("p", { class: "quiet small" }, "Details, stored with ", isolated(score.borrowed), ":"));
  const words = lexicalPart(name, side);
  const { missing, ...others } = score.details ?? {};
  const isRequired = words && REQUIRED.test(name); // then each required text is there already
  parts.push(words, detailParts(isRequired ? others : score.details ?? {}, { side, metric, view }));
  const cause = name === "correct" ? view.index.causes[view.index.rows[side.at].cause[view.place]] : null;
  if (cause) parts.splice(1, 0, make("p", { class: "small" }, make("strong", {}, "Cause: "), isolated(cause)));
  return make("div", { class: "evidence" }, parts.filter(Boolean));
}

function evidenceHead(score, metric, side, name) {
  const status = score.status ?? "ok";
  if (score.value === null || score.value === undefined) {
    const why = reasonSentence(score.reason || status);
    return make("p", { class: status === "not_applicable" ? "" : "bad" }, make("strong", {}, "No value. "), why);
  }
  const outcome = side.passed(name);
  const value = make("strong", { class: "value" }, scoreWords(score.value, metric, outcome));
  return make("p", {}, value, " ", make("span", { class: "quiet" }, (metric && thresholdWords(metric)) || "no threshold"));
}

function detailParts(details, context) {
  if (typeof details !== "object" || details === null || Array.isArray(details)) return valueElement(details);
  const parts = [];
  const rest = [];
  const quiet = [];
  for (const [key, value] of Object.entries(details)) {
    const drawn = drawnPart(key, value, context);
    if (drawn) parts.push(drawn);
    else (QUIET_KEYS.has(key) && typeof value !== "object" ? quiet : rest).push([key, value]);
  }
  if (rest.length) parts.push(entriesElement(rest));
  if (quiet.length) parts.push(make("p", { class: "quiet small" }, quietWords(quiet)));
  return parts;
}

function drawnPart(key, value, context) {
  const items = itemsOf(key, value, context.metric);
  if (items) {
    const title = key === "sentences" && items[0].of === "expected" ? "Sentences of the expected answer" : ITEM_LISTS[key][1];
    return titled(`${title} (${items.length.toLocaleString("en")})`, claimList(items, context.side));
  }
  if (Object.hasOwn(ITEM_LISTS, key) && Array.isArray(value) && !value.length) return make("p", { class: "quiet small" }, `${ITEM_LISTS[key][1]}: none`);
  return Object.hasOwn(EVIDENCE_PARTS, key) ? EVIDENCE_PARTS[key](value, context) : null;
}

function quietWords(quiet) {
  const shownKeys = quiet.filter(([key, value]) => !(key === "truncated" && value === false));
  return between(shownKeys.map(([key, value]) => [`${keyWords(key)}: `, simpleElement(value)]), " \u00b7 ");
}

function titled(title, ...parts) {
  return make("div", {}, make("p", { class: "part-title" }, title), parts);
}

function quoted(title, text) {
  return titled(title, make("blockquote", {}, longText(text)));
}

function rankList(value, side, title) {
  if (!Array.isArray(value) || !value.every((each) => Number.isInteger(each) && each > 0)) return null;
  const some = value.slice(0, 20).flatMap((rank) => [contextButton(rank, side), " "]);
  return titled(title, make("p", {}, value.length ? some : "none", value.length > 20 ? `and ${value.length - 20} more` : ""));
}

function wordsPart(title, value, tone) {
  const words = typeof value === "string" ? [value] : value;
  if (!Array.isArray(words) || !words.every((each) => typeof each === "string")) return null;
  const shownWords = words.slice(0, 100).flatMap((word) => [make("span", { class: `label ${tone}` }, isolated(word)), " "]);
  return titled(title, make("p", {}, words.length ? shownWords : "none", words.length > 100 ? `and ${words.length - 100} more` : ""));
}

/** Where each group of gold evidence was retrieved. */
function goldRanks(ranks, side, view) {
  const draw = (rank, group) => {
    const quote = view.question.evidence?.[group]?.[0];
    const about = quote ? [" ", isolated(quote.quote || quote.document, { class: "quiet" })] : [];
    if (!Number.isInteger(rank)) return make("li", {}, make("span", { class: "label bad" }, `${SIGNS.bad} not retrieved`), about);
    return make("li", {}, make("span", { class: "label good" }, `${SIGNS.good} found`), " ", contextButton(rank, side), about);
  };
  return someOf(ranks, "group", draw, { holder: make("ul", { class: "plain" }) });
}

/** What a check found: a list of findings, or why there was nothing to check. */
function findingsPart(value, title, side = null) {
  if (typeof value === "string") return titled(title, make("p", {}, reasonSentence(value)));
  if (!Array.isArray(value) || !value.every((each) => each && typeof each === "object" && !Array.isArray(each))) return null;
  return titled(title, someOf(value, "finding", (finding) => make("li", {}, findingParts(finding, side))));
}

function findingParts(finding, side) {
  const { missing, judge, detector, excerpt: found, span, context, label, votes, agreement, ...rest } = finding;
  const parts = [];
  if (Array.isArray(missing)) parts.push(
    make("span", { class: "label bad" }, `${SIGNS.bad} missing`), " ", between(missing.map((each) => isolated(each, { class: "wanted-text" })), " or "),
  );
  if (detector !== undefined) parts.push(make("span", { class: "label bad" }, `${SIGNS.bad} `, isolated(detector)), " ");
  if (found !== undefined) parts.push(isolated(found), " ");
  if (Array.isArray(span) && span.every(Number.isInteger)) parts.push(make("span", { class: "quiet small" }, `${placeInWords(...span)} `));
  if (Number.isInteger(context) && side) parts.push(contextButton(context + 1, side), " ");
  if (label !== undefined) parts.push("Label: ", make("span", { class: "label" }, isolated(label)), " ");
  if (Array.isArray(votes)) parts.push("Votes: ", votes.flatMap((vote) => [make("span", { class: "label" }, isolated(vote ?? "unreadable")), " "]));
  if (typeof agreement === "number") parts.push(make("span", { class: "quiet" }, `${agreementWords(agreement)} `));
  if (Object.keys(rest).length) parts.push(recordElement(rest));
  if (judge !== undefined) parts.push(make("span", { class: "quiet small" }, "Judge: ", isolated(judge)));
  return parts;
}
