"""Trade-off functions, and the conversions between ε, δ, μ and advantage.

A trade-off function f gives the least false negative rate f(α) that a test of "without z" against "with z" can have at
false positive rate α; a mechanism is f-DP when no test does better. `ApproxDP`, `Gaussian`, `Laplace` and `TradeOff`
(any f of the user's) share one interface, `TradeOffFunction`:

    f(alpha)              the trade-off function itself
    f.inverse(y)          least x in [0, 1] with 1 − f(x) ≥ y (equal to f(1 − y) when f is symmetric)
    f.delta_at(epsilon)   privacy profile δ(ε) = max over α of 1 − f(α) − e^ε α
    f.epsilon_at(delta)   least ε ≥ 0 with δ(ε) ≤ delta; infinite when there is none
    f.advantage()         max over α of 1 − α − f(α), the largest TPR − FPR, which is δ(0)

The conversion functions are named `<what>_from_<which>`; "epsilon" stands for (ε, δ)-DP, "mu" for Gaussian DP and
"laplace" for the Laplace mechanism. Array arguments broadcast; scalars give scalars. ε and μ are finite and ≥ 0.

Sources: [DRS] Dong, Roth, Su, "Gaussian Differential Privacy", JRSS B 2022 (numbers of arXiv:1905.02383).
[BW] Balle, Wang, "Improving the Gaussian Mechanism for Differential Privacy", ICML 2018. [BBG] Balle, Barthe, Gaboardi,
"Privacy Amplification by Subsampling", NeurIPS 2018. [KOV] Kairouz, Oh, Viswanath, "The Composition Theorem for
Differential Privacy", IEEE Trans. Inf. Theory 2017 (theorem numbers of ICML 2015).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.checks import InputError, numbers, one_number, show, whole_number
from bayes_dp.support.arrays import Bools, Floats

__all__ = [
    "ApproxDP",
    "Gaussian",
    "Laplace",
    "TradeOff",
    "TradeOffFunction",
    "advantage_from_epsilon",
    "advantage_from_laplace",
    "advantage_from_mu",
    "approx_dp",
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
    "log_delta_from_mu",
    "mu_from_advantage",
    "mu_from_epsilon",
    "require_symmetric",
]


_TOLERANCE = 1e-9  # of the checks of a user's trade-off function
_LARGEST_EXPONENT = 709.0  # exp of anything above 709.78 overflows
_SLOPE_NODES, _SLOPE_WEIGHTS = np.polynomial.legendre.leggauss(8)
_SLOPE_NODES, _SLOPE_WEIGHTS = (_SLOPE_NODES + 1) / 2, _SLOPE_WEIGHTS / 2
_SLOPE_SERIES = np.cumprod([1.0, *(-(2.0 * n + 1.0) for n in range(1, 9))])  # (−1)^n (2n + 1)!!


def least(condition: Callable[[Floats], Bools], low: ArrayLike, high: ArrayLike) -> Floats:
    """Least float64 x in [low, high] with `condition(x)`, elementwise, or `high` when it holds nowhere below `high`.

    `condition` turns from false to true once as x grows; 0 ≤ low ≤ high. Non-negative floats are ordered like their bit
    patterns, so halving the patterns reaches the last bit, whatever the scale, in at most 64 steps.
    """
    bottom, top = np.broadcast_arrays(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))
    below, reached = bottom.view(np.int64) - 1, top.view(np.int64)
    while np.any(reached - below > 1):
        middle = np.where(reached - below > 1, below + (reached - below) // 2, reached)
        holds = condition(middle.view(np.float64))
        below, reached = np.where(holds, below, middle), np.where(holds, middle, reached)
    return reached.view(np.float64)


def nonnegative(name: str, value: ArrayLike) -> Floats:
    return numbers(name, value, 0.0, math.inf, high_open=True)


def fraction(name: str, value: ArrayLike) -> Floats:
    return numbers(name, value, 0.0, 1.0)


def arrays(**values: ArrayLike) -> tuple[Floats, ...]:
    """Each in the range that its name says, and all of shapes that broadcast."""
    found = tuple(
        nonnegative(name, value)
        if name in ("epsilon", "mu", "total_epsilon")
        else numbers(name, value, 0.0, 1.0, high_open=name == "strength")
        for name, value in values.items()
    )
    shapes = [array.shape for array in found]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"{_listed(values)} must have shapes that broadcast, not {_listed(shapes)}") from None
    return found


def _listed(items: Iterable[Any]) -> str:
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}"


def scalar(value: Any) -> Floats:
    """The array itself; a zero-dimensional one as a NumPy scalar, as NumPy's own functions return it."""
    plain: Floats = value[()]
    return plain


