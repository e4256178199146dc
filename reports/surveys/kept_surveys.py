"""Kept surveys: written into the database whole and as tables, and read back."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from ..encoding import to_json
from ..store import Store, StoreError, transaction
from .survey import Survey

if TYPE_CHECKING:
    import sqlite3

    from pydantic import TypeAdapter

    from .finding import Finding
    from .grid import Grid


@cache
def _adapter() -> TypeAdapter[Survey]:
    from pydantic import TypeAdapter

    return TypeAdapter(Survey)


def survey_json(survey: Survey) -> bytes:
    """The survey as JSON in UTF-8, as ``--json`` prints it and the database keeps it."""
    return to_json(survey).encode()


def read_survey_json(text: str | bytes) -> Survey:
    """The survey of such JSON."""
    return _adapter().validate_json(text)


def find_survey(store: Store, name: str | None = None) -> Survey | None:
    """A survey by its name or the beginning of it; None names the latest, which may not be there.

    Raises:
        StoreError: there is no such survey, or more than one.
    """
    if name is None:
        found = store.query("SELECT content FROM surveys ORDER BY id DESC LIMIT 1")
        return read_survey_json(found[0][0]) if found else None
    lines = store.query("SELECT name, content FROM surveys WHERE SUBSTR(name, 1, LENGTH(?)) = ?", [name, name])
    if len(lines) != 1:
        known = [str(line[0]) for line in store.query("SELECT name FROM surveys ORDER BY id DESC LIMIT 1000")]
        what = "is no survey" if not lines else f"is the beginning of {len(lines)} surveys"
        near = [] if lines else difflib.get_close_matches(name, known, 1, 0.6)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise StoreError(
            f"{name!r} {what} of {store.path}.{hint} The latest surveys: {', '.join(known[:5]) or 'none'}."
        )
    return read_survey_json(lines[0][1])


def survey_of_run(store: Store, run_id: int) -> Survey | None:
    """The latest survey that looked at the answers of a run; None where there is none."""
    found = store.query("SELECT content FROM surveys WHERE run_id = ? ORDER BY id DESC LIMIT 1", [run_id])
    return read_survey_json(found[0][0]) if found else None


def keep_survey(store: Store, survey: Survey) -> None:
    """Write a survey and its tables, all or nothing."""
    content = survey_json(survey)
    survey = read_survey_json(content)  # without what no database can hold, such as half characters
    with transaction(store.path, store.connection):
        connection = store.connection
        run = connection.execute("SELECT id FROM runs WHERE name = ?", [survey.run]).fetchone()
        cursor = connection.execute(
            "INSERT INTO surveys (name, suite, run_id, started_at, finished_at, metric, threshold, manifest, content)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                survey.survey, survey.suite, run and run[0], survey.started_at, survey.finished_at,
                survey.metric or None, survey.threshold, to_json(survey.manifest), content.decode(),
            ],
        )  # fmt: skip
        survey_id = cursor.lastrowid or 0
        if survey.grid is not None:
            _keep_grid(connection, survey_id, survey.grid)
        for table, lines in _tables(survey):
            for line in lines:
                places = ", ".join("?" * (len(line) + 1))
                connection.execute(f"INSERT INTO {table} VALUES ({places})", [survey_id, *line])


def _keep_grid(connection: sqlite3.Connection, survey_id: int, grid: Grid) -> None:
    chosen = None if grid.recommendation is None else grid.recommendation.setting
    for position, (name, result) in enumerate(zip(grid.names, grid.settings, strict=True)):
        setting = result.setting
        cursor = connection.execute(
            "INSERT INTO survey_settings (survey_id, position, name, splitter, chunk_size, chunk_overlap, retriever,"
            " top_k, embedder, reranker, min_score, passages, bots, is_present, is_recommended, retrieve_ms_p50,"
            " retrieve_ms_p95) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                survey_id, position, name, setting.splitter, setting.chunk_size, setting.chunk_overlap,
                setting.retriever, setting.top_k, setting.embedder, setting.reranker, setting.min_score,
                result.passages, to_json(result.bots), position == grid.present, position == chosen,
                *(result.retrieve_ms or (None, None)),
            ],
        )  # fmt: skip
        for of, means, against in (
            ("retrieval", result.metrics, result.against), ("answer", result.answers, result.answers_against),
        ):  # fmt: skip
            for metric, mean in means.items():
                found = against.get(metric)
                apart = (None,) * 4 if found is None else (found.mean, found.low, found.high, found.p_value)
                connection.execute(
                    "INSERT INTO survey_setting_metrics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [cursor.lastrowid, metric, of, mean.mean, mean.low, mean.high, mean.count, *apart],
                )


def _tables(survey: Survey) -> Iterator[tuple[str, Iterator[tuple[object, ...]]]]:
    """The lines of every table but the grid's, without the survey's id, in the order of the columns."""
    yield "survey_documents", _documents(survey)
    yield (
        "survey_coverage",
        (
            (one.question, one.document, one.holds, to_json(one.retrieved_by), to_json(one.wrong_for))
            for one in survey.coverage
        ),
    )
    yield "survey_findings", _findings(survey)
    yield "survey_questions", _questions(survey)
    if survey.blame is not None:
        answers = survey.blame.answers
        yield (
            "survey_blames",
            (
                (
                    one.bot,
                    one.question,
                    one.value,
                    one.gold_only,
                    one.cause,
                    to_json(one.documents),
                    one.answer,
                    one.mended,
                )
                for one in answers
            ),
        )
        yield (
            "survey_removals",
            (
                (one.bot, one.question, document, value, one.shares.get(document))
                for one in answers
                for document, value in one.without.items()
            ),
        )
    if survey.against is not None:
        yield (
            "survey_edits",
            (
                (place, edit.document, edit.change, edit.was, to_json(edit.gained), to_json(edit.lost))
                for place, edit in enumerate(survey.against.edits)
            ),
        )


def _documents(survey: Survey) -> Iterator[tuple[object, ...]]:
    for place, card in enumerate(survey.documents):
        yield (
            place, card.document, card.title, card.characters, card.language, card.passages, len(card.questions),
            len(card.only_support), len(card.single_passages), card.retrieved, card.placed, card.needed,
            len(card.unused), card.tokens, card.wrong, card.marked, card.caused, card.carried,
        )  # fmt: skip


def _findings(survey: Survey) -> Iterator[tuple[object, ...]]:
    audited = () if survey.audit is None else survey.audit.findings
    parts = (("gaps", survey.gaps.findings), ("inside", survey.inside), ("audit", audited))
    found: list[tuple[str, Finding]] = [(part, one) for part, findings in parts for one in findings]
    for place, (part, one) in enumerate(found):
        yield (
            place, part, one.kind, one.severity, one.what, one.action, to_json(one.places), to_json(one.questions),
            one.score, to_json(one.details),
        )  # fmt: skip


def _questions(survey: Survey) -> Iterator[tuple[object, ...]]:
    audited = {} if survey.audit is None else {one.question: one for one in survey.audit.questions}
    subset = survey.audit.subset if survey.audit is not None else None
    for place, question in enumerate(survey.questions):
        told = audited.get(question.key)
        figures = (None,) * 4 if told is None else (told.difficulty, told.spread, told.discrimination, told.telling)
        yield (
            place, question.key, question.text, question.gold, *figures,
            subset is not None and question.key in subset.questions,
        )  # fmt: skip
