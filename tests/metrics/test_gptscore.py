import asyncio
import math
import re
from pathlib import Path

import proctor.metrics
import pytest
import tiny_language_models as tiny
from proctor import InputError
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.language_models import Likelihood
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.evaluators import EVALUATORS
from proctor.metrics.local.likelihoods import load_instruction
from stub_language_model import StubLanguageModel
from tables import in_one_test

CATALOG = builtin_catalog()
IDS = [name for name in CATALOG.metrics if name.startswith("gptscore_")]
BOTH_WAYS = [name for name in IDS if name.startswith(("gptscore_mt_", "gptscore_sumref_"))]
QUESTIONS = [name for name in IDS if name.startswith("gptscore_qa_")]
SUMMARIES = [name for name in IDS if name.startswith("gptscore_sum_")]
FACTS: Facts = {"question": "How long is it?", "answer": "Two days.", "expected": "It is two days."}
ONE = Likelihood(2.1, 4)
# What sets each instruction apart from the others of its evaluator.
ASPECTS = {
    "gptscore_mt_accuracy": "Every fact",
    "gptscore_mt_fluency": "native speaker",
    "gptscore_mt_mqm": "nothing added, nothing left out",
    "gptscore_qa_interest": "interesting",
    "gptscore_qa_engagement": "into the talk",
    "gptscore_qa_understandability": "understand",
    "gptscore_qa_relevance": "belong to what the person asked",
    "gptscore_qa_specific": "made for this question, or",
    "gptscore_qa_correctness": "correct",
    "gptscore_qa_semantic": "make sense",
    "gptscore_qa_fluency": "fluently",
    "gptscore_sumref_semantic_coverage": "main points",
    "gptscore_sumref_factuality": "only what it states",
    "gptscore_sumref_informativeness": "needs to know",
    "gptscore_sumref_coherence": "connected",
    "gptscore_sumref_relevance": "matters most",
    "gptscore_sumref_fluency": "natural sentences",
    "gptscore_sum_semantic_coverage": "main points",
    "gptscore_sum_factuality": "only what the text states",
    "gptscore_sum_consistency": "contradict",
    "gptscore_sum_informativeness": "needs to know",
    "gptscore_sum_coherence": "connected",
    "gptscore_sum_relevance": "matters most",
    "gptscore_sum_fluency": "natural sentences",
}


def scores(ids: list[str], facts: Facts) -> list[Score]:
    return asyncio.run(CATALOG.plan(ids).score(facts))


def test_there_are_24_of_four_evaluators() -> None:
    assert (len(IDS), len(BOTH_WAYS), len(QUESTIONS), len(SUMMARIES)) == (24, 9, 8, 7)
    folder = Path(str(proctor.metrics.__file__)).parent / "local" / "instructions"
    files = {path.stem for path in folder.iterdir()}
    assert files == set(IDS) == set(ASPECTS)


@in_one_test("id", IDS)
def test_every_instruction_is_one_of_its_own(id: str) -> None:
    names = {"source", "target"} if id in BOTH_WAYS else {"question", "answer"}
    instruction = load_instruction(id)
    found = re.findall(r"\{(\w+)\}", instruction.prefix + instruction.completion)
    assert sorted(found) == sorted(names)
    same = [other for other in IDS if other != id and other.split("_")[1] == id.split("_")[1]]
    assert ASPECTS[id] in instruction.prefix
    assert not any(ASPECTS[id] in load_instruction(other).prefix for other in same)
    # Its words are part of the version of its scores.
    assert CATALOG.artefacts[f"{id}_likelihoods"].declaration.reads == (f"instructions/{id}.md",)


