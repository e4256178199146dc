"""What caused a difference: the configurations between then and now are held, and each change gets its share."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny_reranker
from openai_server import Call, OpenAIServer
from proctor import InputError
from proctor.harness.gate.attribution import (
    Attribution,
    AttributionPlan,
    attribute,
    attribution_blocks,
    plan_attribution,
    read_record,
)
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run import run_evaluation
from proctor.harness.run.run_config import RunConfig
from proctor.harness.run.suite_run import suite_evaluation
from proctor.harness.suite.suite_file import load_suite
from proctor.reports.compare.scores import run_tables
from proctor.reports.store.database import Store
from proctor.reports.summary import find_run
from proctor.reports.table import plain
from suites import lines
from typed import proctor

QUESTIONS = 40
RETRIEVER = """
class First:
    def __init__(self, passages):
        self.passages = passages
    def invoke(self, question):
        return self.passages
def make(passages, k):
    return First(passages[:k])
"""
OLD_PROMPT, NEW_PROMPT = "Be careful.\n{context}\n{question}", "Be quick.\n{context}\n{question}"


def script(call: Call) -> str:
    """Each change loses other questions: the prompt 8, the model 4, the temperature 2, the documents 4."""
    number = int(call.prompt.split()[-1])
    lost = [
        "Be quick" in call.prompt and number % 5 == 0,
        call.body["model"] == "new-model" and number % 10 == 1,
        call.body.get("temperature") == 1 and number % 20 == 2,
        "new edition" in call.prompt and number % 10 == 3,
    ]
    return "no" if any(lost) else str(number)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(script, models=["old-model", "new-model"]) as running:
        yield running


class Folder:
    """A suite in a folder with its database, changed between runs as a user would."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.database = folder / "p.db"
        questions = [{"id": f"q{n}", "question": f"What is {n}", "expected_answer": str(n)} for n in range(QUESTIONS)]
        (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions))
        self.write_documents("documents", "The first edition.")
        self.bot: dict[str, object] = {"type": "full_context", "model": "chat", "prompt": "prompt.md"}
        self.write(OLD_PROMPT, "old-model")

    def write_documents(self, name: str, text: str) -> Path:
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "a.md").write_text(text)
        return self.folder / name

    def write(self, prompt: str, model: str, temperature: float = 0, **suite: object) -> None:
        (self.folder / "prompt.md").write_text(prompt)
        chat = {"model": f"openai:{model}", "base_url": self.url, "temperature": temperature}
        made = {
            "name": "test", "questions": "questions.jsonl", "knowledge": "documents", "models": {"chat": chat},
            "bots": {"mine": self.bot}, "metrics": ["exact_match"],
        }  # fmt: skip
        (self.folder / "suite.yaml").write_text(json.dumps(made | suite))

    def run(self, store: Store) -> int:
        outcome = run_evaluation(
            suite_evaluation(load_suite(self.folder / "suite.yaml"), RunConfig(), os.environ), store, Watcher()
        )
        return find_run(store, outcome.summary.run)[0]

    def plan(self, store: Store, baseline: int, old_knowledge: Path | None = None) -> AttributionPlan:
        loaded = load_suite(self.folder / "suite.yaml")
        record = read_record(store, baseline, "mine")
        return plan_attribution(record, "mine", loaded, RunConfig(), os.environ, old_knowledge)

    def attribute(self, store: Store, baseline: int, candidate: int, old_knowledge: Path | None = None) -> Attribution:
        tables = [run_tables(store, run).tables["mine"] for run in (baseline, candidate)]
        watching = lambda: contextlib.nullcontext(Watcher())  # noqa: E731 - who watches, made for each run
        return attribute(self.plan(store, baseline, old_knowledge), store, tables[0], tables[1], watching)


@pytest.fixture
def folder(tmp_path: Path, server: OpenAIServer) -> Folder:
    return Folder(tmp_path, server.url)


