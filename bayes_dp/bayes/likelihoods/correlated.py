"""Likelihoods g(X, Y | α, β, …) of counts whose decisions are correlated, as those of cross-fed runs are.

Each is a law of the counts of a base given its error rates and a few parameters that all bases share (`shared`), with a
prior for these. The counts' densities are normalised, so that evidences can be compared. Arrays over bases have shape
(n,), those over candidate rates (n, m); the shared parameters are numbers.

- `BivariateNormal` (eq. 7, 9 of MCMC-DP-Est): X and Y normal, with the correlation τ within either count, ρ across.
- `BetaBinomial`: X and Y independent, each over-dispersed by an intra-class correlation τ in [0, 1).
- `KupperHaseman` (Biometrics 34, 1978): X and Y independent; the binomial with a second-order correction for the
  correlation τ, which may be negative, within the bounds at which all probabilities stay positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln, xlog1py, xlogy
from jax.scipy.stats import norm
from numpy.typing import NDArray

from bayes_dp.bayes.likelihoods.binomial import BINOMIAL, Array, Auxiliaries, BetaPair, Counts, uniform_pairs

__all__ = [
    "BETA_BINOMIAL",
    "BIVARIATE_NORMAL",
    "KUPPER_HASEMAN",
    "LIKELIHOODS",
    "BetaBinomial",
    "BivariateNormal",
    "KupperHaseman",
    "WideCandidates",
    "beta_binomial",
    "draw_beta_binomial",
]

Floats = NDArray[np.float64]

_TYPICAL = 0.01  # correlation for which the candidates of the rates are spread out
_SD = 0.01  # of the prior of τ: variance 1e-4 (Appendix B.3)
_TABLE = 1 << 22  # probabilities tabulated at once
_SMALL = 1e-7  # τ below which the beta-binomial is expanded around the binomial


class WideCandidates:
    """For laws of counts that may be over-dispersed, or of any shape: where to look for rates."""

    def proposal(self, counts: Counts, auxiliaries: Auxiliaries) -> tuple[BetaPair, bool]:
        """See `Binomial.proposal`; g/q is never taken as constant.

        "posterior" are Beta laws as wide as those of over-dispersed counts, and as singular at the ends as a normal law
        with X = 0.
        """
        if auxiliaries == "uniform":
            return uniform_pairs(len(counts.x)), False
        x, n0, y, n1 = (np.asarray(column) for column in counts)
        x, y = np.clip(x, 0, n0), np.clip(y, 0, n1)  # a normal law's own draws go beyond
        shrink0, shrink1 = 1 + (n0 - 1) * _TYPICAL, 1 + (n1 - 1) * _TYPICAL
        pairs = x / shrink0 + 0.5, (n0 - x) / shrink0 + 0.5, y / shrink1 + 0.5, (n1 - y) / shrink1 + 0.5
        return BetaPair(*pairs), False


@dataclass(frozen=True)
class BivariateNormal(WideCandidates):
    """(X, Y) ~ Normal, with means (N0 α, N1 β), variances α(1−α) N0 (1+(N0−1)τ) and β(1−β) N1 (1+(N1−1)τ) and
    covariance N0 N1 ρ sqrt(α(1−α)β(1−β))."""

    name: str = "bivariate_normal"
    shared: tuple[str, ...] = ("tau", "rho")
    assumption: str = (
        "Given its rates, a base's errors are normal; decisions are correlated by τ within and by ρ between its counts."
    )

    def log_density(self, counts: Counts, alpha: Array, beta: Array, tau: Array, rho: Array) -> jax.Array:
        """log g, (n, m)."""
        x, n0, y, n1 = (jnp.asarray(column)[:, None] for column in counts)
        grow0, grow1 = 1 + (n0 - 1) * tau, 1 + (n1 - 1) * tau
        r = rho * jnp.sqrt(n0 * n1 / (grow0 * grow1))
        var0, var1 = alpha * (1 - alpha) * n0 * grow0, beta * (1 - beta) * n1 * grow1
        z0, z1 = (x - n0 * alpha) / jnp.sqrt(var0), (y - n1 * beta) / jnp.sqrt(var1)
        rest = 1 - r**2
        quadratic = (z0**2 - 2 * r * z0 * z1 + z1**2) / rest
        found = -math.log(2 * math.pi) - 0.5 * (jnp.log(var0) + jnp.log(var1) + jnp.log(rest) + quadratic)
        # At the rates 0 and 1 the law is degenerate; they have no area, and count as impossible.
        return jnp.where((var0 > 0) & (var1 > 0) & (rest > 0), found, -jnp.inf)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, tau: Floats, rho: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and shared parameters (size,): real numbers, each (size, n)."""
        n0, n1, tau = np.asarray(counts.n0), np.asarray(counts.n1), tau[:, None]
        grow0, grow1 = 1 + (n0 - 1) * tau, 1 + (n1 - 1) * tau
        r = rho[:, None] * np.sqrt(n0 * n1 / (grow0 * grow1))
        z0, z1 = rng.normal(size=(2, *alpha.shape))
        z1 = r * z0 + np.sqrt(1 - r**2) * z1
        sd0, sd1 = np.sqrt(alpha * (1 - alpha) * n0 * grow0), np.sqrt(beta * (1 - beta) * n1 * grow1)
        return n0 * alpha + sd0 * z0, n1 * beta + sd1 * z1

    def log_prior(self, counts: Counts, tau: Array, rho: Array) -> jax.Array:
        """τ ~ Normal(0, 1e-4) on −1/(max N − 1) < τ < 1; ρ given τ uniform on its support (eq. 10)."""
        low = _lowest(counts)
        width = self.rho_limit(counts, tau)
        inside = (tau > low) & (tau < 1) & (jnp.abs(rho) < width)
        return jnp.where(inside, _log_normal(tau, low, 1.0) - jnp.log(2 * jnp.where(inside, width, 1.0)), -jnp.inf)

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """τ and ρ to start from, (2,)."""
        tau = rng.uniform(0.0, _SD)
        return np.array([tau, rng.uniform(-0.5, 0.5) * float(self.rho_limit(counts, np.array(tau)))])

    def rho_limit(self, counts: Counts, tau: Array) -> jax.Array:
        """min over bases of sqrt((1+(N0−1)τ)(1+(N1−1)τ)/(N0 N1)), below which |ρ| is."""
        n0, n1 = jnp.asarray(counts.n0), jnp.asarray(counts.n1)
        return jnp.sqrt(jnp.min(jnp.maximum((1 + (n0 - 1) * tau) * (1 + (n1 - 1) * tau), 0.0) / (n0 * n1)))


