"""How records become columns: JSON text, fingerprints, and text that SQLite can hold."""

import hashlib
from collections.abc import Iterable

import orjson

from ..bots.base import Context, Identity, Reply
from ..knowledge.questions import Question


def storable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD: UTF-8, and so SQLite and every page, can't hold them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def to_json(value: object) -> str:
    """JSON text of records, numbers of numpy and anything with a ``str``."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:  # lone surrogates, integers of more than 64 bits
        import json

        return storable(json.dumps(value, default=_plain, ensure_ascii=True))


def _plain(value: object) -> object:
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


def question_columns(question: Question) -> tuple[object, ...]:
    """The columns of ``questions`` from fingerprint to extra."""
    values = (
        question.id,
        question.text,
        to_json(question.expected),
        to_json(question.constraints),
        to_json(question.evidence),
        to_json(question.tags),
        question.source_document,
        None if question.answerable is None else int(question.answerable),
        to_json(question.extra),
    )
    content = "\0".join(str(value) for value in values).encode("utf-8", "replace")
    return (hashlib.blake2b(content, digest_size=16).digest(), *values)


def context_columns(context: Context) -> tuple[object, ...]:
    """The columns of ``passages`` from fingerprint to text."""
    content = f"{context.document}\0{context.start}\0{context.end}\0{context.text}".encode("utf-8", "replace")
    fingerprint = hashlib.blake2b(content, digest_size=16).digest()
    return fingerprint, context.document, context.start, context.end, context.text


def identity_columns(name: str, fingerprint: str, identity: Identity) -> tuple[object, ...]:
    """The columns of ``bots`` from fingerprint to models."""
    return (
        fingerprint,
        name,
        identity.kind,
        identity.model,
        int(identity.embedded),
        to_json(identity.settings),
        to_json(identity.prompts),
        to_json(identity.parts),
        to_json(identity.models),
    )


def clean_reply(reply: Reply) -> Reply:
    """The reply with every text storable; the same object when it is clean already."""
    answer = None if reply.answer is None else storable(reply.answer)
    reasoning = None if reply.reasoning is None else storable(reply.reasoning)
    contexts = reply.contexts and tuple(
        context if (text := storable(context.text)) == context.text else Context(text, context.document)
        for context in reply.contexts
    )
    if answer == reply.answer and reasoning == reply.reasoning and contexts == reply.contexts:
        return reply
    return Reply(
        answer=answer, contexts=contexts, usage=reply.usage, reasoning=reasoning, declined=reply.declined,
        queue_ms=reply.queue_ms, attempts_ms=reply.attempts_ms, trace=reply.trace,
    )  # fmt: skip
