"""Pair origins: what the two sides were made of and asked, and what of it is not the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from ...comparing.changed_parts import PartChange, differing, flat, part_changes
from ...comparing.comparable import same_metric
from ...comparing.comparison import Comparison
from ...comparing.sides import Side
from ...manifest_parts import mapping_in
from ...summary import MetricColumn
from .paired_runs import BotPair, PairedRuns
from .text_difference import LONGEST, Line, Stretch, stretches

LONGEST_VALUE: Final = 600  # characters of a setting
HASH_LENGTH: Final = 12  # characters that tell two hashes apart; the manifest has them whole
HEXADECIMAL: Final = frozenset("0123456789abcdef")
MOST_NAMED: Final = 200  # questions or documents of a list
MOST_BRIEF: Final = 6  # changed lines that are shown with the verdict
MOST_REWORDED: Final = 30  # questions whose two wordings are shown
TITLES: Final = {"type": "type", "model": "chat model"}
ELSEWHERE: Final = frozenset({"bots", "documents", "judge", "questions", "suite", "suite_hash"})  # of the settings


@dataclass(frozen=True, slots=True)
class ValueLine:
    """Something by its name, before and after; None where there was or is none."""

    name: str
    base: str | None
    head: str | None


@dataclass(frozen=True, slots=True)
class TextDifference:
    """Two texts of one name, such as a prompt or the wording of a question.

    Attributes:
        name: of the text.
        base, head: the texts, as far as they are compared; None where there was or is none.
        stretches: of lines that are the same and that are not.
        is_cut: they are longer than what is compared.
    """

    name: str
    base: str | None
    head: str | None
    stretches: tuple[Stretch, ...]
    is_cut: bool = False

    @property
    def changed(self) -> tuple[Line, ...]:
        """The lines that are not the same."""
        return tuple(line for stretch in self.stretches for line in stretch.lines if line.kind != "same")

    @property
    def only_ends(self) -> bool:
        """Whether the texts differ in nothing that can be seen."""
        return all(line.kind == "same" for stretch in self.stretches for line in stretch.lines)


@dataclass(frozen=True, slots=True)
class BotOrigin:
    """What of a pair of bots is not the same.

    Attributes:
        title: of the pair.
        is_known: whether both sides say what their bots are made of.
        texts: prompts.
        values: all else.
    """

    title: str
    is_known: bool
    texts: tuple[TextDifference, ...] = ()
    values: tuple[ValueLine, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether it is known that nothing differs."""
        return self.is_known and not self.texts and not self.values


@dataclass(frozen=True, slots=True)
class QuestionOrigin:
    """Which questions are not the same; lists are cut, counts are not."""

    base_only: tuple[str, ...]
    head_only: tuple[str, ...]
    remarked: tuple[str, ...]
    reworded: tuple[str, ...]
    texts: tuple[TextDifference, ...]
    values: tuple[ValueLine, ...]


def bot_origins(pairs: PairedRuns) -> Iterator[BotOrigin]:
    """For each pair of bots, what of them is not the same."""
    for pair in pairs.pairs:
        states = pairs.base.states.get(pair.bots[0]), pairs.head.states.get(pair.bots[1])
        if states[0] is None or states[1] is None:
            yield BotOrigin(pair.title, False)
            continue
        changes = list(part_changes(states[0], states[1]))
        texts = tuple(text_difference(each.name, each.base, each.head) for each in changes if each.what == "prompt")
        values = tuple(_part(each) for each in changes if each.what != "prompt")
        yield BotOrigin(pair.title, True, texts, values)


def brief_texts(pairs: PairedRuns) -> dict[str, list[TextDifference]]:
    """By title of a pair of bots its changed prompts, where so few lines differ that they fit beside the verdict."""
    found = {each.title: list(each.texts) for each in bot_origins(pairs)}
    return {
        title: texts if 0 < sum(len(text.changed) for text in texts) <= MOST_BRIEF else []
        for title, texts in found.items()
    }


def text_difference(name: str, base: object, head: object) -> TextDifference:
    """Two texts of one name with their lines compared; None stands for no text."""
    texts = [None if each is None else str(each) for each in (base, head)]
    shown = [(each or "")[:LONGEST] for each in texts]
    is_cut = any(len(each or "") > LONGEST for each in texts)
    found = tuple(stretches(shown[0], shown[1]))
    kept = [None if text is None else part for text, part in zip(texts, shown, strict=True)]
    return TextDifference(name, kept[0], kept[1], found, is_cut)


def _part(change: PartChange) -> ValueLine:
    if change.what in TITLES:
        return value_line(TITLES[change.what], change.base, change.head)
    title = {"part": "documents" if change.name == "knowledge" else change.name, "revision": f"model: {change.name}"}
    return value_line(title.get(change.what, change.name), change.base, change.head)


