"""Generated tables of the documentation: ``python tests/support/generated.py`` writes them, a test compares them."""

import re
from collections.abc import Callable
from pathlib import Path

from proctor.harness.cli.metrics import evaluator_table, markdown_table
from proctor.harness.cli.models import models_table
from proctor.metrics import builtin_catalog
from proctor.metrics.evaluators import EVALUATORS

ROOT = Path(__file__).parents[2]
# By the name in the marks <!-- NAME: ... --> and <!-- /NAME -->: the page, and what makes the table.
TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    "metrics": (ROOT / "metrics" / "METRICS.md", lambda: markdown_table(builtin_catalog().metrics.values())),
    "evaluators": (
        ROOT / "metrics" / "METRICS.md",
        lambda: evaluator_table(EVALUATORS.values(), builtin_catalog()),
    ),
    "models": (ROOT / "README.md", lambda: models_table(builtin_catalog())),
}


def between_marks(name: str) -> re.Pattern[str]:
    """The opening mark, the table and the closing mark."""
    return re.compile(rf"(<!-- {name}: .*? -->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)


if __name__ == "__main__":
    for name, (page, made) in TABLES.items():
        table = made()
        text = page.read_text("utf-8")
        page.write_text(between_marks(name).sub(lambda marks, table=table: marks[1] + table + marks[3], text), "utf-8")
