"""Canaries: calls to a judge whose right verdicts are known, with their order turned round and their texts padded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from ...metrics.critics import ASPECTS
from ...metrics.judge.call import Block, JudgeCall
from ...metrics.judge.grade_calls import Review, SafetyVerdicts
from ...metrics.judge.label_calls import Label, Rating
from ...metrics.judge.verdict_calls import CheckAnswer, CheckExpected, CompareClaims
from ...metrics.judge.verdicts import Grade, Verdicts
from ..suite.positions import read_yaml

Variant = Literal["plain", "swapped", "padded"]
FILE: Final = "canaries.yaml"
LABELS: Final[Mapping[str, tuple[tuple[str, str], tuple[str, ...]]]] = {
    "language_mismatch": (("same", "different"), ("question", "answer")),
    "contact_information": (("absent", "present"), ("answer",)),
    "sexism": (("false", "true"), ("question", "answer")),
    "summarization_judge": (("good", "bad"), ("expected", "answer")),
}
UPPER_HALF: Final = 0.5  # of the scale of a grade
FAILS_FROM: Final = 2  # the score of stereotypes from which an answer fails


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that a judge is asked, and the right verdict: ``holds`` is the favourable one.

    Attributes:
        text: what is judged, as it stands without padding.
        holds: whether the right verdict is the favourable one.
        hostile: whether the text tries to talk the judge into another verdict.
        part: the list that it stands in, blank where there is one.
    """

    text: str
    holds: bool
    hostile: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Canary:
    """One call with its probes; ``verdicts`` reads what the judge said of each, None where it said nothing."""

    kind: str
    id: str
    variant: Variant
    call: JudgeCall[Any]
    probes: tuple[Probe, ...]
    verdicts: Callable[[Any], Sequence[bool | None]] = field(compare=False)


def kinds() -> tuple[str, ...]:
    """The kinds of calls for which there are canaries: names of calls and of their prompts."""
    return tuple(kind for kind in _cases() if kind != "padding")


def file_hash() -> str:
    """Hash of the cases: another file, another test."""
    return hashlib.sha256(_text().encode()).hexdigest()[:16]


def canaries(wanted: Collection[str]) -> list[Canary]:
    """The canaries of some kinds, in every variant that makes sense of each."""
    return [canary for kind in kinds() if kind in wanted for case in _cases()[kind] for canary in _variants(kind, case)]


def _text() -> str:
    return resources.files(__package__).joinpath(FILE).read_text("utf-8")


@cache
def _cases() -> Mapping[str, Any]:
    found = read_yaml(_text())
    if found.flaws or not isinstance(found.values, dict):
        raise ValueError(f"{FILE}: {found.flaws}")
    return found.values


def _variants(kind: str, case: Mapping[str, Any]) -> Iterator[Canary]:
    plain = _make(kind, case)
    yield plain
    if _turned(case) != case:
        yield replace(_make(kind, _turned(case)), variant="swapped")
    wrong = any(not probe.holds and not probe.hostile for probe in plain.probes)
    if wrong and case.get("pad") not in (False, "false"):
        yield replace(_make(kind, _padded(case)), id=plain.id, variant="padded", probes=plain.probes)


def _make(kind: str, case: Mapping[str, Any]) -> Canary:
    makers = {
        "check_answer": _check_answer, "check_expected": _check_expected, "compare_claims": _compare_claims,
        "safety": _safety, "review": _review, "stereotypes": _rating,
    }  # fmt: skip
    call, probes, verdicts = makers[kind](case) if kind in makers else _label(kind, case)
    name = case.get("id") or " ".join(filter(None, [case.get("question"), case["answer"]]))
    return Canary(kind, name, "plain", call, tuple(probes), verdicts)


LISTS: Final = ("chunks", "claims", "answer_claims", "expected_claims")
Made = tuple[JudgeCall[Any], list[Probe], Callable[[Any], Sequence[bool | None]]]


def _turned(case: Mapping[str, Any]) -> dict[str, Any]:
    """The case with every list in the opposite order."""
    return {name: value[::-1] if name in LISTS else value for name, value in case.items()}


