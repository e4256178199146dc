import hashlib
import json
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from proctor import InputError
from proctor.bots import BOT_KINDS
from proctor.bots.redaction import redactor
from proctor.harness.suite.mistakes import read_yaml
from proctor.harness.suite.settings import AnalysisSettings, GridSettings, RankedBy, overridden_grid
from proctor.harness.suite.suite_file import load_suite, named_variables, sample_suite, suite_schema
from small_runs import FakeBot, numbered, run_into
from suites import lines, write_suite
from tables import in_one_test
from typed import proctor

KINDS = f"one of {', '.join(sorted(BOT_KINDS))}"
GOOD = """\
name: small
knowledge: documents
questions: questions.csv
models:
  small: {model: "openai:some-model", base_url: "http://127.0.0.1:8000/v1", temperature: 0}
bots:
  faq:
    type: faq
    entries: questions.csv
    min_similarity: 0.3
  rag: {type: rag, model: small, top_k: 2}
thresholds: {exact_match: 1}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "questions.csv").write_text("question,answer\nWhy?,Because.\n")
    return tmp_path


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "suite.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(folder: Path, text: str | bytes) -> list[str]:
    """The lines of the message, each from the file's name on."""
    path = written(folder, text)
    with pytest.raises(InputError) as refused:
        load_suite(path)
    return [line.replace(f"{folder}/", "") for line in str(refused.value).splitlines()]


def with_bot(settings: str) -> str:
    return f"questions: questions.csv\nmodels:\n  small: {{model: extractive}}\nbots:\n  it: {settings}\n"


def test_a_good_file_gives_every_setting(folder: Path) -> None:
    loaded = load_suite(written(folder, GOOD))
    assert loaded.suite.name == "small"
    assert loaded.suite.knowledge == (Path("documents"),)
    assert loaded.suite.questions == Path("questions.csv")
    assert loaded.suite.models["small"].temperature == 0
    assert loaded.suite.bots["faq"].type == "faq"
    assert loaded.suite.bots["rag"].type == "rag"
    assert (loaded.suite.repeat, loaded.suite.concurrency, loaded.suite.seed) == (1, 16, 0)
    assert loaded.suite.metrics is None
    assert loaded.suite.thresholds == {"exact_match": 1.0}
    assert loaded.base == folder.resolve()
    assert loaded.text_hash == hashlib.sha256(GOOD.encode()).hexdigest()


def test_where_no_suite_is_named_that_of_the_folder_is_run(folder: Path) -> None:
    written(folder, GOOD)
    assert "suite.yaml:12:14: " in proctor("run", "--dry-run", folder=folder).stderr  # a threshold without its metric


def test_the_config_of_another_tool_is_told_with_the_command_that_imports_it(folder: Path) -> None:
    text = "prompts: ['{{question}}']\nproviders: [openai:m]\ntests:\n  - vars: {question: When?}\n"
    (line,) = refusal(folder, text)
    assert line.startswith("suite.yaml is a file of promptfoo, not a suite (")
    assert "suite.yaml --into my-suite" in line
    done = proctor("import", "suite.yaml", "--into", "made", folder=folder)
    assert done.returncode == 0, done.stderr
    assert refusal(folder, "colour: red\n")[0].startswith("suite.yaml:1:1: the key bots is missing")


def test_what_stands_under_a_misspelt_key_is_checked_at_once(folder: Path) -> None:
    text = (
        "question: question.csv\nbots:\n  it: {type: pyton, taget: 3}\n  rag: {type: rag, chunksize: big}\n"
        "metrcs: [correkt]\nrepeats: 1\n"
    )
    assert refusal(folder, text) == [
        "suite.yaml:1:1: question: there is no such key; did you mean questions?",
        "suite.yaml:1:1: questions: There is no question.csv; a file was wanted. Did you mean questions.csv?",
        f"suite.yaml:3:8: bots.it.type: got 'pyton', wanted {KINDS}; did you mean python?",
        "suite.yaml:3:21: bots.it.taget: there is no such key; did you mean target?",
        "suite.yaml:3:21: bots.it.target: got 3, wanted text; put it in quotes",
        "suite.yaml:4:20: bots.rag.chunk_size: got 'big', wanted a whole number of at least 20",
        "suite.yaml:4:20: bots.rag.chunksize: there is no such key; did you mean chunk_size?",
        "suite.yaml:5:1: metrcs: there is no such key; did you mean metrics?",
        "suite.yaml:5:10: metrics.0: There is no metric or evaluator 'correkt'; did you mean 'correct'?",
        "suite.yaml:6:1: repeats: there is no such key; did you mean repeat?",
    ]


