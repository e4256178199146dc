"""What a catalog holds: the records of metrics and artefacts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .declaration import ArtefactDeclaration, Function, Level, MetricDeclaration, Need
from .score import Aggregate, Better


@dataclass(frozen=True, slots=True)
class Artefact:
    """Shared work, by name: how it is made, and from what."""

    id: str
    function: Function
    parameters: tuple[Need, ...]
    options: Mapping[str, object]
    is_async: bool
    declaration: ArtefactDeclaration


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as the catalog knows it.

    Attributes:
        id: the function's name, or the one it was declared with.
        function: the undecorated function, which can be called bare.
        parameters: what it asks for by name: facts and artefacts.
        options: keyword-only parameters with their defaults.
        summary: the first line of its docstring.
        documentation: the whole docstring.
        needs: the facts without which there is no value, also those of its artefacts.
        optional: the facts that it uses where they are known.
        declaration: what the decorator was told.
    """

    id: str
    function: Function
    parameters: tuple[Need, ...]
    options: Mapping[str, object]
    summary: str
    documentation: str
    needs: tuple[str, ...]
    optional: tuple[str, ...]
    declaration: MetricDeclaration

    @property
    def threshold(self) -> float | None:
        """What a value must reach to pass; None for none."""
        return self.declaration.threshold

    @property
    def better(self) -> Better:
        """Which way is good."""
        return self.declaration.better

    @property
    def low(self) -> float | None:
        """Least possible value; None without a bound."""
        return self.declaration.low

    @property
    def high(self) -> float | None:
        """Greatest possible value; None without a bound."""
        return self.declaration.high

    @property
    def source(self) -> str:
        """Where the definition comes from."""
        return self.declaration.source

    @property
    def level(self) -> Level:
        """Whether it is measured on a row or on a whole run."""
        return self.declaration.level

    @property
    def aggregate(self) -> Aggregate:
        """How the values of rows make one figure."""
        return self.declaration.aggregate


def facts_of(needs: Sequence[Need], artefacts: Mapping[str, Artefact]) -> tuple[frozenset[str], frozenset[str]]:
    """The facts without which some needs can't be met, and those that are used where they are known.

    The parts of an artefact don't count: it does without those that nobody else needs.
    """
    required: set[str] = set()
    optional: set[str] = set()
    for need in needs:
        if need.name in artefacts:
            below, used = facts_of(without_parts(artefacts[need.name]), artefacts)
        else:
            below, used = frozenset({need.name}), frozenset()
        (required if need.required else optional).update(below)
        optional.update(used)
    return frozenset(required), frozenset(optional - required)


def without_parts(artefact: Artefact) -> tuple[Need, ...]:
    """What an artefact asks for beside its parts."""
    return tuple(need for need in artefact.parameters if need.name not in artefact.declaration.parts)
