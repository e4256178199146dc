"""Claims and texts of the human-labelled sets, as the embedded judge sees them, each row with its label."""

import gzip
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from agreement import Floats, numbered
from labelled_data import DATA, Row, read
from numpy.typing import NDArray
from proctor.metrics.text import sentences


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A row: is the answer supported by the chunks?

    Attributes:
        label: 1 or 0; a mean of votes where a set has them.
        document: rows of one document belong together.
        group: what is balanced or compared within a set: the source of a row, or the pair that it is of.
    """

    answer: str
    chunks: tuple[str, ...]
    label: float
    document: Hashable
    group: str = ""

    @property
    def claims(self) -> tuple[str, ...]:
        """The answer's sentences; the answer as it is when there are none."""
        return sentences(self.answer) or (self.answer,)


def _first_context(row: Row) -> Hashable:
    return str(row["contexts"][0])


# The label, the document, and whether the contexts are sentences of one text.
_SETS: dict[str, tuple[Callable[[Row], Any], Callable[[Row], Hashable], bool]] = {
    "q2_wow": (lambda row: row["label"]["consistent"], _first_context, False),
    "wice": (lambda row: row["label"]["support"] == "supported", lambda row: row["label"]["claim_title"], True),
    "fever_symmetric": (lambda row: row["label"]["consistent"], _first_context, False),
    "cad_nli": (lambda row: row["label"]["nli"] == "entailment", _first_context, False),
    "summedits": (lambda row: row["label"]["consistent"], _first_context, False),
    "factcheckgpt_stance": (
        lambda row: row["label"]["stance"] == "completely-support",
        lambda row: row["answer"],
        False,
    ),
    "mtrag_human": (
        lambda row: np.mean(row["label"]["faithfulness"]),
        lambda row: row["question"],
        False,
    ),
    "begin": (lambda row: row["label"]["attributable"], _first_context, False),
    "defacto": (lambda row: row["label"]["consistent"], _first_context, False),
    "bump": (lambda row: row["label"]["consistent"], _first_context, False),
    "qags": (lambda row: row["label"]["consistency"], _first_context, False),
}


def cases(name: str) -> list[Case]:
    """All rows of the development half of a set."""
    return [_case(row, *_SETS[name]) for row in read(name)]


def _case(row: Row, label: Callable[[Row], Any], document: Callable[[Row], Hashable], one_text: bool) -> Case:
    contexts = tuple(row["contexts"])
    group = row["label"].get("pair") or row["label"].get("dataset") or ""
    chunks = ("\n".join(contexts),) if one_text else contexts
    return Case(row["answer"], chunks, float(label(row)), document(row), group)


def training_pairs() -> list[Case]:
    """The pool of premises and hypotheses that is there to be trained on; entailed or not."""
    with gzip.open(DATA / "nli_pool" / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [_pair(json.loads(line)) for line in lines]


def _pair(row: Row) -> Case:
    premise = row["contexts"][0]
    return Case(row["answer"], (premise,), float(row["label"]["nli"] == "entailment"), premise, row["id"].split("-")[1])


def labels(found: Sequence[Case], cut: float = 0.5) -> NDArray[np.bool_]:
    return np.array([case.label > cut for case in found], dtype=np.bool_)


def clusters(found: Sequence[Case]) -> NDArray[np.intp]:
    return numbered([case.document for case in found])


def claims_of(found: Sequence[Case]) -> Iterator[tuple[int, str]]:
    """Every claim with the number of its row."""
    for place, case in enumerate(found):
        for claim in case.claims:
            yield place, claim


def row_means(values: Floats, places: NDArray[np.intp], count: int) -> Floats:
    """Mean of the claims' values for each row; every row has a claim."""
    return np.bincount(places, weights=values, minlength=count) / np.bincount(places, minlength=count)
