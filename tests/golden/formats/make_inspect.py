"""Makes the Inspect fixtures with Inspect itself: logs of its mock model over our own questions, and sample files.

Run by hand in an environment of its own in which ``pip install inspect_ai`` was run (0.3.285 made what is here):

    python tests/golden/formats/make_inspect.py
"""

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import tiktoken

HERE = Path(__file__).parent / "inspect"
# The mock model counts tokens with a table that tiktoken would download: a token is a byte here.
BYTES = tiktoken.Encoding(
    "bytes", pat_str=r".|\n", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
)
tiktoken.get_encoding = lambda name: BYTES
tiktoken.encoding_for_model = lambda name: BYTES

from inspect_ai import Epochs, Task, eval  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample, csv_dataset, json_dataset  # noqa: E402
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ModelOutput, get_model  # noqa: E402
from inspect_ai.scorer import (  # noqa: E402
    Score,
    Target,
    accuracy,
    choice,
    exact,
    f1,
    includes,
    match,
    mean,
    scorer,
)  # fmt: skip
from inspect_ai.solver import TaskState, generate, multiple_choice, use_tools  # noqa: E402
from inspect_ai.tool import tool  # noqa: E402


@scorer(metrics={"polite": [mean()], "brief": [mean()]})
def manner() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        return Score(value={"polite": "P" if "Please" in answer else "N", "brief": len(answer) < 40})

    return score


@scorer(metrics=[accuracy()])
def unscored() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=math.nan, explanation="nothing to measure")

    return score


@tool
def opening_hours() -> Any:
    async def execute(day: str) -> str:
        """When the workshop is open.

        Args:
            day: Day of the week.
        """
        return f"On {day} from nine to five."

    return execute


SAMPLES = [
    Sample(
        id="return-window",
        input="How long do I have to return a bike?",
        target=["14 days", "two weeks"],
        metadata={"tags": ["faq", "returns"]},
    ),
    Sample(id="refund-when", input="When do I get my refund?", target="5 working days"),
    Sample(
        id="saturday",
        input=[
            ChatMessageSystem(content="You work for Larkspoke."),
            ChatMessageUser(content="Do you have a workshop in Dublin?"),
            ChatMessageAssistant(content="Yes, at the canal."),
            ChatMessageUser(content="Is it open on Saturday?"),
        ],
        target="from ten to four",
    ),
]
ANSWERS = ["14 days", "Please wait; it takes 5 working days after the check.", "I don't know."]
CHOICES = [
    Sample(
        id="cost", input="What does collecting a bike cost?", choices=["14 euros", "35 euros", "nothing"], target="B"
    ),
    Sample(id="free", input="What is free?", choices=["returns", "delivery", "exchanges"], target=["A", "C"]),
]


def model(texts: list[str]) -> Any:
    return get_model(
        "mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", text) for text in texts]
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        help_centre = Task(
            dataset=MemoryDataset(SAMPLES, name="help_centre"),
            solver=generate(),
            scorer=[includes(), match(location="any"), exact(), f1(), manner(), unscored()],
            epochs=Epochs(2, "mean"),
            name="help_centre",
        )
        run(help_centre, model([*ANSWERS, *reversed(ANSWERS)]), "eval", "help_centre.eval")
        chosen = Task(
            dataset=MemoryDataset(CHOICES, name="choices"),
            solver=multiple_choice(multiple_correct=True),
            scorer=choice(),
            name="choices",
        )
        run(chosen, model(["ANSWER: B", "ANSWER: A,B"]), "json", "choices.json")
        call = ModelOutput.for_tool_call("mockllm/model", "opening_hours", {"day": "Saturday"})
        calling = Task(
            dataset=MemoryDataset([SAMPLES[2]], name="tools"),
            solver=[use_tools(opening_hours()), generate()],
            scorer=includes(),
            name="tools",
        )
        answering = ModelOutput.from_content("mockllm/model", "On Saturday from ten to four.")
        run(calling, get_model("mockllm/model", custom_outputs=[call, answering]), "json", "tools.json")
    told = [
        {"score": value, "worth": worth(value)} for value in ("C", "I", "P", "N", "yes", "False", True, 0.25, "0.5")
    ]
    (HERE / "values.json").write_text(json.dumps(told, indent=1) + "\n")
    for name, read in (("samples.csv", csv_dataset), ("samples.json", json_dataset)):
        print(name, len(read(str(HERE / name))))


def worth(value: Any) -> float:
    from inspect_ai.scorer import value_to_float

    return value_to_float()(value)


def run(task: Task, answering: Any, kind: str, name: str) -> None:
    log = eval(task, model=answering, log_dir="logs", log_format=kind, display="none", max_samples=1)[0]
    assert log.status == "success", log.error
    path = Path(log.location.removeprefix("file://"))
    (HERE / name).write_bytes(path.read_bytes() if kind == "eval" else trimmed(path).encode())


def trimmed(path: Path) -> str:
    """The log without events, which hold every step with its time and are not read."""
    log = json.loads(path.read_text())
    log["eval"].pop("revision", None)
    log["eval"]["model_args"] = {}
    for sample in log["samples"]:
        sample["events"] = []
        sample.pop("events_data", None)
    return json.dumps(log, indent=1) + "\n"


if __name__ == "__main__":
    main()
