"""Printable: text from anywhere made safe for a terminal."""


def printable(text: str) -> str:
    """The text without control characters, so that no answer or name can steer a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def printable_lines(text: str) -> str:
    """As ``printable``, with the ends of lines left as they are."""
    return "\n".join(printable(line) for line in text.splitlines())
