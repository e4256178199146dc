"""Endpoint: one model behind one OpenAI-compatible URL, with the client and limiter that its bots share."""

import asyncio
import difflib
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeAlias

from .base import BotMisconfigured, BotRefused
from .limits import Limiter
from .openai_client import CHAT_COMPLETIONS, Client
from .openai_options import RESPONSE_FORMAT, STREAM_OPTIONS, TEMPERATURE, Manners
from .receiving import MOST_MB
from .redaction import redacted_url, redactor, without_url_secrets
from .retrying import AttemptFailed, EndpointFailed, read_retry_after

if TYPE_CHECKING:
    from openai import APIStatusError

OPENAI_URL = "https://api.openai.com/v1"
_PASSING = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
_TOO_LONG = ("context length", "context_length", "context window", "maximum context", "too many tokens")
_FILTERED = ("content_filter", "content filter", "content_policy", "content policy", "content management")
# An endpoint that is told to hold the model to JSON, and finds that it did not: the next attempt may go well.
_BROKE_FORMAT = "json_validate_failed"
_NAMES_FIELD = frozenset({400, 404, 415, 422, 500, 501})  # a status that says so when the message names the field
_MAY_MEAN_FIELD = frozenset({400, 422, 501})  # a status that may be about a field without saying so
_FIELD_MARKS = {
    RESPONSE_FORMAT: ("response_format", "response format", "json_schema", "json schema", "json_object", "json mode"),
    TEMPERATURE: ("temperature",),
    STREAM_OPTIONS: ("stream_options", "include_usage"),
}
# What an error status and what was told with it mean for a request; None for what they always mean.
Meaning: TypeAlias = Callable[[int, str], Exception | None]
_CHECK_URL = "Check base_url, which usually ends in /v1, and the name of the model."


class FieldRefused(Exception):  # noqa: N818 - an outcome of one request; it may go well with less
    """The endpoint refused a request, for all one can tell because of an optional field.

    Attributes:
        field: the field that it named; blank when it named none.
        otherwise: what to raise when nothing is left to be left out.
    """

    def __init__(self, field: str, otherwise: Exception) -> None:
        super().__init__(str(otherwise))
        self.field = field
        self.otherwise = otherwise


