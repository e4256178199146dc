/* Notes: above the list, unknown names in the address, and filters that hide everything. */

/** Notes as elements; `change` is called with the filter to remove. */
function questionNotes(rows, state, order, places, tests, change) {
  const notes = state.unknown.map(([noun, name]) => make("p", { class: "doubt" }, `This page has no ${noun} `, isolated(clipped(name, 80)), "; it is ignored."));
  notes.push(...[notListedNote(rows.index), leftOutNote(rows.index)].filter(Boolean));
  if (!rows.count) notes.push(make("p", {}, "There are no rows yet."));
  else if (!places.length) notes.push(nothingFound(rows, state, order, tests, change));
  return notes;
}

/** Which filter hides everything: what would be found without each of them, most first. */
function nothingFound(rows, state, order, tests, change) {
  const ways = Object.keys(tests).map((name) => {
    const others = Object.fromEntries(Object.entries(tests).filter(([other]) => other !== name && !(name === "show" && other === "reason")));
    return { name, count: filteredPlaces(order, others).length };
  });
  ways.sort((one, other) => other.count - one.count);
  const offered = ways.filter(({ count }) => count > 0).map(({ name, count }) =>
    make("li", {}, make("button", { type: "button", on: { click: () => change(name === "show" ? { show: "", reason: "" } : { [name]: "" }) } },
      "Leave out ", filterInWords(name, state), ` (${count.toLocaleString("en")})`)));
  return make("div", { class: "question-nothing" }, make("p", {}, "Nothing found."),
    offered.length ? make("ul", {}, offered) : make("p", { class: "quiet" }, "No single filter hides everything: clear them all."));
}

function filterInWords(name, { named }) {
  if (name === "show") return `\u201c${shownCases()[named.show]}\u201d`;
  const noun = { q: "the search for ", reason: "the reason ", cause: "the cause ", tag: "the tag ", document: "the document " }[name];
  return [noun, isolated(clipped(name === "reason" ? reasonInWords(named.reason) : named[name], 60))];
}
