"""Recorded answers: what is read, what missing, null and empty mean, and what is refused."""

import json
from pathlib import Path

import pytest
from proctor import InputError
from proctor.knowledge import Question, Recorded, RecordedSet, open_recorded

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


def recorded(folder: Path, *rows: object, name: str = "r.jsonl") -> RecordedSet:
    path = folder / name
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return open_recorded(path)


def refusal(folder: Path, *rows: object) -> str:
    with pytest.raises(InputError) as refused:
        recorded(folder, *rows)
    return str(refused.value).removeprefix(f"{folder}/")


def test_a_full_row(tmp_path: Path) -> None:
    row = {
        "id": "q1",
        "question": "How long?",
        "expected_answer": "14 days",
        "constraints": ["14"],
        "contexts": ["one", {"text": "two", "document": "b.md", "score": 0.5}],
        "answer": "Two weeks.",
        "bot": "faq",
        "repeat": 2,
        "latency_ms": 12.5,
        "tokens_in": 10,
        "tokens_out": 3,
        "cost": 0.001,
        "label": {"correct": True},
    }
    rows = recorded(tmp_path, row)
    question = Question("q1", "How long?", ("14 days",), ("14",), extra={"label": {"correct": True}})
    assert list(rows) == [Recorded(question, "faq", 2, "Two weeks.", ("one", "two"), ("", "b.md"), 12.5, 10, 3, 0.001)]
    assert next(iter(rows)).question.line == 1
    assert rows.warnings == ()


def test_all_but_the_question_may_be_left_out(tmp_path: Path) -> None:
    rows = recorded(tmp_path, {"question": "How long?"})
    (row,) = rows
    assert row == Recorded(Question(row.question.id, "How long?"), bot="recorded", repeat=0)
    assert row.question.id.startswith("q-")
    assert dict(rows.has) == {"text": 1}


@pytest.mark.parametrize(
    ("row", "contexts"),
    [
        ({}, None),
        ({"contexts": None}, None),
        ({"contexts": []}, ()),
        ({"contexts": [""]}, ("",)),
        ({"context": "a"}, ("a",)),
    ],
)
def test_missing_contexts_differ_from_an_empty_retrieval(
    tmp_path: Path, row: dict[str, object], contexts: object
) -> None:
    (read,) = recorded(tmp_path, {"question": "a", **row})
    assert read.contexts == contexts
    assert (read.context_documents is None) == (contexts is None)


@pytest.mark.parametrize(
    ("row", "answer"), [({}, None), ({"answer": None}, None), ({"answer": ""}, ""), ({"answer": 4}, "4")]
)
def test_no_answer_differs_from_a_blank_one(tmp_path: Path, row: dict[str, object], answer: str | None) -> None:
    (read,) = recorded(tmp_path, {"question": "a", **row})
    assert read.answer == answer


@pytest.mark.parametrize("question", [None, "", "  "])
def test_a_question_may_be_blank_but_not_left_out(tmp_path: Path, question: str | None) -> None:
    rows = recorded(tmp_path, {"question": question, "answer": "a"}, {"question": question, "answer": "b"})
    one, two = rows
    assert one.question.text == two.question.text == ""
    assert one.question.id != two.question.id
    assert rows.has["text"] == 0
    assert refusal(tmp_path, {"answer": "a"}) == "r.jsonl:1: there is no key `question` (there: answer)."


def test_bots_share_the_ids_that_are_made(tmp_path: Path) -> None:
    rows = recorded(
        tmp_path,
        {"question": "a", "bot": "one"},
        {"question": "a", "bot": "two"},
        {"question": "a", "bot": "two", "repeat": 1},
        {"question": "a", "bot": "two", "repeat": 1, "answer": "again"},
    )
    ids = [row.question.id for row in rows]
    assert ids == [ids[0], ids[0], ids[0], f"{ids[0]}-2"]
    assert dict(rows.bots) == {"one": 1, "two": 3}


def test_an_id_may_come_once_for_each_bot_and_repeat(tmp_path: Path) -> None:
    turns = [("a", 0), ("a", 1), ("b", 0)]
    rows = [{"id": "q", "question": "x", "bot": bot, "repeat": repeat} for bot, repeat in turns]
    assert [(row.bot, row.repeat) for row in recorded(tmp_path, *rows)] == turns
    assert refusal(tmp_path, *rows, {"id": "q", "question": "x", "bot": "a", "repeat": 1}) == (
        'r.jsonl:4: the id "q" was used in line 2 already for the bot `a`, repeat 1. '
        "Give every row an id of its own, or leave the ids out."
    )


