import contextlib
import dataclasses
import os
import signal
import sqlite3

import pytest
from knowledge_suites import DOCUMENTS, QUESTIONS, RAG, write_knowledge_suite
from openai_server import OpenAIServer, status
from proctor import InputError
from proctor.harness.analysis.analysis import (
    PARTS,
    UNFINISHED,
    AnalysisOptions,
    analyse_suite,
    analysis_estimate,
    named_parts,
)
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run_config import RunConfig
from proctor.harness.suite.suite_file import load_suite
from proctor.reports.analysis.findings import Gaps
from proctor.reports.analysis.store import analysis_json, find_analysis
from proctor.reports.export import knowledge_blocks
from proctor.reports.store.database import Store
from proctor.reports.table import Table

GRID = ("splitter=sentences", "chunk_size=200", "chunk_overlap=0", "retriever=bm25,dense", "top_k=1")
BOTS = """
def raises(question):
    raise RuntimeError("no")

def nothing(question):
    return None

def refuses(question):
    return "I do not know."

def odd_contexts(question):
    places = [{"document": "prices.md", "start": 10, "end": 40}, {"document": "unknown.md"}, {}]
    return {"answer": "45 euros", "contexts": [{"text": "A tune-up costs 45 euros.", **place} for place in places]}
"""


def analysis(suite, said=None, **options):
    """An analysis made in this process, with all sentences that were said."""
    said = [] if said is None else said
    wanted = AnalysisOptions(**{"grid": GRID, "most_calls": 12} | options)
    with contextlib.closing(Store.open(suite.parent / "proctor.db")) as store:
        return analyse_suite(
            load_suite(suite), wanted, store, os.environ, lambda: contextlib.nullcontext(Watcher()), said.append
        )


def plan(suite, **options):
    wanted = AnalysisOptions(**{"grid": GRID, "most_calls": 12} | options)
    return analysis_estimate(load_suite(suite), wanted, suite.parent / "nowhere.db", os.environ)


def python_bots(folder, *names):
    (folder / "bots.py").write_text(BOTS)
    return {name: {"type": "python", "target": f"bots.py:{name}"} for name in names}


def asking(server):
    """A suite's bot that asks a server, and its model."""
    return {
        "bots": {"rag": {**RAG, "model": "chat"}},
        "models": {"chat": {"model": "openai:x", "base_url": server.url}},
    }


def test_stale_gold_is_no_failure_of_retrieval(tmp_path):
    stale = {**QUESTIONS[0], "evidence": [{"document": "prices.md", "quote": "A bicycle tune-up costs 40 euros."}]}
    found = analysis(write_knowledge_suite(tmp_path, questions=[stale, *QUESTIONS[1:]])).analysis
    (gap,) = [finding for finding in found.gaps.findings if finding.kind == "stale_gold"]
    assert gap.questions == ("tune",)
    assert "45 euros" in gap.locations[0].text
    assert found.grid is not None
    assert "tune" not in found.grid.questions


@pytest.mark.parametrize(
    "bots", [{"faq": {"type": "faq", "entries": "faq.csv"}}, {"all": {"type": "full_context"}}], ids=["faq", "all"]
)
def test_bots_that_do_not_retrieve_are_no_reason_to_fail(tmp_path, bots):
    (tmp_path / "faq.csv").write_text("question,answer\nHow much is a tune-up?,45 euros\n")
    found = analysis(write_knowledge_suite(tmp_path, bots=bots))
    assert found.analysis.grid is not None
    assert not any(result.answers for result in found.analysis.grid.configurations)
    assert not found.is_incomplete


def test_one_document_and_one_question_are_enough(tmp_path):
    suite = write_knowledge_suite(tmp_path, {"prices.md": DOCUMENTS["prices.md"]}, QUESTIONS[:1])
    assert [card.document for card in analysis(suite).analysis.documents] == ["prices.md"]


def test_what_bots_say_of_their_contexts_need_not_be_true(tmp_path):
    suite = write_knowledge_suite(tmp_path, bots=python_bots(tmp_path, "odd_contexts"))
    found = analysis(suite).analysis
    assert {card.document: card.retrieved for card in found.documents} == {
        "prices.md": 3, "hours.md": 0, "returns.md": 0
    }  # fmt: skip


def test_a_bot_that_can_do_nothing_leaves_an_analysis_of_the_others_that_says_so(tmp_path):
    bots = {**python_bots(tmp_path, "raises"), "rag": RAG}
    made = analysis(write_knowledge_suite(tmp_path, bots=bots))
    assert made.is_incomplete
    assert any(warning.startswith("raises gave no answer") for warning in made.analysis.warnings)
    assert made.analysis.run
    assert "rag" in made.analysis.bots
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as store:
        assert find_analysis(store) == made.analysis


def test_bots_that_say_nothing_of_use(tmp_path):
    bots = python_bots(tmp_path, "nothing", "refuses")
    made = analysis(write_knowledge_suite(tmp_path, bots=bots), parts=frozenset({"documents", "gaps"}))
    assert len(made.analysis.documents) == 3
    assert not any(card.retrieved or card.wrong for card in made.analysis.documents)


