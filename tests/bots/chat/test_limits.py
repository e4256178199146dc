"""Limiter: order, halving once a burst, Retry-After for everyone, growing back, and no place ever lost."""

import asyncio

import pytest
from proctor.bots.bot import BotMisconfigured
from proctor.bots.chat.limits import LOST, MANY, PATIENCE, Limiter, Slot, Turnstile, deadline, deadline_paused


class FakeClock:
    """Seconds that pass only when someone sleeps; sleepers wake in the order of their time."""

    def __init__(self):
        self.now = 100.0
        self.slept = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


async def settle():
    for _ in range(10):
        await asyncio.sleep(0)


class Crowd:
    """Requests that stay under way until they are told to finish."""

    def __init__(self, limiter):
        self.limiter = limiter
        self.sent = []
        self.slots = {}
        self.ends = {}
        self.tasks = {}

    async def _request(self, name):
        async with self.limiter.slot() as slot:
            self.sent.append(name)
            self.slots[name] = slot
            await self.ends[name].wait()

    async def start(self, *names):
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._request(name))
        await settle()

    async def finish(self, *names):
        for name in names:
            self.ends[name].set()
        await settle()


def burst(limiter, slot, retry_after=None):
    """As many 429s as show that it is not one unlucky request."""
    for _ in range(MANY):
        limiter.throttled(slot, retry_after)


async def test_no_more_than_the_ceiling_and_in_order():
    crowd = Crowd(Limiter(2))
    await crowd.start("a", "b", "c", "d")
    assert crowd.sent == ["a", "b"]
    await crowd.finish("b")
    assert crowd.sent == ["a", "b", "c"]
    await crowd.start("e")
    await crowd.finish("a", "c")
    assert crowd.sent == ["a", "b", "c", "d", "e"]
    await crowd.finish("d", "e")
    assert crowd.limiter.in_flight == 0


async def test_a_burst_of_429_halves_once_and_the_next_burst_again():
    # Only one request was under way at the second cut, so the limit falls to one, never to zero.
    clock = FakeClock()
    limiter = Limiter(8, clock=clock, sleep=clock.sleep)
    crowd = Crowd(limiter)
    await crowd.start(*range(8))
    clock.now += 1
    for name in range(MANY):
        limiter.throttled(crowd.slots[name])
    assert limiter.limit == 4
    await crowd.finish(*range(8))
    clock.now += 1
    await crowd.start("later")
    burst(limiter, crowd.slots["later"])
    await crowd.finish("later")
    assert limiter.limit == 1


async def test_halves_what_was_under_way_and_not_the_unused_ceiling():
    limiter = Limiter(256)
    crowd = Crowd(limiter)
    await crowd.start(*range(16))
    burst(limiter, crowd.slots[0])
    await crowd.finish(*range(16))
    assert limiter.limit == 8


async def test_requests_wait_while_more_are_under_way_than_the_cut_limit():
    limiter = Limiter(4)
    crowd = Crowd(limiter)
    await crowd.start(*"abcd")
    burst(limiter, crowd.slots["a"])
    await crowd.start("e")
    await crowd.finish("a", "b")
    assert crowd.sent == list("abcd")
    await crowd.finish("c")
    assert crowd.sent == list("abcde")
    await crowd.finish("d", "e")


async def test_retry_after_holds_everyone_back_and_is_reported_as_waiting():
    clock = FakeClock()
    limiter = Limiter(4, clock=clock, sleep=clock.sleep)
    crowd = Crowd(limiter)
    await crowd.start("told")
    burst(limiter, crowd.slots["told"], retry_after=7.0)
    await crowd.finish("told")
    await crowd.start("other")
    await crowd.finish("other")
    assert clock.slept == [7.0]
    assert crowd.slots["other"] == Slot(waited=7.0, given_at=107.0)


async def test_a_shorter_retry_after_does_not_cut_a_longer_one_short():
    clock = FakeClock()
    limiter = Limiter(4, clock=clock, sleep=clock.sleep)
    burst(limiter, Slot(0, clock.now), retry_after=9.0)
    burst(limiter, Slot(0, clock.now), retry_after=2.0)
    async with limiter.slot() as slot:
        assert slot.waited == 9.0