@pytest.fixture
def store(folder: Folder) -> Iterator[Store]:
    with contextlib.closing(Store.open(folder.database)) as opened:
        yield opened


def shares(found: Attribution) -> dict[str, float]:
    (metric,) = found.effects
    return {each.factor: round(each.difference.mean * QUESTIONS, 6) for each in metric.effects}


def test_every_change_gets_its_share(folder, store, server):
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "new-model", temperature=1)
    candidate = folder.run(store)
    asked = len(server.calls)
    plan = folder.plan(store, baseline)
    assert {factor.name: factor.change for factor in plan.factors} == {
        "prompt": "the prompt",
        "model": "model openai:old-model -> openai:new-model, temperature 0.0 -> 1.0",
    }
    assert "2 configurations between then and now; 80 questions" in plan.sentence(store)
    found = folder.attribute(store, baseline, candidate)
    assert len(server.calls) - asked == found.asked == 80
    assert shares(found) == {"prompt": -8.0, "model": -6.0}
    (line,) = found.lines
    assert line.startswith("the prompt cost 0.20 [0.")
    assert "of the 0.35 lost in exact_match; model openai:old-model -> openai:new-model" in line


def test_a_second_time_nothing_is_asked(folder, store, server):
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "new-model")
    candidate = folder.run(store)
    first = folder.attribute(store, baseline, candidate)
    asked = len(server.calls)
    assert folder.plan(store, baseline).questions(store) == 0
    second = folder.attribute(store, baseline, candidate)
    assert (len(server.calls), second.asked) == (asked, 0)
    assert shares(second) == shares(first)


def test_answers_that_an_ordinary_run_has_are_not_asked_again(folder, store, server):
    """Somebody who has tried one of the configurations himself has paid for it."""
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "old-model")
    folder.run(store)
    folder.write(NEW_PROMPT, "new-model")
    candidate = folder.run(store)
    asked = len(server.calls)
    assert folder.plan(store, baseline).questions(store) == QUESTIONS
    folder.attribute(store, baseline, candidate)
    assert len(server.calls) - asked == QUESTIONS


def test_only_questions_that_can_be_compared_are_asked(folder, store, server):
    baseline = folder.run(store)
    with (folder.folder / "questions.jsonl").open("a") as file:
        file.write(json.dumps({"id": "new", "question": "What is 99", "expected_answer": "99"}) + "\n")
    folder.write(NEW_PROMPT, "new-model")
    candidate = folder.run(store)
    asked = len(server.calls)
    found = folder.attribute(store, baseline, candidate)
    assert len(server.calls) - asked == 2 * QUESTIONS
    assert shares(found) == {"prompt": -8.0, "model": -4.0}


def test_a_run_of_a_configuration_finds_the_answers_of_an_attribution(folder, store, server):
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "new-model")
    candidate = folder.run(store)
    folder.attribute(store, baseline, candidate)
    asked = len(server.calls)
    folder.write(OLD_PROMPT, "new-model")
    folder.run(store)
    assert len(server.calls) == asked


def test_new_documents_are_the_step_from_the_baseline_where_the_old_ones_are_gone(folder, store, server):
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "old-model")
    folder.write_documents("documents", "The new edition.")
    candidate = folder.run(store)
    asked = len(server.calls)
    found = folder.attribute(store, baseline, candidate)
    assert len(server.calls) - asked == QUESTIONS
    assert shares(found) == {"surroundings": -4.0, "prompt": -8.0}
    assert found.changes["surroundings"] == "the documents"


def test_old_documents_that_are_given_make_the_documents_a_change_like_others(folder, store, server):
    baseline = folder.run(store)
    kept = folder.write_documents("before", "The first edition.")
    folder.write(NEW_PROMPT, "old-model")
    folder.write_documents("documents", "The new edition.")
    candidate = folder.run(store)
    asked = len(server.calls)
    found = folder.attribute(store, baseline, candidate, kept)
    assert len(server.calls) - asked == 2 * QUESTIONS
    assert shares(found) == {"prompt": -8.0, "documents": -4.0}