# Conversions: Gaussian ------------------------------------------------------------------------------------------------


def log_delta_from_mu(mu: ArrayLike, epsilon: ArrayLike) -> Floats:
    """log of `delta_from_mu`, also where δ itself is below the smallest float.

    >>> round(float(bdp.tradeoff.log_delta_from_mu(1.0, 50.0)), 2)
    -1233.87
    """
    return _log_delta_from_mu(*arrays(mu=mu, epsilon=epsilon))


def delta_from_mu(mu: ArrayLike, epsilon: ArrayLike) -> Floats:
    """δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), the privacy profile of μ-GDP ([BW] Theorem 8; [DRS] Corollary 2.13).

    >>> print(bdp.tradeoff.delta_from_mu(1.0, [0.0, 1.0, 2.0, 4.0]).round(5))
    [3.8292e-01 1.2694e-01 2.0920e-02 5.0000e-05]
    >>> round(float(bdp.tradeoff.epsilon_from_mu(1.0, bdp.tradeoff.delta_from_mu(1.0, 2.0))), 9)
    2.0
    """
    with np.errstate(under="ignore"):
        return np.exp(log_delta_from_mu(mu, epsilon))


def epsilon_from_mu(mu: ArrayLike, delta: ArrayLike) -> Floats:
    """Least ε ≥ 0 for which μ-GDP implies (ε, δ)-DP: the inverse in ε of `delta_from_mu`; infinite at δ = 0 < μ.

    >>> print(bdp.tradeoff.epsilon_from_mu(1.0, [1e-2, 1e-5, 0.0]).round(3))
    [2.318 4.377   inf]
    """
    mu, delta = np.broadcast_arrays(*arrays(mu=mu, delta=delta))
    with np.errstate(divide="ignore", over="ignore"):
        goal = np.log(delta)
        # δ(ε) ≤ Φ(μ/2 − ε/μ), which underflows to 0 at Φ(−40)
        epsilon = least(lambda e: _log_delta_from_mu(mu, e) <= goal, 0.0, mu * (mu / 2 + 40))
    return scalar(np.where((delta == 0) & (mu > 0), np.inf, epsilon))


def mu_from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """The μ whose GDP curve passes through (ε, δ), the inverse in μ of `delta_from_mu`; infinite at δ = 1.

    >>> round(float(bdp.tradeoff.mu_from_epsilon(1.0, 1e-5)), 4)
    0.2681
    >>> round(float(bdp.tradeoff.epsilon_from_mu(bdp.tradeoff.mu_from_epsilon(1.0, 1e-5), 1e-5)), 9)
    1.0
    """
    epsilon, delta = np.broadcast_arrays(*arrays(epsilon=epsilon, delta=delta))
    with np.errstate(divide="ignore"):
        goal = np.log(delta)
    highest = 40 + np.sqrt(1600 + 2 * epsilon)  # there −ε/μ + μ/2 = 40, and δ rounds to 1
    mu = least(lambda m: _log_delta_from_mu(m, epsilon) >= goal, 0.0, highest)
    return scalar(np.where(delta == 1, np.inf, mu))


def advantage_from_mu(mu: ArrayLike) -> Floats:
    """2Φ(μ/2) − 1, the largest TPR − FPR under μ-GDP (`delta_from_mu` at ε = 0).

    >>> print(bdp.tradeoff.advantage_from_mu([0.0, 1.0, 4.0]).round(4))
    [0.     0.3829 0.9545]
    """
    return scalar(special.erf(nonnegative("mu", mu) / math.sqrt(8)))


