"""What rounds save of a grid over long documents, and how often they recommend what the whole grid does.

Run: python tests/benchmarks/bench_rounds.py [--sizes 300 600] [--documents 285] [--resamples 100] [--cache FOLDER]

Documents and questions are those of `bench_grid.py` (285 documents are 1 MB). All ways to cut are embedded once. Then
the questions are drawn anew by whole documents, each time with another split into halves, and the rounds are played
on the rankings that an index of their part of the documents gives. To reach: the same recommendation in 95 of 100,
which is the same configuration; the draws where it is another one are printed with the values of both.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from bench_grid import SHARED, cut_of, drawn, real, write
from numpy.typing import NDArray
from proctor.harness.analysis.configurations import LEEWAY
from proctor.harness.analysis.corpus import CorpusIndex, index_corpus
from proctor.harness.analysis.grid_retrieval import expand_grid
from proctor.harness.analysis.recommendation import Contest, Round, halves, recommend, rounds_of, why_dropped
from proctor.harness.suite.suite_file import load_suite
from proctor.knowledge import Bm25Index, PassageIndex, Splitting
from proctor.knowledge.retrieval.search import CONSTANT, FEWEST_CANDIDATES, words
from proctor.reports.analysis.findings import Configuration, names_apart

GOAL = 95


@dataclass(frozen=True)
class Cut:
    """One way to cut: likenesses of shape (questions, passages) by retriever, hits, owners and sizes of passages."""

    scores: Mapping[str, NDArray[np.float32]]
    hits: NDArray[np.bool_]
    owners: NDArray[np.intp]
    tokens: NDArray[np.float64]

    def ranked(self, retriever: str, at: NDArray[np.intp], kept: NDArray[np.bool_], k: int) -> NDArray[np.intp]:
        """The best k passages of some documents for some questions."""
        inside = np.flatnonzero(kept[self.owners])
        if retriever != "hybrid":
            return inside[_best(self.scores[retriever][np.ix_(at, inside)], k)]
        sums = np.zeros((len(at), len(inside)))
        for one in ("dense", "bm25"):
            scores = self.scores[one][np.ix_(at, inside)]
            best = _best(scores, FEWEST_CANDIDATES)
            gain = 1 / (CONSTANT + 1 + np.arange(best.shape[1]))
            gain = np.where(np.take_along_axis(scores, best, 1) > 0, gain, 0) if one == "bm25" else gain[None]
            np.put_along_axis(sums, best, np.take_along_axis(sums, best, 1) + gain, 1)
        return inside[_best(sums, k)]


def _best(scores: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def cuts_of(corpus: CorpusIndex, configurations: tuple[Configuration, ...]) -> dict[tuple[object, ...], Cut]:
    """Each way to cut, embedded or read from the cache."""
    texts = [corpus.search_text(question) for question in corpus.questions]
    asked = corpus.embedder.embed_now(texts).vectors
    gold = [corpus.gold[question.id].groups[0][0] for question in corpus.questions]
    place = {document.id: at for at, document in enumerate(corpus.documents)}
    made = {}
    for key in dict.fromkeys(cut_of(each) for each in configurations):
        cut = Splitting(*key)
        began = time.process_time()
        index = PassageIndex.open(corpus.cache / "rounds", corpus.documents, cut.cut, cut.key, corpus.embedder)
        print(f"  {cut.key}: {index.embedded_now:,} passages in {time.process_time() - began:.0f} s", flush=True)
        passages = index.passages
        vectors = index._flat.reconstruct_n(0, len(passages))  # the index has no other way to give them
        bm25 = Bm25Index(passages)
        counts = np.array([bm25._index.get_scores(words(text))[: len(passages)] for text in texts], np.float32)
        hits = np.zeros((len(texts), len(passages)), np.bool_)
        for at, one in enumerate(passages):
            for question, evidence in enumerate(gold):
                if evidence.document == one.document:
                    shared = min(one.end, evidence.end) - max(one.start, evidence.start)
                    hits[question, at] = shared > 0 and shared >= (evidence.end - evidence.start) / 2
        owners = np.array([place[one.document] for one in passages], np.intp)
        tokens = np.array([len(one.text.encode()) / 4 for one in passages])
        made[key] = Cut({"dense": asked @ vectors.T, "bm25": counts}, hits, owners, tokens)
    return made


class Playing:
    """The grid on any questions and documents, from rankings that are known."""

    def __init__(self, corpus: CorpusIndex) -> None:
        self.configurations = expand_grid(corpus, corpus.loaded.suite.analysis.grid).configurations
        self.cuts = cuts_of(corpus, self.configurations)
        self.documents = [document.id for document in corpus.documents]

    def values(self, place: int, at: NDArray[np.intp], kept: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        """Evidence recall by question, and mean prompt tokens, of a configuration."""
        one = self.configurations[place]
        cut = self.cuts[cut_of(one)]
        best = cut.ranked(one.retriever, at, kept, one.top_k)
        return cut.hits[at[:, None], best].any(axis=1).astype(float), float(cut.tokens[best].sum(axis=1).mean())

    def whole(self, at: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same of all configurations over all documents."""
        every = np.ones(len(self.documents), np.bool_)
        found = [self.values(place, at, every) for place in range(len(self.configurations))]
        return np.array([values for values, _ in found]), np.array([tokens for _, tokens in found])

    def left(self, rounds: list[Round], at: NDArray[np.intp], budget: float, seed: int) -> tuple[list[int], float]:
        """Who is left after the rounds, and how many times all documents were embedded."""
        left, done, paid = list(range(1, len(self.configurations))), 0.0, 1.0
        names = names_apart(self.configurations)
        for part in rounds:
            paid += (part.share - done) * self._cuts(left)
            done = part.share
            kept = np.array([name in part.documents for name in self.documents])
            found = {place: self.values(place, at[list(part.questions)], kept) for place in left}
            dropped = why_dropped(
                part, {place: one[0] for place, one in found.items()}, {place: one[1] for place, one in found.items()},
                names, budget, seed, (0.0, 1.0),
            )  # fmt: skip
            by_search: dict[Configuration, list[int]] = {}
            for place in left:
                by_search.setdefault(replace(self.configurations[place], top_k=1), []).append(place)
            left = [place for served in by_search.values() if not set(served) <= set(dropped) for place in served]
        return left, paid + (1 - done) * self._cuts(left)

    def _cuts(self, left: list[int]) -> int:
        """Ways to cut that have to be embedded, without the current one."""
        own = cut_of(self.configurations[0])
        return len(
            {cut_of(self.configurations[place]) for place in left if self.configurations[place].embedder} - {own}
        )


