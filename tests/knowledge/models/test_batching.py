import asyncio
import gc
import os
import sys
import threading
import weakref

import numpy as np
import pytest
from closing import closing
from counting_encoder import CountingEncoder, embedder_of, in_queue, keep_busy, vector_of
from proctor.knowledge.models.batching import NICENESS, BatchingEmbedder, one_answer
from proctor.knowledge.models.encoder import Embedded


@pytest.fixture
def encoder():
    return CountingEncoder()


def test_vectors_come_in_the_order_of_the_texts(encoder):
    texts = ["a longer text than the others here", "short", "middle one"]
    found = asyncio.run(embedder_of(encoder).embed(texts))
    np.testing.assert_array_equal(found.vectors, [vector_of(text) for text in texts])
    assert found.vectors.dtype == np.float32
    assert found.truncated.tolist() == [True, False, False]


def test_no_texts_give_an_empty_table_of_the_right_width(encoder):
    embedder = embedder_of(encoder)
    for found in (
        asyncio.run(embedder.embed([])),
        asyncio.run(embedder.embed_fresh([])),
        embedder.embed_now([]),
    ):
        assert found.vectors.shape == (0, 8) and found.truncated.shape == (0,)
    assert encoder.batches == []


def test_nothing_is_opened_before_the_first_call(encoder):
    opened = []
    embedder = BatchingEmbedder(lambda: opened.append(1) or encoder, "counting@1")
    assert embedder.model_id == "counting@1" and opened == []
    asyncio.run(embedder.load())
    asyncio.run(embedder.load())
    asyncio.run(embedder.embed(["a"]))
    assert opened == [1]


async def test_a_text_is_embedded_once(encoder):
    embedder = embedder_of(encoder)
    busy = await keep_busy(embedder, encoder)
    tasks = await in_queue(encoder, *(embedder.embed(["same", "same", f"own {i}"]) for i in range(5)))
    await asyncio.gather(busy, *tasks)
    await embedder.embed(["same"])
    assert sorted(encoder.texts) == ["first", *(f"own {i}" for i in range(5)), "same"]


async def test_calls_in_flight_are_gathered_and_sorted_by_length(encoder):
    embedder = embedder_of(encoder)
    texts = ["wide " * n for n in (9, 1, 5, 3)]
    busy = await keep_busy(embedder, encoder)
    tasks = await in_queue(encoder, *(embedder.embed([text]) for text in texts))
    await asyncio.gather(busy, *tasks)
    assert encoder.batches == [["first"], sorted(texts, key=len)]


def test_batches_are_bounded_in_texts_and_characters(encoder):
    embedder_of(encoder, max_batch=10).embed_now([f"text {i}" for i in range(35)])
    assert [len(batch) for batch in encoder.batches] == [10, 10, 10, 5]
    encoder.batches.clear()
    embedder_of(encoder).embed_now(["x" * 3000, "y" * 2000, "z" * 9000])
    assert [[len(text) for text in batch] for batch in encoder.batches] == [[2000], [3000], [9000]]


async def test_a_fresh_text_never_waits_for_the_metrics_and_is_not_kept():
    class Slow(CountingEncoder):
        """Holds every call but those for what a bot asks."""

        def encode(self, texts):
            if texts == ["asked"]:
                self.batches.append(texts)
                return Embedded(np.array([vector_of("asked")]), np.array([False]))
            return super().encode(texts)

    encoder = Slow()
    embedder = embedder_of(encoder, max_batch=4)
    await embedder.load()
    encoder.gate.clear()
    waiting = asyncio.create_task(embedder.embed([f"metric {i}" for i in range(40)]))
    while not encoder.entered.is_set():
        await asyncio.sleep(0.01)
    await asyncio.wait_for(embedder.embed_fresh(["asked"]), 10)
    assert not waiting.done()
    encoder.gate.set()
    await waiting
    await embedder.embed_fresh(["asked"])
    await embedder.embed(["asked"])
    assert encoder.texts.count("asked") == 3


