"""The likelihood-ratio attack, online and offline (Carlini et al. 2022, "Membership inference attacks from first
principles").

Of each example, the log-odds φ of the references trained with it have the mean μ_in, and those without it μ_out:

    online:    score = log N(φ; μ_in, σ_in²) − log N(φ; μ_out, σ_out²)
    offline:   score = (φ − μ_out)/σ_out, which orders examples as the probability of a smaller φ under N(μ_out, σ_out²)

By default the variances are pooled: σ² = Σ (φ − μ)²/Σ (n − 1) over all examples, for each side. Own ones of each
example, with the divisor n − 1, need many references: with fewer than 32 they are far worse. Where one is 0 or not
defined, the pooled one stands for it.
"""

from __future__ import annotations

import numpy as np

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import Moments, View, both_sides, pooled_variance
from bayes_dp.checks import InputError, is_one_of, show
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]

_FAR = 1e150  # standard deviations, whose square is finite


def lira(view: View, variance: str = "pooled") -> Floats:
    """The online scores, (n,)."""
    own = _is_own(variance)
    view.require("lira", "out", "in")
    out, in_ = view.moments("out"), view.moments("in")
    means = both_sides((out.count, out.mean), (in_.count, in_.mean))
    phi = view.statistic[view.target]
    return _log_density(phi, means.in_, _variance(in_, out, own)) - _log_density(
        phi, means.out, _variance(out, in_, own)
    )


def lira_offline(view: View, variance: str = "pooled") -> Floats:
    """The offline scores, (n,)."""
    own = _is_own(variance)
    view.require("lira-offline", "out")
    out, in_ = view.moments("out"), view.moments("in")
    means = both_sides((out.count, out.mean), (in_.count, in_.mean))
    return (view.statistic[view.target] - means.out) / np.sqrt(_variance(out, in_, own))


def _is_own(variance: str) -> bool:
    if not is_one_of(variance, ("pooled", "own")):
        raise InputError(f'variance must be "pooled" or "own", not {show(variance)}')
    return variance == "own"


def _variance(side: Moments, other: Moments, own: bool) -> Floats:
    """σ² of one side, (n,)."""
    pooled = pooled_variance(side, other)
    if own:
        each = side.squares / np.maximum(side.count - 1, 1)
        return np.where(each > 0, each, pooled)
    return np.full(len(side.count), pooled)


def _log_density(phi: Floats, mean: Floats, variance: Floats) -> Floats:
    z = np.clip((phi - mean) / np.sqrt(variance), -_FAR, _FAR)
    return -(z**2) / 2 - np.log(variance) / 2


ATTACKS = (Attack("lira", lira, ("variance",)), Attack("lira-offline", lira_offline, ("variance",)))
