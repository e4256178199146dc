"""Renderings of a comparison: Markdown, JSON, annotations of GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ..boards import table
from ..compare import messages as words
from ..compare.changes import ChangedRow, ChangedRows
from ..compare.comparison import Compared, Comparison, Described, MetricComparison, Noise
from ..compare.messages import headline
from ..leaderboard import ARROWS, figure
from ..markdown_text import cell_code, code, prose
from ..summary import MetricColumn
from .github import Annotation, commands


def comparison_annotations(found: Compared) -> Iterator[str]:
    """The commands, a line each: a warning for every metric that is worse, and a notice of what came out.

    Warnings and no errors: a comparison stops no build, which is for the gate.
    """
    said = [each for comparison in found.comparisons for each in _worse(comparison)]
    for comparison in found.comparisons:
        title = f"proctor report: {comparison.candidate.suite}: {comparison.candidate.bot}"
        said.append(Annotation("notice", title, words.headline(comparison)))
    return commands(said, "proctor report")


def _worse(comparison: Comparison) -> Iterator[Annotation]:
    for metric in comparison.metrics:
        if metric.verdict == "worse":
            column, difference = metric.column, metric.difference
            means = f"{figure(metric.baseline_mean, column)} to {figure(metric.candidate_mean, column)}"
            by = f"{words.signed(difference.mean, column)} {words.interval(difference.low, difference.high, column)}"
            title = f"{comparison.candidate.bot}: {column.name} is worse"
            yield Annotation("warning", title, f"{means}, {by.strip()}, p {_p(metric, comparison)}")


def _p(metric: MetricComparison, comparison: Comparison) -> str:
    return words.p_value(metric.adjusted(comparison.correct))


MARKS = {"better": "better", "worse": "worse", "higher": "higher", "lower": "lower"}


def comparison_markdown(comparison: Comparison) -> str:
    """The page. Names, questions and answers in it are texts of others, and stay texts."""
    return "\n".join(_page(comparison)) + "\n"


def _page(comparison: Comparison) -> Iterator[str]:
    baseline, candidate = comparison.baseline, comparison.candidate
    what = (
        f"{baseline.name} against {candidate.name}" if baseline.bot != candidate.bot else f"{candidate.bot} in two runs"
    )
    yield f"## {prose(candidate.suite, 100)}: {prose(what, 150)}"
    yield ""
    yield f"{words.asked(comparison)}; {_side(baseline)}; {_side(candidate)}."
    yield ""
    if comparison.changes:
        yield f"Changed: {prose('; '.join(comparison.changes), 1000)}"
        yield ""
    yield f"**{prose(words.headline(comparison))}**"
    yield ""
    if notify := words.about_primary(comparison):
        yield prose(notify, 1000)
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


def _side(operand: Described) -> str:
    unfinished = "" if operand.status == "finished" else f" ({operand.status})"
    return f"{prose(operand.name, 60)}: run {code(operand.run)}{unfinished}"


def _metrics(comparison: Comparison) -> Iterator[str]:
    names = [cell_code(operand.name, 60) for operand in (comparison.baseline, comparison.candidate)]
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
        figure(found.baseline_mean, column),
        figure(found.candidate_mean, column),
        f"{mean} {words.interval(difference.low, difference.high, column)}".strip(),
        words.p_value(found.adjusted(comparison.correct)),
        "-" if difference.effect is None else f"{difference.effect:.2f}",
        "/".join(f"{number:,}" for number in found.wins_ties_losses),
        found.verdict,
    ]


def _latency(comparison: Comparison) -> Iterator[str]:
    if comparison.latency is None:
        return
    names = [cell_code(operand.name, 60) for operand in (comparison.baseline, comparison.candidate)]
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
    names = [cell_code(operand.name, 60) for operand in (comparison.baseline, comparison.candidate)]
    for rows in comparison.rows:
        for word, found in (("lost", rows.losses), ("gained", rows.gains)):
            if found:
                yield f"### Where {prose(comparison.candidate.name, 60)} {word} most, by {code(rows.metric)}"
                yield ""
                lines = [_row(row, columns[rows.metric]) for row in found]
                yield from table(["question", "", "value", *names], lines, numbers=9)
                yield ""


def _row(row: ChangedRow, column: MetricColumn) -> list[str]:
    answers = [
        "no answer" if answer is None else cell_code(answer) for answer in (row.baseline_answer, row.candidate_answer)
    ]
    return [
        cell_code(row.key, 40),
        cell_code(row.text, 120),
        f"{figure(row.baseline_value, column)} → {figure(row.candidate_value, column)}{words.flip_words(row.flip)}",
        *answers,
    ]


def _list(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"### {title}"
        yield ""
        yield from (f"- {prose(line, 1000)}" for line in lines)
        yield ""


def comparison_object(comparison: Comparison) -> dict[str, object]:
    """All of it; what is not known is None."""
    return {
        "baseline": asdict(comparison.baseline),
        "candidate": asdict(comparison.candidate),
        "headline": headline(comparison),
        "primary": comparison.primary and comparison.primary.as_object,
        "same_answers": comparison.same_answers,
        "questions": comparison.questions,
        "cluster": comparison.cluster,
        "clusters": comparison.clusters,
        "correct": comparison.correct,
        "changes": list(comparison.changes),
        "metrics": {each.column.name: _metric(each, comparison) for each in comparison.metrics},
        "latency": None if comparison.latency is None else asdict(comparison.latency),
        "refused": dict(comparison.refused),
        "dropped": asdict(comparison.dropped),
        "warnings": list(comparison.warnings),
        "rows": {rows.metric: _row_objects(rows) for rows in comparison.rows},
    }


def _metric(found: MetricComparison, comparison: Comparison) -> dict[str, object]:
    column, difference, directed = found.column, found.difference, found.column.better != "neither"
    wins, ties, losses = found.wins_ties_losses
    return {
        "better": column.better,
        "low": column.low,
        "high": column.high,
        "threshold": column.threshold,
        "version": column.version,
        "verdict": found.verdict,
        "sentence": found.sentence(comparison.candidate.name),
        "baseline_mean": found.baseline_mean,
        "candidate_mean": found.candidate_mean,
        "difference": difference.mean,
        "interval": None if difference.low is None else [difference.low, difference.high],
        "standard_error": difference.standard_error,
        "few_changes": difference.few_changes,
        "d_z": difference.effect,
        "test": difference.test,
        "p": difference.p_value,
        "p_cautious": difference.cautious_p_value,
        "p_holm": found.holm,
        "p_bh": found.bh,
        "questions": difference.questions,
        "clusters": difference.clusters,
        "higher": difference.wins,
        "equal": difference.ties,
        "lower": difference.losses,
        "wins": wins if directed else None,
        "ties": ties if directed else None,
        "losses": losses if directed else None,
        "pass_to_fail": found.pass_to_fail,
        "fail_to_pass": found.fail_to_pass,
        "missing": asdict(found.missing),
        "bounds": None if found.bounds is None else list(found.bounds),
        "noise": None if found.noise is None else _noise_object(found.noise),
    }


def _noise_object(noise: Noise) -> dict[str, object]:
    parts = noise.parts
    return {
        "variance": {"question": parts.question, "bot": parts.bot, "judge": parts.judge},
        "shares": dict(parts.shares),
        "judge_known": parts.judge is not None,
        "repeats": parts.repeats,
        "width_with_twice_questions": noise.twice_questions,
        "width_with_twice_repeats": noise.twice_repeats,
    }


def _row_objects(rows: ChangedRows) -> dict[str, object]:
    return {"losses": [asdict(row) for row in rows.losses], "gains": [asdict(row) for row in rows.gains]}