def mu_from_advantage(advantage: ArrayLike) -> Floats:
    """2Φ^{-1}((1 + advantage)/2), the inverse of `advantage_from_mu`; infinite at 1.

    >>> bdp.tradeoff.mu_from_advantage([0.0, 1.0])
    array([ 0., inf])
    >>> round(float(bdp.tradeoff.advantage_from_mu(bdp.tradeoff.mu_from_advantage(0.3))), 9)
    0.3
    """
    return scalar(math.sqrt(8) * special.erfinv(fraction("advantage", advantage)))


def _log_delta_from_mu(mu: Floats, epsilon: Floats) -> Floats:
    """With a = ε/μ − μ/2 and b = a + μ, e^ε φ(b) = φ(a), so δ = φ(a) (M(a) − M(b)) for Mills' ratio M = Φ(−x)/φ(x).

    For small μ the difference is the integral of −M' over [a, b], free of cancellation; for a < 0 the complement
    1 − δ = Φ(a) + φ(a) M(b) is used.
    """
    positive = np.where(mu > 0, mu, 1.0)
    with np.errstate(over="ignore", divide="ignore", under="ignore"):  # a = ∞ and log 0 = −∞ are meant
        a = epsilon / positive - positive / 2
        b = epsilon / positive + positive / 2
        log_density = -(a**2) / 2 - math.log(2 * math.pi) / 2
        narrow = positive < 0.5
        width = np.where(narrow, positive, 0.5)
        slope = _mills_slope(np.maximum(a, -0.25)[..., None] + width[..., None] * _SLOPE_NODES) @ _SLOPE_WEIGHTS
        difference = _mills(np.maximum(a, 0.0)) - _mills(b)
        log_difference = np.where(narrow, np.log(width) + np.log(slope), np.log(np.where(narrow, 1.0, difference)))
        complement = special.ndtr(a) + np.exp(log_density) * _mills(b)
        inside = (a < 0) & ~narrow
        log_delta = np.where(inside, np.log1p(-np.where(inside, complement, 0.0)), log_density + log_difference)
    return scalar(np.where(mu > 0, log_delta, -np.inf))


def _mills(x: Floats) -> Floats:
    """Φ(−x)/φ(x)."""
    return np.asarray(math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2)))


def _mills_slope(x: Floats) -> Floats:
    """−M'(x) = 1 − x M(x), which is 1/x² − 3/x⁴ + 15/x⁶ − … for large x."""
    near, far = np.minimum(x, 25.0), 1 / np.maximum(x, 25.0) ** 2
    return np.where(x < 25, 1 - near * _mills(near), far * np.polynomial.polynomial.polyval(far, _SLOPE_SERIES))


# Conversions: (ε, δ) and Laplace --------------------------------------------------------------------------------------


