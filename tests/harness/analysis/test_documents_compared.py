"""Old documents and today's over the same questions: every edit is credited with the answers that it turned."""

import contextlib
import json
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import Call, Fault, OpenAIServer, status
from proctor import InputError
from proctor.harness.analysis.corpus import Answers, CorpusIndex, index_corpus, read_answers
from proctor.harness.analysis.document_changes import (
    changes_between,
    compare_documents,
    likeness,
    plan_document_changes,
    without_change,
)
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run import run_evaluation
from proctor.harness.run.run_config import RunConfig
from proctor.harness.run.suite_run import suite_evaluation
from proctor.harness.suite.suite_file import load_suite, sample_suite
from proctor.knowledge.documents.document import Document
from proctor.reports.analysis.findings import DocumentChanges
from proctor.reports.store.database import Store
from proctor.reports.summary import find_run


def prices(*numbers: int, **changed: int) -> str:
    """A list of prices: ten times the number, but for some."""
    lines = [f"Item no{number} costs {changed.get(f'item{number}', 10 * number)}." for number in numbers]
    return "\n\n".join(["# Prices", *lines, "All of them are in euros, with work and parts, and hold in every town."])


OLD = {
    "a.md": prices(1, 2, 3, item2=99),
    "b.md": prices(4, 5),
    "c.md": prices(6, 7),
    "left.md": "# Left\n\nThe left half of item no8 is eighty.",
    "right.md": "# Right\n\nThe right half of item no8 is eighty.",
}
NEW = {
    "a.md": prices(1, 2, 3, item1=11),  # item 1 lost, item 2 gained
    "d.md": "# News\n\nItem no3 costs 33.",  # item 3 lost
    "left.md": "# Left\n\nEmpty since Monday.",  # item 8 lost by both together
    "prices-c.md": OLD["c.md"],
    "right.md": "# Right\n\nEmpty since Monday.",
}  # b.md removed: items 4 and 5 lost
QUESTIONS = [{"id": f"q{n}", "question": f"How much costs item no{n}", "expected_answer": str(10 * n)}
             for n in range(1, 9)]  # fmt: skip


def script(call: Call) -> str:
    """The last price of the item that stands in the prompt; of item 8 only from both halves."""
    number = call.prompt.split()[-1]
    if number == "no8":
        return "80" if "left half of item no8" in call.prompt and "right half of item no8" in call.prompt else "no"
    found = re.findall(rf"Item {number} costs (\d+)", call.prompt)
    return found[-1] if found else "no"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(script, models=["chat"]) as running:
        yield running


class Folder:
    """A suite in a folder with its documents, those before, and its database."""

    def __init__(self, folder: Path, url: str, **bots: object) -> None:
        self.folder = folder
        self.write("documents", NEW)
        self.old = self.write("old", OLD)
        (folder / "questions.json").write_text(json.dumps(QUESTIONS))
        (folder / "prompt.md").write_text("{context}\n{question}")
        (folder / "faq.csv").write_text("question,answer\nHow much costs item no1,10\n")
        chat = {"model": "openai:chat", "base_url": url, "temperature": 0}
        full = {"type": "full_context", "model": "chat", "prompt": "prompt.md"}
        self.made = {
            "name": "test", "questions": "questions.json", "knowledge": "documents", "models": {"chat": chat},
            "bots": bots or {"full": full}, "metrics": ["exact_match"],
        }  # fmt: skip
        self.save()
        self.store = Store.open(folder / "p.db")

    def save(self, **changes: object) -> None:
        self.made |= changes
        (self.folder / "suite.yaml").write_text(json.dumps(self.made))

    def write(self, name: str, files: dict[str, str]) -> Path:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / name).mkdir()
        for file, text in files.items():
            (self.folder / name / file).write_text(text)
        return self.folder / name

    @property
    def corpus(self) -> CorpusIndex:
        return index_corpus(load_suite(self.folder / "suite.yaml"), os.environ)

    def compare(
        self, options: RunConfig | None = None, most_calls: int | None = None, **changes: object
    ) -> DocumentChanges:
        watching = lambda: contextlib.nullcontext(Watcher())  # noqa: E731 - who watches, made for each run
        plan = plan_document_changes(self.corpus, self.old, options, most_calls)
        return compare_documents(plan, self.store, watching, **changes)

    def current(self, options: RunConfig | None = None) -> Answers:
        evaluation = suite_evaluation(load_suite(self.folder / "suite.yaml"), options or RunConfig(), os.environ)
        outcome = run_evaluation(evaluation, self.store, Watcher())
        found = read_answers(self.store, find_run(self.store, outcome.summary.run)[0])
        assert found is not None
        return found


