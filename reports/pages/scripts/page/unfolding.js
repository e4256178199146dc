/* Unfolding: what is shown when it is asked for: more of many things, and a part that is folded away. */

/** Things one after the other, the first ones at once and more when they are asked for; `draw` makes an element of each. */
function someOf(things, noun, draw, { first = 20, holder = make("ul", { class: "plain" }) } = {}) {
  const whole = make("div", {}, holder);
  const more = make("button", { type: "button", class: "show-more" });
  let count = 0;
  function grow(by) {
    const from = count;
    count = Math.min(things.length, count + by);
    holder.append(...things.slice(from, count).map((thing, place) => draw(thing, from + place)));
    more.textContent = `Show ${Math.min(things.length - count, 100).toLocaleString("en")} more of ${counted(things.length, noun)}`;
    if (count === things.length) more.remove();
    return holder.children[from];
  }
  more.addEventListener("click", () => {
    const begun = grow(100);
    if (!begun) return;
    begun.tabIndex = -1;
    begun.focus();
  });
  whole.append(more);
  grow(first);
  return whole;
}

/** A part that is folded away, and made when it is first opened. */
function foldedPart(title, build, attributes = {}) {
  const body = make("div", { class: "folded-body" });
  const whole = make("details", { class: "folded", ...attributes }, make("summary", {}, title), body);
  let built = false;
  whole.addEventListener("toggle", async () => {
    if (!whole.open || built) return;
    built = true;
    body.replaceChildren(make("p", { class: "quiet" }, "Reading\u2026"));
    try {
      body.replaceChildren(...[await build()].flat(Infinity).filter(Boolean));
    } catch (failure) {
      built = false;
      body.replaceChildren(make("p", { class: "bad" }, "This part could not be read: ", isolated(failure.message ?? failure)));
    }
  });
  return whole;
}
