"""The opened question: all bots side by side, and from a claim to the sentence that bears on it."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser import Shown
from detail_opening import RIGHT, TOOL, choose, follow, opened
from detail_rows import ARABIC, DELIVERY, QUOTE, detail_page
from detail_runs import measure, passage, valued, written
from page_scripts import told_by_scripts
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of one run of two bots."""
    return detail_page(tmp_path_factory.mktemp("detail"))


def test_shows_the_question_with_all_that_is_known_of_it(page: Shown, file: Path) -> None:
    opened(page, file)
    asked = page.text(".asked")
    for wanted in (
        "How long does it take?",
        "Two days. On weekdays only.",
        "Forty-eight hours.",
        "two or 2",
        "post",
        "a.md",
    ):
        assert wanted in asked
    assert "perturbation of why" in asked
    assert "answerable" in asked


def test_shows_the_bots_side_by_side_and_stacks_them_on_a_phone(page: Shown, file: Path) -> None:
    place = (
        "return [...document.querySelectorAll('.answers .bot-side')].map((each) => each.getBoundingClientRect())"
        ".map(({x, y}) => [x, y])"
    )
    opened(page, file)
    (left_x, left_y), (right_x, right_y) = page.run(place)
    assert left_x < right_x
    assert left_y == right_y
    opened(page, file, width=390)
    (left_x, left_y), (right_x, right_y) = page.run(place)
    assert left_x == right_x
    assert left_y < right_y
    assert page.run("return document.documentElement.scrollWidth") <= 390


def test_keeps_the_lines_of_an_answer(page: Shown, file: Path) -> None:
    opened(page, file)
    assert page.text("article[aria-label='Answer of left'] .answer") == "Two days.\n  Or so."


def test_marks_claims_in_the_answer_with_a_sign_and_not_by_colour_alone(page: Shown, file: Path) -> None:
    opened(page, file)
    assert page.texts(".answers .answer mark.bad") == ["Cats fly to the moon."]
    assert page.texts(".answers .answer .mark-tag.bad") == ["✗"]


@pytest.mark.parametrize(("place", "sentence"), [(0, DELIVERY), (1, ARABIC)], ids=("emoji", "arabic"))
def test_a_claim_leads_to_the_sentence_of_the_context_that_supports_it(
    page: Shown, file: Path, place: int, sentence: str
) -> None:
    opened(page, file)
    follow(page, place)
    assert page.run("return document.activeElement.dataset.rank") == str(place + 1)
    marked = (
        "return [...document.querySelectorAll('.context-text mark.nearest')].map((each) => each.textContent).join('')"
    )
    assert page.run(marked) == sentence
    assert page.texts(".contexts .context-note mark") == ["closest sentence"]
    page.run("document.activeElement.querySelector('button.back').click()")
    assert (
        page.run("return [...document.querySelectorAll('button.claim-text')].indexOf(document.activeElement)") == place
    )


def test_an_unsupported_claim_says_so_and_shows_the_nearest_sentence_all_the_same(page: Shown, file: Path) -> None:
    opened(page, file)
    evidence = page.text(f"{RIGHT} .evidence")
    assert "contradicted · no context supports it · probability 0.03 · 67 % of the votes agree" in evidence
    assert "Evidence: Cats stay at home." in evidence
    assert "cats were not mentioned" in evidence
    page.run("document.querySelectorAll('button.claim-text')[2].click()")
    page.wait("return document.querySelector('.context-message')")
    assert page.text(".context-message") == "No sentence of the contexts shares a word with the claim."
    choose(page, "answer_correctness")
    page.run("document.querySelectorAll('button.claim-text')[0].click()")
    page.wait("return document.querySelector('.context-text mark.nearest')")
    assert page.texts(".expected mark.nearest") == ["On weekdays only."]
    assert page.text(".asked .context-note mark") == "closest sentence"


def test_the_enter_key_follows_a_claim(page: Shown, file: Path) -> None:
    opened(page, file)
    page.run("document.querySelector('button.claim-text').focus()")
    page.driver.switch_to.active_element.send_keys("\n")
    page.wait("return document.activeElement.matches('.context')")
    assert page.run("return document.activeElement.dataset.rank") == "1"


def test_a_missed_claim_leads_to_the_nearest_sentence_of_the_answer(page: Shown, file: Path) -> None:
    opened(page, file)
    assert "missing in the answer" in choose(page, "answer_correctness")
    page.run("document.querySelectorAll('button.claim-text')[1].click()")
    page.wait("return document.activeElement.matches('.answer')")
    assert page.texts(".answers .answer mark.nearest") == ["Cats fly to the moon."]


def test_marks_gold_evidence_to_the_character_and_tells_what_was_not_retrieved(page: Shown, file: Path) -> None:
    opened(page, file)
    gold = "return [...document.querySelectorAll('.context-text mark.gold')].map((each) => each.textContent)"
    assert page.run(gold) == [QUOTE]
    assert page.run("return document.querySelector('.mark-tag.gold').textContent") == "gold"
    assert "Gold evidence not retrieved: never found" in page.text(RIGHT)


