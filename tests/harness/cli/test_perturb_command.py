"""proctor perturb: the file it writes, the table it prints, and what it says where it can't."""

import json
import re
from pathlib import Path

import pytest
from judge_server import material
from openai_server import Call, OpenAIServer, status
from proctor import InputError
from proctor.harness.cli.main import app
from proctor.knowledge.questions.question_files import open_questions
from question_judge import writing
from typed import proctor
from typer.testing import CliRunner

QUESTIONS = [
    {"id": "a", "question": "Which items can I return after 14 days?", "expected_answer": "None.", "tags": ["faq"]},
    {"id": "b", "question": "Where is my parcel?", "expected_answers": ["Here", "There"], "source_document": "p.md"},
    {"id": "c", "question": "我可以退货吗"},
]
KEY = "sk-of-the-test"
NAMES = ("questions.jsonl", "nowhere/v.csv")


def with_questions(folder: Path) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    return path


def perturb(folder: Path, *arguments: object, code: int = 0):
    """The command in this process; file names are of the folder."""
    with_questions(folder)
    placed = [str(folder / each) if each in NAMES or str(each).startswith("v.") else str(each) for each in arguments]
    out = () if "--out" in placed else ("--out", str(folder / "perturbed.jsonl"))
    done = CliRunner(env={"OPENAI_API_KEY": KEY}).invoke(app, ["perturb", str(folder / NAMES[0]), *placed, *out])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == code, done.output
    assert KEY not in done.output
    return done


def made_of(folder: Path, name: str = "perturbed.jsonl"):
    return list(open_questions(folder / name))


