"""Evaluator list: every named group of metrics, as text, as a table or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import orjson
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ...metrics import builtin_catalog
from ...metrics.evaluators import EVALUATORS, GROUPS, RATES, is_of_the_suite, missing_from

if TYPE_CHECKING:
    from ...metrics import Catalog
    from ...metrics.evaluators import Evaluator

OWN_PROMPTS = "A suite has one byop.NAME for each prompt that it names under byop."


def show_evaluators(as_json: bool, as_markdown: bool = False) -> None:
    """Print all evaluators that there are or are to be."""
    catalog = builtin_catalog()
    evaluators = EVALUATORS.values()
    if as_json:
        made = {"evaluators": [evaluator_object(each, catalog) for each in evaluators], "groups": dict(GROUPS)}
        sys.stdout.write(orjson.dumps(made, option=orjson.OPT_INDENT_2).decode() + "\n")
    elif as_markdown:
        sys.stdout.write(evaluator_table(evaluators, catalog))
    else:
        _show(evaluators, catalog)


def evaluator_table(evaluators: Iterable[Evaluator], catalog: Catalog) -> str:
    """The table of the README: one line an evaluator that is there, those that are not in a sentence below."""
    known = list(evaluators)
    lines = ["| id | evaluator | primary metric | other metrics | board |", "|---|---|---|---|---|"]
    lines += [
        f"| `{each.id}` | {each.title} | `{each.primary}` | {_others(each, catalog)} | {each.board} |"
        for each in known
        if _there(each, catalog)
    ]
    rates = ", ".join(f"`.{rate}`" for rate in RATES[1:])
    waiting = ", ".join(f"`{each.id}`" for each in known if not _there(each, catalog))
    sentences = [f"The other rates are {rates}. {OWN_PROMPTS}"]
    sentences += [f"Known, and not yet there: {waiting}."] if waiting else []
    return "\n".join(lines) + "\n\n" + "\n".join(sentences) + "\n"


def evaluator_object(evaluator: Evaluator, catalog: Catalog) -> dict[str, object]:
    """All that is known of an evaluator, JSON-able."""
    return {
        "id": evaluator.id,
        "title": evaluator.title,
        "number": evaluator.number,
        "primary": evaluator.primary,
        "metrics": list(evaluator.metrics),
        "board": evaluator.board,
        "problem_type": evaluator.problem_type,
        "needs": list(evaluator.needs),
        "rag_only": evaluator.rag_only,
        "there": bool(_there(evaluator, catalog)),
        "missing": [] if is_of_the_suite(evaluator) else list(missing_from(evaluator, catalog)),
    }


def _there(evaluator: Evaluator, catalog: Catalog) -> tuple[str, ...]:
    return evaluator.metrics if is_of_the_suite(evaluator) else evaluator.there(catalog)


def _others(evaluator: Evaluator, catalog: Catalog) -> str:
    """The metrics that are there beside the primary one."""
    if evaluator.board == "bool":
        return "the other rates"
    return ", ".join(f"`{metric}`" for metric in evaluator.there(catalog) if metric != evaluator.primary)


def _show(evaluators: Iterable[Evaluator], catalog: Catalog) -> None:
    console = Console(emoji=False, highlight=False)
    width = console.width if console.is_terminal else 80
    for evaluator in evaluators:
        heading = Text(evaluator.id, style="bold")
        number = f" ({evaluator.number})" if evaluator.number else ""
        heading.append(f"  {evaluator.title}{number}", style="not bold")
        console.print(heading, width=width)
        for line, style in _facts(evaluator, catalog):
            console.print(Padding(Text(line, style=style, overflow="fold"), (0, 0, 0, 4)), width=width)
    console.print(Text(f"The other rates are {', '.join(f'.{rate}' for rate in RATES[1:])}."), width=width)
    for name, members in GROUPS.items():
        console.print(Text(f"{name}  all of {', '.join(members)}", overflow="fold"), width=width)


def _facts(evaluator: Evaluator, catalog: Catalog) -> Iterable[tuple[str, str]]:
    if is_of_the_suite(evaluator):
        yield OWN_PROMPTS, "dim"
    elif not evaluator.there(catalog):
        yield "not yet there", "yellow"
    elif missing := missing_from(evaluator, catalog):
        yield f"there, but for {', '.join(missing)}", "yellow"
    for_whom = "; only for bots that return contexts" if evaluator.rag_only else ""
    yield f"{evaluator.board} by {evaluator.primary}; needs {', '.join(evaluator.needs)}{for_whom}", "dim"
    others = [metric for metric in evaluator.metrics if metric != evaluator.primary]
    if evaluator.board == "bool":
        yield "also the other rates", "dim"
    elif others:
        yield f"also {', '.join(others)}", "dim"
