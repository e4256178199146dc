"""Configurations: splitters, retrievers and k, each measured on the questions whose answers have a known place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...knowledge import RETRIEVERS
from ...reports import count
from ...reports.analysis import ConfigurationResult, Grid
from ...reports.analysis.findings import Recommendation, names_apart
from ...reports.compare import estimate
from ...reports.compare.scores import Estimate, Figures
from ..run import Interrupts
from .grid_expansion import ExpandedGrid, expand_grid
from .grid_retrieval import Retrieved, Retrieving, searches
from .grid_rounds import Round, rounds_of, why_dropped
from .recommendation import Contest, paired, recommend
from .retrieval_values import METRICS, PROMPT_TOKENS, Places, Range, Yardstick, gold_places

if TYPE_CHECKING:
    from ...bots import Context
    from ...knowledge import Question
    from ...reports.analysis import Configuration
    from ..suite import AnalysisSettings
    from .corpus import CorpusIndex, Notify


Table = dict[str, Figures]
# Of the budget that the current configuration makes: no two ways to cut fill a prompt to the same token.
LEEWAY: Final = 0.1
# Characters to embed, over all ways to cut, from which rounds are worth their while: a minute of one core or more.
LONG: Final = 2_000_000
STOPPED: Final = "The grid was stopped before it was measured."


def measure_grid(
    corpus: CorpusIndex, settings: AnalysisSettings, notify: Notify | None = None, local_models: Iterable[str] = (),
) -> Grid | None:  # fmt: skip
    """Retrieve for every question with every configuration, and measure it; None where no question has a known place.

    Questions count whose gold evidence stands in the documents, and those for which the support of the expected
    answer was found (see ``with_supports``). Nobody is asked; texts are embedded once for each embedder.

    The bots' own configurations are measured first. Where documents are long, the others are measured in rounds over
    growing parts of documents and questions, and one that can't be recommended any more is dropped. On Ctrl-C the grid
    has what was measured until then, and says so.

    Args:
        corpus: documents, questions and where their answers stand.
        settings: what is compared, and by what.
        notify: called with a sentence before what takes long.
        local_models: other models for some roles, as ``ROLE=MODEL``.

    Raises:
        InputError: the grid is too large, or a model can't be had.
        KeyboardInterrupt: Ctrl-C before the bots' own configurations were measured.
    """
    measuring = GridMeasuring.of(corpus, settings, notify, local_models)
    if measuring is None:
        return None
    try:
        measuring.measure_current()
        measuring.measure_others()
        return measuring.grid()
    finally:
        measuring.close()


def evident_questions(corpus: CorpusIndex) -> list[Question]:
    """Questions of which it is known where the answer stands, in the order of their file."""
    kinds = ("evidence", "support")
    known = {key for key, gold in corpus.gold.items() if gold.kind in kinds and any(gold.groups)}
    return [question for question in corpus.questions if question.id in known]


@dataclass(slots=True)
class GridMeasuring:
    """A grid while it is measured; ``grid`` may be asked for at any time after ``measure_current``.

    Attributes:
        dropped: why a configuration was left out, by its place.
        stopped: whether Ctrl-C ended it.
    """

    corpus: CorpusIndex
    settings: AnalysisSettings
    questions: Sequence[Question]
    expanded: ExpandedGrid
    retrieving: Retrieving
    notify: Notify
    clusters: NDArray[np.intp]
    dropped: dict[int, str] = field(default_factory=dict)
    stopped: bool = False
    _yardstick: Yardstick = field(default_factory=Yardstick)
    _tables: dict[int, Table] = field(default_factory=dict)
    _retrieved: dict[int, Retrieved] = field(default_factory=dict)

    @classmethod
    def of(
        cls, corpus: CorpusIndex, settings: AnalysisSettings, notify: Notify | None = None,
        local_models: Iterable[str] = (),
    ) -> GridMeasuring | None:  # fmt: skip
        """Nothing is measured yet; None where no question has a known place. See ``measure_grid``."""
        questions = evident_questions(corpus)
        if not questions:
            return None
        expanded = expand_grid(corpus, settings.grid)
        texts = [corpus.search_text(question) for question in questions]
        retrieving = Retrieving(corpus, texts, expanded.embedders, notify, local_models)
        clusters = corpus.clusters(question.id for question in questions)
        return cls(corpus, settings, questions, expanded, retrieving, notify or (lambda _: None), clusters)

    def measure_current(self) -> None:
        """Measure the configurations of the suite's bots, over all documents."""
        asyncio.run(self._measure(range(len(self.expanded.bots))))

    def measure_others(self) -> None:
        """Measure the others, in rounds where that saves anything; Ctrl-C ends it and what was measured stays."""
        try:
            with Interrupts() as interrupts:
                interrupts.run(self._others())
        except KeyboardInterrupt:
            self.stopped = True

    def close(self) -> None:
        """Drop models."""
        self.retrieving.close()
        self.expanded.close(self.corpus.embedder)

    async def _others(self) -> None:
        rounds = rounds_of(self.corpus, self.questions, self.clusters) if self._wants_rounds() else []
        done = 0.0
        for number, each in enumerate(rounds, 1):
            # A retriever of the user's own may have documents of its own.
            left = [at for at in self._left() if self.expanded.configurations[at].retriever in RETRIEVERS]
            self.retrieving.announce(f"round {number} of {len(rounds) + 1}", each.share - done, 1 - each.share)
            done = each.share
            tables, _ = await self._values(left, each)
            dropped = why_dropped(
                each, {place: table[self.settings.rank_by] for place, table in tables.items()},
                {place: float(np.nanmean(table[PROMPT_TOKENS])) for place, table in tables.items()},
                self._names, self._budget(), self.corpus.seed, self._ranges[self.settings.rank_by],
            )  # fmt: skip
            whole = searches([self.expanded.configurations[place] for place in left])
            for inside in whole.values():  # a search serves several; it goes when all of them do
                served = [left[at] for at in inside]
                if all(place in dropped for place in served):
                    self.dropped |= {place: dropped[place] for place in served}
        self.retrieving.announce("last round" if rounds else "", 1 - done, 0.0)
        await self._measure(self._left())

    def _wants_rounds(self) -> bool:
        if self.settings.every_configuration is not None:
            return not self.settings.every_configuration
        cuts = {
            (one.splitter, one.chunk_size, one.chunk_overlap, one.embedder)
            for one in self.expanded.configurations
            if one.embedder
        }
        return len(cuts) * sum(len(document.text) for document in self.corpus.documents) >= LONG

    def _left(self) -> list[int]:
        return [
            place
            for place in range(len(self.expanded.configurations))
            if place not in self._tables and place not in self.dropped
        ]

    async def _measure(self, places: Sequence[int]) -> None:
        """Measure configurations over all documents and questions; each is there as soon as its search is done."""
        await self._values(places, None, self._tables, self._retrieved)

    async def _values(
        self, places: Sequence[int], part: Round | None, tables: dict[int, Table] | None = None,
        retrieved: dict[int, Retrieved] | None = None,
    ) -> tuple[dict[int, Table], dict[int, Retrieved]]:  # fmt: skip
        """The values of configurations over a part of documents and questions, by place."""
        tables, retrieved = {} if tables is None else tables, {} if retrieved is None else retrieved
        asked = range(len(self.questions)) if part is None else part.questions
        gold = [gold_places(self.corpus.gold[self.questions[each].id]) for each in asked]
        configurations = [self.expanded.configurations[place] for place in places]
        async for one in self.retrieving.made(configurations, part):
            for at in one.configurations:
                tables[places[at]] = _table(self._yardstick, one.found, gold, configurations[at].top_k)
                retrieved[places[at]] = replace(one, found=())  # that of all searches together would be large
        return tables, retrieved

    @property
    def _ranges(self) -> dict[str, Range]:
        return self._yardstick.ranges()

    @property
    def _names(self) -> Sequence[str]:
        return names_apart(self.expanded.configurations)

    def _budget(self) -> float:
        wanted = self.settings.max_tokens
        return float(np.mean(self._tables[0][PROMPT_TOKENS])) * (1 + LEEWAY) if wanted is None else float(wanted)

    def grid(self) -> Grid:
        """What is known by now; something is recommended only when all was measured or dropped."""
        unmeasured = dict.fromkeys(self._left(), STOPPED)
        blank = {metric: np.full(len(self.questions), np.nan) for metric in METRICS}
        results = tuple(
            _result(
                configuration, self._tables.get(place, blank), self._retrieved.get(place),
                self.expanded.bots.get(configuration, ()), {**self.dropped, **unmeasured}.get(place, ""),
                self.clusters, self._ranges, self._tables[0] if place else None, self.corpus.seed,
            )
            for place, configuration in enumerate(self.expanded.configurations)
        )  # fmt: skip
        contest = contest_of(results, self.settings.rank_by, self._budget(), self.clusters, self.corpus.seed)
        recommendation: Recommendation | None = None
        if unmeasured:
            done = len(results) - len(unmeasured)
            doubt = (
                f"The grid was stopped: {done} of {count(len(results), 'configuration')} are measured or dropped, and "
                "none is recommended. The same command goes on; what was embedded is cached."
            )
        else:
            recommendation, doubt = recommend(contest)
        return Grid(
            metric=self.settings.rank_by,
            questions=tuple(question.id for question in self.questions),
            by_evidence=sum(self.corpus.gold[question.id].kind == "evidence" for question in self.questions),
            current=0,
            configurations=results,
            recommendation=recommendation,
            budget=self._budget(),
            distinct_passages=self.retrieving.distinct_passages,
            warnings=(
                *self.expanded.warnings, *dict.fromkeys(self.retrieving.warnings), *filter(None, [doubt]),
            ),
        )  # fmt: skip


