/* Choice: of several pairs of bots, the one whose questions are listed: the list sees its two columns alone. */

const pairs = settings.pairs ?? [];

/** What a pair is called in an address: as its second column. */
function nameOfPair({ names }) {
  return names[1];
}

/** The place of the pair that an address asks for, by its name or by a column of it; else the first. */
function pairOf({ pair, bot }) {
  const named = pairs.findIndex((each) => nameOfPair(each) === pair);
  return Math.max(0, named < 0 ? pairs.findIndex(({ names }) => names.includes(bot)) : named);
}

/** The index as the list sees it: of several pairs the columns of one, with `usual`, the metric to begin with. */
function indexOfPair(index, number) {
  if (pairs.length < 2) return { ...index, usual: settings.metric };
  const { columns, metric } = pairs[number];
  return { ...index, columns: columns.map((at) => index.columns[at]), rows: columns.map((at) => index.rows[at]), usual: metric };
}

function showPair(number) {
  if (pairs.length > 1) byId("pair-choice").value = String(number);
}

if (pairs.length > 1) {
  byId("pair-choice").addEventListener("change", ({ target }) => {
    goTo({ view: "answers", pair: nameOfPair(pairs[Number(target.value)]) });
  });
}
