"""A suite that is hostile wherever others may write: names, files, questions, answers, metrics, settings, judge."""

import json
from pathlib import Path
from typing import Any

from judge_server import JudgeServer, judged
from openai_server import Answer, Call

RUNS = "window.__ran = (window.__ran ?? 0) + 1"
TURNED = "\u202egnp.exe\u2066"
ATTACKS = (
    f"<script>{RUNS}</script>",
    f"</script></style></title></textarea><script>{RUNS}</script>",
    f"<img src=x onerror=\"{RUNS}\"> ' onmouseover='{RUNS}' \" autofocus onfocus=\"{RUNS}\"",
    f'<svg onload="{RUNS}"><style>*{{display:none;background:url(http://evil.example/a)}}</style></svg>',
    "<!-- data --><!-- ]]> --><![CDATA[ <!ENTITY x SYSTEM 'file:///etc/passwd'> &x; &lt;b&gt;",
    f"javascript:{RUNS} [click](javascript:{RUNS}) ![x](http://evil.example/b.png) {{{{7*7}}}} {{% raw %}} ${{7*7}}",
    '=HYPERLINK("http://evil.example";"x")', "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", "| a | b |\n|---|---|",
    "::set-output name=a::b\n::error file=x::y\n##[error]z\n@everyone <!-- # -->\n# heading\n```",
    f"{TURNED} \x00 \x1b[31mred\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x9b31m \ufffe \ufdd0",
    "e" + "\u0301\u0323" * 60, "W" * 300, "\u2028\u2029\u200b\ufeff\u00ad",
)  # fmt: skip
ALL = "\n".join(ATTACKS)
OBJECT_KEYS = ("__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "length", "then")
ADDRESS = "a~1#b?c=d&e=%41+%2f/ \u00e4"
KEYS = (
    "__proto__", "constructor", ADDRESS, "a~1", "line\nbreak", "case", "CASE", "two  blanks", "two blanks", TURNED,
    ATTACKS[1],
)  # fmt: skip
BOTS = ("__proto__", ADDRESS, ATTACKS[1], f"=1+1 {TURNED}\n::error::x \x1b[31m| W", "W" * 300)  # fmt: skip
METRICS = ("__proto__", "constructor", ADDRESS, ATTACKS[2], f"=1+1 {TURNED}|x; rm -rf", "W" * 200)
DOCUMENTS = (f"{ATTACKS[0].replace('/', '')}.md", "constructor.md", "__proto__.md", f"{TURNED}\n=1+1.md", "a#b&c%41.md")
SUITE = f"{ATTACKS[1]} {TURNED} \x1b[31m\n{'W' * 1500}"

_BOT = """
import json, pathlib, sys
sys.set_int_max_str_digits(0)
HERE = pathlib.Path(__file__).parent
ALL, LONG = json.loads((HERE / "all.json").read_text()), json.loads((HERE / "long.json").read_text())

class Bot:
    def __init__(self, number, version):
        self.number, self.version = number, version

    def __call__(self, question):
        place = int(question.split(".")[0])
        kind = (place + self.number) % 6
        text = f"{self.number}.{self.version} the shop opens. {ALL}"
        if kind == 5 and self.number:
            raise ValueError(text)
        if place < 2 and self.number == 3:
            text = LONG[place]
        contexts = [
            {"text": f"{ALL} the shop opens at nine.", "document": ALL},
            {"text": "the shop", "document": "constructor"},
        ]
        odd = {"huge": 10**400, "nan": float("nan"), "lone": "\\ud800", "deep": json.loads("[" * 90 + "]" * 90)}
        trace = {ALL: ALL, "__proto__": {"constructor": 1}, **odd}
        return {"answer": text, "contexts": contexts, "reasoning": ALL, "trace": trace}

    def close(self):
        pass
"""

MODEL_BOT = "constructor"

_METRIC = """
import json, pathlib
from proctor.metrics import Measured, NotApplicable, metric
ALL = json.loads((pathlib.Path(__file__).parent / "all.json").read_text())
"""
_ONE_METRIC = """
@metric(id={id!r}, threshold=0.5, source=ALL)
def own_{number}(answer: str, question: str) -> Measured:
    {doc!r}
    kind = (int(question.split('.')[0]) + {number}) % 5
    if kind == 3:
        raise ValueError(ALL)
    if kind == 4:
        raise NotApplicable(("constructor", ALL[:300], "__proto__")[{number} % 3])
    return Measured(kind / 4, {{
        ALL: ALL, "__proto__": {{"constructor": [1]}}, "constructor": "x", "toString": None, "reason": ALL,
        "claims": [{{"claim": ALL, "supported": False, "why": ALL, "chunks": [1, 99, -1, 10**9]}}],
        "sentences": [{{"sentence": ALL, "similarity": 0.5, "context": 0}}],
        "deep": json.loads("[" * 60 + "]" * 60),
    }})
"""


def hostile_judge() -> JudgeServer:
    """A judge that says hostile things in every reply, some of which can't be read."""
    unreadable: set[str] = set()  # requests that had such a reply: to ask once more always helps

    def reply(call: Call) -> Any:
        if len(call.body["messages"]) == 1:  # a bot asks, not the judge
            return Answer(f"The shop opens. {ALL}", reasoning=ALL)
        request = json.dumps(call.body, sort_keys=True)
        if call.number % 5 == 4 and request not in unreadable:
            unreadable.add(request)
            return Answer(ALL, reasoning=ALL)
        said = judged(call)
        text = said if isinstance(said, str) else json.dumps(_worse(said))
        return Answer(text, reasoning=ALL, finish_reason="stop")

    return JudgeServer(reply, models=None, key=None)


def _worse(said: Any) -> Any:
    """The same verdicts, with attacks for reasons."""
    if isinstance(said, dict):
        return {key: ALL if key in ("why", "reason") else _worse(value) for key, value in said.items()}
    return [_worse(each) for each in said] if isinstance(said, list) else said


def write_hostile_suite(folder: Path, url: str, version: int = 1) -> Path:
    """The suite with all its files; another version has other answers, prompts and settings.

    Args:
        folder: where it is written.
        url: base URL of ``hostile_judge``.
        version: 1 for the first run, 2 for one in which something changed.
    """
    (folder / "all.json").write_text(json.dumps(ALL))
    (folder / "long.json").write_text(json.dumps(["<b>" + "x" * 1_000_000, "the shop opens " * 70_000]))
    (folder / "bot.py").write_text(_BOT)
    metrics = [_ONE_METRIC.format(id=id, number=number, doc=f"Doc {ATTACKS[0]}") for number, id in enumerate(METRICS)]
    (folder / "own.py").write_text(_METRIC + "\n".join(metrics), "utf-8")
    text = ALL.replace("\x00", "")  # with a null byte it would be no text
    plain = text.replace("{", "(").replace("}", ")")
    (folder / "prompt.md").write_text(f"{version} {plain}\n{{context}}\n{{question}}")
    (folder / "tone.md").write_text(f"{plain} Is {{answer}} friendly?")
    documents = folder / "documents"
    documents.mkdir(exist_ok=True)
    for name in DOCUMENTS:
        (documents / name).write_text(f"{text}\n\nThe shop opens at nine.")
    (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions()))
    made = {
        "name": SUITE,
        "knowledge": "documents/",
        "questions": "questions.jsonl",
        "models": {"constructor": {"model": f"openai:{ATTACKS[0]}{TURNED}", "base_url": url}},
        "bots": {name: {"type": "python", "target": "bot.py:Bot", "options": {"number": number, "version": version}}
                 for number, name in enumerate(BOTS)}
                | {MODEL_BOT: {"type": "full_context", "model": "constructor", "prompt": "prompt.md"}},
        "judge": "constructor",
        "byop": {"tone": "tone.md"},
        "metric_files": ["own.py"],
        "metrics": [*METRICS, "faithfulness", "byop", "exact_match"],
        "thresholds": {"constructor": 0.9},
    }  # fmt: skip
    path = folder / "suite.yaml"
    path.write_text(json.dumps(made))
    return path


def questions() -> list[dict[str, Any]]:
    """One question for each key."""
    many = [f"tag {number}" for number in range(300)]
    return [
        {
            "id": key, "question": f"{place}. When does the shop open? {ALL}",
            "expected_answer": [f"The shop opens. {ALL}", "__proto__"],
            "constraints": [ALL, ["constructor", ALL]],
            "tags": [*OBJECT_KEYS, ADDRESS, ATTACKS[0], "", "Case", "case", *(many if place == 0 else [])],
            "source_document": DOCUMENTS[place % len(DOCUMENTS)],
            "evidence": [{"document": DOCUMENTS[place % len(DOCUMENTS)], "quote": "The shop opens at nine."}],
            ALL: ALL, "__proto__": {"constructor": ALL}, "perturbs": {"toString": ALL},
            "huge": 10**300, "deep": json.loads("[" * 50 + "]" * 50),
        }
        for place, key in enumerate(KEYS)
    ]  # fmt: skip