FULL = {"type": "full_context", "model": "chat", "prompt": "prompt.md"}
BY_WORDS = {"type": "rag", "model": "chat", "prompt": "prompt.md", "retriever": "bm25", "splitter": "sentences",
            "chunk_size": 30, "chunk_overlap": 0, "top_k": 2}  # fmt: skip
FAQ = {"type": "faq", "entries": "faq.csv"}


@pytest.fixture
def folder(tmp_path: Path, server: OpenAIServer) -> Iterator[Folder]:
    made = Folder(tmp_path, server.url, full=FULL)
    yield made
    made.store.close()


def by_document(found: DocumentChanges) -> dict[str, tuple[str, str, list[str], list[str]]]:
    return {
        edit.document: (edit.change, edit.was, [key for _, key in edit.gained], [key for _, key in edit.lost])
        for edit in found.edits
    }


def test_every_edit_is_credited_with_what_it_turned(folder, server):
    found = folder.compare()
    assert by_document(found) == {
        "b.md": ("removed", "", [], ["q4", "q5"]),
        "a.md": ("edited", "", ["q2"], ["q1"]),
        "d.md": ("added", "", [], ["q3"]),
        "left.md": ("edited", "", [], []),
        "prices-c.md": ("renamed", "c.md", [], []),
        "right.md": ("edited", "", [], []),
    }
    assert found.unexplained == (("full", "q8"),)
    (bot,) = found.bots
    assert (bot.gained, bot.lost) == (("q2",), ("q1", "q3", "q4", "q5", "q8"))
    assert (bot.difference.mean, bot.difference.questions) == (-4 / 8, 8)
    assert bot.difference.low < -4 / 8 < bot.difference.high
    assert found.calls == len(server.calls) == 8 + 8 + 6 * 7  # both runs; once more and with each edit back
    assert (found.folder, found.metric) == (str(folder.old), "exact_match")
    assert folder.store.query("SELECT suite FROM runs WHERE name = ?", [found.run]) == [("test (analysis)",)]


def test_edits_that_turned_most_come_first(folder):
    turned = [len(edit.gained) + len(edit.lost) for edit in folder.compare().edits]
    assert turned == [2, 2, 1, 0, 0, 0]


def test_a_second_time_nothing_is_asked(folder, server):
    first = folder.compare()
    asked = len(server.calls)
    second = folder.compare()
    assert (len(server.calls), second.calls) == (asked, 0)
    assert (second.edits, second.bots, second.unexplained) == (first.edits, first.bots, first.unexplained)


def test_answers_of_the_suites_run_are_taken_as_they_are(folder, server):
    current = folder.current()
    asked = len(server.calls)
    found = folder.compare(current=current, metric="exact_match")
    assert found.calls == len(server.calls) - asked == 8 + 6 * 7
    assert found.bots[0].lost == ("q1", "q3", "q4", "q5", "q8")


def test_answers_that_a_run_over_the_old_documents_has_are_free(folder, server):
    """Somebody who held the suite before the edits has paid for it."""
    folder.write("documents", OLD)
    folder.current()
    folder.write("documents", NEW)
    current, asked = folder.current(), len(server.calls)
    plan = plan_document_changes(folder.corpus, folder.old)
    assert plan.questions(folder.store) == 0
    assert folder.compare(current=current).calls == len(server.calls) - asked == 6 * 7


