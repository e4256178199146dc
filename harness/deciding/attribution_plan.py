"""AttributionPlan: what was changed in a bot since a run, and the configurations that stand between then and now."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ... import InputError
from ...bots.base import Identity
from ...knowledge.paths import existing
from ...knowledge.question_files import open_questions
from ...reports.comparing.attribution import subsets
from ...reports.run import BETWEEN, ask_key
from ...reports.shelf import VectorShelf
from ...reports.store import Store
from ..exams.embedders import open_embedder
from ..exams.kept_answers import missing_answers
from ..exams.run_config import RunConfig
from ..exams.suite_exam import build_bots
from ..suite.suite_file import LoadedSuite
from .bot_record import BotRecord, read_record
from .factors import (
    DOCUMENTS,
    MODEL,
    OLD_MODEL,
    OURS,
    Factor,
    as_before,
    factors_between,
    model_before,
    parts_of,
    surroundings,
)

MOST_FACTORS = 4


@dataclass(frozen=True)
class AttributionPlan:
    """What is to be held to take a difference apart.

    Attributes:
        loaded: the suite as it stands now.
        options: as of the run that is looked at.
        environ: where keys are looked up.
        bot: whose difference it is.
        record: the bot as it was.
        factors: the changes that can be taken back, each in words.
        around: what can't be taken back; its effect is the step from the baseline to the old settings as of today.
        old_knowledge: where the old documents are.
    """

    loaded: LoadedSuite
    options: RunConfig
    environ: Mapping[str, str]
    bot: str
    record: BotRecord
    factors: tuple[Factor, ...]
    around: Factor | None
    old_knowledge: Path | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the factors."""
        return tuple(factor.name for factor in self.factors)

    @property
    def between(self) -> tuple[frozenset[str], ...]:
        """What is new in each configuration to be held: neither the baseline itself nor the bot as it is now."""
        sets = [new for new in subsets(self.names) if len(new) < len(self.names)]
        return tuple(new for new in sets if new or self.around is not None)

    def questions(self, store: Store, keys: Collection[str] | None = None) -> int:
        """How many questions would be asked, of those with some keys or of all; answers that are kept are free."""
        repeats = self.options.repeat or self.loaded.suite.repeat
        questions = open_questions(self.loaded.base / self.loaded.suite.questions, self.options.limit)
        asks = [ask_key(question) for question in questions if keys is None or question.id in keys]
        return sum(missing_answers(store, self.bot, self.identity(new), asks, repeats) for new in self.between)

    def sentence(self, store: Store, keys: Collection[str] | None = None) -> str:
        """What it takes, to be said before anything is asked."""
        changed = "; ".join(factor.change for factor in (*self.factors, *([self.around] if self.around else [])))
        count, asked = len(self.between), self.questions(store, keys)
        if not count:
            return f"{self.bot}: only one thing was changed ({changed}), so nothing has to be asked."
        configurations = "1 configuration" if count == 1 else f"{count} configurations"
        return f"{self.bot}: {changed}. {configurations} between then and now; {asked:,} questions have to be asked."

    def worded(self, new: frozenset[str]) -> str:
        """A configuration in words: ``prompt as before, retrieval as now``."""
        said = [f"{name} as {'now' if name in new else 'before'}" for name in self.names]
        return ", ".join(said) or "settings as before"

    def identity(self, new: frozenset[str]) -> Identity:
        """What the bot of a configuration is made of."""
        with self.suite(new) as loaded:
            embedder, _ = open_embedder(loaded, VectorShelf())
            overrides = self.options.local_models
            return build_bots(loaded, [self.bot], embedder, self.environ, local_models=overrides)[0].identity

    @contextmanager
    def suite(self, new: frozenset[str]) -> Iterator[LoadedSuite]:
        """The suite of a configuration; files that it refers to are there inside the block only."""
        old = frozenset(self.names) - new
        suite = self.loaded.suite
        settings = suite.bots[self.bot]
        with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
            prompt = Path(folder) / "prompt.md"
            prompt.write_text(self.record.identity.prompts.get("prompt", ""), "utf-8")
            models = dict(suite.models)
            if MODEL in old:
                models[OLD_MODEL] = model_before(settings, suite.models, self.record)
            changes: dict[str, object] = {
                "name": f"{suite.name}{BETWEEN}",
                "models": models,
                "bots": suite.bots | {self.bot: as_before(settings, self.record, old, prompt)},
            }
            if DOCUMENTS in old and self.old_knowledge is not None:
                changes["knowledge"] = (self.old_knowledge.resolve(),)
            yield dataclasses.replace(self.loaded, suite=suite.model_copy(update=changes))


