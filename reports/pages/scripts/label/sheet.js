/* Sheet: the labels of one person on one metric: kept by the server that gave the page, or by the browser for a file. */

const LABELS_KEPT = "proctor-labels";

/** On a server: each label is stored in the database as it is given. */
class ServedSheet {
  constructor(run, metric, rater) {
    Object.assign(this, { run, metric, rater, labels: new Map(), state: null, trouble: "" });
    this.waiting = new Map(); // labels that are not stored yet
  }

  async read() {
    const query = new URLSearchParams({ metric: this.metric, rater: this.rater });
    const reply = await fetch(`${settings.labels}?${query}`, { signal: AbortSignal.timeout(LONGEST_WAIT) });
    if (!reply.ok) throw new Error(`The server answered ${reply.status}.`);
    this.#take(await reply.json());
  }

  /** Stores a label; one without a verdict takes it back. */
  async put(row, verdict) {
    const sent = { row: row.name, metric: this.metric, rater: this.rater, verdict, drawn: `seed ${row.seed}` };
    try {
      const reply = await fetch(settings.labels, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Proctor-Token": settings.token },
        body: JSON.stringify(sent),
        signal: AbortSignal.timeout(LONGEST_WAIT),
      });
      const said = reply.headers.get("Content-Type") === "application/json" ? await reply.json() : { error: await reply.text() };
      if (!reply.ok) throw new Error(said.error);
      this.trouble = "";
      this.#stored(row, verdict);
      this.#take(said);
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

  async read() {
    try {
      this.all = JSON.parse(remembered(`${LABELS_KEPT} ${this.run}`) ?? "[]");
    } catch {
      this.all = [];
    }
    this.labels = new Map(this.#own().map(({ row, verdict }) => [row, verdict]));
  }

  #own() {
    return this.all.filter(({ metric, rater }) => metric === this.metric && rater === this.rater);
  }

  note(row, verdict) {
    if (verdict) this.labels.set(row.name, verdict);
    else this.labels.delete(row.name);
  }

  async put(row, verdict) {
    this.all = this.all.filter((each) => each.row !== row.name || each.metric !== this.metric || each.rater !== this.rater);
    if (verdict) {
      const { name, key: question_id, bot, repeat } = row;
      const labelled_at = new Date().toISOString();
      this.all.push({ row: name, metric: this.metric, question_id, bot, repeat, verdict, rater: this.rater, drawn: `seed ${row.seed}`, labelled_at });
    }
    remember(`${LABELS_KEPT} ${this.run}`, JSON.stringify(this.all));
  }

  /** The labels of all metrics and raters as JSON lines, for proctor calibrate --labels. */
  download() {
    const text = this.all.map((each) => `${JSON.stringify(each)}\n`).join("");
    const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    make("a", { href: address, download: `labels-${this.run}.jsonl` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}
