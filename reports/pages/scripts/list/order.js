/* Order: in which order the cases stand: by what they ask of a reader's time, the worst first. */

const LAST = Infinity; // of a case that has nothing to be ordered by

/** The orders that this page has, with what they are called. */
function questionOrders(rows) {
  return {
    ...(settings.pair && { flips: "Flips first" }),
    order: "As in the run",
    ...(rows.metrics.length && { value: "Worst value first" }),
    ...(rows.metrics.length && rows.columns.length > 1 && { spread: "Bots differ most" }),
    latency: "Slowest first",
  };
}

/** All cases in the order that a state asks for; equal ones stand as in the run. */
function questionOrder(rows, state) {
  const places = Uint32Array.from({ length: rows.count }, (_, place) => place);
  const key = orderKeys(rows, state);
  return key ? places.sort((one, other) => key[one] - key[other] || one - other) : places;
}

/** By case what it is ordered by, the smallest first; null for the order of the run. */
function orderKeys(rows, { named: { sort }, column, metric }) {
  const columns = column < 0 ? rows.everyColumn : [column];
  if (sort === "latency") return keysOf(rows, columns.map((each) => rows.latencies(each)), (list) => -Math.max(...list));
  if (sort === "order" || metric < 0) return null;
  if (sort === "flips") return flipKeys(rows, metric);
  const better = rows.metrics[metric].better;
  if (sort === "spread") {
    const all = rows.everyColumn.map((each) => rows.values(each, metric));
    return keysOf(rows, all, (list) => (list.length > 1 ? Math.min(...list) - Math.max(...list) : LAST));
  }
  const worst = better === "higher" ? 1 : -1;
  return keysOf(rows, columns.map((each) => rows.values(each, metric)), (list) => worst * mean(list));
}

function keysOf(rows, lists, keyOf) {
  const keys = new Float64Array(rows.count).fill(LAST);
  for (let place = 0; place < rows.count; place += 1) {
    const there = [];
    for (const list of lists) if (!Number.isNaN(list[place])) there.push(list[place]);
    if (there.length) keys[place] = keyOf(there);
  }
  return keys;
}

function mean(list) {
  return list.reduce((sum, value) => sum + value, 0) / list.length;
}

/** Lost, gained, changed in value from the worst on, changed in the answer, the same, not to be compared. */
function flipKeys(rows, metric) {
  const [baseline, candidate] = [rows.values(0, metric), rows.values(1, metric)];
  const { better } = rows.metrics[metric];
  const passes = (column, place) => rows.passes(column, metric, place);
  const keys = new Float64Array(rows.count);
  for (let place = 0; place < rows.count; place += 1) {
    const change = candidate[place] - baseline[place];
    const gain = better === "higher" ? change : better === "lower" ? -change : -Math.abs(change);
    const [before, after] = [passes(0, place), passes(1, place)];
    const rank = before === true && after === false ? 0 : before === false && after === true ? 1 : rankWithoutFlip(rows, place, change);
    keys[place] = 3 * rank + (Number.isNaN(gain) ? 0 : gain / (1 + Math.abs(gain)));
  }
  return keys;
}

function rankWithoutFlip(rows, place, change) {
  if (!inBoth(rows, place)) return 6;
  if (Number.isNaN(change)) return hasOtherAnswer(rows, place) ? 3 : 5;
  if (change !== 0) return 2;
  return hasOtherAnswer(rows, place) ? 3 : 4;
}
