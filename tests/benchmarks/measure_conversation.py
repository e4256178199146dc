"""What the embedded metrics of conversations say where people have said it, on MTRAG and MTRAG-UN.

MTRAG-UN has underspecified last questions with reference answers that ask back, MTRAG answers that three people rated.
The data lie in ``../shared/data``. The wording of ``asks_back`` was written with MTRAG-UN's reference answers to
underspecified questions at hand; its false alarms are on answers that were not looked at.
"""

import asyncio
import json
from pathlib import Path
from statistics import fmean
from typing import Any

from proctor.bots.prompting import standalone
from proctor.harness.run.local_models import default_embedder
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


async def rated() -> None:
    """Rank correlation of the embedded figures with people's ratings, over the answers of two models."""
    embedder = default_embedder(VectorCache())
    judge = EmbeddedJudge(embedder)
    plan = builtin_catalog().plan(["conversation_completeness"])
    complete, completeness, near, words, appropriate = [], [], [], [], []
    for row in rows("mtrag_human"):
        if row["label"]["system"] == "reference":
            continue
        turn = Turn(1, row["question"], row["answer"], (row["expected_answer"],))
        before = tuple(("user" if each["speaker"] == "user" else "assistant", each["text"]) for each in row["history"])
        (score,) = await plan.score(
            {"conversation": Conversation((turn,), before), "judge": judge, "embedder": embedder}
        )
        if score.value is not None:
            complete.append(score.value)
            completeness.append(fmean(row["label"]["completeness"]))
        messages = [{"role": who, "content": text} for who, text in before]
        asked = standalone(row["question"], messages)  # type: ignore[arg-type]
        (question, answer) = (await embedder.embed([asked, row["answer"]])).vectors
        near.append(float(question @ answer))
        said = set(row["answer"].lower().split())
        words.append(len({*asked.lower().split()} & said) / len({*asked.lower().split()}))
        appropriate.append(fmean(row["label"]["appropriateness"]))
    for name, values, people, goal in (
        ("conversation_completeness and completeness", complete, completeness, "0.43 (best of MTRAG's own)"),
        ("cosine of question and answer and appropriateness", near, appropriate, "0.29 (best of MTRAG's own)"),
        ("share of the question's words and appropriateness", words, appropriate, "none, a floor"),
    ):
        found = spearmanr(values, people)
        print(f"{name}: Spearman {found.statistic:.2f} (p {found.pvalue:.3f}, n {len(values)}); goal {goal}")
    await asyncio.to_thread(embedder.close)


if __name__ == "__main__":
    clarification()
    asyncio.run(rated())