def test_a_folder_stands_for_its_suite_and_gives_the_missing_name(folder: Path) -> None:
    written(folder, GOOD.replace("name: small\n", ""))
    loaded = load_suite(folder)
    assert loaded.path == folder / "suite.yaml"
    assert loaded.suite.name == folder.name


def test_a_byte_order_mark_is_no_mistake(folder: Path) -> None:
    assert load_suite(written(folder, b"\xef\xbb\xbf" + GOOD.encode())).suite.name == "small"


def test_no_stays_text_and_an_embedder_may_be_a_name(folder: Path) -> None:
    suite = load_suite(written(folder, GOOD.replace("name: small", "name: no\nembedder: my-model"))).suite
    assert suite.name == "no"
    assert suite.embedder.model == "my-model"


def test_settings_are_shared_with_an_alias_and_overridden(folder: Path) -> None:
    shared = (
        "questions: questions.csv\nbots:\n  a: &a {type: rag, top_k: 2, chunk_size: 300}\n  b: {<<: *a, top_k: 5}\n"
    )
    bots = load_suite(written(folder, shared)).suite.bots
    assert (bots["b"].top_k, bots["b"].chunk_size) == (5, 300)


@pytest.mark.parametrize(
    ("bot", "line"),
    [
        ("{type: rag, topk: 4}", "5:19: bots.it.topk: there is no such key; did you mean top_k?"),
        ("{type: rag, top_k: four}", "5:19: bots.it.top_k: got 'four', wanted a whole number of at least 1"),
        ('{type: rag, top_k: "4"}', "5:19: bots.it.top_k: got '4', wanted a whole number of at least 1; "
         "take the quotes away"),
        ("{type: rag, top_k: true}", "5:19: bots.it.top_k: got true, wanted a whole number of at least 1"),
        ("{type: rag, top_k: 1.5}", "5:19: bots.it.top_k: got 1.5, wanted a whole number of at least 1"),
        ("{type: rag, top_k: 0}", "5:19: bots.it.top_k: got 0, wanted a whole number of at least 1"),
        ("{type: rag, top_k: }", "5:19: bots.it.top_k: got nothing, wanted a whole number of at least 1"),
        ("{type: rag, top_k: [4]}", "5:19: bots.it.top_k: got a list, wanted a whole number of at least 1"),
        ("{type: rag, model: smal}", "5:19: bots.it.model: there is no model smal under models; did you mean small?"),
        ("{type: rag, model: 3}", "5:19: bots.it.model: got 3, wanted text; put it in quotes"),
        ("{type: rag, chunk_size: 80}", "5:3: bots.it: chunk_overlap (80) must be smaller than chunk_size (80)"),
        ("{type: rga}", f"5:8: bots.it.type: got 'rga', wanted {KINDS}; did you mean rag?"),
        ("{top_k: 3}", f"5:3: bots.it: the key type is missing; wanted {KINDS}"),
        ("{typ: rag}", f"5:3: bots.it: the key type is missing; wanted {KINDS}; is typ meant for it?"),
        ("rag", f"5:3: bots.it: got 'rag', wanted a mapping with the key type, {KINDS}"),
        ("", f"5:3: bots.it: got nothing, wanted a mapping with the key type, {KINDS}"),
        ("{type: faq}", "5:3: bots.it: the key entries is missing (CSV, JSONL, JSON or YAML file with a question and "
         "an answer each)"),
        ("{type: faq, entries: questions.csv, match: lexicl}", "5:43: bots.it.match: got 'lexicl', wanted one of "
         "lexical, embedding, classifier; did you mean lexical?"),
        ("{type: faq, entries: questions.csv, min_similarity: 1.2}", "5:43: bots.it.min_similarity: got 1.2, wanted "
         "a number from 0 to 1 or auto"),
        ("{type: faq, entries: question.csv}", "5:19: bots.it.entries: There is no question.csv; a file or folder "
         "was wanted. Did you mean questions.csv?"),
        ("{type: python, target: 'a.py:b', python: 3}", "5:40: bots.it.python: there is no such key; did you mean "
         "options?"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_bot_is_one_sentence_in_its_place(folder: Path, bot: str, line: str) -> None:
    assert refusal(folder, with_bot(bot)) == [f"suite.yaml:{line}"]


@pytest.mark.parametrize(
    ("addition", "line"),
    [
        ("modles: {}", "6:1: modles: there is no such key; did you mean models?"),
        ("embedder: {modl: x}", "6:12: embedder.modl: there is no such key; did you mean model?"),
        ("embedder: {strict: yes}", "6:12: embedder.strict: got 'yes', wanted true or false"),
        ("metrics: exact_match", "6:1: metrics: got 'exact_match', wanted a list of texts or mappings"),
        ("metrics: [3]", "6:11: metrics.0: got 3, wanted text or a mapping; put it in quotes"),
        ("metrics: [{bleu: 3}]", "6:12: metrics.0.bleu: got 3, wanted a mapping"),
        ("thresholds: {bleu: high}", "6:14: thresholds.bleu: got 'high', wanted a number"),
        ("thresholds: {bleu: .nan}", "6:14: thresholds.bleu: got NaN, wanted a number"),
        ("knowledge: [documents, document]", "6:24: knowledge.1: There is no document; a file or folder was wanted. "
         "Did you mean documents?"),
        ("knowledge: ''", "6:1: knowledge: got an empty name, "
         "wanted the name of a file or folder or a list of such names"),
        ("metric_files: documents", "6:1: metric_files: documents is a folder; a file was wanted"),
        ("concurrency: 0", "6:1: concurrency: got 0, wanted a whole number of at least 1"),
        ("name: 2026-01-01\nseed: 0.5", "7:1: seed: got 0.5, wanted a whole number of at least 0"),
        ("name: 7", "6:1: name: got 7, wanted text; put it in quotes"),
        ("seed: 1\nseed: 2", "7:1: the key seed is given twice (first on line 6)"),
        ("seed: !!int ''", "6:7: '' can't be read as int"),
        ("name: !!bool maybe", "6:7: 'maybe' can't be read as bool"),
        ('"a\\nb": 1', "6:1: a\\nb: there is no such key; the keys are name, knowledge, questions, conversations, "
         "simulated_user, models, bots, metrics, primary, metric_files, thresholds, empty_contexts, embedder, judge, "
         "local_models, byop, rubrics, gate, perturb, analysis, ..."),
        ("judge: smal", "6:1: judge: there is no model smal under models; did you mean small?"),
        ("judge: embeded", "6:1: judge: there is no model embeded under models; did you mean embedded?"),
        ("judge: {modle: embedded}", "6:9: judge.modle: there is no such key; did you mean model?"),
        ("judge: {model: openai:x, votes: 2}", "6:26: judge.votes: 2 votes can be equal on both sides; a majority "
         "wants an odd number, or set `combine: mean`"),
        ("judge: {panel: [openai:x, openai:y]}", "6:9: judge.panel: 2 models can be of two minds; a majority wants an "
         "odd number, or set `combine: mean`"),
        ("judge: {panel: [openai:x, opnai:y, openai:z]}", "6:27: judge.panel.1: 'opnai:y' is no chat model; a model is "
         "'extractive', 'openai:NAME' or 'langchain:file.py:name'; did you mean 'openai:y'?"),
        ("judge: {panel: [openai:x, openai:x, openai:z]}", "6:9: judge.panel: 'openai:x' sits on the panel twice; to "
         "ask a model several times there is `votes`"),
        ("judge: {panel: [embedded, openai:x, openai:z]}", "6:9: judge.panel: 'embedded' can't sit on a panel: it has "
         "no verdict on much of what the others are asked"),
        ("judge: {votes: 3}", "6:1: judge: `votes` means nothing to the embedded judge, which always says the same"),
        ("judge: {model: openai:x, entailment: y}", "6:1: judge: `entailment` is for the embedded judge alone; leave "
         "it out, or set `model: embedded`"),
        ("judge: {check: {accuracy: 2}}", "6:17: judge.check.accuracy: got 2, wanted a number from 0 to 1"),
        ("byop: {tone: quest.csv}", "6:8: byop.tone: There is no quest.csv; a file was wanted. Did you mean "
         "questions.csv?"),
        ("byop: {a b: questions.csv}", "6:8: byop.a b: a prompt's name has letters, digits, hyphens and underscores "
         "only"),
        ("byop: {tone: {prompt: questions.csv, labels: [yes]}}", "6:38: byop.tone.labels: two words are wanted, the "
         "one that passes and the one that fails, not 1"),
        ("byop: {tone: {prompt: questions.csv, labels: [A, a]}}", "6:38: byop.tone.labels: the labels are both 'A'; "
         "two different words are wanted"),
        ("seed: !secret 1", "6:7: the tag !secret means nothing here; leave it out"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_suite_is_one_sentence_in_its_place(folder: Path, addition: str, line: str) -> None:
    assert refusal(folder, with_bot("{type: rag}") + addition) == [f"suite.yaml:{line}"]


@pytest.mark.parametrize("judge", ["extractive", "small", "{model: extractive}", "{panel: [small, a, b]}"])
def test_what_only_picks_sentences_can_not_judge(folder: Path, judge: str) -> None:
    lines = refusal(folder, with_bot("{type: rag}") + f"judge: {judge}")
    assert "'extractive' can't be a judge: it only picks sentences of a context." in lines[0]


def test_a_judge_is_a_name_or_a_mapping_and_embedded_when_left_out(folder: Path) -> None:
    judge = load_suite(written(folder, GOOD)).suite.judge
    assert (judge.model, judge.is_embedded, judge.check) == ("embedded", True, None)
    judge = load_suite(written(folder, f"{GOOD}judge: small\n")).suite.judge
    assert (judge.models, judge.is_embedded, judge.votes) == (("small",), False, 1)
    text = f"{GOOD}judge: {{panel: [small, openai:a], combine: mean, votes: 2, check: true}}\n"
    judge = load_suite(written(folder, text)).suite.judge
    assert judge.models == ("small", "openai:a")
    assert judge.check is not None


def test_bare_truth_values_are_labels_like_any_others(folder: Path) -> None:
    text = f"{GOOD}byop: {{a: questions.csv, b: {{prompt: questions.csv, labels: [false, true]}}}}\n"
    byop = load_suite(written(folder, text)).suite.byop
    assert byop["a"].labels == ("true", "false")
    assert byop["b"].labels == ("false", "true")


def test_a_file_that_a_suite_names_is_no_suite_itself(tmp_path: Path) -> None:
    for name, text, said in (
        ("q.csv", "question\nWhen?\n", "it names such a file, as in `questions: q.csv`."),
        ("q.jsonl", '{"user_input": "a", "response": "b", "retrieved_contexts": []}', "proctor import"),
        ("bot.py", "def answer(question): ...", 'as in `target: "bot.py:answer"`.'),
        ("runs.db", "", "proctor report --db runs.db."),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError) as refused:
            load_suite(tmp_path / name)
        assert said in str(refused.value)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(folder: Path) -> None:
    text = GOOD.replace("min_similarity", "min_similarty").replace("questions: questions.csv", "questions: q.csv")
    lines = refusal(folder, text + "repeat: often\nrepeat: 2\ncolour: red\n")
    assert [line.split(": ")[0] for line in lines] == [
        "suite.yaml:3:1", "suite.yaml:10:5", "suite.yaml:13:1", "suite.yaml:14:1", "suite.yaml:15:1",
    ]  # fmt: skip


def test_metrics_that_are_none_are_told_with_the_other_mistakes(folder: Path) -> None:
    named = "metrics: [exact_mach, rouge_l, {blue: {}}]\n"
    assert refusal(folder, GOOD + named + "colour: red\n")[:2] == [
        "suite.yaml:13:11: metrics.0: There is no metric or evaluator 'exact_mach'; did you mean 'exact_match'?",
        "suite.yaml:13:33: metrics.2.blue: There is no metric or evaluator 'blue'; did you mean 'bleu'?",
    ]
    # With metrics of one's own, whose file is not read here, nobody can tell.
    (line,) = refusal(folder, GOOD + named + "metric_files: own.py\n")
    assert "metric_files" in line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "suite.yaml is empty; a suite has at least the keys questions and bots."),
        ("# nothing yet\n", "suite.yaml is empty; a suite has at least the keys questions and bots."),
        ("- a\n", "suite.yaml:1:1: got a list, wanted a mapping with the keys questions and bots"),
        ("bots\n", "suite.yaml:1:1: got 'bots', wanted a mapping with the keys questions and bots"),
        ("bots:\n\trag: {}\n", "suite.yaml:2:1: a tab stands where YAML wants spaces; indent with spaces"),
        ("name: 'x\nbots: {}\n", "suite.yaml:3:1: the quote that was opened on line 1 is never closed"),
        ("bots: {a: {type: rag}\nseed: 1\n", "suite.yaml:2:1: the bracket or brace that was opened on line 1 is not "
         "closed, or a comma is missing"),
        ("name: help: centre\n", "suite.yaml:1:11: a ':' is not expected here; indent this line like its neighbours, "
         "or quote a value that holds ': '"),
        ("name: a\n---\nname: b\n", "suite.yaml:2:1: a second document begins here; a suite file holds one"),
        ("name: *x\n", "suite.yaml:1:7: undefined alias 'x'; an anchor (&name) must come before its alias (*name)"),
        ("name: &x\n  a: *x\n", "suite.yaml:1:7: the alias *x stands inside what it repeats"),
        ("name: a\nseed:\n" + "".join(f"{' ' * n}k:\n" for n in range(1, 150)),
         "suite.yaml:102:101: the lists or mappings are nested too deeply"),
        ("name: a\x07\n", "suite.yaml:1:8: the character U+0007 is not allowed in YAML"),
        ("[" * 5000, "suite.yaml:1:101: the lists or mappings are nested too deeply"),
        (b"name: caf\xe9\n", "suite.yaml:1: byte 10 of the line (0xE9) is not UTF-8. Save the file as UTF-8."),
        ("name: a\n".encode("utf-16"), "suite.yaml is saved as UTF-16; save it as UTF-8."),
    ],
)  # fmt: skip
def test_text_that_is_no_suite_is_refused_with_a_sentence(folder: Path, text: str | bytes, line: str) -> None:
    assert refusal(folder, text) == [line]


def test_aliases_of_aliases_do_not_fill_the_memory() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 12)]
    assert "unfold into more than 100,000 values" in read_yaml("\n".join(lines)).flaws[0].says


def test_a_value_that_may_be_a_secret_is_not_repeated(folder: Path) -> None:
    lines = refusal(folder, with_bot("{type: http, url: 'http://localhost', headers: [sk-123], api_key: sk-123}"))
    assert len(lines) == 2
    assert "sk-123" not in "".join(lines)


def test_a_missing_suite_names_what_is_there(folder: Path) -> None:
    with pytest.raises(InputError, match=r"no suite\.yaml in .*`proctor init` writes one"):
        load_suite(folder)
    (folder / "run.yaml").write_text("")
    with pytest.raises(InputError, match=r"no suite\.yaml in .*give one of run\.yaml"):
        load_suite(folder)
    with pytest.raises(InputError, match=r"Did you mean .*run\.yaml\?"):
        load_suite(folder / "runs.yaml")


def test_bots_named_with_a_comma_could_not_be_chosen_on_the_command_line(folder: Path) -> None:
    text = "questions: questions.csv\nbots: {'a,b': {type: rag}}\n"
    assert refusal(folder, text) == ["suite.yaml:2:8: bots.a,b: a bot's name must not be empty or hold a comma"]


PIECES = [
    *("questions", "bots", "models", "type", "rag", "faq", "model", "thresholds", ": ", "\n", "\n  ", "- ", ","),
    *("{", "}", "[", "]", "'", '"', "&a ", "*a", "<<", "!!int ", "3", ".5", "~", "\t", "#", "\ufeff", "\\ud800"),
]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.text(max_size=40)))
def test_whatever_stands_in_the_file_it_is_loaded_or_refused_in_our_words(folder: Path, text: str) -> None:
    path = written(folder, text.encode("utf-8", "replace"))
    said = ""
    try:
        load_suite(path)
    except InputError as error:
        said = str(error)
    assert all(line.startswith(str(path)) for line in said.splitlines())
    assert "Input should" not in said
    assert "Field required" not in said


