"""The pytest plugin: a fixture that holds exams, and tests with one case for each question of a suite."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:  # nothing of ours is loaded before a test wants it
    from .exams_in_tests import ExamsInTests, SessionExams
    from .held_row import HeldRow

MARK: Final = "proctor"
ROW: Final = "row"
_EXAMS: Final = pytest.StashKey["SessionExams"]()
_SHOWN: Final = pytest.StashKey[list[object]]()  # what a test looked at, to be shown in full when it fails


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say where answers and scores are kept."""
    about = "The SQLite file in which exams of tests are kept; else one in pytest's cache folder."
    parser.getgroup("proctor").addoption("--proctor-db", metavar="FILE", help=about)
    parser.addini("proctor_db", about)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers",
        "proctor(suite, bots=None, limit=None, ...): run the test once for each question and bot of the suite; the "
        "test takes the argument `row`",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each question and bot of the suite that the mark names."""
    mark = metafunc.definition.get_closest_marker(MARK)
    if mark is None:
        return
    from .exams_in_tests import wanted_rows

    if ROW not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{metafunc.definition.nodeid}: a test with the mark 'proctor' takes the argument '{ROW}': the answer to "
            "one question with its scores."
        )
    rows = wanted_rows(metafunc.definition.path, mark, metafunc.definition.nodeid)
    metafunc.parametrize(ROW, rows, indirect=True, ids=[f"{each.bot}-{each.key}" for each in rows])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """No test with the mark passes without an answer: pytest makes no cases of the methods of ``unittest``."""
    if isinstance(item, pytest.Function) and item.get_closest_marker(MARK) and ROW not in item.fixturenames:
        about = "the mark 'proctor' is for functions and plain classes, not for those of unittest"
        pytest.fail(f"{item.nodeid}: {about}", pytrace=False)


@pytest.fixture
def proctor(request: pytest.FixtureRequest) -> ExamsInTests:
    """Holds exams: ``proctor.run("suite.yaml").bot("rag").not_worse_than("baseline.json")``."""
    from .exams_in_tests import ExamsInTests

    shown = request.node.stash.setdefault(_SHOWN, [])
    return ExamsInTests(_exams(request.config), request.path.parent, shown)


@pytest.fixture
def row(request: pytest.FixtureRequest) -> HeldRow:
    """One question as one bot answered it, in tests with the mark ``proctor``."""
    if not hasattr(request, "param"):
        pytest.fail("The argument 'row' needs the mark: @pytest.mark.proctor('suite.yaml')", pytrace=False)
    found = _exams(request.config).row(request.param)
    request.node.stash.setdefault(_SHOWN, []).append(found)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show in full what a failed test looked at: pytest itself cuts long values short."""
    report = yield
    if report.failed and report.when == "call":
        report.sections += [("Proctor", repr(each)) for each in item.stash.get(_SHOWN, [])]
    return report


def _exams(config: pytest.Config) -> SessionExams:
    """The exams of the session, each held once, when the first test asks for it."""
    from .exams_in_tests import SessionExams

    if _EXAMS not in config.stash:
        config.stash[_EXAMS] = SessionExams(_database(config))
    return config.stash[_EXAMS]


def _database(config: pytest.Config) -> Path:
    for given, folder in (
        (config.getoption("--proctor-db"), config.invocation_params.dir),
        (config.getini("proctor_db"), config.rootpath),
    ):
        if given:
            named: Path = folder / str(given)
            named.parent.mkdir(parents=True, exist_ok=True)
            return named
    cache = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    if cache is not None:
        return Path(cache.mkdir("proctor")) / "proctor.db"
    import tempfile

    temporary = tempfile.TemporaryDirectory(prefix="proctor-")
    config.add_cleanup(temporary.cleanup)
    return Path(temporary.name) / "proctor.db"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the database, where one was opened."""
    if _EXAMS in config.stash:
        config.stash[_EXAMS].close()
        del config.stash[_EXAMS]
