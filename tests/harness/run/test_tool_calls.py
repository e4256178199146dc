"""Tool calls of every kind of bot: captured, stored, scored, and written out; odd ones never lose a row."""

import csv
import io
import json
import os
import sqlite3
import zipfile

import proctor as face
import pytest
from openai_server import Answer, OpenAIServer
from proctor.reports.store.database import Store
from suites import lines, write_suite
from typed import proctor

SHIPPED = {"name": "order_status", "arguments": {"order": "1182"}, "result": "packed", "id": "c1"}
QUESTION = {
    "id": "swap", "question": "Where is my order?", "expected_answer": "Packed",
    "expected_tools": [{"name": "order_status", "arguments": {"order": "1182"}}], "forbidden_tools": ["refund"],
}  # fmt: skip
BOT = "def answer(question):\n    return {'answer': 'Packed', 'tool_calls': %s}\n"


def run_suite(folder, bot: str, questions=(QUESTION,), code: int = 0, **suite: object) -> None:
    write_suite(folder, bot, list(questions), **{"metrics": ["tool_checks"], **suite})
    done = proctor(
        "run", "suite.yaml", folder=folder, env={**os.environ, "MODEL_KEY": "k", "SHOP_KEY": "sk-shop-12345"}
    )
    assert done.returncode == code, done.stdout + done.stderr


def stored(folder) -> list:
    """The tool calls of all rows, as they are in the database, and what the trace says was not kept of them."""
    found = lines(
        folder / "proctor.db",
        "SELECT tool_calls, trace FROM run_rows JOIN replies ON replies.id = reply_id ORDER BY run_rows.position",
    )
    return [
        (calls and json.loads(calls), json.loads(trace or "{}").get("not_kept", {}).get("tool_calls"))
        for calls, trace in found
    ]


def scores(folder) -> dict[str, float | None]:
    return dict(lines(folder / "proctor.db", "SELECT metric, IFNULL(value, reason) FROM row_scores"))


