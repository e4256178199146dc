"""Metrics, bots and formats of other packages, found by their entry points when a name is not known."""

import sys
from pathlib import Path

import proctor
import pytest
from proctor.metrics import catalog
from suites import proctor as program
from suites import write_suite

CODE = {
    "acme.py": '''
import proctor

@proctor.metric
def shouting(answer: str) -> float:
    """Share of the letters that are capital."""
    letters = [each for each in answer if each.isalpha()]
    return sum(map(str.isupper, letters)) / len(letters)

def parrot(question, prefix="", suffix=""):
    return f"{prefix}{question}{suffix}"

def read_lines(path):
    for line in path.read_text().splitlines():
        question, _, expected = line.partition(" -> ")
        yield {"question": question, "expected_answer": expected}
''',
    "acme_broken.py": "raise ImportError('no licence')\n",
    "acme-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n",
    "acme-1.0.dist-info/entry_points.txt": (
        "[proctor.metrics]\nacme = acme\n[proctor.bots]\nparrot = acme:parrot\n"
        "[proctor.formats]\narrow = acme:read_lines\n"
    ),
}


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package."""
    site = tmp_path / "site"
    for name, text in CODE.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", f"{site}:{Path(proctor.__file__).parents[1]}")
    catalog._installed.cache_clear()
    yield site
    catalog._installed.cache_clear()
    for name in ("acme", "acme_broken"):
        sys.modules.pop(name, None)


def test_a_metric_of_another_package_is_there_by_its_name(acme, tmp_path):
    assert "acme" not in sys.modules
    assert proctor.metrics.exact_match(answer="a", expected_answer="a") == 1
    assert "acme" not in sys.modules  # nothing is loaded for a name that is known
    assert proctor.metrics.shouting(answer="HEy") == pytest.approx(2 / 3)
    run = proctor.evaluate(["HI there"], {"parrot": "parrot"}, ["shouting"], db=tmp_path / "x.db", progress=False)
    assert run.rows()[0].score("shouting") == pytest.approx(2 / 7)


def test_a_suite_names_metrics_and_bots_of_another_package(acme, tmp_path):
    bots = {"loud": {"type": "parrot", "suffix": "!", "timeout": 3}}
    write_suite(tmp_path, "", 2, bots=bots, metrics=["shouting", "exact_match"])
    run = proctor.run(tmp_path, db=tmp_path / "x.db", progress=False)
    assert [row.answer for row in run.rows("loud")] == ["What is 0!", "What is 1!"]
    shown = program("run", "suite.yaml", "--json", folder=tmp_path)
    assert (shown.returncode, "shouting" in shown.stdout) == (0, True), shown.stderr
    page = program("metrics", "shouting", folder=tmp_path)
    assert "Share of the letters that are capital." in page.stdout


def test_a_misspelt_kind_of_bot_is_refused_as_before(acme, tmp_path):
    write_suite(tmp_path, "", 2, bots={"loud": {"type": "parot"}})
    with pytest.raises(proctor.InputError, match=r"bots.loud.type: got 'parot', wanted one of faq"):
        proctor.run(tmp_path, db=tmp_path / "x.db", progress=False)
    with pytest.raises(
        proctor.InputError, match=r"Bot loud: No installed package has a bot 'parot'.*Did you mean 'parrot'"
    ):
        proctor.evaluate(["Why?"], {"loud": "parot"}, db=tmp_path / "x.db")


def test_questions_come_in_a_format_of_another_package(acme, tmp_path):
    (tmp_path / "q.arrow").write_text("When? -> At nine\nWhere? -> In Ulm\n")
    run = proctor.evaluate(
        tmp_path / "q.arrow", lambda q: "At nine", ["exact_match"], db=tmp_path / "x.db", progress=False
    )
    assert [row.score("exact_match") for row in run.rows()] == [1, 0]
    (tmp_path / "q.arow").write_text("When? -> At nine\n")
    with pytest.raises(proctor.InputError, match=r"q.arow has a name ending in .arow"):
        proctor.evaluate(tmp_path / "q.arow", lambda q: "At nine", db=tmp_path / "x.db")


def test_a_package_that_cannot_be_imported_is_named(acme, tmp_path):
    (acme / "acme-1.0.dist-info" / "entry_points.txt").write_text(
        "[proctor.metrics]\nacme = acme_broken\n[proctor.formats]\narrow = acme_broken:read\n"
    )
    said = r"The package acme declares metrics .*importing it failed: ImportError: no licence"
    with pytest.raises(proctor.InputError, match=said):
        proctor.evaluate(["Why?"], lambda q: q, ["shouting"], db=tmp_path / "x.db")
    (tmp_path / "q.arrow").write_text("When?\n")
    with pytest.raises(
        proctor.InputError, match=r"The format arrow of the package acme .* can't be imported: ImportError: no lic"
    ):
        proctor.evaluate(tmp_path / "q.arrow", lambda q: q, db=tmp_path / "x.db")
