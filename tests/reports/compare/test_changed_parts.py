"""What was changed in a bot between two runs, in a few words."""

from dataclasses import replace

from proctor.reports.compare.changes import BotState, changed_parts
from tables import in_one_test

RAG = BotState(
    kind="rag",
    model="small",
    settings={"top_k": 4, "model": {"temperature": 0.0}},
    parts={"knowledge": "a" * 64, "code": "b" * 64},
    prompts={"prompt": "Answer.\nBe brief.\n"},
    models={"chat": "small", "embedder": "mini"},
)


@in_one_test(
    ("changes", "named"),
    [
        ({}, ()),
        ({"kind": "python"}, ("type from rag to python",)),
        ({"model": "large", "models": {"chat": "large", "embedder": "mini"}}, ("model from small to large",)),
        ({"settings": {"top_k": 8, "model": {"temperature": 0.0}}}, ("top_k from 4 to 8",)),
        ({"settings": {"top_k": 4, "model": {"temperature": 1.0}}}, ("model.temperature from 0.0 to 1.0",)),
        ({"settings": {"model": {"temperature": 0.0}}}, ("top_k from 4 to none",)),
        ({"settings": {"top_k": 4, "model": {"temperature": 0.0}, "rules": "f" * 32}}, ("rules changed",)),
        ({"parts": {"knowledge": "c" * 64, "code": "b" * 64}}, ("documents changed",)),
        ({"parts": {"knowledge": "a" * 64, "code": "c" * 64}}, ("code changed",)),
        ({"prompts": {"prompt": "Answer.\nBe long.\nBe kind.\n"}}, ("prompt: 1 line out, 2 in",)),
        ({"prompts": {"prompt": "Answer.\r\nBe brief.\n"}}, ("prompt: line ends changed",)),
        ({"models": {"chat": "small", "embedder": "wide"}}, ("embedder from mini to wide",)),
    ],
)
def test_each_change_is_named(changes, named):
    assert changed_parts(RAG, replace(RAG, **changes)) == named
