"""The search of the list: all words, phrases, accents and capitals; 50 lines at a time; and texts that mean harm."""

import contextlib
from pathlib import Path

import pytest
from browser import Shown
from listed_questions import choose, go, listed, search, written
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question
from proctor.reports.report import make_report
from proctor.reports.store.run import Row, RunMetric, ask_key
from report_rows import MATCH, Book, ok

HARM = (
    "<script>window.broken = 1</script>",
    "</script><img src=x onerror='window.broken = 1'>",
    '"><svg onload="window.broken = 1">',
    "evil \u202egnp.exe",
    "null \x00 and escape \x1b[31m",
    "<style>*{display:none}</style>",
)
TEXTS = {
    "cafe": ("Où est le café près de l'Église ?", "Straße und Größe", "It opens at NINE o'clock, every day."),
    "split": ("every morning, then the day after", "yes", "It is two\n  lines, and opens at\u00a0ten."),
    "greek": ("ΟΔΥΣΣΕΥΣ or Odysseus?", "Ὀδυσσεύς", "ﬁrst \u212bngström"),
    "plain": ("Nothing of the kind", "no", "no"),
}


def put(book: Book, key: str, text: str, expected: str, answer: str, tags: tuple[str, ...] = (), bot: str = "") -> None:
    question = Question(key, text, (expected,), tags=tags)
    bot_id = book.run.bot_ids[bot or next(iter(book.run.bot_ids))]
    made = Row(question, bot_id, 0, ask_key(question), asked_at="2026-01-01", latency_ms=1.0)
    made.reply = Reply(answer)
    book.put(made, ok(next(iter(book.run.metric_ids)), 1.0))


