"""A small database that is rich in all that a page can show: two runs of one suite, written by the real writer."""

import functools
import tempfile
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path

from page_judging import judge_calls
from page_scores import EVALUATORS, METRICS, scores_of
from proctor.bots.bot import Context, Identity, Reply, Usage
from proctor.knowledge.documents.evidence import EvidenceFinder
from proctor.knowledge.documents.reading import read_knowledge
from proctor.knowledge.questions.question import Question
from proctor.knowledge.questions.question_files import open_questions
from proctor.knowledge.retrieval.splitting import cut
from proctor.metrics import builtin_catalog
from proctor.reports.report import Report, keep_findings, make_report
from proctor.reports.store.database import Store
from proctor.reports.store.run import Row, RowStatus, RunHeader, ask_key
from proctor.reports.store.run_results import OpenRun, RunResults
from proctor.reports.store.run_scores import keep_run_scores
from proctor.reports.store.writer import RowWriter
from proctor.reports.summary import find_run

SAMPLE = Path(__file__).resolve().parents[2] / "knowledge" / "samples" / "help_centre"
QUESTIONS = 24
REPEATED = 4  # the first so many questions are asked twice of one bot
CORRECTED = 6  # place of the question that has another expected answer in the second run
JUDGE = 'openai:judge-large {"base_url": "https://judge.example/v1"}'
DECLINE = "I don't know."
EMBEDDED, MODEL = "extractive", "openai:chat-small"
PROMPT = "Answer from the passages below, in one or two sentences.\n\n{context}\n\nQuestion: {question}\n"
BOTS = ("faq", "extractive", "rag", "full_context")


@dataclass(frozen=True)
class PageBook:
    """A finished database.

    Attributes:
        path: of the database.
        base: name of the first run.
        head: name of the second run, in which the bot ``rag`` has another prompt and other settings.
        notable: what to look for: what it is -> ``(bot, key)`` in the head run.
    """

    path: Path
    base: str
    head: str
    notable: dict[str, tuple[str, str]] = field(default_factory=dict)

    def store(self) -> Store:
        """The database, which the caller closes."""
        return Store.open(self.path, create=False)


def report_of(store: Store, run: str | None = None) -> Report:
    """A run by its name, the latest unless told, as pages take it."""
    return make_report(store, find_run(store, run)[0])


def page_book(path: Path, questions: int = QUESTIONS) -> PageBook:
    """Write the database: a copy of one that is made once a session."""
    content, book = _made(questions)
    path.write_bytes(content)
    return replace(book, path=path)


@functools.cache
def _made(questions: int) -> tuple[bytes, PageBook]:
    """The database as bytes, and what is in it."""
    evaluation = _Exam(questions)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proctor.db"
        store = Store.open(path)
        try:
            base = _write(store, evaluation, is_head=False)
            head = _write(store, evaluation, is_head=True)
        finally:
            store.close()  # the last to close it writes everything into the one file
        content = path.read_bytes()
    keys = [question.id for question in evaluation.questions]
    notable = {name: (bot, keys[place % len(keys)]) for name, (bot, place) in NOTABLE.items()}
    return content, PageBook(path, base, head, notable)


# Places of questions on which something out of the ordinary happens.
NOTABLE = {
    "raised": ("rag", 5), "timed_out": ("full_context", 7), "refused": ("rag", 9), "abstained": ("extractive", 11),
    "no_contexts_found": ("rag", 13), "parse_failure": ("rag", 15), "judge_unavailable": ("full_context", 17),
    "blank_answer": ("faq", 19), "gold_missed": ("extractive", 3), "no_expected": ("rag", 21),
    "emoji_context": ("rag", 2), "unlocated_context": ("full_context", 4),
}  # fmt: skip


