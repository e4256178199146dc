/* Ticks: two runs of the list are ticked and compared; a run that goes on is stopped by its button. */

const tickedRuns = new Set(); // names, in the order in which they were ticked
const pairBar = make("p", { class: "run-pair", hidden: true, role: "status" });

function drawTicks() {
  const boxes = [...document.querySelectorAll("input.run-tick")];
  for (const box of boxes) {
    box.hidden = false;
    box.checked = tickedRuns.has(box.value);
  }
  const [candidate, baseline] = boxes.filter(({ checked }) => checked).map(({ value }) => value); // the latest stands first
  pairBar.hidden = candidate === undefined;
  if (baseline === undefined) return pairBar.replaceChildren("Tick a second run to compare the two.");
  const query = new URLSearchParams({ baseline, candidate });
  pairBar.replaceChildren(make("a", { href: `/compare?${query}` }, "Compare ", isolated(candidate), " with ", isolated(baseline)), " as the baseline, question by question.");
}

addEventListener("change", ({ target }) => {
  if (!target.matches("input.run-tick")) return;
  if (!target.checked) tickedRuns.delete(target.value);
  else tickedRuns.add(target.value);
  const [first] = tickedRuns;
  if (tickedRuns.size > 2) tickedRuns.delete(first);
  drawTicks();
});

/** Asks the programs of a run to end it; what was answered stays, and the same command goes on with it. */
async function stopRun(button) {
  button.disabled = true;
  try {
    await posted(button.dataset.stop, {});
    button.textContent = "Stopping\u2026";
    announce("The run stops. The same command goes on with it.");
  } catch (error) {
    button.disabled = false;
    button.after(make("span", { class: "bad", role: "alert" }, ` ${shown(error.message)}`));
  }
}

addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-stop]");
  if (button) stopRun(button);
});

if (document.querySelector("table.runs")) {
  byId("main").append(pairBar);
  addEventListener("redrawn", drawTicks);
  drawTicks();
}
