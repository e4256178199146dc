"""The page for a pull request: as reviewed by eye, and with nothing in it that others could make it say."""

import html
import re
from pathlib import Path

import pytest
from proctor.metrics.score import Status
from proctor.reports.export.markdown import markdown
from proctor.reports.report import make_report, without_times
from proctor.reports.store.run import RowStatus, RunEvaluator, RunMetric
from proctor.reports.text import cell_code, code, prose
from report_rows import Book, ok, row
from reported_runs import FAMILY, PII, RECALL, alone, missing, pii_scores

GOLDEN = Path(__file__).parents[2] / "golden" / "report.md"
ROUGE = [RunMetric(f"rouge_{kind}", "v1", "higher", 0.0, 1.0, 0.75) for kind in ("l", "1")]


def write_runs(path):
    """A run with a bit of everything."""
    rouge = RunEvaluator("rouge", "ROUGE", "rouge_l", [metric.name for metric in ROUGE])
    book = Book(path, bots=["faq", "rag"], metrics=[RECALL, *ROUGE, *FAMILY], evaluators=[alone(RECALL), rouge, PII])
    for bot, shift in (("faq", 0.0), ("rag", 0.25)):
        for place in range(4):
            value = place / 5 + shift
            scores = [ok("keyword_recall", value), ok("rouge_l", value), ok("rouge_1", min(1.0, value + 0.1))]
            made = row(book.run, bot, f"q{place + 1}", position=place, latency_ms=10.0 * (place + 1) * (1 + shift))
            book.put(made, *scores, *pii_scores(answer=place > 0, contexts=None if bot == "faq" else place > 1))
    broken = row(book.run, "rag", "q5", status=RowStatus.RAISED, error="KeyError: 'x'", position=4, latency_ms=1.0)
    book.put(broken, *(missing(metric.name, "bot_raised", Status.BOT_ERROR) for metric in (RECALL, *ROUGE, *FAMILY)))
    book.writer.close()
    book.store.connection.execute("UPDATE runs SET name = '20260101-120000-abcd', status = 'finished'")
    book.store.connection.execute("UPDATE runs SET finished_at = '2026-01-01T12:00:05.000+00:00'")
    return book


def test_the_page_is_the_one_that_was_reviewed(tmp_path):
    book = write_runs(tmp_path / "x.db")
    page = markdown(make_report(book.store, book.run.id))
    book.store.close()
    assert page == GOLDEN.read_text("utf-8")


def test_without_times_there_is_no_name_date_or_latency(tmp_path):
    book = write_runs(tmp_path / "x.db")
    page = markdown(without_times(make_report(book.store, book.run.id)))
    book.store.close()
    assert "keyword_recall" in page
    assert not re.search(r"2026|latency|fastest| ms\b", page)


HOSTILE = [
    "a|b", "a\\|b", "x | y", "<script>alert(1)</script>", "<!-- ", "![i](http://x/y.png)", "[a](javascript:b)",
    "line\nbreak\r\n\r\n# heading", "`tick`", "``", "@team please", "#12", "**bold** _it_ ~no~", "\x1b[31mred",
    "\u202eright to left", "&lt;b&gt;", "- item", "1. item", "http://x.y", "</details>", "\u2028|\u2028",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_others_stay_texts(tmp_path, text):
    book = Book(tmp_path / "x.db", bots=[f"bot {text}", "other"], metrics=[RECALL], evaluators=[alone(RECALL)])
    for bot in (f"bot {text}", "other"):
        book.put(row(book.run, bot, text, text), ok("keyword_recall", 0.1))
        book.put(row(book.run, bot, "plain", text), ok("keyword_recall", 0.2))
    book.writer.close()
    page = markdown(make_report(book.store, book.run.id))
    book.store.close()
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert {cells(line) for line in tables} == {3, 5}  # the leaderboard and the problems
    bare = outside_code(page)
    assert not re.search(
        r"<(?!/?(details|summary|code)>)|(?<!\\)\]\(|@(?!\u2060)|(?<!&)#(?![#\u2060 ])|\x1b|\u202e", bare
    )
    assert "</details>" not in bare


def cells(line):
    """Cells of a table's line as GitHub counts them: a pipe ends a cell unless a backslash stands before it."""
    return len(re.sub(r"\\.", "", line).strip("|").split("|"))


def outside_code(page):
    """The page without its code spans, as CommonMark finds them."""
    page = re.sub(r"<code>[^<]*</code>", "", page)
    return "\n".join(re.sub(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line) for line in page.splitlines())


def test_code_holds_any_number_of_ticks():
    assert code("a ``` b ` c") == "````a ``` b ` c````"
    assert code("`a`") == "`` `a` ``"
    assert code("") == ""


def test_a_pipe_in_a_cell_is_an_entity():
    assert cell_code("a\\|b<i>") == "<code>a&#92;&#124;b&#60;i&#62;</code>"


def test_long_texts_are_cut():
    assert len(prose("x" * 1000)) == 300
    assert prose("x" * 1000).endswith("…")


def test_marks_in_a_sentence_are_entities_that_a_reader_sees_as_marks():
    assert html.unescape(prose("a|b <c> &#124; #12")) == "a|b <c> &#\u2060124; #\u206012"
    assert prose("at http://a.b or WWW.a.b") == "at http:\u2060//a.b or WWW\u2060.a.b"