def test_tells_failures_and_what_no_bot_has(page: Shown, file: Path) -> None:
    opened(page, file, "late")
    left, right = page.texts(".answers .bot-side")
    assert "timed out" in left
    assert "no answer within 30 s" in left
    assert "abstained" in right
    assert "This bot has no retriever." in page.text("article[aria-label='Evidence of left']")
    assert "The retriever found nothing." in page.text(RIGHT)
    opened(page, file)
    assert "The bot gave no contexts" in page.text(".scores .no-value")


def test_opens_the_repeat_that_was_asked_for(page: Shown, file: Path) -> None:
    for repeat, key in enumerate(("twice", "twice~1")):
        page.open(f"{file.as_uri()}#answers?{urlencode({'open': key})}")
        page.wait("return document.querySelector('.detail .answer')")
        assert page.text(".answers .answer") == f"answer {repeat}"


def test_tells_how_the_answer_came_about(page: Shown, file: Path) -> None:
    opened(page, file)
    page.run(f"document.querySelectorAll('{RIGHT} details').forEach((each) => (each.open = true))")
    page.wait("return document.querySelector('.call-name')")
    text = page.text(f"{RIGHT} .side-part:last-child")
    for wanted in (
        "700 ms",
        "12 ms",
        "100 ms, 700 ms",
        "In flight at once\n3",
        "120",
        "0.004",
        "first I looked",
        '"tool": "search"',
        'Tools called (2)\n\n<b>look</b> {"order":"1182"}\npacked\nswap ?\nno JSON',
    ):
        assert wanted in text


def test_reads_the_raw_calls_of_the_judge_only_when_they_are_opened(page: Shown, file: Path) -> None:
    opened(page, file)
    assert page.run("return document.querySelectorAll('[id^=block-calls]').length") > 0
    assert "raw request" not in page.run("return document.querySelector('.detail').textContent")
    page.run("[...document.querySelectorAll('article[aria-label=\"Evidence of right\"] summary')].at(-1).click()")
    page.wait("return document.querySelector('.call-name')")
    page.run("document.querySelector('.call-name').closest('summary').click()")
    page.wait("return /raw request/.test(document.querySelector('.detail').textContent)")
    call = page.text(".detail details:has(> summary .call-name)")
    for wanted in ("review", "large", '"grade": 0.6', "I weighed it", "140 ms"):
        assert wanted in call


def test_draws_the_beginning_of_what_is_huge_and_offers_more(page: Shown, file: Path) -> None:
    opened(page, file, "many")
    assert page.run("return document.querySelectorAll('.detail .claim').length") == 20
    assert page.run("return document.querySelectorAll('.detail .context').length") == 6
    assert "of 601 claims" in page.text(".evidence button.show-more")
    assert len(page.text(".answers .answer")) < 1000
    follow(page, 0)
    assert page.run("return document.activeElement.dataset.rank") == "250"
    assert (
        page.run("return document.activeElement.querySelector('mark.nearest:not(.context-note *)').textContent")
        == "Passage number 249."
    )
    page.run("document.querySelector('.answers button.show-more').click()")
    page.run("let more; while ((more = document.querySelector('.answers button.show-more'))) more.click()")
    assert "first 50,000 of 750,000 characters; the database has the whole" in page.text(".answers .answer")


def test_underlines_shared_words_when_asked(page: Shown, file: Path) -> None:
    opened(page, file)
    assert page.texts(".answers u.shared") == []
    page.run(TOOL.format("Shared words"))
    assert {"two", "days"} <= set(page.texts(".answers .shared"))


def test_gives_a_link_to_the_question(page: Shown, file: Path) -> None:
    opened(page, file)
    page.run(TOOL.format("Copy link"))
    page.wait(
        "const tools = document.querySelector('.detail-tools');"
        "return tools.querySelector('input') || /copied/.test(tools.textContent)"
    )
    link = page.run("return document.querySelector('.detail-tools input')?.value ?? navigator.clipboard.readText()")
    assert link.endswith("#answers?bot=right&metric=faithfulness&open=how")


# The evidence of a metric in an opened question: every form of details that our metrics make, and any other


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("groundedness", ("similarity 0.90 · nearest to context 1", "similarity 0.20 · nearest to context 2")),
        ("context_precision", ("Context 1", "✗ not useful", "Judge: off topic", "✓ useful")),
        ("hit_rate", ("✓ found", "✗ not retrieved", "never found")),
        ("judge_relevance", ("Half of it.", "0.5, 0.7", "50 % of the votes agree")),
        ("leak.passes", ("✗ email", "a@…", "characters", "Context 2")),
        ("leak.failures", ("stored with leak.passes", "✗ email")),
        ("own", ("Deep", "Three\nnone", "Yes\nyes", "any thing", "not a list")),
        ("rouge_l", ("No value. The metric itself failed.", "no such thing", "ValueError")),
        ("claim_precision", ("The answer claims nothing that could be checked.",)),
    ],
)
def test_draws_the_details_of_a_metric(page: Shown, file: Path, metric: str, wanted: tuple[str, ...]) -> None:
    opened(page, file)
    evidence = choose(page, metric)
    for part in wanted:
        assert part in evidence


