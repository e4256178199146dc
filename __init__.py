"""Proctor puts chat bots through the same exam: ask, time, score, keep, compare."""

import os

__version__ = "0.1.0"

# Nothing leaves the machine that the user did not configure. The packages below Proctor read these when they are
# imported, so they must stand before any of them, and child processes inherit them. A value that is there already is
# the user's own; so is LANGSMITH_TRACING, which is off unless it is set.
for _name, _value in {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, transformers, sentence-transformers
    "RAY_USAGE_STATS_ENABLED": "0",
    "DO_NOT_TRACK": "1",  # what else may come with somebody's bot
}.items():
    os.environ.setdefault(_name, _value)

# `python -m proctor` looks for __main__ beside this file; the top level is kept to the folders and so few files,
# so it lies in the harness.
__path__.append(f"{__path__[0]}/harness/entry")


class InputError(Exception):
    """The user gave something that can't be used; the message is a whole sentence that says what to do."""


__all__ = ["InputError", "__version__"]
