"""Questions checked and streamed a second from JSONL, against a bare loop that only parses the lines.

python tests/benchmarks/bench_questions.py [LINES]
"""

import sys
import tempfile
import time
from pathlib import Path

import orjson
from proctor.knowledge.questions.question_files import open_questions


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.jsonl"
        with path.open("w") as file:
            for number in range(lines):
                file.write(f'{{"id": "q{number}", "question": "What is {number}?", "expected_answer": "{number}"}}\n')
        start = time.perf_counter()
        with path.open("rb") as file:
            parsed = sum(1 for line in file if orjson.loads(line))
        bare = time.perf_counter() - start
        start = time.perf_counter()
        questions = open_questions(path)
        checked = time.perf_counter() - start
        start = time.perf_counter()
        streamed = sum(1 for _ in questions)
        read = time.perf_counter() - start
        assert parsed == questions.count == streamed == lines
        print(f"bare parsing {lines / bare:,.0f} lines/s")
        print(f"checked      {lines / checked:,.0f} lines/s, {bare / checked:.2f} of the bare loop")
        print(f"streamed     {lines / read:,.0f} lines/s, {bare / read:.2f} of the bare loop")


if __name__ == "__main__":
    main()
