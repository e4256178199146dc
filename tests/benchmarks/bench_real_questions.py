"""The three bots on public question sets, and the FAQ bot on intent sets, beside published figures.

    python tests/benchmarks/bench_real_questions.py [clapnq xquad_en hint3 banking77 clinc150]

Reads the human-labelled data beside the checkout (`../shared/data`) and says so when they are absent. For the
question sets the documents are the rows' contexts. For the intent sets the FAQ bank is one part of the rows, the
questions are the other, and the "answer" of an entry is its intent, so that exact match is accuracy; questions out of
scope should be abstained, and the abstain curve says what a threshold on the similarity would do.
"""

import csv
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
OUT_OF_SCOPE = "(out of scope)"
PUBLISHED = {
    "hint3": "published on these rows: in-scope accuracy BERT .725, Rasa .701, LUIS .663, Dialogflow .730, Haptik .742;"
    " AUROC in/out .765 .753 .748 .817 .805; TF-IDF nearest neighbour .665 and .783",
    "banking77": "published with the full training set (about 130 rows an intent): BERT tuned .928, USE+ConveRT .934",
    "clinc150": "published with the full training set: BERT in-scope accuracy .969 at out-of-scope recall .403; with a "
    "threshold .962 at .523",
}


def rows_of(name: str, file: str = "dev.jsonl") -> list[dict]:
    return [json.loads(line) for line in (DATA / name / file).read_text().splitlines()]


