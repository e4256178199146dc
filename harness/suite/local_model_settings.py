"""Settings of local models, as they stand in the suite file and on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from ... import InputError
from ...bots.models import ModelSettings as ServerSettings
from ...knowledge.local_models.finding import Device, ModelSettings
from ...knowledge.local_models.roles import ROLES
from .mistakes import nearest

SERVER: Final = "openai:"
_HERE_ONLY: Final = ("revision", "file", "device", "threads")
_SERVER_ONLY: Final = (
    "base_url", "api_key_env", "timeout", "max_attempts", "concurrency", "context_tokens", "extra",
)  # fmt: skip


class LocalModelSettings(BaseModel):
    """The model that takes one role."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = Field(
        None, min_length=1, description="A folder, or an id of the Hugging Face hub; left out, the role's default."
    )
    revision: str | None = Field(None, min_length=1, description="Branch, tag or commit on the hub.")
    file: str = Field("", description="Which weights of the repository, where it holds several models.")
    device: Device | None = Field(None, description="Where it runs; left out, as `device` of all has it.")
    threads: int | None = Field(None, ge=1, description="Processor threads; left out, as `threads` of all has it.")

    @field_validator("model")
    @classmethod
    def _is_here(cls, model: str | None) -> str | None:
        if model is not None and model.startswith((SERVER, "langchain:")):
            asked = ", ".join(role.name for role in ROLES.values() if role.kind == "language_model")
            raise ValueError(
                f"'{model}' can't take this role: a server can be asked only for {asked}; wanted a folder or an id of "
                "the Hugging Face hub"
            )
        return model


class LanguageModelSettings(LocalModelSettings):
    """The language model that takes one role: here, or behind a server that tells log-probabilities of a prompt."""

    model: str | None = Field(
        None,
        min_length=1,
        description="A folder, an id of the Hugging Face hub, or `openai:NAME` for a server; left out, the default.",
    )
    base_url: str | None = Field(None, description="Where the server is, such as `http://127.0.0.1:8000/v1`.")
    api_key_env: str | None = Field(
        None, min_length=1, description="Environment variable that holds the key; never the key itself."
    )
    timeout: float | None = Field(None, gt=0, description="Seconds for one attempt.")
    max_attempts: int | None = Field(None, ge=1, description="Attempts that may fail before a text is given up.")
    concurrency: int | None = Field(None, ge=1, description="Requests under way at the server at most.")
    context_tokens: int | None = Field(None, ge=1, description="Tokens that the server's model reads at most.")
    extra: dict[str, Any] | None = Field(None, description="Further fields of the request, sent as they stand.")

    @field_validator("model")
    @classmethod
    def _is_here(cls, model: str | None) -> str | None:
        if model is not None and model.startswith("langchain:"):
            raise ValueError(f"'{model}' can't say how likely a text is; take 'openai:NAME', a folder or a hub id")
        return model

    @property
    def is_served(self) -> bool:
        """Whether a server runs it."""
        return self.model is not None and self.model.startswith(SERVER)

    @property
    def server(self) -> ServerSettings:
        """How the server is asked. Raises ValidationError when what is given can't be right."""
        return ServerSettings(**self.model_dump(include={"model", *_SERVER_ONLY}, exclude_none=True))

    @model_validator(mode="after")
    def _fits_the_model(self) -> Self:
        foreign = _HERE_ONLY if self.is_served else _SERVER_ONLY
        for name in foreign:
            if name in self.model_fields_set and self.is_served:
                raise ValueError(f"`{name}` means nothing to '{self.model}', which a server runs")
            if name in self.model_fields_set:
                raise ValueError(f"`{name}` is for the model of a server; name it as `model: {SERVER}NAME`")
        if self.is_served:
            try:
                _ = self.server
            except ValidationError as error:
                raise ValueError(str(error.errors()[0].get("ctx", {}).get("error", error.errors()[0]["msg"]))) from None
        return self


def _as_mapping(given: object) -> object:
    return {"model": given} if isinstance(given, str) else given


