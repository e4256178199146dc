/* Group links: figures by tag or document lead to their rows; there are thousands, so they get addresses when they are unfolded. */

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
