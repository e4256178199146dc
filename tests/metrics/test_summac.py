import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_entailment
from proctor import InputError
from proctor.knowledge.models.classifier import EntailmentModel
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.pool import LocalModels
from proctor.knowledge.models.running import Checked, Item, ModelOutput
from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.declaration import metric
from proctor.metrics.judge.embedded.judge import EmbeddedJudge
from proctor.metrics.local.summaries import column_scores, consistency, zero_shot
from stub_embedder import StubEmbedder
from tables import in_one_test

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "summac.json").read_text("utf-8"))
CLOSE = {"abs": 1e-5}
BOTH = ("summac_zs", "summac_conv")
# The matrix of the specification.
E = [[0.985, 0.02], [0.10, 0.60], [0.005, 0.03]]
C = [[0.002, 0.70], [0.05, 0.10], [0.01, 0.20]]
SOURCE = ["The first sentence of it.", "The second sentence of it.", "The third sentence of it."]
ANSWER = ["What the answer says first.", "What the answer says second."]


class Notify:
    """An entailment model that says of each pair what it was told."""

    model_id = "told"

    def __init__(self, source: Sequence[str], answer: Sequence[str], entailment: Any, contradiction: Any) -> None:
        said = np.stack([entailment, 1 - np.array(entailment) - contradiction, contradiction], axis=2)
        self.pairs = {(one, two): said[i, j] for i, one in enumerate(source) for j, two in enumerate(answer)}
        self.asked: list[tuple[str, str]] = []
        self.cut: set[str] = set()

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        self.asked += pairs
        values = np.array([self.pairs[pair] for pair in pairs], dtype=np.float32).reshape(len(pairs), 3)
        return Checked(values, np.array([pair[0] in self.cut for pair in pairs], dtype=np.bool_))


def scored(facts: Facts, metrics: Sequence[str] = BOTH, **options: Mapping[str, object]) -> dict[str, Score]:
    plan = builtin_catalog().plan(metrics, options=options)
    return {score.metric: score for score in asyncio.run(plan.score(facts))}


def row(source: Sequence[str] = SOURCE, answer: Sequence[str] = ANSWER, model: Any = None) -> Facts:
    # Not 0.02 and 0.03, which as float32 are below the edges of their bins.
    model = model or Notify(source, answer, [[0.985, 0.021], E[1], [0.005, 0.031]], C)
    return {"question": "\n".join(source), "answer": "\n".join(answer), "summac_model": model}


@in_one_test("case", GOLDEN["cases"])
def test_the_values_are_those_of_summac(case: dict[str, Any]) -> None:
    entailment, contradiction = np.array(case["entailment"]), np.array(case["contradiction"])
    assert zero_shot(entailment) == pytest.approx(case["values"]["h2o"], **CLOSE)
    assert zero_shot(entailment, contradiction) == pytest.approx(case["values"]["upstream"], **CLOSE)
    assert consistency(column_scores(entailment[:, :10])) == pytest.approx(case["values"]["conv"], **CLOSE)


@pytest.mark.parametrize(
    ("entailment", "value"),
    [
        (E, 0.5093),
        ([[0.999]], 0.9195),
        ([[0.0]], 0.2001),
        ([[0.999]] * 2, 0.9981),
        ([[0.005]] * 100, 0.3404),
        ([[1.0]], 0.9195),  # the last bin is closed
    ],
)
def test_the_examples_of_the_specification(entailment: list[list[float]], value: float) -> None:
    assert round(consistency(column_scores(np.array(entailment))), 4) == value


def test_the_example_of_both_definitions_in_the_specification() -> None:
    assert [round(zero_shot(np.array(E), other), 4) for other in (None, np.array(C))] == [0.7925, 0.4175]


def test_the_weights_are_the_published_ones() -> None:
    import proctor.metrics

    kept = json.loads((Path(proctor.metrics.__file__).parent / "local" / "summac_conv.json").read_text("utf-8"))
    numbers = np.concatenate([np.ravel(kept["weights"][name]) for name in sorted(kept["weights"])])
    assert len(numbers) == 23 + 1 + 6 + 2
    # Of the numbers as float32, taken once from the file with this SHA-256.
    assert kept["sha256"] == "cd880581f59bd47b8968c7f48d754cd617dfe9b256d8d76fdcbc0fa4a3b3c6fe"
    found = hashlib.sha256(numbers.astype("<f4").tobytes()).hexdigest()
    assert found == "f366627fc490960d14d5570fd1155c6056f0fa886a9c504c0dec898663133d4c"
    assert "Apache-2.0" in kept["licence"]
    assert "Laban" in kept["attribution"]


