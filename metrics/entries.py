"""The records of metrics and artefacts in a catalog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .declaration import ArtefactDeclaration, Function, Level, MetricDeclaration, Need
from .score import Aggregate, Better


@dataclass(frozen=True, slots=True)
class Artefact:
    """Shared work: its function, and what that needs."""

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
        parameters: the facts and artefacts that it requests by name.
        options: keyword-only parameters with their defaults.
        summary: the first line of its docstring.
        documentation: the whole docstring.
        needs: the facts that are required, including those of its artefacts.
        optional: the facts that it uses if they are known.
        declaration: the arguments of the decorator.
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
        """What a value must reach to pass; None for no threshold."""
        return self.declaration.threshold

    @property
    def better(self) -> Better:
        """Whether higher or lower values are better."""
        return self.declaration.better

    @property
    def low(self) -> float | None:
        """Lowest possible value; None without a bound."""
        return self.declaration.low

    @property
    def high(self) -> float | None:
        """Highest possible value; None without a bound."""
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
        """How the values of rows are aggregated."""
        return self.declaration.aggregate


def facts_of(needs: Sequence[Need], artefacts: Mapping[str, Artefact]) -> tuple[frozenset[str], frozenset[str]]:
    """The facts that some needs require, and those that they use if they are known.

    The parts of an artefact don't count: they are left out unless another step needs them.
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
    """The needs of an artefact except its parts."""
    return tuple(need for need in artefact.parameters if need.name not in artefact.declaration.parts)