class _Exam:
    """Questions with their places in the sample's documents, and what each bot says to them."""

    def __init__(self, count: int) -> None:
        knowledge = read_knowledge([SAMPLE / "documents"], SAMPLE)
        finder = EvidenceFinder(knowledge.documents)
        asked = [finder.locate(each).question for each in open_questions(SAMPLE / "questions.yaml")]
        answerable = [each for each in asked if each.answerable]
        chosen = [*answerable[: count - 2], *[each for each in asked if not each.answerable][:2]][:count]
        self.questions = [self._changed(place, each) for place, each in enumerate(chosen)]
        self.documents = {each.id: each for each in knowledge.documents}
        self.passages = [each for document in knowledge.documents for each in cut(document, 500, 60)]

    def _changed(self, place: int, question: Question) -> Question:
        if place == NOTABLE["no_expected"][1]:
            return replace(question, expected=(), constraints=())
        if place == 0:
            return replace(question, extra={"author": "support", "ticket": 4711})
        return question

    def contexts(self, question: Question, top: int, is_head: bool) -> tuple[Context, ...]:
        """The passages with the most words of the question, and in the head run of the expected answer as well."""
        words = _words(question.text + (" ".join(question.expected) if is_head else ""))
        shared = [(len(words & _words(each.text)), -place) for place, each in enumerate(self.passages)]
        best = sorted(shared, reverse=True)[:top]
        found = [(self.passages[-place], number / (1 + len(words))) for number, place in best]
        return tuple(Context(each.text, each.document, each.start, each.end, score) for each, score in found)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in text.lower().replace("?", " ").replace(",", " ").split() if len(word) > 3)


def _write(store: Store, evaluation: _Exam, is_head: bool) -> str:
    run_results = RunResults(store)
    run = run_results.begin(_header(is_head))
    writer = RowWriter(store.path, run.id, run.metric_ids)
    for place, question in enumerate(evaluation.questions):
        if is_head and place == CORRECTED:
            question = replace(question, expected=(*question.expected, "As the price list says."))
        for bot in BOTS:
            for repeat in range(2 if bot == "rag" and place < REPEATED else 1):
                happened = {name for name, of in NOTABLE.items() if of == (bot, place)}
                row, said = _row(evaluation, run, (bot, place, repeat, is_head), question, happened)
                _put(writer, row, said, happened)
    writer.close()
    catalog = builtin_catalog().plan(["accuracy", "precision", "recall", "f1"])
    keep_run_scores(store, run, catalog.score_run)
    run_results.end(run, "finished", {})
    keep_findings(store, run.id)
    return run.name


def _put(writer: RowWriter, row: Row, said: Sequence[str], happened: AbstractSet[str]) -> None:
    writer.row(row)
    scores = list(scores_of(row, said, happened))
    calls = judge_calls(row, scores, JUDGE)
    for call in calls:
        writer.judge_call(call)
    writer.scores(row, scores)
    writer.judge_notes(row, [call.stored for call in calls])


def _header(is_head: bool) -> RunHeader:
    settings = {"chunk_size": 500, "chunk_overlap": 60, "top_k": 5 if is_head else 3, "temperature": 0.2}
    prompt = PROMPT + ("Say \"I don't know.\" when the passages don't tell.\n" if is_head else "")
    embedder = "sentence-transformers/all-MiniLM-L6-v2@c9745ed1d9f2"
    bots = [
        ("faq", Identity("faq", {"min_similarity": 0.5}, None, True, {"entries": "ab" * 32})),
        ("extractive", Identity("rag", {"top_k": 3}, "extractive", True, {"knowledge": "cd" * 32}, {"prompt": PROMPT},
                                {"embedder": embedder})),
        ("rag", Identity("rag", settings, MODEL, False, {"knowledge": "cd" * 32}, {"prompt": prompt},
                         {"chat": MODEL, "embedder": embedder})),
        ("full_context", Identity("full_context", {"overflow": "error"}, "openai:chat-large", False,
                                  {"knowledge": "cd" * 32}, {"prompt": PROMPT}, {"chat": "openai:chat-large"})),
    ]  # fmt: skip
    judge = {"name": "large", "model_id": JUDGE, "embedded": False, "metrics": ["faithfulness", "judge_relevance"]}
    manifest = {
        "proctor": "0.1.0", "python": "3.11.7", "packages": {"numpy": "2.4.6", "openai": "3.52.0"},
        "machine": {"system": "Linux", "cores": 8}, "command": ["proctor", "run", "suite.yaml", "--db", "rich.db"],
        "settings": {
            "suite": {"name": "help-centre", "bots": {name: {"type": bot.kind} for name, bot in bots}},
            "suite_file": "suite.yaml", "suite_hash": ("b" if is_head else "a") * 64,
            "questions": {"count": QUESTIONS, "hash": "c" * 64}, "bots": list(BOTS), "limit": None, "repeat": 1,
            "concurrency": 8, "latency_run": False, "seed": 0, "judge": judge, "local_models": {},
            "embedder": embedder,
        },
    }  # fmt: skip
    return RunHeader("help-centre", bots, METRICS, manifest, questions="c" * 64, fresh=True, evaluators=EVALUATORS)


