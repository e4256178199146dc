"""Files that unpack into more than memory holds: an index, a Word document, questions in gzip."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from proctor import InputError
from proctor.knowledge.documents.document import Passage
from proctor.knowledge.documents.reading import read_knowledge
from proctor.knowledge.questions.question_files import open_questions
from proctor.knowledge.retrieval.index import Indexed, IndexFile, read_index_file, write_index_file
from raw_server import bomb


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index.zip"
    one = Indexed("f", (Passage("a.md", 0, 4, "text"),), np.ones((1, 2), dtype=np.float32))
    write_index_file(path, IndexFile("settings", "model", (one,)))
    assert read_index_file(path, "settings", "model").documents[0].passages == one.passages
    return path


def rewritten(path: Path, packed: int, **changed: bytes) -> None:
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", packed) as new:
        for name, content in members.items():
            new.writestr(name, changed.get(name.partition(".")[0], content))


def test_an_index_that_is_packed_is_not_unpacked(index):
    rewritten(index, zipfile.ZIP_DEFLATED, passages=b" " * (64 << 20))
    with pytest.raises(ValueError, match="it is packed, and an index is not"):
        read_index_file(index, "settings", "model")


def test_no_memory_is_taken_for_what_an_index_only_says(index):
    vectors = io.BytesIO()
    np.lib.format.write_array_header_1_0(vectors, {"descr": "<f4", "fortran_order": False, "shape": (1 << 40, 1 << 10)})
    rewritten(index, zipfile.ZIP_STORED, vectors=vectors.getvalue())
    with pytest.raises(ValueError, match="not as large as they say"):
        read_index_file(index, "settings", "model")


def test_a_word_document_of_a_gigabyte_is_passed_over_with_a_sentence(tmp_path):
    pytest.importorskip("docx")
    (tmp_path / "good.md").write_text("# Good\nText.")
    with (
        zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open("word/document.xml", "w", force_zip64=True) as member,
    ):
        for _ in range(300):
            member.write(b" " * (1 << 20))
    try:
        message = " ".join(read_knowledge([tmp_path]).warnings)
    except InputError as error:
        message = str(error)
    assert "bomb.docx was skipped: it unpacks into more than 256 MB" in message


@pytest.mark.parametrize("name", ["q.jsonl.gz", "q.yaml.gz", "q.json.gz", "q.csv.gz"])
def test_questions_that_unpack_into_much_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(bomb(300, b'[{"question": "' if "json." in name else b""))
    with pytest.raises(InputError, match=r"longer than 256 MB|larger than 256 MB"):
        open_questions(tmp_path / name)


def test_ordinary_packed_questions_are_read(tmp_path):

    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(json.dumps({"question": "When?"}).encode()))
    assert len(open_questions(tmp_path / "q.jsonl.gz")) == 1