def test_the_sample_is_a_good_suite_and_fits_the_schema() -> None:
    loaded = load_suite(sample_suite())
    assert {settings.type for settings in loaded.suite.bots.values()} == {"faq", "full_context", "rag"}
    values = read_yaml(sample_suite().read_text("utf-8")).values
    jsonschema.Draft202012Validator(suite_schema(loaded.suite.metrics)).validate(values)


@in_one_test(
    ("key", "value"),
    [
        ("repeat", "often"),
        ("colour", "red"),
        ("metrics", ["exact_mtch"]),
        ("metrics", [{"exact_mtch": {}}]),
        ("thresholds", {"exact_mtch": 1}),
        ("bots", {"a": {"type": "rga"}}),
        ("bots", {}),
        ("embedder", {"modl": "x"}),
    ],
)
def test_the_schema_marks_what_the_loader_refuses(key: str, value: object) -> None:
    schema = jsonschema.Draft202012Validator(suite_schema(["exact_match"]))
    values = {"questions": "q.csv", "knowledge": ["a", "b"], "bots": {"a": {"type": "rag"}}, "metrics": ["exact_match"]}
    assert schema.is_valid(values)
    assert not schema.is_valid({**values, key: value})


def test_evaluators_stand_wherever_metrics_may_but_for_the_thresholds() -> None:
    schema = jsonschema.Draft202012Validator(suite_schema(["rouge_l"], ["rouge"]))
    values = {"questions": "q.csv", "bots": {"a": {"type": "rag"}}}
    for metrics in (["rouge_l", "rouge"], [{"rouge": {"metric_threshold": 0.2}}]):
        assert schema.is_valid(values | {"metrics": metrics, "thresholds": {"rouge_l": 1}})
    assert not schema.is_valid(values | {"thresholds": {"rouge": 1}})


