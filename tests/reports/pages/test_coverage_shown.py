"""Nuggets and grades of contexts in an opened question: which is missing, which is vital, and each grade's meaning."""

from detail_opening import choose, opened
from detail_runs import measure, passage, valued, written
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question


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
