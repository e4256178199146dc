"""The user's own code that can leave documents out is told which; other code is not bothered."""

import asyncio
from pathlib import Path

import pytest
from proctor.bots.python import find_target
from proctor.bots.target_bots import LangChainTargetBot, ReducibleBot, ReducibleTargetBot, TargetBot
from proctor.knowledge.documents.document import Document

DOCUMENTS = tuple(Document(f"{name}.md", name) for name in ("one", "two", "three"))
CODE = """
from langchain_core.runnables import RunnableLambda
made = []
def function(question, without=frozenset()):
    return f"{question} without {sorted(without)}"
class Class:
    def __init__(self, mark="", without=()):
        made.append(without)
        self.said = f"{mark}without {sorted(without)}"
    def reply(self, question):
        return f"{question} {self.said}"
class Asked:
    def reply(self, question, without=()):
        return f"{question} without {sorted(without)}"
thing = Asked()
def chain(without=()):
    return RunnableLambda(lambda question: f"{question} without {sorted(without)}")
def deaf(question):
    return question
class Deaf:
    def reply(self, question):
        return question
runnable = RunnableLambda(deaf)
number = 7
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(CODE)
    return tmp_path


def target_bot(folder: Path, name: str, **options) -> TargetBot:
    kind = LangChainTargetBot if name in {"chain", "runnable"} else TargetBot
    return kind("mine", find_target(f"own.py:{name}", folder), options)


def answered(bot) -> str | None:
    async def whole():
        await bot.prepare()
        try:
            return (await bot.reply("hm")).answer
        finally:
            await bot.close()

    return asyncio.run(whole())


@pytest.mark.parametrize("name", ["function", "Class", "thing", "chain"])
def test_code_with_the_parameter_is_told_what_to_leave_out(folder, name):
    bot = target_bot(folder, name)
    assert bot.is_reducible
    whole = ReducibleTargetBot(bot, DOCUMENTS)
    assert isinstance(whole, ReducibleBot)
    assert (answered(whole), whole.identity, whole.documents) == (answered(bot), bot.identity, DOCUMENTS)
    once = whole.without(frozenset({"two.md"}), name="less")
    twice = once.without(frozenset({"one.md"}))
    assert answered(once) == "hm without ['two.md']"
    assert answered(twice) == "hm without ['one.md', 'two.md']"
    assert [each.id for each in twice.documents] == ["three.md"]
    assert (once.name, twice.name, whole.name) == ("less", "less", "mine")
    assert answered(whole) == "hm without []"


def test_what_is_left_out_is_part_of_what_it_is_made_of(folder):
    whole = ReducibleTargetBot(target_bot(folder, "function"), DOCUMENTS)
    kinds = [frozenset(), {"one.md"}, {"two.md"}, {"one.md", "two.md"}]
    prints = [whole.without(frozenset(gone)).identity.fingerprint for gone in kinds]
    assert len(set(prints)) == 4
    assert whole.without(frozenset({"unknown.md"})).identity == whole.identity
    upon = whole.without(frozenset({"two.md"})).without(frozenset({"one.md"}))
    assert upon.identity.fingerprint == prints[3]


def test_options_are_handed_over_beside_it(folder):
    bot = ReducibleTargetBot(target_bot(folder, "Class", mark="! "), DOCUMENTS)
    assert answered(bot.without(frozenset({"one.md"}))) == "hm ! without ['one.md']"


@pytest.mark.parametrize("name", ["deaf", "Deaf", "runnable", "number", "missing"])
def test_other_code_takes_no_knowledge(folder, name):
    assert not target_bot(folder, name).is_reducible
