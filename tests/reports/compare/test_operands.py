"""How a user names what is to be compared."""

from pathlib import Path

import pytest
from proctor import InputError
from proctor.knowledge.questions.question import Question
from proctor.reports.compare.operands import open_operand, split_file
from small_runs import FakeBot, numbered, run_into


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Path:
    """Three runs: two of the same suite, and one of another in between; the bots change."""
    path = tmp_path_factory.mktemp("sides") / "runs.db"
    run_into(path, [FakeBot("faq", str), FakeBot("rag", str)], numbered(range(3)))
    run_into(path, [FakeBot("rag", str)], numbered(range(5)))
    run_into(
        path,
        [FakeBot("rag", str, "2"), FakeBot("wide:rag", str)],
        numbered(range(3)),
        ["exact_match", "accuracy"],
    )
    return path


def runs(path: Path) -> list[str]:
    from proctor.reports.store.database import Store

    store = Store.open(path)
    names = [name for (name,) in store.query("SELECT name FROM runs ORDER BY id")]
    store.close()
    return names


def opened(text: str, path: Path, **changes: object) -> tuple[str, str | None, list[str]]:
    with open_operand(text, path, **changes) as operand:
        return operand.run.run, operand.bot, list(operand.run.tables)


def test_every_way_to_name_a_side(database, tmp_path):
    first, second, third = runs(database)
    nowhere = tmp_path / "other.db"
    assert opened("rag", database) == (third, "rag", ["rag"])
    assert opened("latest", database) == (third, None, ["rag", "wide:rag"])
    assert opened("previous", database) == (second, None, ["rag"])
    assert opened("previous:rag", database) == (second, "rag", ["rag"])
    assert opened(first, database) == (first, None, ["faq", "rag"])
    assert opened(f"{first}:faq", database) == (first, "faq", ["faq"])
    assert opened(first[:-1], database)[0] == first
    assert opened(str(database), nowhere) == (third, None, ["rag", "wide:rag"])
    assert opened(f"{database}:rag", nowhere) == (third, "rag", ["rag"])
    assert opened(f"{database}:{first}", nowhere) == (first, None, ["faq", "rag"])
    assert opened(f"{database}:{first}:faq", nowhere) == (first, "faq", ["faq"])
    assert opened(f"{database}:latest:rag", nowhere) == (third, "rag", ["rag"])


def test_a_bot_with_a_colon_in_its_name(database):
    third = runs(database)[-1]
    assert opened("wide:rag", database) == (third, "wide:rag", ["wide:rag"])
    assert opened("latest:wide:rag", database) == (third, "wide:rag", ["wide:rag"])


def test_only_the_bots_that_are_wanted_of_a_whole_run_are_read(database):
    assert opened("latest", database, bots={"rag"})[2] == ["rag"]


def test_a_side_tells_what_its_bots_are_made_of_and_what_has_nothing_to_pair(database):
    with open_operand("latest", database) as operand:
        assert operand.states["rag"].parts == {"code": "2"}
        assert operand.of_run == ("accuracy",)
        assert operand.judge_variance("rag", "exact_match") == 0.0
        assert operand.run.tables["rag"].answers("q1", 0) == "What is 1"


def test_the_one_table_of_a_side(database):
    with (
        open_operand("rag", database) as named,
        open_operand("previous", database) as only,
        open_operand("latest", database) as two,
    ):
        assert named.table.bot == "rag"
        assert only.table.bot == "rag"
        assert two.table is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rga", "Did you mean rag?"),
        ("latest:rga", "Did you mean rag? Its bots: rag, wide:rag."),
        ("latst", "Did you mean latest?"),
        ("20", "is the beginning of 3 runs"),
        ("nowhere.db", "There is no file nowhere.db"),
        ("nowhere.db:latest:rag", "There is no file nowhere.db."),
        ("folder/nowhere", "There is no file folder/nowhere"),
        ("nowhere.json:rag", "There is no file nowhere.json."),
        ("", "An operand is empty"),
        ("   ", "An operand is empty"),
        (":", "There is no bot"),
        ("x" * 5000, "is neither a bot"),
        ("a\0b", "is neither a bot"),
    ],
)
def test_what_is_not_there_is_told_with_the_nearest(database, text, words):
    with pytest.raises(InputError) as error, open_operand(text, database):
        pass
    assert words in str(error.value)


def test_the_nearest_file_is_named(database):
    with pytest.raises(InputError, match=r"Did you mean .*runs\.db\?"):
        split_file(str(database.with_name("run.db")))


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0 but broken", b"just words\n"])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"other\.db"), open_operand(str(path), tmp_path / "p.db"):
        pass
    assert path.read_bytes() == content


def test_a_json_file_that_is_no_baseline_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"some": "thing"}')
    with pytest.raises(InputError, match=r"other\.json"), open_operand(str(path), tmp_path / "p.db"):
        pass


def test_a_database_that_is_not_there_names_the_way_to_one(tmp_path):
    with pytest.raises(InputError, match="proctor run"), open_operand("rag", tmp_path / "p.db"):
        pass
    assert not (tmp_path / "p.db").exists()


def test_a_database_without_runs_says_so(tmp_path):
    from proctor.reports.store.database import Store

    Store.open(tmp_path / "p.db").close()
    with pytest.raises(InputError, match="has no run yet"), open_operand("latest", tmp_path / "p.db"):
        pass


def test_previous_wants_a_run_of_the_same_suite(tmp_path):
    path = tmp_path / "p.db"
    run_into(path, [FakeBot("rag", str)], [Question("a", "b")])
    with pytest.raises(InputError, match="no run of this suite before the latest"), open_operand("previous", path):
        pass


def test_the_longest_beginning_that_is_a_file_is_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.db", "a.db:b.db"):
        Path(name).write_bytes(b"SQLite format 3\0")
    assert split_file("a.db:b.db:run:bot") == (Path("a.db:b.db"), "run:bot")
    assert split_file("a.db:c.db") == (Path("a.db"), "c.db")


def test_a_drive_is_no_file_of_its_own(tmp_path, monkeypatch):
    """On other systems C: begins a path; there is no file C here, so the whole is looked for."""
    monkeypatch.chdir(tmp_path)
    Path("C:\\x.db").write_bytes(b"SQLite format 3\0")
    assert split_file("C:\\x.db:run") == (Path("C:\\x.db"), "run")
    with pytest.raises(InputError, match=r"no file C:.y\.db"):
        split_file("C:\\y.db:run")


def test_a_note_that_is_called_like_a_bot_is_no_side(database, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rag").write_text("notes on rag")
    assert opened("rag", database)[1] == "rag"


def test_a_bot_may_be_called_like_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "p.db"
    run_into(path, [FakeBot("meta/llama-3", str), FakeBot("old.db", str)], numbered(range(3)))
    (run,) = runs(path)
    assert opened("meta/llama-3", path) == (run, "meta/llama-3", ["meta/llama-3"])
    assert opened("latest:meta/llama-3", path) == (run, "meta/llama-3", ["meta/llama-3"])
    assert opened("old.db", path) == (run, "old.db", ["old.db"])
    with pytest.raises(InputError, match="There is no file meta/llama-4"), open_operand("meta/llama-4", path):
        pass


def test_a_folder_is_told_with_the_files_in_it(database, tmp_path):
    with pytest.raises(InputError, match=r"is a folder; .* wanted, such as .*runs\.db\."):
        split_file(str(database.parent))
    with pytest.raises(InputError, match=r"is a folder; a database or a baseline file was wanted\."):
        split_file(str(tmp_path))
