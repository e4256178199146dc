import re
from pathlib import Path

import proctor.reports.store.database
from proctor.reports.store.database import Store


def described() -> dict[str, list[str]]:
    page = (Path(proctor.reports.store.database.__file__).parent / "SCHEMA.md").read_text()
    tables: dict[str, list[str]] = {}
    name = ""
    for line in page.splitlines():
        if heading := re.match(r"## (\w+)", line):
            name = heading[1]
            tables[name] = []
        elif (column := re.match(r"\| (\w+) \|", line)) and column[1] != "column":
            tables[name].append(column[1])
    return tables


def test_the_page_describes_every_table_and_column_in_order(tmp_path):
    store = Store.open(tmp_path / "schema.db")
    names = [
        name
        for (name,) in store.query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        if not name.startswith(("_", "sqlite_"))
    ]
    actual = {name: [column for (_, column, *_) in store.query(f"PRAGMA table_info({name})")] for name in names}
    store.close()
    assert described() == actual
