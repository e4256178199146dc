"""Attribution table: by metric, what each change did."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ...reports.printable import printable
from ..deciding.attribution_result import Attribution, Explained, spread


def explained_parts(explained: Explained) -> Iterator[RenderableType]:
    """What caused the differences, bot by bot: the table, then a sentence for each metric."""
    for attribution in explained.attributions:
        if attribution.ranked:
            yield attribution_table(attribution)
        else:
            yield Text(f"{printable(attribution.bot)}: what was changed moved no gated metric.")
    yield from (Text(printable(line), overflow="fold") for line in explained.sentences)


def attribution_table(attribution: Attribution, width: int = 80) -> Table:
    """A line for every metric that moved and every change; the effects of a metric add up to its difference."""
    table = Table(
        title=Text(f"What changed {printable(attribution.bot)} since run {printable(attribution.base_run)}"),
        title_justify="left", width=width, box=None, pad_edge=False, show_edge=False,
    )  # fmt: skip
    table.add_column("metric", no_wrap=True)
    table.add_column("change")
    table.add_column("effect [95 %]", justify="right", no_wrap=True)
    for found in attribution.ranked:
        table.add_row(Text(printable(found.column.name)), Text("all together"), Text(spread(found.whole)), style="bold")
        for effect in sorted(found.effects, key=lambda each: -abs(each.difference.mean)):
            table.add_row("", Text(printable(attribution.changes[effect.factor])), Text(spread(effect.difference)))
    return table
