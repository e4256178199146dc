"""The bench of one row: its facts, and what has been made of them so far, failures included."""

import asyncio
import math
import signal
import traceback
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, SupportsFloat, TypeAlias, cast

from .. import InputError
from .declaring import Function
from .messages import exception_name, exception_text
from .score import JudgeUnavailable, Measured, ModelUnavailable, NotApplicable, Reason, Status, TimedOut, Unreadable

LEFT_OUT: Final = ""  # stands for the name of a part that this plan does without; nothing has this name


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no value: the outcome of a missing fact, an artefact or a metric."""

    status: Status
    reason: str
    details: Mapping[str, object] = field(default_factory=dict)


class Values(dict[str, object]):
    """Facts and artefacts by name; what is not here is looked for in the layer below."""

    __slots__ = ("below",)

    def __init__(self, values: Mapping[str, object], below: "Values | None" = None) -> None:
        super().__init__(values)
        self.below = below

    def __missing__(self, name: str) -> object:
        return None if self.below is None else self.below[name]


@dataclass(frozen=True, slots=True)
class Step:
    """One function with its parameters, ready to be called on a row.

    Attributes:
        name: of the artefact or metric.
        function: what makes it.
        names: its needs in the order of its parameters; ``LEFT_OUT`` in the place of parts that nobody else needs.
        defaults: of the needs that are optional.
        options: values of its keyword-only parameters.
        is_async: whether calling it gives something to await.
        waits: whether it or anything under it is async.
        on_expected: whether it rests on the expected answer, so that it is made for each accepted one.
        parts: those of its needs that it does without when they can't be made.
        calls: names of the judge's calls that it makes.
        requests: how many requests to the judge it makes for a row.
    """

    name: str
    function: Function
    names: tuple[str, ...]
    defaults: Mapping[str, object]
    options: Mapping[str, object]
    is_async: bool = False
    waits: bool = False
    on_expected: bool = False
    parts: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    requests: int = 0

    def arguments(self, values: Values) -> list[object] | Failure:
        """What to call the function with, or the failure of the first need that is not met."""
        arguments: list[object] = []
        for name in self.names:
            value = values[name]
            if isinstance(value, Failure):
                is_optional = name in self.defaults and value.status is Status.NOT_APPLICABLE
                if not is_optional and name not in self.parts:
                    return value
                value = None
            if value is None and name in self.defaults:
                value = self.defaults[name]
            arguments.append(value)
        return arguments


def make(step: Step, values: Values) -> None:
    """Make a plain artefact and put it, or its failure, among the values."""
    arguments = step.arguments(values)
    if isinstance(arguments, Failure):
        values[step.name] = arguments
        return
    try:
        values[step.name] = step.function(*arguments, **step.options)
    except BaseException as error:  # a user's artefact may raise anything
        if is_interrupt(error):
            raise
        values[step.name] = failure_of(error, step.name)


Work: TypeAlias = tuple[Step, Values]


async def make_all(work: Sequence[Work]) -> None:
    """Make async artefacts and those that rest on them, as concurrently as their needs allow.

    ``work`` is in the order of needs: what a step rests on comes before it.
    """
    tasks: dict[tuple[int, str], asyncio.Task[None]] = {}
    async with asyncio.TaskGroup() as group:
        for step, values in work:
            layers = (values, values.below)
            needed = [tasks.get((id(layer), name)) for name in step.names for layer in layers]
            waiting = [task for task in needed if task is not None]
            tasks[id(values), step.name] = group.create_task(_make_awaited(step, values, waiting))


async def _make_awaited(step: Step, values: Values, waiting: Sequence["asyncio.Task[None]"]) -> None:
    if waiting:
        await asyncio.wait(waiting)
    if not step.is_async:
        make(step, values)
        return
    arguments = step.arguments(values)
    if isinstance(arguments, Failure):
        values[step.name] = arguments
        return
    try:
        # In a task of its own, which it may cancel: ours goes on, and knows by that who was meant.
        values[step.name] = await asyncio.ensure_future(_awaited(step, arguments))
    except asyncio.CancelledError as error:
        ours = asyncio.current_task()
        if ours is None or ours.cancelling():
            raise
        values[step.name] = failure_of(error, step.name)
    except Exception as error:  # noqa: BLE001 - a model or a user's artefact may raise anything
        values[step.name] = failure_of(error, step.name)


async def _awaited(step: Step, arguments: Sequence[object]) -> object:
    try:
        return await cast("Awaitable[object]", step.function(*arguments, **step.options))
    except (SystemExit, KeyboardInterrupt) as error:  # out of a task these would end the loop
        if is_interrupt(error):
            raise
        return failure_of(error, step.name)


def is_interrupt(error: BaseException) -> bool:
    """Whether it is the user's Ctrl-C: code that raises KeyboardInterrupt where no signal does so has only failed."""
    return isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def measure(step: Step, values: Values) -> float | Measured | Failure:
    """Call a metric on what was made."""
    arguments = step.arguments(values)
    if isinstance(arguments, Failure):
        return arguments
    try:
        result = step.function(*arguments, **step.options)
    except BaseException as error:  # a user's metric may raise anything
        if is_interrupt(error):
            raise
        return failure_of(error, step.name)
    bare = result.value if isinstance(result, Measured) else result
    if type(bare) is float and math.isfinite(bare):
        return cast("float | Measured", result)
    return _checked(result, step)


