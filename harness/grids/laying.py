"""Laying: from what a suite says of its grid to the settings that are compared, present ones first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ... import InputError
from ...bots.langchain_retriever import takes_passages
from ...bots.settings import RagSettings
from ...bots.targets import find_target
from ...knowledge.searching.passage_search import RETRIEVERS
from ...reports.shelf import VectorShelf
from ...reports.surveys.grid import Setting
from ..exams.embedders import open_embedder

if TYPE_CHECKING:
    from ...knowledge.batching import BatchingEmbedder
    from ..ground.ground import Ground
    from ..suite.survey_settings import GridSettings

MOST_SETTINGS: Final = 1_000


@dataclass(frozen=True, slots=True)
class LaidGrid:
    """The settings that are compared.

    Attributes:
        settings: each once; that of the suite's first bot with a retriever comes first, then those of its other ones.
        bots: names of the bots that are set so, by setting.
        embedders: by the id of their model.
        warnings: sentences for the user.
    """

    settings: tuple[Setting, ...]
    bots: Mapping[Setting, tuple[str, ...]]
    embedders: Mapping[str, BatchingEmbedder]
    warnings: tuple[str, ...] = ()

    def close(self, own: BatchingEmbedder) -> None:
        """Drop the embedders but the suite's own, which others use."""
        for embedder in self.embedders.values():
            if embedder is not own:
                embedder.close()


def lay_grid(ground: Ground, grid: GridSettings) -> LaidGrid:
    """All combinations of the grid and the settings of the suite's bots; no model is loaded.

    Raises:
        InputError: there are too many combinations, or an embedder can't be had.
    """
    _check_size(grid)
    uncut = _uncut(ground, grid)
    bots = present_settings(ground, uncut)
    embedders = {ground.embedder.model_id: ground.embedder}
    models, warnings = [], list[str]()
    for name in grid.embedder or ("",):
        embedder, doubts = _embedder(ground, name)
        embedders.setdefault(embedder.model_id, embedder)
        models.append(embedder.model_id)
        warnings += doubts
    settings = dict.fromkeys((*bots, *combinations(grid, models, uncut)))
    return LaidGrid(tuple(settings), bots, embedders, (*warnings, *_left_out(grid, uncut)))


def present_settings(ground: Ground, uncut: Collection[str] = ()) -> dict[Setting, tuple[str, ...]]:
    """How the suite's bots with a retriever are set, with their names; the defaults, of no bot, where it has none.

    ``uncut`` are retrievers to which it does not matter how documents are cut.
    """
    found: dict[Setting, tuple[str, ...]] = {}
    for name, settings in ground.loaded.suite.bots.items():
        if isinstance(settings, RagSettings):
            setting = setting_of(settings, ground.embedder.model_id, uncut)
            found[setting] = (*found.get(setting, ()), name)
    return found or {setting_of(ground.present, ground.embedder.model_id): ()}


def setting_of(bot: RagSettings, embedder: str, uncut: Collection[str] = ()) -> Setting:
    """How a bot retrieves, with ``embedder`` as the id of the embedding model of its suite."""
    made = Setting(
        bot.splitter, bot.chunk_size, bot.chunk_overlap, bot.retriever, bot.top_k, embedder, bot.reranker or "",
        bot.min_score,
    )  # fmt: skip
    return _without_what_is_unused(made, uncut)


def combinations(grid: GridSettings, models: Sequence[str], uncut: Collection[str] = ()) -> list[Setting]:
    """All combinations in the order of the grid's keys, the last changing fastest; ``models`` are ids of embedders.

    What takes no part in a setting doesn't multiply it: an embedder for ``bm25``, or how documents are cut for a
    retriever among ``uncut``. Combinations whose passages could not overlap by so much are left out.
    """
    made = itertools.product(
        grid.splitter, grid.chunk_size, grid.chunk_overlap, grid.retriever, models, grid.reranker, grid.top_k
    )
    settings = (
        _without_what_is_unused(Setting(splitter, size, overlap, retriever, top_k, model, reranker or ""), uncut)
        for splitter, size, overlap, retriever, model, reranker, top_k in made
        if overlap < size or retriever in uncut
    )
    return list(dict.fromkeys(settings))


def _without_what_is_unused(setting: Setting, uncut: Collection[str]) -> Setting:
    if setting.retriever in uncut:
        setting = replace(setting, splitter="", chunk_size=None, chunk_overlap=None)
    return setting if setting.retriever in ("dense", "hybrid") else replace(setting, embedder="")


def _uncut(ground: Ground, grid: GridSettings) -> frozenset[str]:
    """The retrievers of the user's own that are made without the passages."""
    bots = (bot for bot in ground.loaded.suite.bots.values() if isinstance(bot, RagSettings))
    own = {
        retriever for retriever in (*grid.retriever, *(bot.retriever for bot in bots)) if retriever not in RETRIEVERS
    }
    return frozenset(each for each in own if not takes_passages(find_target(each, ground.loaded.base)))


def _check_size(grid: GridSettings) -> None:
    lists = grid.model_dump()
    count = math.prod(max(1, len(values)) for values in lists.values())
    if count > MOST_SETTINGS:
        sizes = " x ".join(f"{len(values)} {key}" for key, values in lists.items() if len(values) > 1)
        raise InputError(
            f"The grid has {count:,} settings ({sizes}); {MOST_SETTINGS:,} at most can be compared. "
            "Take values out of survey: grid, or name fewer with --grid KEY=VALUE,VALUE."
        )


def _left_out(grid: GridSettings, uncut: Collection[str]) -> list[str]:
    pairs = [
        f"{overlap} of {size}"
        for size, overlap in itertools.product(grid.chunk_size, grid.chunk_overlap)
        if overlap >= size
    ]
    if not pairs or not set(grid.retriever) - set(uncut):
        return []
    return [f"Passages can't overlap by {', '.join(pairs)} characters; the grid does without these settings."]


def _embedder(ground: Ground, name: str) -> tuple[BatchingEmbedder, tuple[str, ...]]:
    """The embedder of a name as the suite would open it; the suite's own for a blank one."""
    suite = ground.loaded.suite
    if name in ("", suite.embedder.model):
        return ground.embedder, ()
    changes: dict[str, object] = {"model": name}
    if name != "embedded":  # the packaged model alone can be had in another precision
        changes["precision"] = "fp32"
    settings = suite.embedder.model_copy(update=changes)
    named = replace(ground.loaded, suite=suite.model_copy(update={"embedder": settings}))
    return open_embedder(named, VectorShelf())
