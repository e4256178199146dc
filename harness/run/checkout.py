"""Checkout: the commit and branch of git that a run was made from."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

PATIENCE: Final = 5.0  # seconds for git, whose folder may lie on a slow disk
# Settings of a checkout may name programs; this one is not to run any.
COMMAND: Final = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch",
    "--untracked-files=no", "--ignore-submodules=all",
)  # fmt: skip


def checked_out(folder: Path) -> dict[str, object] | None:
    """What is checked out where a folder lies; None outside of git, without git, or before the first commit.

    Returns:
        ``commit``: its hash; ``branch``: its name, None where a commit is checked out by itself; ``changed``: whether
        tracked files differ from the commit.
    """
    place = folder.absolute()
    if not any((each / ".git").exists() for each in (place, *place.parents)):
        return None
    try:
        done = subprocess.run(  # noqa: S603 - the command is a constant
            COMMAND, cwd=place, capture_output=True, timeout=PATIENCE, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):  # no git, a damaged checkout, one of somebody else: a run needs none
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    head = {name: value for name, _, value in (line[2:].partition(" ") for line in lines if line.startswith("# "))}
    commit, branch = head.get("branch.oid", ""), head.get("branch.head")
    if not commit or commit.startswith("("):  # (initial)
        return None
    changed = any(not line.startswith("# ") for line in lines)
    return {"commit": commit, "branch": None if branch == "(detached)" else branch, "changed": changed}
