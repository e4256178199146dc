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

onAddress(({ view }) => {
  if (view !== "main") showView(view);
});
showView(address().view);

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
}

theme.hidden = false;
theme.addEventListener("click", () => {
  setTheme(isDark() ? "light" : "dark");
  remember("proctor-theme", isDark() ? "dark" : "light");
});
prefersDark.addEventListener("change", () => setTheme(null));
setTheme(remembered("proctor-theme"));