def contest_of(
    results: Sequence[ConfigurationResult], metric: str, budget: float | None, clusters: NDArray[np.intp], seed: int
) -> Contest:
    """The configurations as they are ranked by a metric."""
    low, high = Yardstick().ranges()[metric]
    tokens = (result.metrics.get(PROMPT_TOKENS) for result in results)
    return Contest(
        metric=metric,
        names=names_apart([result.configuration for result in results]),
        values=np.array([_figures(result.by_question[metric]) for result in results]),
        tokens=np.array([np.nan if found is None else found.mean for found in tokens]),
        clusters=clusters,
        current=0,
        budget=budget,
        low=low,
        high=high,
        seed=seed,
    )


def _table(
    yardstick: Yardstick, found: Sequence[Sequence[Context]], gold: Sequence[Sequence[Places]], top_k: int
) -> Table:
    """The values of a configuration by metric, one a question; NaN where there is none."""
    rows = [yardstick.values(passages[:top_k], places) for passages, places in zip(found, gold, strict=True)]
    return {metric: _figures([row[metric] for row in rows]) for metric in METRICS}


def _figures(values: Sequence[float | None]) -> Figures:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _result(
    configuration: Configuration, table: Table, retrieved: Retrieved | None, bots: tuple[str, ...], dropped: str,
    clusters: NDArray[np.intp], ranges: Mapping[str, Range], current: Table | None, seed: int,
) -> ConfigurationResult:  # fmt: skip
    """What came of one configuration; ``current`` is what it is compared with, None for the current one itself."""
    against = {
        metric: found
        for metric in (METRICS if current is not None else ())
        if current is not None
        and (found := paired(current[metric], table[metric], clusters, *ranges[metric], seed)) is not None
    }
    return ConfigurationResult(
        configuration=configuration,
        passages=None if retrieved is None else retrieved.passages,
        metrics=_means(table, clusters, ranges),
        by_question={metric: _listed(values) for metric, values in table.items()},
        bots=bots,
        differences=against,
        retrieve_ms=None if retrieved is None else _percentiles(retrieved.ms),
        dropped=dropped,
    )


def _means(table: Table, clusters: NDArray[np.intp], ranges: Mapping[str, Range]) -> dict[str, Estimate]:
    means = {metric: estimate(values, clusters, *ranges[metric]) for metric, values in table.items()}
    return {metric: mean for metric, mean in means.items() if mean is not None}


def _listed(values: Figures) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _percentiles(ms: Sequence[float]) -> tuple[float, float]:
    middle, late = np.percentile(ms, [50, 95])
    return float(middle), float(late)
