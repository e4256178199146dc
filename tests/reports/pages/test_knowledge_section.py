import dataclasses
from contextlib import closing
from pathlib import Path

import pytest
from accessibility import faint_texts, faults
from analysis_records import HOSTILE, estimate, findings, full_analysis, grid
from browser import Shown
from page_runs import PageBook, page_book, report_of
from proctor.reports.analysis.findings import (
    Coverage,
    DocumentAttribution,
    DocumentSummary,
    Finding,
    Gaps,
    KnowledgeAnalysis,
    PassageUse,
)
from proctor.reports.analysis.store import store_analysis
from proctor.reports.pages.knowledge import (
    CARDS,
    METRICS,
    MOST_DOCUMENTS,
    OPEN,
    coverage_map,
    grid_chart,
    grouped,
    knowledge_section,
    metric_names,
)
from proctor.reports.pages.run_page import analysis_file, run_file, run_page

PARTS = (
    "documents", "summary", "grid", "gaps", "attribution", "document_quality", "document_changes", "dataset_quality",
)  # fmt: skip


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    made = page_book(tmp_path_factory.mktemp("analysis") / "proctor.db", 6)
    analysis = full_analysis(made.head)
    asked = dataclasses.replace(findings()[0], questions=("return-cost",))
    many = tuple(DocumentSummary(f"{place}.md", "", 1) for place in range(CARDS))  # so that the last card is folded
    last = DocumentSummary("last.md", "The last", 1, retrieved=1)
    attribution = dataclasses.replace(
        analysis.attribution, documents=(DocumentAttribution("last.md", (("rag", "return-cost"),)),)
    )
    with closing(made.store()) as store:
        store_analysis(
            store,
            dataclasses.replace(
                analysis,
                gaps=Gaps((asked, *findings()[1:])),
                documents=(*analysis.documents, *many, last),
                attribution=attribution,
            ),
        )
    return made


@pytest.fixture(scope="module")
def address(book: PageBook) -> str:
    file = book.path.with_name("run.html")
    with closing(book.store()) as store, file.open("wb") as page:
        page.writelines(run_file(report_of(store)))
    return file.as_uri()


def test_only_a_run_with_an_analysis_has_the_part(book: PageBook) -> None:
    with closing(book.store()) as store:
        ids = {
            name: [section.id for section in run_page(report_of(store, name)).sections]
            for name in (book.base, book.head)
        }
    assert "knowledge" not in ids[book.base]
    assert ids[book.head] == ["overview", "answers", "metrics", "label", "knowledge", "manifest"]


def test_every_part_has_a_heading_that_a_link_leads_to(page: Shown, address: str) -> None:
    for part in PARTS:
        page.open(f"{address}#knowledge?part={part}")
        page.wait(f"return document.getElementById('knowledge-{part}')?.getBoundingClientRect().height > 0")
    links = page.run("return [...document.querySelectorAll('#knowledge nav a')].map(each => each.hash)")
    assert links == [f"#knowledge?part={part}" for part in PARTS]


def test_a_question_of_a_finding_leads_to_its_row(page: Shown, address: str) -> None:
    page.open(f"{address}#knowledge")
    link = "#knowledge .analysis-findings a[href*='open=']"
    assert page.run("return document.querySelector(arguments[0]).hash", link) == "#answers?open=return-cost"
    page.click(link)
    page.wait("return document.querySelector('.question-line.open')")
    assert page.text(".question-line.open .question-key") == "return-cost"


def test_an_attributed_document_leads_to_its_card_which_is_unfolded(page: Shown, address: str) -> None:
    page.open(f"{address}#knowledge")
    card = "[...document.querySelectorAll('.analysis-card')].find((each) => each.textContent.includes('The last'))"
    assert page.run(f"return {card}.checkVisibility()") is False
    page.click("#knowledge [aria-label='Attribution by document'] a[href*='part=document']")
    page.wait(f"return {card}.open && {card}.contains(document.activeElement)")
    assert page.run(f"const box = {card}.getBoundingClientRect(); return box.top > -1 && box.top < innerHeight")


