"""Suite: what one YAML file says of an exam, checked."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...bots.models import ModelSettings
from ...bots.settings import BotSettings
from .gate_settings import GateSettings
from .judge_settings import ByopSettings, File, JudgeSettings
from .local_model_settings import LocalModelsSettings
from .perturb_settings import PerturbSettings
from .survey_settings import SurveySettings


def _in_a_list(given: object) -> object:
    return [given] if isinstance(given, str) else given


def _as_mapping(given: object) -> object:
    return {"model": given} if isinstance(given, str) else given


def _as_prompt(given: object) -> object:
    return {"prompt": given} if isinstance(given, str) else given


_Byop = Annotated[ByopSettings, BeforeValidator(_as_prompt, json_schema_input_type=File | ByopSettings)]
_Paths = Annotated[tuple[Path, ...], BeforeValidator(_in_a_list, json_schema_input_type=Path | tuple[Path, ...])]
_Files = Annotated[tuple[File, ...], BeforeValidator(_in_a_list, json_schema_input_type=File | tuple[File, ...])]
_Figure = Annotated[float, Field(allow_inf_nan=False)]


class EmbedderSettings(BaseModel):
    """The model that turns texts into vectors, for bots and metrics alike."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        "embedded",
        min_length=1,
        description="`embedded` is the MiniLM that comes with the package; else a folder or the id of a "
        "sentence-transformers model.",
    )
    precision: Literal["fp32", "int8"] = Field(
        "fp32", description="int8 is about twice as fast and slightly different; it is named on every report."
    )
    threads: int = Field(1, ge=1, description="Processor threads of the model.")
    strict: bool = Field(
        False, description="Stop when the model can't be had, instead of falling back on the embedded one."
    )


class Suite(BaseModel):
    """An exam: the bots, the questions they are asked, the knowledge they answer from, and how they are marked.

    Paths are relative to the suite file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("", description="What the suite is called in reports; left out, its folder's name.")
    knowledge: _Paths = Field(
        (), description="Documents that the bots answer from: a folder, a file, or a list of them."
    )
    questions: File = Field(description="The question set: a CSV, JSONL, JSON or YAML file.")
    models: dict[str, ModelSettings] = Field(
        default_factory=dict, description="Chat models by the name under which bots use them."
    )
    bots: dict[str, BotSettings] = Field(
        min_length=1, description="The bots under test, by the name they have in reports."
    )
    metrics: tuple[str | dict[str, dict[str, Any]], ...] | None = Field(
        None,
        description="Metrics and evaluators by id, or `id: {option: value}`; every evaluator has the options "
        "`metric_threshold`, `all_metrics`, `min_test_cases` and `save_rows`. Left out, those that fit the questions "
        "and bots. `proctor metrics` and `proctor metrics --evaluators` list them.",
    )
    primary: str = Field(
        "",
        description="The metric by which runs are read first and bots are gated; left out, the one that says most "
        "directly whether answers are right.",
    )
    metric_files: _Files = Field((), description="Python files with metrics of your own.")
    thresholds: dict[str, _Figure] = Field(
        default_factory=dict, description="What a value must reach to pass, by metric; else the metric's own."
    )
    empty_contexts: Literal["not_applicable", "zero"] = Field(
        "not_applicable",
        description="What metrics of retrieval say when a bot retrieved nothing: nothing, or the value 0.",
    )
    embedder: Annotated[
        EmbedderSettings, BeforeValidator(_as_mapping, json_schema_input_type=str | EmbedderSettings)
    ] = Field(EmbedderSettings(), description="The embedding model: its name, or a mapping with settings.")
    judge: Annotated[JudgeSettings, BeforeValidator(_as_mapping, json_schema_input_type=str | JudgeSettings)] = Field(
        JudgeSettings(), description="Who grades: a model's name, or a mapping with settings; left out, `embedded`."
    )
    local_models: LocalModelsSettings = Field(
        LocalModelsSettings(),
        description="Models that run on this machine for metrics, by role: a folder, a hub id, or a mapping with "
        "settings. `proctor models` lists the roles.",
    )
    byop: dict[str, _Byop] = Field(
        default_factory=dict,
        description="Prompts of your own for the judge, by name: a file, or a mapping with `prompt` and `labels`. They "
        "are the metrics `byop.NAME`, or all of them `byop`.",
    )
    gate: GateSettings = Field(
        GateSettings(),
        description="How much worse a bot may become before `proctor gate` fails, and what it is held against.",
    )
    perturb: PerturbSettings | None = Field(
        None, description="A second run on reworded questions, which shows how fragile the answers are."
    )
    survey: SurveySettings = Field(
        SurveySettings(),
        description="What `proctor knowledge` compares and asks when it looks at the documents.",
    )
    repeat: int = Field(1, ge=1, description="How many times each question is asked.")
    concurrency: int = Field(16, ge=1, description="Questions in flight at each bot, and calls to the judge.")
    seed: int = Field(0, ge=0, description="Seed of everything that is drawn by chance.")