def test_a_fresh_text_is_not_taken_from_memory(encoder):
    embedder = embedder_of(encoder)
    asyncio.run(embedder.embed(["known"]))
    asyncio.run(embedder.embed_fresh(["known"]))
    assert encoder.texts == ["known", "known"]


async def test_one_answer_embeds_its_question_once_and_the_next_answer_again(encoder):
    embedder = embedder_of(encoder)
    for _ in range(2):
        with one_answer():
            first, second = [await embedder.embed_fresh(["question"]) for _ in range(2)]
            assert np.array_equal(first.vectors, second.vectors)
    assert encoder.texts == ["question", "question"]


def test_a_failure_reaches_every_waiter_of_its_batch_and_nobody_else():
    encoder = CountingEncoder(poison="bad")
    embedder = embedder_of(encoder, max_batch=2)

    async def scenario():
        busy = await keep_busy(embedder, encoder)
        calls = [embedder.embed([text]) for text in ("bad", "bad", "odd", "a longer one")]
        return await asyncio.gather(busy, *await in_queue(encoder, *calls), return_exceptions=True)

    first, *failed, unharmed = asyncio.run(scenario())
    assert encoder.batches[1] == ["bad", "odd"]
    assert [error is encoder.error for error in failed] == [True, True, True]
    assert len(first.vectors) == len(unharmed.vectors) == 1
    encoder.poison = None
    np.testing.assert_array_equal(asyncio.run(embedder.embed(["bad"])).vectors[0], vector_of("bad"))


def test_an_encoder_that_gives_too_few_vectors_is_an_error():
    class Short(CountingEncoder):
        def encode(self, texts):
            return super().encode(texts[:-1])

    with pytest.raises(ValueError, match="gave 1 vectors for 2 texts"):
        asyncio.run(embedder_of(Short()).embed(["a", "b"]))


def test_an_encoder_that_cannot_be_opened_fails_every_call_and_is_tried_once():
    tried = []

    def open_encoder():
        tried.append(1)
        raise FileNotFoundError("no weights")

    embedder = BatchingEmbedder(open_encoder, "absent@1")
    for call in (embedder.embed(["a"]), embedder.embed_fresh(["b"]), embedder.load(), embedder.embed([])):
        with pytest.raises(FileNotFoundError, match="no weights"):
            asyncio.run(call)
    assert tried == [1]


async def test_cancelling_one_waiter_hurts_no_other_and_saves_its_work(encoder):
    embedder = embedder_of(encoder)
    busy = await keep_busy(embedder, encoder)
    lost = asyncio.create_task(embedder.embed(["shared", "only mine"]))
    kept = asyncio.create_task(embedder.embed(["shared"]))
    await asyncio.sleep(0.01)
    lost.cancel()
    await asyncio.sleep(0.01)
    encoder.gate.set()
    await busy
    found = await asyncio.wait_for(kept, 10)
    with pytest.raises(asyncio.CancelledError):
        await lost
    again = await embedder.embed(["only mine"])
    np.testing.assert_array_equal(found.vectors[0], vector_of("shared"))
    np.testing.assert_array_equal(again.vectors[0], vector_of("only mine"))
    assert encoder.batches == [["first"], ["shared"], ["only mine"]]


async def test_cancelling_a_load_leaves_the_encoder_to_others(encoder):
    opening = threading.Event()

    def open_slowly():
        assert opening.wait(10)
        return encoder

    embedder = BatchingEmbedder(open_slowly, "counting@1")
    lost, kept = asyncio.create_task(embedder.load()), asyncio.create_task(embedder.load())
    await asyncio.sleep(0.01)
    lost.cancel()
    await asyncio.sleep(0.01)
    opening.set()
    await asyncio.wait_for(kept, 10)
    assert lost.cancelled()