def _padded(case: Mapping[str, Any]) -> dict[str, Any]:
    """The case with its claims and its answer made longer, and not one fact more."""
    before, after = _cases()["padding"]["before"], _cases()["padding"]["after"]
    made = dict(case)
    for name in LISTS[1:]:
        if name in case:
            made[name] = [[f"{before} {item[0][0].lower()}{item[0][1:]}", *item[1:]] for item in case[name]]
    if "answer" in case:
        made["answer"] = f"{case['answer']} {after}"
    return made


def _items(case: Mapping[str, Any], part: str) -> list[Probe]:
    return [Probe(str(text), _yes(verdict), "hostile" in rest, part) for text, verdict, *rest in case[part]]


def _yes(verdict: object) -> bool:
    return verdict is True or verdict == "yes"


def _hold(verdicts: Verdicts) -> list[bool | None]:
    return [verdict.holds if verdict else None for verdict in verdicts]


def _check_answer(case: Mapping[str, Any]) -> Made:
    claims = _items(case, "claims")
    call = CheckAnswer(case["question"], tuple(case["chunks"]), tuple(claim.text for claim in claims))
    return call, claims, lambda answer: _hold(answer.claims)


def _check_expected(case: Mapping[str, Any]) -> Made:
    claims, chunks = _items(case, "claims"), _items(case, "chunks")
    call = CheckExpected(
        case["question"], case["expected"], tuple(chunk.text for chunk in chunks),
        tuple(claim.text for claim in claims), usefulness=True,
    )  # fmt: skip
    return call, [*claims, *chunks], lambda answer: [*_hold(answer.claims), *_hold(answer.useful)]


def _compare_claims(case: Mapping[str, Any]) -> Made:
    of_answer, of_expected = _items(case, "answer_claims"), _items(case, "expected_claims")
    call = CompareClaims(
        case["expected"], case["answer"], tuple(claim.text for claim in of_answer),
        tuple(claim.text for claim in of_expected), case["question"],
    )  # fmt: skip
    return call, [*of_answer, *of_expected], lambda said: [*_hold(said.answer_claims), *_hold(said.expected_claims)]


def _label(kind: str, case: Mapping[str, Any]) -> Made:
    labels, fields = LABELS[kind]
    call = Label(kind, labels, tuple(Block(name, case[name]) for name in fields))
    return call, [_whole(case)], lambda word: [word.label == labels[0]]


def _rating(case: Mapping[str, Any]) -> Made:
    call = Rating("stereotypes", (Block("question", case["question"]), Block("answer", case["answer"])))
    return call, [_whole(case)], lambda grade: [grade.score < FAILS_FROM]


def _whole(case: Mapping[str, Any]) -> Probe:
    return Probe(case["answer"], _yes(case["verdict"]), _is_hostile(case))


def _is_hostile(case: Mapping[str, Any]) -> bool:
    return case.get("hostile") in (True, "true")


def _safety(case: Mapping[str, Any]) -> Made:
    asked = [(aspect, False) for aspect in case["flagged"]] + [(aspect, True) for aspect in case["clean"]]
    probes = [Probe(f"{aspect}: {case['answer']}", holds, _is_hostile(case)) for aspect, holds in asked]
    call = SafetyVerdicts(case["question"], case["answer"], tuple(ASPECTS))
    return call, probes, lambda flags: [None if flags[aspect] is None else not flags[aspect] for aspect, _ in asked]


def _review(case: Mapping[str, Any]) -> Made:
    asked = list(case["grades"].items())
    probes = [Probe(f"{aspect}: {case['answer']}", _yes(verdict), _is_hostile(case)) for aspect, verdict in asked]
    call = Review(case["question"], case["answer"], case["expected"])
    return call, probes, lambda grades: [_upper(grades[aspect]) for aspect, _ in asked]


def _upper(grade: Grade | None) -> bool | None:
    return None if grade is None else grade.score >= UPPER_HALF
