/* Address: the state of the page in the hash of its address, so that links can be shared. */

const addressListeners = [];

/** {view, ...parameters} of an address such as #answers?bot=rag&open=12. */
function address() {
  const [view, query = ""] = location.hash.slice(1).split("?");
  return { ...Object.fromEntries(new URLSearchParams(query)), view };
}

function addressOf({ view, ...parameters }) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== "" && value !== null && value !== undefined) query.set(name, value);
  }
  return `#${view}${query.size ? `?${query}` : ""}`;
}

/** Goes to another view of the page; `replace` leaves no step to go back to. */
function goTo(place, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", addressOf(place));
  tellOfAddress();
}

function onAddress(listener) {
  addressListeners.push(listener);
}

function tellOfAddress() {
  const place = address();
  for (const listener of addressListeners) listener(place);
}

addEventListener("popstate", tellOfAddress);
