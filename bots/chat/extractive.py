"""ExtractiveChat: the embedded chat model, which answers with the best sentences of its context."""

import hashlib
import math
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...metrics.text import sentences as sentences_of
from ...metrics.text import stem
from .model import ChatRequest, Completion, FreshEmbedder

_NUMBERS = {
    "one": 1, "single": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_NUMBER = r"\d{1,2}|a(?!\s+(?:couple|few|single)\b)|" + "|".join(_NUMBERS)
_LENGTH = re.compile(
    rf"\b(?P<low>{_NUMBER})(?:\s*(?:-|\u2013|to|or)\s*(?P<high>{_NUMBER}))?(?:\s+of)?\s+(?:[a-z]+,?\s+){{0,2}}sentences?\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\b(?:say|reply|answer|respond|write|state|return|output)\b[^\"“”\n.]{0,40}[\"“](?P<phrase>[^\"“”\n]{2,300})[\"”]",
    re.IGNORECASE,
)
_WITHOUT_ANSWER = re.compile(
    r"\b(?:unless|otherwise)\b|\b(?:if|when|where|whenever)\b.*(?:\bnot\b|n't|n\u2019t|\bno\b|\bcannot\b|\bunable\b"
    r"|\bmissing\b|\binsufficient\b|\bwithout\b|\bnothing\b|\bunsure\b)",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPED = re.compile(r"[ \t]*\n(?![ \t]*(?:\n|[-*•#]|\d+[.)]))[ \t]*")  # a line break inside a paragraph
_POLITE = re.compile(r"\b(?:polite|politely|friendly|courteous|courteously)\b", re.IGNORECASE)
_IMPOLITE = re.compile(
    r"(?:\bnot|n't|n\u2019t|\bno need to be|\bwithout being)\s+(?:be\s+|overly\s+|too\s+)*(?:polite|friendly)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a prompt asks for.

    Attributes:
        most_sentences: sentences of an answer at most; None when the prompt does not say.
        refusal: what to say when the documents don't hold the answer; None: an answer is always given.
        polite: whether the answer is to be polite.
    """

    most_sentences: int | None = None
    refusal: str | None = None
    polite: bool = False


def read_instructions(template: str) -> Instructions:
    """Find in a prompt template the few things that the extractive model can do.

    - "in one sentence", "at most two sentences", "2-3 short sentences": the (upper) number.
    - *say*, *reply*, *answer* ... followed by a text in double quotes, in a sentence with a condition such as
      "if the documents do not contain the answer": the text.
    - "polite", "friendly", "courteous": politeness.

    The last mention counts where two disagree, as later instructions do for a language model.

    >>> read_instructions('Use up to 3 sentences. If it is not in the text, reply exactly "No idea."')
    Instructions(most_sentences=3, refusal='No idea.', polite=False)
    """
    template = _WRAPPED.sub(" ", template)
    most = None
    for found in _LENGTH.finditer(template):
        most = max(1, _number(found["high"] or found["low"]))
    refusal = None
    for found in _QUOTED.finditer(template):
        if _WITHOUT_ANSWER.search(_sentence_around(template, found.start("phrase") - 1, found.end())):
            refusal = found["phrase"].strip()
    polite = bool(_POLITE.search(template)) and not _IMPOLITE.search(template)
    return Instructions(most, refusal, polite)


def _number(written: str) -> int:
    return 1 if written.lower() == "a" else _NUMBERS.get(written.lower()) or int(written)


def _sentence_around(template: str, start: int, end: int) -> str:
    """The sentence about a quoted text: from a full stop, blank line or list mark before it to the next after it."""
    before = 0
    for found in re.finditer(r"[.!?][\"”)]*\s|\n\s*\n|\n\s*(?:[-*•]|\d+[.)])\s", template[:start]):
        before = found.end()
    after = re.match(r"[^.\n]*", template[end:])
    return template[before:start] + (after[0] if after else "")


_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^\s{0,3}(?:=+|-{2,})\s*$")
_RULE = re.compile(r"^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")
_ITEM = re.compile(r"^\s*(?:[-*+•‣\u2013]|\(?\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_ROW = re.compile(r"^\s*\|(.*)\|\s*$")
_ROW_RULE = re.compile(r"^[\s|:-]+$")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
# Bounded repeats: a text full of unmatched marks must not take quadratic time.
_MARKS = (
    (re.compile(r"!\[([^\[\]]{0,500})\]\([^()]{0,2000}\)"), r"\1"),
    (re.compile(r"\[([^\[\]]{1,500})\]\((?:[^()\s]|\([^()]{0,500}\)){0,2000}(?:\s+\"[^\"]{0,500}\")?\)"), r"\1"),
    (re.compile(r"\[([^\[\]]{1,500})\]\[[^\[\]]{0,500}\]"), r"\1"),
    (re.compile(r"<(https?://[^<>\s]{1,2000})>"), r"\1"),
    (re.compile(r"<!--.{0,500}?-->|</?[A-Za-z][^<>]{0,2000}>"), " "),
    (re.compile(r"`{1,3}([^`]{1,500})`{1,3}"), r"\1"),
    (re.compile(r"(\*{1,3})(?=\S)(.{1,500}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=\S)(.{1,500}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"~~(.{1,500}?)~~"), r"\1"),
)
_PRIVATE = 0xE000  # where escaped marks hide, in the private use area, until the others are taken off
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_HIDDEN = re.compile(f"[{chr(_PRIVATE + 0x21)}-{chr(_PRIVATE + 0x7E)}]")
_ENDS = tuple(".!?…。\uff01\uff1f।")
LONGEST_TITLE = 80  # characters of a line of its own that counts as a heading, as in plain text files
LONGEST_LIST = 800  # characters of a list that are said together with its introduction


@dataclass(frozen=True, slots=True)
class Sayable:
    """A sentence, or a list with its introduction, that can be part of an answer.

    Attributes:
        text: what the answer would say.
        topic: the heading or the question above it in the text; not part of the answer.
        whole: False when it has no proper end or beginning, as at the edge of a passage.
    """

    text: str
    topic: str = ""
    whole: bool = True


@dataclass(slots=True)
class _Block:
    kind: str  # "text", "item", "row", "head" (of a table), "heading"
    text: str


def sayable_sentences(text: str) -> list[Sayable]:
    r"""Split a passage into sentences that can be part of an answer.

    Headings, and sentences that end with a question mark, are not answers: they become the topic of what
    follows. A sentence that ends with a colon is joined with the list after it, or else with the next sentence.

    >>> [each.text for each in sayable_sentences("# Ways to pay\nWe take:\n- Visa\n- **PayPal**")]
    ['We take: Visa; PayPal.']
    """
    collector = _Collector()
    for block in _blocks(text):
        collector.add(block)
    collector.end_list()
    return collector.found


@dataclass(slots=True)
class _Collector:
    """What was found so far, and what is still open: the topic, an introduction, the items of a list."""

    found: list[Sayable] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    topic: str = ""
    lead: str = ""
    items: list[str] = field(default_factory=list)

    def add(self, block: _Block) -> None:
        if block.kind == "item":
            self.items.append(block.text)
            return
        if self.items or block.kind != "text":
            self.end_list()
        if block.kind in ("row", "head"):
            self._add_row(block)
            return
        self.columns = []
        if block.kind == "heading":
            self.topic = block.text
            return
        for sentence in sentences_of(block.text):
            if any(map(str.isalnum, sentence)):
                self._add_sentence(sentence)

    def _add_row(self, block: _Block) -> None:
        """A row is said as ``first cell: column and cell, column and cell``; the head gives the columns."""
        cells = [cell.strip() for cell in block.text.split("|")]
        if block.kind == "head":
            self.columns = cells
            return
        named = zip(cells[1:], (self.columns or cells)[1:], strict=False)
        rest = ", ".join(" ".join(filter(None, [column if self.columns else "", cell])) for cell, column in named)
        if sentence := ": ".join(filter(None, [cells[0], rest])):
            self.found.append(Sayable(_ended(sentence), self.topic))

    def _add_sentence(self, sentence: str) -> None:
        if sentence.endswith("?"):
            self.end_list()
            self.topic = sentence
        elif self.lead:
            self.found.append(Sayable(f"{self.lead} {sentence}", self.topic))
            self.lead = ""
        elif sentence.endswith(":"):
            self.lead = sentence
        else:
            self.found.append(Sayable(sentence, self.topic, _is_whole(sentence)))

    def end_list(self) -> None:
        """Say the list that is open, if there is one."""
        if self.lead or self.items:
            self.found.extend(_listed(self.lead, self.items, self.topic))
        self.lead, self.items = "", []


def without_marks(text: str) -> str:
    """A line of Markdown as it reads: links by their text, no emphasis, no tags."""
    text, escaped = _ESCAPED.subn(lambda found: chr(_PRIVATE + ord(found[1])), text)
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    if escaped:
        text = _HIDDEN.sub(lambda found: chr(ord(found[0]) - _PRIVATE), text)
    return " ".join(text.split())


def _listed(lead: str, items: list[str], topic: str) -> Iterator[Sayable]:
    """A list after its introduction is said in one go; a long one, or one without introduction, item by item."""
    if not lead:
        yield from (Sayable(_ended(item), topic) for item in items)
    elif not items:
        yield Sayable(lead, topic)
    elif len(lead) + sum(map(len, items)) <= LONGEST_LIST:
        sentence = "; ".join(item.rstrip(" .;,") for item in items)
        yield Sayable(f"{lead} {sentence}.", topic)
    else:
        yield from (Sayable(f"{lead} {_ended(item)}", topic) for item in items)


def _is_whole(sentence: str) -> bool:
    """Whether it ends like a sentence and does not begin in the middle of one."""
    return sentence.rstrip("\"'”\u2019)]»")[-1:] in _ENDS and not sentence[0].islower()


def _ended(item: str) -> str:
    return item if item[-1:] in _ENDS else item.rstrip(" ;,") + "."


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs (wrapped lines joined), list items, table rows and headings, in their order, without marks."""
    open_block: _Block | None = None
    for line in [*text.splitlines(), None]:
        kind, content = _read_line(line) if line is not None else ("end", "")
        if open_block and open_block.kind == "text" and (kind == "underline" or _is_title(open_block, kind)):
            open_block.kind = "heading"
        if open_block and open_block.kind == "row" and kind == "row rule":
            open_block.kind = "head"
        continues = kind == "text" and open_block is not None and open_block.kind in ("text", "item")
        if continues and open_block is not None:
            open_block.text += f" {content}"
            continue
        if open_block and (shown := without_marks(open_block.text)):
            yield _Block(open_block.kind, shown)
        open_block = _Block(kind, content) if content and kind in ("text", "item", "row", "heading") else None


def _is_title(block: _Block, next_line: str) -> bool:
    """A short line without an end, followed by a blank line and more; at the end it would be a cut sentence."""
    closed = block.text[-1] in (*_ENDS, ":") or re.search(r"[.!?]\s", block.text)
    return next_line == "blank" and len(block.text) <= LONGEST_TITLE and not closed


def _read_line(line: str) -> tuple[str, str]:
    """What a line is, and its text without the mark that says so."""
    line = _QUOTE.sub("", line)
    if not line.strip() or _FENCE.match(line):
        return "blank", ""
    if heading := _HEADING.match(line):
        return "heading", heading[1]
    if _UNDERLINE.match(line):
        return "underline", ""
    if _ROW_RULE.match(line) and "|" in line and "-" in line:
        return "row rule", ""
    if _RULE.match(line):
        return "blank", ""
    if item := _ITEM.match(line):
        return "item", item[1]
    if row := _ROW.match(line):
        return "row", row[1]
    return "text", line.strip()


# Chosen on the answerable questions of CLAPNQ and on XQuAD English, where the best sentence is a right one for
# 78 % and 86 % (cosine alone: 76 % and 77 %); between 0.3 and 0.7 hardly anything changes.
WORDS_SHARE = 0.5
# Half of the way to a topic that is nearer to the question than the sentence under it.
TOPIC_SHARE = 0.5
FIRST_PASSAGE = 0.03  # for a sentence of the first passage that was retrieved, 1/2 of it for the second, and so on
FRAGMENT = 0.05  # off for what a passage's edge has cut
_WORD = re.compile(r"\w+")
EMPTY_WORDS = frozenset({
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "of",
    "on", "or", "our", "shall", "should", "so", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sentences of one passage, ready to be compared with questions.

    Attributes:
        sentences: the sentences.
        vectors: shape (n, dimensions), rows of unit length.
        topics: shape (t, dimensions), one row for each distinct topic.
        topic_of: shape (n,), the row of a sentence's topic; -1 where it has none.
        places: word stem -> numbers of the sentences that have it.
        topic_places: word stem -> numbers of the sentences whose topic has it.
        whole: shape (n,), False for fragments.
    """

    sentences: Sequence[Sayable]
    vectors: NDArray[np.float32]
    topics: NDArray[np.float32]
    topic_of: NDArray[np.intp]
    places: dict[str, NDArray[np.intp]]
    topic_places: dict[str, NDArray[np.intp]]
    whole: NDArray[np.bool_]


def index_sentences(
    sentences: Sequence[Sayable],
    vectors: NDArray[np.float32],
    topics: Sequence[str],
    topic_vectors: NDArray[np.float32],
) -> Ranked:
    """Put sentences and their vectors together with what is looked up for each question."""
    numbers = {topic: number for number, topic in enumerate(topics)}
    return Ranked(
        sentences=sentences,
        vectors=vectors,
        topics=topic_vectors,
        topic_of=np.array([numbers.get(each.topic, -1) for each in sentences], dtype=np.intp),
        places=_places(each.text for each in sentences),
        topic_places=_places(each.topic for each in sentences),
        whole=np.array([each.whole for each in sentences], dtype=bool),
    )


def score_sentences(
    question: str, vector: NDArray[np.float32], passages: Sequence[Ranked], *, in_order: bool
) -> NDArray[np.float64]:
    """How well each sentence answers the question.

    ``(1 - WORDS_SHARE)`` x cosine + ``WORDS_SHARE`` x the share of the question's words that the sentence has,
    weighted by how rare they are among these sentences (idf). A topic's words count half, and a nearer topic
    lifts the cosine half of the way.

    Args:
        question: the question.
        vector: its embedding, of unit length.
        passages: what to rank.
        in_order: whether the passages are in the order of a retriever.

    Returns:
        Shape (number of sentences in all passages,), in their order; about 0 to 1, higher is better.
    """
    cosine: NDArray[np.float64] = np.concatenate([_cosine(passage, vector) for passage in passages], dtype=np.float64)
    if words := {stem(word) for word in _content_words(question)}:
        shared = _shared_words(words, passages, len(cosine))
        scores = (1 - WORDS_SHARE) * cosine + WORDS_SHARE * shared
    else:
        scores = cosine
    scores -= FRAGMENT * ~np.concatenate([passage.whole for passage in passages])
    if in_order:
        bonus = [FIRST_PASSAGE / rank for rank in range(1, len(passages) + 1)]
        scores += np.repeat(bonus, [len(passage.sentences) for passage in passages])
    return scores


def _cosine(passage: Ranked, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    own: NDArray[np.float32] = passage.vectors @ vector
    if not len(passage.topics):
        return own
    topic = np.append(passage.topics @ vector, np.float32(-1))[passage.topic_of]  # -1 finds the last: no topic
    own += np.maximum(topic - own, 0) * np.float32(TOPIC_SHARE)
    return own


def _shared_words(words: set[str], passages: Sequence[Ranked], count: int) -> NDArray[np.float64]:
    """The share of the question's words in each sentence, by weight."""
    shared = np.zeros(count)
    total = 0.0
    for word in sorted(words):
        present = np.zeros(count)
        start = 0
        for passage in passages:
            if (under := passage.topic_places.get(word)) is not None:
                present[under + start] = TOPIC_SHARE
            if (inside := passage.places.get(word)) is not None:
                present[inside + start] = 1
            start += len(passage.sentences)
        weight = math.log(1 + count / (0.5 + np.count_nonzero(present)))
        shared += weight * present
        total += weight
    return shared / total


def _places(texts: Iterable[str]) -> dict[str, NDArray[np.intp]]:
    found: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        for word in {stem(word) for word in _content_words(text)}:
            found.setdefault(word, []).append(number)
    return {word: np.array(numbers, dtype=np.intp) for word, numbers in found.items()}


def _content_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in EMPTY_WORDS]


DEFAULT_SENTENCES = 2
# A further sentence is added only when it scores nearly as well as the best one.
NEARLY_AS_GOOD = 0.7
# Below this best score the answer is the refusal of the prompt, if it has one. On CLAPNQ it lets 88 % of the answerable
# questions through and stops 67 % of the unanswerable ones, whose passage is about the right thing and yet without
# the answer (area under the ROC curve 0.85; MiniLM); of questions with a foreign passage it stops 99.7 % (XQuAD).
REFUSAL_THRESHOLD = 0.36
MOST_SENTENCES_KEPT = 60_000  # about 100 MB of vectors
OPENING = "Thank you for your question."
CLOSING = "I am happy to help further."


class ExtractiveChat:
    """Picks sentences, and writes none. It follows the parts of the prompt that ``read_instructions`` finds.

    Sentences come from the contexts only, never from the question or the instructions. The same request always
    gives the same answer.
    """

    name = "extractive"
    embedded = True
    context_tokens: int | None = None

    def __init__(self, embedder: FreshEmbedder) -> None:
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
        await self._embedder.load()  # where all vectors are cached the first question would load the model

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer from ``request.contexts``, following ``request.instructions``."""
        wanted = _read_once(request.instructions or request.system)
        passages = await self._rank([context.text for context in request.contexts])
        if not any(len(passage.sentences) for passage in passages):
            return Completion(text=wanted.refusal or "", abstained=True)
        asked = await self._embedder.embed_fresh([request.question])
        in_order = all(context.score is not None for context in request.contexts)
        scores = score_sentences(request.question, asked.vectors[0], passages, in_order=in_order)
        best = float(scores.max())
        trace = {"best_score": round(best, 4)}
        if wanted.refusal is not None and best < REFUSAL_THRESHOLD:
            return Completion(text=wanted.refusal, abstained=True, trace=trace)
        sentences = [each for passage in passages for each in passage.sentences]
        chosen = _choose(sentences, scores, wanted.most_sentences or DEFAULT_SENTENCES)
        return Completion(text=_worded(chosen, wanted), abstained=False, trace=trace)

    async def close(self) -> None:
        """Clear the cache of sentences."""
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
        topics = [list(dict.fromkeys(each.topic for each in sentences if each.topic)) for sentences in split]
        wanted = [
            each
            for sentences, named in zip(split, topics, strict=True)
            for each in (*(s.text for s in sentences), *named)
        ]
        vectors = (await self._embedder.embed(wanted)).vectors if wanted else np.empty((0, 1), np.float32)
        return _indexed(split, topics, vectors)

    def _keep(self, text: str, ranked: Ranked) -> None:
        if text not in self._kept:
            self._kept[text] = ranked
            self._kept_sentences += len(ranked.sentences)
        self._kept.move_to_end(text)
        while self._kept_sentences > MOST_SENTENCES_KEPT and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._kept_sentences -= len(dropped.sentences)


def _indexed(
    split: Sequence[Sequence[Sayable]], topics: Sequence[Sequence[str]], vectors: NDArray[np.float32]
) -> Iterator[Ranked]:
    """Give each text its part of the vectors: its sentences first, then its topics."""
    start = 0
    for sentences, named in zip(split, topics, strict=True):
        middle, end = start + len(sentences), start + len(sentences) + len(named)
        yield index_sentences(sentences, vectors[start:middle], named, vectors[middle:end])
        start = end


def _choose(sentences: Sequence[Sayable], scores: NDArray[np.float64], most: int) -> list[str]:
    """The best sentences in their order in the contexts; overlapping passages repeat some."""
    best = int(scores.argmax())
    chosen = [best]
    least = scores[best] * NEARLY_AS_GOOD
    for number in map(int, np.argsort(-scores, kind="stable")[: most * 8]):
        if len(chosen) == most or scores[number] < least:
            break
        text = sentences[number].text
        if not any(text in sentences[other].text or sentences[other].text in text for other in chosen):
            chosen.append(number)
    return [sentences[number].text for number in sorted(chosen)]


def _worded(chosen: Sequence[str], wanted: Instructions) -> str:
    answer = " ".join(chosen)
    return f"{OPENING} {answer} {CLOSING}" if wanted.polite else answer


@lru_cache(maxsize=64)
def _read_once(template: str) -> Instructions:
    return read_instructions(template)


@lru_cache(maxsize=1)
def _rules_digest() -> str:
    """SHA-256 over the code that picks sentences: after any change answers are asked for again."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