def advantage_from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """(e^ε − 1 + 2δ)/(e^ε + 1) = δ + (1 − δ) tanh(ε/2), the largest TPR − FPR under (ε, δ)-DP ([KOV] Theorem 2.1).

    >>> round(float(bdp.tradeoff.advantage_from_epsilon(1.0, 0.0)), 4)
    0.4621
    >>> bdp.tradeoff.advantage_from_epsilon(0.0, [0.0, 0.1])  # at ε = 0 it is δ
    array([0. , 0.1])
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    return delta + (1 - delta) * np.tanh(epsilon / 2)


def epsilon_from_advantage(advantage: ArrayLike, delta: ArrayLike) -> Floats:
    """Least ε ≥ 0 whose (ε, δ)-DP allows this advantage: log((1 + advantage − 2δ)/(1 − advantage)), 0 below δ.

    >>> round(float(bdp.tradeoff.epsilon_from_advantage(0.5, 0.0)), 4)  # log 3
    1.0986
    >>> float(bdp.tradeoff.epsilon_from_advantage(0.1, 0.2))  # δ alone allows it
    0.0
    """
    advantage, delta = np.broadcast_arrays(*arrays(advantage=advantage, delta=delta))
    excess = np.maximum(advantage - delta, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # advantage 1: infinite, or 0/0 when δ = 1 too
        epsilon = np.log1p(2 * excess / (1 - advantage))
    return scalar(np.where(excess > 0, epsilon, 0.0))


def delta_from_laplace(mu: ArrayLike, epsilon: ArrayLike) -> Floats:
    """max(0, 1 − e^{(ε − μ)/2}), the profile of the Laplace mechanism, μ = sensitivity/scale ([BBG] Theorem 3).

    >>> print(bdp.tradeoff.delta_from_laplace(1.0, [0.0, 0.5, 2.0]).round(4))  # 0 from ε = μ on
    [ 0.3935  0.2212 -0.    ]
    """
    mu, epsilon = arrays(mu=mu, epsilon=epsilon)
    return np.maximum(0.0, -np.expm1(np.minimum(epsilon - mu, 0.0) / 2))


def epsilon_from_laplace(mu: ArrayLike, delta: ArrayLike) -> Floats:
    """max(0, μ + 2 log(1 − δ)), the inverse in ε of `delta_from_laplace`.

    >>> print(bdp.tradeoff.epsilon_from_laplace(1.0, [0.0, 0.1, 0.5]).round(4))
    [1.     0.7893 0.    ]
    """
    mu, delta = arrays(mu=mu, delta=delta)
    with np.errstate(divide="ignore"):
        return scalar(np.maximum(0.0, mu + 2 * np.log1p(-delta)))


def laplace_from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """ε − 2 log(1 − δ), the largest Laplace μ that is (ε, δ)-DP; infinite at δ = 1.

    >>> float(bdp.tradeoff.laplace_from_epsilon(1.0, 0.0))
    1.0
    >>> round(float(bdp.tradeoff.laplace_from_epsilon(1.0, 0.1)), 4)  # a δ leaves room for more
    1.2107
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    with np.errstate(divide="ignore"):
        return scalar(epsilon - 2 * np.log1p(-delta))


def advantage_from_laplace(mu: ArrayLike) -> Floats:
    """1 − e^{−μ/2}, the largest TPR − FPR against the Laplace mechanism.

    >>> round(float(bdp.tradeoff.advantage_from_laplace(1.0)), 4)
    0.3935
    >>> round(float(bdp.tradeoff.advantage_from_epsilon(1.0, 0.0)), 4)  # what (1, 0)-DP would allow
    0.4621
    """
    return -np.expm1(-nonnegative("mu", mu) / 2)


def laplace_from_advantage(advantage: ArrayLike) -> Floats:
    """−2 log(1 − advantage), the inverse of `advantage_from_laplace`; infinite at 1.

    >>> bdp.tradeoff.laplace_from_advantage([0.0, 1.0])
    array([ 0., inf])
    >>> round(float(bdp.tradeoff.advantage_from_laplace(bdp.tradeoff.laplace_from_advantage(0.3))), 9)
    0.3
    """
    with np.errstate(divide="ignore"):
        return -2 * np.log1p(-fraction("advantage", advantage))


# Composition ----------------------------------------------------------------------------------------------------------


def compose_gaussian(mu: ArrayLike) -> float:
    """√(Σ μ²): the composition of μ_1-, …, μ_k-GDP mechanisms is exactly GDP with this parameter ([DRS] 3).

    >>> bdp.tradeoff.compose_gaussian([3.0, 4.0])
    5.0
    """
    return math.hypot(*nonnegative("mu", mu).ravel())


def compose_basic(epsilon: ArrayLike, delta: ArrayLike) -> tuple[float, float]:
    """(Σ ε, min(1, Σ δ)) over the given mechanisms: always valid, seldom tight.

    >>> bdp.tradeoff.compose_basic([0.5] * 4, [0.25] * 4)
    (2.0, 1.0)
    """
    epsilon, delta = np.broadcast_arrays(*arrays(epsilon=epsilon, delta=delta))
    return float(epsilon.sum()), min(1.0, float(delta.sum()))


