"""Forecast showing: what an exam will take, as a table of 80 columns or as one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from ...reports.leaderboard import count
from ...reports.models_in_use import named
from ...reports.printable import printable
from ..engine.listed_models import ListedModel
from ..exams.sketches import CHARACTERS_A_TOKEN, CHUNK_SIZE, CHUNKS
from ..forecast.forecast import Amount, Forecast, Share
from .model_list import model_object
from .streams import write_json

NAME, FIGURE = 27, 12
WIDTH = 80


def show_forecast(made: Forecast, stdout: TextIO, as_json: bool) -> None:
    """Print the forecast."""
    if as_json:
        write_json(forecast_object(made), stdout)
    else:
        stdout.write("\n".join(_lines(made)) + "\n")


def forecast_object(made: Forecast) -> dict[str, object]:
    """The forecast for machines."""
    per_row, per_question = made.planned
    return {
        "suite": made.suite,
        "questions": made.questions,
        "rows": made.rows,
        "rows_to_ask": made.to_ask,
        "rows_to_score": made.to_score,
        "judge": made.judge or None,
        "judge_requests_per_row": per_row,
        "judge_requests_per_question": per_question,
        "bots": {name: _amount_object(amount) for name, amount in made.bots.items()},
        "calls": {name: _amount_object(amount) for name, amount in made.calls.items()},
        "judge_check": _amount_object(made.check),
        "metrics": {
            share.name: {
                "per_row": share.per_row,
                "per_question": share.per_question,
                **_amount_object(share.amount),
                "shares": list(share.shares),
            }
            for share in made.shares
        },
        "total": _amount_object(made.total),
        "local_models": [model_object(model) for model in made.models],
        "assumptions": list(_assumptions(made)),
    }


def _amount_object(amount: Amount) -> dict[str, object]:
    return {
        "requests": round(amount.requests),
        "tokens_in": round(amount.tokens_in),
        "tokens_out": round(amount.tokens_out),
        "cost": amount.cost,
    }


def _lines(made: Forecast) -> Iterator[str]:
    answers = f"{count(made.rows, 'answer')} of bots to {count(made.questions, 'question')}"
    yield from _folded(f"{printable(made.suite)}: {answers}, {made.to_ask:,} of them to be asked for")
    yield from _folded(_judging(made))
    if made.total.requests:
        yield ""
        yield _row("", "requests", "tokens in", "tokens out", "cost")
        yield from _amounts("bots", made.bots)
        yield from _amounts("judge", made.calls)
        if made.check.requests:
            yield _figures("self-test of the judge", made.check)
        yield _figures("all", made.total)
    if made.shares and made.calls:
        yield ""
        yield _row("what each metric adds", "requests", "tokens in", "tokens out", "cost")
        yield from _shares(made.shares)
    if made.models:
        yield ""
        yield "models of metrics"
        for model in made.models:
            yield from _folded(_model(model), "  ")
    yield ""
    for sentence in _assumptions(made):
        yield from _folded(sentence)


def _judging(made: Forecast) -> str:
    if not made.judge:
        return "No metric asks a judge."
    if made.is_embedded:
        return "The judge is embedded: no requests, no money."
    per_row, per_question = made.planned
    plan = f"{count(per_row, 'request')} a row and {per_question:,} a question"
    return f"Judge {printable(made.judge)}: {plan}; {made.to_score:,} answers to be judged"


def _model(model: ListedModel) -> str:
    size = "" if model.megabytes is None else f", {model.megabytes:,} MB"
    if model.is_served:
        where = "a server runs it"
    elif model.trouble:
        where = model.trouble
    else:
        where = f"{'here' if model.is_here else 'not here'}{size}"
    return f"{model.role} {printable(model.model_id)}: {printable(where)}; for {named(model.metrics)}"


def _amounts(title: str, amounts: Mapping[str, Amount]) -> Iterator[str]:
    if amounts:
        yield title
        for name, amount in amounts.items():
            yield _figures(f"  {printable(name)}", amount)


def _shares(shares: Sequence[Share]) -> Iterator[str]:
    """A line for each that adds something, and one for all that share the same calls and add nothing."""
    free: dict[tuple[str, ...], list[str]] = {}
    for share in shares:
        if share.amount.requests:
            yield _figures(f"  {share.name}", share.amount)
            if share.shares:
                yield from _folded(f"and shares {', '.join(share.shares)}", "    ")
        else:
            free.setdefault(share.shares, []).append(share.name)
    for calls, names in free.items():
        if calls:
            yield from _folded(f"only shared ({', '.join(calls)}): {', '.join(names)}", "  ")


def _figures(name: str, amount: Amount) -> str:
    cost = "-" if amount.cost is None else f"{amount.cost:.4f}"
    return _row(name, f"{amount.requests:,.0f}", f"{amount.tokens_in:,.0f}", f"{amount.tokens_out:,.0f}", cost)


def _row(name: str, *cells: str) -> str:
    head = name if len(name) <= NAME else f"{name}\n{'':{NAME}}"
    return f"{head:<{NAME}}{''.join(f'{cell:>{FIGURE}}' for cell in cells)}".rstrip()


def _assumptions(made: Forecast) -> Iterator[str]:
    if made.total.requests:
        yield (
            f"Reckoned with {CHARACTERS_A_TOKEN} characters a token, as in English; replies without reasoning; without "
            "repeated attempts, repairs of unreadable replies and what is kept of earlier calls."
        )
    if made.assumed:
        yield (
            "Answers that are not there yet are taken to be as long as the expected ones, and contexts as long as the "
            f"bots' settings have it ({CHUNKS} of {CHUNK_SIZE} characters for bots of your own). What bots of your own "
            "spend is not known."
        )
    if made.unpriced and made.total.cost is not None:
        yield f"The cost leaves out {', '.join(made.unpriced)}: no price_in and price_out are given."
    if made.total.requests and made.total.cost is None:
        yield "For money, give price_in and price_out (of a million tokens) of each model under `models`."
    yield "Nothing was asked."


def _folded(sentence: str, indent: str = "") -> Iterator[str]:
    line = indent
    for word in sentence.split():
        if len(line) + len(word) >= WIDTH and line.strip():
            yield line.rstrip()
            line = indent
        line += f"{word} "
    yield line.rstrip()
