"""Taking back: answers asked for over today's documents with one edit taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ...bots.building import Workshop, build_bot
from ...knowledge.reading import Knowledge
from ...knowledge.searching.shared_vectors import SharedVectors
from ...reports.run import ask_key
from ...reports.summary import find_run
from ..exams.rerankers import open_rerankers
from ..exams.variant_exam import NamedBot, Variant, hold_variants, variant_exam
from ..ground.answers import Answer, read_answers
from .against_plan import AgainstPlan, missing
from .document_changes import DocumentChange, without_change

if TYPE_CHECKING:
    from ...bots.wrapping import BuiltBot
    from ...knowledge.batching import BatchingEmbedder
    from ...reports.store import Store
    from ..engine.engine import Watcher

Watching = Callable[[], AbstractContextManager["Watcher"]]
Place = tuple[str, str]  # bot and key of the question
UNCHANGED: Final = ""  # in place of the id of a changed document: nothing is taken back
_CHARACTERS_AT_ONCE: Final = 200_000_000  # under index at once: about 1 GB of texts and vectors


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What bots answered.

    Attributes:
        answers: by bot, question and changed document; UNCHANGED where nothing was taken back.
        left_out: bot and question of the answers of which not all could be asked.
        calls: how many answers were asked for anew.
        problems: why bots could not be asked, and what is doubtful about what they answered.
    """

    answers: Mapping[tuple[str, str, str], Answer] = field(default_factory=dict)
    left_out: frozenset[Place] = frozenset()
    calls: int = 0
    problems: tuple[str, ...] = ()


def ask_taken_back(
    plan: AgainstPlan, wanted: Sequence[tuple[Place, Sequence[DocumentChange]]], metric: str, store: Store,
    watching: Watching, told: Callable[[str], None],
) -> TakenBack:  # fmt: skip
    """Ask each question again for each of its edits, as far as the bound allows; answers that are kept are free.

    A bot that may say another thing each time is asked once more with nothing taken back, or chance would pass for the
    doing of every edit.

    Args:
        plan: documents, bots and the bound.
        wanted: bot and question with the edits that may have turned its answer, the most pressing first.
        metric: by which answers are marked.
        store: the database.
        watching: makes somebody who watches.
        told: told beforehand how many answers are asked for.
    """
    chosen, left_out, calls = _within_bound(plan, wanted, store)
    if not chosen:
        return TakenBack(left_out=left_out)
    if calls:
        told(f"{calls:,} answers are asked for to find out which edit did what")
    answers: dict[tuple[str, str, str], Answer] = {}
    asked, by_spans, problems = 0, False, list[str]()
    for part in _parts(plan, chosen):
        bots = _Bots(plan)
        variants = {key: Variant(bots.bot(*key), frozenset(keys), key[0]) for key, keys in part.items()}
        held = list(variants.values())
        note = {"for": "against", "folder": str(plan.folder), "metric": metric}
        exam = variant_exam(plan.ground.loaded, held, plan.options, plan.ground.environ, {metric}, note)
        with watching() as watcher:
            outcome = hold_variants(exam, held, store, watcher)
        found = read_answers(store, find_run(store, outcome.summary.run)[0], metric)
        of = {variant.bot.name: key for key, variant in variants.items()}
        for answer in () if found is None else found.rows:
            bot, document = of[answer.bot]
            answers[bot, answer.question, document] = answer
        asked += outcome.asked
        by_spans |= any("gold" in one.needs for one in exam.plan.metrics)
        problems += [f"{bot} could not be asked: {why}" for bot, why in outcome.problems.items()]
    if by_spans:
        problems.append(
            f"{metric} holds what was retrieved against the evidence as it stands in today's documents, also where an "
            "edit was taken back, so which edit did what is doubtful. A metric of the answer's words is not."
        )
    return TakenBack(answers, left_out, asked, tuple(problems))


Chosen = Mapping[tuple[str, str], Sequence[str]]  # bot and changed document -> questions


def _within_bound(
    plan: AgainstPlan, wanted: Sequence[tuple[Place, Sequence[DocumentChange]]], store: Store
) -> tuple[Chosen, frozenset[Place], int]:
    """What is asked, whose edits can't all be tried, and how many answers have to be asked for."""
    bots = _Bots(plan)
    chosen: dict[tuple[str, str], list[str]] = {}
    left_out: set[Place] = set()
    calls = 0
    for (bot, question), changes in wanted:
        ask = ask_key(plan.ground.by_key[question])
        control = [UNCHANGED] if bot in plan.varying else []
        for document in (*control, *(change.document for change in changes)):
            cost = missing(store, bots.bot(bot, document), [ask], plan.repeats)
            if calls + cost > plan.most_calls:
                left_out.add((bot, question))
                break
            calls += cost
            chosen.setdefault((bot, document), []).append(question)
    return chosen, frozenset(left_out), calls


def _parts(plan: AgainstPlan, chosen: Chosen) -> Iterator[Chosen]:
    """Parts that are held one after the other: every bot has an index of its own in memory."""
    size = sum(len(document.text) for document in plan.ground.documents)
    ordered, at_once = list(chosen.items()), max(1, _CHARACTERS_AT_ONCE // max(size, 1))
    for start in range(0, len(ordered), at_once):
        yield dict(ordered[start : start + at_once])


class _Bots:
    """The suite's bots over today's documents with one edit taken back, each made once; nothing is loaded."""

    def __init__(self, plan: AgainstPlan) -> None:
        ground, suite = plan.ground, plan.ground.loaded.suite
        self._plan = plan
        self._changes = {change.document: change for change in plan.changes}
        self._made: dict[tuple[str, str], BuiltBot] = {}
        self._workshop = Workshop(
            base=ground.loaded.base,
            knowledge=lambda: Knowledge(ground.documents),
            embedder=_OnceEmbedding(ground.embedder),
            models=suite.models,
            cache=ground.cache,
            environ=ground.environ,
            rerankers=open_rerankers(suite.local_models, ground.loaded.base, plan.options.local_models),
        )

    def bot(self, bot: str, document: str) -> BuiltBot:
        """The bot for which the change of one document was not made, or UNCHANGED."""
        key = (bot, document)
        if key not in self._made:
            change, workshop = self._changes.get(document), self._workshop
            if change is not None:
                known = Knowledge(tuple(without_change(self._plan.ground.documents, change, self._plan.old.documents)))
                workshop = replace(workshop, knowledge=lambda: known)
            built = build_bot(bot, self._plan.ground.loaded.suite.bots[bot], workshop)
            name = f"{bot} {'asked once more' if change is None else change.taken_back}"
            self._made[key] = NamedBot(built, name.encode("utf-8", "backslashreplace").decode())
        return self._made[key]


class _OnceEmbedding:
    """An embedder that embeds a passage once, however many indexes hold it."""

    def __init__(self, embedder: BatchingEmbedder) -> None:
        self._embedder = embedder
        self._shared = SharedVectors(embedder)
        self.embed = embedder.embed
        self.embed_fresh = embedder.embed_fresh
        self.embed_now = self._shared.embed_now

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        return self._embedder.model_id
