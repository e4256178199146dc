"""The page on paper: all of its parts, nothing behind a fold or a scroll bar, dark on white whatever the screen is."""

import base64
from contextlib import closing
from pathlib import Path

import pytest
from browser import Shown
from page_runs import page_book, report_of
from proctor.reports.pages.run_page import run_file

PARTS = ("overview", "metrics", "answers", "manifest")
# Whether all such elements take room, and there are any.
THERE = """
const all = [...document.querySelectorAll(arguments[0])];
return all.length > 0 && all.every((each) => each.checkVisibility() && each.getBoundingClientRect().height > 0)
"""
PAPER_WIDTH = 700  # A4 between its margins


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    book = page_book(tmp_path_factory.mktemp("paper") / "proctor.db", 7)
    written = book.path.with_name("page.html")
    with closing(book.store()) as store, written.open("wb") as out:
        out.writelines(run_file(report_of(store)))
    return written


@pytest.fixture
def paper(page: Shown, file: Path) -> Shown:
    """The page with a question open and a claim chosen, as a printer gets it from a dark screen."""
    page.open(f"{file.as_uri()}#answers?metric=faithfulness&bot=rag&open=return-cost")
    page.wait("return document.querySelector('.detail .evidence') && !document.querySelector('[aria-busy]')")
    page.run("document.querySelector('button.claim-text').click(); document.documentElement.dataset.theme = 'dark'")
    page.wait("return document.querySelector('.detail mark.nearest')")
    page.media("print", **{"prefers-color-scheme": "dark"})
    page.emulate(mobile=False, width=PAPER_WIDTH, height=1000)
    return page


def test_all_parts_are_on_paper_with_their_headings(paper: Shown) -> None:
    for part in PARTS:
        assert paper.run(THERE, f"#{part}"), part
        heading = f"#{part} h2:not(#overview .unseen)"  # the verdict is its own heading
        assert paper.run("return document.querySelector(arguments[0]).offsetWidth", heading) > 30, part
    for seen in ("nav.views", ".skip", "#theme", "#question-controls", ".detail-tools", "button[data-copy]"):
        assert not paper.run(THERE, seen), seen


def test_texts_that_are_buttons_on_a_screen_are_texts(paper: Shown) -> None:
    for text in (".question-opener", ".detail .claim-text", ".detail .score-metric", ".detail .context-head"):
        assert paper.run(THERE, text), text


def test_folds_are_open_but_for_what_would_fill_the_paper(paper: Shown) -> None:
    for text in ("#overview details.more table", "#overview details li", "#manifest details pre"):
        assert paper.run(THERE, text), text
    assert not paper.run(THERE, "#metrics details.at-will:not([open]) figure")
    assert paper.run(THERE, "#metrics details.at-will:not([open]) > summary")


def test_a_dark_screen_prints_dark_on_white(paper: Shown) -> None:
    colours = "const {color, backgroundColor} = getComputedStyle(document.body); return [color, backgroundColor]"
    assert paper.run(colours) == ["rgb(27, 31, 36)", "rgb(255, 255, 255)"]
    paper.media("screen")
    assert paper.run(colours) != ["rgb(27, 31, 36)", "rgb(255, 255, 255)"]


def test_nothing_is_cut_off_at_the_edge(paper: Shown) -> None:
    wide = paper.run("""
        return [...document.querySelectorAll('table, svg, pre, figure')].filter((each) => each.checkVisibility())
          .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
          .map((each) => each.outerHTML.slice(0, 100))
        """)
    assert wide == []
    assert paper.run("return document.documentElement.scrollWidth") <= PAPER_WIDTH
    scrolled = "getComputedStyle(each).overflowX !== 'visible'"
    assert not paper.run(f"return [...document.querySelectorAll('.scroll')].some((each) => {scrolled})")


def test_a_printer_makes_pages_of_it(paper: Shown) -> None:
    paper.media()
    made = paper.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert 5 <= base64.b64decode(made["data"]).count(b"/Type /Page\n") <= 40
