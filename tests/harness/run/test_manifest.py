"""The commit that a run was made from, by a real git; and runs outside of one."""

import json
import subprocess
from pathlib import Path

import pytest
from proctor.harness.run.manifest import checked_out
from suites import lines, write_suite
from typed import proctor

BOT = "def answer(question):\n    return question\n"


def git(folder: Path, *arguments: str) -> str:
    settings = ("user.name=a", "user.email=a@b", "init.defaultBranch=main", "commit.gpgsign=false")
    options = [part for each in settings for part in ("-c", each)]
    try:
        done = subprocess.run(["git", *options, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    return done.stdout.strip()


def test_a_run_notes_commit_branch_and_changes(tmp_path: Path) -> None:
    write_suite(tmp_path, BOT, 1)
    git(tmp_path, "init")
    assert checked_out(tmp_path) is None  # before the first commit
    git(tmp_path, "add", "suite.yaml", "bot.py")
    git(tmp_path, "commit", "-m", "first")
    git(tmp_path, "checkout", "-b", "feature/x")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert proctor("run", "suite.yaml", folder=tmp_path).returncode == 0
    ((manifest,),) = lines(tmp_path / "proctor.db", "SELECT manifest FROM runs")
    assert json.loads(manifest)["seconds"] >= 0
    assert json.loads(manifest)["git"] == {"commit": commit, "branch": "feature/x", "changed": False}
    (tmp_path / "bot.py").write_text(BOT + "\n")
    git(tmp_path, "checkout", "--detach")
    (tmp_path / "sub").mkdir()
    assert checked_out(tmp_path / "sub") == {"commit": commit, "branch": None, "changed": True}


def test_what_was_run_is_noted_with_what_was_left_to_the_suite(tmp_path: Path) -> None:
    other = "\n\ndef other(question):\n    return 'x'\n"
    bots = {name: {"type": "python", "target": f"bot.py:{name}"} for name in ("answer", "other")}
    write_suite(tmp_path, BOT + other, 3, bots=bots, seed=7)
    chosen = ("--bots", "other", "--limit", "2", "--repeat", "2", "--latency-run")
    noted = []
    for options in ((), chosen):
        assert proctor("run", "suite.yaml", *options, folder=tmp_path).returncode == 0
        ((manifest,),) = lines(tmp_path / "proctor.db", "SELECT manifest FROM runs ORDER BY id DESC LIMIT 1")
        noted.append(json.loads(manifest)["settings"])
    names = ("bots", "limit", "repeat", "latency_run", "seed", "concurrency", "suite_file")
    assert [[each[name] for name in names] for each in noted] == [
        [["answer", "other"], None, 1, False, 7, 16, "suite.yaml"], [["other"], 2, 2, True, 7, 16, "suite.yaml"],
    ]  # fmt: skip
    assert [each["questions"]["count"] for each in noted] == [3, 2]


def test_outside_of_git_nothing_is_noted(tmp_path: Path) -> None:
    assert checked_out(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: nowhere\n")  # a damaged checkout
    assert checked_out(tmp_path) is None


def test_a_commit_says_nothing_of_ignored_or_installed_folders(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / ".gitignore").write_text("scratch/\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    cases = {"scratch": False, "venv/lib/site-packages/proctor/samples": False, "new": True}
    for name in cases:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "suite.yaml").write_text("questions: q.csv\n")
    assert {name: checked_out(tmp_path / name) is not None for name in cases} == cases
    git(tmp_path, "add", "--force", "scratch")
    assert checked_out(tmp_path / "scratch") is not None  # tracked all the same


def test_a_run_ended_with_its_last_answers_though_it_is_gone_through_again(tmp_path: Path) -> None:
    write_suite(tmp_path, BOT, 2)
    told, written = [], []
    for _ in range(2):
        assert proctor("run", "suite.yaml", folder=tmp_path).returncode == 0
        told.append(json.loads(proctor("report", "--json", "-", folder=tmp_path).stdout)["finished_at"])
        written += lines(tmp_path / "proctor.db", "SELECT finished_at FROM runs")
    assert told[0] == told[1]
    assert written[0] < written[1], "by which the latest run is found"
    page = proctor("report", "--html", "-", folder=tmp_path).stdout
    assert "; asking and scoring took " in page


def test_what_a_bot_says_of_its_settings_is_kept_with_the_run(tmp_path: Path) -> None:
    entries = "".join(
        f"how do i {word},{word}\n"
        for word in ("swim", "fly", "run", "sing", "cook", "read", "sew", "row", "dig", "ski")
    )
    (tmp_path / "faq.csv").write_text(f"question,answer\n{entries}")
    write_suite(tmp_path, BOT, 2, bots={"faq": {"type": "faq", "entries": "faq.csv"}})
    run = proctor("run", "suite.yaml", folder=tmp_path)
    said = "faq answers every question; min_similarity: auto would be 0.75"
    assert said in " ".join(run.stderr.split())
    for form in ("--json", "--markdown", "--html"):
        assert said in proctor("report", form, "-", folder=tmp_path).stdout, form
