/* Table: questions by bots. Only the lines near the window are drawn; blank rows stand for the height of the others. */

const LINES_BEYOND = 15; // drawn above and below what is seen
const LINES_A_STEP = 5; // drawn and taken away at once while scrolling
const LINES_AT_LEAST = 50; // so that short lists are there as a whole
const LINES_AT_FIRST = 10; // as many as a window shows
const REST_MS = 30;
const LINES_ON_PAPER = 500;
const [QUESTION_WIDTH, COLUMN_WIDTH] = [15, 11.5]; // in rem, as questions.css has them

class QuestionTable {
  #opening = new QuestionOpening();
  #body = null;
  #pinned = null;
  #above = null;
  #below = null;
  #drawn = new Map(); // by number in the table
  #items = new Int32Array();
  #groups = [];
  #folded = new Set();
  #heights = new Heights(this.#items);
  #sizes = { line: 120, head: 48 }; // about; measured once there are any
  #isMeasured = false;
  #openAt = -1;
  #focusAt = -1;
  #later = 0;
  #frame = 0;
  #now = null;
  #width = Infinity; // in rem; asking for it while drawing would cost a layout of its own

  /** `open` is called with a case (-1 for none) and the clicked column, `sort` with a bot's name; `metric` is the field for the head. */
  constructor(element, { open, sort, metric }) {
    this.element = element;
    this.open = open;
    this.sort = sort;
    this.metric = metric;
    element.addEventListener("click", (event) => this.#click(event));
    element.addEventListener("focusin", ({ target }) => {
      const line = target.closest("tr[data-at]");
      if (line) this.#focusAt = Number(line.dataset.at);
    });
    this.watchOpened = new ResizeObserver(([{ target }]) => {
      if (target.isConnected) this.#heights.opened = target.offsetHeight;
    });
    new ResizeObserver(([{ contentRect }]) => this.#fit(contentRect.width)).observe(element);
    const wake = () => (this.#frame ||= requestAnimationFrame(() => this.slide()));
    addEventListener("scroll", wake, { passive: true });
    addEventListener("resize", wake, { passive: true });
    addEventListener("beforeprint", () => this.#now && this.#drawRange(0, Math.min(this.#items.length, LINES_ON_PAPER)));
    addEventListener("afterprint", wake);
  }

  /** Draws all anew: `{rows, state, places, words}`; `settle` may scroll before the focus is given back. */
  draw(now, settle = () => {}) {
    const isOther = this.#now?.state.named.group !== now.state.named.group;
    const isOtherBot = this.#now?.state.column !== now.state.column;
    this.#now = now;
    if (isOther) this.#folded.clear();
    if (isOther) this.#isMeasured = false;
    const { rows, state, places } = now;
    const restoreFocus = savedFocus(this.element);
    if (state.open < 0) this.#opening.close();
    this.#groups = state.named.group === "none" ? [] : groupedPlaces(rows, state, places);
    this.#arrange();
    this.#pinned = make("tbody", { role: "rowgroup" }, this.#pin());
    [this.#above, this.#below] = [0, 0].map(() => make("tr", { role: "presentation", class: "question-gap" }));
    this.#body = make("tbody", { role: "rowgroup" }, this.#above, this.#below);
    this.#below.style.height = `${this.#heights.whole}px`; // else the page would be short for a moment, and scroll up
    if (this.#openAt >= 0) this.#openedRow(); // it asks whether the reader is in it
    this.#drawn.clear();
    const columns = state.shownColumns.length + (settings.pair ? 1 : 0);
    const table = make("table", { role: "table", class: "question-table", "aria-rowcount": this.#items.length + 1, "aria-colcount": columns + 1 },
      make("caption", { class: "unseen" }, captionOf(rows, state)), questionHead(rows, state, places, this.metric, this.sort), this.#pinned, this.#body);
    this.element.style.setProperty("--columns", columns);
    this.element.replaceChildren(...(rows.count ? [table] : []));
    this.#fit();
    if (isOtherBot) this.#showChosen();
    this.#slide(LINES_AT_FIRST); // what a window shows comes with the next frame, and the others after it
    settle();
    restoreFocus(this.element);
    this.element.setAttribute("aria-busy", "true");
    clearTimeout(this.#later);
    this.#later = setTimeout(() => {
      this.slide();
      this.element.removeAttribute("aria-busy");
    }, REST_MS);
  }

  /** Opens and closes lines without drawing the others anew. */
  reopen(state) {
    const hadPin = this.#pinned?.children.length > 0;
    this.#now = { ...this.#now, state };
    this.#openAt = this.#findOpen();
    if (hadPin || (state.open >= 0 && this.#openAt < 0)) return this.draw(this.#now);
    for (const line of this.#body.querySelectorAll(".question-line.open")) this.#mark(line, false);
    if (state.open < 0) this.#opening.close();
    this.#heights.openAt = this.#openAt;
    const line = this.#drawn.get(this.#openAt);
    if (line) this.#mark(line, true).after(this.#openedRow());
    this.slide();
  }

  /** Draws what is near the window, and takes away what is far from it. */
  slide() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#now && this.#body.isConnected && !this.element.closest("section.view").hidden) this.#slide(LINES_AT_LEAST);
  }

  /** Brings the line of a case into sight, and once more when its detail has come, unless the reader has moved on. */
  async reveal(place, edge) {
    const at = place === this.#now.state.open ? this.#openAt : this.#items.indexOf(place);
    const scroll = () => this.#reach(at, edge);
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
    const at = this.#openAt >= 0 && this.#items[this.#openAt] === place ? this.#openAt : this.#items.indexOf(place);
    this.#drawn.get(at)?.querySelector("button").focus({ preventScroll: true });
  }

  /** Scrolls back to the first line, for a reader who is beyond it. */
  begin() {
    const { top } = this.element.getBoundingClientRect();
    if (top >= 0) return;
    scrollBy({ top, behavior: "instant" });
    this.slide();
  }

  /** Scrolls so that the line of a case stands so many pixels below the top of the window. */
  put(place, pixels) {
    const at = this.#items.indexOf(place);
    if (at < 0) return;
    scrollBy({ top: this.#body.getBoundingClientRect().top + this.#heights.top(at) - pixels, behavior: "instant" });
    this.slide();
  }

  /** Moves the focus by some lines from where it is or was; whether there was one to go to. */
  move(step, from) {
    const line = from?.closest("tr[data-at]");
    const isInDetail = Boolean(from?.closest(".question-opened"));
    const start = line ? Number(line.dataset.at) : isInDetail ? this.#openAt : this.#focusAt;
    const at = isInDetail && step < 0 ? start : Math.max(start + step, 0);
    if (at >= this.#items.length) return false;
    this.#reach(at, "nearest");
    this.#drawn.get(at).querySelector("button").focus({ preventScroll: true });
    return true;
  }

  /** Scrolls sideways to the chosen bot where the table is wider than its place. */
  #showChosen() {
    const chosen = this.element.querySelector("thead th.chosen");
    if (chosen) this.element.scrollLeft = chosen.offsetLeft - chosen.parentElement.firstChild.offsetWidth;
  }

  #click({ target }) {
    const head = target.closest(".question-group");
    if (head) return this.#fold(Number(head.dataset.at));
    const line = target.closest(".question-line");
    if (!line || !getSelection().isCollapsed) return; // selecting text opens nothing
    const cell = target.closest("td[data-column]");
    const isOpen = line.classList.contains("open") && !cell;
    this.#openAt = isOpen || !line.dataset.at ? -1 : Number(line.dataset.at);
    this.open(isOpen ? -1 : Number(line.dataset.place), cell ? Number(cell.dataset.column) : -1);
  }

  #fold(at) {
    const { name } = this.#groups[-1 - this.#items[at]];
    if (!this.#folded.delete(name)) this.#folded.add(name);
    this.draw(this.#now);
    this.#drawn.get(this.#items.findIndex((item) => item < 0 && this.#groups[-1 - item].name === name))?.querySelector("button").focus({ preventScroll: true });
  }

  /** Puts heads and lines one below the other. */
  #arrange() {
    const { places } = this.#now;
    this.#items = !this.#groups.length ? new Int32Array(places)
      : Int32Array.from(this.#groups.flatMap(({ name, places: list }, number) => [-1 - number, ...(this.#folded.has(name) ? [] : list)]));
    const { opened } = this.#heights;
    this.#heights = Object.assign(new Heights(this.#items), this.#sizes, { opened });
    this.#openAt = this.#findOpen();
    this.#heights.openAt = this.#openAt;
  }

  /** Where the open case stands: where it was clicked, else the first time it is there. */
  #findOpen() {
    const { open } = this.#now.state;
    if (open < 0) return -1;
    return this.#items[this.#openAt] === open ? this.#openAt : this.#items.indexOf(open);
  }

  /** The open case on top of the others, where the filters hide it. */
  #pin() {
    const { rows, state, words } = this.#now;
    if (state.open < 0 || this.#openAt >= 0) return [];
    const why = "The filters hide this question; it is shown because its address was opened.";
    const note = make("tr", { role: "row", class: "question-pin" }, make("td", { role: "cell", "aria-colspan": state.shownColumns.length + 1 }, why));
    return [note, questionLine(rows, state, state.open, words, true, null), this.#openedRow()];
  }

  #openedRow() {
    const row = this.#opening.row(this.#now.rows, this.#now.state);
    this.watchOpened.disconnect();
    this.watchOpened.observe(row);
    return row;
  }

  #mark(line, isOpen) {
    line.classList.toggle("open", isOpen);
    line.querySelector(".question-opener").setAttribute("aria-expanded", isOpen);
    return line;
  }

  #slide(least) {
    const above = Math.max(0, -this.#body.getBoundingClientRect().top);
    const [first, last] = [this.#heights.at(above), this.#heights.at(above + innerHeight)];
    const from = Math.max(0, Math.floor((first - LINES_BEYOND) / LINES_A_STEP) * LINES_A_STEP);
    const to = Math.max(from + least, Math.ceil((last + LINES_BEYOND) / LINES_A_STEP) * LINES_A_STEP);
    const isFirst = least === LINES_AT_FIRST;
    const end = Math.min(this.#items.length, isFirst ? Math.max(last + 1, first + least) : to);
    this.#drawRange(Math.max(0, Math.min(isFirst ? first : from, end - least)), end);
  }

  #drawRange(from, to) {
    const wanted = [];
    for (const [at, line] of this.#drawn) {
      if (at >= from && at < to) continue;
      line.remove();
      this.#drawn.delete(at);
    }
    for (let at = from; at < to; at += 1) {
      if (!this.#drawn.has(at)) this.#drawn.set(at, this.#row(at));
      wanted.push(this.#drawn.get(at));
      if (at === this.#openAt) wanted.push(this.#openedRow());
    }
    replaceInPlace(this.#body, [this.#above, ...wanted, this.#below]);
    this.#measure();
    this.#above.style.height = `${this.#heights.top(from)}px`;
    this.#below.style.height = `${this.#heights.whole - this.#heights.top(to)}px`;
  }

  #row(at) {
    const { rows, state, words } = this.#now;
    const item = this.#items[at];
    if (item >= 0) return questionLine(rows, state, item, words, at === this.#openAt, at);
    const group = this.#groups[-1 - item];
    return groupHead(rows, state, group, at, this.#folded.has(group.name));
  }

  /** Takes the heights from what is drawn: they follow the reader's font. */
  #measure() {
    if (this.#isMeasured && this.#openAt < 0) return; // asking costs a layout
    for (const [name, selector] of [["line", ".question-line"], ["head", ".question-group"]]) {
      const height = this.#body.querySelector(selector)?.getBoundingClientRect().height;
      if (!height) continue;
      this.#sizes[name] = height;
      this.#isMeasured = true;
    }
    Object.assign(this.#heights, this.#sizes);
    const opened = this.#body.querySelector(".question-opened")?.getBoundingClientRect().height;
    if (opened) this.#heights.opened = opened;
  }

  /** Scrolls to an item, which may be far away and not drawn. */
  #reach(at, edge) {
    if (at < 0) return this.#pinned?.querySelector(".question-line")?.scrollIntoView({ block: edge });
    if (!this.#drawn.has(at)) {
      scrollBy({ top: this.#body.getBoundingClientRect().top + this.#heights.top(at) - innerHeight / 3, behavior: "instant" });
      this.slide();
    }
    this.#drawn.get(at)?.scrollIntoView({ block: edge, behavior: "instant" });
    this.slide();
  }

  /** A table that is wider than its place scrolls within it; one that fits keeps its head in sight. */
  #fit(width) {
    if (width) this.#width = width / parseFloat(getComputedStyle(document.documentElement).fontSize);
    const columns = Number(this.element.style.getPropertyValue("--columns"));
    const isWide = this.#width < QUESTION_WIDTH + COLUMN_WIDTH * columns;
    byId("question-hint").hidden = !isWide;
    if (width) {
      this.#isMeasured = false; // perhaps another font
      this.slide();
    }
    if (isWide === this.element.classList.contains("scroll")) return;
    this.element.classList.toggle("scroll", isWide);
    for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", "Questions by bot"]]) {
      if (isWide) this.element.setAttribute(name, value); // as scrollable() has it
      else this.element.removeAttribute(name);
    }
  }
}

/** Makes these the children of an element and moves none that are in their place: a moved one would lose the focus. */
function replaceInPlace(parent, children) {
  let next = parent.firstChild;
  for (const child of children) {
    if (child === next) next = next.nextSibling;
    else parent.insertBefore(child, next);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

function captionOf(rows, state) {
  const metric = rows.metrics[state.metric];
  return metric ? `Questions with the answer of each bot and its ${shown(metric.name)}` : "Questions with the answer of each bot";
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
