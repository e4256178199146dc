"""The human-labelled data beside the checkout: rows, documents, and the scores that our metrics give them."""

import asyncio
import gzip
import json
import random
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from agreement import SEED, Floats, numbered
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.embedding import EmbedderSettings, open_encoder
from proctor.metrics import Facts, Score, builtin_catalog

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
ABSENT = "skipped: the human-labelled data are not beside the checkout (../shared/data)"

Row = dict[str, Any]


def read(name: str) -> list[Row]:
    """The development half of a data set, in its order."""
    plain = DATA / name / "dev.jsonl"
    packed = plain.read_bytes() if plain.exists() else gzip.decompress(Path(f"{plain}.gz").read_bytes())
    return [json.loads(line) for line in packed.decode("utf-8").split("\n") if line]


def sampled(rows: Sequence[Row], count: int) -> list[Row]:
    """That many rows by a fixed seed, in their order; all of them when there are no more."""
    places = random.Random(SEED).sample(range(len(rows)), min(count, len(rows)))
    return [rows[place] for place in sorted(places)]


def documents(rows: Sequence[Row], *keys: Callable[[Row], Hashable]) -> NDArray[np.intp]:
    """The cluster of each row: rows that share the value of any key are of one document."""
    parents: dict[Hashable, Hashable] = {}

    def root(node: Hashable) -> Hashable:
        while parents.setdefault(node, node) != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for row in rows:
        first, *others = [(place, key(row)) for place, key in enumerate(keys)]
        for other in others:
            parents[root(other)] = root(first)
    return numbered([root((0, keys[0](row))) for row in rows])


def open_embedder() -> BatchingEmbedder:
    """The embedder that a suite gets when it names none, with room for all vectors of a data set."""
    settings = EmbedderSettings()
    return BatchingEmbedder(lambda: open_encoder(settings), settings.model_id, memory_mb=512)


def score(facts: Sequence[Facts], metrics: Sequence[str], embedder: BatchingEmbedder) -> dict[str, list[Score]]:
    """Scores of each row by metric, made as a run makes them: the rows in flight share the embedder's batches."""
    plan = builtin_catalog().plan(metrics, models={"embedder": embedder.model_id})

    async def score_all() -> list[list[Score]]:
        in_flight = asyncio.Semaphore(256)

        async def score_one(one: Facts) -> list[Score]:
            async with in_flight:
                return await plan.score({**one, "embedder": embedder})

        return await asyncio.gather(*map(score_one, facts))

    made = asyncio.run(score_all())
    wrong = [one for row in made for one in row if one.status == "error"]
    if wrong:
        raise SystemExit(f"The metric {wrong[0].metric} failed: {wrong[0].reason} {dict(wrong[0].details)}")
    return {metric: [row[place] for row in made] for place, metric in enumerate(metrics)}


def values(scores: Sequence[Score], detail: str | None = None) -> Floats:
    """The values as an array, nan where there is none; of a detail instead when one is named."""
    found = [one.value if detail is None or one.value is None else one.details.get(detail) for one in scores]
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def accepted(row: Row) -> tuple[str, ...]:
    """Every accepted answer of a row, the expected one first when no others are given."""
    return tuple(row.get("expected_answers") or [row["expected_answer"]])


def table(columns: Sequence[str], lines: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |")
    print(flush=True)
