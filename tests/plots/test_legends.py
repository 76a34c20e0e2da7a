"""Legends lie off the data, and nothing is lost on a dark ground: every figure, alone and with another on its axes."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import Collection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.patches import Patch
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from tests.plots.test_overlays import OVER, draw, panels


def figures(name: str, alone: bool) -> list[Any]:
    """The axes of a new figure of one thing, or of one with two."""
    first, second = OVER[name][0]()
    if alone:
        return draw(name, first, None)
    axes = draw(name, first, panels(name), label="the first one")
    return draw(name, second, axes if len(axes) > 1 else axes[0], label="the second")


def outlines(ax: Any) -> list[tuple[Path, bool]]:
    """What is drawn in the axes, in pixels, and whether it is filled; a line is open."""
    found = []
    for line in ax.lines:
        if len(line.get_xdata()):
            path = line.get_path().transformed(line.get_transform())
            found.append((path, False))
    found += [(patch.get_path().transformed(patch.get_transform()), patch.get_fill()) for patch in ax.patches]
    for part in ax.collections:
        filled = len(part.get_facecolor()) > 0
        found += [(path.transformed(part.get_transform()), filled) for path in part.get_paths()]
    return found


def crosses(path: Path, filled: bool, box: Bbox) -> bool:
    points = path.vertices[np.isfinite(path.vertices).all(axis=1)]
    if not len(points):
        return False
    inside = (points > box.min).all(axis=1) & (points < box.max).all(axis=1)
    return bool(inside.any()) or bool(path.intersects_bbox(box, filled=filled))


def contrast(one: Any, other: Any) -> float:
    """That of WCAG 2, from 1 to 21."""
    light = []
    for color in (one, other):
        rgb = np.array(to_rgb(color))
        linear = np.where(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        light.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("name", OVER)
def test_legends_are_off_the_data(name: str, alone: bool):
    axes = figures(name, alone)
    try:
        figure = axes[0].figure
        plt.switch_backend("agg")
        figure.draw_without_rendering()
        for ax in axes:
            if ax.get_legend() is None:
                continue
            box = ax.get_legend().get_window_extent()
            view = Bbox.intersection(box, ax.bbox)
            if view is None or not min(view.width, view.height) > 0.5:
                continue  # beside the axes, where nothing is drawn
            for path, filled in outlines(ax):
                assert not crosses(path, filled, view)
    finally:
        plt.close("all")


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("name", OVER)
def test_texts_and_lines_are_seen_on_their_ground(name: str, style: str):
    with plt.style.context(style):
        for alone in (True, False):
            axes = figures(name, alone)
            for ax in axes:
                ground = ax.get_facecolor()
                legend = ax.get_legend()
                texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts, *ax.get_xticklabels()]
                texts += [*ax.get_yticklabels(), *(legend.get_texts() if legend else [])]
                for text in texts:
                    assert contrast(text.get_color(), ground) > 3.5, text.get_text()
                for line in ax.lines:
                    assert contrast(line.get_color(), ground) > 1.9, line.get_label()
                for part in (*ax.patches, *ax.collections):
                    assert any(contrast(color, ground) > 1.9 for color in inks(part)), part
            plt.close("all")


def inks(part: Patch | Collection) -> list[Any]:
    """The colours of faces and edges."""
    faces, edges = np.atleast_2d(part.get_facecolor()), np.atleast_2d(part.get_edgecolor())
    return [to_rgba(color) for color in (*faces, *edges) if len(color)]
