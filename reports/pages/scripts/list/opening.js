/* Opening: the detail of the one line that is open, made once, and reused while the lines around it change. */

class QuestionOpening {
  #key = "";
  #asked = "";
  #id = "";
  #row = null;
  #holder = null;
  #news = null;
  filled = null; // resolved when the detail is drawn

  /** The row with the detail of the open case; made anew when the case, the focus or its data are others. */
  row(rows, state) {
    const { named, open, metric } = state;
    const id = rows.idOf(open);
    const bot = named.at || named.bot || null;
    const against = [named.against, named.bot].find((name) => name && name !== bot) ?? null;
    const focus = { bot, against, metric: rows.metrics[metric]?.name ?? null };
    const asked = JSON.stringify([id, focus, rows.columns.map(({ name }) => name)]);
    const key = JSON.stringify([asked, whatIsThere(rows, open)]);
    if (key === this.#key) return this.#row;
    if (id !== this.#id) this.#make(rows, id);
    const fill = () => (this.filled = this.#fill(rows, open, focus, key));
    if (asked === this.#asked && isInUse(this.#holder)) this.#offer(fill);
    else fill();
    this.#asked = asked;
    this.#key = key;
    this.#id = id;
    return this.#row;
  }

  close() {
    this.#key = this.#asked = this.#id = "";
    this.#row?.remove();
    this.#row = this.#holder = this.#news = null;
  }

  /** A reader in the middle of it gets a note about new results, and a button. */
  #offer(fill) {
    this.#news?.remove();
    const button = make("button", { type: "button", on: { click: fill } }, "Show it");
    this.#news = make("p", { class: "doubt", role: "status" }, "This question has new results. ", button);
    this.#holder.prepend(this.#news);
  }

  #make(rows, id) {
    this.#row?.remove();
    this.#news = null;
    const attributes = { class: "question-detail", role: "region", tabindex: "-1", "aria-label": `Question ${clipped(shown(id), 80)}` };
    this.#holder = make("div", attributes, make("p", { class: "quiet" }, "Reading\u2026"));
    const cell = make("td", { role: "cell", "aria-colspan": rows.columns.length + (settings.pair ? 2 : 1) }, this.#holder);
    this.#row = make("tr", { role: "row", class: "question-opened" }, cell);
  }

  async #fill(rows, place, focus, key) {
    const holder = this.#holder;
    holder.setAttribute("aria-busy", "true");
    const detail = await questionDetail(rows.index, place, focus)
      .catch((error) => make("p", { class: "bad" }, `This question can't be shown: ${shown(error.message)}`));
    if (this.#key !== key) return; // another one is open by now
    const hasFocus = holder.contains(document.activeElement);
    holder.replaceChildren(detail);
    holder.removeAttribute("aria-busy");
    if (hasFocus) holder.focus({ preventScroll: true }); // what had it is gone
  }
}

/** Whether the reader is in it with the focus, or has marked text there. */
function isInUse(element) {
  return element.contains(document.activeElement) || hasSelection(element);
}

/** A key that changes when a case gets more answers or values. */
function whatIsThere(rows, place) {
  return rows.index.rows.map(({ status, values }) => [status[place], values.filter((list) => list[place] !== null).length]);
}
