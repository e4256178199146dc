"""Which turn lost a conversation: by itself or through its history, and what earlier errors cost."""

import json

from suites import count, write_suite
from typed import proctor

# Right where its history says what was expected; the second turn goes wrong by itself, the third through that.
BOT = """
def answer(question, history):
    said = [each["content"] for each in history if each["role"] == "assistant"]
    if question == "two":
        return "wrong"
    if question == "three":
        return "right three" if "right two" in said else "wrong"
    return "right " + question
"""


def turn(name):
    return {"ask": name, "constraints": [f"right {name}"], "expected_answer": f"right {name}"}


LOST = [{"id": f"lost{n}", "turns": [turn("one"), turn("two"), turn("three")]} for n in range(6)]
FINE = [{"id": f"fine{n}", "turns": [turn("one"), turn("four")]} for n in range(6)]


def test_each_lost_conversation_names_its_turn_and_what_it_carried_along(tmp_path):
    write_suite(tmp_path, BOT, [*LOST, *FINE], metrics=["correct"])
    assert proctor("run", "suite.yaml", folder=tmp_path).returncode == 0
    planned = proctor("turns", "suite.yaml", "--dry-run", "--json", folder=tmp_path)
    assert json.loads(planned.stdout) == {"turns_to_ask": 6, "left_out": 0}  # of turn three alone the history differs
    done = proctor("turns", "suite.yaml", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 turns to ask at most" in done.stderr
    found = json.loads(done.stdout)
    assert found["asked"] == 6
    (bot,) = found["bots"]
    assert (bot["conversations"], len(bot["lost"])) == (12, 6)
    first = bot["lost"][0]
    assert (first["conversation"], first["lost_at"]["turn"], first["cause"]) == ("lost0", 2, "itself")
    assert (first["carried"], first["independent"]) == ([3], [])
    assert (bot["turns"], bot["own"], bot["expected"]) == (18, 6 / 18, 12 / 18)
    assert bot["cost"]["clusters"] == 12 and bot["cost"]["low"] < 6 / 18 < bot["cost"]["high"]
    again = proctor("turns", "suite.yaml", folder=tmp_path)
    said = " ".join(again.stdout.split())
    assert "6 of 12 conversations without a wrong turn. Earlier errors cost 0.33 [" in said
    assert "0 turns to ask" in again.stderr
    latest = "SELECT COUNT(*) FROM runs WHERE suite NOT LIKE '% (attribution)'"
    assert count(tmp_path / "proctor.db", latest) == 1  # nobody who wants the latest run means these


def test_a_turn_that_is_right_on_the_expected_history_was_lost_by_its_own(tmp_path):
    bot = """
def answer(question, history):
    said = [each["content"] for each in history if each["role"] == "assistant"]
    if question == "What is it?":
        return "right two" if said == ["right one"] else "What is your order number?"
    return "right one, I think"
"""
    turns = [turn("order 1182, one"), turn("two") | {"ask": "What is it?"}]
    turns[0] |= {"constraints": ["right one"], "expected_answer": "right one"}
    write_suite(tmp_path, bot, [{"id": "c", "turns": turns}], metrics=["correct"])
    (found,) = json.loads(proctor("turns", "suite.yaml", "--json", folder=tmp_path).stdout)["bots"]
    (lost,) = found["lost"]
    assert (lost["lost_at"]["turn"], lost["cause"]) == (2, "history")
    assert lost["lost_at"]["forgotten"] == "asks for order again: What is your order number?"
    assert (found["own"], found["expected"]) == (0, 1)


def test_more_turns_than_allowed_and_conversations_without_gold_are_refused(tmp_path):
    write_suite(tmp_path, BOT, LOST, metrics=["correct"])
    done = proctor("turns", "suite.yaml", "--most", 3, folder=tmp_path)
    assert done.returncode == 2
    assert "would be asked, and --most allows 3" in " ".join(done.stderr.split())
    assert not (tmp_path / "proctor.db").exists()
    write_suite(tmp_path, BOT, [{"id": "c", "turns": ["one", "two"]}], metrics=["correct"])
    done = proctor("turns", "suite.yaml", folder=tmp_path)
    assert "no conversation of several turns with an expected answer" in " ".join(done.stderr.split())
