/* Pair choice: of several pairs of bots, the one whose questions are listed: the list sees its two columns alone. */

const wholeIndex = settings.pairs?.length > 1 ? block("rows") : null;
let chosenPair = 0;

/** The index with the two columns of a pair. */
function indexOfPair(index, { columns }) {
  return { ...index, columns: columns.map((at) => index.columns[at]), rows: columns.map((at) => index.rows[at]) };
}

function choosePair(number) {
  chosenPair = number;
  settings.metric = settings.pairs[number].metric;
  blocks.set("rows", wholeIndex.then((index) => indexOfPair(index, settings.pairs[number])));
  byId("pair-choice").value = String(number);
}

/** The pair to which a column belongs; -1 where there is no such column. */
function pairOfColumn(name) {
  return settings.pairs.findIndex(({ names }) => names.includes(name));
}

if (wholeIndex) {
  choosePair(Math.max(0, pairOfColumn(address().bot)));
  byId("pair-choice").addEventListener("change", async ({ target }) => {
    choosePair(Number(target.value));
    goTo({ view: "questions" }, true);
    await refreshQuestions();
  });
  onAddress(({ bot }) => {
    const number = pairOfColumn(bot);
    if (number < 0 || number === chosenPair) return;
    choosePair(number);
    refreshQuestions();
  });
}