def test_other_documents_than_the_old_ones_are_refused(folder, store):
    baseline = folder.run(store)
    other = folder.write_documents("other", "Something else.")
    folder.write_documents("documents", "The new edition.")
    with pytest.raises(InputError, match="does not hold the documents of run"):
        folder.plan(store, baseline, other)


def test_all_that_can_change_at_once(folder, store):
    """Three changes: six configurations, and shares that add up to the whole."""
    folder.bot["overflow"] = "error"
    folder.write(OLD_PROMPT, "old-model")
    baseline = folder.run(store)
    folder.bot["overflow"] = "truncate"
    folder.write(NEW_PROMPT, "new-model")
    candidate = folder.run(store)
    found = folder.attribute(store, baseline, candidate)
    assert found.configurations == 6
    assert shares(found) == {"prompt": -8.0, "model": -4.0, "settings": 0.0}
    (metric,) = found.effects
    assert sum(each.difference.mean for each in metric.effects) == pytest.approx(metric.whole.mean)


def test_one_change_alone_asks_nothing(folder, store, server):
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "old-model")
    candidate = folder.run(store)
    asked = len(server.calls)
    assert "nothing has to be asked" in folder.plan(store, baseline).sentence(store)
    assert shares(folder.attribute(store, baseline, candidate)) == {"prompt": -8.0}
    assert len(server.calls) == asked


def test_a_bot_that_has_not_changed_is_refused(folder, store):
    baseline = folder.run(store)
    with pytest.raises(InputError, match="nothing was changed"):
        folder.plan(store, baseline)


def test_bots_of_ones_own_can_not_be_made_as_they_were(folder, store):
    baseline = folder.run(store)
    (folder.folder / "bot.py").write_text("def answer(question):\n    return 'no'\n")
    folder.bot = {"type": "python", "target": "bot.py:answer"}
    folder.write(OLD_PROMPT, "old-model")
    with pytest.raises(InputError, match="type python is made elsewhere"):
        folder.plan(store, baseline)


def test_a_bot_of_another_kind_has_nothing_between(folder, store):
    baseline = folder.run(store)
    folder.bot = {"type": "rag", "model": "chat", "prompt": "prompt.md"}
    folder.write(OLD_PROMPT, "old-model")
    with pytest.raises(InputError, match=r"was a full_context bot in run .* and is a rag bot now"):
        folder.plan(store, baseline)


def test_a_model_that_is_gone_is_said_to_be_the_reason(folder, store, server):
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "new-model")
    candidate = folder.run(store)
    server.models = ["new-model"]
    with pytest.raises(InputError, match=r"mine with .*model as before could not be asked: .*old-model"):
        folder.attribute(store, baseline, candidate)


def test_configurations_are_runs_of_their_own_that_say_what_they_are(folder, store):
    baseline = folder.run(store)
    folder.write(NEW_PROMPT, "new-model")
    candidate = folder.run(store)
    folder.attribute(store, baseline, candidate)
    runs = lines(folder.database, "SELECT suite, manifest FROM runs ORDER BY id")
    assert [suite for suite, _ in runs] == ["test", "test", "test (attribution)", "test (attribution)"]
    assert find_run(store)[0] == candidate
    notes = [json.loads(manifest)["attribution"] for _, manifest in runs[2:]]
    assert [(note["new"], note["old"]) for note in notes] == [(["prompt"], ["model"]), (["model"], ["prompt"])]
    assert json.loads(runs[3][1])["settings"]["suite"]["bots"]["mine"]["prompt"].startswith("(that of run ")


