"""Datasette over the report database, as a separate process, with titles, descriptions and canned queries of ours."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final
from urllib.parse import quote

import orjson

from ... import InputError
from ...reports.store.run import BY_TIME, LATEST_FIRST
from ...reports.store.schema import TableText, schema_texts
from .serving import LOOPBACK, bound_socket

START_TIMEOUT: Final = 60.0  # seconds
SETTINGS: Final = {
    "default_cache_ttl": "0",  # a run may be going on
    "default_page_size": "50",
    "sql_time_limit_ms": "20000",
    "facet_time_limit_ms": "2000",
    "truncate_cells_html": "600",
    "allow_download": "off",
}
# What is left blank is the latest run; the first metric of the run; any bot.
_RUN: Final = f"COALESCE(NULLIF(:run, ''), (SELECT name FROM runs ORDER BY {LATEST_FIRST} LIMIT 1))"
_METRIC: Final = f"""COALESCE(NULLIF(:metric, ''), (
    SELECT metrics.name FROM run_metrics JOIN metrics ON metrics.id = metric_id JOIN runs ON runs.id = run_id
    WHERE runs.name = {_RUN} AND metrics.level = 'row' ORDER BY position LIMIT 1))"""
_METRIC_OF_LATEST: Final = _METRIC.replace(_RUN, f"(SELECT name FROM runs ORDER BY {LATEST_FIRST} LIMIT 1)")
_ANALYSIS: Final = """(SELECT id FROM analyses WHERE :analysis = '' OR name = :analysis ORDER BY id DESC LIMIT 1)"""
_IS_BOT: Final = "(:bot = '' OR {bot} = :bot)"
_BLANK: Final = "Leave run blank for the latest."
_BLANKS: Final = "Blank: the latest run, its first metric, every bot."
# What stands for a line where another table refers to it, and the order in which lines are wanted.
LABELS: Final = {"runs": "name", "bots": "name", "questions": "key", "metrics": "name", "passages": "document"}
SORTED_LATEST_FIRST: Final = ("runs", "judge_calls", "calibrations", "judge_checks")
HIDDEN: Final = ("_sqlite_migrations", "embeddings")


def explore_database(database: Path, port: int | None, ready: Callable[[str], None]) -> None:
    """Run Datasette, read-only, until it ends or a KeyboardInterrupt.

    ``ready`` is called with the address once it answers; without a port it takes the default or the next free one.

    Raises:
        InputError: the extra is not installed, the port is taken, or Datasette does not start.
    """
    _check_installed()
    with bound_socket(port) as listening:
        number = listening.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="proctor-explore-") as folder:
        log = Path(folder) / "log.txt"
        with _started(_command(database, number, _with_plugin(Path(folder), database)), log) as process:
            _wait_until_open(process, number, log)
            ready(f"http://{LOOPBACK}:{number}/{quote(database.stem, safe='')}")
            if process.wait():
                raise InputError(f"Datasette ended: {_last_line(log)}")


def _check_installed() -> None:
    try:
        import datasette  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401 - whether it is there
    except ImportError as error:
        raise InputError(
            "'proctor explore' opens Datasette, which is not installed. Install it with: pip install 'proctor[explore]'"
        ) from error


def _with_plugin(folder: Path, database: Path) -> Path:
    """The folder with the metadata and, in a subfolder, our plugin."""
    (folder / "metadata.json").write_bytes(orjson.dumps(datasette_metadata(database.stem)))
    (folder / "plugins").mkdir()
    with as_file(files(__package__) / "host_guard.py") as plugin:
        shutil.copyfile(plugin, folder / "plugins" / "host_guard.py")
    return folder


def _command(database: Path, port: int, folder: Path) -> list[str]:
    settings = [part for name, value in SETTINGS.items() for part in ("--setting", name, value)]
    return [
        sys.executable, "-m", "datasette", "serve", str(database.absolute()), "--host", LOOPBACK, "--port", str(port),
        "--metadata", str(folder / "metadata.json"), "--plugins-dir", str(folder / "plugins"), *settings,
    ]  # fmt: skip


@contextlib.contextmanager
def _started(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process; it ends with the ``with`` block, whatever happens."""
    with log.open("wb") as out:
        # Its stdin closes when this program ends: our plugin waits for that.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out)  # noqa: S603 - ours
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_open(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end:
        if process.poll() is not None:
            raise InputError(f"Datasette did not start: {_last_line(log)}")
        with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), 1.0):
            return
        time.sleep(0.05)
    raise InputError(f"Datasette did not start within {START_TIMEOUT:.0f} seconds: {_last_line(log)}")


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it printed nothing."


