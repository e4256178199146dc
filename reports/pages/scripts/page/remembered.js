/* Remembered: the reader's choices, which outlive the page where the browser keeps anything for it. */

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    /* a page that may keep nothing works all the same */
  }
}
