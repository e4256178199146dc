"""Holding again: what to type to hold a run once more, made from its manifest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ....bots.redaction import HIDDEN, redacted_command
from ...manifest_parts import mapping_in
from ...run import BETWEEN, CONFIRMED, REWORDED, SURVEYED

HOLDING: Final = ("run", "score", "gate")  # commands that hold an exam
# What a suite has that says nothing of it, by the option that changes it.
OPTIONS: Final[Mapping[str, int]] = {"repeat": 1, "concurrency": 16}
_REQUIREMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE: Final = re.compile(r"(?:[A-Za-z]+ )?\$\{?([A-Za-z_]\w*)\}?")  # such as "Bearer $KEY"
# What was downloaded may name the machine that it was built for; the registry knows only the public part.
_LOCAL_VERSION: Final = re.compile(r"\+.*")


@dataclass(frozen=True, slots=True)
class HoldingAgain:
    """What to type, ready to be copied.

    Attributes:
        command: one line for a shell; blank where the manifest does not tell.
        is_typed: whether that is what was typed; it is put together from the settings otherwise.
        packages: one line that brings the same versions; blank where they are not known.
        variables: names of the environment variables that the suite refers to.
        notes: sentences about what the command needs and does.
    """

    command: str
    is_typed: bool
    packages: str
    variables: tuple[str, ...]
    notes: tuple[str, ...]


def holding_again(manifest: Mapping[str, Any], suite: str) -> HoldingAgain:
    """What holds a run again; ``suite`` is its name, which tells what a run was made for."""
    settings = mapping_in(manifest.get("settings"))
    typed = _typed(manifest.get("command"))
    words = typed or list(_rebuilt(settings))
    command = shlex.join(words)
    notes = tuple(_notes(words, bool(typed), suite)) if words else ()
    variables = tuple(dict.fromkeys(_variables(settings.get("suite"))))
    return HoldingAgain(command, bool(typed), _packages(manifest), variables, notes)


def _typed(command: object) -> list[str]:
    """What was typed, with no secret; empty where something else than the program held the exam."""
    if not isinstance(command, Sequence) or isinstance(command, str) or len(command) < 2 or command[1] not in HOLDING:
        return []
    return ["proctor", *redacted_command(map(str, command[1:]))]


def _rebuilt(settings: Mapping[str, Any]) -> Iterator[str]:
    """The command that does what was done from Python or in a test."""
    if recorded := settings.get("recorded"):
        yield from ("proctor", "score", str(recorded))
        return
    if not (file := settings.get("suite_file")):
        return
    suite = mapping_in(settings.get("suite"))
    yield from ("proctor", "run", str(file))
    bots = [str(name) for name in settings.get("bots") or ()]
    if bots != list(mapping_in(suite.get("bots"))):
        yield from ("--bots", ",".join(bots))
    if settings.get("limit"):
        yield from ("--limit", str(settings["limit"]))
    for option, default in OPTIONS.items():
        if settings.get(option, default) != suite.get(option, default):
            yield from (f"--{option}", str(settings[option]))
    if settings.get("latency_run"):
        yield "--latency-run"


def _packages(manifest: Mapping[str, Any]) -> str:
    found = [
        f"{name}=={_LOCAL_VERSION.sub('', str(version))}"
        for name, version in mapping_in(manifest.get("packages")).items()
    ]
    fit = [each for each in found if all(map(_REQUIREMENT.fullmatch, each.split("==")))]
    return shlex.join(["pip", "install", *fit]) if fit else ""


def _notes(words: Sequence[str], is_typed: bool, suite: str) -> Iterator[str]:
    if not is_typed:
        yield "The run was not held by this command but from Python or a test: it is put together from the settings."
    yield "Relative paths start in the folder where it is typed."
    if suite.endswith(REWORDED):
        yield "It holds the run of the questions as they are first, and then this one, of the reworded questions."
    if suite.endswith(BETWEEN):
        yield "This run stands between two others, to explain their difference; the command holds all of them."
    if suite.endswith(SURVEYED):
        yield "This run was held by 'proctor knowledge', to see what documents and settings do; it holds all of them."
    if suite.endswith(CONFIRMED):
        yield "This run asks again what changed, to tell a change from noise; the command holds the gate as a whole."
    if "--fresh" not in words:
        yield "What the database has already is not asked again; with --fresh everything is."
    if any(HIDDEN in word for word in words):
        yield f"{HIDDEN} stands for a secret that was typed and is not kept here."


def _variables(value: object, name: str = "") -> Iterator[str]:
    """Environment variables that settings refer to, wherever they do."""
    match value:
        case Mapping():
            for key, inner in value.items():
                yield from _variables(inner, str(key))
        case list() | tuple():
            for inner in value:
                yield from _variables(inner, name)
        case str() if name == "api_key_env":
            yield value
        case str() if found := _VARIABLE.fullmatch(value):
            yield found[1]
