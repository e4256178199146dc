"""JUnit XML: cases and suites of them as the XML that build servers read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal
from xml.sax.saxutils import escape, quoteattr

Kind = Literal["passed", "failure", "error", "skipped"]

# Everything that XML 1.0 has no way to write, not even as an entity.
FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that was tested.

    Attributes:
        name: what it is called within its suite.
        kind: how it came out.
        message: that, in a sentence.
        text: what a reader opens, such as the rows behind it; may have many lines.
        type: a word for the kind of failure or error; the kind itself where it is blank.
    """

    name: str
    kind: Kind
    message: str
    text: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class CaseSuite:
    """The cases of one bot, with facts about it."""

    name: str
    cases: Sequence[Case]
    properties: Mapping[str, str] = field(default_factory=dict)


def junit_xml(name: str, suites: Sequence[CaseSuite]) -> str:
    """The document; whatever texts hold, it is well formed."""
    counts = _counts(case for suite in suites for case in suite.cases)
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites name={_attribute(name)} {counts}>",
            *map(_suite, suites),
            "</testsuites>",
            "",
        ]
    )


def _suite(suite: CaseSuite) -> str:
    return "\n".join(
        [
            f"  <testsuite name={_attribute(suite.name)} {_counts(suite.cases)}>",
            "    <properties>",
            *(
                f"      <property name={quoteattr(name)} value={_attribute(value)}/>"
                for name, value in suite.properties.items()
            ),
            "    </properties>",
            *(_case(suite.name, case) for case in suite.cases),
            "  </testsuite>",
        ]
    )


def _case(suite: str, case: Case) -> str:
    opening = f"    <testcase classname={_attribute(suite)} name={_attribute(case.name)}"
    if case.kind == "passed":
        return f"{opening}>\n      <system-out>{escape(_text(case.message))}</system-out>\n    </testcase>"
    kind = "" if case.kind == "skipped" else f" type={_attribute(case.type or case.kind)}"
    inner = f"      <{case.kind} message={_attribute(case.message)}{kind}>{escape(_text(case.text))}</{case.kind}>"
    return f"{opening}>\n{inner}\n    </testcase>"


def _counts(cases: Iterable[Case]) -> str:
    kinds = [case.kind for case in cases]
    return (
        f'tests="{len(kinds)}" failures="{kinds.count("failure")}" errors="{kinds.count("error")}"'
        f' skipped="{kinds.count("skipped")}"'
    )


def _attribute(text: str) -> str:
    return quoteattr(_text(" ".join(text.split())))


def _text(text: str) -> str:
    """The text with a replacement for every character that XML can't hold."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
