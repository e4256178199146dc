"""The suite file: settings, mistakes as sentences, and which metrics and judges a run has."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .choices import Entry as Entry
    from .choices import named_rubrics as named_rubrics
    from .choices import rubrics_added as rubrics_added
    from .mistakes import KeyPath as KeyPath
    from .mistakes import nearest as nearest
    from .settings import JudgeSettings as JudgeSettings
    from .settings import LocalModelsSettings as LocalModelsSettings
    from .settings import Suite as Suite
    from .settings import overridden as overridden
    from .suite_file import NAME as NAME
    from .suite_file import LoadedSuite as LoadedSuite
    from .suite_file import load_named as load_named
    from .suite_file import suite_redactor as suite_redactor

__getattr__, __all__ = front(__name__)