def test_no_more_is_asked_of_a_model_than_was_told_and_nothing_twice(tmp_path):
    with OpenAIServer(lambda _: "45 euros", models=None) as server:
        suite = write_knowledge_suite(tmp_path, **asking(server), repeat=2)
        estimated = plan(suite)
        found = analysis(suite).analysis
        once = len(server.calls)
        assert estimated.run is not None
        assert once <= estimated.run.to_ask + sum(estimated.most.values())
        assert found.attribution is not None
        assert 0 < found.attribution.calls <= 12
        again = analysis(suite).analysis
    assert len(server.calls) == once
    assert again.attribution is not None
    assert again.attribution.answers == found.attribution.answers


def test_no_calls_means_none(tmp_path):
    with OpenAIServer(lambda _: "45 euros", models=None) as server:
        suite = write_knowledge_suite(tmp_path, **asking(server), analysis={"best": 0})
        found = analysis(suite, most_calls=0).analysis
        assert plan(suite, most_calls=0).most == {"attribution": 0}
    assert len(server.calls) == len(QUESTIONS)
    assert found.attribution is not None
    assert (found.attribution.calls, found.attribution.left_out) == (0, 3)


def test_a_model_that_dies_in_the_middle_is_told_and_the_analysis_goes_on_later(tmp_path):
    refused, is_dead = set(), [True]

    def fault(call):
        if not is_dead[0] or call.number < 3:
            return None
        refused.add(call.number)
        return status(401)

    with OpenAIServer(lambda _: "45 euros", models=None, faults=fault) as server:
        suite = write_knowledge_suite(tmp_path, **asking(server))
        broken = analysis(suite).analysis
        is_dead[0] = False
        fixed = analysis(suite).analysis
    assert any("could not be asked" in warning for warning in broken.warnings)
    assert not any("could not be asked" in warning for warning in fixed.warnings)
    assert fixed.run == broken.run
    healthy = sum(call.number not in refused for call in server.calls)
    with contextlib.closing(sqlite3.connect(tmp_path / "proctor.db")) as database:
        assert database.execute("SELECT COUNT(*) FROM replies WHERE error IS NULL").fetchone() == (healthy,)


def test_a_metric_that_can_t_mark_is_told_before_anything_is_asked(tmp_path):
    suite = write_knowledge_suite(tmp_path, metrics=["keyword_recall", "answer_length"])
    said = []
    with pytest.raises(InputError, match="keyword_recal' that says whether an answer is right; did you mean"):
        analysis(suite, said, metric="keyword_recal")
    with pytest.raises(InputError, match="answer_length"):
        analysis(suite, said, metric="answer_length")
    assert set(said) == {"Reading documents and questions"}


def test_a_bot_that_can_t_be_built_is_told_before_anything_takes_long(tmp_path):
    suite = write_knowledge_suite(tmp_path, bots={"mine": {"type": "python", "target": "gone.py:bot"}})
    said = []
    with pytest.raises(InputError, match=r"gone\.py"):
        analysis(suite, said)
    assert said == ["Reading documents and questions"]


def test_no_bot_is_asked_where_none_should_be(tmp_path):
    made = analysis(write_knowledge_suite(tmp_path), asks=False)
    assert made.outcome is None
    assert (made.analysis.run, made.analysis.attribution, made.analysis.bots) == ("", None, ())
    assert made.analysis.grid is not None
    assert not any(result.answers for result in made.analysis.grid.configurations)
    with contextlib.closing(sqlite3.connect(tmp_path / "proctor.db")) as database:
        assert database.execute("SELECT COUNT(*) FROM replies").fetchone() == (0,)


def test_metrics_that_mark_no_answer_are_a_warning(tmp_path):
    suite = write_knowledge_suite(tmp_path, metrics=["answer_length"])
    found = analysis(suite, against=tmp_path / "documents").analysis
    assert (found.metric, found.attribution) == ("", None)
    assert any("No metric of the run says" in warning for warning in found.warnings)


def test_a_warning_is_kept_once(tmp_path):
    suite = write_knowledge_suite(tmp_path, {**DOCUMENTS, "empty.md": ""})
    warnings = analysis(suite).analysis.warnings
    assert sum("empty.md" in warning for warning in warnings) == 1
    assert len(set(warnings)) == len(warnings)


def test_options_that_contradict_each_other(tmp_path):
    with pytest.raises(InputError, match="--against compares answers"):
        AnalysisOptions(asks=False, against=tmp_path)
    with pytest.raises(InputError, match="--metric marks answers"):
        AnalysisOptions(asks=False, metric="keyword_recall")


def test_parts_by_name():
    assert named_parts(["grid, gaps", "dataset_quality"]) == {"grid", "gaps", "dataset_quality"}
    assert named_parts([]) == set(PARTS)
    with pytest.raises(InputError, match="--only names no part"):
        named_parts([""])
    with pytest.raises(InputError, match="did you mean grid"):
        named_parts(["grids"])


