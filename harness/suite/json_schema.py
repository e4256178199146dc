"""JSON schema of the suite file, by which editors complete and check it."""

from collections.abc import Collection
from typing import Any

from .settings import Suite

FILE = "suite.schema.json"
FIRST_LINE = f"# yaml-language-server: $schema={FILE}"


def suite_schema(metrics: Collection[str] = (), evaluators: Collection[str] = ()) -> dict[str, Any]:
    """The schema (draft 2020-12). With the ids of ``metrics``, editors offer and check those and no others.

    ``evaluators`` may stand wherever metrics may, but for the thresholds.
    """
    written = _without_titles(Suite.model_json_schema())
    if metrics:
        _name_metrics(written["properties"], sorted(metrics), sorted({*metrics, *evaluators}))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Proctor suite", **written}


def _without_titles(node: Any) -> Any:  # noqa: ANN401 - any JSON
    """The node without the titles that only repeat its keys; a property may itself be called ``title``."""
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _without_titles(inner) for name, inner in value.items()}
        if key in ("properties", "$defs")
        else _without_titles(value)
        for key, value in node.items()
        if key != "title"
    }


def _name_metrics(properties: dict[str, Any], metrics: list[str], entries: list[str]) -> None:
    listed = next(branch for branch in properties["metrics"]["anyOf"] if branch["type"] == "array")
    for branch in listed["items"]["anyOf"]:
        if branch["type"] == "string":
            branch["enum"] = entries
        else:
            branch["propertyNames"] = {"enum": entries}
    properties["thresholds"]["propertyNames"] = {"enum": metrics}
