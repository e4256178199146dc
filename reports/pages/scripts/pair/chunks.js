/* Chunks: which contexts two answers share, wherever they rank, and which are gained and lost. */

/** The contexts of an answer as passages with their rank. */
async function rankedChunks(origin, contexts) {
  const passages = await Promise.all(contexts.map(([id]) => passageOf(origin, id)));
  return passages.map((passage, place) => ({ ...passage, rank: place + 1 }));
}

/**
 * Chunks of both sides in pairs {baseline, candidate}; null on the side without it. The same text of the same document is the
 * same chunk, and what is left is the same where it lies at the same place of the document, whose words were changed.
 */
function pairedChunks(baseline, candidate) {
  const pairs = [];
  const open = new Set(baseline);
  const match = (keyOf) => {
    const waiting = new Map();
    for (const chunk of open) if (keyOf(chunk)) waiting.set(keyOf(chunk), [...(waiting.get(keyOf(chunk)) ?? []), chunk]);
    for (const chunk of candidate) {
      const found = taken.has(chunk) || !keyOf(chunk) ? undefined : waiting.get(keyOf(chunk))?.shift();
      if (!found) continue;
      open.delete(found);
      taken.add(chunk);
      pairs.push({ baseline: found, candidate: chunk });
    }
  };
  const taken = new Set();
  match(({ document, text }) => text !== null && JSON.stringify([document, text]));
  match(({ document, start, end }) => document && start !== null && JSON.stringify([document, start, end]));
  pairs.push(...[...open].map((chunk) => ({ baseline: chunk, candidate: null })));
  pairs.push(...candidate.filter((chunk) => !taken.has(chunk)).map((chunk) => ({ baseline: null, candidate: chunk })));
  const place = (pair) => pair.candidate?.rank ?? pair.baseline.rank + 0.5; // what is lost stands where it was
  return pairs.sort((one, other) => place(one) - place(other));
}

/** How a chunk changed: a tone, a sign and words. */
function chunkChange({ baseline, candidate }) {
  if (!baseline) return { tone: "good", sign: "+", words: "gained" };
  if (!candidate) return { tone: "bad", sign: "\u2212", words: "lost" };
  const otherText = baseline.text !== candidate.text && baseline.text !== null && candidate.text !== null ? ", other words" : "";
  if (baseline.rank === candidate.rank) return { tone: "", sign: "", words: `same rank${otherText}` };
  return { tone: "", sign: baseline.rank > candidate.rank ? "\u2191" : "\u2193", words: `${baseline.rank > candidate.rank ? "up" : "down"} from ${baseline.rank}${otherText}` };
}

/** The table of the chunks of both sides, in the order of candidate; `names` are what the sides are called. */
function chunkTable(pairs, names) {
  const heads = ["", ...names, "Passage"].map((name, place) => make("th", { scope: "col", class: place === 1 || place === 2 ? "number" : null }, isolated(name)));
  const lines = pairs.map((pair) => {
    const { tone, sign, words } = chunkChange(pair);
    const chunk = pair.candidate ?? pair.baseline;
    const rank = (side) => make("td", { class: "number" }, side ? String(side.rank) : "-");
    const label = make("span", { class: `label ${tone}` }, make("span", { "aria-hidden": "true" }, sign && `${sign} `), words);
    return make("tr", { class: pair.baseline && pair.candidate ? "on-both" : null }, make("td", {}, label), rank(pair.baseline), rank(pair.candidate), make("td", {}, chunkText(chunk)));
  });
  const table = make("table", { class: "pair-chunks" }, make("caption", { class: "unseen" }, "Retrieved passages by their rank on both sides"));
  table.append(make("thead", {}, make("tr", {}, heads)), make("tbody", {}, lines));
  return scrollable("Retrieved passages", table);
}

function chunkText(chunk) {
  const { document: name, start, end, text } = chunk;
  if (text === null) return noPassage(chunk);
  const where = Number.isInteger(start) ? `, ${placeInWords(start, end)}` : "";
  const begin = clipped(text.slice(0, 400).replaceAll(/\s+/g, " ").trim(), 140);
  const title = [make("span", { class: "small quiet" }, isolated(name || "no document named"), where), make("br"), isolated(begin)];
  return make("details", { class: "at-will" }, make("summary", {}, title), longText(text, { length: chunk.text_length }));
}
