import pytest
from proctor.metrics.languages import letters, prose, scripts
from tables import in_one_test


@in_one_test(
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
    ("text", "left"),
    [
        ("请联系a@b.com谢谢", "请联系谢谢"),
        ("见https://a.io/b。谢谢", "见谢谢"),
        ("メールはinfo@example.co.jpまで", "メールはまで"),
        ("Ask max.muster@sub.example.org, please.", "Askplease"),
        ("a@b and @name", "abandname"),
    ],
)
def test_what_stands_right_beside_an_address_stays(text, left):
    assert "".join(letters(prose(text))) == left


@pytest.mark.parametrize(
    "text", ["@" * 20_000, "退款" * 20_000, "<" * 50_000, "a" * 50_000, "a@" * 10_000, "`" * 20_001]
)
def test_looping_answers_are_read_in_one_pass(text):
    """With unbounded repetitions these take minutes to hours, and the test would hang."""
    assert len(prose(text)) <= len(text)


@pytest.mark.parametrize(
    "text", ["`x = 1`", "```\nx\n```", "``` x", "https://example.org/path", "www.example.org", "a@b.io", "<br>"]
)
def test_code_and_links_are_no_prose(text):
    assert not any(letters(prose(text)))
    assert "".join(letters(prose(f"ja {text} ja"))).startswith("ja")
