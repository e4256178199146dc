"""Grid expansion: the configurations that are compared, from the lists of a suite and the settings of its bots."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ... import InputError
from ...bots import RagSettings, find_target
from ...bots.langchain import takes_passages
from ...knowledge import RETRIEVERS
from ...reports.analysis import Configuration
from ...reports.store import VectorCache
from ..run import open_embedder

if TYPE_CHECKING:
    from ...knowledge import BatchingEmbedder
    from ..suite.settings import GridSettings
    from .corpus import CorpusIndex


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
