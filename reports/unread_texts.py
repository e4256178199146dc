"""Unread texts: problems of texts that are too short to measure, or of which a metric saw only a part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..metrics.evaluators import evaluator_of
from .problem import Problem, listed, number_of_rows, problem_in
from .reported_run import ReportedRun, metrics_once
from .row_keys import rows_too_short, truncated_metrics, truncated_rows
from .run import RunEvaluator
from .summary import BotSummary

SPLIT_INTO_SENTENCES: Final = ("groundedness", "summary_completeness")
TOO_SHORT: Final = "Nothing need be done for short answers that are right; otherwise ask the bot for whole sentences."
TRUNCATED: Final = "Take a model with a longer window, or give it less to read at once, such as smaller chunks."
_SUMMAC: Final = (
    "SummaC reads a source's first 100 sentences, summac_conv only an answer's first 10, and its model cuts pairs of"
    " long sentences: ask for shorter summaries, or of shorter sources."
)
_LIMIT: Final = "The metric compares only the beginning of texts that are so long: see why the bot wrote so much."
_SUPPORT: Final = "Have smaller contexts: cut the documents into smaller chunks, and tables and lists into sentences."
_BY_METRIC: Final[Mapping[str, str]] = {
    "summac_zs": _SUMMAC,
    "summac_conv": _SUMMAC,
    "rouge_l": _LIMIT,
    "longest_repeated_substring": _LIMIT,
    "faithfulness": f"{_SUPPORT} Or take another verifier.",
}
_BY_NEED: Final[Mapping[str, str]] = {
    "embedder": "Take an embedder with a longer window, or give it less to read at once, such as smaller chunks.",
    "hallucination_model": f"{_SUPPORT} Or take a model with a longer window: HHEM 2.1 reads 4,096 tokens, 1.0 512.",
    "minicheck_model": "Set chunk_words lower, to 300 for a model that reads 512 tokens.",
    "alignscore_model": f"{_SUPPORT} Models of this kind read no more than 512 tokens.",
    "lettucedetect_model": "Have fewer or smaller contexts (a lower top_k, smaller chunks): the end of what is too"
    " long is not read, and what stands there counts as unsupported.",
    "toxicity_model": "See whether these answers are tables, lists or code without an end of a sentence; otherwise"
    " name a model with a longer window for toxicity under local_models.",
    "fairness_bias_model": "The model reads the beginning of an answer only (the default 512 tokens): ask the bot for"
    " shorter answers, or name a model with a longer window for fairness_bias under local_models.",
    "perplexity_model": "Set the option stride of perplexity, so that a window moves over the whole answer, or name a"
    " model with a longer window under local_models.",
    "gptscore_model": "The end of the question, or of the text to compare with, was left out: name a model with a"
    " longer window for gptscore under local_models, on this machine or of a server.",
}


def unread_texts(run: ReportedRun) -> Iterator[Problem]:
    """Texts without a sentence to compare, by metric; texts that were cut, once an evaluator and bot."""
    for bot in run.bots:
        cut = truncated_metrics(run, bot.name)
        by_evaluator: dict[str, list[str]] = {}
        for evaluator, metric in metrics_once(run):
            if metric in SPLIT_INTO_SENTENCES:
                yield from _too_short(run, evaluator, bot, metric)
            if metric in cut and bot.metrics[metric].n_ok:
                by_evaluator.setdefault(evaluator.id, []).append(metric)
        for id, metrics in by_evaluator.items():
            yield _cut(run, id, bot, metrics)


def _too_short(run: ReportedRun, evaluator: RunEvaluator, bot: BotSummary, metric: str) -> Iterator[Problem]:
    rows = rows_too_short(run, bot.name, metric) if bot.metrics[metric].reasons else None
    if rows and rows.total:
        yield problem_in(
            "low", "data", f"{bot.name}: the texts of {number_of_rows(rows.total)} are too short for {metric}.",
            TOO_SHORT, rows, bot=bot.name, evaluator=evaluator.id, metric=metric,
        )  # fmt: skip


def _cut(run: ReportedRun, evaluator: str, bot: BotSummary, metrics: Sequence[str]) -> Problem:
    rows = truncated_rows(run, bot.name, metrics)
    return problem_in(
        "low", "data", f"{bot.name}: {listed(metrics)} saw only part of a text on {number_of_rows(rows.total)}.",
        " ".join(dict.fromkeys(map(advice, metrics))), rows, bot=bot.name, evaluator=evaluator, metric=metrics[0],
    )  # fmt: skip


def advice(metric: str) -> str:
    """What to do about texts of which a metric did not see all, by what it reads them with."""
    if metric in _BY_METRIC:
        return _BY_METRIC[metric]
    family = evaluator_of(metric)
    return next((_BY_NEED[need] for need in (family.needs if family else ()) if need in _BY_NEED), TRUNCATED)
