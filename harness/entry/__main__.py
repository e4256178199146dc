"""Lets ``python -m proctor`` run the command line; the root ``__init__.py`` says why it lies here."""

from proctor.harness.cli import program

program()