def _checked(result: object, step: Step) -> float | Measured | Failure:
    """A metric's result as a finite number with its evidence, or why it is none."""
    if result is None:
        return Failure(Status.NOT_APPLICABLE, Reason.UNDEFINED)
    bare = result.value if isinstance(result, Measured) else result
    try:
        value = _number(bare)
    except (TypeError, ValueError, OverflowError):
        message = f"it returned {_written(bare)}, and a metric returns a number, Measured or None"
        return _raised("TypeError", message, step.name)
    except BaseException as error:  # a user's own __float__
        if is_interrupt(error):
            raise
        return failure_of(error, step.name)
    details = result.details if isinstance(result, Measured) else {}
    if not math.isfinite(value):
        return Failure(Status.ERROR, Reason.NOT_FINITE, {**details, "returned": str(value)})
    return Measured(value, details) if details else value


def _written(value: object) -> str:
    try:
        return f"{value!r:.80}"
    except Exception:  # noqa: BLE001 - a user's own __repr__
        return f"a {type(value).__name__}"


def _number(value: object) -> float:
    if isinstance(value, (int, float)):  # asking for the protocol takes twenty times as long
        return float(value)
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(cast("SupportsFloat", value))


def failure_of(error: BaseException, name: str) -> Failure:
    """What an exception means for the metrics that rest on what raised it."""
    match error:
        case NotApplicable():
            return Failure(Status.NOT_APPLICABLE, error.reason, error.details)
        case ModelUnavailable() | InputError():  # an encoder that can't be opened says what is wrong with its settings
            return Failure(Status.ERROR, Reason.MODEL_UNAVAILABLE, {"message": exception_text(error)})
        case JudgeUnavailable():
            return Failure(Status.ERROR, Reason.JUDGE_UNAVAILABLE, {"message": exception_text(error)})
        case Unreadable():
            return Failure(Status.PARSE_FAILURE, Reason.JUDGE_UNPARSEABLE, {"message": exception_text(error)})
        case TimedOut():
            return Failure(Status.ERROR, Reason.TIMED_OUT, {"message": exception_text(error)})
    frames = traceback.extract_tb(error.__traceback__)
    return _raised(exception_name(error), exception_text(error), name, frames[-1].lineno if frames else None)


def _raised(kind: str, message: str, name: str, line: int | None = None) -> Failure:
    details: dict[str, object] = {"exception": kind, "message": message[:500], "raised_by": name}
    return Failure(Status.ERROR, Reason.METRIC_RAISED, details | ({"line": line} if line else {}))