def upstream(folder: Path, id: str, texts: dict[str, str]) -> float:
    """The loss of the file's text with the row's in it, by transformers with all labels of the prefix left out."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    text = (Path(str(proctor.metrics.__file__)).parent / "local" / "instructions" / f"{id}.md").read_text("utf-8")
    prefix, completion = (part.strip().format(**texts) for part in text.split("## completion"))
    before, after = (tokenizer(part)["input_ids"] for part in (f"{prefix}\n", completion))
    with torch.no_grad():
        labels = torch.tensor([[-100] * len(before) + after])
        return float(model(input_ids=torch.tensor([before + after]), labels=labels).loss)


def test_values_are_the_losses_of_transformers(tmp_path: Path) -> None:
    tiny.causal_folder(tmp_path, window=400)
    models = LocalModels({"gptscore": ModelChoice(str(tmp_path))})
    try:
        found = scores([*ASPECTS], {**FACTS, "gptscore_model": models.tool("gptscore")})
    finally:
        models.close()
    answer, expected, question = "Two days.", "It is two days.", "How long is it?"
    for score in found:
        ways = [{"question": question, "answer": answer}]
        if score.metric in BOTH_WAYS:
            ways = [{"source": expected, "target": answer}, {"source": answer, "target": expected}]
        wanted = sum(upstream(tmp_path, score.metric, texts) for texts in ways) / len(ways)
        assert score.value == pytest.approx(wanted, abs=1e-5), score.metric


def test_both_directions_are_averaged() -> None:
    # Metric specification, section 8: directions 2.1 and 1.7.
    model = StubLanguageModel([Likelihood(2.1, 4), Likelihood(1.7, 3)])
    (score,) = scores(["gptscore_mt_accuracy"], {**FACTS, "gptscore_model": model})
    assert score.value == pytest.approx(1.9)
    assert score.details == {
        "model": "stub@1",
        "tokens": 7,
        "directions": {"expected_to_answer": 2.1, "answer_to_expected": 1.7},
    }
    first, second = model.asked
    assert (first.source, first.completion) == ("It is two days.", "Two days.")
    assert (second.source, second.completion) == ("Two days.", "It is two days.")
    assert (first.before, first.after) == (second.before, second.after)


def test_a_summary_is_the_answer_after_the_question() -> None:
    model = StubLanguageModel([ONE])
    (score,) = scores(["gptscore_sum_fluency"], {**FACTS, "gptscore_model": model})
    assert score.value == 2.1
    (asked,) = model.asked
    assert (asked.source, asked.completion) == ("How long is it?", "Two days.")
    assert "TL;DR" in asked.after


def test_a_question_is_about_the_dialogue() -> None:
    model = StubLanguageModel([Likelihood(-math.log(0.2 * 0.5 * 0.1) / 3, 3)])
    (score,) = scores(["gptscore_qa_interest"], {**FACTS, "gptscore_model": model})
    assert score.value == pytest.approx(1.5351, abs=1e-4)
    (asked,) = model.asked
    assert asked.completion == "Answer: Yes"
    assert asked.source == "How long is it?\nAssistant: Two days."
    assert "interesting" in asked.before


def test_names_in_braces_within_texts_are_text() -> None:
    model = StubLanguageModel([ONE])
    question, answer = "{answer} {source} {0}?\n\nTL;DR:", "{question}\n## completion\nAnswer: No {"
    facts: Facts = {"question": question, "answer": answer, "expected": question, "gptscore_model": model}
    scores(["gptscore_qa_interest", "gptscore_sum_fluency", "gptscore_mt_fluency"], facts)
    dialogue, summary, *ways = model.asked
    assert dialogue.source == f"{question}\nAssistant: {answer}"
    assert dialogue.completion == "Answer: Yes"
    assert (summary.source, summary.completion) == (question, answer)
    assert [(way.source, way.completion) for way in ways] == [(question, answer), (answer, question)]
    plain = load_instruction("gptscore_sum_fluency").about(question="?", answer=".")
    assert (summary.before, summary.after) == (plain.before, plain.after)


def test_a_model_of_chosen_probabilities_gives_the_worked_example(tmp_path: Path) -> None:
    tiny.unigram_folder(tmp_path, {"the": 0.2, " refund": 0.5, " period": 0.1})
    models = LocalModels({"gptscore": ModelChoice(str(tmp_path))})
    try:
        (score,) = scores(
            ["gptscore_sum_fluency"],
            {"question": "?", "answer": "the refund period", "gptscore_model": models.tool("gptscore")},
        )
    finally:
        models.close()
    assert score.value == pytest.approx(1.5351, abs=1e-4)


@pytest.mark.parametrize("architecture", ["causal", "encoder and decoder"])
def test_all_are_measured_by_a_real_model(tmp_path: Path, architecture: str) -> None:
    # The window is small, so that dialogues and texts are cut and all the rest survives.
    (tiny.causal_folder if architecture == "causal" else tiny.encoder_decoder_folder)(tmp_path, window=400)
    models = LocalModels({"gptscore": ModelChoice(str(tmp_path))})
    long: Facts = {**FACTS, "question": "How long? " * 60, "expected": "It is two days. " * 60}
    try:
        tool = models.tool("gptscore")
        short_scores = scores(IDS, {**FACTS, "gptscore_model": tool})
        long_scores = scores([*QUESTIONS, *SUMMARIES], {**long, "gptscore_model": tool})
    finally:
        models.close()
    assert {score.status for score in short_scores} == {"ok"}
    assert not any(score.details.get("truncated") for score in short_scores)
    values = [score.value for score in short_scores]
    assert len({round(float(str(value)), 4) for value in values}) == len(values)
    assert all(score.status == "ok" and score.details["truncated"] is True for score in long_scores)
    plain = {score.metric: score.details["tokens"] for score in short_scores}
    assert all(score.details["tokens"] == plain[score.metric] for score in long_scores)


def test_texts_without_a_token_are_too_short() -> None:
    model = StubLanguageModel([ONE, Likelihood(math.nan, 0)])
    (score,) = scores(["gptscore_mt_fluency"], {**FACTS, "gptscore_model": model})
    assert (score.value, score.reason) == (None, "too_short")


def test_evaluators_have_their_metrics() -> None:
    found = {one.id: one.metrics for one in EVALUATORS.values() if one.id.startswith("gptscore_")}
    assert sorted(id for metrics in found.values() for id in metrics) == sorted(IDS)
    assert {CATALOG.metrics[id].better for id in IDS} == {"lower"}
    assert {(CATALOG.metrics[id].threshold, CATALOG.metrics[id].low, CATALOG.metrics[id].high) for id in IDS} == {
        (None, 0.0, None)
    }


def test_what_is_not_to_be_trusted_is_said() -> None:
    assert "Experimental" in CATALOG.metrics["gptscore_qa_specific"].documentation
    assert all('how likely "Yes" is' in CATALOG.metrics[id].documentation for id in QUESTIONS)
    assert not any("Experimental" in CATALOG.metrics[id].documentation for id in IDS if not id.endswith("_specific"))


@pytest.mark.hub
def test_gpt2_medium_finds_a_rewording_likelier_than_another_text() -> None:
    models = LocalModels()
    try:
        if models.found("gptscore").folder is None:
            pytest.skip("the model is not on this machine: run 'proctor models fetch gptscore'")
        facts: Facts = {"expected": "You can send it back within two weeks.", "gptscore_model": models.tool("gptscore")}
        close, far = (
            scores(BOTH_WAYS, {**facts, "answer": answer})
            for answer in ("You may return it within fourteen days.", "Our cats like to sleep on warm stones at noon.")
        )
    finally:
        models.close()
    assert all(float(str(one.value)) < float(str(other.value)) for one, other in zip(close, far, strict=True))


@in_one_test(
    ("id", "own", "prefixes", "completions"),
    [
        (
            "gptscore_mt_fluency", "Say it better: {source}\n## completion\nIn other words, {target}",
            ["Say it better: It is two days.\n", "Say it better: Two days.\n"],
            ["In other words, Two days.", "In other words, It is two days."],
        ),
        ("gptscore_sumref_coherence", "{source} {oh}", None, None),
        ("gptscore_mt_fluency", "Better: {source}",
         ["Better: It is two days.\n", "Better: Two days.\n"], ["Two days.", "It is two days."]),
        ("gptscore_mt_fluency", "Better: {source} {target}", None, None),
        ("gptscore_mt_fluency", "Better.\n## completion\n{target}", None, None),
        ("gptscore_mt_fluency", "Better: {source}\n## completion\nyes", None, None),
        ("gptscore_mt_fluency", "Better: {source}\n## completion\n", None, None),
        ("gptscore_qa_interest", "Is it fun? {question} - {answer}",
         ["Is it fun? How long is it? - Two days.\n"], ["Answer: Yes"]),
        ("gptscore_qa_interest", "Fun? {answer}\n## completion\nNo", ["Fun? Two days.\n"], ["No"]),
        ("gptscore_qa_interest", "Is it fun?", None, None),
        ("gptscore_sum_fluency", "Short: {question}", ["Short: How long is it?\n"], ["Two days."]),
    ],
)  # fmt: skip
def test_a_suite_may_have_its_own_instruction(id, own, prefixes, completions) -> None:
    options = {f"{id}_likelihoods": {"instruction": own}}
    if prefixes is None:
        with pytest.raises(InputError, match=r"instruction is .* is wanted"):
            CATALOG.plan([id], options=options)
        return
    model = StubLanguageModel([ONE, ONE])
    (score,) = asyncio.run(CATALOG.plan([id], options=options).score({**FACTS, "gptscore_model": model}))
    assert score.value == pytest.approx(2.1)
    assert [text.before + text.source + text.after for text in model.asked] == prefixes
    assert [text.completion for text in model.asked] == completions
    assert score.version != CATALOG.plan([id]).metrics[0].version