def plan_attribution(
    store: Store, run_id: int, bot: str, loaded: LoadedSuite, options: RunConfig, environ: Mapping[str, str],
    old_knowledge: Path | None = None, base_bot: str | None = None,
) -> AttributionPlan:  # fmt: skip
    """Find out what was changed since a run, and which configurations stand between; nothing is asked.

    Args:
        store: the database of the baseline.
        run_id: the baseline.
        bot: whose difference is to be taken apart.
        loaded: the suite as it stands now.
        options: as of the run that is held against the baseline.
        environ: where keys are looked up.
        old_knowledge: where the documents of the baseline are; without them the effect of new documents is the step
            from the baseline to the old settings on today's documents.
        base_bot: what the bot is called in the baseline; None for the same name.

    Raises:
        InputError: the bot is none of ours, is not in the baseline or of another kind there, has not changed, has too
            many changes, or can't be made as it was.
    """
    return plan_from(read_record(store, run_id, base_bot or bot), bot, loaded, options, environ, old_knowledge)


def plan_from(
    record: BotRecord, bot: str, loaded: LoadedSuite, options: RunConfig, environ: Mapping[str, str],
    old_knowledge: Path | None = None,
) -> AttributionPlan:  # fmt: skip
    """The same from what is known of the bot as it was, wherever that stands. Raises InputError likewise."""
    settings = loaded.suite.bots[bot]
    if not isinstance(settings, OURS):
        raise InputError(
            f"What caused a difference of {bot} can't be found out: a bot of type {settings.type} is made elsewhere, "
            "so it can't be made as it was. That is possible for faq, full_context and rag."
        )
    if old_knowledge is not None:
        existing(old_knowledge, "the folder with the documents of the baseline")
    options = dataclasses.replace(options, bots=(bot,), fresh=False, only_planned=False)
    embedder, _ = open_embedder(loaded, VectorShelf())
    now = build_bots(loaded, [bot], embedder, environ, local_models=options.local_models)[0].identity
    factors = tuple(factors_between(record, now, old_knowledge is not None))
    if len(factors) > MOST_FACTORS:
        raise InputError(
            f"{bot} has {len(factors)} kinds of changes since run {record.run}; at most {MOST_FACTORS} can be told "
            "apart. Without --old-knowledge there is one less."
        )
    plan = AttributionPlan(loaded, options, environ, bot, record, factors, None, old_knowledge)
    rebuilt = plan.identity(frozenset())
    _check_rebuilt(plan, rebuilt)
    plan = dataclasses.replace(plan, around=surroundings(record, rebuilt))
    if not plan.factors and plan.around is None:
        raise InputError(f"{bot} is what it was in run {record.run}: nothing was changed that could cause anything.")
    return plan


def _check_rebuilt(plan: AttributionPlan, rebuilt: Identity) -> None:
    """Refuse where the bot can't be made as it was, or what is called old would be something third."""
    was, is_now = parts_of(plan.record.identity), parts_of(rebuilt)
    for factor in plan.factors:
        if was[factor.name] != is_now[factor.name]:
            if factor.name == DOCUMENTS:
                raise InputError(
                    f"{plan.old_knowledge} does not hold the documents of run {plan.record.run}: "
                    "names, order or content of theirs are others."
                )
            raise InputError(
                f"{plan.bot} can't be made as it was in run {plan.record.run}: its {factor.name} would be "
                f"{is_now[factor.name]} and was {was[factor.name]}."
            )
