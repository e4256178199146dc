"""The files of a model's folder: its configuration, and those of its tokenizer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_TOKENIZERS: Final = (
    "tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt", "*.model"
)  # fmt: skip


def config_of(folder: Path) -> Mapping[str, Any]:
    """What stands in ``config.json``; empty where there is none that can be read."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def tokenizer_files(folder: Path) -> list[Path]:
    """The files from which a tokenizer is loaded, in the order of their names."""
    return sorted({path for pattern in _TOKENIZERS for path in folder.glob(pattern) if path.is_file()})
