/* Nearest: the sentence of a text that shares most words with another, and the words that two texts share. */

const sentenceCutter = new Intl.Segmenter(undefined, { granularity: "sentence" });
const wordCutter = new Intl.Segmenter(undefined, { granularity: "word" });
const MOST_SEARCHED = 400000; // characters that are searched for a nearest sentence: what takes about a second

const sentencesKept = new Map(); // by text: contexts come back with every claim

/** The sentences of a text as {start, end, words}, without the white space around them. */
function sentencesOf(text) {
  if (sentencesKept.has(text)) return sentencesKept.get(text);
  const found = [];
  for (const { segment, index } of sentenceCutter.segment(text)) {
    const start = index + segment.length - segment.trimStart().length;
    const end = index + segment.trimEnd().length;
    if (start < end) found.push({ start, end, words: wordSet(segment) });
  }
  if (sentencesKept.size > 200) sentencesKept.clear();
  sentencesKept.set(text, found);
  return found;
}

function plainWord(word) {
  return word.normalize("NFKC").toLowerCase();
}

/** The words of a text, each once; where there are none, as in a row of emoji, its signs. */
function wordSet(text) {
  const parts = [...wordCutter.segment(text)];
  const words = parts.filter(({ isWordLike }) => isWordLike);
  return new Set((words.length ? words : parts).map(({ segment }) => plainWord(segment)).filter((word) => word.trim()));
}

/**
 * The sentence that is nearest to a claim among those of some texts: {text (its place), start, end, share}; null where
 * none shares a word with it. Rare words count more, and of equals the sentence with fewer other words wins.
 */
function nearestSentence(claim, texts) {
  const candidates = searchedSentences(texts);
  const wanted = [...wordSet(claim)];
  const weights = wanted.map((word) => Math.log1p(candidates.length / (1 + candidates.filter(({ words }) => words.has(word)).length)));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let best = null;
  for (const { text, start, end, words } of candidates) {
    const common = wanted.reduce((sum, word, place) => sum + (words.has(word) ? weights[place] : 0), 0);
    const near = common / whole - 0.01 * (1 - 1 / (1 + words.size / 100));
    if (common > 0 && (!best || near > best.near)) best = { text, start, end, near, share: common / whole };
  }
  return best;
}

function searchedSentences(texts) {
  const found = [];
  let searched = 0;
  for (const [text, content] of texts.entries()) {
    if (searched + content.length > MOST_SEARCHED && searched) break;
    searched += content.length;
    for (const sentence of sentencesOf(content)) found.push({ text, ...sentence });
  }
  return found;
}

/** Where the words of a text stand that are among others, as ranges; words of one or two letters are ignored. */
function sharedWords(text, others) {
  const found = [];
  for (const { segment, index, isWordLike } of wordCutter.segment(text)) {
    if (!isWordLike || !others.has(plainWord(segment))) continue;
    if (segment.length < 3 && !/\p{N}|[^\u0000-\u024f]/u.test(segment)) continue;
    found.push({ start: index, end: index + segment.length, kind: "shared" });
  }
  return found;
}

/** Where a text stands in another, whatever the white space within it and the stop after it; null where it doesn't. */
function literalRange(text, wanted) {
  const words = wanted.trim().replace(/[.!?]+$/, "").split(/\s+/u);
  if (!words[0] || wanted.length > 4000) return null;
  const found = new RegExp(words.map(escapedWord).join("\\s+"), "u").exec(text);
  if (!found) return null;
  const end = found.index + found[0].length;
  return { start: found.index, end: end + /^[.!?]*/.exec(text.slice(end, end + 3))[0].length };
}

function escapedWord(word) {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