def test_texts_of_others_are_texts(page: Shown, address: str) -> None:
    page.open(f"{address}#knowledge")
    assert "alert(1)" in page.run("return document.querySelector('#knowledge').textContent")
    assert page.run("return document.querySelectorAll('#knowledge script').length") == 0


@pytest.mark.parametrize("width", [1400, 390])
def test_the_part_is_never_wider_than_the_window(page: Shown, address: str, width: int) -> None:
    page.open(f"{address}#knowledge", width=width)
    assert page.run("return document.documentElement.scrollWidth - innerWidth") == 0


def test_an_analysis_without_findings_says_so() -> None:
    shown = knowledge_section(KnowledgeAnalysis("20261121-093000-1f2e", "shop", "", "", "", {}))
    assert "Nothing stands out." in shown
    assert "<h3" not in shown


@pytest.mark.parametrize("part", ["grid", "attribution", "dataset_quality", "document_changes"])
def test_a_part_that_was_not_asked_for_is_not_there(part: str) -> None:
    analysis = full_analysis()
    without = dataclasses.replace(analysis, **{part: None})  # type: ignore[arg-type]
    assert f'id="knowledge-{part}"' in knowledge_section(analysis)
    assert f"knowledge-{part}" not in knowledge_section(without)
    assert f"part={part}" not in knowledge_section(without)


def test_many_findings_of_a_kind_are_folded_and_the_worst_are_shown() -> None:
    mild = [dataclasses.replace(findings()[0], severity="low", what=f"mild {place}") for place in range(OPEN + 2)]
    worst = dataclasses.replace(findings()[0], severity="high", what="the worst")
    (group,) = grouped([*mild, worst])
    assert group.shown[0].what == "the worst"
    assert (len(group.shown), len(group.folded)) == (OPEN, 3)
    shown = knowledge_section(dataclasses.replace(full_analysis(), gaps=Gaps((*mild, worst))))
    assert "<summary>3 more</summary>" in shown


def test_the_chart_marks_the_present_and_the_recommended_setting() -> None:
    chart = grid_chart(grid(20))
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
        bare, configurations=(dataclasses.replace(bare.configurations[0], metrics={}),), recommendation=None
    )
    assert grid_chart(empty) is None
    assert "How to cut and search" in knowledge_section(dataclasses.replace(full_analysis(), grid=empty))


def test_metrics_stand_in_one_order_the_grids_own_first() -> None:
    assert metric_names(grid()) == ("evidence_recall", "ndcg", "prompt_tokens")


def test_the_map_says_what_holds_and_what_was_read() -> None:
    found = coverage_map(full_analysis())
    assert found is not None
    assert found.counts == {"found": 1, "missed": 1, "wrong": 1, "unused": 0}
    assert found.rows[0].document == "a.md"
    assert [cell.note for cell in found.cells if cell.state == "missed"] == [f"when, b {HOSTILE}.md"]


def test_questions_stand_in_the_order_of_the_documents_that_hold_their_answers() -> None:
    analysis = full_analysis()
    cards = tuple(DocumentSummary(name, "", 1) for name in ("first.md", "second.md"))
    pairs = (
        Coverage("how", "second.md", True),
        Coverage("when", "first.md", True),
        Coverage("who", "first.md", False, ("rag",)),
    )
    found = coverage_map(dataclasses.replace(analysis, documents=cards, coverage=pairs))
    assert found is not None
    assert [cell.note.split(",")[0] for cell in sorted(found.cells, key=lambda cell: cell.x)] == ["when", "how", "who"]


def test_a_map_of_many_documents_says_how_many_are_left_out() -> None:
    cards = tuple(DocumentSummary(f"{place}.md", "", 1) for place in range(MOST_DOCUMENTS + 5))
    pairs = tuple(Coverage("how", card.document, True) for card in cards)
    analysis = dataclasses.replace(full_analysis(), documents=cards, coverage=pairs)
    found = coverage_map(analysis)
    assert found is not None
    assert (len(found.rows), found.left_out) == (MOST_DOCUMENTS, 5)
    assert found.counts == {"supports": MOST_DOCUMENTS + 5}
    assert "5 documents more are counted but not drawn." in knowledge_section(analysis)


