"""The tables of surveys: what was found in documents and questions, for whoever asks by SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

TABLES = (
    """CREATE TABLE surveys (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, suite TEXT NOT NULL, run_id INTEGER REFERENCES runs (id),
        started_at TEXT NOT NULL, finished_at TEXT NOT NULL, metric TEXT, threshold REAL, manifest TEXT NOT NULL,
        content TEXT NOT NULL)""",
    """CREATE TABLE survey_settings (
        id INTEGER PRIMARY KEY, survey_id INTEGER NOT NULL REFERENCES surveys (id), position INTEGER NOT NULL,
        name TEXT NOT NULL, splitter TEXT NOT NULL, chunk_size INTEGER, chunk_overlap INTEGER, retriever TEXT NOT NULL,
        top_k INTEGER NOT NULL, embedder TEXT NOT NULL, reranker TEXT NOT NULL, min_score REAL, passages INTEGER,
        bots TEXT NOT NULL,
        is_present INTEGER NOT NULL, is_recommended INTEGER NOT NULL, retrieve_ms_p50 REAL, retrieve_ms_p95 REAL,
        UNIQUE (survey_id, position))""",
    """CREATE TABLE survey_setting_metrics (
        setting_id INTEGER NOT NULL REFERENCES survey_settings (id), metric TEXT NOT NULL,
        of TEXT NOT NULL CHECK (of IN ('retrieval', 'answer')), mean REAL NOT NULL, low REAL, high REAL,
        questions INTEGER NOT NULL, difference REAL, difference_low REAL, difference_high REAL, p_value REAL,
        PRIMARY KEY (setting_id, metric, of)) WITHOUT ROWID""",
    """CREATE TABLE survey_documents (
        survey_id INTEGER NOT NULL REFERENCES surveys (id), position INTEGER NOT NULL, document TEXT NOT NULL,
        title TEXT NOT NULL, characters INTEGER NOT NULL, language TEXT NOT NULL, passages INTEGER NOT NULL,
        questions INTEGER NOT NULL, only_support INTEGER NOT NULL, single_passages INTEGER NOT NULL,
        retrieved INTEGER NOT NULL, placed INTEGER, needed INTEGER NOT NULL, unused INTEGER NOT NULL,
        tokens INTEGER NOT NULL, wrong INTEGER NOT NULL, marked INTEGER NOT NULL, caused INTEGER, carried INTEGER,
        PRIMARY KEY (survey_id, document)) WITHOUT ROWID""",
    """CREATE TABLE survey_coverage (
        survey_id INTEGER NOT NULL REFERENCES surveys (id), question TEXT NOT NULL, document TEXT NOT NULL,
        holds INTEGER NOT NULL, retrieved_by TEXT NOT NULL, wrong_for TEXT NOT NULL,
        PRIMARY KEY (survey_id, question, document)) WITHOUT ROWID""",
    """CREATE TABLE survey_findings (
        survey_id INTEGER NOT NULL REFERENCES surveys (id), position INTEGER NOT NULL,
        part TEXT NOT NULL CHECK (part IN ('gaps', 'inside', 'audit')), kind TEXT NOT NULL,
        severity TEXT NOT NULL CHECK (severity IN ('high', 'medium', 'low')), what TEXT NOT NULL,
        action TEXT NOT NULL, places TEXT NOT NULL, questions TEXT NOT NULL, score REAL, details TEXT NOT NULL,
        PRIMARY KEY (survey_id, position)) WITHOUT ROWID""",
    """CREATE TABLE survey_blames (
        survey_id INTEGER NOT NULL REFERENCES surveys (id), bot TEXT NOT NULL, question TEXT NOT NULL,
        value REAL, gold_only REAL, cause TEXT NOT NULL, documents TEXT NOT NULL, answer TEXT NOT NULL,
        mended TEXT NOT NULL, PRIMARY KEY (survey_id, bot, question)) WITHOUT ROWID""",
    """CREATE TABLE survey_removals (
        survey_id INTEGER NOT NULL REFERENCES surveys (id), bot TEXT NOT NULL, question TEXT NOT NULL,
        document TEXT NOT NULL, value REAL, share REAL,
        PRIMARY KEY (survey_id, bot, question, document)) WITHOUT ROWID""",
    """CREATE TABLE survey_questions (
        survey_id INTEGER NOT NULL REFERENCES surveys (id), position INTEGER NOT NULL, question TEXT NOT NULL,
        text TEXT NOT NULL, gold TEXT NOT NULL, difficulty REAL, spread REAL, discrimination REAL, telling INTEGER,
        in_subset INTEGER NOT NULL, PRIMARY KEY (survey_id, question)) WITHOUT ROWID""",
    """CREATE TABLE survey_edits (
        survey_id INTEGER NOT NULL REFERENCES surveys (id), position INTEGER NOT NULL, document TEXT NOT NULL,
        change TEXT NOT NULL, was TEXT NOT NULL, gained TEXT NOT NULL, lost TEXT NOT NULL,
        PRIMARY KEY (survey_id, position)) WITHOUT ROWID""",
)


def surveys(db: Database) -> None:
    """What surveys of documents and questions found."""
    for table in TABLES:
        db.execute(table)
    db.execute("CREATE INDEX surveys_run ON surveys (run_id)")
