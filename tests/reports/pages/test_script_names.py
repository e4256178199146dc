"""Scripts share one scope on a page: no name is there twice, and none that nobody uses."""

import re
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "reports" / "pages" / "scripts"
DECLARED = re.compile(r"^(?:async )?(?:function\*?|class|const|let|var) +(\w+|[\[{][^=]*[\]}])", re.MULTILINE)


def declared(text: str) -> list[str]:
    """The names that a script declares at its top level, which is where a line begins with them."""
    return [name for found in DECLARED.findall(text) for name in re.findall(r"\w+", found)]


def scripts() -> dict[str, str]:
    """The scripts by the names that pages give them: ``list/rows``."""
    paths = FOLDER.rglob("*.js")
    return {path.relative_to(FOLDER).with_suffix("").as_posix(): path.read_text("utf-8") for path in paths}


def test_declarations_are_found() -> None:
    text = "const [a, b] = [1, 2];\nasync function c() {\n  const inner = 1;\n}\nclass D {\n}\nlet { e } = {};\n"
    assert declared(text) == ["a", "b", "c", "D", "e"]


def test_no_name_is_declared_twice() -> None:
    counted = Counter(name for text in scripts().values() for name in declared(text))
    assert len(counted) > 200
    assert {name for name, number in counted.items() if number > 1} == set()


def test_every_name_is_used() -> None:
    texts = scripts()
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(texts.values()), flags=re.DOTALL)
    words = Counter(re.findall(r"[\w$]+", code))
    assert {name for text in texts.values() for name in declared(text) if words[name] == 1} == set()


def test_every_script_begins_with_what_it_is_for() -> None:
    for name, text in scripts().items():
        title = name.rpartition("/")[2].replace("_", " ").capitalize()
        assert text.startswith(f"/* {title}: "), name
