"""Metric page: all that there is to know of a metric, an evaluator, a group or the shared work under them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getdoc
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from ... import InputError
from ...knowledge.local_models.roles import ROLES, Role
from ...metrics import builtin_catalog
from ...metrics.entries import facts_of
from ...metrics.evaluators import EVALUATORS, GROUPS, is_of_the_suite, names, options_of
from ...metrics.facts import TOOLS
from ...metrics.installed import with_installed
from ...metrics.messages import nearest
from .evaluator_list import OWN_PROMPTS, evaluator_object
from .metric_list import DIRECTION, metric_object, range_of
from .option_list import Option, as_yaml, entry_lines, options_under, resting_on
from .streams import write_json

if TYPE_CHECKING:
    from ...metrics import Catalog, Metric
    from ...metrics.entries import Artefact
    from ...metrics.evaluators import Evaluator

WIDTH: Final = 80
_LABEL: Final = 11
_CODE: Final = ">>>"
_TOOLS: Final = {
    "judge": "a judge: the suite's judge, or --judge; without one the embedded judge, which is no language model",
    "embedder": "an embedder: the suite's embedder; the one that comes with the package where none is named",
}
_ROLE_OF: Final[Mapping[str, Role]] = {role.tool: role for role in ROLES.values()}


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown of one name.

    Attributes:
        kind: metric, evaluator, group or artefact (work that metrics share).
        id: the name.
        title: what people call it; empty where that is the name.
        documentation: paragraphs, as they stand in the code.
        facts: labels and what is said under them, in their order.
        options: what a suite may set.
        example: lines of a suite.
        known: the same for machines, beside documentation, options and example.
    """

    kind: str
    id: str
    title: str
    documentation: str
    facts: Sequence[tuple[str, str]]
    options: Sequence[Option] = ()
    example: Sequence[str] = ()
    known: Mapping[str, object] = field(default_factory=dict)

    @property
    def as_object(self) -> dict[str, object]:
        """All of it, JSON-able."""
        return {
            "kind": self.kind,
            **self.known,
            "documentation": self.documentation,
            "settable": [option.as_object for option in self.options],
            "example": "\n".join(self.example),
        }


def show_pages(wanted: Sequence[str], as_json: bool) -> None:
    """Print the pages of some names. Raises InputError for a name that nothing has, before anything is printed."""
    catalog = with_installed(builtin_catalog(), wanted)
    pages = [page_of(name, catalog) for name in dict.fromkeys(wanted)]
    if as_json:
        write_json({"pages": [page.as_object for page in pages]}, sys.stdout)
        return
    console = Console(emoji=False, highlight=False, soft_wrap=True)
    width = console.width if console.is_terminal else WIDTH
    for number, page in enumerate(pages):
        console.print(*([""] if number else []), *_lines(page, width), sep="\n")


def page_of(name: str, catalog: Catalog) -> Page:
    """The page of a metric, else an evaluator, a group, or shared work. Raises InputError where there is none."""
    if name in catalog.metrics:
        return _metric_page(catalog.metrics[name], catalog)
    if name in EVALUATORS:
        return _evaluator_page(EVALUATORS[name], catalog)
    if name in GROUPS:
        return _group_page(name)
    if name in catalog.artefacts:
        return _artefact_page(catalog.artefacts[name], catalog)
    known = [*names(catalog), *EVALUATORS, *catalog.artefacts]
    raise InputError(
        f"There is no metric or evaluator '{name}'{nearest(name, known)}"
        " 'proctor metrics' and 'proctor metrics --evaluators' list what there is."
    )


