"""Citations in an opened question: each beside the passage that it points at."""

from detail_opening import choose, opened
from detail_runs import measure, passage, valued, written
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question


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
