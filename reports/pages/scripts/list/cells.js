/* Cells: what a bot got for a case, as a figure with its colour and its sign, or the reason why there is none. */

const BETTER_SIGNS = { higher: "\u2191", lower: "\u2193", neither: "" };

/** The class that colours a value: by the metric's range, else by the values there are. */
function heatClass(rows, metric, value) {
  const { better } = rows.metrics[metric];
  const scale = rows.scale(metric);
  if (better === "neither" || !scale || Number.isNaN(value)) return null;
  if (scale.high === scale.low) return "heat-5";
  const share = Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low)));
  return `heat-${Math.round(10 * (better === "lower" ? 1 - share : share))}`;
}

/** The cell of one bot; its name stands in it for screens that have no room for columns. */
function questionCell(rows, state, column, place) {
  const chosen = column === state.column;
  const value = state.metric < 0 ? NaN : rows.values(column, state.metric)[place];
  const heat = Number.isNaN(value) ? null : heatClass(rows, state.metric, value);
  return make("td", { role: "cell", class: chosen ? "chosen" : null, "data-column": column },
    make("span", { class: "question-bot-name" }, isolated(clipped(rows.columns[column].name, 60))),
    make("span", { class: heat ? `question-value ${heat}` : "question-value" }, valueParts(rows, state, column, place, value)),
    cellNotes(rows, state, column, place));
}

function valueParts(rows, { metric }, column, place, value) {
  if (Number.isNaN(value)) {
    return [
      make("span", { class: "quiet", "aria-hidden": true }, "\u2013"),
      make("span", { class: "unseen" }, rows.hasRow(column, place) ? "no value" : "not asked"),
    ];
  }
  return scoreWords(value, rows.metrics[metric], rows.outcome(column, metric, place));
}

function cellNotes(rows, state, column, place) {
  const notes = [];
  const failure = rows.failure(column, place);
  if (failure || rows.abstained(column, place)) notes.push(statusLabel(failure ?? "abstained"));
  const reason = failure || state.metric < 0 ? null : rows.reason(column, state.metric, place);
  if (reason) notes.push(isolated(reasonInWords(reason)));
  const latency = rows.latencies(column)[place];
  if (state.named.sort === "latency" && !Number.isNaN(latency)) notes.push(make("span", {}, milliseconds(latency)));
  return notes.length ? make("span", { class: "question-notes" }, notes) : null;
}

/** What changed between two runs: the difference of the values, the flip, and whether the answer is another. */
function changeCell(rows, { metric }, place) {
  const cell = make("td", { role: "cell", class: "question-change" });
  if (!inBoth(rows, place)) {
    cell.append(make("span", { class: "quiet" }, "only in one run"));
    return cell;
  }
  const change = metric < 0 ? NaN : rows.values(1, metric)[place] - rows.values(0, metric)[place];
  if (!Number.isNaN(change) && change !== 0) cell.append(make("span", { class: "question-difference" }, difference(change, rows.metrics[metric])));
  const flip = metric < 0 ? "" : rows.outcome(0, metric, place) + rows.outcome(1, metric, place);
  if (flip === "10") cell.append(make("span", { class: "label bad" }, "lost"));
  if (flip === "01") cell.append(make("span", { class: "label good" }, "gained"));
  const other = hasOtherAnswer(rows, place);
  cell.append(make("span", { class: "small quiet" }, other ? "other answer" : "same answer"));
  return cell;
}

function difference(change, metric) {
  return (change > 0 ? "+" : "\u2212") + figure(Math.abs(change), metric);
}
