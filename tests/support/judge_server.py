"""A judge behind the OpenAI protocol that answers every kind of call by rules, for tests and benchmarks.

Claims are sentences; an item is supported by the texts that hold it word for word. In a test::

    with JudgeServer() as server:
        ...  # server.url, server.names: how often which call came in

In a benchmark: ``python judge_server.py --delay 0.05`` prints the base URL and serves until it is ended.
"""

import argparse
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from openai_server import Call, OpenAIServer
from proctor.metrics.judge.rendering import load_prompt
from proctor.metrics.text import sentences

ITEM = re.compile(r"^\[([acesxw]\d+)\](?: (.*))?$", re.MULTILINE)
WORD = re.compile(r"\w{4,}")
# Beginnings of the instructions, by which calls are told apart where no schema comes with them.
NAMED = ("answer_claims", "check_answer", "check_expected", "compare_claims", "reverse_questions", "entities")


def material(prompt: str) -> dict[str, str]:
    """The texts between the boundary lines of a prompt, by their labels."""
    code = re.match(r"CODE: (\w{4,})", prompt)
    if code is None:
        return {}
    parts = re.split(rf"^=== {code[1]} (.+)$", prompt, flags=re.MULTILINE)[1:]
    return {label: text.strip("\n") for label, text in zip(parts[::2], parts[1::2], strict=True) if label != "end"}


def items(text: str) -> dict[str, str]:
    """Numbered items of a listing by their ids."""
    return {found[1]: found[2] or "" for found in ITEM.finditer(text)}


def system_of(call: Call) -> str:
    return str(call.body["messages"][0]["content"])


def name_of(call: Call) -> str:
    """Name of the judge's call, from its instructions; ``other`` for what is not among the calls J1 to J5."""
    system = system_of(call)
    return next((name for name in NAMED if system.startswith(load_prompt(name).head[:60])), "other")


def judged(call: Call) -> str | Mapping[str, Any]:
    """A sensible answer to any call of a judge."""
    texts = material(str(call.body["messages"][1]["content"]))
    match name_of(call):
        case "answer_claims":
            return {"claims": sentences(texts["answer"])}
        case "entities":
            return {"entities": sorted(set(re.findall(r"\b[A-Z0-9]\w*", texts["text"])))}
        case "reverse_questions":
            wanted = int(re.search(r"questions: (\d+)", call.prompt)[1])
            asked = [f"Who says: {texts['answer'][:80]}?", f"Is it so that {texts['answer'][:80]}?"]
            return {"questions": [{"question": asked[n % 2], "noncommittal": False} for n in range(wanted)]}
        case "other":
            return _other(call)
    return dict(_verdicts(name_of(call), _wanted(call), texts))


def _wanted(call: Call) -> set[str]:
    """Fields of the reply: by the schema, or where none was sent by the sections of the instructions."""
    if call.schema is not None:
        return set(call.schema["required"])
    sections = load_prompt(name_of(call)).sections
    return {part for parts, text in sections if text in system_of(call) for part in parts}


def _verdicts(name: str, wanted: set[str], texts: Mapping[str, str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    chunks = _chunks(texts.get("chunks", ""))
    if name == "compare_claims":
        for part, against, verdict in (
            ("answer_claims", "expected", "supported"),
            ("expected_claims", "answer", "covered"),
        ):
            if part in wanted:
                given = items(texts[part]).items()
                yield part, [{"id": id, "why": "", verdict: _within(text, texts[against])} for id, text in given]
        if "whole" in wanted:
            yield "whole", [{"id": "w1", "why": "by word", "right": _within(texts["expected"], texts["answer"])}]
        return
    for part, source in (("claims", "claims"), ("expected_sentences", "expected")):
        if part in wanted and source in texts:
            yield part, [_supported(id, text, chunks) for id, text in items(texts[source]).items()]
    if "usefulness" in wanted:
        whole = " ".join(texts["expected"].split())
        yield (
            "usefulness",
            [{"id": id, "why": "", "useful": bool(_words(text) & _words(whole))} for id, text in chunks.items()],
        )
    within = {id: text for id, text in items(texts.get("chunks", "")).items() if id.startswith("s")}
    if within and "sentences" in wanted:
        field, against = ("needed", "question") if name == "check_answer" else ("supports", "expected")
        yield (
            "sentences",
            [{"id": id, field: bool(_words(text) & _words(texts[against]))} for id, text in within.items()],
        )


def _chunks(text: str) -> dict[str, str]:
    """Whole chunks by their ids, those included whose sentences are listed below them."""
    chunks: dict[str, str] = {}
    for id, line in items(text).items():
        if id.startswith("c"):
            chunks[id] = line
        elif chunks:
            chunks[list(chunks)[-1]] += f" {line}"
    return chunks


def _supported(id: str, text: str, chunks: Mapping[str, str]) -> dict[str, Any]:
    alone = [name for name, chunk in chunks.items() if _within(text, chunk)]
    return {"id": id, "why": "" if alone else "no chunk says so", "supported": bool(alone), "chunks": alone}


def _within(text: str, whole: str) -> bool:
    return " ".join(text.lower().split()) in " ".join(whole.lower().split())


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def _other(call: Call) -> str | Mapping[str, Any]:
    """The first label where one word is wanted, else what the schema has, with nothing flagged and all graded 1."""
    word = re.search(r"one word only: (\S+?) or ", call.prompt)
    if word or call.schema is None:
        return word[1] if word else "0"
    return filled(call.schema)


def filled(schema: Mapping[str, Any]) -> Any:
    """A value that fits a strict schema."""
    match schema.get("type"):
        case "object":
            return {name: filled(inner) for name, inner in schema["properties"].items()}
        case "array":
            return []
        case "boolean":
            return False
        case "number" | "integer":
            return 1
    return (schema.get("enum") or [""])[0]


class JudgeServer(OpenAIServer):
    """An ``OpenAIServer`` that judges."""

    def __init__(self, script: Callable[[Call], Any] = judged, **settings: Any) -> None:
        super().__init__(script, **settings)

    @property
    def names(self) -> Counter[str]:
        """How often each of the judge's calls came in."""
        return Counter(name_of(call) for call in self.calls)


def main() -> None:
    """Serve until ended; for benchmarks, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--report", help="a file in which the calls are counted at the end")
    arguments = parser.parse_args()
    with JudgeServer(models=None, delay=arguments.delay) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
