"""Word kinds by hand: order, commas, synonyms, antonyms, negation."""

from collections.abc import Callable

import pytest
from proctor.knowledge.perturbing.chance import Chance
from proctor.knowledge.perturbing.exchange_kinds import use_antonym, use_synonyms
from proctor.knowledge.perturbing.inflection import article, noun_forms, verb_forms
from proctor.knowledge.perturbing.negation import negate
from proctor.knowledge.perturbing.rewording import Refused, Reworded
from proctor.knowledge.perturbing.word_kinds import insert_commas, swap_words
from proctor.knowledge.perturbing.word_lists import antonyms, groups, synonyms

Reword = Callable[[str, float, Chance], Reworded]


def all_of(reword: Reword, text: str, share: float = 0.01) -> set[str]:
    """Every text that some draw makes of it."""
    return {reword(text, share, Chance(seed)).text for seed in range(120)}


def test_neighbouring_words_change_places_and_marks_stay() -> None:
    assert all_of(swap_words, "Can I return, please?") == {"I Can return, please?"}


def test_words_of_denial_numbers_and_equal_words_keep_their_places() -> None:
    assert all_of(swap_words, "shoes are not sold 14 days so So here") == {
        "are shoes not sold 14 days so So here",
    }


@pytest.mark.parametrize(
    "text", ["convert dollars to euros", "dollars than euros", "who shot jfk", "did he beat jfk", "only the first"]
)
def test_words_that_say_who_does_what_to_whom_keep_their_places(text: str) -> None:
    words = text.split()
    for seed in range(20):
        try:
            found = swap_words(text, 1.0, Chance(seed)).text.split()
        except Refused:
            continue
        for first, second in (("dollars", "to"), ("to", "euros"), ("than", "euros"), ("shot", "jfk"), ("beat", "jfk"),
                              ("only", "the")):  # fmt: skip
            assert first not in words or second not in words or found.index(first) < found.index(second)


def test_no_word_is_swapped_twice() -> None:
    found = swap_words("was the app a scam", 1.0, Chance(0))
    assert (found.text, found.changed, found.units) == ("the was a app scam", 4, 4)


def test_commas_stand_where_nothing_stood() -> None:
    assert all_of(insert_commas, "Hi, may I (now) pay 14 days late") == {"Hi, may, I (now) pay 14 days late"}


def test_arabic_has_its_own_comma() -> None:
    assert all_of(insert_commas, "هل يمكنني") == {"هل، يمكنني"}


@pytest.mark.parametrize("reword", [swap_words, insert_commas])
@pytest.mark.parametrize("text", ["我可以 退货吗", "รับคืน ได้ไหม"])
def test_writing_without_blanks_is_refused(reword: Reword, text: str) -> None:
    with pytest.raises(Refused, match="no blanks between words"):
        reword(text, 0.1, Chance(0))


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("Can I delete it?", {"Can I remove it?", "Can I erase it?"}),
        ("Which bicycles were refunded?", {"Which bikes were refunded?", "Which bicycles were reimbursed?"}),
        ("DO YOU MIND REPAIRING IT?", {"DO YOU MIND FIXING IT?", "DO YOU MIND MENDING IT?"}),
        ("An apartment, now", {"A flat, now"}),
        ("How often may I call?", {"How frequently may I call?"}),
        ("The parcel arrives when?", {"The package arrives when?"}),
    ],
)  # fmt: skip
def test_synonyms_come_in_the_same_form(text: str, possible: set[str]) -> None:
    assert all_of(use_synonyms, text) == possible


@pytest.mark.parametrize(
    "text",
    [
        "Where is the Rolling Plan?",  # a name
        "How do I send it back?",  # a verb with a particle
        "Do I need to come?",  # no "require to"
        "Feel free to come",  # not "complimentary to"
        "Wann kommt mein Parcel an?",
        "我可以退货吗",
        "xyzzy the plugh",
    ],
)
def test_what_has_no_fitting_synonym_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        use_synonyms(text, 1.0, Chance(0))


def test_nouns_and_verbs_of_one_spelling_are_told_apart() -> None:
    assert all_of(use_synonyms, "Where is my refund?") == {"Where is my reimbursement?"}
    assert all_of(use_synonyms, "Do you refund it?") == {"Do you reimburse it?"}


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("When is the shop open?", {"When is the shop closed?"}),
        ("Do you know what you accept?", {"Do you know what you reject?"}),
        ("It is hot. When do you open?", {"It is hot. When do you close?"}),
        ("Is the big bag cheap?", {"Is the small bag cheap?"}),
        ("Can I return a damaged bag?", {"Can I return an undamaged bag?"}),
        ("When do you open?", {"When do you close?"}),
        ("I lost the key", {"I found the key"}),
        ("May I pay before delivery?", {"May I pay after delivery?"}),
        ("Which is cheap and safe?", {"Which is expensive and safe?", "Which is cheap and dangerous?"}),
        ("Which payments were accepted?", {"Which payments were rejected?"}),
    ],
)
def test_one_word_becomes_its_opposite(text: str, possible: set[str]) -> None:
    assert all_of(use_antonym, text, 1.0) == possible


