/* Chunks: which contexts two answers share, wherever they rank, and which are gained and lost. */

/** The contexts of an answer as passages with their rank. */
async function rankedChunks(origin, contexts) {
  const passages = await Promise.all(contexts.map(([id]) => passageOf(origin, id)));
  return passages.map((passage, place) => ({ ...passage, rank: place + 1 }));
}

/**
 * Chunks of both sides in pairs {base, head}; null on the side that lacks it. The same text of the same document is the
 * same chunk, and what is left is the same where it lies at the same place of the document, whose words were changed.
 */
function pairedChunks(base, head) {
  const pairs = [];
  const open = new Set(base);
  const match = (keyOf) => {
    const waiting = new Map();
    for (const chunk of open) if (keyOf(chunk)) waiting.set(keyOf(chunk), [...(waiting.get(keyOf(chunk)) ?? []), chunk]);
    for (const chunk of head) {
      const found = taken.has(chunk) || !keyOf(chunk) ? undefined : waiting.get(keyOf(chunk))?.shift();
      if (!found) continue;
      open.delete(found);
      taken.add(chunk);
      pairs.push({ base: found, head: chunk });
    }
  };
  const taken = new Set();
  match(({ document, text }) => text !== null && JSON.stringify([document, text]));
  match(({ document, start, end }) => document && start !== null && JSON.stringify([document, start, end]));
  pairs.push(...[...open].map((chunk) => ({ base: chunk, head: null })));
  pairs.push(...head.filter((chunk) => !taken.has(chunk)).map((chunk) => ({ base: null, head: chunk })));
  const place = (pair) => pair.head?.rank ?? pair.base.rank + 0.5; // what is lost stands where it was
  return pairs.sort((one, other) => place(one) - place(other));
}

/** What became of a chunk: a tone, a sign and words. */
function chunkChange({ base, head }) {
  if (!base) return { tone: "good", sign: "+", words: "gained" };
  if (!head) return { tone: "bad", sign: "\u2212", words: "lost" };
  const perturbed = base.text !== head.text && base.text !== null && head.text !== null ? ", other words" : "";
  if (base.rank === head.rank) return { tone: "", sign: "", words: `kept${perturbed}` };
  return { tone: "", sign: base.rank > head.rank ? "\u2191" : "\u2193", words: `${base.rank > head.rank ? "up" : "down"} from ${base.rank}${perturbed}` };
}

/** The table of the chunks of both sides, in the order of head; `names` are what the sides are called. */
function chunkTable(pairs, names) {
  const heads = ["", ...names, "Passage"].map((name, place) => make("th", { scope: "col", class: place === 1 || place === 2 ? "number" : null }, said(name)));
  const lines = pairs.map((pair) => {
    const { tone, sign, words } = chunkChange(pair);
    const chunk = pair.head ?? pair.base;
    const rank = (side) => make("td", { class: "number" }, side ? String(side.rank) : "-");
    const label = make("span", { class: `label ${tone}` }, make("span", { "aria-hidden": "true" }, sign && `${sign} `), words);
    return make("tr", { class: pair.base && pair.head ? "on-both" : null }, make("td", {}, label), rank(pair.base), rank(pair.head), make("td", {}, chunkText(chunk)));
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
  const title = [make("span", { class: "small quiet" }, said(name || "no document named"), where), make("br"), said(begin)];
  return make("details", { class: "at-will" }, make("summary", {}, title), longText(text, { length: chunk.text_length }));
}
