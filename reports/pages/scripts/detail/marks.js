/* Marks: their places in a text in JavaScript units, and the note above it. */

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

/** Says above a text what is marked in it for a claim, with the way back to where the reader came from. */
function tellMarked(note, words, from) {
  const back = from && make("button", { type: "button", class: "back", on: { click: () => from.focus() } }, "Back to the claim");
  note.hidden = false;
  note.replaceChildren(make("mark", { class: "nearest" }, words), " ", back ?? "");
}
