"""Topics: what questions ask about, clustered by meaning, and those that the documents cover thinly."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ...metrics.judge.embedded.word_lists import STOP_WORDS
from ...metrics.judge.embedded.wording import wording
from ...reports.surveys.finding import Excerpt, Finding, Severity
from ...reports.surveys.survey import Topic

if TYPE_CHECKING:
    from ...knowledge.batching import BatchingEmbedder
    from ...knowledge.questions import Question
    from ..ground.answers import Answers
    from ..ground.ground import Ground

_APART: Final = 0.55  # mean cosine distance from which on two clusters are two topics
_FEWEST: Final = 3  # questions that make a topic
_CLUSTERED: Final = 3_000  # questions; each of the others joins the nearest topic
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001 - a quote that texts have
_SHORTEST: Final = 2  # letters of a word that names nothing
_NAMED: Final = 3  # words of a name
_UNCOVERED: Final = 1 / 3  # share of a topic's questions without an answer in the documents that makes it thin
_FEWEST_UNCOVERED: Final = 2
_CROWDED: Final = 6  # questions that one document answers alone
_WORDS_EACH: Final = 25  # words of that document for each, below which it is called short
_MOSTLY: Final = 0.5
_CHANCE: Final = 0.05  # of as many wrong answers in any topic that is no harder than the others
_SHOWN: Final = 5  # questions that a sentence names


def topics_of(ground: Ground, answers: Answers | None) -> tuple[Topic, ...]:
    """The topics of the questions, those with most questions first; questions that stand alone are in none.

    Questions are clustered by the cosine of their embeddings (average linkage). This blocks.
    """
    questions = tuple({one.id: one for one in ground.questions if one.text.strip()}.values())
    if len(questions) < _FEWEST:
        return ()
    groups = [group for group in _clusters(questions, ground.embedder) if len(group) >= _FEWEST]
    names = _names([[questions[place].text for place in group] for group in groups])
    found = [
        _topic(name, [questions[place].id for place in group], ground, answers)
        for name, group in zip(names, groups, strict=True)
    ]
    return tuple(sorted(found, key=lambda topic: -len(topic.questions)))


def _clusters(questions: Sequence[Question], embedder: BatchingEmbedder) -> list[list[int]]:
    """Places of the questions of each cluster, in their order; questions without a direction are in none."""
    from sklearn.cluster import AgglomerativeClustering

    vectors = embedder.embed_now([one.text for one in questions], keep=True).vectors.astype(np.float64)
    told = np.flatnonzero(np.linalg.norm(vectors, axis=1))
    if len(told) < _FEWEST:
        return []
    vectors = vectors[told]
    first = vectors[:_CLUSTERED]
    model = AgglomerativeClustering(n_clusters=None, metric="cosine", linkage="average", distance_threshold=_APART)
    labels: list[int] = model.fit_predict(first).tolist()
    if len(vectors) > len(first):
        middles = np.stack([first[np.array(labels) == label].mean(axis=0) for label in range(max(labels) + 1)])
        middles /= np.maximum(np.linalg.norm(middles, axis=1, keepdims=True), np.finfo(np.float64).tiny)
        labels += (vectors[len(first) :] @ middles.T).argmax(axis=1).tolist()
    groups: dict[int, list[int]] = {}
    for place, label in zip(told.tolist(), labels, strict=True):
        groups.setdefault(label, []).append(place)
    return list(groups.values())


def _names(groups: Sequence[Sequence[str]]) -> list[str]:
    """The most telling words of each group of texts, by class TF-IDF, as they are written most often.

    Source: Grootendorst, BERTopic: neural topic modeling with a class-based TF-IDF procedure, 2022.
    """
    written: dict[str, Counter[str]] = {}
    counts: list[Counter[str]] = []
    for texts in groups:
        count = Counter[str]()
        for text in texts:
            words = {wording(word).words[0].key: word.lower() for word in _WORD.findall(text) if _tells(word)}
            count.update(words.keys())
            for key, said in words.items():
                written.setdefault(key, Counter())[said] += 1
        counts.append(count)
    total = sum(counts, Counter[str]())
    mean = total.total() / max(1, len(groups))

    def telling(count: Counter[str], key: str) -> float:
        return count[key] * math.log1p(mean / total[key])

    # A word of one question alone names no topic, as long as there are others.
    best = [sorted(count, key=lambda key: (count[key] < 2, -telling(count, key), key))[:_NAMED] for count in counts]
    return [", ".join(written[key].most_common(1)[0][0] for key in keys) or "(no words)" for keys in best]


def _tells(word: str) -> bool:
    """Whether a word may name a topic: no function word, and longer than two letters."""
    return len(word) > _SHORTEST and word.lower() not in STOP_WORDS and bool(wording(word).content)


def _topic(name: str, keys: Sequence[str], ground: Ground, answers: Answers | None) -> Topic:
    documents = set[str]().union(*(ground.gold[key].documents for key in keys if key in ground.gold))
    known = _rights(keys, answers)
    return Topic(
        name=name,
        questions=tuple(keys),
        documents=tuple(one.id for one in ground.documents if one.id in documents),
        supported=sum(_is_supported(key, ground) for key in keys),
        right=round(sum(known) / len(known), 4) if known else None,
    )


def _is_supported(key: str, ground: Ground) -> bool:
    return key in ground.gold and bool(ground.gold[key].groups)


def _uncovered(key: str, ground: Ground) -> str | None:
    """Why the documents hold no answer to a question; None where they do, or where it can't be told."""
    if ground.by_key[key].answerable is False:
        return "unanswerable"
    gold = ground.gold.get(key)
    return gold.kind if gold is not None and gold.kind in {"stale", "unsupported"} else None