def test_nothing_covered_is_no_map() -> None:
    assert coverage_map(dataclasses.replace(full_analysis(), coverage=())) is None


def test_a_finding_without_a_place_has_nothing_to_unfold() -> None:
    bare = Finding("unsupported", "low", "Nothing supports it.", "Write it.")
    analysis = dataclasses.replace(full_analysis(), gaps=Gaps((bare,)), document_quality=())
    start = knowledge_section(analysis).index("Nothing supports it.")
    assert "<details" not in knowledge_section(analysis)[start : start + 200]


def without_answers() -> KnowledgeAnalysis:
    """An analysis of documents and questions alone."""
    cards = (DocumentSummary("a.md", "", 1234, "en", 4, ("how", "why"), ("how",)), DocumentSummary("b.md", "", 55))
    return dataclasses.replace(
        full_analysis(), documents=cards, coverage=(Coverage("how", "a.md", True),), attribution=None,
        dataset_quality=None, document_changes=None,
        metric="",
    )  # fmt: skip


def test_without_answers_nothing_is_said_of_answers() -> None:
    text = knowledge_section(without_answers())
    section = text[text.index('id="knowledge-documents"') : text.index('id="knowledge-summary"')]
    assert "the most used first" in section
    for words in (
        "retrieved",
        ">answers<",
        "no bot that searches retrieved it",
        "needed in",
        "wrong",
        "prompts",
        "Never",
    ):
        assert words not in section


def test_without_answers_the_map_tells_only_where_answers_stand() -> None:
    found = coverage_map(without_answers())
    assert found is not None
    assert found.counts == {"supports": 1}
    assert [(cell.state, cell.note) for cell in found.cells] == [("supports", "how, a.md")]


def test_on_a_page_without_rows_nothing_leads_to_them() -> None:
    assert 'href="#answers' in knowledge_section(full_analysis())
    alone = b"".join(analysis_file(full_analysis())).decode()
    assert 'href="#answers' not in alone
    assert alone.count("<section") == 1


def test_an_analysis_alone_is_a_page(page: Shown, tmp_path: Path) -> None:
    file = tmp_path / "analysis.html"
    file.write_bytes(b"".join(analysis_file(without_answers())))
    page.open(file.as_uri())
    page.click("#knowledge nav a[href$='part=documents']")
    page.wait("return document.activeElement?.id === 'knowledge-documents'")
    assert page.run("return document.documentElement.scrollWidth - innerWidth") == 0


def test_the_documents_are_a_table_that_comes_first_and_leads_to_their_passages() -> None:
    text = knowledge_section(full_analysis())
    assert text.index('aria-label="Documents"') < text.index('id="knowledge-summary"') < text.index("knowledge-grid")
    table = text[text.index('aria-label="Documents"') : text.index("</table>")]
    assert table.count('<th scope="row">') == len(full_analysis().documents)
    assert 'href="#knowledge?part=document-2"><bdi>never.md' in table
    assert 'id="knowledge-document-2"' in text
    assert text.index("</table>") < text.index('aria-label="Coverage map"') < text.index("Passages by document")


def test_the_age_of_a_document_is_told_by_itself_its_newer_version_and_its_edits() -> None:
    made = full_analysis()
    old = Finding("stale_duplicate", "high", "It is old.", "Drop it.", details={"older": "never.md", "newer": "a.md"})
    dated = dataclasses.replace(made.documents[0], dated="valid from 2024-05-01")
    text = knowledge_section(dataclasses.replace(made, document_quality=(old,), documents=(dated, *made.documents[1:])))
    rows = text[text.index('aria-label="Documents"') : text.index("</table>")].split("<tr>")[1:]
    signs = [("2024-05-01" in row, "edited" in row, "older version" in row) for row in rows if 'scope="row"' in row]
    assert signs == [(True, True, False), (False, False, False), (False, False, True)]


