/* Heights: where each line of a long table begins, so that only those near the window have to be drawn. */

class Heights {
  /** `items` are places, or below zero heads; all lines have one height, and all heads. */
  constructor(items) {
    this.count = items.length;
    this.line = 0;
    this.head = 0;
    this.openAt = -1; // the line whose detail stands below it
    this.opened = 0; // how high that is
    this.heads = [];
    for (let at = 0; at < items.length; at += 1) if (items[at] < 0) this.heads.push(at);
  }

  get whole() {
    return this.top(this.count);
  }

  /** Where an item begins, in pixels from the first one. */
  top(at) {
    return at * this.line - this.#headsBefore(at) * (this.line - this.head) + (this.openAt >= 0 && at > this.openAt ? this.opened : 0);
  }

  /** The item that stands at so many pixels from the first one. */
  at(pixels) {
    return Math.max(0, lastWhere(this.count, (at) => this.top(at) <= pixels));
  }

  #headsBefore(at) {
    return 1 + lastWhere(this.heads.length, (number) => this.heads[number] < at);
  }
}

/** The last of the numbers below `count` for which something holds that holds for all before it; -1 where there is none. */
function lastWhere(count, holds) {
  let [low, high] = [-1, count - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
