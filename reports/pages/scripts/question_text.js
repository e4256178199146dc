/* Question text: a text of others with parts of it marked, and a long one a piece at a time. */

const FIRST_CHARACTERS = 6000;
const FIRST_LINES = 80;
const MORE_CHARACTERS = 40000;
const MORE_LINES = 1000;

/** Ranges that count characters, as the data has them, as ranges of the units that JavaScript counts. */
function inUnits(text, ranges) {
  const wanted = [...new Set(ranges.flatMap(({ start, end }) => [start, end]))].sort((one, other) => one - other);
  const places = new Map();
  let unit = 0;
  let character = 0;
  for (const place of wanted) {
    while (character < place && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      character += 1;
    }
    places.set(place, unit);
  }
  return ranges.map((range) => ({ ...range, start: places.get(range.start), end: places.get(range.end) }));
}

/**
 * A text with marks. A range is {start, end, kind, tag}: `kind` is a class, `tag` a word or sign that stands before it.
 * Ranges may overlap; the marks of kind "shared" are underlines, all others are grounds.
 */
function markedText(text, ranges, attributes = {}) {
  const whole = make("bdi", { dir: "auto", ...attributes });
  const kept = ranges
    .map((range) => ({ ...range, start: Math.max(range.start, 0), end: Math.min(range.end, text.length) }))
    .filter(({ start, end }) => start < end)
    .sort((one, other) => one.start - other.start);
  const edges = [...new Set([0, text.length, ...kept.flatMap(({ start, end }) => [start, end])])].sort((one, other) => one - other);
  let open = [];
  let next = 0;
  for (const [place, edge] of edges.slice(0, -1).entries()) {
    open = open.filter(({ end }) => end > edge);
    for (; next < kept.length && kept[next].start === edge; next += 1) {
      open.push(kept[next]);
      if (kept[next].tag) whole.append(make("span", { class: `mark-tag ${kept[next].kind}` }, kept[next].tag));
    }
    whole.append(markedPiece(shown(text.slice(edge, edges[place + 1])), open));
  }
  return whole;
}

function markedPiece(text, ranges) {
  if (!ranges.length) return text;
  const kinds = [...new Set(ranges.map(({ kind }) => kind))];
  return make(kinds.every((kind) => kind === "shared") ? "u" : "mark", { class: kinds.join(" ") }, text);
}

/** Where the text may be cut: after so many units or lines, never within a character. */
function cutPlace(text, characters, lines) {
  let end = Math.min(characters, text.length);
  for (let place = -1, line = 0; line < lines; line += 1) {
    place = text.indexOf("\n", place + 1);
    if (place < 0 || place >= end) break;
    if (line === lines - 1) end = place;
  }
  return end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "") ? end - 1 : end;
}

/**
 * A text of any length: its beginning, and a button for more. `length` is how long it was before the data were made,
 * where they have only the beginning of it; `ranges` are marks.
 */
function longText(text, { ranges = [], length = null, characters = FIRST_CHARACTERS, lines = FIRST_LINES } = {}) {
  const holder = make("div", { class: "told-text" });
  function draw(mostCharacters, mostLines) {
    const end = cutPlace(text, mostCharacters, mostLines);
    holder.replaceChildren(markedText(text.slice(0, end), ranges));
    if (end < text.length) {
      const more = () => {
        draw(end + MORE_CHARACTERS, mostLines + MORE_LINES);
        (holder.querySelector("button") ?? holder).focus();
      };
      const left = `${(text.length - end).toLocaleString("en")} more characters`;
      holder.append(make("button", { type: "button", class: "show-more", on: { click: more } }, `Show ${left}`));
    } else if (length) {
      holder.append(make("p", { class: "quiet small" }, cutSentence(text, length)));
    }
  }
  holder.tabIndex = -1;
  draw(characters, lines);
  return holder;
}

function cutSentence(text, length) {
  return `Cut here: the page has the first ${[...text].length.toLocaleString("en")} of ${length.toLocaleString("en")} characters; the database has the whole.`;
}

/** What is said where the data have nothing of something, because it was too long even without its texts. */
function tooLong(what, length) {
  return `Too long for this page: ${what}, ${length.toLocaleString("en")} characters; the database has the whole.`;
}

/** What is said in the place of something that the data have not. */
function leftOut(what) {
  if (settings.blocks) return make("p", { class: "quiet" }, `The database has ${what} no longer, or not yet.`);
  return make("p", { class: "quiet" }, `This file leaves out ${what}, because it would be too large; `, make("code", {}, "proctor view"), " shows it all.");
}

/** Says above a text what is marked in it for a claim, with the way back to where the reader came from. */
function tellMarked(note, words, from) {
  const back = from && make("button", { type: "button", class: "back", on: { click: () => from.focus() } }, "Back to the claim");
  note.hidden = false;
  note.replaceChildren(make("mark", { class: "nearest" }, words), " ", back ?? "");
}

/** Things one after the other, the first ones at once and more when they are asked for; `draw` makes an element of each. */
function someOf(things, noun, draw, { first = 20, holder = make("ul", { class: "plain" }) } = {}) {
  const whole = make("div", {}, holder);
  const more = make("button", { type: "button", class: "show-more" });
  let count = 0;
  function grow(by) {
    const from = count;
    count = Math.min(things.length, count + by);
    holder.append(...things.slice(from, count).map((thing, place) => draw(thing, from + place)));
    more.textContent = `Show ${Math.min(things.length - count, 100).toLocaleString("en")} more of ${counted(things.length, noun)}`;
    if (count === things.length) more.remove();
    return holder.children[from];
  }
  more.addEventListener("click", () => {
    const begun = grow(100);
    if (!begun) return;
    begun.tabIndex = -1;
    begun.focus();
  });
  whole.append(more);
  grow(first);
  return whole;
}
