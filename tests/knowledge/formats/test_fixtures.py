"""Files that other tools wrote, with their own writers, read through the front door; tests/golden/formats says how."""

import subprocess
import sys
from pathlib import Path

import pytest
from proctor.knowledge import open_questions, open_recorded
from proctor.knowledge.formats.finding import BUILT_IN, detected, format_of
from proctor.knowledge.formats.reading import head_of
from tables import in_one_test

FILES = Path(__file__).parents[2] / "golden" / "formats"
sys.path.insert(0, str(FILES))
from texts import CASES, TALK  # noqa: E402

sys.path.remove(str(FILES))
EXPECTED = [case["expected"] for case in CASES]
FOUND = {
    "ragas-0.4.3-dataset.jsonl": ("ragas", "the key user_input and reference, response"),
    "ragas-0.4.3-dataset.csv": ("ragas", "the column user_input and reference, response"),
    "ragas-0.4.3-result.csv": ("ragas", "the column user_input and reference, response"),
    "ragas-0.1-result.jsonl": ("ragas", "the key question and ground_truth, as Ragas had them before 0.2"),
    "ragas-0.0-dataset.jsonl": ("ragas", "the key question and ground_truths, as Ragas had them before 0.2"),
    "deepeval-4.3.1-goldens.json": ("deepeval", "the keys input and actual_output, additional_metadata"),
    "deepeval-4.3.1-conversations.csv": ("deepeval", "the columns scenario and expected_outcome"),
    "deepeval-4.3.1-run.json": ("deepeval", "the key testCases of a test run"),
    "h2o-test-suite.json": ("h2o", "tests with test_cases, a test suite"),
    "h2o-test-lab.json": ("h2o", "the keys dataset and models of a test lab"),
    "h2o-results.json": ("h2o", "input and actual_duration, model_key, results of an evaluation"),
}


@in_one_test("name", FOUND)
def test_the_format_is_found_by_looking(name):
    found = detected(FILES / name)
    assert found is not None
    assert (found.format.name, found.why) == FOUND[name]


@in_one_test(
    "name",
    [
        "ragas-0.4.3-dataset.jsonl", "ragas-0.4.3-dataset.csv", "ragas-0.4.3-result.csv", "ragas-0.4.3-result.jsonl",
        "ragas-0.1-result.jsonl", "ragas-0.1-result.csv", "ragas-0.0-dataset.jsonl", "deepeval-4.3.1-goldens.json",
        "deepeval-4.3.1-goldens.csv", "deepeval-4.3.1-run.json", "h2o-test-lab.json",
    ],
)  # fmt: skip
def test_questions_answers_and_contexts_are_those_that_were_written(name):
    rows = list(open_recorded(FILES / name))[: len(CASES)]
    for row, case in zip(rows, CASES, strict=True):
        assert row.question.text == case["question"]
        assert row.question.expected == (case["expected"],)
        assert row.answer == case["answer"]
        assert list(row.contexts or ()) == case["contexts"]
    named = [row.context_documents for row in rows if row.context_documents]
    if name in ("ragas-0.4.3-dataset.jsonl", "ragas-0.4.3-dataset.csv", "deepeval-4.3.1-goldens.json"):
        assert named[0] == tuple(CASES[0]["documents"])


def test_a_file_of_another_tool_is_a_question_file():
    questions = open_questions(FILES / "h2o-test-lab.json")
    assert [question.id for question in questions] == [case["id"] for case in CASES]  # once, not for each model
    first = next(iter(questions))
    assert first.constraints == ("14 days", ("delivery", "REGEXP:deliver(y|ed)"))
    assert (first.source_document, first.tags) == ("returns-and-refunds.md", ("question_answering",))
    assert first.extra == {}
    assert [question.text for question in open_questions(FILES / "h2o-test-suite.json")] == [
        case["question"] for case in CASES
    ]


@pytest.mark.parametrize(
    ("name", "ends"), [("ragas-0.4.3-conversations.jsonl", 3), ("deepeval-4.3.1-conversations.json", 2)]
)
def test_messages_become_turns_and_what_holds_for_all_of_them_stands_with_the_last(name, ends):
    rows = list(open_recorded(FILES / name))
    assert len(rows) == ends
    first, last = rows[:2]
    assert [first.question.text, first.answer, last.question.text, last.answer] == [text for _, text in TALK]
    assert (first.question.turn, last.question.turn) == (1, 2)
    assert first.question.conversation == last.question.conversation != ""
    assert (first.question.expected, last.question.expected) == ((), ("The price is named.",))


def test_scores_are_read_with_what_is_missing_missing():
    for name in ("ragas-0.4.3-result.csv", "ragas-0.4.3-result.jsonl"):
        rows = list(open_recorded(FILES / name))
        assert [row.scores["faithfulness"].value for row in rows] == [1.0, 0.5, None]
        assert [row.scores["answer_relevancy"].value for row in rows] == [0.82, 0.61, 0.12]
    run = list(open_recorded(FILES / "deepeval-4.3.1-run.json"))
    assert [row.scores["Faithfulness"].value for row in run] == [1.0, 0.5, None]
    assert [row.scores["Faithfulness"].passed for row in run] == [True, False, False]
    assert run[0].scores["Faithfulness"].reason == "because"
    assert (run[0].latency_ms, run[0].cost) == (1500, 0.002)
    results = list(open_recorded(FILES / "h2o-results.json"))
    assert [row.scores["groundedness"].value for row in results] == [0, 0.25, 0.5, 0.75]
    assert [row.scores["model_failures"].value for row in results] == [0] * 4


def test_what_has_no_place_here_is_named_line_by_line():
    def lost(name):
        return [each.partition(": ")[2] for each in open_recorded(FILES / name).warnings]

    assert lost("ragas-0.4.3-dataset.jsonl") == []
    assert lost("deepeval-4.3.1-conversations.json") == [
        "a conversational golden without turns is not carried over: its user would have to be simulated."
    ]
    assert lost("h2o-results.json") == [
        "scores of parts of an answer are not carried over (4 times): scores here are of whole answers."
    ]
    assert lost("h2o-test-suite.json") == [
        """the condition '"no" AND NOT "yes"' is not carried over: constraints stand for it where it can be written """
        "as a list that must all hold."
    ]


@in_one_test(
    "path", sorted(each for each in FILES.rglob("*") if each.suffix not in (".py", ".pyc", ".md") and each.is_file())
)
def test_the_signs_of_a_format_never_hide_it(path):
    found = detected(path)
    asked = [name for name in BUILT_IN if name != "proctor" and format_of(name).detect(head_of(path))]
    assert [found.format.name if found else None] == (asked[:1] or [None])


def test_a_question_file_of_ours_enters_no_format(tmp_path):
    (tmp_path / "questions.yaml").write_text("questions:\n- question: When?\n  expected_answer: At nine\n  tags: [a]\n")
    code = (
        "import sys; from pathlib import Path; from proctor.knowledge import open_questions\n"
        "open_questions(Path(sys.argv[1]))\n"
        "entered = [each for each in sys.modules if each.startswith('proctor.knowledge.formats.')]\n"
        "print(*sorted(each.rpartition('.')[2] for each in entered))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "questions.yaml"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["finding", "format", "reading"]
