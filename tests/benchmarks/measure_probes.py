"""The embedded judge on answers and claims as users have them: manuals, policies, prices, commands, tables.

Run: python tests/benchmarks/measure_probes.py [--wrong]

``probes.json`` has two sets. They were written with their verdicts by a language model, before any result was seen, and
no labelled set has such texts. The first was read while rules were written; of the second only counts were looked at,
but a few cases were remembered. Many false claims are made of the passage's own words and many true ones of other
words: overlap alone is worse than chance here. An answer is told right where ``correct`` says what the verdict says, a
claim where ``faithfulness`` passes at 0.75 or does not. ``--wrong`` prints what is told wrong.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from agreement import auroc
from labelled_data import open_embedder, score
from proctor.knowledge.models.support_model import open_support_model
from proctor.metrics.judge.embedded.judge import EmbeddedJudge

PROBES = Path(__file__).with_name("probes.json")
THRESHOLD = 0.75


def main() -> None:
    """Print a line for each set and kind."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--wrong", action="store_true", help="print what is told wrong")
    shows_wrong = options.parse_args().wrong
    embedder, model = open_embedder(), open_support_model()
    judge = EmbeddedJudge(embedder, model=model)
    for name, probes in json.loads(PROBES.read_text("utf-8")).items():
        answers = [
            {
                "question": one["question"],
                "answer": one["answer"],
                "judge": judge,
                "expected_answer": one["expected_answer"],
            }
            | {"expected_answers": [one["expected_answer"]]}
            for one in probes["answers"]
        ]
        claims = [
            {"question": "What is said?", "answer": one["claim"], "contexts": (one["context"],), "judge": judge}
            for one in probes["claims"]
        ]
        right = [one.value for one in score(answers, ["correct"], embedder)["correct"]]
        support = [one.value for one in score(claims, ["faithfulness"], embedder)["faithfulness"]]
        wanted = [one["right"] for one in probes["answers"]]
        supported = [one["supported"] for one in probes["claims"]]
        verdicts = [None if value is None else value == 1 for value in right]
        passes = [None if value is None else value >= THRESHOLD for value in support]
        _report(f"{name}: answers by correct", verdicts, wanted, probes["answers"], shows_wrong)
        _report(f"{name}: claims by faithfulness", passes, supported, probes["claims"], shows_wrong)
        known = [place for place, value in enumerate(support) if value is not None]
        area = auroc(np.array([support[place] for place in known]), np.array(supported)[known])
        print(f"  AUROC of faithfulness {area:.2f}")
    embedder.close()
    model.close()


def _report(
    title: str, told: list[bool | None], wanted: list[bool], probes: list[dict[str, object]], shows_wrong: bool
) -> None:
    print(f"{title}: {sum(a is b for a, b in zip(told, wanted, strict=True))} of {len(wanted)} told right")
    for mine, true, probe in zip(told, wanted, probes, strict=True):
        if shows_wrong and mine is not true:
            print(f"  told {mine}: {json.dumps(probe, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
