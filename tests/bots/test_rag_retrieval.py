"""RAG bots with a cross-encoder, and with LangChain retrievers of the user's own."""

import asyncio
import gc
import re
import sys
from pathlib import Path

import pytest
import tiny_reranker
from proctor import InputError
from proctor.bots.bot import BotMisconfigured
from proctor.bots.building import BotResources, build_bot, index_folder
from proctor.bots.settings import BotSettings, RagSettings
from proctor.knowledge.documents.document import Document
from proctor.knowledge.documents.reading import Knowledge
from proctor.knowledge.models.batching import SharedVectors
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.reranker import Rerankers
from proctor.knowledge.retrieval.search import PassageSearch
from proctor.knowledge.retrieval.splitting import Splitting
from pydantic import TypeAdapter, ValidationError
from word_encoder import word_embedder

DOCUMENTS = tuple(
    Document(f"{name}.md", f"The {name} shop opens at nine.\n\nAll {name} is sold by six.")
    for name in ("tea", "coffee", "salt", "sugar", "rice", "corn")
)
CODE = """
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

class Words(BaseRetriever):
    passages: list
    k: int = 2

    def _get_relevant_documents(self, query, *, run_manager):
        shared = lambda each: -len(set(query.lower().split()) & set(each.page_content.lower().rstrip(".").split()))
        return sorted(self.passages, key=shared)[: self.k]

def of_passages(passages, k):
    assert all(each.metadata.keys() == {"source", "start_index", "end_index"} for each in passages)
    return Words(passages=passages, k=k)

def of_nothing():
    return ready

class Three:
    def __init__(self, passages):
        self.passages = passages
    def invoke(self, query):
        return self.passages[:3]

def three(passages):
    return Three(passages)

def similar(passages, k):
    return store(passages).as_retriever(search_kwargs={"k": k})

def diverse(passages, k):
    return store(passages).as_retriever(search_type="mmr", search_kwargs={"k": k, "fetch_k": 10})

def store(passages):
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore
    return InMemoryVectorStore.from_documents(passages, DeterministicFakeEmbedding(size=8))

class Plain:
    def __init__(self, documents):
        self.documents = documents
    def invoke(self, query):
        return self.documents

ready = Words(k=9, passages=[
    Document("All tea is sold by six.", metadata={"source": "tea.md"}),
    Document("The coffee shop opens at nine.", metadata={"source": "docs/coffee.md", "score": 0.25}),
    Document("The salt shop", metadata={"source": "salt.md", "start_index": 0}),
    Document("Never read anywhere.", metadata={"source": "rice.md"}),
    Document("From elsewhere.", metadata={"source": "https://example.org/x", "start_index": 3}),
    Document("Nobody knows."),
])
number = 7
def fails(passages):
    raise OSError("no index there")
def gives_text(passages):
    return "text"
class Broken:
    def invoke(self, query):
        return "not a list"
broken = Broken()
"""


@pytest.fixture
def base(tmp_path: Path):
    (tmp_path / "mine.py").write_text(CODE)
    before = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        if name.startswith("mine_"):
            del sys.modules[name]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_reranker.reranker_folder(tmp_path_factory.mktemp("models") / "tiny")


class QuestionsOnly:
    """An embedder that must not be asked for the passages of an index."""

    def __init__(self):
        self.inner = word_embedder()[0]
        self.model_id, self.embed, self.embed_fresh = self.inner.model_id, self.inner.embed, self.inner.embed_fresh
        self.load = self.inner.load

    def embed_now(self, texts):
        raise AssertionError(f"embedded again: {texts}")


def made(base, model=None, documents=DOCUMENTS, embedder=None, rerankers=None, **settings):
    settings = {"type": "rag", "chunk_size": 40, "chunk_overlap": 0, "top_k": 3} | settings
    knowledge = Knowledge(documents=documents)
    resources = BotResources(
        base,
        lambda: knowledge,
        embedder or word_embedder()[0],
        cache=base / "cache",
        rerankers=rerankers or Rerankers(ModelChoice(str(model or base), device="cpu"), base),
    )
    return build_bot("mine", TypeAdapter(BotSettings).validate_python(settings), resources)


def ask(bot, *questions):
    async def whole():
        await bot.prepare()
        try:
            return [await bot.reply(question) for question in questions]
        finally:
            await bot.close()

    return asyncio.run(whole())


def test_passages_stand_in_the_order_of_the_cross_encoder_with_its_scores(base, model):
    question = "when is tea sold"
    [reply] = ask(made(base, model, reranker="rerank", top_k=5), question)
    every = [each.text for each in ask(made(base, top_k=50), question)[0].contexts]
    scores = {text: tiny_reranker.score_of(model, question, text) for text in every}
    best = sorted(every, key=lambda text: -scores[text])[:5]
    assert len(every) == 12
    assert [each.text for each in reply.contexts] == best != every[:5]
    assert [each.score for each in reply.contexts] == pytest.approx([scores[text] for text in best], abs=1e-5)
    assert reply.trace["rerank_ms"] > 0 and reply.trace["retrieve_ms"] > 0
    assert "rerank_ms" not in ask(made(base), question)[0].trace


