"""Marks: what tells series apart (a colour and a shape), and how much room a text takes."""

from __future__ import annotations

import unicodedata
from typing import Final

FONT_SIZE: Final = 12.0
COLOURS: Final = 8  # --series-0 to --series-7
LONGEST_LABEL: Final = 26
# Shapes around 0, 0; all of about the same area. None is used twice before all have been used.
SHAPES: Final = (
    "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",  # circle
    "M-4,-4h8v8h-8z",  # square
    "M0,-5.5L5,4h-10z",  # triangle
    "M0,-5.7L5.7,0L0,5.7L-5.7,0z",  # diamond
    "M0,5.5L5,-4h-10z",  # triangle on its head
    "M-1.7,-5.2h3.4v3.5h3.5v3.4h-3.5v3.5h-3.4v-3.5h-3.5v-3.4h3.5z",  # plus
    "M0,-5.4L5.1,-1.7L3.2,4.4L-3.2,4.4L-5.1,-1.7z",  # pentagon
    "M-5.2,0L-2.6,-4.5L2.6,-4.5L5.2,0L2.6,4.5L-2.6,4.5z",  # hexagon
    "M-5,-3h10v6h-10z",  # bar that lies
)


def shape(series: int) -> str:
    """The path of a series' shape. There is one more than there are colours, so pairs of both recur after 72."""
    return SHAPES[series % len(SHAPES)]


def colour(series: int) -> str:
    """The class of a series' colour."""
    return f"series-{series % COLOURS}"


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """The text in one line, its middle left out where it is too long: names differ most at their ends."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    end = (longest - 1) // 3
    return f"{line[: longest - 1 - end]}…{line[len(line) - end :]}"


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """About how many pixels a text takes, rather too many than too few."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return size * (wide * 1.0 + (len(text) - wide) * 0.58)
