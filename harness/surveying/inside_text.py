"""Inside text: findings about single documents: whether they can be read, what is boilerplate, languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...knowledge.examining.legibility import Defect, Illegible
from ...knowledge.examining.repeated_lines import Repeated
from ...reports.surveys.finding import Excerpt, Finding, Severity
from ..ground.ground import Ground
from .concerned import Concerned, Hit
from .document_languages import Foreign, Languages, spoken

_MOSTLY: Final = 0.5  # share of a document from which it is mostly boilerplate
_MUCH: Final = 0.3
_BADLY: Final = 0.05  # share of a document's characters that can't be read
_EXCERPTS: Final = 5
_SAID: Final[dict[Defect, tuple[str, str]]] = {
    "encoding": (
        "has letters that were read in the wrong encoding, such as {sample}",
        "Read {document} again as UTF-8 and save it so.",
    ),
    "replaced": (
        "has signs that could not be read and were lost",
        "Make {document} again from its source; what is lost can't be brought back.",
    ),
    "private": (
        "has signs that mean something in one font only, as PDF files give them",
        "Take the text of {document} out of its source in another way.",
    ),
    "spaced": (
        "has words whose letters stand apart, such as {sample}",
        "Join the letters in {document}, or take its text out of the PDF in another way.",
    ),
    "hyphenated": (
        "has words that are broken at the ends of lines, such as {sample}",
        "Join the broken words in {document}; a search for them finds nothing.",
    ),
    "ligatures": (
        "has ligatures in the place of letters, such as {sample}",
        "Write the ligatures of {document} as plain letters (NFKC).",
    ),
    "markup": (
        "has markup left in its text, such as {sample}",
        "Take the markup out of {document}.",
    ),
    "encoded": (
        "has encoded data in its text, such as a picture in base64",
        "Take the encoded data out of {document}.",
    ),
    "symbols": ("is made of signs rather than of words", "See whether {document} was read as it should be."),
    "tiny": ("is nearly empty", "Fill {document}, or take it out."),
    "no_sentence": (
        "has no sentence, only names, figures or titles",
        "See whether {document} was read as it should be; what it says should stand in sentences.",
    ),
}
_BY_COUNT: Final = frozenset(
    {"encoding", "replaced", "private", "spaced", "hyphenated", "ligatures", "markup", "encoded"}
)


class TextFindings:
    """Makes findings of what is wrong with the text of documents."""

    def __init__(self, ground: Ground, concerned: Concerned) -> None:
        self._texts = {document.id: document.text for document in ground.documents}
        self._concerned = concerned

    def illegible(self, found: Iterable[Illegible]) -> Iterator[Finding]:
        """One finding for each document that can't be read, with all that is wrong with it."""
        by_document: defaultdict[str, list[Illegible]] = defaultdict(list)
        for one in found:
            by_document[one.document].append(one)
        for document, ones in by_document.items():
            hit = self._concerned.by((document, start, end) for one in ones for start, end in one.spans)
            share = max(one.share for one in ones)
            severity, because = _text_severity(hit, share, ones)
            yield Finding(
                kind="unreadable",
                severity=severity,
                what=f"{document} " + ", and it ".join(_said(one) for one in ones) + ".",
                action=" ".join(_SAID[one.defect][1].format(document=document) for one in ones),
                places=tuple(self._excerpts(document, (span for one in ones for span in one.spans))),
                questions=hit.questions,
                details={
                    "why": because,
                    "defects": [
                        {"defect": one.defect, "count": one.count, "share": round(one.share, 4)} for one in ones
                    ],
                },
            )

    def boilerplate(self, found: Iterable[Repeated]) -> Iterator[Finding]:
        """One finding for each document of which much is the lines of many others."""
        for one in found:
            if one.share < _MUCH:
                continue
            mostly = one.share >= _MOSTLY
            hit = self._concerned.by((one.document, start, end) for start, end in one.spans)
            others = f" that stand in up to {one.documents} documents" if one.documents > 1 else ""
            yield Finding(
                kind="boilerplate",
                severity="medium" if mostly else "low",
                what=f"{one.share:.0%} of the words of {one.document} are menus, banners or other lines{others}.",
                action=f"Take these lines out of {one.document} before it is cut into passages.",
                places=tuple(self._excerpts(one.document, one.spans)),
                questions=hit.read,
                score=round(one.share, 4),
                details={
                    "why": "most of it says nothing of its own" if mostly else "much of it says nothing of its own",
                    "share": round(one.share, 4),
                    "documents": one.documents,
                    "lines": len(one.spans),
                },
            )

    def languages(self, found: Languages) -> Iterator[Finding]:
        """Documents in another language than most, paragraphs in another than their document, questions in none."""
        yield from self._other_documents(found)
        by_document: defaultdict[str, list[Foreign]] = defaultdict(list)
        for one in found.foreign:
            by_document[one.document].append(one)
        for document, ones in by_document.items():
            yield self._paragraphs(document, ones, found.documents[document])
        asked: defaultdict[str, list[str]] = defaultdict(list)
        for key, code in found.questions.items():
            asked[code].append(key)
        for code, keys in asked.items():
            many = "1 question is" if len(keys) == 1 else f"{len(keys)} questions are"
            yield Finding(
                kind="language",
                severity="high",
                what=f"{many} in {spoken(code)}, in which there is no document.",
                action=f"Add documents in {spoken(code)}, or search with an embedder that knows both languages.",
                questions=tuple(keys),
                details={"why": "a search finds little across languages", "language": code},
            )

    def _other_documents(self, found: Languages) -> Iterator[Finding]:
        by_code: defaultdict[str, list[str]] = defaultdict(list)
        for document, code in found.documents.items():
            by_code[code].append(document)
        for code, names in by_code.items():
            if code == found.usual:
                continue
            hit = self._concerned.by((name, 0, len(self._texts[name])) for name in names)
            listed = ", ".join(names[:_EXCERPTS]) + (
                f" and {len(names) - _EXCERPTS} more" if len(names) > _EXCERPTS else ""
            )
            yield Finding(
                kind="language",
                severity="medium" if hit.gold else "low",
                what=f"{listed} {'is' if len(names) == 1 else 'are'} in {spoken(code)}, where most documents are in "
                f"{spoken(found.usual)}.",
                action="See whether they belong to this knowledge, and whether the embedder knows that language.",
                places=tuple(
                    Excerpt(name, 0, min(200, len(self._texts[name])), self._texts[name][:200]) for name in names
                ),
                questions=hit.questions,
                details={
                    "why": "gold evidence stands in them" if hit.gold else "no gold evidence stands in them",
                    "language": code,
                    "usual": found.usual,
                },
            )

    def _paragraphs(self, document: str, ones: Sequence[Foreign], own: str) -> Finding:
        hit = self._concerned.by((document, one.start, one.end) for one in ones)
        many = "a paragraph" if len(ones) == 1 else f"{len(ones)} paragraphs"
        spoken_in = ", ".join(dict.fromkeys(spoken(one.language) for one in ones))
        return Finding(
            kind="language",
            severity="medium" if hit.gold else "low",
            what=f"{document} is in {spoken(own)} and has {many} in {spoken_in}.",
            action=f"See whether these belong into {document}; put them into a document of their own.",
            places=tuple(self._excerpts(document, ((one.start, one.end) for one in ones))),
            questions=hit.questions,
            score=min(one.sureness for one in ones),
            details={
                "why": "gold evidence stands there" if hit.gold else "no gold evidence stands there",
                "language": own,
                "others": list(dict.fromkeys(one.language for one in ones)),
            },
        )

    def _excerpts(self, document: str, spans: Iterable[tuple[int, int]]) -> Iterator[Excerpt]:
        for start, end in sorted(dict.fromkeys(spans))[:_EXCERPTS]:
            yield Excerpt(document, start, end, self._texts[document][start:end])


def _said(one: Illegible) -> str:
    said = _SAID[one.defect][0].format(sample=f"“{' '.join(one.sample.split())[:40]}”")
    return f"{said} ({one.count} times)" if one.defect in _BY_COUNT else said


def _text_severity(hit: Hit, share: float, ones: Sequence[Illegible]) -> tuple[Severity, str]:
    if all(one.defect in {"no_sentence", "ligatures"} for one in ones):
        return "low", "it can be read, but is hard to search"
    if hit.gold:
        return "high", "gold evidence stands there"
    if share >= _BADLY:
        return "medium", "much of the document is concerned"
    return "low", "little of the document is concerned"
