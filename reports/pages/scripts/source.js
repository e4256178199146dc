/* Source: the data of the page, a block at a time: out of the page itself, or from the server that gave it. */

const settings = JSON.parse(byId("settings").textContent);
const blocks = new Map();

/** The block of that name, read once; null where there is none. */
function block(name) {
  if (!blocks.has(name)) blocks.set(name, settings.blocks ? asked(name) : carried(name));
  return blocks.get(name);
}

/** Forgets what was read, because there is more by now. */
function forgetBlocks() {
  blocks.clear();
}

async function asked(name) {
  const reply = await fetch(settings.blocks + name + (settings.query ?? ""));
  if (reply.status === 404) return null;
  if (!reply.ok) throw new Error(`The server answered ${reply.status} for ${name}.`);
  return reply.json();
}

async function carried(name) {
  const element = byId(`block-${name}`);
  if (!element) return null;
  const bytes = decoded(element.textContent);
  element.remove(); // the text is as large as all that it holds
  const opened = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(opened).json();
}

function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  return bytes;
}
