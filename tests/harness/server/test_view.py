"""``proctor view``: what the server answers, whom it refuses, what goes wrong, and that it changes nothing."""

import json
import shutil
import signal
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import typed
from analysis_records import full_analysis
from gated_runs import store_run
from page_runs import PageBook, page_book, report_of
from proctor import InputError
from proctor.harness.server.serving import PORT, bound_socket
from proctor.harness.server.viewer import LruCache, Request, Viewer
from proctor.reports.analysis.store import store_analysis
from proctor.reports.pages.row_index import data_blocks
from proctor.reports.pages.rows import columns_of
from proctor.reports.store.database import Store, StoreError, snapshot
from served import Server, digest, served


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    return page_book(tmp_path_factory.mktemp("viewed") / "proctor.db", questions=8)


@pytest.fixture(scope="module")
def server(book: PageBook) -> Iterator[Server]:
    """One server for all tests of this module; the database is the same after them as before."""
    before = digest(book.path)
    with served("view", "--port", 0, folder=book.path.parent) as started:
        yield started
        ended = started.end()
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.splitlines() == ["Press Ctrl-C to stop.", "proctor: Stopped. Nothing was changed."]
    assert digest(book.path) == before


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Asks a viewer of a database in the folder, without a server around it."""
    viewer = Viewer([tmp_path / "proctor.db"], {"here"})

    def asked(path: str, **query: str) -> tuple[int, str]:
        answer = viewer.answer(Request("GET", "here", path, query))
        return answer.status, answer.body.decode()

    return asked


def test_the_list_has_all_runs_the_newest_first(server: Server, book: PageBook) -> None:
    answer = server.ask("/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert 0 < answer.text.index(f'data-run="{book.head}"') < answer.text.index(f'data-run="{book.base}"')


def test_runs_of_several_files_are_listed_and_compared(book: PageBook, tmp_path: Path) -> None:
    """Of two copies that differ in a run's name, the list has every run with its file, and a pair across both."""
    other = tmp_path / "other.db"
    shutil.copy(book.path, other)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("UPDATE runs SET name = 'of-the-other', finished_at = '2099' WHERE name = ?", [book.head])
        connection.commit()
    viewer = Viewer([book.path, other], {"here"})

    def asked(path: str, **query: str) -> str:
        answer = viewer.answer(Request("GET", "here", path, query))
        assert answer.status == 200, answer.body
        return answer.body.decode()

    listed = asked("/")
    assert 0 < listed.index('data-run="of-the-other"') < listed.index(f'data-run="{book.head}"')
    assert "<bdi>other.db</bdi>: " in listed and "<bdi>proctor.db</bdi>: " in listed
    assert "proctor.db, other.db: " in listed and "these are the runs of <bdi>other.db</bdi>" in listed
    assert "other.db" not in asked(f"/runs/{book.head}")
    assert json.loads(asked("/runs/of-the-other/data/rows"))["columns"][0]["run"] == "of-the-other"
    pair = {"baseline": book.head, "candidate": "of-the-other"}
    assert "of-the-other" in asked("/compare", **pair)
    rows = json.loads(asked("/compare/data/rows", **pair))
    assert {column["run"] for column in rows["columns"]} == {book.head, "of-the-other"}
    assert json.loads(asked("/compare/data/details-1-0", **pair))
    assert json.loads(asked("/compare/state", **pair))["tag"] in asked("/compare", **pair)
    assert json.loads(asked("/state"))["tag"] in listed


