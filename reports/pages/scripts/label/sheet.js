/* Sheet: what one person said of rows or pairs: stored by the server that gave the page, or by the browser for a file. */

/** On a server: each label is stored in the database as it is given. */
class ServedSheet {
  constructor(run, metric, rater) {
    Object.assign(this, { run, metric, rater, labels: new Map(), state: null, trouble: "" });
    this.waiting = new Map(); // labels that are not stored yet
  }

  /** Where labels are read and stored. */
  get address() {
    return settings.labels;
  }

  get query() {
    return { metric: this.metric, rater: this.rater };
  }

  /** A label as it is sent. */
  sent(row, verdict) {
    return { row: row.name, metric: this.metric, rater: this.rater, verdict, drawn: `seed ${row.seed}` };
  }

  async read() {
    const reply = await fetch(`${this.address}?${new URLSearchParams(this.query)}`, { signal: AbortSignal.timeout(LONGEST_WAIT) });
    if (!reply.ok) throw new Error(`The server answered ${reply.status}.`);
    this.#take(await reply.json());
  }

  /** Stores a label; one without a verdict takes it back. */
  async put(row, verdict) {
    try {
      const state = await posted(this.address, this.sent(row, verdict));
      this.trouble = "";
      this.#stored(row, verdict);
      this.#take(state);
    } catch (error) {
      this.#stored(row, verdict);
      this.labels.delete(row.name);
      this.trouble = `The label was not stored: ${shown(error.message)} Is proctor view still running?`;
    }
  }

  /** Notes a label at once, before it is stored. */
  note(row, verdict) {
    this.waiting.set(row.name, verdict);
    if (verdict) this.labels.set(row.name, verdict);
    else this.labels.delete(row.name);
  }

  #stored(row, verdict) {
    if (this.waiting.get(row.name) === verdict) this.waiting.delete(row.name);
  }

  #take(state) {
    this.state = state;
    this.labels = new Map(Object.entries(state.labels));
    for (const [name, verdict] of this.waiting) if (verdict) this.labels.set(name, verdict);
  }
}

/** In a file: labels stay in this browser until they are exported. */
class FiledSheet {
  constructor(run, metric, rater) {
    Object.assign(this, { run, metric, rater, labels: new Map(), state: null, trouble: "" });
    this.all = [];
  }

  /** What the exported file is called, and under which name the browser stores it. */
  get noun() {
    return "label";
  }

  /** What an entry of this sheet says: [name of the row, verdict]; null for those of other sheets. */
  entry({ row, metric, rater, verdict }) {
    return metric === this.metric && rater === this.rater ? [row, verdict] : null;
  }

  /** A label as it is exported. */
  record(row, verdict) {
    const { name, key: question_id, bot, repeat, seed } = row;
    return { row: name, metric: this.metric, question_id, bot, repeat, verdict, rater: this.rater, drawn: `seed ${seed}`, labelled_at: new Date().toISOString() };
  }

  async read() {
    try {
      this.all = JSON.parse(remembered(this.#place) ?? "[]");
    } catch {
      this.all = [];
    }
    this.labels = new Map(this.all.map((each) => this.entry(each)).filter(Boolean));
  }

  get #place() {
    return `proctor-${this.noun}s ${this.run}`;
  }

  note(row, verdict) {
    if (verdict) this.labels.set(row.name, verdict);
    else this.labels.delete(row.name);
  }

  async put(row, verdict) {
    this.all = this.all.filter((each) => this.entry(each)?.[0] !== row.name);
    if (verdict) this.all.push(this.record(row, verdict));
    remember(this.#place, JSON.stringify(this.all));
  }

  /** All that is stored, of all raters, as JSON lines for proctor calibrate --labels. */
  download() {
    const text = this.all.map((each) => `${JSON.stringify(each)}\n`).join("");
    const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    make("a", { href: address, download: `${this.noun}s-${this.run}.jsonl` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}
