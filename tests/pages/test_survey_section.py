import dataclasses
from contextlib import closing

import pytest
from browser import Shown
from page_books import PageBook, page_book, report_of
from proctor.reports.pages.run_page import run_file, run_page
from proctor.reports.pages.surveys.coverage_map import MOST_DOCUMENTS, coverage_map
from proctor.reports.pages.surveys.settings_chart import metric_names, settings_chart
from proctor.reports.pages.surveys.survey_section import OPEN, grouped, survey_section
from proctor.reports.surveys.documents import Covered, DocumentCard
from proctor.reports.surveys.finding import Finding
from proctor.reports.surveys.kept_surveys import keep_survey
from proctor.reports.surveys.survey import Gaps, Survey
from survey_books import HOSTILE, findings, full_survey, grid

PARTS = ("grid", "gaps", "documents", "blame", "inside", "against", "audit")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    made = page_book(tmp_path_factory.mktemp("survey") / "proctor.db", 6)
    with closing(made.store()) as store:
        keep_survey(store, full_survey(made.head))
    return made


@pytest.fixture(scope="module")
def address(book: PageBook) -> str:
    file = book.path.with_name("run.html")
    with closing(book.store()) as store, file.open("wb") as page:
        page.writelines(run_file(report_of(store)))
    return file.as_uri()


def test_only_a_run_with_a_survey_has_the_part(book: PageBook) -> None:
    with closing(book.store()) as store:
        ids = {
            name: [section.id for section in run_page(report_of(store, name)).sections]
            for name in (book.base, book.head)
        }
    assert "knowledge" not in ids[book.base]
    assert ids[book.head] == ["overview", "heatmap", "questions", "knowledge", "manifest"]


def test_every_part_has_a_heading_that_a_link_leads_to(page: Shown, address: str) -> None:
    for part in PARTS:
        page.open(f"{address}#knowledge?part={part}")
        page.wait(f"return document.getElementById('knowledge-{part}')?.getBoundingClientRect().height > 0")
    links = page.run("return [...document.querySelectorAll('#knowledge nav a')].map(each => each.hash)")
    assert links == [f"#knowledge?part={part}" for part in PARTS]


def test_a_question_of_a_finding_leads_to_its_row(page: Shown, address: str) -> None:
    page.open(f"{address}#knowledge")
    assert page.run("return document.querySelector('#knowledge .survey-findings a').hash") == "#questions?open=how"


def test_texts_of_others_are_texts(page: Shown, address: str) -> None:
    page.open(f"{address}#knowledge")
    assert "alert(1)" in page.run("return document.querySelector('#knowledge').textContent")
    assert page.run("return document.querySelectorAll('#knowledge script').length") == 0


@pytest.mark.parametrize("width", [1400, 390])
def test_the_part_is_never_wider_than_the_window(page: Shown, address: str, width: int) -> None:
    page.open(f"{address}#knowledge", width=width)
    assert page.run("return document.documentElement.scrollWidth - innerWidth") == 0


def test_a_survey_without_anything_says_so() -> None:
    shown = survey_section(Survey("20261121-093000-1f2e", "shop", "", "", "", {}))
    assert "Nothing stands out." in shown
    assert "<h3" not in shown


@pytest.mark.parametrize("part", ["grid", "blame", "audit", "against"])
def test_a_part_that_was_not_asked_for_is_not_there(part: str) -> None:
    survey = full_survey()
    without = dataclasses.replace(survey, **{part: None})  # type: ignore[arg-type]
    assert f'id="knowledge-{part}"' in survey_section(survey)
    assert f"knowledge-{part}" not in survey_section(without)
    assert f"part={part}" not in survey_section(without)


def test_many_findings_of_a_kind_are_folded_and_the_worst_are_shown() -> None:
    mild = [dataclasses.replace(findings()[0], severity="low", what=f"mild {place}") for place in range(OPEN + 2)]
    worst = dataclasses.replace(findings()[0], severity="high", what="the worst")
    (group,) = grouped([*mild, worst])
    assert group.shown[0].what == "the worst"
    assert (len(group.shown), len(group.folded)) == (OPEN, 3)
    shown = survey_section(dataclasses.replace(full_survey(), gaps=Gaps((*mild, worst))))
    assert "<summary>3 more</summary>" in shown


def test_the_chart_marks_the_present_and_the_recommended_setting() -> None:
    chart = settings_chart(grid(20))
    assert chart is not None
    assert [line.name for line in chart.lines if line.tone] == [
        "sentences 2300/80, bm25, k 4 (take)",
        "recursive 400/80, dense, k 4 (now)",
    ]
    assert chart.reference == 0.6
    values = [line.value for line in chart.lines if line.value is not None]
    assert values == sorted(values, reverse=True)


def test_a_grid_without_values_has_no_chart() -> None:
    bare = grid(1)
    empty = dataclasses.replace(
        bare, settings=(dataclasses.replace(bare.settings[0], metrics={}),), recommendation=None
    )
    assert settings_chart(empty) is None
    assert "How to cut and search" in survey_section(dataclasses.replace(full_survey(), grid=empty))


def test_metrics_stand_in_one_order_the_grids_own_first() -> None:
    assert metric_names(grid()) == ("evidence_recall", "ndcg", "prompt_tokens")


def test_the_map_says_what_holds_and_what_was_read() -> None:
    found = coverage_map(full_survey())
    assert found is not None
    assert found.counts == {"found": 1, "missed": 1, "wrong": 1, "idle": 0}
    assert found.rows[0].document == "a.md"
    assert [cell.note for cell in found.cells if cell.state == "missed"] == [
        f"when, b {HOSTILE}.md: holds the answer, and no bot read it"
    ]


def test_questions_stand_in_the_order_of_the_documents_that_hold_their_answers() -> None:
    survey = full_survey()
    cards = tuple(DocumentCard(name, "", 1) for name in ("first.md", "second.md"))
    pairs = (
        Covered("how", "second.md", True),
        Covered("when", "first.md", True),
        Covered("who", "first.md", False, ("rag",)),
    )
    found = coverage_map(dataclasses.replace(survey, documents=cards, coverage=pairs))
    assert found is not None
    assert [cell.note.split(",")[0] for cell in sorted(found.cells, key=lambda cell: cell.x)] == ["when", "how", "who"]


def test_a_map_of_many_documents_says_how_many_are_left_out() -> None:
    cards = tuple(DocumentCard(f"{place}.md", "", 1) for place in range(MOST_DOCUMENTS + 5))
    pairs = tuple(Covered("how", card.document, True) for card in cards)
    survey = dataclasses.replace(full_survey(), documents=cards, coverage=pairs)
    found = coverage_map(survey)
    assert found is not None
    assert (len(found.rows), found.left_out) == (MOST_DOCUMENTS, 5)
    assert "5 documents more, which did less harm, are not drawn." in survey_section(survey)


def test_nothing_covered_is_no_map() -> None:
    assert coverage_map(dataclasses.replace(full_survey(), coverage=())) is None


def test_a_finding_without_a_place_has_nothing_to_unfold() -> None:
    bare = Finding("unsupported", "low", "Nothing supports it.", "Write it.")
    survey = dataclasses.replace(full_survey(), gaps=Gaps((bare,)), inside=())
    start = survey_section(survey).index("Nothing supports it.")
    assert "<details" not in survey_section(survey)[start : start + 200]