def test_keys_stay_out_of_the_record_and_come_from_today(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAT_KEY", "sk-very-secret")
    with OpenAIServer(script, models=["old-model", "new-model"], key="sk-very-secret") as server:
        folder = Folder(tmp_path, server.url)
        bot_model = {"base_url": server.url, "api_key_env": "CHAT_KEY", "extra": {"session_token": "hush-hush"}}
        with contextlib.closing(Store.open(folder.database)) as store:
            folder.write(OLD_PROMPT, "-", models={"chat": bot_model | {"model": "openai:old-model"}})
            baseline = folder.run(store)
            folder.write(NEW_PROMPT, "-", models={"chat": bot_model | {"model": "openai:new-model"}})
            candidate = folder.run(store)
            found = folder.attribute(store, baseline, candidate)
        assert shares(found) == {"prompt": -8.0, "model": -4.0}
        assert {call.body["session_token"] for call in server.calls} == {"hush-hush"}
        assert b"sk-very-secret" not in folder.database.read_bytes()
        assert b"hush-hush" not in folder.database.read_bytes()


def test_retrieval_is_taken_back_in_the_embedded_bots(tmp_path):
    """RAG without a language model: passages are cut smaller, and the prompt asks for less."""
    folder = Folder(tmp_path, "http://127.0.0.1:1/v1")
    pages = [
        f"# Page {n}\n\nNumber {n} is called item{n}. It stands on shelf {n}, where all can see it." for n in range(6)
    ]
    for number, page in enumerate(pages):
        (tmp_path / "documents" / f"{number}.md").write_text(page)
    folder.bot = {"type": "rag", "prompt": "prompt.md", "chunk_size": 400, "chunk_overlap": 0, "top_k": 3}
    prompt = "Answer in at most {} sentences.\n{{context}}\n{{question}}"
    folder.write(prompt.format("three"), "old-model", metrics=["answer_length"])
    with contextlib.closing(Store.open(folder.database)) as store:
        baseline = folder.run(store)
        folder.bot = folder.bot | {"chunk_size": 30, "top_k": 1}
        folder.write(prompt.format("one").replace("sentences", "sentence"), "old-model", metrics=["answer_length"])
        candidate = folder.run(store)
        found = folder.attribute(store, baseline, candidate)
        assert found.changes == {"prompt": "the prompt", "retrieval": "chunk_size 400 -> 30, top_k 3 -> 1"}
        (metric,) = found.effects
        assert metric.questions == QUESTIONS
        assert sum(each.difference.mean for each in metric.effects) == pytest.approx(metric.whole.mean)
        assert all(each.difference.mean < 0 for each in metric.effects)
    text = plain(attribution_blocks(found))
    assert "chunk_size 400 -> 30" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ({}, {"splitter": "sentences"}, "splitter recursive -> sentences"),
        (
            {"splitter": "markdown", "retriever": "hybrid"},
            {},
            "splitter markdown -> recursive, retriever hybrid -> dense",
        ),
        ({"min_score": 0.1}, {"retriever": "bm25"}, "retriever dense -> bm25, min_score 0.1 -> none"),
        ({}, {"reranker": "tiny", "top_k": 2}, "reranker none -> tiny, top_k 3 -> 2"),
        ({"reranker": "tiny"}, {"retriever": "mine.py:make"}, "retriever dense -> mine.py:make, reranker tiny -> none"),
        ({"retriever": "mine.py:make"}, {}, "retriever mine.py:make -> dense"),
    ],
)
def test_every_way_to_find_passages_is_taken_back(tmp_path, old, new, change):
    """Also to and from what a bot did before there was a choice, of which its identity says nothing."""
    folder = Folder(tmp_path, "http://127.0.0.1:1/v1")
    tiny_reranker.reranker_folder(tmp_path / "tiny")
    (tmp_path / "mine.py").write_text(RETRIEVER)
    for number in range(4):
        page = f"# Page {number}\n\nNumber {number} is called item{number}. It stands on shelf {number}."
        (tmp_path / "documents" / f"{number}.md").write_text(page)
    plain = {"type": "rag", "prompt": "prompt.md", "chunk_size": 60, "chunk_overlap": 0, "top_k": 3}
    prompt = "Answer in at most {} sentences.\n{{context}}\n{{question}}"
    folder.bot = plain | old
    folder.write(prompt.format("three"), "old-model", metrics=["answer_length"])
    with contextlib.closing(Store.open(folder.database)) as store:
        baseline = folder.run(store)
        folder.bot = plain | new
        folder.write(prompt.format("two"), "old-model", metrics=["answer_length"])
        candidate = folder.run(store)
        found = folder.attribute(store, baseline, candidate)
        assert found.changes == {"prompt": "the prompt", "retrieval": change}
        (metric,) = found.effects
        assert metric.questions == QUESTIONS


