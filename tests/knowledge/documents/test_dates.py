"""Dates and versions: which of two documents is the older one."""

import dataclasses

import pytest
from proctor.knowledge.documents.copies import CopyFinder
from proctor.knowledge.documents.document import Document
from proctor.knowledge.documents.versions import compared_dates, dates_of, family, find_versions, is_marked_old
from tables import in_one_test

PRICES = (
    "# Prices\n\nA basic service costs {0} euros in every town. A full service costs {1} euros with all parts. "
    "Members of the plan get {2} percent off their own bikes. Estimates are valid for thirty days after the visit."
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prices-2024.md", (2024, 0, 0)),
        ("prices_2024-03-01.md", (2024, 3, 1)),
        ("prices 20240301.md", (2024, 3, 1)),
        ("2024/prices.md", (2024, 0, 0)),
        ("prices-v2.1.md", (2, 1)),
        ("prices rev 3.md", (3,)),
        ("March 2024 prices.md", (2024, 3, 0)),
    ],
)
def test_dates_in_names(name: str, value: tuple[int, ...]) -> None:
    assert dates_of(Document(name, "text"))[0].value == value


@in_one_test(
    ("line", "value"),
    [
        ("Valid from 1 March 2024.", (2024, 3, 1)),
        ("Last updated: March 1st, 2024", (2024, 3, 1)),
        ("Stand: 01.03.2024", (2024, 3, 1)),
        ("Gültig ab 1. März 2024", (2024, 3, 1)),
        ("effective 31/03/2024", (2024, 3, 31)),
        ("effective 03/31/2024", (2024, 3, 31)),
        ("effective 03/04/2024", (2024, 0, 0)),  # April or March
        ("effective 03/12/2024", (2024, 0, 0)),
        ("effective 12/13/2024", (2024, 12, 13)),
        ("effective 13/12/2024", (2024, 12, 13)),
        ("as of 2024-03-01", (2024, 3, 1)),
        ("In force since 2024", (2024, 0, 0)),
    ],
)
def test_dates_in_first_lines_stand_behind_words_that_say_so(line: str, value: tuple[int, ...]) -> None:
    document = Document("prices.md", f"# Prices\n\n{line}\n")
    (found,) = dates_of(document)
    assert (found.value, found.where) == (value, "text")
    assert document.text[found.start : found.end] == found.written


@pytest.mark.parametrize("text", ["The company was founded in 1998.", "Room 2024", "call 20240", "", "v", "x" * 10_000])
def test_other_figures_are_no_dates_of_the_document(text: str) -> None:
    assert dates_of(Document("prices.md", text)) == ()


def test_a_year_says_nothing_of_a_day_in_it() -> None:
    assert compared_dates(Document("a 2024.md", ""), Document("a 2024-05-01.md", "")) is None
    assert compared_dates(Document("a 2023.md", ""), Document("a 2024-05-01.md", "")) is not None


def test_names_without_dates_are_one_family() -> None:
    assert family("a/prices-2024.md") == family("a/prices_v2_2026.md") == family("a/prices-old.md")
    assert family("a/prices.md") != family("b/prices.md")
    assert is_marked_old("archive/prices.md")
    assert not is_marked_old("gold-prices.md")


def versions(*documents: Document) -> list[tuple[str, str]]:
    return [(one.older, one.newer) for one in find_versions(documents, CopyFinder(documents).find())]


def test_the_older_of_two_lists_is_told_by_their_names_whatever_their_order() -> None:
    old, new = Document("p-2024.md", PRICES.format(59, 119, 10)), Document("p-2026.md", PRICES.format(69, 139, 15))
    assert versions(old, new) == versions(new, old) == [("p-2024.md", "p-2026.md")]


def test_of_several_states_each_is_older_than_the_next() -> None:
    texts = {year: Document(f"p-{year}.md", PRICES.format(year, year, year)) for year in (2025, 2023, 2024)}
    assert sorted(versions(*texts.values())) == [("p-2023.md", "p-2024.md"), ("p-2024.md", "p-2025.md")]


def test_copies_with_other_names_are_versions_where_their_first_lines_have_dates() -> None:
    body = PRICES.format(59, 119, 10)
    first, second = (
        Document("a.md", f"Valid from 2024-01-01.\n{body}"),
        Document("b.md", f"Valid from 2023-01-01.\n{body}"),
    )
    assert versions(first, second) == [("b.md", "a.md")]


def test_a_word_in_the_name_tells_which_is_old() -> None:
    body = PRICES.format(59, 119, 10)
    assert versions(Document("prices.md", body), Document("prices-old.md", body)) == [("prices-old.md", "prices.md")]


@pytest.mark.parametrize(
    ("dated", "plain", "date"),
    [
        ("returns-2023.md", "returns.md", "2023"),
        ("2024/returns.md", "returns.md", "2024"),
        ("returns_v1.md", "returns.md", "v1"),
        ("returns-v2.md", "returns.md", None),
        ("returns-2023.md", "returns-abroad.md", None),
    ],
)
def test_a_date_in_one_name_alone_is_that_of_an_older_state(dated: str, plain: str, date: str | None) -> None:
    text = "You can send goods back within {} days of delivery. The refund is paid within a week. Helmets stay."
    documents = [Document(dated, text.format(14)), Document(plain, text.format(30))]
    found = find_versions(documents, CopyFinder(documents).find())
    assert [(one.older, one.newer, one.only_date) for one in found] == ([(dated, plain, date)] if date else [])
    says_when = [documents[0], Document(plain, f"Last updated: May 2022. {documents[1].text}")]
    assert [one.older for one in find_versions(says_when, CopyFinder(says_when).find())] == [plain] * (
        date in {"2023", "2024"}
    )


