"""The largest rejected value of a privacy parameter: a lower bound is the supremum of the rejected, and 0 for none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, show
from bayes_dp.data.layout import MAX_COUNT
from bayes_dp.support.arrays import Floats, Indices

__all__ = ["largest_rejected", "largest_rejected_one", "trials"]


def trials(examples: ArrayLike, made: ArrayLike, correct: ArrayLike) -> tuple[Floats, ...]:
    """The three numbers as float64 arrays of one shape, checked: whole, with 0 ≤ correct ≤ made ≤ examples."""
    given = {"examples": examples, "made": made, "correct": correct}
    arrays = np.broadcast_arrays(*(numbers(name, value, 0, MAX_COUNT) for name, value in given.items()))
    checked = dict(zip(given, arrays, strict=True))
    for name, value in checked.items():
        if (bad := value != np.floor(value)).any():
            raise InputError(f"{name} must be whole numbers, not {show(float(value[bad][0]))}")
    for name, most in (("made", "examples"), ("correct", "made")):
        if (bad := checked[name] > checked[most]).any():
            raise InputError(
                f"{name} must be at most {most}, {checked[most][bad][0]:.0f}, not {checked[name][bad][0]:.0f}"
            )
    return arrays


def largest_rejected(
    margin: Callable[[Floats, Indices], Floats],
    high: Floats,
    precision: float = 4e-16,
    low: Floats | float = 0.0,
) -> Floats:
    """Supremum in [low, high] of the x with a positive margin, (n,), to a relative `precision`; `low` for none.

    `margin(x, i)` is positive where x is rejected in problem i, both of shape (≤ n,). It changes its sign once, and the
    result is on the rejected side. Chandrupatla's bracketing ("A new hybrid quadratic/bisection algorithm", Adv. Eng.
    Software 1997): inverse quadratic interpolation where the last three points allow it, else halving.
    """
    result = np.zeros_like(high) + low
    left: Indices = np.flatnonzero(high > result)
    a: Floats = result[left]
    b: Floats = high[left]
    fa, fb = margin(a, left), margin(b, left)
    result[left[fb > 0]] = b[fb > 0]
    keep = (fa > 0) & ~(fb > 0)
    left, (a, b, fa, fb) = left[keep], (values[keep] for values in (a, b, fa, fb))
    t = np.full(len(left), 0.5)
    while len(left):
        x = a + t * (b - a)
        fx = margin(x, left)
        same = (fx > 0) == (fa > 0)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        width = precision * np.maximum(np.where(fa > 0, a, b), 1e-3)
        keep = np.abs(b - a) > width
        result[left[~keep]] = np.where(fa > 0, a, b)[~keep]
        left, (a, b, c, fa, fb, fc) = left[keep], (values[keep] for values in (a, b, c, fa, fb, fc))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a NaN means halving
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            t = np.where((phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi) & np.isfinite(t), t, 0.5)
        least = 0.5 * width[keep] / np.abs(b - a)
        t = np.clip(t, least, 1 - least)
    return result


def largest_rejected_one(
    margin: Callable[[float], float], high: float, precision: float, low: float = 0.0, tries: Sequence[float] = ()
) -> float:
    """`largest_rejected` of one problem, with the numbers of Python; `tries` are tried first, from the largest on."""
    if not high > low or (low > 0 and not margin(low) > 0):
        return low
    a, b, fa, fb = low, high, math.nan, math.nan
    for x in (*(x for x in tries if x > low), low):
        f = margin(x)
        if f > 0:
            a, fa = x, f
            break
        b, fb = x, f
    else:
        return low
    if b == high and b - a > precision * max(a, 1e-3) and (fb := margin(b)) > 0:
        return b
    t = 0.5
    while (distance := abs(b - a)) > (width := precision * max(a if fa > 0 else b, 1e-3)):
        t = min(max(t, 0.5 * width / distance), 1 - 0.5 * width / distance)
        x = a + t * (b - a)
        f = margin(x)
        if (f > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa, t = x, f, 0.5
        if fc not in (fa, fb) and math.isfinite(fc):
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
                t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return a if fa > 0 else b
