/* Question opening: the detail of the one line that is open, made once and kept while the lines around it change. */

class QuestionOpening {
  #key = "";
  #id = "";
  #row = null;
  #holder = null;
  filled = null; // kept when the detail stands

  /** The row with the detail of the open case; made anew when the case, the focus or its data are others. */
  row(rows, state) {
    const { named, open, metric } = state;
    const id = rows.idOf(open);
    const focus = { bot: named.at || named.bot || null, metric: rows.metrics[metric]?.name ?? null };
    const key = JSON.stringify([id, focus, grown(rows, open)]);
    if (key === this.#key) return this.#row;
    if (id !== this.#id) this.#make(rows, id);
    this.#key = key;
    this.#id = id;
    this.filled = this.#fill(rows, open, focus, key);
    return this.#row;
  }

  close() {
    this.#key = this.#id = "";
    this.#row?.remove();
    this.#row = this.#holder = null;
  }

  #make(rows, id) {
    this.#row?.remove();
    this.#holder = make("div", { class: "question-detail", role: "region", "aria-label": `Question ${clipped(shown(id), 80)}` }, make("p", { class: "quiet" }, "Reading\u2026"));
    const cell = make("td", { role: "cell", "aria-colspan": rows.columns.length + (settings.pair ? 2 : 1) }, this.#holder);
    this.#row = make("tr", { role: "row", class: "question-opened" }, cell);
  }

  async #fill(rows, place, focus, key) {
    const holder = this.#holder;
    holder.setAttribute("aria-busy", "true");
    const detail = await questionDetail(rows.index, place, focus).catch((error) => make("p", { class: "bad" }, `This question can't be shown: ${shown(error.message)}`));
    if (this.#key !== key) return; // another one is open by now
    holder.replaceChildren(detail);
    holder.removeAttribute("aria-busy");
  }
}

/** What tells whether a case has got more answers or values since. */
function grown(rows, place) {
  return rows.index.rows.map(({ status, values }) => [status[place], values.filter((list) => list[place] !== null).length]);
}
