/* Group links: what thousands of links need not carry: addresses of figures by tag or document, and the question in a title. */

/** The address of a figure is that of its line, with the bot of its column. */
function linkGroups(within) {
  for (const table of within.querySelectorAll("details[open] table.groups")) {
    const bots = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.bot);
    for (const { cells } of table.tBodies[0].rows) {
      const group = cells[0].querySelector("a")?.getAttribute("href");
      for (const [at, bot] of bots.entries()) {
        const link = bot && group ? cells[at].querySelector("a") : null;
        if (link) link.href = `${group}&${bot}`;
      }
    }
  }
}

linkGroups(document);
document.addEventListener("redrawn", (event) => linkGroups(event.target));
document.addEventListener("toggle", (event) => linkGroups(event.target.parentElement), true); // it does not bubble

/** A link to one question says what that asks, when it is pointed at. */
document.addEventListener("pointerover", async ({ target }) => {
  const link = target.closest?.('a[href^="#answers?"]');
  const key = link && !link.title && new URLSearchParams(link.hash.split("?")[1]).get("open");
  if (!key) return;
  const { cases } = await block("rows");
  const place = cases.key.indexOf(key.replace(/~\d+$/, ""));
  if (place >= 0) link.title = shown(cases.text[place]);
});
