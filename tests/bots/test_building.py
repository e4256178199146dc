"""Every type of bot is built from its settings, knows what it is made of before it is loaded, and answers."""

import asyncio
import sys
from pathlib import Path

import pytest
from openai_server import OpenAIServer
from proctor import InputError
from proctor.bots.bot import BotMisconfigured
from proctor.bots.building import BotResources, build_bot
from proctor.bots.chat.models import ChatModelSettings
from proctor.bots.settings import BOT_KINDS, BotSettings
from proctor.bots.target_bots import BuiltBot
from proctor.knowledge.documents.reading import read_knowledge
from pydantic import TypeAdapter, ValidationError
from word_encoder import word_embedder

BOT = """
class Bot:
    def __init__(self, mark="."):
        self.mark = mark
    def reply(self, question):
        return question + self.mark
def answer(question):
    return question.upper()
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite's folder with a file of each kind that settings name."""
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "hours.md").write_text("# Hours\n\nThe shop opens at nine.\n")
    (tmp_path / "documents" / "parcels.md").write_text("# Parcels\n\nParcels go back within thirty days.\n")
    (tmp_path / "faq.csv").write_text("question,answer\nWhen do you open?,At nine.\n")
    (tmp_path / "prompt.md").write_text("{context}\n{question}\n{tone}\n")
    (tmp_path / "my_bot.py").write_text(BOT)
    (tmp_path / "chain.py").write_text(
        "from langchain_core.runnables import RunnableLambda\nchain = RunnableLambda(str.upper)\n"
    )
    (tmp_path / "old.jsonl").write_text('{"question": "When do you open?", "answer": "At ten."}\n')
    before = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        if name.startswith(("my_bot", "chain_")):
            del sys.modules[name]


def settings(**given):
    return TypeAdapter(BotSettings).validate_python(given)


def resources(suite: Path, **more) -> BotResources:
    embedder = more.pop("embedder", None) or word_embedder()[0]
    return BotResources(suite, lambda: read_knowledge([suite / "documents"], suite), embedder, **more)


def built(suite: Path, more=None, **given) -> BuiltBot:
    return build_bot("mine", settings(**given), resources(suite, **(more or {})))


def ask(bot: BuiltBot, question: str):
    async def once():
        await bot.prepare()
        try:
            return await bot.reply(question)
        finally:
            await bot.close()

    return asyncio.run(once())


SETTINGS = {
    "faq": {"type": "faq", "entries": "faq.csv"},
    "full": {"type": "full_context"},
    "rag": {"type": "rag", "chunk_size": 60, "chunk_overlap": 0, "top_k": 1},
    "python": {"type": "python", "target": "my_bot.py:answer"},
    "class": {"type": "python", "target": "my_bot.py:Bot", "options": {"mark": "!"}},
    "langchain": {"type": "langchain", "target": "chain.py:chain"},
    "recorded": {"type": "recorded", "answers": "old.jsonl"},
    "http": {"type": "http", "url": "http://127.0.0.1:9/"},
}


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("faq", "At nine."),
        ("full", "The shop opens at nine."),
        ("rag", "The shop opens at nine."),
        ("python", "WHEN DO YOU OPEN?"),
        ("class", "When do you open?!"),
        ("langchain", "WHEN DO YOU OPEN?"),
        ("recorded", "At ten."),
    ],
)
def test_every_type_answers(suite: Path, kind: str, answer: str):
    bot = built(suite, **SETTINGS[kind])
    question = "When do you open?" if kind not in ("full", "rag") else "When does the shop open, at nine?"
    assert answer in ask(bot, question).answer


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_bot_is_a_built_bot_with_a_stable_identity(suite: Path, kind: str):
    embedder, encoder = word_embedder()
    bot = built(suite, {"embedder": embedder, "cache": suite / "cache"}, **SETTINGS[kind])
    assert isinstance(bot, BuiltBot) and bot.name == "mine"
    again = built(suite, **SETTINGS[kind], timeout=7, concurrency=3)
    assert bot.identity.fingerprint == again.identity.fingerprint
    assert encoder.texts == [] and not (suite / "cache").exists()
    assert not any(name.startswith(("my_bot_", "chain_")) for name in sys.modules)


@pytest.mark.parametrize(
    ("kind", "file", "content"),
    [
        ("faq", "faq.csv", "question,answer\nWhen do you open?,At ten.\n"),
        ("full", "documents/hours.md", "The shop opens at ten."),
        ("rag", "documents/new.md", "Something else."),
        ("python", "my_bot.py", BOT + "\n# changed"),
        ("langchain", "chain.py", "chain = None\n"),
        ("recorded", "old.jsonl", '{"question": "When do you open?", "answer": "At six."}\n'),
    ],
)
def test_the_identity_follows_the_files_it_is_made_of(suite: Path, kind: str, file: str, content: str):
    before = built(suite, **SETTINGS[kind]).identity.fingerprint
    (suite / file).write_text(content)
    assert built(suite, **SETTINGS[kind]).identity.fingerprint != before


@pytest.mark.parametrize("kind", ["full", "rag"])
def test_a_prompt_of_ones_own_is_part_of_the_bot(suite: Path, kind: str):
    bot = built(suite, **SETTINGS[kind], prompt="prompt.md")
    assert bot.identity.fingerprint != built(suite, **SETTINGS[kind]).identity.fingerprint
    assert bot.identity.prompts == {"prompt": "{context}\n{question}\n{tone}"}
    assert "{tone} is not a placeholder" in bot.warnings[0]


