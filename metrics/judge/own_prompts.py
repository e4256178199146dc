"""Own prompts: the check and the five rates of a user's template that the judge answers with one word."""

import difflib
import inspect
import re
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final

from ... import InputError
from ..bench import together
from ..declaration import Function, artefact
from ..score import Reason
from ..tools import Judge
from .boolean import Check, Outcome, boolean_metrics, joined, labelled, made_check, requests
from .call import Block
from .calls import OwnPrompt

FIELDS: Final = ("question", "expected", "contexts", "answer")
_ALIASES: Final[Mapping[str, str]] = {
    "INPUT": "question",
    "EXPECTED_OUTPUT": "expected",
    "CONTEXT": "contexts",
    "ACTUAL_OUTPUT": "answer",
}
_NAMES: Final[Mapping[str, str]] = {**{field: field for field in FIELDS}, **_ALIASES}
# Names of these fields in other tools; a placeholder with such a name is a mistake, not text.
_SYNONYMS: Final[Mapping[str, str]] = {
    "input": "question", "query": "question", "user_input": "question", "prompt": "question",
    "output": "answer", "actual_output": "answer", "actual_answer": "answer", "response": "answer", "reply": "answer",
    "completion": "answer", "prediction": "answer",
    "expected_output": "expected", "expected_answer": "expected", "reference": "expected", "ground_truth": "expected",
    "reference_answer": "expected", "target": "expected",
    "context": "contexts", "retrieved_context": "contexts", "retrieved_contexts": "contexts", "passages": "contexts",
    "documents": "contexts", "chunks": "contexts", "retrieval_context": "contexts",
}  # fmt: skip
_PLACEHOLDER: Final = re.compile(r"(\{*)\{[ \t]*([A-Za-z_][A-Za-z_]*)[ \t]*\}(\}*)")
_LIKENESS: Final = 0.75


def read_template(text: str, source: str) -> tuple[str, ...]:
    """A template as alternating pieces: text and names of fields, beginning and ending with text.

    Other braces, such as those of JSON, are text.

    Args:
        text: the template.
        source: its file, for messages.

    Raises:
        InputError: it names no field, or has a placeholder with a misspelt name.

    >>> read_template('Is {answer} polite? {"a": 1}', "tone.md")
    ('Is ', 'answer', ' polite? {"a": 1}')
    """
    pieces: list[str] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        before, name, after = found.groups()
        place = f"{source}:{text.count(chr(10), 0, found.start()) + 1}"
        field = _NAMES.get(name)
        if field is None:
            _refuse_lookalike(name, place)
            continue
        if before and after:
            raise InputError(f"{place}: '{found[0]}' has doubled braces; write {{{name}}} with single ones.")
        pieces += [text[end : found.start()] + before, field]
        end = found.end() - len(after)
    if not pieces:
        named = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InputError(f"{source}: the prompt names nothing to judge; it must contain at least one of {named}.")
    return (*pieces, text[end:])


def has_placeholder(text: str, source: str) -> bool:
    """Whether a template names a field. Raises InputError for a placeholder with a misspelt name."""
    names = [(found[2], found.start()) for found in _PLACEHOLDER.finditer(text)]
    for name, start in names:
        if name not in _NAMES:
            _refuse_lookalike(name, f"{source}:{text.count(chr(10), 0, start) + 1}")
    return any(name in _NAMES for name, _ in names)


def _refuse_lookalike(name: str, place: str) -> None:
    """Raise InputError when a placeholder's name resembles that of a field."""
    plain = name.lower()
    names = {each.lower(): each for each in (*_ALIASES, *FIELDS)}
    meant = names.get(plain, "") or _SYNONYMS.get(plain, "")
    if not meant:
        near = difflib.get_close_matches(plain, [*names, *_SYNONYMS], n=1, cutoff=_LIKENESS)
        meant = names.get(near[0], "") or _SYNONYMS[near[0]] if near else ""
    if meant:
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InputError(f"{place}: there is no placeholder {{{name}}}; did you mean {{{meant}}}? There are {known}.")


FAMILY: Final = "byop"
TYPES: Final[Mapping[str, Any]] = {"question": str, "expected": str, "contexts": Sequence[str], "answer": str}