def test_calls_of_a_python_bot_are_stored_scored_and_written_out(tmp_path):
    run_suite(tmp_path, BOT % [SHIPPED, {"name": "refund", "args": '{"amount": 20}'}])
    assert stored(tmp_path) == [([SHIPPED, {"name": "refund", "arguments": {"amount": 20}}], None)]
    assert scores(tmp_path) == {
        "tool_call_f1": pytest.approx(2 / 3), "tool_call_recall": 1, "tool_call_precision": 0.5,
        "tool_argument_match": 1, "tool_order": "too_short", "tool_steps": 0.5, "forbidden_tools": 1,
    }  # fmt: skip
    run = face.open(tmp_path / "proctor.db").latest()
    [row] = run.rows()
    assert row.tool_calls[0] == face.ToolCall("order_status", {"order": "1182"}, "packed", "c1")
    assert json.loads(run.to_pandas()["tool_calls"][0])[0] == SHIPPED
    run.report(tmp_path / "out.json")
    [written] = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert written["tool_calls"][0] == SHIPPED
    run.report(tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        name = next(each for each in archive.namelist() if each.endswith("tool_checks/llm-eval-results.csv"))
        [line] = csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig")))
    assert json.loads(line["tool_calls"])[0] == SHIPPED


def test_a_bot_that_reports_no_tools_is_not_scored_as_one_that_called_none(tmp_path):
    run_suite(tmp_path, "def answer(question):\n    return 'Packed'\n")
    assert stored(tmp_path) == [(None, None)]
    assert set(scores(tmp_path).values()) == {"tool_calls_missing"}
    run_suite(tmp_path, BOT % "[]")
    assert stored(tmp_path)[-1] == ([], None)


@pytest.mark.parametrize(
    ("given", "calls", "problem"),
    [
        ("'refund'", None, "they are 'refund'; a list of calls was wanted"),
        ("{'name': 'refund'}", None, "a list of calls was wanted"),
        ("[None, 'refund']", [{"name": "refund", "arguments": {}}], "a tool call is null; something with a name"),
        ("[{'name': 'f', 'arguments': '{bad'}]",
         [{"name": "f", "arguments": None, "error": "its arguments are no JSON: '{bad'"}], None),
        ("[{'name': 'f', 'arguments': [1]}]",
         [{"name": "f", "arguments": None, "error": "its arguments are '[1]'; an object was wanted"}], None),
        ("[{'arguments': {'a': 1}}]", [{"name": "unknown", "arguments": {"a": 1}, "error": "it has no name"}], None),
        ("[{'role': 'tool', 'tool_call_id': 'x', 'content': 'r'}]",
         [{"name": "unknown", "arguments": None, "result": "r", "id": "x",
           "error": "this is the result of a call that is not there"}], None),
        ("[{'name': 'f', 'arguments': {'s': chr(0xD800), 'n': float('inf'), 'o': object}}]",
         [{"name": "f", "arguments": {"s": "\ufffd", "n": None, "o": "<class 'object'>"}}], None),
        ("[{'name': 'f', 'result': 'x' * 200_000}]", None, None),
        ("[{'name': 'f'}] * 1_001", [{"name": "f", "arguments": {}}] * 1_000, "of 1,001 tool calls the first 1,000"),
    ],
)  # fmt: skip
def test_odd_calls_get_a_sentence_and_lose_no_row(tmp_path, given, calls, problem):
    run_suite(tmp_path, BOT % given)
    [(found, said)] = stored(tmp_path)
    if "200_000" in given:
        assert found[0]["result"] == "x" * 100_000 + "… (100,000 more characters)"
        return
    assert found == calls
    assert (said is None) == (problem is None) and (problem or "") in (said or "")


def test_secrets_in_calls_are_not_stored(tmp_path):
    bot = "import os\n" + BOT % (
        "[{'name': 'f', 'arguments': {'key': os.environ['SHOP_KEY']}, 'result': os.environ['SHOP_KEY'],"
        " 'error': 'at http://me:pw@host/x with ' + os.environ['SHOP_KEY']}]"
    )
    run_suite(tmp_path, bot)
    assert stored(tmp_path)[0][0] == [
        {"name": "f", "arguments": {"key": "$SHOP_KEY"}, "result": "$SHOP_KEY",
         "error": "at http://***@host/x with $SHOP_KEY"}
    ]  # fmt: skip
    assert b"sk-shop-12345" not in (tmp_path / "proctor.db").read_bytes()


def test_objects_and_messages_of_a_python_bot_are_read(tmp_path):
    bot = """
import types
def answer(question):
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "order_status", "arguments": '{"order": "1182"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "packed"},
        {"role": "assistant", "content": "Packed"},
    ]
    return types.SimpleNamespace(answer="Packed", tool_calls=messages)
"""
    run_suite(tmp_path, bot)
    assert stored(tmp_path) == [([SHIPPED], None)]


@pytest.mark.parametrize("stream", [False, True])
def test_calls_of_a_model_are_captured_streamed_or_not_and_a_rag_search_is_one(tmp_path, stream):
    called = [{"id": "c1", "type": "function", "function": {"name": "order_status", "arguments": '{"order": "1182"}'}}]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Orders are packed at night.\n")
    with OpenAIServer(lambda _: Answer(None, message={"tool_calls": called})) as server:
        model = {
            "model": "openai:test-model", "base_url": server.url, "api_key_env": "MODEL_KEY", "stream": stream,
            "extra": {"tools": [{"type": "function", "function": {"name": "order_status"}}]},
        }  # fmt: skip
        run_suite(
            tmp_path, "", bots={"rag": {"type": "rag", "model": "m"}}, models={"m": model}, knowledge="docs",
        )  # fmt: skip
        assert server.calls[0].body["tools"][0]["function"]["name"] == "order_status"
    [(calls, said)] = stored(tmp_path)
    search, order = calls
    assert search == {"name": "search", "arguments": {"query": "Where is my order?"}, "result": "a.md:0-27"}
    assert order == {"name": "order_status", "arguments": {"order": "1182"}, "id": "c1"}
    assert said is None


def test_recorded_calls_are_scored_from_a_table_too(tmp_path):
    line = {**QUESTION, "bot": "old", "answer": "Packed", "tool_calls": [SHIPPED]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line) + "\n")
    columns = {key: value if isinstance(value, str) else json.dumps(value) for key, value in line.items()}
    with (tmp_path / "answers.csv").open("w") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerow(columns)
    for name in ("answers.jsonl", "answers.csv"):
        done = proctor(
            "score", name, "--metrics", "tool_call_f1,tool_argument_match", "--db", f"{name}.db", folder=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found = lines(tmp_path / f"{name}.db", "SELECT metric, value FROM row_scores")
        assert dict(found) == {"tool_call_f1": 1, "tool_argument_match": 1}


def test_where_questions_speak_of_tools_these_are_scored_by_default(tmp_path):
    run_suite(tmp_path, BOT % [SHIPPED], metrics=None)
    found = scores(tmp_path)
    assert (found["tool_call_f1"], found["tool_argument_match"], found["forbidden_tools"]) == (1, 1, 0)


def test_options_of_a_suite(tmp_path):
    metrics = [
        {"forbidden_tools": {"tools": ["order_status"]}},
        {"tool_call_f1": {"by": "arguments", "tolerance": 0.1}},
    ]
    run_suite(tmp_path, BOT % [SHIPPED], metrics=metrics)
    assert scores(tmp_path) == {"forbidden_tools": 1, "tool_call_f1": 1}


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("{question: a, expected_tools: [{nme: f}]}", "holds a call with the key `nme`; the nearest is `name`"),
        ("{question: a, expected_tools: [{arguments: {a: 1}}]}", "holds a call without a `name`; it has arguments"),
        ("{question: a, expected_tools: [{name: f, arguments: 3}]}", "holds arguments of `f` that are the number 3"),
        ("{question: a, expected_tools: [{name: f, arguments: '{bad'}]}", "holds arguments of `f` that are no JSON"),
        ("{question: a, expected_tools: [{name: f, schema: {type: objekt}}]}", "schema of `f` that is no JSON schema"),
        ("{question: a, expected_tools: 3}", "must hold names or objects"),
        ("{question: a, expected_tools: [f], forbidden_tools: f}", "the tool `f` is both expected and forbidden"),
        ("{messages: [{role: user, content: a}, {role: tool, tool_call_id: x, content: r}, {role: user, content: b}]}",
         "has in message 2 the result of a tool that no message before it calls"),
        ("{turns: [{ask: a}, {ask: b}], expected_tools: [f]}", "write `expected_tools` at the turn"),
        ("{turns: [{ask: a}, {ask: b, expected_tools: [{nam: f}]}]}", "the nearest is `name`"),
    ],
)  # fmt: skip
def test_expected_tools_that_cant_be_read_get_a_sentence_with_their_line(tmp_path, question, sentence):
    suite = write_suite(tmp_path, BOT % "[]", [])
    (tmp_path / "questions.yaml").write_text(f"- {question}\n")
    suite.write_text(suite.read_text().replace("questions.jsonl", "questions.yaml"))
    done = proctor("run", "suite.yaml", folder=tmp_path)
    assert done.returncode == 2
    assert "questions.yaml:1:" in done.stderr and sentence in " ".join(done.stderr.split())


