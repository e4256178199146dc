"""Questions of four data sets with known places, and the same ones with an answer that the documents don't hold."""

import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agreement import SEED
from labelled_data import read
from proctor.knowledge.documents.document import Document
from proctor.knowledge.questions.question import Question

_FIGURE = re.compile(r"\d+")
_SUPPORTED = {"supported": "supported", "partially_supported": "partial", "not_supported": "not"}


@dataclass(frozen=True)
class Asked:
    """A question, and what is known of it: ``variant`` is ``supported``, or why it is not."""

    question: Question
    variant: str
    cluster: str
    gold: frozenset[str]
    spans: tuple[tuple[str, int, int], ...] = ()
    without: frozenset[str] = frozenset()

    @property
    def is_reported(self) -> bool:
        """Whether its document is of the half that no weight was fitted on."""
        return zlib.crc32(self.cluster.encode()) % 2 == 1


def asked_of(name: str) -> tuple[list[Document], list[Asked]]:
    """All passages of a set as documents, and its questions with all their variants."""
    texts: dict[str, str] = {}
    plain = [one for row in read(name) if (one := _asked(name, row, texts)) is not None]
    documents = [Document(id, text) for text, id in texts.items()]
    return documents, [each for one in plain for each in _variants(one, plain)]


def _asked(name: str, row: dict, texts: dict[str, str]) -> Asked | None:
    label = row["label"]
    contexts = ["\n".join(row["contexts"])] if name == "wice" else row["contexts"]
    ids = [texts.setdefault(text, f"{name}-{len(texts)}") for text in contexts]
    if not label.get("answerable", True) or label.get("answerability", "ANSWERABLE") != "ANSWERABLE" or not ids:
        return None
    expected = row["answer"] if name == "wice" else row["expected_answer"]
    question = Question(row["id"], row["question"] or label["claim_title"], (expected,))
    cluster = f"{name}{label['title'] if name == 'xquad_en' else ids[0]}"
    variant = _SUPPORTED[label["support"]] if name == "wice" else "supported"
    return Asked(question, variant, cluster, frozenset(ids), tuple(_spans(name, row, contexts[0], ids[0])))


def _spans(name: str, row: dict, text: str, id: str) -> Iterator[tuple[str, int, int]]:
    """Where people, or the answer itself, say that the answer stands; none for mtrag_un."""
    label = row["label"]
    if name == "xquad_en":
        yield from ((id, match.start(), match.end()) for match in re.finditer(re.escape(row["expected_answer"]), text))
    supporting = [number for numbers in label.get("supporting_sentences", ()) for number in numbers]
    chosen = {"clapnq": label.get("selected_sentences", ()), "wice": supporting}
    parts = {"clapnq": label.get("sentences", ()), "wice": row["contexts"]}
    at = 0
    for number, part in enumerate(parts.get(name, ())):
        start = text.find(part, at)
        if start >= 0:
            at = start + len(part)
            if number in chosen[name]:
                yield id, start, at


def _variants(one: Asked, others: list[Asked]) -> Iterator[Asked]:
    yield one
    if one.variant != "supported":
        return
    drawer = random.Random(f"{SEED} {one.question.id}")
    key, expected = one.question.id, one.question.expected[0]
    yield replace(one, variant="gone", question=replace(one.question, id=f"{key} gone"), without=one.gold)
    if figures := list(_FIGURE.finditer(expected)):
        match = drawer.choice(figures)
        changed = expected[: match.start()] + str(int(match[0]) + drawer.randint(1, 9)) + expected[match.end() :]
        yield replace(one, variant="figure", question=replace(one.question, id=f"{key} figure", expected=(changed,)))
    same = [each.question.expected[0] for each in others if each.gold == one.gold and each is not one]
    apart = [each for each in same if each.lower() not in expected.lower() and expected.lower() not in each.lower()]
    if apart and one.cluster.startswith("xquad"):
        swapped = replace(one.question, id=f"{key} swapped", expected=(drawer.choice(apart),))
        yield replace(one, variant="swapped", question=swapped)
