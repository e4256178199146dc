/* Claims: claims, sentences and chunks with their verdicts; choosing one leads to its evidence. */

let claimCount = 0;

/** A list of items with their verdicts, bad ones first in sight by their sign, in the order in which they were judged. */
function claimList(items, side) {
  return someOf(items, "claim", (item) => claimLine(item, side), { holder: make("ol", { class: "claims" }) });
}

function claimLine(item, side) {
  const line = make("li", { class: `claim ${item.verdict.tone}` });
  const sign = make("span", { class: `claim-sign ${item.verdict.tone}`, "aria-hidden": "true" }, SIGNS[item.verdict.tone]);
  const text = isolated(clipped(item.text, 1200));
  claimCount += 1;
  const about = make("span", { class: "claim-about small", id: `claim-${claimCount}` }, claimFacts(item, side));
  if (!canFollow(item, side)) {
    line.append(make("div", { class: "claim-text" }, sign, text), about);
    return line;
  }
  const button = make("button", { type: "button", class: "claim-text", title: "Show the evidence", "aria-describedby": about.id }, sign, text);
  button.addEventListener("click", async () => {
    for (const other of side.element.querySelectorAll(".claim-text[aria-current]")) other.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    await followClaim(item, side, button);
  });
  line.append(button, about);
  return line;
}

function canFollow(item, side) {
  if (item.of === "questions") return false;
  return item.against !== "contexts" || side.row.contexts.length > 0;
}

/** What is known of a verdict, in words: which contexts, how sure, why. */
function claimFacts(item, side) {
  const { given, ranks, verdict } = item;
  const parts = [make("span", { class: `verdict-words ${verdict.tone}` }, verdict.words)];
  const isSupported = verdict.name && given[verdict.name] === true;
  if (typeof given.vital === "boolean") parts.push(given.vital ? make("strong", {}, "vital") : "okay");
  if (given.contradicted === true) parts.push(make("strong", {}, "contradicted"));
  if (ranks.length) parts.push(contextWords(item));
  else if (item.against === "contexts" && item.of !== "contexts" && side.row.contexts.length && verdict.name) {
    parts.push(isSupported ? "no single context named" : "no context supports it");
  }
  if (typeof given.probability === "number") parts.push(`probability ${given.probability.toFixed(2)}`);
  if (typeof given.agreement === "number") parts.push(agreementWords(given.agreement));
  if (typeof given.confidence === "number") parts.push(`confidence ${given.confidence.toFixed(2)}`);
  if (typeof given.contradiction === "number") parts.push(`contradiction ${given.contradiction.toFixed(2)}`);
  if (given.counted === true) parts.push(make("strong", {}, "counts in this metric"));
  if (given.found !== undefined && "used" in given) parts.push(given.found ? "found in the contexts" : "not found in the contexts");
  const made = [between(parts, " \u00b7 ")];
  if (typeof given.why === "string" && given.why.trim()) made.push(make("span", { class: "why" }, "Judge: ", isolated(given.why)));
  if (typeof given.evidence === "string" && given.evidence.trim()) made.push(make("span", { class: "why" }, "Evidence: ", isolated(given.evidence)));
  if (Array.isArray(given.cited)) made.push(citedPassages(given.cited, given.passages ?? [], side));
  if (typeof given.source === "string") made.push(make("span", { class: "why" }, "Nearest of the source: ", isolated(given.source)));
  return made;
}

/** Each passage that a statement cites, beside it. */
function citedPassages(ranks, passages, side) {
  if (!ranks.length) return make("span", { class: "why" }, "Cites nothing that was retrieved.");
  return ranks.slice(0, 8).map((rank, place) => make("span", { class: "why" }, "Cites ", contextButton(rank, side), " ", isolated(passages[place] ?? "")));
}

/** Citations or quotations, each with what was retrieved under it. */
function citationList(list, side, key) {
  const draw = (each) => make("li", {}, isolated(each[key] ?? ""), " ", each.contexts.length
    ? citedPassages(each.contexts, each.passages ?? [], side)
    : make("span", { class: "label bad" }, `${SIGNS.bad} ${key === "quote" ? "in no context" : "not retrieved"}`));
  return someOf(list, key, draw, { holder: make("ul", { class: "plain" }) });
}

function isCitationList(value) {
  return Array.isArray(value) && value.every((each) => each && Array.isArray(each.contexts));
}

function contextWords({ ranks, of, given }) {
  const named = `${ranks.length === 1 ? "context" : "contexts"} ${ranks.slice(0, 12).join(", ")}${ranks.length > 12 ? ", \u2026" : ""}`;
  if (of === "contexts") return `in ${named}`;
  return typeof given.context === "number" ? `nearest to ${named}` : `supported by ${named}`;
}

/** Goes from a claim to the sentence that bears on it, in the text that it was compared with. */
async function followClaim(item, side, button) {
  const { against, text } = item;
  side.answer.draw(against === "answer" || item.of === "answer" ? text : null, against === "answer" ? button : null);
  side.view.asked.draw(against === "expected" || item.of === "expected" ? text : null, against === "expected" ? button : null);
  if (against === "answer" || !side.row.contexts.length) return;
  if (against === "expected") {
    await side.contexts.mark(text, [], "closest sentence of the contexts; the verdict is about the expected answer", null);
    return;
  }
  const best = item.given.best_chunk?.contexts;
  const ranks = item.ranks.length || !Array.isArray(best) ? item.ranks : best;
  const isSupported = item.verdict.tone === "good" || item.of === "contexts" || typeof item.given.context === "number";
  const note = isSupported ? "closest sentence" : "nearest sentence; no context supports it";
  await side.contexts.mark(typeof item.given.source === "string" ? item.given.source : text, ranks, note, button);
}

/** Chunks with a verdict or a figure each: short lines that lead to the context. */
function chunkList(list, side, metric) {
  const draw = (chunk) => {
    const ranks = ranksOf(chunk);
    const verdict = typeof chunk.probability === "number"
      ? { ...likelihood(chunk.probability, metric), words: `probability ${chunk.probability.toFixed(2)}` }
      : verdictOf(chunk, metric);
    const buttons = ranks.slice(0, 8).map((rank) => contextButton(rank, side));
    const why = typeof chunk.why === "string" && chunk.why.trim() ? make("span", { class: "why small" }, "Judge: ", isolated(chunk.why)) : null;
    const sentence = typeof chunk.sentence === "string" ? make("span", { class: "why small" }, "Nearest sentence: ", isolated(chunk.sentence)) : null;
    const agreement = typeof chunk.agreement === "number" ? ` ${agreementWords(chunk.agreement)}` : "";
    return make("li", {}, buttons, ranks.length > 8 ? ` and ${ranks.length - 8} more ` : " ", verdictLabel(verdict), agreement, why, sentence);
  };
  return someOf(list, "context", draw, { holder: make("ul", { class: "plain" }) });
}

function contextButton(rank, side) {
  const go = (event) => side.contexts.goTo(rank, event.currentTarget);
  return make("button", { type: "button", class: "to-context", on: { click: go } }, `Context ${rank}`);
}

function isChunkList(value) {
  return Array.isArray(value) && value.length > 0 && value.every((each) => each && typeof each === "object" && ranksOf(each).length > 0);
}
