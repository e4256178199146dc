"""The tables and views of the report database, as migrations that are applied in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlite_utils.migrations import Migrations

if TYPE_CHECKING:
    from sqlite_utils import Database


def calibrations(db: Database) -> None:
    """People's labels, and what was worked out from them."""
    db.execute(
        """CREATE TABLE calibration_labels (
        id INTEGER PRIMARY KEY, metric TEXT NOT NULL, content BLOB NOT NULL, question TEXT NOT NULL,
        value REAL, passes INTEGER, seed INTEGER, labelled_at TEXT NOT NULL,
        CHECK (value IS NOT NULL OR passes IS NOT NULL), UNIQUE (metric, content))"""
    )
    db.execute(
        """CREATE TABLE calibrations (
        id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs (id), bot_id INTEGER REFERENCES bots (id),
        metric_id INTEGER NOT NULL REFERENCES metrics (id), judge TEXT NOT NULL, population TEXT NOT NULL,
        measure TEXT NOT NULL CHECK (measure IN ('mean', 'pass_rate')), labels INTEGER NOT NULL,
        others INTEGER NOT NULL, is_random INTEGER NOT NULL, agreement REAL, kappa REAL, sensitivity REAL,
        specificity REAL, judge_mean REAL NOT NULL, people_mean REAL NOT NULL, corrected REAL NOT NULL,
        ci_low REAL NOT NULL, ci_high REAL NOT NULL, details TEXT NOT NULL, made_at TEXT NOT NULL)"""
    )
    db.execute("CREATE UNIQUE INDEX calibrations_of ON calibrations (run_id, IFNULL(bot_id, 0), metric_id)")


def judge_checks(db: Database) -> None:
    """How judges did on cases whose verdict is known."""
    db.execute(
        """CREATE TABLE judge_checks (
        id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, judge TEXT NOT NULL, made_at TEXT NOT NULL,
        accuracy REAL, hostile REAL, result TEXT NOT NULL)"""
    )


def judge_calls(db: Database) -> None:
    """What judges were asked and what they said, and which scores rest on it."""
    db.execute(
        """CREATE TABLE judge_prompts (
        id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE, name TEXT NOT NULL, text TEXT NOT NULL)"""
    )
    db.execute(
        "CREATE TABLE judge_texts (id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE, text TEXT NOT NULL)"
    )
    db.execute(
        """CREATE TABLE judge_calls (
        id INTEGER PRIMARY KEY, key BLOB NOT NULL, run_id INTEGER REFERENCES runs (id), judge TEXT NOT NULL,
        call TEXT NOT NULL, vote INTEGER NOT NULL, prompt_id INTEGER NOT NULL REFERENCES judge_prompts (id),
        request_id INTEGER NOT NULL REFERENCES judge_texts (id), schema_id INTEGER REFERENCES judge_texts (id),
        tokens_in INTEGER, tokens_out INTEGER, cost REAL, latency_ms REAL, queue_ms REAL, attempts_ms TEXT,
        finish_reason TEXT, asked_at TEXT NOT NULL, problem TEXT, error TEXT, reply TEXT, reasoning TEXT,
        exchange TEXT)"""
    )
    db.execute("CREATE INDEX judge_calls_key ON judge_calls (key)")
    db.execute(
        """CREATE TABLE row_judge_calls (
        run_id INTEGER NOT NULL REFERENCES runs (id), reply_id INTEGER NOT NULL REFERENCES replies (id),
        question_id INTEGER NOT NULL REFERENCES questions (id),
        call_id INTEGER NOT NULL REFERENCES judge_calls (id), paid INTEGER NOT NULL,
        PRIMARY KEY (run_id, reply_id, question_id, call_id)) WITHOUT ROWID"""
    )
    db.execute("CREATE INDEX row_judge_calls_call ON row_judge_calls (call_id)")


def links_of_replies(db: Database) -> None:
    """Which calls a reply's scores rest on, whatever run had them made."""
    db.execute("CREATE INDEX row_judge_calls_reply ON row_judge_calls (reply_id, question_id)")


def judge_log(db: Database) -> None:
    """A view of the judge's work: one line a row and call."""
    db.execute(
        """CREATE VIEW judge_log AS
        SELECT runs.name AS run, questions.key AS question_id, bots.name AS bot, run_rows.repeat AS repeat,
            judge_calls.judge AS judge, judge_calls.call AS call, judge_calls.vote AS vote,
            row_judge_calls.paid AS paid, judge_prompts.text AS prompt, requests.text AS request,
            judge_calls.exchange AS exchange, judge_calls.reply AS reply, judge_calls.reasoning AS reasoning,
            judge_calls.problem AS problem, judge_calls.error AS error,
            judge_calls.finish_reason AS finish_reason, judge_calls.tokens_in AS tokens_in,
            judge_calls.tokens_out AS tokens_out, judge_calls.cost AS cost,
            judge_calls.latency_ms AS latency_ms, judge_calls.asked_at AS asked_at,
            run_rows.reply_id AS reply_id, judge_calls.id AS call_id
        FROM row_judge_calls
        JOIN run_rows ON run_rows.run_id = row_judge_calls.run_id AND run_rows.reply_id = row_judge_calls.reply_id
            AND run_rows.question_id = row_judge_calls.question_id
        JOIN runs ON runs.id = run_rows.run_id
        JOIN bots ON bots.id = run_rows.bot_id
        JOIN questions ON questions.id = run_rows.question_id
        JOIN judge_calls ON judge_calls.id = row_judge_calls.call_id
        JOIN judge_prompts ON judge_prompts.id = judge_calls.prompt_id
        JOIN judge_texts AS requests ON requests.id = judge_calls.request_id"""
    )


