"""Scores of whole conversations: on the row of the last turn, from runs, recorded answers and lists of dicts."""

import json

import proctor as package
from proctor.metrics.facts import Conversation
from suites import count, lines, write_suite
from typed import proctor

BOT = """
ANSWERS = {"How much is it?": "50 euros.", "And for children?": "30 euros."}
def answer(question, history):
    if "fail" in question:
        raise ValueError("no")
    return ANSWERS.get(question, "Yes, in two sizes.")
"""
TURNS = [
    {"ask": "Do you sell helmets?", "expected_answer": "Yes, in two sizes."},
    {"ask": "How much is it?", "expected_answer": "40 euros."},
    {"ask": "And for children?", "expected_answer": "30 euros."},
]
HELMETS = {"id": "helmets", "goal": "the price for children", "goal_constraints": ["30 euros"], "turns": TURNS}
ALONE = {"id": "open", "question": "Do you sell helmets?", "expected_answer": "Yes, in two sizes."}
METRICS = ["correct", "conversation_correct", "right_turns", "first_wrong_turn", "goal_reached", "conversation_pass_k"]

SCORES = """
SELECT metrics.name, questions.key, run_rows.repeat, scores.value FROM run_rows
JOIN questions ON questions.id = run_rows.question_id
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
JOIN metrics ON metrics.id = metric_id WHERE level = 'conversation' AND run_id = {run} ORDER BY 1, 2, 3"""
LATEST = "(SELECT MAX(id) FROM runs)"


def scores(database, run=LATEST):
    return lines(database, SCORES.format(run=run))


