"""Target: where a run is to be done, checked before anything is asked."""

from __future__ import annotations

import difflib
import importlib.util
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ... import InputError
from ...bots import literal_secrets

if TYPE_CHECKING:
    from ..run.engine import Engine
    from ..run.evaluation import Asking, Evaluation
    from ..run.run_config import RunConfig

LOCAL: Final = "ray"
ADDRESS: Final = re.compile(r"ray://([^\s/:]+|\[[^\s/]+\]):\d+")


def clustered(evaluation: Evaluation, options: RunConfig) -> Evaluation:
    """The evaluation with its work spread over a cluster, where the options name one.

    Raises:
        InputError: there is no such cluster, or the run can't be spread.
    """
    if not options.on:
        return evaluation
    check_target(options.on)
    origin = evaluation.origin
    assert origin is not None  # noqa: S101 - only suites are run on a cluster
    written = origin.loaded.suite.model_dump(mode="json", include={"bots", "models", "local_models", "judge"})
    if options.latency_run:
        raise InputError(
            "--latency-run asks one question at a time; it can't be spread over a cluster. Leave out --on."
        )
    if any(literal_secrets(written)):
        raise InputError(
            f"{origin.loaded.path}: a key stands in the suite itself, and would travel to every node. Name an"
            " environment variable in its place (api_key_env, $NAME), and set it on the nodes."
        )

    def spread(engine: Engine) -> Asking:
        from .driver import Driver

        return Driver(engine, evaluation, options)

    return replace(evaluation, spread=spread)


def check_target(on: str) -> None:
    """See that a cluster can be used, before anything is asked.

    Raises:
        InputError: it is no name or address of one, or Ray is not installed.
    """
    if on != LOCAL and not ADDRESS.fullmatch(on):
        near = difflib.get_close_matches(on, [LOCAL], n=1)
        hint = f" Did you mean {LOCAL!r}?" if near else ""
        if on.startswith("ray:"):
            hint = " An address has a port, which is 10001 unless the cluster says otherwise."
        raise InputError(f"--on: {on!r} is no cluster; wanted ray, or an address such as ray://head:10001.{hint}")
    missing = [name for name in ("ray", *(["grpc"] if on != LOCAL else [])) if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"--on {on} needs Ray, which is not installed: pip install 'proctor[ray]'")
