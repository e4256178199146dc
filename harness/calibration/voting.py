"""Voting: people say which of two answers is better, without knowing whose they are."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from ... import InputError
from ...knowledge import open_rows
from ...knowledge.questions.rows import Reading
from ...metrics.judge.pairs import Better, PairVerdict
from ...reports.calibration.labels import LONGEST_CELL
from ...reports.compare.comparable import pair
from ...reports.compare.operands import match_bots, open_operand
from ...reports.compare.side_by_side import PEOPLE, AnswerPair, StoredVerdict, answer_pairs, save_verdicts
from ...reports.files import check_file, csv_line, whole_file
from ...reports.leaderboard import count
from ...reports.store.database import Store

COLUMNS: Final = ("pair", "question_id", "question", "expected", "evidence", "answer_1", "answer_2", "vote", "write")
WRITE: Final = "1, 2 or tie"
VOTES: Final[Mapping[str, Better]] = {
    "1": "baseline", "2": "candidate", "tie": "tie", "=": "tie", "1.0": "baseline", "2.0": "candidate",
}  # fmt: skip
PREFIX: Final = "pair-"
_IS_PAIR: Final = re.compile(rf"{PREFIX}[0-9a-f]{{32}}")
MOST_NAMED: Final = 5  # mistakes that are listed


@dataclass(frozen=True, slots=True)
class PairDraw:
    """Which pairs are drawn: how many, into which file, and by which seed."""

    number: int
    out: Path
    seed: int = 0
    force: bool = False


def draw_pairs(database: Path, first: str, second: str, draw: PairDraw) -> list[str]:
    """Write a sheet of pairs in random order, each with its two answers in random order; returns a summary.

    Answers that are equal are left out, as nobody can prefer one of them.

    Raises:
        InputError: a side is not there or has no answers, all answers are equal, or the file can't be written.
    """
    check_file(draw.out, "--out", {database.resolve(): "--db"})
    if draw.out.exists() and not draw.force:
        raise InputError(f"--out: {draw.out} exists already, perhaps with votes in it. Give another name, or --force.")
    with open_operand(first, database) as baseline, open_operand(second, database) as candidate:
        pairs: dict[bytes, AnswerPair] = {}
        for old, new in match_bots(baseline, candidate, ()).pairs:
            pairing = pair(baseline.run.tables[old], candidate.run.tables[new])
            pairs |= {one.content: one for one in answer_pairs(baseline, candidate, pairing)}
    choice = [one for one in pairs.values() if one.settled() is None]
    if not choice:
        raise InputError("No question has two different answers, so there is nothing to vote on.")
    places = np.random.default_rng(draw.seed).permutation(len(choice))[: draw.number]
    drawn = [choice[place] for place in places]
    with whole_file(draw.out) as file:
        file.writelines(_sheet(drawn, draw.seed))
    return [
        f"Wrote {draw.out}: {len(drawn):,} of {count(len(choice), 'pair')} of different answers, drawn at random (seed "
        f"{draw.seed}), without the bots' names.",
        f"Write {WRITE} into the column vote. Then:",
        f"  proctor calibrate --labels {shlex.quote(str(draw.out))}",
    ]


def _sheet(pairs: Iterable[AnswerPair], seed: int) -> Iterator[bytes]:
    yield "\N{ZERO WIDTH NO-BREAK SPACE}".encode() + csv_line(COLUMNS)
    for one in pairs:
        shown = one if _straight(one, seed) else replace(one, baseline=one.candidate, candidate=one.baseline)
        texts = (shown.question, "\nor: ".join(shown.expected), "\n\n".join(shown.evidence), shown.baseline or "",
                 shown.candidate or "")  # fmt: skip
        cells = [text[:LONGEST_CELL] for text in texts]
        yield csv_line([f"{PREFIX}{shown.content.hex()}", shown.key, *cells, "", WRITE])


def _straight(one: AnswerPair, seed: int) -> bool:
    """Whether the baseline's answer is shown first: as good as a coin, and the same again for the same seed."""
    return hashlib.sha256(f"{seed} ".encode() + one.content).digest()[0] % 2 == 0


def is_votes(path: Path) -> bool:
    """Whether a file is a sheet of pairs; one that can't be read is not."""
    try:
        _, row = next(iter(open_rows(path, "a file of votes", ("votes", "rows")).rows(Reading())))
    except (InputError, StopIteration, OSError):
        return False
    return {"pair", "vote"} <= row.keys()


def save_votes(database: Path, sheet: Path) -> str:
    """Store the votes of a filled-in sheet; returns a summary.

    Raises:
        InputError: a line is not one of ours, or its vote can't be read, all of them; then nothing is stored.
    """
    found: list[tuple[bytes, str, StoredVerdict]] = []
    mistakes: list[str] = []
    blank = 0
    for line, row in open_rows(sheet, "a file of votes", ("votes", "rows")).rows(Reading()):
        vote = str(row.get("vote") if row.get("vote") is not None else "").strip().removeprefix("'").casefold()
        content = str(row.get("pair") or "").strip()
        if not vote:
            blank += 1
        elif vote not in VOTES:
            mistakes.append(f"{sheet}:{line}: vote {vote[:40]!r}; {WRITE} is wanted.")
        elif not _IS_PAIR.fullmatch(content):
            mistakes.append(f"{sheet}:{line}: {content[:60]!r} is no pair that 'proctor label --pairs' wrote.")
        else:
            verdict = StoredVerdict(PEOPLE, PEOPLE, "", PairVerdict(VOTES[vote]))
            found.append((bytes.fromhex(content.removeprefix(PREFIX)), str(row.get("question_id") or ""), verdict))
    if mistakes:
        more = [f"And {len(mistakes) - MOST_NAMED:,} more such lines."] if len(mistakes) > MOST_NAMED else []
        raise InputError("\n".join([*mistakes[:MOST_NAMED], *more]))
    if not found:
        raise InputError(f"{sheet} has no vote: write {WRITE} into the column vote.")
    store = Store.open(database, create=False)
    try:
        save_verdicts(store, found)
    finally:
        store.close()
    left = f"; {blank:,} lines are blank" if blank else ""
    return f"{count(len(found), 'vote')} stored{left}. 'proctor compare A B' shows them beside the judge's verdicts."
