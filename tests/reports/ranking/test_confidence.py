"""What tells a bot's confidence: its trace, else its retriever."""

from pathlib import Path

import numpy as np
import pytest
from proctor.reports.compare.operands import open_operand
from proctor.reports.ranking.abstention import RETRIEVER, confidences
from ranked_tables import run_of, table
from runs_with_traces import says, write_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.db"


def confident(path, **bots):
    settings = bots.pop("settings", None)
    write_run(path, bots, 4, settings=settings)
    with open_operand("latest", path) as operand:
        return confidences(operand.run)


def test_a_key_of_the_trace_tells_it(path):
    found = confident(path, faq=lambda n: says(1, similarity=n / 10), sure=lambda n: says(1, confidence=n, score=0.1))
    assert (found["faq"].key, found["sure"].key) == ("similarity", "confidence")
    assert found["faq"].values[:, 0].tolist() == [0.0, 0.1, 0.2, 0.3]
    assert found["sure"].values.shape == (4, 1)


def test_else_the_best_context_tells_it(path):
    found = confident(path, rag=lambda n: says(1, score=0.5 + n / 10), silent=lambda _: says(1))
    assert set(found) == {"rag"}
    assert found["rag"].key == RETRIEVER
    assert found["rag"].values[:, 0].tolist() == pytest.approx([0.5, 0.6, 0.7, 0.8])


def test_what_most_rows_tell_is_taken_and_words_are_none(path):
    def speak(number):
        traced = {"confidence": 0.9} if number == 0 else {"confidence": "high", "similarity": 0.5}
        return says(1, **traced)

    found = confident(path, bot=speak, wordy=lambda _: says(1, confidence="high", similarity=True))
    assert set(found) == {"bot"}
    assert found["bot"].key == "similarity"
    assert np.isnan(found["bot"].values[0, 0])


def test_the_setting_below_which_an_faq_bot_declines(path):
    found = confident(
        path,
        faq=lambda n: says(1, similarity=n / 10),
        other=lambda n: says(1, score=n / 10),
        settings={"faq": {"min_similarity": 0.4}, "other": {"min_similarity": 0.4}},
    )
    assert (found["faq"].floor, found["other"].floor) == (0.4, None)


def test_a_baseline_file_tells_none():
    assert confidences(run_of(table("a", [1.0]))) == {}
