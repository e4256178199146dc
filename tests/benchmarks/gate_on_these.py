"""How often a gate on these questions is right: false alarms, what stays open, losses found, and answers asked again.

    python tests/benchmarks/gate_on_these.py [GATES]

A hundred questions, margin 0.03, one gated metric. A bot that is not deterministic answers 15 of them otherwise each
time: yes/no with some chance of a yes, or a score that is drawn anew. A loss of 0.05 is five answers that are wrong
from now on, or a score that is lower on each fifth question; "half lost" are ten that are wrong half of the times.

Where the old bot can't be asked, a loss (it was right, and is wrong each time) looks like the luck of an old answer, of
which there are as many as there is luck of the new bot's first answer (it was wrong, is right, and wrong each time).
"bound" is how many losses any test can find that goes by the numbers of both and is wrong in 5 of 100 at most whatever
the bot's noise is: a linear program over all such tests (Barnard 1947; the most powerful one against the least
favourable noise). It is worked out for as many confirmations as ``confirm`` allows, and for one fewer, each with the
answers that take to ask them all, as if there were no limit.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from proctor.reports.gate.rule import CONFIRM
from proctor.reports.gate.verdicts import ROUNDS, SHARE, SHARE_ALONE, OnThese, Samples, next_asked, on_these
from scipy.optimize import linprog
from scipy.stats import binom

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
    questions: int = QUESTIONS
    repeats: int = 1  # of each question, in both runs
    sure: bool = True  # whether what is lost is wrong each time; else twice as many answers are lost half of the times


WORLDS = (
    World("deterministic, yes/no", 0, 0.5),
    World("deterministic, a score", 0, None),
    World("15 flaky, a yes in 50 %", FLAKY, 0.5),
    World("15 flaky, a yes in 85 %", FLAKY, 0.85),
    World("15 flaky, a yes in 15 %", FLAKY, 0.15),
    World("15 flaky, a score", FLAKY, None),
    World("deterministic, new bot alone", 0, 0.5, both_sides=False),
    World("15 flaky, 50 %, new bot alone", FLAKY, 0.5, both_sides=False),
    World("15 flaky, 85 %, new bot alone", FLAKY, 0.85, both_sides=False),
    World("15 flaky, 15 %, new bot alone", FLAKY, 0.15, goal=False, both_sides=False),
    World("30 flaky, a yes in 50 %", 2 * FLAKY, 0.5, goal=False),
    World("15 flaky, score, new bot alone", FLAKY, None, goal=False, both_sides=False),
    World("100 flaky, 3 %, new bot alone", QUESTIONS, 0.03, goal=False, both_sides=False),
    World("200 questions, 15 %, alone", 2 * FLAKY, 0.15, both_sides=False, questions=200),
    World("15 %, alone, 3 repeats", FLAKY, 0.15, goal=False, both_sides=False, repeats=3),
    World("50 questions, 15 %, alone", 7, 0.15, goal=False, both_sides=False, questions=50),
    World("30 questions, 15 %, alone", 4, 0.15, goal=False, both_sides=False, questions=30),
    World("deterministic, half lost", 0, 0.5, goal=False, sure=False),
    World("deterministic, half lost, alone", 0, 0.5, goal=False, both_sides=False, sure=False),
    World("15 flaky, 50 %, half lost, alone", FLAKY, 0.5, goal=False, both_sides=False, sure=False),
)


def operands(world: World, loss: float, rng: np.random.Generator) -> tuple[Draw, Draw]:
    """What answers the old and the new bot get, each time they are asked."""
    number = world.questions
    flaky = np.zeros(number, np.bool_)
    flaky[rng.permutation(number)[: world.flaky]] = True
    if world.chance is None:
        fixed, drop = rng.beta(3, 2, number), np.zeros(number)
        drop[rng.permutation(number)[: number // 5]] = 5 * loss
        return (
            lambda: np.where(flaky, rng.beta(3, 2, number), fixed),
            lambda: np.where(flaky, rng.beta(3, 2, number), fixed) - drop,
        )
    was = np.where(flaky, world.chance, (rng.random(number) < 0.7).astype(float))
    now = was.copy()
    lost = rng.permutation(np.flatnonzero(was == 1))  # none where no answer is sure
    now[lost[: round(loss * number * (1 if world.sure else 2))]] = 0.0 if world.sure else 0.5
    return (lambda: (rng.random(number) < was).astype(float)), (lambda: (rng.random(number) < now).astype(float))


def gate(world: World, loss: float, rng: np.random.Generator) -> OnThese:
    """One gate, asked as the program asks."""
    old, new = operands(world, loss, rng)
    empty = np.full((world.questions, CONFIRM), np.nan)
    own = [np.stack([draw() for _ in range(world.repeats)], axis=1) for draw in (old, new)]
    samples = Samples(*own, empty, empty, world.both_sides)
    budget = round((SHARE if world.both_sides else SHARE_ALONE) * world.questions)
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
    return of[0], of[1], sum(each.asked_again for each in found) / gates * 100 / world.questions


MOST = 26  # losses, or lucky answers, of which more are not to be expected


def both_counts(questions: int, share: float) -> np.ndarray:
    """Chance of each number of losses and gains (by row, column) where a question is either with that chance."""
    one, other = np.arange(MOST)[:, None], np.arange(MOST)[None, :]
    rest = binom.pmf(other, np.maximum(questions - one, 0), share / (1 - share))
    return np.asarray(binom.pmf(one, questions, share) * np.where(one <= questions, rest, 0.0))


def bound(world: World, confirm: int) -> tuple[float, float]:
    """Most losses of 100 that a test finds, and the answers that confirming takes."""
    right, lost = world.chance or 0.0, round(LOSS * QUESTIONS)
    lucky = right * (1 - right) ** (1 + confirm)
    with_loss = np.zeros((MOST, MOST))
    with_loss[lost:] = both_counts(world.flaky, lucky)[: MOST - lost]
    noises = [both_counts(QUESTIONS, share) for share in np.linspace(0.0005, 0.08, 60)]
    noises.append(both_counts(world.flaky, lucky))
    sizes = np.array([each.ravel() for each in noises])
    best = linprog(-with_loss.ravel(), A_ub=sizes, b_ub=np.full(len(sizes), 0.05), bounds=(0, 1))
    until = sum((1 - right) ** place for place in range(confirm))  # a good answer ends it
    return -100 * best.fun, lost * confirm + 2 * world.flaky * right * (1 - right) * until


def lines(gates: int) -> Iterator[str]:
    yield f"{QUESTIONS} questions, margin {MARGIN}, {gates} gates each. Goal: {GOALS}."
    yield f"{'':32}  nothing changed                loss of {LOSS}"
    yield f"{'':32}  regressed  open  asked again   found  'not worse'  asked again   goals"
    rng = np.random.default_rng(1)
    for world in WORLDS:
        false, undecided, extra = figures(world, 0.0, gates, rng)
        true, unsure, asked = figures(world, LOSS, gates, rng)
        met = false <= 5 and undecided <= 10 and true >= 90 and max(extra, asked) <= 20
        word = ("met" if met else "MISSED") if world.goal else f"not promised ({'met' if met else 'missed'})"
        nothing = f"{false:7.1f} % {undecided:4.1f} % {extra:10.1f} %"
        if world.chance and world.flaky == FLAKY and not world.both_sides and world.repeats == 1 and world.sure:
            bounds = ((confirm, *bound(world, confirm)) for confirm in (CONFIRM, CONFIRM - 1))
            word += "; bound " + ", ".join(f"{most:.0f} ({n} times, {calls:.0f} asked)" for n, most, calls in bounds)
        missed = 100 - true - unsure
        yield f"{world.name:32}  {nothing} {true:6.1f} % {missed:10.1f} % {asked:10.1f} %   {word}"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        print(line, flush=True)
