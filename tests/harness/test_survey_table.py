import dataclasses
import io
import sys

import pytest
from proctor.harness.showing.survey_table import CARDS, FINDINGS, SETTINGS, show_survey
from proctor.reports.surveys.documents import DocumentCard
from proctor.reports.surveys.survey import Gaps, Survey
from survey_books import findings, full_survey, grid


def shown(survey: Survey, where: str = "") -> str:
    out = io.StringIO()
    show_survey(survey, out, where)
    return out.getvalue()


def test_no_line_is_wider_than_80_columns():
    assert max(map(len, shown(full_survey()).splitlines())) <= 80


def test_control_characters_of_others_don_t_reach_the_terminal():
    text = shown(full_survey())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "alert(1)" in text


def test_the_parts_stand_in_order_and_the_conclusions_last():
    text = shown(full_survey(), "Kept.")
    headings = [
        "How to cut and search", "What is missing", "What each document does", "Which document caused it",
        "What is wrong inside", "Which change paid", "The questions themselves", "In short", "Kept.",
    ]  # fmt: skip
    places = [text.index(heading) for heading in headings]
    assert places == sorted(places)


def test_the_present_and_the_recommended_setting_are_marked():
    lines = shown(dataclasses.replace(full_survey(), grid=grid(30))).splitlines()
    assert [line[:1] for line in lines if " k 4 " in line and line[:2] in ("= ", "> ")] == [">", "="]
    assert sum(" k 4  " in line for line in lines if line[:2] in ("= ", "> ", "  ")) == SETTINGS


def test_a_figure_of_the_grid_is_the_record_s():
    text = shown(full_survey())
    assert "0.80 .75-.85" in text
    assert "+0.20 [.15, .25]" in text


def test_many_findings_are_counted_and_not_listed():
    many = tuple(dataclasses.replace(findings()[0], what=f"finding {place}.") for place in range(FINDINGS + 3))
    text = shown(dataclasses.replace(full_survey(), gaps=Gaps(many)))
    assert f"finding {FINDINGS - 1}." in text
    assert f"finding {FINDINGS}." not in text
    assert "... and 3 more of stale gold" in text


def test_many_cards_are_counted_and_not_listed():
    cards = tuple(DocumentCard(f"{place}.md", "", 10) for place in range(CARDS + 2))
    text = shown(dataclasses.replace(full_survey(), documents=cards))
    assert f"{CARDS - 1}.md" in text
    assert f"{CARDS}.md" not in text
    assert "... and 2 more" in text


@pytest.mark.parametrize("part", ["grid", "blame", "audit", "against"])
def test_a_part_that_was_not_asked_for_has_no_heading(part):
    whole, without = shown(full_survey()), shown(dataclasses.replace(full_survey(), **{part: None}))
    assert len(without.splitlines()) < len(whole.splitlines())


def test_a_bare_survey_is_one_line():
    assert shown(Survey("20261121-093000-1f2e", "shop", "", "", "", {})) == "shop: 0 documents, 0 questions\n"


def test_warnings_go_to_stderr(capsys: pytest.CaptureFixture[str]):
    show_survey(full_survey(), sys.stdout)
    said = capsys.readouterr()
    assert said.err == "proctor: A warning.\n"
    assert "A warning." not in said.out
