/* Redrawing: the parts of a page that the server draws, replaced by newer ones under the reader's eyes. */

const drawnBefore = new Map(); // id of a section -> the HTML that the server gave last

/** The page as the server has it now, as a document that runs nothing; null where there is none. */
function freshPage() {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(); // the one way to have HTML parsed that Trusted Types leave open
    request.open("GET", location.pathname + location.search);
    request.responseType = "document";
    request.timeout = 120_000;
    request.onload = () => resolve(request.status === 200 ? request.response : null);
    request.onerror = request.ontimeout = () => resolve(null);
    request.send();
  });
}

/** Replaces title and sections by those of another document; what scripts draw themselves is left to them. */
function redrawFrom(fresh) {
  const [left, top] = [scrollX, scrollY];
  for (const name of ["title", "header h1", "header .subtitle"]) {
    document.querySelector(name).textContent = fresh.querySelector(name).textContent;
  }
  for (const section of fresh.querySelectorAll("section.view")) {
    const here = byId(section.id);
    if (here && !section.querySelector("[aria-busy]")) redrawSection(here, section);
  }
  scrollTo({ left, top, behavior: "instant" });
}

function redrawSection(here, fresh) {
  const html = fresh.innerHTML;
  if (drawnBefore.get(here.id) === html || hasSelection(here)) return; // marked text is left until the next time
  drawnBefore.set(here.id, html);
  const place = savedPlace(here);
  here.replaceChildren(...[...fresh.childNodes].map((node) => document.adoptNode(node)));
  restorePlace(here, place);
  here.dispatchEvent(new Event("redrawn", { bubbles: true }));
}

function savedPlace(section) {
  const focused = section.contains(document.activeElement) ? document.activeElement : null;
  return {
    open: new Map([...section.querySelectorAll("details")].map((each, place) => [detailsName(each, place), each.open])),
    scrolled: [...section.querySelectorAll(".scroll")].map((each) => each.scrollLeft),
    chosen: new Map([...section.querySelectorAll("select[id], input[id]")].map((each) => [each.id, each.value])),
    focused: focused && nameOf(focused, section),
  };
}

function restorePlace(section, { open, scrolled, chosen, focused }) {
  for (const [place, each] of section.querySelectorAll("details").entries()) each.open = open.get(detailsName(each, place)) ?? each.open;
  for (const [place, each] of section.querySelectorAll(".scroll").entries()) each.scrollLeft = scrolled[place] ?? 0;
  for (const [id, value] of chosen) if (byId(id)) byId(id).value = value;
  if (focused) elementNamed(focused, section)?.focus({ preventScroll: true });
}

/** A part that opens is known by what it says, whatever figures stand in that. */
function detailsName(details, place) {
  return details.id || details.querySelector("summary")?.textContent.replace(/\d+/g, "#").trim() || place;
}

function nameOf(element, section) {
  const alike = [...section.querySelectorAll(element.localName)];
  return { id: element.id, tag: element.localName, place: alike.indexOf(element), text: element.textContent };
}

function elementNamed({ id, tag, place, text }, section) {
  if (id) return byId(id);
  const alike = [...section.querySelectorAll(tag)];
  return alike.find((each) => text && each.textContent === text) ?? alike[place];
}
