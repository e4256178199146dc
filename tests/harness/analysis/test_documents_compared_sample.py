"""The help centre's documents against a copy with known edits: the embedded bots, and what an analyst reads."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from proctor.harness.analysis.corpus import index_corpus
from proctor.harness.analysis.document_changes import compare_documents, plan_document_changes
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run_config import RunConfig
from proctor.harness.suite.suite_file import load_suite, sample_suite
from proctor.reports.store.database import Store

METRICS = "metrics: [tokens_presence.passes]\n"
PRICE = ("delivery costs 29 euros for a bicycle and 39 euros", "delivery costs 19 euros for a bicycle and 24 euros")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The sample with one metric, and beside its documents the old ones."""
    folder = tmp_path / "help_centre"
    shutil.copytree(sample_suite().parent, folder)
    whole = (folder / "suite.yaml").read_text("utf-8")
    head, _, tail = whole.partition("metrics:\n")
    kept = [line for line in tail.splitlines(keepends=True) if not line.startswith("  - ")]
    (folder / "suite.yaml").write_text(head + METRICS + "".join(kept), "utf-8")
    old = tmp_path / "old"
    shutil.copytree(folder / "documents", old)
    delivery = (old / "delivery.md").read_text("utf-8")
    assert PRICE[0] in delivery
    (old / "delivery.md").write_text(delivery.replace(*PRICE), "utf-8")
    (old / "trade-in.md").rename(old / "selling-your-bike.md")
    (old / "workshops.md").unlink()
    (old / "prizes.md").write_text("# Prizes\n\nA basic service costs 12 euros for whoever wins a prize.", "utf-8")
    return folder


@pytest.mark.weights
def test_each_edit_of_the_sample_is_found_and_credited(suite):
    corpus = index_corpus(load_suite(suite), os.environ, limit=28)
    options = RunConfig(bots=("faq", "rag"), limit=28)
    old = suite.parent / "old"
    with contextlib.closing(Store.open(suite / "p.db")) as store:
        plan = plan_document_changes(corpus, old, options)
        assert plan.sentence(store) == (
            f"Since {old}: 1 edited, 1 renamed, 1 added, 1 removed. 28 answers are asked for over the old documents, "
            "and at most 112 to find out which edit did what."
        )
        found = compare_documents(plan, store, lambda: contextlib.nullcontext(Watcher()))
        again = compare_documents(plan, store, lambda: contextlib.nullcontext(Watcher()))
    edits = {edit.document: edit for edit in found.edits}
    assert {name: (edit.change, edit.was) for name, edit in edits.items()} == {
        "workshops.md": ("added", ""),
        "delivery.md": ("edited", ""),
        "trade-in.md": ("renamed", "selling-your-bike.md"),
        "prizes.md": ("removed", ""),
    }
    assert {key for _, key in edits["workshops.md"].gained} >= {"dublin-hours", "book-repair"}
    assert ("rag", "delivery-cost") in edits["delivery.md"].gained
    assert edits["trade-in.md"].gained == edits["trade-in.md"].lost == ()
    (bot,) = found.bots
    credited = {key for edit in found.edits for _, key in (*edit.gained, *edit.lost)}
    assert credited | {key for _, key in found.unexplained} == {*bot.gained, *bot.lost}
    assert (bot.bot, bot.difference.questions) == ("rag", 28)
    assert bot.difference.low < 0 < bot.difference.mean < bot.difference.high
    assert found.warnings[0] == "faq takes no documents from a folder, so nothing of them can be compared."
    assert again.calls == 0
    assert again.edits == found.edits
