"""Suspects: questions whose expected answer is doubtful by how the bots fare with it, in three readings.

- ``agree_otherwise``: no bot is right, and the bots agree with one another on another answer. Bots of one model make
  the same mistakes, so it weighs more where different models agree, and where they don't it is a hint only if no
  place in the documents is known to hold the expected answer.
- ``better_bots_miss``: the better a bot is elsewhere, the worse it does here; told by a permutation test over the bots,
  with Benjamini and Hochberg's correction over the questions. It takes about ten bots to tell a single question so.
- ``all_differ``: no bot is right, and no two of three or more say the same: the question may be ambiguous, or ask for
  what nobody can know. It is a hint and no more, as a hard question looks alike, and none where a place in the
  documents is known to hold the expected answer.

Bots that decline say nothing here, and unanswerable questions are left out. Whoever reads a finding is to look at the
question: the metric may also be too strict.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ...metrics.judge.embedded.wording import wording
from ...reports.statistics.chance import Figures
from ...reports.statistics.correction import benjamini_hochberg
from ...reports.surveys.finding import Finding
from .asked_twice import shortened
from .instruments import LEAST_BOTS, discriminations, means_elsewhere
from .same_answers import AnswerPair, Relation, relate

if TYPE_CHECKING:
    from ..ground.answers import Answer, Answers
    from ..ground.ground import Ground
    from .marks import Marks

_LEAST_AGREED: Final = 2 / 3  # of the bots that answer
_HELD: Final = 0.8  # of the words of an expected answer, from which on the documents hold it
_MOST_CHARACTERS: Final = 4_000
_EXACT: Final = 7  # bots up to which all permutations are gone through
_DRAWS: Final = 20_000
_FALSE_SHARE: Final = 0.05  # of the findings by permutation
_DOUBTFUL: Final = -0.3  # discrimination from which down a question is tested at all

Related = Mapping[AnswerPair, Relation]
Kinship = Mapping[str, str]  # by bot, what it answers by: bots of the same model are of one kin


async def find_suspects(ground: Ground, answers: Answers, marks: Marks, kin: Kinship) -> tuple[Finding, ...]:
    """The questions whose expected answers are doubtful; none with fewer than two bots.

    Args:
        ground: the questions, and the embedder by which answers are compared.
        answers: of all bots.
        marks: the same, side by side.
        kin: by bot, its model or what stands for it.
    """
    by_question: dict[str, list[Answer]] = {}
    for row in answers.rows:
        question = ground.by_key.get(row.question)
        if question is not None and question.answerable is not False and question.expected and row.text.strip():
            by_question.setdefault(row.question, []).append(row)
    missed = {
        key: said for key, rows in by_question.items()
        if len(said := [row for row in rows if not row.declined]) > 1 and all(row.right is False for row in rows)
    }  # fmt: skip
    pairs = [pair for key, said in missed.items() for pair in _among(ground, key, said)]
    related = dict(zip(pairs, await relate(pairs, ground.embedder), strict=True))
    thought = [one for key, said in missed.items() if (one := _of_missed(ground, key, said, related, kin)) is not None]
    found = await _unless_expected(ground, thought, missed)
    told = {finding.questions[0] for finding in found}
    order = {key: place for place, key in enumerate(marks.keys)}
    found += [one for one in _reversed(ground, marks) if one.questions[0] not in told]
    return tuple(sorted(found, key=lambda one: order.get(one.questions[0], len(order))))


async def _unless_expected(
    ground: Ground, found: Sequence[Finding], missed: Mapping[str, Sequence[Answer]]
) -> list[Finding]:
    """Without those where a bot says what is expected after all: there the metric is too strict."""
    pairs = {
        one.questions[0]: _to_expected(ground, one.questions[0], missed[one.questions[0]]) for one in found
    }  # fmt: skip
    every = [pair for several in pairs.values() for pair in several]
    related = dict(zip(every, await relate(every, ground.embedder), strict=True))
    return [one for one in found if all(related[pair] != "same" for pair in pairs[one.questions[0]])]


def _among(ground: Ground, key: str, said: Sequence[Answer]) -> list[AnswerPair]:
    text = ground.by_key[key].text
    return [AnswerPair(text, one.text, other.text) for one, other in itertools.combinations(said, 2)]


def _to_expected(ground: Ground, key: str, said: Sequence[Answer]) -> list[AnswerPair]:
    question = ground.by_key[key]
    return [AnswerPair(question.text, wanted, one.text) for wanted in question.expected for one in said]


def _of_missed(ground: Ground, key: str, said: Sequence[Answer], related: Related, kin: Kinship) -> Finding | None:
    """What to think of a question that no bot answers rightly."""
    alike = {
        (one.bot, other.bot)
        for (one, other), pair in zip(itertools.combinations(said, 2), _among(ground, key, said), strict=True)
        if related[pair] == "same"
    }
    party = max((_party(one, said, alike) for one in said), key=len)
    if len(party) > 1 and len(party) >= _LEAST_AGREED * len(said):
        models = sorted({kin.get(one.bot, one.bot) for one in party})
        if len(models) < 2 and _has_place(ground, key):
            return None
        return _agreed(ground, key, party, said, models, _is_documented(ground, key))
    if _has_place(ground, key):
        return None
    if not alike and len(said) >= LEAST_BOTS and len({kin.get(one.bot, one.bot) for one in said}) > 1:
        return _differing(ground, key, said)
    return None


def _party(one: Answer, said: Sequence[Answer], alike: set[tuple[str, str]]) -> list[Answer]:
    """The bots that say what one says."""
    return [
        other for other in said if other is one or (one.bot, other.bot) in alike or (other.bot, one.bot) in alike
    ]  # fmt: skip


def _has_place(ground: Ground, key: str) -> bool:
    """Whether it is known where its answer stands; then bots that err are no reason to doubt it."""
    gold = ground.gold.get(key)
    return gold is not None and bool(gold.groups)


def _is_documented(ground: Ground, key: str) -> bool:
    """Whether the places of its answer hold most of the expected words."""
    gold = ground.gold.get(key)
    if gold is None or not gold.groups:
        return False
    texts = [
        ground.by_id[one.document].text[one.start : one.end] if one.start is not None else one.quote
        for group in gold.groups for one in group if one.document in ground.by_id
    ]  # fmt: skip
    held = frozenset[str]().union(*(wording(text[:_MOST_CHARACTERS]).content for text in texts))
    wanted = (wording(answer[:_MOST_CHARACTERS]).content for answer in ground.by_key[key].expected)
    return any(bool(words) and len(words & held) >= _HELD * len(words) for words in wanted)


def _agreed(
    ground: Ground, key: str, party: Sequence[Answer], said: Sequence[Answer], models: Sequence[str], held: bool
) -> Finding:
    """The finding that bots agree on another answer; ``held``: the documents hold the expected one."""
    expected = ground.by_key[key].expected[0]
    whose = "of different models" if len(models) > 1 else "though all by the same model, which errs alike"
    sure = len(models) > 1 and len(party) > 2 and not held
    return Finding(
        kind="suspect_gold",
        severity="high" if sure else "medium" if len(models) > 1 and not held else "low",
        what=(
            f"No bot answers question {key} as expected, and {len(party)} of {len(said)} agree on another answer, "
            f'{whose}: "{shortened(party[0].text)}". Expected is "{shortened(expected)}".'
        ),
        action=f"Look at {key}: correct the expected answer, accept this one as well, or name another metric.",
        questions=(key,),
        score=round(len(party) / len(said), 4),
        details={
            "reading": "agree_otherwise", "bots": [one.bot for one in party], "models": list(models),
            "documented": held, "answers": {one.bot: one.text for one in said}, "expected": expected,
        },
    )  # fmt: skip


def _differing(ground: Ground, key: str, said: Sequence[Answer]) -> Finding:
    return Finding(
        kind="suspect_gold",
        severity="low",
        what=(
            f"No bot answers question {key} as expected, and no two of {len(said)} say the same, so that it may be "
            f'ambiguous: "{shortened(ground.by_key[key].text)}"'
        ),
        action=f"Look whether {key} can be understood in several ways, or whether the documents leave it open.",
        questions=(key,),
        details={
            "reading": "all_differ", "bots": [one.bot for one in said], "answers": {one.bot: one.text for one in said},
            "expected": ground.by_key[key].expected[0],
        },
    )  # fmt: skip


def _reversed(ground: Ground, marks: Marks) -> list[Finding]:
    """Questions on which better bots do worse than chance would have it."""
    if len(marks.bots) < LEAST_BOTS:
        return []
    goodness = marks.goodness
    correlations = discriminations(goodness)
    lines = np.flatnonzero(np.isfinite(correlations) & np.isfinite(goodness).all(axis=1))
    if not len(lines):
        return []
    p_values = np.ones(len(lines))
    doubtful = correlations[lines] <= _DOUBTFUL
    p_values[doubtful] = reversal_p_values(goodness, lines[doubtful], ground.seed)
    adjusted = benjamini_hochberg(p_values.tolist())
    return [
        _turned(ground, marks, int(line), float(correlations[line]), p_value)
        for line, p_value in zip(lines, adjusted, strict=True)
        if p_value <= _FALSE_SHARE and _is_plain(ground, marks.keys[int(line)])
    ]


def _is_plain(ground: Ground, key: str) -> bool:
    question = ground.by_key[key]
    return question.answerable is not False and bool(question.expected)


def reversal_p_values(goodness: Figures, lines: Sequence[int] | np.ndarray, seed: int = 0) -> Figures:
    """How often chance alone would turn a question as far against the bots' order: one-sided, never 0.

    Args:
        goodness: of shape (questions, bots), no NaN on the lines.
        lines: of the questions to test.
        seed: of the draws.

    Source: Phipson and Smyth 2010 ((1 + b) / (1 + N)).
    """
    bots = goodness.shape[1]
    rest = means_elsewhere(goodness)
    exact = bots <= _EXACT
    orders = np.array(list(itertools.permutations(range(bots)))) if exact else _drawn_orders(bots, seed)
    found = np.empty(len(lines))
    for place, line in enumerate(lines):
        theirs = rest[line] - rest[line].mean()
        products = goodness[line][orders] @ theirs
        own = float(goodness[line] @ theirs)
        reached = int((products <= own + 1e-12 * max(1.0, abs(own))).sum())
        found[place] = reached / len(orders) if exact else (1 + reached) / (1 + len(orders))
    return found


def _drawn_orders(bots: int, seed: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    return chance.permuted(np.tile(np.arange(bots), (_DRAWS, 1)), axis=1)


def _turned(ground: Ground, marks: Marks, line: int, correlation: float, p_value: float) -> Finding:
    key = marks.keys[line]
    return Finding(
        kind="suspect_gold",
        severity="medium",
        what=(
            f"The better a bot is elsewhere, the worse it does on question {key} (correlation {correlation:.2f} over "
            f"{len(marks.bots)} bots), which expects \"{shortened(ground.by_key[key].expected[0])}\"."
        ),
        action=f"Look at {key}: its expected answer may be wrong, or accept only what weak bots say.",
        questions=(key,),
        score=round(1 - p_value, 4),
        details={
            "reading": "better_bots_miss", "discrimination": round(correlation, 4), "p_value": p_value,
            "values": dict(zip(marks.bots, map(_bare, marks.values[line].tolist()), strict=True)),
        },
    )  # fmt: skip


def _bare(value: float) -> float | None:
    return None if math.isnan(value) else value
