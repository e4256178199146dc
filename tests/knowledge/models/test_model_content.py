"""Hashes of models: of content, not read twice, never out of date."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest
from proctor.knowledge.models.hub import content_hash, file_hashes

LARGE = bytes(range(256)) * 8192  # two megabytes: worth remembering


@pytest.fixture
def environ(tmp_path):
    return {"PROCTOR_CACHE": str(tmp_path / "cache")}


def model(folder, weights=LARGE, age=60):
    (folder / "inner").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "inner" / "config.json").write_text("{}")
    (folder / ".hidden").write_text("not of the model")
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - age,) * 2)
    return folder


def rewritten(path, content):
    """Writes other content without a trace in size, time or inode."""
    before = path.stat()
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def kept(environ):
    (place,) = Path(environ["PROCTOR_CACHE"], "model_hashes").iterdir()
    return place


def test_names_and_contents_count(tmp_path, environ):
    folder = model(tmp_path / "a")
    hashes = {"inner/config.json": hashlib.sha256(b"{}"), "model.safetensors": hashlib.sha256(LARGE)}
    assert file_hashes(folder, environ) == {name: value.hexdigest() for name, value in hashes.items()}
    listed = "".join(f"{name}\0{value.hexdigest()}\n" for name, value in hashes.items())
    assert content_hash(folder, environ) == hashlib.sha256(listed.encode()).hexdigest()
    assert content_hash(model(tmp_path / "b"), environ) == content_hash(folder, environ)
    (folder / "inner" / "config.json").rename(folder / "config.json")
    assert content_hash(folder, environ) != content_hash(tmp_path / "b", environ)


def test_what_did_not_change_is_not_read_again(tmp_path, environ):
    folder = model(tmp_path / "a")
    first = content_hash(folder, environ)
    rewritten(folder / "model.safetensors", b"other")
    assert content_hash(folder, environ) == first
    os.utime(folder / "model.safetensors", (time.time() - 30,) * 2)
    assert content_hash(folder, environ) != first


@pytest.mark.parametrize("broken", ["", "[]", "{}", '{"files": 1, "hashes": {}}', "hashes"])
def test_a_broken_memory_is_ignored(tmp_path, environ, broken):
    folder = model(tmp_path / "a")
    first = content_hash(folder, environ)
    place = kept(environ)
    if broken == "hashes":
        found = json.loads(place.read_text())
        found["hashes"]["model.safetensors"] = "12"
        broken = json.dumps(found)
    place.write_text(broken)
    assert content_hash(folder, environ) == first


@pytest.mark.parametrize("is_new", [True, False])
def test_what_just_changed_is_not_remembered_and_without_a_cache_nothing_is(tmp_path, environ, is_new):
    if not is_new:
        (tmp_path / "cache").write_text("a file")
    folder = model(tmp_path / "a", age=0) if is_new else model(tmp_path / "a")
    first = content_hash(folder, environ)
    rewritten(folder / "model.safetensors", b"other")
    assert content_hash(folder, environ) != first


def test_small_folders_leave_nothing_behind(tmp_path, environ):
    content_hash(model(tmp_path / "a", weights=b"small"), environ)
    assert not (tmp_path / "cache").exists()
