"""Each name of the contract that one calls has an example, and each example runs."""

import inspect
import re
import textwrap

import proctor
import pytest
from suites import NOTING, write_suite

NAMES = [
    "evaluate", "run", "score", "compare", "rank", "abstain", "gate", "knowledge", "ask", "open", "Faq", "FullContext",
    "Rag", "Http", "LangChain", "Recorded", "as_bot", "metric", "artefact", "metrics",
]  # fmt: skip
# What is called under the name of a room has its words elsewhere.
TEXTS = {
    "knowledge": lambda: proctor._knowledge.__doc__,
    "metrics": lambda: proctor.metrics.functions.MetricFunction.__doc__,
}


def examples(text: str) -> list[str]:
    found = re.findall(r"Example::\n\n((?:    .*\n|\n)+)", f"{inspect.cleandoc(text)}\n")
    return [textwrap.dedent(each) for each in found]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder as somebody has it who tries the examples."""
    monkeypatch.chdir(tmp_path)
    write_suite(tmp_path, NOTING.format(delay=0))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hours.md").write_text("We open at nine.")
    (tmp_path / "faq.csv").write_text("question,answer\nWhen do you open?,At nine\n")
    said = '{"question": "When do you open?", "answer": "At nine", "expected_answer": "At nine"}\n'
    (tmp_path / "answers.jsonl").write_text(said)
    bots = {"mine": my_function, "rag": proctor.Rag("docs/")}
    questions = [{"question": "When do you open?", "expected_answer": "At nine"}]
    run = proctor.evaluate(questions, bots, ["exact_match"], progress=False)
    from langchain_core.runnables import RunnableLambda

    return {"proctor": proctor, "my_function": my_function, "run": run, "RunnableLambda": RunnableLambda}


def my_function(question: str) -> str:
    return "At nine"


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs(workplace, name):
    text = TEXTS[name]() if name in TEXTS else getattr(proctor, name).__doc__
    (example,) = examples(text)
    exec(compile(example, name, "exec"), workplace)  # noqa: S102 - our own examples
    asks_elsewhere = name in ("Http", "Recorded") or "openai:" in example
    if "bot" in workplace and not asks_elsewhere:
        made = proctor.evaluate(["When do you open?"], {"bot": workplace["bot"]}, ["answer_length"], progress=False)
        assert made.rows()[0].status == "answered"


def test_an_example_of_a_run_runs(workplace):
    (example,) = examples(proctor.Run.leaderboard.__doc__)
    exec(compile(example, "leaderboard", "exec"), workplace)  # noqa: S102 - our own examples
