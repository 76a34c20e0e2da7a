"""A Matplotlib figure as SVG that is part of a page: no names in common with others, and colours of the page.

Text is drawn as paths, so that it looks the same everywhere. Colours become the variables of the page's style, which
has them for light and for dark surroundings. The same figure gives the same text.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "svg_of", "unstyled"]

#: What the figures draw with -> the page's variable.
COLOURS = {
    "#000000": "--ink",
    "#ffffff": "--paper",
    "#0072b2": "--blue",
    "#d55e00": "--orange",
    "#009e73": "--green",
    "#6e6e6e": "--grey",
    "#cc79a7": "--pink",
}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#")
_NAMESPACE = re.compile(r"^\{[^}]*\}")
_SALT = "bayes-dp"


def unstyled() -> Any:
    """A context in which Matplotlib draws as it does by default, whatever its user has set."""
    from matplotlib import style

    return style.context(["default", {"svg.hashsalt": _SALT, "svg.fonttype": "path"}])


def svg_of(figure: Figure, name: str, title: str) -> str:
    """The figure as an <svg> element with a title, its size left to the page; `name` is before all its names."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    FigureCanvasSVG(figure)
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(text.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):  # the style's one rule is in that of the page
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(key): _own(_local(key), value, name) for key, value in element.attrib.items()}
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib |= {"class": "drawing", "role": "img", "aria-labelledby": f"{name}-title"}
    heading = ElementTree.Element("title", {"id": f"{name}-title"})
    heading.text = title
    root.insert(0, heading)
    return ElementTree.tostring(root, encoding="unicode")


def _own(key: str, value: str, name: str) -> str:
    """An attribute with the names of this figure and the colours of the page."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    value = _REFERENCE.sub(f"url(#{name}-", value)
    if key == "style":
        return _COLOUR.sub(lambda match: f"var({COLOURS[match[0]]})" if match[0] in COLOURS else match[0], value)
    return value


def _local(name: str) -> str:
    return _NAMESPACE.sub("", name)