@pytest.fixture(scope="module")
def albert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_entailment.albert_folder(tmp_path_factory.mktemp("albert"))


@pytest.mark.parametrize("case", GOLDEN["texts"], ids=range(len(GOLDEN["texts"])))
def test_texts_get_the_values_of_summac(case: dict[str, Any], albert: Path) -> None:
    models = LocalModels({"summac": ModelChoice(str(albert), device="cpu")})
    facts = row(case["source"], case["answer"], models.tool("summac"))
    found = scored(facts)
    upstream = scored(facts, ["summac_zs"], summac_zs={"use_contradiction": True})
    models.close()
    assert found["summac_zs"].value == pytest.approx(case["values"]["h2o"], **CLOSE)
    assert upstream["summac_zs"].value == pytest.approx(case["values"]["upstream"], **CLOSE)
    assert found["summac_conv"].value == pytest.approx(case["values"]["conv"], **CLOSE)
    for score in found.values():
        best = [sentence["entailment"] for sentence in score.details["sentences"]]
        np.testing.assert_allclose(best, np.max(case["entailment"], axis=0), atol=1e-5)
        assert score.details["truncated"] == any(len(text) > 1000 for text in case["source"])


def test_details_name_model_sentences_and_what_entails_them() -> None:
    found = scored(row())
    first = {"sentence": ANSWER[0], "source": SOURCE[0], "entailment": 0.985, "contradiction": 0.05}
    second = {"sentence": ANSWER[1], "source": SOURCE[1], "entailment": 0.6, "contradiction": 0.7}
    details = dict(found["summac_zs"].details)
    assert details.pop("sentences") == [pytest.approx(first), pytest.approx(second)]
    assert details == {"model": "told", "truncated": False, "source_sentences": 3}
    scores = [sentence["score"] for sentence in found["summac_conv"].details["sentences"]]
    assert scores == pytest.approx([-1.0516, 0.5465], abs=1e-4)
    assert found["summac_zs"].value == pytest.approx(0.7925)
    assert found["summac_conv"].value == pytest.approx(0.5093, abs=1e-4)


def test_contradiction_widens_the_range() -> None:
    plan = builtin_catalog().plan(["summac_zs"], options={"summac_zs": {"use_contradiction": True}})
    (planned,) = plan.metrics
    assert (planned.low, planned.high, planned.threshold) == (-1.0, 1.0, 0.75)
    (plain,) = builtin_catalog().plan(["summac_zs"]).metrics
    assert (plain.low, plain.high) == (0.0, 1.0)
    assert plain.version != planned.version


def test_a_range_goes_by_an_option_that_is_there() -> None:
    @metric(ranges={("doubled", True): (0.0, 2.0)})
    def odd(answer: str) -> float:
        """Nothing."""
        return float(len(answer) % 2)

    with pytest.raises(InputError, match="metric 'odd' has a range for the option 'doubled', which is not one of its"):
        builtin_catalog().with_functions([odd])


def test_the_source_may_be_the_contexts() -> None:
    facts: Facts = {**row(), "question": "What is it about?", "contexts": [" ".join(SOURCE[:2]), SOURCE[2], "Tiny."]}
    found = scored(facts, source_sentences={"source": "contexts"})
    assert found["summac_zs"].value == pytest.approx(0.7925)
    assert found["summac_zs"].details["source_sentences"] == 3


def sentences_of(kind: str, count: int) -> list[str]:
    return [f"Sentence number {number} of the {kind}." for number in range(count)]


def test_a_hundred_sentences_of_the_source_are_read_and_ten_of_the_answer() -> None:
    source, answer = sentences_of("source", 101), sentences_of("answer", 12)
    entailment = np.zeros((101, 12))
    entailment[100] = 0.9  # by what is not read
    entailment[3, 11] = 0.6  # after the tenth
    model = Notify(source, answer, entailment, np.zeros_like(entailment))
    found = scored(row(source, answer, model))
    assert len(model.asked) == 100 * 12
    assert found["summac_zs"].value == pytest.approx(0.6 / 12)
    assert len(found["summac_zs"].details["sentences"]) == 12
    assert found["summac_conv"].value == pytest.approx(consistency(column_scores(np.zeros((100, 1)))))
    assert len(found["summac_conv"].details["sentences"]) == 10
    assert all(score.details["truncated"] for score in found.values())
    model.asked.clear()
    scored(row(source, answer, model), ["summac_conv"])
    assert len(model.asked) == 100 * 10


