/* Cells: what a bot answered, coloured by the chosen metric, with its value; or the reason why there is none. */

const BETTER_SIGNS = { higher: "\u2191", lower: "\u2193", neither: "" };
const ANSWER_LENGTH = 480; // characters of a cell; the opened question has all
const COMPARED_LENGTH = 1500; // of each text of a word difference
const SAME_BEFORE = 60; // characters that stay before the first difference

/** The class that colours a value: by the metric's range, else by the values there are. */
function heatClass(rows, metric, value) {
  const { better } = rows.metrics[metric];
  const scale = rows.scale(metric);
  if (better === "neither" || !scale || Number.isNaN(value)) return null;
  if (scale.high === scale.low) return "heat-5";
  const share = Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low)));
  return `heat-${Math.round(10 * (better === "lower" ? 1 - share : share))}`;
}

/** The cell of one bot; its name stands in it where the head is out of sight. */
function questionCell(rows, state, column, place, words) {
  const value = state.metric < 0 ? NaN : rows.values(column, state.metric)[place];
  const heat = Number.isNaN(value) ? null : heatClass(rows, state.metric, value);
  const classes = [column === state.column ? "chosen" : "", heat ?? ""].filter(Boolean).join(" ");
  return make("td", { role: "cell", class: classes || null, "data-column": column },
    make("span", { class: "question-bot-name" }, isolated(clipped(rows.columns[column].name, 60))),
    make("span", { class: "question-top" },
      make("span", { class: "question-value" }, valueParts(rows, state, column, place, value)), cellNotes(rows, state, column, place)),
    make("span", { class: "question-answer" }, answerParts(rows, state, column, place, words)));
}

function valueParts(rows, { metric }, column, place, value) {
  if (!Number.isNaN(value)) {
    const { name, low, high } = rows.metrics[metric];
    const isPlain = name === "correct" && low === 0 && high === 1 && (value === 0 || value === 1);
    return isPlain ? (value ? "right" : "wrong") : scoreWords(value, rows.metrics[metric], rows.outcome(column, metric, place));
  }
  return [
    make("span", { class: "quiet", "aria-hidden": true }, "\u2013"),
    make("span", { class: "unseen" }, rows.hasRow(column, place) ? "no value" : "not asked"),
  ];
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

/** The answer with the searched words marked, or how it differs from what it is compared with. */
function answerParts(rows, state, column, place, words) {
  const answer = rows.answer(column, place);
  if (answer === null || answer === undefined) return null;
  if (!answer.trim()) return make("span", { class: "quiet" }, "blank");
  const before = comparedText(rows, state, column, place);
  if (before === null || rows.failure(column, place)) return excerpt(answer.slice(0, COMPARED_LENGTH), words, ANSWER_LENGTH);
  if (before === answer) return make("span", { class: "quiet" }, "the same, word for word");
  const { parts, isCoarse } = wordsCompared(before.slice(0, COMPARED_LENGTH), answer.slice(0, COMPARED_LENGTH));
  if (isCoarse) return [make("span", { class: "label" }, "other words"), " ", excerpt(answer, words, ANSWER_LENGTH)];
  const [first] = parts;
  if (first.kind === "same" && first.text.length > 2 * SAME_BEFORE) {
    const from = first.text.length - SAME_BEFORE;
    first.text = `\u2026 ${first.text.slice(wordStart(first.text, from, first.text.length))}`;
  }
  return make("bdi", { dir: "auto", class: "word-difference" }, differenceElements(parts));
}

/** The text that an answer is compared with; null where there is none, or it is the answer itself. */
function comparedText(rows, { against }, column, place) {
  if (against < 0 || against === column) return null;
  return (against < rows.columns.length ? rows.answer(against, place) : rows.cases.expected[place][0]) ?? null;
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
  const [before, after] = [0, 1].map((column) => rows.passes(column, metric, place));
  if (before === true && after === false) cell.append(make("span", { class: "label bad" }, "lost"));
  if (before === false && after === true) cell.append(make("span", { class: "label good" }, "gained"));
  const other = hasOtherAnswer(rows, place);
  cell.append(make("span", { class: "small quiet" }, other ? "other answer" : "same answer"));
  return cell;
}

function difference(change, metric) {
  return (change > 0 ? "+" : "\u2212") + figure(Math.abs(change), metric);
}
