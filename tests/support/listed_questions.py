"""The list of questions as a browser shows it, and the same rows as SQL has them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browser import Shown
from proctor.reports.pages.page import Page, page_bytes
from proctor.reports.pages.pair_page import PAIR_SCRIPTS
from proctor.reports.pages.row_index import data_blocks
from proctor.reports.pages.rows import Column, columns_of
from proctor.reports.pages.run_page import DETAIL_SCRIPTS, LIST_SCRIPTS, questions_section
from proctor.reports.report import Report

# Texts of lines out of sight too, which innerText may leave out.
CASES = """return [...document.querySelectorAll(".question-line")].map((line) =>
    [line.querySelector(".question-key").textContent,
     Number(line.querySelector(".question-about").textContent.match(/repeat (\\d+)/)?.[1] ?? 1) - 1])"""

Case = tuple[str, int]


@dataclass(frozen=True)
class Got:
    """What a bot got for a case."""

    status: str
    answer: str | None
    abstained: bool
    latency: float | None
    values: dict[str, float | None]
    reasons: dict[str, str]


def list_page(columns: Sequence[Column], **settings: object) -> Iterator[bytes]:
    """A page with nothing but the list and its data."""
    scripts = (*DETAIL_SCRIPTS, *(PAIR_SCRIPTS if settings.get("pair") else ()), *LIST_SCRIPTS)
    page = Page("Questions", "", (questions_section(),), scripts, ("questions",), settings)
    return page_bytes(page, data_blocks(columns))


def written(path: Path, report: Report) -> Path:
    """The list of a run as a file."""
    with path.open("wb") as file:
        file.writelines(list_page(columns_of(report.run)))
    return path


def facts(report: Report) -> dict[Case, dict[str, Got]]:
    """By case and bot what the database has, the cases in the order of the run."""
    query, run = report.run.store.query, report.run.id
    found: dict[Case, dict[str, Got]] = {}
    lines = query(
        "SELECT questions.key, run_rows.repeat, bots.name, replies.status, IFNULL(replies.answer, replies.error),"
        " replies.abstained, replies.latency_ms, run_rows.reply_id, run_rows.question_id FROM run_rows"
        " JOIN questions ON questions.id = run_rows.question_id JOIN bots ON bots.id = run_rows.bot_id"
        " JOIN replies ON replies.id = run_rows.reply_id WHERE run_rows.run_id = ?"
        " ORDER BY run_rows.position, run_rows.repeat",
        [run],
    )
    for key, repeat, bot, status, answer, abstained, latency, *row in lines:
        scores = query(
            "SELECT metrics.name, value, IFNULL(reason, status) FROM scores JOIN metrics ON metrics.id = metric_id"
            " WHERE reply_id = ? AND question_id = ?", row,
        )  # fmt: skip
        values = {name: value for name, value, _ in scores}
        reasons = {name: reason for name, value, reason in scores if value is None}
        found.setdefault((key, repeat), {})[bot] = Got(status, answer, bool(abstained), latency, values, reasons)
    return found


def listed(page: Shown) -> list[Case]:
    """The cases that are drawn, in their order, once they are."""
    page.wait("return !document.querySelector('#question-list').ariaBusy")
    return [(str(key), int(repeat)) for key, repeat in page.run(CASES)]


def go(page: Shown, address: str) -> None:
    """Follow a link of the page to the list, as another part of it would have one."""
    page.driver.execute_async_script(
        'addEventListener("hashchange", () => setTimeout(arguments[1]), { once: true }); location.hash = arguments[0]',
        f"answers?{address}",
    )
    page.wait("return !document.querySelector('[aria-busy]')")
    # Lines have no text before the browser has laid them out, which it does a frame later for those on the screen.
    page.wait(
        "const lines = [...document.querySelectorAll('.question-line')];"
        " return !lines.length || lines.some(({ innerText }) => innerText)"
    )


def choose(page: Shown, name: str, value: str) -> None:
    """Choose in a field as a person does."""
    script = """const field = document.querySelector(`#answers [name=${arguments[0]}]`);
    field.value = arguments[1]; field.dispatchEvent(new Event("change", { bubbles: true }))"""
    page.run(script, name, value)


def search(page: Shown, text: str, awaited: int) -> None:
    """Type a search and wait until so many lines are there."""
    field = page.driver.find_element("id", "question-q")
    field.clear()
    field.send_keys(text)
    page.wait(f"return document.querySelectorAll('.question-line').length === {awaited}")


def missing_last(value: float | None) -> float:
    """A key of sorting."""
    return math.inf if value is None else value


def parameters(page: Shown) -> dict[str, Any]:
    """What the address of the page says."""
    found = page.run("return Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? ''))")
    return dict(found)
