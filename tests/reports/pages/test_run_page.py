"""The whole page of a run from disk: every view, and the way from a figure to the sentence that caused it."""

import base64
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from browser import Shown
from listed_questions import choose, listed, parameters, search
from page_runs import PageBook, page_book, report_of
from proctor.reports.pages.run_page import run_file

VIEWS = ["overview", "metrics", "answers", "manifest"]
SEEN = "return [...document.querySelectorAll('section.view')].filter((each) => !each.hidden).map((each) => each.id)"
OPENED = "return document.querySelector('.detail .evidence') && !document.querySelector('[aria-busy]')"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    return page_book(tmp_path_factory.mktemp("book") / "proctor.db")


@pytest.fixture(scope="module")
def file(book: PageBook, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the second run, of four bots."""
    written = tmp_path_factory.mktemp("page") / "page.html"
    with closing(book.store()) as store, written.open("wb") as out:
        out.writelines(run_file(report_of(store)))
    return written


@contextmanager
def without_scripts(page: Shown) -> Iterator[None]:
    """A browser whose reader has turned JavaScript off."""
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        yield
    finally:
        page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_each_view_by_its_tab_and_by_its_address(page: Shown, file: Path) -> None:
    page.open(file)
    assert page.run(SEEN) == ["overview"]
    for view in reversed(VIEWS):
        page.click(f"nav.views a[href='#{view}']")
        page.wait(f"return !document.querySelector('#{view}').hidden")
        assert page.run(SEEN) == [view]
        assert page.text(f"#{view}").strip()
        assert page.run("return document.querySelector('nav.views [aria-current]').hash") == f"#{view}"
    page.run("history.back()")
    page.wait("return !document.querySelector('#metrics').hidden")
    for view in VIEWS:
        page.open(f"{file.as_uri()}#{view}")
        assert page.run(SEEN) == [view]


def test_the_list_sorts_filters_searches_and_opens(page: Shown, book: PageBook, file: Path) -> None:
    page.open(f"{file.as_uri()}#answers")
    whole = listed(page)
    assert len(whole) == 28  # 24 questions, four of them asked twice
    choose(page, "sort", "latency")
    assert sorted(listed(page)) == sorted(whole)
    assert listed(page) != whole
    choose(page, "show", "errors")
    failing = {book.notable[name][1] for name in ("raised", "timed_out", "refused")}
    assert {key for key, _ in listed(page)} == failing
    page.click("#question-clear")
    page.wait("return document.querySelectorAll('.question-line').length === 28")
    search(page, "zzzzz", 0)
    assert "Nothing found" in page.text("#question-notes")
    page.click("#question-clear")
    page.wait("return document.querySelectorAll('.question-line').length === 28")
    page.click(".question-opener")
    page.wait(OPENED)
    assert parameters(page)["open"] == listed(page)[0][0]


def test_three_clicks_lead_from_a_figure_of_the_heatmap_to_the_sentence(page: Shown, file: Path) -> None:
    page.open(f"{file.as_uri()}#metrics")
    page.click("#metrics a[href*='bot=full_context'][href*='metric=faithfulness']")
    page.wait("return !document.querySelector('#answers').hidden && document.querySelector('.question-line')")
    asked = parameters(page)
    assert (asked["bot"], asked["metric"], asked["sort"]) == ("full_context", "faithfulness", "value")
    page.click(".question-line .question-opener")
    page.wait(OPENED)
    evidence = 'article[aria-label="Evidence of full_context"]'
    assert "not supported" in page.text(f"{evidence} .claim.bad"), "the worst row comes first"
    page.click(f"{evidence} .claim.bad button.claim-text")
    page.wait("return document.querySelector('.context mark.nearest')")
    assert page.run("return document.activeElement.matches('.context')")
    assert page.run("return document.activeElement.closest('article').ariaLabel") == "Evidence of full_context"


def test_going_back_and_forth_shows_what_was_there(page: Shown, file: Path) -> None:
    page.open(f"{file.as_uri()}#metrics")
    page.click("#metrics a[href*='bot=rag'][href*='metric=faithfulness']")
    page.wait("return document.querySelector('.question-line')")
    page.click(".question-line .question-opener")
    page.wait(OPENED)
    address = page.run("return location.hash")
    page.run("history.back()")
    page.wait("return !document.querySelector('.question-opened')")
    page.run("history.back()")
    page.wait("return !document.querySelector('#metrics').hidden")
    page.run("history.go(2)")
    page.wait(OPENED)
    assert page.run("return location.hash") == address


def test_light_and_dark_are_remembered(page: Shown, file: Path) -> None:
    corpus = "return getComputedStyle(document.body).backgroundColor"
    page.media(**{"prefers-color-scheme": "light"})
    page.open(file)
    light = page.run(corpus)
    page.click("#theme")
    dark = page.run(corpus)
    assert dark != light
    page.open(file)
    assert page.run(corpus) == dark
    page.click("#theme")
    assert page.run(corpus) == light
    page.run("localStorage.removeItem('proctor-theme')")
    page.media(**{"prefers-color-scheme": "dark"})
    page.open(file)
    assert page.run(corpus) == dark


def test_a_browser_that_keeps_nothing_works_all_the_same(page: Shown, file: Path) -> None:
    source = "Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('no') } })"
    added = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        page.open(f"{file.as_uri()}#answers")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    page.click("#theme")
    assert page.run("return document.documentElement.dataset.theme")
    assert len(listed(page)) == 28


def test_all_views_come_on_paper(page: Shown, file: Path) -> None:
    page.open(f"{file.as_uri()}#manifest")
    page.media("print")
    assert page.run(
        "return [...document.querySelectorAll('section.view:not(#label)')].map("
        "(each) => each.getBoundingClientRect().height > 100)"
    ) == [True] * len(VIEWS)
    assert not page.run("return document.querySelector('nav.views').checkVisibility()")
    printed = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF") and len(printed) > 20_000


def test_an_address_that_no_part_has_says_so_and_what_there_is(page: Shown, file: Path) -> None:
    page.open(f"{file.as_uri()}#questions?bot=rag")
    assert page.run("return !document.getElementById('overview').hidden")
    shown = page.text("p.unknown-address")
    assert shown.startswith("This page has no part “questions”, so this is Overview. It has: #overview, #answers,")
    page.click("nav.views a[href='#metrics']")
    page.wait("return !document.getElementById('metrics').hidden && !document.querySelector('p.unknown-address')")


@pytest.mark.parametrize("width", [1400, 390])
def test_without_scripts_all_but_the_list_is_there(page: Shown, file: Path, width: int) -> None:
    with without_scripts(page):
        page.driver.set_window_size(width, 900)
        page.driver.get(file.as_uri())
        seen = {name: page.driver.find_element("id", name).text for name in VIEWS}
        assert "full_context" in seen["overview"] and "faithfulness" in seen["overview"]
        assert "faithfulness" in seen["metrics"] and "Latency" in seen["metrics"]
        assert "needs JavaScript" in seen["answers"] and "too old" not in seen["answers"]
        assert "proctor run suite.yaml" in seen["manifest"]
        assert not page.driver.find_element("id", "theme").is_displayed()
        assert not page.driver.find_element("id", "question-list").is_displayed()


def test_a_browser_that_cannot_run_the_scripts_says_so_in_the_list(page: Shown, file: Path) -> None:
    source = "delete Intl.Segmenter"
    added = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        page.driver.get("about:blank")
        page.driver.get(f"{file.as_uri()}#answers")
        page.wait("return getComputedStyle(document.querySelector('#question-list p')).visibility === 'visible'")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert "too old" in page.text("#question-list")
    assert page.run(SEEN) == ["answers"]
    assert any("Segmenter" in each for each in page.logged())
