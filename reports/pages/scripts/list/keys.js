/* Keys: moving between the lines without a mouse. */

const MOVES = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

function isTyping({ target }) {
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/**
 * Letters alone can be switched off: speech input or accidental keys would trigger them. Where
 * the switch is not shown they are off.
 */
function letterKeys(button) {
  let isOn = remembered("proctor-letters") !== "off";
  const showState = () => (button.textContent = `Letter keys: ${isOn ? "on" : "off"}`);
  showState();
  button.addEventListener("click", () => {
    isOn = !isOn;
    showState();
    remember("proctor-letters", isOn ? "on" : "off");
  });
  return () => isOn && button.checkVisibility();
}

/** Listens for keys while the list is what is seen. `more` draws further lines, `close` closes the open one. */
function listenForKeys(list, search, { more, close }) {
  const view = list.closest("section.view");
  const hasLetters = letterKeys(byId("question-letters"));
  addEventListener("keydown", (event) => {
    if (view.hidden || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const { key, target } = event;
    const isElsewhere = target !== document.body && !view.contains(target);
    if (isElsewhere || (/^[jk/]$/.test(key) && !hasLetters())) return;
    if (key === "/") search.focus();
    else if (key === "Escape") close();
    else if (!(key in MOVES) || !move(list, target, MOVES[key], key.length > 1, more)) return;
    event.preventDefault();
  });
}

/** Moves to the next or previous line; arrows scroll the page as ever where no line has the focus. */
function move(list, from, step, isArrow, more) {
  const line = from.closest(".question-line, .question-opened");
  if (isArrow && !from.matches(".question-opener")) return false;
  const openers = () => [...list.querySelectorAll(".question-opener")];
  if (!line) return focusOn(openers()[0]);
  const own = line.matches(".question-line") ? line : line.previousElementSibling;
  const place = openers().indexOf(own.querySelector(".question-opener"));
  if (line !== own && step < 0) return focusOn(openers()[place]);
  if (place + step >= openers().length) more();
  return focusOn(openers()[place + step]);
}

function focusOn(opener) {
  opener?.focus();
  opener?.closest("tr").scrollIntoView({ block: "nearest" });
  return Boolean(opener);
}
