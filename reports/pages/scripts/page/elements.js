/* Elements: parts of the page made of plain values. Texts are only ever set as text, never as markup. */

/**
 * An element with attributes and children; false, null and undefined are left out, true is a bare attribute. Only what
 * is read by screen readers gets true and false as words.
 */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (key === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (key === "value") element.value = value;
    else if (key.startsWith("aria-")) element.setAttribute(key, value);
    else if (value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Parts with something between each two of them. */
function between(parts, separator) {
  return parts.flatMap((part, place) => (place ? [separator, part] : [part]));
}

/** A table in a place of its own, which scrolls when the table is wider. */
function scrollable(label, table) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

function byId(id) {
  return document.getElementById(id);
}

/** Whether the reader has marked text in an element, perhaps to copy it. */
function hasSelection(element) {
  const selection = getSelection();
  return !selection.isCollapsed && selection.anchorNode !== null && element.contains(selection.anchorNode);
}

/** Says something to those who hear the page instead of seeing it. */
function announce(sentence) {
  byId("announcement").textContent = sentence;
}
