"""Labelling on a page: with the keyboard, into the database of a server or into a file, and safe from what is shown."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from accessibility import faint_texts, faults, small_targets
from browser import Shown
from judged_runs import KEY, run_into
from page_runs import PageBook, page_book, report_of
from pair_judge import pair_server
from proctor.harness.run.recorded_run import recorded_evaluation
from proctor.harness.run.run_config import RunConfig
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
    exported(shown, tmp_path)
    file = tmp_path / f"labels-{book.head}.jsonl"
    given = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(each["rater"], each["verdict"], each["drawn"]) for each in given] == [
        ("bob", verdict, "seed 0") for verdict in ("yes", "no", "yes")
    ]
    done = proctor("calibrate", book.head, "--labels", file, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 labels" in done.stdout
    assert lines(book.path, "SELECT DISTINCT rater FROM calibration_labels") == [("bob",)]
    assert all(each["is_random"] for each in _bots(tmp_path, book.head))


CHOOSE = """
const field = document.querySelector(arguments[0]);
field.value = arguments[1];
field.dispatchEvent(new Event('change'))"""
VOTES = "SELECT version, better FROM pair_verdicts WHERE judge = 'people' ORDER BY id"


def test_two_answers_are_compared_blind_by_the_keyboard_with_the_judge_beside(shown: Shown, tmp_path: Path) -> None:
    database = pair_runs(tmp_path)
    with viewed(database) as server:
        run = lines(database, "SELECT name FROM runs")[0][0]
        shown.open(f"{server.address}runs/{run}#label")
        shown.run(CHOOSE, "#label-metric", "*pairs")
        shown.run(NAMED, "ann")
        shown.wait(CARD)
        assert faults(shown) == faint_texts(shown) == small_targets(shown) == []
        seen = shown.text(".label-card")
        assert "First answer" in seen
        assert all(name not in seen for name in ("faq", "rag"))
        for _ in range(3):  # for the answer that the judge calls right, wherever it stands
            first = shown.run("return document.querySelectorAll('.label-answers .label-part')[0].innerText")
            press(shown, "1" if "RIGHT" in first else "2")
        shown.wait("return document.querySelector('.label-side').innerText.includes('says the same on 100 %')")
        press(shown, "t")
        shown.wait("return document.querySelector('.label-calibration').innerText.includes('equally good\t1')")
        assert shown.text(".label-side strong") == "4 votes"
    stored = lines(database, VOTES)
    assert [rater for rater, _ in stored] == ["ann"] * 4
    assert stored[-1] == ("ann", "tie")


def test_votes_of_a_file_are_exported_and_read_back(shown: Shown, tmp_path: Path) -> None:
    database = pair_runs(tmp_path)
    assert proctor("report", "--html", "page.html", folder=tmp_path).returncode == 0
    shown.open((tmp_path / "page.html").as_uri() + "#label")
    shown.run(CHOOSE, "#label-metric", "*pairs")
    shown.run(NAMED, "bob")
    shown.wait(CARD)
    press(shown, "12=")
    exported(shown, tmp_path)
    (file,) = tmp_path.glob("votes-*.jsonl")
    given = [json.loads(line) for line in file.read_text().splitlines()]
    assert {(each["first"], each["second"], each["rater"]) for each in given} == {("faq", "rag", "bob")}
    done = proctor("calibrate", "--labels", file, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 votes stored" in done.stdout
    better = {"1": "first", "2": "second", "tie": "tie"}
    assert lines(database, VOTES) == [("bob", better[each["vote"]]) for each in given]
    file.write_text(json.dumps({**given[0], "question_id": "other"}))
    again = proctor("calibrate", "--labels", file, folder=tmp_path)
    assert "jsonl:1: No question 'other' of this run has answers of both faq and rag" in " ".join(again.stderr.split())


def exported(shown: Shown, folder: Path) -> None:
    """Click Export, and wait for the file."""
    shown.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    shown.click(".label-side button")
    for _ in range(200):
        if list(folder.glob("*s-*.jsonl")):
            break
        shown.driver.execute_async_script("setTimeout(arguments[0], 20)")


def pair_runs(folder: Path) -> Path:
    """Two bots, one with right answers and the other with wrong ones, and a judge that said so of each."""
    with (folder / "recorded.jsonl").open("w") as file:
        for number in range(6):
            for bot, answer in (("faq", "WRONG"), ("rag", "RIGHT")):
                line = {"id": f"q{number}", "question": f"What about {number}?", "expected_answer": "RIGHT",
                        "answer": f"{answer} {number}", "bot": bot}  # fmt: skip
                file.write(json.dumps(line) + "\n")
    options = RunConfig(metrics=["exact_match"])
    run_into(recorded_evaluation(folder / "recorded.jsonl", options, {}), folder / "proctor.db")
    with pair_server() as server:
        judge = ("--judge", "openai:test-model", "--judge-url", server.url)
        done = proctor("compare", "faq", "rag", "--side-by-side", *judge, folder=folder, env={"OPENAI_API_KEY": KEY})
        assert done.returncode == 0, done.stderr
    return folder / "proctor.db"


def _bots(folder: Path, run: str) -> list[dict[str, object]]:
    found = json.loads(proctor("calibrate", run, "--json", folder=folder).stdout)
    return [bot for metric in found["metrics"].values() for bot in metric["bots"].values()]
