"""Configurations: splitters, retrievers and k, chosen on one half of the questions, measured on the other."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from ...bots import RagSettings, Retrieval, SearchFinder, find_target, index_folder
from ...bots.langchain import open_retriever, takes_passages
from ...knowledge import (
    RETRIEVERS,
    PassageIndex,
    PassageSearch,
    QuestionList,
    Retriever,
    SharedVectors,
    Splitter,
    Splitting,
)
from ...knowledge.retrieval.search import FEWEST_CANDIDATES, candidates
from ...metrics import builtin_catalog
from ...metrics.declaration import exception_line
from ...metrics.facts import Place
from ...metrics.retrieval import evidence_ranks
from ...reports.analysis.findings import Configuration, ConfigurationResult, Grid, Recommendation, names_apart
from ...reports.analysis.messages import RETRIEVAL_METRICS
from ...reports.compare.comparable import mean_of_repeats
from ...reports.compare.scores import Estimate, Figures, ScoreTable, estimate, is_yes_or_no, run_tables
from ...reports.leaderboard import count
from ...reports.statistics.paired import Difference, difference
from ...reports.store.run import ANALYSED
from ...reports.store.run_results import OpenRun, RunResults
from ...reports.store.vector_cache import VectorCache
from ...reports.summary import find_run
from ..run.engine import Watcher
from ..run.estimate import open_run
from ..run.local_models import open_embedder, open_rerankers
from ..run.queues import BotQueue, todo_by_row
from ..run.run import Evaluation, run_evaluation
from ..run.run_config import RunConfig
from ..run.suite_run import build_bots, suite_evaluation
from ..run.variant_run import NamedBot

if TYPE_CHECKING:
    from ...bots import BuiltBot, Context, Finder, FreshEmbedder
    from ...knowledge import BatchingEmbedder, Passage, Question, Reranker
    from ...metrics.plan import Plan
    from ...metrics.tools import Embedded
    from ...reports.store.database import Store
    from ..suite.settings import AnalysisSettings, GridSettings
    from ..suite.suite_file import LoadedSuite
    from .corpus import CorpusIndex, QuestionGold


PLANNED: Final = ("hit_rate", "evidence_recall", "mrr", "ndcg", "span_recall", "span_precision")
CONTEXT_PRECISION: Final = "context_precision"
PROMPT_TOKENS: Final = "prompt_tokens"
METRICS: Final = tuple(RETRIEVAL_METRICS)  # in the order of the columns
BYTES_A_TOKEN: Final = 4

Places = Sequence[Place]
Range = tuple[float | None, float | None]


class Yardstick:
    """Measures lists of passages by the metrics of the package; made once for a grid."""

    @cached_property
    def plan(self) -> Plan:
        """Metrics of retrieval; one that retrieves nothing has found nothing, which is 0 and not a missing value."""
        return builtin_catalog().plan(PLANNED, empty_contexts="zero")

    def ranges(self) -> dict[str, Range]:
        """Least and greatest value of each metric."""
        planned: dict[str, Range] = {metric.id: (metric.low, metric.high) for metric in self.plan.metrics}
        return {**planned, CONTEXT_PRECISION: (0.0, 1.0), PROMPT_TOKENS: (0.0, None)}

    def values(self, found: Sequence[Context], gold: Sequence[Places]) -> dict[str, float | None]:
        """Every metric of one question; None where it can't be told, as with passages that don't say where they are.

        Args:
            found: with their places in the documents, best first; empty when nothing was retrieved.
            gold: groups of places: all are needed, any member of a group will do.
        """
        places = [Place(one.document, one.start, one.end) for one in found]
        scores = self.plan.score_now({"retrieved": places, "gold": gold})
        values = {score.metric: score.value for score in scores}
        values[CONTEXT_PRECISION] = context_precision(places, gold)
        values[PROMPT_TOKENS] = prompt_tokens([one.text for one in found])
        return values


def context_precision(retrieved: Places, gold: Sequence[Places]) -> float | None:
    """How far the passages that hold gold evidence stand before those that hold none.

    Mean, over the ranks at which such a passage stands, of the share of such passages up to that rank: average
    precision over what was retrieved. A passage counts when it hits any group of the evidence, as in ``hit_rate``,
    also one that an earlier passage hit. 0 where none does or nothing was retrieved; None where a passage does not
    tell its document.

    >>> context_precision([Place("a"), Place("b"), Place("c")], [[Place("a")], [Place("c")]])
    0.8333333333333333
    """
    if not all(place.document for place in retrieved):
        return None
    known = {member.document for group in gold for member in group}
    useful = 0
    shares = []
    for rank, place in enumerate(retrieved, 1):
        if place.document in known and any(rank_of is not None for rank_of in evidence_ranks([place], gold).ranks):
            useful += 1
            shares.append(useful / rank)
    return math.fsum(shares) / len(shares) if shares else 0.0


def prompt_tokens(texts: Sequence[str]) -> float:
    """About how many tokens texts take in a prompt: a quarter of their bytes in UTF-8.

    >>> prompt_tokens(["four", "bytes..."])
    3.0
    """
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / BYTES_A_TOKEN


def gold_places(gold: QuestionGold) -> list[list[Place]]:
    """The located groups of a question as metrics take them."""
    return [[Place(one.document, one.start, one.end) for one in group] for group in gold.groups]


Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one search found for every question.

    Attributes:
        configurations: places of the configurations that it serves, which differ in k alone.
        found: contexts by question, best first, as many as the greatest k wants.
        ms: milliseconds by question with the greatest k, its embedding included.
        passages: how many there were to find; None for a retriever that doesn't tell.
    """

    configurations: tuple[int, ...]
    found: tuple[tuple[Context, ...], ...]
    ms: tuple[float, ...]
    passages: int | None


