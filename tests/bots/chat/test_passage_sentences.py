"""Sentences of a passage as they can be said: Markdown, lists, tables, headings, fragments."""

import pytest
from proctor.bots.chat.extractive import Sayable, sayable_sentences, without_marks
from tables import in_one_test


@in_one_test(
    ("text", "said"),
    [
        ("One. Two!", ["One.", "Two!"]),
        ("# Title\n\nFirst line\nwraps here. Next.", ["First line wraps here.", "Next."]),
        ("Title\n=====\nBody.", ["Body."]),
        ("Plain title\n\nBody.", ["Body."]),
        ("We take:\n- Visa\n- PayPal.\n\nAfter.", ["We take: Visa; PayPal.", "After."]),
        ("Do this:\n1. Open it\n2) Close it", ["Do this: Open it; Close it."]),
        ("- Alone\n- Together.", ["Alone.", "Together."]),
        ("- wraps\n  over lines", ["wraps over lines."]),
        ("Note:\n\nIt is late.", ["Note: It is late."]),
        ("Trailing lead:", ["Trailing lead:"]),
        ("How? Like this.", ["Like this."]),
        ("| Bike | Price |\n|---|---|\n| City | 29 |\n| Cargo | 69 |", ["City: Price 29.", "Cargo: Price 69."]),
        ("| City | 29 | 45 |\n| Cargo | 69 | |", ["City: 29, 45.", "Cargo: 69."]),
        ("```\ncode here.\n```", ["code here."]),
        ("> Quoted *text*.", ["Quoted text."]),
        ("***\nAfter the rule.", ["After the rule."]),
        ("Dr. Roe paid 4.90 euros. Fine.", ["Dr. Roe paid 4.90 euros.", "Fine."]),
        ("", []),
    ],
)
def test_what_can_be_said_of_a_text(text, said):
    assert [each.text.rstrip(",") for each in sayable_sentences(text)] == said


def test_a_long_list_is_said_item_by_item():
    items = [f"item number {number} with a good many words in it" for number in range(40)]
    found = sayable_sentences("You get:\n" + "\n".join(f"- {item}" for item in items))
    assert [each.text for each in found] == [f"You get: {item}." for item in items]


@in_one_test("mark", ["[", "*", "_a", "`", "<", "<!--", "![", "[a](", "~~", "|", "\\*"])
def test_a_text_full_of_marks_is_read_to_its_end(mark):
    assert all(each.text.strip() for each in sayable_sentences(mark * 20_000))


def test_topics_and_fragments_are_marked():
    assert sayable_sentences("of the last one. ## no heading\n\n## Hours\nAt nine. Is it? And the end of") == [
        Sayable("of the last one.", whole=False),
        Sayable("## no heading", whole=False),
        Sayable("At nine.", "Hours"),
        Sayable("And the end of", "Is it?", whole=False),
    ]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ('see [our **page**](https://a.b/c_(d) "t") now', "see our page now"),
        ("![alt](x.png) *one* __two__ `three` ~~four~~", "alt one two three four"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("a<br>b <b>c</b> <https://x.y>", "a b c https://x.y"),
        ("5 < 6 and 7 > 3", "5 < 6 and 7 > 3"),
        (r"\*not bold\*", "*not bold*"),
    ],
)
def test_marks_are_taken_off(line, read):
    assert without_marks(line) == read
