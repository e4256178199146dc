"""Question commands: ``questions draft`` and ``questions review``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from ... import InputError
from .conventions import DONE, UNABLE, Database, Fresh, Json, JudgeUrl, Plan, complain, interruptible, say

_STOPPED: Final = "Stopped. No draft was written; what a model has replied is kept, and the same command goes on."

questions = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Draft questions from documents, and decide on drafts. A draft is never asked before a person accepts it.",
)


@questions.command()
def draft(
    suite: Annotated[Path, typer.Argument(metavar="SUITE.yaml", help="Whose documents; `sample` for the sample.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where drafts are added: .jsonl, .json, .yaml, .csv or .tsv.")
    ] = Path("drafts.jsonl"),
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="Drafts in all, at most.")] = 40,
    per_document: Annotated[
        int | None, typer.Option("--per-document", min=1, metavar="N", help="Drafts of one document, at most.")
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Who writes them: openai:NAME, langchain:file.py:name, a name under models, or embedded (rules, no "
            "model). Left out, the suite's judge.",
        ),
    ] = "",
    judge_url: JudgeUrl = "",
    only_planned: Plan = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, metavar="N", help="Draw among the drafts that could be made.")
    ] = None,
    fresh: Fresh = False,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Draft questions from a suite's documents, each with its answer and the place that carries it.

    Documents of which little is asked come first. Without a language model rules make them, in English.
    """
    from ..drafting.drafting import DraftOptions, draft_questions
    from ..showing.drafts import show_drafted
    from ..showing.streams import own_stdout
    from ..suite.suite_file import load_named

    with interruptible(_STOPPED), own_stdout() as stdout:
        options = DraftOptions(
            out, database, count, per_document, judge, judge_url, seed, fresh=fresh, only_planned=only_planned
        )
        made = draft_questions(load_named(suite), options, os.environ, say)
        for warning in made.warnings:
            complain(warning)
        problem = made.written.problem if made.written else ""
        if problem:
            complain(problem)
        show_drafted(made, stdout, as_json=as_json, only_planned=only_planned)
    raise typer.Exit(UNABLE if problem else DONE)


@questions.command()
def review(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A file with drafts in it, or a suite, for its file of questions."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="QUESTIONS", help="Add accepted ones to this file, such as the suite's."),
    ] = None,
) -> None:
    """Decide on drafts, one at a time. Each decision is kept at once; stop whenever you like."""
    from ..drafting.review import Review, file_of
    from .reviewing import hold_review

    if file is None:
        file = Path("drafts.jsonl")
        if not file.exists():
            raise InputError(
                "Name the file of drafts: proctor questions review FILE; 'questions draft SUITE.yaml' makes one."
            )
    with interruptible("Stopped. Every decision is kept; the same command goes on with what is left."):
        hold_review(Review(file_of(file), into))
