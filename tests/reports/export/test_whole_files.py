"""What is written is there to its end or not at all."""

import os
import threading

import pytest
from proctor import InputError
from proctor.reports.files import check_file, check_folder, whole_file, whole_folder


def half_a_file(path):
    with whole_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def half_a_folder(path):
    with whole_folder(path) as folder:
        (folder / "rows.csv").write_text("half")
        raise OSError(28, os.strerror(28))


def test_the_file_of_before_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        half_a_file(path)
    assert path.read_text() == "before"
    with whole_file(path) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert [each.name for each in tmp_path.iterdir()] == ["report.md"]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    with whole_file(tmp_path / "made"):
        pass
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_takes_its_place_only_when_it_is_full(tmp_path):
    target = tmp_path / "tables"
    with pytest.raises(InputError, match="tables could not be written: No space left"):
        half_a_folder(target)
    assert list(tmp_path.iterdir()) == []
    for text in ("first", "second"):
        with whole_folder(target) as folder:
            (folder / "inner").mkdir()
            (folder / "inner" / "rows.csv").write_text(text)
        assert (target / "inner" / "rows.csv").read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["tables"]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe) as file:
        file.write(b"through")
    reader.join(10)
    assert came == [b"through"]
    assert pipe.is_fifo()


def test_places_are_checked_before_work_is_done(tmp_path):
    (tmp_path / "file").touch()
    checks = [
        (lambda: check_file(tmp_path, "--json", {}), "--json: .* is a folder; a file was wanted"),
        (lambda: check_file(tmp_path / "no" / "file", "--json", {}), "the folder .*no does not exist"),
        (lambda: check_file(tmp_path / "x" / ".." / "file", "--rows", {tmp_path / "file": "--db"}), "for --db already"),
        (lambda: check_folder(tmp_path / "file", "--csv"), "is a file; a folder was wanted"),
        (lambda: check_folder(tmp_path / "no" / "folder", "--csv"), "the folder .*no does not exist"),
    ]
    for check, words in checks:
        with pytest.raises(InputError, match=words):
            check()
    (tmp_path / "runs.sqlite").write_bytes(b"SQLite format 3\0")
    with pytest.raises(InputError, match=r"--json: .*runs\.sqlite is a database, which would be lost"):
        check_file(tmp_path / "runs.sqlite", "--json", {})
    check_file(tmp_path / "new", "--json", {tmp_path / "file": "--db"})
    check_folder(tmp_path / "new", "--csv")
