"""The page of all runs: its list, the trend of a metric, the choice of two; as Python and as a browser has them."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from accessibility import faint_texts, faults, small_targets
from browser import Shown
from gated_runs import MATCH, store_run
from proctor.reports.pages.runs_page import (
    RunChoice,
    comparison_address,
    count_runs,
    expected_rows,
    progress_of,
    run_lines,
    runs_page,
    segments,
    suites,
    trend_chart,
    trend_of,
)
from proctor.reports.store.database import snapshot
from proctor.reports.store.run import BETWEEN, PERTURBED, RunMetric
from selenium.webdriver.remote.webdriver import WebDriver
from served import Site, viewed

NEW = RunMetric("exact_match", "v2", "higher", 0.0, 1.0, 1.0)
HOSTILE = "<script>throw 1</script>\"'><img src=x onerror=alert(1)>/..%2F?#\u202egnp&"


def change(path: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql, values)
        connection.commit()


def measured(path: Path) -> list[str]:
    """Five runs with enough questions for intervals: two by one version of a metric, one without, two by another."""
    length = RunMetric("answer_length", "v1", "neither", 0.0, None, None)
    return [
        store_run(
            path, {"rag": {"exact_match": [1.0, 0.0, 0.0, 0.0] * 2}, "faq": {"exact_match": [1.0, 1.0, 0.0, None] * 2}}
        ),
        store_run(
            path, {"rag": {"exact_match": [1.0, 1.0, 0.0, 0.0] * 2}, "faq": {"exact_match": [1.0, 1.0, 1.0, 1.0] * 2}}
        ),
        store_run(path, {"rag": {"answer_length": [3.0, 5.0]}}, [length]),
        store_run(path, {"rag": {"exact_match": [1.0, 1.0, 1.0, 0.0] * 2}}, [NEW]),
        store_run(path, {"rag": {"exact_match": [1.0, 1.0, 1.0, 1.0] * 2}, "new": {"exact_match": [0.0] * 4}}, [NEW]),
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "proctor.db"


@pytest.fixture
def watched(path: Path, driver: WebDriver) -> Iterator[Callable[[], tuple[Site, Shown]]]:
    """Starts a server and a browser on it; the browser must log nothing and ask nobody else."""
    shown = Shown(driver)
    shown.media()
    started: list[Site] = []
    with contextlib.ExitStack() as stack:

        def begin() -> tuple[Site, Shown]:
            site = stack.enter_context(viewed(path))
            started.append(site)
            stack.callback(driver.get, "about:blank")
            shown.open(site.address)
            return site, shown

        yield begin
        assert shown.logged() == []
        assert all(address.startswith(started[0].address) for address in shown.requests())


def test_a_line_tells_what_a_run_is(path: Path) -> None:
    settings = {"settings": {"questions": {"count": 4}, "bots": ["rag", "faq"], "repeat": 3}}
    name = store_run(
        path,
        {"rag": {"exact_match": [1.0, 0.0]}, "faq": {"exact_match": [1.0, 1.0]}},
        status="stopped",
        manifest=settings,
    )
    with snapshot(path) as store:
        (line,) = run_lines([store])
    found = line.summary
    assert (line.name, found.suite, found.status, line.rows, line.expected) == (name, "run", "stopped", 4, 24)
    assert (line.lead.name if line.lead else None, line.best, line.problems) == ("exact_match", {"faq"}, None)
    assert line.summary.questions == 2


@pytest.mark.parametrize("manifest", [{}, {"settings": 1}, {"settings": {"questions": {}, "bots": ["a"]}}])
def test_how_many_rows_are_expected_may_not_be_known(manifest: dict) -> None:
    assert expected_rows(manifest) is None


def test_helper_runs_stand_aside(path: Path) -> None:
    names = [store_run(path, {"rag": {"exact_match": [1.0]}}) for _ in range(4)]
    change(path, "UPDATE runs SET suite = suite || ? WHERE name = ?", BETWEEN, names[1])
    change(path, "UPDATE runs SET suite = suite || ? WHERE name = ?", PERTURBED, names[2])
    with snapshot(path) as store:
        assert [line.name for line in run_lines([store])] == [names[3], names[0]]
        assert [line.name for line in run_lines([store], "run", helpers=True)] == [names[2], names[1]]
        assert (count_runs([store]), count_runs([store], helpers=True), suites([store])) == (2, 2, {"run": 2})
        trend = trend_of(store, "run", "exact_match")
        assert trend and [run.name for run in trend.runs] == [names[0], names[3]]


def test_a_trend_has_the_means_and_counts_of_sql(path: Path) -> None:
    names = measured(path)
    with snapshot(path) as store:
        trend = trend_of(store, "run", "exact_match")
        assert trend
        found = {
            (trend.runs[point.place].name, bot): (point.summary.mean, point.summary.n_ok)
            for bot, points in trend.bots.items()
            for point in points
        }
        wanted = store.query(
            "SELECT run, bot, AVG(value), COUNT(value) FROM row_scores WHERE metric = 'exact_match' GROUP BY run, bot"
        )
    assert found == {(run, bot): (mean, number) for run, bot, mean, number in wanted}
    assert [run.name for run in trend.runs] == names
    assert list(trend.bots) == ["rag", "new", "faq"]


def test_only_values_of_one_version_are_joined(path: Path) -> None:
    measured(path)
    with snapshot(path) as store:
        trend = trend_of(store, "run", "exact_match")
    assert trend
    assert (trend.versions, trend.breaks) == (("v1", "v2"), (3,))
    assert [[point.place for point in part] for part in segments(trend.bots["rag"])] == [[0, 1], [3, 4]]
    chart = trend_chart(trend)
    assert [gap.label for gap in chart.gaps] == ["≠"]
    rag = chart.series[0]
    assert [value and value.value for value in rag.values] == [0.25, 0.5, None, None, 0.75, 1.0]
    assert rag.values[0] and (rag.values[0].low, rag.values[0].high) != (None, None)
    assert rag.values[0].href == trend.runs[0].address


def test_runs_of_other_questions_are_not_joined(path: Path) -> None:
    names = [
        store_run(path, {"rag": {"exact_match": [1.0, 0.0] * (asked // 2) + [1.0] * (asked % 2)}})
        for asked in (20, 19, 8, 8, 20)
    ]
    with snapshot(path) as store:
        trend = trend_of(store, "run", "exact_match")
        (page,) = [section.body for section in runs_page([store], RunChoice()).sections if section.title == "Trend"]
    assert trend and (trend.version_breaks, trend.question_breaks) == ((), (2, 4))
    assert [[point.place for point in part] for part in segments(trend.bots["rag"])] == [[0, 1], [2, 3], [4]]
    chart = trend_chart(trend)
    assert [gap.label for gap in chart.gaps] == ["≠", "≠"] and " from " not in chart.description
    text = " ".join(page.split())
    assert f"Other questions were asked since <bdi>{names[2]}</bdi>, <bdi>{names[4]}</bdi>. Lines connect" in text
    assert "at least 90 % of their questions in common." in text
    assert "a gap with ≠ is where the questions changed" in text


def test_a_threshold_without_a_direction_is_no_line_in_a_trend(path: Path) -> None:
    found = []
    for better in ("higher", "neither"):
        metric = RunMetric("answer_length", better, better, 0.0, None, 4.0)
        store_run(path, {"rag": {"answer_length": [3.0, 5.0]}}, [metric])
        with snapshot(path) as store:
            suite = next(iter(suites([store])))
            trend = trend_of(store, suite, "answer_length")
        assert trend
        found.append(trend_chart(trend).reference)
    assert found == [4.0, None]


def test_a_metric_that_no_run_has_has_no_trend(path: Path) -> None:
    measured(path)
    with snapshot(path) as store:
        assert trend_of(store, "run", "nothing") is None
        assert trend_of(store, "nothing", "exact_match") is None
        page = runs_page([store], RunChoice(suite="nothing", metric="nothing", page=99))
    assert "faq" in page.sections[1].body


def test_a_changed_bot_is_marked(path: Path) -> None:
    measured(path)
    change(path, "INSERT INTO bots SELECT NULL, 'other', name, kind, model, embedded, settings, prompts, parts, models"
                 " FROM bots WHERE name = 'rag'")  # fmt: skip
    change(path, "UPDATE run_bots SET bot_id = (SELECT id FROM bots WHERE fingerprint = 'other')"
                 " WHERE run_id = 2 AND bot_id = (SELECT id FROM bots WHERE name = 'rag' ORDER BY id)")  # fmt: skip
    with snapshot(path) as store:
        trend = trend_of(store, "run", "exact_match")
    assert trend
    assert [point.is_changed for point in trend.bots["rag"]] == [False, True, True, False]


def test_the_list_shows_leads_and_leads_to_runs_and_pairs(path: Path, watched) -> None:
    names = measured(path)
    _, shown = watched()
    assert shown.texts("table.runs tbody th a[href^='/runs/']") == names[::-1]
    assert shown.texts("tr:nth-child(4) .lead .best") == ["1.00 *"]
    shown.click("tr:nth-child(4) a[href^='/compare']")
    shown.wait("return location.pathname === '/compare' && document.readyState === 'complete'")
    shown.wait("return !document.querySelector('[aria-busy]')")
    assert names[0] in shown.text(".subtitle") and names[1] in shown.text(".subtitle")
    shown.click(".home a")
    shown.wait("return location.pathname === '/'")
    shown.click(f"a[href='/runs/{names[0]}']")
    shown.wait("return location.pathname.startsWith('/runs/') && !document.querySelector('[aria-busy]')")
    assert shown.text("h1") == "run"


def test_a_line_tells_commit_time_and_cost_and_the_interval(path: Path) -> None:
    git = {"commit": "0123456789abcdef", "branch": "feature/<b>", "changed": True}
    name = store_run(
        path, {"rag": {"exact_match": [1.0, 0.0] * 4}}, manifest={"settings": {}, "git": git, "seconds": 180.4}
    )
    change(path, "UPDATE replies SET cost = 0.0125")
    with snapshot(path) as store:
        (line,) = run_lines([store])
        body = str(runs_page([store], RunChoice()).sections[0].body)
    assert (line.name, line.took, line.summary.costs.total) == (name, "3 min", pytest.approx(0.1))
    assert "<bdi>feature/&lt;b&gt;</bdi>" in body
    assert '<code title="0123456789abcdef">01234567</code> with changes' in body
    assert "took 3 min" in body
    assert "0.1000" in body
    found = line.summary.bots[0].metrics["exact_match"]
    assert found.ci_low is not None
    assert f"{found.ci_low:.2f} to {found.ci_high:.2f}" in body


def test_a_run_that_goes_on_says_how_long_and_what_failed(path: Path) -> None:
    store_run(path, {"rag": {"exact_match": [1.0, 0.0] * 4}})
    since = (datetime.now(UTC) - timedelta(seconds=40)).isoformat(timespec="milliseconds")
    change(path, "UPDATE replies SET asked_at = ?, status = CASE id WHEN 1 THEN 'raised' ELSE status END", since)
    change(path, "UPDATE runs SET status = 'running', finished_at = NULL")
    with snapshot(path) as store:
        found = progress_of(store, 1, 12)
        assert (found.rows, found.failed, found.is_worked_on) == (8, 1, False)
        assert found.seconds_left == pytest.approx(20, abs=3)  # 4 more, at 8 in 40 seconds
        assert progress_of(store, 1, None).left == ""
    change(path, "UPDATE replies SET asked_at = '2026-01-01T00:00:00.000+00:00'")  # of an earlier run, all cached
    with snapshot(path) as store:
        assert progress_of(store, 1, 12).left == ""


def test_two_runs_are_ticked_and_compared(path: Path, watched) -> None:
    names = measured(path)
    _, shown = watched()
    ticks = shown.driver.find_elements("css selector", "input.run-tick")
    ticks[4].click()
    assert shown.text(".run-pair") == "Tick a second run to compare the two."
    ticks[0].click()
    ticks[3].click()  # the first one ticked gives way
    assert shown.run("return [...document.querySelectorAll('.run-tick')].map((each) => each.checked)") == [
        True, False, False, True, False,
    ]  # fmt: skip
    assert faults(shown) == faint_texts(shown) == small_targets(shown) == []
    shown.click(".run-pair a")
    shown.wait("return location.pathname === '/compare'")
    assert shown.run("return location.search") == f"?baseline={names[1]}&candidate={names[4]}"
    shown.wait("return document.readyState === 'complete' && !document.querySelector('[aria-busy]')")


def test_a_metric_is_chosen_and_its_trend_shown(path: Path, watched) -> None:
    measured(path)
    _, shown = watched()
    shown.click("nav.views a[href='#trend']")
    assert "exact_match" in shown.text("#trend h2")
    assert "The version of the metric changed" in shown.text("#trend")
    shown.run("document.querySelector('#trend-metric').value = 'answer_length'")
    shown.click("#trend button[type=submit]")
    shown.wait("return location.search.includes('metric=answer_length') && document.readyState === 'complete'")
    assert shown.run("return location.hash") == "#trend"
    assert "answer_length" in shown.text("#trend h2")
    rows = shown.texts("#trend .figures tbody tr")
    assert len(rows) == 5
    assert "4.0" in rows[2]


def test_two_sides_are_chosen_and_compared(path: Path, watched) -> None:
    names = measured(path)
    _, shown = watched()
    shown.click("nav.views a[href='#compare']")
    assert (
        shown.run("return [document.querySelector('#baseline').value, document.querySelector('#candidate').value]")
        == names[3:]
    )
    shown.run("document.querySelector('#baseline').value = arguments[0] + ':rag'", names[1])
    shown.run("document.querySelector('#candidate').value = arguments[0] + ':faq'", names[1])
    shown.click("#compare button[type=submit]")
    shown.wait("return location.pathname === '/compare' && !document.querySelector('[aria-busy]')")
    assert "rag" in shown.text("h1") and "faq" in shown.text("h1")


def test_suites_are_filtered_and_pages_turned(path: Path, watched) -> None:
    names = [store_run(path, {"rag": {"exact_match": [1.0]}}) for _ in range(53)]
    change(path, "UPDATE runs SET suite = 'a & b' WHERE id > 51")
    _, shown = watched()
    assert len(shown.texts("table.runs tbody tr")) == 50
    shown.run("document.querySelector('.pagination a').click()")
    shown.wait("return location.search.includes('page=2') && document.readyState === 'complete'")
    assert shown.texts("table.runs tbody th a[href^='/runs/']") == names[2::-1]
    shown.run(
        "document.querySelector('#list-suite').value = 'a & b'; document.querySelector('#runs form').requestSubmit()"
    )
    shown.wait("return location.search.includes('suite=a') && document.readyState === 'complete'")
    assert shown.texts("table.runs tbody th a[href^='/runs/']") == [names[52], names[51]]
    assert "2 runs of a & b" in shown.text(".subtitle")


def test_hostile_names_run_nothing_and_lead_where_they_say(path: Path, watched) -> None:
    metric = RunMetric(HOSTILE, "v1", "higher", 0.0, 1.0, 1.0)
    name = store_run(path, {"a" + HOSTILE: {HOSTILE: [1.0, 0.0]}, "b" + HOSTILE: {HOSTILE: [0.0, 1.0]}}, [metric])
    change(path, "UPDATE runs SET name = ?, suite = ? WHERE name = ?", "n" + HOSTILE, "s" + HOSTILE, name)
    store_run(path, {"a" + HOSTILE: {HOSTILE: [1.0, 1.0]}}, [metric])
    server, shown = watched()
    assert shown.texts("table.runs img, table.runs script") == []
    visible = HOSTILE.replace("\u202e", "\u27e8U+202E\u27e9")
    assert "n" + visible in shown.texts("table.runs tbody th a bdi")
    shown.click("table.runs tbody tr:nth-child(2) th a")
    shown.wait("return location.pathname.startsWith('/runs/') && document.readyState === 'complete'")
    shown.wait("return !document.querySelector('[aria-busy]')")
    assert "s" + visible in shown.text("h1")
    assert server.ask(f"/runs/{quote('n' + HOSTILE, safe='')}/data/rows").status == 200
    shown.open(f"{server.address}?suite={quote('s' + HOSTILE)}&metric={quote(HOSTILE)}#trend")
    assert visible in shown.text("#trend h2")
    operands = comparison_address(f"n{HOSTILE}:a{HOSTILE}", f"n{HOSTILE}:b{HOSTILE}")
    shown.open(server.address.rstrip("/") + operands)
    assert visible in shown.text("h1")
    shown.open(f"{server.address}runs/{quote(HOSTILE, safe='')}")
    assert "is no run" in shown.text(".trouble")
    shown.logged()  # the console tells of the 404


@pytest.mark.parametrize("width", [390, 1400])
def test_no_part_is_wider_than_its_window(path: Path, watched, width: int) -> None:
    measured(path)
    store_run(path, {f"a_bot_with_a_very_long_name_{n}": {"exact_match": [1.0]} for n in range(6)}, [MATCH])
    server, shown = watched()
    for part in ("#runs", "#trend", "#compare"):
        shown.open(server.address + part, width=width)
        assert shown.run("return document.documentElement.scrollWidth") <= width, part
