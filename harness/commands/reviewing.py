"""Reviewing: the talk with the person who decides on drafts."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import typer

from ... import InputError
from ...knowledge.characters import storable
from ...reports.printable import printable
from .conventions import complain

if TYPE_CHECKING:
    from ..drafting.review import Review

_KEYS: Final = "[a]ccept  [e]dit question  edit ans[w]er  [r]eject  [s]kip  [b]ack  [q]uit > "
_HELP: Final = (
    "a accepts it, e and w change the words of question and answer, r rejects it for good, s leaves it for later, "
    "b takes the last step back, q ends. What was decided is in the file already."
)


def hold_review(review: Review) -> None:
    """Show one draft after the other and do what the person says, until all were shown or there is no more input."""
    from ..showing.drafts import screen

    if not review.waiting:
        typer.echo(f"There is no draft to decide on in {printable(str(review.path))}.")
        return
    shown = -1
    while (draft := review.current) is not None:
        if shown != review.number:
            typer.echo(screen(draft, review.number, review.waiting))
        shown = review.number
        said = _line(_KEYS)
        if said is None or said.strip().lower() in ("q", "quit", "exit"):
            break
        try:
            shown = -1 if _do(review, said.strip().lower()) else shown
        except InputError as error:
            complain(str(error))
    _end(review)


def _do(review: Review, said: str) -> bool:
    """Do it; whether the draft that is to be decided on is to be shown again."""
    steps: dict[str, Callable[[], None]] = {"a": review.accept, "r": review.reject, "s": review.skip}
    if said[:1] in steps and said in (said[:1], "accept", "reject", "skip"):
        steps[said[:1]]()
        return True
    if said in ("b", "back"):
        if not review.back():
            typer.echo("This is the first step; there is none to take back.")
        return True
    if said in ("e", "question", "w", "answer"):
        return _edit(review, of_question=said in ("e", "question"))
    typer.echo(_HELP if said in ("", "h", "help", "?") else f"There is no key {printable(said)[:20]!r}. {_HELP}")
    return False


def _edit(review: Review, *, of_question: bool) -> bool:
    draft = review.current
    if draft is None:
        return False
    old = draft.text if of_question else (draft.expected[0] if draft.expected else "")
    new = _line("Question (blank keeps it): " if of_question else "Answer (blank keeps it): ", old)
    new = storable(new or "").strip()
    if new and new != old:
        review.edit(question=new if of_question else "", answer="" if of_question else new)
    return True


def _line(prompt: str, given: str = "") -> str | None:
    """A line of the person, who may change what is given where there is a terminal; None when there is no more."""
    if sys.stdin is None or sys.stdin.closed:
        return None
    if sys.stdin.isatty():
        return _typed(prompt, given)
    typer.echo(prompt, nl=False)
    line = sys.stdin.readline()
    typer.echo("")
    return line.rstrip("\r\n") if line else None


def _typed(prompt: str, given: str) -> str | None:
    try:
        import readline
    except ImportError:  # Windows has none; then the line begins blank
        readline = None  # type: ignore[assignment]
    if readline is not None:
        readline.set_startup_hook(lambda: readline.insert_text(given))
    try:
        return input(prompt)
    except EOFError:
        return None
    finally:
        if readline is not None:
            readline.set_startup_hook(None)


def _end(review: Review) -> None:
    done = review.tally
    where = f" in {review.into}" if review.into is not None and done.accepted else ""
    said = f"{done.accepted:,} accepted{where}, {done.rejected:,} rejected, {review.left:,} still to decide on"
    typer.echo(printable(f"{said} in {review.path}."))
    if done.accepted and review.into is None:
        typer.echo(f"The accepted ones are questions of {shlex.quote(printable(str(review.path)))} from now on.")
