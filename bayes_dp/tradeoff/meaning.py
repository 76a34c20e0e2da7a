"""What a trade-off function means for those who are in the data: the most that any attack can do.

    true positive rate    1 − f(α), of the members, where α of the non-members are falsely accused
    advantage             max over α of 1 − α − f(α), by the method `advantage` of a trade-off function
    Bayes risk            min over α of (1 − π) α + π f(α), the least share of wrong decisions where a share π are
                          members: with m = min(π, 1 − π) it is m (1 − δ(log((1 − m)/m))) for a symmetric f
    reconstruction        1 − f(κ), of examples that are guessed with probability κ without the training (Hayes,
                          Mahloujifar, Balle, "Bounding Training Data Reconstruction in DP-SGD", NeurIPS 2023; Kaissis,
                          Hayes, Ziller, Rueckert, "Bounding data reconstruction attacks with the hypothesis testing
                          interpretation of differential privacy", 2023)

Array arguments broadcast; scalars give scalars.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import numbers
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff.arguments import fraction, scalar
from bayes_dp.tradeoff.functions import TradeOffFunction, require_symmetric

__all__ = ["bayes_risk", "largest_tpr", "reconstruction"]


def largest_tpr(f: TradeOffFunction, fpr: ArrayLike) -> Floats:
    """1 − f(fpr): the largest share of the members that an attack can find, where it accuses `fpr` of the others.

    >>> print(bdp.tradeoff.largest_tpr(bdp.tradeoff.ApproxDP(2.0, 1e-5), [0.001, 0.01]).round(4))
    [0.0074 0.0739]
    """
    require_symmetric(f)
    return scalar(np.asarray(1 - f(fraction("fpr", fpr))))


def bayes_risk(f: TradeOffFunction, prior: ArrayLike = 0.5) -> Floats:
    """min over α of (1 − prior) α + prior f(α): the least share of wrong decisions on members and non-members.

    >>> print(bdp.tradeoff.bayes_risk(bdp.tradeoff.Gaussian(1.0), [0.5, 0.01]).round(4))  # 1/2 and 0.01 by guessing
    [0.3085 0.01  ]
    """
    require_symmetric(f)
    prior = numbers("prior", prior, 0.0, 1.0, low_open=True, high_open=True)
    fewer = np.minimum(prior, 1 - prior)
    return scalar(np.asarray(fewer * (1 - f.delta_at(np.log1p(-fewer) - np.log(fewer)))))


def reconstruction(f: TradeOffFunction, baseline: ArrayLike) -> Floats:
    """1 − f(baseline): the largest chance to reconstruct an example that is guessed with chance `baseline` without it.

    >>> round(float(bdp.tradeoff.reconstruction(bdp.tradeoff.Gaussian(1.0), 0.1)), 4)  # one of ten images, say
    0.3891
    """
    require_symmetric(f)
    return scalar(np.asarray(1 - f(fraction("baseline", baseline))))
