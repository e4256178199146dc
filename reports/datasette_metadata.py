"""Datasette metadata: titles, descriptions and queries, as Datasette shows them beside the report database."""

from __future__ import annotations

from typing import Final

from .canned_queries import QUERIES, CannedQuery
from .schema_texts import TableText, schema_texts

# What stands for a line where another table refers to it, and the order in which lines are wanted.
LABELS: Final = {"runs": "name", "bots": "name", "questions": "key", "metrics": "name", "passages": "document"}
LATEST_FIRST: Final = ("runs", "judge_calls", "calibrations", "judge_checks")
HIDDEN: Final = ("_sqlite_migrations", "embeddings")


def datasette_metadata(database: str) -> dict[str, object]:
    """What ``datasette serve --metadata`` takes.

    Args:
        database: the name that Datasette gives the database: that of its file, without its ending.
    """
    texts = schema_texts()
    tables = {text.name: _table(text) for text in texts}
    for name in HIDDEN:
        tables[name] = {**tables.get(name, {}), "hidden": True}
    return {
        "title": "Proctor",
        "description": "Runs of chat bots, with their answers, scores and what judges said. Only to be looked at.",
        "databases": {
            database: {
                "title": "The report database",
                "description": "Begin with the queries, or with the views answers, row_scores, leaderboard and "
                "judge_log: one line an answer, score, mean or judge call.",
                "tables": tables,
                "queries": {query.name: _query(query) for query in QUERIES},
            }
        },
    }


def _table(text: TableText) -> dict[str, object]:
    made: dict[str, object] = {
        "title": f"{text.name} (view)" if text.is_view else text.name,
        "description": text.description,
        "columns": text.columns,
    }
    if text.name in LABELS:
        made["label_column"] = LABELS[text.name]
    if text.name in LATEST_FIRST:
        made["sort_desc"] = "id"
    return made


def _query(query: CannedQuery) -> dict[str, object]:
    return {
        "title": query.title,
        "description": query.description,
        "sql": query.sql,
        "params": list(query.parameters),
    }