def test_all_that_works_offline_is_made_of_every_question(tmp_path):
    with_questions(tmp_path)
    done = proctor("perturb", "questions.jsonl", "--intensity", "0.1,0.4", "--variants", "2", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    made = made_of(tmp_path)
    assert len({question.id for question in made}) == len(made) > 60
    assert next(question.id for question in made if question.id.startswith("c~")) == "c~identity-0-0"
    same = [question for question in made if question.extra["perturbs"]["must"] == "same" and question.id[0] == "b"]
    assert {question.expected for question in same} == {("Here", "There")}
    assert {question.source_document for question in made} == {"a", "p.md", "c"}
    assert all(question.tags[-1] == "perturbed" for question in made)
    assert all("14" in question.text for question in same if question.id[0] == "a")
    assert re.search(r"^keyboard_typo +same +8 +4$", done.stdout, re.MULTILINE)
    assert re.search(r"^identity +same +3 +0$", done.stdout, re.MULTILINE)
    assert not {"negation", "antonym"} & {*done.stdout.split()}  # which are experimental, and made only by name
    assert "blanks between words" in done.stdout
    assert f"{len(made)} variants of 3 questions in perturbed.jsonl." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", ["v.csv", "v.yaml", "v.json", "v.tsv"])
def test_every_kind_of_file_holds_the_same_variants(tmp_path, name):
    perturb(tmp_path)
    perturb(tmp_path, "--out", name)
    assert made_of(tmp_path, name) == made_of(tmp_path)


def test_the_same_command_writes_the_same_bytes_and_another_seed_others(tmp_path):
    perturb(tmp_path, "--kinds", "encoding,ocr_error")
    first = (tmp_path / "perturbed.jsonl").read_bytes()
    perturb(tmp_path, "--kinds", "ocr_error,encoding")
    assert (tmp_path / "perturbed.jsonl").read_bytes() == first
    perturb(tmp_path, "--kinds", "ocr_error,encoding", "--seed", "1")
    assert (tmp_path / "perturbed.jsonl").read_bytes() != first


def test_limit_and_control(tmp_path):
    perturb(tmp_path, "--kinds", "comma", "--limit", "1", "--no-control")
    assert [question.id for question in made_of(tmp_path)] == ["a~comma-0.1-0"]


def test_the_object_of_json_counts_what_was_refused(tmp_path):
    made = json.loads(perturb(tmp_path, "--kinds", "keyboard_typo,negation", "--json").stdout)
    assert (made["questions"], made["variants"], made["refused"]) == (3, 6, 3)
    assert made["kinds"]["keyboard_typo"] == {
        "must": "same", "variants": 2, "refused": 1,
        "reasons": {"it has no letters of a QWERTY keyboard that may be changed": 1},
        "example": {"before": QUESTIONS[0]["question"], "after": made_of(tmp_path)[1].text},
    }  # fmt: skip
    assert made["kinds"]["negation"]["example"]["after"] == "Which items can I not return after 14 days?"


def test_variants_are_not_perturbed_again(tmp_path):
    perturb(tmp_path, "--kinds", "comma")
    before = (tmp_path / "perturbed.jsonl").read_bytes()
    done = proctor("perturb", "perturbed.jsonl", "--out", "again.jsonl", folder=tmp_path)
    assert (done.returncode, done.stdout, len([*tmp_path.iterdir()])) == (2, "", 2)
    assert "all of them are variants already" in done.stderr
    assert (tmp_path / "perturbed.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kinds", "keybord_typo"), "There is no kind 'keybord_typo'; did you mean keyboard_typo?"),
        (("--kinds", " , "), "--kinds names no kind"),
        (("--intensity", "0"), "--intensity: '0' is no share"),
        (("--intensity", "0.1,many"), "--intensity: 'many' is no share"),
        (("--intensity", "nan"), "--intensity: 'nan' is no share"),
        (("--intensity", ","), "--intensity names no share"),
        (("--out", "v.txt"), "v.txt should end in one of .jsonl"),
        (("--out", "questions.jsonl"), "questions.jsonl is given for the questions already"),
        (("--out", "nowhere/v.csv"), "nowhere does not exist"),
        (("--kinds", "paraphrase"), "Paraphrase must be written by a language model"),
        (("--kinds", "all", "--judge", "embeded"), "There is no judge 'embeded'"),
    ],
)
def test_wrong_input_is_a_sentence_and_nothing_is_written(tmp_path, arguments, said):
    with pytest.raises(InputError, match=re.escape(said)):
        perturb(tmp_path, *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["questions.jsonl"]


def test_without_questions_it_says_what_to_type():
    done = CliRunner().invoke(app, ["perturb"])
    assert "proctor perturb QUESTIONS" in str(done.exception)


def test_the_list_of_kinds_needs_no_questions():
    shown = CliRunner().invoke(app, ["perturb", "--list"]).stdout
    kinds = json.loads(CliRunner().invoke(app, ["perturb", "--list", "--json"]).stdout)
    assert len(kinds["kinds"]) == 19 and kinds["groups"]["encoding"][-1] == "accents_stripped"
    for kind in kinds["kinds"]:
        assert re.search(rf"^  {kind['name']} ", shown, re.MULTILINE)
    assert "ship with Proctor" in shown.replace("\n", " ")
    assert max(map(len, shown.splitlines())) <= 80


def test_a_judge_writes_what_no_rule_can_make(tmp_path):
    with OpenAIServer(writing, key=KEY) as server:
        asked = ("--judge", "openai:test-model", "--judge-url", server.url, "--variants", "2")
        summary = json.loads(perturb(tmp_path, "--kinds", "paraphrase,misinformation", *asked, "--json").stdout)
    made = {question.id: question for question in made_of(tmp_path)}
    assert (summary["judge"], len(made), len(server.calls)) == ({"calls": 6, "problem": None}, 15, 6)
    backwards = QUESTIONS[1]["question"][::-1]
    assert made["b~paraphrase-1-1"].text == f"other 1: {backwards}"
    assert made["b~paraphrase-1-1"].expected == ("Here", "There")
    assert made["b~misinformation-1-0"].text == f"false 0: {backwards}"
    assert (made["b~misinformation-1-0"].expected, made["b~misinformation-1-0"].answerable) == ((), False)
    assert made["b~misinformation-1-0"].extra["perturbs"]["must"] == "abstain"


def test_a_reply_that_says_the_question_again_is_asked_twice_more_and_then_refused(tmp_path):
    def copying(call: Call):
        first = call.body["messages"][1]["content"]
        return {"questions": [material(first)["question"].upper()]}

    with OpenAIServer(copying, key=KEY) as server:
        asked = ("--kinds", "paraphrase", "--limit", "1", "--judge", "openai:test-model", "--judge-url", server.url)
        made = json.loads(perturb(tmp_path, *asked, "--json").stdout)
    assert (made["kinds"]["paraphrase"]["variants"], made["kinds"]["paraphrase"]["refused"]) == (0, 1)
    (why,) = made["kinds"]["paraphrase"]["reasons"]
    assert why.startswith("the judge wrote none:") and "new questions were asked for; 0" in why
    assert len(server.calls) == 3


def test_all_kinds_without_a_judge_are_those_that_need_none(tmp_path):
    done = perturb(tmp_path, "--kinds", "all")
    assert "paraphrase and misinformation are left out: no language model is the judge" in done.stderr
    assert not {"paraphrase", "misinformation"} & {each.extra["perturbs"]["kind"] for each in made_of(tmp_path)}


def test_a_judge_that_can_not_be_used_ends_with_exit_code_1_and_what_was_made(tmp_path):
    with OpenAIServer(faults=lambda call: status(401, "wrong key")) as server:
        asked = ("--kinds", "comma,paraphrase", "--judge", "openai:test-model", "--judge-url", server.url)
        done = perturb(tmp_path, *asked, code=1)
    assert "The judge openai:test-model was stopped" in done.stderr
    assert {each.extra["perturbs"]["kind"] for each in made_of(tmp_path)} == {"identity", "comma"}
