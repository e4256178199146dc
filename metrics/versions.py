"""Versions: a hash of the code that a score depends on, from the metric through all that it calls."""

import ast
import dis
import errno
import hashlib
import importlib.metadata
import importlib.util
import inspect
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Final, NamedTuple

_ROOT: Final = __name__.split(".", maxsplit=1)[0]
# Modules that describe scores but never change a value.
_VOCABULARY: Final = frozenset(f"{__package__}.{name}" for name in ("declaration", "facts", "score", "tools"))
# Packages whose version changes no value beyond the last bits.
_TRANSPARENT: Final = frozenset({"numpy"})
_ADDRESS: Final = re.compile(r" at 0x[0-9A-Fa-f]+")
_ATTRIBUTES: Final = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_READS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"}) | _ATTRIBUTES
_SETS: Final = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "STORE_ATTR"})
# Methods that change the built-in containers.
_CHANGES: Final = frozenset({"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop"}) | frozenset(
    {"popitem", "popleft", "remove", "setdefault", "update"}
)
# Of LangChain: what can't be looked into, what remembers and so never is the same, and what its repr says all of.
_CONTENT: Final = "VectorStore"
_MEMORY: Final = frozenset({"BaseCheckpointSaver", "BaseStore", "BaseCache"})
_MODELS: Final = frozenset({"BaseLanguageModel", "Embeddings"})
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
_LONGEST: Final = 10_000  # characters of a value; each level quotes those below again, which doubles their backslashes
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class _Imported(NamedTuple):
    """Where a name comes from: a module, and a name in it; None for the module itself."""

    module: str
    name: str | None


class _Source:
    """One Python file, by its top-level definitions."""

    def __init__(self, path: Path, module: str) -> None:
        self.path = path
        self.module = module
        self.package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, _Imported] = {}
        self._bared: set[int] = set()
        for statement in ast.parse(path.read_bytes()).body:
            if isinstance(statement, _DEFINITIONS):
                self.definitions.setdefault(statement.name, []).append(statement)
            else:
                self._note(statement)

    def _note(self, statement: ast.stmt) -> None:
        """Record the names that a statement binds, also inside ``try`` and ``if``."""
        for node in ast.walk(statement):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imports.update(self.imported(node))
            elif isinstance(node, _DEFINITIONS):
                self.definitions.setdefault(node.name, []).append(statement)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.definitions.setdefault(node.id, []).append(statement)

    def bared(self, statement: ast.stmt) -> ast.AST:
        """A statement without what does not count; changed in place, once, because copies are slow."""
        if id(statement) not in self._bared:
            self._bared.add(id(statement))
            _Bare().visit(statement)
        return statement

    def imported(self, statement: ast.Import | ast.ImportFrom) -> dict[str, _Imported]:
        """The local names that an import statement binds, with what they refer to."""
        if isinstance(statement, ast.Import):
            return {alias.asname or alias.name.split(".")[0]: _Imported(alias.name, None) for alias in statement.names}
        module = statement.module or ""
        if statement.level:
            above = self.package.split(".")[: len(self.package.split(".")) - statement.level + 1]
            module = ".".join([*above, module] if module else above)
        return {alias.asname or alias.name: _Imported(module, alias.name) for alias in statement.names}


def code_version(function: Callable[..., object]) -> str:
    """Hash of a function and of all that it depends on. The same in every process of one Python version.

    The modules of definitions don't count, so that code can be moved without a new version.
    """
    return _hash(sorted(f"{name.rpartition(':')[2]}\n{text}" for name, text in ingredients(function).items()))


