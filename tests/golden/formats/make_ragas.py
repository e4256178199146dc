"""Writes ragas-*.{jsonl,csv} with Ragas' own writers; run in an environment of its own: pip install ragas pandas.

ragas 0.4.3 imports modules that newer langchain-community lacks; empty ones stand in for them, nothing of them is used.
Files of 0.1 are written as its documentation has them (`Dataset.to_csv` and `to_json` of question, answer, contexts,
ground_truth), since that version does not install beside current packages.
"""

import json
import sys
import types
from pathlib import Path

for name in ("langchain_community.chat_models.vertexai", "langchain_community.llms.vertexai"):
    made = types.ModuleType(name)
    made.ChatVertexAI = made.VertexAI = type("Nothing", (), {})
    sys.modules[name] = made

import pandas as pd  # noqa: E402
import ragas  # noqa: E402
from ragas import EvaluationDataset, MultiTurnSample, SingleTurnSample  # noqa: E402
from ragas.dataset_schema import EvaluationResult  # noqa: E402
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage  # noqa: E402
from texts import CASES, TALK  # noqa: E402

HERE = Path(__file__).parent
VERSION = ragas.__version__

single = EvaluationDataset(samples=[
    SingleTurnSample(
        user_input=case["question"], response=case["answer"], reference=case["expected"],
        retrieved_contexts=case["contexts"], retrieved_context_ids=case["documents"],
    )
    for case in CASES
])  # fmt: skip
single.to_jsonl(HERE / f"ragas-{VERSION}-dataset.jsonl")
single.to_csv(HERE / f"ragas-{VERSION}-dataset.csv")

talk = [HumanMessage(content=text) if role == "user" else AIMessage(content=text) for role, text in TALK]
tools = [
    HumanMessage(content="Is bike 7 free?"),
    AIMessage(content="I look.", tool_calls=[ToolCall(name="availability", args={"bike": 7})]),
    ToolMessage(content="free"),
    AIMessage(content="Yes, it is."),
]
multi = EvaluationDataset(samples=[
    MultiTurnSample(user_input=talk, reference="The price is named."),
    MultiTurnSample(
        user_input=tools, reference_tool_calls=[ToolCall(name="availability", args={"bike": 7})],
        rubrics={"score1_description": "rude"},
    ),
])  # fmt: skip
multi.to_jsonl(HERE / f"ragas-{VERSION}-conversations.jsonl")

EvaluationResult.__post_init__ = lambda self: None  # it would look for the traces of an evaluation
result = EvaluationResult(
    scores=[{"faithfulness": one if one is not None else float("nan"), "answer_relevancy": two,
             "noise_sensitivity(mode=relevant)": 0.25} for one, two in (case["scores"] for case in CASES)],
    dataset=single,
)  # fmt: skip
frame = result.to_pandas()
frame.to_csv(HERE / f"ragas-{VERSION}-result.csv", index=False)
frame.to_json(HERE / f"ragas-{VERSION}-result.jsonl", orient="records", lines=True)

old = [
    {"question": case["question"], "answer": case["answer"], "contexts": case["contexts"],
     "ground_truth": case["expected"], "faithfulness": case["scores"][0]}
    for case in CASES
]  # fmt: skip
(HERE / "ragas-0.1-result.jsonl").write_text("".join(json.dumps(each) + "\n" for each in old), "utf-8")
pd.DataFrame(old).to_csv(HERE / "ragas-0.1-result.csv", index=False)
older = [{**each, "ground_truths": [each["ground_truth"]]} for each in old]
for each in older:
    del each["ground_truth"]
(HERE / "ragas-0.0-dataset.jsonl").write_text("".join(json.dumps(each) + "\n" for each in older), "utf-8")
