"""What happened: stored, compared, and shown."""

from typing import TYPE_CHECKING

from .. import front

if TYPE_CHECKING:
    from .conversations import talks as talks
    from .files import check_file as check_file
    from .files import check_folder as check_folder
    from .files import whole_file as whole_file
    from .files import whole_folder as whole_folder
    from .leaderboard import count as count
    from .leaderboard import milliseconds as milliseconds
    from .models_in_use import families as families
    from .models_in_use import named as named
    from .problems import ERROR_RATE as ERROR_RATE
    from .problems import counted as counted
    from .report import Findings as Findings
    from .report import Report as Report
    from .report import findings_of as findings_of
    from .report import insight_object as insight_object
    from .report import keep_findings as keep_findings
    from .report import make_report as make_report
    from .report import problem_object as problem_object
    from .reported_run import ReportedRun as ReportedRun
    from .reported_run import open_reported as open_reported
    from .summary import MetricSummary as MetricSummary
    from .summary import Summary as Summary
    from .summary import find_run as find_run
    from .summary import summarise as summarise
    from .table import BLANK as BLANK
    from .table import Block as Block
    from .table import Column as Column
    from .table import Heading as Heading
    from .table import Item as Item
    from .table import Sentence as Sentence
    from .table import Span as Span
    from .table import Table as Table
    from .table import columns as columns
    from .table import csv as csv
    from .table import html as html
    from .table import markdown as markdown
    from .table import quoted as quoted
    from .terminal import WIDTH as WIDTH
    from .terminal import plain as plain
    from .text import printable as printable
    from .text import printable_lines as printable_lines

__getattr__, __all__ = front(__name__)
