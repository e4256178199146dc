"""What is installed: every module and data file, both ways to start, and nothing of the tests."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

import proctor
import pytest

ROOT = Path(__file__).parents[1]
FLOORS = ("bots", "harness", "knowledge", "metrics", "reports")
GUIDES = {"README.md", "TUTORIAL.md", "COMING_FROM.md"}  # for readers of the repository; the program reads none of them
LOOSE = ("__init__.py", "py.typed", "pyproject.toml", "README.md", "LICENSE")


def files(folder: Path) -> Iterator[Path]:
    """Every file below a folder that belongs to the sources."""
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the checkout, by way of its source distribution; nothing is downloaded."""
    copy, made = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("made")
    for name in (*LOOSE, *FLOORS, "tests"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, copy / name)
    sdist = built("build_sdist", copy, made)
    shutil.unpack_archive(sdist, made, filter="data")
    return built("build_wheel", made / sdist.name.removesuffix(".tar.gz"), made)


def built(step: str, folder: Path, into: Path) -> Path:
    command = f"import sys; from setuptools import build_meta; print(build_meta.{step}(sys.argv[1]))"
    run = [sys.executable, "-I", "-W", "ignore", "-c", command, str(into)]
    done = subprocess.run(run, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return into / done.stdout.splitlines()[-1]


@pytest.fixture(scope="session")
def packed(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_module_and_data_file_is_packed_and_nothing_else(packed: set[str]) -> None:
    ours = {
        path.relative_to(ROOT).as_posix() for floor in FLOORS for path in files(ROOT / floor) if path.name not in GUIDES
    }
    assert {f"knowledge/samples/help_centre/{name}" for name in ("suite.yaml", "faq.csv", "prompts/rag.md")} <= ours
    expected = {f"proctor/{name}" for name in ours | {"__init__.py", "py.typed"}}
    assert {name for name in packed if ".dist-info/" not in name} == expected


def test_the_metadata_name_licence_version_and_command(wheel: Path, packed: set[str]) -> None:
    info = f"proctor-{proctor.__version__}.dist-info"
    assert f"{info}/licenses/LICENSE" in packed
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        commands = archive.read(f"{info}/entry_points.txt").decode()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Version"] == proctor.__version__
    assert "proctor = proctor.harness.cli:program" in commands


def test_the_licence_is_the_whole_apache_licence() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_installed_package_runs_as_a_module(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "proctor", "--version"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout == f"proctor {proctor.__version__}\n"


def test_running_as_a_module_does_not_give_modules_a_second_name() -> None:
    command = "import importlib.util as i; print(i.find_spec('proctor.cli'), i.find_spec('proctor.__main__').origin)"
    done = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True)
    absent, _, main = done.stdout.strip().partition(" ")
    assert absent == "None"
    assert Path(main).parts[-3:] == ("harness", "entry", "__main__.py")


def test_every_requirement_is_pinned_and_meets_the_pin() -> None:
    packaging = pytest.importorskip("packaging.requirements")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    pins = {re.sub(r"[-_.]+", "-", name): version for name, version in pins.items()}
    wanted = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    for requirement in map(packaging.Requirement, wanted):
        name = re.sub(r"[-_.]+", "-", requirement.name.lower())
        if name != "proctor":
            assert requirement.specifier.contains(pins[name]), requirement


def test_packages_whose_values_only_tests_want_are_not_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    sources = "".join(path.read_text("utf-8") for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))
    for package, module in (("nltk", "nltk"), ("rouge-score", "rouge_score")):
        is_used = re.search(rf"^\s*(?:from|import) {module}\b", sources, re.MULTILINE) is not None
        listed = project["dependencies"] if is_used else project["optional-dependencies"]["test"]
        assert any(line.startswith(package) for line in listed), package


# What the types of the contract are made of. mypy would take a minute to read all other packages that we import.
TYPED = ("annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection")


def test_a_users_file_is_checked_against_the_wheel(wheel: Path, tmp_path: Path, surroundings: Path) -> None:
    """With mypy as strict as it gets: the types that are shipped are those of the contract."""
    pytest.importorskip("mypy")
    venv.create(tmp_path / "venv", with_pip=False)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name in TYPED:
        found = Path(importlib.util.find_spec(name).origin)
        source = found.parent if found.name == "__init__.py" else found
        (site / source.name).symlink_to(source)
    shutil.copyfile(ROOT / "tests" / "typing" / "user.py", tmp_path / "user.py")
    python = next((tmp_path / "venv").glob("[bS]*/python*"))
    cache = surroundings / "mypy"  # what is known of other packages, where that folder is kept
    options = ["--strict", "--python-executable", str(python), "--config-file=", "--cache-dir", str(cache)]
    checker = [sys.executable, "-m", "mypy", *options, "user.py"]
    done = subprocess.run(
        checker, cwd=tmp_path, check=False, capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")},
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "Success: no issues found in 1 source file"), done.stdout
