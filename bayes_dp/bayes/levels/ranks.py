"""What the order of a base's scores says of its level in a family of trade-off functions.

An attack may have the scores upside down: both directions are equally likely, so that the likelihood of an order is
½ [ℓ(t) + ℓ′(t)] with the probabilities of `orders` of the labels and of the labels backwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import chebyshev

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.levels.order_paths import Paths
from bayes_dp.bayes.levels.orders import log_order_probability, sketch
from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["RankLevels"]

_NODES = 16  # of a panel of levels
_X = -np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
_TO_SERIES = np.linalg.inv(chebyshev.chebvander(_X, _NODES - 1))
_EDGES = np.append(0.0, 2.0 ** np.arange(12))  # of panels before some are halved, in usual levels
_FIRST = 5  # of these edges are used in any case
_HALVINGS = 5  # of a panel at most
_ACCURACY = 4.0, 1e-9  # of a panel's series, in errors of its values, and in shares of its depth below the top
_FAR, _TOO_FAR = 50.0, 150.0  # nats by which one direction is behind: of no weight, and hard to integrate
_PARTINGS = 12
_DEEP = 300.0, 2.0  # nats below the top, and more of them per score, below which a curve is a line
_LOW = 100.0  # nats below the top, above which a curve must be known
_LOOKS = 40  # at a panel, in search of the peak
_FLATTEST = 0.1  # 1 over the largest scale of a peak


class RankLevels:
    """The law of levels of orders of scores, a row for each base; labels (N,) of a base as in `ScoreOrders`.

    log ½ [ℓ + ℓ′] is a Chebyshev series on panels of t, which are made as far as levels are asked for. Far below its
    top it goes on as a line, from the level `followed` (rows,) on: too high, as a rule, and so of no use where the
    posterior lies beyond it.
    """

    def __init__(self, labels: Sequence[Ints], family: TradeOffFamily) -> None:
        self.family = family
        self._curves = [_Curve(order, family) for order in labels]
        self.owner = self.base = np.arange(len(self._curves))
        self.times = np.ones(len(self._curves), int)
        self.constant = 0.0  # of the likelihood of all bases
        found = [self._peak(curve) for curve in self._curves]
        self.peak, self.width = (np.array(values) for values in zip(*found, strict=True))

    @property
    def followed(self) -> Floats:
        return np.array([curve.followed for curve in self._curves])

    def log_density(self, rows: Ints, t: Floats) -> Floats:
        """log h of the rows (m,) at levels t (m, k), h = ½ [ℓ + ℓ′] g: (m, k)."""
        found = np.empty(t.shape)
        for row in np.unique(rows):
            here = rows == row
            found[here] = self._curves[row](t[here])
        return np.asarray(found + self.family.log_density(t))

    def backwards(self, t: Floats) -> Floats:
        """The probability that the scores of each base are upside down, at levels t (m, rows); (m, rows)."""
        return np.stack([curve.backwards(level) for curve, level in zip(self._curves, t.T, strict=True)], axis=1)

    def _peak(self, curve: _Curve) -> tuple[float, float]:
        """Where log h is largest, and its scale there: from a parabola or, at 0, from the slope."""
        most, t = self.family.most, np.zeros(1)
        h = curve(t) + self.family.log_density(t)
        for i, edge in enumerate(_EDGES[1:] * self.family.usual):
            t = np.linspace(0.0, min(edge, most), 1 + _LOOKS * (i + 1))
            h = curve(t) + self.family.log_density(t)
            if edge >= most or h.argmax() < len(t) - 1:
                break
        at = int(np.clip(h.argmax(), 1, len(t) - 2))
        left, right = np.diff(h[at - 1 : at + 2]) / t[1]
        scale = np.sqrt(max((left - right) / t[1], 0.0))
        best = float(t[h.argmax()])
        return best, float(1.0 / max(scale, -left if best == 0.0 else 0.0, _FLATTEST / self.family.usual))


class _Curve:
    """log ½ [ℓ(t) + ℓ′(t)] of one order, from a series on panels of t for each."""

    def __init__(self, labels: Ints, family: TradeOffFamily) -> None:
        self._labels, self._family = labels, family
        self._edges = np.zeros(1)
        self._series = np.empty((2, 0, _NODES))
        self._top = self._highest = -np.inf  # of the values, and of the rough ones
        self._depth = 0.0  # of the end below the top
        self.followed = np.inf  # up to where it is no line

    def __call__(self, t: Floats) -> Floats:
        """At levels of any shape."""
        return np.asarray(np.logaddexp(*self._directions(t)) - np.log(2.0))

    def backwards(self, t: Floats) -> Floats:
        """The share of ℓ′ in ℓ + ℓ′ at levels (m,)."""
        one, other = self._directions(t)
        return np.asarray(np.exp(other - np.logaddexp(one, other)))

    def _directions(self, t: Floats) -> tuple[Floats, Floats]:
        """log ℓ and log ℓ′."""
        while self._edges[-1] < min(float(t.max(initial=0.0)), self._family.most) or len(self._edges) == 1:
            known = self._edges[-1]
            edges = _EDGES * self._family.usual
            more = edges[1:_FIRST] if known == 0.0 else np.append(edges[known < edges], 2.0 * known)[:1]
            self._add(np.unique(np.minimum(np.append(known, more), self._family.most)))
        panel = np.clip(np.searchsorted(self._edges, t, side="right") - 1, 0, len(self._edges) - 2)
        low, high = self._edges[panel], self._edges[panel + 1]
        x = 2.0 * (t - low) / (high - low) - 1.0
        return _series_at(self._series[0][panel], x), _series_at(self._series[1][panel], x)

    def _add(self, edges: Floats) -> None:
        """Panels between these edges, halved until both series have decayed as far as it matters."""
        if self.followed < np.inf:
            self._go_straight(edges[-1])
            return
        open_ = self._parted(np.stack([edges[:-1], edges[1:]], axis=1))
        done: list[tuple[float, float, Floats, float]] = []  # ends, series, highest value
        for halvings in range(_HALVINGS + 1):
            values = self._values(open_)
            unknown = np.isnan(values).any(axis=(0, 2))
            if unknown.any():  # what lies above the first of these has no use
                kept = open_[:, 0] <= open_[unknown, 0].min()
                open_, values = open_[kept], values[:, kept]
                done = [panel for panel in done if panel[0] < open_[:, 0].max()]
            highest = np.fmax.reduce(values, axis=(0, 2))
            self._top = max(self._top, float(np.fmax.reduce(highest)))
            series = _series_of(values)
            off = np.abs(series[..., -2:]).sum(axis=-1).max(axis=0)
            fine = off <= _ACCURACY[0] * self._family.ratio_error + _ACCURACY[1] * (self._top - highest)
            fine |= halvings == _HALVINGS
            done += [(*open_[i], series[:, i], highest[i]) for i in np.flatnonzero(fine)]
            open_ = _halved(open_[~fine])
            if not len(open_):
                break
        done.sort(key=lambda panel: panel[0])
        known = [panel for panel in done if not np.isnan(panel[2]).any()]
        if known:
            self._edges = np.append(self._edges, [panel[1] for panel in known])
            self._series = np.concatenate([self._series, np.stack([panel[2] for panel in known], axis=1)], axis=1)
            self._depth = self._top - float(self._series[:, -1].sum(axis=-1).max())
        if len(known) < len(done):
            if self._depth < _LOW:
                raise InputError(
                    f"the likelihood of the order of {len(self._labels)} scores cannot be computed at the level"
                    f" {self._edges[-1]:g} of the {self._family.name} family"
                )
            self._go_straight(edges[-1])

    def _parted(self, panels: Floats) -> Floats:
        """Panels (p, 2) in parts in which no direction is both of some weight and far behind the other."""
        done = []
        for _ in range(_PARTINGS):
            one, other = (height for height, _ in self._sketches(panels))
            behind = np.abs(one - other)
            wide = (behind.min(axis=1) < _FAR) & (behind.max(axis=1) > _TOO_FAR)
            done.append(panels[~wide])
            panels = _halved(panels[wide])
            if not len(panels):
                break
        done.append(panels)
        return np.concatenate(done)

    def _sketches(self, t: Floats) -> list[tuple[Floats, Paths | None]]:
        """Of both directions."""
        found = [sketch(order, self._family, t.ravel()) for order in (self._labels, self._labels[::-1])]
        return [(height.reshape(t.shape), paths) for height, paths in found]

    def _values(self, panels: Floats) -> Floats:
        """log ℓ and log ℓ′ at the nodes of panels (p, 2), (2, p, q).

        It is −∞ where a direction is far behind in all of a panel, and NaN in a panel with levels too deep to be asked.
        """
        t = panels.mean(axis=1)[:, None] + 0.5 * np.diff(panels) * _X
        sketches = self._sketches(t)
        highest = np.maximum(sketches[0][0], sketches[1][0])
        self._highest = max(self._highest, float(highest.max()))
        deep = highest.min(axis=1) < self._highest - _DEEP[0] - _DEEP[1] * len(self._labels)
        found = np.full((2, *t.shape), -np.inf)
        for i, (order, (height, paths)) in enumerate(zip((self._labels, self._labels[::-1]), sketches, strict=True)):
            some = ((highest - height).min(axis=1) < _FAR) & ~deep
            if some.any():
                known = None if paths is None else paths.at(np.flatnonzero(np.repeat(some, _NODES)))
                values = log_order_probability(order, self._family, t[some].ravel(), known)
                found[i, some] = values.reshape(-1, _NODES)
        found[:, deep] = np.nan
        return found

    def _go_straight(self, end: float) -> None:
        """One more panel, up to this level, on which both series are the lines on which the last one ends."""
        start, last = self._edges[-1], self._series[:, -1]
        self.followed = min(self.followed, start)
        half = 0.5 * (start - self._edges[-2])
        line = np.zeros((2, 1, _NODES))
        line[:, 0, 1] = 0.5 * (end - start) * (last[:, 1:] @ np.arange(1, _NODES) ** 2) / half
        line[:, 0, 0] = last.sum(axis=1) + line[:, 0, 1]
        self._edges = np.append(self._edges, end)
        self._series = np.concatenate([self._series, line], axis=1)


def _halved(panels: Floats) -> Floats:
    low, high = panels.T
    middle = 0.5 * (low + high)
    return np.stack([low, middle, middle, high], axis=1).reshape(-1, 2)


def _series_of(values: Floats) -> Floats:
    """Chebyshev coefficients (..., q) of values at the nodes; of −∞, where there is nothing, −∞ and zeros."""
    nothing = values[..., :1] == -np.inf
    series = np.where(nothing, 0.0, values) @ _TO_SERIES.T
    return np.concatenate([np.where(nothing, -np.inf, series[..., :1]), series[..., 1:]], axis=-1)


def _series_at(series: Floats, x: Floats) -> Floats:
    """Clenshaw's sum of Chebyshev series (..., q) at x (...)."""
    one, two = np.zeros_like(x), np.zeros_like(x)
    for k in range(series.shape[-1] - 1, 0, -1):
        one, two = 2.0 * x * one - two + series[..., k], one
    return np.asarray(x * one - two + series[..., 0])
