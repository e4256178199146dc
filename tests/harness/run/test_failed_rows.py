"""Why rows failed: by cause, with the sentence of the error, an example and what to do, wherever a run is told."""

import json

import pytest
from suites import write_suite
from typed import proctor

BOT = """
def answer(question):
    number = int(question.split()[-1])
    if number % 3 == 0:
        raise ValueError(f"no number {number} here\\nand a second line")
    if number == 4:
        raise ConnectionError("nobody listens")
    return f"It is {number}"
"""
FIRST = "mine gave no answer on 4 of 12 rows (raised): ValueError: no number 0 here and a second line. For example q0."
SECOND = "mine gave no answer on 1 of 12 rows (raised): ConnectionError: nobody listens. For example q4."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("failing")
    write_suite(made, BOT, 12)
    return made


@pytest.fixture(scope="module")
def shown(folder):
    return proctor("run", "suite.yaml", folder=folder).stdout


def one_line(text):
    return " ".join(text.split())


def test_the_terminal_names_each_cause_once_with_an_example_and_what_to_do(shown):
    said = one_line(shown)
    assert said.count("Why rows failed:") == 1
    assert said.count(FIRST) == said.count(SECOND) == 1
    assert f"{SECOND} See that the server runs and that the bot's address is right." in said
    assert max(map(len, shown.split("Why rows failed:")[1].split("\n\n")[0].splitlines())) <= 80


def test_the_error_is_the_one_that_ask_gives(folder, shown):
    asked = proctor("ask", "suite.yaml", "mine", "What is 0", folder=folder)
    assert "mine gave no answer (raised): ValueError: no number 0 here" in one_line(asked.stderr)


def test_json_markdown_and_page_say_the_same(folder, shown):
    for what in ("--json", "--markdown"):
        text = proctor("report", what, "-", folder=folder).stdout
        assert text.count("no number 0 here and a second line") == 1
    problems = json.loads(proctor("report", "--json", "-", folder=folder).stdout)["problems"]
    first, second = (each for each in problems if each["metric"] == "bot_error_rate")
    assert (first["what"], second["what"]) == (FIRST, SECOND)
    assert [row["question_id"] for row in first["rows"]] == ["q0", "q3", "q6", "q9"]
    assert (first["row_count"], second["row_count"]) == (4, 1)
    proctor("report", "--html", "page.html", folder=folder)
    page = (folder / "page.html").read_text("utf-8")
    assert page.count(FIRST) == page.count(SECOND) == 1


def test_many_causes_end_in_one_line(tmp_path):
    names = ["TypeError", "RuntimeError", "KeyError", "OSError", "IndexError", "LookupError", "EOFError"]
    code = f"def answer(question):\n    raise [{', '.join(names)}][int(question.split()[-1])]('no')"
    write_suite(tmp_path, code, 7)
    said = one_line(proctor("run", "suite.yaml", folder=tmp_path).stdout)
    assert said.count("gave no answer on 1 of 7 rows (raised)") == 5
    assert "mine gave no answer on 2 rows more, for 2 other reasons." in said


def test_a_slow_bot_is_told_about_its_timeout(tmp_path):
    bots = {"mine": {"type": "python", "target": "bot.py:answer", "timeout": 0.05}}
    write_suite(tmp_path, "import time\ndef answer(question): time.sleep(0.4)", 2, bots=bots)
    said = one_line(proctor("run", "suite.yaml", folder=tmp_path).stdout)
    assert "mine gave no answer on 2 of 2 rows (timed out): no answer within 0.05 s. For example q0." in said
    assert "raise the bot's timeout" in said
