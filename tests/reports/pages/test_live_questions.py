"""The list of questions grows while it is looked at, and what the reader has chosen, opened or marked stays."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from browser import Shown
from listed_questions import choose, listed, parameters
from report_rows import Book, ok, row
from served import Server, served

DRAWN = "return document.querySelectorAll('.question-line').length"
DETAIL = "return document.querySelector('.detail .answers') && !document.querySelector('[aria-busy]')"
OFFER = "[...document.querySelectorAll('.question-detail button')].find((each) => each.textContent === 'Show it')"
HEADS = "return [...document.querySelectorAll('.question-bot')].map((each) => each.textContent)"


@pytest.fixture
def served_from(tmp_path: Path) -> Iterator[tuple[ExitStack, Path]]:
    """What is to be ended with the test, in its turn, and the database."""
    with ExitStack() as stack:
        yield stack, tmp_path / "proctor.db"


def put(book: Book, bot: str, *places: int, answer: str = "It is so.") -> None:
    """Rows of a bot, of which every second one is right; they are in the file when this returns."""
    for place in places:
        made = row(book.run, bot, f"q{place}", f"{answer} {place}", position=place, latency_ms=1.0 + place)
        book.put(made, ok("exact_match", float(place % 2)), ok("answer_length", 10.0 * place))
    book.writer.flush()


def serve(stack: ExitStack, path: Path) -> Server:
    return stack.enter_context(served("view", path, "--port", 0, folder=path.parent))


def test_filter_order_place_focus_and_what_is_open_stay(shown: Shown, served_from: tuple[ExitStack, Path]) -> None:
    stack, path = served_from
    book = Book(path)
    stack.callback(book.close)
    put(book, "left", *range(120))
    shown.open(f"{serve(stack, path).address}runs/latest#answers?show=failed&metric=exact_match&sort=latency")
    shown.wait(f"{DRAWN} === 50")
    shown.run("document.querySelectorAll('.question-opener')[30].click()")
    shown.wait(DETAIL)
    shown.run("document.querySelectorAll('.question-opener')[34].focus();"
              " document.querySelectorAll('.question-line')[34].scrollIntoView({ block: 'center' })")  # fmt: skip
    state = (
        "const line = document.activeElement.closest('.question-line');"
        " return [line.querySelector('.question-key').textContent, line.getBoundingClientRect().top]"
    )
    key, top = shown.run(state)
    open_key = "return document.querySelector('.question-line.open .question-key').textContent"  # it is out of sight
    opened, asked = shown.run(open_key), parameters(shown)
    assert shown.text("#question-count") == "60 of 120 questions"
    put(book, "left", *range(120, 180))
    shown.wait("return document.querySelector('#question-count').textContent === '90 of 180 questions'")
    now, height = shown.run(state)
    assert now == key
    assert abs(height - top) < 2
    assert shown.run(open_key) == opened
    assert parameters(shown) == asked
    assert [number for _, number in listed(shown)] == [0] * len(listed(shown))
    keys = [int(key[1:]) for key, _ in listed(shown)]
    assert keys == sorted(keys, reverse=True) and set(keys) <= set(range(0, 180, 2))


def test_a_detail_in_use_is_left_until_the_reader_asks(shown: Shown, served_from: tuple[ExitStack, Path]) -> None:
    stack, path = served_from
    book = Book(path)
    stack.callback(book.close)
    put(book, "left", *range(4))
    shown.open(f"{serve(stack, path).address}runs/latest#answers?open=q2")
    shown.wait(DETAIL)
    shown.run("document.querySelector('.detail .score-metric').focus()")
    put(book, "right", 2, answer="Another answer.")
    shown.wait(f"return {OFFER}")
    assert shown.run("return document.activeElement.matches('.score-metric')")
    assert "Another answer." not in shown.text(".question-detail .answers")
    shown.run(f"{OFFER}.click()")
    shown.wait("return document.querySelector('.question-detail .answers').innerText.includes('Another answer.')")
    assert shown.run("return document.querySelectorAll('.question-detail .answers').length") == 1


def test_a_detail_that_nobody_is_in_grows_by_itself(shown: Shown, served_from: tuple[ExitStack, Path]) -> None:
    stack, path = served_from
    book = Book(path)
    stack.callback(book.close)
    put(book, "left", *range(4))
    shown.open(f"{serve(stack, path).address}runs/latest#answers?open=q2")
    shown.wait(DETAIL)
    put(book, "right", 2, answer="Another answer.")
    shown.wait("return document.querySelector('.question-detail .answers').innerText.includes('Another answer.')")


def test_the_chosen_pair_stays_while_both_runs_grow(shown: Shown, served_from: tuple[ExitStack, Path]) -> None:
    stack, path = served_from
    books = [Book(path, fresh=True) for _ in range(2)]
    for book in books:
        stack.callback(book.close)
        for bot in ("left", "right"):
            put(book, bot, *range(6), answer=f"{bot} of {book.run.id}:")
    base, head = (book.run.name for book in books)
    shown.open(f"{serve(stack, path).address}compare?baseline={base}&candidate={head}#answers")
    shown.wait(f"{DRAWN} === 6")
    first = shown.run(HEADS)
    assert len(first) == 2
    choose_pair(shown, 1)
    shown.wait(f"{HEADS.replace('return', 'return (')}).join() !== {','.join(first)!r}")
    second = shown.run(HEADS)
    assert parameters(shown)["pair"] == second[1]
    shown.run("document.querySelector('.question-opener').click()")
    shown.wait(DETAIL)
    bot = second[1].split()[-1]
    assert f"{bot} of" in shown.text(".detail .answers")
    for book in books:
        for each in ("left", "right"):
            put(book, each, *range(6, 9), answer=f"{each} of {book.run.id}:")
    shown.wait(f"{DRAWN} === 9", 40)
    assert shown.run(HEADS) == second
    assert parameters(shown)["pair"] == second[1]
    assert f"{bot} of" in shown.text(".detail .answers")
    choose_pair(shown, 0)
    shown.wait(f"{DRAWN} === 9 && {HEADS.replace('return ', '')}.join() === {','.join(first)!r}")
    shown.run("history.back()")
    shown.wait(f"return {HEADS.replace('return ', '')}.join() === {','.join(second)!r}")
    shown.wait(DETAIL)  # nothing is asked of the server when it goes


def choose_pair(shown: Shown, number: int) -> None:
    shown.run("const choice = document.querySelector('#pair-choice'); choice.value = arguments[0];"
              " choice.dispatchEvent(new Event('change', { bubbles: true }))", str(number))  # fmt: skip


def test_a_server_that_fails_is_told_and_asked_again(shown: Shown, served_from: tuple[ExitStack, Path]) -> None:
    stack, path = served_from
    book = Book(path)
    stack.callback(book.close)
    put(book, "left", *range(4))
    source = """
        const ask = fetch;
        globalThis.refusing = true;
        globalThis.fetch = (address, ...rest) => globalThis.refusing && String(address).endsWith('/rows')
            ? Promise.reject(new TypeError('no way')) : ask(address, ...rest)"""
    added = shown.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        shown.open(f"{serve(stack, path).address}runs/latest#answers")
    finally:
        shown.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert "no way" in shown.text("#question-list [role=alert]")
    shown.click("#question-list button")
    shown.run("globalThis.refusing = false")
    shown.click("#question-list button")
    shown.wait(f"{DRAWN} === 4")
    choose(shown, "show", "failed")
    assert [key for key, _ in listed(shown)] == ["q0", "q2"]