def test_what_it_takes_is_said_before_and_bounds_what_is_asked(folder, server):
    current, asked = folder.current(), len(server.calls)
    plan = plan_document_changes(folder.corpus, folder.old, most_calls=15)
    assert (plan.questions(folder.store), plan.most_to_explain) == (8, 15)
    assert plan.sentence(folder.store) == (
        f"Since {folder.old}: 3 edited, 1 added, 1 renamed, 1 removed. 8 answers are asked for over the old documents, "
        "and at most 15 to find out which edit did what."
    )
    assert len(server.calls) == asked
    said: list[str] = []
    found = folder.compare(current=current, most_calls=15, notify=said.append)
    assert found.calls == len(server.calls) - asked == 8 + 15
    assert said[-1] == "15 answers are asked for to find out which edit did what"
    assert by_document(found)["a.md"][2:] == ([], ["q1"])  # lost answers go before gained ones
    assert found.unexplained == ()  # nobody knows yet
    (warning,) = [each for each in found.warnings if "most-calls" in each]
    assert "at most 15 answers" in warning
    again = plan_document_changes(folder.corpus, folder.old)
    assert (again.questions(folder.store), again.most_to_explain) == (0, 8 * 7)


def test_with_no_calls_for_it_the_sides_are_still_compared(folder):
    found = folder.compare(most_calls=0)
    assert found.calls == 16
    assert found.bots[0].gained == ("q2",)
    assert {(edit.gained, edit.lost) for edit in found.edits} == {((), ())}


def test_one_edit_needs_no_further_answers(folder, server):
    folder.old = folder.write("old", NEW | {"a.md": OLD["a.md"]})
    assert plan_document_changes(folder.corpus, folder.old).most_to_explain == 8
    found = folder.compare()
    assert len(server.calls) == 16 + 2  # only to see whether the answer comes again
    assert folder.compare(most_calls=0).edits == found.edits  # they are kept
    assert by_document(found) == {"a.md": ("edited", "", ["q2"], ["q1"])}


def test_bots_that_retrieve_try_only_what_they_read(tmp_path, server):
    folder = Folder(tmp_path, server.url, words=BY_WORDS, faq=FAQ)
    with contextlib.closing(folder.store):
        found = folder.compare()
        assert by_document(found)["a.md"] == ("edited", "", ["q2"], ["q1"])
        assert by_document(found)["b.md"] == ("removed", "", [], ["q4", "q5"])
        assert by_document(found)["d.md"] == ("added", "", [], ["q3"])
        assert found.calls < 8 + 8 + 6 * 7
        assert [bot.bot for bot in found.bots] == ["words"]
        assert any(each.startswith("faq takes no documents from a folder") for each in found.warnings)
        assert folder.compare(current=folder.current()).bots == found.bots


def test_answers_that_turn_by_themselves_are_no_edits_doing(folder):
    """A bot that says another thing each time."""
    first = iter(["70"])
    with OpenAIServer(
        lambda call: next(first, "no") if call.prompt.endswith("item no7") else "no", models=["chat"]
    ) as other:
        folder.save(models={"chat": folder.made["models"]["chat"] | {"base_url": other.url}})
        found = folder.compare()
        assert len(other.calls) == found.calls == 16 + 7
    assert found.unexplained == (("full", "q7"),)
    assert {(edit.gained, edit.lost) for edit in found.edits} == {((), ())}
    assert found.bots[0].gained == ("q7",)
    assert found.warnings[-1].startswith("1 answer turned back when the bot was asked once more with nothing changed")


def test_what_no_edit_changed_is_asked_once_for_both_sides(tmp_path, server):
    """By words the passage of item 7 is the same on both sides: the request is the same, and so is the answer."""
    folder = Folder(tmp_path, server.url, words=BY_WORDS)
    folder.old = folder.write("old", NEW | {"left.md": "# Left\n\nA new story.", "more.md": "Quite another story."})
    first = iter(["70"])
    with (
        contextlib.closing(folder.store),
        OpenAIServer(
            lambda call: next(first, "no") if call.prompt.endswith("item no7") else "no", models=["chat"]
        ) as other,
    ):
        folder.save(models={"chat": folder.made["models"]["chat"] | {"base_url": other.url}})
        found = folder.compare()
        assert len(other.calls) == found.calls == 8
    assert found.unexplained == ()


