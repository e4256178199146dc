/* Questions: the list of all cases in step with the address: read when it is first looked at, or when there is time. */

const TYPED_MS = 250; // without a key until the address follows what was typed
const ANNOUNCED_MS = 500;

class Questions {
  #index = null;
  #pair = 0;
  #rows = null;
  #search = null;
  #order = { key: null, places: null };
  #now = null;
  #place = {};
  #timers = {};
  #started = null;
  #reading = 0;
  #isClicked = false;

  constructor(element) {
    this.element = element;
    this.view = element.closest("section.view");
    const change = (values, isTyped) => this.#change(values, isTyped);
    this.controls = new QuestionControls(byId("question-controls"), change);
    this.table = new QuestionTable(element, {
      open: (place, column) => this.#open(place, column),
      sort: (bot) => change({ bot, sort: this.#rows.metrics.length ? "value" : "latency" }),
      metric: this.controls.metric,
    });
    listenForKeys(element, this.controls.fields.q, { move: (step, from) => this.#rows && this.table.move(step, from), close: () => this.#close() });
    onAddress((place) => this.#follow(place));
  }

  get hasTalks() {
    return Boolean(this.#rows?.cases.conversation);
  }

  isUsualAgainst(name) {
    return Boolean(this.#rows) && name === usualAgainst(this.#rows);
  }

  get isSeen() {
    return !this.view.hidden;
  }

  /** Reads and draws, once. */
  start() {
    this.#started ??= this.read();
    return this.#started;
  }

  /** Reads the index, anew where there was one, and draws it as the address has it. */
  async read() {
    const reading = ++this.#reading;
    try {
      const index = await block("rows");
      if (reading !== this.#reading) return; // there is more already
      if (!index) throw new Error("the page carries no rows");
      this.#take(index);
    } catch (error) {
      if (reading === this.#reading && !this.#rows) this.#fail(error);
    }
  }

  #take(index) {
    const isFirst = !this.#index;
    const place = isFirst ? address() : { ...this.#place };
    this.#list(index, pairOf(place));
    if (!isFirst) return this.#apply(place, true);
    this.#apply(place);
    whenIdle(() => this.#prepared());
    this.controls.fields.q.addEventListener("focus", () => this.#prepared());
  }

  /** Lists an index, or another pair of it. */
  #list(index, pair) {
    const rows = new QuestionRows(indexOfPair(index, pair));
    this.controls.fill(rows);
    showPair(pair);
    this.#index = index;
    this.#pair = pair;
    this.#rows = rows;
    this.#search = new QuestionSearch(rows);
    this.#order = { key: null, places: null };
  }

  /** When the search is ready; where the texts are damaged an error is shown instead. */
  #prepared() {
    return this.#search.prepare().catch((error) => {
      this.#fail(error);
      return new Promise(() => {});
    });
  }

  #fail(error) {
    const isOld = !(globalThis.DecompressionStream && Map.groupBy && String.prototype.toWellFormed);
    const message = isOld ? ["This browser is too old to read the questions of this page: a newer one can."]
      : [`The questions of this page can't be read: ${shown(error.message)}. `,
        settings.blocks ? "Is proctor view still running?" : "proctor report writes the page anew."];
    const again = make("button", { type: "button", on: { click: readAnew } }, "Try again");
    this.element.replaceChildren(make("p", { class: "bad", role: "alert" }, message), ...(settings.blocks && !isOld ? [again] : []));
    this.element.removeAttribute("aria-busy");
  }

  /** Another address: ours is drawn, others are ignored. */
  #follow(place) {
    clearTimeout(this.#timers.typed);
    if (!this.isSeen || place.view === "main") return;
    if (this.#rows) this.#apply(place);
    else this.start();
  }

  #apply(place, isGrown = false) {
    if (pairOf(place) !== this.#pair) this.#list(this.#index, pairOf(place));
    const rows = this.#rows;
    const state = questionState(rows, place);
    const words = searchedWords(state.named.q);
    this.#place = place;
    if (words.length && !this.#search.isReady) {
      byId("question-count").textContent = "Searching\u2026";
      this.#prepared().then(() => this.#rows === rows && this.#place === place && this.#apply(place, isGrown));
      return;
    }
    const before = this.#now;
    const key = JSON.stringify([{ ...state.named, open: "", at: "" }, state.metric, state.unknown]);
    if (before?.rows === rows && before.key === key && !isGrown) this.#reopen(state, before);
    else this.#draw(state, words, key, isGrown);
  }

  #draw(state, words, key, isGrown) {
    const rows = this.#rows;
    const before = this.#now;
    const tests = questionTests(rows, state, this.#search.test(words));
    const places = filteredPlaces(this.#ordered(state), tests);
    const anchor = isGrown ? anchored(this.element, this.table) : () => {};
    this.#now = { rows, state, places, words, tests, key };
    this.table.draw(this.#now, anchor);
    this.controls.show(rows, state);
    this.#announceCount(isGrown);
    if (isGrown) return;
    if (before && state.open < 0 && chosenOf(state) !== chosenOf(before.state)) this.table.begin(); // other lines: the first of them
    this.#reveal(state, before);
  }

  #reopen(state, before) {
    if (before.state.open === state.open && before.state.named.at === state.named.at) return this.table.slide(); // perhaps it was out of sight
    this.#now = { ...before, state };
    this.table.reopen(state);
    this.#reveal(state, before);
  }

  /** Brings what was opened into sight: to the top for whoever came by an address, hardly at all for whoever clicked. */
  #reveal(state, before) {
    if (state.open >= 0 && state.open !== before?.state.open) this.table.reveal(state.open, this.#isClicked ? "nearest" : "start");
    this.#isClicked = false;
  }

  #ordered(state) {
    const key = [state.named.sort, state.column, state.metric].join();
    if (this.#order.key !== key) this.#order = { key, places: questionOrder(this.#rows, state) };
    return this.#order.places;
  }

  /** How many there are: shown at once, announced when typing pauses; and what to do when there are none. */
  #announceCount(isGrown) {
    const { rows, state, places, tests } = this.#now;
    const noun = rows.hasRepeats ? "row" : "question";
    const isAll = places.length === rows.count;
    const simulated = rows.hasRepeats ? 0 : rows.cases.simulated ?? 0; // a row is a row
    const turns = simulated ? ` and ${counted(simulated, "simulated turn")}` : "";
    const asked = `${counted(rows.count - simulated, noun)}${turns}`;
    const sentence = isAll ? asked : `${places.length.toLocaleString("en")} of ${asked}`;
    byId("question-count").textContent = sentence;
    byId("question-notes").replaceChildren(...questionNotes(rows, state, this.#ordered(state), places, tests, (values) => this.#change(values)));
    clearTimeout(this.#timers.announced);
    if (this.isSeen && !isGrown) this.#timers.announced = setTimeout(() => announce(places.length ? sentence : `Nothing found. ${sentence}`), ANNOUNCED_MS);
  }

  /** New values of fields; what is being typed shows at once, and comes to the address when typing rests. */
  #change(values, isTyped = false) {
    if (!this.#rows) return; // there is nothing to choose from yet
    const place = tidied({ ...address(), ...this.#known(), ...values, view: this.view.id });
    clearTimeout(this.#timers.typed);
    if (!isTyped) return goTo(place);
    this.#apply(place);
    this.#timers.typed = setTimeout(() => goTo(place, Boolean(address().q)), TYPED_MS);
  }

  /** Opens a case; what other parts of the page keep in the address belongs to the one that was open. */
  #open(place, column) {
    const open = place < 0 ? "" : this.#rows.idOf(place);
    const at = column < 0 ? "" : this.#rows.columns[column].name;
    this.#isClicked = true;
    goTo({ ...tidied(this.#known()), view: this.view.id, open, at });
  }

  /** What the list knows of the address. */
  #known() {
    return Object.fromEntries(QUESTION_PARAMETERS.map((name) => [name, this.#place[name]]));
  }

  #close() {
    const place = this.#now?.state.open ?? -1;
    if (place < 0) return;
    this.#open(-1, -1);
    this.table.focus(place);
  }
}

/** What decides which lines there are, and in which order. */
function chosenOf({ named }) {
  return JSON.stringify([...QUESTION_FILTERS, "group", "sort"].map((name) => named[name]));
}

/** Leaves out what says no more than nothing at all. */
function tidied(place) {
  const { show, sort, group, against } = place;
  const isUsual = group === (questions.hasTalks && (!sort || sort === "order") ? "conversation" : "none");
  return { ...place, show: show === "all" ? "" : show, sort: sort === (settings.pair ? "flips" : "order") ? "" : sort, group: isUsual ? "" : group, against: questions.isUsualAgainst(against) ? "" : against };
}

/** Does something when the browser has time for it. */
function whenIdle(task) {
  if (globalThis.requestIdleCallback) requestIdleCallback(task, { timeout: 1000 });
  else setTimeout(task, 200);
}

/** Remembers which line stands on top of the window; what it returns puts it there again. */
function anchored(element, table) {
  const top = [...element.querySelectorAll(".question-line")].find((line) => line.getBoundingClientRect().bottom > 0);
  if (!top || scrollY === 0) return () => {};
  const before = top.getBoundingClientRect().top;
  return () => table.put(Number(top.dataset.place), before);
}

const questions = byId("question-list") && new Questions(byId("question-list"));

if (questions) onGrowth(() => questions.read()); // filter, place and what is open stay
if (questions?.isSeen) questions.start();
else if (questions) whenIdle(() => questions.start());
