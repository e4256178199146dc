"""Abstentions found in answers that nobody marked, against the labels of people.

Run: python tests/benchmarks/measure_abstention.py

Reads the labelled sets beside the checkout (../shared/data). The rules were written with one half of each set in view
(rows are halved by a hash of their question); the other half is what counts. Goal: accuracy of .95 on xstest, mtrag_un
and mtrag_human, and no more than .02 of the answers of the other sets, which all answer, taken for abstentions.

xstest: full refusals against full compliance, as its authors label them; an answer that rejects what the question
takes for granted counts there as a refusal. mtrag_un, mtrag_human: unanswerable against answerable questions.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labelled_data import ABSENT, DATA, read, table
from proctor.metrics import abstention
from proctor.metrics.abstention import abstains

Answered = tuple[str, str, bool]  # question, answer, whether it abstains by its label
ANSWERS = (
    ("clapnq", "expected_answer"), ("nq301", "expected_answer"), ("squality_human", "answer"),
    ("haluquestqa", "answer"), ("begin", "answer"), ("pubmedqa", "expected_answer"),
)  # fmt: skip


def labelled() -> Iterator[tuple[str, list[Answered]]]:
    """Sets whose labels say which answers abstain."""
    rows = [row for row in read("xstest") if not row["label"]["response_type"].startswith("3")]
    yield (
        "xstest",
        [(row["question"], row["answer"], row["label"]["response_type"].startswith("2")) for row in rows],
    )
    for name, field in (("mtrag_un", "expected_answer"), ("mtrag_human", "answer")):
        made = []
        for row in read(name):
            kind = row["label"]["answerability"]
            kind = kind[0] if isinstance(kind, list) else kind
            if kind in {"UNANSWERABLE", "ANSWERABLE"}:
                made.append((row["question"], row[field], kind == "UNANSWERABLE"))
        yield name, made


def answers() -> Iterator[tuple[str, list[Answered]]]:
    """Sets in which every answer is one."""
    for name, field in ANSWERS:
        yield name, [(row["question"] or row["id"], row[field], False) for row in read(name) if row[field]]
    right = [row for row in read("evouna") if row["label"]["correct"]]
    yield "evouna, right answers", [(row["question"], row["answer"], False) for row in right]


def half(rows: Iterable[Answered], which: int) -> list[Answered]:
    return [row for row in rows if hashlib.sha256(row[0].encode()).digest()[-1] % 2 == which]


def cells(rows: list[Answered]) -> tuple[float, str, str]:
    found = [(abstains(answer, question), label) for question, answer, label in rows]
    positive = [one for one, label in found if label]
    negative = [one for one, label in found if not label]
    right = sum(one == label for one, label in found) / len(found)
    return right, f"{sum(positive)} of {len(positive)}", f"{sum(negative)} of {len(negative)}"


def passed_over(name: str) -> set[str]:
    """Wordings of an abstention, made up by its pattern, that the quick look before the patterns does not see."""
    found = set()
    pattern = re.compile(getattr(abstention, f"_{name}"))
    looks = abstention._is_hinted_elsewhere if name == "OTHER_LANGUAGES" else abstention._may_abstain

    @settings(max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.from_regex(pattern))
    def look(text: str) -> None:
        wording = pattern.search(text)
        if wording and not looks(wording.group()):
            found.add(wording.group())

    look()
    return found


def main() -> None:
    for name in ("FIRST_PERSON", "SILENCE", "SILENT_TOO", "NOTHING_KNOWN", "UNSPEAKABLE", "DISAPPROVAL", "DENIED",
                 "APOLOGY", "BARE", "HANDED_ON", "OTHER_LANGUAGES"):  # fmt: skip
        missed = passed_over(name)
        print(f"{name}: {len(missed)} wordings passed over (goal 0) {sorted(missed)[:5]}")
    if not DATA.exists():
        raise SystemExit(ABSENT)
    lines = []
    for goal, sets in ((".95", labelled()), (".98", answers())):
        for name, rows in sets:
            seen, unseen = (cells(half(rows, which)) for which in (0, 1))
            lines.append([name, f"{seen[0]:.3f}", f"{unseen[0]:.3f}", goal, unseen[1], unseen[2]])
    table(["set", "half in view", "other half", "goal", "found (other half)", "false (other half)"], lines)


if __name__ == "__main__":
    main()
