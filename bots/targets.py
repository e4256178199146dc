"""Targets: from ``module:name`` or ``file.py:name`` to the object that the user means."""

import difflib
import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from .. import InputError
from ..knowledge import existing
from ..metrics.declaration import exception_line


@dataclass(frozen=True, slots=True)
class Target:
    """Where an object of the user's code is found: a Python file or a module, and a name in it."""

    written: str
    place: str
    name: str
    file: Path | None

    @property
    def digest(self) -> str:
        """SHA-256 of the file's content, in hex; of a module without a file, of its name.

        What the file imports is not seen: after a change there, ask again with ``--fresh``.
        """
        content = self.file.read_bytes() if self.file else self.place.encode()
        return hashlib.sha256(content).hexdigest()

    def load(self) -> object:
        """Import the code and take the name from it.

        Raises:
            InputError: the import fails, or the name isn't there.
        """
        found: object = self._module()
        for part in self.name.split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                raise InputError(_no_such_name(self.written, part, found)) from None
        return found

    def _module(self) -> ModuleType:
        try:
            if self.file and self.place.endswith(".py"):
                return _import_file(self.file)
            return importlib.import_module(self.place)
        except (Exception, SystemExit) as raised:
            raise InputError(
                f"{self.written}: importing {self.place} failed with {exception_line(raised)}"
                f"{_where(raised, self.file)}"
            ) from raised


def find_target(written: str, base: Path) -> Target:
    """Find the file of a target without running it. Modules are looked for as Python does, and then in ``base``.

    Raises:
        InputError: the text is not of the form, or there is no such file or module.
    """
    place, colon, name = written.rpartition(":")
    if not colon or not place or not all(part.isidentifier() for part in name.split(".")):
        raise InputError(
            f"{written!r} does not say which function to call; write it as file.py:name or package.module:name."
        )
    if place.endswith(".py"):
        file = base / place
        existing(file, "a Python file")
        _make_importable(file.parent)
        return Target(written, place, name, file.resolve())
    _make_importable(base)
    return Target(written, place, name, _module_file(written, place))


def _module_file(written: str, place: str) -> Path | None:
    """The source of a module, found without running it (its parent packages are run)."""
    importlib.invalidate_caches()  # the file may be newer than what Python remembers of its folder
    try:
        found = importlib.util.find_spec(place)
    except (Exception, SystemExit) as raised:
        problem = exception_line(raised)
        raise InputError(f"{written}: there is no module {place} to import ({problem}).") from raised
    if found is None:
        raise InputError(f"{written}: there is no module {place}; it must be installed or lie beside the suite file.")
    return Path(found.origin) if found.has_location and found.origin else None


def _import_file(file: Path) -> ModuleType:
    """Run a file as a module of its own; the same content of the same file is run once."""
    key = hashlib.sha256(str(file).encode() + b"\0" + file.read_bytes()).hexdigest()[:12]
    name = f"{file.stem}_{key}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} can't be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and pickle look there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make_importable(folder: Path) -> None:
    """Let the user's code import its neighbours; at the end of the path, so that nothing is hidden by them."""
    entry = str(folder.resolve())
    if entry not in sys.path:
        sys.path.append(entry)


def _no_such_name(written: str, name: str, found: object) -> str:
    there = [known for known in dir(found) if not known.startswith("_")]
    near = difflib.get_close_matches(name, there, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(there[:8]) or 'no names at all'}."
    return f"{written}: there is no {name} in it; {hint}"


def _where(raised: BaseException, file: Path | None) -> str:
    """The line of the user's file in which the import failed."""
    line = raised.lineno if isinstance(raised, SyntaxError) and raised.filename == str(file) else None
    frame = raised.__traceback__
    while frame is not None:
        if file and frame.tb_frame.f_code.co_filename == str(file):
            line = frame.tb_lineno
        frame = frame.tb_next
    return f" ({file}, line {line})" if line else ""
