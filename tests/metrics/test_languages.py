import pytest
from proctor.metrics.languages import letters, prose, scripts


@pytest.mark.parametrize(
    ("first", "second", "may_be_one"),
    [
        ("refund", "возврат", False),
        ("refund", "Rückerstattung ², ª µ", True),
        ("返金", "へんきん", True),
        ("退款", "환불", True),
        ("返金する", "환불", False),
        ("退款", "refund", False),
        ("\uff52\uff45\uff46", "refund", True),
        ("استرداد", "возврат", False),
        ("Что такое HTTP?", "A protocol.", True),
    ],
)
def test_writing_systems(first, second, may_be_one):
    assert bool(scripts(first) & scripts(second)) == may_be_one


def test_a_text_without_letters_has_no_script():
    assert scripts("42 + 1 = ?") == frozenset()


@pytest.mark.parametrize(
    "text", ["`x = 1`", "```\nx\n```", "``` x", "https://example.org/path", "www.example.org", "a@b.io", "<br>"]
)
def test_code_and_links_are_no_prose(text):
    assert not any(letters(prose(text)))
    assert "".join(letters(prose(f"ja {text} ja"))).startswith("ja")
