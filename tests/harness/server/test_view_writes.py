"""``proctor view`` writes labels for its own pages and for nobody else."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_runs import PageBook, page_book
from proctor.harness.server.viewer import MOST_WRITTEN, Request, Viewer
from served import digest
from suites import lines

HOST = "127.0.0.1:8765"
LABELS = "SELECT rater, metric, value, passes, unsure, seed FROM calibration_labels ORDER BY id"


@pytest.fixture
def book(tmp_path: Path) -> PageBook:
    return page_book(tmp_path / "proctor.db", questions=8)


@pytest.fixture
def viewer(book: PageBook) -> Viewer:
    return Viewer([book.path], {HOST})


def got(viewer: Viewer, path: str, **query: str) -> str:
    return viewer.answer(Request("GET", HOST, path, query)).body.decode()


@pytest.fixture
def write(viewer: Viewer, book: PageBook) -> Request:
    """A label as the run's page sends it."""
    found = re.search(r'"token": ?"([^"]+)"', got(viewer, f"/runs/{book.head}"))
    assert found
    rows = json.loads(got(viewer, f"/runs/{book.head}/data/labels"))["rows"]
    given = {"row": rows[0][3], "metric": "pii_leakage.passes", "rater": "ann", "verdict": "yes", "drawn": "seed 0"}
    return Request(
        "POST", HOST, f"/runs/{book.head}/labels", origin=f"http://{HOST}", kind="application/json", token=found[1],
        body=json.dumps(given).encode(),
    )  # fmt: skip


def changed(write: Request, **fields: object) -> Request:
    return replace(write, body=json.dumps({**json.loads(write.body), **fields}).encode())


@pytest.fixture
def untouched(book: PageBook) -> Iterator[None]:
    before = digest(book.path)
    yield
    assert digest(book.path) == before


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        ({"host": "evil.example"}, 403, "answers as 127.0.0.1:8765 only"),
        ({"origin": ""}, 403, "Only a page of this server"),
        ({"origin": "null"}, 403, "Only a page of this server"),
        ({"origin": "http://evil.example"}, 403, "Only a page of this server"),
        ({"origin": f"https://{HOST}"}, 403, "Only a page of this server"),
        ({"token": ""}, 403, "earlier session"),
        ({"token": "x" * 43}, 403, "earlier session"),
        ({"token": "\u00e9"}, 403, "earlier session"),
        ({"kind": "text/plain"}, 415, "sent as application/json"),
        ({"kind": "application/x-www-form-urlencoded"}, 415, "sent as application/json"),
        ({"body": b" " * (MOST_WRITTEN + 1)}, 413, "More than 16,384 bytes"),
        ({"body": b"{"}, 400, "no JSON"),
        ({"body": b"[]"}, 400, "no JSON object"),
        ({"path": "/"}, 405, "can only be read"),
        ({"path": "/runs/nothing/labels"}, 404, "is no run"),
        ({"method": "PUT"}, 405, "can only be read"),
        ({"method": "DELETE"}, 405, "can only be read"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("untouched")
def test_what_is_not_of_a_page_of_this_session_is_refused_with_a_sentence(
    viewer: Viewer, write: Request, change: dict[str, object], status: int, says: str
) -> None:
    answer = viewer.answer(replace(write, **change))  # type: ignore[arg-type]
    assert (answer.status, says in answer.body.decode()) == (status, True), answer.body


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"row": "row-0-0"}, "No row of run"),
        ({"row": ""}, "The label has no row"),
        ({"rater": ""}, "The label has no rater"),
        ({"rater": "a" * 81}, "more than 80 characters"),
        ({"rater": 7}, "The label has no rater"),
        ({"metric": "pii_leakage.pases"}, "Did you mean pii_leakage.passes?"),
        ({"verdict": "perhaps"}, "wanted yes"),
        ({"verdict": "7"}, "wanted yes"),
        ({"value": 1}, "has no field 'value'"),
    ],
)
@pytest.mark.usefixtures("untouched")
def test_a_label_that_is_none_is_refused_with_a_sentence(
    viewer: Viewer, write: Request, fields: dict[str, object], says: str
) -> None:
    answer = viewer.answer(changed(write, **fields))
    assert (answer.status, says in answer.body.decode()) == (400, True), answer.body


