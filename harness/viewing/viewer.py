"""Viewer: answers what is asked about a database by pages and their data, and changes nothing."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlencode

import orjson

from ... import InputError
from ...reports.damage import damage_behind
from ...reports.pages.page import Page
from ...reports.pages.pairs.pair_page import pair_page
from ...reports.pages.rows.columns import Column, columns_of, opened_run
from ...reports.pages.rows.data_blocks import data_block
from ...reports.pages.run_page import run_page
from ...reports.pages.runs.run_lines import run_address
from ...reports.pages.runs.runs_page import Wanted, runs_page
from ...reports.report import make_report
from ...reports.store import Store, StoreError
from ...reports.summary import Summary, find_run, summarise
from .answers import JSON, Answer, Request, html, packed_for, redirection, refusal, trouble
from .comparing import ColumnKey, column_keys, compared_runs, opened_columns, paired_in
from .keeping import MOST_BYTES, Kept
from .looking import looked_at
from .states import state_of, state_of_all, tag_of, tag_of_all

MOST_SUMMARIES: Final = 2_000
MOST_PAIRS: Final = 100

Route = Callable[[Store, Request, dict[str, str]], Answer]


class NotThereError(InputError):
    """What was asked for is not in the database; the sentence names the nearest that is."""


class Viewer:
    """Answers requests about one database, from whatever thread; each sees it as it is at one moment.

    Args:
        database: the file, which may come, grow and go.
        hosts: the names by which the server may be called; a page of somebody else who had his own name lead
            here is refused by them.
    """

    def __init__(self, database: Path, hosts: Collection[str]) -> None:
        self._database = database
        self._hosts = frozenset(hosts)
        self._answers: Kept[Answer] = Kept(MOST_BYTES, lambda answer: len(answer.body))
        self._summaries: Kept[Summary] = Kept(MOST_SUMMARIES)
        self._pairs: Kept[tuple[ColumnKey, ...]] = Kept(MOST_PAIRS)
        self._routes: list[tuple[re.Pattern[str], Route]] = [
            (re.compile(pattern), route)
            for pattern, route in (
                (r"/", self._list),
                (r"/state", self._list_state),
                (r"/runs/(?P<run>[^/]+)", self._run),
                (r"/runs/(?P<run>[^/]+)/state", self._run_state),
                (r"/runs/(?P<run>[^/]+)/data/(?P<block>[\w-]+)", self._run_data),
                (r"/compare", self._compare),
                (r"/compare/state", self._compare_state),
                (r"/compare/data/(?P<block>[\w-]+)", self._compare_data),
            )
        ]

    def answer(self, request: Request) -> Answer:
        """The answer, whatever is asked and whatever goes wrong."""
        if request.host.lower() not in self._hosts:
            return refusal(403, f"This server answers as {min(self._hosts)} only.")
        if request.method not in ("GET", "HEAD"):
            return refusal(405, "This server only shows what is there: GET or HEAD.", Allow="GET, HEAD")
        try:
            return packed_for(request, self._routed(request))
        except NotThereError as error:
            return trouble(404, "Not there", str(error))
        except StoreError as error:
            return trouble(500, "The database can't be read", str(error))
        except InputError as error:
            return trouble(400, "This can't be shown", str(error))
        except Exception as error:  # noqa: BLE001 - shown in full where the server runs, and the server lives on
            if damaged := damage_behind(error):
                return trouble(500, "The database can't be read", damaged)
            traceback.print_exc()
            return trouble(500, "A fault of Proctor", "This page could not be made; the terminal says why.")

    def _routed(self, request: Request) -> Answer:
        for pattern, route in self._routes:
            if found := pattern.fullmatch(request.path):
                parts = {name: unquote(part) for name, part in found.groupdict().items()}
                with looked_at(self._database) as store:
                    return route(store, request, parts)
        raise NotThereError(f"There is no page {unquote(request.path)} here.")

    def _summary(self, store: Store, run_id: int) -> Summary:
        return self._summaries.get((run_id, tag_of(store, [run_id])), lambda: summarise(store, run_id))

    def _list(self, store: Store, request: Request, _: dict[str, str]) -> Answer:
        tag = tag_of_all(store)
        wanted = _wanted(request)

        def made() -> Answer:
            page = runs_page(store, wanted, self._summary)
            return html(replace(page, settings={**page.settings, "tag": tag}))

        return self._answers.get((wanted, tag), made)

    def _list_state(self, store: Store, _request: Request, _: dict[str, str]) -> Answer:
        return _json(state_of_all(store))

    def _run(self, store: Store, _: Request, parts: dict[str, str]) -> Answer:
        run_id, name = _found(store, parts["run"])
        if name != parts["run"]:
            return redirection(run_address(name))
        address, tag = run_address(name), tag_of(store, [run_id])
        settings = {"blocks": f"{address}/data/", "state": f"{address}/state", "tag": tag, "home": "/"}
        return self._answers.get((address, tag), lambda: html(_live(run_page(make_report(store, run_id), settings))))

    def _run_state(self, store: Store, _: Request, parts: dict[str, str]) -> Answer:
        run_id, _name = _found(store, parts["run"])
        return _json(state_of(store, [run_id]))

    def _run_data(self, store: Store, _: Request, parts: dict[str, str]) -> Answer:
        run_id, _name = _found(store, parts["run"])
        columns = columns_of(opened_run(store, run_id))
        if parts["block"] != "rows":
            return _block(columns, parts["block"])
        tag = tag_of(store, [run_id])
        return self._answers.get(("rows", run_id, tag), lambda: _block(columns, "rows"))

    def _compare(self, store: Store, request: Request, _: dict[str, str]) -> Answer:
        base, head = _sides(request)
        if not base or not head:
            return redirection("/#compare")
        tag = tag_of(store, compared_runs(store, base, head))
        query = f"?{urlencode({'base': base, 'head': head})}"
        settings = {
            "blocks": "/compare/data/", "query": query, "state": f"/compare/state{query}", "tag": tag, "home": "/",
        }  # fmt: skip

        def made() -> Answer:
            pairs = paired_in(store, base, head)
            self._pairs.get((base, head, tag), lambda: column_keys(pairs))
            return html(_live(pair_page(pairs, settings)))

        return self._answers.get(("compare", base, head, tag), made)

    def _compare_state(self, store: Store, request: Request, _: dict[str, str]) -> Answer:
        return _json(state_of(store, compared_runs(store, *_sides(request))))

    def _compare_data(self, store: Store, request: Request, parts: dict[str, str]) -> Answer:
        base, head = _sides(request)
        tag = tag_of(store, compared_runs(store, base, head))
        keys = self._pairs.get((base, head, tag), lambda: column_keys(paired_in(store, base, head)))
        return _block(opened_columns(store, keys), parts["block"])


def _wanted(request: Request) -> Wanted:
    query = request.query
    number = query.get("page", "1")
    page = int(number) if re.fullmatch(r"[0-9]{1,6}", number) else 1
    return Wanted(query.get("suite", ""), query.get("metric", ""), page, query.get("base", ""), query.get("head", ""))


def _sides(request: Request) -> tuple[str, str]:
    return request.query.get("base", ""), request.query.get("head", "")


def _found(store: Store, name: str) -> tuple[int, str]:
    """The run of that name, or the one whose name begins so."""
    exact = store.query("SELECT id, name FROM runs WHERE name = ?", [name])
    if exact:
        return int(exact[0][0]), str(exact[0][1])
    try:
        return find_run(store, name)
    except StoreError as error:
        if error.__cause__:  # of SQLite's
            raise
        raise NotThereError(str(error)) from None


def _block(columns: Sequence[Column], name: str) -> Answer:
    data = data_block(columns, name)
    return refusal(404, f"There is no block {name}.") if data is None else Answer(200, data, JSON)


def _json(state: object) -> Answer:
    return Answer(200, orjson.dumps(state), JSON)


def _live(page: Page) -> Page:
    """The page with what makes it follow its run."""
    return replace(page, scripts=(*page.scripts, "live/redrawing", "live/live"), styles=(*page.styles, "runs"))
