"""Faults planted in copies of three question sets: is the planted document blamed, and is it found inside?

    python tests/benchmarks/prove_attribution.py [sample clapnq xquad_en] [--faults N] [--seeds N N] [--show]

Plants up to N faults of each kind in a copy of each set, for each seed (contradictions, near duplicates, stale versions
and deleted gold documents, each in two ways), asks the rag and full-context bots with the embedded model before and
after, and looks for who is to blame for the answers that are wrong, as two metrics mark them. ``clapnq`` and
``xquad_en`` are the human-labelled data beside the checkout (``../shared/data``) and are left out where these are
absent.

All shares are over distinct faults with Wilson's 95 % interval: a question with a kind of fault counts once, whatever
seeds draw it and bots fall for it, and is right only where all that is said of it is.

- blame, recall: faults that turned answers wrong, with the planted document among those blamed for each of them
- blame, precision: faults for whose answers documents are blamed, and nothing but the planted one; where the gold was
  deleted, blaming any is wrong, and so it is to blame the planted one for an answer that was wrong before and does
  not say what was planted
- finding, recall: faults that a finding names: both documents of a pair; for deleted gold the question, as stale or,
  in a set that has no evidence, as unsupported
- finding, precision: findings that are not there before anything is planted, and name a fault. Of unsupported
  questions all count, those whose document is still there, too.

The last lines say who is blamed for wrong answers where nothing was planted; ``--show`` prints all that is to be read.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from fault_results import COLUMNS, Case, Result, key, line, listed
from labelled_data import ABSENT, table
from planted_faults import (
    DELETED,
    KINDS,
    SETS,
    SHAPES,
    THRESHOLDS,
    WITHOUT_EVIDENCE,
    Fault,
    QuestionSet,
    has_data,
    open_set,
    plant,
    write,
)  # fmt: skip
from proctor.harness.analysis.attribution import attribution, plan_ablations
from proctor.harness.analysis.corpus import Answers, CorpusIndex, index_corpus, read_answers
from proctor.harness.analysis.document_quality import find_document_problems
from proctor.harness.analysis.gaps import find_gaps
from proctor.harness.analysis.support import with_supports
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run import run_evaluation
from proctor.harness.run.run_config import RunConfig
from proctor.harness.run.suite_run import suite_evaluation
from proctor.harness.suite.suite_file import load_suite
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.reports.analysis.findings import AblatedAnswer, Finding
from proctor.reports.store.database import Store
from proctor.reports.summary import find_run

MOST_CALLS = 100_000
PAIRS = ("contradiction", "near_duplicate", "stale_duplicate")


@dataclass(frozen=True)
class Asked:
    """A set as it stands: its ground, the answers of both bots as each metric marks them, and what is found inside."""

    corpus: CorpusIndex
    answers: dict[str, Answers]
    inside: tuple[Finding, ...]


def asked(folder: Path, store: Store, embedder: BatchingEmbedder | None = None) -> Asked:
    """Ask a suite's questions, and look inside its documents."""
    corpus = expanded(folder / "suite.yaml", embedder)
    outcome = run_evaluation(suite_evaluation(corpus.loaded, RunConfig(), corpus.environ), store, Watcher())
    run_id, _ = find_run(store, outcome.summary.run)
    read = {metric: read_answers(store, run_id, metric) for metric in THRESHOLDS}
    answers = {metric: found for metric, found in read.items() if found is not None}
    inside = find_document_problems(corpus, next(iter(answers.values())))
    return Asked(corpus, answers, tuple(one for one in inside.findings if one.kind in PAIRS))


def expanded(suite: Path, embedder: BatchingEmbedder | None) -> CorpusIndex:
    """The ground of a suite; with one embedder for all copies what they share is embedded once."""
    corpus = index_corpus(load_suite(suite), {**os.environ, "PROCTOR_CACHE": str(suite.parent.parent / "cache")})
    return corpus if embedder is None else replace(corpus, embedder=embedder)


def prove(made: QuestionSet, most: int, seeds: Sequence[int], folder: Path) -> Iterator[Result | list[AblatedAnswer]]:
    """What is blamed where nothing was planted, then what becomes of the faults, one kind after another."""
    write(folder / "before", made.documents, made.targets, made.targets)
    with closing(Store.open(folder / "proctor.db")) as store:
        before = asked(folder / "before", store)
        yield [one for metric in THRESHOLDS for one in attributed(before, metric, store)]
        for seed in seeds:
            for kind in KINDS:
                documents, faults = plant(made, kind, most, seed)
                place = folder / f"{kind} {seed}"
                write(place, documents, [fault.target for fault in faults], made.targets)
                after = asked(place, store, before.corpus.embedder)
                named = gaps(made, after.corpus, faults) if kind == DELETED else found_inside(before, after, faults)
                yield Result(made.name, tuple(faults), tuple(cases(made.name, before, after, faults, store)), *named)


def attributed(of: Asked, metric: str, store: Store) -> tuple[AblatedAnswer, ...]:
    """Who is to blame for the wrong answers."""
    wrong = tuple(answer for answer in of.answers[metric].rows if answer.right is False)
    looked = replace(of.answers[metric], rows=wrong)
    return attribution(
        plan_ablations(of.corpus, looked, most_calls=MOST_CALLS), store, lambda: nullcontext(Watcher())
    ).answers


