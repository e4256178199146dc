/* Navigation: one part of the page at a time, by its name in the address. */

const views = [...document.querySelectorAll("section.view")];
const links = [...document.querySelectorAll("nav.views a")];

/* An address that names no part, or nothing within one, as one that was mistyped or is of another version. */
const noSuchPart = make("p", { class: "unknown-address", role: "status" });

function showView(name) {
  const named = document.getElementById(name);
  const chosen = named?.closest("section.view") ?? views[0];
  if (named || !name) noSuchPart.remove();
  else {
    const parts = views.map(({ id }) => `#${id}`).join(", ");
    noSuchPart.textContent = `This page has no part “${name}”, so this is ${chosen.ariaLabel}. It has: ${parts}.`;
    document.getElementById("main").prepend(noSuchPart);
  }
  for (const view of views) view.hidden = view !== chosen;
  for (const link of links) {
    const isChosen = link.hash === `#${chosen.id}`;
    if (isChosen === link.hasAttribute("aria-current")) continue;
    if (!isChosen) link.removeAttribute("aria-current");
    else link.setAttribute("aria-current", "page");
    if (isChosen) link.parentElement.scrollLeft = link.offsetLeft - (link.parentElement.clientWidth - link.offsetWidth) / 2;
  }
}

/* Whoever follows a link from one part into another is at its beginning, with the keyboard as well. */
let isLed = false;

addEventListener("click", ({ target }) => {
  const link = target.closest("section.view a[href^='#']");
  const name = link?.hash.slice(1).split("?")[0];
  isLed = views.some((view) => view.id === name && !view.contains(link));
});

onAddress(({ view }) => {
  if (view === "main") return;
  showView(view);
  const entered = isLed && views.find(({ hidden }) => !hidden);
  isLed = false;
  if (!entered) return;
  entered.focus({ preventScroll: true });
  scrollTo({ top: 0, behavior: "instant" });
});
showView(address().view);

/** Within a view a link such as #metrics?part=latency leads to the heading with the id metrics-latency, folded or not. */
function showPart({ view, part }) {
  const heading = part && document.getElementById(`${view}-${part}`);
  for (let each = heading?.parentElement; each; each = each.parentElement) if (each.matches("details")) each.open = true;
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView({ behavior: "instant" });
}
onAddress(showPart);
showPart(address());