def test_the_schema_explains_every_key_and_has_no_made_up_titles() -> None:
    schema = suite_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    unexplained = [
        f"{name}.{key}"
        for name, node in {"Suite": schema, **schema["$defs"]}.items()
        for key, described in node["properties"].items()
        if key != "type" and not described.get("description")
    ]
    assert unexplained == []
    assert json.dumps(schema).count('"title"') == 1


# The suite's key ``analysis`` and ``--grid``: what they say, and every mistake in them

SUITE = "questions: questions.csv\nbots:\n  it: {type: python, target: 'bot.py:answer'}\n"


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "questions.csv").write_text("question,answer\nWhy?,Because.\n")
    (tmp_path / "bot.py").write_text("def answer(question): return question\n")

    def load(analysis):
        (tmp_path / "suite.yaml").write_text(f"{SUITE}{analysis}\n")
        return load_suite(tmp_path / "suite.yaml").suite.analysis

    return load


def test_a_suite_without_the_key_has_the_defaults(loaded):
    assert loaded("") == AnalysisSettings()
    assert (AnalysisSettings().rank_by, AnalysisSettings().most_calls, AnalysisSettings().best) == (
        "evidence_recall",
        500,
        3,
    )
    assert AnalysisSettings().rank_by in get_args(RankedBy)


