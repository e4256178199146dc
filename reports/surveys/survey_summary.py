"""Survey summary: a run's survey in a page for a pull request, and in the object of the run, for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..markdown_text import cell_code, code, prose
from .conclusions import conclusions
from .survey import Survey
from .survey_words import about, all_findings, marked_by, moved

LONGEST = 600  # characters of a conclusion
DOCUMENTS = 3


def survey_markdown(survey: Survey) -> Iterator[str]:
    """The lines of the page: what was looked at, and the conclusions."""
    by = marked_by(survey)
    yield "### Knowledge"
    yield ""
    yield f"{prose(about(survey))}{f'; {prose(by)}' if by else ''}. Survey {code(survey.survey)}."
    yield ""
    said = list(conclusions(survey))
    for sentence in said:
        yield f"- {prose(sentence, LONGEST)}"
    if not said:
        yield "Nothing stands out."
    yield from _worst(survey)
    yield ""


def _worst(survey: Survey) -> Iterator[str]:
    """The documents that caused most wrong answers, with these, where any did."""
    worst = [] if survey.blame is None else [one for one in moved(survey.blame) if one.caused]
    if len(worst) < 2:
        return
    told = [f"{cell_code(one.document, 80)} ({len(one.caused)})" for one in worst[:DOCUMENTS]]
    more = f" and {len(worst) - DOCUMENTS:,} more" if len(worst) > DOCUMENTS else ""
    yield f"- Documents by the wrong answers that they caused: {', '.join(told)}{more}."


def survey_object(survey: Survey) -> dict[str, object]:
    """The survey's name, its conclusions and how many findings of each kind it has; the whole is in the database."""
    found = Counter(finding.kind for finding in all_findings(survey))
    return {
        "survey": survey.survey,
        "finished_at": survey.finished_at,
        "metric": survey.metric or None,
        "threshold": survey.threshold,
        "conclusions": list(conclusions(survey)),
        "findings": dict(sorted(found.items())),
    }
