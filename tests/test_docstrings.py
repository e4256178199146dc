"""The examples in docstrings, of all modules."""

import doctest
import importlib
import pkgutil

import proctor
from tables import in_one_test

MODULES = [
    module.name
    for floor in ("bots", "harness", "knowledge", "metrics", "reports")
    for module in pkgutil.walk_packages([f"{proctor.__path__[0]}/{floor}"], f"proctor.{floor}.")
    if not module.name.endswith(("__main__", "pytest_plugin"))  # they do something when they are imported
]


@in_one_test("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
