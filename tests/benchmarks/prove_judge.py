"""What the embedded judge is worth on human labels, as users get it: the value of ``faithfulness``, and correctness.

Run: python tests/benchmarks/prove_judge.py [--rows N] [--fit] [--claims SET ...] [--answers SET ...] [--stored FOLDER]
    python tests/benchmarks/prove_judge.py --windows [--rows N] [--claims SET ...]

The first table is of claims and passages. "Value" is ``faithfulness`` of the row as a run makes it: the mean chance
of the answer's claims, by a suite's default judge; answers that claim nothing have no value and are left out. "Left
out" is the same with the weights of ``COMBINING`` fitted on all other sets: what to expect of texts of a new kind.
"Overlap" and "pairs" are the floors: the share of the answer's content words, and of its pairs of neighbouring words,
that the contexts have. AUROC, but balanced accuracy at a threshold of other documents (summedits), pairs told right
(bump) and Spearman's correlation with the votes (qags). Intervals are of 95 %, from 1,000 resamples of whole documents.

The second is of answers and expected answers: of ``correct``, AUROC of its probability, where an answer that abstains
comes last, and accuracy as users get it (``measure_correct.py`` says more). The floor is token F1, its accuracy that at
a threshold chosen on four fifths of the questions for the last fifth. Answers without a clear label are left out.

--fit fits the weights on all sets of claims and prints them, for ``COMBINING`` of metrics/judge/embedded/support.py;
values are then by these. Each set weighs the same, by the likelihood of what it measures. Of most that is the label,
where each class weighs the same and of an answer that is not supported the least likely claim is taken; of bump and
qags it is which of two answers is the better one. What is weighed, and how, was chosen by the mean over all sets, each
left out of the fit; the mean over the other nine makes the same choice for each set. No weight may speak against its
direction. The support model has seen none of these rows (``training/pool.py``). ``written`` is what was kept back of
the texts that were written for its training: of companies, manuals, news, talks, encyclopedias, in which overlap tells
nothing. It is fitted on like another set, for the others are not of what users ask about; believe its own figure less,
for who wrote it wrote what was trained on.

All rows take about twenty minutes of a core. --stored writes down each set once it is read, by the version of the
judge, so that the same command goes on where it was stopped.

--windows asks no model: a wrong word may stand beside its neighbour somewhere else in the text. It prints what the word
pairs are worth alone, looked for in the whole text or in the sentences nearest to the claim, and of how many claims the
rest of the text raises the log-odds by more than a half.
"""

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import measure_correct
import numpy as np
from agreement import Floats, auroc, bootstrap, correlation, cross_validated, decided
from floors import content_overlap, token_f1
from labelled_data import ABSENT, DATA, accepted, documents, open_embedder, sampled, score, table, values
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.support_model import SupportModel, open_support_model
from proctor.metrics.judge.embedded import support
from proctor.metrics.judge.embedded.claims import claims_of
from proctor.metrics.judge.embedded.judge import BEFOREHAND, EmbeddedJudge, among_answers
from proctor.metrics.judge.embedded.wording import wording
from support_cases import Case, cases, clusters, labels
from training.written_texts import written_texts

GOALS: Final = {
    "q2_wow": ".80",
    "wice": ".80",
    "fever_symmetric": ".80",
    "factcheckgpt_stance": ".80",
    "cad_nli": ".88",
    "begin": ".955",
    "summedits": ".66",
    "bump": ".88",
    "qags": ".65 / .45",
    "mtrag_human": ".70",
    "written": "none",
}
ANSWERS: Final = {
    "evouna": "accuracy .94",
    "nq301": "accuracy .85",
    "efficientqa": "AUROC .85",
    "student_answers": "AUROC .80",
}
WRITTEN: Final = "written"  # what was kept back of the texts that were written for the training; not of people
ORDERED: Final = ("bump", "qags")  # what they measure is which of two answers of a group is the better one
ASKED: Final = "What is said?"  # the sets of claims have no questions, or turns of a talk
FAITHFUL: Final = 3.5  # mean vote of 1 to 4 from which an answer of mtrag_human counts as faithful
NAMES: Final = tuple(support.COMBINING)
BY_HAND: Final = support.COMBINING["turned round"]  # the last
PAIRS, LONG_PAIRS = (support.COMBINING[name] for name in ("word pairs", "word pairs, long text"))
PENALTY: Final = 3e-3
ROUNDS: Final = 4
BINS: Final = 10
DRAWN: Final = 300
WINDOWS: Final = (1, 2, 8)  # nearest sentences
LIFTED: Final = 0.5

