from pathlib import Path

import pytest
from proctor.knowledge.paths import cache_folder


@pytest.mark.parametrize(
    ("environ", "platform", "wanted"),
    [
        ({"PROCTOR_CACHE": "/own", "XDG_CACHE_HOME": "/xdg"}, "linux", "/own"),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/users/a"}, "linux", "/xdg/proctor"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/users/a"}, "linux", "/users/a/.cache/proctor"),
        ({"PROCTOR_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/users/a"}, "darwin", "/users/a/.cache/proctor"),
        ({"XDG_CACHE_HOME": "/xdg", "LOCALAPPDATA": "/local"}, "win32", "/local/proctor"),
    ],
)
def test_cache_folder(environ, platform, wanted):
    assert cache_folder(environ, platform) == Path(wanted)


def test_without_any_variable_it_is_still_a_whole_path():
    assert cache_folder({}, "linux").is_absolute()
