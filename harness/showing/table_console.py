"""TableConsole: where tables of figures are printed, wide enough that no figure is folded or cut."""

from __future__ import annotations

from typing import Final, TextIO

from rich.console import Console

NARROWEST: Final = 80


class TableConsole(Console):
    """A console of 80 columns, or of the terminal's where that has more.

    A narrower terminal breaks the lines itself: a table made to fit would fold 0.052 after its point, or lose digits.
    Names of others are printed as they are: nothing in them is markup or stands for a picture.
    """

    def __init__(self, stdout: TextIO) -> None:
        super().__init__(file=stdout, highlight=False, markup=False, emoji=False)
        if not self.is_terminal or self.width < NARROWEST:
            self.width = NARROWEST

    def on_broken_pipe(self) -> None:
        """Leave it to the caller what a closed pipe means; rich would end the program with exit code 1."""
        raise  # it is being handled where this is called
