"""The evidence of a metric in an opened question: every form of details that our metrics make, and any other."""

from pathlib import Path

import pytest
from browser import Shown
from detail_opening import choose, opened
from detail_rows import detail_page
from page_scripts import told_by_scripts


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of one run of two bots."""
    return detail_page(tmp_path_factory.mktemp("detail"))


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