Groups = NDArray[np.intp]
Flags = NDArray[np.bool_]
Loss = Callable[[Floats], tuple[float, Floats]]  # of some weights, and its slope


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A set: its rows, their claims' signals, and the value that users get.

    Attributes:
        signals: shape (claims, signals), as ``NAMES`` has them.
        places: the row of each claim.
    """

    name: str
    found: Sequence[Case]
    yes: Flags
    groups: Groups
    value: Floats
    signals: Floats
    places: Groups

    def means(self, weights: Floats) -> Floats:
        """Mean probability of each row's claims by some weights."""
        likely = among_answers(1 / (1 + np.exp(-self.signals @ weights)))
        return np.bincount(self.places, likely, len(self.found)) / np.bincount(self.places, minlength=len(self.found))


def chosen(name: str, count: int) -> list[Case]:
    """The rows of a set, or that many of them by a fixed seed; of bump whole pairs."""
    found = _written() if name == WRITTEN else cases(name)
    if name != "bump":
        return sampled(found, count)  # type: ignore[type-var]
    pairs = set(sampled(sorted({case.group for case in found}), count // 2))  # type: ignore[type-var]
    return [case for case in found if case.group in pairs]


def _written() -> list[Case]:
    return [
        Case(claim, (text["text"],), float(label == "supported"), text["family"])
        for text in written_texts(kept_back=True)
        for claim, label in text["claims"]
    ]


@dataclass(frozen=True, slots=True)
class Judging:
    """The judge, its models, and where what it made is stored, if anywhere."""

    embedder: BatchingEmbedder
    model: SupportModel
    count: int
    stored: Path | None

    @property
    def judge(self) -> EmbeddedJudge:
        return EmbeddedJudge(self.embedder, model=self.model)

    def once(self, name: str, make: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
        """The arrays of a set: read where this judge has made them before, else made and written."""
        if self.stored is None:
            return make()
        version = hashlib.sha256(self.judge.model_id.encode()).hexdigest()[:12]
        path = self.stored / f"{name}-{self.count}-{version}.npz"
        if not path.exists():
            self.stored.mkdir(parents=True, exist_ok=True)
            np.savez(path.with_suffix(".part.npz"), **make())
            path.with_suffix(".part.npz").rename(path)
            print(f"{name} is stored", file=sys.stderr, flush=True)
        with np.load(path) as arrays:
            return dict(arrays)


def read_set(name: str, judging: Judging) -> Read:
    found = [case for case in chosen(name, judging.count) if case.chunks and claims_of(case.answer)]

    def made() -> dict[str, NDArray[Any]]:
        facts = [
            {"question": ASKED, "answer": case.answer, "contexts": case.chunks, "judge": judging.judge}
            for case in found
        ]
        value = values(score(facts, ["faithfulness"], judging.embedder)["faithfulness"])
        signals, places = asyncio.run(claim_signals(found, judging.embedder, judging.model))
        return {"value": value, "signals": signals, "places": places}

    arrays = judging.once(name, made)
    yes = labels(found, FAITHFUL if name == "mtrag_human" else 0.5)
    return Read(name, found, yes, clusters(found), arrays["value"], arrays["signals"], arrays["places"])


async def claim_signals(
    found: Sequence[Case], embedder: BatchingEmbedder, model: SupportModel
) -> tuple[Floats, Groups]:
    """What ``COMBINING`` weighs, of every sentence of every answer against all of its contexts."""
    compared, places = [], []
    for place, case in enumerate(found):
        texts = [one.words for one in support.read_sentences(case.chunks)]
        for claim in claims_of(case.answer):
            compared.append(support.compare(wording(claim), texts, "\n".join(case.chunks)))
            places.append(place)
    vectors = await support.vectors_of([text for one in compared for text in one.word_texts()], embedder)
    said = await model.supports([("", support.as_said(one), one.text) for one in compared])
    made = [
        support.combined_signals(one, probabilities, support.weighed(support.signals(one, vectors)))
        for one, probabilities in zip(compared, said.tolist(), strict=True)
    ]
    return np.array([[one[name] for name in NAMES] for one in made]), np.array(places)


def fitted(sets: Sequence[Read]) -> Floats:
    """The likeliest weights, none of which speaks against its direction; each set counts the same."""
    from scipy.optimize import minimize

    weights = np.array([0, *[0.3] * (len(NAMES) - 2), BY_HAND])
    bounds = [(None, None), *[(0, None)] * (len(NAMES) - 2), (BY_HAND, BY_HAND)]
    for _ in range(ROUNDS):
        losses = [_order_loss(one) if one.name in ORDERED else _label_loss(one, weights) for one in sets]

        def loss(tried: Floats, losses=losses) -> tuple[float, Floats]:
            found = [each(tried) for each in losses]
            penalised = np.array([0, *tried[1:-1], 0])
            value = np.mean([one for one, _ in found]) + PENALTY * (penalised**2).sum()
            return float(value), np.mean([slope for _, slope in found], axis=0) + 2 * PENALTY * penalised

        weights = minimize(loss, weights, jac=True, bounds=bounds, method="L-BFGS-B").x
    return np.asarray(weights)


def _label_loss(one: Read, weights: Floats) -> Loss:
    """Of labels: all claims of what is supported, and the least likely one by these weights of what is not."""
    odds, taken, yes, mass = one.signals @ weights, [], [], []
    for row, is_supported in enumerate(one.yes.tolist()):
        claims = np.flatnonzero(one.places == row)
        claims = claims if is_supported else claims[[odds[claims].argmin()]]
        taken += claims.tolist()
        yes += [is_supported] * len(claims)
        mass += [1 / len(claims)] * len(claims)
    label, weight, rows = np.array(yes), np.array(mass), one.signals[taken]
    for each in (True, False):
        weight[label == each] *= 0.5 / weight[label == each].sum()
    sign = np.where(label, 1.0, -1.0)

    def loss(tried: Floats) -> tuple[float, Floats]:
        margin = sign * (rows @ tried)
        return float((weight * np.logaddexp(0, -margin)).sum()), -(sign * weight / (1 + np.exp(margin))) @ rows

    return loss


def _order_loss(one: Read) -> Loss:
    """Of the order of two rows of one group, of which people found one better, given that one of them is.

    Its log-odds are the difference of those of the rows' values, as in logistic regression of matched pairs.
    """
    votes = np.array([case.label for case in one.found])
    groups = np.array([case.group for case in one.found])
    pairs: list[tuple[int, int]] = []
    mass: list[float] = []
    for group in np.unique(groups):
        inside = np.flatnonzero(groups == group)
        found = [(good, bad) for good in inside for bad in inside if votes[good] > votes[bad]]
        pairs += found
        mass += [1 / len(found) for _ in found]
    weight = np.array(mass) / sum(mass)
    good, bad = np.array(pairs).T
    count = np.bincount(one.places, minlength=len(one.found))

    def loss(tried: Floats) -> tuple[float, Floats]:
        likely = 1 / (1 + np.exp(-one.signals @ tried))
        mean = np.bincount(one.places, likely, len(count)) / count
        odds = np.log(mean / (1 - mean))
        margin = odds[good] - odds[bad]
        pull = -weight / (1 + np.exp(margin))
        by_row = (np.bincount(good, pull, len(count)) - np.bincount(bad, pull, len(count))) / (
            mean * (1 - mean) * count
        )
        return float((weight * np.logaddexp(0, -margin)).sum()), by_row[one.places] * likely * (
            1 - likely
        ) @ one.signals

    return loss


def figure(one: Read, scores: Floats) -> str:
    """The set's own figure of agreement, with its interval."""
    return str(" / ".join(str(bootstrap(statistic, one.groups)) for statistic in _statistics(one, scores)))


def _statistics(one: Read, scores: Floats) -> list[Callable[[NDArray[np.intp]], float]]:
    votes = np.array([case.label for case in one.found])
    kinds = np.array([case.group for case in one.found])
    if one.name == "qags":
        return [partial(_spearman, scores, votes, kinds == kind) for kind in ("cnndm", "xsum")]
    if one.name == "bump":
        return [partial(_pairs_right, scores, one.yes, kinds)]
    if one.name == "summedits":
        said = cross_validated(scores, one.yes, one.groups)
        return [lambda rows: decided(said[rows], one.yes[rows]).balanced]
    return [lambda rows: auroc(scores[rows], one.yes[rows])]


def _spearman(scores: Floats, votes: Floats, inside: Flags, rows: NDArray[np.intp]) -> float:
    kept = rows[inside[rows]]
    return correlation("spearman", scores[kept], votes[kept])


def _pairs_right(scores: Floats, yes: Flags, pairs: NDArray[np.str_], rows: NDArray[np.intp]) -> float:
    good = dict(zip(pairs[yes], scores[yes], strict=True))
    bad = dict(zip(pairs[~yes], scores[~yes], strict=True))
    right = [(good[pair] > bad[pair]) + (good[pair] == bad[pair]) / 2 for pair in pairs[rows[yes[rows]]] if pair in bad]
    return float(np.mean(right)) if right else float("nan")


def reliability(sets: Sequence[Read], scores: Mapping[str, Floats]) -> None:
    """The table over sets of hardly more than one claim a row, and its sum; in each what is supported weighs thrice.

    A judge that is perfectly calibrated has an error too, by chance: it is drawn for as many rows.
    """
    likely = np.concatenate([scores[one.name] for one in sets])
    yes = np.concatenate([one.yes for one in sets])
    mass = np.concatenate([np.where(one.yes, BEFOREHAND / one.yes.sum(), 1 / (~one.yes).sum()) for one in sets])
    mass /= mass.sum()
    bins = np.minimum((likely * BINS).astype(int), BINS - 1)
    inside = [(bins == one, mass[bins == one].sum()) for one in range(BINS)]
    lines = [
        (
            f"{one / BINS:.1f} to {(one + 1) / BINS:.1f}",
            int(rows.sum()),
            *((mass * what)[rows].sum() / part for what in (likely, yes)),
        )
        for one, (rows, part) in enumerate(inside)
        if part
    ]
    table(
        ("said", "rows", "mean said", "supported"), [(*line[:2], *(f"{one:.2f}" for one in line[2:])) for line in lines]
    )
    drawn = np.random.default_rng(0).random((DRAWN, len(likely))) < likely
    chance = np.mean([_error(likely, one, np.full(len(likely), 1 / len(likely)), bins) for one in drawn])
    names = ", ".join(one.name for one in sets)
    error = _error(likely, yes, mass, bins)
    print(f"Expected calibration error, left out, {names}: {error:.3f}, goal .05; by chance {chance:.3f}\n")


def _error(likely: Floats, yes: Flags, mass: Floats, bins: Groups) -> float:
    return float(sum(abs((mass * (likely - yes))[bins == one].sum()) for one in range(BINS)))


def claims_table(sets: Sequence[Read]) -> None:
    lines, left_out = [], {}
    for one in sets:
        weights = fitted([other for other in sets if other is not one]) if len(sets) > 2 else None
        left_out[one.name] = one.means(weights) if weights is not None else one.value
        overlap = np.array([content_overlap(case.answer, case.chunks) for case in one.found])
        pairs = np.array([support.pair_share(case.answer, "\n".join(case.chunks)) for case in one.found])
        alone = {name: one.means(np.eye(len(NAMES))[place]) for place, name in enumerate(NAMES) if place}
        parts = ", ".join(f"{name} {_plain(one, alone[name])}" for name in ("model", "not contradicted", "wording"))
        floors = (_plain(one, overlap), _plain(one, pairs))
        figures = (figure(one, one.value), figure(one, left_out[one.name]), parts, GOALS[one.name])
        lines.append((one.name, len(one.found), one.groups.max() + 1, *floors, *figures))
    columns = ("set", "rows", "documents", "overlap", "pairs", "value", "left out", "parts alone", "goal")
    table(columns, lines)
    single = [one for one in sets if one.name != WRITTEN and len(one.places) < 1.5 * len(one.found)]
    if single:
        reliability(single, left_out)


def _plain(one: Read, scores: Floats) -> str:
    every = np.arange(len(scores))
    return " / ".join(f"{statistic(every):.3f}" for statistic in _statistics(one, scores))


def windows_line(name: str, count: int) -> tuple[object, ...]:
    """What word pairs alone are worth by where they are looked for, and the claims that the rest of the text lifts."""
    found = [case for case in chosen(name, count) if case.chunks and claims_of(case.answer)]
    odds, weights, places = [], [], []
    for place, case in enumerate(found):
        texts = [one.words for one in support.read_sentences(case.chunks)]
        for claim in claims_of(case.answer):
            one = support.compare(wording(claim), texts, "\n".join(case.chunks))
            weights.append(PAIRS + LONG_PAIRS * support.unread_share(one.text))
            near = [replace(one, text="\n".join(each.text for each in one.near[:most])) for most in WINDOWS]
            odds.append([support.combined_signals(each, (0.5, 0.5), 0.0)["word pairs"] for each in (one, *near)])
            places.append(place)
    yes = labels(found, FAITHFUL if name == "mtrag_human" else 0.5)
    made, of_row = np.array(odds), np.array(places)
    empty = np.zeros(len(found))
    one_set = Read(name, found, yes, clusters(found), empty, made, of_row)
    means = [np.bincount(of_row, column, len(found)) / np.bincount(of_row) for column in made.T]
    lifted = np.array(weights) * (made[:, 0] - made[:, 1]) > LIFTED
    shares = (f"{lifted[yes[of_row] == supported].mean():.3f}" for supported in (True, False))
    return name, len(found), *(_plain(one_set, one) for one in means), *shares


def answers_line(name: str, judging: Judging) -> tuple[object, ...]:
    rows = sampled(measure_correct.labelled(name), judging.count)

    def made() -> dict[str, NDArray[Any]]:
        one = measure_correct.measure(name, rows, judging.embedder, judging.model)
        return {"value": one.value, "odds": one.odds}

    yes = np.array([row["label"]["correct"] for row in rows], dtype=np.bool_)
    groups = documents(rows, lambda row: row["question"])
    floor = np.array([token_f1(row["answer"], accepted(row)) for row in rows])
    one = measure_correct.Measured(name, yes, groups, floor=floor, **judging.once(name, made))
    scores = np.nan_to_num(one.odds, nan=measure_correct.UNDECIDED)
    area = bootstrap(lambda drawn: auroc(scores[drawn], yes[drawn]), groups)
    said = cross_validated(floor, yes, groups)
    floors = (f"{auroc(floor, yes):.3f}", f"{decided(said, yes).accuracy:.3f}")
    return name, len(rows), groups.max() + 1, *floors, area, measure_correct.agreement(one), ANSWERS[name]


def main() -> None:
    if not DATA.is_dir():
        sys.exit(ABSENT)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="at most of each set, by a fixed seed")
    parser.add_argument("--fit", action="store_true", help="fit the weights that combine, and print them")
    parser.add_argument("--claims", nargs="*", default=list(GOALS))
    parser.add_argument("--answers", nargs="*", default=list(ANSWERS))
    parser.add_argument("--stored", type=Path, help="a folder where sets are written once they are read")
    parser.add_argument("--windows", action="store_true", help="only where word pairs are looked for")
    given = parser.parse_args()
    if given.windows:
        columns = ("set", "rows", "whole text", *(f"nearest {most}" for most in WINDOWS), "lifted, supported", "not")
        table(columns, [windows_line(name, given.rows) for name in given.claims])
        return
    judging = Judging(open_embedder(), open_support_model(threads=1), given.rows, given.stored)
    sets = [read_set(name, judging) for name in given.claims]
    if given.fit:
        weights = fitted(sets)
        print({name: round(float(weight), 3) for name, weight in zip(NAMES, weights, strict=True)}, end="\n\n")
        for one in sets:  # as users get it with them
            one.value[:] = one.means(weights)
    claims_table(sets)
    if given.answers:
        lines = [answers_line(name, judging) for name in given.answers]
        table(("set", "rows", "questions", "floor", "its accuracy", "AUROC", "accuracy", "goal"), lines)
    judging.embedder.close()
    judging.model.close()


if __name__ == "__main__":
    main()
