"""A grid measured from beginning to end, as an analysis does it in two steps."""

from collections.abc import Callable

from proctor.harness.analysis.configurations import GridMeasuring
from proctor.harness.analysis.corpus import CorpusIndex
from proctor.harness.suite.settings import AnalysisSettings
from proctor.reports.analysis.findings import Grid


def measure_grid(
    corpus: CorpusIndex, settings: AnalysisSettings, notify: Callable[[str], None] | None = None
) -> Grid | None:
    """None where no question has a known place."""
    measuring = GridMeasuring.of(corpus, settings, notify)
    if measuring is None:
        return None
    try:
        measuring.measure_current()
        measuring.measure_others()
        return measuring.grid()
    finally:
        measuring.close()