def test_what_can_not_be_asked_again_is_not_called_unexplained(folder):
    """The endpoint refuses whatever holds the old page a.md beside the news."""

    def refused(call: Call) -> Fault | None:
        return status(400, "no") if "no1 costs 10" in call.prompt and "# News" in call.prompt else None

    with OpenAIServer(script, faults=refused, models=["chat"]) as other:
        folder.save(models={"chat": folder.made["models"]["chat"] | {"base_url": other.url}})
        found = folder.compare()
    assert by_document(found)["a.md"] == ("edited", "", [], [])
    assert by_document(found)["d.md"] == ("added", "", [], ["q3"])
    assert found.unexplained == ()
    (warning,) = [each for each in found.warnings if "asked again or marked" in each]
    assert warning.startswith("3 answers that turned could not be asked again or marked with every edit taken back")
    assert warning.endswith("q1, q2 and q8.")


def test_the_same_documents_are_not_asked(folder, server):
    folder.old = folder.write("old", NEW)
    found = folder.compare()
    assert (found.edits, found.bots, found.run, server.calls) == ((), (), "", [])
    assert found.warnings == (f"{folder.old} holds the very documents of the suite, so nothing has to be asked.",)
    idle = plan_document_changes(folder.corpus, folder.old)
    assert (idle.questions(folder.store), idle.most_to_explain) == (0, 0)


def test_a_suite_whose_bots_take_no_documents(tmp_path, server):
    folder = Folder(tmp_path, server.url, faq=FAQ)
    with contextlib.closing(folder.store):
        found = folder.compare()
        idle = plan_document_changes(folder.corpus, folder.old)
        assert (idle.questions(folder.store), idle.most_to_explain) == (0, 0)
    assert (found.bots, found.calls, len(found.edits)) == ((), 0, 6)
    assert "No bot of the suite takes documents" in found.warnings[-1]


def test_a_folder_that_is_missing_or_empty(folder):
    with pytest.raises(InputError, match="nowhere"):
        plan_document_changes(folder.corpus, folder.folder / "nowhere")
    (folder.folder / "empty").mkdir()
    with pytest.raises(InputError, match="no document with text in"):
        plan_document_changes(folder.corpus, folder.folder / "empty")


def test_a_folder_with_some_of_the_documents(folder):
    folder.old = folder.write("old", {"a.md": OLD["a.md"]})
    found = folder.compare()
    assert [edit.change for edit in found.edits].count("added") == 4
    assert "4 of the 5 documents of the suite are not in" in found.warnings[0]


def test_evidence_that_was_edited_away_is_told(folder):
    """The answer that counts as lost may be right by today's documents."""
    quotes = {
        "q1": ("a.md", "Item no1 costs 10."),
        "q2": ("a.md", "Item no2 costs 20."),
        "q6": ("c.md", "Item no6 costs"),
    }
    marked = [
        question | ({"evidence": [{"document": found[0], "quote": found[1]}]} if found else {})
        for question in QUESTIONS
        for found in [quotes.get(str(question["id"]))]
    ]
    (folder.folder / "questions.json").write_text(json.dumps(marked))
    warnings = list(plan_document_changes(folder.corpus, folder.old).warnings())
    assert warnings[0] == "The evidence of 1 question is not in the old documents: q2."
    assert warnings[1].startswith("The evidence of 2 questions was edited away: q1 and q6.")


def test_a_bot_that_can_not_be_asked_over_the_old_documents(folder):
    folder.save(bots={"full": FULL, "small": FULL | {"model": "tiny"}}, models=folder.made["models"] | {
        "tiny": folder.made["models"]["chat"] | {"context_tokens": 1500, "max_tokens": 100}})  # fmt: skip
    folder.old = folder.write("old", OLD | {"long.md": "A long story. " * 1000})
    found = folder.compare()
    assert [bot.bot for bot in found.bots] == ["full"]
    (warning,) = [each for each in found.warnings if "could not be asked over the old" in each]
    assert warning.startswith("small could not be asked over the old documents: ")


