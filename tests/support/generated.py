"""Generated tables of the documentation: ``python tests/support/generated.py`` writes them, a test compares them."""

import re
from collections.abc import Callable
from pathlib import Path

from proctor.harness.cli.metrics import evaluator_table, markdown_table
from proctor.harness.cli.models import models_table
from proctor.metrics import builtin_catalog
from proctor.metrics.evaluators import EVALUATORS
from proctor.metrics.outcomes import people_agreement

ROOT = Path(__file__).parents[2]


def agreement_table() -> str:
    """How often ``correct`` by the embedded judge agrees with people, set by set."""
    lines = ["| set | answers | rows | questions | agreement with people |", "|---|---|--:|--:|---|"]
    for each in people_agreement():
        value, low, high = (f"{100 * end:.0f}" for end in each.agreement)
        lines.append(f"| {each.set} | {each.what} | {each.rows:,} | {each.questions:,} | {value} % [{low}, {high}] |")
    return "\n".join(lines) + "\n"


# By the name in the marks <!-- NAME: ... --> and <!-- /NAME -->: the page, and what makes the table.
TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    "metrics": (ROOT / "metrics" / "METRICS.md", lambda: markdown_table(builtin_catalog().metrics.values())),
    "evaluators": (
        ROOT / "metrics" / "METRICS.md",
        lambda: evaluator_table(EVALUATORS.values()),
    ),
    "agreement": (ROOT / "metrics" / "METRICS.md", agreement_table),
    "models": (ROOT / "metrics" / "README.md", lambda: models_table(builtin_catalog())),
}


def between_marks(name: str) -> re.Pattern[str]:
    """The opening mark, the table and the closing mark."""
    return re.compile(rf"(<!-- {name}: .*? -->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)


if __name__ == "__main__":
    for name, (page, made) in TABLES.items():
        table = made()
        text = page.read_text("utf-8")
        page.write_text(between_marks(name).sub(lambda marks, table=table: marks[1] + table + marks[3], text), "utf-8")
