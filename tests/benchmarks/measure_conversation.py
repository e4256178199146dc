"""What the embedded metrics of conversations say where people have said it, on MTRAG and MTRAG-UN.

MTRAG-UN has underspecified last questions with reference answers that ask back, MTRAG answers that three people rated.
The data lie in ``../shared/data``. The wording of ``asks_back`` was written with MTRAG-UN's reference answers to
underspecified questions at hand; its false alarms are on answers that were not looked at. How the embedded judge reads
completeness was chosen on ragchecker_pref and on the answers of every second conversation of MTRAG, whose errors were
read; the other answers were scored once it was chosen.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from agreement import bootstrap
from proctor.bots.prompting import standalone
from proctor.harness.run.local_models import default_embedder
from proctor.knowledge.models.support_model import open_support_model
from proctor.metrics import builtin_catalog
from proctor.metrics.conversation import asks_back
from proctor.metrics.facts import Conversation, Turn
from proctor.metrics.judge.embedded.judge import EmbeddedJudge
from proctor.reports.store.vector_cache import VectorCache
from scipy.stats import spearmanr

DATA = Path(__file__).parents[3] / "shared" / "data"


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a set."""
    with (DATA / name / "dev.jsonl").open() as file:
        return [json.loads(line) for line in file]


def wilson(part: int, whole: int) -> str:
    """A share with its 95 % interval."""
    from proctor.reports.statistics.intervals import wilson as ends

    low, high = ends(part / whole, whole)
    return f"{part}/{whole} = {100 * part / whole:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def clarification() -> None:
    """How often ``asks_back`` is right about answers written by people and by two models."""
    unclear, clear = [], []
    for row in rows("mtrag_un"):
        (unclear if row["label"]["answerability"] == "UNDERSPECIFIED" else clear).append(row["expected_answer"])
    models = [row["answer"] for row in rows("mtrag_human") if row["label"]["system"] != "reference"]
    print("clarification: answers that ask back, by their wording")
    for what, answers, goal in (
        ("reference answers to underspecified questions", unclear, "at least 90 %"),
        ("reference answers to all other questions", clear, "at most 5 %"),
        ("answers of two models to questions of MTRAG", models, "at most 5 %"),
    ):
        print(f"  {what}: {wilson(sum(map(bool, map(asks_back, answers))), len(answers))}; goal {goal}")


def halves(found: list[dict[str, Any]]) -> tuple[list[int], list[int]]:
    """Places of the rows of every second conversation, whose errors were read, and of the others."""
    talks = [json.dumps(row["history"][:1]) if row["history"] else row["question"] for row in found]
    read = {*sorted({*talks})[::2]}
    places = range(len(found))
    return [at for at in places if talks[at] in read], [at for at in places if talks[at] not in read]


def rank_correlation(one: Sequence[float], other: Sequence[float], clusters: Sequence[str]) -> str:
    """Spearman's correlation with a 95 % interval: questions are drawn with all of their answers."""
    first, second = np.array(one), np.array(other)
    places = np.unique(clusters, return_inverse=True)[1]
    found = bootstrap(lambda drawn: float(spearmanr(first[drawn], second[drawn]).statistic), places)
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}], n {len(first)}"


async def rated() -> None:
    """Rank correlation of the embedded figures with people's ratings, over the answers of two models."""
    embedder = default_embedder(VectorCache())
    judge = EmbeddedJudge(embedder, None, open_support_model())
    plan = builtin_catalog().plan(["conversation_completeness"])
    found = [row for row in rows("mtrag_human") if row["label"]["system"] != "reference"]
    complete, near, words = [], [], []
    for row in found:
        turn = Turn(1, row["question"], row["answer"], (row["expected_answer"],))
        before = tuple(("user" if each["speaker"] == "user" else "assistant", each["text"]) for each in row["history"])
        (score,) = await plan.score(
            {"conversation": Conversation((turn,), before), "judge": judge, "embedder": embedder}
        )
        assert score.value is not None
        complete.append(score.value)
        messages = [{"role": who, "content": text} for who, text in before]
        asked = standalone(row["question"], messages)  # type: ignore[arg-type]
        (question, answer) = (await embedder.embed([asked, row["answer"]])).vectors
        near.append(float(question @ answer))
        used = set(row["answer"].lower().split())
        words.append(len({*asked.lower().split()} & used) / len({*asked.lower().split()}))
    read, unread = halves(found)
    own = [row["label"]["reference_systems"]["Bert-KPrec"] for row in found]
    for name, values, label, places, goal in (
        ("conversation_completeness, answers whose errors were read", complete, "completeness", read, "none"),
        ("conversation_completeness, answers not looked at", complete, "completeness", unread, "0.43"),
        ("the best of MTRAG's own measures, answers not looked at", own, "completeness", unread, "none"),
        ("conversation_completeness, all answers", complete, "completeness", read + unread, "0.43"),
        ("the best of MTRAG's own measures, all answers", own, "completeness", read + unread, "none"),
        ("cosine of question and answer", near, "appropriateness", read + unread, "0.29 (best of MTRAG's own)"),
        ("share of the question's words", words, "appropriateness", read + unread, "none, a floor"),
    ):
        people = [fmean(found[at]["label"][label]) for at in places]
        figure = rank_correlation([values[at] for at in places], people, [found[at]["question"] for at in places])
        print(f"{name}, and {label}: Spearman {figure}; goal {goal}")
    by_three = [row for row in found if len(row["label"]["completeness"]) == 3]
    votes = np.array([row["label"]["completeness"] for row in by_three])
    alone = [spearmanr(votes[:, at], np.delete(votes, at, 1).mean(1)).statistic for at in range(3)]
    ends = ", ".join(f"{each:.2f}" for each in alone)
    print(f"one person and the mean of the other two, completeness: Spearman {ends}, n {len(by_three)}")
    gains, wanted = [], []
    for row in rows("ragchecker_pref"):
        made = []
        for answer in (row["answer"], row["answer_b"]):
            talk = Conversation((Turn(1, row["question"], answer, (row["expected_answer"],)),))
            (score,) = await plan.score({"conversation": talk, "judge": judge, "embedder": embedder})
            made.append(score.value)
        if None not in made:
            gains.append(made[1] - made[0])
            wanted.append(float(sum(row["label"]["completeness"])))
    both = np.array([gains, wanted])
    pairs = bootstrap(lambda drawn: float(np.corrcoef(both[:, drawn])[0, 1]), np.arange(len(gains)))
    print(f"conversation_completeness, pairs of ragchecker_pref: Pearson {pairs}, n {len(gains)}; chosen on them")
    await asyncio.to_thread(embedder.close)


if __name__ == "__main__":
    clarification()
    asyncio.run(rated())
