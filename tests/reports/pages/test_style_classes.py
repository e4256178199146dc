"""Classes of pages: each one that is given has a style or is looked for, each that has a style is given somewhere."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PAGES = Path(__file__).parents[3] / "reports" / "pages"
SHARED = {"base", "layout", "charts"}  # that other styles build upon
CLASS = re.compile(r"\.(-?[a-z][\w-]*)")
LIST = re.compile(r"[a-z][\w-]*(?: [a-z][\w-]*)*")


def texts(folder: str, ending: str) -> dict[str, str]:
    """Files by their place in a folder of pages, without their ending."""
    there = PAGES / folder
    found = sorted(there.rglob(f"*{ending}"))
    return {path.relative_to(there).with_suffix("").as_posix(): path.read_text("utf-8") for path in found}


def selectors(css: str) -> Iterator[str]:
    """The selectors of a style, one by one."""
    for head in re.findall(r"([^{};]+)\{", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        if not head.strip().startswith("@"):
            yield from (each.strip() for each in re.split(r",(?![^(]*\))", head))


def styled() -> set[str]:
    return {name for css in texts("styles", ".css").values() for each in selectors(css) for name in CLASS.findall(each)}


def literals(code: str) -> list[str]:
    """The strings in JavaScript, Python or a template, what is put into them left out."""
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`', code)
    return [re.sub(r"\$?\{[^}]*\}?|%d", "\0", "".join(each)) for each in found]


def chosen(expression: str) -> list[str]:
    """The strings that an expression may come to; not those with which something is compared."""
    return literals(re.sub(r'[=!]==? "[^"]*"|"[^"]*":', "", expression))


def given() -> dict[str, set[str]]:
    """Classes that templates and scripts give, by where; without those whose ends are put together."""
    found = defaultdict(set)
    for name, text in texts("templates", ".j2").items():
        for value in re.findall(r'class="((?:\{\{.*?\}\}|\{%.*?%\}|[^"{])*)"', text):
            fixed = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "\0", value)
            parts = [fixed, *chosen(" ".join(re.findall(r"\{\{(.*?)\}\}", value)))]
            for each in " ".join(parts).split():
                if re.fullmatch(r"[a-z](?:[\w-]*\w)?", each):
                    found[each].add(name)
    for name, text in texts("scripts", ".js").items():
        for value in re.findall(r'\bclass: ((?:"[^"]*"|`[^`]*`|[^,}"`])*)', text):
            for each in " ".join(chosen(value)).split():
                if "\0" not in each:
                    found[each].add(name)
        for value in re.findall(r'classList\.\w+\("([\w-]+)"', text):
            found[value].add(name)
    return found


def possible() -> tuple[set[str], tuple[str, ...]]:
    """All that may be a class in strings of ours: words, and beginnings to which something is put."""
    expressions = re.findall(r"\{[{%](.*?)[%}]\}", "\n".join(texts("templates", ".j2").values()))
    code = "\n".join([*texts("scripts", ".js").values(), *texts("", ".py").values(), *expressions])
    strings = [each.replace("\0", "-\0") if each.endswith("-") else each for each in literals(code)]
    words = {word for each in strings if LIST.fullmatch(each.replace("\0", " ").strip()) for word in each.split()}
    begun = {word.rstrip("\0") for each in strings for word in each.split() if re.fullmatch(r"[a-z]+-\0?", word)}
    return {*words, *given()}, tuple(begun)


def test_each_class_that_is_given_has_a_style_or_is_looked_for() -> None:
    tests = "\n".join(path.read_text("utf-8") for path in Path(__file__).parents[2].rglob("*.py"))
    scripts = "\n".join(texts("scripts", ".js").values())
    looked_for = {name for each in literals(f"{tests}\n{scripts}") for name in CLASS.findall(each)}
    found = given()
    assert len(found) > 150
    assert {name: where for name, where in found.items() if name not in styled() | looked_for} == {}


def test_each_class_that_has_a_style_is_given() -> None:
    words, begun = possible()
    assert {name for name in styled() if name not in words and not name.startswith(begun)} == set()


def test_every_colour_has_one_for_light_and_one_for_dark() -> None:
    root = texts("styles", ".css")["base"].partition(":root {")[2].partition("}")[0]
    colours = [value for _, value in re.findall(r"(--[\w-]+): ([^;]+);", root) if "#" in value]
    assert len(colours) > 30
    assert [value for value in colours if not re.fullmatch(r"light-dark\(#\w{6}, #\w{6}\)", value)] == []


def test_no_two_parts_of_a_page_style_the_same_class() -> None:
    owners = defaultdict(set)
    for name, css in texts("styles", ".css").items():
        for each in selectors(css):
            first = re.split(r"[\s>+~]", each)[0]
            classes = CLASS.findall(first)
            if name not in SHARED and len(classes) == 1 and first in {f".{classes[0]}", f"details.{classes[0]}"}:
                owners[classes[0]].add(name)
    assert len(owners) > 80
    assert {name: where for name, where in owners.items() if len(where) > 1} == {}
