/* Table: the lines as they are drawn, 50 at a time, with the open one among them. */

const LINES_AT_ONCE = 50;
const [QUESTION_WIDTH, COLUMN_WIDTH, CARDS_BELOW] = [17, 6.25, 44]; // in rem, as questions.css has them
const LINES_AT_FIRST = 16; // as many as a window shows, so that the first of them come with the next frame
const FURTHEST_DRAWN = 500; // lines that are drawn to get to the open one; further down it stands on top

class QuestionTable {
  #opening = new QuestionOpening();
  #body = null;
  #pinned = false;
  #wanted = 0;
  #later = null;
  #now = null;
  #width = Infinity; // in rem; asking for it while drawing would cost a layout of its own
  #columns = 0;
  drawn = 0;

  /** `open` is called with a case (-1 for none) and the clicked column, `sort` with a bot's name, `drew` when there are more lines. */
  constructor(element, { open, sort, drew }) {
    this.element = element;
    this.drew = drew;
    this.sort = sort;
    element.addEventListener("click", (event) => {
      const line = event.target.closest(".question-line");
      if (!line || !getSelection().isCollapsed) return; // selecting text opens nothing
      const cell = event.target.closest("td[data-column]");
      const isOpen = line.classList.contains("open") && !cell;
      open(isOpen ? -1 : Number(line.dataset.place), cell ? Number(cell.dataset.column) : -1);
    });
    new ResizeObserver(([{ contentRect }]) => this.#fit(contentRect.width)).observe(element);
  }

  /** Draws all anew: `{rows, state, places, words}`. */
  draw(now, count = LINES_AT_ONCE) {
    this.#now = now;
    const { rows, state, places, words } = now;
    const restoreFocus = savedFocus(this.element);
    const at = state.open < 0 ? -1 : places.indexOf(state.open);
    this.#pinned = state.open >= 0 && (at < 0 || at >= FURTHEST_DRAWN);
    const wanted = this.#pinned ? count : Math.max(count, at + 1);
    this.drawn = 0;
    this.#body = make("tbody", { role: "rowgroup" });
    if (this.#pinned) this.#body.append(this.#pin(at), questionLine(rows, state, state.open, words, true), this.#opening.row(rows, state));
    if (state.open < 0) this.#opening.close();
    this.#wanted = Math.ceil(wanted / LINES_AT_ONCE) * LINES_AT_ONCE;
    this.#append(state.open < 0 && count === LINES_AT_ONCE ? LINES_AT_FIRST : this.#wanted);
    const table = make("table", { role: "table", class: "question-table" },
      make("caption", { class: "unseen" }, captionOf(rows, state)), questionHead(rows, state, this.sort), this.#body);
    this.#columns = rows.columns.length + (settings.pair ? 1 : 0);
    this.element.style.setProperty("--columns", this.#columns);
    this.element.replaceChildren(...(places.length || this.#pinned ? [table] : []));
    this.#fit();
    restoreFocus(this.element);
    clearTimeout(this.#later);
    if (this.element.ariaBusy === "true") requestAnimationFrame(() => (this.#later = setTimeout(() => this.#append(this.#wanted))));
  }

  /** Draws 50 more; false when all are drawn. */
  more() {
    if (!this.#now || this.drawn >= this.#now.places.length) return false;
    if (this.drawn === this.#wanted) this.#wanted += LINES_AT_ONCE; // else those of before are still to come
    this.#append(this.#wanted);
    return true;
  }

  /** Opens and closes lines without drawing the others anew. */
  reopen(state) {
    const before = this.#now.state.open;
    const now = { ...this.#now, state };
    const at = state.open < 0 ? -1 : now.places.indexOf(state.open);
    if (this.#pinned || (state.open >= 0 && (at < 0 || at >= this.drawn))) return this.draw(now, this.drawn);
    this.#now = now;
    this.#mark(before, false);
    if (state.open < 0) this.#opening.close();
    else this.#mark(state.open, true).after(this.#opening.row(now.rows, state));
  }

  /** Brings the line of a case into sight, and once more when its detail has come, unless the reader has moved on. */
  async reveal(place, edge) {
    const scroll = () => this.#lineOf(place)?.scrollIntoView({ block: edge });
    scroll();
    if (edge !== "start") return;
    const moved = new AbortController();
    for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      addEventListener(event, () => moved.abort(), { passive: true, signal: moved.signal });
    }
    await this.#opening.filled;
    if (!moved.signal.aborted && this.#now.state.open === place) scroll();
    moved.abort(); // nobody listens any longer
  }

  focus(place) {
    this.#lineOf(place)?.querySelector(".question-opener").focus({ preventScroll: true });
  }

  #lineOf(place) {
    return this.#body?.querySelector(`.question-line[data-place="${place}"]`);
  }

  #mark(place, isOpen) {
    const line = this.#lineOf(place);
    line?.classList.toggle("open", isOpen);
    line?.querySelector(".question-opener").setAttribute("aria-expanded", isOpen);
    return line;
  }

  #append(until) {
    const { rows, state, places, words } = this.#now;
    const end = Math.min(until, places.length);
    const lines = [];
    for (; this.drawn < end; this.drawn += 1) {
      const place = places[this.drawn];
      const isOpen = place === state.open && !this.#pinned;
      lines.push(questionLine(rows, state, place, words, isOpen));
      if (isOpen) lines.push(this.#opening.row(rows, state));
    }
    this.#body.append(...lines);
    if (this.drawn < Math.min(this.#wanted, places.length)) this.element.setAttribute("aria-busy", "true");
    else this.element.removeAttribute("aria-busy");
    this.drew();
  }

  #pin(at) {
    const where = at < 0 ? "The filters hide this question; it is shown because its address was opened."
      : `This question is line ${(at + 1).toLocaleString("en")} of the list below.`;
    return make("tr", { role: "row", class: "question-pin" }, make("td", { role: "cell", "aria-colspan": this.#columns + 1 }, where));
  }

  /** A table that is wider than its place scrolls within it; one that fits keeps its head in sight. */
  #fit(width) {
    if (width) this.#width = width / parseFloat(getComputedStyle(document.documentElement).fontSize);
    const isWide = this.#width > CARDS_BELOW && this.#width < QUESTION_WIDTH + COLUMN_WIDTH * this.#columns;
    if (isWide === this.element.classList.contains("scroll")) return;
    this.element.classList.toggle("scroll", isWide);
    for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", "Questions by bot"]]) {
      if (isWide) this.element.setAttribute(name, value); // as scrollable() has it
      else this.element.removeAttribute(name);
    }
  }
}

function captionOf(rows, state) {
  const metric = rows.metrics[state.metric];
  return metric ? `Questions with the ${shown(metric.name)} of each bot` : "Questions with what each bot did";
}

/** Remembers what has the focus in an element; what it returns gives it back once the lines are drawn anew. */
function savedFocus(element) {
  const focused = document.activeElement;
  if (!element.contains(focused) || focused === element) return () => {};
  const place = focused.matches(".question-opener") ? focused.closest("tr").dataset.place : null;
  const bot = focused.matches(".question-bot") ? focused.textContent : null;
  return () => {
    const again = focused.isConnected ? focused
      : place !== null ? element.querySelector(`.question-line[data-place="${place}"] .question-opener`)
      : [...element.querySelectorAll(".question-bot")].find(({ textContent }) => textContent === bot);
    again?.focus({ preventScroll: true });
  };
}
