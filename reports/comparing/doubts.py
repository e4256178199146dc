"""Doubts: what makes a comparison weaker than its figures look, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ..leaderboard import count
from ..run import EARLY_STOP
from .comparable import Dropped, Pairing, cluster_of
from .score_table import RunTables
from .sides import Side

FEW_CLUSTERS: Final = 10
CLUSTER_WORDS: Final = {"source": "source document", "tag": "tag", "none": "question"}


def cluster_noun(cluster: str) -> str:
    """What a cluster is, in the singular.

    >>> cluster_noun("tag:topic-")
    'tag'
    """
    return CLUSTER_WORDS[cluster.partition(":")[0]]


def doubts(base: Side, head: Side, pairing: Pairing) -> tuple[str, ...]:
    """Sentences for one pair of bots, the gravest first; none where there is nothing to say."""
    found = [*_unfinished(base.run, head.run), *_left_out(pairing.dropped), *_few(pairing), *_untagged(pairing)]
    if base.run.run != head.run.run:
        found += [*_other_runs(base, head, pairing), *_other_speed(base.run.manifest, head.run.manifest)]
    if pairing.base.repeats != pairing.head.repeats:
        times = f"{_times(pairing.base.repeats)} on the first side, {_times(pairing.head.repeats)} on the second"
        found.append(f"Questions were asked {times}: each counts once, with the mean of its answers.")
    return tuple(found)


def _unfinished(base: RunTables, head: RunTables) -> Iterator[str]:
    for run in {base.run: base, head.run: head}.values():
        if EARLY_STOP in run.manifest:
            yield (
                f"Run {run.run} was stopped early, as soon as a verdict on it was certain: intervals and p values take "
                "the number of questions for chosen beforehand, and are too sure of themselves."
            )
        elif run.status != "finished":
            yield f"Run {run.run} is not complete ({run.status}): only what was asked on both sides is compared."


def _left_out(dropped: Dropped) -> Iterator[str]:
    for keys, why in (
        (dropped.base_only, "asked on the first side alone"),
        (dropped.head_only, "asked on the second side alone"),
        (dropped.reworded, "of another wording under the same id"),
        (dropped.remarked, "marked by another yardstick now (accepted answers, constraints or evidence)"),
    ):
        if keys:
            more = f" and {len(keys) - 3:,} more" if len(keys) > 3 else ""
            yield f"Left out: {count(len(keys), 'question')} {why}: {', '.join(keys[:3])}{more}."


def _few(pairing: Pairing) -> Iterator[str]:
    clusters, questions = pairing.cluster_count, len(pairing.cases)
    if clusters >= FEW_CLUSTERS:
        return
    noun = cluster_noun(pairing.cluster)
    if questions == 1:
        yield "There is one question only: no interval can be worked out."
    elif clusters == questions:
        yield f"There are {questions} questions only: intervals are wide, and rest on few."
    elif clusters == 1:
        other = "" if pairing.cluster == "none" else " --cluster none takes each question as its own."
        yield f"All questions come from one {noun}: no interval can be worked out.{other}"
    else:
        yield f"The questions come from {count(clusters, noun)} only: intervals are wide, and rest on few."


def _untagged(pairing: Pairing) -> Iterator[str]:
    """Questions without the tag by which they were to be clustered make intervals narrower than was asked for."""
    if not pairing.cluster.startswith("tag"):
        return
    alone = sum(not cluster_of(case, pairing.cluster)[0] for case in pairing.cases)
    if alone:
        prefix = pairing.cluster.partition(":")[2]
        which = f"no tag that begins with {prefix}" if prefix else "no tag"
        whole = f"{alone:,} of {len(pairing.cases):,} questions have"
        yield f"{whole} {which}: each of them is taken as its own, as with --cluster none."


def _other_runs(base: Side, head: Side, pairing: Pairing) -> Iterator[str]:
    if base.run.suite != head.run.suite:
        yield f"The runs are of different suites: {base.run.suite} and {head.run.suite}."
    states = base.states.get(pairing.base.bot), head.states.get(pairing.head.bot)
    documents = [None if state is None else state.parts.get("knowledge") for state in states]
    if None not in documents and documents[0] != documents[1]:
        yield "The documents changed in between: metrics of retrieval look for the same quotes in both versions."


def _other_speed(base: Mapping[str, object], head: Mapping[str, object]) -> Iterator[str]:
    """Latency rests on how many asked at once, and on the machine."""
    settings = [manifest.get("settings") for manifest in (base, head)]
    found = [each if isinstance(each, Mapping) else {} for each in settings]
    crowd = [None if each.get("latency_run") else each.get("concurrency") for each in found]
    if crowd[0] != crowd[1]:
        shown = ["one" if many is None else str(many) for many in crowd]
        yield f"Latency is not comparable: {shown[0]} in flight on the first side, {shown[1]} on the second."
    if base.get("machine") and head.get("machine") and base["machine"] != head["machine"]:
        yield "Latency is hardly comparable: the runs were held on different machines."


def _times(repeats: int) -> str:
    return "once" if repeats == 1 else f"{repeats} times"
