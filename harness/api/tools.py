"""Tools: the models that single metrics ask when they are called as functions."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...bots import Endpoints
from ...reports.store import VectorCache
from ..run import DaemonThreads, RunModels, default_embedder, open_judging
from ..suite import JudgeSettings, LocalModelsSettings, choose_judge, overridden

if TYPE_CHECKING:
    from ...knowledge import BatchingEmbedder


@contextlib.asynccontextmanager
async def open_tools(
    needs: frozenset[str], judge: str, local_models: Mapping[str, str]
) -> AsyncIterator[Mapping[str, object]]:
    """The models that are needed, by the names under which metrics ask for them.

    Args:
        needs: such as ``embedder``, ``judge``, ``toxicity_model``.
        judge: who grades; blank for the embedded judge.
        local_models: models for roles, in place of the usual ones.

    Raises:
        InputError: a model can't be used.
    """
    asyncio.get_running_loop().set_default_executor(DaemonThreads())
    endpoints, roles = Endpoints(), tuple(f"{role}={model}" for role, model in local_models.items())
    models = RunModels(overridden(LocalModelsSettings(), roles), Path(), os.environ, endpoints)
    judging = open_judging(choose_judge(JudgeSettings(), {}, judge), embedder(), Path(), os.environ, endpoints)
    models.take(needs)
    tools: dict[str, object] = {**models.tools}
    try:
        if "embedder" in needs:
            tools["embedder"] = embedder()
        if "judge" in needs:
            await judging.prepare()
            tools["judge"] = judging.uncached()
        yield tools
    finally:
        await judging.close()
        await models.close()


@cache
def embedder() -> BatchingEmbedder:
    """The embedded model, loaded once in a process: metrics are called by the hundred."""
    return default_embedder(VectorCache())