def run(folder: Path, suite: dict) -> dict:
    (folder / "suite.yaml").write_text(json.dumps(suite))
    program = Path(sys.executable).with_name("proctor")
    command = (
        [str(program)]
        if program.exists()
        else [sys.executable, "-c", "from proctor.harness.cli.main import main; main()"]
    )
    done = subprocess.run([*command, "run", "suite.yaml", "--json"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def question_set(name: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        documents: dict[str, str] = {}
        questions = []
        for row in rows_of(name):
            text = "\n".join(row["contexts"])
            document = documents.setdefault(text, f"document-{len(documents):03}.txt")
            answerable = (row.get("label") or {}).get("answerable")
            questions.append(
                {key: row.get(key) for key in ("id", "question", "expected_answer")}
                | {"source_document": document, "answerable": answerable}
            )
        (folder / "documents").mkdir()
        for text, document in documents.items():
            (folder / "documents" / document).write_text(text)
        (folder / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
        with (folder / "faq.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["question", "answer"])
            # The bank of the FAQ bot is every second question: on the others it has to abstain or guess.
            writer.writerows(
                [row["question"], row["expected_answer"]] for row in questions[::2] if row["expected_answer"]
            )
        bots = {
            "faq": {"type": "faq", "entries": "faq.csv", "min_similarity": 0.5},
            "full_context": {"type": "full_context"},
            "rag": {"type": "rag"},
        }
        metrics = ["exact_match", "keyword_recall", "rouge_l", "answer_similarity", "groundedness", "answer_length"]
        made_of = run(
            folder,
            {"name": name, "knowledge": "documents", "questions": "questions.jsonl", "bots": bots, "metrics": metrics},
        )
        print(f"\n{name}: {len(questions)} questions, {len(documents)} documents, {made_of['seconds']:.0f} s")
        for bot, summary in made_of["bots"].items():
            means = ", ".join(f"{key} {show(metric)}" for key, metric in summary["metrics"].items())
            latency = summary["latency_ms"]
            print(f"  {bot}: {means}; p50 {latency['p50']:.1f} ms, p95 {latency['p95']:.1f} ms")
        abstained(folder / "proctor.db")


def show(metric: dict) -> str:
    if metric["mean"] is None:
        return "-"
    return f"{metric['mean']:.3f} [{metric['ci_low']:.3f}, {metric['ci_high']:.3f}] n={metric['n_ok']}"


def abstained(database: Path) -> None:
    lines = sqlite3.connect(database).execute(
        "SELECT bot, answerable, COUNT(*), SUM(abstained = 1) FROM answers WHERE answerable IS NOT NULL GROUP BY 1, 2"
    )
    for bot, answerable, count, refused in lines:
        print(f"    {bot} abstained {refused} of {count} {'answerable' if answerable else 'unanswerable'} questions")


def split(rows: Iterable[dict], intent: Callable[[dict], str]) -> tuple[list[dict], list[dict]]:
    """Every second row of an intent into the bank, the others are asked; out-of-scope rows are all asked."""
    seen: dict[str, int] = {}
    bank, asked = [], []
    for row in rows:
        name = intent(row)
        seen[name] = seen.get(name, 0) + 1
        (asked if name == OUT_OF_SCOPE or seen[name] % 2 else bank).append(row)
    return bank, asked


def intent_of(row: dict) -> str:
    label = row["label"]
    return label["intent"] if label.get("in_scope", True) else OUT_OF_SCOPE


def intent_set(name: str) -> None:
    if name == "hint3":
        parts = {}
        for bank_row in rows_of(name, "bank.jsonl"):
            parts.setdefault(bank_row["label"]["bot"], ([], []))[0].append(bank_row)
        for row in rows_of(name):
            parts[row["label"]["bot"]][1].append(row)
    else:
        parts = {"": split(rows_of(name), intent_of)}
    print(f"\n{name}: {PUBLISHED[name]}")
    for match in ("lexical", "embedding"):
        results = [result for bank, asked in parts.values() for result in faq_results(bank, asked, match)]
        report(match, results)


def faq_results(bank: list[dict], asked: list[dict], match: str) -> list[tuple[bool, bool, float]]:
    """(in scope, right, similarity) of each question."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with (folder / "faq.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["question", "answer"])
            writer.writerows({row["question"]: [row["question"], intent_of(row)] for row in bank}.values())
        lines = [
            {
                "id": row["id"],
                "question": row["question"],
                "expected_answer": intent_of(row),
                "answerable": intent_of(row) != OUT_OF_SCOPE,
            }
            for row in asked
        ]
        (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        bots = {"faq": {"type": "faq", "entries": "faq.csv", "min_similarity": 0.0, "match": match}}
        run(folder, {"name": "intents", "questions": "questions.jsonl", "bots": bots, "metrics": ["exact_match"]})
        found = sqlite3.connect(folder / "proctor.db").execute(
            "SELECT answers.answerable, value, json_extract(trace, '$.similarity') FROM answers"
            " JOIN row_scores USING (run, question_id, bot, repeat) JOIN replies ON replies.id = answers.reply_id"
        )
        return [(bool(inside), value == 1.0, similarity or 0.0) for inside, value, similarity in found]


def report(match: str, results: list[tuple[bool, bool, float]]) -> None:
    inside = [(right, similarity) for scope, right, similarity in results if scope]
    outside = [similarity for scope, _, similarity in results if not scope]
    accuracy = sum(right for right, _ in inside) / len(inside)
    line = f"  {match}: in-scope accuracy {accuracy:.3f} of {len(inside)}"
    if outside:
        area = auroc([similarity for _, similarity in inside], outside)
        line += f", AUROC in/out {area:.3f} ({len(outside)} out of scope)"
    print(line)
    if not outside:
        return
    for threshold in (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        kept = sum(right and similarity >= threshold for right, similarity in inside) / len(inside)
        caught = sum(similarity < threshold for similarity in outside) / len(outside)
        print(f"    min_similarity {threshold:.1f}: in-scope accuracy {kept:.3f}, out-of-scope recall {caught:.3f}")


def auroc(high: list[float], low: list[float]) -> float:
    from scipy.stats import rankdata

    ranks = rankdata([*high, *low])
    return (ranks[: len(high)].sum() - len(high) * (len(high) + 1) / 2) / (len(high) * len(low))


def main() -> None:
    if not DATA.is_dir():
        print("skipped: the human-labelled data are not beside the checkout (../shared/data)")
        return
    for name in sys.argv[1:] or ["clapnq", "xquad_en", "hint3", "banking77", "clinc150"]:
        (question_set if name in ("clapnq", "xquad_en") else intent_set)(name)


if __name__ == "__main__":
    main()