def test_passages_are_coloured_by_what_answers_did_with_them(page: Shown, tmp_path: Path) -> None:
    uses = (
        PassageUse(0, 40, "The price is.", 5, 4, 1), PassageUse(40, 90, HOSTILE, 3, 0, 2),
        PassageUse(90, 120, "Neither.", 2), PassageUse(120, 150, "Never."),
    )  # fmt: skip
    made = full_analysis()
    file = tmp_path / "analysis.html"
    documents = (dataclasses.replace(made.documents[0], uses=uses), *made.documents[1:])
    file.write_bytes(b"".join(analysis_file(dataclasses.replace(made, documents=documents))))
    page.open(f"{file.as_uri()}#knowledge")
    page.click("#knowledge-document-0")
    assert page.run("return [...document.querySelectorAll('.analysis-passages li')].map((each) => each.className)") == [
        "needed", "harmful", "read", "unread",
    ]  # fmt: skip
    assert page.texts(".analysis-passages li")[0].startswith(
        "5 answers, needed in 4, in 1 wrong answer to other questions; characters 0 to 40"
    )
    assert faults(page) == faint_texts(page) == []
    page.media(**{"prefers-color-scheme": "dark"})
    assert faint_texts(page) == []


def test_the_long_sentence_of_the_grid_stands_once() -> None:
    made = full_analysis()
    assert made.grid is not None
    assert made.grid.recommendation is not None
    assert knowledge_section(made).count(made.grid.recommendation.reason) == 1


def test_metrics_of_answers_stand_below_one_another_the_one_that_tells_right_first() -> None:
    made = grid()
    answers = {f"metric_{place}": estimate(0.5) for place in range(METRICS + 1)}
    settings = tuple(
        dataclasses.replace(result, answers={**answers, "answer_similarity": estimate(0.7)})
        for result in made.configurations
    )
    text = knowledge_section(
        dataclasses.replace(full_analysis(), grid=dataclasses.replace(made, configurations=settings))
    )
    first = text[text.index('aria-label="Answers by configuration"') :]
    assert first.index("answer_similarity") < first.index("metric_0") < first.index("<summary>2 more metrics</summary>")
    assert first.index("<summary>2 more metrics</summary>") < first.index(f"metric_{METRICS}")
    assert first.index("recursive 400/80, dense, k 4") < first.index("recursive 600/80, hybrid, k 4")


def test_a_setting_that_is_not_better_is_not_called_the_one_to_take() -> None:
    made = grid()
    assert made.recommendation is not None
    worse = dataclasses.replace(made.recommendation, verdict="worse")
    text = knowledge_section(dataclasses.replace(full_analysis(), grid=dataclasses.replace(made, recommendation=worse)))
    assert ">take<" not in text
    assert ">worse<" in text
    chart = grid_chart(dataclasses.replace(made, recommendation=worse))
    assert chart is not None
    assert [line.tone for line in chart.lines if line.name.endswith("(worse)")] == ["bad"]


def test_doubts_about_an_attribution_are_shown() -> None:
    made = full_analysis()
    assert made.attribution is not None
    first = dataclasses.replace(
        made.attribution.answers[0], note="Another document says the same.", control=0.5, share_errors={"a.md": 0.07}
    )
    text = knowledge_section(
        dataclasses.replace(made, attribution=dataclasses.replace(made.attribution, answers=(first,)))
    )
    assert "Another document says the same." in text
    assert "0.50 without an unrelated document" in text
    assert "<bdi>a.md</bdi> +0.30 ± 0.07" in text


def test_what_to_do_stands_once_where_it_is_the_same_for_all() -> None:
    twice = (findings()[0], dataclasses.replace(findings()[0], what="Another."))
    text = knowledge_section(dataclasses.replace(full_analysis(), gaps=Gaps(twice)))
    assert text.count("Quote the passage that is there now.") == 1
    (group,) = grouped((twice[0], dataclasses.replace(twice[1], action="Do something else.")))
    assert group.action == ""


def test_a_finding_of_one_question_says_what_was_asked() -> None:
    assert '<bdi class="quiet">How much is it?</bdi>' in knowledge_section(full_analysis())


@pytest.mark.parametrize("name", ["evidence_recall", "failures", "discrimination", "holds"])
def test_every_figure_has_a_meaning(name: str) -> None:
    assert f"<dt>{name}</dt>" in knowledge_section(full_analysis())
