"""Survey settings: what a suite says of the survey of its documents, and of the settings that are compared."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ... import InputError
from ...knowledge.searching.passage_search import RETRIEVERS
from ...knowledge.searching.splitting import Splitter
from .mistakes import nearest

RankedBy = Literal["evidence_recall", "hit_rate", "mrr", "ndcg", "context_precision", "span_recall", "span_precision"]
RANKED_BY: Final[tuple[RankedBy, ...]] = get_args(RankedBy)
NONE: Final = "none"


def _in_a_list(given: object) -> object:
    return [given] if given is None or isinstance(given, str | int | float) else given


def _known_retriever(name: str) -> str:
    if name not in RETRIEVERS and ":" not in name:
        known = nearest(name, RETRIEVERS, "the built-in ones are")
        raise ValueError(f"{name!r} is no retriever{known}; one of your own is given as file.py:name")
    return name


def _without_none(name: str | None) -> str:
    return "" if name is None or name.strip().casefold() == NONE else name


_Retriever = Annotated[str, AfterValidator(_known_retriever)]
_Reranker = Annotated[str | None, AfterValidator(_without_none)]
_Model = Annotated[str, Field(min_length=1)]
_Size = Annotated[int, Field(ge=20)]
_Overlap = Annotated[int, Field(ge=0)]
_Many = Annotated[int, Field(ge=1)]
_some = Field(min_length=1)
_Splitters = Annotated[
    tuple[Splitter, ...], BeforeValidator(_in_a_list, json_schema_input_type=Splitter | tuple[Splitter, ...]), _some
]
_Sizes = Annotated[
    tuple[_Size, ...], BeforeValidator(_in_a_list, json_schema_input_type=_Size | tuple[_Size, ...]), _some
]
_Overlaps = Annotated[
    tuple[_Overlap, ...], BeforeValidator(_in_a_list, json_schema_input_type=_Overlap | tuple[_Overlap, ...]), _some
]
_Retrievers = Annotated[
    tuple[_Retriever, ...],
    BeforeValidator(_in_a_list, json_schema_input_type=_Retriever | tuple[_Retriever, ...]),
    _some,
]
_Rerankers = Annotated[
    tuple[_Reranker, ...], BeforeValidator(_in_a_list, json_schema_input_type=_Reranker | tuple[_Reranker, ...]), _some
]
_Models = Annotated[tuple[_Model, ...], BeforeValidator(_in_a_list, json_schema_input_type=_Model | tuple[_Model, ...])]
_Manys = Annotated[
    tuple[_Many, ...], BeforeValidator(_in_a_list, json_schema_input_type=_Many | tuple[_Many, ...]), _some
]


class GridSettings(BaseModel):
    """Settings for cutting and searching that are compared: every combination of what is listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    splitter: _Splitters = Field(
        ("recursive", "sentences"), description="Where documents are cut, as for a rag bot; one, or a list."
    )
    # 8 passages of 300 characters take about as much of a prompt as 4 of 600, so that either may win.
    chunk_size: _Sizes = Field((300, 600), description="Characters in a passage at most; one number, or a list.")
    chunk_overlap: _Overlaps = Field(
        (0, 80), description="Characters that neighbouring passages share; one number, or a list."
    )
    retriever: _Retrievers = Field(
        RETRIEVERS,
        description="How passages are found: `dense`, `bm25`, `hybrid`, or a LangChain retriever of your own as "
        "`file.py:name`; one, or a list.",
    )
    reranker: _Rerankers = Field(
        ("",),
        description="Cross-encoders that put what was found in a better order, by hub id or folder; `none` is without; "
        "one, or a list.",
    )
    embedder: _Models = Field(
        (), description="Embedding models, named as under `embedder`; one, or a list; left out, the suite's own."
    )
    top_k: _Manys = Field((4, 8), description="Passages in the prompt at most; one number, or a list.")


class SurveySettings(BaseModel):
    """What `proctor knowledge` does with the documents and questions of the suite."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: str | None = Field(
        None,
        min_length=1,
        description="The metric that says whether an answer is right; left out, the one that says it most directly.",
    )
    most_calls: int = Field(
        500, ge=0, description="Bots are asked at most so many extra questions to find what a document does to answers."
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        description="Most tokens of retrieved text a question, on average, of a setting that is recommended; left out, "
        "what the present setting takes and a tenth.",
    )
    best: int = Field(3, ge=0, description="Of so many of the best settings the answers are measured, too.")
    rank_by: RankedBy = Field("evidence_recall", description="The metric of retrieval by which settings are ranked.")
    grid: GridSettings = Field(
        GridSettings(), description="The settings that are compared: every combination of what is listed."
    )


def overridden_grid(grid: GridSettings, given: Sequence[str]) -> GridSettings:
    """The grid with some of its lists replaced, each as ``chunk_size=300,600``; the last of a key counts.

    Raises:
        InputError: one has no such form, names no key of the grid, or gives a value that can't be.
    """
    changed = dict(_read(one) for one in given)
    try:
        return GridSettings.model_validate({**grid.model_dump(), **changed})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = str(first["loc"][0])
        raise InputError(f"--grid {key}={','.join(changed[key])}: {_told(first)}.") from error


def _read(given: str) -> tuple[str, list[str]]:
    key, equals, values = given.partition("=")
    key = key.strip()
    if not equals:
        raise InputError(f"--grid {given}: wanted KEY=VALUE,VALUE such as chunk_size=300,600.")
    if key not in GridSettings.model_fields:
        raise InputError(f"--grid {given}: there is no key {key}{nearest(key, GridSettings.model_fields)}")
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not found:
        raise InputError(f"--grid {given}: {key} has no value; wanted such as {key}={_example(key)}.")
    return key, found


def _example(key: str) -> str:
    kept: tuple[object, ...] = GridSettings.model_fields[key].default
    return ",".join(str(one) for one in kept if one) or "MODEL"


def _told(found: Mapping[str, object]) -> str:
    context = found.get("ctx")
    if isinstance(context, Mapping) and isinstance(context.get("error"), ValueError):
        return str(context["error"])
    says = str(found["msg"])
    return f"got {found['input']!r}; {says[:1].lower()}{says[1:]}"
