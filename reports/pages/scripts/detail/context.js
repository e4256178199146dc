/* Context: one context of an answer, folded to its first lines, with gold evidence and the sentence in question marked. */

const FOLDED_CHARACTERS = 200;

class ContextLine {
  #side;
  #passage;
  #gold;
  #body;
  #toggle;
  #note = make("p", { class: "context-note small", hidden: true });
  #marked = null;
  #returnTo = null;

  constructor(side, rank, passage, score, marks) {
    const id = `${side.id}-context-${rank}`;
    this.#side = side;
    this.#passage = passage;
    this.#gold = marks.map(([start, end]) => ({ start, end, kind: "gold", tag: "gold" }));
    this.#body = make("div", { class: "context-text", id });
    const name = passage.text === null ? "text not there" : isolated(passage.document || "no document named");
    this.#toggle = make("button", { type: "button", class: "context-head", "aria-expanded": "false", "aria-controls": id },
      make("span", { class: "rank" }, make("span", { class: "unseen" }, "Context "), rank), " ", name);
    this.#toggle.addEventListener("click", () => this.#unfold(this.#toggle.getAttribute("aria-expanded") !== "true"));
    this.element = make("li", { class: "context", tabindex: "-1", "data-rank": rank, "aria-label": `Context ${rank}` },
      this.#toggle, make("p", { class: "small quiet context-facts" }, contextFacts(passage, score, marks.length), gradeLabel(side.row, rank)),
      this.#note, this.#goldQuote(), this.#body);
    this.redraw();
    this.#unfold(this.text.length <= FOLDED_CHARACTERS);
  }

  /** The gold evidence above a text that is folded to its beginning. */
  #goldQuote() {
    const [first] = this.#gold;
    if (!first || this.text.length <= FOLDED_CHARACTERS) return "";
    const quote = clipped(this.text.slice(first.start, first.end), 240);
    return make("p", { class: "gold-quote small" }, "\u2026 ", make("mark", { class: "gold" }, shown(quote)), " \u2026");
  }

  get text() {
    return this.#passage.text ?? "";
  }

  redraw() {
    if (this.#passage.text === null) return this.#body.replaceChildren(noPassage(this.#passage));
    const { view, row } = this.#side;
    const shared = view.showsShared ? sharedWords(this.text, wordSet(row.answer ?? "")) : [];
    const own = this.#marked ? [{ ...this.#marked, kind: "nearest", tag: "" }] : [];
    this.#body.replaceChildren(longText(this.text, {
      ranges: [...this.#gold, ...own, ...shared], length: this.#passage.text_length,
      characters: Math.max(FIRST_CHARACTERS, (this.#marked?.end ?? 0) + 200), lines: this.#marked ? Infinity : FIRST_LINES,
    }));
  }

  /** Marks a range of the text, with words that say what it is. */
  mark({ start, end }, words) {
    this.#marked = { start, end };
    this.#unfold(true);
    this.redraw();
    this.#showNote(words, null);
  }

  unmark() {
    if (this.#note.hidden) return;
    this.#marked = this.#returnTo = null;
    this.#note.hidden = true;
    this.redraw();
  }

  /** Brings it into sight and moves the focus to it; `from` is where the reader came from, and may go back to. */
  goTo(words, from) {
    this.#unfold(true);
    if (words || !this.#note.hidden) this.#showNote(words ?? this.#note.querySelector("mark").textContent, from);
    (this.#body.querySelector("mark.nearest") ?? this.element).scrollIntoView({ block: "center" });
    this.element.focus({ preventScroll: true });
  }

  #showNote(words, from) {
    this.#returnTo = from ?? this.#returnTo;
    tellMarked(this.#note, words, this.#returnTo);
  }

  #unfold(isOpen) {
    this.#toggle.setAttribute("aria-expanded", String(isOpen));
    this.#body.classList.toggle("clamped", !isOpen);
  }
}

/** What a judge graded the context's relevance; nothing where no metric of the run has grades. */
function gradeLabel(row, rank) {
  for (const { details } of row.scores.values()) {
    const found = Array.isArray(details?.chunks) && details.chunks.find((each) => each?.chunk === rank && Object.hasOwn(GRADES, each.grade));
    if (found) return [" ", verdictLabel(verdictOf(found))];
  }
  return [];
}

function contextFacts(passage, score, goldCount) {
  const parts = [];
  if (typeof score === "number") parts.push(`score ${shortNumber(score)}`);
  if (Number.isInteger(passage.start)) parts.push(placeInWords(passage.start, passage.end));
  if (goldCount) parts.push(make("span", { class: "label good" }, "gold evidence"));
  return between(parts, " \u00b7 ");
}
