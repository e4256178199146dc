"""Fits the weights of the embedded judge's support formula and prints them.

Run: python tests/benchmarks/fit_support.py

The weights are fitted on ``nli_pool`` (its three sources weigh the same), ``begin``, ``defacto`` and ``bump``: none of
them is reported by measure_support.py, so that no figure there rests on a row the weights have seen. Each set weighs
the same, and in each set the supported rows weigh as much as the others, so that 0.5 is the threshold of balanced
accuracy. A row of several claims is fitted on the mean of their signals. Every signal may only speak in its own
direction (a missing name never for a claim): logistic regression with bounds and a weak square penalty.
The data are read in place and never leave the machine; what ships is nine numbers.
"""

import asyncio
import random
from collections.abc import Collection, Sequence

import numpy as np
from agreement import SEED, Floats
from labelled_data import ABSENT, DATA, open_embedder
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.metrics.judge.embedded.support import WEIGHTS, compare, read_sentences, signals, vectors_of
from proctor.metrics.judge.embedded.wording import wording
from support_cases import Case, cases, claims_of, labels, row_means, training_pairs

SETS = ("begin", "defacto", "bump")
PAIRS = 8_000
ROWS = 1_000
PENALTY = 1e-3
FOR = frozenset({"held", "cosine"})  # all others speak against a claim
NAMES = tuple(name for name in WEIGHTS if name != "bias")


async def rows_of_signals(found: Sequence[Case], embedder: BatchingEmbedder) -> Floats:
    """Shape (rows, signals): the mean over each row's claims, all chunks together."""
    compared = []
    for place, claim in claims_of(found):
        texts = [one.words for one in read_sentences(found[place].chunks)]
        compared.append(compare(wording(claim), texts))
    vectors = await vectors_of(
        [text for one in compared for text in (*one.word_texts(), *one.sentence_texts())], embedder
    )
    made = [signals(one, vectors) for one in compared]
    places = np.array([place for place, _ in claims_of(found)])
    columns = [row_means(np.array([one[name] for one in made]), places, len(found)) for name in NAMES]
    return np.stack(columns, axis=1)


def balanced(yes: NDArray[np.bool_]) -> Floats:
    """Weights that add up to 1, half of it on either class."""
    return np.where(yes, 0.5 / yes.sum(), 0.5 / (~yes).sum())


def fitted(
    rows: Floats,
    yes: NDArray[np.bool_],
    weights: Floats,
    names: Sequence[str] = NAMES,
    speak_for: Collection[str] = FOR,
) -> tuple[float, Floats]:
    """Bias and weights of the likeliest bounded logistic model; only some signals may speak for a claim."""
    from scipy.optimize import minimize

    scale = rows.std(axis=0)
    scaled = rows / scale
    sign = np.where(yes, 1.0, -1.0)

    def loss(found: Floats) -> tuple[float, Floats]:
        margin = sign * (scaled @ found[1:] + found[0])
        pull = -sign * weights / (1 + np.exp(margin))
        value = float((weights * np.logaddexp(0, -margin)).sum() + PENALTY * (found[1:] ** 2).sum())
        return value, np.concatenate([[pull.sum()], scaled.T @ pull + 2 * PENALTY * found[1:]])

    bounds = [(None, None), *((0, None) if name in speak_for else (None, 0) for name in names)]
    best = minimize(loss, np.zeros(len(names) + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    return float(best[0]), best[1:] / scale


def main() -> None:
    if not DATA.is_dir():
        print(ABSENT)
        return
    embedder = open_embedder()
    drawer = random.Random(SEED)
    sets = {name: cases(name) for name in SETS}
    sets |= {"nli_pool": drawer.sample(training_pairs(), PAIRS)}
    rows, yes, weights = [], [], []
    for name, found in sets.items():
        kept = found if name == "nli_pool" else drawer.sample(found, min(ROWS, len(found)))
        groups = np.array([case.group for case in kept])
        made, said = asyncio.run(rows_of_signals(kept, embedder)), labels(kept)
        for group in np.unique(groups):
            inside = groups == group
            rows.append(made[inside])
            yes.append(said[inside])
            weights.append(balanced(said[inside]) / len(np.unique(groups)))
    embedder.close()
    together = np.concatenate(weights)
    bias, found_weights = fitted(np.concatenate(rows), np.concatenate(yes), together / together.sum())
    print(f'    "bias": {bias:.2f},')
    for name, weight in zip(NAMES, found_weights, strict=True):
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    main()
