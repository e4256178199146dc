"""Documents from files: txt, md and html, and with the extra ``docs`` pdf and docx."""

import codecs
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import InputError
from .characters import storable
from .documents import Document
from .html_text import declared_charset, html_text
from .office_text import UnreadableDocument, docx_text, pdf_text
from .paths import existing, unreadable

_PLAIN = frozenset({".txt", ".text", ".md", ".markdown"})
_HTML = frozenset({".html", ".htm", ".xhtml"})
_KNOWN = _PLAIN | _HTML | {".pdf", ".docx"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FENCE = re.compile(r"(?:```|~~~).*?(?:^(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(
    r"^(?: {0,3}#{1,6}[ \t]+(?P<hashed>.*?)[ \t]*#*[ \t]*|(?P<ruled>\S.*)\n(?:=|-){3,}[ \t]*)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What bots may know.

    Attributes:
        documents: sorted by id within each path, paths in the order given.
        warnings: sentences for the user about what was skipped or guessed.
    """

    documents: tuple[Document, ...]
    warnings: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """SHA-256 in hex over the fingerprints of the documents, whatever their order."""
        prints = sorted(document.fingerprint for document in self.documents)
        return hashlib.sha256("\n".join(prints).encode()).hexdigest()


def read_knowledge(paths: Sequence[Path], base: Path | None = None) -> Knowledge:
    """Read documents from folders, with all that is below them, and from single files.

    A document's id is its path relative to the folder given, or the name of a file given by itself, with forward
    slashes. Hidden files are skipped. Text is UTF-8, or UTF-16 and UTF-32 with a byte order mark; line ends become
    line feeds.

    Args:
        paths: folders and files.
        base: what relative paths are relative to; the working directory when left out.

    Raises:
        InputError: a path is missing or can't be read, a file given by itself is of an unknown kind, two documents
            have the same id, a PDF or Word file is met without the extra, or no text was found at all.
    """
    if not paths:
        raise InputError("No knowledge is given; a folder or files of documents was wanted.")
    reader = _Reader()
    for given in paths:
        reader.add(base / given if base else given)
    if not reader.documents:
        tried = ", ".join(str(path) for path in paths)
        detail = " ".join(reader.all_warnings())
        raise InputError(f"There is no document with text in {tried}. {detail}".strip())
    return Knowledge(tuple(document for document, _ in reader.documents.values()), tuple(reader.all_warnings()))


class _Reader:
    """Gathers documents and what there is to say about the files that gave none."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[Document, Path]] = {}
        self._warnings: list[str] = []
        self._skipped: Counter[str] = Counter()

    def add(self, path: Path) -> None:
        """Read a folder or a file."""
        existing(path, "a folder or a file of documents")
        if path.is_dir():
            for file in sorted(_files(path), key=lambda file: file.relative_to(path).as_posix()):
                self._add_from_folder(file, file.relative_to(path).as_posix())
            return
        if path.suffix.lower() not in _KNOWN:
            raise InputError(f"{path} is of an unknown kind; known are {_known_kinds()}.")
        try:
            self._add_file(path, path.name)
        except UnreadableDocument as error:
            raise InputError(f"{path} {error}.") from error

    def all_warnings(self) -> list[str]:
        """Sentences for the user."""
        if not self._skipped:
            return self._warnings
        total = self._skipped.total()
        endings = ", ".join(f"{count} {ending}" for ending, count in sorted(self._skipped.items()))
        files = "1 file of an unknown kind was" if total == 1 else f"{total} files of unknown kinds were"
        return [*self._warnings, f"{files} skipped ({endings}); known are {_known_kinds()}."]

    def _add_from_folder(self, path: Path, identity: str) -> None:
        suffix = path.suffix.lower()
        if suffix not in _KNOWN:
            self._skipped[suffix or "without an ending"] += 1
            return
        try:
            self._add_file(path, identity)
        except UnreadableDocument as error:
            self._warnings.append(f"{path} was skipped: it {error}.")

    def _add_file(self, path: Path, identity: str) -> None:
        try:
            text, title = self._text(path)
        except OSError as error:
            raise unreadable(path, error) from error
        text = storable(text.replace("\r\n", "\n").replace("\r", "\n"))
        if not text.strip():
            scanned = ", perhaps a scan" if path.suffix.lower() == ".pdf" else ""
            self._warnings.append(f"{path} was skipped: it holds no text{scanned}.")
            return
        identity = storable(identity)
        if identity in self.documents:
            other = self.documents[identity][1]
            raise InputError(
                f"Two documents would be called {identity}: {other} and {path}. Rename one or leave one out."
            )
        self.documents[identity] = (Document(identity, text, title or _heading(path, text)), path)

    def _text(self, path: Path) -> tuple[str, str]:
        match path.suffix.lower():
            case ".pdf":
                text, title, complaints = pdf_text(path)
                if complaints:
                    self._warnings.append(f"{path}: the PDF reader complains ({len(complaints)}): {complaints[0]}")
                return text, storable(title)
            case ".docx":
                text, title = docx_text(path)
                return text, storable(title)
        content = path.read_bytes()
        if path.suffix.lower() in _HTML:
            text, title = html_text(self._decoded(content, path, declared_charset(content)))
            return text, storable(title)
        return self._decoded(content, path, None), ""

    def _decoded(self, content: bytes, path: Path, declared: str | None) -> str:
        for mark, encoding in _MARKS:
            if content.startswith(mark):
                try:
                    return content.removeprefix(mark).decode(encoding)
                except UnicodeDecodeError as error:
                    raise UnreadableDocument(f"has the mark of {encoding} but isn't that: {error.reason}") from error
        if b"\0" in content:
            raise UnreadableDocument("is not a text, or UTF-16 without a byte order mark; save it as UTF-8")
        for encoding in ("utf-8", declared or "utf-8", "cp1252"):
            try:
                text = content.decode(encoding)
            except (UnicodeDecodeError, LookupError):  # the page may declare an encoding that nobody knows
                continue
            if encoding == "cp1252":
                self._warnings.append(f"{path} is not UTF-8 and was read as Windows-1252; save it as UTF-8 to be sure.")
            return text
        raise UnreadableDocument("is in an unknown encoding; save it as UTF-8")


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder, without hidden ones; links are followed, circles of links are not."""
    entered: set[tuple[int, int]] = set()
    for here, folders, files in os.walk(folder, onerror=_refuse, followlinks=True):
        status = Path(here).stat()
        if (status.st_dev, status.st_ino) in entered:
            folders.clear()
            continue
        entered.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(here, name) for name in files if not name.startswith("."))
        yield from (path for path in paths if path.is_file())


def _refuse(error: OSError) -> None:
    raise unreadable(Path(error.filename), error) from error


def _heading(path: Path, text: str) -> str:
    """The first Markdown heading outside of code; blank for other kinds."""
    if path.suffix.lower() not in (".md", ".markdown"):
        return ""
    found = _HEADING.search(_FENCE.sub("", text))
    return (found["hashed"] or found["ruled"] or "").strip() if found else ""


def _known_kinds() -> str:
    return ", ".join(sorted(_KNOWN))
