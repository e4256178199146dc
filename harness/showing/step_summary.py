"""Step summary: what GitHub Actions shows of a step: a page of Markdown, and annotations beside the checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TextIO

from ... import InputError

VARIABLE: Final = "GITHUB_STEP_SUMMARY"  # names the file whose Markdown GitHub shows
MOST: Final = 1024 * 1024  # bytes that GitHub takes of a step; of more it shows nothing at all
CUT: Final = (
    "\n**Cut here: a step summary holds 1 MiB at most.** `--markdown FILE` writes the whole page, which can be kept as"
    " an artefact of the job.\n"
)
_FOLD: Final = "</details>\n"


def write_step(page: str, annotations: Iterable[str], stream: TextIO, environ: Mapping[str, str]) -> str:
    """Print the annotations, and add a page to the summary of the step.

    Args:
        page: Markdown.
        annotations: commands, a line each.
        stream: where GitHub reads them.
        environ: names the file of the summary.

    Returns:
        A sentence that says what was not done; blank when all was.

    Raises:
        InputError: the file that the environment names can't be written.
    """
    stream.writelines(f"{line}\n" for line in annotations)
    stream.flush()
    return _append(page, environ)


def _append(page: str, environ: Mapping[str, str]) -> str:
    if not (named := environ.get(VARIABLE)):
        return f"{VARIABLE} is not set, as it is in GitHub Actions: there is no step summary to write to."
    path = Path(named)
    try:
        taken = path.stat().st_size if path.exists() else 0
        written = f"{page}\n".encode("utf-8", "replace")
        kept = written if taken + len(written) <= MOST else _cut(written, MOST - taken)
        with path.open("ab") as file:
            file.write(kept)
    except OSError as error:
        raise InputError(f"{VARIABLE} names {named}, which can't be written: {error.strerror or error}.") from error
    if kept == written:
        return ""
    return f"The step summary was cut to {len(kept):,} of {len(written):,} bytes: GitHub takes 1 MiB of a step."


def _cut(page: bytes, room: int) -> bytes:
    """The lines that fit, with what is folded closed again and a word that something is missing."""
    end = (_FOLD + CUT).encode()
    if room < len(end):
        return b""
    whole = page[: page.rfind(b"\n", 0, room - len(end)) + 1]
    is_open = whole.count(b"<details>") > whole.count(b"</details>")
    return whole + (_FOLD if is_open else "").encode() + CUT.encode()
