/* Contexts: what a bot had before it, those with gold evidence first, and the way from a claim to the sentence that bears on it. */

const CONTEXTS_AT_FIRST = 6;
const CONTEXTS_SEARCHED = 40; // contexts that are searched when the judge names none
const PASSAGES_A_BLOCK = 100;

/** A passage by its key: {document, start, end, text}; its text is null where there is none to show, and `trouble` says why. */
async function passageOf(origin, id) {
  try {
    const found = await block(`passages-${origin}-${Math.floor(id / PASSAGES_A_BLOCK)}`);
    return found?.[id] ?? { document: "", start: null, end: null, text: null, trouble: "" };
  } catch (failure) {
    return { document: "", start: null, end: null, text: null, trouble: `Its text can't be read: ${failure.message}` };
  }
}

/** What stands in the place of a passage without its text. */
function noPassage({ trouble }) {
  return trouble ? make("p", { class: "bad" }, shown(trouble)) : leftOut("the text of this passage");
}

class ContextList {
  #side;
  #given;
  #order; // ranks as they are drawn
  #lines = new Map(); // by rank, those that are drawn
  #holder = make("ol", { class: "contexts" });
  #more = make("button", { type: "button", class: "show-more" });
  #drawnInOrder = 0;
  #marked = 0; // how often something was marked: of two that were asked for, the later one counts

  constructor(side) {
    this.#side = side;
    this.#given = side.row.contexts;
    const ranks = this.#given.map((_, place) => place + 1);
    const hasGold = (rank) => Number(Boolean(this.#given[rank - 1][2]?.length));
    this.#order = ranks.sort((one, other) => hasGold(other) - hasGold(one) || one - other);
    this.element = make("div", {}, contextCount(side), this.#holder, this.#more);
    this.#more.addEventListener("click", async () => (await this.grow(20))?.element.focus());
  }

  /** Draws so many more, and gives the first of them. */
  async grow(by = CONTEXTS_AT_FIRST) {
    const from = this.#drawnInOrder;
    this.#drawnInOrder = Math.min(this.#given.length, from + by);
    for (const rank of this.#order.slice(from, this.#drawnInOrder)) await this.#draw(rank);
    const left = this.#given.length - this.#drawnInOrder;
    this.#more.hidden = left === 0;
    this.#more.textContent = `Show ${Math.min(20, left)} more of ${counted(this.#given.length, "context")}`;
    return this.#lines.get(this.#order[from]);
  }

  redraw() {
    for (const line of this.#lines.values()) line.redraw();
  }

  async goTo(rank, from) {
    if (this.#known([rank]).length) (await this.#draw(rank)).goTo(null, from);
  }

  /**
   * Opens the contexts with these ranks, marks in each the sentence that is nearest to a text, and goes to the nearest
   * of all when `from` is given; with no rank it looks in all of the first contexts, and marks one sentence.
   */
  async mark(text, ranks, note, from) {
    this.element.querySelector(".context-message")?.remove();
    for (const line of this.#lines.values()) line.unmark();
    const marking = ++this.#marked;
    const named = this.#known(ranks);
    const searched = named.length ? named : this.#known(this.#given.map((_, place) => place + 1));
    const texts = await Promise.all(searched.map((rank) => this.#text(rank)));
    if (marking !== this.#marked) return;
    const best = nearestSentence(text, texts);
    if (!best && !named.length) return this.#show("No sentence of the contexts shares a word with the claim.");
    const line = await this.#draw(best ? searched[best.text] : named[0]);
    for (const [place, rank] of named.entries()) {
      const own = nearestSentence(text, [texts[place]]);
      if (own) (await this.#draw(rank)).mark(own, note);
    }
    if (best && !named.length) line.mark(best, note);
    if (from) line.goTo(best ? null : "no sentence here shares a word with the claim", from);
  }

  #known(ranks) {
    return ranks.filter((rank) => rank >= 1 && rank <= this.#given.length).slice(0, CONTEXTS_SEARCHED);
  }

  async #text(rank) {
    return this.#lines.get(rank)?.text ?? (await passageOf(this.#side.column.origin, this.#given[rank - 1][0])).text ?? "";
  }

  async #draw(rank) {
    if (!this.#lines.has(rank)) {
      const [id, score, marks] = this.#given[rank - 1];
      const passage = await passageOf(this.#side.column.origin, id);
      if (this.#lines.has(rank)) return this.#lines.get(rank); // drawn meanwhile
      const line = new ContextLine(this.#side, rank, passage, score, marks ?? []);
      const place = this.#order.indexOf(rank);
      const after = [...this.#holder.children].find((each) => this.#order.indexOf(Number(each.dataset.rank)) > place);
      this.#holder.insertBefore(line.element, after ?? null);
      this.#lines.set(rank, line);
    }
    return this.#lines.get(rank);
  }

  #show(sentence) {
    announce(sentence);
    this.element.prepend(make("p", { class: "context-message doubt small" }, sentence));
  }
}

/** The entry of a list of questions that was nearest, and whether that was near enough; null for other bots. */
function nearestEntry({ trace }) {
  let found = null;
  try {
    found = JSON.parse(trace ?? "{}");
  } catch {
    return null; // cut
  }
  const { faq_question: entry, similarity, min_similarity: least } = found ?? {};
  if (typeof entry !== "string") return null;
  const isNear = typeof similarity === "number" && typeof least === "number" ? similarity >= least : null;
  const figures = [
    typeof similarity === "number" ? `similarity ${rounded(similarity, 2)}` : "",
    typeof least === "number" ? `answers from ${rounded(least, 2)} on` : "",
  ].filter(Boolean).join(", ");
  return make("div", {}, make("p", { class: "part-title" }, "Nearest entry of the list"),
    make("blockquote", {}, longText(entry)),
    make("p", { class: "small" }, isNear === false ? make("span", { class: "label doubt" }, "too far: the bot abstains") : "", " ", make("span", { class: "quiet" }, figures)));
}

/** How many there are, and gold evidence that is not among them. */
function contextCount({ row, view }) {
  const count = row.contexts.length;
  if (!count && (row.retrieved === null || row.retrieved === undefined)) return nearestEntry(row) ?? make("p", { class: "quiet" }, "This bot has no retriever.");
  if (!count) return make("p", { class: "bad" }, "The retriever found nothing.");
  const missed = (row.gold ?? []).flatMap((rank, group) => (rank === null ? [group] : []));
  const notes = missed.map((group) => {
    const evidence = view.question.evidence?.[group]?.[0] ?? {};
    return make("p", { class: "small bad" }, `${SIGNS.bad} Gold evidence not retrieved: `, isolated(evidence.quote || evidence.document || `group ${group + 1}`));
  });
  const cut = row.retrieved > count ? `, of ${row.retrieved.toLocaleString("en")} retrieved` : "";
  return make("div", {}, make("p", { class: "quiet small" }, counted(count, "context") + cut), notes);
}
