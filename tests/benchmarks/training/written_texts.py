"""The texts and claims that were written for the training of the support model, and which of them are kept back.

``written.jsonl.gz``, a text on a line: its kind, its family (a text and its twins, which have other facts and the same
claims), the text, for some a question that the claims answer, and claims with their labels. A language model wrote
them, told what a small model gets wrong; nobody has checked them but another reader of the same kind, who gave 276 of
280 claims the same label without seeing it.

``written_answers.jsonl.gz``, a question on a line: its kind, its family, the question, the expected answer, and
answers, right (1) or wrong (0).
"""

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WRITTEN = Path(__file__).with_name("written.jsonl.gz")
WRITTEN_ANSWERS = Path(__file__).with_name("written_answers.jsonl.gz")


def written_texts(kept_back: bool) -> Iterator[dict[str, Any]]:
    """Those to train on, or the one of eight families that is kept back to measure with."""
    return _families(WRITTEN, kept_back)


def written_answers(kept_back: bool) -> Iterator[dict[str, Any]]:
    """The same of the answers."""
    return _families(WRITTEN_ANSWERS, kept_back)


def _families(path: Path, kept_back: bool) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for text in map(json.loads, lines):
            if (int(hashlib.sha256(text["family"].encode()).hexdigest(), 16) % 8 == 0) == kept_back:
                yield text
