"""Pages: a run, or two, as one file for a browser, drawn from the database and asking nothing of anybody."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .labels import MOST_SERVED, label_block
    from .page import Page, page_bytes, page_policy
    from .pair_changes import PairedRuns, paired_runs
    from .pair_page import pair_file
    from .row_index import EVERYTHING, data_block
    from .rows import Column, columns_of, opened_run
    from .run_page import analysis_file, run_file
else:
    __getattr__, __all__ = front(__name__)
