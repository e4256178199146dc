"""The time limit of a question, which our own waiting does not use up."""

import asyncio

import pytest
from proctor.bots.chat.limits import deadline, deadline_paused


def test_time_is_up_when_it_is_up():
    async def run():
        async with deadline(0.02):
            await asyncio.sleep(10)

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_our_own_waiting_does_not_count():
    async def run():
        async with deadline(0.1):
            for _ in range(3):
                with deadline_paused():
                    await asyncio.sleep(0.1)
            return "done"

    assert asyncio.run(run()) == "done"


def test_after_the_waiting_the_time_that_was_left_runs_on():
    async def run():
        async with deadline(0.05):
            with deadline_paused():
                await asyncio.sleep(0.1)
            await asyncio.sleep(10)

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_waits_that_overlap_stop_the_clock_until_the_last_is_over():
    async def wait(seconds):
        with deadline_paused():
            await asyncio.sleep(seconds)

    async def run():
        async with deadline(0.05):
            await asyncio.gather(wait(0.02), wait(0.2))
            return "done"

    assert asyncio.run(run()) == "done"


def test_without_a_limit_and_outside_of_one_nothing_happens():
    async def run():
        with deadline_paused():
            pass
        async with deadline(None):
            with deadline_paused():
                return "done"

    assert asyncio.run(run()) == "done"


def test_a_task_that_outlives_the_question_may_still_wait():
    async def late():
        await asyncio.sleep(0.02)
        with deadline_paused():
            return "late"

    async def run():
        async with deadline(5):
            task = asyncio.create_task(late())
        return await task

    assert asyncio.run(run()) == "late"
