"""What tests ask of a page for those who can't see or point: axe, contrast, targets, and what is announced."""

import json
from importlib.resources import files
from typing import Any

from browser import Shown

# A and AA of WCAG 2.0 and 2.1, and what axe calls good practice (headings in order, all content in landmarks).
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
# Left to `faint_texts`: axe is undecided on each text of a table with a sticky column, and takes seconds to be so.
LEFT_OUT = ("color-contrast",)
AXE = """
const [tags, without, done] = arguments;
const rules = Object.fromEntries(without.map((name) => [name, {enabled: false}]));
axe.run(document, {runOnly: {type: 'tag', values: tags}, rules, resultTypes: ['violations'], preload: false}).then(
    ({violations}) => done(violations.flatMap(
      ({id, nodes}) => nodes.map(({target, html}) => [id, target.join(' '), html]))),
    (error) => done([['axe failed', String(error), '']]));
"""

# Texts whose colour is nearer to their ground than WCAG 1.4.3 allows; a ground that lets others through lies over them.
FAINT = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const known = new Map();
const parts = (colour) => {
  if (!known.has(colour)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    known.set(colour, [red, green, blue, alpha / 255]);
  }
  return known.get(colour);
};
const over = (above, below) => [0, 1, 2].map((at) => above[at] * above[3] + below[at] * (1 - above[3]));
const groundOf = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    layers.unshift(parts(getComputedStyle(at).backgroundColor));
    if (layers[0][3] === 1) break;
  }
  return layers.reduce((below, layer) => over(layer, below), [255, 255, 255]);
};
const linear = (value) => (value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
const faint = [];
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || seen.has(element)) continue;
  if (element.closest('script, option, .unseen, .announcement')) continue;
  seen.add(element);
  if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
  const style = getComputedStyle(element);
  const drawing = element.closest('svg');
  const ground = groundOf(drawing ?? element);
  const ink = over(parts(drawing ? style.fill : style.color), ground);
  const [more, less] = [luminance(ink), luminance(ground)].sort((one, other) => other - one);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  const contrast = (more + 0.05) / (less + 0.05);
  if (contrast < (isLarge ? 3 : 4.5)) faint.push(`${contrast.toFixed(2)} ${element.outerHTML.slice(0, 120)}`);
}
return [seen.size, faint];
"""

# Targets under 24 by 24 pixels (WCAG 2.2, 2.5.8); a link in a line of text may be as high as the line.
SMALL = """
const isInText = (each) => each.matches('a') && getComputedStyle(each).display === 'inline' && !each.closest('nav');
const all = [...document.querySelectorAll('a[href], button, select, input, summary')];
return all.filter((each) => each.checkVisibility() && !each.matches('.skip') && !isInText(each)).filter((each) => {
  const {width, height} = each.getBoundingClientRect();
  return width < 24 || height < 24;
}).map((each) => each.outerHTML.slice(0, 160));
"""
# What WCAG 1.4.12 lets a reader ask for.
SPACED = """
const style = new CSSStyleSheet();
style.replaceSync(`
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
  p { margin-bottom: 2em !important; }`);
document.adoptedStyleSheets = [style];
"""


def faults(page: Shown) -> list[list[str]]:
    """What axe finds in the page as it is shown: rule, place, HTML."""
    page.driver.set_script_timeout(60)
    if not page.run("return typeof axe === 'object'"):
        page.run((files("axe_core_python") / "axe.min.js").read_text("utf-8"))
    found: list[list[str]] = page.driver.execute_async_script(AXE, TAGS, LEFT_OUT)  # type: ignore[no-untyped-call]
    return found


def faint_texts(page: Shown) -> list[str]:
    """Texts that don't stand out from their ground; fails where there are none to look at."""
    looked_at, faint = page.run(FAINT)
    assert looked_at > 2
    return list(faint)


def small_targets(page: Shown) -> list[str]:
    """What a finger would miss."""
    return list(page.run(SMALL))


def announced(page: Shown, selector: str) -> list[str]:
    """What a screen reader has of an element and all within it: role, name and description of each."""
    tool = page.driver.execute_cdp_cmd
    root = tool("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    node = tool("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
    tree = tool("Accessibility.queryAXTree", {"nodeId": node})["nodes"]
    return [_said(each) for each in tree if not each.get("ignored")]


def _said(node: dict[str, Any]) -> str:
    parts = [node.get(part, {}).get("value", "") for part in ("role", "name", "description")]
    return ": ".join(part if isinstance(part, str) else json.dumps(part) for part in parts if part)