def compose_optimal(epsilon: ArrayLike, delta: ArrayLike, k: int, total_epsilon: ArrayLike) -> Floats:
    """Least δ_total such that every k-fold adaptive composition of (ε, δ)-DP is (total_epsilon, δ_total)-DP.

    1 − δ_total = (1 − δ)^k (1 − Σ_l C(k, l) max(0, e^{(k−l)ε} − e^{total + lε}) / (1 + e^ε)^k): [KOV] Theorem 3.3,
    whose points are total = (k − 2i) ε; between them this is the profile of the same worst-case pair. k is one number.

    >>> print(bdp.tradeoff.compose_optimal(0.1, 0.0, 100, [10.0, 5.0, 3.0]).round(5))  # `compose_basic` gives ε = 10
    [0.      0.      0.00136]
    """
    k = whole_number("k", k, 1)
    wrong = np.arange(k + 1.0)
    epsilon, delta, total = arrays(epsilon=epsilon, delta=delta, total_epsilon=total_epsilon)
    one, total = epsilon[..., None], total[..., None]
    log_choose = special.gammaln(k + 1.0) - special.gammaln(wrong + 1) - special.gammaln(k - wrong + 1)
    log_weight = log_choose - wrong * one - k * np.log1p(np.exp(-one))
    loss = np.maximum((k - 2 * wrong) * one - total, 0.0)
    pure = np.sum(np.exp(log_weight) * -np.expm1(-loss), axis=-1)
    with np.errstate(divide="ignore"):
        return scalar(-np.expm1(k * np.log1p(-delta) + np.log1p(-np.minimum(pure, 1.0))))


# Trade-off functions --------------------------------------------------------------------------------------------------


class TradeOffFunction(Protocol):
    """What every trade-off function offers; arrays of any shape in, the same shape out.

    >>> f = bdp.tradeoff.Gaussian(1.0)  # one of them; all have the same methods
    >>> float(f.inverse(f(0.3)).round(9)), round(float(f.delta_at(f.epsilon_at(1e-5))), 9)
    (0.070025721, 1e-05)
    """

    def __call__(self, alpha: ArrayLike) -> Floats: ...
    def inverse(self, y: ArrayLike) -> Floats: ...
    def delta_at(self, epsilon: ArrayLike) -> Floats: ...
    def epsilon_at(self, delta: ArrayLike) -> Floats: ...

    def advantage(self) -> float:
        return float(self.delta_at(0.0))