def _plain(text: str) -> str:
    """Without the marks of Markdown."""
    return text.replace("`", "").strip()


def _scored(run: str, metric: str) -> str:
    """The rows of a run with their values of one metric, by the tables themselves, whose keys make it fast."""
    return f"""SELECT bots.name AS bot, questions.key AS question_id, run_rows.repeat, questions.text AS question,
        questions.expected, replies.answer, scores.value, metrics.name AS metric, metrics.version, metrics.better,
        CASE metrics.better WHEN 'higher' THEN scores.value >= run_metrics.threshold
            WHEN 'lower' THEN scores.value <= run_metrics.threshold END AS passed, score_details.details
    FROM runs
    JOIN run_metrics ON run_metrics.run_id = runs.id JOIN metrics ON metrics.id = run_metrics.metric_id
    CROSS JOIN run_rows ON run_rows.run_id = runs.id
    JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
        AND scores.metric_id = metrics.id
    JOIN bots ON bots.id = run_rows.bot_id
    JOIN questions ON questions.id = run_rows.question_id
    JOIN replies ON replies.id = run_rows.reply_id
    LEFT JOIN score_details ON score_details.reply_id = scores.reply_id
        AND score_details.question_id = scores.question_id AND score_details.metric_id = scores.metric_id
    WHERE runs.name = {run} AND metrics.name = {metric} AND scores.value IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class CannedQuery:
    """A query; ``parameters`` are in the order in which a form asks for them."""

    name: str
    title: str
    description: str
    sql: str
    parameters: tuple[str, ...] = ()


QUERIES: Final = (
    CannedQuery(
        "worst_rows", "The worst rows of a metric", f"Answers with the worst values first. {_BLANKS}",
        f"""SELECT metric, value, bot, question_id, repeat, question, expected, answer, details
FROM ({_scored(_RUN, _METRIC)})
WHERE {_IS_BOT.format(bot="bot")}
ORDER BY CASE better WHEN 'lower' THEN -value ELSE value END, question_id, repeat, bot LIMIT 200""",
        ("run", "metric", "bot"),
    ),
    CannedQuery(
        "bots_disagree", "Rows on which two bots disagree",
        f"One passes and the other does not, or their values differ most. {_BLANK} Name both bots and a metric.",
        f"""WITH scored AS MATERIALIZED ({_scored(_RUN, _METRIC)})
SELECT one.question_id, one.repeat, one.value AS value_a, other.value AS value_b, one.passed AS passed_a,
    other.passed AS passed_b, one.question, one.expected, one.answer AS answer_a, other.answer AS answer_b
FROM scored one JOIN scored other ON other.question_id = one.question_id AND other.repeat = one.repeat
    AND other.question = one.question
WHERE one.bot = :bot_a AND other.bot = :bot_b AND one.value != other.value
ORDER BY one.passed IS NOT other.passed DESC, ABS(one.value - other.value) DESC, one.question_id LIMIT 200""",
        ("run", "metric", "bot_a", "bot_b"),
    ),
    CannedQuery(
        "judge_of_row", "What a judge replied about a row",
        f"Each call with its request, reply and reasoning. {_BLANK} Name the question; bot blank: every bot.",
        f"""SELECT bot, repeat, call, vote, judge, reply, reasoning, problem, error, request, prompt, asked_at
FROM judge_log
WHERE run = {_RUN} AND question_id = :question_id AND {_IS_BOT.format(bot="bot")}
ORDER BY bot, repeat, call_id""",
        ("run", "question_id", "bot"),
    ),
    CannedQuery(
        "most_retrieved", "The most retrieved passages",
        f"Passages in many contexts: what the retriever finds for every question rarely helps. {_BLANK}",
        f"""SELECT passages.document, passages.start, passages."end", COUNT(*) AS times,
    COUNT(DISTINCT run_rows.question_id) AS questions, ROUND(AVG(contexts.rank), 1) AS mean_rank, passages.text
FROM run_rows JOIN runs ON runs.id = run_rows.run_id JOIN bots ON bots.id = run_rows.bot_id
JOIN contexts ON contexts.reply_id = run_rows.reply_id JOIN passages ON passages.id = contexts.passage_id
WHERE runs.name = {_RUN} AND {_IS_BOT.format(bot="bots.name")}
GROUP BY passages.id ORDER BY times DESC, passages.id LIMIT 200""",
        ("run", "bot"),
    ),
    CannedQuery(
        "documents_used", "Which documents the contexts come from",
        f"By bot and document: how many passages of it were retrieved, for how many questions. {_BLANK}",
        f"""SELECT bots.name AS bot, passages.document, COUNT(*) AS passages,
    COUNT(DISTINCT run_rows.question_id) AS questions, MIN(contexts.rank) AS best_rank
