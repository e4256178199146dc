"""Character and encoding kinds by hand: what is changed, and what is never."""

import html
import unicodedata
from collections.abc import Callable

import pytest
from proctor.knowledge.perturbations import characters
from proctor.knowledge.perturbations.characters import known_words
from proctor.knowledge.perturbations.edits import Chance, Perturbed, Refused
from tables import in_one_test

Perturb = Callable[[str, float, Chance], Perturbed]
ALL: list[Perturb] = [
    characters.insert_letters, characters.delete_letters, characters.replace_letters,
    characters.mistype, characters.swap_y_and_z, characters.misread, characters.look_alike,
    characters.full_width, characters.strip_accents, characters.write_entities, characters.garble,
]  # fmt: skip


def made(perturb: Perturb, text: str, share: float = 1.0, seed: int = 0) -> Perturbed:
    return perturb(text, share, Chance(seed))


def words(perturb: Perturb, text: str, share: float = 1.0) -> list[str]:
    return made(perturb, text, share).text.split()


@in_one_test("perturb", ALL)
def test_what_carries_the_meaning_stays(perturb: Perturb) -> None:
    text = "Why was I not sent, without reason, EUR 40 for 14 days (order A7-3) to öy@shöp.com or www.zöy.com/a ?"
    kept = ["not", "without", "EUR", "40", "14", "days", "A7-3", "öy@shöp.com", "www.zöy.com/a"]
    for seed in range(20):
        try:
            found = made(perturb, text, 1.0, seed).text.translate(str.maketrans("", "", ",()"))
        except Refused:
            continue
        assert set(kept) <= set(found.split()), perturb


def test_an_inserted_letter_follows_one_that_was_there() -> None:
    found = made(characters.insert_letters, "abc", 0.1)
    assert (len(found.text), found.changed, found.units) == (4, 1, 3)
    assert [letter for letter in ("abc") if letter in found.text] == ["a", "b", "c"]


def test_the_first_letter_of_a_word_is_never_missing() -> None:
    found = made(characters.delete_letters, "Return the shoes now").text.split()
    assert [word[0] for word in found] == ["R", "t", "s", "n"] and len("".join(found)) <= 7


def test_a_replaced_letter_is_another_one_of_the_same_case() -> None:
    for seed in range(50):
        found = made(characters.replace_letters, "Abcde", 1.0, seed).text
        assert found[0] != "A" and found[0].isupper() and found[1] != "b" and found[1].islower()


def test_letters_of_other_scripts_are_drawn_from_the_text() -> None:
    text = "возврат обуви"
    found = made(characters.replace_letters, text)
    assert set(found.text) <= set(text)
    assert all(new != old for new, old in zip(found.text, text, strict=True) if old != " ")


@pytest.mark.parametrize(("key", "neighbours"), [("s", "awedzx"), ("p", "ol"), ("m", "njk"), ("T", "RYFG")])
def test_a_typo_hits_a_neighbouring_key(key: str, neighbours: str) -> None:
    assert {made(characters.mistype, f"x{key}x", 1.0, seed).text[1] for seed in range(80)} == set(neighbours)


def test_neighbours_on_the_keyboard_are_mutual() -> None:
    keys = characters._table("keyboard.json")
    assert sorted(keys) == sorted("abcdefghijklmnopqrstuvwxyz")
    assert [(one, other) for one in keys for other in keys[one] if one not in keys[other]] == []


def test_y_and_z_change_places() -> None:
    assert made(characters.swap_y_and_z, "Why is my Zloty lazy? NZ").text == "Whz is mz Ylotz layz? NZ"


@pytest.mark.parametrize(
    ("text", "possible"),
    [("lx", {"Ix"}), ("xm", {"xrn", "xnn"}), ("xl", {"x1", "xI"}), ("dO", {"cl0", "clQ"}), ("Ox", {"Qx"})],
)
def test_letters_are_misread_as_they_look(text: str, possible: set[str]) -> None:
    assert {made(characters.misread, text, 1.0, seed).text for seed in range(80)} == possible


