"""How an attack's errors go with the false positive rate that it aims at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.attacks.lira import Curve
from bayes_dp.checks import InputError
from bayes_dp.plots.style import BLUE, ORANGE, dressed, explained_below, ink, look_at, panels_of

__all__ = ["error_curves"]


def error_curves(curve: Curve, ax: Any = None, label: str | None = None, color: Any = None) -> NDArray[np.object_]:
    """The rates X/N0 and Y/N1 of every base against α*, in two axes, shape (2,), with their means as thick lines.

    `ax` is two axes. An attack that does what it aims at has X/N0 on the dotted line.

    >>> rng = np.random.default_rng(0)
    >>> table = bdp.LossTable(rng.normal(2, 1, (3, 100)), rng.normal(0, 1, (3, 100)))
    >>> axes = bdp.plots.error_curves(bdp.attacks.measure_fast(table, np.linspace(0.05, 0.95, 10)))
    >>> [ax.get_ylabel() for ax in axes]
    ['false positives X/N0', 'false negatives Y/N1']
    """
    if not isinstance(curve, Curve):
        raise InputError(
            f"curve must be a Curve, as attacks.measure_fast gives it for many α*, not {type(curve).__name__}"
        )
    panels = panels_of(ax, (1, 2), height=2.4)
    look = look_at(panels[0], "error curves", "attack", label, color)
    order = np.argsort(curve.target_fpr)
    target = curve.target_fpr[order]
    sides = (
        ("false positives X/N0", curve.false_positives / curve.negatives, BLUE),
        ("false negatives Y/N1", curve.false_negatives / curve.positives, ORANGE),
    )
    for panel, (words, rate, own) in zip(panels, sides, strict=True):
        panel.plot(target, rate[order], color=look.hue(own), linewidth=0.6, alpha=0.5)
        mean, name = rate[order].mean(axis=1), look.words("mean")
        panel.plot(target, mean, color=look.hue(own), linewidth=2.0, label=name, gid="error curves")
        dressed(panel, "target α*", words)
        panel.set(xlim=(0, 1), ylim=(0, 1))
    if not look.number:
        panels[0].plot([0, 1], [0, 1], color=ink(panels[0]), linewidth=1.0, linestyle=":", label="α*")
    for panel in panels:
        explained_below(panel)
    return panels