def approx_dp(alpha: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """f_{ε,δ}(α) = max(0, 1 − δ − e^ε α, e^{−ε}(1 − δ − α)), that of (ε, δ)-DP ([DRS] Proposition 2.5).

    >>> float(bdp.tradeoff.approx_dp(0.05, np.log(3), 0.0))  # a true positive rate of 0.15, three times 0.05
    0.85
    >>> bdp.tradeoff.approx_dp([0.0, 1.0], 1.0, 0.1)
    array([0.9, 0. ])
    """
    alpha, epsilon, delta = arrays(alpha=alpha, epsilon=epsilon, delta=delta)
    return _approx_dp(alpha, 1 - alpha, epsilon, delta)


@dataclass(frozen=True)
class ApproxDP(TradeOffFunction):
    """(ε, δ)-differential privacy as a trade-off function, see `approx_dp`.

    >>> f = bdp.tradeoff.ApproxDP(1.0, 0.1)
    >>> print(f([0.0, 0.5]).round(4))
    [0.9    0.1472]
    >>> print(f.delta_at([0.0, 1.0]).round(4), round(f.epsilon_at(0.1), 6))
    [0.5159 0.1   ] 1.0
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", one_number("epsilon", self.epsilon, 0.0, math.inf, high_open=True))
        object.__setattr__(self, "delta", one_number("delta", self.delta, 0.0, 1.0))

    def __call__(self, alpha: ArrayLike) -> Floats:
        return approx_dp(alpha, self.epsilon, self.delta)

    def inverse(self, y: ArrayLike) -> Floats:
        return approx_dp_inverse(self.delta, np.asarray(self.epsilon), fraction("y", y))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        """δ + (1 − δ) (e^ε − e^{epsilon})_+ / (1 + e^ε), with ε and δ the mechanism's own."""
        shortfall = -np.expm1(np.minimum(nonnegative("epsilon", epsilon) - self.epsilon, 0.0))
        return scalar(self.delta + (1 - self.delta) / (1 + math.exp(-self.epsilon)) * np.maximum(shortfall, 0.0))

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        delta = fraction("delta", delta)
        spread = (1 - self.delta) / (1 + math.exp(-self.epsilon))
        with np.errstate(divide="ignore"):
            shortfall = np.clip((delta - self.delta) / (spread or 1.0), 0.0, 1.0)
            epsilon = np.maximum(0.0, self.epsilon + np.log1p(-shortfall))
        return scalar(np.where(delta == 1, 0.0, np.where(delta < self.delta, np.inf, epsilon)))


@dataclass(frozen=True)
class Gaussian(TradeOffFunction):
    """μ-Gaussian differential privacy: f(α) = Φ(Φ^{-1}(1 − α) − μ) ([DRS] 2.2).

    >>> f = bdp.tradeoff.Gaussian(1.0)
    >>> print(f([0.0, 0.05, 0.5]).round(4))
    [1.     0.7405 0.1587]
    >>> round(float(f.advantage()), 4), round(float(f.epsilon_at(1e-5)), 3)
    (0.3829, 4.377)
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", one_number("mu", self.mu, 0.0, math.inf, high_open=True))

    def __call__(self, alpha: ArrayLike) -> Floats:
        return scalar(special.ndtr(-special.ndtri(fraction("alpha", alpha)) - self.mu))

    def inverse(self, y: ArrayLike) -> Floats:
        return scalar(gaussian_inverse(np.asarray(self.mu), fraction("y", y)))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        return delta_from_mu(self.mu, epsilon)

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        return epsilon_from_mu(self.mu, delta)


@dataclass(frozen=True)
class Laplace(TradeOffFunction):
    """The Laplace mechanism: most powerful test of Lap(0, 1) against Lap(μ, 1), μ = sensitivity/scale, its pure ε.

    f(α) = 1 − e^μ α for α < e^{−μ}/2, e^{−μ}/(4α) up to α = 1/2, e^{−μ}(1 − α) above.

    >>> f = bdp.tradeoff.Laplace(1.0)
    >>> print(f([0.05, 0.25, 0.9]).round(4))
    [0.8641 0.3679 0.0368]
    >>> float(f.epsilon_at(0.0))  # μ is its pure ε
    1.0
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", one_number("mu", self.mu, 0.0, math.inf, high_open=True))

    def __call__(self, alpha: ArrayLike) -> Floats:
        alpha = fraction("alpha", alpha)
        return scalar(_laplace(alpha, 1 - alpha, np.asarray(self.mu)))

    def inverse(self, y: ArrayLike) -> Floats:
        return scalar(laplace_inverse(np.asarray(self.mu), fraction("y", y)))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        return delta_from_laplace(self.mu, epsilon)

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        return epsilon_from_laplace(self.mu, delta)


@dataclass(frozen=True)
class TradeOff(TradeOffFunction):
    """A trade-off function given as a vectorised callable on [0, 1]: convex, non-increasing, 0 ≤ f(α) ≤ 1 − α.

    These are checked on a grid, to 1e-9. The profile is that of f as it stands, for "without z" against "with z". In
    the other order the inverse of f holds. So where f is not symmetric, what holds in both orders is the largest convex
    function below f and its inverse, whose δ(ε) is the larger of their two. Audits refuse what is not symmetric
    (`require_symmetric`). Absolute accuracy is about 1e-15.

    >>> f = bdp.tradeoff.TradeOff(lambda a: (1 - np.sqrt(a)) ** 2)
    >>> print(f([0.0, 0.25, 1.0]), round(float(f.advantage()), 4))
    [1.   0.25 0.  ] 0.5
    >>> print(f.delta_at([0.0, 1.0]).round(4))
    [0.5    0.2689]
    """

    function: Callable[[Floats], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"function must be a function of alpha, not {show(self.function)}")
        alpha = _grid()
        beta = self(alpha)
        share = (alpha[2:] - alpha[1:-1]) / (alpha[2:] - alpha[:-2])
        above_chord = beta[1:-1] - share * beta[:-2] - (1 - share) * beta[2:]
        for excess, rule in (
            (np.maximum(-beta, beta + alpha - 1), "lie in [0, 1 - alpha]"),
            (np.diff(beta, prepend=np.inf), "not increase"),
            (np.pad(above_chord, 1), "be convex"),
        ):
            if excess.max() > _TOLERANCE:
                i = int(np.argmax(excess))
                raise InputError(f"a trade-off function must {rule}, which fails at f({alpha[i]:g}) = {beta[i]:g}")

    def __call__(self, alpha: ArrayLike) -> Floats:
        alpha = fraction("alpha", alpha)
        try:
            beta = numbers("function(alpha)", self.function(alpha))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"function fails for an array of alpha with {type(error).__name__}: {error!s:.80}"
            ) from error
        if beta.shape != alpha.shape:
            raise InputError(f"function must be vectorised: given shape {alpha.shape}, it returned shape {beta.shape}")
        return scalar(beta)

    def inverse(self, y: ArrayLike) -> Floats:
        y = fraction("y", y)
        return scalar(least(lambda x: np.asarray(1 - self(x) >= y), np.zeros_like(y), 1.0))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        """Golden-section search in t = e^ε α: the objective is concave, at most −1 steep, and negative beyond t = 1."""
        shrink = np.exp(-nonnegative("epsilon", epsilon))
        low, high = np.zeros_like(shrink), np.ones_like(shrink)
        for _ in range(80):
            step = (math.sqrt(5) - 1) / 2 * (high - low)
            left, right = high - step, low + step
            rises = (left + self(left * shrink)) >= (right + self(right * shrink))
            low, high = np.where(rises, left, low), np.where(rises, high, right)
        return np.maximum(0.0, 1 - self(high * shrink) - high)

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        delta = fraction("delta", delta)
        epsilon = least(lambda e: np.asarray(self.delta_at(e) <= delta), np.zeros_like(delta), 750.0)
        return scalar(np.where(epsilon < 750, epsilon, np.inf))  # e^{−750} is 0: no larger ε is told apart


