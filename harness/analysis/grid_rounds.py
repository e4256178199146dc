"""Grid rounds: configurations on growing parts of documents and questions, without those that can't win any more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .recommendation import halves, paired, why_not

if TYPE_CHECKING:
    from ...knowledge import Question
    from ...reports.compare.scores import Figures
    from .corpus import CorpusIndex

# Of the questions that configurations are chosen on, and of the documents that hold no evidence for these.
SHARES: Final = (0.25, 0.5)
FEWEST: Final = 20  # questions in a round; an interval over fewer drops nothing
# A token mean of a part may be off by so much from that over all questions.
ROOM: Final = 0.15


@dataclass(frozen=True, slots=True)
class Round:
    """A part of documents and questions.

    Attributes:
        documents: ids of the documents that are searched.
        questions: places of the questions, all of whose evidence stands in these documents.
        clusters: code of the cluster of each of these questions.
        share: of all characters, how many these documents have.
    """

    documents: frozenset[str]
    questions: tuple[int, ...]
    clusters: NDArray[np.intp]
    share: float


def rounds_of(corpus: CorpusIndex, questions: Sequence[Question], clusters: NDArray[np.intp]) -> list[Round]:
    """Parts that grow, each within the next, drawn by whole clusters; none where nothing could be recommended anyway.

    The questions are of the half that configurations are chosen on, so that the other half is as new to the choice as
    without rounds. A part has the documents that hold the evidence of its questions and the same share of the others:
    to find one's way among few documents would be too easy.
    """
    if why_not(clusters, corpus.seed):
        return []
    on = halves(clusters, corpus.seed)
    chosen = np.flatnonzero(on)
    draw = np.random.default_rng(corpus.seed)
    order = draw.permutation(np.unique(clusters[chosen]))
    rank = {int(code): at for at, code in enumerate(order)}
    chosen = np.array(sorted(chosen.tolist(), key=lambda place: (rank[int(clusters[place])], place)), np.intp)
    needed = [corpus.gold[question.id].documents for question in questions]
    of_chosen = frozenset[str]().union(*(needed[place] for place in chosen))
    others = [document.id for document in corpus.documents if document.id not in of_chosen]
    others = [others[at] for at in draw.permutation(len(others))]
    whole = sum(len(document.text) for document in corpus.documents) or 1
    made = []
    for share in SHARES:
        end = math.ceil(share * len(chosen))
        while end < len(chosen) and clusters[chosen[end]] == clusters[chosen[end - 1]]:
            end += 1
        if end < FEWEST or end == len(chosen):
            continue
        taken = chosen[:end]
        documents = frozenset[str]().union(
            *(needed[place] for place in taken), others[: math.ceil(share * len(others))]
        )
        size = sum(len(document.text) for document in corpus.documents if document.id in documents)
        made.append(Round(documents, tuple(taken.tolist()), clusters[taken], size / whole))
    return made


def why_dropped(
    part: Round, values: Mapping[int, Figures], tokens: Mapping[int, float], names: Sequence[str], budget: float,
    seed: int, ends: tuple[float | None, float | None],
) -> dict[int, str]:  # fmt: skip
    """The configurations that can't be recommended any more, with the reason, by their place.

    One goes that takes clearly more tokens than may be spent, and one that is worse than the best of those within the
    budget by more than chance: the 95 % interval of the difference, paired by question and clustered by document as in
    every comparison, lies below 0. One that is measured on some questions only is not dropped.

    Args:
        part: the round.
        values: of the metric by which configurations are ranked, by place; one for each question of the part.
        tokens: mean prompt tokens, by place.
        names: of all configurations, by place.
        budget: most mean prompt tokens of one that may be recommended.
        seed: of the draws of the test.
        ends: least and greatest value of the metric.
    """
    dropped = {
        place: f"{mean:,.0f} prompt tokens a question, where {budget:,.0f} are the most"
        for place, mean in tokens.items()
        if mean > budget * (1 + ROOM)
    }
    whole = {place: found for place, found in values.items() if np.isfinite(found).all()}
    # The best is one that may still be chosen by its tokens, or nothing could be said to lose against it.
    within = [place for place in whole if tokens[place] <= budget * (1 - ROOM)] or [
        place for place in whole if tokens[place] <= budget
    ]
    if not within:
        return dropped
    best = max(within, key=lambda place: (float(whole[place].mean()), -place))
    for place, found in whole.items():
        if place == best or place in dropped:
            continue
        against = paired(whole[best], found, part.clusters, *ends, seed)
        if against is not None and against.high is not None and against.high < 0:
            dropped[place] = (
                f"{against.mean:+.2f} ({against.low:+.2f}, {against.high:+.2f}) from {names[best]} on "
                f"{len(part.questions)} questions and {part.share:.0%} of the documents"
            )
    return dropped