def test_turns_have_tools_of_their_own_and_share_what_is_forbidden(tmp_path):
    turns = [{"ask": "I ordered, order 1182."}, {"ask": "Where is it?", "expected_tools": ["order_status"]}]
    run_suite(tmp_path, BOT % [SHIPPED], [{"id": "c", "forbidden_tools": "refund", "turns": turns}])
    found = lines(
        tmp_path / "proctor.db",
        "SELECT question_id, value, reason FROM row_scores WHERE metric IN ('tool_call_f1', 'forbidden_tools')"
        " ORDER BY question_id, metric",
    )
    assert found == [
        ("c/1", 0, None), ("c/1", None, "expected_tools_missing"), ("c/2", 0, None), ("c/2", 1, None),
    ]  # fmt: skip


def test_a_written_question_file_reads_back_the_same(tmp_path):
    from proctor.knowledge import open_questions, question_pieces
    from proctor.knowledge.questions.question_files import extra_keys

    source = tmp_path / "questions.json"
    schema = {"name": "f", "schema": {"required": ["a"]}}
    source.write_text(
        json.dumps(
            [QUESTION, {"question": "b", "expected_tools": []}, {"question": "c", "expected_tools": ["x", schema]}]
        )
    )
    questions = list(open_questions(source))
    assert [each.expected_tools for each in questions[1:]] == [(), ({"name": "x"}, schema)]
    for name in ("out.csv", "out.jsonl", "out.yaml"):
        written = tmp_path / name
        written.write_bytes(b"".join(question_pieces(written, "--out")(questions, extra_keys(questions))))
        assert list(open_questions(written)) == questions, name


