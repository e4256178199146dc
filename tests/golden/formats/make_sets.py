"""Writes beir-*, ragchecker-*, squad-*, nq-*, openai-*, langsmith-* and langfuse-* with classes of these tools.

Run in an environment of its own: pip install --no-deps beir ragchecker refchecker evals; pip install datasets openai
langsmith langfuse dataclasses-json blobfile lz4. What each file rests on:

- BEIR: `write_to_json` and `write_to_tsv` of beir.util write them, `GenericDataLoader` reads them back here.
- RAGChecker: `RAGResults.to_json`, with metrics that its own `computation` works out of verdicts given here.
- SQuAD, NQ-open: `datasets` (`Dataset.to_json`, `to_parquet`, `save_to_disk`) with the features of the set `squad`. For
  the nested file of SQuAD itself, and the annotated pages of Natural Questions, there is no writer.
- OpenAI: samples written by `jsondumps` of evals.data and read back by its `get_jsonl`; chats checked by the types of
  `openai`.
- LangSmith, Langfuse: the models with which their clients read examples and items, as JSON.
- H2O: h2o-sonar is not on the package index; make_h2o.py has what its documentation shows.
"""

import importlib.util
import json
import os
import sys
import types
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from uuid import UUID

from texts import CASES, TALK

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "OPENAI_API_KEY": "none", "DO_NOT_TRACK": "1"}
HERE = Path(__file__).parent
WHEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
DOCUMENTS = {name: text for case in CASES for name, text in zip(case["documents"], case["contexts"], strict=True)}


def beir():
    for name in ("torch", "requests", "pytrec_eval"):  # imported for what is not used here
        sys.modules[name] = types.ModuleType(name)
    sys.modules["torch"].Tensor = object
    util = loaded("beir/util.py")
    folder = HERE / f"beir-{version('beir')}"
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    asked = {case["id"]: case["question"] for case in CASES if case["documents"]}
    judged = {case["id"]: {case["documents"][0]: 1} for case in CASES if case["documents"]}
    util.write_to_json(
        str(folder / "corpus.jsonl"), {name: {"title": "", "text": text} for name, text in DOCUMENTS.items()}
    )
    util.write_to_json(str(folder / "queries.jsonl"), asked)
    util.write_to_tsv(str(folder / "qrels" / "test.tsv"), judged)
    loader = loaded("beir/datasets/data_loader.py").GenericDataLoader
    for given in (folder, *map(Path, sys.argv[2:])):  # also a folder that `proctor export --to beir` wrote
        corpus, queries, qrels = loader(str(given)).load(split="test")
        print(given, len(corpus), "documents", queries, qrels)


def loaded(path):
    """A module of a package without what its package imports."""
    found = importlib.util.find_spec(path.partition("/")[0]).submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location(Path(path).stem, Path(found).parent / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ragchecker():
    package = types.ModuleType("ragchecker")
    package.__path__ = [*importlib.util.find_spec("ragchecker").submodule_search_locations]
    sys.modules["ragchecker"] = package
    from ragchecker import computation
    from ragchecker.container import RAGResult, RAGResults, RetrievedDoc

    results = RAGResults()
    for case in CASES[:2]:
        documents = zip(case["documents"], case["contexts"], strict=True)
        result = RAGResult(
            case["id"], case["question"], case["expected"], case["answer"],
            [RetrievedDoc(name, text) for name, text in documents],
            answer2response=["Entailment", "Neutral"], response2answer=["Entailment", "Entailment", "Neutral"],
        )  # fmt: skip
        for work_out in (computation.evaluate_precision, computation.evaluate_recall, computation.evaluate_f1):
            work_out(result)
        results.update(result)
    path = HERE / f"ragchecker-{version('ragchecker')}.json"
    path.write_text(results.to_json(indent=1), "utf-8")


def datasets():
    from datasets import Dataset, Features, List, Value

    name = version("datasets")
    features = Features({
        "id": Value("string"), "title": Value("string"), "context": Value("string"), "question": Value("string"),
        "answers": {"text": List(Value("string")), "answer_start": List(Value("int32"))},
    })  # fmt: skip
    rows = [
        {"id": "a", "title": "Returns", "context": CASES[0]["contexts"][0], "question": CASES[0]["question"],
         "answers": {"text": ["14 days"], "answer_start": [CASES[0]["contexts"][0].index("14 days")]}},
        {"id": "b", "title": "Returns", "context": CASES[0]["contexts"][0], "question": "What does it weigh?",
         "answers": {"text": [], "answer_start": []}},
    ]  # fmt: skip
    squad = Dataset.from_list(rows, features=features)
    squad.to_json(HERE / f"squad-datasets-{name}.jsonl")
    squad.to_parquet(HERE / f"squad-datasets-{name}.parquet")
    squad.save_to_disk(HERE / f"squad-datasets-{name}")
    asked = [{"question": case["question"], "answer": [case["expected"], case["expected"].lower()]} for case in CASES]
    Dataset.from_list(asked).to_json(HERE / f"nq-open-datasets-{name}.jsonl")


def openai():
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    talk = [{"role": role, "content": text} for role, text in TALK]
    chats = [{"messages": [{"role": "system", "content": "Be brief."}, *talk]}] + [
        {
            "messages": [
                {"role": "user", "content": case["question"]},
                {"role": "assistant", "content": case["expected"]},
            ]
        }
        for case in CASES
    ]
    check = TypeAdapter(list[ChatCompletionMessageParam])
    lines = []
    for chat in chats:
        check.validate_python(chat["messages"])
        lines.append(json.dumps(chat) + "\n")
    (HERE / f"openai-chat-{version('openai')}.jsonl").write_text("".join(lines), "utf-8")
    data = loaded("evals/data.py")
    samples = [
        {"input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": case["question"]}],
         "ideal": case["expected"]}
        for case in CASES
    ]  # fmt: skip
    samples.append(
        {"input": [{"role": role, "content": text} for role, text in TALK[:3]], "ideal": ["Nothing", "Free"]}
    )
    path = HERE / f"openai-evals-{version('evals')}.jsonl"
    path.write_text("".join(data.jsondumps(sample) + "\n" for sample in samples), "utf-8")
    assert data.get_jsonl(str(path)) == samples


def langsmith():
    from langsmith.schemas import Example

    made = [
        Example(
            id=UUID(int=place), dataset_id=UUID(int=99), inputs={"question": case["question"]},
            outputs={"answer": case["expected"]}, metadata={"topic": "returns"}, created_at=WHEN, modified_at=WHEN,
        )
        for place, case in enumerate(CASES, 1)
    ]  # fmt: skip
    text = "".join(each.model_dump_json() + "\n" for each in made)
    (HERE / f"langsmith-{version('langsmith')}.jsonl").write_text(text, "utf-8")


def langfuse():
    from langfuse.api import DatasetItem

    made = [
        DatasetItem(
            id=case["id"], status="ACTIVE", input={"question": case["question"]}, expected_output=case["expected"],
            metadata={"topic": "returns"}, source_trace_id=None, source_observation_id=None, dataset_id="d1",
            dataset_name="shop", created_at=WHEN, updated_at=WHEN, media_references=[],
        )
        for case in CASES
    ]  # fmt: skip
    text = json.dumps([json.loads(each.json()) for each in made], indent=1)
    (HERE / f"langfuse-{version('langfuse')}.json").write_text(text, "utf-8")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
