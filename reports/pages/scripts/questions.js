/* Questions: the list of all questions, a line each with what every bot got. */

async function drawQuestions() {
  const index = await block("rows");
  const place = byId("question-list");
  place.replaceChildren(make("p", { class: "quiet" }, counted(index.cases.key.length, "row")));
  place.removeAttribute("aria-busy");
}

if (byId("question-list")) await drawQuestions();
