"""Embedders: the embedding model of a suite behind its batcher, loaded when the first text comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...knowledge.batching import BatchingEmbedder
    from ...knowledge.embedding import EmbedderSettings
    from ...reports.shelf import VectorShelf
    from ..suite.suite_file import LoadedSuite


def open_embedder(loaded: LoadedSuite, shelf: VectorShelf) -> tuple[BatchingEmbedder, tuple[str, ...]]:
    """The suite's embedding model behind its batcher, loaded when the first text comes; and warnings about it."""
    from ...knowledge.embedding import EmbedderSettings

    given = loaded.suite.embedder
    chosen = given.model_dump()
    if given.model == "embedded":
        del chosen["model"]
    elif (loaded.base / given.model).is_dir():
        chosen["model"] = str(loaded.base / given.model)
    settings = EmbedderSettings(**chosen)
    return _batching(settings, shelf), tuple(filter(None, [settings.resolved.warning]))


def default_embedder(shelf: VectorShelf) -> BatchingEmbedder:
    """The embedded model, for answers that come without a suite."""
    from ...knowledge.embedding import EmbedderSettings

    return _batching(EmbedderSettings(), shelf)


def _batching(settings: EmbedderSettings, shelf: VectorShelf) -> BatchingEmbedder:
    from ...knowledge.batching import BatchingEmbedder
    from ...knowledge.embedding import open_encoder

    return BatchingEmbedder(lambda: open_encoder(settings), settings.model_id, shelf)
