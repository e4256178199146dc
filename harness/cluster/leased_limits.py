"""Leased limits: the limit of an endpoint holds for a whole cluster; each worker leases a share of its room."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ...bots.chat.limits import Limiter, Slot

EXCHANGED: Final = 0.2  # seconds between two reports of a worker
LAPSED: Final = 5.0  # seconds without a report after which a worker's share is free again


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker says of one endpoint since its last report."""

    ceiling: int  # requests under way at most, as its configuration has it
    in_flight: int  # requests under way now
    waiting: int  # requests in line
    good: int = 0  # answers that were no 429
    # for each 429 the seconds since its request was sent, and the wait that the endpoint asked for
    throttled: tuple[tuple[float, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker may do: so many requests under way, none for so many seconds."""

    limit: int
    quiet: float = 0.0


Leasing = Callable[[str, Mapping[str, Report]], Awaitable[Mapping[str, Share]]]


class _Adapting(Limiter):
    """The limit of an endpoint, adapted to what workers report; no request passes through it."""

    def heard(self, report: Report, in_flight: int, now: float) -> None:
        """Adapt to a report; ``in_flight`` counts the requests of all workers."""
        self._in_flight = in_flight
        for _ in range(report.good):
            self.succeeded()
        for age, retry_after in report.throttled:
            self.throttled(Slot(0.0, now - age), retry_after)

    def quiet(self, now: float) -> float:
        """Seconds for which nobody may send a request."""
        return max(0.0, self._open_at - now)


@dataclass(slots=True)
class _Leased:
    limit: int
    in_flight: int
    wanted: int
    seen: float


@dataclass(slots=True)
class _Room:
    limiter: _Adapting
    workers: dict[str, _Leased] = field(default_factory=dict)


class Leases:
    """Hands out the room of endpoints to workers that report, so that all together keep to each limit.

    A share is what a worker wants, up to an equal part and then to whatever is left. No room is given twice: what a
    worker has under way counts until it reports that it is done, or is silent for ``LAPSED`` seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rooms: dict[str, _Room] = {}

    def exchange(self, worker: str, reports: Mapping[str, Report]) -> dict[str, Share]:
        """The shares of a worker, for the endpoints of which it reports."""
        return {place: self._share(worker, place, report) for place, report in reports.items()}

    def _share(self, worker: str, place: str, report: Report) -> Share:
        now = self._clock()
        room = self._rooms.get(place)
        if room is None:
            room = self._rooms[place] = _Room(_Adapting(report.ceiling, clock=self._clock))
        room.limiter.lower_ceiling(report.ceiling)
        others = {name: one for name, one in room.workers.items() if name != worker and now - one.seen < LAPSED}
        room.limiter.heard(report, report.in_flight + sum(one.in_flight for one in others.values()), now)
        wanted, limit = report.in_flight + report.waiting, room.limiter.limit
        free = max(limit - sum(max(one.limit, one.in_flight) for one in others.values()), 0)
        hungry = 1 + sum(one.wanted > 0 for one in others.values())
        starving = sum(one.wanted > one.limit for one in others.values())
        fair = max(limit // hungry, 1) if starving else limit
        given = min(wanted or (not starving), free, fair)  # one that wants nothing may begin with one at once
        room.workers = {**others, worker: _Leased(given, report.in_flight, wanted, now)}
        return Share(given, room.limiter.quiet(now))


class LeasedLimiter(Limiter):
    """Lets requests through within the share of this worker; what the endpoint answers is reported."""

    def __init__(self, ceiling: int) -> None:
        super().__init__(ceiling)
        self._limit = 0
        self._answers = 0
        self._refusals: list[tuple[float, float | None]] = []

    def lower_ceiling(self, ceiling: int) -> None:
        """See ``Limiter``."""
        self._ceiling = min(self._ceiling, ceiling)

    def succeeded(self) -> None:
        """See ``Limiter``; the limit is not ours to raise."""
        self._has_answered, self._lost = True, 0
        self._answers += 1
        if self._away_since is not None:
            self._away_since, self._open_at = None, float("-inf")
            self.lease(Share(self._limit_before))

    def throttled(self, slot: Slot, retry_after: float | None = None) -> None:
        """See ``Limiter``; the limit is not ours to cut."""
        self._has_answered, self._lost = True, 0
        self._refusals.append((slot.given_at, retry_after))

    def report(self) -> Report:
        """What happened since the last one."""
        now = self._clock()
        refusals = tuple((now - given_at, retry_after) for given_at, retry_after in self._refusals)
        made = Report(self.ceiling, self.in_flight, self.waiting, self._answers, refusals)
        self._answers, self._refusals = 0, []
        return made

    def lease(self, share: Share) -> None:
        """Keep to this share from now on."""
        if share.quiet:
            self._open_at = max(self._open_at, self._clock() + share.quiet)
        if self._away_since is not None:
            self._limit_before = share.limit
            self._limit = min(share.limit, 1)
            return
        self._limit = share.limit
        self._let_in()


class LeasedLimits:
    """The limiters of one worker, which reports to the leases of its cluster and keeps to the shares it is given."""

    def __init__(self, leasing: Leasing | None) -> None:
        self._leasing = leasing
        self._name = secrets.token_hex(8)
        self._limiters: dict[str, LeasedLimiter] = {}

    def limiter_of(self, place: str, ceiling: int) -> Limiter:
        """See ``limiter_of`` of the bots."""
        if self._leasing is None:
            return Limiter(ceiling)
        if place in self._limiters:
            self._limiters[place].lower_ceiling(ceiling)
        else:
            self._limiters[place] = LeasedLimiter(ceiling)
        return self._limiters[place]

    async def keep(self) -> None:
        """Report and take shares until cancelled, at once where requests wait without any."""
        while self._leasing is not None:
            reports = {place: limiter.report() for place, limiter in self._limiters.items()}
            if reports:
                with contextlib.suppress(ConnectionError, TimeoutError):
                    for place, share in (await self._leasing(self._name, reports)).items():
                        self._limiters[place].lease(share)
            is_starving = any(limiter.waiting and not limiter.limit for limiter in self._limiters.values())
            await asyncio.sleep(EXCHANGED / 4 if is_starving else EXCHANGED)
