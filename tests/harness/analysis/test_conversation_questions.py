"""A turn of a conversation is searched as bots search it: with what it points back to."""

import json
from pathlib import Path

from typed import proctor

DOCUMENTS = {
    "helmets.md": "# Helmets\n\nHelmets cost 40 euros each.\n",
    "bells.md": "# Bells\n\nBells cost 5 euros each.\n",
    "locks.md": "# Locks\n\nMuch to read here.\n",
}
TALK = {"id": "helmets", "turns": [
    {"ask": "Do you sell helmets?", "expected_answer": "Yes."},
    {"ask": "How much is it?", "expected_answer": "40 euros.",
     "evidence": [{"document": "helmets.md", "quote": "Helmets cost 40 euros each."}]},
]}  # fmt: skip


def test_the_grid_searches_a_turn_with_the_message_that_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "documents" / name).write_text(text)
    (tmp_path / "questions.jsonl").write_text(json.dumps(TALK) + "\n")
    suite = {
        "name": "t", "knowledge": "documents", "questions": "questions.jsonl", "bots": {"rag": {"type": "rag"}},
        "metrics": ["correct"],
        "analysis": {"grid": {"retriever": ["bm25"], "top_k": [1]}},
    }  # fmt: skip
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = proctor("knowledge", "suite.yaml", "--json", "--most-calls", 0, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["grid"]["configurations"]
    wanted = {"retriever": "bm25", "top_k": 1}
    bm25 = next(each for each in found if wanted.items() <= each["configuration"].items())
    assert bm25["by_question"]["evidence_recall"] == [1.0]