def read_files(function: Callable[..., object], names: Iterable[str]) -> dict[str, str]:
    """Hashes of files, by their paths relative to the file that declares a function.

    Raises:
        FileNotFoundError: a file does not exist; ``filename`` is its path as given.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    folder = Path(code.co_filename if code else "").parent
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16]
        except (OSError, ValueError) as error:
            raise FileNotFoundError(errno.ENOENT, str(error), name) from error
    return found


def ingredients(function: Callable[..., object]) -> dict[str, str]:
    """What a function's value depends on, by name: our functions, classes and constants, and versions of packages.

    Comments, docstrings, decorators and the annotations of functions don't count.
    """
    inner: object = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    if isinstance(inner, partial):
        return {**ingredients(inner.func), "given": in_memory([inner.args, inner.keywords])}
    if code is None:
        return {"object": in_memory(inner)}
    top = function.__qualname__.split(".")[0]
    source = _source(code.co_filename, function.__module__)
    if source is None or top not in source.definitions:
        return {"code": in_memory(function)}
    parts = {"values": _values(inspect.unwrap(function))}
    _follow(source, top, parts)
    return parts


def in_memory(given: object, unseen: list[object] | None = None) -> str:
    """A function, class or object as it is now, without its file; the same in every process of one Python version.

    Of a function that is its code, and the values that it reads: its defaults, its closure and global names.
    Functions, classes and their instances are followed where they are of the same module; of others the ``repr``
    counts, and of a LangChain Runnable also the functions and objects that it is composed of, wherever they are from.
    What code itself changes (a log, a cache, a counter) is no part of it.

    Args:
        given: the function, class or object.
        unseen: is given the parts of a Runnable that show nothing of what they hold, such as a store of vectors.
    """
    unseen = [] if unseen is None else unseen
    inner = inspect.unwrap(given) if callable(given) else given
    inner = getattr(inner, "__func__", inner)
    module = getattr(inner, "__globals__", None)
    if module is None:
        kind = inner if isinstance(inner, type) else type(inner)
        module = {} if kind.__module__ == "builtins" else getattr(sys.modules.get(kind.__module__), "__dict__", {})
    try:
        return _Written(module, unseen=unseen).of([inner, getattr(given, "__self__", None)])
    except RecursionError:
        unseen.append(inner)
        return _named(inner)


class _Written:
    """Writes values as they are now, each object once."""

    def __init__(
        self, module: Mapping[str, object], *, above: "_Written | None" = None, composed: bool = False,
        unseen: list[object] | None = None,
    ) -> None:  # fmt: skip
        """``module`` are the names of the user's module, whose functions and classes are followed.

        ``above`` met what contains this; ``composed`` says that it is a Runnable, whose parts may be of any module.
        """
        self._module = module
        self._composed = composed
        # With the objects, so that no other gets the number of one that is gone.
        self._seen: dict[int, object] = {} if above is None else above._seen
        self._unseen: list[object] = unseen if unseen is not None else [] if above is None else above._unseen

    def of(self, value: object) -> str:
        text = self._text(value)
        return text if len(text) <= _LONGEST else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _text(self, value: object) -> str:
        if value is None or isinstance(value, (str, bytes, int, float)):
            return repr(value)
        if id(value) in self._seen:
            return "again"
        self._seen[id(value)] = value
        match value:
            case dict():
                return repr([(self.of(key), self.of(each)) for key, each in list(value.items())])
            case list() | tuple():
                return repr([type(value).__name__, *map(self.of, list(value))])
            case set() | frozenset():
                return repr([type(value).__name__, *sorted(map(self.of, list(value)))])
            case CodeType():
                docstring = _docstring(value)
                consts = [self.of(each) for each in value.co_consts if docstring is None or each is not docstring]
                return repr((value.co_code.hex(), value.co_names, consts))
            case ModuleType():
                return value.__name__
            case MethodType():
                return self.of([value.__func__, value.__self__])
            case partial():
                return self.of(["partial", value.func, value.args, value.keywords])
        inner = inspect.unwrap(value) if callable(value) else value
        return self._function(inner) if isinstance(inner, FunctionType) else self._object(inner)

    def _function(self, function: FunctionType) -> str:
        code = function.__code__
        contents = list(map(_content, function.__closure__ or ()))
        if function.__globals__ is not self._module:
            if not self._composed:
                return _named(function)
            if _is_installed(str(function.__module__)):  # its code has a version, and what it was given hasn't
                return self.of([_named(function), function.__defaults__, function.__kwdefaults__, contents])
            return _Written(function.__globals__, above=self)._function(function)
        cells = zip(code.co_freevars, contents, strict=True)
        names = ChainMap(dict(cells), dict(self._module))
        read, state = _names([code])
        values = {each: names[each] for each in sorted(read - state) if each in names}
        values |= {
            f"{name}.{each}": vars(module)[each]
            for name, module in list(values.items())
            if isinstance(module, ModuleType) and self._is_beside(module)
            for each in sorted(read & vars(module).keys())
        }
        return self.of([code, function.__defaults__, function.__kwdefaults__, values])

    def _is_beside(self, module: ModuleType) -> bool:
        """Whether it is another file of the user's, whose values may be others than its text says."""
        ours, theirs = self._module.get("__file__"), getattr(module, "__file__", None)
        return bool(ours and theirs) and Path(str(ours)).parent == Path(str(theirs)).parent

    def _object(self, value: object) -> str:
        kind = value if isinstance(value, type) else type(value)
        if value is not kind and _is_installed(kind.__module__) and (self._composed or "Runnable" in _bases(kind)):
            return self._part(value, kind)
        if kind.__module__ != self._module.get("__name__"):
            if self._composed and not _is_installed(kind.__module__):
                module = getattr(sys.modules.get(kind.__module__), "__dict__", {})
                return _Written(module, above=self)._object(value)
            return _shown(value)
        own = {name: getattr(each, "__func__", each) for name, each in vars(kind).items() if name != "__doc__"}
        plain = {name: each for name, each in own.items() if isinstance(each, (FunctionType, str, int, float, tuple))}
        methods = [each.__code__ for name, each in own.items() if isinstance(each, FunctionType) and name != "__init__"]
        state = _names(methods)[1]
        attributes = {} if value is kind else getattr(value, "__dict__", {})
        settings = {name: each for name, each in attributes.items() if name not in state}
        return self.of([_named(kind), list(plain.items()), settings])

    def _part(self, value: object, kind: type) -> str:
        """A Runnable of a library, or what it is composed of."""
        bases = _bases(kind)
        is_langchain = "Runnable" in bases or kind.__module__.startswith(("langchain", "langgraph"))
        if bases & _MEMORY:
            return _named(kind)
        if _CONTENT in bases or not is_langchain:
            is_blank = (
                inspect.getattr_static(kind, "__repr__") is vars(object)["__repr__"]
                and _top(kind.__module__) not in sys.stdlib_module_names
            )
            if _CONTENT in bases or is_blank:
                self._unseen.append(value)
            return _shown(value)
        within = _Written({}, above=self, composed=True, unseen=[] if bases & _MODELS else self._unseen)
        return within.of([_shown(value), _attributes(value)])


