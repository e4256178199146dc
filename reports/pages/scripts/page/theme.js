/* Theme: light or dark, as the reader likes it. */

const theme = byId("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

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
