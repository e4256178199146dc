"""Corpora of an analysis made in a folder: documents that differ, questions with evidence in them, and a suite."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from proctor.harness.analysis.corpus import CorpusIndex, index_corpus
from proctor.harness.suite.suite_file import load_suite
from word_encoder import WordEncoder, word_embedder

TOPICS = ("boats", "trains", "kites", "lamps", "clocks", "bricks", "stamps", "violins", "candles", "maps")
FACTS = ("colour", "weight", "price", "origin")


def document(topic: str) -> str:
    """A paragraph for each fact of a topic."""
    return "\n\n".join(
        f"About {topic} and their {fact}. The {fact} of our {topic} is {value(topic, fact)} as everybody in the house "
        f"knows. Nobody has ever asked for another {fact}, and none was made since."
        for fact in FACTS
    )


def value(topic: str, fact: str) -> str:
    """What a fact is."""
    return f"{topic[:2]}{fact[-3:]}{len(topic) * len(fact)}"


def question(topic: str, fact: str) -> dict[str, object]:
    """A question with the sentence that answers it as evidence."""
    said = value(topic, fact)
    return {
        "id": f"{topic}-{fact}",
        "question": f"What is the {fact} of {topic}?",
        "expected_answer": said,
        "evidence": [{"document": f"{topic}.md", "quote": f"The {fact} of our {topic} is {said}"}],
        "source_document": f"{topic}.md",
    }


def write_suite(
    folder: Path, questions: Sequence[Mapping[str, object]] | None = None,
    documents: Mapping[str, str] | None = None, **suite: object,
) -> Path:  # fmt: skip
    """A suite in a folder: a document for each topic, four questions to each, and a bot that finds words."""
    (folder / "documents").mkdir()
    texts = {f"{topic}.md": document(topic) for topic in TOPICS} if documents is None else documents
    for name, text in texts.items():
        (folder / "documents" / name).write_text(text)
    asked = [question(topic, fact) for topic in TOPICS for fact in FACTS] if questions is None else questions
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    made = {
        "name": "house", "questions": "questions.jsonl", "knowledge": "documents", "metrics": ["exact_match"],
        "bots": {"rag": {"type": "rag", "retriever": "bm25", "chunk_size": 120, "chunk_overlap": 0, "top_k": 2}},
    }  # fmt: skip
    path = folder / "suite.yaml"
    path.write_text(json.dumps(made | suite))
    return path


def corpus_of(folder: Path, *given: object, **suite: object) -> tuple[CorpusIndex, WordEncoder]:
    """The ground of such a suite, with an embedder that counts words, and the model behind it."""
    path = write_suite(folder, *given, **suite)  # type: ignore[arg-type]
    embedder, encoder = word_embedder()
    environ = {**os.environ, "PROCTOR_CACHE": str(folder / "cache")}
    return replace(index_corpus(load_suite(path), environ), embedder=embedder), encoder