@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid", "mine.py:of_passages"])
def test_every_retriever_can_be_reranked(base, model, retriever):
    bot = made(base, model, retriever=retriever, reranker=str(model), top_k=2)
    [reply] = ask(bot, "coffee shop")
    first, second = reply.contexts
    assert first.score >= second.score
    assert first.score == pytest.approx(tiny_reranker.score_of(model, "coffee shop", first.text), abs=1e-5)
    assert bot.identity.settings["reranker"] == str(model)
    assert bot.identity.models["reranker"].startswith("tiny@")


def test_where_nothing_is_found_nothing_is_put_in_order(base, model):
    [reply] = ask(made(base, model, documents=(), reranker="rerank"), "tea")
    assert reply.contexts == ()


def test_a_bot_without_documents_is_reranked_as_one_over_the_smaller_knowledge(base, model):
    gone = frozenset({"tea.md", "corn.md"})
    reduced = made(base, model, reranker="rerank").without(gone)
    smaller = made(base, model, tuple(each for each in DOCUMENTS if each.id not in gone), reranker="rerank")
    assert reduced.identity == smaller.identity
    assert ask(reduced, "tea shop")[0].contexts == ask(smaller, "tea shop")[0].contexts


def test_bots_share_a_reranker_and_drop_it_when_all_are_closed(base, model):
    rerankers = Rerankers(ModelChoice(str(model), device="cpu"), base)
    one, other = (made(base, rerankers=rerankers, reranker="rerank", top_k=k) for k in (1, 2))

    async def whole():
        await one.prepare()
        await other.prepare()
        held = rerankers.named("rerank").take()
        loaded = await held.load()
        await one.close()
        await other.reply("tea")
        assert await rerankers.named("rerank").take().load() is loaded
        await other.close()
        return loaded

    loaded = asyncio.run(whole())
    gc.collect()
    again = rerankers.named("rerank").take()
    assert asyncio.run(again.load()) is not loaded
    again.close()


def test_a_reranker_that_is_not_there_or_is_none_is_said_by_the_bot(base, tmp_path):
    with pytest.raises(InputError, match=r"Bot mine: The reranker '\./gone' is neither a folder nor a model id"):
        made(base, reranker="./gone")
    other = tiny_reranker.reranker_folder(tmp_path / "nli", ("entailment", "neutral", "contradiction"))
    bot = made(base, other, reranker="rerank")
    with pytest.raises(BotMisconfigured, match=r"Bot mine: The reranker in .* has the outputs entailment"):
        asyncio.run(bot.prepare())
    asyncio.run(bot.close())


def test_a_least_cosine_does_not_go_with_a_reranker(base):
    with pytest.raises(ValueError, match="min_score is a cosine similarity, and reranker x/y ranks by other figures"):
        RagSettings(type="rag", reranker="x/y", min_score=0.1)


def test_a_ready_retriever_is_asked_and_what_it_finds_is_placed(base):
    bot = made(base, retriever="mine.py:ready", top_k=9)
    [reply] = ask(bot, "tea")
    found = {each.text: (each.document, each.start, each.end, each.score) for each in reply.contexts}
    start = DOCUMENTS[0].text.index("All tea")
    assert found == {
        "All tea is sold by six.": ("tea.md", start, start + 23, None),
        "The coffee shop opens at nine.": ("coffee.md", 0, 30, 0.25),
        "The salt shop": ("salt.md", 0, 13, None),
        "Never read anywhere.": ("rice.md", None, None, None),
        "From elsewhere.": ("https://example.org/x", 3, 18, None),
        "Nobody knows.": ("", None, None, None),
    }
    assert reply.answer


@pytest.mark.parametrize("name", ["of_passages", "Words", "Plain", "of_nothing"])
def test_functions_and_classes_that_make_a_retriever(base, name):
    [reply] = ask(made(base, retriever=f"mine.py:{name}", top_k=2), "tea sold")
    assert len(reply.contexts) == 2
    assert reply.contexts[0].text == "All tea is sold by six." or name == "Plain"
    for each in reply.contexts:
        text = next(document.text for document in DOCUMENTS if document.id == each.document)
        assert text[each.start : each.end] == each.text