def test_the_gate_says_what_caused_it(folder, store, server):
    folder.run(store)
    folder.write(NEW_PROMPT, "new-model")
    questions = folder.folder / "questions.jsonl"
    questions.write_text(questions.read_text().replace('"expected_answer": "39"', '"expected_answer": "thirty-nine"'))
    made = proctor(
        "gate", "suite.yaml", "--db", "p.db", "--baseline", "previous", "--attribute", "--json", folder=folder.folder
    )
    found = json.loads(made.stdout)
    assert (made.returncode, found["verdict"]) == (1, "regressed")
    of_bot = found["attribution"]["bots"]["mine"]
    effects = of_bot["metrics"]["exact_match"]["effects"]
    assert {name: round(each["mean"] * QUESTIONS) for name, each in effects.items()} == {"prompt": -8, "model": -4}
    assert "2 configurations between then and now; 78 questions have to be asked" in made.stderr
    assert of_bot["asked"] == 78  # one question is other than it was, and is left out
    shown = proctor(
        "gate", "suite.yaml", "--db", "p.db", "--baseline", of_bot["baseline_run"], "--attribute", folder=folder.folder
    )
    assert "mine: the prompt cost 0.21 [" in shown.stdout  # 8 of 39
    assert "To find that out" not in shown.stdout


def test_the_verdict_is_told_although_nothing_can_be_said_of_its_cause(folder, store, server):
    folder.run(store)
    folder.write(NEW_PROMPT, "new-model")
    server.models = ["new-model"]
    made = proctor("gate", "suite.yaml", "--db", "p.db", "--baseline", "previous", "--attribute", folder=folder.folder)
    assert made.returncode == 1
    assert "mine: regressed" in made.stdout
    assert "could not be asked" in made.stdout


def test_old_documents_that_are_not_there_are_missed_before_anything_is_asked(folder, store, server):
    folder.run(store)
    folder.write(NEW_PROMPT, "old-model")
    asked = len(server.calls)
    arguments = ["gate", "suite.yaml", "--db", "p.db", "--baseline", "previous", "--old-knowledge", "befor"]
    folder.write_documents("before", "The first edition.")
    alone = proctor(*arguments, folder=folder.folder)
    assert (alone.returncode, "--attribute" in alone.stderr) == (2, True)
    misspelt = proctor(*arguments, "--attribute", folder=folder.folder)
    assert misspelt.returncode == 2
    assert "There is no befor; the folder with the documents of the baseline was wanted" in misspelt.stderr
    assert "Did you mean before?" in misspelt.stderr
    assert len(server.calls) == asked


def test_a_baseline_file_is_enough_where_its_run_is_kept(folder, store):
    """The file has no prompts; the database in which its run was held has."""
    folder.run(store)
    assert "proctor gate --db p.db --baseline " in proctor("baseline", "--db", "p.db", folder=folder.folder).stdout
    folder.write(NEW_PROMPT, "new-model")
    arguments = ["gate", "suite.yaml", "--baseline", "baseline.json", "--attribute"]
    made = proctor(*arguments, "--db", "p.db", folder=folder.folder)
    assert "mine: the prompt cost 0.20 [" in made.stdout
    elsewhere = proctor(*arguments, "--db", "other.db", folder=folder.folder)
    assert elsewhere.returncode == 1
    assert "prompts and settings stand in the database of run" in " ".join(elsewhere.stdout.split())
