"""Nuggets and graded relevance through the front door: a question file, a run with a judge over HTTP, reports."""

import json
import os
import re
import sqlite3

from openai_server import OpenAIServer
from suites import write_suite
from typed import proctor

BOT = """
def answer(question):
    if "open" in question:
        return {"answer": "At nine.", "contexts": [{"text": "We open at nine.", "document": "hours.md"}, "Bikes."]}
    return {"answer": "I can't say.", "contexts": ["Returns are free.", "Fees."]}
"""
QUESTIONS = [
    {"id": "hours", "question": "When do you open?",
     "nuggets": ["It opens at nine.", {"text": "It is closed on Sunday.", "vital": False}]},
    {"id": "fees", "question": "What is the fee?", "nuggets": ["The fee is 85 euros.", "Freight is free."]},
    {"id": "taken", "question": "Who are you?", "expected_answer": "The shop of Anna."},
    {"id": "none", "question": "What else?"},
]  # fmt: skip
QUIET = {**os.environ, "PROCTOR_JUDGE_SELF_TEST": "off"}
METRICS = ["coverage", "graded_relevance"]


def judge(call):
    """Says each nugget that shares its last word with the answer, and grades by shared words of the question."""
    instructions, prompt = call.body["messages"][0]["content"], call.prompt
    listed = re.findall(r"^\[([nc]\d+)\] (.+)$", prompt, re.MULTILINE)
    answer = re.search(r"=== \w+ answer\n(.*?)\n===", prompt, re.DOTALL)
    if instructions.startswith("List the claims"):
        return {"claims": [answer[1]]}
    if instructions.startswith("Check which of some facts"):
        found = {key: text.split()[-1].strip(".") in answer[1] for key, text in listed}
        levels = ("not_support", "not mentioned"), ("support", "")
        return {
            "nuggets": [
                {"id": key, "why": levels[is_said][1], "support": levels[is_said][0]} for key, is_said in found.items()
            ]
        }
    return {"chunks": [{"id": key, "why": "hours", "grade": 3 if "open" in text else 1} for key, text in listed]}


def run(folder, server, questions=QUESTIONS, *arguments, **more):
    suite = write_suite(folder, BOT, questions, judge="small", metrics=METRICS,
                        models={"small": {"model": "openai:test-model", "base_url": server.url}}, **more)  # fmt: skip
    return proctor("run", suite, "--json", *arguments, folder=folder, env=QUIET)


def rows(folder, metric):
    found = sqlite3.connect(folder / "proctor.db").execute(
        "select question_id, value, reason, details from row_scores where metric = ? order by question_id", [metric]
    )
    return {key: (value, reason, json.loads(details or "{}")) for key, value, reason, details in found}


def test_a_run_says_which_nugget_is_missing_in_which_answer(tmp_path):
    with OpenAIServer(judge) as server:
        planned = run(tmp_path, server, QUESTIONS, "--dry-run")
        assert planned.returncode == 0, planned.stderr
        assert not server.calls
        done = run(tmp_path, server)
        assert done.returncode == 0, done.stderr
        paid = len(server.calls)
        assert run(tmp_path, server).returncode == 0
        assert len(server.calls) == paid, "nothing is asked twice"
        # three rows with nuggets, of which one takes the claims of its expected answer; four rows with contexts
        assert paid == 3 + 1 + 4
    vital = rows(tmp_path, "vital_recall")
    assert {key: each[:2] for key, each in vital.items()} == {
        "hours": (1.0, None), "fees": (0.0, None), "taken": (0.0, None), "none": (None, "nuggets_missing"),
    }  # fmt: skip
    assert rows(tmp_path, "nugget_recall_weighted")["hours"][0] == 1 / 1.5
    details = vital["hours"][2]
    assert details["nuggets"] == [
        {"nugget": "It opens at nine.", "vital": True, "support": "support"},
        {"nugget": "It is closed on Sunday.", "vital": False, "support": "not_support", "why": "not mentioned"},
    ]
    assert details["missing"] == ["It is closed on Sunday."]
    assert vital["taken"][2]["nuggets_of"] == "expected answer"
    graded = rows(tmp_path, "graded_precision")
    assert graded["hours"][0] == (3 + 1) / 6
    assert [one["grade"] for one in graded["hours"][2]["chunks"]] == [3, 1]
    assert proctor("report", "--json", "report.json", folder=tmp_path).returncode == 0
    report = json.loads((tmp_path / "report.json").read_text())
    problems = [each["what"] for each in report["problems"]]
    assert problems == [
        'mine: 2 of 3 vital nuggets are missing in 1 row, such as fees: "The fee is 85 euros."; fees: "Freight is'
        ' free.".'
    ]


def test_other_nuggets_score_anew_and_ask_no_bot_again(tmp_path):
    with OpenAIServer(judge) as server:
        assert run(tmp_path, server, QUESTIONS[:1]).returncode == 0
        changed = [{**QUESTIONS[0], "nuggets": ["It opens at ten."]}]
        assert run(tmp_path, server, changed).returncode == 0
    (replies,) = sqlite3.connect(tmp_path / "proctor.db").execute("select count(*) from replies")
    assert replies == (1,)
    (latest,) = sqlite3.connect(tmp_path / "proctor.db").execute(
        "select value from row_scores where metric = 'vital_recall' and run = (select name from runs order by id desc)"
    )
    assert latest == (0.0,)


def test_questions_with_nuggets_that_can_not_be_read_name_file_and_line(tmp_path):
    with OpenAIServer(judge) as server:
        for wrong, says in (
            ([{"vital": True}], "`nuggets` holds an object without `text`"),
            ([{"text": "One.", "vitl": True}], "the key `vitl`; known are text, vital"),
            ([True], "must be a text"),
        ):
            refused = run(tmp_path, server, [{**QUESTIONS[0], "nuggets": wrong}])
            assert refused.returncode == 2
            assert says in refused.stderr
            assert "questions.jsonl:1" in refused.stderr


def test_tables_hold_nuggets_too(tmp_path):
    """A table has them separated by |, or as JSON; what is written for tables and lists is read back the same."""
    (tmp_path / "questions.csv").write_text('id,question,nuggets\na,Q?,"One.|Two."\nb,R?,"[{""text"": ""T.""}]"\n')
    from proctor.knowledge import Question, open_questions, question_pieces
    from proctor.knowledge.questions.question import Nugget
    from proctor.knowledge.questions.question_files import extra_keys

    first, second = open_questions(tmp_path / "questions.csv")
    assert first.nuggets == (Nugget("One."), Nugget("Two."))
    assert second.nuggets == (Nugget("T."),)
    given = Question("q", "Q?", nuggets=(Nugget("One | two."), Nugget("Three.", vital=False)))
    for name in ("a.csv", "a.jsonl", "a.yaml"):
        path = tmp_path / name
        path.write_bytes(b"".join(question_pieces(path, "--out")([given], extra_keys([given]))))
        assert next(iter(open_questions(path))).nuggets == given.nuggets
