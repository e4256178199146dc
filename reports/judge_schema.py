"""The tables and views of what judges were asked and said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


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
