/* Word difference: what is gone from one text and what has come into another, word by word (Myers 1986). */

const MOST_EDITS = 2000; // words out and in; the memory of the search grows with the square
const LONG = 400; // characters from which on a reader would expect words to be compared
const LEAST_ALIKE = 0.2; // share of words in common below which a comparison by words says nothing

/** Parts of two texts as elements: what is gone struck out, what has come underlined. */
function differenceElements(parts) {
  const names = { same: "span", gone: "del", come: "ins" };
  return parts.map(({ kind, text }) => make(names[kind], {}, shown(text)));
}

/** Two texts in one. */
function wordDifferenceElement(before, after) {
  const { parts, isCoarse } = wordsCompared(before, after);
  const drawn = make("p", { class: "word-difference", dir: "auto" }, differenceElements(parts));
  if (!isCoarse || Math.max(before.length, after.length) < LONG) return drawn;
  const why = "These texts have too little in common, or are too long, to be compared word by word: both are shown whole.";
  return make("div", {}, make("p", { class: "quiet small" }, why), drawn);
}

/** `parts` in order: same and gone make up `before`, same and come make up `after`; `isCoarse` where the texts have too little in common. */
function wordsCompared(before, after) {
  const old = wordsOf(before);
  const now = wordsOf(after);
  const start = commonStart(old, now);
  const end = commonEnd(old, now, start);
  const [left, right] = [old, now].map((words) => words.slice(start, words.length - end));
  const matched = matchedWords(left, right);
  const common = matched?.filter(([place]) => isWord(left[place])).length ?? 0;
  const most = Math.max(...[left, right].map((words) => words.filter(isWord).length));
  const ends = old.slice(0, start).filter(isWord).length + old.slice(old.length - end).filter(isWord).length;
  const isCoarse = left.length > 0 && right.length > 0 && (!matched || common + ends < LEAST_ALIKE * (most + ends));
  const parts = [
    { kind: "same", text: old.slice(0, start).join("") },
    ...alternating(left, right, isCoarse ? [] : matched),
    { kind: "same", text: old.slice(old.length - end).join("") },
  ];
  return { parts: joined(parts), isCoarse };
}

const wordSegments = new Intl.Segmenter("en", { granularity: "word" });

function wordsOf(text) {
  return Array.from(wordSegments.segment(text), ({ segment }) => segment);
}

function isWord(segment) {
  return /[\p{L}\p{N}]/u.test(segment);
}

function commonStart(old, now) {
  let count = 0;
  while (count < old.length && count < now.length && old[count] === now[count]) count += 1;
  return count;
}

function commonEnd(old, now, start) {
  let count = 0;
  const most = Math.min(old.length, now.length) - start;
  while (count < most && old[old.length - 1 - count] === now[now.length - 1 - count]) count += 1;
  return count;
}

/** Places of words that stay, as pairs in order, such that the fewest go and come; null where there are too many. */
function matchedWords(old, now) {
  const most = Math.min(old.length + now.length, MOST_EDITS);
  const middle = most + 1;
  const reached = new Int32Array(2 * most + 3); // by diagonal, how far in `old` so many edits lead
  const steps = [];
  for (let edits = 0; edits <= most; edits += 1) {
    steps.push(reached.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const [below, above] = [reached[middle + diagonal - 1], reached[middle + diagonal + 1]];
      let x = diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      reached[middle + diagonal] = x;
      if (x >= old.length && x - diagonal >= now.length) return walkedBack(steps, old.length, now.length);
    }
  }
  return null;
}

/** From the end of both texts back to their start, along the way that the steps have found. */
function walkedBack(steps, x, y) {
  const matched = [];
  for (let edits = steps.length - 1; edits >= 0; edits -= 1) {
    const at = (diagonal) => steps[edits][edits + 1 + diagonal];
    const diagonal = x - y;
    const isDown = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const before = isDown ? diagonal + 1 : diagonal - 1;
    const [oldX, oldY] = edits ? [at(before), at(before) - before] : [0, 0];
    while (x > oldX && y > oldY) {
      x -= 1;
      y -= 1;
      matched.push([x, y]);
    }
    [x, y] = [oldX, oldY];
  }
  return matched.reverse();
}

/** Runs of words in turn: what goes, what comes, what stays. Blanks and stops alone don't part a change in two. */
function alternating(old, now, matched) {
  const parts = [];
  let [x, y] = [0, 0];
  for (const [start, other, end] of stays(old, matched)) {
    if (!old.slice(start, end).some(isWord)) continue;
    parts.push({ kind: "gone", text: old.slice(x, start).join("") }, { kind: "come", text: now.slice(y, other).join("") });
    parts.push({ kind: "same", text: old.slice(start, end).join("") });
    [x, y] = [end, other + end - start];
  }
  parts.push({ kind: "gone", text: old.slice(x).join("") }, { kind: "come", text: now.slice(y).join("") });
  return parts;
}

/** Runs of matched words: [start in old, start in now, end in old]. */
function stays(old, matched) {
  const runs = [];
  for (const [x, y] of matched) {
    const last = runs.at(-1);
    if (last && last[2] === x && last[1] + x - last[0] === y) last[2] = x + 1;
    else runs.push([x, y, x + 1]);
  }
  return runs;
}

function joined(parts) {
  const made = [];
  for (const { kind, text } of parts) {
    if (!text) continue;
    if (made.at(-1)?.kind === kind) made.at(-1).text += text;
    else made.push({ kind, text });
  }
  return made;
}
