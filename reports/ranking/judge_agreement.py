"""Judge agreement: whether other judges, in other runs of the same database, would rank the bots the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from ..comparing.comparable import pair
from ..comparing.run_tables import run_tables
from ..comparing.score_table import RunTables, ScoreTable
from ..store import Store
from .rank_agreement import RankAgreement, agreement
from .ranking import Goodness, Ranking, rank
from .shared_questions import cluster_codes, share_questions

MEMBERS: Final = " + "  # between the models of a panel

SAME_BOTS: Final = """
SELECT runs.id, runs.name, manifest FROM runs WHERE runs.name != ? AND (
    SELECT COUNT(*) FROM run_bots JOIN bots ON bots.id = bot_id
    WHERE run_id = runs.id AND fingerprint IN (SELECT value FROM json_each(?))) > 1
ORDER BY runs.id DESC"""


@dataclass(frozen=True)
class JudgeAgreement:
    """A metric as several judges see it.

    Attributes:
        metric: its name.
        runs: the run of each judge, by the judge's name; this run's first.
        rankings: by the judge's name.
        agreement: of those rankings.
    """

    metric: str
    runs: Mapping[str, str]
    rankings: Mapping[str, Ranking]
    agreement: RankAgreement


@dataclass(frozen=True)
class Judges:
    """What other judges say.

    Attributes:
        judge: who graded this run; None where nobody did.
        panel: whether that is a panel, which counts as one judge: the votes of its members are kept, but no scores.
        metrics: the ranked metrics that rest on a judge.
        found: those of them that another judge has graded too, over the same questions and bots.
    """

    judge: str | None
    panel: bool
    metrics: tuple[str, ...]
    found: tuple[JudgeAgreement, ...]


def judges_of(run: RunTables, metrics: Sequence[str], cluster: str, seed: int = 0) -> Judges:
    """Look for runs with the same bots, graded by other judges, and rank the bots by each.

    Of each judge it is the latest run; bots are the same when nothing of them has changed, and questions when text and
    yardstick are the same.
    """
    judge = _judge(run.manifest)
    graded = judge.get("metrics")
    judged = [metric for metric in metrics if isinstance(graded, list) and metric in graded]
    if not judged:
        return Judges(None, False, (), ())
    model = str(judge.get("model_id", ""))
    name = str(judge.get("name", "")) or model
    found: list[JudgeAgreement] = []
    path = Path(run.origin)
    if path.is_file() and path.suffix.lower() != ".json":
        with contextlib.closing(Store.open(path, create=False)) as store:
            others = list(_others(store, run, model))
        found = [each for metric in judged if (each := _agreement(run, name, others, metric, cluster, seed))]
    return Judges(name, MEMBERS in model, tuple(judged), tuple(found))


def _judge(manifest: Mapping[str, object]) -> Mapping[str, object]:
    settings = manifest.get("settings")
    judge = settings.get("judge") if isinstance(settings, Mapping) else None
    return judge if isinstance(judge, Mapping) else {}


def _others(store: Store, run: RunTables, model: str) -> Iterator[tuple[str, RunTables]]:
    """Names of other judges, with the latest run of each that has at least two of the bots."""
    seen = {model}
    fingerprints = {table.fingerprint for table in run.tables.values()}
    for run_id, _, manifest in store.query(SAME_BOTS, [run.run, orjson.dumps(sorted(fingerprints)).decode()]):
        judge = _judge(orjson.loads(manifest))
        other = str(judge.get("model_id", ""))
        if not other or other in seen:
            continue
        seen.add(other)
        yield str(judge.get("name", "")) or other, run_tables(store, int(run_id))


def _agreement(
    run: RunTables, judge: str, others: Sequence[tuple[str, RunTables]], metric: str, cluster: str, seed: int
) -> JudgeAgreement | None:
    """The rankings of one metric by all judges that graded it; None where it is this run's alone."""
    mine = _ranked(run.tables, metric, cluster, seed)
    if mine is None:
        return None
    rankings, runs = {judge: mine}, {judge: run.run}
    for name, other in others:
        known = name if name not in rankings else f"{name} ({other.run})"
        tables = _alike(run, other, metric)
        ranking = _ranked(tables, metric, cluster, seed) if len(tables) > 1 else None
        if ranking is not None:
            rankings[known], runs[known] = ranking, other.run
    if len(rankings) < 2:
        return None
    return JudgeAgreement(metric, runs, rankings, agreement(rankings))


def _alike(run: RunTables, other: RunTables, metric: str) -> dict[str, ScoreTable]:
    """The other run's tables of the same bots, with values only on questions that this run asked just so."""
    tables = {}
    theirs = {table.fingerprint: table for table in other.tables.values()}
    for bot, table in run.tables.items():
        twin = theirs.get(table.fingerprint)
        if twin is None or metric not in twin.columns or twin.columns[metric].better != table.columns[metric].better:
            continue
        places = pair(table, twin).head_places
        kept = np.full(twin.asked.shape, np.nan)
        kept[places] = twin.values[metric][places]
        tables[bot] = replace(twin, values={**twin.values, metric: kept})
    return tables


def _ranked(tables: Mapping[str, ScoreTable], metric: str, cluster: str, seed: int) -> Ranking | None:
    table = next(iter(tables.values()))
    shared = share_questions(tables, metric, cluster_codes(table, cluster))
    if len(shared.bots) < 2 or not len(shared.values):
        return None
    return rank(Goodness(shared.bots, shared.goodness, shared.clusters), seed)