def test_event_loops_may_follow_each_other_and_end_early(encoder):
    embedder = embedder_of(encoder)

    async def leaves():
        encoder.gate.clear()
        task = asyncio.create_task(embedder.embed(["left behind"]))
        await asyncio.to_thread(encoder.entered.wait, 10)
        return task

    assert asyncio.run(leaves()).cancelled()  # asyncio.run cancels what is left
    encoder.gate.set()
    for text in ("a", "b", "a"):
        np.testing.assert_array_equal(asyncio.run(embedder.embed([text])).vectors[0], vector_of(text))
    assert encoder.texts == ["left behind", "a", "b"]


def test_two_loops_at_once(encoder):
    embedder = embedder_of(encoder)
    found = {}

    def work(name):
        async def many():
            await asyncio.gather(*(embedder.embed([f"{name} {i}", f"both {i}"]) for i in range(50)))
            return await embedder.embed([f"{name} 7"])

        found[name] = asyncio.run(many())

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "ab":
        np.testing.assert_array_equal(found[name].vectors[0], vector_of(f"{name} 7"))
    assert len(encoder.texts) == len(set(encoder.texts)) == 150


async def test_closing_fails_those_who_wait_and_all_later_calls(encoder):
    embedder = embedder_of(encoder)
    busy = await keep_busy(embedder, encoder)
    waiting = asyncio.create_task(embedder.embed(["never"]))
    await asyncio.sleep(0.01)
    closed = await closing(embedder.close, lambda: embedder.embed(["too late"]))
    encoder.gate.set()
    await closed
    assert len((await busy).vectors) == 1
    with pytest.raises(RuntimeError, match="closed"):
        await waiting
    with pytest.raises(RuntimeError, match="closed"):
        await embedder.embed(["late"])
    embedder.close()


def test_the_thread_ends_when_nobody_holds_the_embedder(encoder):
    before = set(threading.enumerate())
    embedder = embedder_of(encoder)
    asyncio.run(embedder.embed(["a"]))
    (thread,) = (thread for thread in threading.enumerate() if thread not in before and thread.name == "model")
    gone = weakref.ref(embedder)
    del embedder
    gc.collect()
    assert gone() is None and not thread.is_alive()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere priorities belong to whole programs")
async def test_an_embedder_that_stepped_back_lets_others_go_before_but_not_those_that_are_timed():
    class Watched(CountingEncoder):
        def encode(self, texts):
            here = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            priorities.update(dict.fromkeys(texts, here))
            return super().encode(texts)

    priorities = {}
    embedder = embedder_of(Watched())
    await embedder.embed(["before"])
    embedder.lower_priority()
    found = await asyncio.gather(*(embedder.embed([f"after {number}"]) for number in range(5)))
    np.testing.assert_array_equal(found[3].vectors, [vector_of("after 3")])
    await embedder.embed_fresh(["timed"])
    usual = priorities["before"]
    assert priorities["timed"] == usual
    assert priorities["after 0"] == max(usual, NICENESS)  # a program that is told to be nicer stays so


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor has nothing to share")
def test_batches_run_side_by_side_of_an_embedder_that_stepped_back_and_of_a_long_list():
    class Meeting(CountingEncoder):
        def encode(self, texts):
            if texts != ["first"] and len(here) < 2:
                here.append(threading.get_ident())
                met.wait()  # broken after 20 s where the other batch comes later
            return super().encode(texts)

    for texts, steps_back in ((["x" * 4000, "y" * 4001], True), ([f"text {number}" for number in range(600)], False)):
        here: list[int] = []
        met = threading.Barrier(2, timeout=20)
        embedder = embedder_of(Meeting())
        if steps_back:
            embedder.lower_priority()
        embedder.embed_now(["first"])
        found = embedder.embed_now(texts)
        np.testing.assert_array_equal(found.vectors, [vector_of(text) for text in texts])
        assert len(set(here)) == 2
        embedder.close()