@dataclass(frozen=True)
class BetaBinomial(WideCandidates):
    """X ~ BetaBinomial(N0, mean α, intra-class correlation τ) and Y alike, independent given the rates.

    With a = α(1−τ)/τ and b = (1−α)(1−τ)/τ, P[X] = C(N0, X) B(X+a, N0−X+b)/B(a, b); at τ = 0 it is the binomial.
    """

    name: str = "beta_binomial"
    shared: tuple[str, ...] = ("tau",)
    assumption: str = "Given its rates, a base's errors are beta-binomial counts of intra-class correlation τ."

    def log_density(self, counts: Counts, alpha: Array, beta: Array, tau: Array) -> jax.Array:
        """log g, (n, m)."""
        return _of_both(beta_binomial, counts, alpha, beta, tau)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, tau: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and τ (size,), each (size, n)."""
        tau = tau[:, None]
        return draw_beta_binomial(rng, counts.n0, alpha, tau), draw_beta_binomial(rng, counts.n1, beta, tau)

    def log_prior(self, counts: Counts, tau: Array) -> jax.Array:
        """τ ~ Normal(0, 1e-4) on [0, 1)."""
        return jnp.where((tau >= 0) & (tau < 1), _log_normal(tau, 0.0, 1.0), -jnp.inf)

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """τ to start from, (1,)."""
        return np.array([rng.uniform(0.0, 2 * _SD)])


@dataclass(frozen=True)
class KupperHaseman(WideCandidates):
    """P[X] = C(N, X) α^X (1−α)^{N−X} {1 + τ/(2α(1−α)) [(X−Nα)² + X(2α−1) − Nα²]}, and Y alike, independent.

    Where τ is so far from 0 that some count would have a negative probability at these rates, the density is zero.
    """

    name: str = "kupper_haseman"
    shared: tuple[str, ...] = ("tau",)
    assumption: str = "Given its rates, a base's errors follow the correlated binomial of Kupper and Haseman."

    def log_density(self, counts: Counts, alpha: Array, beta: Array, tau: Array) -> jax.Array:
        """log g, (n, m)."""
        return _of_both(_kupper_haseman, counts, alpha, beta, tau)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, tau: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and τ (size,), each (size, n): the law is tabulated and inverted."""

        def one(trials: Array, rates: Floats) -> Floats:
            found = np.empty(rates.shape)
            for i, n in enumerate(np.asarray(trials)):
                step = max(1, _TABLE // (int(n) + 1))
                for rows in (slice(at, at + step) for at in range(0, len(rates), step)):
                    with jax.enable_x64(True):
                        log_mass = _kupper_haseman(np.arange(n + 1), n, rates[rows, i, None], tau[rows, None])
                    below = np.cumsum(np.exp(np.asarray(log_mass)), axis=1)
                    found[rows, i] = np.sum(below < rng.random((len(below), 1)) * below[:, -1:], axis=1)
            return found

        return one(counts.n0, alpha), one(counts.n1, beta)

    def log_prior(self, counts: Counts, tau: Array) -> jax.Array:
        """τ ~ Normal(0, 1e-4) on −1/(max N − 1) < τ < 1."""
        low = _lowest(counts)
        return jnp.where((tau > low) & (tau < 1), _log_normal(tau, low, 1.0), -jnp.inf)

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """τ = 0, (1,): at another, some rates may be impossible."""
        return np.zeros(1)


def _lowest(counts: Counts) -> jax.Array:
    """−1/(max N − 1), or −1 where no base has more than two runs."""
    most = jnp.maximum(jnp.max(jnp.asarray(counts.n0)), jnp.max(jnp.asarray(counts.n1)))
    return -1.0 / jnp.maximum(most - 1.0, 1.0)


def _log_normal(tau: Array, low: float | jax.Array, high: float) -> jax.Array:
    """The log density of Normal(0, _SD²) truncated to (low, high)."""
    mass = norm.cdf(high / _SD) - norm.cdf(low / _SD)
    return jnp.asarray(norm.logpdf(jnp.asarray(tau) / _SD) - math.log(_SD) - jnp.log(mass))


def _of_both(law: Callable[..., Any], counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
    """log g of independent X and Y of one law, `law(errors, trials, rate, *shared)`, (n, m).

    It is called once for both, so that a program has one copy of the law to compile.
    """
    errors, trials = (jnp.concatenate([jnp.asarray(v)[:, None] for v in pair]) for pair in (counts[::2], counts[1::2]))
    first, second = jnp.split(law(errors, trials, jnp.concatenate([alpha, beta]), *shared), 2)
    return jnp.asarray(first + second)


def _log_choose(n: Array, k: Array) -> jax.Array:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _binomial(x: Array, n: Array, rate: Array) -> jax.Array:
    return _log_choose(n, x) + xlogy(x, rate) + xlog1py(n - x, -rate)


def beta_binomial(x: Array, n: Array, rate: Array, tau: Array) -> jax.Array:
    """log P of x of n errors at a rate with intra-class correlation τ; arrays broadcast."""
    small = tau < _SMALL
    odds = (1 - tau) / jnp.where(small, 1.0, tau)
    a, b = jnp.maximum(rate * odds, 1e-300), jnp.maximum((1 - rate) * odds, 1e-300)
    exact = _log_choose(n, x) + _rise(a, x) + _rise(b, n - x) - _rise(odds, n)
    # The first term of the expansion in τ, of Π_{i<X} (α + i τ/(1−τ)) and the like products.
    inside = (rate > 0) & (rate < 1)
    safe = jnp.where(inside, rate, 0.5)
    slope = x * (x - 1) / (2 * safe) + (n - x) * (n - x - 1) / (2 * (1 - safe)) - n * (n - 1) / 2
    expanded = _binomial(x, n, rate) + jnp.where(inside, slope * tau, 0.0)
    return jnp.where(small, expanded, exact)


def draw_beta_binomial(rng: np.random.Generator, trials: Array, rate: Floats, tau: Floats) -> Floats:
    """Numbers of errors at rates (size, n) and τ that broadcasts to them, (size, n)."""
    odds = (1 - tau) / np.maximum(tau, _SMALL)
    spread = rng.beta(np.maximum(rate * odds, 1e-300), np.maximum((1 - rate) * odds, 1e-300))
    drawn = rng.binomial(np.asarray(trials).astype(np.int64), np.where(tau < _SMALL, rate, spread))
    return drawn.astype(np.float64)


def _rise(a: Array, k: Array) -> jax.Array:
    """log Γ(a + k)/Γ(a) for a > 0 and k ≥ 0, several times as fast as with gammaln.

    Stirling's series at a + 8, which it takes to 2e-13, and a(a+1)…(a+7) for the step back.
    """
    high = a + 8
    top = high + k
    series = (high - 0.5) * jnp.log1p(k / high) + k * (jnp.log(top) - 1) + _stirling(top) - _stirling(high)
    return jnp.asarray(series - jnp.log(_eight(a + k)) + jnp.log(_eight(a)))


def _eight(a: Array) -> jax.Array:
    """a(a+1)…(a+7): with u = a(a+7), the other pairs of opposite factors are u + 6, u + 10 and u + 12."""
    u = a * (a + 7)
    return jnp.asarray(u * (u + 6) * ((u + 10) * (u + 12)))


def _stirling(z: Array) -> jax.Array:
    """log Γ(z) − [(z − ½) log z − z + ½ log 2π], for z ≥ 8."""
    w = 1 / (z * z)
    return jnp.asarray((1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / z)


def _kupper_haseman(x: Array, n: Array, rate: Array, tau: Array) -> jax.Array:
    spread = jnp.maximum(rate * (1 - rate), 1e-300)

    def factor(k: Array) -> jax.Array:
        return jnp.asarray(1 + tau / (2 * spread) * ((k - n * rate) ** 2 + k * (2 * rate - 1) - n * rate**2))

    # The bracket is a parabola in the count: least at the whole number nearest its vertex, greatest at an end.
    vertex = jnp.clip(jnp.round((n - 1) * rate + 0.5), 0.0, n)
    least = jnp.minimum(factor(vertex), jnp.minimum(factor(jnp.zeros_like(n * rate)), factor(n + 0.0 * rate)))
    value = factor(x)
    legal = (least >= 0) & (value > 0)
    return jnp.where(legal, _binomial(x, n, rate) + jnp.log(jnp.where(legal, value, 1.0)), -jnp.inf)


BIVARIATE_NORMAL, BETA_BINOMIAL, KUPPER_HASEMAN = BivariateNormal(), BetaBinomial(), KupperHaseman()
LIKELIHOODS: dict[str, Any] = {one.name: one for one in (BINOMIAL, BIVARIATE_NORMAL, BETA_BINOMIAL, KUPPER_HASEMAN)}