def test_a_run_of_one_name_in_two_files_is_two_runs(book: PageBook, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    shutil.copy(book.path, other)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("UPDATE replies SET answer = 'of the other file' WHERE answer IS NOT NULL")
        connection.commit()
    viewer = Viewer([book.path, other], {"here"})

    def asked(path: str, **query: str) -> str:
        answer = viewer.answer(Request("GET", "here", path, query))
        assert answer.status == 200, answer.body
        return answer.body.decode()

    listed = asked("/")
    for file in ("proctor.db", "other.db"):
        assert f'href="/runs/{book.head}%40{file}"' in listed and f'value="{book.head}@{file}"' in listed
        assert f'<optgroup label="{book.head} in {file}, ' in listed
    assert "of the other file" in asked(f"/runs/{book.head}@other.db/data/rows")
    assert "of the other file" not in asked(f"/runs/{book.head}@proctor.db/data/rows")
    assert " UTC, other.db</bdi>" in asked(f"/runs/{book.head}@other.db")
    pair = {"baseline": f"{book.head}:rag@proctor.db", "candidate": f"{book.head}:rag@other.db"}
    page = asked("/compare", **pair)
    assert f"baseline {book.head} of proctor.db; candidate {book.head} of other.db" in page
    assert "of the other file" in asked("/compare/data/rows", **pair)


def test_a_run_has_its_page_and_the_same_blocks_as_a_file(server: Server, book: PageBook) -> None:
    assert server.ask(f"/runs/{book.head}").status == 200
    store = book.store()
    try:
        blocks = dict(data_blocks(columns_of(report_of(store, book.head).run)))
    finally:
        store.close()
    data = server.ask(f"/runs/{book.head}/data/rows")
    assert data.headers["content-type"] == "application/json"
    assert data.json["cases"]["key"] and data.json["columns"][0]["run"] == book.head
    for name in blocks:
        answer = server.ask(f"/runs/{book.head}/data/{name}")
        assert (answer.status, set(answer.json)) == (200, set(json.loads(blocks[name]))), name


def test_a_block_is_packed_for_who_takes_that(server: Server, book: PageBook) -> None:
    path = f"/runs/{book.head}/data/rows"
    plain, packed = server.ask(path), server.ask(path, Accept_Encoding="gzip")
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert packed.json == plain.json
    assert len(packed.body) < len(plain.body) / 2


def test_the_beginning_of_a_name_leads_to_the_run(server: Server, book: PageBook) -> None:
    for path in ("/runs/latest", f"/runs/{book.head[:-1]}"):
        answer = server.ask(path)
        assert (answer.status, answer.headers["location"]) == (302, f"/runs/{book.head}")


def test_the_state_tells_how_far_a_run_is(server: Server, book: PageBook) -> None:
    state = server.ask(f"/runs/{book.head}/state").json
    rows = sqlite3.connect(book.path).execute(
        "SELECT COUNT(*) FROM run_rows JOIN runs ON runs.id = run_id WHERE name = ?", [book.head]
    )
    assert (state["rows"], state["running"], state["status"]) == (rows.fetchone()[0], False, "finished")
    assert f'"tag":"{state["tag"]}"' in server.ask(f"/runs/{book.head}").text.replace('": "', '":"')


def test_two_runs_are_compared_and_their_rows_given(server: Server, book: PageBook) -> None:
    query = f"?baseline={book.base}&candidate={book.head}"
    assert server.ask(f"/compare{query}").status == 200
    columns = server.ask(f"/compare/data/rows{query}").json["columns"]
    assert [(each["bot"], each["run"]) for each in columns[:2]] == [
        (columns[0]["bot"], book.base), (columns[0]["bot"], book.head),
    ]  # fmt: skip
    assert server.ask(f"/compare/data/details-1-0{query}").status == 200
    assert server.ask(f"/compare/state{query}").json["running"] is False
    bots = f"?baseline={book.head}:faq&candidate={book.head}:rag"
    assert [each["bot"] for each in server.ask(f"/compare/data/rows{bots}").json["columns"]] == ["faq", "rag"]


def test_without_sides_the_form_is_shown(server: Server, book: PageBook) -> None:
    assert server.ask("/compare").headers["location"] == "/#compare"
    assert server.ask(f"/compare?baseline={book.base}").status == 302


def test_a_side_is_never_a_file(server: Server, book: PageBook, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    store_run(other, {"x": {"exact_match": [1.0]}})
    answer = server.ask(f"/compare?baseline={other}&candidate={book.head}")
    assert answer.status == 400
    assert "neither a bot" in answer.text


def test_what_is_not_there_is_told_with_the_nearest(server: Server, book: PageBook) -> None:
    wrong = book.head[:-1] + ("0" if book.head[-1] != "0" else "1")
    answer = server.ask(f"/runs/{wrong}")
    assert answer.status == 404
    assert f"Did you mean {book.head}?" in answer.text or f"Did you mean {book.base}?" in answer.text
    assert server.ask(f"/runs/{wrong}/state").status == 404
    assert server.ask(f"/runs/{book.head}/data/details-0-999").status == 404
    assert server.ask(f"/runs/{book.head}/data/..%2Frows").status == 404
    assert server.ask("/nowhere").status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1.evil:{port}", ""])
def test_a_name_of_somebody_else_is_refused(server: Server, host: str) -> None:
    answer = server.ask("/", Host=host.format(port=server.port))
    assert answer.status in (400, 403)
    assert "run" not in answer.text.lower()


@pytest.mark.parametrize("host", ["localhost:{port}", "LocalHost:{port}", "[::1]:{port}"])
def test_own_names_are_taken(server: Server, host: str) -> None:
    assert server.ask("/state", Host=host.format(port=server.port)).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_only_looking_is_allowed(server: Server, method: str) -> None:
    answer = server.ask("/", method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head_tells_all_but_the_content(server: Server) -> None:
    got, head = server.ask("/"), server.ask("/", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))


@pytest.mark.parametrize("path", ["/", "/runs/latest", "/runs/nothing", "/state"])
def test_every_answer_says_what_it_may_do(server: Server, path: str) -> None:
    headers = server.ask(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_it_listens_on_this_machine_alone(server: Server) -> None:
    with socket.socket() as other:
        other.settimeout(5)
        assert other.connect_ex(("127.0.0.2", server.port)) != 0


def test_sigterm_ends_it_as_well(book: PageBook) -> None:
    with served("view", book.path, "--port", 0, folder=book.path.parent) as started:
        ended = started.end(signal.SIGTERM)
    assert ended.returncode == 130
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", started.port)) != 0


def test_a_taken_port_is_told_and_the_next_one_found() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"Port {port} is taken by another program"):
            bound_socket(port)
    with bound_socket(None) as first, bound_socket(None) as second:
        one, other = first.getsockname()[1], second.getsockname()[1]
        assert PORT <= one < other


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (None, "There is no database nothing.db. 'proctor run --db nothing.db' makes one."),
        (b"", "nothing.db is empty: it has no run yet."),
        (b"no database at all, but long enough to be one" * 30, "file is not a database"),
    ],
)
@pytest.mark.parametrize("command", ["view", "explore"])
def test_without_a_database_nothing_begins_and_nothing_is_made(
    tmp_path: Path, command: str, made: bytes | None, says: str
) -> None:
    path = tmp_path / "nothing.db"
    if made is not None:
        path.write_bytes(made)
    ended = typed.proctor(command, "nothing.db", folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert says in ended.stderr
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("nothing.db", made)] * (
        made is not None
    )


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"), snapshot(tmp_path):
        pass


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE things (id)")
    connection.close()
    with pytest.raises(StoreError, match="of some other program"), snapshot(path):
        pass