def test_that_todays_evidence_marks_what_was_taken_back_is_told(tmp_path, server):
    """A metric of what was retrieved knows one place of the evidence, whatever the documents were."""
    rag = {"type": "rag", "model": "chat", "prompt": "prompt.md", "retriever": "bm25", "chunk_size": 90,
           "chunk_overlap": 0, "top_k": 1}  # fmt: skip
    folder = Folder(tmp_path, server.url, rag=rag)
    long = {"a.md": "Item no3 costs 30. It does so in every town."}
    folder.write("old", long)
    folder.write("documents", long | {"d.md": "Item no3 costs 33.", "e.md": "Item no9 costs 90."})
    asked = QUESTIONS[2] | {"evidence": [{"document": "a.md", "quote": "Item no3 costs 30."}]}
    (tmp_path / "questions.json").write_text(json.dumps([asked]))
    folder.save(metrics=["exact_match", "hit_rate"])
    with contextlib.closing(folder.store):
        by_place = folder.compare(metric="hit_rate")
        by_words = folder.compare(metric="exact_match")
    doubt = "hit_rate holds what was retrieved against the evidence as it stands in today's documents"
    assert by_place.calls > 0
    assert [(edit.document, edit.lost) for edit in by_words.edits] == [("d.md", (("rag", "q3"),)), ("e.md", ())]
    assert sum(warning.startswith(doubt) for warning in by_place.warnings) == 1
    assert not any("evidence as it stands" in warning for warning in by_words.warnings)


def test_without_a_metric_nothing_is_called_right(folder):
    folder.save(metrics=["answer_length"])
    found = folder.compare()
    assert (found.metric, found.bots) == ("", ())
    assert "No metric says whether an answer is right" in found.warnings[-1]
    with pytest.raises(InputError, match="no metric 'exact_mach'"):
        folder.compare(metric="exact_mach")


def test_repeats_are_asked_as_often(folder, server):
    current, asked = folder.current(RunConfig(repeat=2)), len(server.calls)
    assert asked == 16
    found = folder.compare(current=current, options=RunConfig(repeat=2, fresh=True))
    assert found.calls == len(server.calls) - asked == 16 + 6 * 7 * 2
    assert by_document(found)["a.md"] == ("edited", "", ["q2"], ["q1"])


# The help centre's documents against a copy with known edits: the embedded bots, and what an analyst reads

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


# What became of documents: edits, new names, what came and what went

PRICES = "# Prices\n\n" + " ".join(f"Repair number {n} costs {n * 7} euros with labour." for n in range(1, 12))
HOURS = "# Hours\n\nThe workshop in Cork opens at nine and closes at six. On Sundays it is closed all day."


def changed(old: list[Document], new: list[Document]) -> list[tuple[str, str, str]]:
    """Change, id now, id then."""
    return [
        (each.change, "" if each.now is None else each.now.id, "" if each.was is None else each.was.id)
        for each in changes_between(old, new)
    ]


def test_nothing_changed():
    documents = [Document("a.md", PRICES, "Prices"), Document("b.md", HOURS)]
    assert changes_between(documents, list(reversed(documents))) == ()
    assert changes_between([], []) == ()


def test_each_kind_of_change_in_the_order_of_the_new_documents():
    old = [Document("a.md", PRICES), Document("b.md", HOURS), Document("gone.md", "Nobody needs this page any more.")]
    new = [
        Document("0.md", "Something that was never there before."),
        Document("a.md", PRICES.replace("77 euros", "78 euros")),
        Document("hours.md", HOURS),
    ]
    assert changed(old, new) == [
        ("added", "0.md", ""),
        ("edited", "a.md", "a.md"),
        ("renamed", "hours.md", "b.md"),
        ("removed", "", "gone.md"),
    ]


def test_a_page_whose_title_alone_changed_is_edited():
    assert changed([Document("a.html", HOURS, "Hours")], [Document("a.html", HOURS, "Times")]) == [
        ("edited", "a.html", "a.html")
    ]


