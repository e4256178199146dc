"""Writes h2o-*.json by hand: neither h2o-sonar nor a client of H2O Eval Studio is on the package index.

Keys and nesting were read in the public repository h2oai/h2o-sonar, at 59ae596: from h2o_sonar/lib/api/datasets.py
(LlmDataset, LlmEvalResults) and from files that these wrote, in data/generative: test suites and labs in eval_agent,
results in bugs/bug-ragas-nan-2025-04-10-results-dataset.json. No text is theirs.
"""

import json
from pathlib import Path

from texts import CASES

HERE = Path(__file__).parent
CONSTRAINTS = [["14 days", ["delivery", "REGEXP:deliver(y|ed)"]], ["35 euros"], []]
MODELS = {"6d571b26-fafe": "extractive", "4b60abf6-0c8d": "faq"}


def write(name, value):
    (HERE / name).write_text(json.dumps(value, ensure_ascii=False, indent=1), "utf-8")


write("h2o-test-suite.json", {"tests": [
    {
        "key": f"test-{number}", "documents": case["documents"][:1],
        "test_cases": [{
            "key": case["id"], "prompt": case["question"], "categories": ["question_answering"],
            "expected_output": case["expected"], "constraints": constraints,
            **({"condition": '"no" AND NOT "yes"'} if number == 2 else {}),
        }],
    }
    for number, (case, constraints) in enumerate(zip(CASES, CONSTRAINTS, strict=True))
]})  # fmt: skip

inputs = [
    {
        "input": case["question"], "corpus": case["documents"][:1], "context": case["contexts"],
        "categories": ["question_answering"], "relationships": [], "expected_output": case["expected"],
        "output_constraints": constraints, "output_condition": "", "actual_output": case["answer"] + suffix,
        "actual_duration": 1.25, "cost": 0.002, "model_key": key, "key": case["id"], "test_key": "test-0",
    }
    for key, suffix in (("6d571b26-fafe", ""), ("4b60abf6-0c8d", " Ask us."))
    for case, constraints in zip(CASES, CONSTRAINTS, strict=True)
]  # fmt: skip
write("h2o-test-lab.json", {
    "raw_dataset": {"inputs": []}, "dataset": {"inputs": inputs},
    "models": [
        {"connection": "c", "model_type": "h2ogpte", "name": name, "llm_model_name": name, "documents": [], "key": key}
        for key, name in MODELS.items()
    ],
    "llm_model_names": list(MODELS.values()), "docs_cache": {},
})  # fmt: skip
write("h2o-results.json", {"results": [
    {
        **each, "key": f"{each['key']}_{each['model_key']}", "test_case_key": each["key"], "metrics_meta": {},
        "metrics": [
            {"key": "groundedness", "value": 0.25 * number}, {"key": "model_failures"},
            {"key": "model_passes", "value": 1},
        ],
        "actual_output_meta": [{"tokenization": "sentence_level", "data": [
            {"text": each["actual_output"], "metrics": {"groundedness": 0.5}},
        ]}],
    }
    for number, each in enumerate(inputs[:4])
], "evaluator": {"name": "RagGroundednessEvaluator", "metrics_meta": [
    {"key": "groundedness", "value_range": [0.0, 1.0], "value_enum": None, "higher_is_better": True, "threshold": 0.6},
    {"key": "model_failures", "value_range": [0.0, 1.0], "value_enum": None, "higher_is_better": False, "threshold": 0},
]}})  # fmt: skip