def value_line(name: str, base: object, head: object) -> ValueLine:
    """A value before and after, as it is shown."""
    return ValueLine(name, _written(base), _written(head))


def _written(value: object) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    if len(text) >= 2 * HASH_LENGTH and HEXADECIMAL.issuperset(text):
        return f"{text[:HASH_LENGTH]}…"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text):,} characters)"


def question_origin(pairs: PairedRuns) -> QuestionOrigin | None:
    """Which questions are not the same; None where nothing was compared, so that no question has a partner."""
    pair = next((each for each in pairs.pairs if each.comparison), None)
    if pair is None or pair.comparison is None:
        return None
    dropped = pair.comparison.dropped
    texts = tuple(_rewording(pairs, pair, key) for key in dropped.reworded[:MOST_REWORDED])
    settings = [mapping_in(_settings(side).get("questions")) for side in (pairs.base, pairs.head)]
    return QuestionOrigin(
        dropped.base_only, dropped.head_only, dropped.remarked, dropped.reworded, texts,
        tuple(value_line(*each) for each in differing(*settings)),
    )  # fmt: skip


def _rewording(pairs: PairedRuns, pair: BotPair, key: str) -> TextDifference:
    tables = pairs.base.run.tables[pair.bots[0]], pairs.head.run.tables[pair.bots[1]]
    texts = [table.cases[table.places[key]].text for table in tables]
    return text_difference(key, texts[0], texts[1])


def run_origins(pairs: PairedRuns) -> Iterator[tuple[str, list[ValueLine]]]:
    """What surrounded the runs and is not the same, under headings."""
    base, head = pairs.base, pairs.head
    groups = [_groups(side.run.manifest) for side in (base, head)]
    if base.is_baseline or head.is_baseline:  # it holds a part of the manifest only, and the rest is no difference
        groups = [_common(*groups), _common(*reversed(groups))]
    for title in groups[0]:
        if found := [value_line(*each) for each in differing(groups[0][title], groups[1][title])]:
            yield title, found
    if found := list(_metrics(base, head)):
        yield "Metrics", found


def _groups(manifest: Mapping[str, object]) -> dict[str, dict[str, object]]:
    settings = mapping_in(manifest.get("settings"))
    suite = {
        name: value for name, value in mapping_in(settings.get("suite")).items() if name not in {"bots", "metrics"}
    }
    held = {name: value for name, value in settings.items() if name not in ELSEWHERE}
    command = manifest.get("command")
    typed = {"command": " ".join(map(str, command))} if isinstance(command, list) else {}
    code = {name: manifest[name] for name in ("proctor", "python") if name in manifest}
    return {
        "Documents": dict(mapping_in(mapping_in(settings.get("documents")).get("each"))),
        "Judge": flat(mapping_in(settings.get("judge"))),
        "How it was run": {**flat(held), **flat({"suite": suite}), **typed},
        "Software": {**code, **mapping_in(manifest.get("packages"))},
        "Machine": flat(mapping_in(manifest.get("machine"))),
    }


def _common(
    groups: Mapping[str, Mapping[str, object]], others: Mapping[str, Mapping[str, object]]
) -> dict[str, dict[str, object]]:
    return {
        title: {name: value for name, value in held.items() if name in others[title]} for title, held in groups.items()
    }


def _metrics(base: Side, head: Side) -> Iterator[ValueLine]:
    """The metrics that only one side measured, or in another version or with another threshold."""
    old, new = (_columns(side) for side in (base, head))
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        if before is None or after is None or not same_metric(before, after) or before.threshold != after.threshold:
            yield ValueLine(name, _measured(before), _measured(after))


def _columns(side: Side) -> dict[str, MetricColumn]:
    return {name: column for table in side.run.tables.values() for name, column in table.columns.items()}


def _measured(column: MetricColumn | None) -> str | None:
    if column is None:
        return None
    wanted = "" if column.threshold is None else f", threshold {column.threshold:g}"
    return f"version {column.version}{wanted}"


def _settings(side: Side) -> Mapping[str, Any]:
    return mapping_in(side.run.manifest.get("settings"))


def is_unchanged(pairs: PairedRuns) -> bool:
    """Whether nothing of what is known differs between the two sides."""
    bots = all(each.is_same for each in bot_origins(pairs))
    asked = [each.comparison for each in pairs.pairs]
    return bots and all(_asked_the_same(each) for each in asked) and not list(run_origins(pairs))


def _asked_the_same(comparison: Comparison | None) -> bool:
    return comparison is not None and not comparison.dropped.count
