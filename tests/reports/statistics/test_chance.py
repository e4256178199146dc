import numpy as np
from proctor.reports.statistics.intervals import resamples, signs, words


def test_signs_are_these_on_every_machine():
    """Raw bits of PCG64: a change here changes p values of runs that are on record."""
    found = signs(7, 3, 70)
    assert found.dtype == np.int8
    assert found.shape == (3, 70)
    assert (found[:, :12] > 0).astype(int).tolist() == [
        [1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1],
        [1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1],
        [0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1],
    ]
    assert (found[:, 64:] > 0).astype(int).tolist() == [[0, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], [0, 0, 1, 0, 1, 1]]


def test_places_are_these_on_every_machine():
    assert resamples(7, 2, 9).tolist() == [[8, 5, 6, 8, 5, 6, 7, 2, 0], [2, 2, 7, 8, 0, 4, 7, 1, 7]]


def test_the_bits_are_those_of_numpy_s_raw_stream():
    raw = np.random.PCG64(11).random_raw(4)
    (word,) = words(11, 4, 64)
    assert word.tolist() == raw.tolist()
    first = signs(11, 4, 64)
    assert [sum(1 << place for place in range(64) if row[place] > 0) for row in first] == raw.tolist()


def test_a_seed_gives_the_same_signs_for_the_first_questions_however_many_follow():
    assert np.array_equal(signs(3, 50, 20), signs(3, 50, 200)[:, :20])


def test_signs_are_fair_and_units_are_independent():
    found = signs(1, 20_000, 130).astype(np.float64)
    assert np.abs(found.mean(axis=0)).max() < 4.5 / np.sqrt(20_000)
    together = found.T @ found / 20_000 - np.eye(130)
    assert np.abs(together).max() < 5.5 / np.sqrt(20_000)


def test_another_seed_gives_other_signs():
    assert 0.4 < (signs(1, 100, 100) == signs(2, 100, 100)).mean() < 0.6


def test_every_place_is_as_likely_as_any_other():
    found = resamples(5, 3_000, 7)
    counts = np.bincount(found.ravel(), minlength=7)
    assert found.min() == 0
    assert len(counts) == 7
    assert np.abs(counts - 3_000).max() < 5 * np.sqrt(3_000)


def test_nothing_is_drawn_of_nothing():
    assert signs(1, 5, 0).shape == (5, 0)
    assert resamples(1, 0, 5).shape == (0, 5)
