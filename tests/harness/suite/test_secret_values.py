import json

import pytest
from proctor.bots.redaction import redactor
from proctor.harness.suite.suite_file import load_suite, named_variables
from small_runs import FakeBot, numbered, run_into
from suites import lines, write_suite


def test_values_of_secret_sounding_names_are_replaced_by_the_names():
    redact = redactor({"API_KEY": "sk-0123456789", "HOME": "/users/somebody", "SHORT_KEY": "abc"})
    assert redact("401: sk-0123456789 is wrong, abc, /users/somebody") == "401: $API_KEY is wrong, abc, /users/somebody"


def test_of_two_that_begin_alike_no_end_is_left():
    redact = redactor({"OLD_TOKEN": "sk-01234567", "NEW_TOKEN": "sk-0123456789abcdef"})
    assert redact("it was sk-0123456789abcdef") == "it was $NEW_TOKEN"


def test_what_a_suite_takes_from_the_environment_is_secret_whatever_it_is_called(tmp_path):
    bots = {
        "chat": {"type": "full_context", "model": "big"},
        "web": {"type": "http", "url": "http://127.0.0.1:9/$ROOM", "headers": {"X-Pass": "Bearer ${CORP_PASS}"}},
    }
    models = {"big": {"model": "openai:gpt", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "OUR_LLM"}}
    (tmp_path / "a.md").write_text("Some text.")
    named = named_variables(load_suite(write_suite(tmp_path, "", bots=bots, models=models, knowledge="a.md")).suite)
    assert {"OUR_LLM", "ROOM", "CORP_PASS"} <= named
    assert redactor({"OUR_LLM": "0123456789"}, named)("wrong: 0123456789") == "wrong: $OUR_LLM"


@pytest.mark.parametrize("bot_fails", [ConnectionError, ValueError])
def test_no_secret_reaches_the_database(tmp_path, bot_fails):
    def fail(question):
        raise bot_fails("POST http://x/?key=sk-0123456789 failed")

    redact = redactor({"API_KEY": "sk-0123456789"})
    made = run_into(tmp_path / "a.db", [FakeBot("mine", fail)], numbered(range(50)), redact=redact)
    kept = json.dumps(lines(tmp_path / "a.db", "SELECT error FROM replies"))
    assert "key=$API_KEY failed" in kept
    assert "sk-0123" not in kept + json.dumps(made.problems)
    assert bool(made.problems) is (bot_fails is ConnectionError)
    assert b"sk-0123" not in (tmp_path / "a.db").read_bytes()


def test_a_key_that_an_answer_quotes_is_not_kept(tmp_path):
    redact = redactor({"API_KEY": "sk-0123456789"})
    run_into(
        tmp_path / "a.db",
        [FakeBot("mine", lambda _: "Your key is sk-0123456789.")],
        numbered(range(2)),
        redact=redact,
    )
    assert {line[0] for line in lines(tmp_path / "a.db", "SELECT answer FROM replies")} == {"Your key is $API_KEY."}
    assert b"sk-0123" not in (tmp_path / "a.db").read_bytes()
