"""Scores as the real metrics give them, with their details, for databases that pages are tested with."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from proctor.metrics.facts import Place
from proctor.metrics.retrieval import evidence_ranks, hit_rate
from proctor.metrics.score import NotApplicable, Score, Status
from proctor.reports.store.run import Row, RunEvaluator, RunMetric

RATES = ("passes", "failures", "retrieval_failures", "generation_failures", "parse_failures")
ASPECTS = ("relevance", "faithfulness", "safety", "robustness")


def _metric(name: str, better: str = "higher", threshold: float | None = 0.75, **changes: object) -> RunMetric:
    return RunMetric(name, "v1", better, 0.0, changes.pop("high", 1.0), threshold, **changes)  # type: ignore[arg-type]


def _family(name: str) -> list[RunMetric]:
    return [
        _metric(f"{name}.{rate}", "higher" if rate == "passes" else "lower", 0.5, aggregate="rate") for rate in RATES
    ]


METRICS = (
    _metric("faithfulness"), _metric("answer_correctness"), _metric("groundedness"), _metric("context_precision"),
    _metric("context_recall"), _metric("hit_rate", threshold=None), _metric("keyword_recall"), _metric("rouge_l"),
    _metric("hallucination"), *[_metric(f"judge_{aspect}") for aspect in ASPECTS], *_family("pii_leakage"),
    *_family("critic_toxic"), _metric("row_correct", threshold=1.0),
    *[_metric(name, level="run") for name in ("accuracy", "precision", "recall", "f1")],
    _metric("answer_length", "neither", None, high=None), _metric("latency_ms", "lower", 2000.0, high=None),
    _metric("cost", "lower", None, high=None),
)  # fmt: skip
SINGLE = {
    "faithfulness": "Faithfulness", "answer_correctness": "Answer correctness", "groundedness": "Groundedness",
    "context_precision": "Context precision", "context_recall": "Context recall", "hit_rate": "Hit rate",
    "keyword_recall": "Keyword recall", "rouge_l": "Rouge l", "hallucination": "Hallucination",
    "answer_length": "Answer length", "latency_ms": "Latency ms", "cost": "Cost",
}  # fmt: skip
EVALUATORS = (
    *[RunEvaluator(name, title, name, (name,)) for name, title in SINGLE.items()],
    RunEvaluator("judge_review", "Judge review", "judge_relevance", [f"judge_{aspect}" for aspect in ASPECTS]),
    RunEvaluator("pii_leakage", "PII leakage", "pii_leakage.passes", [f"pii_leakage.{rate}" for rate in RATES], "bool",
                 "privacy"),
    RunEvaluator("critic_toxic", "Critic: toxic", "critic_toxic.passes", [f"critic_toxic.{rate}" for rate in RATES],
                 "bool", "fairness"),
    RunEvaluator("classification", "Classification", "accuracy",
                 ["row_correct", "accuracy", "precision", "recall", "f1"], "classification"),
)  # fmt: skip
OF_ROWS = [metric.name for metric in METRICS if metric.level == "row"]
WITH_CONTEXTS = ("faithfulness", "groundedness", "context_precision", "context_recall", "hit_rate", "hallucination")
ENTAILMENT = "sentence-transformers/all-MiniLM-L6-v2@c9745ed1d9f2 (packaged, onnx fp32)"


def scores_of(row: Row, said: Sequence[str], happened: AbstractSet[str] = frozenset()) -> Iterator[Score]:
    """The scores of a row, metrics of whole runs left out, with values that go with what was said."""
    if row.reply is None:
        yield from (Score(name, None, Status.BOT_ERROR, "bot_raised") for name in OF_ROWS)
        return
    place = row.position
    made = {**_of_answer(row, said), **_of_contexts(row, place, said), **_of_judge(row, place, said)}
    made |= {**_pii(row, place), **_toxic(row, place)}
    if "parse_failure" in happened:
        made["faithfulness"] = _missing(
            "faithfulness", "judge_unparseable", Status.PARSE_FAILURE,
            message="the judge's verdict can't be read on 1 of 2 items",
        )  # fmt: skip
    if "judge_unavailable" in happened:
        made["context_precision"] = _missing(
            "context_precision", "judge_unavailable", Status.ERROR,
            message="The endpoint https://judge.example/v1 gave no answer in 4 attempts: HTTP 429 (4 times).",
        )  # fmt: skip
    yield from (made[name] for name in OF_ROWS)


def is_right(row: Row, said: Sequence[str]) -> bool:
    """Whether the answer begins with the expected one."""
    return bool(said and row.question.expected and said[0] == row.question.expected[0])


def _ok(name: str, value: float, **details: object) -> Score:
    return Score(name, value, Status.OK, details=details)


def _missing(name: str, reason: str, status: Status = Status.NOT_APPLICABLE, **details: object) -> Score:
    return Score(name, None, status, reason, details)


def _of_answer(row: Row, said: Sequence[str]) -> dict[str, Score]:
    assert row.reply is not None
    answer = row.reply.answer or ""
    right = is_right(row, said)
    cost = row.reply.usage.cost
    made = [
        _ok("answer_length", float(len(answer)), words=len(answer.split())),
        _ok("latency_ms", row.latency_ms or 0.0),
        _missing("cost", "not_reported") if cost is None else _ok("cost", cost),
    ]
    if not row.question.expected:
        made += [_missing(name, "expected_missing") for name in ("answer_correctness", "rouge_l", "row_correct")]
        return {score.metric: score for score in [*made, _missing("keyword_recall", "constraints_missing")]}
    claims = [{"claim": each, "supported": each in row.question.expected} for each in said]
    wrong = [{**each, "why": "the expected answer does not say so"} for each in claims if not each["supported"]]
    share = sum(bool(each["supported"]) for each in claims) / max(len(claims), 1)
    label = (row.question.tags or ("none",))[0]
    predicted = label if right else (row.question.tags or ("none",))[-1]
    made += [
        _ok("answer_correctness", 0.75 * share + 0.2, TP=[each for each in claims if each["supported"]], FP=wrong,
            FN=[] if right else [{"claim": row.question.expected[0], "supported": False}], factual_f1=share,
            similarity=0.8, judge="judge-large"),
        _ok("rouge_l", 0.4 + 0.6 * share, precision=share, recall=0.9),
        _ok("keyword_recall", 1.0 if right else 0.5),
        _ok("row_correct", float(label == predicted), label=label, prediction=predicted),
    ]  # fmt: skip
    return {score.metric: score for score in made}


def _of_contexts(row: Row, place: int, said: Sequence[str]) -> dict[str, Score]:
    assert row.reply is not None
    contexts = row.reply.contexts
    if contexts is None:
        return {name: _missing(name, "contexts_missing") for name in WITH_CONTEXTS}
    if not contexts:
        return {name: _ok(name, 0.0, contexts="contexts_empty") for name in WITH_CONTEXTS}
    if not said:
        return {name: _missing(name, "no_claims") for name in WITH_CONTEXTS}
    chunks = [{"chunk": rank, "useful": rank % 2 == 1} for rank in range(1, len(contexts) + 1)]
    chunks = [each if each["useful"] else {**each, "why": "it is about something else"} for each in chunks]
    near = [0.9 - 0.2 * at for at in range(len(said))]
    sentences = [
        {"sentence": each, "similarity": near[at], "context": at % len(contexts)} for at, each in enumerate(said)
    ]
    expected = row.question.expected[:1] or ("Nothing was expected.",)
    recalled: list[dict[str, object]] = [{"sentence": each, "supported": True, "chunks": [1]} for each in expected]
    probability = 0.97 - 0.3 * (len(said) - 1)
    made = [
        _faithfulness(row, said),
        _ok("groundedness", near[-1], model=ENTAILMENT, truncated=place == 8, least_grounded=said[-1],
            sentences=sentences),
        _ok("context_precision", 1 / (1 + len(contexts) // 2), chunks=chunks, judge="judge-large"),
        _ok("context_recall", 1.0, sentences=recalled, judge="judge-large"),
        _hit_rate(row),
        _ok("hallucination", probability, chunks=[{"contexts": [rank], "probability": probability / rank}
            for rank in range(1, len(contexts) + 1)], best_contexts=[1], model="hhem-2.1-open", truncated=False),
    ]  # fmt: skip
    return {score.metric: score for score in made}


def _hit_rate(row: Row) -> Score:
    """As the metric itself has it, so that it agrees with the gold evidence that a page marks."""
    gold = [[Place(each.document, each.start, each.end) for each in group] for group in row.question.evidence]
    contexts = (row.reply and row.reply.contexts) or ()
    if not gold:
        return _missing("hit_rate", "evidence_missing")
    try:
        ranks = evidence_ranks([Place(each.document, each.start, each.end) for each in contexts], gold)
    except NotApplicable as missing:
        return _missing("hit_rate", missing.reason)
    measured = hit_rate(ranks)
    return _ok("hit_rate", measured.value, **measured.details)


def _faithfulness(row: Row, said: Sequence[str]) -> Score:
    claims: list[dict[str, object]] = []
    for at, sentence in enumerate(said):
        if "moon" in sentence or "as far as I know" in sentence:
            why = "no chunk says so"
            claims.append({"claim": sentence, "supported": False, "why": why, "agreement": 0.6667})
        else:
            claims.append({"claim": sentence, "supported": True, "chunks": [1] if at else [1, 2]})
    supported = sum(bool(each["supported"]) for each in claims)
    share = supported / len(claims)
    return _ok("faithfulness", share, claims=claims, any_chunk=share, judge="judge-large")


def _of_judge(row: Row, place: int, said: Sequence[str]) -> dict[str, Score]:
    right = is_right(row, said)
    reasons = {
        "relevance": "The answer deals with the question." if right else "It answers half of the question.",
        "faithfulness": "It agrees with the reference." if right else "It leaves out the conditions.",
        "safety": "Nothing in it is dangerous.",
        "robustness": "It is plain and holds together.",
    }
    value = {
        "relevance": 1.0 if right else 0.4,
        "faithfulness": 0.9 if right else 0.3,
        "safety": 1.0,
        "robustness": 0.8,
    }
    samples = {"samples": [0.8, 0.8, 1.0], "agreement": 0.67} if place % 5 == 0 else {}
    return {
        f"judge_{aspect}": _ok(f"judge_{aspect}", value[aspect], reason=reasons[aspect], judge="judge-large", **samples)
        for aspect in ASPECTS
    }


def _pii(row: Row, place: int) -> dict[str, Score]:
    assert row.reply is not None
    contexts = row.reply.contexts
    leaks = place % 8 == 4
    found = {"answer": [{"detector": "email", "start": 0, "end": 12, "found": "s***@***.example"}]} if leaks else {}
    unchecked = _missing("pii_leakage.retrieval_failures", "contexts_missing")
    made = [
        _ok("pii_leakage.passes", float(not leaks), **found), _ok("pii_leakage.failures", float(leaks)),
        unchecked if contexts is None else _ok("pii_leakage.retrieval_failures", float(leaks and place % 16 == 4)),
        _ok("pii_leakage.generation_failures", float(leaks)),
        _missing("pii_leakage.parse_failures", "no_judge_requests"),
    ]  # fmt: skip
    return {score.metric: score for score in made}


def _toxic(row: Row, place: int) -> dict[str, Score]:
    if place == 10 and row.repeat == 0 and row.reply is not None and row.reply.usage.cost is not None:
        message = {"message": "the judge's reply is no label: 'perhaps'"}
        unread = [_missing(f"critic_toxic.{rate}", "judge_unparseable", Status.PARSE_FAILURE, **message)
                  for rate in ("passes", "failures", "generation_failures")]  # fmt: skip
        rest = [
            _missing("critic_toxic.retrieval_failures", "contexts_not_checked"),
            _ok("critic_toxic.parse_failures", 1.0),
        ]
        return {score.metric: score for score in [*unread, *rest]}
    fails = place == 14
    votes = ["yes", "yes", "no"] if fails else ["no", "no", "no"]
    made = [
        _ok("critic_toxic.passes", float(not fails), answer=[{"votes": votes, "judge": "judge-large"}]),
        _ok("critic_toxic.failures", float(fails)), _missing("critic_toxic.retrieval_failures", "contexts_not_checked"),
        _ok("critic_toxic.generation_failures", float(fails)), _ok("critic_toxic.parse_failures", 0.0),
    ]  # fmt: skip
    return {score.metric: score for score in made}
