"""What a server that scores texts offers, and how a text is given to it to be tokenized."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers.

    Attributes:
        kind: vLLM and SGLang; llama.cpp; llama-cpp-python; or none of them, which turns no text into tokens.
        window: how many tokens of a prompt it reads; None when it doesn't say.
    """

    kind: Literal["vllm", "llama.cpp", "llama-cpp-python", "other"]
    window: int | None = None

    @property
    def takes_tokens(self) -> bool:
        """Whether a prompt can be given as tokens, so that nothing is put before it."""
        return self.kind in ("vllm", "llama.cpp")

    @property
    def begins(self) -> bool:
        """Whether a token is known to be put before a prompt."""
        return self.kind == "llama-cpp-python"


def texts(text: str) -> dict[str, object]:
    """What vLLM and llama.cpp call a text that is to be tokenized, with nothing put before it."""
    return {"prompt": text, "add_special_tokens": False, "content": text, "add_special": False}


def numbers(said: object) -> tuple[int, ...] | None:
    """Tokens out of an answer; None where there are no numbers of tokens."""
    found = said.get("tokens") if isinstance(said, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
        return None
    return tuple(found)


def size_of(said: object, name: str) -> int | None:
    """A number of tokens, where it is told."""
    value = said.get(name) if isinstance(said, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