def test_an_older_database_is_not_brought_up_to_date_by_looking(tmp_path: Path) -> None:
    path = tmp_path / "proctor.db"
    connection = sqlite3.connect(path)  # as of a version that had made no tables yet
    connection.execute("CREATE TABLE _sqlite_migrations (id INTEGER PRIMARY KEY, migration_set, name, applied_at)")
    connection.close()
    before = digest(path)
    with pytest.raises(StoreError, match="older Proctor") as refused, snapshot(path):
        pass
    assert digest(path) == before
    done = typed.proctor(*str(refused.value).split("proctor ")[-1].split(), folder=tmp_path)
    assert "has no run yet" in done.stderr  # now that it has its tables
    with snapshot(path) as store:
        assert store.query("SELECT COUNT(*) FROM runs") == [(0,)]


def test_nothing_can_be_written_through_it(tmp_path: Path) -> None:
    path = tmp_path / "proctor.db"
    store_run(path, {"x": {"exact_match": [1.0]}})
    with snapshot(path) as store, pytest.raises(StoreError, match="readonly"):
        store.query("DELETE FROM scores")


def test_where_no_log_may_stand_beside_it_it_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "proctor.db"
    store_run(path, {"x": {"exact_match": [1.0]}})
    alone = tmp_path / "alone" / "proctor.db"
    alone.parent.mkdir()
    shutil.copy(path, alone)
    (alone.parent / "proctor.db-shm").mkdir()  # SQLite can't make its index there, as on a read-only disk
    with snapshot(alone) as store:
        assert store.query("SELECT COUNT(*) FROM runs") == [(1,)]


