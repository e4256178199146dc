"""The tables and views of the report database, as migrations that are applied in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlite_utils.migrations import Migrations

from . import calibration_schema, judge_schema
from .surveys import survey_schema

if TYPE_CHECKING:
    from sqlite_utils import Database

migrations = Migrations("proctor")


@migrations()
def m001_runs_bots_questions(db: Database) -> None:
    """What was run, who was asked, what was asked."""
    db.execute(
        """CREATE TABLE runs (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, suite TEXT NOT NULL, identity TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'stopped', 'failed')),
        started_at TEXT NOT NULL, finished_at TEXT, manifest TEXT NOT NULL, findings_of TEXT)"""
    )
    db.execute("CREATE INDEX runs_identity ON runs (identity)")
    db.execute(
        """CREATE TABLE bots (
        id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL, kind TEXT NOT NULL,
        model TEXT, embedded INTEGER NOT NULL, settings TEXT NOT NULL, prompts TEXT NOT NULL,
        parts TEXT NOT NULL, models TEXT NOT NULL)"""
    )
    db.execute(
        """CREATE TABLE questions (
        id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE, key TEXT NOT NULL, text TEXT NOT NULL,
        expected TEXT NOT NULL, constraints TEXT NOT NULL, evidence TEXT NOT NULL, tags TEXT NOT NULL,
        source_document TEXT NOT NULL, answerable INTEGER, extra TEXT NOT NULL)"""
    )
    db.execute(
        """CREATE TABLE run_bots (
        run_id INTEGER NOT NULL REFERENCES runs (id), bot_id INTEGER NOT NULL REFERENCES bots (id),
        position INTEGER NOT NULL, problem TEXT, PRIMARY KEY (run_id, bot_id)) WITHOUT ROWID"""
    )


@migrations()
def m002_replies(db: Database) -> None:
    """What the bots said, and what they had before them."""
    db.execute(
        """CREATE TABLE replies (
        id INTEGER PRIMARY KEY, bot_id INTEGER NOT NULL REFERENCES bots (id), ask BLOB NOT NULL,
        repeat INTEGER NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('answered', 'raised', 'timed_out', 'refused')),
        answer TEXT, error TEXT, declined INTEGER, retrieved INTEGER, latency_ms REAL, queue_ms REAL,
        attempts_ms TEXT, in_flight INTEGER, tokens_in INTEGER, tokens_out INTEGER, cost REAL,
        reasoning TEXT, trace TEXT, asked_at TEXT NOT NULL)"""
    )
    db.execute("CREATE INDEX replies_ask ON replies (bot_id, ask, repeat)")
    db.execute(
        """CREATE TABLE passages (
        id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE, document TEXT NOT NULL,
        start INTEGER, "end" INTEGER, text TEXT NOT NULL)"""
    )
    db.execute(
        """CREATE TABLE contexts (
        reply_id INTEGER NOT NULL REFERENCES replies (id), rank INTEGER NOT NULL,
        passage_id INTEGER NOT NULL REFERENCES passages (id), score REAL,
        PRIMARY KEY (reply_id, rank)) WITHOUT ROWID"""
    )
    db.execute(
        """CREATE TABLE run_rows (
        run_id INTEGER NOT NULL REFERENCES runs (id), bot_id INTEGER NOT NULL REFERENCES bots (id),
        question_id INTEGER NOT NULL REFERENCES questions (id), repeat INTEGER NOT NULL,
        reply_id INTEGER NOT NULL REFERENCES replies (id), position INTEGER,
        PRIMARY KEY (run_id, bot_id, question_id, repeat)) WITHOUT ROWID"""
    )


@migrations()
def m003_scores(db: Database) -> None:
    """What the metrics say of the replies."""
    db.execute(
        """CREATE TABLE metrics (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, better TEXT NOT NULL,
        low REAL, high REAL, summary TEXT NOT NULL, source TEXT NOT NULL,
        aggregate TEXT NOT NULL DEFAULT 'mean' CHECK (aggregate IN ('mean', 'rate')),
        level TEXT NOT NULL DEFAULT 'row' CHECK (level IN ('row', 'run')), UNIQUE (name, version))"""
    )
    db.execute(
        """CREATE TABLE run_metrics (
        run_id INTEGER NOT NULL REFERENCES runs (id), metric_id INTEGER NOT NULL REFERENCES metrics (id),
        position INTEGER NOT NULL, threshold REAL, PRIMARY KEY (run_id, metric_id)) WITHOUT ROWID"""
    )
    db.execute(
        """CREATE TABLE scores (
        reply_id INTEGER NOT NULL REFERENCES replies (id),
        question_id INTEGER NOT NULL REFERENCES questions (id),
        metric_id INTEGER NOT NULL REFERENCES metrics (id), value REAL,
        status TEXT NOT NULL
            CHECK (status IN ('ok', 'not_applicable', 'parse_failure', 'bot_error', 'error')),
        reason TEXT, CHECK ((value IS NOT NULL) = (status = 'ok')),
        PRIMARY KEY (reply_id, question_id, metric_id)) WITHOUT ROWID"""
    )
    db.execute(
        """CREATE TABLE score_details (
        reply_id INTEGER NOT NULL, question_id INTEGER NOT NULL, metric_id INTEGER NOT NULL,
        details TEXT NOT NULL, PRIMARY KEY (reply_id, question_id, metric_id),
        FOREIGN KEY (reply_id, question_id, metric_id)
            REFERENCES scores (reply_id, question_id, metric_id)) WITHOUT ROWID"""
    )


@migrations()
def m004_embeddings(db: Database) -> None:
    """Vectors of texts, kept so that no text is embedded twice by one model."""
    db.execute(
        """CREATE TABLE embeddings (
        model TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, key)) WITHOUT ROWID"""
    )


@migrations()
def m005_answers(db: Database) -> None:
    """A view of what was answered: one line a question, bot and repeat."""
    db.execute(
        """CREATE VIEW answers AS
        SELECT runs.name AS run, bots.name AS bot, questions.key AS question_id, run_rows.repeat AS repeat,
            questions.text AS question, questions.expected AS expected, replies.status AS status,
            replies.answer AS answer, replies.error AS error, replies.declined AS declined,
            replies.retrieved AS retrieved, replies.latency_ms AS latency_ms,
            replies.tokens_in AS tokens_in, replies.tokens_out AS tokens_out, replies.cost AS cost,
            questions.source_document AS source_document, questions.answerable AS answerable,
            questions.tags AS tags, run_rows.reply_id AS reply_id
        FROM run_rows
        JOIN runs ON runs.id = run_rows.run_id
        JOIN bots ON bots.id = run_rows.bot_id
        JOIN questions ON questions.id = run_rows.question_id
        JOIN replies ON replies.id = run_rows.reply_id"""
    )


@migrations()
def m006_row_scores(db: Database) -> None:
    """A view of what the metrics say: one line a row and metric."""
    db.execute(
        """CREATE VIEW row_scores AS
        SELECT runs.name AS run, questions.key AS question_id, bots.name AS bot, run_rows.repeat AS repeat,
            metrics.name AS metric, scores.value AS value, scores.status AS status, scores.reason AS reason,
            CASE WHEN scores.value IS NULL OR run_metrics.threshold IS NULL THEN NULL
                WHEN metrics.better = 'higher' THEN scores.value >= run_metrics.threshold
                WHEN metrics.better = 'lower' THEN scores.value <= run_metrics.threshold
            END AS passed,
            score_details.details AS details, run_metrics.threshold AS threshold,
            metrics.version AS version, run_rows.reply_id AS reply_id
        FROM run_rows
        JOIN runs ON runs.id = run_rows.run_id
        JOIN bots ON bots.id = run_rows.bot_id
        JOIN questions ON questions.id = run_rows.question_id
        JOIN run_metrics ON run_metrics.run_id = run_rows.run_id
        JOIN metrics ON metrics.id = run_metrics.metric_id
        JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
            AND scores.metric_id = run_metrics.metric_id
        LEFT JOIN score_details ON score_details.reply_id = scores.reply_id
            AND score_details.question_id = scores.question_id AND score_details.metric_id = scores.metric_id"""
    )


@migrations()
def m007_evaluators(db: Database) -> None:
    """The evaluators of a run."""
    db.execute(
        """CREATE TABLE run_evaluators (
        run_id INTEGER NOT NULL REFERENCES runs (id), position INTEGER NOT NULL, evaluator TEXT NOT NULL,
        title TEXT NOT NULL, primary_metric TEXT NOT NULL, metrics TEXT NOT NULL,
        board TEXT NOT NULL CHECK (board IN ('heatmap', 'bool', 'classification')),
        problem_type TEXT NOT NULL, parameters TEXT NOT NULL,
        PRIMARY KEY (run_id, evaluator)) WITHOUT ROWID"""
    )


@migrations()
def m008_run_scores(db: Database) -> None:
    """What metrics say of a bot over a whole run."""
    db.execute(
        """CREATE TABLE run_scores (
        run_id INTEGER NOT NULL REFERENCES runs (id), bot_id INTEGER NOT NULL REFERENCES bots (id),
        metric_id INTEGER NOT NULL REFERENCES metrics (id), rows INTEGER NOT NULL, value REAL,
        status TEXT NOT NULL CHECK (status IN ('ok', 'not_applicable', 'parse_failure', 'bot_error', 'error')),
        reason TEXT, details TEXT, CHECK ((value IS NOT NULL) = (status = 'ok')),
        PRIMARY KEY (run_id, bot_id, metric_id)) WITHOUT ROWID"""
    )


@migrations()
def m009_leaderboard(db: Database) -> None:
    """A view of the means: one line a bot and metric."""
    db.execute(
        """CREATE VIEW leaderboard AS
        SELECT runs.name AS run, bots.name AS bot, metrics.name AS metric,
            CASE metrics.aggregate
                WHEN 'rate' THEN TOTAL(scores.value) / NULLIF(SUM(scores.status IN ('ok', 'parse_failure')), 0)
                ELSE AVG(scores.value)
            END AS mean,
            SUM(scores.status = 'ok') AS n_ok, SUM(scores.status = 'not_applicable') AS n_not_applicable,
            SUM(scores.status IN ('error', 'bot_error', 'parse_failure')) AS n_failed,
            metrics.better AS better, run_metrics.threshold AS threshold
        FROM run_rows
        JOIN runs ON runs.id = run_rows.run_id
        JOIN bots ON bots.id = run_rows.bot_id
        JOIN run_metrics ON run_metrics.run_id = run_rows.run_id
        JOIN metrics ON metrics.id = run_metrics.metric_id
        JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
            AND scores.metric_id = run_metrics.metric_id
        GROUP BY run_rows.run_id, run_rows.bot_id, run_metrics.metric_id
        UNION ALL
        SELECT runs.name, bots.name, metrics.name, run_scores.value,
            run_scores.rows * (run_scores.status = 'ok'), run_scores.rows * (run_scores.status = 'not_applicable'),
            run_scores.rows * (run_scores.status IN ('error', 'bot_error', 'parse_failure')),
            metrics.better, run_metrics.threshold
        FROM run_scores
        JOIN runs ON runs.id = run_scores.run_id
        JOIN bots ON bots.id = run_scores.bot_id
        JOIN run_metrics ON run_metrics.run_id = run_scores.run_id AND run_metrics.metric_id = run_scores.metric_id
        JOIN metrics ON metrics.id = run_scores.metric_id"""
    )


@migrations()
def m010_findings(db: Database) -> None:
    """What a run's scores mean, put in words."""
    db.execute(
        """CREATE TABLE problems (
        id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs (id), position INTEGER NOT NULL,
        severity TEXT NOT NULL CHECK (severity IN ('high', 'medium', 'low')), type TEXT NOT NULL,
        evaluator TEXT, metric TEXT, bot_id INTEGER REFERENCES bots (id), threshold REAL, value REAL,
        rows TEXT NOT NULL, row_count INTEGER NOT NULL, what TEXT NOT NULL, action TEXT NOT NULL,
        UNIQUE (run_id, position))"""
    )
    db.execute(
        """CREATE TABLE insights (
        id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs (id), position INTEGER NOT NULL,
        type TEXT NOT NULL, evaluator TEXT, metric TEXT, bot_id INTEGER REFERENCES bots (id),
        text TEXT NOT NULL, details TEXT NOT NULL, UNIQUE (run_id, position))"""
    )


