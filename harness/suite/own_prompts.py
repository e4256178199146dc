"""Own prompts: the metrics ``byop.NAME`` that a suite's prompts bring with them."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING

from ... import InputError
from ...knowledge.paths import unreadable
from ...knowledge.rows import decoded_whole

if TYPE_CHECKING:
    from ...metrics import Catalog
    from ...metrics.declaring import Function
    from .suite_file import LoadedSuite


def with_own_prompts(catalog: Catalog, loaded: LoadedSuite) -> Catalog:
    """The catalog with the metrics of the suite's own prompts.

    Raises:
        InputError: a prompt can't be read, or names nothing that the judge could be shown.
    """
    if not loaded.suite.byop:
        return catalog
    from ...metrics.byop import byop_metrics

    functions: list[Function] = []
    for name, own in loaded.suite.byop.items():
        try:
            functions += byop_metrics(name, _text(loaded.base / own.prompt), str(own.prompt), own.labels)
        except InputError as error:
            raise loaded.mistaken((("byop", name), str(error).rstrip("."))) from error
    return catalog.with_functions(functions)


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    return decoded_whole(content.removeprefix(codecs.BOM_UTF8), path)
