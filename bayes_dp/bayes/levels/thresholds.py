"""What false negatives say of a model, given the false positives.

The evidence p(X, Y) of a model also counts how probable it finds the false positive rates, as its rates are uniform
over a layer. But thresholds are chosen, often one for all bases, and how a model's uniform law likes that choice says
nothing of the training. So before the counts are said to favour one of two models they have to do so given X too:

    p(Y | X) = ∫ Π_i L_i(θ, s) / p(X_i | θ, s) dF(θ, s) = p(X, Y) E[Π_i 1/p(X_i | θ, s)],

with the mean over the posterior, and p(X_i | θ, s) = E[D(α)] / (|layer| (N0 + 1)) for α ~ Beta(X_i+1, N0−X_i+1), where
D(α) is the length of the layer above α. Given α, every model has β uniform over that length, so that with one threshold
for all bases models hardly differ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["THINNEST", "log_given_false_positives"]

THINNEST = 1e-6  # 1 − s at least, where lengths and areas are differences

_QUANTILES = (np.arange(8) + 0.5) / 8  # of α, for the mean of D
_NODES = 100_000  # nodes times bases at most, the heaviest nodes first
_LIGHT = 1e-12  # weight over the largest below which nodes are left out


def log_given_false_positives(
    log_evidence: float, counts: ErrorCounts, weight: Floats, length: Callable[[Ints, Floats], Floats]
) -> float:
    """log p(Y | X) from log p(X, Y).

    Nodes (m,) with their posterior weights; `length` gives D(α)/|layer| of the nodes with these numbers at α, which
    broadcast.
    """
    columns = np.stack([counts.false_positives, counts.negatives])
    (x, n0), times = np.unique(columns, axis=1, return_counts=True)
    alpha = special.betaincinv(x[:, None] + 1.0, n0[:, None] - x[:, None] + 1.0, _QUANTILES)  # (bases, quantiles)
    heaviest = np.argsort(-weight)[: max(300, _NODES // len(x))]
    nodes = heaviest[weight[heaviest] > _LIGHT * weight.max()]
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.log(length(nodes[:, None, None], alpha).mean(axis=-1)) @ times
    sound = np.isfinite(chance)  # where neither length nor area is below the smallest float
    kept = weight[nodes] * sound / weight[nodes].sum()
    tilt = special.logsumexp(np.where(sound, -chance, -np.inf), b=kept)
    return log_evidence + float(tilt) + float(np.log1p(n0) @ times)
