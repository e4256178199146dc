import asyncio
import logging
import threading

import numpy as np
import pytest
from counting_encoder import CountingEncoder, embedder_of, in_queue, keep_busy, vector_of
from proctor.knowledge.models.batching import BatchingEmbedder


class Keeper:
    """Keeps in a dictionary, and remembers calls and threads."""

    def __init__(self):
        self.kept, self.loads, self.saves, self.threads = {}, [], [], set()

    def load(self, model_id, keys):
        self.threads.add(threading.current_thread())
        self.loads.append(list(keys))
        return {key: self.kept[model_id, key] for key in keys if (model_id, key) in self.kept}

    def save(self, model_id, items):
        self.threads.add(threading.current_thread())
        self.saves.append(len(items))
        self.kept.update({(model_id, key): value for key, value in items})


class BrokenKeeper:
    def load(self, model_id, keys):
        raise OSError("disk gone")

    def save(self, model_id, items):
        raise AssertionError("a keeper that can't be read is not written")


@pytest.fixture
def encoder():
    return CountingEncoder()


async def test_memory_is_bounded_and_drops_what_was_used_longest_ago(encoder):
    embedder = embedder_of(encoder, memory_mb=1)  # about 3,700 vectors of 8 dimensions
    await embedder.embed([f"old {i}" for i in range(3000)])
    await embedder.embed(["old 0"])
    await embedder.embed([f"new {i}" for i in range(3000)])
    encoder.batches.clear()
    await embedder.embed(["old 0", "old 1", "new 2999"])
    assert encoder.texts == ["old 1"]


def test_no_memory_at_all_still_answers(encoder):
    embedder = embedder_of(encoder, memory_mb=0)
    for _ in range(2):
        asyncio.run(embedder.embed(["again"]))
    assert encoder.texts == ["again", "again"]


def test_a_keeper_gives_back_what_an_earlier_embedder_gave_it():
    first, second, keeper = CountingEncoder(), CountingEncoder(), Keeper()
    texts = ["one", "two", "a text of more than five words", "\ud800"]
    embedder = embedder_of(first, keeper=keeper)
    before = asyncio.run(embedder.embed(texts))
    embedder.close()
    opened = []
    again = BatchingEmbedder(lambda: opened.append(1) or second, "counting@1", keeper)
    after = asyncio.run(again.embed(texts))
    np.testing.assert_array_equal(before.vectors, after.vectors)
    assert after.truncated.tolist() == [False, False, True, False]
    assert opened == [] and second.texts == []
    assert {len(key) for _, key in keeper.kept} == {16}
    other = BatchingEmbedder(lambda: second, "another@1", keeper)
    asyncio.run(other.embed(["one"]))
    assert second.texts == ["one"]
    assert threading.current_thread() not in keeper.threads


async def test_the_keeper_is_called_in_few_batches(encoder):
    keeper = Keeper()
    embedder = embedder_of(encoder, keeper=keeper, max_batch=8)
    busy = await keep_busy(embedder, encoder)
    tasks = await in_queue(encoder, *(embedder.embed([f"row {i}"]) for i in range(30)))
    await asyncio.gather(busy, *tasks)
    embedder.close()
    assert [len(keys) for keys in keeper.loads] == [1, 30]
    assert keeper.saves == [31]


def test_what_is_idle_is_saved_without_a_close(encoder):
    keeper = Keeper()
    saved = threading.Event()
    keeper.save = lambda model_id, items: saved.set()
    embedder = embedder_of(encoder, keeper=keeper)
    asyncio.run(embedder.embed(["one"]))
    assert saved.wait(10)


def test_damaged_kept_vectors_are_made_again(encoder):
    keeper = Keeper()
    keeper.load = lambda model_id, keys: dict.fromkeys(keys, b"\0\0\0")
    found = asyncio.run(embedder_of(encoder, keeper=keeper).embed(["one"]))
    np.testing.assert_array_equal(found.vectors[0], vector_of("one"))


def test_a_broken_keeper_is_done_without(encoder, caplog):
    embedder = embedder_of(encoder, keeper=BrokenKeeper())
    with caplog.at_level(logging.WARNING):
        for text in ("one", "two"):
            asyncio.run(embedder.embed([text]))
        embedder.close()
    assert len(caplog.records) == 1 and "disk gone" in caplog.text
    assert encoder.texts == ["one", "two"]


def test_embed_now_takes_long_lists_and_keeps_nothing_unless_told(encoder):
    keeper = Keeper()
    embedder = embedder_of(encoder, keeper=keeper)
    texts = [f"passage {i}" for i in range(9000)]
    found = embedder.embed_now(texts)
    np.testing.assert_array_equal(found.vectors[8999], vector_of("passage 8999"))
    assert found.vectors.shape == (9000, 8) and keeper.loads == []
    embedder.embed_now(["kept"], keep=True)
    embedder.embed_now(["kept"], keep=True)
    embedder.close()
    assert encoder.texts.count("kept") == 1 and len(keeper.kept) == 1


def test_fresh_texts_are_neither_looked_up_nor_kept(encoder):
    keeper = Keeper()
    embedder = embedder_of(encoder, keeper=keeper)
    asyncio.run(embedder.embed_fresh(["asked"]))
    embedder.close()
    assert keeper.loads == keeper.saves == []
