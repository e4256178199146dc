"""How much of an endpoint's speed our chat client leaves: against a bare loop over the same client, and the ideal.

Run ``python tests/benchmarks/bench_chat.py``. A server process on loopback answers after 50 ms, then after 200 ms;
64 requests are under way. To reach: 85 % of the bare loop at 50 ms, 90 % of the ideal 320 answers/s at 200 ms.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from proctor.bots.chat.model import ChatRequest
from proctor.bots.chat.openai import Endpoint, OpenAIChat

SERVER = Path(__file__).parents[1] / "support" / "openai_server.py"
PROMPT = "Answer from these passages. " + "Parcels are delivered within three working days. " * 40


async def rate(ask: Callable[[], Awaitable[object]], seconds: float, in_flight: int) -> float:
    """Answers per second while so many are under way all the time.

    The first second is not counted, and each asker's rate is taken from its first to its last answer, because
    answers come in waves and a window of fixed length would catch one wave more or less.
    """
    warm = time.perf_counter() + 1.0
    end = warm + seconds

    async def asker() -> float:
        answers: list[float] = []
        while (now := time.perf_counter()) < end:
            if now >= warm:
                answers.append(now)
            await ask()
        return (len(answers) - 1) / (answers[-1] - answers[0])

    return sum(await asyncio.gather(*(asker() for _ in range(in_flight))))


def open_chat(url: str, in_flight: int) -> tuple[OpenAIChat, Callable[[], Awaitable[object]]]:
    """Our chat model, and one question to it."""
    place = Endpoint(url, "any", key=None, key_name="", concurrency=in_flight)
    chat = OpenAIChat(place)
    request = ChatRequest(PROMPT)
    return chat, lambda: chat.complete(request)


async def bare_rate(url: str, seconds: float, in_flight: int) -> float:
    """The same client, called as its documentation does, with nothing of ours around it."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    async with AsyncOpenAI(
        api_key="none", base_url=url, max_retries=0, http_client=DefaultAioHttpClient(trust_env=False)
    ) as client:
        return await rate(
            lambda: client.chat.completions.create(model="any", messages=[{"role": "user", "content": PROMPT}]),
            seconds,
            in_flight,
        )


async def our_rate(url: str, seconds: float, in_flight: int) -> float:
    chat, ask = open_chat(url, in_flight)
    try:
        return await rate(ask, seconds, in_flight)
    finally:
        await chat.close()


def measure(delay: float, in_flight: int, seconds: float, rounds: int) -> tuple[float, float]:
    """Median answers per second: of the bare loop, and ours; in turns, against one server process."""
    command = [sys.executable, str(SERVER), "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            bare, ours = [], []
            for _ in range(rounds):
                bare.append(asyncio.run(bare_rate(url, seconds, in_flight)))
                ours.append(asyncio.run(our_rate(url, seconds, in_flight)))
        finally:
            server.terminate()
    return median(bare), median(ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    for delay in (0.05, 0.2):
        bare, ours = measure(delay, arguments.in_flight, arguments.seconds, arguments.rounds)
        ideal = arguments.in_flight / delay
        print(
            f"{delay * 1000:.0f} ms, {arguments.in_flight} in flight: {ours:.0f} answers/s; "
            f"bare loop {bare:.0f} (ratio {ours / bare:.2f}), ideal {ideal:.0f} (ratio {ours / ideal:.2f})"
        )


if __name__ == "__main__":
    main()