TABLES = (
    """CREATE TABLE analyses (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, suite TEXT NOT NULL, run_id INTEGER REFERENCES runs (id),
        started_at TEXT NOT NULL, finished_at TEXT NOT NULL, metric TEXT, threshold REAL, manifest TEXT NOT NULL,
        content TEXT NOT NULL)""",
    """CREATE TABLE analysis_configurations (
        id INTEGER PRIMARY KEY, analysis_id INTEGER NOT NULL REFERENCES analyses (id), position INTEGER NOT NULL,
        name TEXT NOT NULL, splitter TEXT NOT NULL, chunk_size INTEGER, chunk_overlap INTEGER, retriever TEXT NOT NULL,
        top_k INTEGER NOT NULL, embedder TEXT NOT NULL, reranker TEXT NOT NULL, min_score REAL, passages INTEGER,
        bots TEXT NOT NULL,
        is_present INTEGER NOT NULL, is_recommended INTEGER NOT NULL, retrieve_ms_p50 REAL, retrieve_ms_p95 REAL,
        UNIQUE (analysis_id, position))""",
    """CREATE TABLE analysis_configuration_metrics (
        setting_id INTEGER NOT NULL REFERENCES analysis_configurations (id), metric TEXT NOT NULL,
        of TEXT NOT NULL CHECK (of IN ('retrieval', 'answer')), mean REAL NOT NULL, low REAL, high REAL,
        questions INTEGER NOT NULL, difference REAL, difference_low REAL, difference_high REAL, p_value REAL,
        PRIMARY KEY (setting_id, metric, of)) WITHOUT ROWID""",
    """CREATE TABLE analysis_documents (
        analysis_id INTEGER NOT NULL REFERENCES analyses (id), position INTEGER NOT NULL, document TEXT NOT NULL,
        title TEXT NOT NULL, characters INTEGER NOT NULL, language TEXT NOT NULL, passages INTEGER NOT NULL,
        questions INTEGER NOT NULL, only_support INTEGER NOT NULL, single_passages INTEGER NOT NULL,
        retrieved INTEGER NOT NULL, placed INTEGER, needed INTEGER NOT NULL, unused INTEGER NOT NULL,
        tokens INTEGER NOT NULL, wrong INTEGER NOT NULL, marked INTEGER NOT NULL, caused INTEGER, carried INTEGER,
        PRIMARY KEY (analysis_id, document)) WITHOUT ROWID""",
    """CREATE TABLE analysis_coverage (
        analysis_id INTEGER NOT NULL REFERENCES analyses (id), question TEXT NOT NULL, document TEXT NOT NULL,
        holds INTEGER NOT NULL, retrieved_by TEXT NOT NULL, wrong_for TEXT NOT NULL,
        PRIMARY KEY (analysis_id, question, document)) WITHOUT ROWID""",
    """CREATE TABLE analysis_findings (
        analysis_id INTEGER NOT NULL REFERENCES analyses (id), position INTEGER NOT NULL,
        part TEXT NOT NULL CHECK (part IN ('gaps', 'inside', 'audit')), kind TEXT NOT NULL,
        severity TEXT NOT NULL CHECK (severity IN ('high', 'medium', 'low')), what TEXT NOT NULL,
        action TEXT NOT NULL, places TEXT NOT NULL, questions TEXT NOT NULL, score REAL, details TEXT NOT NULL,
        PRIMARY KEY (analysis_id, position)) WITHOUT ROWID""",
    """CREATE TABLE analysis_attributions (
        analysis_id INTEGER NOT NULL REFERENCES analyses (id), bot TEXT NOT NULL, question TEXT NOT NULL,
        value REAL, gold_only REAL, cause TEXT NOT NULL, documents TEXT NOT NULL, answer TEXT NOT NULL,
        fixed TEXT NOT NULL, PRIMARY KEY (analysis_id, bot, question)) WITHOUT ROWID""",
    """CREATE TABLE analysis_ablations (
        analysis_id INTEGER NOT NULL REFERENCES analyses (id), bot TEXT NOT NULL, question TEXT NOT NULL,
        document TEXT NOT NULL, value REAL, share REAL,
        PRIMARY KEY (analysis_id, bot, question, document)) WITHOUT ROWID""",
    """CREATE TABLE analysis_questions (
        analysis_id INTEGER NOT NULL REFERENCES analyses (id), position INTEGER NOT NULL, question TEXT NOT NULL,
        text TEXT NOT NULL, gold TEXT NOT NULL, difficulty REAL, spread REAL, discrimination REAL, telling INTEGER,
        in_subset INTEGER NOT NULL, PRIMARY KEY (analysis_id, question)) WITHOUT ROWID""",
    """CREATE TABLE analysis_edits (
        analysis_id INTEGER NOT NULL REFERENCES analyses (id), position INTEGER NOT NULL, document TEXT NOT NULL,
        change TEXT NOT NULL, was TEXT NOT NULL, gained TEXT NOT NULL, lost TEXT NOT NULL,
        PRIMARY KEY (analysis_id, position)) WITHOUT ROWID""",
)


def analyses(db: Database) -> None:
    """What analyses of documents and questions found."""
    for table in TABLES:
        db.execute(table)
    db.execute("CREATE INDEX surveys_run ON analyses (run_id)")


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
        answer TEXT, error TEXT, abstained INTEGER, retrieved INTEGER, latency_ms REAL, queue_ms REAL,
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
            replies.answer AS answer, replies.error AS error, replies.abstained AS abstained,
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


migrations(name="m011_judge_calls")(judge_calls)
migrations(name="m012_judge_log")(judge_log)
migrations(name="m013_calibrations")(calibrations)
migrations(name="m014_judge_checks")(judge_checks)
migrations(name="m015_links_of_replies")(links_of_replies)
migrations(name="m016_surveys")(analyses)


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
