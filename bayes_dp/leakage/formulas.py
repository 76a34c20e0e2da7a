"""What a leakage score m* means: advantage, power, δ(ε) and the trade-off function, with sub-sampling.

The game: n data are drawn from a law, or n − 1 of them and z; the attack sees their mean and says which. For many data
and features, the best attack tells N(0, 1) from N(√m*, 1) (Azize and Basu, Theorem 3.1): √m*-Gaussian DP for z.

    power        Φ(Φ^{-1}(α) + √m*)
    advantage    2Φ(√m*/2) − 1 = erf(√(m*/8))
    δ(ε)         Φ(−ε/√m* + √m*/2) − e^ε Φ(−ε/√m* − √m*/2)

With sub-sampling the mean is of a random part, k = ρn rows. With z in the data, z is in that part with probability ρ,
and then moves all features at once, by n/k times as much. So "with z" is the mixture (1 − ρ) N(0, 1) + ρ N(√(m*/ρ), 1):

    power        (1 − ρ) α + ρ Φ(Φ^{-1}(α) + √(m*/ρ))
    advantage    ρ erf(√(m*/(8ρ)))
    δ(ε)         ρ δ_μ(log(1 + (e^ε − 1)/ρ)),  μ = √(m*/ρ)

Theorem 4.3 of the paper has Φ(Φ^{-1}(α) + √(ρm*)) instead, which no test reaches: proof in
`docs/methods/errata.md`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.checks import InputError, numbers, one_number
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import Gaussian, SubsampledGaussian, delta_from_mu, epsilon_from_mu
from bayes_dp.tradeoff.subsampled import inner_epsilon, outer_epsilon

__all__ = [
    "advantage",
    "average_power",
    "delta",
    "epsilon",
    "misspecified_advantage",
    "misspecified_power",
    "power",
    "power_as_printed",
    "trade_off",
]


def advantage(score: ArrayLike, *, subsample: ArrayLike = 1.0) -> Floats:
    """ρ erf(√(m*/(8ρ))), the largest true positive rate less false positive rate of an attack on the datum.

    `score` is m*, from 0 to infinity, of any shape; `subsample` is ρ, above 0 and at most 1. They broadcast.

    >>> print(bdp.leakage.advantage([0.01, 1.0, 8.86]).round(4))
    [0.0399 0.3829 0.8633]
    >>> round(float(bdp.leakage.advantage(8.86, subsample=0.1)), 4)  # never above ρ
    0.1
    """
    m, rho = _broadcast(score=score, subsample=subsample)
    return (rho * special.erf(_mu(m, rho) / math.sqrt(8)))[()]


def power(score: ArrayLike, alpha: ArrayLike, *, subsample: ArrayLike = 1.0) -> Floats:
    """(1 − ρ) α + ρ Φ(Φ^{-1}(α) + √(m*/ρ)), the largest true positive rate at the false positive rate α.

    The arguments are of any shapes that broadcast.

    >>> print(bdp.leakage.power([0.01, 1.0, 8.84], 0.05).round(4))
    [0.0612 0.2595 0.908 ]
    >>> round(float(bdp.leakage.power(8.84, 0.05, subsample=0.1)), 3)  # at most 0.9 · 0.05 + 0.1
    0.145
    """
    m, alpha, rho = _broadcast(score=score, alpha=alpha, subsample=subsample)
    return _mixture_power(_mu(m, rho), alpha, rho)


def power_as_printed(score: ArrayLike, alpha: ArrayLike, *, subsample: ArrayLike = 1.0) -> Floats:
    """Φ(Φ^{-1}(α) + √(ρm*)), which Theorem 4.3 of the paper gives for sub-sampling: wrong, but for ρ = 1.

    Here to show the difference: it exceeds (1 − ρ) α + ρ, the most that any test has. The arguments are as for `power`.

    >>> round(float(bdp.leakage.power_as_printed(8.84, 0.05, subsample=0.1)), 3)  # where 0.145 is the most
    0.241
    """
    m, alpha, rho = _broadcast(score=score, alpha=alpha, subsample=subsample)
    return _mixture_power(np.sqrt(rho * m), alpha, np.ones_like(rho))


def delta(score: ArrayLike, epsilon: ArrayLike, *, subsample: ArrayLike = 1.0) -> Floats:
    """ρ δ_μ(log(1 + (e^ε − 1)/ρ)) with μ = √(m*/ρ): the least δ for which the datum has (ε, δ)-DP.

    The arguments are of any shapes that broadcast.

    >>> print(bdp.leakage.delta(1.0, [0.0, 1.0]).round(4))
    [0.3829 0.1269]
    >>> round(float(bdp.leakage.delta(2.0, 0.5, subsample=0.25)), 4)
    0.1801
    """
    m, eps, rho = _broadcast(score=score, epsilon=epsilon, subsample=subsample)
    mu = _mu(m, rho)
    known = np.where(np.isinf(mu), 0.0, mu)
    found = rho * delta_from_mu(known, inner_epsilon(eps, rho))
    return np.where(np.isinf(mu), rho, found)[()]


def epsilon(score: ArrayLike, delta: ArrayLike, *, subsample: ArrayLike = 1.0) -> Floats:
    """The least ε ≥ 0 for which the datum has (ε, δ)-DP, the inverse of `delta`; infinite where there is none.

    The arguments are of any shapes that broadcast.

    >>> print(bdp.leakage.epsilon([0.01, 1.0], 1e-3).round(3))
    [0.198 3.139]
    >>> float(bdp.leakage.epsilon(8.84, 0.1, subsample=0.1))  # no event is rarer than not to be looked at
    0.0
    """
    m, probability, rho = _broadcast(score=score, delta=delta, subsample=subsample)
    mu = _mu(m, rho)
    known = np.where(np.isinf(mu), 0.0, mu)
    with np.errstate(under="ignore", over="ignore"):
        found = outer_epsilon(epsilon_from_mu(known, np.minimum(1.0, probability / rho)), rho)
    return np.where(np.isinf(mu), np.where(probability >= rho, 0.0, np.inf), found)[()]


def trade_off(score: float, *, subsample: float = 1.0) -> Gaussian | SubsampledGaussian:
    """The trade-off function of the mean for a datum, √m*-Gaussian DP; with ρ < 1 that of the mixture, in both orders.

    It is one as any of `tradeoff`, for f-DP audits and for claims. With ρ < 1 it is below 1 − `power`, as that is for
    "without z" against "with z" only.

    >>> f = bdp.leakage.trade_off(4.0)
    >>> f
    Gaussian(mu=2.0)
    >>> claim = bdp.Claim.trade_off(bdp.leakage.trade_off(4.0, subsample=0.25), 1e-3)
    >>> round(claim.epsilon, 2)
    16.46
    """
    m = one_number("score", score, 0.0, math.inf, high_open=True)
    rho = one_number("subsample", subsample, 0.0, 1.0, low_open=True)
    return Gaussian(math.sqrt(m)) if rho == 1 else SubsampledGaussian(float(_mu(np.asarray(m), np.asarray(rho))), rho)


def misspecified_power(m_scal: ArrayLike, m_targ: ArrayLike, alpha: ArrayLike, *, subsample: ArrayLike = 1.0) -> Floats:
    """Φ(Φ^{-1}(α) + m_scal/√m_targ): the power of the attack for z_targ where z is in the data; with ρ as in `power`.

    `m_targ` is the score of z_targ, above 0, and `m_scal` its `alignment` with z, which may be negative: then the
    attack errs more than by chance. The arguments are of any shapes that broadcast.

    >>> round(float(bdp.leakage.misspecified_power(0.5, 1.0, 0.05)), 4)
    0.1261
    """
    scal, targ, alpha, rho = _broadcast(m_scal=m_scal, m_targ=m_targ, alpha=alpha, subsample=subsample)
    with np.errstate(over="ignore"):
        return _mixture_power(scal / np.sqrt(targ) / np.sqrt(rho), alpha, rho)


def misspecified_advantage(m_scal: ArrayLike, m_targ: ArrayLike, *, subsample: ArrayLike = 1.0) -> Floats:
    """erf(|m_scal|/√(8 m_targ)), the advantage of the attack for z_targ where z is in the data; with ρ, as `advantage`.

    This takes the threshold in the middle of both laws, and for a negative `m_scal` the opposite of what the attack
    says. The attack's own threshold, m_targ/2 in the middle of the laws for z_targ, gives less. Shapes broadcast.

    >>> print(bdp.leakage.misspecified_advantage([1.0, 0.5, -0.5], 1.0).round(4))
    [0.3829 0.1974 0.1974]
    """
    scal, targ, rho = _broadcast(m_scal=m_scal, m_targ=m_targ, subsample=subsample)
    with np.errstate(over="ignore"):
        return (rho * special.erf(np.abs(scal) / np.sqrt(targ) / np.sqrt(8 * rho)))[()]


def average_power(score: ArrayLike, alpha: ArrayLike, *, subsample: float = 1.0) -> Floats:
    """The power at the false positive rate α where the datum is another one in each round (Algorithm 4 of the paper).

    `score` has the m* of the data that may be asked about, (n,), each as likely. One threshold t on the log-likelihood
    ratio holds for all of them: α is the mean of Φ(−(t + m*/2)/√m*), and the power that of Φ(−(t − m*/2)/√m*), for
    ρ = 1. The largest advantage is the mean of `advantage`. `alpha` is of any shape, and so is the result.

    >>> round(float(bdp.leakage.average_power([0.0, 8.0], 0.05)), 4)
    0.4714
    >>> round(float(bdp.leakage.power([0.0, 8.0], 0.05).mean()), 4)  # less, with a threshold for each datum
    0.4659
    """
    m, wanted = _checked("score", score), _checked("alpha", alpha)
    if m.ndim != 1 or not m.size:
        raise InputError(f"score must be of the shape (data,), not {m.shape}")
    if np.isinf(m).any():
        raise InputError(f"score must be finite, and that of datum {int(np.argmax(np.isinf(m)))} is not")
    rho = one_number("subsample", subsample, 0.0, 1.0, low_open=True)
    found = np.array([_average_power(_mu(m, np.asarray(rho)), float(each), rho) for each in wanted.ravel()])
    return found.reshape(wanted.shape)[()]


def _average_power(mu: Floats, alpha: float, rho: float) -> float:
    """By halving an interval of thresholds of log L, the log-likelihood ratio of N(μ, 1) to N(0, 1), for all μ at once.

    Those of the mixture, 1 − ρ + ρ L, are in the same order. Where no threshold has exactly α, as data with m* = 0 have
    L = 1 always, the ends of the interval are mixed.
    """

    def rates(t: float) -> tuple[float, float]:
        with np.errstate(divide="ignore", under="ignore"):
            z = np.where(mu > 0, t / np.where(mu > 0, mu, 1.0) + mu / 2, math.copysign(math.inf, t))
            false = special.ndtr(-z)
            return float(false.mean()), float(((1 - rho) * false + rho * special.ndtr(mu - z)).mean())

    top = float(mu.max()) * (40 + float(mu.max()) / 2) + 1.0
    low, high = (rates(-top), -top), (rates(top), top)  # at the low threshold all are called members
    for _ in range(100):
        middle = (low[1] + high[1]) / 2
        here = rates(middle), middle
        low, high = (here, high) if here[0][0] >= alpha else (low, here)
    (most, at_most), (fewest, at_fewest) = low[0], high[0]
    share = (alpha - fewest) / (most - fewest) if most > fewest else 0.0
    return at_fewest + share * (at_most - at_fewest)


def _mu(m: Floats, rho: Floats) -> Floats:
    """√(m*/ρ), infinite for an infinite score only: nobody can tell more than 1e100 from it."""
    with np.errstate(over="ignore"):
        return np.where(np.isinf(m), np.inf, np.minimum(np.sqrt(m / rho), 1e100))


def _mixture_power(mu: Floats, alpha: Floats, rho: Floats) -> Floats:
    """(1 − ρ) α + ρ Φ(Φ^{-1}(α) + μ), where an infinite μ tells all apart."""
    z = np.where(np.isposinf(mu), np.inf, special.ndtri(alpha) + np.where(np.isposinf(mu), 0.0, mu))
    return ((1 - rho) * alpha + rho * special.ndtr(z))[()]


_RANGES: dict[str, dict[str, Any]] = {
    "score": {"low": 0.0},
    "alpha": {"low": 0.0, "high": 1.0},
    "epsilon": {"low": 0.0, "high_open": True},
    "delta": {"low": 0.0, "high": 1.0},
    "subsample": {"low": 0.0, "high": 1.0, "low_open": True},
    "m_targ": {"low": 0.0, "low_open": True, "high_open": True},
    "m_scal": {"low_open": True, "high_open": True},
}


def _checked(name: str, value: ArrayLike) -> Floats:
    return numbers(name, value, **_RANGES[name])


def _broadcast(**values: ArrayLike) -> list[Floats]:
    """Each in the range of its name, and all of one shape."""
    arrays = [_checked(name, value) for name, value in values.items()]
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(values, arrays, strict=True))
        raise InputError(f"the arguments must have shapes that broadcast, not {shapes}") from None