def test_grows_back_by_one_for_half_a_window_up_to_the_ceiling():
    limiter = Limiter(3)
    burst(limiter, Slot(0, 0))
    assert limiter.limit == 1
    limits = []
    for _ in range(8):
        limiter.succeeded()
        limits.append(limiter.limit)
    assert limits == [2, 3, 3, 3, 3, 3, 3, 3]


async def test_growing_lets_the_next_one_in():
    limiter = Limiter(2)
    burst(limiter, Slot(0, 0))
    crowd = Crowd(limiter)
    await crowd.start("a", "b")
    assert crowd.sent == ["a"]
    limiter.succeeded()
    await settle()
    assert crowd.sent == ["a", "b"]
    await crowd.finish("a", "b")


async def test_a_cancelled_waiter_leaves_no_hole():
    crowd = Crowd(Limiter(1))
    await crowd.start("a", "b", "c")
    crowd.tasks["b"].cancel()
    await settle()
    await crowd.finish("a")
    assert crowd.sent == ["a", "c"]
    await crowd.finish("c")
    assert crowd.limiter.in_flight == 0


async def test_cancelled_in_the_tick_in_which_the_place_was_given():
    crowd = Crowd(Limiter(1))
    await crowd.start("a", "b", "c")
    crowd.ends["a"].set()
    await asyncio.sleep(0)  # "a" leaves and hands its place to "b", which has not run yet
    crowd.tasks["b"].cancel()
    await settle()
    assert crowd.sent == ["a", "c"]
    await crowd.finish("c")
    assert crowd.limiter.in_flight == 0


async def test_a_request_that_fails_gives_its_place_back():
    limiter = Limiter(1)
    with pytest.raises(RuntimeError):
        async with limiter.slot():
            raise RuntimeError
    async with limiter.slot() as slot:
        assert slot.waited < 1


def test_the_more_careful_of_two_ceilings_holds():
    limiter = Limiter(64)
    limiter.lower_ceiling(8)
    limiter.lower_ceiling(32)
    assert limiter.limit == 8
    limiter.succeeded()
    assert limiter.limit == 8


def test_no_room_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        Limiter(0)


async def test_a_turnstile_leaves_room_for_others_and_hands_on_what_the_endpoint_says():
    whole = Limiter(4)
    crowd = Crowd(Turnstile(2, whole))
    await crowd.start("a", "b", "c")
    assert crowd.sent == ["a", "b"]
    assert whole.in_flight == 2
    async with whole.slot(), whole.slot() as slot:  # room for two of another kind
        burst(crowd.limiter, slot)
    assert whole.limit == 2
    await crowd.finish("a", "b")
    await crowd.finish("c")
    assert (crowd.sent, whole.in_flight) == (["a", "b", "c"], 0)


async def test_a_turnstile_waits_for_the_limiter_beyond_it_as_well():
    whole = Limiter(1)
    crowd = Crowd(Turnstile(2, whole))
    await crowd.start("a", "b")
    assert crowd.sent == ["a"]
    await crowd.finish("a")
    assert crowd.sent == ["a", "b"]
    await crowd.finish("b")


async def test_a_turnstile_that_is_shut_turns_away_all_that_wait():
    turnstile = Turnstile(1)

    async def come():
        async with turnstile.slot():
            pass

    async with turnstile.slot():
        waiting = asyncio.create_task(come())
        await settle()
        turnstile.shut("it is of no use")
    with pytest.raises(BotMisconfigured, match="it is of no use"):
        await waiting
    with pytest.raises(BotMisconfigured):
        await come()


async def test_a_single_429_slows_nobody_else():
    clock = FakeClock()
    limiter = Limiter(8, clock=clock, sleep=clock.sleep)
    for _ in range(40):  # one in ten
        for _ in range(9):
            limiter.succeeded()
        limiter.throttled(Slot(0, clock.now), retry_after=9.0)
    async with limiter.slot() as slot:
        assert (limiter.limit, slot.waited) == (8, 0.0)


