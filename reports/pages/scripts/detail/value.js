/* Value: any JSON value as something to read, however deep, long or strange it is. */

const DEEPEST = 6;

/** An element for a value; numbers are shortened, long texts and lists begin and offer more. */
function valueElement(value, depth = 0) {
  if (value === null || value === undefined) return make("span", { class: "quiet" }, "none");
  if (typeof value === "boolean") return document.createTextNode(value ? "yes" : "no");
  if (typeof value === "number") return document.createTextNode(shortNumber(value));
  if (typeof value === "string") return value.trim() ? longText(value, { characters: 1500, lines: 30 }) : make("span", { class: "quiet" }, "blank");
  if (depth >= DEEPEST) return longText(JSON.stringify(value), { characters: 400 });
  return Array.isArray(value) ? listElement(value, depth) : recordElement(value, depth);
}

function shortNumber(value) {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(Number(Math.abs(value) < 1 ? value.toPrecision(3) : value.toFixed(3)));
}

function listElement(list, depth) {
  if (!list.length) return make("span", { class: "quiet" }, "none");
  if (list.every((each) => typeof each !== "object" || each === null) && list.length <= 40 && String(list).length < 300) {
    return make("span", {}, between(list.map(simpleElement), ", "));
  }
  return someOf(list, "item", (each) => make("li", {}, valueElement(each, depth + 1)), { first: 10, holder: make("ul") });
}

function simpleElement(value) {
  return typeof value === "string" ? isolated(value) : valueElement(value);
}

function recordElement(record, depth) {
  return entriesElement(Object.entries(record), depth);
}

function entriesElement(entries, depth = 0) {
  if (!entries.length) return make("span", { class: "quiet" }, "nothing");
  const draw = ([key, value]) => make("div", {}, make("dt", {}, isolated(keyWords(key))), make("dd", {}, valueElement(value, depth + 1)));
  return someOf(entries, "entry", draw, { first: 30, holder: make("dl", { class: "detail-facts" }) });
}

/** A JSON text as it may be read, laid out; a text that is not JSON as it is. */
function jsonElement(text, length = null) {
  let laidOut = text;
  try {
    laidOut = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    /* cut, or no JSON at all: then it is shown as it stands */
  }
  return make("div", { class: "mono" }, longText(laidOut, { length, characters: 3000, lines: 40 }));
}
