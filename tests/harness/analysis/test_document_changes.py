"""What became of documents: edits, new names, what came and what went."""

import random

import pytest
from proctor.harness.analysis.document_changes import changes_between, likeness, without_change
from proctor.knowledge.documents.document import Document

PRICES = "# Prices\n\n" + " ".join(f"Repair number {n} costs {n * 7} euros with labour." for n in range(1, 12))
HOURS = "# Hours\n\nThe workshop in Cork opens at nine and closes at six. On Sundays it is closed all day."


def changed(old: list[Document], new: list[Document]) -> list[tuple[str, str, str]]:
    """Change, id now, id then."""
    return [
        (each.change, "" if each.now is None else each.now.id, "" if each.was is None else each.was.id)
        for each in changes_between(old, new)
    ]


def test_nothing_changed():
    documents = [Document("a.md", PRICES, "Prices"), Document("b.md", HOURS)]
    assert changes_between(documents, list(reversed(documents))) == ()
    assert changes_between([], []) == ()


def test_each_kind_of_change_in_the_order_of_the_new_documents():
    old = [Document("a.md", PRICES), Document("b.md", HOURS), Document("gone.md", "Nobody needs this page any more.")]
    new = [
        Document("0.md", "Something that was never there before."),
        Document("a.md", PRICES.replace("77 euros", "78 euros")),
        Document("hours.md", HOURS),
    ]
    assert changed(old, new) == [
        ("added", "0.md", ""),
        ("edited", "a.md", "a.md"),
        ("renamed", "hours.md", "b.md"),
        ("removed", "", "gone.md"),
    ]


def test_a_page_whose_title_alone_changed_is_edited():
    assert changed([Document("a.html", HOURS, "Hours")], [Document("a.html", HOURS, "Times")]) == [
        ("edited", "a.html", "a.html")
    ]


def test_a_new_name_with_a_changed_figure_is_a_new_name():
    new = PRICES.replace("costs 77 euros", "costs 79 euros")
    assert 0.9 <= likeness(PRICES, new) < 1
    assert changed([Document("prices-2024.md", PRICES)], [Document("prices-2026.md", new)]) == [
        ("renamed", "prices-2026.md", "prices-2024.md")
    ]


def test_another_text_under_another_name_is_no_new_name():
    rewritten = PRICES[: len(PRICES) // 2] + HOURS * 3
    assert likeness(PRICES, rewritten) < 0.9
    assert changed([Document("a.md", PRICES)], [Document("b.md", rewritten)]) == [
        ("added", "b.md", ""),
        ("removed", "", "a.md"),
    ]


def test_of_two_that_are_alike_the_nearer_one_has_the_new_name():
    near, nearer = PRICES.replace("77 euros", "78 euros").replace("70 euros", "71 euros"), PRICES + " Ask us."
    found = changed([Document("1.md", near), Document("2.md", nearer)], [Document("new.md", PRICES + " Ask us!")])
    assert found == [("renamed", "new.md", "2.md"), ("removed", "", "1.md")]


def test_many_copies_are_paired_one_to_one():
    """More than a sketch tells apart: equal texts are matched by themselves."""
    old = [Document(f"old/{n:03}.md", HOURS) for n in range(250)]
    new = [Document(f"new/{n:03}.md", HOURS) for n in range(249)]
    found = changed(old, new)
    assert [each[0] for each in found] == ["renamed"] * 249 + ["removed"]
    assert found[7] == ("renamed", "new/007.md", "old/007.md")


def test_new_names_are_found_among_many_documents_of_one_kind():
    draw = random.Random(1)
    words = [f"word{n}" for n in range(400)]
    texts = ["Terms of use. All rights reserved by us. " + " ".join(draw.choices(words, k=120)) for _ in range(300)]
    old = [Document(f"a/{n}.txt", text) for n, text in enumerate(texts)]
    new = [Document(f"b/{n}.txt", f"{text} Changed on Monday.") for n, text in enumerate(texts)]
    assert changed(old, new) == [("renamed", f"b/{n}.txt", f"a/{n}.txt") for n in range(300)]


@pytest.mark.parametrize("text", ["", " \n", "\ud800 half a character", "價格表は維修費用一覽", "a"])
def test_texts_of_any_kind_are_like_themselves(text):
    assert likeness(text, text) == 1
    assert changed([Document("a", text)], [Document("b", text)]) == [("renamed", "b", "a")]


def test_the_order_of_words_counts_for_likeness():
    words = PRICES.split()
    assert likeness(" ".join(words), "  \n".join(words)) == 1
    assert likeness(" ".join(words), " ".join(sorted(words))) < 0.8


def test_a_change_is_taken_back_where_it_was_made():
    old = [Document("a", "A"), Document("b", "B"), Document("c", "C"), Document("old-d", HOURS)]
    new = [Document("a", "A2"), Document("c", "C"), Document("d", HOURS), Document("e", "E")]
    changes = {each.document: each for each in changes_between(old, new)}

    def ids(document: str) -> list[tuple[str, str]]:
        return [(each.id, each.text[:2]) for each in without_change(new, changes[document], old)]

    assert ids("a") == [("a", "A"), ("c", "C"), ("d", "# "), ("e", "E")]
    assert ids("b") == [("a", "A2"), ("b", "B"), ("c", "C"), ("d", "# "), ("e", "E")]
    assert ids("d") == [("a", "A2"), ("c", "C"), ("old-d", "# "), ("e", "E")]
    assert ids("e") == [("a", "A2"), ("c", "C"), ("d", "# ")]


def test_what_stood_first_comes_back_first():
    old, new = [Document("a", "A"), Document("b", "B")], [Document("b", "B")]
    (change,) = changes_between(old, new)
    assert without_change(new, change, old) == old
