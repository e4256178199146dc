"""Names of files: made of any names, so that every file system takes them."""

import re
from collections.abc import Sequence


def file_names(names: Sequence[str]) -> dict[str, str]:
    """Names that every file system takes, one for each, different even where case does not count."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:80] or "_"
        number = 1
        while (candidate := plain if number == 1 else f"{plain}-{number}").lower() in taken:
            number += 1
        taken.add(candidate.lower())
        made[name] = candidate
    return made