class Endpoint:
    """Where requests go. Its key is used and never told: not in messages, not in ``repr``.

    Args:
        url: the base URL, usually ending in ``/v1``.
        model: name of the model as the endpoint knows it.
        key: the API key; None where the environment has none, which many local servers accept.
        key_name: the environment variable that was looked at, for messages.
        concurrency: requests under way at most.
        max_reply_mb: MB of a reply, unpacked, at most.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None,
        key_name: str,
        concurrency: int,
        max_reply_mb: float = MOST_MB,
    ) -> None:
        self.url = url
        self.place = redacted_url(url)  # as it may be shown
        self.max_reply_mb = max_reply_mb
        self.model = model
        self.limiter = Limiter(concurrency)
        self.manners = Manners()
        self.users = 0
        self._key = key
        self._key_name = key_name
        self._without_key = redactor({}, literals=[key] if key else [])
        self._client: Client | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.place!r}, {self.model!r})"

    def open(self) -> Client:
        """The client, made at the first call; belongs to the event loop that is running then.

        Raises:
            BotMisconfigured: OpenAI's own endpoint is meant and there is no key.
        """
        if self._client is None:
            if self._key is None and self.url == OPENAI_URL:
                raise BotMisconfigured(
                    f"The model openai:{self.model} needs an API key: set the environment variable {self._key_name}, "
                    "or give the base_url of another endpoint."
                )
            self._client = Client(self.url, self._key, self.max_reply_mb)
        return self._client

    async def close(self) -> None:
        """Give the connections back once the last of the endpoint's users is done."""
        self.users -= 1
        if self.users <= 0 and self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def ask(
        self,
        body: Mapping[str, object],
        timeout: float,
        optional: Collection[str] = (),
        path: str = CHAT_COMPLETIONS,
        meaning: Meaning | None = None,
    ) -> object:
        """Make one attempt at a chat completion, or at what else is found at a path.

        Args:
            body: the request, without lone surrogates; with ``stream`` true its answer is read as a stream.
            timeout: seconds for the whole attempt.
            optional: fields of the body that can be left out.
            path: where the request goes, see ``Client.complete``.
            meaning: told of an error status first; what it gives is raised.

        Returns:
            The answer's JSON, not looked at.

        Raises:
            AttemptFailed: it may go better next time.
            FieldRefused: it may go better without one of the optional fields.
            BotMisconfigured: no request can succeed: wrong key, unknown model, refused setting.
            BotRefused: this request is declined: too long, or filtered.
        """
        import aiohttp
        import openai

        client = self.open()
        failure: Exception
        told, unknown = "", False
        try:
            async with asyncio.timeout(timeout):
                return await client.complete(body, path)
        except openai.APIStatusError as error:
            told = self._told(error)
            own = meaning(error.status_code, told) if meaning else None
            failure = own or self._failure(error, body, optional)
            unknown = error.status_code == 404 and own is None and not isinstance(failure, FieldRefused)
        except (AttemptFailed, EndpointFailed) as error:
            failure = type(error)(str(error))
        except aiohttp.ClientError as error:
            # The client under openai calls a dropped connection a timeout: the deepest cause tells the truth.
            failure = AttemptFailed(f"connection failed ({self.clean(_deepest(error))})")
        except TimeoutError:
            failure = AttemptFailed(f"no answer within {timeout:g} s", timed_out=True)
        except (ValueError, RecursionError):
            failure = AttemptFailed("broken JSON")
        # Raised out here so that no exception of the client, which may quote the key, is chained to it.
        raise await self._not_found(told) if unknown else failure

    def clean(self, said: str) -> str:
        """One short line of what the other side said, without the key that some servers quote."""
        line = self._without_key(without_url_secrets(" ".join(said.split())))
        return line if len(line) <= 300 else line[:299] + "…"

    def _failure(self, error: "APIStatusError", body: Mapping[str, object], optional: Collection[str]) -> Exception:
        """What an error status means for the request and for the bot."""
        failure = self._final(error, body)
        if not optional or _is_about_the_prompt(error):
            return failure
        said = f"{error.param} {error.body}".lower()
        if error.status_code in _NAMES_FIELD:
            for field in optional:
                if any(mark in said for mark in _FIELD_MARKS[field]):
                    return FieldRefused(field, failure)
        return FieldRefused("", failure) if error.status_code in _MAY_MEAN_FIELD else failure

    def _final(self, error: "APIStatusError", body: Mapping[str, object]) -> Exception:
        """What it means when nothing can be left out of the request."""
        code, told = error.status_code, self._told(error)
        if error.code == "insufficient_quota" or code == 402:
            return BotMisconfigured(f"The account at {self.place} has no credit left ({told}).")
        if code in _PASSING:
            wait = read_retry_after(error.response.headers)
            return AttemptFailed(told, throttled=code == 429 or wait is not None, retry_after=wait)
        if code in (401, 403):
            return BotMisconfigured(f"The endpoint {self.place} refused the API key ({told}): {self._key_advice()}")
        if code in (400, 413, 422):
            return self._bad_request(error, body, told)
        return BotMisconfigured(f"The endpoint {self.place} is no use ({told}). {_CHECK_URL}")

    def _bad_request(self, error: "APIStatusError", body: Mapping[str, object], told: str) -> Exception:
        marks = _marks(error)
        if error.status_code == 413 or any(mark in marks for mark in _TOO_LONG):
            return BotRefused(f"The prompt is too long for the model {self.model} ({told}).")
        if any(mark in marks for mark in _FILTERED):
            return BotRefused(f"The endpoint's content filter refused the request ({told}).")
        if error.code == _BROKE_FORMAT:
            return AttemptFailed(told)
        setting = error.param
        if setting is not None and setting in body and setting != "messages":
            return BotMisconfigured(
                f"The endpoint {self.place} does not take {setting} = {body[setting]!r} "
                f"for the model {self.model} ({told}); change it in the model's settings."
            )
        return BotRefused(f"The endpoint {self.place} refused the request ({told}).")

    def _told(self, error: "APIStatusError") -> str:
        said = self.clean(error.message)
        return f"HTTP {error.status_code}: {said}" if said else f"HTTP {error.status_code}"

    def _key_advice(self) -> str:
        if self._key is None:
            return f"the environment variable {self._key_name} is not set; put the key there."
        return f"check the key in the environment variable {self._key_name}."

    async def _not_found(self, told: str) -> BotMisconfigured:
        """The sentence for a 404: what the endpoint said, and the nearest model that it offers."""
        offered = await self._offered()
        if self.model in offered or not offered:
            return BotMisconfigured(
                f"The endpoint {self.place} found nothing for the model {self.model!r} ({told}). {_CHECK_URL}"
            )
        near = difflib.get_close_matches(self.model, offered, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it offers {', '.join(offered[:5])}."
        return BotMisconfigured(f"The endpoint {self.place} has no model {self.model!r} ({told}); {hint}")

    async def _offered(self) -> list[str]:
        """Names of the models that the endpoint lists; none when it does not tell."""
        try:
            async with asyncio.timeout(5):
                return await self.open().models()
        except Exception:  # noqa: BLE001 - a courtesy of the endpoint; whatever fails, the 404 stands
            return []


class Endpoints:
    """The endpoints of a suite: equal ones are one object, so that bots share limits and connections."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str, str | None], Endpoint] = {}

    def get(
        self,
        url: str,
        model: str,
        *,
        key: str | None,
        key_name: str,
        concurrency: int,
        max_reply_mb: float = MOST_MB,
    ) -> Endpoint:
        """The endpoint for this URL, model and key, made when it is new; counts one more user of it."""
        place = (url, model, key)
        if place not in self._open:
            self._open[place] = Endpoint(url, model, key=key, key_name=key_name, concurrency=concurrency)
            self._open[place].max_reply_mb = max_reply_mb
        endpoint = self._open[place]
        endpoint.max_reply_mb = max(endpoint.max_reply_mb, max_reply_mb)
        endpoint.limiter.lower_ceiling(concurrency)
        endpoint.users += 1
        return endpoint


def _marks(error: "APIStatusError") -> str:
    return f"{error.code} {error.type} {error.body}".lower()


def _is_about_the_prompt(error: "APIStatusError") -> bool:
    """Whether the request was refused for what it says, or an answer for not keeping to its format."""
    if error.status_code == 413 or error.code == _BROKE_FORMAT:
        return True
    return error.status_code != 500 and any(mark in _marks(error) for mark in (*_TOO_LONG, *_FILTERED))


def _deepest(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
