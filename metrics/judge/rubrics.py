"""Rubrics: metrics of a user's own, each one Markdown file with criteria in plain words, graded by the judge."""

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from ... import InputError
from ..bench import together
from ..declaration import Allowed, Function, artefact, metric
from ..score import Measured, Unreadable
from ..tools import Judge
from .boolean import joined
from .call import Block
from .calls import OwnRubric
from .own_prompts import FIELDS, TYPES, has_placeholder, read_template
from .verdicts import Grade, combined_grade

FAMILY: Final = "rubric"
_SCALE: Final = re.compile(r"\s*(?:---\s*\n)?\s*scale:(?P<scale>[^\n]*)\n(?:\s*---[ \t]*\n)?", re.IGNORECASE)
_ENDS: Final = re.compile(r"\s*(\d{1,3})\s*(?:-|\u2013|to)\s*(\d{1,3})\s*", re.IGNORECASE)
_DEFAULT: Final = (1, 5)
_SHOWN: Final = ("question", "answer")


def read_rubric(text: str, source: str) -> tuple[tuple[str, ...], tuple[int, int]]:
    r"""A rubric as alternating pieces of text and names of fields, and its scale.

    The first line may be ``scale: 1 to 5`` (also between two lines ``---``). A rubric without placeholders is shown
    with question and answer behind it.

    Args:
        text: the file's content.
        source: its name, for messages.

    Raises:
        InputError: there are no criteria, the scale is none, or a placeholder is misspelt.

    >>> read_rubric("scale: 0 to 10\nThe answer is polite.", "tone.md")
    (('The answer is polite.\n', 'question', '', 'answer', ''), (0, 10))
    """
    head = _SCALE.match(text)
    scale, body = _DEFAULT, text
    if head:
        ends = _ENDS.fullmatch(head["scale"])
        if ends is None or int(ends[1]) >= int(ends[2]):
            raise InputError(f"{source}:1: the scale is '{head['scale'].strip()}'; 'scale: 1 to 5' is wanted.")
        scale, body = (int(ends[1]), int(ends[2])), text[head.end() :]
    if not body.strip():
        raise InputError(f"{source}: the rubric says nothing; write its criteria in plain words.")
    if has_placeholder(body, source):
        return read_template(body, source), scale
    return (f"{body.strip()}\n", _SHOWN[0], "", _SHOWN[1], ""), scale


def rubric_metrics(name: str, text: str, source: str) -> tuple[Function, ...]:
    """The artefact that asks the judge, and the metric ``rubric.<name>``.

    Args:
        name: letters, digits, hyphens and underscores.
        text: the rubric, see ``read_rubric``.
        source: its file, for messages.

    Raises:
        InputError: see ``read_rubric``.
    """
    pieces, scale = read_rubric(text, source)
    fields = tuple(field for field in FIELDS if field in pieces[1::2])
    place = f"{FAMILY}_{name.replace('-', '_')}"

    # The closures have only texts and tuples of them, which are part of the version of the scores.
    async def grade(judge: Judge, *values: Any, samples: int = 1) -> Grade:  # noqa: ANN401 - facts
        row = dict(zip(fields, values, strict=True))
        call = OwnRubric(_filled(pieces, row), *scale)
        if samples == 1:
            return await judge.ask(call)
        asked = [_sample(judge, call, number, samples) for number in range(1, samples + 1)]
        mean = combined_grade(await together(asked), mean=True, width=scale[1] - scale[0])
        if mean is None:
            raise Unreadable(f"Of {samples} samples, too few could be read.")
        return mean

    grade.__name__ = f"{place}_grade"
    grade.__doc__ = f"The judge's grade of the answer by the rubric {source}."
    _sign(grade, fields)
    declare = artefact(calls=(FAMILY,), requests=lambda options: int(str(options["samples"])))
    shared = declare(grade)

    def measured(given: Grade) -> Measured:
        low, high = scale
        details: dict[str, object] = {"score": given.score, "scale": [low, high], "reason": given.reason}
        if given.probabilities:
            details["probabilities"] = {str(score): share for score, share in given.probabilities}
        if given.agreement < 1:
            details["agreement"] = given.agreement
        return Measured((given.score - low) / (high - low), details)

    measured.__doc__ = (
        f"The judge's score by the rubric {source}, rescaled from {scale[0]} to {scale[1]} to 0 to 1.\n\n"
        f"The judge is shown: {', '.join(fields)}. It fills in a form: a reason by the criteria, then the score.\n"
        "Where the server gives log-probabilities, the score is the mean of the scores weighted by their\n"
        "probabilities, which are in the details; ``samples`` asks several times and takes the mean."
    )
    need = inspect.Parameter(grade.__name__, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Grade)
    vars(measured)["__signature__"] = inspect.Signature([need], return_annotation=Measured)
    measured.__annotations__ = {grade.__name__: Grade, "return": Measured}
    made = metric(
        id=f"{FAMILY}.{name}",
        source=f"G-Eval's form filling (Liu et al. 2023); the rubric is {source}",
        blank_answer="not_applicable" if "answer" in fields else "measure",
    )
    return (shared, made(measured))


def _sign(function: Function, fields: Sequence[str]) -> None:
    """Give the artefact the signature for these fields."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("judge", kind, annotation=Judge)]
    parameters += [inspect.Parameter(each, kind, annotation=TYPES[each]) for each in fields]
    several = Annotated[int, Allowed("1 to 20", lambda count: 1 <= count <= 20)]
    parameters.append(inspect.Parameter("samples", inspect.Parameter.KEYWORD_ONLY, default=1, annotation=several))
    vars(function)["__signature__"] = inspect.Signature(parameters, return_annotation=Grade)
    function.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": Grade}


def _filled(pieces: Sequence[str], row: Mapping[str, Any]) -> tuple[Block | str, ...]:
    """The rubric with the row's texts in place of the placeholders; those within the texts are not filled in."""
    texts = {field: value if isinstance(value, str) else joined(value) for field, value in row.items()}
    return tuple(Block(piece, texts[piece]) if place % 2 else piece for place, piece in enumerate(pieces))


async def _sample(judge: Judge, call: OwnRubric, number: int, samples: int) -> Grade | None:
    try:
        return await judge.ask(call, vote=number, votes=samples)
    except Unreadable:
        return None