def test_a_misread_word_is_no_number() -> None:
    for seed in range(100):
        assert not made(characters.misread, "sol", 1.0, seed).text.isdigit()


def test_lookalikes_are_letters_of_another_script() -> None:
    found = made(characters.look_alike, "Paycheck").text
    assert found == "\u0420\u0430\u0443\u0441h\u0435\u0441k"
    names = [unicodedata.name(new).split()[0] for new in characters.LOOKALIKES.values()]
    assert set(names) == {"CYRILLIC", "GREEK"}
    assert all(old.isupper() == new.isupper() for old, new in characters.LOOKALIKES.items())


def test_full_width_letters_are_the_same_to_unicode() -> None:
    found = made(characters.full_width, "Size M").text
    assert found != "Size M" and unicodedata.normalize("NFKC", found) == "Size M"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Où est le café?", "Ou est le cafe?"),
        ("cafe\u0301", "cafe"),
        ("Ηλεκτρικό", "Ηλεκτρικο"),
        ("naïve Ärger", "naive Arger"),
    ],
)
def test_accents_are_stripped(text: str, bare: str) -> None:
    assert made(characters.strip_accents, text).text == bare


@pytest.mark.parametrize("text", ["plain", "Здравствуй", "שָׁלוֹם", "กำ"])
def test_marks_that_are_no_accents_stay(text: str) -> None:
    with pytest.raises(Refused, match="no letters with accents"):
        made(characters.strip_accents, text)


def test_entities_read_back_as_the_text() -> None:
    text = "Is “café & R&B” open? Gruß"
    found = made(characters.write_entities, text).text
    assert "&eacute;" in found and "&#111;" in found and "&amp;" in found and "&ldquo;" in found
    assert html.unescape(found) == text


def test_utf_8_is_read_as_windows_1252() -> None:
    assert made(characters.garble, "It\u2019s a café").text == "Itâ€™s a cafÃ©"


@pytest.mark.parametrize("text", ["plain ASCII, 14", "👩‍👩‍👧 🎉", "a\u0301 à"])
def test_what_can_not_be_seen_garbled_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="outside ASCII"):
        made(characters.garble, text)


def test_emoji_and_letters_with_marks_stay_whole() -> None:
    text = "क्षमा 👩‍👩‍👧 e\u0301 okays"
    for seed in range(30):
        found = made(characters.replace_letters, text, 1.0, seed).text
        assert "👩‍👩‍👧" in found and "e\u0301" in found


def test_a_number_in_writing_without_blanks_protects_what_it_counts() -> None:
    text = "かばん14日まで"
    for seed in range(30):
        found = made(characters.delete_letters, text, 1.0, seed).text
        assert found == "か14日"


WORDS = [characters.insert_letters, characters.delete_letters, characters.replace_letters,
         characters.mistype, characters.swap_y_and_z, characters.misread]  # fmt: skip


@pytest.mark.parametrize("perturb", WORDS)
def test_a_slip_makes_no_other_word(perturb: Perturb) -> None:
    text = "now curve steam down tone form lazy zap hot note bold"
    for seed in range(40):
        new = set(made(perturb, text, 0.3, seed).text.split()) - set(text.split())
        assert not new & known_words(), perturb


@in_one_test("perturb", WORDS)
@in_one_test("code", ["C", "USB", "NZ", "XLIX", "ii", "CPUs"])
def test_what_one_letter_makes_another_stays(perturb: Perturb, code: str) -> None:
    assert all(code in made(perturb, f"Why {code} maybe?", 1.0, seed).text.split() for seed in range(20))


@in_one_test("perturb", WORDS)
@in_one_test("text", ["我可以退货吗", "退货"])
def test_chinese_characters_are_words(perturb: Perturb, text: str) -> None:
    with pytest.raises(Refused):
        made(perturb, text)


def test_denials_of_other_languages_stay() -> None:
    for denial in ("nicht", "sin", "pas", "não", "не", "değil"):
        assert denial in made(characters.replace_letters, f"xyxyx {denial} zyzyz").text.split()
