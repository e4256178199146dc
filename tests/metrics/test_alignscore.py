"""AlignScore as a metric: which chunks it sees, and what it makes of their probabilities."""

import asyncio

import pytest
import tiny_grounding
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.local.checkers import even_chunks
from proctor.metrics.tools import Checker
from stub_checker import StubChecker

PLAN = builtin_catalog().plan(["alignscore"])
ANSWER = "Refunds take 14 days. They are paid in cash."
CONTEXTS = ["A refund takes two weeks.", " ", "Cash is not paid."]


def scored(checker: Checker | None, **changed: object) -> Score:
    facts: Facts = {"answer": ANSWER, "contexts": CONTEXTS, "alignscore_model": checker, **changed}  # type: ignore[typeddict-item]
    (score,) = asyncio.run(PLAN.score(facts))
    return score


def by_words(source: str, claim: str) -> float:
    probabilities = {
        ("two weeks", "14 days"): 0.9,
        ("Cash", "14 days"): 0.2,
        ("two weeks", "cash"): 0.1,
        ("Cash", "cash"): 0.4,
    }
    (probability,) = [value for (one, other), value in probabilities.items() if one in source and other in claim]
    return probability


def test_the_mean_of_each_sentences_best_chunk() -> None:
    checker = StubChecker(by_words)
    score = scored(checker)
    assert score.value == pytest.approx((0.9 + 0.4) / 2)
    assert len(checker.asked) == 4  # two sentences, two contexts that are not blank
    first, second = score.details["claims"]
    assert first["claim"] == "Refunds take 14 days."
    assert first["best_chunk"] == {"contexts": [1], "text": "A refund takes two weeks."}
    assert (second["probability"], second["best_chunk"]["contexts"]) == (pytest.approx(0.4), [3])
    assert (first["supported"], second["supported"]) == (True, False)
    assert (score.details["model"], score.details["truncated"]) == ("stub@1", False)


def test_what_was_not_read_is_noted() -> None:
    assert scored(StubChecker(by_words, frozenset({"Cash is not paid."}))).details["truncated"] is True


def test_a_long_context_is_cut_as_its_authors_cut_it() -> None:
    """699 words in 11 sentences: 699 // 350 + 1 = 2 chunks wanted, 11 // 2 = 5 sentences each, and what is left."""
    sizes = [63] * 10 + [69]
    text = " ".join(" ".join([f"w{place}"] * (size - 1) + ["end."]) for place, size in enumerate(sizes))
    assert [len(chunk.split()) for chunk in even_chunks(text)] == [315, 315, 69]
    assert " ".join(even_chunks(text)) == text
    assert len(even_chunks(text.removeprefix("w0 "), "en")) == 3
    short = " ".join(["word"] * 348 + ["end."])
    assert even_chunks(short) == [short]


def test_a_sentence_that_is_longer_than_a_chunk_is_cut_between_words() -> None:
    table = " ".join(f"cell{place}" for place in range(800))
    assert [len(chunk.split()) for chunk in even_chunks(table)] == [350, 350, 100]
    assert " ".join(even_chunks(table)) == table


@pytest.mark.parametrize(("text", "chunks"), [("", []), (" \n", []), ("- ", ["-"]), ("a\n- b", ["a b"])])
def test_odd_contexts(text: str, chunks: list[str]) -> None:
    assert even_chunks(text) == chunks


def test_a_real_model_gives_the_value(tmp_path) -> None:
    folder = tiny_grounding.alignscore_folder(tmp_path / "alignscore")
    models = LocalModels({"alignscore": ModelChoice(str(folder), device="cpu")})
    checker: Checker = models.tool("alignscore")
    try:
        score = scored(checker)
        shown = (CONTEXTS[0], CONTEXTS[2])
        alone = [
            max(asyncio.run(checker.check([(context, sentence) for context in shown])).probabilities)
            for sentence in ("Refunds take 14 days.", "They are paid in cash.")
        ]
    finally:
        models.close()
    assert score.value == pytest.approx(sum(alone) / 2, abs=1e-6)
    assert score.details["model"] == models.found("alignscore").model_id


@pytest.mark.hub
def test_the_real_model_tells_what_a_context_says_from_what_it_does_not() -> None:
    models = LocalModels()
    if models.found("alignscore").folder is None:
        pytest.skip("the alignscore model is not on this machine: run 'proctor models fetch alignscore'")
    checker: Checker = models.tool("alignscore")
    pairs = [("hello world.", "hello world."), (CONTEXTS[0], ANSWER), (CONTEXTS[2], "Cash is paid.")]
    same, *others = asyncio.run(checker.check(pairs)).probabilities.tolist()
    models.close()
    assert same > 0.9
    assert max(others) < same
