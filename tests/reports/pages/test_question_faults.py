"""The opened question when somebody clicks fast, when data are damaged, when names are those of JavaScript."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser import Shown
from detail_opening import TOOL
from detail_runs import measure, passage, valued, written
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question
from proctor.metrics.score import Score, Status

BOTS = ("ant", "bee", "cow", "doe", "elk", "fox")
OPENED = "return document.querySelector('.detail .evidence') && !document.querySelector('.question-detail[aria-busy]')"
CLAIMS = [
    {"claim": "Ships sail at dawn", "supported": True, "chunks": [1]},
    {"claim": "Trains run at noon", "supported": True, "chunks": [2]},
]
CONTEXTS = (passage("Ships sail at dawn. They return."), passage("Trains run at noon. They are late.", "b.md"))
MANY = tuple(passage(f"Passage {number}.", "m.md", 20 * number) for number in range(120))  # more than a block holds
LAST = (passage("Ships sail at dawn. They come back late.", "z.md"), passage("Trains run at noon.", "z.md", 90))
PROTOTYPE = "__proto__"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six bots; the first one has details and reasons with names that every object has."""
    folder = tmp_path_factory.mktemp("faults")
    metrics = (measure("faithfulness"), measure("constructor"), measure("own"), measure("odd"))
    with written(folder / "proctor.db", BOTS, metrics) as book:
        question = Question("how", "How?", ("so",))
        for bot in BOTS:
            scores = [valued("faithfulness", 0.5, {"claims": CLAIMS})]
            if bot == "ant":
                scores.append(valued("own", 0.5, {PROTOTYPE: "kept all the same", "reason": "toString"}))
                scores.append(valued("odd", 0.5, {"ranks": [None], "answer": [{"span": ["a", {}], "detector": 5}]}))
                scores.append(Score("constructor", None, Status.ERROR, "valueOf"))
            contexts = {"elk": MANY, "fox": LAST}.get(bot, CONTEXTS)
            book.ask(bot, question, Reply(f"{bot}: Ships sail at dawn.", contexts), scores)
        return book.page(folder / "page.html")


def opened(page: Shown, file: Path, metric: str = "faithfulness", bot: str = "ant") -> None:
    page.open(f"{file.as_uri()}#answers?open=how&metric={metric}&bot={bot}")
    page.wait(OPENED)


@contextmanager
def slowed(page: Shown) -> Iterator[None]:
    """Blocks that take their time."""
    source = """
        const plain = Response.prototype.json;
        Response.prototype.json = async function () {
          const value = await plain.call(this);
          await new Promise((resolve) => setTimeout(resolve, 200));
          return value;
        };"""
    added = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        yield
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def damaged(file: Path, target: Path, block: str) -> Path:
    """The page with a block in which some bytes are others."""
    text = file.read_text("utf-8")
    start = text.index(">", text.index(f'id="block-{block}"')) + 1
    middle = start + (text.index("</script>", start) - start) // 2
    target.write_text(f"{text[:middle]}((((((((((((((((((((((((({text[middle + 25 :]}", "utf-8")
    return target


def test_bots_that_are_chosen_fast_are_all_there(page: Shown, file: Path) -> None:
    with slowed(page):
        opened(page, file)
        page.run("const all = document.querySelectorAll('.bot-choice button');"
                 " all[0].click(); all[4].click(); all[5].click(); all[5].click(); all[5].click();")  # fmt: skip
        page.wait("return document.querySelectorAll('.answers .bot-side').length === 5")
        page.driver.execute_async_script("setTimeout(arguments[0], 300)")
    pressed = page.texts(".bot-choice button[aria-pressed=true]")
    assert pressed == ["bee", "cow", "doe", "elk", "fox"]
    assert page.texts(".answers .bot-side h4") == pressed
    below = page.texts(".detail article[aria-label^=Evidence] h4")
    assert [each.partition(":")[0] for each in below] == pressed


