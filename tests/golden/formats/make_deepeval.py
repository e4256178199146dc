"""Writes deepeval-*.{json,csv} with DeepEval's own writers; run in an environment of its own: pip install deepeval."""

import json
import os
import shutil
from pathlib import Path

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

import deepeval
from deepeval.dataset import ConversationalGolden, EvaluationDataset, Golden
from deepeval.test_case import ToolCall, Turn
from deepeval.test_case.llm_test_case import RetrievedContextData
from deepeval.test_run.api import LLMApiTestCase
from deepeval.test_run.test_run import TestRun
from deepeval.tracing.api import MetricData
from texts import CASES, TALK

HERE = Path(__file__).parent
VERSION = deepeval.__version__


def save(dataset, kind, name):
    folder = HERE / "written"
    dataset.save_as(kind, str(folder), file_name=name)
    (folder / f"{name}.{kind}").replace(HERE / f"deepeval-{VERSION}-{name}.{kind}")
    shutil.rmtree(folder)


goldens = EvaluationDataset(goldens=[
    Golden(
        input=case["question"], expected_output=case["expected"], actual_output=case["answer"], name=case["id"],
        retrieval_context=[
            RetrievedContextData(context=text, source=source)
            for text, source in zip(case["contexts"], case["documents"], strict=True)
        ] or None,
        context=case["contexts"] or None, comments="from the sample",
        expected_tools=[ToolCall(name="look_up", input_parameters={"what": "price"})] if number == 1 else None,
        additional_metadata={"place": number},
    )
    for number, case in enumerate(CASES)
])  # fmt: skip
save(goldens, "json", "goldens")
save(goldens, "csv", "goldens")

talk = EvaluationDataset(goldens=[
    ConversationalGolden(
        scenario="A customer wants to reserve a bike", expected_outcome="The price is named.",
        turns=[Turn(role=role, content=text) for role, text in TALK], name="reserve",
    ),
    ConversationalGolden(scenario="A customer complains", expected_outcome="The bot stays polite."),
])  # fmt: skip
save(talk, "json", "conversations")
save(talk, "csv", "conversations")

run = TestRun(testFile="test_sample.py", hyperparameters={"model": "extractive"})
for number, case in enumerate(CASES):
    one, two = case["scores"]
    run.add_test_case(LLMApiTestCase(
        name=case["id"], input=case["question"], actualOutput=case["answer"], expectedOutput=case["expected"],
        retrievalContext=case["contexts"], completionTime=1.5, tokenCost=0.002, order=number, success=one == 1.0,
        metricsData=[
            MetricData(name="Faithfulness", threshold=0.7, success=(one or 0) >= 0.7, score=one, reason="because"),
            MetricData(name="Correctness [GEval]", threshold=0.5, success=two >= 0.5, score=two),
            MetricData(name="Bias", threshold=0.5, success=two >= 0.5, score=two),
        ],
    ))  # fmt: skip
whole = run.model_dump(by_alias=True, exclude_none=True)
(HERE / f"deepeval-{VERSION}-run.json").write_text(json.dumps(whole, ensure_ascii=False, indent=1), "utf-8")
