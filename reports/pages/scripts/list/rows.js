/* Rows: the index of rows, whose figures become typed arrays when they are first asked for. */

class QuestionRows {
  #figures = new Map();
  #scales = new Map();
  #ids = null;

  constructor(index) {
    this.index = index;
    this.cases = index.cases;
    this.columns = index.columns;
    this.metrics = index.metrics;
    this.count = index.cases.key.length;
    this.everyColumn = [...index.columns.keys()];
    this.hasRepeats = index.cases.repeat.some((repeat) => repeat > 0);
    this.answered = index.statuses.indexOf("answered");
  }

  /** Values of a metric by case; NaN where there is none. */
  values(column, metric) {
    return this.#numbers(`${column} ${metric}`, () => this.index.rows[column].values[metric]);
  }

  /** Milliseconds by case; NaN where nobody measured them. */
  latencies(column) {
    return this.#numbers(`${column} latency`, () => this.index.rows[column].latency_ms);
  }

  #numbers(name, list) {
    if (!this.#figures.has(name)) this.#figures.set(name, Float64Array.from(list(), (value) => value ?? NaN));
    return this.#figures.get(name);
  }

  hasRow(column, place) {
    return this.index.rows[column].status[place] !== null;
  }

  /** "1" for a value that passes, "0" for one that fails, "-" where it is unknown. */
  outcome(column, metric, place) {
    return this.index.rows[column].passed[metric][place];
  }

  isMissing(column, metric, place) {
    return this.hasRow(column, place) && Number.isNaN(this.values(column, metric)[place]);
  }

  /** Why there is no value; null where there is one, or no row. */
  reason(column, metric, place) {
    if (!this.isMissing(column, metric, place)) return null;
    const reason = this.index.rows[column].missing[metric][place];
    return reason === undefined ? "not_scored" : this.index.reasons[reason];
  }

  /** How the bot failed to answer; null where it answered, or has no row. */
  failure(column, place) {
    const status = this.index.rows[column].status[place];
    return status === null || status === this.answered ? null : this.index.statuses[status];
  }

  /** Why the row is wrong; blank where it is not, or nobody can say. */
  cause(column, place) {
    return this.index.causes[this.index.rows[column].cause[place]] ?? "";
  }

  /** Whether it is right by a metric; null where that is open. */
  isRight(column, metric, place) {
    return isRowRight(this.index, column, metric, place);
  }

  /** Whether its value is right by a metric, whoever set the threshold; null without a value, or where that is open. */
  passes(column, metric, place) {
    return metric < 0 || Number.isNaN(this.values(column, metric)[place]) ? null : this.isRight(column, metric, place);
  }

  /** Mean of a metric over some cases; NaN where none has a value, or the judge could not be read on too many. */
  mean(column, metric, places) {
    return this.meanOf(column, metric, places).mean;
  }

  /** The mean, on how many cases there is a value, and on how many the judge could not be read. */
  meanOf(column, metric, places) {
    const values = this.values(column, metric);
    const missing = this.index.rows[column].missing[metric];
    let [sum, count, unreadable] = [0, 0, 0];
    for (const place of places) {
      if (Number.isNaN(values[place])) unreadable += this.index.unreadable.includes(missing[place]);
      else {
        sum += values[place];
        count += 1;
      }
    }
    const tolerated = (this.metrics[metric].tolerance ?? 1) * (count + unreadable);
    return { mean: count && unreadable <= tolerated ? sum / count : NaN, count, unreadable };
  }

  abstained(column, place) {
    return this.index.rows[column].abstained[place] === 1;
  }

  answer(column, place) {
    return this.index.rows[column].answer[place];
  }

  /** What a metric's values lie between: its range, or what there is of them; null where there is nothing. */
  scale(metric) {
    if (!this.#scales.has(metric)) this.#scales.set(metric, this.#span(metric));
    return this.#scales.get(metric);
  }

  #span(metric) {
    const { low, high } = this.metrics[metric];
    if (low !== null && high !== null) return { low, high };
    const span = { low: Infinity, high: -Infinity };
    for (const column of this.everyColumn) {
      for (const value of this.values(column, metric)) {
        if (value < span.low) span.low = value;
        if (value > span.high) span.high = value;
      }
    }
    return span.low <= span.high ? span : null;
  }

  /** What a case is called in an address: its key, with ~ and its number from the second repeat on. */
  idOf(place) {
    return this.#names().ids[place];
  }

  placeOf(id) {
    return this.#names().places.get(id);
  }

  #names() {
    this.#ids ??= namesOfCases(this.cases);
    return this.#ids;
  }
}

/** Names of cases; a key that ends as a repeat does keeps its name, and the repeat gets a longer one. */
function namesOfCases({ key, repeat }) {
  const ids = new Array(key.length);
  const places = new Map();
  const name = (place, wanted) => {
    let id = wanted;
    while (places.has(id)) id += "~";
    ids[place] = id;
    places.set(id, place);
  };
  for (let place = 0; place < key.length; place += 1) if (repeat[place] === 0) name(place, key[place]);
  for (let place = 0; place < key.length; place += 1) if (repeat[place] > 0) name(place, `${key[place]}~${repeat[place]}`);
  return { ids, places };
}
