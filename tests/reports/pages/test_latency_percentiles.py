"""Latency percentiles are those of the answered rows, and failed rows are counted and never filled in."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from proctor.reports.pages.boards import PERCENTILES, BotLatency, Load, latency_percentiles, loads
from proctor.reports.reported_run import open_reported
from proctor.reports.store.run import RowStatus
from report_rows import Book, row

SAMPLE = (12.0, 5.0, 80.0, 7.5, 20.0, 31.0, 9.0, 400.0)


def latencies(path: Path, answered: tuple[float, ...], failed: tuple[float, ...] = ()) -> BotLatency:
    with contextlib.closing(Book(path, bots=["a"])) as book:
        for place, latency in enumerate(answered):
            book.put(row(book.run, "a", f"q{place}", latency_ms=latency, in_flight=1 + place % 4))
        for place, latency in enumerate(failed):
            failing = {"status": RowStatus.TIMED_OUT, "error": "too slow", "in_flight": 9}
            book.put(row(book.run, "a", f"f{place}", latency_ms=latency, **failing))
        book.writer.close()
        (made,) = latency_percentiles(open_reported(book.store, book.run.id))
    return made


def test_percentiles_are_those_of_numpy_and_of_the_leaderboard(tmp_path: Path) -> None:
    made = latencies(tmp_path / "p.db", SAMPLE)
    assert made.percentiles == pytest.approx([float(np.percentile(SAMPLE, each)) for each in PERCENTILES])
    assert made.p25 == pytest.approx(float(np.percentile(SAMPLE, 25)))
    assert (made.answered, made.failed, made.censored) == (8, 0, ())


def test_in_flight_is_told_of_the_answered_rows(tmp_path: Path) -> None:
    made = latencies(tmp_path / "p.db", SAMPLE, failed=(1000.0,))
    assert (made.median_in_flight, made.most_in_flight) == (2.5, 4)


def test_failed_rows_change_no_percentile_but_are_counted(tmp_path: Path) -> None:
    made = latencies(tmp_path / "p.db", SAMPLE, failed=(1000.0, 1000.0))
    assert made.percentiles == pytest.approx([float(np.percentile(SAMPLE, each)) for each in PERCENTILES])
    assert made.failed == 2


def test_what_lasted_at_least_so_long_is_told_as_far_as_it_can_be_known(tmp_path: Path) -> None:
    made = latencies(tmp_path / "p.db", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0), failed=(9.0,))
    whole = np.percentile([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0], PERCENTILES)
    # Below the failed row all is as if it had been complete; the percentiles that reach it are not known.
    assert made.censored[:2] == pytest.approx(whole[:2])
    assert made.censored[2:] == (None, None, None)


def test_a_bot_that_never_answered_has_no_percentiles(tmp_path: Path) -> None:
    made = latencies(tmp_path / "p.db", (), failed=(10.0,))
    assert (made.percentiles, made.answered, made.failed) == ((), 0, 1)


def test_few_and_many_in_flight_are_parted_in_the_middle() -> None:
    in_flight = np.array([1, 2, 3, 4, 4, 5, 6, 7, 7, 7])
    durations = np.array([10.0, 11, 12, 13, 14, 20, 21, 22, 23, 24])
    low, high = loads(durations, in_flight)
    assert low == Load(1, 4, 5, 12.0, pytest.approx(13.8))
    assert high == Load(5, 7, 5, 22.0, pytest.approx(23.8))


def test_there_are_no_two_parts_where_one_is_too_small_or_all_are_alike() -> None:
    assert loads(np.arange(10.0), np.full(10, 8)) == ()
    assert loads(np.arange(10.0), np.array([1, 1, 1, 1, 8, 8, 8, 8, 8, 8])) == ()
