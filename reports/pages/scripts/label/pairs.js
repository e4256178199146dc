/* Pairs: which of two bots' answers is better, said without knowing whose they are. */

const PAIRS = "*pairs"; // in place of a metric
const PAIR_KEYS = { 1: "1", 2: "2", 3: "tie", "=": "tie", t: "tie" };

/** The questions that both bots answered in other words, in the order in which rows are drawn; which comes first is by chance. */
function pairQueue(rows, drawn, [first, second]) {
  const [one, other] = [first, second].map((name) => rows.columns.findIndex((column) => column.bot === name));
  const isAnswered = (column, place) => rows.hasRow(column, place) && !rows.failure(column, place) && rows.answer(column, place) !== null;
  const alike = (column, place) => spacedAlike(rows.answer(column, place)).trim();
  const places = [...new Set(drawn.map(({ place }) => place))].filter((place) => isAnswered(one, place) && isAnswered(other, place) && alike(one, place) !== alike(other, place));
  return places.map((place, at) => {
    const { key, repeat } = rows.cases;
    const isTurned = coin(`${key[place]} ${repeat[place]} ${first} ${second}`);
    return { place, number: at + 1, key: key[place], repeat: repeat[place], name: `${key[place]}~${repeat[place]}`, isTurned, columns: isTurned ? [other, one] : [one, other] };
  });
}

/** Heads or tails, the same again for the same text (FNV-1a). */
function coin(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash ^ (hash >>> 15)) & 1) === 1;
}

/** A verdict on what is shown as one on the bots in their order, and the other way round. */
function turnedVerdict({ isTurned }, verdict) {
  return isTurned ? { 1: "2", 2: "1" }[verdict] ?? verdict : verdict;
}

/** The two bots that lead by the metric that the page begins with. */
function leadingBots(rows) {
  const metric = rows.metrics.findIndex(({ name }) => name === settings.metric);
  const every = Uint32Array.from({ length: rows.count }, (_, place) => place);
  const sign = rows.metrics[metric]?.better === "lower" ? 1 : -1;
  const value = (column) => (metric < 0 ? 0 : sign * (rows.mean(column, metric, every) || 0));
  return [...rows.everyColumn].sort((one, other) => value(one) - value(other)).slice(0, 2).map((column) => rows.columns[column].bot);
}

/** The card of a pair; `say` is called with what was chosen of those shown: 1, 2 or tie. */
async function pairCard(index, row, given, { say, move }) {
  const [first, second] = await Promise.all(row.columns.map((column) => labelTexts(index, { column, place: row.place })));
  const answer = ({ answer: text, length }) => (text?.trim() ? longText(text, { length }) : make("p", { class: "quiet" }, "The answer is blank."));
  const choices = [["1", "First is better", "1"], ["2", "Second is better", "2"], ["tie", "Equally good", "3"]];
  return make("article", { class: "label-card", tabindex: "-1", "aria-label": `Pair ${row.number}` },
    make("p", { class: "small quiet label-what" }, "Which answer would you rather give to whoever asked? The bots are not named."),
    labelQuestion(first),
    make("div", { class: "label-answers" }, labelPart("First answer", answer(first)), labelPart("Second answer", answer(second))),
    labelExpected(first),
    first.evidence.length ? foldedPart(`Gold evidence (${first.evidence.length})`, () => evidenceGroups(first.evidence)) : null,
    labelButtons(choices, given, say, move));
}

class ServedVotes extends ServedSheet {
  constructor(run, bots, rater) {
    super(run, "", rater);
    this.bots = bots;
  }

  get address() {
    return settings.votes;
  }

  get query() {
    return { first: this.bots[0], second: this.bots[1], rater: this.rater };
  }

  sent({ key, repeat }, vote) {
    return { ...this.query, question_id: key, repeat, vote };
  }
}

class FiledVotes extends FiledSheet {
  constructor(run, bots, rater) {
    super(run, "", rater);
    this.bots = bots;
  }

  get noun() {
    return "vote";
  }

  entry({ first, second, question_id, repeat, rater, vote }) {
    return first === this.bots[0] && second === this.bots[1] && rater === this.rater ? [`${question_id}~${repeat}`, vote] : null;
  }

  record({ key, repeat }, vote) {
    const [first, second] = this.bots;
    return { run: this.run, first, second, question_id: key, repeat, vote, rater: this.rater, voted_at: new Date().toISOString() };
  }
}

/** What all votes on two bots say so far, and how often the judge says the same. */
function votesElement([first, second], { better, raters, judge }) {
  const names = Object.entries(raters);
  if (!names.length) return make("p", { class: "quiet" }, "With the first vote, the count of all raters stands here.");
  const line = (name, number) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, number ?? 0));
  const table = make("table", { class: "label-calibration" }, make("caption", {}, "On how many questions people prefer which answer"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Better"), make("th", { scope: "col", class: "number" }, "questions"))),
    make("tbody", {}, line(isolated(first), better[1]), line(isolated(second), better[2]), line("equally good", better.tie)));
  const percent = (value) => `${Math.round(100 * value)} %`;
  return make("div", {}, scrollable("Votes", table),
    make("p", { class: "small" }, "Raters: ", between(names.map(([name, number]) => [name ? isolated(name) : "no name", ` ${number}`]), ", "), "."),
    judge ? make("p", {}, "The judge ", isolated(judge.name), " says the same on ", make("strong", {}, percent(judge.share)),
      make("span", { class: "quiet small" }, ` ${percent(judge.low)} to ${percent(judge.high)}`), ` of ${counted(judge.both, "pair")}.`)
      : make("p", { class: "small" }, "No judge compared these answers yet: ", make("code", {}, `proctor compare ${shown(first)} ${shown(second)} --side-by-side`)));
}