def require_symmetric(f: TradeOffFunction) -> None:
    """Refuse a trade-off function that is not its own inverse, which holds for "without z" against "with z" only.

    On a grid, f(α) and the least x with f(x) ≤ α must agree to 1e-9, or f(f(α)) and α, as where f is steep its inverse
    is flat. The function's own `inverse` must give that x.

    >>> bdp.tradeoff.require_symmetric(bdp.tradeoff.Gaussian(1.0))
    >>> try:
    ...     bdp.tradeoff.require_symmetric(bdp.tradeoff.TradeOff(lambda a: np.maximum(0, 1 - 2 * a)))
    ... except bdp.InputError as error:
    ...     print(error)
    an audit needs a symmetric trade-off function, but f(0.5) = 0 and its inverse is 0.25 there: ...
    """
    if not callable(f) or not hasattr(f, "inverse") or isinstance(f, type):
        raise InputError(f"f must be a trade-off function, not {show(f)}")
    if type(f) in (ApproxDP, Gaussian, Laplace):
        return
    alpha = _grid()[1:-1]
    beta = np.asarray(f(alpha), dtype=np.float64)
    inverse = least(lambda x: np.asarray(f(x)) <= alpha, np.zeros_like(alpha), 1.0)
    off = np.minimum(np.abs(inverse - beta), np.abs(f(np.clip(beta, 0.0, 1.0)) - alpha))
    if off.max() > _TOLERANCE:
        i = int(np.argmax(off))
        raise InputError(
            f"an audit needs a symmetric trade-off function, but f({alpha[i]:g}) = {beta[i]:g} and its inverse is"
            f" {inverse[i]:g} there: if f holds for 'without z' against 'with z' only, what holds both ways is the"
            " largest convex function below f and its inverse"
        )
    own = np.asarray(f.inverse(1 - alpha), dtype=np.float64)
    off = np.minimum(np.abs(own - inverse), np.abs(f(np.clip(own, 0.0, 1.0)) - alpha))
    if off.max() > _TOLERANCE:
        i = int(np.argmax(off))
        raise InputError(
            f"inverse(y) must be the least x with 1 - f(x) >= y, which is {inverse[i]:g} for y = {1 - alpha[i]:g}, not"
            f" {own[i]:g}"
        )


