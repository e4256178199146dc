"""Every view for those who can't see, can't point, or see little: axe, contrast, targets, reflow, high contrast."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from accessibility import SPACED, faint_texts, faults, small_targets
from analysis_records import full_analysis
from browser import Shown
from page_runs import PageBook, page_book, report_of
from proctor.reports.analysis.store import store_analysis
from proctor.reports.compare.operands import open_operand
from proctor.reports.pages.pair_page import pair_file
from proctor.reports.pages.run_page import run_file
from selenium.webdriver.remote.webdriver import WebDriver
from served import Server, served

OPENED = "answers?metric=faithfulness&bot=rag&open=KEY"
VIEWS = {
    "run": ("overview", "metrics", "answers", OPENED, "knowledge", "manifest"),
    "pair": ("changes", "answers", OPENED, "what-was-changed", "manifest"),
    "view": ("#runs", "#trend", "#compare", "nowhere"),
}
ALL = [(kind, view) for kind, views in VIEWS.items() for view in views]
BUSY = "return document.querySelector('.detail .evidence') && !document.querySelector('[aria-busy]')"
WIDTHS = (1400, 390)
BAR_BESIDE_TABS = """const tabs = document.querySelector('.views');
return tabs && tabs.scrollHeight > tabs.clientHeight && getComputedStyle(tabs).overflowY !== 'hidden'"""
SIDEWAYS = "return document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    return page_book(tmp_path_factory.mktemp("accessible") / "proctor.db", 7)


@pytest.fixture(scope="module")
def files(book: PageBook) -> dict[str, str]:
    run, pair = book.path.with_name("run.html"), book.path.with_name("pair.html")
    with closing(book.store()) as store, run.open("wb") as file:
        store_analysis(store, full_analysis(book.head))
        file.writelines(run_file(report_of(store)))
    with (
        open_operand(f"{book.base}:rag", book.path) as base,
        open_operand(f"{book.head}:rag", book.path) as head,
        pair.open("wb") as file,
    ):
        file.writelines(pair_file(base, head))
    return {"run": f"{run.as_uri()}#", "pair": f"{pair.as_uri()}#"}


@pytest.fixture(scope="module")
def server(book: PageBook) -> Iterator[Server]:
    with served("view", book.path, "--port", 0, folder=book.path.parent) as started:
        yield started


@pytest.fixture
def shown(driver: WebDriver) -> Iterator[Shown]:
    """A page that must log no error; one of a server may ask its server."""
    made = Shown(driver)
    made.media()
    yield made
    logged = made.logged()
    driver.get("about:blank")
    assert [each for each in logged if "404" not in each] == []


def show(page: Shown, address: str, width: int = 1400) -> None:
    """Open a view; all that is folded is unfolded, and a claim is chosen where a question is open."""
    page.open(address.replace("KEY", "return-cost"), width)
    if "open=" in address:
        page.wait(BUSY)
        assert page.text(".question-line.open .question-key") == "return-cost"
        page.run("document.querySelector('button.claim-text').click()")
        page.wait("return document.querySelector('.detail mark.nearest')")
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    # What is hidden has a test of its own; axe would go through it all the same.
    page.run("for (const each of document.querySelectorAll('section.view[hidden]')) each.remove()")


@pytest.mark.parametrize(("kind", "view"), ALL, ids=[f"{kind}-{view.split('=')[0]}" for kind, view in ALL])
def test_nothing_keeps_a_reader_out(shown: Shown, files: dict[str, str], server: Server, kind: str, view: str) -> None:
    show(shown, f"{files.get(kind, server.address)}{view}")
    for width in WIDTHS:
        shown.emulate(mobile=width < 600, width=width, height=900)
        assert faults(shown) == [], f"{width} px"
        for colours in ("light", "dark"):
            shown.media(**{"prefers-color-scheme": colours})
            assert faint_texts(shown) == [], f"{width} px, {colours}"
    assert small_targets(shown) == []
    assert not shown.run(BAR_BESIDE_TABS)
    for width in (700, 320):  # 200 % and 400 % of a window 1400 and 1280 wide
        shown.emulate(mobile=True, width=width, height=800)
        assert shown.run(SIDEWAYS) <= 0, f"{width} px"
    shown.run(SPACED)
    assert shown.run(SIDEWAYS) <= 0, "with wide spaces"


def test_high_contrast_takes_no_text_away(shown: Shown, files: dict[str, str]) -> None:
    shown.media(**{"forced-colors": "active", "prefers-color-scheme": "dark"})
    show(shown, f"{files['run']}{OPENED}")
    assert shown.run("return matchMedia('(forced-colors: active)').matches")
    assert faint_texts(shown) == []
    pressed = (
        "return getComputedStyle(document.querySelector('.detail [aria-pressed=' + arguments[0] + ']')).backgroundColor"
    )
    assert shown.run(pressed, '"true"') != shown.run(pressed, '"false"')


def test_nothing_moves_by_itself(shown: Shown, files: dict[str, str]) -> None:
    shown.media(**{"prefers-reduced-motion": "reduce"})
    show(shown, f"{files['run']}{OPENED}")
    assert shown.run("return document.getAnimations().length") == 0
    moving = shown.run("""
        return [...document.querySelectorAll('*')].filter((each) => {
          const {transitionDuration, animationName, scrollBehavior} = getComputedStyle(each);
          return transitionDuration !== '0s' || animationName !== 'none' || scrollBehavior !== 'auto';
        }).map((each) => each.outerHTML.slice(0, 80))
        """)
    assert moving == []