def _rights(keys: Sequence[str], answers: Answers | None) -> list[bool]:
    rows = [] if answers is None else [answers.by_place.get((bot, key)) for key in keys for bot in answers.bots]
    return [row.right for row in rows if row is not None and row.right is not None]


def thin_topics(ground: Ground, answers: Answers | None, topics: Sequence[Topic]) -> Iterator[Finding]:
    """A finding for each topic that is covered thinly, with all the reasons; the worst first.

    A topic is thin when the documents have no answer to a third of its questions, and to two at least; when one short
    document alone carries all the answers to many; or when most answers of the bots are wrong, and more of them than
    chance would have it. Without an answer are questions that are marked so or whose expected answer is not supported
    or whose gold is all stale: users ask them all.
    """
    found = [finding for topic in topics if (finding := _thin(topic, topics, ground, answers)) is not None]
    order = {"high": 0, "medium": 1, "low": 2}
    yield from sorted(found, key=lambda finding: order[finding.severity])


def _thin(topic: Topic, topics: Sequence[Topic], ground: Ground, answers: Answers | None) -> Finding | None:
    count = len(topic.questions)
    kinds = Counter(kind for key in topic.questions if (kind := _uncovered(key, ground)) is not None)
    bare = kinds.total()
    reasons, actions = [], []
    is_bare = bare >= _FEWEST_UNCOVERED and bare >= _UNCOVERED * count
    if is_bare:
        marked = f", {kinds['unanswerable']} of them marked so" if kinds["unanswerable"] else ""
        reasons.append(f"the documents have no answer to {bare} of its {count} questions{marked}")
        actions.append("Write what is missing")
    lone = _lone_document(topic, ground)
    if lone is not None:
        reasons.append(f"{lone} alone, which is short, carries {topic.supported} of its questions")
        actions.append(f"say more than {lone} does")
    wrong = _hard(topic, topics, ground, answers)
    if wrong:
        reasons.append(f"the bots are mostly wrong on {len(wrong)} of its {count} questions")
        actions.append("look at the passages that they were given")
    if not reasons:
        return None
    concerned = [key for key in topic.questions if _uncovered(key, ground) or key in wrong] or list(topic.questions)
    acting = ", and ".join(actions)
    named = ", ".join(concerned[:_SHOWN]) + (", ..." if len(concerned) > _SHOWN else "")
    return Finding(
        kind="thin_topic",
        severity=_severity(count, kinds["unsupported"] + kinds["stale"] if is_bare else 0, bool(wrong)),
        what=f'The topic "{topic.name}" is covered thinly: {", and ".join(reasons)}.',
        action=f"{acting[0].upper()}{acting[1:]}: {named}.",
        places=tuple(Excerpt(document) for document in topic.documents),
        questions=tuple(concerned),
        details={
            "topic": topic.name,
            "questions": count,
            "unsupported": kinds["unsupported"],
            "stale": kinds["stale"],
            "unanswerable": kinds["unanswerable"],
            "wrong": len(wrong),
            "right": topic.right,
            "documents": list(topic.documents),
        },
    )


def _severity(count: int, lost: int, is_hard: bool) -> Severity:
    """High where half of the answers should be there and are not; what is marked unanswerable nobody has to write."""
    return "high" if lost and 2 * lost >= count else "medium" if lost or is_hard else "low"


def _lone_document(topic: Topic, ground: Ground) -> str | None:
    """The short document that carries many questions of a topic alone."""
    if len(topic.documents) != 1 or topic.supported < _CROWDED:
        return None
    document = ground.by_id[topic.documents[0]]
    return document.id if len(document.text.split()) < _WORDS_EACH * topic.supported else None


def _hard(topic: Topic, topics: Sequence[Topic], ground: Ground, answers: Answers | None) -> frozenset[str]:
    """The covered questions of a topic on which bots are mostly wrong, where they are most and too many for chance.

    Questions count one by one, those from one document too: a topic that rests on a hard document is a hard topic.
    Topics are many, so chance is held to its share for all of them together (Bonferroni).
    """

    def wrong_of(keys: Sequence[str]) -> tuple[list[str], int]:
        marked = {key: rights for key in keys if not _uncovered(key, ground) and (rights := _rights([key], answers))}
        return [key for key, rights in marked.items() if 2 * sum(rights) < len(rights)], len(marked)

    ours, marked = wrong_of(topic.questions)
    others, all_others = wrong_of([key for one in topics if one is not topic for key in one.questions])
    if not marked or len(ours) < _FEWEST or len(ours) < _MOSTLY * marked:
        return frozenset()
    rate = (len(others) + 1) / (all_others + 2)
    return frozenset(ours) if _tail(len(ours), marked, rate) < _CHANCE / len(topics) else frozenset()


def _tail(least: int, count: int, rate: float) -> float:
    """The chance of at least so many of a count, each at a rate."""
    from scipy.stats import binom

    return float(binom.sf(least - 1, count, rate))