async def test_what_is_sent_again_goes_first():
    limiter = Limiter(1)
    crowd = Crowd(limiter)
    await crowd.start("a", "b")

    async def again():
        async with limiter.slot(again=True):
            crowd.sent.append("again")

    retried = asyncio.create_task(again())
    await settle()
    await crowd.finish("a")
    await retried
    await crowd.finish("b")
    assert crowd.sent == ["a", "again", "b"]


def test_an_endpoint_that_is_away_is_tried_by_one_request_at_a_time_until_it_is_back():
    clock = FakeClock()
    limiter = Limiter(8, clock=clock, sleep=clock.sleep)
    limiter.succeeded()
    assert [limiter.unreachable() for _ in range(LOST)] == [False] * (LOST - 1) + [True]
    assert limiter.limit == 1

    async def probe():
        async with limiter.slot() as slot:
            return slot.waited

    assert asyncio.run(probe()) > 0
    limiter.succeeded()
    assert (limiter.limit, asyncio.run(probe())) == (8, 0.0)


def test_an_endpoint_that_stays_away_or_never_answered_is_not_waited_for():
    clock = FakeClock()
    dead = Limiter(8, clock=clock, sleep=clock.sleep)
    assert not any(dead.unreachable() for _ in range(50))
    gone = Limiter(8, clock=clock, sleep=clock.sleep)
    gone.succeeded()
    for _ in range(LOST):
        gone.unreachable()
    clock.now += PATIENCE
    assert not gone.unreachable()
    assert gone.limit == 8


def test_what_hangs_is_tried_by_one_request_at_a_time_and_given_up_and_its_endpoint_goes_on():
    clock = FakeClock()
    own, beyond = (Limiter(8, clock=clock, sleep=clock.sleep) for _ in range(2))
    turnstile = Turnstile(own, beyond)
    turnstile.succeeded()
    clock.now += 1
    sent = Slot(0.0, clock.now)
    assert [turnstile.timed_out(sent) for _ in range(LOST)] == [False] * (LOST - 1) + [True]
    assert (own.limit, beyond.limit, turnstile.is_away, turnstile.gave_up) == (1, 8, True, False)
    clock.now += PATIENCE
    assert not turnstile.timed_out(sent)
    assert turnstile.gave_up
    turnstile.succeeded()
    assert (own.limit, turnstile.is_away, turnstile.gave_up) == (8, False, False)
    assert not any(turnstile.timed_out(sent) for _ in range(50))  # sent before the last answer: it is slow


# The time limit of a question, which our own waiting does not use up


async def test_time_is_up_when_it_is_up():
    with pytest.raises(TimeoutError):
        async with deadline(0.02):
            await asyncio.sleep(10)


async def test_our_own_waiting_does_not_count():
    async with deadline(0.1):
        for _ in range(3):
            with deadline_paused():
                await asyncio.sleep(0.1)


async def test_after_the_waiting_the_time_that_was_left_runs_on():
    async def wait_twice():
        async with deadline(0.05):
            with deadline_paused():
                await asyncio.sleep(0.1)
            await asyncio.sleep(10)

    with pytest.raises(TimeoutError):
        await wait_twice()


async def test_waits_that_overlap_stop_the_clock_until_the_last_is_over():
    async def wait(seconds):
        with deadline_paused():
            await asyncio.sleep(seconds)

    async with deadline(0.05):
        await asyncio.gather(wait(0.02), wait(0.2))


async def test_without_a_limit_and_outside_of_one_nothing_happens():
    with deadline_paused():
        pass
    async with deadline(None):
        with deadline_paused():
            pass


async def test_a_task_that_outlives_the_question_may_still_wait():
    async def late():
        await asyncio.sleep(0.02)
        with deadline_paused():
            return "late"

    async with deadline(5):
        task = asyncio.create_task(late())
    assert await task == "late"
