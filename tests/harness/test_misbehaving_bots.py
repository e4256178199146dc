"""Bots and metrics that do what they should not: the run goes on, no row is lost, and stdout stays ours."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
import suites
from suites import NOTING, PROGRAM, asked, lines, start, start_other, wait_for_answers, write_suite
from typed import proctor

NOISY = """
import os, sys

print("noise at import")

def answer(question):
    print("noise")
    os.system("echo noise of a child")
    os.write(1, b"noise without Python")
    return "It is " + question.split()[-1]
"""


@pytest.mark.parametrize("command", [["run", "suite.yaml", "--json"], ["ask", "suite.yaml", "mine", "What?", "--json"]])
def test_what_a_bot_prints_never_stands_on_stdout(tmp_path, command):
    write_suite(tmp_path, NOISY)
    done = suites.proctor(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert all(said in done.stderr for said in ("noise at import", "noise of a child", "noise without Python"))


CANCELS = "import asyncio\n\nasync def answer(question): raise asyncio.CancelledError('a scope of its own')"
PANICS = "class Panic(BaseException): pass\n\ndef answer(question): raise Panic('deep inside')"
INTERRUPTS = "def answer(question): raise KeyboardInterrupt"
CIRCULAR = "def answer(question):\n    trace = {}\n    trace[1] = trace\n    return {'answer': 'x', 'trace': trace}"
BAD_REPLIES = {
    "cancels itself": (CANCELS, "CancelledError: a scope of its own"),
    "panics": (PANICS, "Panic: deep inside"),
    "interrupts": (INTERRUPTS, "KeyboardInterrupt"),
    "circular trace": (CIRCULAR, "trace can't be written as JSON"),
    "odd declined": ("def answer(question): return {'answer': 'x', 'declined': 'maybe'}", "a str as declined"),
    "huge tokens": ("def answer(question): return {'answer': 'x', 'tokens_in': 10**30}", "too large to be kept"),
    "odd reasoning": ("def answer(question): return {'answer': 'x', 'reasoning': {'a': 1}}", "a dict as its reasoning"),
}


@pytest.mark.parametrize("name", BAD_REPLIES)
def test_a_reply_that_can_not_be_kept_is_a_row_that_says_so(tmp_path, name):
    bot, sentence = BAD_REPLIES[name]
    write_suite(tmp_path, bot, 3)
    done = proctor("run", "suite.yaml", "--json", folder=tmp_path)
    assert done.returncode == 1, done.stderr  # no question got an answer
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["bots"]["mine"]["failed"] == 3
    stored = lines(tmp_path / "proctor.db", "SELECT status, error FROM answers")
    assert {row_status for row_status, _ in stored} == {"raised"} and len(stored) == 3
    assert all(sentence in error for _, error in stored)


def test_lone_surrogates_are_kept_out_of_everything_that_is_kept(tmp_path):
    half = "\\ud83d"
    bot = f"def answer(question): return {{'answer': 'a{half}', 'reasoning': 'r{half}', 'trace': {{'t': '{half}'}},\n"
    bot += f"    'contexts': [{{'text': 'c{half}', 'document': 'd{half}', 'start': 3, 'score': 0.5}}]}}"
    write_suite(tmp_path, bot, 1)
    done = proctor("run", "suite.yaml", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert lines(tmp_path / "proctor.db", "SELECT answer, reasoning FROM replies") == [("a\ufffd", "r\ufffd")]
    passages = "SELECT document, start, text, score FROM passages JOIN contexts ON passage_id = passages.id"
    assert lines(tmp_path / "proctor.db", passages) == [("d\ufffd", 3, "c\ufffd", 0.5)]


def test_sigterm_ends_a_run_as_ctrl_c_does(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0.02), 2000, concurrency=4)
    process = start("run", "suite.yaml", folder=tmp_path)
    wait_for_answers(tmp_path / "proctor.db", 10)
    process.send_signal(signal.SIGTERM)
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, "the same command goes on" in complaint) == (130, True)
    assert "Traceback" not in complaint
    assert lines(tmp_path / "proctor.db", "SELECT status FROM runs") == [("stopped",)]


@pytest.mark.parametrize("pause", [0.0, 0.0001, 0.001])
def test_ctrl_c_twice_neither_hangs_nor_loses_anything(tmp_path, pause):
    write_suite(tmp_path, NOTING.format(delay=0.005), 3000, concurrency=4)
    process = start("run", "suite.yaml", folder=tmp_path)
    wait_for_answers(tmp_path / "proctor.db", 10)
    process.send_signal(signal.SIGINT)
    time.sleep(pause)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)  # the second may come when all is done
    assert "Traceback" not in complaint
    assert lines(tmp_path / "proctor.db", "SELECT status FROM runs") == [("stopped",)]


def test_ctrl_c_ends_a_single_question_as_well(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=60), 1)
    process = start("ask", "suite.yaml", "mine", "What?", folder=tmp_path)
    end = time.monotonic() + 90
    while not asked(tmp_path) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (130, "proctor: Stopped.\n")


def test_the_third_ctrl_c_leaves_at_once_what_is_kept_stays(tmp_path):
    stubborn = "import asyncio\n\nasync def answer(question):\n    if question == 'What is 0': return 'x'\n    try:\n"
    stubborn += "        await asyncio.sleep(60)\n    finally:\n        await asyncio.shield(asyncio.sleep(60))"
    write_suite(tmp_path, stubborn, 3, concurrency=3)
    process = start("run", "suite.yaml", folder=tmp_path)
    wait_for_answers(tmp_path / "proctor.db", 1)
    end = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < end:  # two that come close together are one
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    process.communicate(timeout=20)
    assert process.returncode == 130
    connection = sqlite3.connect(tmp_path / "proctor.db")
    assert connection.execute("SELECT answer FROM replies").fetchall() == [("x",)]
    connection.close()


@pytest.mark.parametrize("place", [".", "no/such/rows.jsonl"])
def test_rows_that_can_not_be_written_are_a_sentence_before_anything_is_asked(tmp_path, place):
    write_suite(tmp_path, NOTING.format(delay=0))
    done = proctor("run", "suite.yaml", "--rows", place, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("proctor: --rows: ") and "Traceback" not in done.stderr
    assert not (tmp_path / "asked.txt").exists()


def test_rows_into_a_pipe_are_written_to_it_and_it_stays_a_pipe(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), 2)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = start_other("cat", pipe, folder=tmp_path)
    done = suites.proctor("run", "suite.yaml", "--rows", pipe, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said, _ = reader.communicate(timeout=60)
    assert len(said.splitlines()) == 6
    assert pipe.is_fifo()


ASCII = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}


@pytest.mark.parametrize("arguments", [["run", "suite.yaml"], ["ask", "suite.yaml", "wide 日本", "What?"], ["metrics"]])
def test_a_terminal_that_knows_ascii_only_gets_question_marks(tmp_path, arguments):
    bots = {"wide 日本": {"type": "python", "target": "bot.py:answer"}}
    write_suite(tmp_path, "def answer(question): return 'ü 日本'", 2, bots=bots)
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=tmp_path, capture_output=True, env={**os.environ, **ASCII}, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii() and done.stdout


def test_json_is_utf_8_whatever_the_locale(tmp_path):
    bots = {"wide 日本": {"type": "python", "target": "bot.py:answer"}}
    write_suite(tmp_path, "def answer(question): return 'ü 日本'", 2, bots=bots)
    done = subprocess.run(
        [*PROGRAM, "run", "suite.yaml", "--json"],
        cwd=tmp_path, capture_output=True, env={**os.environ, **ASCII}, timeout=60,
    )  # fmt: skip
    assert list(json.loads(done.stdout)["bots"]) == ["wide 日本"]


def test_a_full_disk_under_stdout_is_a_sentence(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), 2)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, "run", "suite.yaml"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr and "Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_causes_no_traceback(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), 2)
    process = start("run", "suite.yaml", "--json", folder=tmp_path)
    process.stdout.close()
    complaint = process.stderr.read()
    process.wait(timeout=60)
    process.stderr.close()
    assert complaint == ""


def test_nothing_that_is_shown_can_steer_the_terminal(tmp_path):
    bots = {"evil\x1b[2J; x": {"type": "python", "target": "bot.py:answer"}}
    write_suite(tmp_path, "def answer(question): raise ValueError('\\x1b]0;title\\x07')", 1, bots=bots)
    shown = proctor("run", "suite.yaml", folder=tmp_path)
    asked_once = proctor("ask", "suite.yaml", "evil\x1b[2J; x", "What?", folder=tmp_path)
    unknown = proctor("ask", "suite.yaml", "\x1b[2J", "What?", folder=tmp_path)
    for done in (shown, asked_once, unknown):
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr
    assert "proctor ask suite.yaml 'evil\ufffd[2J; x'" in shown.stdout


LEAVES = """
from proctor.metrics import metric


@metric(better="higher", low=0, high=1)
def leaves(answer: str) -> float:
    \"\"\"Leaves.\"\"\"
    raise SystemExit(4)
"""


def test_a_metric_that_leaves_the_program_is_an_error_of_its_rows(tmp_path):
    (tmp_path / "own.py").write_text(LEAVES)
    metrics = ["exact_match", "leaves"]
    write_suite(tmp_path, NOTING.format(delay=0), 2, metric_files=["own.py"], metrics=metrics)
    done = proctor("run", "suite.yaml", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    scored = lines(tmp_path / "proctor.db", "SELECT DISTINCT metric, status FROM row_scores ORDER BY 1")
    assert scored == [("exact_match", "ok"), ("leaves", "error")]


def test_a_file_of_metrics_that_leaves_the_program_is_a_sentence(tmp_path):
    (tmp_path / "own.py").write_text("import sys\n\nsys.exit(3)\n")
    write_suite(tmp_path, NOTING.format(delay=0), 2, metric_files=["own.py"])
    done = proctor("run", "suite.yaml", folder=tmp_path)
    assert done.returncode == 2
    assert "own.py:3: SystemExit: 3" in done.stderr
