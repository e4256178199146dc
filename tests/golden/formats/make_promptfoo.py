"""Makes the promptfoo fixtures with promptfoo itself, from the sample help centre: configs, outputs and its verdicts.

Run by hand, with a folder in which ``npm install promptfoo`` was run (0.121.20 made what is here):

    python tests/golden/formats/make_promptfoo.py FOLDER

Nothing leaves the machine: the provider is promptfoo's ``echo``, which answers with the prompt.
"""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

HERE = Path(__file__).parent / "promptfoo"
SAMPLE = Path(__file__).parents[3] / "knowledge" / "samples" / "help_centre" / "questions.yaml"
ROWS = 200
SCHEMA = {
    "type": "object",
    "required": ["answer", "days"],
    "properties": {"answer": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
}
Item = dict[str, Any]


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    version = json.loads((folder / "node_modules" / "promptfoo" / "package.json").read_text())["version"]
    questions = [each for each in YAML(typ="safe").load(SAMPLE.read_text()) if each.get("expected_answer")]
    verdicts(folder, version, questions)
    regular_expressions()
    kinds(folder, version)
    for name in ("echo_config", "csv_config"):
        evaluate(folder, HERE / f"{name}.yaml", HERE / f"{name}_output.json")


def evaluate(folder: Path, config: Path, output: Path) -> Item:
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(folder)}
    program = folder / "node_modules" / ".bin" / "promptfoo"
    command = [str(program), "eval", "-c", config.name, "-o", str(output), "--no-cache", "--no-write", "--no-table"]
    subprocess.run(command, cwd=config.parent, env={**os.environ, **quiet}, check=False, stdout=subprocess.DEVNULL)
    found: Item = json.loads(output.read_text())
    found["metadata"] = {"promptfooVersion": found["metadata"]["promptfooVersion"]}  # the rest names the machine

    written = json.dumps(found, indent=1, ensure_ascii=False).replace(str(output.parent), "help-centre")
    written = re.sub(r'\\n    at [^"]*', "", written)  # where in its own files promptfoo raised an error
    output.write_text(written + "\n")
    return found


def verdicts(folder: Path, version: str, questions: list[Item]) -> None:
    """200 answers with one to four assertions each, and what promptfoo says of each of them."""
    draw = random.Random(20)
    tests = [test(draw, number, questions) for number in range(ROWS)]
    config = HERE / "verdicts_config.json"
    made = {
        "description": f"{ROWS} answers with deterministic assertions; made by make_promptfoo.py",
        "prompts": ["{{answer}}"],
        "providers": ["echo"],
        "tests": tests,
    }
    config.write_text(by_line(made, "tests"))
    output = folder / "verdicts_output.json"
    found = evaluate(folder, config, output)["results"]["results"]
    by_test = {each["testIdx"]: each for each in found}
    rows = []
    for number in range(ROWS):
        graded = by_test[number]["gradingResult"]
        parts = [part for part in graded["componentResults"] if part]
        rows.append(
            {
                "answer": by_test[number]["response"]["output"],
                "pass": by_test[number]["success"],
                "score": by_test[number]["score"],
                "assertions": [[part["pass"], part["score"]] for part in parts],
            }
        )
    content = {"made_by": f"promptfoo {version}", "rows": rows}
    (HERE / "verdicts.json").write_text(by_line(content, "rows"))


def by_line(content: Item, key: str) -> str:
    """JSON with each item of one list on a line of its own."""
    items = ",\n".join(json.dumps(each, ensure_ascii=False) for each in content[key])
    head = json.dumps({**content, key: []}, ensure_ascii=False)
    assert head.endswith("[]}")
    return f"{head[:-2]}\n{items}\n]}}\n"


