"""Labelling on a page: with the keyboard, into the database of a server or into a file, and safe from what is shown."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from accessibility import faint_texts, faults, small_targets
from browser import Shown
from page_runs import PageBook, page_book, report_of
from proctor.reports.pages.run_page import run_file
from selenium.webdriver.common.action_chains import ActionChains
from served import viewed
from suites import lines
from typed import proctor

HOSTILE = "<script>throw 1</script><img src=x onerror=alert(1)> \u202egnp"
NAMED = """
const field = document.querySelector('#label-rater');
field.value = arguments[0];
field.dispatchEvent(new Event('change'))"""
CARD = "return document.querySelector('.label-card [data-verdict]') !== null"
# A label is also on a row with the same question, answer and contexts, such as a repeat: four keys may give five.
LABELLED = "return parseInt(document.querySelector('.label-side strong')?.innerText) >= 4"


@pytest.fixture
def book(tmp_path: Path) -> PageBook:
    made = page_book(tmp_path / "proctor.db", questions=8)
    with closing(sqlite3.connect(made.path)) as connection:
        connection.execute("UPDATE questions SET text = ? || id", [HOSTILE])
        connection.execute("UPDATE replies SET answer = answer || ?", [HOSTILE])
        connection.commit()
    return made


def press(shown: Shown, keys: str) -> None:
    for place, key in enumerate(keys, 1):
        before = shown.text(".label-card")
        ActionChains(shown.driver).send_keys(key).perform()
        shown.wait(f"return document.querySelector('.label-card').innerText !== {json.dumps(before)}")
        assert place


def test_answers_are_labelled_with_the_keyboard_and_the_calibration_follows(shown: Shown, book: PageBook) -> None:
    with viewed(book.path) as server:
        shown.open(f"{server.address}runs/{book.head}#label")
        shown.wait("return document.querySelector('#label-desk').innerText.includes('Write your name')")
        shown.run(NAMED, "ann")
        shown.wait(CARD)
        assert faults(shown) == faint_texts(shown) == small_targets(shown) == []
        assert all(name not in shown.text(".label-card") for name in ("Bot:", "exact_match: 1"))
        press(shown, "1w3r")
        shown.wait(f"{LABELLED} && document.querySelector('.label-calibration')?.innerText.includes('all bots')")
        shown.wait("return document.querySelector('.label-side').innerText.match(/Raters: ann \\d; unsure \\d time/)")
        ActionChains(shown.driver).send_keys("\ue012").perform()  # the left arrow: back to the last one
        shown.wait("return document.querySelector('[data-verdict=yes]').getAttribute('aria-pressed') === 'true'")
        shown.media(**{"prefers-color-scheme": "dark"})
        assert faint_texts(shown) == []
        shown.open(f"{server.address}runs/{book.head}#label", 390, 800)
        shown.wait(LABELLED)
        assert shown.run("return document.documentElement.scrollWidth - innerWidth") == 0
        shown.click("#label-blind")
        shown.wait("return document.querySelector('.label-card').innerText.includes('Bot:')")
    stored = lines(book.path, "SELECT rater, passes, unsure, seed FROM calibration_labels ORDER BY id")
    assert stored == [("ann", 1, 0, 0), ("ann", 0, 0, 0), ("ann", None, 1, 0), ("ann", 1, 0, 0)]


def test_a_server_that_is_gone_is_told_and_the_label_is_not_lost_in_silence(shown: Shown, book: PageBook) -> None:
    with viewed(book.path) as server:
        shown.open(f"{server.address}runs/{book.head}#label")
        shown.run(NAMED, "ann")
        shown.wait(CARD)
    ActionChains(shown.driver).send_keys("1").perform()
    shown.wait("return document.querySelector('.label-side [role=alert]')?.innerText.includes('was not stored')")
    assert shown.text(".label-side strong") == "0 labels"
    assert all("ERR_CONNECTION_REFUSED" in line for line in shown.logged())


def test_labels_of_a_file_are_exported_and_read_back(shown: Shown, book: PageBook, tmp_path: Path) -> None:
    store = book.store()
    try:
        (tmp_path / "page.html").write_bytes(b"".join(run_file(report_of(store, book.head))))
    finally:
        store.close()
    shown.open(Path(f"{tmp_path}/page.html").as_uri() + "#label")
    shown.run(NAMED, "bob")
    shown.wait(CARD)
    assert faults(shown) == []
    press(shown, "121")
    shown.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    shown.click(".label-side button")
    file = tmp_path / f"labels-{book.head}.jsonl"
    shown.wait("return true")
    for _ in range(200):
        if file.exists():
            break
        shown.driver.execute_async_script("setTimeout(arguments[0], 20)")
    given = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(each["rater"], each["verdict"], each["drawn"]) for each in given] == [
        ("bob", verdict, "seed 0") for verdict in ("yes", "no", "yes")
    ]
    done = proctor("calibrate", book.head, "--labels", file, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 labels" in done.stdout
    assert lines(book.path, "SELECT DISTINCT rater FROM calibration_labels") == [("bob",)]
    assert all(each["is_random"] for each in _bots(tmp_path, book.head))


def _bots(folder: Path, run: str) -> list[dict[str, object]]:
    found = json.loads(proctor("calibrate", run, "--json", folder=folder).stdout)
    return [bot for metric in found["metrics"].values() for bot in metric["bots"].values()]
