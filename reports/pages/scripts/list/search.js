/* Search: finds words in questions, expected answers, answers and keys, whatever their case and accents. */

const MARKS = /[\p{Mn}\p{Me}\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu;
const BEYOND_ASCII = /[^\0-\x7f]/;
const OTHER_SPACE = /\s{2,}|[^\S ]/g;
const BETWEEN_WORDS = /[ \n]/;
const SLICE_MS = 8; // of work between two looks at what the reader does

/** A text as it is searched: without accents, marks that nobody sees, and capitals. */
function foldedText(text) {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(MARKS, "").toLowerCase().replaceAll("\u03c2", "\u03c3").replaceAll("\u00df", "ss");
}

/** The same with one blank for whatever stands between words. */
function spacedAlike(text) {
  return foldedText(text).replace(OTHER_SPACE, " ");
}

/** The words and "phrases" of a search, folded, each once. */
function searchedWords(query) {
  const found = [];
  for (const [, phrase, word] of query.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const folded = spacedAlike(phrase ?? word).trim();
    if (folded) found.push(folded);
  }
  return [...new Set(found)];
}

/** Which cases have which words: an index over all distinct words, as searching every text would take too long. */
class QuestionSearch {
  #ids = new Map(); // by word its number
  #places = []; // by number the places of the cases that have the word, rising
  #order = []; // [word, places], the most frequent first
  #former = { part: "", words: [] };
  #texts = new Map(); // of cases that were searched for a phrase
  #next = 0;

  constructor(rows) {
    this.rows = rows;
    this.ready = null;
  }

  get isReady() {
    return this.#next > this.rows.count;
  }

  /** Reads all texts, a slice at a time, so that typing and scrolling go on meanwhile. */
  prepare() {
    this.ready ??= this.#prepared();
    return this.ready;
  }

  async #prepared() {
    while (!this.isReady) {
      const until = performance.now() + SLICE_MS;
      while (this.#next < this.rows.count && performance.now() < until) this.#take(this.#next++);
      if (this.#next === this.rows.count) this.#arrange();
      await (globalThis.scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve)));
    }
  }

  #take(place) {
    for (const word of this.#folded(place).split(BETWEEN_WORDS)) {
      let id = this.#ids.get(word);
      if (id === undefined) {
        id = this.#places.push([]) - 1;
        this.#ids.set(word, id);
      }
      const places = this.#places[id];
      if (places.at(-1) !== place) places.push(place);
    }
  }

  #arrange() {
    this.#order = [...this.#ids].map(([word, id]) => [word, this.#places[id]]).sort(([, one], [, other]) => other.length - one.length);
    this.#ids = this.#places = null;
    this.#former.words = this.#order;
    for (const letter of "etaoin") this.#casesWith(letter); // compiled before the first key
    this.#former = { part: "", words: this.#order };
    this.#next += 1;
  }

  #folded(place) {
    const { cases } = this.rows;
    const parts = [cases.key[place], cases.text[place], ...cases.expected[place]];
    for (const column of this.rows.everyColumn) parts.push(this.rows.answer(column, place) ?? "");
    return parts.map(spacedAlike).join("\n"); // no phrase goes on from one text to the next
  }

  /** Tells of a case whether it has every word; null where there are none. */
  test(words) {
    if (!words.length) return null;
    const [hits, ...others] = [...new Set(words.flatMap((word) => word.split(BETWEEN_WORDS)))].map((part) => this.#casesWith(part));
    for (const other of others) for (let place = 0; place < hits.length; place += 1) hits[place] &= other[place];
    const phrases = words.filter((word) => BETWEEN_WORDS.test(word));
    if (!phrases.length) return (place) => hits[place] === 1;
    return (place) => hits[place] === 1 && phrases.every((phrase) => this.#text(place).includes(phrase));
  }

  /** By case 1 where one of its words contains the part; words that bring no further case are not looked at. */
  #casesWith(part) {
    const hits = new Uint8Array(this.rows.count);
    const former = part.includes(this.#former.part) ? this.#former.words : this.#order; // while a word is being typed
    const words = [];
    let left = hits.length;
    for (const entry of former) {
      if (!entry[0].includes(part)) continue;
      words.push(entry);
      for (const place of entry[1]) {
        left -= 1 - hits[place];
        hits[place] = 1;
      }
      if (!left) return hits; // not all words are known, so the next part begins with the former ones
    }
    this.#former = { part, words };
    return hits;
  }

  #text(place) {
    if (!this.#texts.has(place)) this.#texts.set(place, this.#folded(place));
    return this.#texts.get(place);
  }
}

/** Where the words stand in a text: [start, end] pairs in order, none overlapping another. */
function foundRanges(text, words) {
  if (!words.length) return [];
  const alike = spacedAlike(text);
  if (!words.some((word) => alike.includes(word))) return [];
  const { folded, starts } = alike.length === text.length && !BEYOND_ASCII.test(text) ? { folded: alike, starts: null } : foldedWithPlaces(text);
  const ranges = [];
  for (const word of words) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      const after = at + word.length;
      ranges.push(starts ? [starts[at], endOf(starts, after, text)] : [at, after]);
    }
  }
  ranges.sort(([one], [other]) => one - other);
  return ranges.reduce((merged, [start, end]) => {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
    return merged;
  }, []);
}

/** The folded text, and for each of its characters where it comes from. */
function foldedWithPlaces(text) {
  let folded = "";
  const starts = [];
  let at = 0;
  for (const character of text) {
    const part = /\s/.test(character) ? (folded.endsWith(" ") ? "" : " ") : foldedText(character);
    for (let place = 0; place < part.length; place += 1) starts.push(at);
    folded += part;
    at += character.length;
  }
  return { folded, starts };
}

/** Where a find ends in the text as it was: before the next character that is not a mark of the last one. */
function endOf(starts, after, text) {
  const last = starts[after - 1];
  let next = after;
  while (starts[next] === last) next += 1;
  return starts[next] ?? text.length;
}

/** A text with its finds marked. */
function marked(text, words) {
  const parts = [];
  let at = 0;
  for (const [start, end] of foundRanges(text, words)) {
    parts.push(shown(text.slice(at, start)), make("mark", {}, shown(text.slice(start, end))));
    at = end;
  }
  return [...parts, shown(text.slice(at))];
}

/** Where the first whole word after a place begins, before the end given. */
function wordStart(text, from, before) {
  const blank = text.slice(from, before).search(/\s/);
  return blank < 0 ? from : from + blank + 1;
}

/** As much of a text as a line has room for, around the first find; null where there is none and one is asked for. */
function excerpt(text, words, length, needsFind = false) {
  const [first] = foundRanges(text, words);
  if (!first && needsFind) return null;
  const start = first && first[0] > length / 2 ? wordStart(text, first[0] - Math.floor(length / 4), first[0]) : 0;
  const cut = text.slice(start, start + length);
  return make("bdi", { dir: "auto" }, start ? "\u2026 " : "", marked(cut, words), start + length < text.length ? " \u2026" : "");
}
