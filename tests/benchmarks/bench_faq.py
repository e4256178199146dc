"""How long the FAQ bot takes for a question over 10,000 entries, beside comparing every entry in a loop.

Run: python tests/benchmarks/bench_faq.py [--entries 10000] [--questions 1000]
"""

import argparse
import asyncio
import random
import statistics
import time

from proctor.bots.faq import FaqBot, FaqEntry, LexicalIndex
from proctor.metrics.text import token_cosine, token_set


def sentences(count: int, seed: int) -> list[str]:
    """Questions of 5 to 15 words; words are drawn as in real text, a few of them very often (Zipf)."""
    picker = random.Random(seed)
    words = [f"word{number}" for number in range(8000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return [" ".join(picker.choices(words, weights, k=picker.randint(5, 15))) + "?" for _ in range(count)]


async def measure(entries: list[FaqEntry], questions: list[str]) -> list[float]:
    """Milliseconds of each question, asked one by one."""
    bot = FaqBot("faq", entries, abstain="")
    started = time.perf_counter()
    await bot.prepare()
    print(f"indexed {len(entries):,} entries in {(time.perf_counter() - started) * 1000:.0f} ms")
    took = []
    for question in questions:
        asked = time.perf_counter()
        await bot.reply(question)
        took.append((time.perf_counter() - asked) * 1000)
    return took


def main() -> None:
    """Print median and 95th percentile, and the same for the loop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=1_000)
    given = parser.parse_args()
    entries = [FaqEntry(text, "answer") for text in sentences(given.entries, 1)]
    questions = sentences(given.questions, 2)
    took = asyncio.run(measure(entries, questions))
    p95 = statistics.quantiles(took, n=20)[-1]
    print(f"index: median {statistics.median(took):.3f} ms, p95 {p95:.3f} ms a question")

    token_sets = [token_set(entry.question) for entry in entries]
    index = LexicalIndex([entry.question for entry in entries])
    looped = []
    for question in questions[:20]:
        asked = time.perf_counter()
        tokens = token_set(question)
        best = max(token_cosine(tokens, each) for each in token_sets)
        looped.append((time.perf_counter() - asked) * 1000)
        assert abs(index.best(question).similarity - best) < 1e-12
    ratio = statistics.median(looped) / statistics.median(took)
    print(f"loop over all entries: median {statistics.median(looped):.1f} ms, {ratio:.0f} times as long")


if __name__ == "__main__":
    main()