def main() -> None:
    """Print the share of equal recommendations and what was embedded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=285)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--sizes", type=int, nargs="+", help="of chunks; left out, those of every grid")
    parser.add_argument("--passages", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--cache", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), real() if SHARED.is_dir() else drawn(), given)
        if given.sizes:
            path.write_text(
                json.dumps(json.loads(path.read_text()) | {"analysis": {"grid": {"chunk_size": given.sizes}}})
            )
        loaded = load_suite(path)
        corpus = index_corpus(loaded, {**os.environ, "PROCTOR_CACHE": str(given.cache or name)})
        size = sum(len(document.text) for document in corpus.documents)
        print(f"{size:,} characters, {len(corpus.questions)} questions", flush=True)
        playing = Playing(corpus)
    clusters = corpus.clusters(question.id for question in corpus.questions)
    every = len({cut_of(one) for one in playing.configurations})
    same, worse, saved = 0, [], []
    for seed in range(given.resamples):
        draw = np.random.default_rng(seed)
        codes = draw.choice(np.unique(clusters), len(np.unique(clusters)))
        at = np.concatenate([np.flatnonzero(clusters == code) for code in codes])
        drawn_clusters = np.concatenate([np.full((clusters == code).sum(), new) for new, code in enumerate(codes)])
        values, tokens = playing.whole(at)
        budget = float(tokens[0]) * (1 + LEEWAY)
        contest = Contest(
            "evidence_recall", names_apart(playing.configurations), values, tokens, drawn_clusters, 0, budget
        )
        contest = replace(contest, seed=seed)
        whole, _ = recommend(contest)
        # The corpus draws its seed from the suite; here each draw has its own.
        rounds = rounds_of(_with_seed(corpus, seed), [corpus.questions[place] for place in at], drawn_clusters)
        left, paid = playing.left(rounds, at, budget, seed)
        gone = np.setdiff1d(np.arange(len(values)), [0, *left])
        fewer = values.copy()
        fewer[gone] = np.nan
        fast, _ = recommend(replace(contest, values=fewer))
        assert whole is not None and fast is not None
        same += whole.configuration == fast.configuration
        worse.append(values[whole.configuration].mean() - values[fast.configuration].mean())
        saved.append(paid)
        left_of = f"{len(left)} of {len(values) - 1} left"
        if whole.configuration == fast.configuration:
            print(f"  draw {seed}: {contest.names[whole.configuration]}, {left_of}", flush=True)
            continue
        on = halves(drawn_clusters, seed)
        first, second = (
            f"{contest.names[at]} ({values[at, on].mean():.3f}, and {values[at, ~on].mean():.3f} on the other half)"
            for at in (whole.configuration, fast.configuration)
        )
        print(f"  draw {seed}: {first} became {second}, {left_of}", flush=True)
    print(f"{'':44}figure     goal")
    print(f"{'same recommendation, of 100 draws':<44}{100 * same / given.resamples:6.0f}    >= {GOAL}")
    print(f"{'evidence recall lost by rounds, mean':<44}{np.mean(worse):6.4f}       0")
    print(f"{'embedded, times all documents (whole: ' + str(every) + ')':<44}{np.mean(saved):6.1f}   fewer")


@dataclass(frozen=True)
class _Seeded:
    corpus: CorpusIndex
    seed: int

    def __getattr__(self, name: str) -> object:
        return getattr(self.corpus, name)


def _with_seed(corpus: CorpusIndex, seed: int) -> CorpusIndex:
    return _Seeded(corpus, seed)  # type: ignore[return-value]


if __name__ == "__main__":
    main()
