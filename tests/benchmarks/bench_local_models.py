"""Local models asked in batches against one text at a time, in the same process, with one thread of torch.

    python tests/benchmarks/bench_local_models.py [kind ...] [--items 200] [--small] [--words 4 60] [--rounds 2]

For every kind a model of random weights is built (2 layers of width 32; with --small 6 layers of width 384), and items
of mixed lengths are asked as rows ask them, 64 rows at a time: with batches of one item, and as they are gathered. It
prints items per second of processor time (best of the rounds, which alternate), their ratio, how far values are apart
with batches of 1, 7 and 64, and by how much memory grows in a new process that asks 10 items, or 1,000.
"""

import argparse
import asyncio
import importlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
WORDS = ("the", "refund", "period", "is", "days", "two", "cats", "sleep")  # a token each in the tiny vocabulary
TINY, SMALL = (2, 32), (6, 384)
WINDOW = 512
ROWS_IN_FLIGHT = 64


@dataclass(frozen=True)
class Kind:
    """A kind of local model.

    Attributes:
        module: in ``proctor.knowledge.models``, with what opens it.
        opens: name of the function or class in it that takes a ``Place``.
        build: module in ``tests/support`` and function in it: (folder, layers=, width=, window=) saves a model there.
        item: one item of about so many words, as the loaded model's ``run`` takes it.
        settings: handed to ``build`` as well.
    """

    module: str
    opens: str
    build: tuple[str, str]
    item: Callable[[random.Random, int], tuple[str, ...]]
    settings: tuple[tuple[str, Any], ...] = ()


def text(picker: random.Random, words: int) -> str:
    return " ".join(picker.choices(WORDS, k=words))


def one_text(picker: random.Random, words: int) -> tuple[str, ...]:
    return (text(picker, words),)


