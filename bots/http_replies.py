"""HTTP replies: read up to a size limit, and never requested from an origin that nobody configured."""

import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from .bot import BotMisconfigured
from .chat.limits import EndpointFailed

if TYPE_CHECKING:
    import aiohttp

MOST_MB: Final = 16.0  # of an unpacked reply, where the settings don't say
PACKED: Final = "gzip, deflate"  # what is unpacked in pieces of a bounded size
_MOST_REDIRECTS: Final = 10
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_NAMES: Final = tuple(f"{kind}_proxy" for kind in ("http", "https", "all", "no")) + tuple(
    f"{kind}_PROXY" for kind in ("HTTP", "HTTPS", "ALL", "NO")
)


@contextlib.asynccontextmanager
async def answered(
    session: "aiohttp.ClientSession",
    method: str,
    address: str,
    data: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> "AsyncIterator[aiohttp.ClientResponse]":
    """Send a request and give what came back; redirects are followed as long as they stay at the same origin.

    Args:
        session: that sends; it is left open.
        method: of HTTP.
        address: where to.
        data: the body.
        headers: in addition to those of the session.

    Raises:
        EndpointFailed: a redirect leads to another origin, where neither body nor headers are sent.
        BotMisconfigured: redirects that come to no end.
        aiohttp.ClientError, TimeoutError: the connection failed.
    """
    proxy = proxy_of(address)
    for _ in range(_MOST_REDIRECTS + 1):
        async with session.request(
            method, address, data=data, headers=headers, allow_redirects=False, proxy=proxy
        ) as answer:
            onward = _onward(answer)
            if onward is None:
                yield answer
                return
            # As browsers do: only 307 and 308 keep the method (RFC 9110, 15.4; Fetch, 4.4).
            if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                method, data = "GET", None
            address = onward
    raise BotMisconfigured(f"{_origin(address)} redirects in a circle. Check the address.")


def _onward(answer: "aiohttp.ClientResponse") -> str | None:
    """Where a redirect leads; None for what is no redirect."""
    import yarl

    location = answer.headers.get("Location")
    if answer.status not in (301, 302, 303, 307, 308) or not location:
        return None
    try:
        onward = answer.url.join(yarl.URL(location))
        first, second = answer.url.origin(), onward.origin()
    except ValueError:
        raise EndpointFailed(f"{_origin(str(answer.url))} redirects to what is no web address.") from None
    if first != second:
        raise EndpointFailed(
            f"{_shown(first)} redirects (HTTP {answer.status}) to another origin, {_shown(second)}, which nobody "
            "named: neither question nor key was sent there. If it is the right one, give its address instead."
        )
    return str(onward)


def _shown(origin: Any) -> str:  # noqa: ANN401 - yarl's URL, which is imported where it is used
    return str(origin).rstrip("/")


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


async def pieces(answer: "aiohttp.ClientResponse", most_mb: float) -> AsyncIterator[bytes]:
    """The unpacked body as it comes.

    Raises:
        EndpointFailed: it is larger than so many MB; what is over is not read.
    """
    left = int(most_mb * 2**20)
    async for piece in answer.content.iter_any():  # unpacked a bounded piece at a time
        left -= len(piece)
        if left < 0:
            answer.close()
            raise EndpointFailed(
                f"The reply of {_origin(str(answer.url))} is larger than {most_mb:g} MB, unpacked, and was not read to "
                "its end; max_reply_mb sets the limit."
            )
        yield piece


async def whole(answer: "aiohttp.ClientResponse", most_mb: float) -> bytes:
    """The unpacked body in one; see ``pieces``."""
    length = answer.content_length
    if length is not None and length <= most_mb * 2**20 and "Content-Encoding" not in answer.headers:
        return await answer.read()  # can't be larger
    return b"".join([piece async for piece in pieces(answer, most_mb)])


def proxy_of(address: str) -> str | None:
    """The proxy that the environment names for an address; none for this machine, which a proxy can't reach."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if host in _LOOPBACK:
        return None
    return _proxy(parts.scheme, host, tuple(os.environ.get(name) for name in _NAMES))


@lru_cache(256)
def _proxy(scheme: str, host: str, _environment: tuple[str | None, ...]) -> str | None:
    """Looked up once for an origin, until one of the variables changes: it takes as long as the rest of a request."""
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