_Local = Annotated[LocalModelSettings, BeforeValidator(_as_mapping, json_schema_input_type=str | LocalModelSettings)]
_Language = Annotated[
    LanguageModelSettings, BeforeValidator(_as_mapping, json_schema_input_type=str | LanguageModelSettings)
]


class LocalModelsSettings(BaseModel):
    """Models that run on this machine for metrics and bots, by what they are wanted for; each has a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    device: Device = Field("auto", description="Where they run; `auto` takes a graphics processor where there is one.")
    threads: int = Field(1, ge=1, description="Processor threads of each.")
    hallucination: _Local = Field(LocalModelSettings(), description="Says whether a source supports an answer.")
    perplexity: _Language = Field(LanguageModelSettings(), description="Says how likely it finds an answer.")
    gptscore: _Language = Field(LanguageModelSettings(), description="The same, after an instruction.")
    toxicity: _Local = Field(LocalModelSettings(), description="Six labels of what is toxic.")
    fairness_bias: _Local = Field(LocalModelSettings(), description="Whether a sentence is biased.")
    summac: _Local = Field(LocalModelSettings(), description="Whether a sentence entails another.")
    minicheck: _Local = Field(LocalModelSettings(), description="Says whether a source supports a claim.")
    alignscore: _Local = Field(LocalModelSettings(), description="The same, trained on many tasks.")
    lettucedetect: _Local = Field(LocalModelSettings(), description="Marks what contexts don't support.")
    similarity: _Local = Field(LocalModelSettings(), description="Says how alike two texts are.")
    rerank: _Local = Field(
        LocalModelSettings(),
        description="Says how well a passage answers a question, for `rag` bots with a `reranker`; `device` and "
        "`threads` count for all of these.",
    )

    def of(self, role: str) -> LocalModelSettings:
        """What is said of a role."""
        given: LocalModelSettings = getattr(self, role)
        return given

    @property
    def served(self) -> dict[str, ServerSettings]:
        """The roles that a server takes, and how it is asked."""
        given = {role: self.of(role) for role in ROLES}
        return {
            role: one.server for role, one in given.items() if isinstance(one, LanguageModelSettings) and one.is_served
        }

    def on_this_machine(self, base: Path) -> dict[str, ModelSettings]:
        """All other roles: which model, and how it is to run; relative folders start from ``base``."""
        return {role: self._settled(role, base) for role in ROLES if role not in self.served}

    def _settled(self, role: str, base: Path) -> ModelSettings:
        given = self.of(role)
        model = given.model or ROLES[role].model
        if given.model and (base / model).is_dir():
            model = str(base / model)
        return ModelSettings(
            model=model,
            revision=given.revision,
            device=given.device or self.device,
            threads=given.threads or self.threads,
            file=given.file,
        )


def overridden(settings: LocalModelsSettings, entries: Iterable[str]) -> LocalModelsSettings:
    """The settings with other models for some roles, as the command line names them: ``ROLE=MODEL``.

    Relative folders start from the working directory.

    Raises:
        InputError: there is no such role, it is named twice, or the model can't take it.
    """
    changed: dict[str, Mapping[str, object]] = {}
    for entry in entries:
        role, equals, model = (part.strip() for part in entry.partition("="))
        if not equals or not model:
            raise InputError(f"--local-model wants ROLE=MODEL, such as toxicity=./my-model; got {entry!r}.")
        if role not in ROLES:
            hint = nearest(role, ROLES, "the roles are")
            raise InputError(f"--local-model: there is no role {role!r}{hint}{'' if hint.endswith('?') else '.'}")
        if role in changed:
            raise InputError(f"--local-model names {role} twice: one model takes a role.")
        if Path(model).expanduser().is_dir():
            model = str(Path(model).expanduser().resolve())
        kept = set(_SERVER_ONLY) if model.startswith(SERVER) else {"device", "threads"}
        changed[role] = settings.of(role).model_dump(include=kept, exclude_unset=True) | {"model": model}
    try:
        return LocalModelsSettings(**settings.model_dump(exclude_unset=True) | changed)
    except ValidationError as error:
        first = error.errors()[0]
        said = first.get("ctx", {}).get("error", first["msg"])
        raise InputError(f"--local-model {first['loc'][0]}: {said}.") from None
