/* Elements: parts of the page made of plain values. Texts are only ever set as text, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; false, null and undefined are left out, true is a bare attribute. */
function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function makeSvg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/** Says something to those who hear the page instead of seeing it. */
function announce(sentence) {
  byId("announcement").textContent = sentence;
}