def test_a_database_that_vanishes_or_breaks_is_told_and_found_again(
    tmp_path: Path, ask: Callable[..., tuple[int, str]]
) -> None:
    path = tmp_path / "proctor.db"
    name = store_run(path, {"x": {"exact_match": [1.0, 0.0]}})
    assert ask("/")[0] == 200
    whole = path.read_bytes()
    path.unlink()
    status, text = ask("/")
    assert status == 500
    assert "There is no database" in text
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    for address in ("/", f"/runs/{name}", f"/runs/{name}/data/rows"):
        status, text = ask(address)
        assert status == 500, address
        assert "proctor.db: the database says" in text
    path.write_bytes(whole)
    assert ask("/")[0] == 200


def test_a_manifest_that_is_no_json_is_named(tmp_path: Path, ask: Callable[..., tuple[int, str]]) -> None:
    path = tmp_path / "proctor.db"
    store_run(path, {"x": {"exact_match": [1.0]}})
    connection = sqlite3.connect(path)
    connection.execute("UPDATE runs SET manifest = 'not JSON'")
    connection.commit()
    connection.close()
    status, text = ask("/")
    assert status == 500
    assert "holds no JSON object in column manifest" in text


def test_a_database_without_runs_says_how_to_make_one(tmp_path: Path, ask: Callable[..., tuple[int, str]]) -> None:
    store_run(tmp_path / "proctor.db", {"x": {"exact_match": [1.0]}})
    connection = sqlite3.connect(tmp_path / "proctor.db")
    connection.execute("DELETE FROM runs")
    connection.commit()
    connection.close()
    status, text = ask("/")
    assert status == 200
    assert "There is no run here yet." in text
    assert ask("/runs/latest")[0] == 404
    assert ask("/compare", baseline="a", candidate="b")[0] == 400


def test_a_cached_value_is_made_once_and_the_least_recent_goes_first() -> None:
    made: list[str] = []
    cache: LruCache[str] = LruCache(7, len)

    def thing(text: str) -> str:
        return cache.get(text, lambda: made.append(text) or text)  # type: ignore[func-returns-value]

    assert [thing(text) for text in ("aaa", "bbb", "aaa", "ccc", "bbb", "aaa")]
    assert made == ["aaa", "bbb", "ccc", "bbb", "aaa"]


def test_a_page_changes_with_its_run_and_not_before(tmp_path: Path, ask: Callable[..., tuple[int, str]]) -> None:
    path = tmp_path / "proctor.db"
    name = store_run(path, {"x": {"exact_match": [1.0, 0.0]}})
    first = ask(f"/runs/{name}/state")[1]
    store_run(path, {"x": {"exact_match": [1.0, 1.0]}})
    assert ask(f"/runs/{name}/state")[1] == first
    connection = sqlite3.connect(path)
    connection.execute("UPDATE runs SET status = 'running', finished_at = NULL WHERE name = ?", [name])
    connection.commit()
    going = ask(f"/runs/{name}/state")[1]
    connection.execute("DELETE FROM scores WHERE reply_id = (SELECT MIN(id) FROM replies)")
    connection.execute("UPDATE run_changes SET number = number + 1")  # as whatever writes scores does
    connection.commit()
    connection.close()
    assert len({first, going, ask(f"/runs/{name}/state")[1]}) == 3


def test_an_analysis_that_comes_later_is_on_the_page(tmp_path: Path, ask: Callable[..., tuple[int, str]]) -> None:
    path = tmp_path / "proctor.db"
    name = store_run(path, {"x": {"exact_match": [1.0, 0.0]}})
    first, page = ask(f"/runs/{name}/state")[1], ask(f"/runs/{name}")[1]
    early = full_analysis(name)
    with closing(Store.open(path)) as store:
        store_analysis(store, early)
    second = ask(f"/runs/{name}/state")[1]
    with closing(Store.open(path)) as store:  # the whole takes the place of what was stored early
        store_analysis(store, replace(early, finished_at="2099-01-01T00:00:00.000+00:00"))
    assert len({first, second, ask(f"/runs/{name}/state")[1]}) == 3
    assert 'id="knowledge-grid"' not in page
    assert 'id="knowledge-grid"' in ask(f"/runs/{name}")[1]
