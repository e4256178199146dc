/* Source: the data of the page, a block at a time: out of the page itself, or from the server that gave it. */

const settings = JSON.parse(byId("settings").textContent);
const blocks = new Map();
const growthListeners = [];
const LONGEST_WAIT = 120_000; // milliseconds for a block

/** The block of that name, read once; null where there is none. */
function block(name) {
  if (!blocks.has(name)) blocks.set(name, settings.blocks ? served(name) : carried(name));
  return blocks.get(name);
}

/** Calls a listener whenever there is more to be read than before. */
function onGrowth(listener) {
  growthListeners.push(listener);
}

/** Forgets what was read, because there is more by now, and has it read anew. */
async function readAnew() {
  blocks.clear();
  await Promise.all(growthListeners.map((listener) => listener()));
}

/** A block from the server; failures are not cached, so the next try may succeed. */
async function served(name) {
  try {
    const reply = await fetch(settings.blocks + name + (settings.query ?? ""), { signal: AbortSignal.timeout(LONGEST_WAIT) });
    return await replied(reply, name);
  } catch (error) {
    blocks.delete(name);
    throw error;
  }
}

/** Sends something to the server, as a page of its session; what it says of itself, or its refusal as an error. */
async function posted(target, fields) {
  const headers = { "Content-Type": "application/json", "X-Proctor-Token": settings.token };
  const reply = await fetch(target, { method: "POST", headers, body: JSON.stringify(fields), signal: AbortSignal.timeout(LONGEST_WAIT) });
  if (!reply.ok) throw new Error(await reply.text());
  return reply.json();
}

function replied(reply, name) {
  if (reply.status === 404) return null;
  if (!reply.ok) throw new Error(`The server answered ${reply.status} for ${name}.`);
  return reply.json();
}

async function carried(name) {
  const element = byId(`block-${name}`);
  if (!element) return null;
  const bytes = decoded(element.textContent);
  element.remove(); // frees the memory of its text
  const opened = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(opened).json();
}

/** Bytes out of base 85: five digits, the characters from "(" with "}" for "<", are four bytes. */
function decoded(text) {
  const bytes = new Uint8Array(Math.floor((text.length * 4) / 5));
  for (let from = 0, to = 0; from < text.length; from += 5, to += 4) {
    let word = 0;
    for (let place = from; place < from + 5; place += 1) {
      const code = place < text.length ? text.charCodeAt(place) : 124; // what is missing at the end is the highest digit
      word = word * 85 + (code === 125 ? 60 : code) - 40;
    }
    for (let byte = 0; byte < 4; byte += 1) bytes[to + byte] = word >>> (24 - 8 * byte); // none lies beyond the end
  }
  return bytes;
}