def _grid() -> Floats:
    """From 0 to 1, with points near to both."""
    small = np.logspace(-12, -3, 46)
    return np.unique(np.concatenate((np.linspace(0.0, 1.0, 1001), small, 1 - small)))


# Closed forms, whose arguments are not checked ------------------------------------------------------------------------


def gaussian_inverse(mu: Floats, y: Floats) -> Floats:
    """f̄⁻¹(y) for many μ and y, which broadcast."""
    return np.asarray(special.ndtr(special.ndtri(y) - mu))


def laplace_inverse(mu: Floats, y: Floats) -> Floats:
    """f̄⁻¹(y) for many μ and y, which broadcast."""
    return _laplace(1 - y, y, mu)


def approx_dp_inverse(delta: float, epsilon: Floats, y: Floats) -> Floats:
    """f̄⁻¹(y) for many ε and y, which broadcast, at one δ."""
    return _approx_dp(1 - y, y, epsilon, np.asarray(delta))


def float_inverse(f: TradeOffFunction) -> Callable[[float], float]:
    """f̄⁻¹ for one Python float in (0, 1), which takes a tenth of the time of arrays of shape (1,)."""
    match f:
        case Gaussian(mu):
            quantile, erfc, scale = NormalDist().inv_cdf, math.erfc, math.sqrt(0.5)
            return lambda y: 0.5 * erfc(scale * (mu - quantile(y)))
        case Laplace(mu):
            shrink, grow = math.exp(-mu), math.exp(min(mu, _LARGEST_EXPONENT))

            def laplace(y: float) -> float:
                if y <= 0.5:
                    return shrink * y
                return shrink / (4 * (1 - y)) if 1 - y > shrink / 2 else 1 - grow * (1 - y)

            return laplace
        case ApproxDP(epsilon, delta):
            shrink, grow = math.exp(-epsilon), math.exp(min(epsilon, _LARGEST_EXPONENT))
            most = 1 - delta

            def approx_dp(y: float) -> float:
                steep, flat = most - grow * (1 - y), shrink * (y - delta)
                larger = steep if steep > flat else flat
                return larger if larger > 0 else 0.0

            return approx_dp
    return lambda y: float(f.inverse(y))


def _laplace(alpha: Floats, rest: Floats, mu: Floats) -> Floats:
    """f(α) with rest = 1 − α, given apart to keep a small one exact."""
    shrink = np.exp(-mu)
    steep = 1 - np.exp(np.minimum(mu, _LARGEST_EXPONENT)) * np.minimum(alpha, shrink / 2)
    middle = shrink / (4 * np.maximum(alpha, np.maximum(shrink / 2, 5e-324)))
    return np.where(alpha <= shrink / 2, steep, np.where(alpha <= 0.5, middle, shrink * rest))


def _approx_dp(alpha: Floats, rest: Floats, epsilon: Floats, delta: Floats) -> Floats:
    """f_{ε,δ}(α) with rest = 1 − α, given apart to keep a small one exact."""
    steep = 1 - delta - np.exp(np.minimum(epsilon, _LARGEST_EXPONENT)) * alpha
    return np.maximum(0.0, np.maximum(steep, np.exp(-epsilon) * (rest - delta)))
