"""Judged metrics: what of a plan the judge grades, and by which calls."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from ...metrics.judge.rendering import prompt_hash

if TYPE_CHECKING:
    from ...metrics.plan import Plan


def judged_metrics(plan: Plan) -> dict[str, object]:
    """Which metrics the judge grades, and a hash of what it is asked for them: other requests, other values."""
    judged = [metric for metric in plan.metrics if "judge" in {*metric.needs, *metric.optional}]
    asked = [
        [request.artefact, [prompt_hash(call) for call in request.calls], request.requests, request.metrics]
        for request in plan.requests.requests
    ]
    written = orjson.dumps(asked)
    return {
        "metrics": [metric.id for metric in judged],
        "requests_hash": hashlib.sha256(written).hexdigest()[:16] if asked else None,
    }


def asked_calls(plan: Plan) -> list[tuple[str, str | None]]:
    """Each metric that the judge grades, with the name of each call that it rests on; None where it names none."""
    asked = plan.requests.requests
    return [(metric, call) for request in asked for metric in request.metrics for call in request.calls or (None,)]
