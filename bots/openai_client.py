"""Client: sends requests with the headers of OpenAI's library, without what that does for each request."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from .openai_stream import read_streamed

if TYPE_CHECKING:
    import aiohttp
    import httpx2
    from openai import APIStatusError

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
CHAT_COMPLETIONS = "chat/completions"


class Client:
    """The connections to one address, with the headers that OpenAI's library would send.

    Building a request by the library, and handing it down through its HTTP client, takes four times as much of a
    processor as sending it by aiohttp, which is under both: thousands of judge calls feel that. So the library makes
    the headers once, and errors are told in its exceptions. Streams, and all that goes through a proxy, are left to its
    HTTP client.
    """

    def __init__(self, url: str, key: str | None) -> None:
        import httpx2
        from openai import AsyncOpenAI, DefaultAioHttpClient

        # 0 is aiohttp's "no limit" (None would mean its default of 100): the limiter is the only limit.
        connections = httpx2.Limits(max_connections=0, max_keepalive_connections=None, keepalive_expiry=30)
        place = urlsplit(url)
        is_near = place.hostname in _LOOPBACK  # a proxy can't reach this machine
        self._http = DefaultAioHttpClient(
            timeout=httpx2.Timeout(None),  # the time limit holds for an attempt as a whole
            limits=connections,
            trust_env=not is_near,
        )
        self._session = _session(place.scheme == "https") if is_near or not getproxies() else None
        self._library = AsyncOpenAI(api_key=key or "none", base_url=url, max_retries=0, http_client=self._http)
        made = {**self._library.default_headers, **self._library.auth_headers}
        self._headers = {name: value for name, value in made.items() if isinstance(value, str)}
        self._url = url

    async def complete(self, body: Mapping[str, object], path: str = CHAT_COMPLETIONS) -> object:
        """Send a request and read its answer's JSON, streamed or in one piece.

        Args:
            body: the request.
            path: from the base URL; one that begins with a slash is from where the server is, without ``/v1``.

        Raises:
            APIStatusError: the status is no success.
            httpx2.HTTPError, aiohttp.ClientError: the connection failed.
            AttemptFailed: a stream broke off.
            ValueError, RecursionError: the answer is no JSON.
        """
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=_plain).encode()
        if self._session is not None and not body.get("stream"):
            return await self._post(self._session, self._address(path), written)
        request = self._http.build_request("POST", self._address(path), content=written, headers=self._headers)
        response = await self._http.send(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise _status_error(response)
            if body.get("stream"):
                return await read_streamed(response)
            await response.aread()
            return _content(response.content, response.headers.get("content-type", "json"))
        finally:
            await response.aclose()

    async def _post(self, session: "aiohttp.ClientSession", address: str, written: bytes) -> object:
        async with session.post(address, data=written, headers=self._headers) as answer:
            content = await answer.read()
            if 200 <= answer.status < 300:
                return _content(content, answer.headers.get("content-type", "json"))
            raise _status_error(await _as_the_library_has_it(answer))

    async def models(self) -> list[str]:
        """Names of the models that the endpoint lists; raises whatever goes wrong."""
        listed = await self.get("models")
        return [str(each["id"]) for each in listed["data"]]  # type: ignore[index]

    async def get(self, path: str) -> object:
        """What the endpoint tells at a path, see ``complete``; raises whatever goes wrong."""
        return await self._library.get(self._address(path), cast_to=object)

    def _address(self, path: str) -> str:
        return self._url.removesuffix("/v1") + path if path.startswith("/") else f"{self._url}/{path}"

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
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


async def _as_the_library_has_it(answer: "aiohttp.ClientResponse") -> "httpx2.Response":
    """A response for the exceptions of OpenAI's library; its content is unpacked already."""
    import httpx2

    headers = [(name, value) for name, value in answer.headers.items() if name.lower() != "content-encoding"]
    request = httpx2.Request("POST", str(answer.url))
    return httpx2.Response(answer.status, headers=headers, content=await answer.read(), request=request)


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