@pytest.mark.usefixtures("untouched")
def test_an_answer_that_changed_since_it_was_shown_is_not_labelled(viewer: Viewer, write: Request) -> None:
    row = json.loads(write.body)["row"]
    answer = viewer.answer(changed(write, row=row[:-8] + "0" * 8))
    assert (answer.status, b"changed since" in answer.body) == (400, True)


def test_labels_are_stored_by_rater_with_the_calibration_and_taken_back(
    viewer: Viewer, write: Request, book: PageBook
) -> None:
    given = json.loads(write.body)
    first = json.loads(viewer.answer(write).body)
    assert first["labels"] == {given["row"]: "yes"}
    assert first["calibrations"][0]["labels"] == 1
    other = json.loads(viewer.answer(changed(write, rater="bob", verdict="no")).body)
    assert other["calibrations"] == []  # one says yes and one says no
    assert "all say the same on 0 of 1 rows" in other["agreement"]
    assert lines(book.path, LABELS) == [
        ("ann", "pii_leakage.passes", 1.0, 1, 0, 0),
        ("bob", "pii_leakage.passes", 0.0, 0, 0, 0),
    ]
    viewer.answer(changed(write, rater="bob", verdict="unsure"))
    assert lines(book.path, LABELS)[1] == ("bob", "pii_leakage.passes", None, None, 1, 0)
    assert lines(book.path, "SELECT labels FROM calibrations") == [(1,)]
    viewer.answer(changed(write, verdict=""))
    assert [line[0] for line in lines(book.path, LABELS)] == ["bob"]
    assert lines(book.path, "SELECT labels FROM calibrations") == []


def test_a_program_that_is_not_at_work_is_not_stopped(viewer: Viewer, write: Request, book: PageBook) -> None:
    stop = replace(write, path=f"/runs/{book.head}/stop", body=b"{}")
    answer = viewer.answer(stop)
    assert (answer.status, b"nothing to stop" in answer.body) == (409, True)
    assert viewer.answer(replace(stop, token="")).status == 403


def test_votes_are_checked_stored_by_rater_and_taken_back(viewer: Viewer, write: Request, book: PageBook) -> None:
    question, first, second = lines(
        book.path,
        "SELECT questions.key, MIN(bots.name), MAX(bots.name) FROM run_rows"
        " JOIN questions ON questions.id = question_id"
        " JOIN bots ON bots.id = run_rows.bot_id GROUP BY 1 HAVING COUNT(DISTINCT bots.name) > 1 LIMIT 1",
    )[0]
    given = {"first": first, "second": second, "question_id": question, "repeat": 0, "vote": "2", "rater": "ann"}
    vote = replace(write, path=f"/runs/{book.head}/votes", body=json.dumps(given).encode())
    for change, says in (
        ({"vote": "left"}, "vote 'left'; 1, 2 or tie is wanted"), ({"question_id": "none"}, "No question 'none'"),
        ({"rater": ""}, "The vote has no rater"), ({"repeat": "x"}, "a whole number"), ({"more": 1}, "no field 'more'"),
    ):  # fmt: skip
        answer = viewer.answer(changed(vote, **change))
        assert (answer.status, says in answer.body.decode()) == (400, True), answer.body
    assert viewer.answer(replace(vote, token="")).status == 403
    pair = {"baseline": f"{book.head}:{first}", "candidate": f"{book.head}:{second}"}
    before = json.loads(got(viewer, "/compare/state", **pair))["tag"]
    assert json.loads(viewer.answer(vote).body)["labels"] == {f"{question}~0": "2"}
    after = json.loads(got(viewer, "/compare/state", **pair))["tag"]
    assert before != after, "a page of the two follows votes"
    assert after in got(viewer, "/compare", **pair)
    both = json.loads(viewer.answer(changed(vote, rater="bob", first=second, second=first, vote="1")).body)
    assert (both["raters"], both["better"]) == ({"ann": 1, "bob": 1}, {"1": 1})
    assert json.loads(viewer.answer(changed(vote, vote="")).body)["raters"] == {"bob": 1}
