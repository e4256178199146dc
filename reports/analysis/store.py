"""Kept analyses: written into the database whole and as tables, and read back."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from ..store.database import Store, StoreError, transaction
from ..store.encoding import to_json
from .findings import KnowledgeAnalysis

if TYPE_CHECKING:
    import sqlite3

    from pydantic import TypeAdapter

    from .findings import Finding, Grid


_TABLES = (
    "analysis_configurations", "analysis_documents", "analysis_coverage", "analysis_findings", "analysis_questions",
    "analysis_attributions", "analysis_ablations", "analysis_edits",
)  # fmt: skip


@cache
def _adapter() -> TypeAdapter[KnowledgeAnalysis]:
    from pydantic import TypeAdapter

    return TypeAdapter(KnowledgeAnalysis)


def analysis_json(analysis: KnowledgeAnalysis) -> bytes:
    """The analysis as JSON in UTF-8, as ``--json`` prints it and the database keeps it."""
    return to_json(analysis).encode()


def read_analysis_json(text: str | bytes) -> KnowledgeAnalysis:
    """The analysis of such JSON."""
    return _adapter().validate_json(text)


def find_analysis(store: Store, name: str | None = None) -> KnowledgeAnalysis | None:
    """An analysis by its name or the beginning of it; None names the latest, which may not be there.

    Raises:
        StoreError: there is no such analysis, or more than one.
    """
    if name is None:
        found = store.query("SELECT content FROM analyses ORDER BY id DESC LIMIT 1")
        return read_analysis_json(found[0][0]) if found else None
    lines = store.query("SELECT name, content FROM analyses WHERE SUBSTR(name, 1, LENGTH(?)) = ?", [name, name])
    if len(lines) != 1:
        known = [str(line[0]) for line in store.query("SELECT name FROM analyses ORDER BY id DESC LIMIT 1000")]
        what = "is no analysis" if not lines else f"is the beginning of {len(lines)} analyses"
        near = [] if lines else difflib.get_close_matches(name, known, 1, 0.6)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise StoreError(
            f"{name!r} {what} of {store.path}.{hint} The latest analyses: {', '.join(known[:5]) or 'none'}."
        )
    return read_analysis_json(lines[0][1])


def analysis_of_run(store: Store, run_id: int) -> KnowledgeAnalysis | None:
    """The latest analysis that looked at the answers of a run; None where there is none."""
    found = store.query("SELECT content FROM analyses WHERE run_id = ? ORDER BY id DESC LIMIT 1", [run_id])
    return read_analysis_json(found[0][0]) if found else None


def store_analysis(store: Store, analysis: KnowledgeAnalysis) -> None:
    """Write an analysis and its tables, all or nothing, in the place of one of that name."""
    content = analysis_json(analysis)
    analysis = read_analysis_json(content)  # without what no database can hold, such as half characters
    with transaction(store.path, store.connection):
        connection = store.connection
        _remove(connection, analysis.analysis)
        run = connection.execute("SELECT id FROM runs WHERE name = ?", [analysis.run]).fetchone()
        cursor = connection.execute(
            "INSERT INTO analyses (name, suite, run_id, started_at, finished_at, metric, threshold, manifest, content)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                analysis.analysis, analysis.suite, run and run[0], analysis.started_at, analysis.finished_at,
                analysis.metric or None, analysis.threshold, to_json(analysis.manifest), content.decode(),
            ],
        )  # fmt: skip
        analysis_id = cursor.lastrowid or 0
        if analysis.grid is not None:
            _keep_grid(connection, analysis_id, analysis.grid)
        for table, lines in _tables(analysis):
            for line in lines:
                places = ", ".join("?" * (len(line) + 1))
                connection.execute(f"INSERT INTO {table} VALUES ({places})", [analysis_id, *line])


def _remove(connection: sqlite3.Connection, name: str) -> None:
    """Delete what is known of an analysis that is written again."""
    for (analysis_id,) in connection.execute("SELECT id FROM analyses WHERE name = ?", [name]).fetchall():
        inside = "SELECT id FROM analysis_configurations WHERE analysis_id = ?"
        connection.execute(
            f"DELETE FROM analysis_configuration_metrics WHERE configuration_id IN ({inside})", [analysis_id]
        )
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table} WHERE analysis_id = ?", [analysis_id])
        connection.execute("DELETE FROM analyses WHERE id = ?", [analysis_id])


def _keep_grid(connection: sqlite3.Connection, analysis_id: int, grid: Grid) -> None:
    chosen = None if grid.recommendation is None else grid.recommendation.configuration
    for position, (name, result) in enumerate(zip(grid.names, grid.configurations, strict=True)):
        configuration = result.configuration
        cursor = connection.execute(
            "INSERT INTO analysis_configurations (analysis_id, position, name, splitter, chunk_size, "
            "chunk_overlap, retriever,"
            " top_k, embedder, reranker, min_score, passages, bots, is_current, is_recommended, retrieve_ms_p50,"
            " retrieve_ms_p95) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                analysis_id, position, name, configuration.splitter, configuration.chunk_size,
                configuration.chunk_overlap, configuration.retriever, configuration.top_k, configuration.embedder,
                configuration.reranker, configuration.min_score,
                result.passages, to_json(result.bots), position == grid.current, position == chosen,
                *(result.retrieve_ms or (None, None)),
            ],
        )  # fmt: skip
        for of, means, against in (
            ("retrieval", result.metrics, result.differences), ("answer", result.answers, result.answer_differences),
        ):  # fmt: skip
            for metric, mean in means.items():
                found = against.get(metric)
                apart = (None,) * 4 if found is None else (found.mean, found.low, found.high, found.p_value)
                connection.execute(
                    "INSERT INTO analysis_configuration_metrics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [cursor.lastrowid, metric, of, mean.mean, mean.low, mean.high, mean.count, *apart],
                )


def _tables(analysis: KnowledgeAnalysis) -> Iterator[tuple[str, Iterator[tuple[object, ...]]]]:
    """The lines of every table but the grid's, without the analysis's id, in the order of the columns."""
    yield "analysis_documents", _documents(analysis)
    yield (
        "analysis_coverage",
        (
            (one.question, one.document, one.has_answer, to_json(one.retrieved_by), to_json(one.wrong_for))
            for one in analysis.coverage
        ),
    )
    yield "analysis_findings", _findings(analysis)
    yield "analysis_questions", _questions(analysis)
    if analysis.attribution is not None:
        answers = analysis.attribution.answers
        yield (
            "analysis_attributions",
            (
                (
                    one.bot,
                    one.question,
                    one.value,
                    one.gold_only,
                    one.cause,
                    to_json(one.documents),
                    one.answer,
                    one.answer_without,
                )
                for one in answers
            ),
        )
        yield (
            "analysis_ablations",
            (
                (one.bot, one.question, document, value, one.shares.get(document))
                for one in answers
                for document, value in one.without.items()
            ),
        )
    if analysis.document_changes is not None:
        yield (
            "analysis_edits",
            (
                (place, edit.document, edit.change, edit.was, to_json(edit.gained), to_json(edit.lost))
                for place, edit in enumerate(analysis.document_changes.edits)
            ),
        )


def _documents(analysis: KnowledgeAnalysis) -> Iterator[tuple[object, ...]]:
    for place, card in enumerate(analysis.documents):
        yield (
            place, card.document, card.title, card.characters, card.language, card.passages, len(card.questions),
            len(card.only_support), len(card.single_passages), card.retrieved, card.located, card.needed,
            len(card.unused), card.tokens, card.wrong, card.graded, card.failures, card.successes,
        )  # fmt: skip


def _findings(analysis: KnowledgeAnalysis) -> Iterator[tuple[object, ...]]:
    quality_checked = () if analysis.dataset_quality is None else analysis.dataset_quality.findings
    parts = (("gaps", analysis.gaps.findings), ("documents", analysis.document_quality), ("questions", quality_checked))
    found: list[tuple[str, Finding]] = [(part, one) for part, findings in parts for one in findings]
    for place, (part, one) in enumerate(found):
        yield (
            place, part, one.kind, one.severity, one.what, one.action, to_json(one.locations), to_json(one.questions),
            one.score, to_json(one.details),
        )  # fmt: skip


def _questions(analysis: KnowledgeAnalysis) -> Iterator[tuple[object, ...]]:
    quality_checked = (
        {} if analysis.dataset_quality is None else {one.question: one for one in analysis.dataset_quality.questions}
    )
    subset = analysis.dataset_quality.subset if analysis.dataset_quality is not None else None
    for place, question in enumerate(analysis.questions):
        checked = quality_checked.get(question.key)
        figures = (
            (None,) * 4
            if checked is None
            else (checked.difficulty, checked.spread, checked.discrimination, checked.informative)
        )
        yield (
            place, question.key, question.text, question.gold, *figures,
            subset is not None and question.key in subset.questions,
        )  # fmt: skip