@pytest.mark.parametrize(
    "text",
    [
        "How long is it?", "How much longer do I wait?", "Is it open?", "Are they more expensive?", "Will it be free?",
        "Do you accept it?", "Are they always here?", "I bought it. Where is it?", "Is she 8 years old?",
        "Which are cheap and which expensive?",
    ],
)  # fmt: skip
def test_an_opposite_that_asks_for_the_same_facts_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"same facts|has an opposite"):
        use_antonym(text, 1.0, Chance(0))


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Which items can be returned?", "Which items cannot be returned?"),
        ("Which items can I return?", "Which items can I not return?"),
        ("Which shoes do you sell?", "Which shoes do you not sell?"),
        ("Why does the app start?", "Why doesn't the app start?"),
        ("When will the parcel come?", "When won't the parcel come?"),
        ("What is the fee?", "What isn't the fee?"),
        ("WHICH CARDS ARE ACCEPTED?", "WHICH CARDS ARE NOT ACCEPTED?"),
        ("What happens if it was opened?", "What happens if it was not opened?"),
        ("Can I return an item that was opened?", "Can I return an item that was not opened?"),
        ("Which shoes have been sold?", "Which shoes have not been sold?"),
        ("Why can't I pay?", "Why can I pay?"),
        ("Why won't the app start?", "Why will the app start?"),
        ("What cannot be washed?", "What can be washed?"),
        ("Why is it not here?", "Why is it here?"),
        ("Why doesn\u2019t it start?", "Why does it start?"),
    ],
)
def test_what_is_said_is_denied_and_what_was_denied_is_said(text: str, denied: str) -> None:
    assert all_of(negate, text) == {denied}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Can I return it?", "same facts"),
        ("Isn't it open?", "same facts"),
        ("Do you not ship it?", "same facts"),
        ("Can't I return it?", "same facts"),
        ("Can I return it or not?", "same facts"),
        ("Do you ship it, if not sold?", "same facts"),
        ("It did not come. How much is it?", "same facts"),
        ("How long does it take?", "same facts"),
        ("How much is the fee?", "same facts"),
        ("The shop, now", "no helping verb"),
        ("Was kann man zurückgeben, und wann?", "English"),
        ("In May the shop", "no helping verb"),
        ("Show me a can of the paint", "no helping verb"),
    ],
)
def test_questions_that_ask_the_same_when_denied_are_refused(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        negate(text, 1.0, Chance(0))


def test_a_denied_question_is_the_first_one_again() -> None:
    for text in ("Which items can I return?", "Why do parcels come late?", "What is the new fee?"):
        (denied,) = all_of(negate, text)
        assert all_of(negate, denied) == {text}


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("ship", "ships shipped shipped shipping"), ("pay", "pays paid paid paying"),
        ("try", "tries tried tried trying"),
        ("exchange", "exchanges exchanged exchanged exchanging"), ("choose", "chooses chose chosen choosing"),
        ("fix", "fixes fixed fixed fixing"), ("agree to", "agrees to agreed to agreed to agreeing to"),
        ("watch", "watches watched watched watching"), ("permit", "permits permitted permitted permitting"),
    ],
)  # fmt: skip
def test_verbs_are_inflected(verb: str, forms: str) -> None:
    assert " ".join(verb_forms(verb)[1:]) == forms


@pytest.mark.parametrize(
    ("noun", "plural"), [("box", "boxes"), ("delivery", "deliveries"), ("day", "days"), ("child", "children"),
     ("price cut", "price cuts")]
)  # fmt: skip
def test_nouns_have_a_plural(noun: str, plural: str) -> None:
    assert noun_forms(noun) == (noun, plural)


@pytest.mark.parametrize(
    ("noun", "wanted"), [("item", "an"), ("hour", "an"), ("user", "a"), ("unit", "a"), ("unimportant", "an"),
     ("Bike", "a")]
)  # fmt: skip
def test_the_article_follows_the_sound(noun: str, wanted: str) -> None:
    assert article(noun) == wanted


def test_the_lists_that_ship_are_long_and_sound() -> None:
    same, other = list(groups("synonyms.json")), list(groups("antonyms.json"))
    assert len(same) >= 250 and len(other) >= 150
    for listed in (same, other):
        assert len({(part, group[0]) if listed is same else (part, group) for part, group, _ in listed}) == len(listed)
        for _, group, _ in listed:
            assert len(group) == len(set(group)) > 1, group
            assert all(word == word.strip().lower() and word.isascii() and word.strip("~ ") for word in group), group
    assert all(len(group) == 2 for _, group, _ in other)
    assert not any(one_fact for *_, one_fact in same) and any(one_fact for *_, one_fact in other)


def test_every_form_has_others_in_the_same_form() -> None:
    assert {other for entry in synonyms()["bought"] for other in entry.others} == {"purchased"}
    assert {other for entry in antonyms()["increasing"] for other in entry.others} == {"decreasing"}
    assert not {word for word, entries in synonyms().items() for entry in entries if word in entry.others}


def test_no_synonym_is_an_opposite() -> None:
    opposite = {word: {other for entry in entries for other in entry.others} for word, entries in antonyms().items()}
    wrong = [
        (word, other)
        for word, entries in synonyms().items()
        for entry in entries
        for other in entry.others
        if other in opposite.get(word, ())
    ]
    assert wrong == []