def pair(picker: random.Random, words: int) -> tuple[str, ...]:
    """A source and a claim of a quarter of its length."""
    return text(picker, words), text(picker, max(1, words // 4))


def completion(picker: random.Random, words: int) -> tuple[str, ...]:
    """A text after an instruction and a source of three times its length."""
    return text(picker, max(2, words // 4)), "Say in other words:\n", text(picker, words), "\nAgain:\n", ""


def text_alone(picker: random.Random, words: int) -> tuple[str, ...]:
    return text(picker, max(2, words)), "", "", "", ""


_LANGUAGE = "tiny_language_models"
_CLASSIFIER = ("tiny_classifier", "classifier_folder")
_T5 = ("tiny_checkers", "t5_folder")
KINDS: dict[str, Kind] = {
    "alignscore": Kind("alignscore", "open_alignscore", ("tiny_grounding", "alignscore_folder"), pair),
    "span_detector": Kind("span_detector", "LoadedSpanDetector", ("tiny_grounding", "span_detector_folder"), pair),
    "perplexity": Kind("language_models", "open_language_model", (_LANGUAGE, "causal_folder"), text_alone),
    "gptscore": Kind("language_models", "open_language_model", (_LANGUAGE, "causal_folder"), completion),
    "encoder_decoder": Kind(
        "language_models", "open_language_model", (_LANGUAGE, "encoder_decoder_folder"), completion
    ),
    "classifier": Kind("classifier", "open_classifier", _CLASSIFIER, one_text),
    "hhem_1": Kind("checkers", "open_checker", _CLASSIFIER, pair, (("labels", ("LABEL_0",)),)),
    "hhem_2": Kind("checkers", "open_checker", _T5, pair, (("made_for", "TokenClassification"),)),
    "minicheck": Kind("checkers", "open_checker", _T5, pair, (("made_for", "ConditionalGeneration"),)),
    "entailment": Kind(
        "entailment", "open_entailment", _CLASSIFIER, pair, (("labels", ("entailment", "neutral", "contradiction")),)
    ),
}


def opener(kind: Kind, folder: Path) -> Callable[[], Any]:
    """What opens the model that lies in the folder."""
    from proctor.knowledge.models.loading import Place

    opened = getattr(importlib.import_module(f"proctor.knowledge.models.{kind.module}"), kind.opens)
    return partial(opened, Place("bench@1", folder, "benchmark model"))


def built(kind: Kind, folder: Path, size: tuple[int, int]) -> Path:
    module, name = kind.build
    layers, width = size
    build = getattr(importlib.import_module(module), name)
    build(folder, layers=layers, width=width, window=WINDOW, **dict(kind.settings))
    return folder


def items_of(kind: Kind, count: int, words: tuple[int, int]) -> list[tuple[str, ...]]:
    """Different items, most of them short, as sentences are: lengths are spread evenly on a logarithmic scale."""
    picker = random.Random(0)
    least, most = np.log(words)
    lengths = [round(float(np.exp(picker.uniform(least, most)))) for _ in range(count)]
    return [kind.item(picker, length) for length in lengths]


async def asked(model: Any, items: list[tuple[str, ...]]) -> list[np.ndarray]:
    """Each row asks one item; so many rows are under way at a time."""
    limit = asyncio.Semaphore(ROWS_IN_FLIGHT)

    async def row(item: tuple[str, ...]) -> np.ndarray:
        async with limit:
            return (await model.ask([item]))[0].values

    return await asyncio.gather(*(row(item) for item in items))


def timed(open_model: Callable[[], Any], items: list[tuple[str, ...]], **bounds: int) -> tuple[float, list[np.ndarray]]:
    """Items per second of processor time, so that what else the machine does matters less; and the values."""
    from proctor.knowledge.models.running import LocalModel

    model = LocalModel(open_model, "bench@1", **bounds)

    async def run() -> tuple[float, list[np.ndarray]]:
        await model.load()
        await model.ask([("warm",) * len(items[0])] * 2)
        start = time.process_time()
        values = await asked(model, items)
        return len(items) / (time.process_time() - start), values

    try:
        return asyncio.run(run())
    finally:
        model.close()


def memory_of(name: str, folder: Path, count: int, words: tuple[int, int]) -> float:
    """Megabytes by which the peak of a new process grows while it asks so many items."""
    import resource

    kind = KINDS[name]
    items = items_of(kind, count, words)
    timed(opener(kind, folder), items[:2])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    timed(opener(kind, folder), items)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def measured_apart(name: str, folder: Path, count: int, words: tuple[int, int]) -> float:
    call = [sys.executable, __file__, name, "--memory", json.dumps([str(folder), count, *words])]
    return float(subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()[-1])


def report(name: str, folder: Path, given: argparse.Namespace) -> None:
    kind, words = KINDS[name], (given.words[0], given.words[1])
    items = items_of(kind, given.items, words)
    open_model = opener(kind, built(kind, folder, SMALL if given.small else TINY))
    alone, together = 0.0, 0.0
    for _ in range(given.rounds):
        alone = max(alone, timed(open_model, items, max_items=1)[0])
        together = max(together, timed(open_model, items)[0])
    values = [timed(open_model, items[:128], max_items=most)[1] for most in (1, 7, 64)]
    apart = max(float(np.abs(np.concatenate(other) - np.concatenate(values[0])).max()) for other in values[1:])
    few, many = (measured_apart(name, folder, count, words) for count in (10, 1000))
    print(
        f"{name:16} one by one {alone:8.1f}/s   batched {together:8.1f}/s   ratio {together / alone:5.2f}   "
        f"apart {apart:.1e}   memory +{few:.0f} MB for 10, +{many:.0f} MB for 1,000",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], help="all of them by default")
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--words", type=int, nargs=2, default=(4, 60), metavar=("LEAST", "MOST"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        folder, count, *words = json.loads(given.memory)
        print(memory_of(given.kinds[0], Path(folder), count, (words[0], words[1])))
        return
    for name in given.kinds or KINDS:
        with tempfile.TemporaryDirectory() as made:
            report(name, Path(made) / name, given)


if __name__ == "__main__":
    main()
