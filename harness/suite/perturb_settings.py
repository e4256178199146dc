"""Perturb settings: what a suite says of its questions reworded."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ...knowledge.perturbing.kinds import choose_kinds, unknown_kind
from ...knowledge.perturbing.variants import Recipe


def _known(name: str) -> str:
    if problem := unknown_kind(name):
        raise ValueError(problem.rstrip("."))
    return name


def _in_a_list(given: object) -> object:
    return [given] if isinstance(given, str | int | float) else given


_Kind = Annotated[str, AfterValidator(_known)]
_Share = Annotated[float, Field(gt=0, le=1)]
_Kinds = Annotated[
    tuple[_Kind, ...],
    BeforeValidator(_in_a_list, json_schema_input_type=_Kind | tuple[_Kind, ...]),
    Field(min_length=1),
]
_Shares = Annotated[
    tuple[_Share, ...],
    BeforeValidator(_in_a_list, json_schema_input_type=_Share | tuple[_Share, ...]),
    Field(min_length=1),
]


class PerturbSettings(BaseModel):
    """A second run of the suite's bots, on its questions reworded; each with an unchanged copy as control."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: _Kinds = Field(
        description="How questions are reworded, such as keyboard_typo, synonym and negation; or `offline`, `encoding` "
        "or `all`. `proctor perturb --list` says what each does and what must become of the answer."
    )
    intensities: _Shares = Field((0.1,), description="Shares of the letters or words that are changed, each a variant.")
    variants: int = Field(1, ge=1, description="How many variants are made alike, with other draws.")
    seed: int = Field(0, ge=0, description="Another number draws other variants, and other questions.")
    questions: int | None = Field(
        50, ge=1, description="At most so many questions are reworded, drawn by chance; null for all."
    )

    @property
    def recipe(self) -> Recipe:
        """What is made of each question."""
        return Recipe(choose_kinds(self.kinds), self.intensities, self.variants, self.seed)
