/* Shown: text from anywhere as it may stand on the page, as shown.py has it; and figures as people read them. */

const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function shown(text) {
  return String(text).toWellFormed().replace(HIDDEN, (character) => {
    const code = character.codePointAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    if (code < 0xa0) return "\ufffd";
    return `\u27e8U+${code.toString(16).toUpperCase()}\u27e9`;
  });
}

/** A text of others: isolated, so that a script from right to left turns nothing around it. */
function said(text, attributes = {}) {
  return make("bdi", { dir: "auto", ...attributes }, shown(text));
}

/** A value of a metric, in as many digits as its scale deserves; a dash where there is none. */
function figure(value, metric) {
  if (value === null || value === undefined) return "-";
  if (metric && metric.high !== null && metric.high <= 1) return value.toFixed(2);
  if (Math.abs(value) >= 1e7 || (value !== 0 && Math.abs(value) < 0.05)) return value.toPrecision(2);
  return value.toFixed(Math.abs(value) < 10 ? 1 : 0);
}

function milliseconds(value) {
  if (value === null || value === undefined) return "-";
  if (value >= 10000) return `${(value / 1000).toFixed(0)} s`;
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
  return `${value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2)} ms`;
}

function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
