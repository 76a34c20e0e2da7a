"""How much each datum leaks through a mean: the leakage score m* and what it means, per datum.

    score, alignment    of a datum where the law of the others is known
    scores              a table for a whole data set, whose law is estimated
    advantage, power, delta, epsilon, trade_off    what a score means, with sub-sampling or without
    misspecified_…, average_power    attacks that aim at another datum, or at another one in each round
    likelihood_ratio, plug_in, scalar_product    attacks: scores of what is released

Source: A. Azize and D. Basu, "How Much Does Each Datapoint Leak Your Privacy? Quantifying the Per-datum Membership
Leakage" (2024).
"""

from bayes_dp.leakage.attacks import likelihood_ratio, plug_in, scalar_product
from bayes_dp.leakage.formulas import (
    advantage,
    average_power,
    delta,
    epsilon,
    misspecified_advantage,
    misspecified_power,
    power,
    power_as_printed,
    trade_off,
)
from bayes_dp.leakage.mahalanobis import alignment, score
from bayes_dp.leakage.table import LeakageTable, scores

__all__ = [
    "LeakageTable",
    "advantage",
    "alignment",
    "average_power",
    "delta",
    "epsilon",
    "likelihood_ratio",
    "misspecified_advantage",
    "misspecified_power",
    "plug_in",
    "power",
    "power_as_printed",
    "scalar_product",
    "score",
    "scores",
    "trade_off",
]


def __dir__() -> list[str]:
    return __all__
