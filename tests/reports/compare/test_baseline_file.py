"""A baseline file: the same verdicts as the database that it was written from, and a sentence for whatever else."""

import contextlib
import hashlib
import json
from pathlib import Path

import numpy as np
import orjson
import pytest
from gated_runs import MATCH, opened, store_run
from proctor import InputError
from proctor.reports.compare.baseline import (
    LONGEST_ANSWER,
    BaselineChoice,
    at_six_digits,
    read_baseline,
    write_baseline,
)
from proctor.reports.compare.scores import run_tables
from proctor.reports.gate.rule import GateRule
from proctor.reports.gate.verdicts import verdicts
from proctor.reports.store.run import RunMetric

RATE = RunMetric("harmful", "v1", "lower", 0.0, 1.0, 0.5, aggregate="rate")
COST = RunMetric("price", "v1", "lower", 0.0, None, None)
METRICS = (MATCH, RATE, COST)
MANIFEST = {
    "proctor": "0.1", "command": ["proctor", "run", "/elsewhere/somebody/suite.yaml"],
    "settings": {"embedder": "mini", "judge": {"name": "j"}, "suite": {"thresholds": {"exact_match": 1}, "name": "x"}},
}  # fmt: skip


def checksum(made):
    """As the file's own, whatever the order of its keys."""
    content = {name: value for name, value in made.items() if name != "checksum"}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def scores(seed: int, count: int = 60) -> dict[str, list[float | str]]:
    """Values of every kind: whole, with many digits, tiny, and statuses in their place."""
    random = np.random.default_rng(seed)
    harmful: list[float | str] = [float(value) for value in random.integers(0, 2, count)]
    harmful[3], harmful[4] = "parse_failure", "error"
    return {
        "exact_match": [float(value) for value in random.integers(0, 2, count)],
        "harmful": harmful,
        "price": [float(value) for value in random.random(count) * 1e-5],
    }


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    for seed, start in ((1, 10.0), (2, 11.000000123)):
        store_run(
            path, {"left": scores(seed), "right": scores(seed + 10)}, METRICS, milliseconds=start, documents=12,
            failed={"left": [7]}, answers={"q0": 'says "yes"\n\u2028' + "x" * 600, "q1": ""}, manifest=MANIFEST,
        )  # fmt: skip
    return path


def written(database: Path, run: int = 1, **choice: object) -> Path:
    path = database.with_name("baseline.json")
    with contextlib.closing(opened(database)) as store:
        write_baseline(store, run, run_tables(store, run), path, BaselineChoice(**choice))
    return path


@pytest.mark.parametrize("bot", ["left", "right"])
def test_a_baseline_gives_the_verdicts_of_its_database(database, bot):
    kept = read_baseline(written(database)).tables[bot]
    rule = GateRule(margins={"exact_match": 0.03, "harmful": 0.1, "price": 1e-6}, latency=1.2, flips=20)
    with contextlib.closing(opened(database)) as store:
        baseline, candidate = run_tables(store, 1).tables[bot], run_tables(store, 2).tables[bot]
        by_database, by_file = verdicts(baseline, candidate, rule), verdicts(kept, candidate, rule)
        assert by_file.metrics == by_database.metrics
        assert by_file.latency == by_database.latency
        assert by_file.exit_code == by_database.exit_code != 0
        assert [flip.key for flip in by_file.flips] == [flip.key for flip in by_database.flips]
        again = run_tables(store, 1).tables[bot]
        assert verdicts(kept, again, rule).word == "unchanged"


def test_every_array_comes_back(database):
    read = read_baseline(written(database))
    with contextlib.closing(opened(database)) as store:
        run = run_tables(store, 1)
        assert (read.run, read.suite, read.status) == (run.run, run.suite, run.status)
        for name, table in run.tables.items():
            given, back = at_six_digits(table), read.tables[name]
            assert (back.bot, back.fingerprint, back.kind, back.cases) == (
                given.bot, given.fingerprint, given.kind, given.cases,
            )  # fmt: skip
            assert back.columns == given.columns
            for metric in given.columns:
                np.testing.assert_array_equal(back.values[metric], given.values[metric])
                np.testing.assert_array_equal(back.statuses[metric], given.statuses[metric])
            for array in ("asked", "answered", "timed_out", "latency_ms", "cost", "abstained"):
                np.testing.assert_array_equal(getattr(back, array), getattr(given, array))
            assert back.answers("q0", 0) == given.answers("q0", 0)[:LONGEST_ANSWER]
            assert back.answers("q1", 0) == ""
            assert back.answers("nowhere", 0) is None
            assert back.answers("q1", 5) is None