def test_nothing_of_the_retrievers_code_is_run_before_it_is_prepared(base):
    (base / "mine.py").write_text("raise SystemExit('ran')")
    bot = made(base, retriever="mine.py:ready")
    assert bot.identity.kind == "rag"
    with pytest.raises(BotMisconfigured, match=r"Bot mine: mine.py:ready: importing mine.py failed with SystemExit"):
        asyncio.run(bot.prepare())


def test_its_code_is_part_of_the_identity_and_the_embedder_is_not(base):
    first = made(base, retriever="mine.py:ready").identity
    (base / "mine.py").write_text(CODE + "\n# changed\n")
    second = made(base, retriever="mine.py:ready").identity
    assert first.settings == second.settings and first.settings["retriever"] == "mine.py:ready"
    assert first.parts["retriever"] != second.parts["retriever"]
    assert first.models == {"chat": "extractive"}


@pytest.mark.parametrize("name", ["of_passages", "similar"])
@pytest.mark.parametrize("gone", [{"tea.md"}, {"tea.md", "salt.md"}, {each.id for each in DOCUMENTS[:-1]}])
def test_without_documents_the_next_passages_move_up(base, name, gone):
    bot = made(base, retriever=f"mine.py:{name}", top_k=3)
    reduced = bot.without(frozenset(gone))
    [all_of_them] = ask(made(base, retriever=f"mine.py:{name}", top_k=99), "tea sold")
    [reply], [whole] = ask(reduced, "tea sold"), ask(bot, "tea sold")
    assert whole.contexts == all_of_them.contexts[:3]
    assert list(reply.contexts) == [each for each in all_of_them.contexts if each.document not in gone][:3]
    assert reduced.identity.parts["retrieved from"] == bot.identity.parts["knowledge"]


@pytest.mark.parametrize("name", ["three", "diverse"])
def test_of_a_retriever_that_gives_no_more_nothing_moves_up(base, name):
    bot = made(base, retriever=f"mine.py:{name}", top_k=3)
    [whole] = ask(bot, "tea sold")
    gone = frozenset({whole.contexts[0].document})
    reduced = bot.without(gone)
    [reply] = ask(reduced, "tea sold")
    assert list(reply.contexts) == [each for each in whole.contexts if each.document not in gone]
    assert len(reply.contexts) < 3


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("number", "mine.py:number is of type int; a LangChain retriever was wanted"),
        ("fails", "could not be made: OSError: no index there"),
        ("gives_text", "mine.py:gives_text gave something of type str; a LangChain retriever was wanted"),
        ("redy", "there is no redy in it; did you mean ready"),
    ],
)
def test_what_is_no_retriever_stops_the_bot_with_a_sentence(base, name, sentence):
    bot = made(base, retriever=f"mine.py:{name}")
    with pytest.raises(BotMisconfigured, match=sentence):
        asyncio.run(bot.prepare())


def test_a_retriever_that_gives_something_else_fails_the_question(base):
    with pytest.raises(TypeError, match="contexts must be a list of passages, not a str"):
        ask(made(base, retriever="mine.py:broken"), "tea")


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("densee", "there is no retriever 'densee': there are dense, bm25, hybrid, .* did you mean dense?"),
        ("BM-25", "did you mean bm25?"),
        ("elastic", "there are dense, bm25, hybrid, and LangChain retrievers of your own as file.py:name$"),
    ],
)
def test_a_word_that_is_no_retriever_is_told_the_nearest_one(written, sentence):
    with pytest.raises(ValidationError) as raised:
        RagSettings(type="rag", retriever=written)
    (error,) = raised.value.errors()
    assert error["loc"] == ("retriever",)
    assert str(error["ctx"]["error"]) == error["msg"].removeprefix("Value error, ")
    assert re.search(sentence, error["msg"])


def test_a_target_that_is_not_there_is_said_when_the_bot_is_built(base):
    with pytest.raises(InputError, match=r"Bot mine: .*absent\.py"):
        made(base, retriever="absent.py:ready")
    with pytest.raises(InputError, match=r"write it as file\.py:name"):
        made(base, retriever="mine.py:")


def test_passages_with_half_characters_are_handed_over(base):
    odd = (Document("odd.md", "Half \ud800 of a sign."),)
    [reply] = ask(made(base, documents=odd, retriever="mine.py:of_passages"), "half")
    (context,) = reply.contexts
    assert (context.document, context.start, context.end) == ("odd.md", 0, len(odd[0].text))


def test_what_others_indexed_in_the_suites_folder_is_not_embedded_again(base):
    vectors = SharedVectors(word_embedder()[0])
    PassageSearch.open("dense", DOCUMENTS, Splitting("recursive", 40, 0), vectors, index_folder(base, base / "cache"))
    assert vectors.distinct == 12
    [reply] = ask(made(base, embedder=QuestionsOnly()), "tea shop")
    assert reply.contexts[0].document == "tea.md"
    assert index_folder(base, None) is None