def byop_metrics(
    name: str, template_text: str, source: str, labels: tuple[str, str] = ("true", "false")
) -> tuple[Function, ...]:
    """The artefact and the five rates ``byop.<name>.passes`` and so on of an own prompt.

    Args:
        name: letters, digits, hyphens and underscores.
        template_text: the prompt, with placeholders for what the judge is shown.
        source: its file, for messages.
        labels: the passing word and the failing word.

    Raises:
        InputError: the template names no field, or an unknown one; or the labels are the same.
    """
    if labels[0].casefold().split() == labels[1].casefold().split() or not all(label.strip() for label in labels):
        raise InputError(f"{source}: the labels are {labels[0]!r} and {labels[1]!r}; two different words are wanted.")
    pieces = read_template(template_text, source)
    fields = tuple(field for field in FIELDS if field in pieces[1::2])
    may_check_contexts = "answer" in fields and "contexts" not in fields

    # The closure has only texts and tuples of them, which are part of the version of the scores.
    async def check(judge: Judge, *values: Any, check_contexts: bool = True) -> Check:  # noqa: ANN401 - facts
        row = dict(zip(fields, values, strict=False))
        contexts = values[-1] if may_check_contexts else row.get("contexts")
        first = _ask(judge, labels, pieces, row)
        if may_check_contexts and check_contexts and contexts is not None and joined(contexts):
            of_answer, of_contexts = await together(
                [first, _ask(judge, labels, pieces, row | {"answer": joined(contexts)})]
            )
            return made_check(of_answer, of_contexts)
        return _made(await first, fields, contexts, check_contexts)

    check.__name__ = f"{FAMILY}_{name.replace('-', '_')}"
    check.__doc__ = (
        f"Whether the judge answers the prompt {source} with '{labels[1]}' and not with '{labels[0]}'.\n\n"
        f"The prompt shows it: {', '.join(fields)}. A row without one of these is not judged."
    )
    _sign(check, fields, may_check_contexts)
    declare = artefact(calls=(FAMILY,), requests=requests if may_check_contexts else 1)
    family = boolean_metrics(
        declare(check), f"the prompt {source}", f"H2O evaluators page, BYOP; the prompt is {source}",
        blank_answer="not_applicable" if "answer" in fields else "measure",
        judged=True, evaluator=f"{FAMILY}.{name}",
    )  # fmt: skip
    return (check, *family)


def _sign(check: Function, fields: Sequence[str], may_check_contexts: bool) -> None:
    """Give the artefact the signature for these fields."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(each, kind, annotation=TYPES[each]) for each in fields]
    parameters.insert(0, inspect.Parameter("judge", kind, annotation=Judge))
    if may_check_contexts:
        optional = Sequence[str] | None
        parameters.append(inspect.Parameter("contexts", kind, default=None, annotation=optional))
        option = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter("check_contexts", option, default=True, annotation=bool))
    vars(check)["__signature__"] = inspect.Signature(parameters, return_annotation=Check)
    check.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": Check}


def _ask(
    judge: Judge, labels: tuple[str, str], pieces: Sequence[str], row: Mapping[str, Any]
) -> Coroutine[Any, Any, Outcome]:
    """Ask with the row's texts in place of the placeholders; placeholders within the texts are not filled in."""
    filled = tuple(Block(piece, _text(row[piece])) if place % 2 else piece for place, piece in enumerate(pieces))
    return labelled(judge, labels, judge.ask(OwnPrompt(labels, filled)))


def _text(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else joined(value)


def _made(verdict: Outcome, fields: Sequence[str], contexts: object, check_contexts: bool) -> Check:
    """The check of a row with one verdict, which applies to all fields that were shown."""
    failed, finding = verdict
    unchecked = Reason.CONTEXTS_NOT_CHECKED
    if contexts is None:
        unchecked = Reason.CONTEXTS_MISSING
    elif check_contexts and "contexts" not in fields:
        unchecked = Reason.CONTEXTS_EMPTY
    if "contexts" not in fields:
        return made_check(verdict, unchecked)
    answer_failed = failed if "answer" in fields else False
    unreadable = str(finding["unreadable"]) if failed is None else ""
    return Check(answer_failed, failed, [finding], unreadable=unreadable)