def test_every_key_is_read_a_value_or_a_list(loaded):
    settings = loaded(
        "analysis:\n  metric: rouge_l\n  most_calls: 0\n  max_tokens: 900\n  best: 1\n  rank_by: ndcg\n"
        "  grid: {splitter: fixed, chunk_size: [300, 500], chunk_overlap: 0, retriever: [bm25, 'own.py:made'],\n"
        "         reranker: [none, cross-encoder/one], embedder: some/model, top_k: 3}"
    )
    assert settings == AnalysisSettings(
        metric="rouge_l", most_calls=0, max_tokens=900, best=1, rank_by="ndcg",
        grid=GridSettings(
            splitter=("fixed",), chunk_size=(300, 500), chunk_overlap=(0,), retriever=("bm25", "own.py:made"),
            reranker=("", "cross-encoder/one"), embedder=("some/model",), top_k=(3,),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("analysis", "says"),
    [
        ("analysis: {grid: {top_k: [0]}}", "4:27: analysis.grid.top_k.0: got 0, wanted"),
        ("analysis: {grid: {top_k: []}}", "4:19: analysis.grid.top_k: got an empty list"),
        ("analysis: {grid: {chunk_size: [300, '5']}}", "4:37: analysis.grid.chunk_size.1: got "),
        ("analysis: {grid: {chunk_size: 5}}", "analysis.grid.chunk_size"),
        ("analysis: {grid: {retriever: dens}}", "4:19: analysis.grid.retriever: there is no retriever 'dens'"),
        ("analysis: {grid: {retriever: [bm25, dens]}}", "4:37: analysis.grid.retriever.1: there is no retriever"),
        ("analysis: {grid: {splitter: [recursiv]}}", "did you mean recursive?"),
        (
            "analysis: {grid: {chunksize: 3}}",
            "4:19: analysis.grid.chunksize: there is no such key; did you mean chunk_",
        ),
        ("analysis: {rank_by: recall}", "4:12: analysis.rank_by: got 'recall', wanted one of evidence_recall"),
        ("analysis: {best: -1}", "4:12: analysis.best: got -1"),
        ("analysis: {max_tokens: 0}", "4:12: analysis.max_tokens: got 0"),
        ("analysis: {metric: ''}", "4:12: analysis.metric"),
        ("analysis: [grid]", "4:1: analysis: got a list"),
    ],
)
def test_a_mistake_is_told_with_its_line(loaded, analysis, says):
    with pytest.raises(InputError) as refused:
        loaded(analysis)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("survey: {best: 1}", "suite.yaml:4:1: survey: this key is called analysis since Proctor 0.2"),
        (
            "  f: {type: faq, entries: questions.csv, decline: No.}",
            "4:42: bots.f.decline: this key is called abstain since Proctor 0.2",
        ),
    ],
)
def test_a_key_of_version_0_1_gets_its_new_name(loaded, lines, says):
    with pytest.raises(InputError) as refused:
        loaded(lines)
    assert str(refused.value).endswith(says)


