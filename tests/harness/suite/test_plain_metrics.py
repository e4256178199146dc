"""Plain metrics as people use them: in a suite, over recorded answers, with a schema in a file."""

import json

from suites import write_suite
from typed import proctor

SCHEMA = {"type": "object", "required": ["id"]}
ROWS = [
    {"id": "1", "question": "The order?", "answer": '{"id": 12}', "expected_answer": "order 12", "bot": "mine",
     "constraints": ["id", "REGEXP:\\d+", 'JSON_SCHEMA:{"required": ["id"]}']},
    {"id": "2", "question": "The order?", "answer": "Order 13", "expected_answer": "order 12", "bot": "mine",
     "constraints": ["id", "REGEXP:\\d+", 'JSON_SCHEMA:{"required": ["id"]}']},
]  # fmt: skip
JSON_BOT = """
def answer(question):
    return '{"id": ' + question.split()[-1] + '}'
"""


FICKLE_BOT = """
import itertools
COUNT = itertools.count()

def answer(question):
    return "It is 7" if "1" in question else f"It is {next(COUNT)} by my count"
"""


def test_repeats_of_a_question_are_compared_with_each_other(tmp_path):
    names = ["self_consistency", "self_consistency_similarity"]
    suite = write_suite(tmp_path, FICKLE_BOT, 2, metrics=names, repeat=3)
    done = proctor("run", suite, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)["bots"]["mine"]["metrics"]
    assert made["self_consistency"]["mean"] == 0.5  # always the same to one question, never to the other
    assert 0.8 < made["self_consistency_similarity"]["mean"] < 1
    once = proctor("run", write_suite(tmp_path, FICKLE_BOT, 2, metrics=names), "--json", folder=tmp_path)
    assert json.loads(once.stdout)["bots"]["mine"]["metrics"]["self_consistency"]["mean"] is None


def means(folder, *arguments):
    (folder / "recorded.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    done = proctor("score", "recorded.jsonl", "--json", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    return {name: metric["mean"] for name, metric in made["bots"]["mine"]["metrics"].items()}


def test_recorded_answers_are_scored_by_what_each_question_wants(tmp_path):
    wanted = "token_f1,numeric_match,regex,contains_all,json_valid,json_schema,overlap"
    made = means(tmp_path, "--metric", wanted)
    assert made["numeric_match"] == 0.5
    assert made["regex"] == 1.0
    assert made["contains_all"] == made["json_valid"] == made["json_schema"] == 0.5
    assert made["token_f1"] == 0.5  # one word of two, twice
    assert {"chrf", "meteor", "edit_similarity"} <= set(made)


def test_an_option_takes_a_schema_from_a_file(tmp_path):
    (tmp_path / "strict.json").write_text('{"required": ["name"]}')
    assert means(tmp_path, "-m", "json_schema", "--option", "json_schema.schema=strict.json")["json_schema"] == 0.0
    said = proctor("score", "recorded.jsonl", "-m", "json_schema", "--option", "json_schema.schema=strct.json",
                   folder=tmp_path)  # fmt: skip
    assert said.returncode == 2
    assert "The JSON schema strct.json can't be read: No such file or directory." in " ".join(said.stderr.split())


def test_a_suite_names_patterns_and_a_schema_beside_it(tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "order.schema.json").write_text(json.dumps(SCHEMA))
    metrics = [
        "token_f1", {"regex": {"pattern": '"id": [3-9]'}}, {"json_schema": {"schema": "order.schema.json"}},
        {"contains_any": {"texts": ["ID"], "ignore_case": True}}, {"starts_with": {"text": "{"}},
    ]  # fmt: skip
    suite = write_suite(folder, JSON_BOT, metrics=metrics)
    done = proctor("run", suite, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)["bots"]["mine"]["metrics"]
    found = {name: metric["mean"] for name, metric in made.items()}
    assert found.items() >= {"regex": 0.4, "json_schema": 1.0, "contains_any": 1.0, "starts_with": 1.0}.items()
    (folder / "order.schema.json").write_text('{"type": "array"}')
    again = json.loads(proctor("run", suite, "--json", folder=tmp_path).stdout)["bots"]["mine"]["metrics"]
    assert again["json_schema"]["mean"] == 0.0, "a changed schema is a new version of the metric"


def test_a_mistake_in_an_option_is_placed_in_the_suite(tmp_path):
    for metrics, wanted in (
        ([{"json_schema": {"schema": "none.json"}}], "none.json can't be read"),
        ([{"regex": {"pattern": "("}}], "The regular expression '(' is invalid"),
        ([{"regex": {"patern": "x"}}], "did you mean 'pattern'?"),
    ):
        suite = write_suite(tmp_path, JSON_BOT, metrics=metrics)
        refused = proctor("run", suite, folder=tmp_path)
        assert refused.returncode == 2
        said = " ".join(refused.stderr.split())
        assert wanted in said
        assert "suite.yaml:1:" in said
