"""Perturb command: questions reworded, as a file of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ... import InputError
from .conventions import DONE, UNABLE, Json, Judge, JudgeUrl, complain, interruptible, judged_by_someone_fit

if TYPE_CHECKING:
    from ...knowledge.perturbing.variants import Recipe

STOPPED = "Stopped. Nothing was written."


def perturb(
    questions: Annotated[
        Path | None, typer.Argument(metavar="QUESTIONS", help="The questions: CSV, JSONL, JSON or YAML.")
    ] = None,
    kinds: Annotated[
        str, typer.Option(metavar="A,B", help="How they are reworded: kinds, `encoding`, `offline` or `all`.")
    ] = "offline",
    intensity: Annotated[
        str, typer.Option(metavar="X,Y", help="Shares of letters or words that are changed, each a variant.")
    ] = "0.1",
    variants: Annotated[int, typer.Option(min=1, metavar="N", help="Variants made alike, with other draws.")] = 1,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Another number draws other variants.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The file of variants: .jsonl, .json, .yaml, .csv or .tsv.")
    ] = Path("perturbed.jsonl"),
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    control: Annotated[
        bool, typer.Option("--control/--no-control", help="With an unchanged copy of each question.")
    ] = True,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    concurrency: Annotated[int | None, typer.Option(min=1, metavar="N", help="Calls to the judge in flight.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Only list the kinds.")] = False,
    as_json: Json = False,
) -> None:
    """Reword questions on purpose: typos, synonyms, negations. Each variant says what must become of the answer."""
    from ..showing.streams import own_stdout

    with interruptible(STOPPED), judged_by_someone_fit(), own_stdout() as stdout:
        if listed:
            from ..showing.perturb_table import show_kinds

            show_kinds(stdout, as_json)
            return
        if questions is None:
            raise InputError("Name the file of questions: proctor perturb QUESTIONS; --list shows the kinds.")
        from ..deciding.perturbed_file import JudgeOptions, perturb_file
        from ..showing.perturb_table import show_perturbed

        named = tuple(name.strip() for name in kinds.split(",") if name.strip())
        recipe = _recipe(named, intensity, variants, seed, control)
        asked = JudgeOptions(judge, judge_url, concurrency)
        made = perturb_file(questions, out, recipe, named, limit, asked, os.environ)
        for warning in made.warnings:
            complain(warning)
        if made.written.problem:
            complain(made.written.problem)
        show_perturbed(made, stdout, as_json)
    raise typer.Exit(UNABLE if made.written.problem else DONE)


def _recipe(named: Sequence[str], intensity: str, variants: int, seed: int, control: bool) -> Recipe:
    from ...knowledge.perturbing.kinds import choose_kinds
    from ...knowledge.perturbing.variants import Recipe

    if not named:
        raise InputError("--kinds names no kind; 'proctor perturb --list' shows them.")
    return Recipe(choose_kinds(named), _shares(intensity), variants, seed, control)


def _shares(given: str) -> tuple[float, ...]:
    shares = []
    for text in filter(None, (part.strip() for part in given.split(","))):
        try:
            share = float(text)
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            raise InputError(f"--intensity: {text!r} is no share; numbers above 0 and up to 1 are, such as 0.05,0.1.")
        shares.append(share)
    if not shares:
        raise InputError("--intensity names no share; numbers above 0 and up to 1 are wanted, such as 0.05,0.1.")
    return tuple(shares)