def _metric_page(metric: Metric, catalog: Catalog) -> Page:
    holders = [each for each in EVALUATORS.values() if metric.id in each.metrics and each.id != metric.id]
    tools = [tool for tool in (*metric.needs, *metric.optional) if tool in TOOLS]
    threshold = "none" if metric.threshold is None else f"{metric.threshold:g}; reaching it passes"
    facts = [
        ("needs", ", ".join(metric.needs) or "nothing"),
        *([("uses too", f"{', '.join(metric.optional)}, where known")] if metric.optional else []),
        ("range", f"{range_of(metric)}; {DIRECTION[metric.better]}"),
        ("threshold", threshold),
        *([("level", "one figure over all rows of a bot")] if metric.level == "run" else []),
        ("source", metric.source or "own"),
        *((("in", f"the evaluator{'' if len(holders) == 1 else 's'} {_with_titles(holders)}"),) if holders else ()),
        *_tool_facts(tools, _swapped(metric, catalog)),
    ]
    options = options_under([metric.id], catalog)
    known = metric_object(metric) | {"optional": list(metric.optional), "evaluators": [each.id for each in holders]}
    return Page(
        "metric", metric.id, "", metric.documentation, facts, options,
        _example(metric.id, metric.threshold, options, tools), known | _tools_object(tools),
    )  # fmt: skip


def _evaluator_page(evaluator: Evaluator, catalog: Catalog) -> Page:
    there = evaluator.there(catalog)
    primary = catalog.metrics.get(evaluator.primary)
    asked = [fact for metric in there for fact in catalog.metrics[metric].needs]
    tools = [tool for tool in dict.fromkeys((*evaluator.needs, *asked)) if tool in TOOLS]
    facts = [
        ("metrics", ", ".join(there or evaluator.metrics)),
        ("primary", f"{evaluator.primary}: ranks the bots, and is what metric_threshold is about"),
        ("needs", ", ".join(evaluator.needs) + ("; only for bots that return contexts" if evaluator.rag_only else "")),
        ("board", evaluator.board),
        ("problems", f"a missed threshold is a problem of {evaluator.problem_type}"),
        *_tool_facts(tools),
    ]
    options = options_under(there, catalog)
    example = _example(evaluator.id, primary.threshold if primary else None, options, tools)
    if is_of_the_suite(evaluator):
        example = ["byop:", "  tone: prompts/tone.md", "metrics:", "  - byop.tone"]
    return Page(
        "evaluator", evaluator.id, evaluator.title, _of_members(there, catalog) or OWN_PROMPTS, facts, options, example,
        evaluator_object(evaluator, catalog) | _tools_object(tools),
    )  # fmt: skip


def _of_members(metrics: Sequence[str], catalog: Catalog) -> str:
    """What an evaluator's metrics say of themselves, each behind its name; what several say stands once."""
    said: dict[str, None] = {}
    for metric in metrics:
        summary, *paragraphs = catalog.metrics[metric].documentation.split("\n\n")
        said[f"{metric}: {summary}"] = None
        said |= dict.fromkeys(part for part in paragraphs if not part.startswith(_CODE))
    return "\n\n".join(said)


def _group_page(name: str) -> Page:
    members = [EVALUATORS[id] for id in GROUPS[name]]
    facts = [("evaluators", _with_titles(members))]
    known = {"id": name, "evaluators": [each.id for each in members]}
    documentation = f"All of its {len(members)} evaluators; proctor metrics NAME shows each."
    return Page("group", name, "a group", documentation, facts, (), ["metrics:", f"  - {name}"], known)


def _artefact_page(artefact: Artefact, catalog: Catalog) -> Page:
    required, used = facts_of(artefact.parameters, catalog.artefacts)
    resting = resting_on(artefact.id, catalog)
    tools = sorted(TOOLS & (required | used))
    facts = [
        ("needs", ", ".join(sorted(required)) or "nothing"),
        ("for", ", ".join(resting) or "nothing that is there"),
        *_tool_facts(tools),
    ]
    options = options_under([artefact.id], catalog)
    known = {"id": artefact.id, "needs": sorted(required), "optional": sorted(used), "metrics": resting}
    # With an option of its own a metric may rest on work whose options it can't set.
    able = [metric for metric in resting if {option.name for option in options} <= {*options_of([metric], catalog)}]
    example = _example(able[0], None, options, ()) if able and options else ()
    documentation = getdoc(artefact.function) or ""
    title = "work that metrics share"
    return Page("artefact", artefact.id, title, documentation, facts, options, example, known | _tools_object(tools))


