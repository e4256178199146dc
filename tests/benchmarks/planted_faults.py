"""Planted faults: copies of question sets in whose documents something was made wrong, one fault a question."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labelled_data import DATA, read
from proctor.harness.suite.suite_file import load_suite, sample_suite
from proctor.knowledge.documents.reading import read_knowledge
from proctor.knowledge.questions.question_files import open_questions
from proctor.knowledge.retrieval.splitting import sentence_spans

DELETED = "deleted gold"
WITHOUT_EVIDENCE = "without evidence"
# How each kind is planted, in turn.
SHAPES = {
    "contradiction": ("a page headed by the question", "a sentence in another document"),
    "near duplicate": ("headed by the question", "sentences in another order"),
    "stale version": ("dated", "called old"),
    DELETED: ("with evidence", WITHOUT_EVIDENCE),
}
KINDS = tuple(SHAPES)
SETS = ("sample", "clapnq", "xquad_en")
PROMPT = """Answer from these passages in one sentence. If they do not contain the answer, say: "I don't know."

{context}

Question: {question}
"""
THRESHOLDS = {"keyword_recall": 1.0, "answer_similarity": 0.9}
ROWS = {"clapnq": 80, "xquad_en": 400}  # of a labelled set: about 80 documents of each
# What a question is about is one detail of its document: a number, a date or a name.
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,:]\d+)*(?![\w]|[.,]\d)")
YEAR = re.compile(r"1[1-9]\d\d|20[0-5]\d")
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}(?: [A-Z][a-z]{2,})?")


@dataclass(frozen=True)
class Target:
    """A question whose answer is one detail of one document; ``expected`` is what the set itself expects."""

    key: str
    question: str
    document: str
    detail: str
    expected: str
    sentence: str


@dataclass(frozen=True)
class Fault:
    """What was done for one question; ``planted`` is the document that is wrong, blank where one was deleted."""

    kind: str
    shape: str
    target: Target
    wrong: str
    planted: str = ""


@dataclass(frozen=True)
class QuestionSet:
    """Documents by their ids, and the questions that are asked of them."""

    name: str
    documents: dict[str, str]
    targets: tuple[Target, ...]


def open_set(name: str) -> QuestionSet:
    """A set with all its documents and the questions that ask for a detail; at most one a document, but the sample."""
    return _sample() if name == "sample" else _labelled(name)


def has_data() -> bool:
    """Whether the human-labelled data are beside the checkout."""
    return DATA.is_dir()


def plant(made: QuestionSet, kind: str, most: int, seed: int) -> tuple[dict[str, str], list[Fault]]:
    """A copy of the documents with at most so many faults of a kind, and these."""
    chance = random.Random(f"{seed} {made.name} {kind}")
    documents, faults = dict(made.documents), list[Fault]()
    # One fault a document, so that none is the doing of another.
    used: set[str] = set()
    for target in chance.sample(made.targets, len(made.targets)):
        wrong = _other(target, made.targets, made.documents[target.document], chance)
        if len(faults) == most or not wrong or target.document in used:
            continue
        shape = SHAPES[kind][len(faults) % 2]
        aside = [name for name in made.documents if name not in {*used, target.document}]
        if shape == "a sentence in another document" and not aside:
            continue
        fault = Fault(kind, shape, target, wrong, _name(target.document, shape, len(faults), aside, chance))
        used |= {target.document, fault.planted}
        _do(documents, fault, chance)
        faults.append(fault)
    return documents, faults


def _name(document: str, shape: str, number: int, aside: Sequence[str], chance: random.Random) -> str:
    """Of the document that will be wrong: before or after the others in their order, as it falls."""
    stem = Path(document).stem
    if shape in SHAPES[DELETED]:
        return ""
    if shape == "a sentence in another document":
        return chance.choice(aside)
    if shape == "called old":
        return f"{stem}-old.md"
    return f"{chance.choice(('0-', ''))}page-{number:02}-of-{stem}.md"


def _do(documents: dict[str, str], fault: Fault, chance: random.Random) -> None:
    """Make documents wrong by a fault."""
    target, text = fault.target, documents[fault.target.document]
    if not fault.planted:
        del documents[target.document]
    elif fault.shape == "a sentence in another document":
        other = documents[fault.planted]
        ends = [
            end for _, end in sentence_spans(other) if other[end - 1] in ".!?"
        ]  # of sentences, not rows or headings
        at = chance.choice(ends or [len(other)])
        documents[fault.planted] = f"{other[:at]} {_swapped(target.sentence, fault)}{other[at:]}"
    else:
        documents[fault.planted] = _wrong_copy(text, fault, chance)
    if fault.shape == "dated":
        documents[target.document] = f"Last updated: 9 May 2024\n\n{text}"


def write(folder: Path, documents: dict[str, str], targets: Sequence[Target], bare: Sequence[Target]) -> None:
    """A suite in a folder: both bots that take knowledge, with the embedded model.

    Two answers are accepted, so that two metrics can mark: the detail alone, which ``keyword_recall`` asks for, and
    the sentence that has it, which ``answer_similarity`` compares. Beside it ``bare.yaml`` asks the ``bare``
    questions as a set has them that knows of no evidence.
    """
    (folder / "documents").mkdir(parents=True)
    for name, text in documents.items():
        (folder / "documents" / name).write_text(text, "utf-8")
    (folder / "prompt.md").write_text(PROMPT, "utf-8")
    known = [
        {
            "id": target.key, "question": target.question, "expected_answers": [target.detail, target.sentence],
            "source_document": target.document,
            "evidence": [{"document": target.document, "quote": target.sentence}],
        }
        for target in targets
    ]  # fmt: skip
    unknown = [{"id": one.key, "question": one.question, "expected_answer": one.expected} for one in bare]
    for name, lines in (("questions.jsonl", known), ("bare.jsonl", unknown)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    suite = {
        "name": folder.name,
        "knowledge": "documents",
        "questions": "questions.jsonl",
        "bots": {
            "rag": {"type": "rag", "prompt": "prompt.md", "top_k": 4, "chunk_size": 600, "chunk_overlap": 80},
            "full_context": {"type": "full_context", "prompt": "prompt.md"},
        },
        "metrics": list(THRESHOLDS),
        "thresholds": THRESHOLDS,
    }
    (folder / "suite.yaml").write_text(json.dumps(suite, indent=2), "utf-8")
    (folder / "bare.yaml").write_text(json.dumps({**suite, "questions": "bare.jsonl"}, indent=2), "utf-8")


def _sample() -> QuestionSet:
    """The help centre: what its constraints ask for, where a quote of the evidence has it."""
    loaded = load_suite(sample_suite())
    texts = {
        each.id: each.text for each in read_knowledge([loaded.base / path for path in loaded.suite.knowledge]).documents
    }
    targets = []
    for question in open_questions(loaded.base / loaded.suite.questions):
        quotes = [member for group in question.evidence for member in group]
        for member in quotes:
            detail = next((one for one in NUMBER.findall(member.quote) if one in question.expected[0]), None)
            if detail and detail not in question.text and member.quote in texts[member.document]:
                sentence = _sentence(texts[member.document], detail, texts[member.document].index(member.quote))
                if not sentence:
                    continue
                targets.append(
                    Target(question.id, question.text, member.document, detail, question.expected[0], sentence)
                )
                break
    return QuestionSet("sample", texts, tuple(targets))


def _labelled(name: str) -> QuestionSet:
    rows = [row for row in read(name) if row["expected_answer"]][: ROWS[name]]
    names = {text: f"{place:03}.md" for place, text in enumerate(dict.fromkeys(row["contexts"][0] for row in rows))}
    texts = {names[text]: text for text in names}
    targets: dict[str, Target] = {}
    for row in rows:
        document = names[row["contexts"][0]]
        detail = _detail(row)
        if detail and document not in targets:
            sentence = _sentence(row["contexts"][0], detail)
            if sentence:
                given = row["expected_answer"]
                targets[document] = Target(row["id"], row["question"], document, detail, given, sentence)
    return QuestionSet(name, texts, tuple(targets.values()))


def _sentence(text: str, detail: str, start: int = 0) -> str:
    """The first sentence from a place on that has the detail."""
    spans = [(first, end) for first, end in sentence_spans(text) if end > start]
    return next((text[first:end] for first, end in spans if _alone(detail).search(text[first:end])), "")


def _detail(row: dict) -> str:
    """A number or name of the expected answer that stands in the document and not in the question."""
    expected = f"x {row['expected_answer'] or ''}"  # a short answer may begin with a name, a sentence does so anyway
    if row["label"].get("selected_sentences"):
        expected = row["label"]["sentences"][row["label"]["selected_sentences"][0]]
    found = [*NUMBER.findall(expected), *NAME.findall(expected)]
    text, question = row["contexts"][0], row["question"].lower()
    fit = (one for one in found if one in text and text.count(one) < 3 and one.lower() not in question)
    return next(fit, "")


def _other(target: Target, targets: Sequence[Target], text: str, chance: random.Random) -> str:
    """Another number of the same look, or the name of somebody else; it stands nowhere in the document."""
    if NUMBER.fullmatch(target.detail):
        for _ in range(50):
            wrong = "".join(str(chance.randint(1, 9)) if mark.isdigit() else mark for mark in target.detail)
            if YEAR.fullmatch(target.detail):
                wrong = str(int(target.detail) + chance.choice((-1, 1)) * chance.randint(2, 40))
            if wrong not in text and wrong != target.detail:
                return wrong
        return ""
    names = [one.detail for one in targets if NAME.fullmatch(one.detail) or one.detail.istitle()]
    fit = [one for one in names if not set(one.split()) & set(text.split()) and not NUMBER.search(one)]
    return chance.choice(fit) if fit else ""


def _swapped(text: str, fault: Fault) -> str:
    return _alone(fault.target.detail).sub(fault.wrong, text)


def _alone(detail: str) -> re.Pattern[str]:
    """A detail that is no part of a longer number or word."""
    return re.compile(rf"(?<![\w.,]){re.escape(detail)}(?!\w|[.,:]\d)")


def _wrong_copy(text: str, fault: Fault, chance: random.Random) -> str:
    """What the new document of a fault says."""
    swapped = _swapped(text, fault)
    if fault.kind == "contradiction":
        return f"# {fault.target.question}\n\n{_swapped(_passage(text, fault.target.sentence), fault)}\n"
    if fault.shape == "dated":
        return f"Last updated: 3 March 2014\n\n{swapped}\n"
    if fault.shape == "called old":
        return f"{swapped}\n"
    perturbed = swapped
    for old, new in ((" also ", " as well "), (" but ", " yet "), (" many ", " numerous "), (" about ", " roughly ")):
        perturbed = perturbed.replace(old, new)
    if fault.shape == "headed by the question":
        return f"{fault.target.question}\n\n{perturbed}\n"
    sentences = [perturbed[start:end].strip() for start, end in sentence_spans(perturbed)]
    chance.shuffle(sentences)
    return " ".join(sentences) + "\n"


def _passage(text: str, sentence: str) -> str:
    """The text around a sentence, from the beginning of a line or word."""
    place = text.index(sentence)
    start = max(0, text.rfind("\n", 0, max(0, place - 200)) + 1, place - 300)
    passage = text[start : place + len(sentence) + 200]
    return passage[passage.find(" ") + 1 if start and text[start - 1] != "\n" else 0 :]
