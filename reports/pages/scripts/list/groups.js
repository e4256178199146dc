/* Groups: the lines under heads, by tag, document, outcome, cause or conversation. */

const GROUPINGS = { none: "Nothing", conversation: "Conversation", tag: "Tag", document: "Document", outcome: "Outcome", cause: "Cause" };
const NO_GROUP = { conversation: "Single questions", tag: "No tag", document: "No document", cause: "Nothing wrong" };
const ONE_BOT = { 1: "Right", 0: "Wrong", "-": "Not judged" };
const ALL_BOTS = { 1: "Every bot right", 0: "No bot right", "10": "Some bots right, some wrong", "-": "Not judged" };

/** The groupings that tell any rows apart, with what they are called. */
function groupingsOf({ cases, index, metrics }) {
  const there = {
    none: true, conversation: Boolean(cases.conversation), tag: cases.tag_names.length > 0, document: cases.document.some(Boolean),
    outcome: metrics.length > 0, cause: index.causes.length > 0,
  };
  return Object.entries(GROUPINGS).filter(([name]) => there[name]);
}

/** Turns of a conversation stand together unless another order was asked for. */
function usualGrouping(rows, { sort }) {
  return rows.cases.conversation && sort === "order" ? "conversation" : "none";
}

/** Groups of places as {name, places}: conversations as they were asked, causes and outcomes the largest first, others the worst first. */
function groupedPlaces(rows, state, places) {
  const namesOf = groupNames(rows, state);
  const found = new Map();
  for (const place of places) {
    for (const name of namesOf(place)) {
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(place);
    }
  }
  const { group } = state.named;
  const groups = [...found].map(([name, list]) => ({ name: name || NO_GROUP[group], isRest: !name, places: list }));
  if (group === "conversation") {
    for (const { isRest, places: turns } of groups) if (!isRest) turns.sort((one, other) => rows.cases.turn[one] - rows.cases.turn[other]);
    return groups;
  }
  const key = group === "cause" || group === "outcome" ? ({ places: list }) => -list.length : badness(rows, state);
  const keys = new Map(groups.map((each) => [each, each.isRest ? LAST : key(each)]));
  return groups.sort((one, other) => keys.get(one) - keys.get(other) || (one.name < other.name ? -1 : 1));
}

/** What the groups of a case are called; blank for the rest. */
function groupNames(rows, state) {
  const { cases } = rows;
  const columns = columnsOf(rows, state);
  return {
    tag: (place) => (cases.tags[place].length ? cases.tags[place].map((tag) => cases.tag_names[tag]) : [""]),
    document: (place) => [cases.document[place] ?? ""],
    cause: (place) => [causeOf(rows, columns, place)],
    outcome: (place) => [outcomeOf(rows, columns, state.metric, place)],
    conversation: (place) => {
      const number = cases.conversation?.[place] ?? null;
      if (number === null) return [""];
      return [`${cases.conversation_names[number]}${cases.repeat[place] ? `, repeat ${cases.repeat[place] + 1}` : ""}`];
    },
  }[state.named.group];
}

/** Why a case is wrong: for the first of the bots that has it wrong. */
function causeOf(rows, columns, place) {
  for (const column of columns) {
    const cause = rows.cause(column, place);
    if (cause) return cause;
  }
  return "";
}

function outcomeOf(rows, columns, metric, place) {
  const asked = columns.filter((column) => rows.hasRow(column, place));
  const found = new Set(asked.map((column) => rows.isRight(column, metric, place)));
  found.delete(null);
  if (columns.length === 1 && asked.some((column) => rows.abstained(column, place))) return found.has(false) ? "Abstained wrongly" : "Abstained rightly";
  const words = columns.length === 1 ? ONE_BOT : ALL_BOTS;
  return words[found.size > 1 ? "10" : found.size ? Number(found.has(true)) : "-"];
}

/** The worst mean first, of the bots that the state looks at. */
function badness(rows, state) {
  if (state.metric < 0) return () => 0;
  const sign = rows.metrics[state.metric].better === "lower" ? -1 : 1;
  return ({ places }) => {
    const means = columnsOf(rows, state).map((column) => rows.mean(column, state.metric, places)).filter((value) => !Number.isNaN(value));
    return means.length ? sign * mean(means) : LAST;
  };
}

/** The causes of what the state looks at: [cause, number of cases], the most frequent first. */
function causesOf(rows, state) {
  const found = new Map();
  for (const column of columnsOf(rows, state)) {
    for (const [place, at] of Object.entries(rows.index.rows[column].cause)) found.set(at, (found.get(at) ?? new Set()).add(place));
  }
  return [...found].map(([at, places]) => [rows.index.causes[at], places.size]).sort(([, one], [, other]) => other - one);
}
