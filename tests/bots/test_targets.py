"""Targets lead from a text in the suite file to the user's object, or to a sentence."""

import sys
from pathlib import Path

import pytest
from proctor import InputError
from proctor.bots.python import find_target


@pytest.fixture
def folder(tmp_path: Path):
    before = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        del sys.modules[name]


def test_a_name_in_a_file_and_its_neighbours_are_found(folder: Path):
    (folder / "neighbour_of_bot.py").write_text("WORD = 'hello'\n")
    (folder / "bot.py").write_text("from neighbour_of_bot import WORD\ndef answer(question): return WORD\n")
    answer = find_target("bot.py:answer", folder).load()
    assert answer("?") == "hello"


def test_a_name_in_a_module_and_below_a_class_is_found(folder: Path):
    (folder / "module_of_bots.py").write_text("class Bot:\n    def answer(question): return 'from a class'\n")
    target = find_target("module_of_bots:Bot.answer", folder)
    assert target.file == folder / "module_of_bots.py"
    assert target.load()("?") == "from a class"


def test_two_files_of_one_name_stay_apart(folder: Path):
    for each in ("a", "b"):
        (folder / each).mkdir()
        (folder / each / "bot.py").write_text(f"NAME = {each!r}\n")
    assert [find_target(f"{each}/bot.py:NAME", folder).load() for each in "ab"] == ["a", "b"]


def test_a_file_is_run_once_until_it_changes(folder: Path):
    file = folder / "bot.py"
    file.write_text("THING = object()\n")
    first = find_target("bot.py:THING", folder)
    assert first.load() is find_target("bot.py:THING", folder).load()
    digest = first.digest
    file.write_text("THING = object()  # changed\n")
    changed = find_target("bot.py:THING", folder)
    assert changed.digest != digest
    assert changed.load() is not first


def test_finding_runs_nothing(folder: Path):
    (folder / "bot.py").write_text("raise RuntimeError('was run')\n")
    assert len(find_target("bot.py:answer", folder).digest) == 64


def test_a_dataclass_in_a_file_works(folder: Path):
    (folder / "bot.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Bot:\n    name: str = 'x'\n"
    )
    assert find_target("bot.py:Bot", folder).load()().name == "x"


@pytest.mark.parametrize("written", ["bot.py", "bot", ":answer", "bot.py:", "bot.py:not a name"])
def test_the_form_is_explained(folder: Path, written: str):
    with pytest.raises(InputError, match=r"write it as file\.py:name or package\.module:name"):
        find_target(written, folder)


def test_missing_things_are_named_with_the_nearest(folder: Path):
    (folder / "bot.py").write_text("def answer(question): return ''\n")
    with pytest.raises(InputError, match=r"Did you mean .*bot\.py"):
        find_target("bott.py:answer", folder)
    with pytest.raises(InputError, match=r"there is no anwser in it; did you mean answer\?"):
        find_target("bot.py:anwser", folder).load()
    with pytest.raises(InputError, match="there is no module no_such_module_here;"):
        find_target("no_such_module_here:answer", folder)
    with pytest.raises(InputError, match=r"there is no module no_such_package_here\.inner"):
        find_target("no_such_package_here.inner:answer", folder)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1\nraise ValueError('no luck')\n", r"failed with ValueError: no luck \(.*bot\.py, line 2\)"),
        ("import sys\n\nsys.exit(3)\n", r"failed with SystemExit: 3 \(.*bot\.py, line 3\)"),
        ("x = (\n", r"failed with SyntaxError: .*bot\.py, line 1"),
        ("import not_installed_anywhere\n", r"failed with ModuleNotFoundError: .*not_installed_anywhere"),
    ],
)
def test_a_failing_import_says_where(folder: Path, code: str, message: str):
    (folder / "bot.py").write_text(code)
    before = set(sys.modules)
    with pytest.raises(InputError, match=message):
        find_target("bot.py:answer", folder).load()
    assert not any(name.startswith("bot_") for name in set(sys.modules) - before)
