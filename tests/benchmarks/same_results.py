"""Whether this checkout gives what another one gave: answers, scores, figures and exit codes on three question sets.

    python tests/benchmarks/same_results.py OTHER_CHECKOUT [sample clapnq hint3]

For before and after a change that should change nothing. OTHER_CHECKOUT is a folder named ``proctor``. Both run the
sample suite (each its own copy, since keys may have other names) and suites made from the human-labelled data beside
this checkout; then a comparison, a ranking, a baseline, and gates before and after a change that hurts. Printed are
the answers and scores that differ, by metric, the figures of JSON output under equal names, and the exit codes.
Times are left out.
"""

import csv
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
DATA = HERE.parent / "shared" / "data"
MAIN = """
try:
    from proctor.harness.cli.main import main
except ImportError:
    from proctor.harness.cli import main
main()
"""
OUT_OF_SCOPE = "(out of scope)"
METRICS = ["exact_match", "keyword_recall", "rouge_l", "bleu", "answer_similarity", "groundedness", "answer_length"]
OF_TIME = ("latency", "seconds", "_ms", "time", "p50", "p95")
ROWS = "SELECT question_id, bot, repeat, answer, status FROM answers WHERE run = ?"
SCORES = "SELECT question_id, bot, repeat, metric, value, status, reason FROM row_scores WHERE run = ?"


def sample(checkout: Path, folder: Path) -> None:
    shutil.copytree(checkout / "knowledge" / "samples" / "help_centre", folder)


def clapnq(_: Path, folder: Path) -> None:
    (folder / "documents").mkdir(parents=True)
    documents: dict[str, str] = {}
    questions = []
    for row in _lines("clapnq/dev.jsonl"):
        document = documents.setdefault("\n".join(row["contexts"]), f"document-{len(documents):03}.txt")
        questions.append(
            {**{key: row[key] for key in ("id", "question", "expected_answer")}, "source_document": document}
        )
    for text, document in documents.items():
        (folder / "documents" / document).write_text(text, "utf-8")
    bank = [(row["question"], row["expected_answer"]) for row in questions[::2] if row["expected_answer"]]
    bots = {"faq": {"type": "faq", "entries": "faq.csv", "min_similarity": 0.5}, "rag": {"type": "rag"}}
    _write(folder, questions, bank, {"knowledge": "documents", "bots": bots, "metrics": METRICS})


def hint3(_: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    bank = {row["question"]: _intent(row) for row in _lines("hint3/bank.jsonl")}
    questions = [
        {"id": row["id"], "question": row["question"], "expected_answer": _intent(row)}
        for row in _lines("hint3/dev.jsonl")
    ]
    bots = {
        match: {"type": "faq", "entries": "faq.csv", "min_similarity": 0.4, "match": match}
        for match in ("lexical", "embedding")
    }
    _write(folder, questions, [*bank.items()], {"bots": bots, "metrics": ["exact_match", "rouge_l", "answer_length"]})


def _lines(file: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / file).read_text("utf-8").splitlines()]


def _intent(row: dict) -> str:
    return row["label"]["intent"] if row["label"].get("in_scope", True) else OUT_OF_SCOPE


