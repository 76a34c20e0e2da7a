"""Trade-off functions, and the conversions between ε, δ, μ and advantage.

    functions     ApproxDP, Gaussian, Laplace and any of the user's, with one interface
    subsampled    Gaussian noise that a datum meets with a known probability only
    conversions   <what>_from_<which>
    composition   of several mechanisms
    meaning       what the best attack can do: true positive rate, Bayes risk, reconstruction

Sources: [DRS] Dong, Roth, Su, "Gaussian Differential Privacy", JRSS B 2022 (numbers of arXiv:1905.02383).
[BW] Balle, Wang, "Improving the Gaussian Mechanism for Differential Privacy", ICML 2018. [BBG] Balle, Barthe, Gaboardi,
"Privacy Amplification by Subsampling", NeurIPS 2018. [KOV] Kairouz, Oh, Viswanath, "The Composition Theorem for
Differential Privacy", IEEE Trans. Inf. Theory 2017 (theorem numbers of ICML 2015).
"""

from __future__ import annotations

from bayes_dp.tradeoff.arguments import arrays as arrays  # those with an "as" are for the rooms above, not for users
from bayes_dp.tradeoff.arguments import fraction as fraction
from bayes_dp.tradeoff.arguments import least as least
from bayes_dp.tradeoff.arguments import nonnegative as nonnegative
from bayes_dp.tradeoff.arguments import scalar as scalar
from bayes_dp.tradeoff.composition import compose_basic, compose_gaussian, compose_optimal
from bayes_dp.tradeoff.conversions import (
    advantage_from_epsilon,
    advantage_from_laplace,
    advantage_from_mu,
    delta_from_laplace,
    delta_from_mu,
    epsilon_from_advantage,
    epsilon_from_laplace,
    epsilon_from_mu,
    laplace_from_advantage,
    laplace_from_epsilon,
    log_delta_from_mu,
    mu_from_advantage,
    mu_from_epsilon,
)
from bayes_dp.tradeoff.functions import (
    ApproxDP,
    Gaussian,
    Laplace,
    TradeOff,
    TradeOffFunction,
    approx_dp,
    require_symmetric,
)
from bayes_dp.tradeoff.functions import approx_dp_inverse as approx_dp_inverse
from bayes_dp.tradeoff.functions import float_inverse as float_inverse
from bayes_dp.tradeoff.functions import gaussian_inverse as gaussian_inverse
from bayes_dp.tradeoff.functions import laplace_inverse as laplace_inverse
from bayes_dp.tradeoff.meaning import bayes_risk, largest_tpr, reconstruction
from bayes_dp.tradeoff.subsampled import SubsampledGaussian

__all__ = [
    "ApproxDP",
    "Gaussian",
    "Laplace",
    "SubsampledGaussian",
    "TradeOff",
    "TradeOffFunction",
    "advantage_from_epsilon",
    "advantage_from_laplace",
    "advantage_from_mu",
    "approx_dp",
    "bayes_risk",
    "compose_basic",
    "compose_gaussian",
    "compose_optimal",
    "delta_from_laplace",
    "delta_from_mu",
    "epsilon_from_advantage",
    "epsilon_from_laplace",
    "epsilon_from_mu",
    "laplace_from_advantage",
    "laplace_from_epsilon",
    "largest_tpr",
    "log_delta_from_mu",
    "mu_from_advantage",
    "mu_from_epsilon",
    "reconstruction",
    "require_symmetric",
]


def __dir__() -> list[str]:
    return __all__
