import json
from pathlib import Path

import pytest
from proctor import InputError
from proctor.harness.cli.ask import start_suite
from proctor.harness.suite.suite_file import load_suite, sample_suite


def names(folder: Path) -> set[str]:
    return {each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()}


def test_a_started_suite_is_the_sample_with_a_schema_and_can_be_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    files = start_suite(folder)
    assert names(folder) == names(sample_suite().parent) | {"suite.schema.json"}
    assert files == sorted(folder / name for name in names(folder))
    assert load_suite(folder).suite.bots == load_suite(sample_suite()).suite.bots
    schema = json.loads((folder / "suite.schema.json").read_text("utf-8"))
    assert "exact_match" in schema["properties"]["thresholds"]["propertyNames"]["enum"]


def test_the_first_line_tells_editors_where_the_schema_is(tmp_path: Path) -> None:
    start_suite(tmp_path)
    lines = (tmp_path / "suite.yaml").read_text("utf-8").splitlines()
    assert lines[0] == "# yaml-language-server: $schema=suite.schema.json"
    assert (tmp_path / lines[0].partition("=")[2]).is_file()
    assert lines[1:] == sample_suite().read_text("utf-8").splitlines()


def test_files_that_have_nothing_to_do_with_it_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    start_suite(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("there", ["suite.yaml", "documents/own.md", "suite.schema.json"])
def test_nothing_is_overwritten_and_nothing_written_beside_it(tmp_path: Path, there: str) -> None:
    own = tmp_path / there
    own.parent.mkdir(exist_ok=True)
    own.write_text("mine")
    with pytest.raises(InputError, match=f"already has {there.partition('/')[0]}; nothing was written"):
        start_suite(tmp_path)
    assert names(tmp_path) == {there}
    assert own.read_text() == "mine"


def test_starting_twice_is_refused(tmp_path: Path) -> None:
    start_suite(tmp_path)
    with pytest.raises(InputError, match=r"already has documents, faq\.csv, prompts, \.\.\.;"):
        start_suite(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="is a file; a folder was wanted"):
        start_suite(tmp_path / "run")
    with pytest.raises(InputError, match=r"run.* can't be written: not a directory"):
        start_suite(tmp_path / "run" / "inner")


def test_folders_made_for_nothing_go_again(tmp_path: Path) -> None:
    too_long = tmp_path / "a" / "b" / ("x" * 300)
    with pytest.raises(InputError, match="can't be written: file name too long"):
        start_suite(too_long)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("section", ["gate", "perturb"])
def test_the_sections_that_are_comments_in_the_sample_can_be_had_without_the_signs(
    tmp_path: Path, section: str
) -> None:
    start_suite(tmp_path)
    path = tmp_path / "suite.yaml"
    before, _, after = path.read_text("utf-8").partition(f"# {section}:\n")
    within, blank, rest = after.partition("\n\n")
    lines = [f"{section}:", *(line.removeprefix("# ") for line in within.splitlines()), blank]
    path.write_text(before + "\n".join(lines) + rest, "utf-8")
    assert getattr(load_suite(path).suite, section) != getattr(load_suite(sample_suite()).suite, section)
