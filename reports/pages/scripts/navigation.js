/* Navigation: one part of the page at a time, by its name in the address; and light or dark as the reader likes it. */

const views = [...document.querySelectorAll("section.view")];
const links = [...document.querySelectorAll("nav.views a")];

function showView(name) {
  const chosen = views.find((view) => view.id === name) ?? views[0];
  for (const view of views) view.hidden = view !== chosen;
  for (const link of links) {
    if (link.hash === `#${chosen.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
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

/** Within a view a link such as #heatmap?part=latency leads to the heading with the id heatmap-latency. */
function showPart({ view, part }) {
  const heading = part && document.getElementById(`${view}-${part}`);
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView({ behavior: "instant" });
}
onAddress(showPart);
showPart(address());

/* The reader's choice outlives the page where the browser keeps anything for it. */
const theme = byId("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

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

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : prefersDark.matches;
}

function setTheme(chosen) {
  if (chosen) document.documentElement.dataset.theme = chosen;
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.ariaLabel = `${theme.textContent} colours`;
}

theme.hidden = false;
theme.addEventListener("click", () => {
  setTheme(isDark() ? "light" : "dark");
  remember("proctor-theme", isDark() ? "dark" : "light");
});
prefersDark.addEventListener("change", () => setTheme(null));
setTheme(remembered("proctor-theme"));