FROM run_rows JOIN runs ON runs.id = run_rows.run_id JOIN bots ON bots.id = run_rows.bot_id
JOIN contexts ON contexts.reply_id = run_rows.reply_id JOIN passages ON passages.id = contexts.passage_id
WHERE runs.name = {_RUN}
GROUP BY bots.id, passages.document ORDER BY bots.name, passages DESC""",
        ("run",),
    ),
    CannedQuery(
        "missing_values", "Missing values by reason",
        f"How many rows have no value of a metric, and why: missing is never zero. {_BLANK}",
        f"""SELECT metric, bot, status, reason, COUNT(*) AS rows
FROM row_scores WHERE run = {_RUN} AND value IS NULL
GROUP BY metric, bot, status, reason ORDER BY rows DESC, metric, bot""",
        ("run",),
    ),
    CannedQuery(
        "cost_by_run", "Tokens and cost by run and bot",
        "What the bots used in each run, the latest first; n is the number of rows that report it.",
        f"""SELECT runs.name AS run, runs.suite, bots.name AS bot, COUNT(*) AS rows, SUM(tokens_in) AS tokens_in,
    SUM(tokens_out) AS tokens_out, ROUND(SUM(cost), 6) AS cost, COUNT(cost) AS cost_n,
    ROUND(AVG(CASE replies.status WHEN 'answered' THEN latency_ms END)) AS mean_latency_ms
FROM run_rows JOIN runs ON runs.id = run_rows.run_id JOIN bots ON bots.id = run_rows.bot_id
JOIN replies ON replies.id = run_rows.reply_id
GROUP BY runs.id, bots.id ORDER BY {BY_TIME}, bots.name""",
    ),
    CannedQuery(
        "judge_cost_by_run", "Calls, tokens and cost of judges by run",
        "What each run paid for its judge; cached replies cost nothing.",
        f"""SELECT runs.name AS run, judge, call, COUNT(*) AS calls, SUM(tokens_in) AS tokens_in,
    SUM(tokens_out) AS tokens_out, ROUND(SUM(cost), 6) AS cost, SUM(judge_calls.problem IS NOT NULL) AS unreadable,
    SUM(judge_calls.error IS NOT NULL) AS failed
FROM judge_calls LEFT JOIN runs ON runs.id = judge_calls.run_id
GROUP BY runs.id, judge, call ORDER BY {BY_TIME}, calls DESC""",
    ),
    CannedQuery(
        "failed_rows", "Questions that a bot could not answer",
        f"Rows with an error, a timeout or a refusal. {_BLANK}",
        f"""SELECT bot, question_id, repeat, status, error, latency_ms, question FROM answers
WHERE run = {_RUN} AND status != 'answered' ORDER BY bot, question_id, repeat""",
        ("run",),
    ),
    CannedQuery(
        "slowest_answers", "The slowest answers", f"Answered rows by the bot's own time. {_BLANK}",
        f"""SELECT bot, question_id, repeat, latency_ms, tokens_in, tokens_out, retrieved, question, answer
FROM answers WHERE run = {_RUN} AND status = 'answered' AND {_IS_BOT.format(bot="bot")}
ORDER BY latency_ms DESC LIMIT 200""",
        ("run", "bot"),
    ),
    CannedQuery(
        "hardest_questions", "The hardest questions",
        "Questions by the mean of a metric over all bots, the hardest first. Blank: the latest run, its first metric.",
        f"""SELECT question_id, ROUND(AVG(value), 4) AS mean, COUNT(value) AS values_n, better, question, expected
FROM ({_scored(_RUN, _METRIC)})
GROUP BY question_id, question
ORDER BY CASE better WHEN 'lower' THEN -AVG(value) ELSE AVG(value) END, question_id LIMIT 200""",
        ("run", "metric"),
    ),
    CannedQuery(
        "flips", "Rows that passed before and fail now, or the other way",
        "Name two runs (baseline and candidate), a metric, and perhaps a bot that both have.",
        f"""WITH before AS MATERIALIZED ({_scored(":baseline", ":metric")}),
now AS MATERIALIZED ({_scored(":candidate", ":metric")})
SELECT CASE WHEN now.passed THEN 'gained' ELSE 'lost' END AS flip, now.bot, now.question_id, now.repeat,
    before.value AS before, now.value AS now, before.version = now.version AS is_same_version, now.question,
    before.answer AS answer_before, now.answer AS answer_now
