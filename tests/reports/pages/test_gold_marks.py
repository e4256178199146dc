"""Gold evidence is marked where it stands in a passage, as JavaScript counts, and what no passage holds is missed."""

import pytest
from proctor.knowledge.questions.question import Evidence
from proctor.reports.pages.rows import GoldMarks, PassagePlace, gold_marks, gold_ranks
from tables import in_one_test

DOCUMENT = "Bikes are fun. Refunds take 14 days. Keep the receipt."
QUOTE = "Refunds take 14 days."
START = DOCUMENT.index(QUOTE)
LOCATED = Evidence("a.md", QUOTE, START, START + len(QUOTE))
UNLOCATED = Evidence("a.md", QUOTE)


def passage(start: int, end: int, name: str = "a.md") -> PassagePlace:
    return PassagePlace(name, start, end, DOCUMENT[start:end])


def found(evidence: Evidence, place: PassagePlace, longest: int = 1000) -> GoldMarks:
    return gold_marks(((evidence,),), place, longest)


def javascript_slice(text: str, start: int, end: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@in_one_test("evidence", [LOCATED, UNLOCATED])
@in_one_test(
    "place",
    [
        passage(0, len(DOCUMENT)), passage(START, START + len(QUOTE)), passage(5, 40), passage(5, 40, "docs/a.md"),
        PassagePlace("", None, None, DOCUMENT), PassagePlace("a.md", None, None, DOCUMENT),
        PassagePlace("a.md", 3, 900, DOCUMENT),
    ],
)  # fmt: skip
def test_evidence_is_marked_where_it_stands(evidence: Evidence, place: PassagePlace) -> None:
    ((start, end, group),) = found(evidence, place).marks
    assert place.text[start:end] == QUOTE
    assert group == 0
    assert found(evidence, place).groups == {0}


def test_offsets_count_as_javascript_counts() -> None:
    text = f"\U0001f6b2\U0001f6b2 caf\u00e9 {QUOTE} \U0001f44d"
    ((start, end, _),) = found(UNLOCATED, PassagePlace("chat", None, None, text)._replace(document="")).marks
    assert javascript_slice(text, start, end) == QUOTE
    assert text[start:end] != QUOTE


def test_emoji_within_evidence_count_twice() -> None:
    quote = "ride \U0001f6b2 now"
    text = f"You may {quote}."
    ((start, end, _),) = found(Evidence("", quote), PassagePlace("", None, None, text)).marks
    assert javascript_slice(text, start, end) == quote


def test_white_space_may_differ() -> None:
    ((start, end, _),) = found(UNLOCATED, PassagePlace("a.md", None, None, "Refunds\n  take 14\tdays. So.")).marks
    assert (start, end) == (0, len("Refunds\n  take 14\tdays."))


def test_half_of_the_evidence_is_held_and_less_is_only_marked() -> None:
    middle = START + len(QUOTE) // 2
    much, little = found(LOCATED, passage(0, middle + 2)), found(LOCATED, passage(0, START + 5))
    assert much.groups == {0}
    assert little.groups == frozenset()
    assert little.marks == ((START, START + 5, 0),)


@pytest.mark.parametrize(
    "place",
    [
        passage(0, 10), passage(0, len(DOCUMENT), "b.md"), passage(0, len(DOCUMENT), "xa.md"),
        PassagePlace("a.md", 0, len(QUOTE), "z" * len(QUOTE)), PassagePlace("a.md", START, START + 21, "q" * 21),
        PassagePlace("a.md", None, None, ""),
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_marked(place: PassagePlace) -> None:
    assert found(LOCATED, place) == GoldMarks((), frozenset())


def test_evidence_without_a_place_is_held_by_its_document() -> None:
    assert found(Evidence("a.md"), passage(0, 5)) == GoldMarks((), frozenset({0}))
    assert found(Evidence("b.md"), passage(0, 5)) == GoldMarks((), frozenset())


def test_marks_of_groups_never_overlap() -> None:
    groups = ((Evidence("a.md", DOCUMENT[0:20], 0, 20),), (Evidence("a.md", DOCUMENT[15:36], 15, 36),))
    marks = gold_marks(groups, passage(0, len(DOCUMENT)), 1000)
    assert marks.marks == ((0, 20, 0), (20, 36, 1))
    assert marks.groups == {0, 1}


def test_members_that_touch_are_one_mark() -> None:
    group = (Evidence("a.md", DOCUMENT[0:20], 0, 20), Evidence("a.md", DOCUMENT[15:36], 15, 36))
    assert gold_marks((group,), passage(0, len(DOCUMENT)), 1000).marks == ((0, 36, 0),)


def test_there_are_no_marks_beyond_what_is_shown() -> None:
    assert found(LOCATED, passage(0, len(DOCUMENT)), START + 3).marks == ((START, START + 3, 0),)
    assert found(LOCATED, passage(0, len(DOCUMENT)), START).marks == ()


def test_ranks_tell_the_first_context_and_what_was_missed() -> None:
    none, first, both = (GoldMarks((), frozenset(groups)) for groups in ((), (0,), (0, 1)))
    assert gold_ranks(3, [none, first, both]) == [2, 3, None]
    assert gold_ranks(1, []) == [None]
