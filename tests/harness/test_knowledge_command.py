import contextlib
import json
import shutil
import sqlite3

import pytest
from proctor.harness.suite.suite_file import sample_suite
from proctor.reports.store import Store
from proctor.reports.surveys.kept_surveys import find_survey, read_survey_json
from small_surveys import DOCUMENTS, QUESTIONS, RAG, write_knowledge_suite
from suites import proctor

SMALL_GRID = ("--grid", "splitter=sentences", "--grid", "chunk_size=100,200", "--grid", "chunk_overlap=0",
              "--grid", "retriever=bm25,dense", "--grid", "top_k=1,2")  # fmt: skip


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A whole survey of the sample, as a user gets it, and where it was made."""
    folder = tmp_path_factory.mktemp("sample")
    suite = shutil.copytree(sample_suite().parent, folder / "suite")
    done = proctor("knowledge", suite, "--most-calls", 60, "--json", *SMALL_GRID, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def survey_of(done):
    return read_survey_json(done.stdout)


def test_one_object_has_every_part(sample):
    _, done = sample
    found = json.loads(done.stdout)
    assert {"grid", "documents", "gaps", "blame", "audit"} <= found.keys()
    assert all(found[part] is not None for part in ("grid", "blame", "audit"))
    assert len(found["documents"]) == 16
    assert len(found["questions"]) == 97


def test_what_was_printed_is_what_is_kept(sample):
    folder, done = sample
    with contextlib.closing(Store.open(folder / "proctor.db")) as store:
        assert find_survey(store) == survey_of(done)


def test_the_number_of_calls_is_told_before_and_kept_to(sample):
    _, done = sample
    found = survey_of(done)
    assert "60" in done.stderr
    assert found.blame is not None
    assert found.blame.calls <= 60
    assert found.blame.bound == 60


def test_the_two_price_lists_of_the_sample_are_found(sample):
    _, done = sample
    pairs = [set(finding.documents) for finding in survey_of(done).inside if finding.kind == "stale_duplicate"]
    assert {"repair-prices-2024.md", "repair-prices-2026.md"} in pairs


def test_the_page_of_the_run_has_the_part(sample):
    folder, _ = sample
    done = proctor("report", "--html", "run.html", folder=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "run.html").read_text("utf-8")
    assert 'id="knowledge-grid"' in page
    assert "repair-prices-2024.md" in page


def test_a_second_survey_asks_nothing(sample):
    folder, first = sample
    asked = "SELECT COUNT(*) FROM replies"
    with contextlib.closing(sqlite3.connect(folder / "proctor.db")) as database:
        before = database.execute(asked).fetchone()
    done = proctor("knowledge", "suite", "--most-calls", 60, "--json", *SMALL_GRID, folder=folder)
    with contextlib.closing(sqlite3.connect(folder / "proctor.db")) as database:
        assert database.execute(asked).fetchone() == before
    again, once = survey_of(done), survey_of(first)
    assert again.blame is not None
    assert again.blame.calls == 0
    assert once.blame is not None
    assert again.blame.answers == once.blame.answers
    assert (again.gaps, again.inside, again.audit, again.documents) == (
        once.gaps,
        once.inside,
        once.audit,
        once.documents,
    )


def test_a_table_for_people(tmp_path):
    done = proctor("knowledge", write_knowledge_suite(tmp_path), *SMALL_GRID, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("shop: 3 documents, 3 questions: 3 with gold evidence\n")
    assert "How to cut and search" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Kept in proctor.db as survey " in done.stdout


def test_no_bot_is_asked_where_none_should_be(tmp_path):
    suite = write_knowledge_suite(tmp_path)
    done = proctor("knowledge", suite, "--no-answers", "--json", *SMALL_GRID, folder=tmp_path)
    found = survey_of(done)
    assert (found.run, found.blame, found.bots) == ("", None, ())
    assert found.grid is not None
    assert not any(result.answers for result in found.grid.settings)
    with contextlib.closing(sqlite3.connect(tmp_path / "proctor.db")) as database:
        assert database.execute("SELECT COUNT(*) FROM replies").fetchone() == (0,)


def test_only_the_part_that_is_named(tmp_path):
    suite = write_knowledge_suite(tmp_path)
    found = survey_of(proctor("knowledge", suite, "--only", "gaps", "--no-answers", "--json", folder=tmp_path))
    assert (found.grid, found.documents, found.inside, found.audit) == (None, (), (), None)


def test_an_unknown_part_is_named_with_the_nearest(tmp_path):
    done = proctor("knowledge", write_knowledge_suite(tmp_path), "--only", "grids", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "proctor: --only grids: there is no such part; did you mean grid?\n"


def test_an_unknown_key_of_the_grid_is_named_with_the_nearest(tmp_path):
    done = proctor("knowledge", write_knowledge_suite(tmp_path), "--grid", "chunk_sise=3", folder=tmp_path)
    assert done.returncode == 2
    assert "chunk_size" in done.stderr


def test_stale_gold_is_no_failure_of_retrieval(tmp_path):
    stale = {**QUESTIONS[0], "evidence": [{"document": "prices.md", "quote": "A bicycle tune-up costs 40 euros."}]}
    suite = write_knowledge_suite(tmp_path, questions=[stale, *QUESTIONS[1:]])
    found = survey_of(proctor("knowledge", suite, "--json", *SMALL_GRID, folder=tmp_path))
    (gap,) = [finding for finding in found.gaps.findings if finding.kind == "stale_gold"]
    assert gap.questions == ("tune",)
    assert "45 euros" in gap.places[0].text
    assert found.grid is not None
    assert "tune" not in found.grid.questions


def test_other_documents_are_held_against_those_of_the_suite(tmp_path):
    suite = write_knowledge_suite(tmp_path)
    old = tmp_path / "old"
    shutil.copytree(tmp_path / "documents", old)
    (old / "prices.md").write_text(DOCUMENTS["prices.md"].replace("45 euros", "40 crowns"))
    done = proctor("knowledge", suite, "--only", "documents", "--against", old, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = survey_of(done).against
    assert found is not None
    assert [(edit.document, edit.change, edit.gained) for edit in found.edits] == [
        ("prices.md", "edited", (("rag", "tune"),))
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--against", "nowhere"), "nowhere"),
        (("--against", "documents", "--no-answers"), "--against compares answers"),
        (("--metric", "nothing"), "nothing"),
    ],
)
def test_what_can_t_be_is_told_in_a_sentence(tmp_path, arguments, said):
    done = proctor("knowledge", write_knowledge_suite(tmp_path), *arguments, *SMALL_GRID, folder=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_asks_nobody(tmp_path):
    suite = write_knowledge_suite(tmp_path)
    done = proctor("knowledge", suite, "--plan", "--most-calls", 7, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "At most 7 answers more for blame" in done.stdout
    assert not (tmp_path / "proctor.db").exists()
    whole = json.loads(proctor("knowledge", suite, "--plan", "--json", folder=tmp_path).stdout)
    assert whole["survey"]["grid"] == 15


@pytest.mark.parametrize(
    "bots", [{"faq": {"type": "faq", "entries": "faq.csv"}}, {"all": {"type": "full_context"}}], ids=["faq", "all"]
)
def test_bots_that_do_not_retrieve_are_no_reason_to_fail(tmp_path, bots):
    (tmp_path / "faq.csv").write_text("question,answer\nHow much is a tune-up?,45 euros\n")
    done = proctor("knowledge", write_knowledge_suite(tmp_path, bots=bots), "--json", *SMALL_GRID, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert survey_of(done).grid is not None


def test_one_document_and_one_question_are_enough(tmp_path):
    suite = write_knowledge_suite(tmp_path, {"prices.md": DOCUMENTS["prices.md"]}, QUESTIONS[:1], {"rag": RAG})
    done = proctor("knowledge", suite, *SMALL_GRID, folder=tmp_path)
    assert done.returncode == 0, done.stderr
