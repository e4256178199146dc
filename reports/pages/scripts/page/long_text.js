/* Long text: a text of others with parts of it marked, and a long one a piece at a time. */

const FIRST_CHARACTERS = 6000;
const FIRST_LINES = 80;
const MORE_CHARACTERS = 40000;
const MORE_LINES = 1000;

/**
 * A text with marks. A range is {start, end, kind, tag}: `kind` is a class, `tag` a word or sign that stands before it.
 * Ranges may overlap; the marks of kind "shared" are underlines, all others are grounds.
 */
function markedText(text, ranges, attributes = {}) {
  const whole = make("bdi", { dir: "auto", ...attributes });
  const apart = ranges
    .map((range) => ({ ...range, start: Math.max(range.start, 0), end: Math.min(range.end, text.length) }))
    .filter(({ start, end }) => start < end)
    .sort((one, other) => one.start - other.start);
  const edges = [...new Set([0, text.length, ...apart.flatMap(({ start, end }) => [start, end])])].sort((one, other) => one - other);
  let open = [];
  let next = 0;
  for (const [place, edge] of edges.slice(0, -1).entries()) {
    open = open.filter(({ end }) => end > edge);
    for (; next < apart.length && apart[next].start === edge; next += 1) {
      open.push(apart[next]);
      if (apart[next].tag) whole.append(make("span", { class: `mark-tag ${apart[next].kind}` }, apart[next].tag));
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
  const holder = make("div", { class: "long-text" });
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