def regular_expressions() -> None:
    """In which texts JavaScript finds expressions."""
    given = json.dumps({"patterns": [*PATTERNS, *MORE_PATTERNS], "texts": TEXTS})
    program = """const given = JSON.parse(process.argv[1]);
    const found = given.patterns.map(p => [p, given.texts.map(t => new RegExp(p).test(t))]);
    console.log(JSON.stringify(found));"""
    found = subprocess.run(["node", "-e", program, given], check=True, capture_output=True, text=True).stdout
    version = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    content = {"made_by": f"node {version}", "texts": TEXTS, "found": json.loads(found)}
    (HERE / "regular_expressions.json").write_text(by_line(content, "found"))


def kinds(folder: Path, version: str) -> None:
    """All kinds of assertions that promptfoo declares."""
    for script in sorted((folder / "node_modules" / "promptfoo" / "dist" / "src").glob("tables-*.cjs")):
        if found := re.search(
            r"(?<!Not)BaseAssertionTypesSchema = [\w.]+enum\(\[(.*?)\]\)", script.read_text(), re.DOTALL
        ):
            named = {"made_by": f"promptfoo {version}", "kinds": re.findall(r'"([^"]+)"', found[1])}
            (HERE / "kinds.json").write_text(by_line(named, "kinds"))
            return


def test(draw: random.Random, number: int, questions: list[Item]) -> Item:
    question, other = draw.choice(questions), draw.choice(questions)
    expected, foreign = question["expected_answer"].strip(), other["expected_answer"].strip()
    answer = answers(draw, expected, foreign)
    listed = [assertion(draw, answer, expected, foreign) for _ in range(draw.choice((1, 1, 2, 3, 4)))]
    if draw.random() < 0.15:
        group = {"type": "assert-set", "assert": listed, "threshold": draw.choice((0.3, 0.5, 0.8))}
        listed = [group, assertion(draw, answer, expected, foreign)]
    made: Item = {"description": f"row {number}", "vars": {"question": question["question"], "answer": answer}}
    made["assert"] = listed
    if draw.random() < 0.1:
        made["threshold"] = draw.choice((0.25, 0.5, 0.75))
    return made


