"""What the grid of `proctor knowledge` takes over 300 questions and 300 documents, against embedding its chunks alone.

Run: python tests/benchmarks/bench_grid.py [--documents 300] [--questions 300] [--passages 3] [--threads 1]

Documents are made of the passages of ../shared/data (clapnq, xquad_en, mtrag_un), so many of them in each, or of words
drawn by chance where these are not there. Three make a document of about 2,500 characters; those of the help centre
that comes with Proctor have 2,100 on average. The embedding of each distinct chunk is timed in the same process, by the
same model when it is warm. To reach: 10 minutes, and 1.2 times the embedding.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.harness.analysis.configurations import GridMeasuring
from proctor.harness.analysis.corpus import index_corpus
from proctor.harness.analysis.grid_retrieval import expand_grid
from proctor.harness.suite.suite_file import load_suite
from proctor.knowledge.retrieval.splitting import Splitting, sentence_spans
from proctor.reports.analysis.findings import Configuration, Grid

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Texts:
    """Passages for documents, and questions whose answer stands in one of them: (question, answer, its sentence)."""

    passages: list[str]
    questions: list[tuple[str, str, str]]


@dataclass(frozen=True)
class Took:
    """Seconds on the clock, and of the processors, which others on the machine don't change."""

    clock: float
    processors: float

    @classmethod
    def now(cls) -> "Took":
        """As it stands."""
        return cls(time.perf_counter(), time.process_time())

    def __sub__(self, other: "Took") -> "Took":
        return Took(self.clock - other.clock, self.processors - other.processors)

    def __str__(self) -> str:
        return f"{self.clock:.1f} s ({self.processors:.1f} s of processors)"


def real() -> Texts:
    """Passages of three sets; the questions are those of xquad_en, of which the place of the answer is known."""
    found: dict[str, None] = {}
    questions = []
    for name in ("xquad_en", "clapnq", "mtrag_un"):
        for line in (SHARED / name / "dev.jsonl").read_text("utf-8").splitlines():
            row: dict[str, Any] = json.loads(line)
            found |= dict.fromkeys(row["contexts"] or ())
            if name == "xquad_en":
                questions.append((row["question"], row["expected_answer"], _sentence(row["contexts"][0], row)))
    return Texts(list(found), [each for each in questions if each[2]])


def _sentence(text: str, row: dict[str, Any]) -> str:
    at = text.find(row["expected_answer"])
    return next((text[start:end] for start, end in sentence_spans(text) if start <= at < end), "")


def drawn() -> Texts:
    """Sentences of words by chance, about as long as real ones."""
    picker = random.Random(0)
    words = ["".join(picker.choices("abcdefghiklmnoprstuvw", k=picker.randint(2, 9))) for _ in range(8_000)]
    sentences = [" ".join(picker.choices(words, k=picker.randint(8, 30))).capitalize() + "." for _ in range(9_000)]
    passages = [" ".join(sentences[at : at + 7]) for at in range(0, len(sentences), 7)]
    asked = [(" ".join(each.split()[:7]) + "?", each.split()[-1], each) for each in sentences[::7]]
    return Texts(passages, asked)


def write(folder: Path, texts: Texts, given: argparse.Namespace) -> Path:
    """A suite over so many documents and questions, drawn with a fixed seed."""
    picker = random.Random(1)
    (folder / "documents").mkdir()
    answering = list(
        dict.fromkeys(passage for passage in texts.passages for *_, said in texts.questions if said in passage)
    )
    others = [passage for passage in texts.passages if passage not in set(answering)]
    chosen = (answering + others)[: given.documents * given.passages]
    picker.shuffle(chosen)
    where = {}
    for number in range(given.documents):
        parts = chosen[number :: given.documents]
        (folder / "documents" / f"{number}.md").write_text("\n\n".join(parts), "utf-8")
        where |= dict.fromkeys(parts, f"{number}.md")
    picker.shuffle(texts.questions)
    rows = []
    for question, answer, said in texts.questions:
        document = next((where[passage] for passage in where if said in passage), None)
        if document is not None and len(rows) < given.questions:
            evidence = [{"document": document, "quote": said}]
            rows.append(
                {"question": question, "expected_answer": answer, "evidence": evidence, "source_document": document}
            )
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    suite = {
        "name": "bench", "knowledge": "documents", "questions": "questions.jsonl",
        "embedder": {"model": "embedded", "threads": given.threads}, "bots": {"rag": {"type": "rag"}},
    }  # fmt: skip
    (folder / "suite.yaml").write_text(json.dumps(suite))
    return folder / "suite.yaml"


def measured(path: Path, cache: Path) -> tuple[Grid, Took, Took, int]:
    """The grid, what it took, what embedding each distinct chunk of it once took, and how many chunks these are."""
    loaded = load_suite(path)
    corpus = index_corpus(loaded, {**os.environ, "PROCTOR_CACHE": str(cache)})
    corpus.embedder.embed_now(["warm"])
    began = Took.now()
    measuring = GridMeasuring.of(corpus, loaded.suite.analysis)
    assert measuring is not None
    measuring.measure_current()
    measuring.measure_others()
    grid = measuring.grid()
    measuring.close()
    of_grid = Took.now() - began
    cuts = {
        Splitting(*cut_of(configuration))
        for configuration in expand_grid(corpus, loaded.suite.analysis.grid).configurations
    }
    chunks = list(dict.fromkeys(one.text for cut in cuts for each in corpus.documents for one in cut.cut(each)))
    assert len(chunks) == grid.distinct_passages
    began = Took.now()
    corpus.embedder.embed_now(chunks)
    return grid, of_grid, Took.now() - began, len(chunks)


def cut_of(configuration: Configuration) -> Any:
    """How documents are cut in a setting."""
    return configuration.splitter, configuration.chunk_size, configuration.chunk_overlap


def main(arguments: Sequence[str] | None = None) -> None:
    """Print seconds of the grid, of the embedding alone, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--passages", type=int, default=3, help="passages in a document")
    parser.add_argument("--threads", type=int, default=1, help="processor threads of the embedder")
    given = parser.parse_args(arguments)
    texts = real() if SHARED.is_dir() else drawn()
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), texts, given)
        # The model is prepared in a cache of its own; only the indexes have to be made anew.
        cache = Path(os.environ.get("PROCTOR_CACHE", name))
        grid, took, embedding, chunks = measured(path, cache)
    size = sum(len(text) for text in texts.passages[: given.documents * given.passages])
    print(
        f"{len(grid.configurations)} configurations, {len(grid.questions)} questions, {given.documents} documents "
        f"of {size:,} characters, {chunks:,} distinct chunks, {given.threads} thread(s)"
    )
    ratios = f"{took.clock / embedding.clock:.3f} ({took.processors / embedding.processors:.3f} of processors)"
    print(f"the grid {took}, the embedding alone {embedding}, ratio {ratios}")
    if grid.recommendation is not None:
        print(grid.recommendation.reason)


if __name__ == "__main__":
    main()
