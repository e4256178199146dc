import asyncio
import json
from pathlib import Path

import pytest
from proctor import InputError
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics import Score, builtin_catalog
from proctor.metrics.local.checkers import Chunk, packed
from proctor.metrics.tools import Checker
from stub_checker import StubChecker
from tiny_checkers import golden_folder

CATALOG = builtin_catalog()
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "checkers.json").read_text("utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}
TAKES, CATS, HAPPY = "It takes five days.", "The cats sleep.", "I am happy to help."
THREE = f"{TAKES} {CATS} {HAPPY}"
REFUNDS, SLEEP = "Refunds take five days. Shipping takes two.", "Cats sleep."


def score(
    checker: Checker | None,
    contexts: list[str] | None,
    answer: str | None = f"{TAKES} {CATS} {HAPPY}",
    **options: object,
) -> Score:
    plan = CATALOG.plan(["minicheck"], {"minicheck_support": options})
    facts = {"answer": answer, "contexts": contexts, "minicheck_model": checker}
    return asyncio.run(plan.score(facts))[0]


def test_the_share_of_the_sentences_that_are_more_likely_supported_than_not() -> None:
    checker = StubChecker({(REFUNDS, TAKES): 0.75, (SLEEP, CATS): 0.625, (REFUNDS, CATS): 0.5, (SLEEP, HAPPY): 0.5})
    found = score(checker, [REFUNDS, " ", SLEEP])
    assert found.value == pytest.approx(2 / 3)
    assert found.details == {
        "claims": [
            {
                "claim": TAKES,
                "supported": True,
                "probability": 0.75,
                "contexts": [1],
                "best_chunk": {"contexts": [1], "text": REFUNDS},
            },
            {
                "claim": CATS,
                "supported": True,
                "probability": 0.625,
                "contexts": [3],
                "best_chunk": {"contexts": [3], "text": SLEEP},
            },
            {
                "claim": HAPPY,
                "supported": False,
                "probability": 0.5,
                "contexts": [],
                "best_chunk": {"contexts": [3], "text": SLEEP},
            },
        ],
        "model": "stub@1",
        "truncated": False,
    }


def test_every_sentence_is_held_against_every_chunk() -> None:
    checker = StubChecker({("Shipping takes two.", TAKES): 1.0, ("Refunds take five days.", TAKES): 0.75})
    found = score(checker, [REFUNDS, SLEEP], f"{TAKES} {CATS}", chunk_words=4)
    chunks = ["Refunds take five days.", "Shipping takes two.", SLEEP]
    assert checker.asked == [(chunk, claim) for claim in (TAKES, CATS) for chunk in chunks]
    (first, _) = found.details["claims"]  # type: ignore[misc]
    assert (first["contexts"], first["best_chunk"]) == ([1], {"contexts": [1], "text": "Shipping takes two."})


def test_joint_contexts_share_chunks_that_no_context_supports_on_its_own() -> None:
    joint = f"{REFUNDS}\n{SLEEP}"
    checker = StubChecker({(joint, TAKES): 1.0})
    found = score(checker, [REFUNDS, " ", SLEEP], TAKES, joint_contexts=True)
    assert checker.asked == [(joint, TAKES)]
    (claim,) = found.details["claims"]  # type: ignore[misc]
    assert claim["supported"] is True
    assert (claim["contexts"], claim["best_chunk"]) == ([], {"contexts": [1, 3], "text": joint})


def test_the_evidence_is_upstreams(tmp_path: Path) -> None:
    models = LocalModels({"minicheck": ModelChoice(str(golden_folder(tmp_path / "ft5", CASES["minicheck_t5"])))})
    pairs = dict(zip(map(tuple, GOLDEN["pairs"]), CASES["minicheck_t5"]["values"], strict=True))
    try:
        for (source, claim), value in pairs.items():
            if claim and source.count("\n") == 0:
                found = score(models.tool("minicheck"), [source], claim.strip())
                (said,) = found.details["claims"]  # type: ignore[misc]
                assert said["probability"] == pytest.approx(value, abs=1e-5)
                assert found.value == (value > 0.5)
    finally:
        models.close()


def test_a_pair_that_was_cut_is_noted() -> None:
    assert score(StubChecker(truncated=frozenset({SLEEP})), [REFUNDS, SLEEP]).details["truncated"] is True


def test_a_chunk_has_five_hundred_words_unless_told_otherwise() -> None:
    long = "It takes five days. " * 125  # sentences of four words
    checker = StubChecker()
    score(checker, [long, f"{long} Yes."])
    assert {len(source.split()) for source, _ in checker.asked} == {500, 1}


def test_chunk_words_below_one_are_refused() -> None:
    with pytest.raises(InputError, match="chunk_words"):
        CATALOG.plan(["minicheck"], {"minicheck_support": {"chunk_words": 0}})


def test_a_chunk_takes_sentences_until_the_next_one_would_be_too_much() -> None:
    text = "One two three. Four five.  Six.\n- Seven eight nine ten. Eleven."
    assert [chunk.text for chunk in packed([text], 5)] == [
        "One two three. Four five.",
        "Six.\n- Seven eight nine ten.",
        "Eleven.",
    ]
    assert [chunk.text for chunk in packed([text], 500)] == [text]


def test_a_sentence_of_too_many_words_stands_alone() -> None:
    long = "One two three four five six."
    assert [chunk.text for chunk in packed([f"Before. {long} After."], 3)] == ["Before.", long, "After."]


def test_a_text_in_which_the_splitter_finds_nothing_is_a_chunk() -> None:
    assert packed([" \n", "- "], 5) == (Chunk("- ", (2,)),)


def test_joint_chunks_name_all_their_contexts() -> None:
    found = packed(["One two. Three four.", "", "Five six.", "Seven."], 4, joint=True)
    assert found == (Chunk("One two. Three four.", (1,)), Chunk("Five six.\nSeven.", (3, 4)))
    assert packed(["One two. Three.", "Four."], 3, joint=True)[0].contexts == (1,)
