"""The examples in docstrings, of all modules."""

import doctest
import importlib
import pkgutil

import proctor
from proctor.metrics import builtin_catalog
from tables import in_one_test

MODULES = [
    module.name
    for floor in ("bots", "harness", "knowledge", "metrics", "reports")
    for module in pkgutil.walk_packages([f"{proctor.__path__[0]}/{floor}"], f"proctor.{floor}.")
    if not module.name.endswith(("__main__", "pytest_plugin"))  # they do something when they are imported
]
PUBLIC = [name for name in builtin_catalog().metrics if "." not in name]


@in_one_test("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    """Those of metrics call them as users do."""
    theirs = {each: getattr(proctor.metrics, each) for each in PUBLIC} if name.startswith("proctor.metrics") else {}
    assert doctest.testmod(importlib.import_module(name), extraglobs=theirs).failed == 0


def test_examples_in_the_help_of_metrics_run_as_they_stand() -> None:
    shown = 0
    for name in PUBLIC:
        function = getattr(proctor.metrics, name)
        examples = doctest.DocTestParser().get_doctest(function.__doc__, {name: function}, name, None, None)
        assert doctest.DocTestRunner().run(examples).failed == 0, name
        shown += bool(examples.examples)
    assert shown > 20