def test_a_conversation_has_one_value_on_its_last_row_and_a_second_run_adds_nothing(tmp_path):
    write_suite(tmp_path, BOT, [HELMETS, ALONE], metrics=METRICS, repeat=2)
    for _ in range(2):
        done = proctor("run", "suite.yaml", folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert scores(tmp_path / "proctor.db") == [
        (name, "helmets/3", repeat, value)
        for name, value in (
            ("conversation_correct", 0), ("first_wrong_turn", 2), ("goal_reached", 1), ("right_turns", 2 / 3)
        )
        for repeat in (0, 1)
    ]  # fmt: skip
    assert count(tmp_path / "proctor.db", "SELECT COUNT(*) FROM runs") == 1
    assert lines(tmp_path / "proctor.db", "SELECT value, json_extract(details, '$.k') FROM run_scores") == [(0, 2)]


def test_an_edited_expected_answer_of_an_earlier_turn_gives_new_scores_and_leaves_the_earlier_run_as_it_was(tmp_path):
    database = tmp_path / "proctor.db"
    write_suite(tmp_path, BOT, [HELMETS, ALONE], metrics=METRICS)
    assert proctor("run", "suite.yaml", folder=tmp_path).returncode == 0
    before = scores(database)
    fixed = [TURNS[0], TURNS[1] | {"expected_answer": "50 euros."}, TURNS[2]]
    write_suite(tmp_path, BOT, [HELMETS | {"turns": fixed}, ALONE], metrics=METRICS)
    assert proctor("run", "suite.yaml", folder=tmp_path).returncode == 0
    assert scores(database, "1") == before
    assert ("conversation_correct", "helmets/3", 0, 1.0) in scores(database, "2")
    assert count(database, "SELECT COUNT(*) FROM replies") == 4  # nothing was asked again


def test_a_conversation_that_ended_at_a_failed_turn_is_wrong_and_stands_on_its_last_row(tmp_path):
    failing = [TURNS[0], {"ask": "please fail", "expected_answer": "x"}, TURNS[2]]
    write_suite(tmp_path, BOT, [{"id": "c", "turns": failing}, ALONE], metrics=METRICS)
    proctor("run", "suite.yaml", folder=tmp_path)
    found = {name: (key, value) for name, key, _, value in scores(tmp_path / "proctor.db")}
    assert found["conversation_correct"] == ("c/3", 0)
    assert found["first_wrong_turn"] == ("c/3", 2)
    assert found["right_turns"] == ("c/3", 1 / 3)


def test_recorded_conversations_of_several_bots_are_scored(tmp_path):
    said = ["Yes, in two sizes.", "40 euros.", "30 euros."]
    turns = [turn | {"answer": answer} for turn, answer in zip(TURNS, said, strict=True)]
    wrong = [*turns[:2], turns[2] | {"answer": "99 euros."}]
    records = [HELMETS | {"bot": "good", "turns": turns}, HELMETS | {"bot": "bad", "turns": wrong}]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, records)))
    done = proctor("score", "answers.jsonl", "--metrics", ",".join(METRICS), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = lines(
        tmp_path / "proctor.db",
        "SELECT bot, value FROM row_scores WHERE metric = 'conversation_correct' ORDER BY bot DESC",
    )
    assert found == [("good", 1), ("bad", 0)]
    earlier = {
        "bot": "good",
        "question": "And?",
        "history": ["Hi", "Hello"],
        "answer": "Which one?",
        "underspecified": True,
    }
    (tmp_path / "answers.jsonl").write_text(json.dumps(earlier))
    assert proctor("score", "answers.jsonl", "--metrics", "clarification", folder=tmp_path).returncode == 0
    assert [value for *_, value in scores(tmp_path / "proctor.db")] == [1]


def test_a_list_of_dicts_with_turns_is_evaluated_with_figures_of_conversations(tmp_path):
    def bot(question, history):
        return {"How much is it?": "40 euros."}.get(question, "30 euros." if history else "Yes, in two sizes.")

    run = package.evaluate([HELMETS], {"mine": bot}, db=tmp_path / "p.db", progress=False)
    names = {name for name, *_ in scores(tmp_path / "p.db")}
    assert names == {"conversation_correct", "first_wrong_turn", "goal_reached"}  # the defaults
    assert "conversation_correct" in str(run)


def test_the_goal_of_a_conversation_is_that_of_its_file_or_its_constraints(tmp_path):
    def is_named(conversation: Conversation, goal: str) -> bool:
        """Whether the goal is the price for children."""
        return goal == "the price for children"

    def is_constrained(conversation: Conversation, goal: str) -> bool:
        """Whether the goal is what must be told."""
        return goal == "30 euros; 40 euros or 40 €"

    bare = {"id": "bare", "goal_constraints": ["30 euros", ["40 euros", "40 €"]], "turns": TURNS}
    metrics = [package.metric(level="conversation")(each) for each in (is_named, is_constrained)]
    package.evaluate([HELMETS, bare], {"mine": lambda question: "Yes."}, metrics, db=tmp_path / "p.db", progress=False)
    found = {(name, key): value for name, key, _, value in scores(tmp_path / "p.db")}
    assert found["is_named", "helmets/3"] == found["is_constrained", "bare/3"] == 1
    assert found["is_constrained", "helmets/3"] == found["is_named", "bare/3"] == 0


def test_role_and_outcome_of_a_conversation_of_deepeval_are_its_role_and_goal(tmp_path):
    case = {
        "scenario": "price question", "expected_outcome": "user learns the price", "chatbot_role": "shop assistant",
        "turns": [{"role": "user", "content": "How much is it?"}, {"role": "assistant", "content": "30 euros."}],
    }  # fmt: skip

    def is_told(conversation: Conversation, goal: str) -> bool:
        """Whether metrics are told the role and the goal."""
        return (conversation.role, goal) == ("shop assistant", "user learns the price")

    metrics = ["correct", package.metric(level="conversation")(is_told)]
    run = package.evaluate([case], metrics=metrics, db=tmp_path / "e.db", progress=False)
    (row,) = run.rows()
    assert (row.score("is_told"), row.score("correct")) == (1, None)  # the last answer need not say the outcome
    (tmp_path / "case.json").write_text(json.dumps([case]))
    done = proctor("import", "case.json", "--into", "imp", folder=tmp_path)
    assert "`scenario` is not carried over: no metric reads it; it stays with the question." in done.stdout
    question = json.loads((tmp_path / "imp" / "questions.jsonl").read_text())
    assert {key: question.get(key) for key in ("goal", "role", "scenario", "expected_answer")} == {
        "goal": "user learns the price", "role": "shop assistant", "scenario": "price question",
        "expected_answer": None,
    }  # fmt: skip


def test_a_comparison_counts_the_conversations_that_have_a_value_among_conversations(tmp_path):
    bots = {"mine": lambda question: "Yes.", "other": lambda question: "30 euros."}
    aimless = {"id": "aimless", "turns": TURNS}
    package.evaluate([HELMETS, aimless, ALONE], bots, ["goal_reached"], db=tmp_path / "proctor.db", progress=False)
    told = " ".join(proctor("compare", "mine", "other", folder=tmp_path).stdout.split())
    assert "goal_reached: 1 of 2 conversations, the same ones on both sides." in told
    assert proctor("report", "mine", "other", "--html", "page.html", folder=tmp_path).returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert "1 of 2 conversations" in page and ">1 of 2<" in page


def test_the_cost_estimate_counts_one_request_a_conversation(tmp_path):
    metrics = ["turn_relevancy", "knowledge_retention", "goal_reached"]
    two = [{"id": name, "goal": name, "turns": TURNS[at:]} for at, name in enumerate("ab")]
    write_suite(tmp_path, BOT, two, metrics=metrics, judge="openai:gpt-5-mini")
    done = proctor("run", "suite.yaml", "--dry-run", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert found["judge_requests_per_conversation"] == 1
    assert found["calls"]["conversation"]["requests"] == 2
