"""Two programs run one suite on one database: together they ask each question once, and both end with every row."""

import json
import signal
import time

import pytest
from suites import NOTING, asked, lines, start, wait_for_answers, write_suite
from typed import proctor

UNEVEN = NOTING.replace(
    "time.sleep({delay})", "time.sleep({delay})\n    if 'fails' in question: raise ValueError('no')"
)


def both(folder, *arguments):
    """Two programs begun together, run to their ends."""
    programs = [start("run", "suite.yaml", "--json", *each, folder=folder) for each in arguments]
    ended = [program.communicate(timeout=120) for program in programs]
    assert [program.returncode for program in programs] == [0, 0], ended
    return [json.loads(said) for said, _ in ended]


@pytest.mark.parametrize("metrics", [["exact_match"], ["exact_match", "answer_similarity"]])
def test_together_they_ask_each_question_once(tmp_path, metrics):
    write_suite(tmp_path, NOTING.format(delay=0.1), 110, concurrency=4, metrics=metrics)
    made = both(tmp_path, (), ())
    assert sorted(asked(tmp_path)) == sorted(f"What is {number}" for number in range(110))
    assert [each["bots"]["mine"]["rows"] for each in made] == [110, 110]
    assert sum(each["asked"] for each in made) == 110
    database = tmp_path / "proctor.db"
    assert lines(database, "SELECT COUNT(*) FROM answers") == [(110,)]
    assert lines(database, "SELECT DISTINCT n_ok FROM leaderboard") == [(110,)]
    assert lines(database, "SELECT owner FROM workers UNION ALL SELECT owner FROM leases") == []


def test_what_failed_is_not_asked_by_the_other_and_is_asked_by_a_later_run(tmp_path):
    questions = [{"id": f"q{each}", "question": f"What {'fails' if each % 4 else 'is'} {each}"} for each in range(24)]
    write_suite(tmp_path, UNEVEN.format(delay=0.4), questions, concurrency=2, metrics=["answer_length"])
    made = both(tmp_path, (), ())
    assert len(asked(tmp_path)) == 24
    assert [each["bots"]["mine"]["failed"] for each in made] == [18, 18]
    proctor("run", "suite.yaml", folder=tmp_path)
    assert len(asked(tmp_path)) == 42


def test_two_runs_of_other_metrics_share_what_they_ask(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0.05), 60, concurrency=2)
    (tmp_path / "other.yaml").write_text((tmp_path / "suite.yaml").read_text().replace('"exact_match", ', ""))
    programs = [start("run", name, folder=tmp_path) for name in ("suite.yaml", "other.yaml")]
    for program in programs:
        program.communicate(timeout=120)
    assert len(asked(tmp_path)) == 60
    assert lines(tmp_path / "proctor.db", "SELECT COUNT(*) FROM answers GROUP BY run") == [(60,), (60,)]


def test_fresh_runs_share_nothing(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0.01), 20)
    both(tmp_path, ("--fresh",), ("--fresh",))
    assert len(asked(tmp_path)) == 40


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGSTOP])
def test_what_one_leaves_undone_the_other_does(tmp_path, end):
    """Killed, interrupted or only silent: its claims lapse, and the other goes on with them."""
    write_suite(tmp_path, NOTING.format(delay=0.1), 40, concurrency=2)
    first = start("run", "suite.yaml", folder=tmp_path)
    wait_for_answers(tmp_path / "proctor.db", 4)
    first.send_signal(end)
    if end is not signal.SIGSTOP:
        first.wait(timeout=60)
    before, began = len(asked(tmp_path)), time.monotonic()
    done = proctor("run", "suite.yaml", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["bots"]["mine"]["rows"] == 40
    assert set(asked(tmp_path)) == {f"What is {number}" for number in range(40)}
    assert len(asked(tmp_path)) <= 42 + 2  # those that were in flight are asked again
    assert before < 40 and time.monotonic() - began < 60
    first.kill()
