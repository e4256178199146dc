"""Preparing: models that transformers can't load as they were published are written again, once, into the cache."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..cache_folder import cache_folder
from ..model_content import file_hashes
from ..model_hub import Hub
from ..one_load import ONE_LOAD
from .converting import Beside, Converted, Material, Recipe, Unprepared, recipe_for
from .model_files import tokenizer_files

__all__ = ["ORIGIN", "Source", "Unprepared", "prepared", "prepared_before"]

_VERSION: Final = 1  # of what is written; another one is made again
ORIGIN: Final = "proctor.json"  # in a folder that was prepared: what it was made from
_ABANDONED_SECONDS: Final = 3600  # after which what was begun and never finished is cleared away


@dataclass(frozen=True, slots=True)
class Source:
    """A model as it was published or given.

    Attributes:
        folder: where it lies; None when it is not on this machine.
        known: name and commit, or name and hash.
        file: which weights in it are meant; empty for the usual ones.
    """

    folder: Path | None
    known: str
    file: str = ""


def prepared(
    source: Source,
    hub: Hub,
    told: Callable[[str], None] | None = None,
    *,
    makes: bool = True,
    goes_online: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Path:
    """The folder of the model as transformers loads it: its own, or one in the cache folder that is made of it.

    Args:
        source: the model; it must be on this machine.
        hub: where a tokenizer comes from that the model doesn't bring.
        told: told a sentence before what takes long.
        makes: whether it is made where it isn't there yet.
        goes_online: whether the hub is tried for what is missing even when a quick probe finds no way to it.
        environ: names the cache folder.

    Raises:
        Unprepared: it is not there, or can't be made. Nothing half-written is left.
    """
    if source.folder is None:
        raise Unprepared("it is not on this machine.")
    recipe = recipe_for(source.folder, source.file)
    if recipe is None:
        return source.folder
    target = _target(source, environ)
    if _is_whole(target):
        return target
    if not makes:
        raise Unprepared("it was downloaded, but not prepared.")
    beside = source.folder if recipe.beside is None else _folder_beside(recipe.beside, hub, goes_online)
    if told is not None:
        told(f"Preparing {source.known}, once: it is written again in a form that can be loaded.")
    try:
        _make(source.folder, source.known, recipe, beside, target)
    except OSError as error:
        raise Unprepared(f"it can't be written to {target}: {error.strerror or error}.") from error
    return target


def prepared_before(source: Source, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder that was made of this commit, where what it was made of is no longer here."""
    target = _target(source, environ)
    return target if _is_whole(target) else None


def _target(source: Source, environ: Mapping[str, str]) -> Path:
    of_file = f"--{Path(source.file).stem}" if source.file else ""
    return cache_folder(environ) / "models" / f"{source.known.replace('/', '--')}{of_file}"


def _is_whole(target: Path) -> bool:
    try:
        return bool(json.loads((target / ORIGIN).read_text(encoding="utf-8"))["version"] == _VERSION)
    except (OSError, ValueError, TypeError, LookupError):
        return False


def _folder_beside(beside: Beside, hub: Hub, goes_online: bool) -> Path:
    found = hub.cached(beside.model, beside.revision, beside.files)
    if found is None and (goes_online or hub.reachable()):
        found = hub.download(beside.model, beside.revision, beside.files)
    if found is None:
        raise Unprepared(
            f"it also needs {' and '.join(beside.files)} of '{beside.model}', which are not on this machine: run "
            "'proctor models fetch' once with a network."
        )
    return found


def _make(folder: Path, known: str, recipe: Recipe, beside: Path, target: Path) -> None:
    made = recipe.convert(Material(known.rpartition("@")[0], folder / recipe.file, folder, beside))
    _check(made)
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(target)
    begun = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        _write(made, begun)
        origin: dict[str, object] = {known: _hashes(folder, [recipe.file])}
        if recipe.beside is not None:
            origin[recipe.beside.known] = _hashes(beside, [path.name for path in tokenizer_files(beside)])
        (begun / ORIGIN).write_text(json.dumps({"version": _VERSION, "made_from": origin}, indent=2), "utf-8")
        _put_in_place(begun, target)
    finally:
        shutil.rmtree(begun, ignore_errors=True)


def _put_in_place(begun: Path, target: Path) -> None:
    if target.exists() and not _is_whole(target):
        shutil.rmtree(target)
    try:
        begun.chmod(0o755)
        begun.rename(target)
    except OSError:
        if not _is_whole(target):  # else another run was first
            raise


def _clear_abandoned(target: Path) -> None:
    for left in target.parent.glob(f".{target.name}.*"):
        if left.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _check(made: Converted) -> None:
    """Raise Unprepared unless the weights are just those that the class of transformers has."""
    import torch
    import transformers

    settings = {key: value for key, value in made.config.items() if key != "model_type"}
    try:
        config: Any = transformers.AutoConfig.for_model(str(made.config["model_type"]), **settings)
        with ONE_LOAD, torch.device("meta"):
            loader = getattr(transformers, made.kind)
            model = loader.from_config(config) if made.kind.startswith("Auto") else loader(config)
    except Exception as error:
        raise Unprepared(f"its config.json makes no model: {type(error).__name__}: {error}") from error
    wanted = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
    given = {name: tuple(weight.shape) for name, weight in made.weights.items()}
    wrong = sorted({name for name, _ in wanted.items() ^ given.items()})
    if wrong:
        raise Unprepared(f"its weights are not those of {type(model).__name__}: {', '.join(wrong[:3])} differ.")


def _write(made: Converted, folder: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    for path in tokenizer_files(made.tokenizer):
        shutil.copyfile(path, folder / path.name)
    if made.tokenizer_settings:
        settings = folder / "tokenizer_config.json"
        own = json.loads(settings.read_text(encoding="utf-8")) if settings.is_file() else {}
        settings.write_text(json.dumps({**made.tokenizer_settings, **own}, indent=2), "utf-8")
    (folder / "config.json").write_text(json.dumps(made.config, indent=2), "utf-8")
    try:
        save_file(dict(made.weights), folder / "model.safetensors", metadata={"format": "pt"})
    except SafetensorError as error:  # what the library makes of a full disk
        raise OSError(str(error)) from error


def _hashes(folder: Path, names: list[str]) -> dict[str, str]:
    known = file_hashes(folder)
    return {name: known[name] for name in names if name in known}