@pytest.mark.parametrize(
    ("metric", "marked"),
    [("lettucedetect", "Cats fly"), ("leak.passes", "a@b.example"), ("groundedness", "Cats fly to the moon.")],
)
def test_marks_spans_of_the_answer_to_the_character(page: Shown, file: Path, metric: str, marked: str) -> None:
    opened(page, file)
    choose(page, metric)
    assert marked in page.texts("article[aria-label='Answer of right'] mark.bad")


@pytest.mark.parametrize(("similarity", "kinds"), [(0.9, ["good"]), (0.2, ["bad", "doubt"])])
def test_the_least_grounded_sentence_is_marked_only_where_it_is_not_grounded(
    page: Shown, similarity: float, kinds: list[str]
) -> None:
    shared = [f"page/{name}" for name in ("elements", "shown", "long_text", "unfolding", "outcomes")]
    needed = [*shared, *(f"detail/{name}" for name in ("marks", "nearest", "words", "value", "items"))]
    details = {"sentences": [{"sentence": "Cats nap.", "similarity": similarity}], "least_grounded": "Cats nap."}
    code = "return verdictRanges(...arguments).map(({ kind }) => kind)"
    metric = {"name": "groundedness", "better": "higher", "threshold": 0.75}
    marked = told_by_scripts(page, needed, code, "Cats nap. All day.", "answer", {"details": details}, metric)
    assert marked == kinds


# Citations in an opened question: each beside the passage that it points at


def test_each_citation_is_shown_beside_its_passage(page, tmp_path):
    names = ("citation_recall", "citation_validity", "quote_accuracy")
    scores = (
        valued("citation_recall", 0.5, {"claims": [
            {"claim": "It opens at nine", "supported": True, "cited": [2], "chunks": [2],
             "passages": ["Open from nine."]},
            {"claim": "It is blue", "supported": False, "cited": [], "chunks": [], "passages": []},
        ]}),
        valued("citation_validity", 0.5, {"citations": [
            {"citation": "[2]", "target": "2", "contexts": [2], "passages": ["Open from nine."]},
            {"citation": "(source: x.md)", "target": "x.md", "contexts": [], "passages": []},
        ]}),
        valued("quote_accuracy", 0.0, {"quotes": [{"quote": "we never close at all", "contexts": []}]}),
    )  # fmt: skip
    with written(tmp_path / "proctor.db", ("right",), tuple(measure(name) for name in names)) as book:
        contexts = (passage("Nothing."), passage("Open from nine.", "b.md"))
        book.ask("right", Question("how", "When?", ("At nine.",)), Reply("It opens at nine [2].", contexts), scores)
        file = book.page(tmp_path / "page.html")
    opened(page, file)
    evidence = choose(page, "citation_recall")
    for part in ("It opens at nine", "Cites Context 2 Open from nine.", "Cites nothing that was retrieved."):
        assert part in evidence
    evidence = choose(page, "citation_validity")
    for part in ("Citations", "[2]", "Open from nine.", "(source: x.md)", "✗ not retrieved"):
        assert part in evidence
    evidence = choose(page, "quote_accuracy")
    assert "✗ in no context" in evidence


# Nuggets and grades of contexts in an opened question: which is missing, which is vital, and each grade's meaning


def test_each_nugget_and_each_grade_is_shown(page, tmp_path):
    names = ("vital_recall", "graded_ndcg")
    scores = (
        valued("vital_recall", 0.5, {
            "nuggets": [
                {"nugget": "It opens at nine.", "vital": True, "support": "support"},
                {"nugget": "It closes at six.", "vital": True, "support": "not_support", "why": "not mentioned"},
                {"nugget": "It is in Bern.", "vital": False, "support": "partial_support"},
            ], "missing": ["It closes at six."], "nuggets_of": "question", "judge": "small",
        }),
        valued("graded_ndcg", 0.9, {"chunks": [{"chunk": 1, "grade": 1, "why": "no hours"}, {"chunk": 2, "grade": 3}]}),
    )  # fmt: skip
    with written(tmp_path / "proctor.db", ("right",), tuple(measure(name) for name in names)) as book:
        contexts = (passage("Nothing."), passage("Open from nine.", "b.md"))
        book.ask("right", Question("how", "When?"), Reply("It opens at nine.", contexts), scores)
        file = book.page(tmp_path / "page.html")
    opened(page, file)
    evidence = choose(page, "vital_recall")
    for part in ("Nuggets that a good answer holds", "missing in the answer · vital", "Judge: not mentioned",
                 "supported by the answer · vital", "supported in part · okay"):  # fmt: skip
        assert part in evidence
    evidence = choose(page, "graded_ndcg")
    for part in (
        "Context 1",
        "relevance 1 of 3: on the topic, no answer",
        "Context 2",
        "relevance 3 of 3: answers in full",
    ):
        assert part in evidence
    shown = [line.text for line in page.driver.find_elements("css selector", ".context-facts")]
    assert [line.rpartition("relevance")[2] for line in shown] == [
        " 1 of 3: on the topic, no answer", " 3 of 3: answers in full",
    ]  # fmt: skip
