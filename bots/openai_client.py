"""Client: sends chat requests over the HTTP client of OpenAI's library, without what that does for each request."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .openai_stream import read_streamed

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Client:
    """The connections to one address, with the headers that OpenAI's library would send.

    Building a request by the library takes more of a processor than sending it: more than half a millisecond, which
    thousands of judge calls feel. So the library makes the headers once, and answers errors are told in its exceptions.
    """

    def __init__(self, url: str, key: str | None) -> None:
        import httpx2
        from openai import AsyncOpenAI, DefaultAioHttpClient

        # 0 is aiohttp's "no limit" (None would mean its default of 100): the limiter is the only limit.
        connections = httpx2.Limits(max_connections=0, max_keepalive_connections=None, keepalive_expiry=30)
        self._http = DefaultAioHttpClient(
            timeout=httpx2.Timeout(None),  # the time limit holds for an attempt as a whole
            limits=connections,
            trust_env=urlsplit(url).hostname not in _LOOPBACK,  # a proxy can't reach this machine
        )
        self._library = AsyncOpenAI(api_key=key or "none", base_url=url, max_retries=0, http_client=self._http)
        made = {**self._library.default_headers, **self._library.auth_headers}
        self._headers = {name: value for name, value in made.items() if isinstance(value, str)}
        self._completions = httpx2.URL(f"{url}/chat/completions")

    async def complete(self, body: Mapping[str, object]) -> object:
        """Send a request and read its answer's JSON, streamed or in one piece.

        Raises:
            APIStatusError: the status is no success.
            httpx2.HTTPError, aiohttp.ClientError: the connection failed.
            AttemptFailed: a stream broke off.
            ValueError, RecursionError: the answer is no JSON.
        """
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=_plain).encode()
        request = self._http.build_request("POST", self._completions, content=written, headers=self._headers)
        response = await self._http.send(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise _status_error(response)
            if body.get("stream"):
                return await read_streamed(response)
            await response.aread()
            return _content(response)
        finally:
            await response.aclose()

    async def models(self) -> list[str]:
        """Names of the models that the endpoint lists; raises whatever goes wrong."""
        listed = await self._library.get("/models", cast_to=object)
        return [str(each["id"]) for each in listed["data"]]  # type: ignore[index]

    async def close(self) -> None:
        """Close the connections."""
        await self._library.close()


def _content(response: "httpx2.Response") -> object:
    """The JSON of an answer; the text of one that does not say that it is JSON, as a gateway's page."""
    try:
        return json.loads(response.content)
    except ValueError:
        if "json" in response.headers.get("content-type", "json"):
            raise
        return response.text


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
