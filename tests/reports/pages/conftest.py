"""Pages as a browser shows them: one browser for all tests, and whatever a page logs or asks for fails its test."""

from collections.abc import Iterator

import pytest
from browser import Shown, chromium
from selenium.webdriver.remote.webdriver import WebDriver


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    """The browser of the session."""
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def page(driver: WebDriver) -> Iterator[Shown]:
    """A page that must neither log an error nor ask for anything."""
    shown = Shown(driver)
    shown.media()
    yield shown
    assert shown.logged() == []
    assert shown.requests() == []


@pytest.fixture
def shown(driver: WebDriver) -> Iterator[Shown]:
    """A page of a server, which it may ask; it must not log an error."""
    made = Shown(driver)
    made.media()
    yield made
    assert made.logged() == []
    driver.get("about:blank")
    made.logged(), made.requests()
