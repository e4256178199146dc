/* Copy: buttons that copy the text of another element, or select it where the browser has no clipboard for us. */

function showCopyButtons() {
  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
}

showCopyButtons();
addEventListener("redrawn", showCopyButtons); // a page that follows its run has new ones
addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (button) copyText(button, byId(button.dataset.copy));
});

async function copyText(button, source) {
  if (await isCopied(source.textContent)) {
    button.textContent = "Copied";
    announce("Copied.");
  } else {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected: press Ctrl+C";
    announce("The text is selected; press Control C to copy it.");
  }
}

/** Puts a text into the clipboard; a page from disk may have none, and what is selected is one keystroke away from it. */
async function isCopied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
