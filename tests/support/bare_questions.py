"""Corpora and answers made from bare questions, for tests of dataset quality."""

from collections.abc import Mapping, Sequence
from functools import cache

from proctor.harness.analysis.corpus import Answer, Answers, CorpusIndex, QuestionGold, gold_by_evidence
from proctor.harness.analysis.label_errors import Marks, marks_of
from proctor.harness.run.local_models import default_embedder
from proctor.harness.suite.suite_file import load_suite, sample_suite
from proctor.knowledge.documents.document import Document
from proctor.knowledge.documents.evidence import EvidenceFinder
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.questions.question import Evidence, Question
from proctor.metrics.abstention import abstains
from proctor.reports.store.vector_cache import VectorCache
from proctor.reports.summary import MetricColumn

RIGHT = MetricColumn("right", "v1", "higher", 0.0, 1.0, 0.5)


@cache
def embedder() -> BatchingEmbedder:
    """The embedded model, once for all tests of a process."""
    return default_embedder(VectorCache())


def ask(key: str, text: str, *expected: str, **given: object) -> Question:
    """A question with the answers that it accepts; ``quote`` is evidence in the document ``guide.md``."""
    quote = given.pop("quote", None)
    evidence = ((Evidence("guide.md", str(quote)),),) if quote is not None else ()
    return Question(key, text, expected, evidence=evidence, **given)


def corpus(
    questions: Sequence[Question], guide: str = "", gold: Mapping[str, QuestionGold] | None = None,
    **more_documents: str,
) -> CorpusIndex:  # fmt: skip
    """Questions over the document ``guide.md`` and others, with the embedded model."""
    texts = {"guide.md": guide, **{f"{name}.md": text for name, text in more_documents.items()}}
    documents = tuple(Document(name, text, "") for name, text in texts.items())
    finder = EvidenceFinder(documents)
    located = {question.id: gold_by_evidence(question, finder) for question in questions}
    return CorpusIndex(
        load_suite(sample_suite()), {}, documents, tuple(questions), embedder(), {**located, **(gold or {})}
    )


def answers(said: Mapping[str, Mapping[str, str | float | None]], column: MetricColumn = RIGHT) -> Answers:
    """Answers by bot and question: a text is a wrong answer, a text that begins with ``+`` a right one.

    A number is a value of the metric without words, right from the threshold on; None an answer without a value.
    """
    rows = [_answer(bot, key, one, column) for bot, by_key in said.items() for key, one in by_key.items()]
    return Answers("run-1", 1, column, tuple(rows))


def _answer(bot: str, key: str, said: str | float | None, column: MetricColumn) -> Answer:
    if said is None:
        return Answer(bot, key, "", None, None, None, False)
    if isinstance(said, str):
        right = said.startswith("+")
        return Answer(bot, key, said.removeprefix("+"), None, float(right), right, abstains(said))
    short = column.threshold - said if column.better == "higher" else said - column.threshold
    return Answer(bot, key, "", None, float(said), short <= 0, False)


def marks(values: Mapping[str, Sequence[float | None]], column: MetricColumn = RIGHT, **sources: str) -> Marks:
    """The marks of bots on the questions q0, q1, ...; ``sources`` gives source documents by key."""
    count = max(map(len, values.values()))
    asked = [ask(f"q{place}", f"What is {place}?", source_document=sources.get(f"q{place}", ""))
             for place in range(count)]  # fmt: skip
    said = {bot: {f"q{place}": value for place, value in enumerate(row)} for bot, row in values.items()}
    return marks_of(asked, answers(said, column))