def test_the_editor_is_told_what_every_key_means():
    for model in (AnalysisSettings, GridSettings):
        assert all(len(each["description"]) > 20 for each in model.model_json_schema()["properties"].values())


def test_lists_of_the_grid_are_replaced_from_the_command_line():
    given = ["chunk_size=300, 600,", "top_k=3", "reranker=none,a/b", "top_k=5"]
    made = overridden_grid(GridSettings(embedder="x"), given)
    assert (made.chunk_size, made.top_k, made.reranker, made.embedder) == ((300, 600), (5,), ("", "a/b"), ("x",))
    assert made.splitter == GridSettings().splitter
    assert overridden_grid(GridSettings(), []) == GridSettings()


@in_one_test(
    ("given", "says"),
    [
        ("chunk_siz=3", "--grid chunk_siz=3: there is no key chunk_siz; did you mean chunk_size?"),
        ("chunk_size", "--grid chunk_size: wanted KEY=VALUE,VALUE such as chunk_size=300,600."),
        ("chunk_size=", "chunk_size has no value; wanted such as chunk_size=300,600."),
        ("embedder= ,", "embedder has no value; wanted such as embedder=MODEL."),
        ("chunk_size=abc", "--grid chunk_size=abc: got 'abc'"),
        ("chunk_size=300,5", "--grid chunk_size=300,5: got '5'"),
        ("retriever=dens", "there is no retriever 'dens': there are dense, bm25, hybrid, and LangChain retrievers"),
        ("splitter=foo", "input should be 'recursive'"),
        ("top_k=0", "--grid top_k=0: got '0'"),
    ],
)
def test_a_mistake_on_the_command_line_is_told(given, says):
    with pytest.raises(InputError) as refused:
        overridden_grid(GridSettings(), [given])
    assert says in str(refused.value)


# secret_values


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
