import contextlib
import dataclasses
import json

import pytest
from proctor.reports.store import Store, StoreError
from proctor.reports.surveys.kept_surveys import (
    find_survey,
    keep_survey,
    read_survey_json,
    survey_json,
    survey_of_run,
)
from survey_books import full_survey

TABLES = {
    "survey_settings": 3,
    "survey_setting_metrics": 11,
    "survey_documents": 3,
    "survey_coverage": 3,
    "survey_findings": 4,
    "survey_blames": 2,
    "survey_removals": 2,
    "survey_questions": 4,
    "survey_edits": 2,
}


@pytest.fixture
def store(tmp_path):
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as opened:
        yield opened


def test_a_survey_comes_back_as_it_was(store):
    survey = full_survey()
    keep_survey(store, survey)
    assert find_survey(store) == survey
    assert find_survey(store, "2026") == survey


def test_the_object_has_the_parts_that_programs_look_for():
    found = json.loads(survey_json(full_survey()))
    assert {"grid", "documents", "gaps", "blame", "audit", "inside", "against"} <= found.keys()
    assert read_survey_json(survey_json(full_survey())) == full_survey()


@pytest.mark.parametrize("table", TABLES)
def test_every_part_has_its_lines(store, table):
    keep_survey(store, full_survey())
    ((count,),) = store.query(f"SELECT COUNT(*) FROM {table}")
    assert count == TABLES[table]


def test_the_lines_say_what_the_records_say(store):
    keep_survey(store, full_survey())
    assert store.query("SELECT name, is_present, is_recommended FROM survey_settings") == [
        ("recursive 400/80, dense, k 4", 1, 0),
        ("sentences 500/80, bm25, k 4", 0, 0),
        ("recursive 600/80, hybrid, k 4", 0, 1),
    ]
    assert store.query("SELECT document, questions, wrong, caused FROM survey_documents WHERE position = 0") == [
        ("a.md", 1, 5, 3)
    ]
    assert store.query("SELECT gold, telling, in_subset FROM survey_questions ORDER BY position") == [
        ("evidence", 1, 1),
        ("support", 0, 0),
        ("stale", None, 0),
        ("unsupported", None, 0),
    ]
    differences = "SELECT difference FROM survey_setting_metrics WHERE metric = 'evidence_recall' ORDER BY setting_id"
    assert [line for (line,) in store.query(differences)] == [None, 0.1, 0.2]
    of_answers = "SELECT difference, difference_low, p_value FROM survey_setting_metrics WHERE of = 'answer'"
    (last,) = full_survey().grid.settings[-1].answers_against.values()
    assert store.query(f"{of_answers} ORDER BY setting_id") == [
        (None, None, None), (last.mean, last.low, last.p_value),
    ]  # fmt: skip


def test_settings_are_kept_with_all_that_sets_them_apart(store):
    survey = full_survey()
    first, _, third = survey.grid.settings
    bounded = dataclasses.replace(first, setting=dataclasses.replace(first.setting, min_score=0.35))
    other = dataclasses.replace(first, setting=dataclasses.replace(first.setting, embedder="large"))
    settings = (first, bounded, other, third)
    keep_survey(store, dataclasses.replace(survey, grid=dataclasses.replace(survey.grid, settings=settings)))
    kept = store.query("SELECT name, min_score FROM survey_settings ORDER BY position")
    assert kept[:3] == [
        ("recursive 400/80, dense, k 4, all-MiniLM-L6-v2", None),
        ("recursive 400/80, dense, k 4, cosine 0.35 or more", 0.35),
        ("recursive 400/80, dense, k 4, large", None),
    ]


def test_a_survey_without_parts_can_be_kept(store):
    bare = dataclasses.replace(full_survey(), grid=None, blame=None, audit=None, against=None, documents=(), metric="")
    keep_survey(store, bare)
    assert find_survey(store) == bare
    assert store.query("SELECT metric, threshold FROM surveys") == [(None, 0.75)]


def test_half_characters_are_no_reason_to_lose_a_survey(store):
    odd = dataclasses.replace(full_survey(), suite="half \ud800 pair")
    keep_survey(store, odd)
    found = find_survey(store)
    assert found is not None
    assert found.suite == "half \ufffd pair"


def test_a_survey_that_can_not_be_written_leaves_nothing(store):
    keep_survey(store, full_survey())
    with pytest.raises(StoreError):
        keep_survey(store, full_survey())  # of the same name
    assert store.query("SELECT COUNT(*) FROM surveys") == [(1,)]
    assert store.query("SELECT COUNT(*) FROM survey_documents") == [(3,)]


def test_the_survey_of_a_run_is_the_latest_that_looked_at_it(store):
    assert survey_of_run(store, 1) is None
    store.connection.execute(
        "INSERT INTO runs (name, suite, identity, status, started_at, manifest)"
        " VALUES ('r', 's', 'i', 'finished', 'n', '{}')"
    )
    keep_survey(store, full_survey("r", "20261121-093000-aaaa"))
    keep_survey(store, full_survey("r", "20261121-093100-bbbb"))
    keep_survey(store, full_survey("", "20261121-093200-cccc"))
    found = survey_of_run(store, 1)
    assert found is not None
    assert found.survey == "20261121-093100-bbbb"


def test_an_unknown_survey_is_named_with_the_nearest(store):
    keep_survey(store, full_survey())
    with pytest.raises(
        StoreError, match=r"'20261121-093000-1f2f' is no survey of .*Did you mean 20261121-093000-1f2e\?"
    ):
        find_survey(store, "20261121-093000-1f2f")
