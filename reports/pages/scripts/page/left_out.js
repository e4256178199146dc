/* Left out: notes in the place of missing or cut data. */

function cutSentence(text, length) {
  return `Cut here: the page has the first ${[...text].length.toLocaleString("en")} of ${length.toLocaleString("en")} characters; the database has the whole.`;
}

/** A note for something that was too long for the page even without its texts. */
function tooLong(what, length) {
  return `Too long for this page: ${what}, ${length.toLocaleString("en")} characters; the database has the whole.`;
}

/** A note in the place of missing data. */
function leftOut(what) {
  if (settings.blocks) return make("p", { class: "quiet" }, `The database has ${what} no longer, or not yet.`);
  return make("p", { class: "quiet" }, `This file leaves out ${what}, because it would be too large; `, make("code", {}, "proctor view"), " and ", make("code", {}, "proctor report --whole"), " have it all.");
}

/** A note on the questions that are not listed at all, of which every figure of the page takes account; null where all are. */
function notListedNote(index) {
  const missing = (index.left_out?.questions ?? []).reduce((most, count) => Math.max(most, count), 0);
  if (!missing) return null;
  return make("p", { class: "quiet" }, `${counted(missing, "question")} more are not listed, because a browser would be slow with so many: these are what the problems name, and others drawn at random. All figures count every question; `, make("code", {}, "proctor report --whole"), " lists them all.");
}

/** How many questions a file has no details of; null where it has them all. */
function leftOutNote(index) {
  const missing = (index.left_out?.details ?? []).reduce((sum, count) => sum + count, 0);
  if (!missing) return null;
  return leftOut(`the contexts and evidence of ${counted(missing, "question")} that failed least`);
}
