"""The pytest plugin: a fixture that runs suites, and a mark that makes one test for each question of a suite."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

# Every session of pytest loads this file, so nothing else of Proctor is imported before a test asks for it.
if TYPE_CHECKING:
    from .pytest_results import Proctor, RowResult, SuiteRunner

MARK: Final = "proctor"
ROW: Final = "row"
_RUNS: Final = pytest.StashKey["SuiteRunner"]()
_SHOWN: Final = pytest.StashKey[list[object]]()  # what a test looked at, to be shown in full when it fails


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting for the database."""
    about = "The SQLite file that stores the runs of tests; by default one in pytest's cache folder."
    parser.getgroup("proctor").addoption("--proctor-db", metavar="FILE", help=about)
    parser.addini("proctor_db", about)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
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

    if ROW not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{metafunc.definition.nodeid}: a test with the mark 'proctor' takes the argument '{ROW}': the answer to "
            "one question with its scores."
        )
    from .pytest_results import wanted_rows

    rows = wanted_rows(metafunc.definition.path, mark, metafunc.definition.nodeid)
    metafunc.parametrize(ROW, rows, indirect=True, ids=[f"{each.bot}-{each.key}" for each in rows])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail marked ``unittest`` methods: pytest can't parametrize them, so they would pass without an answer."""
    if isinstance(item, pytest.Function) and item.get_closest_marker(MARK) and ROW not in item.fixturenames:
        about = "the mark 'proctor' is for functions and plain classes, not for those of unittest"
        pytest.fail(f"{item.nodeid}: {about}", pytrace=False)


@pytest.fixture
def proctor(request: pytest.FixtureRequest) -> Proctor:
    """Runs suites: ``proctor.run("suite.yaml").bot("rag").not_worse_than("baseline.json")``."""
    from .pytest_results import Proctor

    shown = request.node.stash.setdefault(_SHOWN, [])
    return Proctor(_suite_runner(request.config), request.path.parent, shown)


@pytest.fixture
def row(request: pytest.FixtureRequest) -> RowResult:
    """One question as one bot answered it, in tests with the mark ``proctor``."""
    if not hasattr(request, "param"):
        pytest.fail("The argument 'row' needs the mark: @pytest.mark.proctor('suite.yaml')", pytrace=False)
    found = _suite_runner(request.config).row(request.param)
    request.node.stash.setdefault(_SHOWN, []).append(found)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show in full what a failed test looked at, since pytest shortens long values."""
    report = yield
    if report.failed and report.when == "call":
        report.sections += [("Proctor", repr(each)) for each in item.stash.get(_SHOWN, [])]
    return report


def _suite_runner(config: pytest.Config) -> SuiteRunner:
    """The runs of the session; each suite runs once, when the first test asks for it."""
    if _RUNS not in config.stash:
        from .pytest_results import SuiteRunner

        config.stash[_RUNS] = SuiteRunner(_database(config))
    return config.stash[_RUNS]


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
    """Close the database if one was opened."""
    if _RUNS in config.stash:
        config.stash[_RUNS].close()
        del config.stash[_RUNS]
