"""Text of PDF and Word files, with the extra ``docs``."""

import contextlib
import logging
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .. import InputError

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.table import Table


MOST_UNPACKED = 256 << 20  # bytes of a Word document


class UnreadableDocument(Exception):  # noqa: N818 - a finding about a file, which the reader reports
    """The file is not what its name says, or is locked; the message goes on after the file's name."""


def pdf_text(path: Path) -> tuple[str, str, list[str]]:
    """(text, title, complaints) of a PDF: pages with an empty line between them.

    Raises:
        InputError: pypdf is not installed.
        UnreadableDocument: it is no PDF or locked with a password.
    """
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise _missing_extra(path, "pypdf") from error
    with _listening("pypdf") as complaints:
        try:
            reader = PdfReader(path)
            locked = reader.is_encrypted and not reader.decrypt("")
            pages = [] if locked else [page.extract_text().strip() for page in reader.pages]
            title = "" if locked or not reader.metadata else reader.metadata.title or ""
        except OSError:
            raise
        except Exception as error:  # pypdf raises all sorts of things at a broken file
            raise UnreadableDocument(f"can't be read as PDF: {str(error) or type(error).__name__}") from error
    if locked:
        raise UnreadableDocument("is locked with a password; save it without one")
    return "\n\n".join(page for page in pages if page), str(title).strip(), complaints


def docx_text(path: Path) -> tuple[str, str]:
    """(text, title) of a Word document: paragraphs and tables in their order, cells separated by `` | ``.

    Raises:
        InputError: python-docx is not installed.
        UnreadableDocument: it is no Word document.
    """
    try:
        import docx
    except ImportError as error:
        raise _missing_extra(path, "python-docx") from error
    _check_unpacked(path)
    try:
        document = docx.Document(str(path))
        blocks, title = _word_blocks(document)
    except OSError:
        raise
    except Exception as error:  # zip, XML and key errors, whatever is broken in the file
        raise UnreadableDocument(f"can't be read as a Word document: {str(error) or type(error).__name__}") from error
    return "\n\n".join(blocks), title


def _check_unpacked(path: Path) -> None:
    """Refuse an archive that unpacks into more than a document can be; what is no archive is told later."""
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as packed:
        # Reading stops at the size that is declared, so it can't be told too small.
        if sum(member.file_size for member in packed.infolist()) > MOST_UNPACKED:
            raise UnreadableDocument(f"unpacks into more than {MOST_UNPACKED >> 20} MB, which no document is")


def _word_blocks(document: "WordDocument") -> tuple[list[str], str]:
    from docx.table import Table

    blocks: list[str] = []
    title = (document.core_properties.title or "").strip()
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            blocks.append(_table(block))
            continue
        style = block.style.name if block.style else ""
        if not title and style and style.startswith(("Title", "Heading")):
            title = block.text.strip()
        blocks.append(block.text.strip())
    return [block for block in blocks if block], title


def _table(table: "Table") -> str:
    lines = []
    for row in table.rows:
        cells: list[str] = []
        previous = None
        for cell in row.cells:
            if cell._tc is not previous:  # a merged cell is given once for every column it spans
                cells.append(" ".join(cell.text.split()))
            previous = cell._tc
        lines.append(" | ".join(cells))
    return "\n".join(line for line in lines if line.strip(" |"))


def _missing_extra(path: Path, package: str) -> InputError:
    return InputError(
        f"{path} needs the package {package}, which is not installed. Install it with: pip install 'proctor[docs]'"
    )


@contextmanager
def _listening(name: str) -> Iterator[list[str]]:
    """Collect what a library logs, so that it reaches the user as a warning and not as noise on stderr."""
    complaints: list[str] = []

    class _Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            complaints.append(record.getMessage())

    logger, handler = logging.getLogger(name), _Collector()
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield complaints
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated
