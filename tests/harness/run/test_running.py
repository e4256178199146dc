"""The engine's promises, seen from outside: what is asked, what is kept, what is never lost."""

import json
import os
import re
import sys

import proctor as proctor_package
import pytest
from suites import NOTING, PLAIN, asked, count, interrupt, lines, start, wait_for_answers, write_suite
from suites import proctor as own_process
from typed import proctor


def outcome(folder, *arguments):
    done = proctor("run", "suite.yaml", "--json", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_question_is_asked_scored_and_kept(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0))
    made = outcome(tmp_path)
    bot = made["bots"]["mine"]
    assert (bot["rows"], bot["failed"], made["asked"], made["cached"]) == (5, 0, 5, 0)
    assert bot["metrics"]["exact_match"]["mean"] == 1.0
    assert count(tmp_path / "proctor.db", "SELECT COUNT(*) FROM row_scores") == 15


def test_a_second_run_asks_nothing_and_is_the_same_run(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0))
    first, second = outcome(tmp_path), outcome(tmp_path)
    assert (second["asked"], second["cached"], second["run"]) == (0, 5, first["run"])
    assert second["bots"] == first["bots"]
    assert len(asked(tmp_path)) == 5


def test_fresh_asks_everything_again_in_a_run_of_its_own(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0))
    first, second = outcome(tmp_path), outcome(tmp_path, "--fresh")
    assert second["run"] != first["run"]
    assert (second["asked"], len(asked(tmp_path))) == (5, 10)


def test_new_questions_are_asked_and_old_answers_kept(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), 5)
    outcome(tmp_path)
    write_suite(tmp_path, NOTING.format(delay=0), 8)
    made = outcome(tmp_path)
    assert (made["asked"], made["cached"], made["bots"]["mine"]["rows"]) == (3, 5, 8)


def test_a_corrected_expected_answer_scores_again_and_asks_nothing(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), [{"id": "a", "question": "What is 7", "expected_answer": "eight"}])
    assert outcome(tmp_path)["bots"]["mine"]["metrics"]["exact_match"]["mean"] == 0.0
    write_suite(tmp_path, NOTING.format(delay=0), [{"id": "a", "question": "What is 7", "expected_answer": "It is 7"}])
    made = outcome(tmp_path)
    assert made["bots"]["mine"]["metrics"]["exact_match"]["mean"] == 1.0
    assert (made["asked"], asked(tmp_path)) == (0, ["What is 7"])


def test_a_new_metric_scores_kept_answers(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0))
    outcome(tmp_path)
    write_suite(tmp_path, NOTING.format(delay=0), metrics=[*PLAIN, "rouge_l"])
    made = outcome(tmp_path)
    assert (made["asked"], made["bots"]["mine"]["metrics"]["rouge_l"]["n_ok"]) == (0, 5)


def test_a_changed_bot_is_asked_again_and_the_other_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)  # the two texts have one length and, mostly, one second
    two = {name: {"type": "python", "target": f"{name}.py:answer"} for name in ("left", "right")}
    write_suite(tmp_path, "", bots=two)
    (tmp_path / "left.py").write_text("def answer(question): return 'left'")
    (tmp_path / "right.py").write_text("def answer(question): return 'right'")
    assert outcome(tmp_path)["asked"] == 10
    (tmp_path / "right.py").write_text("def answer(question): return 'RIGHT'")
    made = outcome(tmp_path)
    assert (made["asked"], made["cached"]) == (5, 5)
    assert set(lines(tmp_path / "proctor.db", f"SELECT bot, answer FROM answers WHERE run = '{made['run']}'")) == {
        ("left", "left"),
        ("right", "RIGHT"),
    }
    assert not (tmp_path / "__pycache__").exists()


def test_repeats_are_rows_of_their_own(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), 3, repeat=2)
    made = outcome(tmp_path)
    assert made["bots"]["mine"]["rows"] == 6
    assert outcome(tmp_path, "--repeat", "3")["asked"] == 3


FAULTS = """
import time

class Reply: pass

def answer(question):
    number = int(question.split()[-1])
    if number == 0:
        raise KeyError("no such thing")
    if number == 1:
        return None
    if number == 2:
        return ""
    if number == 3:
        return "x" * 1_000_000
    if number == 4:
        return "half a pair \\ud83d and on"
    if number == 5:
        time.sleep(60)
    if number == 6:
        raise SystemExit(3)
    if number == 7:
        return 42
    return "It is " + str(number)
"""


def test_a_faulty_bot_gives_rows_with_a_status_and_never_stops_the_run(tmp_path):
    bots = {"mine": {"type": "python", "target": "bot.py:answer", "timeout": 1}}
    write_suite(tmp_path, FAULTS, 9, bots=bots)
    done = proctor("run", "suite.yaml", "--json", "--rows", "rows.jsonl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    database = tmp_path / "proctor.db"
    status = dict(lines(database, "SELECT question_id, status FROM answers"))
    assert status == {
        "q0": "raised", "q1": "answered", "q2": "answered", "q3": "answered", "q4": "answered", "q5": "timed_out",
        "q6": "raised", "q7": "raised", "q8": "answered",
    }  # fmt: skip
    assert lines(database, "SELECT answer FROM answers WHERE question_id = 'q4'") == [("half a pair � and on",)]
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == 27
    by_key = {(row["id"], row["metric"]): row for row in rows}
    assert (by_key["q0", "exact_match"]["status"], by_key["q0", "exact_match"]["reason"]) == ("bot_error", "bot_raised")
    assert by_key["q1", "exact_match"]["value"] == 0.0, "nothing was returned: a blank answer"
    assert by_key["q2", "keyword_recall"]["value"] == 0.0
    assert by_key["q3", "answer_length"]["value"] == 1_000_000
    made = json.loads(done.stdout)["bots"]["mine"]
    assert (made["rows"], made["failed"]) == (9, 4)
    assert made["latency_ms"]["p95"] < 1000  # the hanging row is censored, not counted as an answer of one second
    again = json.loads(proctor("run", "suite.yaml", "--json", folder=tmp_path).stdout)
    assert (again["asked"], again["cached"]) == (4, 5)  # only what failed is tried again


UNFIT = {  # what a bot's settings say, and what is answered before a run begins
    "bad.py:answer": "importing bad.py failed with ModuleNotFoundError.*nonsense_that_is_not_there.*bad.py, line 1",
    "bot.py:anwser": "there is no anwser in it; did you mean answer?",
    "odd.py:LIMIT": "a bot must be a function, .*; this is a int",
    "odd.py:nothing": r"nothing can't be called with a question .*: its parameters are \(\)",
    "odd.py:Picky": "missing 1 required positional argument: 'key'",
    "ood.py:nothing": r"There is no .*ood\.py",
}
ODD = """LIMIT = 3
def nothing(): return "x"
class Picky:
    def __init__(self, key): pass
    def reply(self, question): return "x"
"""


def test_bots_that_can_not_work_are_refused_in_one_line_each_before_a_run_begins(tmp_path):
    good = {"type": "python", "target": "bot.py:answer"}
    (tmp_path / "bad.py").write_text("import nonsense_that_is_not_there\n\ndef answer(question): return 'x'")
    (tmp_path / "odd.py").write_text(ODD)
    for target, why in UNFIT.items():
        bots = {"good": good, "bad": {"type": "python", "target": target}}
        write_suite(tmp_path, NOTING.format(delay=0), bots=bots)
        done = proctor("run", "suite.yaml", folder=tmp_path)
        assert done.returncode == 2, target
        assert re.fullmatch(rf"proctor: suite\.yaml:\d+:\d+: bots\.bad\.target: .*{why}.*\n", done.stderr), done.stderr
        with pytest.raises(proctor_package.InputError, match=rf"suite\.yaml:\d+:\d+: bots\.bad\.target: .*{why}"):
            proctor_package.run(tmp_path / "suite.yaml", db=tmp_path / "proctor.db", progress=False)
    assert count(tmp_path / "proctor.db", "SELECT COUNT(*) FROM runs") == 0
    (tmp_path / "a.md").write_text("# Hours\nAt nine.")
    without = {"web": {"type": "http", "url": "http://$NO_HOST/"}, "chat": {"type": "rag", "model": "openai:gpt-5"}}
    write_suite(tmp_path, NOTING.format(delay=0), bots=without, knowledge=["a.md"])
    done = proctor("run", "suite.yaml", folder=tmp_path, env={**os.environ, "OPENAI_API_KEY": ""})
    assert done.returncode == 2
    assert "bots.web: the environment variable NO_HOST, which its url needs, is not set" in done.stderr
    assert "bots.chat: The model openai:gpt-5 needs an API key" in done.stderr


def test_a_bot_that_has_answered_needs_neither_code_nor_key_where_all_is_cached(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0) + "\nimport os\nif os.environ.get('GONE'): raise RuntimeError\n")
    outcome(tmp_path)
    for name in [name for name in sys.modules if name.startswith("bot_")]:
        del sys.modules[name]
    done = proctor("run", "suite.yaml", folder=tmp_path, env={**os.environ, "GONE": "1"})
    assert done.returncode == 0, done.stderr


def test_a_kill_loses_nothing_and_asks_nothing_twice(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0.02), 400, concurrency=4)  # two seconds: time enough on a busy machine
    process = start("run", "suite.yaml", folder=tmp_path)
    wait_for_answers(tmp_path / "proctor.db", 30)
    process.kill()
    process.communicate()
    before = len(asked(tmp_path))
    assert 30 <= before < 400
    made = outcome(tmp_path)
    assert made["cached"] + made["asked"] == 400
    assert [path.name for path in tmp_path.glob("*-calls-*")] == []
    assert made["bots"]["mine"]["rows"] == 400
    assert made["bots"]["mine"]["metrics"]["exact_match"]["n_ok"] == 400
    notes = asked(tmp_path)
    twice = [question for question in set(notes) if notes.count(question) > 1]
    assert len(twice) <= 4  # those in flight when the axe fell
    assert before - made["cached"] == len(twice)
    assert count(tmp_path / "proctor.db", "SELECT COUNT(*) FROM replies") == 400
    assert count(tmp_path / "proctor.db", "SELECT COUNT(DISTINCT question_id) FROM run_rows") == 400
    assert lines(tmp_path / "proctor.db", "PRAGMA integrity_check") == [("ok",)]


def test_ctrl_c_ends_cleanly_and_the_same_command_goes_on(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0.02), 400, concurrency=4)  # two seconds: time enough on a busy machine
    process = start("run", "suite.yaml", folder=tmp_path)
    wait_for_answers(tmp_path / "proctor.db", 20)
    interrupt(process)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in complaint
    assert "Traceback" not in complaint
    assert lines(tmp_path / "proctor.db", "SELECT status FROM runs") == [("stopped",)]
    made = outcome(tmp_path)
    assert made["cached"] >= 20 and made["cached"] + made["asked"] == 400
    assert lines(tmp_path / "proctor.db", "SELECT status FROM runs") == [("finished",)]


def test_two_programs_write_one_database_at_once(tmp_path):
    folders = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        write_suite(folder, NOTING.format(delay=0.005), 60, name=name)
        folders.append(folder)
    database = tmp_path / "shared.db"
    processes = [start("run", "suite.yaml", "--db", database, folder=folder) for folder in folders]
    for process in processes:
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint
    assert sorted(lines(database, "SELECT suite, COUNT(*) FROM answers JOIN runs ON runs.name = run GROUP BY 1")) == [
        ("one", 60),
        ("two", 60),
    ]
    assert count(database, "SELECT COUNT(*) FROM row_scores") == 360
    assert lines(database, "PRAGMA foreign_key_check") == []


def _small_files():
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))


def test_a_full_disk_is_a_sentence_and_what_was_kept_stays(tmp_path):
    long = "def answer(question): return question + ' x' * 20_000"
    write_suite(tmp_path, long, 60)
    done = own_process("run", "suite.yaml", folder=tmp_path, preexec_fn=_small_files)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "the database says" in done.stderr
    made = outcome(tmp_path)
    assert made["bots"]["mine"]["rows"] == 60


@pytest.mark.parametrize("place", ["no/such/folder.db", "questions.jsonl", "suite.yaml/proctor.db"])
def test_a_database_that_can_not_be_is_a_sentence(tmp_path, place):
    write_suite(tmp_path, NOTING.format(delay=0))
    done = proctor("run", "suite.yaml", "--db", place, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("proctor: ") and "Traceback" not in done.stderr
    assert asked(tmp_path) == []


def test_no_secret_reaches_the_database_or_the_screen(tmp_path):
    import os

    secret = "sk-very-secret-key-0123456789"
    leaking = "import os\n\ndef answer(question): raise ValueError('the key is ' + os.environ['OPENAI_API_KEY'])"
    write_suite(tmp_path, leaking)
    done = proctor("run", "suite.yaml", folder=tmp_path, env={**os.environ, "OPENAI_API_KEY": secret})
    assert done.returncode == 1
    assert secret not in done.stdout + done.stderr
    for file in tmp_path.glob("proctor.db*"):
        assert secret.encode() not in file.read_bytes()
    assert "$OPENAI_API_KEY" in lines(tmp_path / "proctor.db", "SELECT error FROM answers")[0][0]


def lines_every(seconds):
    """The environment in which a line of progress comes more often than every ten seconds."""
    return {**os.environ, "PROCTOR_PROGRESS_SECONDS": seconds}


def test_in_a_pipe_a_line_now_and_then_says_how_far_it_is(tmp_path):
    bot = "import time\n\ndef answer(question):\n    time.sleep(0.05)\n"
    bot += "    if question.endswith('1'): raise ValueError('no')"
    bot += "\n    return {'answer': 'It is', 'cost': 0.25}"
    write_suite(tmp_path, bot, 45, concurrency=1)
    done = proctor("run", "suite.yaml", "--json", folder=tmp_path, env=lines_every("0.5"))
    progress = [line for line in done.stderr.splitlines() if " of 45" in line]
    assert 1 <= len(progress) < 45, done.stderr  # none for each answer
    going = r"(, (\d+/s|\d+/min), about \d+ (s|min) left)?"
    form = rf"proctor: \d+ s: mine \d+ of 45{going}(, \d+ failed)?, cost \d+\.\d{{4}}"
    assert all(re.fullmatch(form, line) for line in progress), progress
    assert any(" left, " in line and " failed, " in line for line in progress), progress
    json.loads(done.stdout)


def test_in_a_pipe_it_is_said_that_nothing_came_yet(tmp_path):
    slow = "def slow(question):\n    time.sleep(1)\n    return 'It is'\n"
    bots = {name: {"type": "python", "target": f"bot.py:{name}"} for name in ("answer", "slow")}
    write_suite(tmp_path, NOTING.format(delay=0) + slow, 1, bots=bots)
    done = proctor("run", "suite.yaml", folder=tmp_path, env=lines_every("0.2"))
    assert "s: no answer yet" in done.stderr
    assert "s: answer 1 of 1; slow: getting ready" in done.stderr


@pytest.mark.parametrize("seconds", ["often", "0", "nan"])
def test_seconds_between_lines_that_are_none_are_a_sentence(tmp_path, seconds):
    write_suite(tmp_path, NOTING.format(delay=0), 1)
    done = proctor("run", "suite.yaml", folder=tmp_path, env=lines_every(seconds))
    wanted = f"PROCTOR_PROGRESS_SECONDS is '{seconds}': wanted the seconds between two lines of progress, such as 60."
    assert (done.returncode, done.stderr.strip()) == (2, f"proctor: {wanted}")
