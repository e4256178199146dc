"""A judge that writes questions anew by rote, for the tests of perturbations."""

import re
from collections.abc import Mapping
from typing import Any

from judge_server import material
from openai_server import Call


def writing(call: Call) -> Mapping[str, Any]:
    """Say the question backwards, and in front what was asked for."""
    system = str(call.body["messages"][0]["content"])
    kind = "false" if "false claim" in system else "other"
    question = material(str(call.body["messages"][1]["content"]))["question"]
    wanted = int(re.search(r"questions: (\d+)", call.prompt)[1])
    return {"questions": [f"{kind} {number}: {question[::-1]}" for number in range(wanted)]}
