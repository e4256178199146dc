"""What holds for every test of the harness: no program outlives the test that started it."""

from collections.abc import Iterator

import pytest
from suites import end_all


@pytest.fixture(autouse=True)
def no_program_left() -> Iterator[None]:
    """A program left by a test that failed is ended, and its pipes are closed, before the next test."""
    yield
    end_all()