def _with_titles(evaluators: Iterable[Evaluator]) -> str:
    return ", ".join(f"{each.id} ({each.title})" for each in evaluators)


def _tool_facts(
    tools: Iterable[str], swapped: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Iterator[tuple[str, str]]:
    """Which models are meant by the tools that something needs, always or with an option, and how to have them."""
    roles: list[Role] = []
    for condition, named in {"": list(tools), **swapped}.items():
        for tool in named:
            if tool in _TOOLS:
                yield "model", condition + _TOOLS[tool]
            else:
                role = _ROLE_OF[tool]
                roles.append(role)
                yield "model", f"{condition}{role.model}, {role.megabytes:,} MB, licence {role.licence}"
    if roles:
        fetched = " ".join(role.name for role in roles)
        where = f"local_models: {roles[0].name}" if len(roles) == 1 else "local_models"
        yield "to have it", f"proctor models fetch {fetched}; the suite names another under {where}"


def _swapped(metric: Metric, catalog: Catalog) -> dict[str, list[str]]:
    """The local models that options bring in, by the words that say with which."""
    found: dict[str, list[str]] = {}
    for (option, value), swaps in metric.declaration.swaps.items():
        needs = [
            need for name in swaps.values() if name in catalog.artefacts for need in catalog.artefacts[name].parameters
        ]
        required, _ = facts_of(needs, catalog.artefacts)
        found[f"with {option}: {as_yaml(value)}, "] = [tool for tool in sorted(required) if tool in _ROLE_OF]
    return found


def _tools_object(tools: Iterable[str]) -> dict[str, object]:
    roles = [_ROLE_OF[tool] for tool in tools if tool in _ROLE_OF]
    return {"local_models": [{"role": role.name, "model": role.model, "megabytes": role.megabytes} for role in roles]}


def _example(id: str, threshold: float | None, options: Sequence[Option], tools: Iterable[str]) -> list[str]:
    roles = [_ROLE_OF[tool] for tool in tools if tool in _ROLE_OF]
    models = ["local_models:", *(f"  {role.name}: {role.model}" for role in roles)] if roles else []
    return [*entry_lines(id, threshold, options), *models]


def _lines(page: Page, width: int) -> Iterator[Text]:
    heading = Text(page.id, style="bold")
    yield heading.append(f"  {page.title}", style="not bold") if page.title else heading
    for paragraph in page.documentation.replace("``", "").split("\n\n"):
        is_code = paragraph.startswith(_CODE)
        yield from (Text(line) for line in _wrapped(paragraph.splitlines() if is_code else [paragraph], width))
        yield Text("")
    for label, said in page.facts:
        yield from _labelled(label, said, width)
    for number, option in enumerate(page.options):
        said = f"{option.name}: {as_yaml(option.default)} ({option.allowed}{_owned(option, page.id)})"
        yield from _labelled("" if number else "options", said, width)
    if page.example:
        yield from _labelled("in a suite", page.example[0], width)
        yield from (Text(" " * (_LABEL + 2) + line) for line in page.example[1:])


def _owned(option: Option, page: str) -> str:
    """Whose an option is, where that is not the page's own, and for whom else it holds; in words."""
    if not option.shared_with:
        return "" if option.is_of_work or option.owner == page else f"; of {option.owner}"
    first, *others = option.shared_with
    more = f" and {len(others)} more metrics" if len(others) > 1 else f" and {others[0]}" if others else ""
    return f"; of {option.owner}, so for {first}{more} as well"


def _wrapped(paragraphs: Iterable[str], width: int) -> Iterator[str]:
    for paragraph in paragraphs:
        text = " ".join(paragraph.split())
        yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _labelled(label: str, said: str, width: int) -> Iterator[Text]:
    indent = " " * (_LABEL + 2)
    lines = textwrap.wrap(
        said, width, initial_indent=f"  {label:<{_LABEL}}", subsequent_indent=indent, break_on_hyphens=False
    )
    for line in lines:
        text = Text(line)
        text.stylize("dim", 0, _LABEL + 2)
        yield text
