/* Outcomes: words for statuses, thresholds, values and missing values, and the sign for passed or failed. */

const SIGNS = { good: "\u2713", bad: "\u2717", doubt: "?" };
const OUTCOMES = { 1: "good", 0: "bad" };
const OUTCOME_WORDS = { good: "passes", bad: "fails" };

/** A value with its sign for passed or failed. */
function scoreWords(value, metric, outcome) {
  return [figureApart(value, metric), outcomeSign(outcome)];
}

/** The sign for passed ("1") or failed ("0"), in words for screen readers; nothing where it is unknown. */
function outcomeSign(outcome) {
  const tone = OUTCOMES[outcome];
  if (!tone) return null;
  return [
    make("span", { class: `outcome ${tone}`, "aria-hidden": "true" }, SIGNS[tone]),
    make("span", { class: "unseen" }, `, ${OUTCOME_WORDS[tone]}`),
  ];
}

/** How a threshold reads: "passes at \u2265 0.75", and whether nobody set it; blank where nothing can be passed. */
function thresholdWords({ threshold, better, is_default: isDefault }) {
  if (threshold === null || better === "neither") return "";
  const what = isDefault ? "default threshold" : "passes at";
  return `${what} ${better === "higher" ? "\u2265" : "\u2264"} ${Number(threshold.toPrecision(4))}`;
}

const STATUS_WORDS = {
  answered: ["good", "answered"], abstained: ["doubt", "abstained"], raised: ["bad", "failed"],
  timed_out: ["bad", "timed out"], refused: ["bad", "refused"],
};

function statusLabel(status, abstained) {
  const [tone, words] = STATUS_WORDS[status === "answered" && abstained ? "abstained" : status] ?? ["doubt", status];
  return make("span", { class: `label ${tone}` }, words);
}

/** A reason of ours in words; one that somebody wrote as it is. */
function reasonInWords(reason) {
  return /^[a-z_]+$/.test(reason) ? reason.replaceAll("_", " ") : clipped(reason, 120);
}

/** Whether a row is right: by the threshold, else where the value is 1 of 0 and 1; false without an answer, null if open. */
function isRowRight(index, column, metric, place) {
  const { status, values, passed } = index.rows[column];
  if (status[place] === null) return null;
  if (index.statuses[status[place]] !== "answered") return false;
  if (metric < 0) return null;
  const value = values[metric][place];
  const { better, low, high, threshold } = index.metrics[metric];
  if (value === null || value === undefined || better === "neither") return null;
  if (passed[metric][place] !== "-") return passed[metric][place] === "1";
  if (threshold !== null) return better === "higher" ? value >= threshold : value <= threshold;
  if (low !== 0 || high !== 1 || (value !== 0 && value !== 1)) return null;
  return value === (better === "higher" ? 1 : 0);
}