def _shown(value: object) -> str:
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception:  # noqa: BLE001 - the user's own __repr__
        return _named(value if isinstance(value, type) else type(value))


def _attributes(value: object) -> dict[str, object]:
    """What an object holds by name, without what it works out when it is first asked."""
    kind = type(value)
    slots = [name for each in kind.__mro__ for name in _slots(each) if hasattr(value, name)]
    held = {name: getattr(value, name) for name in slots if not name.startswith("__")} | getattr(value, "__dict__", {})
    lazy = (cached_property, property)
    return {name: each for name, each in held.items() if not isinstance(inspect.getattr_static(kind, name, None), lazy)}


def _slots(kind: type) -> Iterable[str]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _bases(kind: type) -> set[str]:
    return {each.__name__ for each in kind.__mro__ if _top(each.__module__).startswith(("langchain", "langgraph"))}


def _top(module: str) -> str:
    return module.partition(".")[0]


@cache
def _is_installed(module: str) -> bool:
    """Whether a module is Python's or of an installed package, and not the user's own code."""
    if _top(module) in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return bool(file) and not _INSTALLED.isdisjoint(Path(str(file)).parts)


def _names(codes: Iterable[CodeType]) -> tuple[set[str], set[str]]:
    """The names that code and its inner functions read, and those that they set or change in place."""
    read: set[str] = set()
    state: set[str] = set()
    left = list(codes)
    while left:
        code = left.pop()
        left += [each for each in code.co_consts if isinstance(each, CodeType)]
        last = ""  # the name that was read last
        for step in dis.get_instructions(code):
            if step.opname in _SETS:
                state.add(str(step.argval))
            elif step.opname == "STORE_SUBSCR" or (step.opname in _ATTRIBUTES and step.argval in _CHANGES):
                state.add(last)
            elif step.opname in _READS:
                last = str(step.argval)
                read.add(last)
    return read, state


def _docstring(code: CodeType) -> str | None:
    """The docstring of a function's code: its first constant, before Python 3.14 where that is a text."""
    first = code.co_consts[0] if code.co_consts else None
    marked = getattr(inspect, "CO_HAS_DOCSTRING", None)
    has = code.co_name[0] != "<" if marked is None else bool(code.co_flags & marked)
    return first if has and isinstance(first, str) else None


