/* Desk: rows are labelled one after the other; beside them stands what the labels say of the judge. */

const LABELS_AT_LEAST = 30; // for each bot, below which figures are indicative only
const LABEL_KEYS = { 1: "yes", r: "yes", 2: "no", w: "no", 3: "unsure", u: "unsure" };

class LabelDesk {
  #rows = null;
  #queue = [];
  #at = -1;
  #sheet = null;
  #scale = null;
  #drawing = 0;
  #saving = Promise.resolve();
  #started = null;

  constructor(element) {
    this.element = element;
    this.view = element.closest("section.view");
    this.fields = Object.fromEntries(["rater", "metric", "blind", "first", "second"].map((name) => [name, byId(`label-${name}`)]));
    element.removeAttribute("aria-busy");
    this.fields.rater.value = remembered("proctor-rater") ?? "";
    byId("label-controls").addEventListener("submit", (event) => event.preventDefault());
    for (const name of ["rater", "metric", "first", "second"]) this.fields[name].addEventListener("change", () => this.#begin());
    this.fields.blind.addEventListener("change", () => this.#draw());
    const hasLetters = letterKeys(byId("label-letters"));
    addEventListener("keydown", (event) => this.#key(event, hasLetters));
    onAddress(() => !this.view.hidden && this.start());
    onGrowth(() => this.#started && this.#read());
    if (!this.view.hidden) this.start();
  }

  start() {
    this.#started ??= this.#read();
    return this.#started;
  }

  async #read() {
    try {
      const [index, labels] = await Promise.all([block("rows"), block("labels")]);
      if (!index || !labels) throw new Error("the page carries no rows");
      this.#take(index, labels);
    } catch (error) {
      this.element.replaceChildren(make("p", { class: "bad", role: "alert" }, `The rows can't be read: ${shown(error.message)}`));
    }
  }

  #take(index, labels) {
    const rows = new QuestionRows(index);
    const places = new Map();
    for (const [place, ids] of index.cases.ids.entries()) places.set(`${ids[0]} ${index.cases.repeat[place]}`, place);
    this.labels = labels;
    this.#rows = rows;
    this.everyRow = labels.rows.map(([column, id, repeat, name]) => {
      const place = places.get(`${id} ${repeat}`);
      return { column, place, repeat, name, seed: labels.seed, key: index.cases.key[place], bot: index.columns[column].bot };
    });
    const chosen = this.fields.metric.value || settings.metric;
    const measured = rows.metrics.flatMap(({ name }, metric) => (rows.everyColumn.some((column) => rows.values(column, metric).some((value) => !Number.isNaN(value))) ? [name] : []));
    const hasPairs = rows.columns.length > 1;
    this.fields.metric.replaceChildren(...measured.map((name) => make("option", { value: name }, shown(name))),
      hasPairs ? make("option", { value: PAIRS }, "Which of two answers is better") : "");
    if (measured.includes(chosen) || (hasPairs && chosen === PAIRS)) this.fields.metric.value = chosen;
    if (hasPairs) this.#fillBots(rows);
    byId("label-controls").hidden = false;
    if (!measured.length && !hasPairs) this.element.replaceChildren(make("p", {}, "No metric of this run has a value for single rows, so there is nothing to label."));
    else if (!this.#sheet) this.#begin();
  }

  get isOfPairs() {
    return this.fields.metric.value === PAIRS;
  }

  /** The two bots whose answers are compared, in the order of the run. */
  get #bots() {
    const names = this.#rows.columns.map(({ bot }) => bot);
    return [this.fields.first.value, this.fields.second.value].sort((one, other) => names.indexOf(one) - names.indexOf(other));
  }

  #fillBots(rows) {
    const leading = leadingBots(rows);
    for (const [place, field] of [this.fields.first, this.fields.second].entries()) {
      const former = field.value;
      field.replaceChildren(...rows.columns.map(({ bot }) => make("option", { value: bot }, shown(bot))));
      field.value = former || leading[place];
    }
  }

  /** Another person or metric: its labels are read, and the first row without one is shown. */
  async #begin() {
    const { rater, metric } = this.fields;
    const name = rater.value.trim();
    const isOfPairs = this.isOfPairs;
    const beginning = ++this.#drawing; // what is drawn for another choice comes too late
    this.element.dataset.rater = name;
    this.#sheet = null;
    for (const each of this.view.querySelectorAll(".label-pair")) each.hidden = !isOfPairs;
    for (const each of this.view.querySelectorAll(".label-row, .label-blind")) each.hidden = isOfPairs;
    if (!name) return this.element.replaceChildren(make("p", {}, "Write your name above: labels are stored by rater, so that several can be compared."));
    remember("proctor-rater", name);
    if (isOfPairs && this.fields.first.value === this.fields.second.value) return this.element.replaceChildren(make("p", {}, "Choose two different bots."));
    const run = this.#rows.columns[0].run;
    const sheet = isOfPairs ? new (settings.votes ? ServedVotes : FiledVotes)(run, this.#bots, name) : new (settings.labels ? ServedSheet : FiledSheet)(run, metric.value, name);
    try {
      await sheet.read();
    } catch (error) {
      return this.element.replaceChildren(make("p", { class: "bad", role: "alert" }, `The labels can't be read: ${shown(error.message)}`));
    }
    if (beginning !== this.#drawing) return;
    this.#sheet = sheet;
    this.#queue = isOfPairs ? pairQueue(this.#rows, this.everyRow, this.#bots) : this.#scored(metric.value);
    this.#at = this.#next(-1);
    await this.#draw();
  }

  /** The rows with a value of a metric, in the order in which they were drawn. */
  #scored(metric) {
    const number = this.#rows.metrics.findIndex(({ name }) => name === metric);
    this.#scale = labelScale(this.#rows, number);
    return this.everyRow.filter(({ column, place }) => !Number.isNaN(this.#rows.values(column, number)[place]))
      .map((row, at) => ({ ...row, number: at + 1, value: this.#rows.values(row.column, number)[row.place] }));
  }

  /** The first row after a place that has no label yet; after the last one where all have. */
  #next(from) {
    const next = this.#queue.findIndex(({ name }, at) => at > from && !this.#sheet.labels.has(name));
    return next < 0 ? this.#queue.length : next;
  }

  async #draw() {
    if (!this.#sheet) return;
    const drawing = ++this.#drawing;
    const row = this.#queue[this.#at];
    const card = row ? await this.#card(row) : this.#over();
    if (drawing !== this.#drawing) return;
    this.side = make("section", { class: "label-side", "aria-label": "Calibration" });
    this.element.replaceChildren(card, this.side);
    this.#tell();
    if (!this.view.hidden && (document.activeElement === document.body || this.view.contains(document.activeElement))) card.focus({ preventScroll: true });
  }

  async #card(row) {
    if (this.isOfPairs) {
      const given = this.#sheet.labels.get(row.name);
      return pairCard(this.#rows.index, row, given && turnedVerdict(row, given), { say: (choice) => this.#say(turnedVerdict(row, choice)), move: (step) => this.#move(step) });
    }
    const metric = this.fields.metric.value;
    const texts = await labelTexts(this.#rows.index, row);
    const card = labelCard(row, texts, this.#scale, this.#sheet.labels.get(row.name), {
      say: (verdict) => this.#say(verdict), move: (step) => this.#move(step), bot: this.fields.blind.checked ? null : row.bot,
    });
    card.prepend(make("p", { class: "small quiet label-what" }, isolated(metric), ": ", isolated(this.labels.summaries[metric] ?? ""), ` ${this.#scale.bound}`));
    return card;
  }

  #over() {
    const more = this.labels.left_out ? ` ${this.labels.left_out.toLocaleString("en")} further rows are not on this page: proctor label draws as many as you like.` : "";
    return make("article", { class: "label-card", tabindex: "-1" }, make("p", {}, `${this.#queue.length ? `All ${counted(this.#queue.length, this.isOfPairs ? "pair" : "row")} are labelled.` : "These two bots gave the same answers, or one of them none."}${more}`),
      make("div", { class: "label-buttons" }, make("button", { type: "button", class: "label-back", on: { click: () => this.#move(-1) } }, "\u2190 Back")));
  }

  #say(verdict) {
    const row = this.#queue[this.#at];
    const sheet = this.#sheet;
    if (!row || !sheet) return;
    sheet.note(row, verdict);
    announce(verdict ? "Stored. Next answer." : "Taken back.");
    this.#saving = this.#saving.then(() => sheet.put(row, verdict)).then(() => sheet === this.#sheet && this.#tell());
    this.#at = verdict ? this.#next(this.#at) : this.#at;
    this.#draw();
  }

  /** What was said of a pair as it is shown. */
  #choose(choice) {
    const row = this.#queue[this.#at];
    if (row) this.#say(turnedVerdict(row, choice));
  }

  #move(step) {
    this.#at = Math.min(Math.max(this.#at + step, 0), this.#queue.length);
    this.#draw();
  }

  #key(event, hasLetters) {
    const { key, target } = event;
    if (this.view.hidden || !this.#sheet || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    if (target !== document.body && !this.view.contains(target)) return;
    if (key === "ArrowLeft" || key === "ArrowRight") this.#move(key === "ArrowLeft" ? -1 : 1);
    else if (this.isOfPairs && key in PAIR_KEYS && (key !== "t" || hasLetters())) this.#choose(PAIR_KEYS[key]);
    else if (!this.isOfPairs && key in LABEL_KEYS && hasLetters() && (this.#scale.isDecided || LABEL_KEYS[key] === "unsure")) this.#say(LABEL_KEYS[key]);
    else return;
    event.preventDefault();
  }

  /** What the labels say so far. */
  #tell() {
    const { labels, state, trouble } = this.#sheet;
    const done = this.#queue.filter(({ name }) => labels.has(name));
    const noun = this.isOfPairs ? "vote" : "label";
    const wanted = Math.min(this.#queue.length, LABELS_AT_LEAST * new Set(this.#queue.map(({ bot }) => bot)).size);
    this.side.replaceChildren(
      ...[
        trouble && make("p", { class: "bad", role: "alert" }, trouble),
        make("p", {}, make("strong", {}, counted(done.length, noun)), ` of yours; ${wanted.toLocaleString("en")} give figures to rely on. `,
          make("progress", { max: wanted, value: Math.min(done.length, wanted), "aria-label": "Labels" })),
        !state ? this.#ofFile(done) : this.isOfPairs ? votesElement(this.#bots, state)
          : calibrationElement(state, this.#rows.metrics.find(({ name }) => name === this.fields.metric.value)),
        make("p", { class: "small quiet" }, this.isOfPairs ? "Questions are drawn at random, and which answer stands first is by chance: stop wherever you like."
          : "Rows are drawn at random, bots in turn: stop wherever you like. The judge's verdicts are hidden, since they would sway you."),
      ].filter(Boolean),
    );
  }

  /** In a file: how often the metric says the same, and the way into the database. */
  #ofFile(done) {
    const sure = done.filter(({ name }) => ["yes", "no"].includes(this.#sheet.labels.get(name)));
    const same = sure.filter(({ name, value }) => (this.#sheet.labels.get(name) === "yes") === this.#scale.passes(value));
    const button = make("button", { type: "button", disabled: !this.#sheet.all.length, on: { click: () => this.#sheet.download() } }, `Export ${counted(this.#sheet.all.length, this.#sheet.noun)}`);
    return [
      sure.length ? make("p", {}, `The metric says the same on ${same.length} of ${sure.length}.`) : "",
      make("p", {}, button),
      make("p", { class: "small" }, "They stay in this browser. ", make("code", {}, `proctor calibrate ${shown(this.#rows.columns[0].run)} --labels FILE`),
        this.isOfPairs ? " stores the exported file." : " stores the exported file and corrects the figures by it."),
    ].reduce((holder, part) => (holder.append(part), holder), make("div", {}));
  }
}

/** How the judge compares with people, by bot. */
function calibrationElement({ calibrations, agreement, warnings, judge, measure }, metric) {
  if (!calibrations.length) return make("p", { class: "quiet" }, agreement || "With the first label, the judge's calibration stands here.");
  const scale = measure === "pass_rate" ? { low: 0, high: 1 } : metric;
  const interval = ({ mean, ci_low, ci_high }) => [make("strong", {}, figure(mean, scale)), make("span", { class: "quiet small" }, ` ${figure(ci_low, scale)} to ${figure(ci_high, scale)}`)];
  const line = (found) => make("tr", {}, make("th", { scope: "row" }, found.bot === null ? "all bots" : isolated(found.bot)),
    make("td", { class: "number" }, found.labels), make("td", { class: "number" }, found.agreement ? rounded(found.agreement.value, 2) : "-"),
    make("td", { class: "number" }, figure(found.judge_mean, scale)), make("td", { class: "number" }, interval(found.corrected)));
  const head = ["Bot", "Labels", "Agreement", judge ? "Judge" : "Metric", "Corrected"];
  const table = make("table", { class: "label-calibration" }, make("caption", {}, "Calibration: ", measure === "pass_rate" ? "share that passes by " : "mean of ", isolated(metric.name)),
    make("thead", {}, make("tr", {}, head.map((name, place) => make("th", { scope: "col", class: place ? "number" : null }, name)))), make("tbody", {}, calibrations.map(line)));
  return make("div", {}, scrollable("Calibration", table),
    make("p", { class: "small quiet" }, "Corrected: what people would say of all rows, estimated from labels and metric, with its 95 % interval."),
    agreement && make("p", { class: "small" }, isolated(`${agreement[0].toUpperCase()}${agreement.slice(1)}.`)),
    warnings.length ? make("details", { class: "small" }, make("summary", {}, counted(warnings.length, "note")), make("ul", {}, warnings.map((each) => make("li", {}, isolated(each))))) : null);
}

if (byId("label-desk")) new LabelDesk(byId("label-desk"));