FROM now JOIN before ON before.bot = now.bot AND before.question_id = now.question_id
    AND before.repeat = now.repeat AND before.question = now.question
WHERE before.passed != now.passed AND {_IS_BOT.format(bot="now.bot")}
ORDER BY flip DESC, now.bot, now.question_id, now.repeat""",
        ("baseline", "candidate", "metric", "bot"),
    ),
    CannedQuery(
        "metric_versions", "Versions of a metric over runs",
        "Which run measured a metric by which version, with the means; only equal versions can be compared. Blank: the "
        "first metric of the latest run.",
        f"""WITH wanted AS MATERIALIZED (
    SELECT runs.id AS run_id, runs.name AS run, runs.suite, metrics.id AS metric_id, metrics.name AS metric,
        metrics.version, metrics.aggregate
    FROM metrics JOIN run_metrics ON metric_id = metrics.id JOIN runs ON runs.id = run_id
    WHERE metrics.name = {_METRIC_OF_LATEST}),
measured AS (
    SELECT wanted.*, bot_id, CASE aggregate
            WHEN 'rate' THEN TOTAL(value) / NULLIF(SUM(scores.status IN ('ok', 'parse_failure')), 0)
            ELSE AVG(value) END AS mean, SUM(scores.status = 'ok') AS n_ok
    FROM wanted CROSS JOIN run_rows ON run_rows.run_id = wanted.run_id
    JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
        AND scores.metric_id = wanted.metric_id
    GROUP BY wanted.run_id, wanted.metric_id, bot_id
    UNION ALL
    SELECT wanted.*, bot_id, run_scores.value, run_scores.rows * (run_scores.status = 'ok')
    FROM wanted JOIN run_scores ON run_scores.run_id = wanted.run_id AND run_scores.metric_id = wanted.metric_id)
SELECT run, suite, metric, SUBSTR(version, 1, 8) AS version, bots.name AS bot, mean, n_ok
FROM measured JOIN bots ON bots.id = bot_id ORDER BY run_id DESC, bots.name""",
        ("metric",),
    ),
    CannedQuery(
        "analysis_findings", "What is missing and wrong in documents and questions",
        "Findings of 'proctor knowledge', the worst first. Leave analysis blank for the latest.",
        f"""SELECT severity, part, kind, what, action, score, questions, locations
FROM analysis_findings WHERE analysis_id = {_ANALYSIS}
ORDER BY CASE severity WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, position""",
        ("analysis",),
    ),
    CannedQuery(
        "analysis_documents", "What each document does",
        "The cards of 'proctor knowledge', the worst document first. Leave analysis blank for the latest.",
        f"""SELECT document, title, questions, only_support, retrieved, needed, wrong, graded, failures_attributed,
    successes_attributed, unused,
    tokens, language FROM analysis_documents WHERE analysis_id = {_ANALYSIS} ORDER BY position""",
        ("analysis",),
    ),
    CannedQuery(
        "analysis_configurations", "Configurations of chunking and retrieval",
        "Every configuration of the grid with its means. Leave analysis blank for the latest; blank: every metric.",
        f"""SELECT metric, of, name, mean, low, high, difference, difference_low, difference_high, p_value, questions,
    is_current, is_recommended, retrieve_ms_p50
FROM analysis_configurations JOIN analysis_configuration_metrics ON configuration_id = analysis_configurations.id
WHERE analysis_id = {_ANALYSIS} AND (:metric = '' OR metric = :metric)
ORDER BY metric, of DESC, mean DESC, position""",
        ("analysis", "metric"),
    ),
)  # fmt: skip


def datasette_metadata(database: str) -> dict[str, object]:
    """What ``datasette serve --metadata`` takes.

    ``database`` is the name that Datasette gives it: that of its file, without its ending.
    """
    texts = schema_texts()
    tables = {text.name: _table(text) for text in texts}
    for name in HIDDEN:
        tables[name] = {**tables.get(name, {}), "hidden": True}
    return {
        "title": "Proctor",
        "description": "Runs of chat bots, with their answers, scores and what judges said. Read only.",
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
        "description": _plain(text.description),
        "columns": {name: _plain(meaning) for name, meaning in text.columns.items()},
    }
    if text.name in LABELS:
        made["label_column"] = LABELS[text.name]
    if text.name in SORTED_LATEST_FIRST:
        made["sort_desc"] = "id"
    return made


def _query(query: CannedQuery) -> dict[str, object]:
    return {
        "title": query.title,
        "description": query.description,
        "sql": query.sql,
        "params": list(query.parameters),
    }
