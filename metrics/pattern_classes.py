r"""Pattern classes: \w, \d, \s and \b as Python means them, written out for engines that mean something else."""

import re
from typing import Final

_WORD: Final = r"\p{L}\p{N}_"
_BLANK: Final = r"\x09-\x0d\x1c-\x20\x85\xa0" + "\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_EDGE: Final = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_OUTSIDE: Final = {
    "w": f"[{_WORD}]",
    "W": f"[^{_WORD}]",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "s": f"[{_BLANK}]",
    "S": f"[^{_BLANK}]",
    "b": _EDGE,
    "B": f"(?!{_EDGE})",
}
_INSIDE: Final = {"w": _WORD, "d": r"\p{Nd}", "D": r"\P{Nd}", "s": _BLANK}
_INSIDE_UNSPEAKABLE: Final = frozenset("WS")  # what is not one of several kinds can't be a member of a set
_FLAGS_THAT_CHANGE_READING: Final = re.compile(r"\(\?[a-zA-Z]*[axL]")
_SET_START: Final = re.compile(r"\[\^?\]?")


def with_python_classes(pattern: str) -> str | None:
    r"""The pattern with its classes of characters and its word boundaries written out by Unicode categories.

    To Python a word character is a letter or any number ("²" too), or an underscore, and no accent that stands alone.
    None where that can't be said, or where ASCII or verbose flags change how the pattern is to be read.

    >>> with_python_classes(r"\d[\w-]")
    '\\p{Nd}[\\p{L}\\p{N}_-]'
    """
    if _FLAGS_THAT_CHANGE_READING.search(pattern):
        return None
    made: list[str] = []
    place, is_in_set = 0, False
    while place < len(pattern):
        sign = pattern[place : place + 2] if pattern[place] == "\\" else pattern[place]
        if len(sign) == 2 and is_in_set and sign[1] in _INSIDE_UNSPEAKABLE:
            return None
        if len(sign) == 2:
            sign_made = (_INSIDE if is_in_set else _OUTSIDE).get(sign[1], sign)
        elif sign == "[" and not is_in_set:
            start = _SET_START.match(pattern, place)
            sign = sign_made = start.group() if start else sign
            is_in_set = True
        else:
            is_in_set = is_in_set and sign != "]"
            sign_made = sign
        made.append(sign_made)
        place += len(sign)
    return "".join(made)