def _row(
    evaluation: _Exam, run: OpenRun, which: tuple[str, int, int, bool], question: Question, happened: AbstractSet[str]
) -> tuple[Row, Sequence[str]]:
    """A row, and the sentences of its answer."""
    bot, place, repeat, is_head = which
    made = Row(
        question, run.bot_ids[bot], repeat, ask_key(question),
        asked_at=f"2026-01-0{1 + is_head}T09:{place:02}:00+00:00",
        position=place,
        latency_ms=LATENCY[bot] * (1 + 0.13 * ((place * 7 + repeat) % 11)), in_flight=1 + place % 8,
    )  # fmt: skip
    failure = next((FAILURES[name] for name in happened if name in FAILURES), None)
    if failure:
        made.status, made.error = failure
        return made, ()
    said = tuple(_said(evaluation, bot, question, place, repeat, is_head))
    answer = " ".join(said)
    if "abstained" in happened or not question.answerable:
        said, answer = (), DECLINE
    if "blank_answer" in happened:
        said, answer = (), "  "
    contexts = None if bot == "faq" else _contexts(evaluation, bot, question, happened, is_head)
    made.reply = _reply(bot, answer, contexts, place)
    return made, said


LATENCY = {"faq": 1.3, "extractive": 41.0, "rag": 830.0, "full_context": 2210.0}
FAILURES = {
    "raised": (RowStatus.RAISED, "APIConnectionError: the endpoint closed the connection (attempt 3 of 3)"),
    "timed_out": (RowStatus.TIMED_OUT, "No answer within 30 s."),
    "refused": (RowStatus.REFUSED, "HTTP 400 content_filter: the question was abstained."),
}


def _contexts(
    evaluation: _Exam, bot: str, question: Question, happened: AbstractSet[str], is_head: bool
) -> tuple[Context, ...] | None:
    if "no_contexts_found" in happened:
        return ()
    if "gold_missed" in happened:
        return (Context("We are closed on public holidays.", "about-us.md", None, None, 0.11),)
    if bot == "full_context":
        whole = (
            evaluation.documents[question.source_document]
            if question.source_document
            else evaluation.documents["about-us.md"]
        )
        if "unlocated_context" in happened:
            return (Context(whole.text),)
        return (Context(whole.text, whole.id, 0, len(whole.text)),)
    found = evaluation.contexts(question, 5 if is_head and bot == "rag" else 3, is_head and bot == "rag")
    if "emoji_context" in happened:
        gold = next(member for group in question.evidence for member in group if member.quote)
        found = (Context(f"\U0001f6b2\U0001f6b2 Tip: {gold.quote} \U0001f44d", gold.document, score=0.93), *found)
    return found


def _said(evaluation: _Exam, bot: str, question: Question, place: int, repeat: int, is_head: bool) -> Iterator[str]:
    """The sentences of an answer: right ones, others, and inventions, as bot and run go."""
    right = question.expected[0] if question.expected else "That depends on the bike."
    other = (
        evaluation.passages[(place * 3 + len(bot)) % len(evaluation.passages)].text.split(". ")[0].strip("#|- \n")[:160]
    )
    skill = {"faq": 2, "extractive": 3, "rag": 5 if is_head else 4, "full_context": 5}[bot]
    if (place * 5 + len(bot) + repeat) % 6 < skill:
        yield right
    else:
        yield f"{' '.join(right.split()[: max(3, len(right.split()) // 3)])}, as far as I know."
    if (place + len(bot)) % 3 == 0:
        yield f"{other}."
    if bot in ("rag", "full_context") and (place + is_head) % 4 == 1:
        yield "Our branch on the moon can help you with that."


def _reply(bot: str, answer: str, contexts: tuple[Context, ...] | None, place: int) -> Reply:
    if bot == "faq":
        return Reply(answer, trace={"faq_question": f"FAQ {place}", "similarity": 0.5 + place / 50})
    if bot == "extractive":
        return Reply(answer, contexts, abstained=answer == DECLINE)
    price = 0.0016 if bot == "full_context" else 0.0004
    usage = Usage(420 + 31 * place, 24 + place, round(price * (1 + place / 9), 6))
    thought = f"The question is about item {place}.\nThe passages say what it costs, so I quote them."
    reasoning = thought if bot == "rag" else None
    return Reply(
        answer, contexts, usage, reasoning, abstained=answer == DECLINE, queue_ms=3.5 * place,
        attempts_ms=(120.0, LATENCY[bot]) if place % 6 == 0 else (LATENCY[bot],), trace={"finish_reason": "stop"},
    )  # fmt: skip