def test_a_named_model_is_asked_over_http(suite: Path):
    with OpenAIServer(lambda call: "Nine." if "[1] Hours (hours.md)" in call.prompt else "lost") as server:
        models = {"small": ChatModelSettings(model="openai:test-model", base_url=server.url, temperature=0)}
        bot = built(suite, {"models": models}, type="full_context", model="small")
        assert (bot.identity.model, bot.identity.embedded) == ("openai:test-model", False)
        reply = ask(bot, "When do you open?")
    assert reply.answer == "Nine."
    assert [each.document for each in reply.contexts] == ["hours.md", "parcels.md"]
    assert server.calls[0].body["temperature"] == 0
    assert len(reply.attempts_ms) == 1


def test_knowledge_that_is_too_long_for_a_model_stops_before_the_run(suite: Path):
    (suite / "documents" / "long.md").write_text("word " * 4000)
    with OpenAIServer(lambda call: "Nine.") as server:
        models = {"small": ChatModelSettings(model="openai:test-model", base_url=server.url, context_tokens=4000)}
        with pytest.raises(BotMisconfigured, match=r"openai:test-model takes 4,000, of which 2,976 are left"):
            ask(built(suite, {"models": models}, type="full_context", model="small"), "?")
        bot = built(suite, {"models": models}, type="full_context", model="small", overflow="truncate")
        assert ask(bot, "?").answer == "Nine."
        assert len(server.calls[-1].prompt) <= 2976 * 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"type": "faq", "entries": "fqa.csv"}, r"Bot mine: .*Did you mean .*faq\.csv"),
        ({"type": "rag", "prompt": "promt.md"}, r"Bot mine: .*Did you mean .*prompt\.md"),
        (
            {"type": "rag", "model": "smal"},
            r"Bot mine: there is no model 'smal' under .models.; did you mean 'small'\?",
        ),
        ({"type": "rag", "model": "opnai:x"}, r"Bot mine: 'opnai:x' is no chat model; .*did you mean 'openai:x'\?"),
        ({"type": "python", "target": "my_bto.py:answer"}, r"Bot mine: .*Did you mean .*my_bot\.py"),
        ({"type": "python", "target": "my_bot.answer"}, "Bot mine: 'my_bot.answer' does not say which function"),
        ({"type": "recorded", "answers": "odl.jsonl"}, r"Bot mine: .*Did you mean .*old\.jsonl"),
        ({"type": "http", "url": "http://h/", "answer": "a."}, r"Bot mine: answer 'a\.' has an empty part"),
    ],
)
def test_mistakes_are_named_with_the_bot_and_the_nearest_right_thing(suite: Path, given, message):
    models = {"small": ChatModelSettings(model="openai:test-model", base_url="http://127.0.0.1:9/v1")}
    with pytest.raises(InputError, match=message):
        built(suite, {"models": models}, **given)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("my_bot.py:anwser", r"Bot mine: my_bot\.py:anwser: there is no anwser in it; did you mean answer\?"),
        ("my_bot.py:BOT_NUMBER", "a bot must be a function"),
        ("my_bot.py:Picky", "Bot mine: my_bot.py:Picky could not be made: TypeError: .*missing 1 required"),
    ],
)
def test_code_that_holds_no_bot_stops_the_bot(suite: Path, target: str, message: str):
    picky = "class Picky:\n    def __init__(self, needed): ...\n    def reply(self, question): ...\n"
    (suite / "my_bot.py").write_text(f"{BOT}\nBOT_NUMBER = 3\n{picky}")
    with pytest.raises(BotMisconfigured, match=message):
        ask(built(suite, type="python", target=target), "q")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"type": "rga"}, "does not match any of the expected tags"),
        ({"type": "faq", "entries": "f.csv", "min_similarty": 0.3}, "Extra inputs are not permitted"),
        ({"type": "faq", "entries": "f.csv", "min_similarity": 30}, "less than or equal to 1"),
        ({"type": "rag", "chunk_size": 100, "chunk_overlap": 100}, r"chunk_overlap \(100\) must be smaller"),
        ({"type": "rag", "top_k": 0}, "greater than or equal to 1"),
    ],
)
def test_settings_are_checked(given, message):
    with pytest.raises(ValidationError, match=message):
        settings(**given)


def test_every_setting_is_described_for_editors():
    schema = TypeAdapter(BotSettings).json_schema()
    assert set(schema["discriminator"]["mapping"]) == set(BOT_KINDS)
    for kind, described in schema["$defs"].items():
        for key, setting in described["properties"].items():
            assert setting.get("description"), f"{kind}.{key} has no description"


@pytest.mark.weights
def test_the_packaged_model_tells_meanings_apart(suite: Path):
    from proctor.knowledge.models.batching import BatchingEmbedder
    from proctor.knowledge.models.embedding import EmbedderSettings, open_encoder

    wanted = EmbedderSettings()
    embedder = BatchingEmbedder(lambda: open_encoder(wanted), wanted.model_id)
    (suite / "faq.csv").write_text("question,answer\nWhen do you open?,At nine.\nHow do I send goods back?,By post.\n")
    try:
        more = {"embedder": embedder}
        faq = built(suite, more, type="faq", entries="faq.csv", match="embedding", min_similarity=0.3)
        assert ask(faq, "I want to return my order").answer == "By post."
        assert ask(faq, "What is the capital of Peru?").abstained is True
        rag = built(suite, more, **SETTINGS["rag"])
        assert ask(rag, "I want to return my order").contexts[0].document == "parcels.md"
    finally:
        embedder.close()
