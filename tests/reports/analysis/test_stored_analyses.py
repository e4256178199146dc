import contextlib
import dataclasses
import json

import pytest
from analysis_records import full_analysis
from proctor.reports.analysis.store import (
    analysis_json,
    analysis_of_run,
    find_analysis,
    read_analysis_json,
    store_analysis,
)
from proctor.reports.store.database import Store, StoreError

TABLES = {
    "analysis_configurations": 3,
    "analysis_configuration_metrics": 11,
    "analysis_documents": 3,
    "analysis_coverage": 3,
    "analysis_findings": 4,
    "analysis_attributions": 2,
    "analysis_ablations": 2,
    "analysis_questions": 4,
    "analysis_edits": 2,
}


@pytest.fixture
def store(tmp_path):
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as opened:
        yield opened


def test_an_analysis_comes_back_as_it_was(store):
    analysis = full_analysis()
    store_analysis(store, analysis)
    assert find_analysis(store) == analysis
    assert find_analysis(store, "2026") == analysis


def test_the_object_has_the_parts_that_programs_look_for():
    found = json.loads(analysis_json(full_analysis()))
    assert {
        "grid",
        "documents",
        "gaps",
        "attribution",
        "dataset_quality",
        "document_quality",
        "document_changes",
    } <= found.keys()
    assert read_analysis_json(analysis_json(full_analysis())) == full_analysis()


@pytest.mark.parametrize("table", TABLES)
def test_every_part_has_its_lines(store, table):
    store_analysis(store, full_analysis())
    ((count,),) = store.query(f"SELECT COUNT(*) FROM {table}")
    assert count == TABLES[table]


def test_the_lines_say_what_the_records_say(store):
    store_analysis(store, full_analysis())
    assert store.query("SELECT name, is_current, is_recommended FROM analysis_configurations") == [
        ("recursive 400/80, dense, k 4", 1, 0),
        ("sentences 500/80, bm25, k 4", 0, 0),
        ("recursive 600/80, hybrid, k 4", 0, 1),
    ]
    assert store.query(
        "SELECT document, questions, wrong, failures_attributed FROM analysis_documents WHERE position = 0"
    ) == [("a.md", 1, 5, 3)]
    assert store.query("SELECT gold, informative, in_subset FROM analysis_questions ORDER BY position") == [
        ("evidence", 1, 1),
        ("support", 0, 0),
        ("stale", None, 0),
        ("unsupported", None, 0),
    ]
    differences = "SELECT difference FROM analysis_configuration_metrics WHERE metric = 'evidence_recall'"
    differences += " ORDER BY configuration_id"
    assert [line for (line,) in store.query(differences)] == [None, 0.1, 0.2]
    of_answers = "SELECT difference, difference_low, p_value FROM analysis_configuration_metrics WHERE of = 'answer'"
    (last,) = full_analysis().grid.configurations[-1].answer_differences.values()
    assert store.query(f"{of_answers} ORDER BY configuration_id") == [
        (None, None, None), (last.mean, last.low, last.p_value),
    ]  # fmt: skip


def test_settings_are_kept_with_all_that_sets_them_apart(store):
    analysis = full_analysis()
    first, _, third = analysis.grid.configurations
    bounded = dataclasses.replace(first, configuration=dataclasses.replace(first.configuration, min_score=0.35))
    other = dataclasses.replace(first, configuration=dataclasses.replace(first.configuration, embedder="large"))
    settings = (first, bounded, other, third)
    store_analysis(
        store, dataclasses.replace(analysis, grid=dataclasses.replace(analysis.grid, configurations=settings))
    )
    kept = store.query("SELECT name, min_score FROM analysis_configurations ORDER BY position")
    assert kept[:3] == [
        ("recursive 400/80, dense, k 4, all-MiniLM-L6-v2", None),
        ("recursive 400/80, dense, k 4, cosine 0.35 or more", 0.35),
        ("recursive 400/80, dense, k 4, large", None),
    ]


def test_an_analysis_without_parts_can_be_kept(store):
    bare = dataclasses.replace(
        full_analysis(),
        grid=None,
        attribution=None,
        dataset_quality=None,
        document_changes=None,
        documents=(),
        metric="",
    )
    store_analysis(store, bare)
    assert find_analysis(store) == bare
    assert store.query("SELECT metric, threshold FROM analyses") == [(None, 0.75)]


def test_half_characters_are_no_reason_to_lose_an_analysis(store):
    odd = dataclasses.replace(full_analysis(), suite="half \ud800 pair")
    store_analysis(store, odd)
    found = find_analysis(store)
    assert found is not None
    assert found.suite == "half \ufffd pair"


def test_an_analysis_that_can_not_be_written_leaves_nothing(store):
    store_analysis(store, full_analysis())
    one = full_analysis().documents[0]
    with pytest.raises(StoreError):
        store_analysis(store, dataclasses.replace(full_analysis(), documents=(one, one)))
    assert find_analysis(store) == full_analysis()
    assert store.query("SELECT COUNT(*) FROM analyses") == [(1,)]
    assert store.query("SELECT COUNT(*) FROM analysis_documents") == [(3,)]


def test_an_analysis_that_is_written_again_takes_the_place_of_itself(store):
    store_analysis(store, full_analysis())
    store_analysis(store, dataclasses.replace(full_analysis(), documents=full_analysis().documents[:1], grid=None))
    assert store.query("SELECT COUNT(*) FROM analyses") == [(1,)]
    for table, rows in (("documents", 1), ("configurations", 0), ("configuration_metrics", 0)):
        assert store.query(f"SELECT COUNT(*) FROM analysis_{table}") == [(rows,)]


def test_the_analysis_of_a_run_is_the_latest_that_looked_at_it(store):
    assert analysis_of_run(store, 1) is None
    store.connection.execute(
        "INSERT INTO runs (name, suite, identity, status, started_at, manifest)"
        " VALUES ('r', 's', 'i', 'finished', 'n', '{}')"
    )
    store_analysis(store, full_analysis("r", "20261121-093000-aaaa"))
    store_analysis(store, full_analysis("r", "20261121-093100-bbbb"))
    store_analysis(store, full_analysis("", "20261121-093200-cccc"))
    found = analysis_of_run(store, 1)
    assert found is not None
    assert found.analysis == "20261121-093100-bbbb"


def test_an_unknown_analysis_is_named_with_the_nearest(store):
    store_analysis(store, full_analysis())
    with pytest.raises(
        StoreError, match=r"'20261121-093000-1f2f' is no analysis of .*Did you mean 20261121-093000-1f2e\?"
    ):
        find_analysis(store, "20261121-093000-1f2f")
