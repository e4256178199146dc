"""When a failed request is made again, and after how long."""

import email.utils
import random
import time
from collections.abc import Mapping

LONGEST_WAIT = 120.0  # seconds; an endpoint that wants quiet for longer gets no further attempt


class Exhausted(Exception):  # noqa: N818 - an outcome, named as one
    """No attempt at an endpoint gave a usable answer; the message says what happened each time.

    Attributes:
        attempts_ms: milliseconds of each attempt.
        queue_ms: milliseconds that the request waited in our limits.
    """

    def __init__(self, message: str, *, attempts_ms: tuple[float, ...] = (), queue_ms: float = 0.0) -> None:
        super().__init__(message)
        self.attempts_ms = attempts_ms
        self.queue_ms = queue_ms


class EndpointFailed(Exhausted, ConnectionError):  # noqa: N818 - as above
    """The last attempt ended with a lost connection, an error answer or one that can't be read."""


class EndpointTimedOut(Exhausted, TimeoutError):  # noqa: N818 - as above
    """The last attempt ran into its time limit."""


class AttemptFailed(Exception):  # noqa: N818 - an outcome of one attempt; the next one may go well
    """One attempt failed in a way that may pass.

    Attributes:
        throttled: the endpoint said that we ask too much.
        timed_out: the attempt ran into its time limit.
        retry_after: seconds for which the endpoint wants quiet, where it says so.
    """

    def __init__(
        self,
        what: str,
        *,
        throttled: bool = False,
        timed_out: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(what)
        self.throttled = throttled
        self.timed_out = timed_out
        self.retry_after = retry_after


class Backoff:
    """Seconds to wait before an attempt: doubling, with jitter so that a crowd does not come back as one.

    The jitter is drawn from a seed and takes off at most half, so that a wait never shrinks to nothing.
    """

    def __init__(self, first: float = 0.5, ceiling: float = 20.0, seed: int = 0) -> None:
        self.first = first
        self.ceiling = ceiling
        self._random = random.Random(seed)  # noqa: S311 - spreads retries, guards nothing

    def wait(self, failed: int) -> float:
        """Seconds to wait after so many failed attempts, from 1."""
        full = min(self.ceiling, self.first * 2.0 ** (failed - 1))
        return full * (1 - self._random.random() / 2)


def read_retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds from ``retry-after-ms`` (OpenAI) or ``Retry-After``, a number or an HTTP date (RFC 9110, 10.2.3).

    Args:
        headers: of the answer; looked up in lower case.
        now: seconds since 1970, for the date; the system's clock when left out.

    Returns:
        Seconds, not negative; None when there is no such header or it can't be read.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    written = headers.get("retry-after", "")
    if (seconds := _number(written)) is not None:
        return seconds
    try:
        until = email.utils.parsedate_to_datetime(written).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, until - (time.time() if now is None else now))


def _number(written: str | None) -> float | None:
    try:
        value = float(written or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
