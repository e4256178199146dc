/* Lines: one line per case: the question, matches of the search, and a cell for each bot. */

const TEXT_LENGTH = 260; // about two lines on a wide screen
const SNIPPET_LENGTH = 110;
const MOST_SNIPPETS = 2;
const MOST_TAGS = 5;

/** The row of a case; `isOpen` when its detail is shown below. */
function questionLine(rows, state, place, words, isOpen) {
  return make("tr", { role: "row", class: isOpen ? "question-line open" : "question-line", "data-place": place },
    make("th", { role: "rowheader", scope: "row" },
      make("button", { type: "button", class: "question-opener", "aria-expanded": isOpen },
        make("span", { class: "question-text" }, excerpt(rows.cases.text[place], words, TEXT_LENGTH))),
      lineAbout(rows, place, words),
      words.length ? lineSnippets(rows, place, words) : null),
    rows.everyColumn.map((column) => questionCell(rows, state, column, place)),
    settings.pair ? changeCell(rows, state, place) : null);
}

/** Key, repeat, tags and document. */
function lineAbout(rows, place, words) {
  const { key, repeat, tags, tag_names: names, document: documents } = rows.cases;
  const shownTags = tags[place].slice(0, MOST_TAGS);
  const more = tags[place].length - shownTags.length;
  return make("span", { class: "question-about" },
    make("span", { class: "unseen" }, "Key "),
    make("bdi", { dir: "auto", class: "question-key" }, marked(clipped(key[place], 80), words)),
    rows.hasRepeats ? make("span", {}, `repeat ${repeat[place] + 1}`) : null,
    shownTags.map((tag) => make("span", { class: "label" }, isolated(clipped(names[tag], 40)))),
    more > 0 ? make("span", {}, `+${more}`) : null,
    documents[place] ? isolated(clipped(documents[place], 60)) : null);
}

/** Searched words outside the question and its key: in expected answers or answers. */
function lineSnippets(rows, place, words) {
  const { text, key, expected } = rows.cases;
  const seen = spacedAlike(`${text[place]}\n${key[place]}`);
  const wanted = words.filter((word) => !seen.includes(word));
  if (!wanted.length) return null;
  const found = [];
  const add = (label, said_) => {
    const part = found.length < MOST_SNIPPETS && said_ ? excerpt(said_, wanted, SNIPPET_LENGTH, true) : null;
    if (part) found.push(make("span", {}, label, part));
  };
  for (const each of expected[place]) add("Expected: ", each);
  for (const column of rows.everyColumn) add([isolated(clipped(rows.columns[column].name, 40)), ": "], rows.answer(column, place));
  return make("span", { class: "question-snippets" }, found);
}

/** Names of the columns; a click on a bot puts its worst values first. */
function questionHead(rows, state, choose) {
  const { named: { sort }, metric } = state;
  const sortedBy = (column) => (sort === "value" && column === state.column ? "other" : null);
  const about = ({ name, kind, model, embedded }) => [isolated(clipped(name, 60)), embedded ? "no LLM" : model ?? kind];
  return make("thead", { role: "rowgroup" }, make("tr", { role: "row" },
    make("th", { role: "columnheader", scope: "col" }, "Question"),
    rows.columns.map((each, column) => {
      const [name, nature] = about(each);
      return make("th", { role: "columnheader", scope: "col", "aria-sort": sortedBy(column), class: column === state.column ? "chosen" : null },
        make("button", {
          type: "button", class: "question-bot", title: metric < 0 ? "The slowest first" : "The worst values of this bot first",
          on: { click: () => choose(each.name) },
        }, name),
        isolated(clipped(nature, 40), { class: "question-nature" }));
    }),
    settings.pair ? make("th", { role: "columnheader", scope: "col" }, "Change") : null));
}