@pytest.mark.parametrize("part", PARTS)
def test_each_part_alone_and_without_answers(tmp_path, part):
    suite = write_knowledge_suite(tmp_path)
    for asks in (True, False):
        found = analysis(suite, parts=frozenset({part}), asks=asks).analysis
        there = {
            "grid": found.grid is not None, "documents": bool(found.documents and found.coverage),
            "attribution": found.attribution is not None, "dataset_quality": found.dataset_quality is not None,
        }  # fmt: skip
        assert {name for name, is_there in there.items() if is_there} == {part} & there.keys() - (
            set() if asks else {"attribution"}
        )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"grid": ("chunk_sise=3",)}, "chunk_size"),
        ({"metric": "nothing"}, "'nothing'"),
        ({"run": RunConfig(("nobody",))}, "'nobody'"),
    ],
)
def test_a_plan_tells_what_can_t_be_as_the_analysis_would(tmp_path, options, says):
    suite = write_knowledge_suite(tmp_path)
    for act in (plan, analysis):
        with pytest.raises(InputError, match=says):
            act(suite, **options)


class PressingCtrlC(Watcher):
    """Presses it when the suite's own run is about to end."""

    def message(self, text):
        signal.raise_signal(signal.SIGINT)


def grid_rows(found):
    """The signs before the configurations that are shown with figures."""
    blocks = knowledge_blocks(dataclasses.replace(found, documents=(), gaps=Gaps()))
    (table,) = [each for each in blocks if isinstance(each, Table)]
    return [row[0][0] for row in table.rows]


def test_ctrl_c_while_bots_are_asked_gives_what_is_known_without_answers(tmp_path):
    """Until now all was lost that had been found before."""
    said: list[str] = []
    stale = {**QUESTIONS[0], "evidence": [{"document": "prices.md", "quote": "A bicycle tune-up costs 40 euros."}]}
    suite = write_knowledge_suite(tmp_path, questions=[stale, *QUESTIONS[1:]])
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as store:
        made = analyse_suite(
            load_suite(suite), AnalysisOptions(grid=GRID), store, os.environ,
            lambda: contextlib.nullcontext(PressingCtrlC()), said.append,
        )  # fmt: skip
        assert find_analysis(store) == made.analysis
    found = made.analysis
    assert made.stopped and not found.bots and found.attribution is None
    assert [one.kind for one in found.gaps.findings] == ["stale_gold"] and len(found.documents) == 3
    assert found.grid is not None and found.grid.configurations[0].metrics
    assert all(one.dropped for one in found.grid.configurations[1:])
    assert grid_rows(found) == ["= "]  # those that were not measured are counted in a sentence
    assert any(one.startswith("Stopped: not all is known of grid, gaps, documents, attr") for one in found.warnings)
    assert said.index("Known before any answer (Ctrl-C at any time shows all that is known):") < said.index(
        next(one for one in said if one.startswith("Asking"))
    )


def test_what_is_known_is_shown_and_stored_before_the_grid(tmp_path):
    suite, shown = write_knowledge_suite(tmp_path), []
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as store:
        made = analyse_suite(
            load_suite(suite), AnalysisOptions(grid=GRID), store, os.environ,
            lambda: contextlib.nullcontext(Watcher()), lambda _: None,
            lambda known: shown.append((known, find_analysis(store))),
        ).analysis  # fmt: skip
        assert store.query("SELECT COUNT(*) FROM analyses") == [(1,)]
    ((early, stored),) = shown
    assert stored is not None and stored.analysis == made.analysis and UNFINISHED in stored.warnings
    assert UNFINISHED not in made.warnings
    for part in ("gaps", "documents", "attribution", "document_quality", "dataset_quality"):
        assert getattr(early, part) == getattr(stored, part) == getattr(made, part)


def test_a_plan_of_other_documents(tmp_path):
    suite = write_knowledge_suite(tmp_path, repeat=3)
    with pytest.raises(InputError, match="missing"):
        plan(suite, against=tmp_path / "missing")
    assert plan(suite, against=tmp_path / "documents").most["document_changes"] == 0
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "prices.md").write_text("A tune-up costs 40 euros.")
    assert plan(suite, against=tmp_path / "old").most["document_changes"] == 9 + 12


def test_no_key_is_kept_or_printed(tmp_path):
    with OpenAIServer(lambda _: "45 euros", models=None, key="sk-very-secret") as server:
        made = asking(server)
        made["models"]["chat"] |= {"api_key_env": "THEIRS"}
        suite = write_knowledge_suite(tmp_path, **made)
        environ = {**os.environ, "THEIRS": "sk-very-secret"}
        with contextlib.closing(Store.open(tmp_path / "proctor.db")) as store:
            found = analyse_suite(
                load_suite(suite), AnalysisOptions(grid=GRID), store, environ,
                lambda: contextlib.nullcontext(Watcher()), lambda _: None,
            ).analysis  # fmt: skip
    assert "rag" in found.bots
    with contextlib.closing(sqlite3.connect(tmp_path / "proctor.db")) as database:
        everything = "\n".join(database.iterdump()).encode("utf-8", "replace") + analysis_json(found)
    assert b"sk-very-secret" not in everything
