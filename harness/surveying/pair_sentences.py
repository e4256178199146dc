"""Pair sentences: what findings about two documents say, and what they tell to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...knowledge.examining.copies import Copied
from ...knowledge.examining.versions import Versions
from .contradictions import Contradiction
from .stolen_ranks import Stolen, StolenRanks

_LONGEST_QUOTE: Final = 240  # characters


def contradiction_what(first: str, second: str, ones: Sequence[Contradiction]) -> str:
    """What two documents, or one with itself, say otherwise."""
    one = min(ones, key=lambda each: each.first.columns is not None)  # a row of a table says little by itself
    who = f"{first} contradicts itself" if first == second else f"{first} and {second} contradict each other"
    where = "" if len(ones) == 1 else f" in {len(ones)} places, such as"
    says = f"{who}{where}: {_quoted(one.first.text)} against {_quoted(one.second.text)}"
    differs = _differences(one)
    return f"{says} ({differs})." if differs else f"{says}."


def contradiction_action(first: str, second: str) -> str:
    """What to do about a contradiction."""
    if first == second:
        return f"Find out which of the two is true and correct {first}."
    return f"Find out which of the two is true and correct the other: {first} or {second}."


def _differences(one: Contradiction) -> str:
    if one.found is None:
        return f"the entailment model says so, {one.probability:.2f}" if one.probability is not None else ""
    sides = []
    for difference in one.found.differences:
        if difference.sort == "negation":
            sides.append("one of them denies it")
        else:
            sides.append(f"{difference.first} against {difference.second}")
    return ", ".join(sides)


def stale_what(one: Versions, facts: Sequence[Contradiction]) -> str:
    """Which one is older, by what, and what it says otherwise; of each fact the older one's side is the first."""
    dated = f" ({one.dates[0].said} against {one.dates[1].said})" if one.dates else ""
    what = f"{one.older} looks like an older version of {one.newer}{dated}"
    what += f": {_percent(one.alike)} of the shorter one stands in both"
    if facts:
        one_fact = min(facts, key=lambda each: each.first.columns is not None)  # a row of a table says little by itself
        told = "; ".join(dict.fromkeys(_differences(fact) for fact in facts[:3]))
        what += (
            f". {_several(len(facts), 'statement', 'statements')} of it can't be true beside the newer one, such as "
            f"{_quoted(one_fact.first.text)} against {_quoted(one_fact.second.text)} ({told})"
        )
    return f"{what}."


def copy_what(one: Copied) -> str:
    """How much of which document stands where."""
    if one.first == one.second:
        return f"{one.first} says the same twice: {one.words} words of it stand in it again."
    if one.same:
        return f"{one.first} and {one.second} have the same words from beginning to end."
    return (
        f"{one.first} and {one.second} say the same in part: {_percent(one.share)} of the words of the shorter one, "
        f"{one.words}, stand in the other."
    )


def copy_action(one: Copied) -> str:
    """What to do about copies."""
    if one.first == one.second:
        return f"Say it once in {one.first}."
    if one.same:
        return f"Keep one of {one.first} and {one.second}."
    return f"Keep what both say in one of {one.first} and {one.second}, and let the other refer to it."


def overlap_what(pairs: Sequence[tuple[str, str]]) -> str:
    """That many documents are windows of longer texts."""
    documents = len({name for pair in pairs for name in pair})
    return (
        f"{documents:,} documents overlap at their ends, as windows of longer texts do, in {len(pairs):,} places: "
        f"{pairs[0][1]} begins with what {pairs[0][0]} ends with."
    )


def stolen_said(stolen: Stolen, ranks: StolenRanks) -> str:
    """What the copies cost; blank where that is nothing."""
    if not stolen.places:
        return ""
    whose = "that bots were handed" if ranks.from_answers else "that the present setting finds"
    return (
        f" They take {_several(stolen.places, 'place', 'places')} twice among the {ranks.places} passages {whose}, for "
        f"{_several(len(stolen.questions), 'question', 'questions')}."
    )


def _quoted(text: str) -> str:
    short = " ".join(text.split())
    return f"“{short if len(short) <= _LONGEST_QUOTE else short[: _LONGEST_QUOTE - 1] + '…'}”"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share < 0.995 else "all"


def _several(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count} {many}"
