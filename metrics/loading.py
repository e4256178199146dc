"""Loading a user's metrics file as a module of its own."""

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from .. import InputError
from .messages import exception_line


def load_metrics_file(path: Path) -> ModuleType:
    """Run a Python file and hand back its module, under a name that can't hide another module.

    Raises:
        InputError: when there is no such file, or running it fails; names the file and the line.
    """
    if not path.is_file():
        raise InputError(f"There is no metrics file {path}.")
    digest = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    name = f"user_metrics_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file; a metrics file ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is being run
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except SyntaxError as error:
        raise InputError(f"{error.filename or path}:{error.lineno}: {error.msg}.") from error
    except (Exception, SystemExit) as error:
        raise InputError(f"{path}:{_line(error, path)}: {exception_line(error)}") from error
    return module


def _line(error: BaseException, path: Path) -> int:
    """The last line of the file that was being run."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    return (lines[-1] if lines else None) or 1