def test_a_line_is_a_question_and_equal_runs_are_equal_files(database):
    text = written(database).read_text("utf-8")
    assert text == written(database).read_text("utf-8")
    lines = [line for line in text.split("\n") if line.startswith('{"key":')]
    assert [json.loads(line.rstrip(","))["key"] for line in lines] == [f"q{place}" for place in range(60)]
    assert list(json.loads(text)) == [
        "proctor_baseline", "checksum", "run", "suite", "status", "manifest", "metrics", "bots", "questions",
    ]  # fmt: skip
    assert "/elsewhere/somebody" not in text


def test_the_manifest_keeps_what_a_comparison_tells_of_it(database):
    manifest = read_baseline(written(database)).manifest
    assert manifest == {
        "proctor": "0.1",
        "settings": {"embedder": "mini", "judge": {"name": "j"}, "suite": {"thresholds": {"exact_match": 1}}},
    }


def test_bots_metrics_and_answers_can_be_left_out(database):
    whole = written(database).stat().st_size
    read = read_baseline(written(database, bots={"right"}, metrics={"exact_match"}, answers=False))
    assert list(read.tables) == ["right"]
    assert list(read.tables["right"].columns) == ["exact_match"]
    assert read.tables["right"].answers("q0", 0) is None
    assert written(database, bots={"right"}, answers=False).stat().st_size < whole * 2 / 3


def test_another_layout_is_the_same_baseline(database):
    path = written(database)
    made = json.loads(path.read_text("utf-8"))
    path.write_text("\ufeff" + json.dumps(made, indent=4, sort_keys=True).replace("\n", "\r\n"), "utf-8")
    assert list(read_baseline(path).tables) == ["left", "right"]


def damaged(path: Path, change: object) -> str:
    """The sentence about a file that was changed, by replacing text or by a function of its content."""
    text = path.read_text("utf-8")
    if isinstance(change, tuple):
        assert change[0] in text
        path.write_text(text.replace(*change, 1), "utf-8")
    else:
        made = json.loads(text)
        change(made)
        path.write_bytes(orjson.dumps(made | {"checksum": checksum(made)}))
    with pytest.raises(InputError) as refused:
        read_baseline(path)
    assert str(path) in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('"exact_match":1', '"exact_match":0'), "edited by hand or merged"),
        (('"exact_match":1', '"exact_match":NaN'), "no JSON"),
        (('"checksum"', '"sum"'), "edited by hand or merged"),
        (('"proctor_baseline": 1', '"proctor_baseline": 2'), "format 2 of baselines; this Proctor reads 1"),
        (('"proctor_baseline": 1', '"something": 1'), "no key proctor_baseline"),
        (("{\n", "{\n<<<<<<< HEAD\n"), ":2: a conflict of two branches"),
        ((",\n", "\n"), "no JSON"),
        (lambda made: made.pop("questions"), "edited by hand or merged"),
        (lambda made: made["questions"].append(made["questions"][0]), "a question is there twice"),
        (lambda made: made["metrics"][0].update(better="up"), "'up' is no direction"),
        (lambda made: made["questions"][0]["rows"]["left"][0]["scores"].update(exact_match=True), "True is no number"),
        (lambda made: made["questions"][0]["rows"]["left"][0]["scores"].update(exact_match="lost"), "lost"),
        (lambda made: made["questions"][0]["rows"].update(left=7), "TypeError"),
        (lambda made: made["bots"][0].pop("repeats"), "repeats"),
        (lambda made: made["bots"][0].update(repeats=10**12), "MemoryError"),
        (lambda made: made["questions"][0]["rows"]["left"][0].update(answer_hash="f" * 40), "OverflowError"),
    ],
)
def test_what_was_not_written_by_us_is_told(database, change, says):
    assert says in damaged(written(database), change)


@pytest.mark.parametrize(("text", "says"), [("", "is empty"), ("[]", "holds no object"), ("suite: 1", "no JSON")])
def test_other_files_are_told(tmp_path, text, says):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        read_baseline(path)
    with pytest.raises(InputError, match="There is no"):
        read_baseline(tmp_path / "y.json")


def test_a_folder_is_no_baseline(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        read_baseline(tmp_path)
