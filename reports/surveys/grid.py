"""Grid: settings for cutting and searching documents, measured on the same questions, and the one to take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..comparing.estimate import Estimate
from ..statistics.paired import Difference


@dataclass(frozen=True, slots=True)
class Setting:
    """A way to cut and search documents.

    Attributes:
        splitter: how documents are cut; blank for a retriever that cuts them itself.
        chunk_size: characters in a passage at most; None for such a retriever.
        chunk_overlap: characters that neighbouring passages share.
        retriever: ``dense``, ``bm25``, ``hybrid`` or the target of a LangChain retriever.
        top_k: passages that are retrieved.
        embedder: id of the embedding model; blank where none takes part.
        reranker: the cross-encoder, as the suite names it; blank without one.
        min_score: cosine that a passage must reach to be retrieved; None for no such bound.
    """

    splitter: str
    chunk_size: int | None
    chunk_overlap: int | None
    retriever: str
    top_k: int
    embedder: str = ""
    reranker: str = ""
    min_score: float | None = None

    @property
    def name(self) -> str:
        """How it is called in a table of settings with the same models; see ``names_apart``.

        >>> Setting("recursive", 600, 80, "dense", 4).name
        'recursive 600/80, dense, k 4'
        """
        cut = f"{self.splitter} {self.chunk_size}/{self.chunk_overlap}, " if self.splitter else ""
        least = "" if self.min_score is None else f", cosine {self.min_score:g} or more"
        return f"{cut}{self.retriever}{', re-ranked' if self.reranker else ''}, k {self.top_k}{least}"


def names_apart(settings: Sequence[Setting]) -> tuple[str, ...]:
    """Their names, with the models of those that have these alone to tell them apart.

    >>> names_apart([Setting("recursive", 600, 80, "dense", 4, model) for model in ("small", "large")])
    ('recursive 600/80, dense, k 4, small', 'recursive 600/80, dense, k 4, large')
    """
    counts = Counter(setting.name for setting in settings)
    return tuple(
        ", ".join(filter(None, (setting.name, setting.embedder, setting.reranker)))
        if counts[setting.name] > 1
        else setting.name
        for setting in settings
    )


@dataclass(frozen=True, slots=True)
class SettingResult:
    """What came of one setting.

    Attributes:
        setting: what was measured.
        passages: how many passages the documents have in it; None for a retriever that doesn't tell.
        bots: the suite's bots that are set so.
        metrics: means over the questions by metric, each with its interval by clusters.
        by_question: values by metric, in the order of ``Grid.questions``; None where a question has none.
        against: difference to the present setting by metric; empty for the present one itself.
        retrieve_ms: median and 95th percentile of the time to retrieve, question embedded included; settings that
            differ in k alone share that of the greatest.
        answers: means of answer metrics of a bot with this setting, where it was one of the best few; over questions
            that settings were not chosen on, where something is recommended.
        answers_against: differences of these to the present setting on the same questions.
    """

    setting: Setting
    passages: int | None
    metrics: Mapping[str, Estimate]
    by_question: Mapping[str, tuple[float | None, ...]]
    bots: tuple[str, ...] = ()
    against: Mapping[str, Difference] = field(default_factory=dict)
    retrieve_ms: tuple[float, float] | None = None
    answers: Mapping[str, Estimate] = field(default_factory=dict)
    answers_against: Mapping[str, Difference] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to take, chosen on one part of the questions and measured on the other.

    Attributes:
        setting: its place in ``Grid.settings``.
        chosen_on: how many questions it was chosen on.
        reported_on: how many others the figures are of.
        mean: of the grid's metric, on these others.
        difference: to the present setting on these others; None where it is the present one.
        same_elsewhere: whether the other part alone would have chosen the same.
        says: ``better``, ``no difference shown``, ``worse`` (on the others, so don't change) or ``present``.
        why: a sentence with the figures.
    """

    setting: int
    chosen_on: int
    reported_on: int
    mean: Estimate | None
    difference: Difference | None
    same_elsewhere: bool
    says: str
    why: str


@dataclass(frozen=True, slots=True)
class Grid:
    """All settings on the same questions.

    Attributes:
        metric: the one by which settings are ranked.
        questions: keys of the questions that have evidence to look for.
        by_evidence: on how many of them that is gold evidence; on the others it is the expected answer's support.
        present: the place of the setting that the suite's first bot with a retriever has (or the default one).
        settings: the results, in the order of the grid.
        recommendation: None with too few questions.
        budget: most mean prompt tokens of a setting that is recommended; None where there is no bound.
        distinct_passages: passages of different text over all settings; each was embedded at most once.
        bot: the bot whose answers were measured with the best few; blank where none were.
        warnings: sentences for the user.
    """

    metric: str
    questions: tuple[str, ...]
    by_evidence: int
    present: int
    settings: tuple[SettingResult, ...]
    recommendation: Recommendation | None
    budget: float | None = None
    distinct_passages: int = 0
    bot: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the settings are called, no two alike."""
        return names_apart([result.setting for result in self.settings])
