"""``turns``: which turn lost each conversation, and what earlier errors cost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...reports import count
from ..run import RunConfig
from .conventions import Database, Form, SuiteFile, interruptible, own_stdout, say, show_as, write_json

MOST = 1000


def turns(
    suite: SuiteFile = None,
    database: Database = Path("proctor.db"),
    config: RunConfig = RunConfig(),  # noqa: B008 - frozen
    most: Annotated[int, typer.Option(min=0, metavar="N", help="Turns to ask at most.")] = MOST,
    form: Form = Form.TEXT,
) -> None:
    """Find the turn that lost each conversation. Asks each turn on the bot's own history and on the expected one."""
    from ...reports.export import turn_blocks
    from ..analysis import lost_turns, plan_turns
    from ..run import watching
    from ..suite import load_named

    with interruptible("Stopped. What was answered is stored; the same command goes on from there."):
        loaded = load_named(suite)
        with own_stdout() as stdout:
            plan = plan_turns(loaded, config, os.environ, database, lambda _: None)
            sentence = f"{count(plan.to_ask, 'turn')} to ask at most; the others are cached."
            if config.only_planned:
                if form is Form.JSON:
                    write_json({"turns_to_ask": plan.to_ask, "left_out": plan.left_out}, stdout)
                else:
                    stdout.write(f"{sentence}\n")
                return
            if plan.to_ask > most:
                raise InputError(
                    f"{count(plan.to_ask, 'turn')} would be asked, and --most allows {most:,}. Give a higher --most, or"
                    " fewer conversations: --limit N, --bots A."
                )
            say(sentence)
            found = lost_turns(plan, database, watching, loaded.suite.seed)
            show_as(form, lambda: found.as_object, lambda: turn_blocks(found), stdout)
