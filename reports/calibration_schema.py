"""The tables of what people say of rows, how far judges agree with it, and how judges did on known cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
