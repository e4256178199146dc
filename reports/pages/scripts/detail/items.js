/* Items: the claims, sentences and chunks in a score's details, brought into one form. */

// By key of details: whose text its items are, and what the list is called.
const ITEM_LISTS = {
  claims: ["answer", "Claims of the answer"],
  TP: ["answer", "Right claims"],
  FP: ["answer", "Wrong claims"],
  FN: ["expected", "Missed claims of the expected answer"],
  expected_claims: ["expected", "Claims of the expected answer"],
  nuggets: ["expected", "Nuggets that a good answer holds"],
  sentences: ["answer", "Sentences"],
  needed: ["contexts", "Context sentences that are needed for the answer"],
  supporting: ["contexts", "Context sentences that support the expected answer"],
  questions: ["questions", "Questions that the answer would answer"],
};
const ITEM_TEXTS = ["claim", "nugget", "sentence", "question", "text"];
// Their claims are compared with the expected answer, though the verdict has the name of a check of contexts.
const AGAINST_EXPECTED = new Set(["answer_correctness", "claim_precision", "claim_f1", "noise_sensitivity"]);

/** The items of a list of details as {text, of, against, ranks, verdict, given}; null where it is no such list. */
function itemsOf(key, list, metric) {
  if (!Object.hasOwn(ITEM_LISTS, key) || !Array.isArray(list) || !list.length) return null;
  const name = metric?.name ?? "";
  const of = key === "sentences" && name.startsWith("context_") ? "expected" : ITEM_LISTS[key][0];
  const found = list.map((given) => {
    const text = given && typeof given === "object" ? ITEM_TEXTS.map((each) => given[each]).find((each) => typeof each === "string") : undefined;
    if (text === undefined) return null;
    const verdict = verdictOf(given, metric);
    const against = againstWhat(key, of, verdict.name, name, given);
    if (against === "expected" && verdict.name === "supported") verdict.words = VERDICTS.correct[given.supported ? 0 : 1];
    if (key === "FN") verdict.words = VERDICTS.covered[1];
    return { text, of, given, verdict, ranks: ranksOf(given), against };
  });
  return found.includes(null) ? null : found;
}

/** Ranks of the contexts that an item names, from 1; a single `context` is counted from 0. */
function ranksOf(item) {
  const named = [item.chunks, item.contexts].find(Array.isArray) ?? [];
  const single = [item.chunk, typeof item.context === "number" ? item.context + 1 : undefined];
  return [...new Set([...named, ...single].filter((rank) => Number.isInteger(rank) && rank > 0))].sort((one, other) => one - other);
}

/** The text that an item was compared with: there its evidence is. */
function againstWhat(key, of, verdict, metric, given) {
  if (of === "questions") return "question";
  if (key === "FN" || verdict === "covered" || verdict === "used" || key === "nuggets") return "answer";
  if (verdict === "correct" && !given.chunks) return "expected";
  if (verdict === "supported" && of === "answer" && AGAINST_EXPECTED.has(metric)) return "expected";
  return "contexts";
}

/** All items of a score, those of the answer first among them. */
function allItems(score, metric) {
  const details = score?.details;
  if (!details || typeof details !== "object" || Array.isArray(details)) return [];
  return Object.entries(details).flatMap(([key, list]) => itemsOf(key, list, metric) ?? []);
}

const MOST_MARKS = 300;

/** What in a text of the row gets a mark: items that stand in it word for word, spans and findings of a score. */
function verdictRanges(text, of, score, metric) {
  const ranges = [];
  for (const item of allItems(score, metric).filter((each) => each.of === of).slice(0, MOST_MARKS)) {
    const range = literalRange(text, item.text);
    if (range) ranges.push({ ...range, kind: item.verdict.tone, tag: SIGNS[item.verdict.tone] });
  }
  if (of !== "answer" || !score?.details) return ranges;
  const { spans, answer, least_grounded: least, worst_sentence: worst } = score.details;
  ranges.push(...foundSpans(text, spans, "not supported"), ...foundSpans(text, answer, "found"));
  for (const [sentence, tag] of [[least, "least grounded"], [worst, "worst sentence"]]) {
    // Even where all is well one sentence is the least: only a verdict that is not good makes it worth a mark.
    const range = typeof sentence === "string" && literalRange(text, sentence);
    const isGood = range && ranges.some(({ kind, start, end }) => kind === "good" && start === range.start && end === range.end);
    if (range && !isGood) ranges.push({ ...range, kind: "doubt", tag });
  }
  return ranges;
}

/** Findings with a place, as ranges. */
function foundSpans(text, findings, usual) {
  if (!Array.isArray(findings)) return [];
  const given = findings.slice(0, MOST_MARKS).map((finding) => {
    const [start, end] = Array.isArray(finding?.span) ? finding.span : [finding?.start, finding?.end];
    return { start, end, kind: "bad", tag: `${SIGNS.bad} ${typeof finding?.detector === "string" ? shown(finding.detector) : usual}` };
  });
  return inUnits(text, given.filter(({ start, end }) => Number.isInteger(start) && Number.isInteger(end)));
}

/** The score that has the evidence of a metric: of a check's five rates only the first one keeps what was found. */
function evidenceScore(scores, name) {
  const own = scores.get(name);
  const family = /^(.*)\.(failures|retrieval_failures|generation_failures|parse_failures)$/.exec(name);
  const borrowed = family && `${family[1]}.passes`;
  const details = scores.get(borrowed)?.details;
  return details && !Object.keys(own?.details ?? {}).length ? { ...own, details, borrowed } : own;
}
