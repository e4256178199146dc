"""Proctor puts chat bots through the same exam: ask, time, score, keep, compare."""

__version__ = "0.1.0"

# `python -m proctor` looks for __main__ beside this file; the top level is kept to the folders and so few files,
# so it lies in the harness.
__path__.append(f"{__path__[0]}/harness/entry")


class InputError(Exception):
    """The user gave something that can't be used; the message is a whole sentence that says what to do."""


__all__ = ["InputError", "__version__"]
