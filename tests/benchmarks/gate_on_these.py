"""How often a gate on these questions is right: false alarms, what stays open, losses found, and answers asked again.

    python tests/benchmarks/gate_on_these.py [GATES]

A hundred questions, margin 0.03, one gated metric. A bot that is not deterministic answers 15 of them otherwise each
time: yes/no with some chance of a yes, or a score that is drawn anew. A loss of 0.05 is five answers that are wrong
from now on, or a score that is lower on each fifth question.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from proctor.reports.gate.rule import CONFIRM
from proctor.reports.gate.verdicts import ROUNDS, SHARE, OnThese, Samples, next_asked, on_these

QUESTIONS, MARGIN, LOSS, FLAKY = 100, 0.03, 0.05, 15
Draw = Callable[[], np.ndarray]
GOALS = "wrongly regressed <= 5 %, open <= 10 %, loss found >= 90 %, asked again <= 20 %"


@dataclass(frozen=True)
class World:
    """What kind of bot, and whether the gate is one of the figures that are promised."""

    name: str
    flaky: int
    chance: float | None  # of a yes where it is flaky; None for a score
    goal: bool = True
    both_sides: bool = True


WORLDS = (
    World("deterministic, yes/no", 0, 0.5),
    World("deterministic, a score", 0, None),
    World("15 flaky, a yes in 50 %", FLAKY, 0.5),
    World("15 flaky, a yes in 85 %", FLAKY, 0.85),
    World("15 flaky, a yes in 15 %", FLAKY, 0.15),
    World("15 flaky, a score", FLAKY, None),
    World("deterministic, new bot alone", 0, 0.5, both_sides=False),
    World("15 flaky, 50 %, new bot alone", FLAKY, 0.5, goal=False, both_sides=False),
    World("15 flaky, 85 %, new bot alone", FLAKY, 0.85, goal=False, both_sides=False),
    World("15 flaky, 15 %, new bot alone", FLAKY, 0.15, goal=False, both_sides=False),
    World("30 flaky, a yes in 50 %", 2 * FLAKY, 0.5, goal=False),
    World("100 flaky, 3 %, new bot alone", QUESTIONS, 0.03, goal=False, both_sides=False),
)


def operands(world: World, loss: float, rng: np.random.Generator) -> tuple[Draw, Draw]:
    """What answers the old and the new bot get, each time they are asked."""
    flaky = np.zeros(QUESTIONS, np.bool_)
    flaky[rng.permutation(QUESTIONS)[: world.flaky]] = True
    if world.chance is None:
        fixed, drop = rng.beta(3, 2, QUESTIONS), np.zeros(QUESTIONS)
        drop[rng.permutation(QUESTIONS)[: QUESTIONS // 5]] = 5 * loss
        return (
            lambda: np.where(flaky, rng.beta(3, 2, QUESTIONS), fixed),
            lambda: np.where(flaky, rng.beta(3, 2, QUESTIONS), fixed) - drop,
        )
    was = np.where(flaky, world.chance, (rng.random(QUESTIONS) < 0.7).astype(float))
    now = was.copy()
    now[rng.permutation(np.flatnonzero(was == 1))[: round(loss * QUESTIONS)]] = 0  # none where no answer is sure
    return (lambda: (rng.random(QUESTIONS) < was).astype(float)), (lambda: (rng.random(QUESTIONS) < now).astype(float))


def gate(world: World, loss: float, rng: np.random.Generator) -> OnThese:
    """One gate, asked as the program asks."""
    old, new = operands(world, loss, rng)
    empty = np.full((QUESTIONS, CONFIRM), np.nan)
    samples = Samples(old()[:, None], new()[:, None], empty, empty, world.both_sides)
    budget = round(SHARE * QUESTIONS)
    while True:
        spent = samples.asked_again / budget
        picked = next_asked([samples], [1.0], CONFIRM, min(-(-budget // ROUNDS), budget - samples.asked_again), 0)
        found = on_these(samples, MARGIN, spent=spent if picked else 1.0)
        assert found is not None
        if not picked or found.outcome == "not worse" or (spent and found.outcome == "regressed"):
            return found
        again = [samples.before_again.copy(), samples.now_again.copy()]
        answers = [old(), new()]
        for place, is_old in picked:
            operand = again[0 if is_old else 1]
            operand[place, np.isfinite(operand[place]).sum()] = answers[0 if is_old else 1][place]
        samples = Samples(samples.before, samples.now, *again, world.both_sides)


def figures(world: World, loss: float, gates: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Per cent regressed and undecided, and answers asked again per hundred questions."""
    found = [gate(world, loss, rng) for _ in range(gates)]
    of = [sum(each.outcome == word for each in found) * 100 / gates for word in ("regressed", "undecided")]
    return of[0], of[1], sum(each.asked_again for each in found) / gates


def lines(gates: int) -> Iterator[str]:
    yield f"{QUESTIONS} questions, margin {MARGIN}, {gates} gates each. Goal: {GOALS}."
    yield f"{'':31}  nothing changed                loss of {LOSS}"
    yield f"{'':31}  regressed  open  asked again   found  asked again   goals"
    rng = np.random.default_rng(1)
    for world in WORLDS:
        false, undecided, extra = figures(world, 0.0, gates, rng)
        true, _, asked = figures(world, LOSS, gates, rng)
        met = false <= 5 and undecided <= 10 and true >= 90 and max(extra, asked) <= 20
        word = ("met" if met else "MISSED") if world.goal else f"not promised ({'met' if met else 'missed'})"
        nothing = f"{false:7.1f} % {undecided:4.1f} % {extra:10.1f} %"
        yield f"{world.name:31}  {nothing} {true:6.1f} % {asked:9.1f} %   {word}"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        print(line, flush=True)
