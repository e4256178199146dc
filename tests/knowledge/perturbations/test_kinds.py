"""What every kind promises, for any text that may come: no crash, no unchanged copy, the same on every machine."""

import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proctor import InputError
from proctor.knowledge.perturbations.edits import Chance, Perturbed, Refused, letters, words
from proctor.knowledge.perturbations.perturbations import GROUPS, IDENTITY, KINDS, Kind, choose_kinds
from tables import in_one_test

OFFLINE = [kind for kind in KINDS.values() if kind.offline and kind.name != IDENTITY]
CHARACTER = [kind for kind in OFFLINE if kind.unit == "character"]
PHRASES = (
    "How do I return a bike?", "14 days", "Is it not open", "I can't pay", "EUR 20.50", "see www.shop.com/faq",
    "who will ship the parcel", "ZOË café, crème", "请问 我可以 退货吗", "هل يمكنني إرجاع",
    "👩‍👩‍👧 ok", "e\u0301tat", "क्षमा", "\u202eabc", "«oui»",
)  # fmt: skip
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PHRASES), min_size=1, max_size=4).map(" ".join),
    st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=6).map(" ".join),
)
shares = st.sampled_from([0.01, 0.05, 0.1, 0.3, 0.5, 1.0])


def try_out(kind: Kind, text: str, share: float, seed: int = 0) -> Perturbed | None:
    assert kind.perturb is not None
    try:
        return kind.perturb(text, share, Chance(seed, kind.name))
    except Refused:
        return None


@pytest.mark.parametrize("kind", OFFLINE, ids=lambda kind: kind.name)
@settings(max_examples=25)
@given(text=texts, share=shares, seed=st.integers(0, 5))
def test_a_kind_changes_a_text_or_refuses_it(kind: Kind, text: str, share: float, seed: int) -> None:
    found = try_out(kind, text, share, seed)
    if found is not None:
        assert found == try_out(kind, text, share, seed)
        assert found.text != text
        assert 1 <= found.changed <= found.units


@pytest.mark.parametrize("kind", [kind for kind in OFFLINE if kind.graded], ids=lambda kind: kind.name)
@settings(max_examples=25)
@given(text=texts, share=shares)
def test_the_share_that_is_changed_is_the_one_wanted(kind: Kind, text: str, share: float) -> None:
    found = try_out(kind, text, share)
    if found is not None:
        step = 2 if kind.name == "word_swap" else 1
        assert abs(found.changed - share * found.units) <= step * 0.5 or found.changed == step


@pytest.mark.parametrize("kind", [kind for kind in OFFLINE if not kind.graded], ids=lambda kind: kind.name)
@settings(max_examples=25)
@given(text=texts)
def test_kinds_without_degrees_change_one_place(kind: Kind, text: str) -> None:
    found = try_out(kind, text, 1.0)
    assert found is None or found.changed == 1


@pytest.mark.parametrize("kind", [kind for kind in OFFLINE if kind.must == "same"], ids=lambda kind: kind.name)
@settings(max_examples=25)
@given(text=texts, share=shares)
def test_the_digits_of_a_question_stay_where_the_answer_must_be_the_same(kind: Kind, text: str, share: float) -> None:
    found = try_out(kind, text, share)
    if found is None or kind.name in ("ocr_error", "html_entities"):  # these bring digits of their own
        return
    assert [each for each in found.text if each.isdecimal()] == [each for each in text if each.isdecimal()]


@pytest.mark.parametrize("kind", CHARACTER, ids=lambda kind: kind.name)
@settings(max_examples=25)
@given(text=texts)
def test_blanks_and_marks_of_other_letters_stay(kind: Kind, text: str) -> None:
    found = try_out(kind, text, 1.0)
    if found is not None:
        assert len(found.text.split()) == len(text.split())
        if kind.name != "accents_stripped":
            marks = [each for each in text if unicodedata.category(each)[0] == "M"]
            assert [each for each in found.text if unicodedata.category(each)[0] == "M"] == marks


@in_one_test("kind", OFFLINE)
@in_one_test("text", ["", " ", "\n\t", "\x00\x07", "14", "!?", "\u200d", "\ud800", "🎉"])
def test_there_is_nothing_to_change_in_what_has_no_letters(kind: Kind, text: str) -> None:
    assert try_out(kind, text, 1.0) is None


@in_one_test("kind", OFFLINE)
def test_a_very_long_line_is_a_text_like_any_other(kind: Kind) -> None:
    text = "Which cheap items can I return at the lowest fee to the lazy café? " * 150
    found = try_out(kind, text, 0.01)
    assert found is not None and found.text != text


@in_one_test("kind", OFFLINE)
def test_one_word_without_end_is_a_text_like_any_other(kind: Kind) -> None:
    try_out(kind, "yé" * 5_000, 0.001)


def test_other_seeds_make_other_variants() -> None:
    found = {try_out(KINDS["keyboard_typo"], "Where is my parcel now?", 0.1, seed) for seed in range(20)}
    assert len(found) > 15


def names(found: Sequence[Kind]) -> list[str]:
    return [kind.name for kind in found]


def test_kinds_are_chosen_by_name_and_by_group() -> None:
    assert names(choose_kinds(["negation", "comma", "comma"])) == ["comma", "negation"]
    assert names(choose_kinds(["all"])) == list(KINDS)
    not_offline = ("antonym", "negation", "paraphrase", "misinformation")  # the first two are experimental
    assert names(choose_kinds(["offline"])) == [name for name in KINDS if name not in not_offline]
    assert names(choose_kinds(["encoding", "identity"])) == [*GROUPS["encoding"], "identity"]
    assert len(GROUPS["encoding"]) == 5


@pytest.mark.parametrize(
    ("name", "hint"), [("keybord_typo", "keyboard_typo"), ("typo", "keyboard_typo"), ("offlin", "offline"),
     ("qqq", "the kinds are")]
)  # fmt: skip
def test_a_kind_that_is_none_names_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(InputError, match=f"There is no kind '{name}'.*{hint}"):
        choose_kinds(["comma", name])


def test_what_must_happen_is_what_the_issue_says() -> None:
    other = {"antonym": "other", "negation": "other", "misinformation": "abstain"}
    assert {kind.name: kind.must for kind in KINDS.values() if kind.must != "same"} == other
    assert {kind.name for kind in KINDS.values() if not kind.offline} == {"paraphrase", "misinformation"}


@settings(max_examples=25)
@given(text=texts)
def test_letters_are_of_words_that_may_change(text: str) -> None:
    free = {place for word in words(text) if not word.fixed for place in range(word.start, word.end)}
    assert set(letters(text)) <= free
    assert all(text[place].isalpha() for place in letters(text))


@settings(max_examples=25)
@given(text=texts)
def test_words_stand_where_they_say(text: str) -> None:
    for word in words(text):
        start, end = word.start - len(word.before), word.end + len(word.after)
        assert text[start:end] == word.before + word.text + word.after
        assert not any(letter.isspace() for letter in text[start:end])
