"""ExtractiveChat: the embedded chat model, which answers with the best sentences of the context it was given."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..metrics.tools import Embedded
from .chat import ChatRequest, Completion
from .instructions import Instructions, read_instructions
from .passage_sentences import Sayable, sayable_sentences
from .sentence_ranking import Ranked, index_sentences, score_sentences

DEFAULT_SENTENCES = 2
# A further sentence is said only when it scores nearly as well as the best one.
NEARLY_AS_GOOD = 0.7
# Below this best score the refusal of the prompt is said, where it has one. On CLAPNQ it lets 88 % of the answerable
# questions through and stops 67 % of the unanswerable ones, whose passage is about the right thing and yet without
# the answer (area under the ROC curve 0.85; MiniLM); of questions with a foreign passage it stops 99.7 % (XQuAD).
REFUSAL_THRESHOLD = 0.36
MOST_SENTENCES_KEPT = 60_000  # about 100 MB of vectors
OPENING = "Thank you for your question."
CLOSING = "I am happy to help further."
_RULES = ("extractive.py", "instructions.py", "passage_sentences.py", "sentence_ranking.py")


class SentenceEmbedder(Protocol):
    """What is needed of the embedder."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Unit vectors of texts that will come again."""
        ...

    async def embed_fresh(self, texts: Sequence[str]) -> Embedded:
        """Unit vectors of texts that are not worth keeping."""
        ...


class ExtractiveChat:
    """Picks sentences, and writes none. Of the prompt it follows what ``read_instructions`` finds there.

    Sentences come from the contexts only, never from the question or the instructions. The same request always
    gives the same answer.
    """

    name = "extractive"
    embedded = True
    context_tokens: int | None = None

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, Ranked] = OrderedDict()
        self._kept_sentences = 0

    @property
    def settings(self) -> Mapping[str, object]:
        """The embedder, and a digest of the rules by which sentences are picked."""
        return {"model": self.name, "embedder": self._embedder.model_id, "rules": _rules_digest()}

    async def prepare(self, texts: Sequence[str] = ()) -> None:
        """Split and embed the texts, so that a question costs its own embedding and a product of matrices."""
        await self._rank(texts)

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer from ``request.contexts``, following ``request.instructions``."""
        wanted = _read_once(request.instructions or request.system)
        passages = await self._rank([context.text for context in request.contexts])
        if not any(len(passage.said) for passage in passages):
            return Completion(text=wanted.refusal or "", declined=True)
        asked = await self._embedder.embed_fresh([request.question])
        in_order = all(context.score is not None for context in request.contexts)
        scores = score_sentences(request.question, asked.vectors[0], passages, in_order=in_order)
        best = float(scores.max())
        trace = {"best_score": round(best, 4)}
        if wanted.refusal is not None and best < REFUSAL_THRESHOLD:
            return Completion(text=wanted.refusal, declined=True, trace=trace)
        said = [each for passage in passages for each in passage.said]
        chosen = _choose(said, scores, wanted.most_sentences or DEFAULT_SENTENCES)
        return Completion(text=_worded(chosen, wanted), declined=False, trace=trace)

    async def close(self) -> None:
        """Forget the sentences that were kept."""
        self._kept.clear()
        self._kept_sentences = 0

    async def _rank(self, texts: Sequence[str]) -> list[Ranked]:
        """The texts' sentences with their vectors; those of new texts are embedded together."""
        new = list(dict.fromkeys(text for text in texts if text not in self._kept))
        found = {text: self._kept[text] for text in texts if text in self._kept}
        if new:
            found |= dict(zip(new, await self._index(new), strict=True))
        for text in found:
            self._keep(text, found[text])
        return [found[text] for text in texts]

    async def _index(self, texts: Sequence[str]) -> Iterator[Ranked]:
        split = [sayable_sentences(text) for text in texts]
        topics = [list(dict.fromkeys(each.topic for each in said if each.topic)) for said in split]
        wanted = [each for said, named in zip(split, topics, strict=True) for each in (*(s.text for s in said), *named)]
        vectors = (await self._embedder.embed(wanted)).vectors if wanted else np.empty((0, 1), np.float32)
        return _indexed(split, topics, vectors)

    def _keep(self, text: str, ranked: Ranked) -> None:
        if text not in self._kept:
            self._kept[text] = ranked
            self._kept_sentences += len(ranked.said)
        self._kept.move_to_end(text)
        while self._kept_sentences > MOST_SENTENCES_KEPT and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._kept_sentences -= len(dropped.said)


def _indexed(
    split: Sequence[Sequence[Sayable]], topics: Sequence[Sequence[str]], vectors: NDArray[np.float32]
) -> Iterator[Ranked]:
    """Give each text its part of the vectors: its sentences first, then its topics."""
    start = 0
    for said, named in zip(split, topics, strict=True):
        middle, end = start + len(said), start + len(said) + len(named)
        yield index_sentences(said, vectors[start:middle], named, vectors[middle:end])
        start = end


def _choose(said: Sequence[Sayable], scores: NDArray[np.float64], most: int) -> list[str]:
    """The best sentences in the order in which they stand in the contexts; overlapping passages repeat some."""
    best = int(scores.argmax())
    chosen = [best]
    least = scores[best] * NEARLY_AS_GOOD
    for number in map(int, np.argsort(-scores, kind="stable")[: most * 8]):
        if len(chosen) == most or scores[number] < least:
            break
        text = said[number].text
        if not any(text in said[other].text or said[other].text in text for other in chosen):
            chosen.append(number)
    return [said[number].text for number in sorted(chosen)]


def _worded(chosen: Sequence[str], wanted: Instructions) -> str:
    answer = " ".join(chosen)
    return f"{OPENING} {answer} {CLOSING}" if wanted.polite else answer


@lru_cache(maxsize=64)
def _read_once(template: str) -> Instructions:
    return read_instructions(template)


@lru_cache(maxsize=1)
def _rules_digest() -> str:
    """SHA-256 over the code that picks: whatever changes in it, answers are asked for again."""
    here = Path(__file__).parent
    return hashlib.sha256(b"\0".join((here / name).read_bytes() for name in _RULES)).hexdigest()
