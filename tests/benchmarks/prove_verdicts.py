"""Three edits of a prompt, and what the gate says of each: one that helps, one that hurts, one that does nothing.

    python tests/benchmarks/prove_verdicts.py [sample clapnq] [options of the gate, such as --early-stop]

Holds the RAG bot with its first prompt, writes the baseline, edits the prompt and runs the gate, as a person would:
every command is printed with its output and exit code. `clapnq` reads the human-labelled data beside the checkout
(`../shared/data`) and says so when they are absent; its documents are the rows' contexts. Models are the embedded
ones: the stand-in for a language model follows a prompt's rules on length and refusal.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from proctor.harness.suite.suite_file import sample_suite

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PROGRAM = [sys.executable, "-c", "from proctor.harness.cli.main import main; main()"]
PROMPT = """You answer questions from a collection of documents.

<documents>
{context}
</documents>

Rules:

- Answer only from the documents above, in at most two sentences.
- If the documents do not contain the answer, say: "I don't know."

Question: {question}
"""
RULE = "in at most two sentences"
EDITS = {
    "helps": (RULE, "in at most four sentences"),
    "hurts": (RULE, "in at most one sentence"),
    "does nothing": ("Rules:", "Please keep to these rules:"),
}
METRICS = ["keyword_recall", "rouge_l", "answer_similarity", "answer_length"]


def proctor(folder: Path, *arguments: str) -> int:
    """Run the program as a person would, and show what it says."""
    print(f"\n$ proctor {' '.join(arguments)}", flush=True)
    done = subprocess.run([*PROGRAM, *arguments], cwd=folder, capture_output=True, text=True)
    print(done.stdout.rstrip() + ("\n" + done.stderr.rstrip() if done.stderr else ""))
    print(f"exit code {done.returncode}", flush=True)
    return done.returncode


def sample(folder: Path) -> None:
    """The help centre that ships with the package."""
    shutil.copytree(sample_suite().parent, folder, dirs_exist_ok=True)


def clapnq(folder: Path) -> None:
    """The questions of CLAPNQ that can be answered; the documents of all of them."""
    rows = [json.loads(line) for line in (DATA / "clapnq" / "dev.jsonl").read_text("utf-8").splitlines()]
    documents = {row["contexts"][0]: f"document-{place:03}.txt" for place, row in enumerate(rows)}
    (folder / "documents").mkdir(parents=True)
    for text, name in documents.items():
        (folder / "documents" / name).write_text(text, "utf-8")
    questions = [
        {"id": row["id"], "question": row["question"], "expected_answer": row["expected_answer"]}
        | {"source_document": documents[row["contexts"][0]]}
        for row in rows
        if row["expected_answer"]
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions), "utf-8")


def prove(name: str, folder: Path, options: list[str]) -> None:
    """The three edits on one set of questions."""
    {"sample": sample, "clapnq": clapnq}[name](folder)
    prompt = folder / "prompts" / "rag.md"
    prompt.parent.mkdir(exist_ok=True)
    if not prompt.exists():
        prompt.write_text(PROMPT)
    suite = {
        "name": name,
        "knowledge": "documents",
        "questions": next(path.name for path in folder.glob("questions.*")),
        "bots": {"rag": {"type": "rag", "prompt": "prompts/rag.md", "top_k": 4}},
        "metrics": METRICS,
        "gate": {"margins": {"keyword_recall": 0.03, "answer_similarity": 0.03}, "baseline": "baseline.json"},
    }
    (folder / "suite.yaml").write_text(json.dumps(suite, indent=2))
    first = prompt.read_text()
    proctor(folder, "run", "suite.yaml")
    proctor(folder, "baseline", "--out", "baseline.json")
    for what, (old, new) in EDITS.items():
        assert old in first, old
        print(f"\n# {name}: the edit that {what}: {old!r} becomes {new!r}")
        prompt.write_text(first.replace(old, new))
        proctor(folder, "gate", "suite.yaml", *options)


if __name__ == "__main__":
    typed = sys.argv[1:]
    options = typed[next((place for place, word in enumerate(typed) if word.startswith("-")), len(typed)) :]
    for chosen in typed[: len(typed) - len(options)] or ["sample", "clapnq"]:
        if chosen == "clapnq" and not DATA.is_dir():
            print("clapnq: skipped: the human-labelled data are not beside the checkout (../shared/data)")
            continue
        with tempfile.TemporaryDirectory() as made:
            prove(chosen, Path(made) / chosen, options)
