"""The embedded judge on answers and claims as users have them: manuals, policies, prices, commands, tables.

Run: python tests/benchmarks/measure_probes.py [--wrong]

``probes.json`` has three sets. They were written with their verdicts by a language model, before any result was seen,
and no labelled set has such texts. The first was read while rules were written; of the second only counts were looked
at, but a few cases were remembered. Many false claims of both are made of the passage's own words and many true ones of
other words: overlap alone is worse than chance there. The third has claims and answers as a bot would make them, right
and wrong, in the mix that comes naturally; its two writers knew neither the others nor what the support model was
trained on. An answer is told right where ``correct`` says what the verdict says, a claim where ``faithfulness`` passes
at 0.75 or does not. ``--wrong`` prints what is told wrong.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from agreement import auroc
from floors import content_overlap, token_f1
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
        answers, claims = probes["answers"], probes["claims"]
        right = score([_answer(one, judge) for one in answers], ["correct"], embedder)["correct"]
        verdicts = [None if one.value is None else one.value == 1 for one in right]
        wanted = [one["right"] for one in answers]
        _report(f"{name}: answers by correct", verdicts, wanted, answers, shows_wrong)
        likely = np.array([one.details.get("probability", one.value) for one in right], dtype=np.float64)
        floor = np.array([token_f1(one["answer"], (one["expected_answer"],)) for one in answers])
        areas = [auroc(each, np.array(wanted)) for each in (likely, floor)]
        print(f"  AUROC of the probability {areas[0]:.3f}, of token F1 {areas[1]:.3f}", flush=True)
        support = [
            one.value
            for one in score([_claim(one, judge) for one in claims], ["faithfulness"], embedder)["faithfulness"]
        ]
        supported = [one["supported"] for one in claims]
        passes = [None if value is None else value >= THRESHOLD for value in support]
        _report(f"{name}: claims by faithfulness", passes, supported, claims, shows_wrong)
        known = [place for place, value in enumerate(support) if value is not None]
        area = auroc(np.array([support[place] for place in known]), np.array(supported)[known])
        print(f"  AUROC of faithfulness {area:.3f}, of the share of its words {_overlap(claims):.3f}", flush=True)
    embedder.close()
    model.close()


def _answer(one: dict[str, Any], judge: EmbeddedJudge) -> dict[str, Any]:
    expected = one["expected_answer"]
    asked = {"question": one["question"], "answer": one["answer"], "judge": judge}
    return {**asked, "expected_answer": expected, "expected_answers": [expected]}


def _claim(one: dict[str, Any], judge: EmbeddedJudge) -> dict[str, Any]:
    return {"question": "What is said?", "answer": one["claim"], "contexts": (one["context"],), "judge": judge}


def _overlap(claims: list[dict[str, Any]]) -> float:
    shares = [content_overlap(one["claim"], (one["context"],)) for one in claims]
    return auroc(np.array(shares), np.array([one["supported"] for one in claims]))


def _report(
    title: str, told: list[bool | None], wanted: list[bool], probes: list[dict[str, Any]], shows_wrong: bool
) -> None:
    print(f"{title}: {sum(a is b for a, b in zip(told, wanted, strict=True))} of {len(wanted)} told right")
    for mine, true, probe in zip(told, wanted, probes, strict=True):
        if shows_wrong and mine is not true:
            print(f"  told {mine}: {json.dumps(probe, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
