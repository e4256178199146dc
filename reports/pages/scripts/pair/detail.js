/* Detail: what changed for one question between two sides: scores, passages, and whether there is an answer. */

/** `entries` are the question's entries of the details blocks, by origin; `place` is its case in the index. */
async function pairParts(entries, index, place) {
  const repeat = index.cases.repeat[place];
  const sides = index.columns.map(({ origin, name }) => entries[origin]?.rows?.[name]?.[repeat] ?? null);
  const names = index.columns.map(({ name }) => name);
  const holder = make("section", { class: "pair-parts", "aria-label": "What changed" });
  const missing = sides.findIndex((side) => !side);
  if (missing >= 0) {
    holder.append(make("p", { class: "quiet" }, "Nothing to compare: ", isolated(names[missing]), " has no answer to this question on this page."));
    return holder;
  }
  holder.append(make("h4", {}, "What changed"), ...answerChange(sides, names), changedScores(index, place, names));
  holder.append(...(await chunkChanges(index.columns, sides, names)));
  return holder;
}

/** The scores that are not the same, those that crossed their threshold first. */
function changedScores(index, place, names) {
  const found = index.metrics.map((metric, number) => scoreChange(index, metric, number, place)).filter(Boolean);
  const same = index.metrics.length - found.length;
  if (!found.length) return make("p", { class: "quiet" }, `${counted(same, "score")}, all the same on both sides.`);
  found.sort((one, other) => one.order - other.order);
  const heads = ["Metric", ...names, ""].map((name, at) => make("th", { scope: "col", class: at === 1 || at === 2 ? "number" : null }, isolated(name)));
  const table = make("table", { class: "pair-scores" }, make("caption", { class: "unseen" }, "Scores that changed"));
  table.append(make("thead", {}, make("tr", {}, heads)), make("tbody", {}, found.map(({ line }) => line)));
  const rest = same ? make("p", { class: "quiet small" }, `${counted(same, "other score")} the same.`) : null;
  return make("div", {}, scrollable("Scores that changed", table), rest);
}

/** A line for a score that changed; null for one that did not. */
function scoreChange(index, metric, number, place) {
  const [baseline, candidate] = index.rows.map((row) => row.values[number][place] ?? null);
  const [was, is] = index.rows.map((row) => row.passed[number][place]);
  const reasons = index.rows.map((row) => index.reasons[row.missing[number][place]] ?? "");
  if (baseline === candidate && was === is && reasons[0] === reasons[1]) return null;
  const crossed = { "10": ["bad", "passed, fails now"], "01": ["good", "failed, passes now"] }[was + is];
  const rose = baseline !== null && candidate !== null && baseline !== candidate && metric.better !== "neither";
  const better = rose && candidate > baseline === (metric.better === "higher");
  const [tone, words] = crossed ?? (rose ? [better ? "good" : "bad", better ? "better" : "worse"] : ["", "other"]);
  const cell = (value, reason) => make("td", { class: "number" },
    value === null ? make("span", { class: "quiet" }, shown(reason ? reasonInWords(reason) : "-")) : figure(value, metric));
  const line = make("tr", {}, make("th", { scope: "row" }, isolated(metric.name)), cell(baseline, reasons[0]), cell(candidate, reasons[1]),
    make("td", {}, make("span", { class: crossed ? `label ${tone}` : `small ${tone || "quiet"}` }, words)));
  return { line, order: crossed ? 0 : rose ? 1 : 2 };
}

/** A note on the answers; their words are compared beside the answer of candidate. */
function answerChange(sides, names) {
  const [baseline, candidate] = sides.map(({ answer }) => answer ?? null);
  const message = (...parts) => [make("p", {}, parts)];
  if (baseline === null && candidate === null) return message("No answer on either side.");
  if (baseline === null || candidate === null) return message("Only ", isolated(names[baseline === null ? 1 : 0]), " has an answer.");
  return baseline === candidate ? message("The same answer, word for word.") : [];
}

/** The retrieved passages side by side; nothing where neither side has any. */
async function chunkChanges(columns, sides, names) {
  const given = sides.map(({ contexts }) => contexts ?? []);
  if (!given[0].length && !given[1].length) return [];
  const [baseline, candidate] = await Promise.all(columns.map(({ origin }, at) => rankedChunks(origin, given[at])));
  const pairs = pairedChunks(baseline, candidate);
  const gained = pairs.filter((pair) => !pair.baseline).length;
  const lost = pairs.filter((pair) => !pair.candidate).length;
  const moved = pairs.filter((pair) => pair.baseline && pair.candidate && pair.baseline.rank !== pair.candidate.rank).length;
  const counts = gained + lost + moved
    ? `${gained} gained, ${lost} lost, ${moved} moved in rank, ${pairs.length - gained - lost - moved} in their place.`
    : "The same passages in the same order.";
  return [make("h5", {}, "Retrieved passages"), make("p", { class: "pair-counts" }, counts), chunkTable(pairs, names)];
}