def cases(made: str, before: Asked, after: Asked, faults: Sequence[Fault], store: Store) -> Iterator[Case]:
    """The wrong answers to the questions of faults."""
    by_key = {fault.target.key: fault for fault in faults}
    for metric in THRESHOLDS:
        for one in attributed(after, metric, store):
            was = before.answers[metric].by_place.get((one.bot, one.question))
            if was is not None and was.right is not None:
                yield Case(made, by_key[one.question], metric, one, was.right)


Named = tuple[dict[Fault, tuple[str, ...]], tuple[tuple[str, str, bool], ...]]


def found_inside(before: Asked, after: Asked, faults: Sequence[Fault]) -> Named:
    """Which findings name a fault: the wrong document and the one that it was made from."""
    old = {(one.kind, frozenset(one.documents)) for one in before.inside}
    new = [one for one in after.inside if (one.kind, frozenset(one.documents)) not in old]
    pairs = {fault: {fault.planted, fault.target.document} for fault in faults}
    found = {fault: tuple(one.kind for one in new if pair <= set(one.documents)) for fault, pair in pairs.items()}
    named = []
    for one in new:
        fault = next((fault for fault, pair in pairs.items() if pair <= set(one.documents)), None)
        named.append((faults[0].kind, "" if fault is None else fault.shape, fault is not None))
    return found, tuple(named)


def gaps(made: QuestionSet, corpus: CorpusIndex, faults: Sequence[Fault]) -> Named:
    """Which gaps name a question whose document was deleted; without evidence all questions of the set are asked."""
    gone = {fault.target.document for fault in faults}
    bare = expanded(corpus.loaded.base / "bare.yaml", corpus.embedder)
    stale = [one for one in find_gaps(corpus, None).findings if one.kind == "stale_gold"]
    unsupported = [one for one in find_gaps(with_supports(bare), None).findings if one.kind == "unsupported"]
    documents = {target.key: target.document for target in made.targets}
    found = {}
    for fault in faults:
        looked = unsupported if fault.shape == WITHOUT_EVIDENCE else stale
        found[fault] = tuple(one.kind for one in looked if fault.target.key in one.questions)
    named = [(DELETED, WITHOUT_EVIDENCE, documents[each] in gone) for one in unsupported for each in one.questions]
    return found, tuple(named)


def show(what: str, answer: AblatedAnswer, corpus: str) -> None:
    """An answer that is to be read."""
    print(f"  {what}, {answer.bot}: {answer.cause}, blamed {answer.documents} {corpus}")
    print(f"    value {answer.value} gold only {answer.gold_only} without {dict(answer.without)}")
    print(f"    {answer.question} {answer.answer[:200]!r} fixed {answer.answer_without[:200]!r} {answer.note}")


def show_result(result: Result) -> None:
    """What was missed, and what was named for nothing."""
    for case in result.cases:
        fault = case.fault
        if case.others or (case.was_right and fault.planted and not case.is_found):
            target = fault.target
            where = f"for {fault.planted or 'nothing'} of {target.document} ({target.detail!r} -> {fault.wrong!r})"
            show(f"{fault.kind}, {fault.shape}, {case.metric}, was right {case.was_right}", case.answer, where)
    for fault in result.faults:
        if not result.found[fault]:
            said = f"{fault.planted or fault.target.key} of {fault.target.document}"
            print(f"  not found: {fault.kind}, {fault.shape}, {said} ({fault.target.detail!r} -> {fault.wrong!r})")


def lines(results: Sequence[Result]) -> Iterator[list[object]]:
    """The table: each way of each kind, and all of them as sets, metrics and bots have it."""
    keys = dict.fromkeys(key(result.made, fault) for result in results for fault in result.faults)
    for kind, shapes in SHAPES.items():
        for shape in shapes:
            yield line(f"{kind}, {shape}", results, [each for each in keys if each[1:3] == (kind, shape)])
    planted = [each for each in keys if each[1] != DELETED]
    for name in dict.fromkeys(each[0] for each in keys):
        yield line(f"planted in {name}", results, [each for each in planted if each[0] == name])
    for metric in THRESHOLDS:
        yield line(f"planted, by {metric}", results, planted, metric=metric)
    for bot in ("rag", "full_context"):
        yield line(f"planted, {bot}", results, planted, bot=bot)
    yield line("**all that were planted**", results, planted)
    yield line("**all**", results, keys)


def main() -> None:
    """Plant, ask, blame and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--faults", type=int, default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    began = time.monotonic()
    results: list[Result] = []
    before: dict[str, list[AblatedAnswer]] = {}
    for name in given.sets:
        if name != "sample" and not has_data():
            print(f"{name}: {ABSENT}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for one in prove(open_set(name), given.faults, given.seeds, Path(folder)):
                print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
                if isinstance(one, Result):
                    results.append(one)
                else:
                    before[name] = one
                if given.show and isinstance(one, Result):
                    show_result(one)
                for each in one if given.show and isinstance(one, list) else ():
                    show("nothing planted", each, "")
    table(COLUMNS, list(lines(results)))
    for name, answers in before.items():
        causes = listed(Counter(one.cause for one in answers))
        print(f"{name} with nothing planted: {len(answers)} answers are marked wrong; {causes}")
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
