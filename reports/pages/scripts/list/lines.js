/* Lines: one line per case: the question, matches of the search, and the answer of each bot; and the heads above them. */

const TEXT_LENGTH = 260; // about two lines on a wide screen
const SNIPPET_LENGTH = 90;
const MOST_TAGS = 3;

/** The row of a case; `at` is its number in the table, `isOpen` when its detail is shown below. */
function questionLine(rows, state, place, words, isOpen, at) {
  return make("tr", { role: "row", class: isOpen ? "question-line open" : "question-line", "data-place": place, "data-at": at, "aria-rowindex": at === null ? null : at + 2 },
    make("th", { role: "rowheader", scope: "row" },
      make("button", { type: "button", class: "question-opener", "aria-expanded": isOpen },
        make("span", { class: "question-text" }, excerpt(rows.cases.text[place], words, TEXT_LENGTH))),
      lineAbout(rows, place, words),
      words.length ? lineSnippet(rows, place, words) : null),
    state.shownColumns.map((column) => questionCell(rows, state, column, place, words)),
    settings.pair ? changeCell(rows, state, place) : null);
}

/** Key, repeat, turn, tags and document. */
function lineAbout(rows, place, words) {
  const { key, repeat, turn, tags, tag_names: names, document: documents } = rows.cases;
  const shownTags = tags[place].slice(0, MOST_TAGS);
  const more = tags[place].length - shownTags.length;
  return make("span", { class: "question-about" },
    make("span", { class: "unseen" }, "Key "),
    make("bdi", { dir: "auto", class: "question-key" }, marked(clipped(key[place], 80), words)),
    rows.hasRepeats ? make("span", {}, `repeat ${repeat[place] + 1}`) : null,
    turn?.[place] ? make("span", {}, `turn ${turn[place]}`) : null,
    shownTags.map((tag) => make("span", { class: "label" }, isolated(clipped(names[tag], 40)))),
    more > 0 ? make("span", {}, `+${more}`) : null,
    documents[place] ? isolated(clipped(documents[place], 60)) : null);
}

/** Searched words that stand in the expected answer alone: all others are marked where they are. */
function lineSnippet(rows, place, words) {
  const { text, key, expected } = rows.cases;
  const others = [text[place], key[place], ...rows.everyColumn.map((column) => rows.answer(column, place) ?? "")];
  const seen = spacedAlike(others.join("\n"));
  const wanted = words.filter((word) => !seen.includes(word));
  for (const each of wanted.length ? expected[place] : []) {
    const part = excerpt(each, wanted, SNIPPET_LENGTH, true);
    if (part) return make("span", { class: "question-snippet" }, "Expected: ", part);
  }
  return null;
}

/** The head of a group: its name, how many there are, and the mean of each bot; a click folds it. */
function groupHead(rows, state, { name, places }, at, isFolded) {
  const mean = (column) => {
    const value = state.metric < 0 ? NaN : rows.mean(column, state.metric, places);
    const heat = Number.isNaN(value) ? null : heatClass(rows, state.metric, value);
    return make("td", { role: "cell" }, Number.isNaN(value) ? null
      : make("span", { class: heat ? `question-value ${heat}` : "question-value" }, figure(value, rows.metrics[state.metric])));
  };
  return make("tr", { role: "row", class: "question-group", "data-at": at, "aria-rowindex": at + 2 },
    make("th", { role: "rowheader", scope: "row" },
      make("button", { type: "button", class: "question-fold", "aria-expanded": !isFolded },
        isolated(clipped(name, 90), { title: shown(name) }), " ", make("span", { class: "quiet" }, places.length.toLocaleString("en")))),
    state.shownColumns.map(mean), settings.pair ? make("td", { role: "cell" }) : null);
}

/** The mean of a column over what is listed; a dash where it says nothing, as on the leaderboard; null without values. */
function meanLine(rows, column, metric, places) {
  const { mean, count, unreadable } = rows.meanOf(column, metric, places);
  const about = rows.metrics[metric];
  if (Number.isNaN(mean) && !unreadable) return null;
  const title = Number.isNaN(mean)
    ? `No mean: the judge could not be read on ${unreadable.toLocaleString("en")} of ${(count + unreadable).toLocaleString("en")} rows of ${shown(about.name)}`
    : `Mean of ${shown(about.name)} over ${count < places.length ? `${count.toLocaleString("en")} of ` : ""}the ${places.length.toLocaleString("en")} listed${count < places.length ? "; the others have no value" : ""}`;
  return make("span", { class: "question-mean", title }, Number.isNaN(mean) ? "–" : figure(mean, about));
}

/** Names of the columns with their means over what is listed; a click on a bot puts its worst values first. */
function questionHead(rows, state, places, metricField, choose) {
  const { named: { sort }, metric } = state;
  const sortedBy = (column) => (sort === "value" && column === state.column ? "other" : null);
  const head = (column) => {
    const { name, kind, model, embedded } = rows.columns[column];
    const nature = [embedded ? "no LLM" : model ?? kind, column === state.against ? "diff base" : ""].filter(Boolean).join(", ");
    return make("th", { role: "columnheader", scope: "col", "aria-sort": sortedBy(column), class: column === state.column ? "chosen" : null },
      make("button", {
        type: "button", class: "question-bot", title: metric < 0 ? "The slowest first" : "The worst values of this bot first",
        on: { click: () => choose(name) },
      }, isolated(clipped(name, 60))),
      isolated(clipped(nature, 60), { class: "question-nature" }),
      metric < 0 ? null : meanLine(rows, column, metric, places));
  };
  return make("thead", { role: "rowgroup" }, make("tr", { role: "row", "aria-rowindex": 1 },
    make("th", { role: "columnheader", scope: "col" }, make("span", { class: "unseen" }, "Question"), metricField),
    state.shownColumns.map(head),
    settings.pair ? make("th", { role: "columnheader", scope: "col" }, "Change") : null));
}