def answers(draw: random.Random, expected: str, foreign: str) -> str:
    words = expected.split()
    days = draw.choice((14, 0, "14"))
    return draw.choice(
        [
            expected,
            expected,
            foreign,
            expected.upper(),
            " ".join(words[: len(words) // 2]),
            " ".join([*words[2:], "Müller's café €5"]),
            f"{expected} {foreign}",
            f"  {expected}\n",
            " ".join(word for word in words if draw.random() > 0.2) or expected,
            expected.replace("e", "é", 1),
            json.dumps({"answer": expected, "days": days}, ensure_ascii=False),
            f"Here it is:\n```json\n{json.dumps({'answer': expected, 'days': days})}\n```",
            f"{expected[:20]}, and nothing else.\nLine two: 42 days.",
        ]
    )


def assertion(draw: random.Random, answer: str, expected: str, foreign: str) -> Item:
    kind = draw.choice(list(KINDS))
    made: Item = {"type": kind, **KINDS[kind](draw, answer, expected, foreign)}
    if draw.random() < 0.2:
        made["type"] = f"not-{kind}"
    if draw.random() < 0.2:
        made["weight"] = draw.choice((0, 0.5, 2, 3))
    return made


def some(draw: random.Random, *texts: str) -> str:
    words = draw.choice(texts).split()
    start = draw.randrange(len(words))
    return " ".join(words[start : start + draw.choice((1, 1, 2, 3))])


def several(draw: random.Random, *texts: str) -> list[str]:
    return [some(draw, *texts) for _ in range(draw.choice((1, 2, 3)))]


PATTERNS = (
    r"\d+ (days|euros)", r"^[A-Z]", r"\.$", r"^\s", r"\bthe\b", r"[^\x00-\x7F]", r"(\w+) \1", r"(?<number>\d+) days",
    r"^.{20,80}$", r"^.+$", r"\s$", r"caf\w", r"\u00fc", r"[\d,.]+\b", r"(?=.*days)(?=.*within)", r"bike(?!s)",
)  # fmt: skip


# Expressions in which JavaScript and Python differ, or might, and texts that tell.
MORE_PATTERNS = (
    r"^a$", r"^.$", r"^..$", r"\bé\b", r"\Bé", r"\w\b", r"[\w-]+$", r"[^\d\s]", r"\d", r"\s", r"^\s$", r"[]", r"[^]",
    r"a{,2}", r"a{2}", r"x{", r"\/", r"\-", r"[\-a]", r"(?<l>[ab])\k<l>", r"(a)\1", r"(?!a)b", r"(?<=a)b", r"(?<!a)b",
    r"\x41", r"\u00e9", r"[\u00e0-\u00ff]", r"[[]", r"[a[]", r"[.$]", r"\.", r"\$", r"\t", r"a|^$", r"(?:a|b)+?b",
    r"\e", r"[\b]", r"\0", r"^[^]*$",
)  # fmt: skip
TEXTS = [
    "", "a", "b", "aa", "ab", "aab", "A", "é", "aé", "é é", "a\n", "\n", "\r", "\u2028", "\u0663", "3", " ", "\u00a0",
    "\ufeff", "\x1c", "a{,2}", "x{", "a/b", "-", "[", "$", ".", "\t", "e", "\b", "\0", "²", "_", "K", "\u017f",
    "a\r", "a\u2028b",
]  # fmt: skip


def _word_count(draw: random.Random, answer: str, *_: str) -> Item:
    count = len(answer.split())
    return {"value": draw.choice((count, str(count), count + 1, {"min": 5}, {"max": count - 1}, {"min": 3, "max": 20}))}


KINDS: dict[str, Any] = {
    "equals": lambda draw, answer, expected, foreign: {
        "value": draw.choice((answer, expected, expected.lower(), {"answer": expected, "days": 14}))
    },
    "contains": lambda draw, answer, *rest: {"value": some(draw, answer, *rest)},
    "icontains": lambda draw, answer, *rest: {"value": some(draw, answer, *rest).upper()},
    "contains-any": lambda draw, answer, *rest: {"value": several(draw, answer, *rest)},
    "icontains-any": lambda draw, answer, *rest: {"value": [each.swapcase() for each in several(draw, answer, *rest)]},
    "contains-all": lambda draw, answer, *rest: {"value": several(draw, answer, answer, *rest)},
    "icontains-all": lambda draw, answer, *rest: {
        "value": ", ".join(f'"{each}"' for each in several(draw, answer, answer, *rest) if '"' not in each) or "bike"
    },
    "starts-with": lambda draw, answer, expected, foreign: {
        "value": draw.choice((answer[:5], expected[:9], foreign[:3]))
    },
    "regex": lambda draw, *_: {"value": draw.choice(PATTERNS)},
    "is-json": lambda draw, *_: draw.choice(({}, {"value": SCHEMA}, {"value": json.dumps(SCHEMA)})),
    "contains-json": lambda draw, *_: draw.choice(({}, {"value": SCHEMA})),
    "levenshtein": lambda draw, answer, expected, _: {"value": expected} | draw.choice(({}, {"threshold": 40})),
    "rouge-n": lambda draw, answer, expected, _: {"value": expected} | draw.choice(({}, {"threshold": 0.5})),
    "bleu": lambda draw, answer, expected, foreign: {
        "value": draw.choice((expected, [expected, foreign])), **draw.choice(({}, {"threshold": 0.3}))
    },
    "gleu": lambda draw, answer, expected, foreign: {
        "value": draw.choice((expected, [expected, foreign])), **draw.choice(({}, {"threshold": 0.4}))
    },
    "latency": lambda *_: {"threshold": 60000},
    "word-count": _word_count,
}  # fmt: skip

if __name__ == "__main__":
    main()
