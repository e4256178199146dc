"""Client: sends requests with the headers of OpenAI's library, without what that does for each request."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .openai_stream import read_streamed
from .receiving import MOST_MB, PACKED, answered, pieces, whole

if TYPE_CHECKING:
    import aiohttp
    import httpx2
    from openai import APIStatusError

CHAT_COMPLETIONS = "chat/completions"


class Client:
    """The connections to one address, with the headers that OpenAI's library would send.

    Building a request by the library, and handing it down through its HTTP client, takes four times as much of a
    processor as sending it by aiohttp, which is under both: thousands of judge calls feel that. So the library makes
    the headers once, and errors are told in its exceptions.
    """

    def __init__(self, url: str, key: str | None, most_mb: float = MOST_MB) -> None:
        from openai import AsyncOpenAI, DefaultAioHttpClient

        # It sends nothing, so it needs to know neither proxies nor certificates.
        library = AsyncOpenAI(
            api_key=key or "none", base_url=url, max_retries=0, http_client=DefaultAioHttpClient(trust_env=False)
        )
        made = {**library.default_headers, **library.auth_headers, "Accept-Encoding": PACKED}
        self._library = library
        self._session = _session(urlsplit(url).scheme == "https")
        self._headers = {name: value for name, value in made.items() if isinstance(value, str)}
        self._most_mb = most_mb
        self._url = url

    async def complete(self, body: Mapping[str, object], path: str = CHAT_COMPLETIONS) -> object:
        """Send a request and read its answer's JSON, streamed or in one piece.

        Args:
            body: the request.
            path: from the base URL; one that begins with a slash is from where the server is, without ``/v1``.

        Raises:
            APIStatusError: the status is no success.
            aiohttp.ClientError: the connection failed.
            AttemptFailed: a stream broke off.
            EndpointFailed: a redirect to another origin, or an answer that is too large.
            ValueError, RecursionError: the answer is no JSON.
        """
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=_plain).encode()
        return await self._ask("POST", path, written, bool(body.get("stream")))

    async def models(self) -> list[str]:
        """Names of the models that the endpoint lists; raises whatever goes wrong."""
        listed = await self.get("models")
        return [str(each["id"]) for each in listed["data"]]  # type: ignore[index]

    async def get(self, path: str) -> object:
        """What the endpoint tells at a path, see ``complete``; raises whatever goes wrong."""
        return await self._ask("GET", path)

    async def _ask(self, method: str, path: str, written: bytes | None = None, is_stream: bool = False) -> object:
        address = self._url.removesuffix("/v1") + path if path.startswith("/") else f"{self._url}/{path}"
        async with answered(self._session, method, address, data=written, headers=self._headers) as answer:
            kind = answer.headers.get("content-type", "json")
            is_good = 200 <= answer.status < 300
            if is_good and is_stream and "text/event-stream" in kind:
                return await read_streamed(pieces(answer, self._most_mb))
            content = await whole(answer, self._most_mb)
            if is_good:
                return json.loads(content) if is_stream else _content(content, kind)
            raise _status_error(_as_the_library_has_it(answer, content))

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()
        await self._library.close()


def _session(is_encrypted: bool) -> "aiohttp.ClientSession":
    """Connections as the library's HTTP client makes them: without limits, and with its notion of trust."""
    import aiohttp
    import httpx2

    trusted = httpx2.create_ssl_context() if is_encrypted else True
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30, ssl=trusted),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
    )


def _as_the_library_has_it(answer: "aiohttp.ClientResponse", content: bytes) -> "httpx2.Response":
    """A response for the exceptions of OpenAI's library; its content is unpacked already."""
    import httpx2

    headers = [(name, value) for name, value in answer.headers.items() if name.lower() != "content-encoding"]
    request = httpx2.Request("POST", str(answer.url))
    return httpx2.Response(answer.status, headers=headers, content=content, request=request)


def _content(content: bytes, kind: str) -> object:
    """The JSON of an answer; the text of one that does not say that it is JSON, as a gateway's page."""
    try:
        return json.loads(content)
    except ValueError:
        if "json" in kind:
            raise
        return content.decode(errors="replace")


def _status_error(response: "httpx2.Response") -> "APIStatusError":
    """The error with its message alone; ``body`` has the whole of what was told."""
    from openai import APIStatusError

    told: object = response.text.strip()
    try:
        told = json.loads(response.text)
    except (ValueError, RecursionError):
        page = response.text.lstrip().startswith("<")  # of some gateway; nothing in it is for people
        return APIStatusError("" if page else str(told), response=response, body=told)
    error = told.get("error", told) if isinstance(told, dict) else told
    message = error.get("message") if isinstance(error, dict) else error
    return APIStatusError(message if isinstance(message, str) else "", response=response, body=error)


def _plain(value: object) -> object:
    """What the settings of a suite may hold beside JSON: mappings of other kinds, dates."""
    return dict(value) if isinstance(value, Mapping) else str(value)
