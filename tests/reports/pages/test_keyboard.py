"""The page without a mouse: real keys, where the focus is after each of them, and that it is seen."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from accessibility import announced
from browser import Shown
from page_runs import page_book, report_of
from proctor.reports.pages.run_page import run_file
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

QUESTION = "answers?metric=faithfulness&bot=rag&sort=value"
WHERE = """
const at = document.activeElement;
const text = (at.innerText ?? '').trim().slice(0, 40);
return [at.localName, at.id, at.className?.baseVal ?? at.className, at.ariaLabel, text].join('|')
"""
# What has the focus stands out by a line around it, or by being a field with a caret; and it is in the window.
SEEN = """
const at = document.activeElement;
const {top, bottom, left, width} = at.getBoundingClientRect();
const {outlineStyle, outlineWidth} = getComputedStyle(at);
const isInSight = width > 0 && bottom > 0 && top < innerHeight && left >= 0;
return isInSight && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    book = page_book(tmp_path_factory.mktemp("keys") / "proctor.db", 7)
    written = book.path.with_name("page.html")
    with closing(book.store()) as store, written.open("wb") as out:
        out.writelines(run_file(report_of(store)))
    return written


@pytest.fixture(autouse=True)
def forgetful(page: Shown) -> Iterator[None]:
    """What a reader chose is not kept for the next test."""
    yield
    page.run("localStorage.clear()")


def press(page: Shown, *keys: str) -> str:
    """Press keys one after the other; what has the focus then."""
    ActionChains(page.driver, duration=0).send_keys(*keys).perform()
    return str(page.run(WHERE))


def tab_until(page: Shown, wanted: str, most: int = 40, back: bool = False) -> str:
    """Press Tab until what has the focus holds these words; each stop on the way must be seen to have it."""
    passed = []
    for _ in range(most):
        if back:
            ActionChains(page.driver, duration=0).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
            where = str(page.run(WHERE))
        else:
            where = press(page, Keys.TAB)
        assert page.run(SEEN), f"the focus is not seen at {where}"
        if wanted in where:
            return where
        passed.append(where)
    raise AssertionError(f"{wanted} was not reached: {passed}")


def test_the_way_through_a_page_by_keys_alone(page: Shown, file: Path) -> None:
    page.open(file)
    assert "skip" in press(page, Keys.TAB)
    assert press(page, Keys.ENTER).startswith("main|main")
    page.run("document.activeElement.blur(); getSelection().removeAllRanges()")
    page.open(file)
    stops = [press(page, Keys.TAB) for _ in range(7)]
    parts = page.texts("nav.views a")
    assert [each.rpartition("|")[2] for each in stops] == ["Skip to the content", "Dark", *parts]
    tab_until(page, parts[2], back=True)
    press(page, Keys.ENTER)
    page.wait("return !document.querySelector('#metrics').hidden")
    assert press(page).startswith("section|metrics|view") and page.run("return scrollY") == 0
    tab_until(page, "Heatmap of all metrics")
    tab_until(page, "a||")
    press(page, Keys.ENTER)  # the first figure of the heatmap
    page.wait("return !document.querySelector('#answers').hidden && document.querySelector('.question-line')")
    assert press(page).startswith("section|answers|view")
    assert page.run("return scrollY") == 0
    assert "question-q" in tab_until(page, "input")
    tab_until(page, "question-sort")
    tab_until(page, "question-opener")


def test_from_a_row_to_the_evidence_of_a_claim_and_back(page: Shown, file: Path) -> None:
    page.open(f"{file.as_uri()}#{QUESTION}")
    first = press(page, "j")
    assert "question-opener" in first and page.run(SEEN)
    assert press(page, "j") != first
    assert press(page, "k") == first
    press(page, Keys.ENTER)
    page.wait("return document.querySelector('.detail .evidence') && !document.querySelector('[aria-busy]')")
    assert press(page) == first, "what was opened takes the focus away"
    claim = tab_until(page, "claim-text", 120)
    press(page, Keys.ENTER)
    page.wait("return document.activeElement.matches('.context') && document.querySelector('mark.nearest')")
    assert page.run(SEEN)
    tab_until(page, "Back to the claim")
    assert press(page, Keys.ENTER) == claim
    assert press(page, Keys.ESCAPE) == first
    assert not page.run("return document.querySelector('.question-opened')")


def test_letter_keys_can_be_switched_off_for_good(page: Shown, file: Path) -> None:
    page.open(f"{file.as_uri()}#answers")
    assert "question-q" in press(page, "/")
    tab_until(page, "question-letters")
    assert press(page, Keys.SPACE).endswith("Letter keys: off")
    for key in "jk/":
        assert "question-letters" in press(page, key)
    page.open(f"{file.as_uri()}#answers")
    assert "question-opener" not in press(page, "j")
    page.click("#question-letters")
    assert "question-opener" in press(page, "j")


def test_light_and_dark_by_a_key(page: Shown, file: Path) -> None:
    page.open(file)
    corpus = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(corpus)
    tab_until(page, "theme")
    assert page.run("return document.activeElement.ariaLabel") == "Dark colours"
    press(page, Keys.ENTER)
    assert page.run(corpus) != light
    assert page.run("return document.activeElement.ariaLabel") == "Light colours"
    press(page, Keys.SPACE)
    assert page.run(corpus) == light


def test_what_is_heard(page: Shown, file: Path) -> None:
    page.open(file)
    assert "button: Dark colours" in announced(page, "header.top")
    assert "heading: Leaderboard" in announced(page, "#overview")
    assert any(each.startswith("image: ") and each.count(": ") > 2 for each in announced(page, ".chart.scatter"))
    page.open(f"{file.as_uri()}#{QUESTION}")
    said = announced(page, ".question-line")
    assert any(each.startswith("button: ") for each in said)
    assert not any("\u25b8" in each for each in said), "a triangle is read out"
    assert any(each.startswith("cell: ") and re.search(r", (passes|fails)\b", each) for each in said)
    press(page, "j", Keys.ENTER)
    page.wait("return document.querySelector('.detail .evidence') && !document.querySelector('[aria-busy]')")
    claims = [each for each in announced(page, ".detail .claims") if each.startswith("button: ")]
    assert claims
    assert all("supported" in each.rpartition(": ")[2] for each in claims), claims
