"""Judge choice: which models grade, from the suite and what the command line says in its place."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from ... import InputError
from ...bots.models import KINDS, ModelSettings, parse_model
from .judge_settings import EMBEDDED, NO_JUDGE, JudgeSettings


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Who grades: the settings, and those of each model by the name under which ``settings`` has it."""

    settings: JudgeSettings = field(default_factory=JudgeSettings)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)


def choose_judge(
    suite: JudgeSettings, models: Mapping[str, ModelSettings], spec: str = "", url: str = ""
) -> JudgeChoice:
    """The judge of the suite, or the one that the command line names.

    Args:
        suite: the judge as the suite has it; its votes count for the one named in its place, too.
        models: chat models by the names that the suite gives them.
        spec: ``openai:NAME``, ``langchain:file.py:name``, ``embedded`` or a name of ``models``; blank for the suite's.
        url: where the judge is, in place of its own ``base_url``; blank for that.

    Raises:
        InputError: there is no such model, it can't judge, or it has no address to change.
    """
    settings = _named(suite, spec.strip()) if spec.strip() else suite
    if settings.is_embedded:
        if url:
            raise InputError("--judge-url is for a judge behind an endpoint; add --judge openai:NAME.")
        return JudgeChoice(settings)
    chosen = {name: _model(name, models) for name in settings.models}
    return JudgeChoice(settings, {name: _at(model, url) for name, model in chosen.items()} if url else chosen)


def _named(suite: JudgeSettings, spec: str) -> JudgeSettings:
    said = suite.model_dump(include={"check"} if suite.check else set())
    if spec == EMBEDDED:
        return JudgeSettings(model=spec, entailment=suite.entailment, **said)
    voting = suite.model_dump(include={"combine", "votes", "vote_temperature"} & suite.model_fields_set)
    return JudgeSettings(model=spec, **voting, **said)


def _model(name: str, models: Mapping[str, ModelSettings]) -> ModelSettings:
    settings = models.get(name)
    if settings is None:
        near = difflib.get_close_matches(name, [*models, EMBEDDED], n=1)
        if near and ":" not in name and name != "extractive":
            raise InputError(f"There is no judge {name!r}; did you mean {near[0]!r}?")
        if not {":", "-"} & set(name) and name not in KINDS:
            named = f" ({', '.join(models)})" if models else ""
            raise InputError(
                f"There is no judge {name!r}; a judge is 'embedded', 'openai:NAME', 'langchain:file.py:name' or a name "
                f"under models{named}."
            )
        settings = parse_model(name)
    if settings.kind == "extractive":
        raise InputError(f"{NO_JUDGE}.")
    return settings


def _at(model: ModelSettings, url: str) -> ModelSettings:
    if model.kind != "openai":
        raise InputError(
            f"--judge-url means nothing to the judge {model.model!r}: its address is set where it is made."
        )
    try:
        return ModelSettings(**model.model_dump(exclude_unset=True) | {"model": model.model, "base_url": url})
    except ValidationError as error:
        raise InputError(f"--judge-url: {error.errors()[0]['ctx']['error']}.") from None
