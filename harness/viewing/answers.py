"""Answers: what a browser asked for and what it is given, apart from the server that carries both."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...reports.pages.page import Page, page_bytes, page_policy
from ...reports.pages.runs.runs_page import trouble_page

HTML: Final = "text/html; charset=utf-8"
JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"
NOTHING: Final = "default-src 'none'"
WORTH_PACKING: Final = 1_000  # bytes
FAST: Final = 4  # of nine levels: the way is short, so time counts more than size

# Said with every answer: nobody frames, guesses, keeps or reads it from elsewhere.
HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked.

    Attributes:
        method: such as GET.
        host: to whom the browser believes to speak.
        path: as it was sent, each part still percent-encoded.
        query: what stands after the question mark.
        takes_gzip: whether the answer may be packed.
    """

    method: str
    host: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    takes_gzip: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What is given: status, content and its kind, what the content may do, and headers of this answer alone."""

    status: int
    body: bytes
    kind: str
    policy: str = NOTHING
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """All headers but the length."""
        policy = f"{self.policy}; frame-ancestors 'none'"
        return {**HEADERS, "Content-Type": self.kind, "Content-Security-Policy": policy, **self.more}


def html(page: Page, status: int = 200) -> Answer:
    """A page without data."""
    return Answer(status, b"".join(page_bytes(page)), HTML, page_policy(page))


def trouble(status: int, title: str, sentence: str) -> Answer:
    """A page that says why there is no other."""
    return html(trouble_page(title, sentence), status)


def refusal(status: int, sentence: str, **more: str) -> Answer:
    """A sentence for whoever is no reader of ours."""
    return Answer(status, f"{sentence}\n".encode(), TEXT, more=more)


def redirection(address: str) -> Answer:
    """To another address of this server."""
    return Answer(302, b"", TEXT, more={"Location": address})


def packed_for(request: Request, answer: Answer) -> Answer:
    """The answer in gzip where the browser takes that and it is worth it."""
    if not request.takes_gzip or len(answer.body) < WORTH_PACKING:
        return answer
    more = {**answer.more, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Answer(answer.status, gzip.compress(answer.body, FAST, mtime=0), answer.kind, answer.policy, more)
