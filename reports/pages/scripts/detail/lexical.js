/* Lexical: which words and required texts an answer has, marked in place. */

const LEXICAL = /^(exact_match|keyword_recall|rouge_|bleu|chrf|token_f1|meteor)/;
const REQUIRED = /^(correct$|tokens_presence\b)/;

/** Where the required texts stand in a text, as ranges. */
function requiredRanges(text, constraints) {
  const found = [];
  for (const wanted of (constraints ?? []).flat().slice(0, MOST_MARKS)) {
    if (typeof wanted !== "string" || !wanted.trim()) continue;
    const pattern = new RegExp(wanted.trim().split(/\s+/u).map(escapedWord).join("\\s+"), "giu");
    for (const match of text.matchAll(pattern)) found.push({ start: match.index, end: match.index + match[0].length, kind: "good", tag: SIGNS.good });
  }
  return found;
}

/** The expected answer with the words that an answer has, and those that are missing. */
function wordsInPlace(expected, answer) {
  const has = wordSet(answer);
  const ranges = [];
  for (const { segment, index, isWordLike } of wordCutter.segment(expected)) {
    if (isWordLike) ranges.push({ start: index, end: index + segment.length, kind: has.has(plainWord(segment)) ? "present" : "absent" });
  }
  return ranges;
}

/** What a lexical metric compares: the expected answer beside the answer's words; null for other metrics. */
function lexicalPart(name, side) {
  const { row, view } = side;
  if (!row.answer?.trim()) return null;
  const { expected, constraints } = view.question;
  if (REQUIRED.test(name) && constraints?.length) return requiredPart(constraints, row.answer);
  const [first] = Array.isArray(expected) ? expected : [];
  if (!LEXICAL.test(name) || !first) return null;
  return make("div", { class: "words-in-place" }, make("p", { class: "part-title" }, "Words of the expected answer: ",
    make("mark", { class: "present" }, "in the answer"), " ", make("mark", { class: "absent" }, "missing")),
  longText(first, { ranges: wordsInPlace(first, row.answer) }));
}

/** Each required text with whether the answer has it; any member of a list will do. */
function requiredPart(constraints, answer) {
  const lines = constraints.slice(0, 50).map((constraint) => {
    const members = [constraint].flat();
    const isThere = requiredRanges(answer, members).length > 0;
    return make("li", {}, make("span", { class: `label ${isThere ? "good" : "bad"}` }, `${isThere ? SIGNS.good : SIGNS.bad} ${isThere ? "there" : "missing"}`), " ",
      between(members.map((member) => isolated(String(member), { class: "wanted-text" })), " or "));
  });
  return titled("Required text", make("ul", { class: "plain" }, lines));
}
