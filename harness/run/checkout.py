"""Checkout: the commit and branch of git that a run was made from."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

PATIENCE: Final = 5.0  # seconds for git, whose folder may lie on a slow disk
# Settings of a checkout may name programs; these commands are not to run any.
GIT: Final = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
STATUS: Final = ("status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=all")
INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


def checked_out(folder: Path) -> dict[str, object] | None:
    """What is checked out where a folder lies; None outside of git, without git, or before the first commit.

    A checkout around a folder that it ignores, or around installed packages that it does not track, says nothing of
    what lies in there: such as the sample suite, installed into a virtual environment within a project.

    Returns:
        ``commit``: its hash; ``branch``: its name, None where a commit is checked out by itself; ``changed``: whether
        tracked files differ from the commit.
    """
    place = folder.absolute()
    if not any((each / ".git").exists() for each in (place, *place.parents)):
        return None
    try:
        if not _belongs(place):
            return None
        lines = _git(place, *STATUS).decode("utf-8", "replace").splitlines()
    except (OSError, subprocess.SubprocessError):  # no git, a damaged checkout, one of somebody else: a run needs none
        return None
    head = {name: value for name, _, value in (line[2:].partition(" ") for line in lines if line.startswith("# "))}
    commit, branch = head.get("branch.oid", ""), head.get("branch.head")
    if not commit or commit.startswith("("):  # (initial)
        return None
    changed = any(not line.startswith("# ") for line in lines)
    return {"commit": commit, "branch": None if branch == "(detached)" else branch, "changed": changed}


def _belongs(folder: Path) -> bool:
    """Whether the checkout tracks files in a folder, or would if they were added."""
    if _git(folder, "ls-files", "--", "."):
        return True
    try:
        _git(folder, "check-ignore", "--quiet", ".")
    except subprocess.CalledProcessError as error:
        return error.returncode == 1 and INSTALLED.isdisjoint(folder.parts)
    return False


def _git(folder: Path, *arguments: str) -> bytes:
    done = subprocess.run(  # noqa: S603 - the commands are constants
        (*GIT, *arguments), cwd=folder, capture_output=True, timeout=PATIENCE, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout
