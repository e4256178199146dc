"""The texts and claims that were written for the training of the support model, and which of them are kept back.

``written.jsonl.gz``, a text on a line: its kind, its family (a text and its twins, which have other facts and the same
claims), the text, for some a question that the claims answer, and claims with their labels. A language model wrote
them, told what a small model gets wrong; nobody has checked them but another reader of the same kind, who gave 276 of
280 claims the same label without seeing it.
"""

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WRITTEN = Path(__file__).with_name("written.jsonl.gz")


def written_texts(kept_back: bool) -> Iterator[dict[str, Any]]:
    """Those to train on, or the one of eight families that is kept back to measure with."""
    with gzip.open(WRITTEN, "rt", encoding="utf-8") as lines:
        for text in map(json.loads, lines):
            if (int(hashlib.sha256(text["family"].encode()).hexdigest(), 16) % 8 == 0) == kept_back:
                yield text
