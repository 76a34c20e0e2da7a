"""Trade-off functions: `ApproxDP`, `Gaussian`, `Laplace` and `TradeOff`, any of the user's.

A trade-off function f gives the least false negative rate f(α) that a test of "without z" against "with z" can have at
false positive rate α; a mechanism is f-DP when no test does better. All share one interface, `TradeOffFunction`:

    f(alpha)              the trade-off function itself
    f.inverse(y)          least x in [0, 1] with 1 − f(x) ≥ y (equal to f(1 − y) when f is symmetric)
    f.delta_at(epsilon)   privacy profile δ(ε) = max over α of 1 − f(α) − e^ε α
    f.epsilon_at(delta)   least ε ≥ 0 with δ(ε) ≤ delta; infinite when there is none
    f.advantage()         max over α of 1 − α − f(α), the largest TPR − FPR, which is δ(0)

Array arguments broadcast; scalars give scalars.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.checks import InputError, numbers, one_number, show
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff.arguments import LARGEST_EXPONENT, arrays, fraction, least, nonnegative, scalar
from bayes_dp.tradeoff.conversions import delta_from_laplace, delta_from_mu, epsilon_from_laplace, epsilon_from_mu

__all__ = [
    "ApproxDP",
    "Gaussian",
    "Laplace",
    "TradeOff",
    "TradeOffFunction",
    "approx_dp",
    "approx_dp_inverse",
    "float_inverse",
    "gaussian_inverse",
    "laplace_inverse",
    "require_symmetric",
]

_TOLERANCE = 1e-9  # of the checks of a user's trade-off function


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
            shrink, grow = math.exp(-mu), math.exp(min(mu, LARGEST_EXPONENT))

            def laplace(y: float) -> float:
                if y <= 0.5:
                    return shrink * y
                return shrink / (4 * (1 - y)) if 1 - y > shrink / 2 else 1 - grow * (1 - y)

            return laplace
        case ApproxDP(epsilon, delta):
            shrink, grow = math.exp(-epsilon), math.exp(min(epsilon, LARGEST_EXPONENT))
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
    steep = 1 - np.exp(np.minimum(mu, LARGEST_EXPONENT)) * np.minimum(alpha, shrink / 2)
    middle = shrink / (4 * np.maximum(alpha, np.maximum(shrink / 2, 5e-324)))
    return np.where(alpha <= shrink / 2, steep, np.where(alpha <= 0.5, middle, shrink * rest))


def _approx_dp(alpha: Floats, rest: Floats, epsilon: Floats, delta: Floats) -> Floats:
    """f_{ε,δ}(α) with rest = 1 − α, given apart to keep a small one exact."""
    steep = 1 - delta - np.exp(np.minimum(epsilon, LARGEST_EXPONENT)) * alpha
    return np.maximum(0.0, np.maximum(steep, np.exp(-epsilon) * (rest - delta)))