def test_calls_of_other_tools_files_are_read_as_expected_ones(tmp_path):
    from proctor.knowledge import open_questions

    source = tmp_path / "questions.jsonl"
    openai = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    lines = [
        [openai],
        [{"name": "f", "args": {"a": 1}, "id": "x", "type": "tool_call"}],
        [{"name": "f", "input_parameters": {"a": 1}}],
    ]
    source.write_text(
        "".join(json.dumps({"question": f"q{n}", "expected_tools": each}) + "\n" for n, each in enumerate(lines))
    )
    assert [each.expected_tools for each in open_questions(source)] == [({"name": "f", "arguments": {"a": 1}},)] * 3


def test_a_chat_with_calls_is_a_question_with_expected_ones(tmp_path):
    from proctor.knowledge import open_questions

    def calls(id: str, name: str) -> dict:
        called = {"id": id, "type": "function", "function": {"name": name, "arguments": '{"order": "1182"}'}}
        return {"role": "assistant", "content": None, "tool_calls": [called]}

    chat = [
        {"role": "user", "content": "Order 1182?"}, calls("a", "look_up"),
        {"role": "tool", "tool_call_id": "a", "content": "found"}, {"role": "assistant", "content": "I have it."},
        {"role": "user", "content": "Where is it?"}, calls("b", "order_status"),
        {"role": "tool", "tool_call_id": "b", "content": "packed"}, {"role": "assistant", "content": "Packed."},
    ]  # fmt: skip
    (tmp_path / "questions.jsonl").write_text(json.dumps({"messages": chat}) + "\n")
    [question] = open_questions(tmp_path / "questions.jsonl")
    assert (question.text, question.expected) == ("Where is it?", ("Packed.",))
    assert question.expected_tools == ({"name": "order_status", "arguments": {"order": "1182"}},)
    assert [each["content"] for each in question.history] == ["Order 1182?", "I have it."]


def test_a_database_of_before_gets_the_columns(tmp_path):
    run_suite(tmp_path, BOT % [SHIPPED])
    connection = sqlite3.connect(tmp_path / "proctor.db")
    connection.executescript(
        "DROP VIEW answers; ALTER TABLE replies DROP COLUMN tool_calls;"
        "ALTER TABLE questions DROP COLUMN expected_tools;"
        "ALTER TABLE questions DROP COLUMN forbidden_tools; ALTER TABLE questions DROP COLUMN turn;"
        "CREATE VIEW answers AS SELECT 1; DELETE FROM _sqlite_migrations WHERE name LIKE 'm002%'"
    )
    connection.commit()
    connection.close()
    Store.open(tmp_path / "proctor.db").close()
    run_suite(tmp_path, BOT % [SHIPPED], [{**QUESTION, "id": "other"}])
    assert stored(tmp_path) == [(None, None), ([SHIPPED], None)]


def test_ask_shows_the_calls(tmp_path):
    odd = {"name": "refund", "arguments": "{bad"}
    write_suite(tmp_path, BOT % [SHIPPED, odd], [QUESTION])
    shown = proctor("ask", "suite.yaml", "mine", "Where is it?", folder=tmp_path).stdout
    assert "order_status(order='1182') -> packed" in shown
    assert "refund(?) -> failed: its arguments are no JSON" in shown
    answer = json.loads(proctor("ask", "suite.yaml", "mine", "Where is it?", "--json", folder=tmp_path).stdout)
    assert answer["tool_calls"][0]["arguments"] == {"order": "1182"}