def test_a_series_with_texts_of_its_own_has_no_versions() -> None:
    minutes = [
        Document("minutes-2024-01.md", "The board met in Cork and spoke about the new lease of the shop by the river."),
        Document(
            "minutes-2024-02.md", "Everybody agreed to hire two mechanics before summer, and thanked the treasurer."
        ),
    ]
    assert versions(*minutes) == []


def test_notes_of_releases_are_no_versions_of_one_another() -> None:
    """Of 1,463 documents of Debian some hundred release notes were called older versions of the next ones."""
    fixed = "Fixed since the last release: the index is written at once, and names may have blanks. "
    notes = [
        Document(f"relnotes/1.{place}.txt", f"{fixed}Also, {word} is quicker now.")
        for place, word in enumerate(("copying", "sorting", "drawing", "printing", "packing", "reading"))
    ]
    assert versions(*notes) == []
    assert versions(Document("changes-v1.md", f"{fixed}One."), Document("changes-v2.md", f"{fixed}Two.")) == []
    rules = [dataclasses.replace(one, id=f"rules-{place}.0.txt") for place, one in enumerate(notes, 1)]
    assert len(versions(*rules)) == len(rules) - 1  # each repeats the one before it
    told = [Document(f"rules-{place}.0.txt", text) for place, text in enumerate(DIFFERENT, 1)]
    assert versions(*told) == []


DIFFERENT = (
    "The tower has nine bells.",
    "Trains leave at noon.",
    "Sugar dissolves in tea.",
    "Our cat sleeps.",
    "Snow fell.",
)


def test_copies_without_any_date_are_no_versions() -> None:
    body = PRICES.format(59, 119, 10)
    assert versions(Document("a.md", body), Document("b.md", body)) == []
    assert versions(Document("a-2024.md", ""), Document("a-2025.md", "")) == []
    assert versions() == []


OLD_RULES = (
    "You may send goods back within thirty days. We refund the price on the card that you paid with. Postage is not "
    "refunded, and opened parcels are checked by hand."
)
NEW_RULES = (
    "Customers have a fortnight to return goods they do not want. The refund of the price goes to the card used when "
    "paying. We carry the postage of all parcels."
)
CAFE = Document(
    "cafe.md", "The cafe opens at nine. Dogs are welcome on the terrace, and the cake is baked here.", "Cafe"
)


@in_one_test(
    ("old", "new"),
    [
        ("returns-v1.md", "returns-v2.md"), ("returns-2021.md", "returns-2024.md"), ("returns.bak.md", "returns.md"),
        ("returns_draft.md", "returns_final.md"), ("archive/returns.md", "returns.md"),
        ("returns-previous.md", "returns-current.md"), ("2021/returns.md", "2024/returns.md"),
        ("returns.md", "returns-new.md"), ("returns-2nd-edition.md", "returns-3rd-edition.md"),
        ("returns_r2.md", "returns_r10.md"), ("returns-1.9.md", "returns-1.10.md"),
        ("1.9/returns.md", "1.10/returns.md"),
    ],
)  # fmt: skip
def test_names_tell_versions_that_were_rewritten(old: str, new: str) -> None:
    documents = [CAFE, Document(new, NEW_RULES, "Returns"), Document(old, OLD_RULES, "Returns")]
    assert [(one.older, one.newer) for one in find_versions(documents, CopyFinder(documents).find())] == [(old, new)]


def test_short_words_say_what_a_rewritten_text_is_about() -> None:
    old, new = (
        "The lock of a hire bike is in the left box. Pay a fine if lost.",
        "Lost a lock? A fine of five. Hire bike.",
    )
    assert versions(Document("r-v1.md", old), Document("r-v2.md", new)) == [("r-v1.md", "r-v2.md")]
    assert versions(Document("r-v1.md", old), Document("r-v2.md", "Dogs may come in. Each room has a sink.")) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("This page is out of date. See Sending goods back.", "This page is out of date"),
        ("These terms applied until 31 December 2022.", "These terms applied until"),
        ("Superseded by the page on sending goods back.", "Superseded by"),
        ("Note: this is an archived version, kept for reference only.", "this is an archived version"),
        ("These rules are no longer in force.", "These rules are no longer in force"),
        ("Dieser Text gilt nicht mehr.", "Dieser Text gilt nicht mehr"),
        ("[OUTDATED]", "OUTDATED"),
        ("Status: Withdrawn", "Status: Withdrawn"),
        ("**DEPRECATED**: use Sending goods back.", "DEPRECATED"),
        ("No longer in effect.", "No longer in effect"),
        ("Expired on 30 June 2021.", "Expired"),
        ("These terms have since been revised.", "These terms have since been revised"),
        ("See Sending goods back for the current rules.", ""),
    ],
)
def test_a_document_may_say_that_it_is_old(line: str, said: str) -> None:
    old = Document("rules.md", f"{line}\n\n{OLD_RULES}", "Rules for goods")
    documents = [CAFE, Document("sending.md", NEW_RULES, "Sending goods back"), old]
    [found] = find_versions(documents, CopyFinder(documents).find())
    assert (found.older, found.newer, found.own_words) == ("rules.md", "sending.md", said)


@pytest.mark.parametrize(
    "line",
    [
        "This policy replaces the former version of 2021.",
        "The tower was replaced by a taller one, and the old version of the plan was lost.",
        "An outdated guide may mislead you.",
        "deprecated: v1.4",
        "See the notice in the shop for the current opening hours.",
    ],
)
def test_what_speaks_of_other_things_that_are_old_is_not_old(line: str) -> None:
    documents = [Document("rules.md", f"{line} {OLD_RULES}", "Rules"), Document("sending.md", NEW_RULES, "Sending")]
    assert find_versions(documents, CopyFinder(documents).find()) == ()