def test_what_the_model_or_a_score_did_not_read_is_said() -> None:
    model = Notify(SOURCE, ANSWER, E, C)
    model.cut = {SOURCE[2]}
    assert all(score.details["truncated"] for score in scored(row(model=model)).values())
    source, answer = sentences_of("source", 2), sentences_of("answer", 11)
    longer = scored(row(source, answer, Notify(source, answer, np.zeros((2, 11)), np.zeros((2, 11)))))
    assert not longer["summac_zs"].details["truncated"]
    assert longer["summac_conv"].details["truncated"]


class Counting:
    """A loaded model that counts the pairs that it is run on."""

    def __init__(self) -> None:
        self.pairs: Counter[Item] = Counter()

    def run(self, items: Sequence[Item]) -> list[ModelOutput]:
        self.pairs.update(items)
        return [ModelOutput(np.array([0.9, 0.1, 0.0], dtype=np.float32)) for _ in items]


def test_each_pair_is_run_once_for_both_scores_and_the_embedded_judge() -> None:
    """100 sentences of the contexts against 10 of the answer; the judge asks about the same sentences as claims."""
    counting, of_judge = Counting(), Counting()
    model, apart = EntailmentModel(lambda: counting, "one"), EntailmentModel(lambda: of_judge, "another")
    source = sentences_of("source", 100)
    answer = [f"Sentence number {number} of the source, it says." for number in range(10)]
    facts: Facts = {
        "question": "What does the source say?",
        "contexts": [" ".join(source[:50]), " ".join(source[50:])],
        "answer": " ".join(answer),
        "summac_model": model,
    }
    options = {"source_sentences": {"source": "contexts"}}
    judged: Facts = {**facts, "judge": EmbeddedJudge(StubEmbedder(), model)}
    assert len(scored(judged, [*BOTH, "faithfulness"], **options)) == 3
    scored({**facts, "judge": EmbeddedJudge(StubEmbedder(), apart)}, ["faithfulness"])
    model.close()
    apart.close()
    assert counting.pairs.keys() == {(premise, hypothesis) for premise in source for hypothesis in answer}
    assert set(counting.pairs.values()) == {1}
    assert len(of_judge.pairs) >= 10  # for the same row the judge asks about pairs, and they are among those
    assert of_judge.pairs.keys() <= counting.pairs.keys()


async def test_the_judge_in_a_row_of_its_own_asks_nothing_that_other_rows_have_asked() -> None:
    """What was said of a thousand pairs in each of 40 rows is still there when the judge asks."""
    counting = Counting()
    model = EntailmentModel(lambda: counting, "counting")
    rows = [
        [(f"Premise {place} of row {row}.", f"Claim {place % 10} of row {row}.") for place in range(1000)]
        for row in range(40)
    ]
    await asyncio.gather(*(model.entailed(pairs) for pairs in rows))
    await asyncio.gather(*(model.probabilities(pairs[::10]) for pairs in rows))
    model.close()
    assert set(counting.pairs.values()) == {1}
    assert len(counting.pairs) == 40_000


MARS = """Scientists are studying Mars to learn about the Red Planet and find landing sites for future missions.
One possible site, known as Arcadia Planitia, is covered instrange sinuous features.
The shapes could be signs that the area is actually made of glaciers, which are large masses of slow-moving ice.
Arcadia Planitia is in Mars' northern lowlands."""
SHAPES = """There are strange shape patterns on Arcadia Planitia.
The shapes could indicate the area might be made of glaciers."""
IDEAL = f"{SHAPES} This makes Arcadia Planitia ideal for future missions."


@pytest.mark.hub
@pytest.mark.parametrize(("answer", "upstream", "conv"), [(IDEAL, 0.582, 0.536), (SHAPES, 0.877, 0.709)])
def test_published_values_of_the_real_model(answer: str, upstream: float, conv: float) -> None:
    """The example of SummaC's own page, misspelling and all."""
    models = LocalModels()
    if models.found("summac").folder is None:
        pytest.skip("the summac model is not on this machine: run 'proctor models fetch summac'")
    facts: Facts = {"question": MARS, "answer": answer, "summac_model": models.tool("summac")}
    found = scored(facts, summac_zs={"use_contradiction": True})
    models.close()
    assert found["summac_zs"].value == pytest.approx(upstream, abs=1e-3)
    assert found["summac_conv"].value == pytest.approx(conv, abs=1e-3)