def page_of(book: Book, path: Path) -> Path:
    book.writer.close()
    return written(path, make_report(book.store, book.run.id))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a few questions in several scripts."""
    folder = tmp_path_factory.mktemp("search")
    with contextlib.closing(Book(folder / "proctor.db", metrics=(MATCH,))) as book:
        for key, (text, expected, answer) in TEXTS.items():
            put(book, key, text, expected, answer)
        return page_of(book, folder / "page.html")


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("cafe eglise", ["cafe"]),
        ("CAFÉ", ["cafe"]),
        ("strasse GROSSE", ["cafe"]),
        ("nine day", ["cafe"]),
        ("day", ["cafe", "split"]),
        ('"every day"', ["cafe"]),
        ("every day", ["cafe", "split"]),
        ('"two lines" "at ten"', ["split"]),
        ('"after yes"', []),
        ("οδυσσευς", ["greek"]),
        ("first angstrom", ["greek"]),
        ("plain", ["plain"]),
        ('"unfinished', []),
        ("every nowhere", []),
    ],
)
def test_every_word_has_to_be_there(page: Shown, found: Path, query: str, keys: list[str]) -> None:
    page.open(found)
    search(page, query, len(keys))
    assert [key for key, _ in listed(page)] == keys


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("cafe", ["café", "cafe"]),
        ("eglise", ["Église"]),
        ("grosse", ["Größe"]),
        ("nine", ["NINE"]),
        ('"at ten"', ["at\u00a0ten"]),
        ("odysseus", ["Odysseus"]),
        ("οδυσσευς", ["ΟΔΥΣΣΕΥΣ"]),
        ("angstrom", ["\u212bngström"]),
    ],
)
def test_what_was_found_is_marked_as_it_stands(page: Shown, found: Path, query: str, marked: list[str]) -> None:
    page.open(found)
    search(page, query, 1)
    marks = page.run("return [...document.querySelectorAll('.question-line mark')].map((mark) => mark.textContent)")
    assert marks == marked


def test_what_stands_in_an_answer_is_marked_in_its_cell(page: Shown, found: Path) -> None:
    page.open(found)
    search(page, "nine", 1)
    assert page.text(".question-line td[data-column='0'] .question-answer") == "It opens at NINE o'clock, every day."
    assert page.text(".question-line td mark") == "NINE"


def test_only_lines_near_the_window_are_drawn_and_all_can_be_reached(page: Shown, tmp_path: Path) -> None:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,))) as book:
        for number in range(400):
            put(book, f"q{number:03}", f"What of {number}?", "yes", "yes", tags=(f"tag {number % 3}",))
        page.open(page_of(book, tmp_path / "page.html"))
    height = page.run("return document.documentElement.scrollHeight")
    assert len(listed(page)) == 50 and listed(page)[0] == ("q000", 0)
    page.run("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait("return document.querySelector('.question-line[data-place=\"399\"]')")
    assert len(listed(page)) < 80 and listed(page)[-1] == ("q399", 0)
    assert page.run("return document.documentElement.scrollHeight") == height
    bottom = "document.querySelector('.question-line[data-place=\"399\"]').getBoundingClientRect().bottom"
    last = f"return {bottom} - innerHeight"
    assert abs(page.run(last)) < 100  # the blank rows are as high as what they stand for
    go(page, "open=q170")
    page.wait("return document.querySelector('.question-opened .detail')")
    assert page.run("return document.querySelector('.question-line.open').dataset.place") == "170"
    page.wait(
        "const { top } = document.querySelector('.question-line.open').getBoundingClientRect();"
        " return top >= 0 && top < 200"
    )
    go(page, "group=tag")
    assert page.texts(".question-group th") == ["tag 0 134"]
    page.click(".question-fold")
    page.click(".question-group + .question-group .question-fold")
    assert page.texts(".question-group th") == ["tag 0 134", "tag 1 133", "tag 2 133"]
    assert listed(page)[0] == ("q002", 0)


@pytest.mark.parametrize("width", [390, 1400])
def test_texts_that_mean_harm_are_texts(page: Shown, tmp_path: Path, width: int) -> None:
    metric = RunMetric(HARM[0], "v1", "higher", 0.0, 1.0, 1.0)
    with contextlib.closing(Book(tmp_path / "proctor.db", bots=(HARM[1], HARM[3]), metrics=(metric,))) as book:
        for number, harm in enumerate(HARM):
            put(
                book, f"{number} {harm}", f"{number} {harm}", harm, harm, tags=(harm,), bot=HARM[1 if number % 2 else 3]
            )
        put(book, "long", "x" * 1_000_000, "y" * 1_000_000, "z" * 1_000_000, tags=("w" * 5_000,))
        page.open(page_of(book, tmp_path / "page.html"), width=width)
    assert len(listed(page)) == len(HARM) + 1
    assert page.run("return document.documentElement.scrollWidth") == width
    text = page.run("return document.querySelector('#question-list').textContent")
    assert HARM[0] in text and HARM[1] in text and HARM[2] in text
    assert "\u202e" not in text and "\u27e8U+202E\u27e9" in text
    assert "\x00" not in text and "null \u2400 and escape \u241b" in text
    for number, harm in enumerate(HARM):
        choose(page, "tag", harm)
        assert [key.split()[0] for key, _ in listed(page)] == [str(number)]
    choose(page, "tag", "")
    search(page, "onerror", 1)
    search(page, "zzzzzzzz", 1)
    page.run("document.querySelector('.question-opener').click()")
    page.wait("return document.querySelector('.question-opened .detail')")
    assert page.run("return document.documentElement.scrollWidth") == width
    assert page.run("return window.broken") is None


def test_data_that_is_damaged_is_told(page: Shown, found: Path, tmp_path: Path) -> None:
    text = found.read_text("utf-8")
    start = text.index(">", text.index('id="block-rows"')) + 1
    damaged = tmp_path / "damaged.html"
    damaged.write_text(f"{text[:start]}H4sI{text[start + 400 :]}", "utf-8")
    page.open(damaged)
    alert = page.text("#question-list [role=alert]")
    assert "can't be read" in alert and "proctor report" in alert
    assert page.run("return document.querySelector('#question-controls').hidden")


def test_a_browser_that_cant_unpack_is_told_so(page: Shown, found: Path) -> None:
    script = "delete globalThis.DecompressionStream"
    added = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        page.open(found)
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert "newer one can" in page.text("#question-list [role=alert]")


def test_without_scripts_it_says_what_to_do(found: Path) -> None:
    assert "<noscript><p>The list of questions needs JavaScript." in found.read_text("utf-8")
    assert "proctor report --csv" in found.read_text("utf-8")
