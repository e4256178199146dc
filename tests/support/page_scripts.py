"""Functions of the scripts of pages, called by themselves in the browser of a test."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from browser import Shown


def told_by_scripts(page: Shown, names: Sequence[str], code: str, *arguments: Any) -> Any:
    """What ``code`` returns after the scripts of these names, such as ``list/rows``.

    In it, ``arguments`` are the values handed over. The scripts must not look for elements of a page when they are
    read.
    """
    folder = files("proctor.reports.pages") / "scripts"
    texts = [(folder / f"{name}.js").read_text("utf-8") for name in names]
    page.driver.get("about:blank")
    return page.run("\n".join([*texts, code]), *arguments)