def _write(folder: Path, questions: list[dict], bank: list[tuple[str, str]], suite: dict) -> None:
    (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions), "utf-8")
    with (folder / "faq.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("question", "answer"), *bank])
    (folder / "suite.yaml").write_text(json.dumps({"name": "same", "questions": "questions.jsonl", **suite}), "utf-8")


def outputs(checkout: Path, folder: Path) -> Iterator[tuple[str, int, str]]:
    """Each command with its exit code and output, one after the other in a folder."""
    bots = ("lexical", "embedding") if folder.name == "hint3" else ("faq", "rag")
    margin = "--margin", "exact_match=0.03" if folder.name == "hint3" else "keyword_recall=0.03"
    gate = ("gate", "suite.yaml", "--baseline", "baseline.json", "--bot", bots[0], *margin, "--json")
    yield from (_run(checkout, folder, *words) for words in (
        ("run", "suite.yaml", "--json"), ("compare", *bots, "--json"), ("rank", "--json"), ("compare", "x", "nobody"),
        ("baseline", "--out", "baseline.json"), gate,
    ))  # fmt: skip
    with (folder / "faq.csv").open(newline="", encoding="utf-8") as file:
        entries = [*csv.reader(file)]
    with (folder / "faq.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(entries[: len(entries) // 2])
    name, code, text = _run(checkout, folder, *gate)
    yield f"{name} with half of the entries", code, text


def _run(checkout: Path, folder: Path, *words: str) -> tuple[str, int, str]:
    environ = os.environ | {"PYTHONPATH": str(checkout.parent), "PROCTOR_CACHE": str(folder.parent / "cache")}
    done = subprocess.run([sys.executable, "-c", MAIN, *words], cwd=folder, capture_output=True, text=True, env=environ)
    return words[0], done.returncode, done.stdout


def stored(folder: Path) -> tuple[dict, dict]:
    """Answers and scores of the first run of a folder, by question, bot, repeat and metric."""
    with sqlite3.connect(folder / "proctor.db") as connection:
        ((run,),) = connection.execute("SELECT name FROM runs ORDER BY id LIMIT 1").fetchall()
        answers = {(question, bot, repeat): rest for question, bot, repeat, *rest in connection.execute(ROWS, [run])}
        scores = {tuple(line[:4]): line[4:] for line in connection.execute(SCORES, [run])}
    return answers, {key: value for key, value in scores.items() if not any(each in key[3] for each in OF_TIME)}


def figures(value: object, name: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a JSON object by their path, times left out."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from figures(part, f"{name}.{key}")
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from figures(part, f"{name}[{place}]")
    elif isinstance(value, int | float) and not any(each in name for each in OF_TIME):
        yield name, float(value)


def is_same(one: object, other: object) -> bool:
    """Equal; of numbers, but for what another order of adding up changes."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-7)
    return one == other


def compare(name: str, before: Path, folder: Path) -> None:
    """Print what differs between the two checkouts on one set of questions."""
    places = [folder / which / name for which in ("before", "after")]
    made = []
    for checkout, place in zip((before, HERE), places, strict=True):
        {"sample": sample, "clapnq": clapnq, "hint3": hint3}[name](checkout, place)
        made.append([*outputs(checkout, place)])
    (answers, scores), (new_answers, new_scores) = map(stored, places)
    moved = [key for key in answers.keys() | new_answers.keys() if answers.get(key) != new_answers.get(key)]
    print(f"{name}: {len(answers):,} answers, {len(moved)} differ; {len(scores):,} scores", end="")
    other = Counter(
        key[3] for key in scores.keys() | new_scores.keys()
        if not all(map(is_same, scores.get(key, ["none"] * 3), new_scores.get(key, ["none"] * 3)))
    )  # fmt: skip
    print(f", these differ: {dict(other)}" if other else ", none differs")
    for (what, code, text), (_, new_code, new_text) in zip(*made, strict=True):
        line = f"  {what}: exit code {code} and {new_code}"
        if text.startswith("{") and new_text.startswith("{"):
            old, new = dict(figures(json.loads(text))), dict(figures(json.loads(new_text)))
            shared = old.keys() & new.keys()
            apart = [key for key in shared if not is_same(old[key], new[key])]
            line += f"; {len(shared)} figures of equal names, {len(apart)} differ {sorted(apart)[:6]}"
        print(line, flush=True)


def main() -> None:
    for name in sys.argv[2:] or ["sample", "clapnq", "hint3"]:
        if name != "sample" and not DATA.is_dir():
            print(f"{name}: skipped: the human-labelled data are not beside the checkout (../shared/data)")
            continue
        with tempfile.TemporaryDirectory() as made:
            compare(name, Path(sys.argv[1]).resolve(), Path(made))


if __name__ == "__main__":
    main()
