"""Which passages nobody reads, and which are the only ones."""

from proctor.harness.analysis.corpus import QuestionGold
from proctor.harness.analysis.document_summaries import excerpt, single_passages, unused_passages
from proctor.knowledge.documents.document import Document, Passage
from proctor.knowledge.documents.evidence import Span
from proctor.knowledge.questions.question import Evidence

TEXT = "".join(f"{n:03} " for n in range(100))  # 400 characters
DOCUMENT = Document("a", TEXT)


def passages(*spans: tuple[int, int], document: str = "a") -> list[Passage]:
    return [Passage(document, *span, TEXT[slice(*span)]) for span in spans]


def unused(read: list[tuple[int, int]], *spans: tuple[int, int], overlap: int = 20) -> list[tuple[int, int]]:
    found = unused_passages(DOCUMENT, passages(*spans), {Span(*each) for each in read}, overlap)
    return [(each.start, each.end) for each in found]


def test_neighbours_that_nobody_read_are_one():
    cut = [(0, 100), (80, 200), (180, 300), (280, 400)]
    assert unused([], *cut) == [(0, 400)]
    assert unused([(180, 300)], *cut) == [(0, 200), (280, 400)]
    assert unused([(0, 100), (280, 400)], *cut) == [(80, 300)]
    assert unused([(0, 400)], *cut) == []
    assert unused([]) == []


def test_who_read_a_passage_has_not_read_its_neighbour():
    assert unused([(80, 200)], (0, 100), (80, 200)) == [(0, 100)]
    assert unused([(79, 200)], (0, 100), (80, 200)) == []


def test_a_short_piece_within_is_read():
    assert unused([(10, 15)], (0, 100)) == []


def test_a_piece_of_another_cut_counts_where_it_is_half_of_a_short_passage():
    assert unused([(90, 200)], (0, 100), (190, 200), overlap=50) == [(0, 100)]
    assert unused([(90, 195)], (190, 200), overlap=50) == []


def single(*groups: tuple[Evidence, ...]) -> list[tuple[str, int, int]]:
    cut = {"a": passages((0, 100), (80, 200), (180, 300)), "b": passages((0, 100), document="b")}
    return sorted(single_passages([QuestionGold("evidence", groups)], cut))


def test_the_only_passage_that_holds_a_piece():
    assert single((Evidence("a", "x", 10, 20),)) == [("a", 0, 100)]
    assert single((Evidence("a", "x", 85, 95),)) == []  # it stands in two
    assert single((Evidence("a", "x", 10, 20), Evidence("b", "x", 10, 20))) == []  # either document will do
    assert single((Evidence("a", "x", 10, 20), Evidence("a", "x", 30, 40))) == [("a", 0, 100)]
    assert single((Evidence("a", "x", 10, 20),), (Evidence("b", "y", 0, 5),)) == [("a", 0, 100), ("b", 0, 100)]


def test_of_a_piece_that_is_cut_apart_each_part_is_needed():
    assert single((Evidence("a", "x", 60, 150),)) == [("a", 0, 100), ("a", 80, 200)]
    assert single((Evidence("a", "x", 60, 150), Evidence("b", "x", 10, 20))) == [("b", 0, 100)]


def test_of_evidence_without_a_place_any_passage_will_do():
    """As for a retriever, which finds it with any passage of the document."""
    assert single((Evidence("b"),)) == [("b", 0, 100)]
    assert single((Evidence("a"),)) == []
    assert single((Evidence("nowhere", "x", 0, 5),)) == []
    assert single() == []


def test_a_long_excerpt_is_shortened_and_keeps_its_place():
    assert excerpt(DOCUMENT, 4, 11).text == "001 002"
    found = excerpt(DOCUMENT, 0, 400)
    assert (found.start, found.end, len(found.text)) == (0, 400, 300)
    assert found.text.endswith("…")