class Retrieving:
    """Makes the searches of a grid, splitting by splitting, so that one index is in memory at a time.

    Attributes:
        warnings: what could not be read or saved.
    """

    def __init__(
        self, corpus: CorpusIndex, questions: Sequence[str], embedders: Mapping[str, BatchingEmbedder],
        notify: Notify | None = None, local_models: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """Take the parts; nothing is loaded.

        Args:
            corpus: the documents, and where the suite's bots keep their indexes.
            questions: their texts.
            embedders: by the ids of their models.
            notify: called with a sentence before what takes long.
            local_models: other models for some roles, as ``ROLE=MODEL``.

        Raises:
            InputError: an override names no role, or one that its model can't take.
        """
        self.warnings: list[str] = []
        self._corpus = corpus
        self._questions = questions
        self._embedders = {model: QuestionVectors(embedder) for model, embedder in embedders.items()}
        self._notify = notify or (lambda _: None)
        self._shared = {model: SharedVectors(embedder) for model, embedder in embedders.items()}
        loaded = corpus.loaded
        self._rerankers = open_rerankers(loaded.suite.local_models, loaded.base, local_models, notify)
        self._taken: dict[str, Reranker] = {}
        self._distinct: set[bytes] = set()
        self._cut: tuple[Splitting, Sequence[Passage]] | None = None
        self._index: tuple[Splitting, str, PassageIndex] | None = None

    @property
    def distinct_passages(self) -> int:
        """How many passages of different text there were so far, over all splittings."""
        return len(self._distinct)

    async def made(self, configurations: Sequence[Configuration]) -> AsyncIterator[Retrieved]:
        """What each search of these configurations finds, one after the other.

        Raises:
            InputError: a model can't be had, or a retriever of the user's own fails.
        """
        wanted = searches(configurations)
        for name in {search.reranker: None for search in wanted if search.reranker}:
            self._taken[name] = self._rerankers.named(name).take()
        order = list(dict.fromkeys(_cut_of(search) for search in wanted))
        for search in sorted(wanted, key=lambda one: (order.index(_cut_of(one)), one.embedder)):
            yield await self._made(search, wanted[search])

    def close(self) -> None:
        """Drop the rerankers."""
        for reranker in self._taken.values():
            reranker.close()
        self._taken.clear()

    async def _made(self, search: Configuration, places: tuple[int, ...]) -> Retrieved:
        retrieval, size = await self._retrieval(search)
        if search.embedder:
            await self._embedders[search.embedder].all(self._questions, self._notify)
        if search.reranker:
            self._notify(f"Re-ranking for {len(self._questions):,} questions: {search.name}")
        found, took = [], []
        for number, question in enumerate(self._questions):
            if not number:
                await self._found(retrieval, question, search)  # what is loaded with the first takes no time of its own
            contexts, ms = await self._found(retrieval, question, search)
            found.append(contexts)
            took.append(ms)
        return Retrieved(places, tuple(found), tuple(took), size)

    async def _found(
        self, retrieval: Retrieval, question: str, search: Configuration
    ) -> tuple[tuple[Context, ...], float]:
        """What is found for a question, and the milliseconds that it takes with the question's embedding."""
        try:
            contexts, steps = await retrieval.retrieve(question, search.top_k)
        except InputError:
            raise
        except Exception as raised:
            if search.retriever in RETRIEVERS:
                raise
            raise InputError(
                f"The retriever {search.retriever} failed on the question {question[:60]!r}: {exception_line(raised)}"
            ) from raised
        least = search.min_score
        passages = tuple(one for one in contexts if least is None or (one.score is not None and one.score >= least))
        embedding = self._embedders[search.embedder].ms(question) if search.embedder else 0.0
        return passages, sum(float(str(ms)) for ms in steps.values()) + embedding

    async def _retrieval(self, search: Configuration) -> tuple[Retrieval, int | None]:
        """What a rag bot of this configuration retrieves with, and how many passages there are."""
        finder, size = await asyncio.to_thread(self._finder, search)
        reranker = self._taken.get(search.reranker)
        if reranker is not None:
            await reranker.load()
        return Retrieval(finder, reranker), size

    def _finder(self, search: Configuration) -> tuple[Finder, int | None]:
        if search.retriever not in RETRIEVERS:
            return self._own(search), None
        made = self._search(search)
        # Where no model takes part, none is asked.
        embedder = self._embedders[search.embedder] if search.embedder else self._corpus.embedder
        return SearchFinder(made, embedder), made.size

    def _search(self, search: Configuration) -> PassageSearch:
        """The search, with the index by meaning that is shared by all that cut and embed alike."""
        splitting, retriever = _cut_of(search), cast("Retriever", search.retriever)
        if retriever == "bm25":
            return PassageSearch(self._passages(splitting), retriever)
        if self._index is None or self._index[:2] != (splitting, search.embedder):
            self._index = None  # the one before is let go first
            self._index = (splitting, search.embedder, self._opened(splitting, search.embedder))
        index = self._index[2]
        return PassageSearch(index.passages, retriever, index)

    def _own(self, search: Configuration) -> Finder:
        """A retriever of the user's own, made as a rag bot makes it."""
        target = find_target(search.retriever, self._corpus.loaded.base)
        passages = self._passages(_cut_of(search)) if search.splitter else ()
        wanted = candidates(search.top_k) if search.reranker else search.top_k
        try:
            return open_retriever(target, self._corpus.documents, passages, wanted)
        except InputError:
            raise
        except (Exception, SystemExit) as raised:
            why = exception_line(raised)
            raise InputError(f"The retriever {search.retriever} could not be made: {why}") from raised

    def _opened(self, splitting: Splitting, model: str) -> PassageIndex:
        self._notify(f"Indexing passages of {splitting.key}")
        folder = index_folder(self._corpus.loaded.base, self._corpus.cache)
        shared = self._shared[model]
        index = PassageIndex.open(folder, self._corpus.documents, splitting.cut, splitting.key, shared)
        self.warnings += index.warnings
        self._note(splitting, index.passages)
        return index

    def _passages(self, splitting: Splitting) -> Sequence[Passage]:
        """The passages of a splitting, which may have been cut for its index."""
        if self._cut is not None and self._cut[0] == splitting:
            return self._cut[1]
        return self._note(splitting, [one for each in self._corpus.documents for one in splitting.cut(each)])

    def _note(self, splitting: Splitting, passages: Sequence[Passage]) -> Sequence[Passage]:
        self._cut = (splitting, passages)
        self._distinct.update(
            blake2b(one.text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for one in passages
        )
        return passages


class QuestionVectors:
    """An embedder for questions that are known beforehand: each is embedded once, as a bot does it, and timed.

    Args:
        embedder: who embeds.
    """

    def __init__(self, embedder: FreshEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, tuple[Embedded, float]] = {}

    async def all(self, questions: Sequence[str], notify: Notify) -> None:
        """Embed those that are new, one after the other."""
        new = [question for question in dict.fromkeys(questions) if question not in self._known]
        if not new:
            return
        notify(f"Embedding {len(new):,} questions")
        await self._embedder.embed_fresh(new[:1])  # loads the model
        for question in new:
            began = time.perf_counter()
            made = await self._embedder.embed_fresh([question])
            self._known[question] = (made, (time.perf_counter() - began) * 1000)

    def ms(self, question: str) -> float:
        """How long a question took."""
        return self._known[question][1]

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        return self._embedder.model_id

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """The same as ``embed_fresh``."""
        return await self.embed_fresh(texts)

    async def embed_fresh(self, texts: Sequence[str]) -> Embedded:
        """The vector of the question in the list."""
        (question,) = texts
        return self._known[question][0]


def _cut_of(configuration: Configuration) -> Splitting:
    return Splitting(
        cast("Splitter", configuration.splitter), configuration.chunk_size or 0, configuration.chunk_overlap or 0
    )


def searches(configurations: Sequence[Configuration]) -> dict[Configuration, tuple[int, ...]]:
    """The searches that configurations come to, each with the greatest k of those that it serves, and their places.

    A smaller k gets the beginning of what a greater one gets, unless the number of candidates grows with k: those that
    are fused or put in a better order are 50 up to k = 50, and k above. A retriever of one's own may rank as it likes.
    """
    served: dict[tuple[Configuration, int], list[int]] = {}
    for place, configuration in enumerate(configurations):
        served.setdefault((replace(configuration, top_k=1), _depth(configuration)), []).append(place)
    return {
        replace(configuration, top_k=max(configurations[place].top_k for place in places)): tuple(places)
        for (configuration, _), places in served.items()
    }


def _depth(configuration: Configuration) -> int:
    """What has to be equal of configurations that a search with one k can serve."""
    if configuration.reranker:
        return candidates(configuration.top_k)
    if configuration.retriever not in RETRIEVERS:
        return configuration.top_k
    return max(configuration.top_k, FEWEST_CANDIDATES) if configuration.retriever == "hybrid" else 0


MOST_CONFIGURATIONS: Final = 1_000


@dataclass(frozen=True, slots=True)
class ExpandedGrid:
    """The configurations that are compared.

    Attributes:
        configurations: each once; first those of the suite's bots with a retriever, in their order.
        bots: names of the bots that are set so, by configuration.
        embedders: by the id of their model.
        warnings: sentences for the user.
    """

    configurations: tuple[Configuration, ...]
    bots: Mapping[Configuration, tuple[str, ...]]
    embedders: Mapping[str, BatchingEmbedder]
    warnings: tuple[str, ...] = ()

    def close(self, own: BatchingEmbedder) -> None:
        """Drop the embedders but the suite's own, which others use."""
        for embedder in self.embedders.values():
            if embedder is not own:
                embedder.close()


def expand_grid(corpus: CorpusIndex, grid: GridSettings) -> ExpandedGrid:
    """All combinations of the grid and the settings of the suite's bots; no model is loaded.

    Raises:
        InputError: there are too many combinations, or an embedder can't be had.
    """
    _check_size(grid)
    uncut = _uncut(corpus, grid)
    bots = current_configurations(corpus, uncut)
    embedders = {corpus.embedder.model_id: corpus.embedder}
    models, warnings = [], list[str]()
    for name in grid.embedder or ("",):
        embedder, doubts = _embedder(corpus, name)
        embedders.setdefault(embedder.model_id, embedder)
        models.append(embedder.model_id)
        warnings += doubts
    configurations = dict.fromkeys((*bots, *combinations(grid, models, uncut)))
    return ExpandedGrid(tuple(configurations), bots, embedders, (*warnings, *_left_out(grid, uncut)))


def current_configurations(corpus: CorpusIndex, uncut: Collection[str] = ()) -> dict[Configuration, tuple[str, ...]]:
    """How the suite's bots with a retriever are set, with their names; the defaults, of no bot, where it has none.

    ``uncut`` are retrievers to which it does not matter how documents are cut.
    """
    found: dict[Configuration, tuple[str, ...]] = {}
    for name, settings in corpus.loaded.suite.bots.items():
        if isinstance(settings, RagSettings):
            configuration = configuration_of(settings, corpus.embedder.model_id, uncut)
            found[configuration] = (*found.get(configuration, ()), name)
    return found or {configuration_of(corpus.current, corpus.embedder.model_id): ()}


def configuration_of(bot: RagSettings, embedder: str, uncut: Collection[str] = ()) -> Configuration:
    """How a bot retrieves, with ``embedder`` as the id of the embedding model of its suite."""
    made = Configuration(
        bot.splitter, bot.chunk_size, bot.chunk_overlap, bot.retriever, bot.top_k, embedder, bot.reranker or "",
        bot.min_score,
    )  # fmt: skip
    return _without_what_is_unused(made, uncut)


def combinations(grid: GridSettings, models: Sequence[str], uncut: Collection[str] = ()) -> list[Configuration]:
    """All combinations in the order of the grid's keys, the last changing fastest; ``models`` are ids of embedders.

    What takes no part in a configuration doesn't multiply it: an embedder for ``bm25``, or how documents are cut for a
    retriever among ``uncut``. Combinations whose passages could not overlap by so much are left out.
    """
    made = itertools.product(
        grid.splitter, grid.chunk_size, grid.chunk_overlap, grid.retriever, models, grid.reranker, grid.top_k
    )
    configurations = (
        _without_what_is_unused(Configuration(splitter, size, overlap, retriever, top_k, model, reranker or ""), uncut)
        for splitter, size, overlap, retriever, model, reranker, top_k in made
        if overlap < size or retriever in uncut
    )
    return list(dict.fromkeys(configurations))


def _without_what_is_unused(configuration: Configuration, uncut: Collection[str]) -> Configuration:
    if configuration.retriever in uncut:
        configuration = replace(configuration, splitter="", chunk_size=None, chunk_overlap=None)
    return configuration if configuration.retriever in ("dense", "hybrid") else replace(configuration, embedder="")


def _uncut(corpus: CorpusIndex, grid: GridSettings) -> frozenset[str]:
    """The retrievers of the user's own that are made without the passages."""
    bots = (bot for bot in corpus.loaded.suite.bots.values() if isinstance(bot, RagSettings))
    own = {
        retriever for retriever in (*grid.retriever, *(bot.retriever for bot in bots)) if retriever not in RETRIEVERS
    }
    return frozenset(each for each in own if not takes_passages(find_target(each, corpus.loaded.base)))


def _check_size(grid: GridSettings) -> None:
    lists = grid.model_dump()
    count = math.prod(max(1, len(values)) for values in lists.values())
    if count > MOST_CONFIGURATIONS:
        sizes = " x ".join(f"{len(values)} {key}" for key, values in lists.items() if len(values) > 1)
        raise InputError(
            f"The grid has {count:,} configurations ({sizes}); {MOST_CONFIGURATIONS:,} at most can be compared. "
            "Take values out of analysis: grid, or name fewer with --grid KEY=VALUE,VALUE."
        )


def _left_out(grid: GridSettings, uncut: Collection[str]) -> list[str]:
    pairs = [
        f"{overlap} of {size}"
        for size, overlap in itertools.product(grid.chunk_size, grid.chunk_overlap)
        if overlap >= size
    ]
    if not pairs or not set(grid.retriever) - set(uncut):
        return []
    return [f"Passages can't overlap by {', '.join(pairs)} characters; the grid does without these configurations."]


def _embedder(corpus: CorpusIndex, name: str) -> tuple[BatchingEmbedder, tuple[str, ...]]:
    """The embedder of a name as the suite would open it; the suite's own for a blank one."""
    suite = corpus.loaded.suite
    if name in ("", suite.embedder.model):
        return corpus.embedder, ()
    changes: dict[str, object] = {"model": name}
    if name != "embedded":  # the packaged model alone can be had in another precision
        changes["precision"] = "fp32"
    settings = suite.embedder.model_copy(update=changes)
    named = replace(corpus.loaded, suite=suite.model_copy(update={"embedder": settings}))
    return open_embedder(named, VectorCache())


FEWEST_QUESTIONS: Final = 10
FEWEST_CLUSTERS: Final = 4
_SAME: Final = 9  # decimals to which means are told apart

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Contest:
    """Configurations on the same questions.

    Attributes:
        metric: by which they are ranked; more is better.
        names: of the configurations.
        values: of shape (configurations, questions), NaN where one has no value.
        tokens: mean prompt tokens of each.
        clusters: code of the cluster of each question.
        present: the place of the current configuration.
        budget: most mean prompt tokens of one that may be chosen; None for no bound.
        low, high: range of the metric.
        seed: of the split.
    """

    metric: str
    names: Sequence[str]
    values: Figures
    tokens: Figures
    clusters: NDArray[np.intp]
    current: int
    budget: float | None = None
    low: float | None = 0.0
    high: float | None = 1.0
    seed: int = 0

    def ranking(self, on: Mask) -> list[int]:
        """Configurations that may be chosen, the best mean first; of equals the one with fewer tokens.

        One without a value where the current configuration has one is left out: the questions that it was
        measured on may have been the easy ones.
        """
        on = on & np.isfinite(self.values[self.current])
        if not on.any():
            return []
        within = np.full(len(self.tokens), True) if self.budget is None else self.tokens <= self.budget
        known = np.isfinite(self.values[:, on]).all(axis=1)
        count = int(on.sum())
        means = {
            place: round(math.fsum(self.values[place, on]) / count, _SAME)
            for place in np.flatnonzero(known & within).tolist()
        }
        return sorted(means, key=lambda place: (-means[place], self.tokens[place], place))


def halves(clusters: NDArray[np.intp], seed: int) -> Mask:
    """Which questions configurations are chosen on: about half of them, drawn by whole clusters; the others report.

    Clusters are dealt out in random order, of unequal ones the greater first, each to the half with fewer questions.
    """
    codes, counts = np.unique(clusters, return_counts=True)
    drawn = np.random.default_rng(seed).permutation(len(codes))
    order = drawn[np.argsort(-counts[drawn], kind="stable")]
    dealt: tuple[list[int], list[int]] = ([], [])
    sizes = [0, 0]
    for place in order.tolist():
        half = 0 if sizes[0] <= sizes[1] else 1
        dealt[half].append(int(codes[place]))
        sizes[half] += int(counts[place])
    return np.isin(clusters, dealt[0])


def why_not(clusters: NDArray[np.intp], seed: int) -> str:
    """Why nothing can be recommended on these questions; blank where it can."""
    questions, count = len(clusters), len(np.unique(clusters))
    if questions < FEWEST_QUESTIONS or count < FEWEST_CLUSTERS:
        return (
            "No configuration is recommended: one is chosen on half of the questions and measured on the others, and "
            f"{_number(questions, 'question')} from {_number(count, 'source document')} are too few for that "
            f"(wanted are {FEWEST_QUESTIONS} and {FEWEST_CLUSTERS})."
        )
    chosen = halves(clusters, seed)
    if min(len(np.unique(clusters[half])) for half in (chosen, ~chosen)) < 2:
        return (
            "No configuration is recommended: most questions come from one source document, so they can't be split "
            "into one half to choose on and another to measure on."
        )
    return ""


def recommend(contest: Contest) -> tuple[Recommendation | None, str]:
    """The configuration to take, or None and a sentence that says why there is none."""
    if reason := why_not(contest.clusters, contest.seed):
        return None, reason
    on = halves(contest.clusters, contest.seed)
    first, elsewhere = contest.ranking(on), contest.ranking(~on)
    if not first:
        return None, _nothing_to_choose(contest, on)
    best = first[0]
    report = ~on
    mean = estimate(contest.values[best, report], contest.clusters[report], contest.low, contest.high)
    against = None if best == contest.current else _difference_to_current(contest, best, report)
    says = "current" if best == contest.current else _says(against)
    same = bool(elsewhere) and elsewhere[0] == best
    why = _why(contest, best, says, against, int(on.sum()), int(report.sum()), same)
    return (
        Recommendation(best, int(on.sum()), int(report.sum()), mean, against, same, says, why),
        "",
    )


def _difference_to_current(contest: Contest, best: int, report: Mask) -> Difference | None:
    return paired(
        contest.values[contest.current], contest.values[best], contest.clusters, contest.low, contest.high,
        contest.seed, report,
    )  # fmt: skip


def paired(
    base: Figures, head: Figures, clusters: NDArray[np.intp], low: float | None, high: float | None, seed: int = 0,
    among: Mask | None = None,
) -> Difference | None:  # fmt: skip
    """Difference of two sides on the questions on which both have a value; None where there is none.

    Args:
        base: a value a question, NaN for none.
        head: likewise, in the same order.
        clusters: code of each question's cluster.
        low: least value of the metric; None where it has none.
        high: its greatest.
        seed: of the draws of the test.
        among: the questions that count; None for all.
    """
    both = np.isfinite(base) & np.isfinite(head)
    if among is not None:
        both &= among
    if not both.any():
        return None
    old, new = base[both], head[both]
    return difference(old, new, clusters[both], low, high, is_yes_or_no(low, high, old, new), seed=seed)


def _says(found: Difference | None) -> str:
    if found is None or found.low is None or found.high is None:
        return "no difference shown"
    return "better" if found.low > 0 else "worse" if found.high < 0 else "no difference shown"


def _why(
    contest: Contest, best: int, says: str, found: Difference | None, chosen_on: int, reported_on: int, same: bool
) -> str:
    name, current, metric = contest.names[best], contest.names[contest.current], contest.metric
    has = f"{name} has the best {metric} on the {chosen_on} questions that it was chosen on"
    if contest.budget is not None:
        has += f", of the configurations with {contest.budget:,.0f} prompt tokens or less"
    again = "The other half alone would have chosen the same." if same else "The other half would have chosen another."
    if says == "current":
        return f"The current configuration, {has}. {again}"
    if found is None:
        return f"{has}. The other {reported_on} have no value to compare it by."
    ends = "" if found.low is None or found.high is None else f" ({found.low:+.3f} to {found.high:+.3f})"
    other = f"On the other {reported_on} its {metric} is {found.mean:+.3f}{ends} from that of {current}"
    verdict = {
        "better": "so that it is better.",
        "worse": "so that it is worse: keep the current configuration.",
        "no difference shown": "which shows no difference.",
    }[says]
    return f"{has}. {other}, {verdict} {again}"


def _nothing_to_choose(contest: Contest, on: Mask) -> str:
    if not np.isfinite(contest.values[contest.current, on]).any():
        return (
            "No configuration is recommended: the current one doesn't tell where its passages stand, so nothing can be "
            "compared with it."
        )
    return (
        f"No configuration is recommended: none stays within {contest.budget:,.0f} prompt tokens a question on "
        f"average; the least takes {contest.tokens.min():,.0f}."
        if contest.budget is not None
        else "No configuration is recommended: none could be measured on all questions."
    )


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


Table = dict[str, Figures]
# Of the budget that the current configuration makes: no two ways to cut fill a prompt to the same token.
LEEWAY: Final = 0.1


def measure_grid(
    corpus: CorpusIndex, settings: AnalysisSettings, notify: Callable[[str], None] | None = None,
    local_models: Iterable[str] = (),
) -> Grid | None:  # fmt: skip
    """Retrieve for every question with every configuration, and measure it; None where no question has a known place.

    Questions count whose gold evidence stands in the documents, and those for which the support of the expected
    answer was found (see ``with_supports``). Nobody is asked; texts are embedded once for each embedder.

    Args:
        corpus: documents, questions and where their answers stand.
        settings: what is compared, and by what.
        notify: called with a sentence before what takes long.
        local_models: other models for some roles, as ``ROLE=MODEL``.

    Raises:
        InputError: the grid is too large, or a model can't be had.
    """
    questions = evident_questions(corpus)
    if not questions:
        return None
    expanded = expand_grid(corpus, settings.grid)
    retrieving = Retrieving(
        corpus, [corpus.search_text(question) for question in questions], expanded.embedders, notify, local_models
    )
    try:
        tables, retrieved = asyncio.run(_measured(corpus, questions, expanded, retrieving))
    finally:
        retrieving.close()
        expanded.close(corpus.embedder)
    yardstick_ranges = Yardstick().ranges()
    clusters = corpus.clusters(question.id for question in questions)
    results = _results(expanded, tables, retrieved, clusters, yardstick_ranges, corpus.seed)
    budget = _budget(settings.max_tokens, tables[0])
    contest = contest_of(results, settings.rank_by, budget, clusters, corpus.seed)
    recommendation, doubt = recommend(contest)
    by_evidence = sum(corpus.gold[question.id].kind == "evidence" for question in questions)
    return Grid(
        metric=settings.rank_by,
        questions=tuple(question.id for question in questions),
        by_evidence=by_evidence,
        current=0,
        configurations=results,
        recommendation=recommendation,
        budget=budget,
        distinct_passages=retrieving.distinct_passages,
        warnings=(*expanded.warnings, *dict.fromkeys(retrieving.warnings), *filter(None, [doubt])),
    )


def evident_questions(corpus: CorpusIndex) -> list[Question]:
    """Questions of which it is known where the answer stands, in the order of their file."""
    kinds = ("evidence", "support")
    known = {key for key, gold in corpus.gold.items() if gold.kind in kinds and any(gold.groups)}
    return [question for question in corpus.questions if question.id in known]


def contest_of(
    results: Sequence[ConfigurationResult], metric: str, budget: float | None, clusters: NDArray[np.intp], seed: int
) -> Contest:
    """The configurations as they are ranked by a metric."""
    low, high = Yardstick().ranges()[metric]
    return Contest(
        metric=metric,
        names=names_apart([result.configuration for result in results]),
        values=np.array([_figures(result.by_question[metric]) for result in results]),
        tokens=np.array([float(np.nanmean(_figures(result.by_question[PROMPT_TOKENS]))) for result in results]),
        clusters=clusters,
        current=0,
        budget=budget,
        low=low,
        high=high,
        seed=seed,
    )


def _budget(wanted: int | None, current: Table) -> float:
    return float(np.mean(current[PROMPT_TOKENS])) * (1 + LEEWAY) if wanted is None else float(wanted)


async def _measured(
    corpus: CorpusIndex, questions: Sequence[Question], expanded: ExpandedGrid, retrieving: Retrieving
) -> tuple[list[Table], list[Retrieved]]:
    """The values of each configuration, and its search (shared by those that differ in k) without the passages."""
    yardstick = Yardstick()
    gold = [gold_places(corpus.gold[question.id]) for question in questions]
    tables: dict[int, Table] = {}
    by_configuration: dict[int, Retrieved] = {}
    async for retrieved in retrieving.made(expanded.configurations):
        for place in retrieved.configurations:
            tables[place] = _table(yardstick, retrieved.found, gold, expanded.configurations[place].top_k)
            by_configuration[place] = replace(retrieved, found=())  # that of all searches together would be large
    order = range(len(expanded.configurations))
    return [tables[place] for place in order], [by_configuration[place] for place in order]


def _table(
    yardstick: Yardstick, found: Sequence[Sequence[Context]], gold: Sequence[Sequence[Places]], top_k: int
) -> Table:
    """The values of a configuration by metric, one a question; NaN where there is none."""
    rows = [yardstick.values(passages[:top_k], places) for passages, places in zip(found, gold, strict=True)]
    return {metric: _figures([row[metric] for row in rows]) for metric in METRICS}


def _figures(values: Sequence[float | None]) -> Figures:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _results(
    expanded: ExpandedGrid,
    tables: Sequence[Table],
    retrieved: Sequence[Retrieved],
    clusters: NDArray[np.intp],
    ranges: Mapping[str, Range],
    seed: int,
) -> tuple[ConfigurationResult, ...]:
    made = []
    for place, (configuration, table, search) in enumerate(
        zip(expanded.configurations, tables, retrieved, strict=True)
    ):
        against = {
            metric: found
            for metric in (METRICS if place else ())
            if (found := paired(tables[0][metric], table[metric], clusters, *ranges[metric], seed)) is not None
        }
        made.append(
            ConfigurationResult(
                configuration=configuration,
                passages=search.passages,
                metrics=_means(table, clusters, ranges),
                by_question={metric: _listed(values) for metric, values in table.items()},
                bots=expanded.bots.get(configuration, ()),
                differences=against,
                retrieve_ms=_percentiles(search.ms),
            )
        )
    return tuple(made)


def _means(table: Table, clusters: NDArray[np.intp], ranges: Mapping[str, Range]) -> dict[str, Estimate]:
    means = {metric: estimate(values, clusters, *ranges[metric]) for metric, values in table.items()}
    return {metric: mean for metric, mean in means.items() if mean is not None}


def _listed(values: Figures) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _percentiles(ms: Sequence[float]) -> tuple[float, float]:
    middle, late = np.percentile(ms, [50, 95])
    return float(middle), float(late)


Watching = Callable[[], AbstractContextManager[Watcher]]


@dataclass(frozen=True)
class _Asking:
    """What is asked: the configurations by the name of the bot that has them, and the questions."""

    name: str
    base: RagSettings
    bots: Mapping[str, int]
    questions: tuple[Question, ...]


def best_configurations(grid: Grid, corpus: CorpusIndex, best: int) -> tuple[int, ...]:
    """Positions of the configurations whose answers are measured: current, recommended, and the best few.

    They are ranked on the questions that configurations are chosen on; on all where nothing can be recommended.
    """
    clusters = corpus.clusters(grid.questions)
    contest = contest_of(grid.configurations, grid.metric, grid.budget, clusters, corpus.seed)
    on = np.full(len(clusters), True) if why_not(clusters, corpus.seed) else halves(clusters, corpus.seed)
    recommended = [] if grid.recommendation is None else [grid.recommendation.configuration]
    return tuple(dict.fromkeys([grid.current, *recommended, *contest.ranking(on)[:best]]))


def answered_questions(grid: Grid, corpus: CorpusIndex) -> tuple[Question, ...]:
    """The questions that bots are asked: the held-out ones, or all where nothing is recommended.

    A question that shares its cluster with one that was chosen on is left out.
    """
    if grid.recommendation is None:
        return corpus.questions
    clusters = corpus.clusters(grid.questions)
    chosen_on = np.array(grid.questions)[halves(clusters, corpus.seed)]
    codes = dict(zip(corpus.by_key, corpus.clusters(corpus.by_key).tolist(), strict=True))
    taken = {codes[key] for key in chosen_on.tolist()}
    return tuple(question for question in corpus.questions if codes[question.id] not in taken)


def answers_to_ask(
    grid: Grid, corpus: CorpusIndex, settings: AnalysisSettings, store: Store, options: RunConfig
) -> int:  # fmt: skip
    """How many answers ``answer_best`` would ask for; those that are cached are not among them. Nobody is asked."""
    asking = _asking(grid, corpus, settings, options)
    if asking is None:
        return 0
    expanded = expand_grid(corpus, settings.grid)
    try:
        evaluation = _evaluation(asking, grid, corpus, expanded, replace(options, only_planned=True))
        run, run_results = open_run(evaluation.header, store), RunResults(store)
        own_only = evaluation.header.fresh or evaluation.header.alone
        waiting = (
            item
            for bot_queue in evaluation.bot_queues(run)
            for item in todo_by_row(bot_queue, run_results, run, own_only)
        )
        return sum(item is not None and not item.row.cached and item.row.reply is None for item in waiting)
    finally:
        expanded.close(corpus.embedder)


def answer_best(
    grid: Grid, corpus: CorpusIndex, settings: AnalysisSettings, store: Store, watching: Watching, options: RunConfig,
    notify: Notify | None = None,
) -> Grid:  # fmt: skip
    """The grid with the answers of the suite's first rag bot measured under its best few configurations.

    The configurations are bots of one run of their own, scored by the suite's metrics. Cached answers are not asked
    for again; those of the bot with its own configuration come from the suite's run.

    Args:
        grid: as it was measured on ``ground``.
        corpus: documents and questions.
        settings: how many are measured, and the names of models.
        store: the database.
        watching: makes somebody who watches a run.
        options: what the command line changes; the first rag bot among its bots is asked, and its limit doesn't count.
        notify: called with a sentence before what takes long.

    Raises:
        InputError: a bot with one of the configurations can't be built.
    """
    asking = _asking(grid, corpus, settings, options)
    if asking is None:
        return grid
    expanded = expand_grid(corpus, settings.grid)
    try:
        evaluation = _evaluation(asking, grid, corpus, expanded, options, notify)
        if notify is not None:
            notify(f"Asking {asking.name} with {count(len(asking.bots), 'configuration')}")
        with watching() as watcher:
            outcome = run_evaluation(evaluation, store, watcher)
    finally:
        expanded.close(corpus.embedder)
    run_id, _ = find_run(store, outcome.summary.run)
    tables = run_tables(store, run_id).tables
    unable = {**dict.fromkeys(outcome.unable, "it gave no answer."), **outcome.problems}
    warnings = [f"{name} could not be asked: {why}" for name, why in unable.items()]
    if grid.recommendation is None and len(asking.bots) > 1:
        warnings.append("Answers were measured on the same questions that the best configurations were chosen on.")
    results = _with_answers(grid, corpus, asking, tables)
    return replace(grid, configurations=results, bot=asking.name, warnings=(*grid.warnings, *warnings))


def _asking(grid: Grid, corpus: CorpusIndex, settings: AnalysisSettings, options: RunConfig) -> _Asking | None:
    """None where no bot retrieves from the documents, nothing is to be measured or there is nobody to ask."""
    bots = corpus.loaded.suite.bots
    wanted = ((name, bots[name]) for name in options.bots or bots if name in bots)
    found = next(((name, bot) for name, bot in wanted if isinstance(bot, RagSettings)), None)
    questions = answered_questions(grid, corpus)
    if found is None or not settings.best or not questions:
        return None
    name, base = found
    named = {
        name if name in grid.configurations[place].bots else f"{name}: {grid.names[place]}": place
        for place in best_configurations(grid, corpus, settings.best)
    }
    return _Asking(name, base, named, questions)


def _evaluation(
    asking: _Asking,
    grid: Grid,
    corpus: CorpusIndex,
    expanded: ExpandedGrid,
    options: RunConfig,
    notify: Notify | None = None,
) -> Evaluation:
    suite = corpus.loaded.suite
    chosen = {name: grid.configurations[place].configuration for name, place in asking.bots.items()}
    bots = {name: set_so(asking.base, configuration) for name, configuration in chosen.items()}
    named = replace(corpus.loaded, suite=suite.model_copy(update={"name": f"{suite.name}{ANALYSED}", "bots": bots}))
    questions = QuestionList(corpus.loaded.base / suite.questions, asking.questions)
    evaluation = suite_evaluation(named, replace(options, bots=(), limit=None), corpus.environ, notify, questions)
    return _with_embedders(evaluation, named, chosen, corpus, expanded, options.local_models)


def set_so(base: RagSettings, configuration: Configuration) -> RagSettings:
    """The configurations of a bot with those of a grid in their place."""
    changes: dict[str, object] = {
        "retriever": configuration.retriever, "top_k": configuration.top_k, "min_score": configuration.min_score,
        "reranker": configuration.reranker or None,
    }  # fmt: skip
    if configuration.splitter:
        changes |= {
            "splitter": configuration.splitter, "chunk_size": configuration.chunk_size,
            "chunk_overlap": configuration.chunk_overlap,
        }  # fmt: skip
    return RagSettings.model_validate({**base.model_dump(), **changes})


def _with_embedders(
    evaluation: Evaluation, named: LoadedSuite, configurations: Mapping[str, Configuration], corpus: CorpusIndex,
    expanded: ExpandedGrid,
    local_models: Sequence[str],
) -> Evaluation:  # fmt: skip
    """The run with bots built anew whose passages another model embeds; metrics keep the suite's model."""
    own = corpus.embedder.model_id
    others: dict[str, list[str]] = {}
    for name, configuration in configurations.items():
        if configuration.embedder not in ("", own):
            others.setdefault(configuration.embedder, []).append(name)
    built = {
        bot.name: bot
        for model, names in others.items()
        for bot in build_bots(named, names, expanded.embedders[model], corpus.environ, local_models=local_models)
    }
    if not built:
        return evaluation
    header = replace(
        evaluation.header,
        bots=[(name, built[name].identity if name in built else identity) for name, identity in evaluation.header.bots],
    )

    def bot_queues(run: OpenRun) -> Sequence[BotQueue]:
        return [
            dataclasses.replace(bot_queue, bot=_in_its_place(built[bot_queue.name], bot_queue))
            if bot_queue.name in built
            else bot_queue
            for bot_queue in evaluation.bot_queues(run)
        ]

    return dataclasses.replace(evaluation, header=header, bot_queues=bot_queues)


def _in_its_place(bot: BuiltBot, bot_queue: BotQueue) -> NamedBot:
    """A bot instead of that of a bot queue, which is closed with it: they may share connections with a third."""
    return NamedBot(bot, bot.name, (cast("BuiltBot", bot_queue.bot),))


def _with_answers(
    grid: Grid, corpus: CorpusIndex, asking: _Asking, tables: Mapping[str, ScoreTable]
) -> tuple[ConfigurationResult, ...]:
    made = list(grid.configurations)
    current = next((tables.get(name) for name, place in asking.bots.items() if place == grid.current), None)
    for name, place in asking.bots.items():
        if name in tables:
            made[place] = _with_means(made[place], corpus, tables[name], None if place == grid.current else current)
    return tuple(made)


def _with_means(
    result: ConfigurationResult, corpus: CorpusIndex, table: ScoreTable, current: ScoreTable | None
) -> ConfigurationResult:
    """The result with the means of a bot's metrics, and their differences to the current configuration."""
    clusters = corpus.clusters(case.key for case in table.cases)
    means, against = {}, {}
    for metric, column in table.columns.items():
        values = mean_of_repeats(table.values[metric])
        mean = estimate(values, clusters, column.low, column.high)
        if mean is not None:
            means[metric] = mean
        if current is not None:
            there = mean_of_repeats(current.values[metric])
            found = paired(there, values, clusters, column.low, column.high, corpus.seed)
            if found is not None:
                against[metric] = found
    return replace(result, answers=means, answer_differences=against)
