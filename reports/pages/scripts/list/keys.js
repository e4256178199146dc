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

/** Listens for keys while the list is what is seen. `move` goes on by a number of lines, `close` closes the open one. */
function listenForKeys(list, search, { move, close }) {
  const view = list.closest("section.view");
  const hasLetters = letterKeys(byId("question-letters"));
  addEventListener("keydown", (event) => {
    if (view.hidden || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const { key, target } = event;
    const isElsewhere = target !== document.body && !view.contains(target);
    if (isElsewhere || (/^[jk/]$/.test(key) && !hasLetters())) return;
    if (key === "/") search.focus();
    else if (key === "Escape") close();
    else if (!(key in MOVES) || (key.length > 1 && !target.matches(".question-opener, .question-fold"))) return; // arrows scroll as ever
    else if (!move(MOVES[key], target)) return;
    event.preventDefault();
  });
}
