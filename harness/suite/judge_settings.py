"""Settings of the judge and of prompts of one's own, as they stand in the suite file."""

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

EMBEDDED: Final = "embedded"
NO_JUDGE: Final = (
    "'extractive' can't be a judge: it only picks sentences of a context. Take 'embedded', which needs no language "
    "model, or 'openai:NAME'"
)
_LANGUAGE_MODELS_ONLY = ("votes", "panel", "combine", "vote_temperature")
_NAME = re.compile(r"[A-Za-z0-9_-]+")

File = Annotated[Path, WithJsonSchema({"type": "string", "format": "file-path"})]
_Model = Annotated[str, Field(min_length=1)]


class CheckSettings(BaseModel):
    """What a judge has to reach on test cases whose verdict is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accuracy: float = Field(0.9, ge=0, le=1, description="Share of the verdicts that must be right.")
    hostile: float = Field(
        1.0, ge=0, le=1, description="The same share among answers that try to talk the judge into a verdict."
    )
    repeats: int = Field(2, ge=1, description="How often each test case is put to the judge.")


def _as_check(given: Any) -> Any:  # noqa: ANN401 - any YAML
    return {True: {}, False: None}[given] if isinstance(given, bool) else given


_Check = Annotated[CheckSettings | None, BeforeValidator(_as_check, json_schema_input_type=bool | CheckSettings)]


class JudgeSettings(BaseModel):
    """Who grades the answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        EMBEDDED,
        min_length=1,
        description="`embedded` (local models, no language model, no key; what it can't grade has no value), a name "
        "under `models`, or a model given in place: `openai:NAME`, `langchain:file.py:name`.",
    )
    combine: Literal["majority", "mean"] = Field(
        "majority", description="How several verdicts on one thing become one: the majority, or their mean."
    )
    panel: tuple[_Model, ...] = Field(
        (), description="Several models that judge side by side, in place of `model`; an odd number for a majority."
    )
    votes: int = Field(
        1, ge=1, description="How often each model is asked the same; an odd number, for the majority decides."
    )
    vote_temperature: float = Field(
        0.7,
        gt=0,
        description="The temperature of repeated votes where the model's own is 0, at which all votes would be equal.",
    )
    entailment: str | None = Field(
        None,
        min_length=1,
        description="For the embedded judge: a sentence-transformers cross-encoder that says whether a text entails "
        "another, as a folder or by its id.",
    )
    check: _Check = Field(
        None,
        description="Test the judge on answers known to be good, bad or hostile before the bots are asked, and stop "
        "when it fails: `true`, or a mapping with what is wanted of it.",
    )

    @property
    def models(self) -> tuple[str, ...]:
        """The models that judge, in their order."""
        return self.panel or (self.model,)

    @property
    def is_embedded(self) -> bool:
        """Whether no language model takes part."""
        return self.models == (EMBEDDED,)

    @field_validator("panel")
    @classmethod
    def _can_decide(cls, panel: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        twice = [name for name in panel if panel.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} sits on the panel twice; to ask a model several times there is `votes`")
        if EMBEDDED in panel:
            raise ValueError("'embedded' can't sit on a panel: it has no verdict on much of what the others are asked")
        if len(panel) == 1:
            raise ValueError("a panel has at least three models; one alone is named by `model`")
        if len(panel) % 2 == 0 and panel and info.data.get("combine") == "majority":
            raise ValueError(
                f"{len(panel)} models can be of two minds; a majority wants an odd number, or set `combine: mean`"
            )
        return panel

    @field_validator("votes")
    @classmethod
    def _is_odd(cls, votes: int, info: ValidationInfo) -> int:
        if votes % 2 == 0 and info.data.get("combine") == "majority":
            raise ValueError(
                f"{votes} votes can be equal on both sides; a majority wants an odd number, or set `combine: mean`"
            )
        return votes

    @model_validator(mode="after")
    def _fits_the_model(self) -> Self:
        given = self.model_fields_set
        if "panel" in given and "model" in given and self.panel:
            raise ValueError("give `model` or `panel`, not both; a panel holds all models that judge")
        if self.is_embedded and (foreign := [name for name in _LANGUAGE_MODELS_ONLY if name in given]):
            raise ValueError(f"`{foreign[0]}` means nothing to the embedded judge, which always says the same")
        if self.entailment is not None and not self.is_embedded:
            raise ValueError("`entailment` is for the embedded judge alone; leave it out, or set `model: embedded`")
        return self


def _as_labels(given: Any) -> Any:  # noqa: ANN401 - any YAML
    """YAML reads a bare ``true`` as a truth value; here it is a word."""
    if not isinstance(given, (list, tuple)):
        return given
    if len(given) != 2:
        raise ValueError(f"two words are wanted, the one that passes and the one that fails, not {len(given)}")
    return [str(label).lower() if isinstance(label, bool) else label for label in given]


_Labels = Annotated[tuple[str, str], BeforeValidator(_as_labels, json_schema_input_type=tuple[str | bool, str | bool])]


class ByopSettings(BaseModel):
    """A prompt of one's own, by which the judge passes or fails an answer with one word."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: File = Field(
        description="A text file that names what the judge is shown: {question}, {expected}, {contexts}, {answer}."
    )
    labels: _Labels = Field(
        ("true", "false"), description="The word that passes and the word that fails, in this order."
    )

    @field_validator("labels")
    @classmethod
    def _differ(cls, labels: tuple[str, str]) -> tuple[str, str]:
        if labels[0].strip().casefold() == labels[1].strip().casefold():
            raise ValueError(f"the labels are both {labels[0]!r}; two different words are wanted")
        if not all(label.strip() for label in labels):
            raise ValueError("a label must not be blank")
        return labels


def misnamed_prompt(name: str) -> str:
    """What is wrong with the name of a prompt of one's own; blank when nothing is."""
    return "" if _NAME.fullmatch(name) else "a prompt's name has letters, digits, hyphens and underscores only"