def test_of_two_claims_that_are_followed_fast_the_later_one_counts(page: Shown, file: Path) -> None:
    with slowed(page):
        opened(page, file)
        page.run("const all = document.querySelectorAll('article[aria-label=\"Evidence of ant\"] button.claim-text');"
                 " all[0].click(); all[1].click();")  # fmt: skip
        page.wait("return document.querySelector('.context-text mark.nearest')")
        page.driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert page.texts(".context-text mark.nearest") == ["Trains run at noon."]


def test_another_question_that_is_opened_meanwhile_is_the_one_shown(page: Shown, tmp_path: Path) -> None:
    with written(tmp_path / "proctor.db", ("ant",), (measure("faithfulness"),)) as book:
        for key in ("a", "b", "c"):
            scores = [valued("faithfulness", 1.0, {})]
            book.ask("ant", Question(key, f"What of {key}?", ("so",)), Reply(f"answer {key}"), scores)
        made = book.page(tmp_path / "page.html")
    with slowed(page):
        page.open(f"{made.as_uri()}#answers")
        page.run("const all = document.querySelectorAll('.question-opener');"
                 " for (const each of [0, 1, 2, 0, 1]) all[each].click()")  # fmt: skip
        page.wait(OPENED)
    assert page.texts(".answers .answer") == ["answer b"]
    assert page.texts(".question-line.open .question-key") == ["b"]
    page.run("for (const each of [1, 1]) document.querySelectorAll('.question-opener')[each].click()")
    page.wait(OPENED)
    assert len(page.texts(".question-opened")) == 1


def test_passages_that_are_damaged_are_told_in_their_place(page: Shown, file: Path, tmp_path: Path) -> None:
    opened(page, damaged(file, tmp_path / "passages.html", "passages-0-0"))
    assert "can't be read" in page.text(".contexts .context")
    assert "Ships sail at dawn." in page.text(".answers .answer")
    page.click("button.claim-text")
    page.wait("return document.querySelector('.detail .told, .context-note:not([hidden])')")


def test_details_that_are_damaged_are_told(page: Shown, file: Path, tmp_path: Path) -> None:
    page.open(f"{damaged(file, tmp_path / 'details.html', 'details-0-0').as_uri()}#answers?open=how")
    page.wait("return !document.querySelector('.question-detail[aria-busy]')")
    assert "can't be shown" in page.text(".question-detail")


def test_names_that_every_object_has_are_names_like_others(page: Shown, file: Path) -> None:
    opened(page, file, "own")
    evidence = 'article[aria-label="Evidence of ant"] .evidence'
    assert "kept all the same" in page.text(evidence)
    assert "toString" in page.text(evidence)
    assert "native code" not in page.text(".detail")
    opened(page, file, "constructor")
    assert "valueOf" in page.text(evidence)
    assert "not measured" in page.text('article[aria-label="Evidence of bee"] .evidence')
    assert "native code" not in page.text(".detail")


def test_details_of_a_form_that_nobody_thought_of_are_drawn(page: Shown, file: Path) -> None:
    opened(page, file, "odd")
    assert "not retrieved" in page.text('article[aria-label="Evidence of ant"] .evidence')


def test_a_link_to_a_question_that_was_corrected_opens_that_one(page: Shown, tmp_path: Path) -> None:
    """Two cases of one key: the second one has a longer name in addresses."""
    with written(tmp_path / "proctor.db", ("ant",), (measure("faithfulness"),)) as book:
        for number, expected in enumerate(("old", "new")):
            asked = Question("how", "How?", (expected,))
            book.ask("ant", asked, Reply(f"said to {expected}"), [valued("faithfulness", 1.0, {})], position=number)
        made = book.page(tmp_path / "page.html")
    page.open(f"{made.as_uri()}#answers")
    page.run("document.querySelectorAll('.question-opener')[1].click()")
    page.wait(OPENED)
    page.run("Object.defineProperty(navigator, 'clipboard', { get() { return undefined } })")
    page.run(TOOL.format("Copy link"))
    page.open(page.wait("return document.querySelector('.detail-tools input')?.value"))
    page.wait(OPENED)
    assert page.texts(".answers .answer") == ["said to new"]