migrations(name="m011_judge_calls")(judge_schema.judge_calls)
migrations(name="m012_judge_log")(judge_schema.judge_log)
migrations(name="m013_calibrations")(calibration_schema.calibrations)
migrations(name="m014_judge_checks")(calibration_schema.judge_checks)
migrations(name="m015_links_of_replies")(judge_schema.links_of_replies)
migrations(name="m016_surveys")(survey_schema.surveys)


@migrations()
def m017_default_thresholds(db: Database) -> None:
    """Which thresholds nobody set; what older runs have counts as set, as it did when they were reported."""
    db.execute("ALTER TABLE run_metrics ADD COLUMN is_default INTEGER NOT NULL DEFAULT 0")


@migrations()
def m018_claims(db: Database) -> None:
    """Who is at work on which question, while several programs share the database."""
    db.execute("CREATE TABLE claimants (owner TEXT PRIMARY KEY, beat_at REAL NOT NULL) WITHOUT ROWID")
    db.execute(
        """CREATE TABLE claims (
        scope INTEGER NOT NULL, bot_id INTEGER NOT NULL REFERENCES bots (id), ask BLOB NOT NULL,
        repeat INTEGER NOT NULL, owner TEXT NOT NULL, run_id INTEGER NOT NULL REFERENCES runs (id),
        is_done INTEGER NOT NULL, PRIMARY KEY (scope, bot_id, ask, repeat)) WITHOUT ROWID"""
    )
