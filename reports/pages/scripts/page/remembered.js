/* Remembered: the reader's choices, stored by the browser where it allows that. */

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
    /* storage may be refused; the page works without it */
  }
}