def _named(thing: object) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _follow(source: _Source, name: str, parts: dict[str, str]) -> None:
    """Add a definition, and all that it refers to, to the parts of a version."""
    label = f"{source.module}:{name}"
    if label in parts:
        return
    if name not in source.definitions:
        if name in source.imports:
            _follow_import(source, source.imports[name], parts)
        return
    text, names, inner_imports = _reading(source, name)
    parts[label] = text
    for imported in inner_imports:
        _follow_import(source, imported, parts)
    for used in names:
        _follow(source, used, parts)


def _follow_import(source: _Source, imported: _Imported, parts: dict[str, str]) -> None:
    top = imported.module.split(".")[0]
    if imported.module in _VOCABULARY:
        return
    if top == _ROOT:
        target = _source_of_module(imported.module)
        if target and imported.name and imported.name in {*target.definitions, *target.imports}:
            _follow(target, imported.name, parts)
        else:
            _add_module(imported, parts)
    elif top not in sys.stdlib_module_names and top not in _TRANSPARENT:
        parts[f"package {top}"] = _version_of(top, source.path.parent)


def _add_module(imported: _Imported, parts: dict[str, str]) -> None:
    """Add a whole module of ours: the code may use anything in it."""
    name = f"{imported.module}.{imported.name}" if imported.name else imported.module
    module = _source_of_module(name)
    if module and name not in _VOCABULARY:
        parts[f"module {name}"] = module.path.read_text("utf-8")


@cache
def _reading(source: _Source, name: str) -> tuple[str, tuple[str, ...], tuple[_Imported, ...]]:
    """The part of a definition that counts, the names that it refers to, and its own imports."""
    texts: list[str] = []
    names: list[str] = []
    imports: list[_Imported] = []
    for statement in source.definitions[name]:
        bare = source.bared(statement)
        texts.append(ast.unparse(bare))
        for node in ast.walk(bare):
            if isinstance(node, ast.Name):
                names.append(node.id)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                imports += source.imported(node).values()
    return "\n".join(texts), tuple(dict.fromkeys(names)), tuple(imports)


class _Bare(ast.NodeTransformer):
    """Removes what doesn't change a value: docstrings, decorators, annotations of functions."""

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.decorator_list = []
        node.returns = None
        for argument in _arguments(node.args):
            argument.annotation = None
        return self._documented(node)

    def _documented(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit what stands below, but no expressions: they define nothing that has a docstring."""
        return node if isinstance(node, ast.expr) else super().generic_visit(node)

    visit_FunctionDef = _function  # noqa: N815 - the names that ast asks for
    visit_AsyncFunctionDef = _function  # noqa: N815
    visit_ClassDef = _documented  # noqa: N815


def _arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (argument for argument in (arguments.vararg, arguments.kwarg) if argument)


def _values(function: FunctionType) -> str:
    """What the source doesn't tell.

    Of a user's function all that it is now: its file may have been edited since it was
    loaded, and may define it twice. Of ours, which hold what their source says, only what the closure holds.
    """
    if function.__module__.split(".")[0] != _ROOT:
        return in_memory(function)
    cells = zip(function.__code__.co_freevars, map(_content, function.__closure__ or ()), strict=True)
    return _Written(function.__globals__).of([value for _, value in cells])


def _source(path: str, module: str) -> _Source | None:
    try:
        state = Path(path).stat()
        return _parsed(path, module, state.st_mtime_ns, state.st_size)
    except (OSError, SyntaxError):
        return None  # defined interactively, or changed since it was loaded


@cache
def _parsed(path: str, module: str, changed: int, size: int) -> _Source:  # noqa: ARG001 - the last two are the key
    return _Source(Path(path), module)


@cache
def _source_of_module(module: str) -> _Source | None:
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return _source(found.origin, module) if found and found.origin else None


def _version_of(package: str, folder: Path) -> str:
    """Version of an installed package; for a single file in the same folder, the hash of its content."""
    single = folder / f"{package}.py"
    return _hash([single.read_text("utf-8", "replace")]) if single.is_file() else _installed_version(package)


@cache
def _installed_version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", ""))


def _hash(parts: list[str]) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:16]