def test_a_new_name_with_a_changed_figure_is_a_new_name():
    new = PRICES.replace("costs 77 euros", "costs 79 euros")
    assert 0.9 <= likeness(PRICES, new) < 1
    assert changed([Document("prices-2024.md", PRICES)], [Document("prices-2026.md", new)]) == [
        ("renamed", "prices-2026.md", "prices-2024.md")
    ]


def test_another_text_under_another_name_is_no_new_name():
    rewritten = PRICES[: len(PRICES) // 2] + HOURS * 3
    assert likeness(PRICES, rewritten) < 0.9
    assert changed([Document("a.md", PRICES)], [Document("b.md", rewritten)]) == [
        ("added", "b.md", ""),
        ("removed", "", "a.md"),
    ]


def test_of_two_that_are_alike_the_nearer_one_has_the_new_name():
    near, nearer = PRICES.replace("77 euros", "78 euros").replace("70 euros", "71 euros"), PRICES + " Ask us."
    found = changed([Document("1.md", near), Document("2.md", nearer)], [Document("new.md", PRICES + " Ask us!")])
    assert found == [("renamed", "new.md", "2.md"), ("removed", "", "1.md")]


def test_many_copies_are_paired_one_to_one():
    """More than a sketch tells apart: equal texts are matched by themselves."""
    old = [Document(f"old/{n:03}.md", HOURS) for n in range(250)]
    new = [Document(f"new/{n:03}.md", HOURS) for n in range(249)]
    found = changed(old, new)
    assert [each[0] for each in found] == ["renamed"] * 249 + ["removed"]
    assert found[7] == ("renamed", "new/007.md", "old/007.md")


def test_new_names_are_found_among_many_documents_of_one_kind():
    draw = random.Random(1)
    words = [f"word{n}" for n in range(400)]
    texts = ["Terms of use. All rights reserved by us. " + " ".join(draw.choices(words, k=120)) for _ in range(300)]
    old = [Document(f"a/{n}.txt", text) for n, text in enumerate(texts)]
    new = [Document(f"b/{n}.txt", f"{text} Changed on Monday.") for n, text in enumerate(texts)]
    assert changed(old, new) == [("renamed", f"b/{n}.txt", f"a/{n}.txt") for n in range(300)]


@pytest.mark.parametrize("text", ["", " \n", "\ud800 half a character", "價格表は維修費用一覽", "a"])
def test_texts_of_any_kind_are_like_themselves(text):
    assert likeness(text, text) == 1
    assert changed([Document("a", text)], [Document("b", text)]) == [("renamed", "b", "a")]


def test_the_order_of_words_counts_for_likeness():
    words = PRICES.split()
    assert likeness(" ".join(words), "  \n".join(words)) == 1
    assert likeness(" ".join(words), " ".join(sorted(words))) < 0.8


def test_a_change_is_taken_back_where_it_was_made():
    old = [Document("a", "A"), Document("b", "B"), Document("c", "C"), Document("old-d", HOURS)]
    new = [Document("a", "A2"), Document("c", "C"), Document("d", HOURS), Document("e", "E")]
    changes = {each.document: each for each in changes_between(old, new)}

    def ids(document: str) -> list[tuple[str, str]]:
        return [(each.id, each.text[:2]) for each in without_change(new, changes[document], old)]

    assert ids("a") == [("a", "A"), ("c", "C"), ("d", "# "), ("e", "E")]
    assert ids("b") == [("a", "A2"), ("b", "B"), ("c", "C"), ("d", "# "), ("e", "E")]
    assert ids("d") == [("a", "A2"), ("c", "C"), ("old-d", "# "), ("e", "E")]
    assert ids("e") == [("a", "A2"), ("c", "C"), ("d", "# ")]


def test_what_stood_first_comes_back_first():
    old, new = [Document("a", "A"), Document("b", "B")], [Document("b", "B")]
    (change,) = changes_between(old, new)
    assert without_change(new, change, old) == old
