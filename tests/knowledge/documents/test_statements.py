"""Statements, and pairs of them that are about the same thing."""

import pytest
from proctor.knowledge.documents.document import Document
from proctor.knowledge.documents.statements import facing, statements

PAGE = """# Prices

All prices are in euros. Is a tube included?

## Services

| Service | Price |
|---|---|
| Basic service | 59 |
| Full service | 119 |

- A basic service takes two hours.
- Dec 23 to Jan 2
"""


def test_statements_know_their_place_their_heading_and_their_table() -> None:
    document = Document("p.md", PAGE)
    found = statements(document)
    assert [one.text for one in found] == [
        "All prices are in euros.",
        "| Basic service | 59 |",
        "| Full service | 119 |",
        "A basic service takes two hours.",
        "Dec 23 to Jan 2",
    ]
    assert all(document.text[one.start : one.end] == one.text for one in found)
    assert [one.heading for one in found] == ["Prices", *["Services"] * 4]
    assert [one.columns is None for one in found] == [True, False, False, True, True]
    assert [one.is_sentence for one in found] == [True, False, False, True, False]


def test_code_states_nothing() -> None:
    code = ["if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 1,", "ffi_call(&cif, puts, &rc, values);", "x = 3 {"]
    prose = ["A fee of 5 euros (per person) is due;", "Call ffi_prep_cif() once at a time."]
    assert [one.text for one in statements(Document("c.md", "\n".join([*code, *prose])))] == prose


def name(number: int) -> str:
    return "Model" + "".join("abcdefghij"[int(digit)] for digit in str(number))


def paired(*texts: str) -> list[tuple[str, str]]:
    given = [one for place, text in enumerate(texts) for one in statements(Document(f"{place}.md", text))]
    return [(given[one.first].text, given[one.second].text) for one in facing(given).pairs]


def test_sentences_with_the_same_words_and_other_figures_face_each_other() -> None:
    one, other = "A basic service costs 59 euros.", "A basic service costs 69 euros."
    assert paired(one, "Bikes are delivered on Mondays.", other) == [(one, other)]


def test_the_same_sentence_faces_nothing_and_neither_do_others() -> None:
    assert paired("A basic service costs 59 euros.", "A basic service costs 59 euros.") == []
    assert paired("A basic service costs 59 euros.", "Deliveries come on Mondays before noon.") == []


def test_a_short_sentence_faces_a_longer_one_that_holds_it() -> None:
    long = "The company Larkspoke, which sells bikes in four towns of Ireland, was founded in 1998 by two friends."
    assert paired("Larkspoke was founded in 1999.", long) == [("Larkspoke was founded in 1999.", long)]


def test_pairs_are_found_among_very_many_of_one_form() -> None:
    """The words of the form are common; what is rare brings the two together."""
    many = [f"The battery of {name(number)} lasts for {number} hours." for number in range(500)]
    found = paired(*many, f"The battery of {name(77)} lasts for 901 hours.")
    assert (many[77], f"The battery of {name(77)} lasts for 901 hours.") in found


def test_of_too_many_pairs_those_with_most_rare_words_in_common_are_compared() -> None:
    texts = ["The red lamp of the old tower shines for 3 hours.", "The red lamp of the old tower burns at noon.",
             "The red lamp of the old tower shines for 9 hours."]  # fmt: skip
    given = [one for place, text in enumerate(texts) for one in statements(Document(f"{place}.md", text))]
    every = facing(given)
    assert every.left_out == 0
    few = facing(given, most=1)
    assert [(one.first, one.second) for one in few.pairs] == [(0, 2)]
    assert few.left_out == 2


@pytest.mark.parametrize(
    "texts", [(), ("",), ("\ud800 \ud800 \ud800 \ud800.",), ("|\n|\n|", "||||"), ("x" * 1_000_000,)]
)
def test_nothing_to_compare(texts: tuple[str, ...]) -> None:
    assert paired(*texts) == []
