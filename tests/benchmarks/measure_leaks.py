"""Precision and recall of the PII detectors on labelled texts, by kind and as a verdict on whole texts.

Run: python tests/benchmarks/measure_leaks.py (needs the data set pii_presidio beside the checkout)

The rules of cards were written with one half of the templates in view, those of phones with three of the four templates
that have one: too few to call the rest unseen.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from labelled_data import ABSENT, DATA, Row, read
from proctor.metrics import builtin_catalog
from proctor.metrics.safety.detectors import Detection, scan
from proctor.metrics.safety.leaks import EXTENDED_DETECTORS, STANDARD_DETECTORS

# Which of our detectors look for what the data set labels.
KINDS = {
    "CREDIT_CARD": "payment_card",
    "EMAIL_ADDRESS": "email_address",
    "US_SSN": "us_ssn",
    "PHONE_NUMBER": "phone_number",
    "IBAN_CODE": "iban",
    "IP_ADDRESS": "ip_address",
}
STANDARD_KINDS = ("CREDIT_CARD", "EMAIL_ADDRESS", "US_SSN")
# Kinds that no pattern finds, or that are not personal on their own: left out of the verdict on a text.
BEYOND = "PERSON STREET_ADDRESS GPE ORGANIZATION DATE_TIME NRP TITLE AGE DOMAIN_NAME ZIP_CODE"


@dataclass(slots=True)
class Counted:
    """Hits and misses of one kind; what was found where another kind stands counts as wrong."""

    found: int = 0
    missed: int = 0
    wrong: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.found / max(self.found + self.missed, 1)

    @property
    def precision(self) -> float:
        return self.found / max(self.found + self.wrong, 1)


def measure_leaks(rows: Sequence[Row], suite: str) -> dict[str, Counted]:
    """Counts by labelled kind; a label is found when a finding of its kind overlaps it. ``wrong`` of ``"other"`` are
    findings of kinds that the data set doesn't label."""
    kinds = STANDARD_KINDS if suite == "standard" else tuple(KINDS)
    ours = {KINDS[kind]: kind for kind in kinds}
    counted: dict[str, Counted] = defaultdict(Counted)
    for row in rows:
        findings = scan(row["answer"], STANDARD_DETECTORS if suite == "standard" else EXTENDED_DETECTORS, never).found
        labels = [span for span in row["label"]["spans"] if span["type"] in kinds]
        for label in labels:
            same = [one for one in findings if one.detector == KINDS[label["type"]] and overlaps(one, label)]
            count = counted[label["type"]]
            count.found += bool(same)
            count.missed += not same
            if not same:
                count.examples.append(f"missed: {label['text']}")
        for one in findings:
            kind = ours.get(one.detector, "other")
            if not any(label["type"] == kind and overlaps(one, label) for label in labels):
                counted[kind].wrong += 1
                counted[kind].examples.append(f"{one.detector}: {row['answer'][one.start : one.end]}")
    return dict(counted)


def never(detector: str, text: str) -> str:
    return ""


def overlaps(one: Detection, label: Row) -> bool:
    return one.start < label["end"] and label["start"] < one.end


def verdicts(rows: Sequence[Row], suite: str) -> list[tuple[bool, bool, int]]:
    """Of each text: whether it holds a labelled kind of the suite, whether ``pii_leakage`` fails it, its template."""
    kinds = STANDARD_KINDS if suite == "standard" else tuple(KINDS)
    plan = builtin_catalog().plan(["pii_leakage.failures"], options={"pii_leakage": {"suite": suite}})
    made = []
    for row in rows:
        score = plan.score_now({"answer": row["answer"]})[0]
        is_labelled = any(span["type"] in kinds for span in row["label"]["spans"])
        made.append((is_labelled, score.value == 1.0, row["label"]["template"]))
    return made


def rates(made: Sequence[tuple[bool, bool, int]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of the verdict that a text leaks."""
    both = sum(labelled and failed for labelled, failed, _ in made)
    precision = both / max(sum(failed for _, failed, _ in made), 1)
    recall = both / max(sum(labelled for labelled, _, _ in made), 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)


def interval(
    made: Sequence[tuple[bool, bool, int]], figure: Callable[[Sequence[tuple[bool, bool, int]]], float], draws: int
) -> tuple[float, float]:
    """95 % of bootstrap draws of whole templates lie between these."""
    by_template: dict[int, list[tuple[bool, bool, int]]] = defaultdict(list)
    for one in made:
        by_template[one[2]].append(one)
    groups = list(by_template.values())
    generator = random.Random(0)
    drawn = sorted(
        figure([one for group in generator.choices(groups, k=len(groups)) for one in group]) for _ in range(draws)
    )
    return drawn[int(0.025 * draws)], drawn[int(0.975 * draws) - 1]


def show(draws: int, examples: int) -> None:
    rows = read("pii_presidio")
    print(f"pii_presidio, {len(rows)} texts; left out of the verdicts, as no pattern finds them: {BEYOND}\n")
    print("| suite | kind | labels | recall (goal .95) | precision (goal .98) |")
    print("|---|---|--:|--:|--:|")
    for suite in ("standard", "extended"):
        counts = measure_leaks(rows, suite)
        for kind in (*KINDS, "other"):
            if kind in counts and kind != "other":
                one = counts[kind]
                print(f"| {suite} | {kind} | {one.found + one.missed} | {one.recall:.3f} | {one.precision:.3f} |")
        if "other" in counts:
            kinds = Counter(example.partition(":")[0] for example in counts["other"].examples)
            named = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
            print(f"| {suite} | findings of kinds that are not labelled: {named} | | | |")
        for kind, one in counts.items():
            for example in one.examples[:examples]:
                print(f"|   | {kind} | {example!r} | | |")
    print("\n| suite | verdict on a text | value | 95 % over templates |")
    print("|---|---|--:|---|")
    for suite in ("standard", "extended"):
        made = verdicts(rows, suite)
        for place, name in enumerate(("precision", "recall", "F1")):
            low, high = interval(made, lambda some, place=place: rates(some)[place], draws)
            print(f"| {suite} | {name} | {rates(made)[place]:.3f} | {low:.3f} to {high:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--examples", type=int, default=0, help="mistakes to show of each kind")
    chosen = parser.parse_args()
    if not (DATA / "pii_presidio").is_dir():
        print(ABSENT)
        return
    show(chosen.draws, chosen.examples)


if __name__ == "__main__":
    main()
