import json
from contextlib import closing

import pytest
from analysis_records import full_analysis
from page_runs import PageBook, page_book, report_of
from proctor.reports.analysis.findings import KnowledgeAnalysis
from proctor.reports.analysis.messages import conclusions
from proctor.reports.analysis.store import store_analysis
from proctor.reports.export.json import run_json
from proctor.reports.export.knowledge import analysis_blocks, analysis_object
from proctor.reports.export.markdown import markdown
from proctor.reports.report import without_times
from proctor.reports.table import markdown as as_markdown


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    made = page_book(tmp_path_factory.mktemp("summary") / "proctor.db", 7)
    with closing(made.store()) as store:
        store_analysis(store, full_analysis(made.head))
    return made


def test_a_page_for_a_pull_request_has_the_conclusions(book: PageBook) -> None:
    with closing(book.store()) as store:
        page, bare = markdown(report_of(store)), markdown(report_of(store, book.base))
    assert "### Knowledge" in page
    assert "- Take recursive 600/80, hybrid, k 4 instead of recursive 400/80, dense, k 4: +0.20" in page
    assert "### Knowledge" not in bare


def test_the_object_of_a_run_has_the_conclusions(book: PageBook) -> None:
    with closing(book.store()) as store:
        made, bare = (json.loads(b"".join(run_json(report_of(store, run)))) for run in (book.head, book.base))
    analysis = full_analysis()
    assert made["knowledge"]["analysis"] == analysis.analysis
    assert made["knowledge"]["conclusions"]
    assert made["knowledge"]["findings"] == {
        "contradiction": 1, "duplicate_question": 1, "stale_gold": 1, "unsupported": 1,
    }  # fmt: skip
    assert bare["knowledge"] is None


def test_where_times_don_t_count_there_is_no_survey(book: PageBook) -> None:
    with closing(book.store()) as store:
        report = without_times(report_of(store))
        assert "### Knowledge" not in markdown(report)
        assert json.loads(b"".join(run_json(report)))["knowledge"] is None


def test_texts_of_others_stay_texts() -> None:
    page = as_markdown(analysis_blocks(full_analysis()))
    assert "caused 1 wrong answer" in page
    assert "<script" not in page
    assert "\x1b" not in page


def test_a_survey_without_anything_says_so() -> None:
    bare = KnowledgeAnalysis("20261121-093000-1f2e", "shop", "", "", "", {})
    assert "Nothing stands out." in as_markdown(analysis_blocks(bare))
    assert analysis_object(bare)["conclusions"] == list(conclusions(bare)) == []