def test_what_the_set_provides_is_counted(tmp_path: Path) -> None:
    rows = recorded(
        tmp_path,
        {"question": "a", "answer": "x", "contexts": [], "expected_answer": "e", "latency_ms": 0, "bot": None},
        {"question": "b", "answer": "", "contexts": None, "expected_answer": "", "answerable": False, "bot": ""},
    )
    assert dict(rows.has) == {
        "text": 2,
        "answer": 2,
        "contexts": 1,
        "expected": 1,
        "latency_ms": 1,
        "answerable": 1,
        "bot": 1,
    }
    assert dict(rows.bots) == {"recorded": 2}
    assert rows.count == len(rows) == 2


def test_one_question_asked_of_many_is_no_reason_to_warn(tmp_path: Path) -> None:
    assert recorded(tmp_path, {"id": 1, "question": "a"}, {"id": 2, "question": "a", "answer_b": "x"}).warnings == ()


def test_a_misspelt_key_is_named(tmp_path: Path) -> None:
    rows = recorded(tmp_path, {"question": "a", "latency": 5, "anwser": "b", "context_s": []})
    assert [warning.removeprefix(f"{tmp_path}/") for warning in rows.warnings] == [
        "r.jsonl: the key `latency` is not known and not used. Did you mean `latency_ms`?",
        "r.jsonl: the key `anwser` is not known and not used. Did you mean `answer`?",
        "r.jsonl: the key `context_s` is not known and not used. Did you mean `contexts`?",
    ]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"contexts": {"a": 1}}, "`contexts` must be a list of texts, not an object."),
        ({"contexts": ["a", 3]}, "`contexts` must hold texts, or objects with `text`, not the number 3."),
        ({"contexts": [{"document": "a"}]}, "`contexts` holds an object without a `text`."),
        ({"answer": ["a"]}, "`answer` must be a text, not a list."),
        ({"bot": {}}, "`bot` must be a text, not an object."),
        ({"repeat": -1}, "`repeat` must be a number from 0 on, not -1."),
        ({"repeat": 1.5}, "`repeat` must be a whole number, not 1.5."),
        ({"repeat": 1e300}, "`repeat` must be at most 9007199254740992, not 1e+300."),
        ({"latency_ms": "fast"}, "`latency_ms` must be a number, not 'fast'."),
        ({"latency_ms": True}, "`latency_ms` must be a number, not true."),
        ({"latency_ms": []}, "`latency_ms` must be a number, not a list."),
        ({"latency_ms": "inf"}, "`latency_ms` must be a number from 0 on, not inf."),
        ({"cost": -0.1}, "`cost` must be a number from 0 on, not -0.1."),
        ({"tokens_in": "many"}, "`tokens_in` must be a number, not 'many'."),
        ({"tokens_out": 0.5}, "`tokens_out` must be a whole number, not 0.5."),
    ],
)
def test_wrong_values_are_refused_with_key_and_line(tmp_path: Path, row: dict[str, object], sentence: str) -> None:
    assert refusal(tmp_path, {"question": "fine"}, {"question": "a", **row}) == f"r.jsonl:2: {sentence}"


def test_a_table_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(
        "question,answer,contexts,bot,latency_ms,repeat\n"
        'a,,"[""one"", ""two""]",x,12.5,1\n'
        "b,yes,a | b,y,,\n"
        "c,no,[],,,\n"
        "d,no,,,,\n"
    )
    read = [(row.answer, row.contexts, row.bot, row.latency_ms, row.repeat) for row in open_recorded(path)]
    assert read == [
        (None, ("one", "two"), "x", 12.5, 1),
        ("yes", ("a | b",), "y", None, 0),
        ("no", (), "recorded", None, 0),
        ("no", None, "recorded", None, 0),
    ]


@pytest.mark.parametrize("key", ["answers", "questions"])
def test_json_may_keep_its_list_under_a_key(tmp_path: Path, key: str) -> None:
    assert recorded(tmp_path, {key: [{"question": "a"}]}, name="r.json").count == 1


def test_a_file_without_rows_or_with_a_bad_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("question,answer\n")
    with pytest.raises(InputError, match="holds no recorded answers"):
        open_recorded(path)
    with pytest.raises(InputError, match="The limit must be a whole number, 1 or more, not -1"):
        open_recorded(path, limit=-1)
    with pytest.raises(InputError, match="a file of recorded answers was wanted"):
        open_recorded(tmp_path / "x.csv")


def test_a_limit_reads_no_further(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"question": "a"}\n{"question": "b"}\nbroken')
    assert [row.question.text for row in open_recorded(path, limit=2)] == ["a", "b"]


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the human-labelled data are not beside the checkout")
def test_every_labelled_set_is_read_as_it_is() -> None:
    paths = sorted(SHARED.glob("*/dev.jsonl*"))
    assert len(paths) > 40
    for path in paths:
        rows = open_recorded(path)
        assert sum(1 for row in rows if "label" in row.question.extra) == rows.count, path
