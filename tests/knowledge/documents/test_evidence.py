import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor.knowledge.documents.document import Document
from proctor.knowledge.documents.evidence import EvidenceFinder, Span
from proctor.knowledge.questions.question import Evidence, Question
from tables import in_one_test

RETURNS = "# Returns\n\nYou can return any bike\nwithin 14  days. The refund takes 14 days.\n"
DOCUMENTS = (
    Document("help/returns.md", RETURNS),
    Document("help/delivery.md", "Delivery costs 29 euros. Delivery costs 29 euros."),
    Document("old/returns.md", "You can return any bike within 7 days."),
)


def finder() -> EvidenceFinder:
    return EvidenceFinder(DOCUMENTS)


def located(*groups: tuple[Evidence, ...]) -> tuple[tuple[tuple[Evidence, ...], ...], tuple[Evidence, ...]]:
    found = finder().locate(Question("q", "Why?", evidence=groups, tags=("kept",)))
    assert (found.question.id, found.question.tags) == ("q", ("kept",))
    return found.question.evidence, found.stale


def quoted(evidence: Evidence) -> str:
    text = next(document.text for document in DOCUMENTS if document.id == evidence.document)
    return text[evidence.start : evidence.end]


def test_a_quote_is_found_letter_for_letter() -> None:
    (((found,),), stale) = located((Evidence("help/returns.md", "refund takes"),))
    assert (quoted(found), found.quote, stale) == ("refund takes", "refund takes", ())


def test_white_space_may_differ() -> None:
    quote = " You can  return any bike within 14 days. "
    (((found,),), stale) = located((Evidence("help/returns.md", quote),))
    assert (quoted(found), stale) == ("You can return any bike\nwithin 14  days.", ())


@pytest.mark.parametrize("quote", ["you can return", "return any bikes", "within14 days", "14  days.  The  refunds"])
def test_nothing_else_may_differ(quote: str) -> None:
    evidence = Evidence("help/returns.md", quote)
    assert located((evidence,)) == (((evidence,),), (evidence,))


def test_any_occurrence_will_do_unless_the_span_says_which() -> None:
    quote = "costs 29 euros"
    (members,), _ = located((Evidence("help/delivery.md", quote),))
    assert [(one.start, one.end) for one in members] == [(9, 23), (34, 48)]
    (members,), _ = located((Evidence("help/delivery.md", quote, 30, 44),))
    assert [(one.start, one.end) for one in members] == [(34, 48)]


def test_what_is_stale_is_told_and_stays_without_a_span() -> None:
    """What a question is marked by is not another thing because a document was edited."""
    good, stale = Evidence("help/returns.md", "refund"), Evidence("help/returns.md", "no such words", 3, 16)
    gone, blank = Evidence("help/gone.md", "refund"), Evidence("help/gone.md", "", 2, 9)
    groups, given = located((stale, good), (gone, blank), (blank,))
    unplaced = Evidence("help/returns.md", "no such words")
    assert groups[0][0] == unplaced
    assert [[(one.quote, one.start is None) for one in group] for group in groups] == [
        [("no such words", True), ("refund", False)], [("refund", True)],
    ]  # fmt: skip
    assert given == (stale, gone, blank, blank)


def test_evidence_without_a_quote_is_taken_as_it_is() -> None:
    span, whole = Evidence("help/returns.md", "", 2, 9), Evidence("help/delivery.md")
    too_long, beyond = Evidence("old/returns.md", "", 4, 999), Evidence("old/returns.md", "", 500, 501)
    groups, stale = located((span,), (whole,), (too_long,), (beyond,))
    assert groups == ((span,), (whole,), (Evidence("old/returns.md", "", 4, 38),))
    assert stale == (beyond,)


@in_one_test(
    ("name", "known"),
    [
        ("help/returns.md", "help/returns.md"),
        ("./help/returns.md", "help/returns.md"),
        ("/data/docs/help/returns.md", "help/returns.md"),
        ("C:\\docs\\help\\delivery.md", "help/delivery.md"),
        ("delivery.md", "help/delivery.md"),
        ("returns.md", None),  # there are two
        ("xdelivery.md", None),
        ("", None),
        ("/", None),
    ],
)
def test_documents_by_the_end_of_their_path(name: str, known: str | None) -> None:
    assert finder().has(name) is (known is not None)
    expected = name if known is None else known
    assert finder().place(name, "14", None, None)[0] == expected


def test_the_longest_of_several_ids_is_meant() -> None:
    many = EvidenceFinder([Document("a.md", "x"), Document("docs/a.md", "y")])
    assert many.place("/srv/docs/a.md", "y", None, None) == ("docs/a.md", Span(0, 1))
    assert many.place("a.md", "x", None, None) == ("a.md", Span(0, 1))


@in_one_test(
    ("text", "given", "span"),
    [
        ("Delivery costs", (25, 39), (25, 39)),  # as it was told, though it stands earlier as well
        ("Delivery costs", (20, 34), (25, 39)),  # the nearest, where something else stands at that place
        ("Delivery costs", (None, None), (0, 14)),
        ("Delivery  costs\n29", (None, None), (0, 17)),
        ("Not in there.", (3, 9), (3, 9)),
        ("Not in there.", (3, 999), None),
        ("Not in there.", (None, None), None),
        (" ", (None, None), None),
    ],
)
def test_places_of_passages(text: str, given: tuple[int | None, int | None], span: tuple[int, int] | None) -> None:
    assert finder().place("help/delivery.md", text, *given) == ("help/delivery.md", span and Span(*span))


def test_a_passage_of_an_unknown_document_keeps_what_was_told() -> None:
    assert finder().place("elsewhere.md", "Delivery costs", 3, 17) == ("elsewhere.md", Span(3, 17))
    assert finder().place("elsewhere.md", "Delivery costs", None, None) == ("elsewhere.md", None)


def test_a_quote_that_stands_everywhere_is_cut_off_at_fifty() -> None:
    many = EvidenceFinder([Document("a", "word " * 1000)])
    question = many.locate(Question("q", "?", evidence=((Evidence("a", "word"),),))).question
    assert len(question.evidence[0]) == 50


def test_a_long_passage_that_is_not_there_is_given_up() -> None:
    many = EvidenceFinder([Document("a", "word \n" * 100_000)])
    assert many.place("a", "word " * 50_000 + "end", None, None) == ("a", None)


pieces = st.text(st.sampled_from("ab \n\tc"), min_size=1, max_size=30)


@given(pieces, pieces, pieces, st.sampled_from([" ", "\n", "  \t"]))
def test_what_was_cut_out_is_found_again_whatever_its_white_space(a: str, b: str, c: str, blank: str) -> None:
    text = a + b + c
    _, span = EvidenceFinder([Document("d", text)]).place("d", blank.join(b.split()), None, None)
    if b.split():
        assert span is not None
        assert "".join(text[span.start : span.end].split()) == "".join(b.split())
    else:
        assert span is None
