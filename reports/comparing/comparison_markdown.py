"""Comparison Markdown: a comparison as a page for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ..board_objects import table
from ..leaderboard import ARROWS, figure
from ..markdown_text import cell_code, code, prose
from ..summary import MetricColumn
from . import comparison_words as words
from .changed_rows import ChangedRow
from .comparison import Comparison, Described
from .metric_comparison import MetricComparison

MARKS = {"better": "better", "worse": "worse", "higher": "higher", "lower": "lower"}


def comparison_markdown(comparison: Comparison) -> str:
    """The page. Names, questions and answers in it are texts of others, and stay texts."""
    return "\n".join(_page(comparison)) + "\n"


def _page(comparison: Comparison) -> Iterator[str]:
    base, head = comparison.base, comparison.head
    what = f"{base.name} against {head.name}" if base.bot != head.bot else f"{head.bot} in two runs"
    yield f"## {prose(head.suite, 100)}: {prose(what, 150)}"
    yield ""
    yield f"{words.asked(comparison)}; {_side(base)}; {_side(head)}."
    yield ""
    if comparison.changes:
        yield f"Changed: {prose('; '.join(comparison.changes), 1000)}"
        yield ""
    yield f"**{prose(words.headline(comparison))}**"
    yield ""
    if told := words.about_primary(comparison):
        yield prose(told, 1000)
        yield ""
    if not comparison.same_answers:
        yield from _metrics(comparison)
        yield from _latency(comparison)
        for sentence in words.legend(comparison):
            yield f"- {prose(sentence)}"
        yield ""
        yield from _noise(comparison)
        yield from _rows(comparison)
    yield from _list("Missing values", words.missing_notes(comparison))
    yield from _list("Not compared", [f"{names}: {why}" for names, why in words.refused_groups(comparison)])
    yield from _list("Mind", list(comparison.warnings))


def _side(side: Described) -> str:
    unfinished = "" if side.status == "finished" else f" ({side.status})"
    return f"{prose(side.name, 60)}: run {code(side.run)}{unfinished}"


def _metrics(comparison: Comparison) -> Iterator[str]:
    names = [cell_code(side.name, 60) for side in (comparison.base, comparison.head)]
    p_title = f"p ({words.METHODS[comparison.correct]})"
    lines = [_line(each, comparison) for _, _, found in words.groups(comparison) for each in found]
    yield from table(["", *names, "difference", p_title, "d_z", "won/tied/lost", "verdict"], lines, numbers=1)
    yield ""


def _line(found: MetricComparison, comparison: Comparison) -> list[str]:
    difference, column = found.difference, found.column
    mean = words.signed(difference.mean, column)
    if found.verdict in MARKS:
        mean = f"**{mean}**"
    return [
        f"{code(column.name)} {ARROWS[column.better]}".strip(),
        figure(found.base_mean, column),
        figure(found.head_mean, column),
        f"{mean} {words.interval(difference.low, difference.high, column)}".strip(),
        words.p_value(found.adjusted(comparison.correct)),
        "-" if difference.effect is None else f"{difference.effect:.2f}",
        "/".join(f"{number:,}" for number in found.wins_ties_losses),
        found.verdict,
    ]


def _latency(comparison: Comparison) -> Iterator[str]:
    if comparison.latency is None:
        return
    names = [cell_code(side.name, 60) for side in (comparison.base, comparison.head)]
    lines = [list(line) for line in words.latency_lines(comparison.latency)]
    yield from table(["latency", *names, "ratio", "p"], lines, numbers=1)
    yield ""
    if note := words.latency_note(comparison):
        yield prose(note)
        yield ""


def _noise(comparison: Comparison) -> Iterator[str]:
    found = list(words.noise_lines(comparison.metrics))
    if not found:
        return
    if not words.varied(comparison.metrics):
        yield words.STEADY
        yield ""
        return
    lines = [[code(name), *shares, questions, repeats] for name, shares, questions, repeats in found]
    yield from table(["noise from", *words.NOISE.values(), "2 x questions", "2 x repeats"], lines, numbers=1)
    yield ""
    about = words.about_noise(comparison.metrics)
    yield f"{about[0].upper()}{about[1:]}."
    yield ""


def _rows(comparison: Comparison) -> Iterator[str]:
    columns = {each.column.name: each.column for each in comparison.metrics}
    names = [cell_code(side.name, 60) for side in (comparison.base, comparison.head)]
    for rows in comparison.rows:
        for word, found in (("lost", rows.losses), ("gained", rows.gains)):
            if found:
                yield f"### Where {prose(comparison.head.name, 60)} {word} most, by {code(rows.metric)}"
                yield ""
                lines = [_row(row, columns[rows.metric]) for row in found]
                yield from table(["question", "", "value", *names], lines, numbers=9)
                yield ""


def _row(row: ChangedRow, column: MetricColumn) -> list[str]:
    answers = ["no answer" if answer is None else cell_code(answer) for answer in (row.base_answer, row.head_answer)]
    return [
        cell_code(row.key, 40),
        cell_code(row.text, 120),
        f"{figure(row.base_value, column)} → {figure(row.head_value, column)}{words.flip_words(row.flip)}",
        *answers,
    ]


def _list(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"### {title}"
        yield ""
        yield from (f"- {prose(line, 1000)}" for line in lines)
        yield ""
