"""The model in NumPyro: `bayes_model` as a whole, and `observe_counts`, the part of it that other models can use.

    ε ~ p(ε),  s ~ p(s),  (α_i, β_i) | ε, s ~ Unif(R_s(ε, δ)),  (X_i, Y_i) | α_i, β_i ~ g

`observe_counts` adds to a model the error rates of all bases and what their counts say, given ε and s. These may be any
function of the model's other parameters, and s one number for each base. All of a model's coordinates are unconstrained
and its density is continuous and mostly smooth in them: a base is folded into one quadrilateral of the layer, with the
sum of g over its four images, and has coordinates there that move with (ε, s) (`bayes/coordinates.py`), unless the
likelihood has others. That of Kupper and Haseman has kinks, since the bounds of its τ depend on the rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import lax
from jax.scipy.special import logsumexp
from numpyro.distributions import constraints

from bayes_dp.bayes.coordinates import Guess, locate
from bayes_dp.bayes.likelihoods.base import BaseLikelihood, likelihood_of
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.nuts.strength import strength_with
from bayes_dp.bayes.priors import numpyro_law, prior_of
from bayes_dp.checks import InputError, numbers, show
from bayes_dp.data.counts import ErrorCounts

__all__ = ["Law", "bayes_model", "observe_counts"]

#: log g of counts (n, 1) at rates α and β, both of shape (n, 4): an array (n, 4)
Law = Callable[[Counts, jax.Array, jax.Array], jax.Array]


def bayes_model(
    counts: ErrorCounts | Counts,
    delta: Array | float,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: str | Array | float = "free",
    likelihood: str | BaseLikelihood = "binomial",
) -> None:
    """The model of `bayes_dp.estimate`, with its arguments: what `method="nuts"` samples.

    Sites: "epsilon"; "strength", if free, a function of the coordinate "strength_place"; "tau" and "rho", where the
    likelihood has them; and those of `observe_counts`.

    >>> from numpyro.infer.util import log_density
    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> places = {"epsilon": 1.0, "places": np.zeros((1, 2))}
    >>> _, trace = log_density(bdp.bayes_model, (counts, 1e-3), {"strength": 0.5}, places)
    >>> sorted(trace)
    ['alpha', 'beta', 'epsilon', 'errors', 'places']
    """
    columns = _columns(counts)
    if isinstance(strength, str) and strength != "free":
        raise InputError(f"strength must be 'free' or a number in [0, 1), not {show(strength)}")
    epsilon = numpyro.sample("epsilon", _prior("epsilon", prior_epsilon))
    if isinstance(strength, str):
        strength = strength_with(_prior("strength", prior_strength), columns, epsilon)
    observe_counts(columns, epsilon, delta, strength, likelihood_of(likelihood))


def observe_counts(
    counts: ErrorCounts | Counts,
    epsilon: Array | float,
    delta: Array | float,
    strength: Array | float,
    likelihood: str | BaseLikelihood | Law = "binomial",
    tau: Array | float = 0.0,
    rho: Array | float = 0.0,
) -> None:
    """Add the error rates of n bases, uniform on the layers R_s(ε, δ), and their counts to a NumPyro model.

    ε, δ and s are numbers or arrays (n,), with ε > 0, 0 ≤ δ < 1 and 0 ≤ s < 1. The likelihood is one of `estimate`, or
    a function `log_g(counts, alpha, beta)` of `Counts` x, n0, y, n1, each (n, 1), and of rates (n, 4),
    which gives log g for each. A function may use other parameters of the model. `tau` and `rho` say how correlated its
    counts are, as for the bivariate normal law; they bear on speed only.

    Sites: "places" (n, 2), coordinates without meaning; "alpha" and "beta" (n,), deterministic; "tau" and "rho" of the
    likelihoods that have them. Call it outside of plates; in a model with several, put each in a
    `numpyro.handlers.scope`.

    >>> from numpyro.infer.util import log_density
    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> _, trace = log_density(bdp.observe_counts, (counts, 1.0, 1e-3, 0.5), {}, {"places": np.zeros((1, 2))})
    >>> rates = trace["alpha"]["value"], trace["beta"]["value"]
    >>> bdp.region.in_layer(*rates, 1.0, 1e-3, 0.5)
    array([ True])
    """
    columns = _columns(counts)
    n = len(columns.x)
    epsilon, delta = _of_bases("epsilon", epsilon, n), _of_bases("delta", delta, n, 1.0)
    strength = _of_bases("strength", strength, n, 1.0)
    tau, rho = (_of_bases(name, value, n, low=-math.inf) for name, value in (("tau", tau), ("rho", rho)))
    _observe(columns, _law(likelihood, tau, rho), epsilon, delta, strength)


def _observe(
    columns: Counts, law: BaseLikelihood, epsilon: Array | float, delta: Array | float, strength: Array | float
) -> None:
    z = numpyro.sample("places", dist.ImproperUniform(constraints.real, (), (len(columns.x), 2)))
    alpha, beta, log_weight, shared = law.rates(z, columns, epsilon, delta, strength)
    log_g = law.log_density(columns, alpha, beta, *shared)
    numpyro.factor("errors", jnp.sum(logsumexp(log_g, axis=-1) + log_weight))
    at = _image(z, log_g)[:, None]
    numpyro.deterministic("alpha", jnp.take_along_axis(alpha, at, axis=-1)[:, 0])
    numpyro.deterministic("beta", jnp.take_along_axis(beta, at, axis=-1)[:, 0])


def _columns(counts: ErrorCounts | Counts) -> Counts:
    if not isinstance(counts, ErrorCounts | Counts):
        raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
    return counts if isinstance(counts, Counts) else Counts.of(counts)


def _of_bases(name: str, value: Array | float, n: int, most: float = math.inf, low: float = 0.0) -> Array | float:
    """A number, or one for each of n bases, in [low, most); JAX knows the shape only while it traces."""
    given = value if isinstance(value, jax.core.Tracer) else numbers(name, value, low, most, high_open=True)
    if given.shape not in ((), (n,)):
        raise InputError(f"{name} must be a number or have shape ({n},), not {given.shape}")
    return given if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class _Function(BaseLikelihood):
    """A law given by a function of other parameters of the model; decisions that are correlated by τ and ρ, about."""

    log_g: Law
    tau: Array | float
    rho: Array | float
    name: str = "of the model"
    assumption: str = ""
    can_draw: bool = False

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        columns = Counts(*(jnp.asarray(column)[:, None] for column in counts))
        log_g = jnp.asarray(self.log_g(columns, jnp.asarray(alpha), jnp.asarray(beta)))
        if log_g.shape != alpha.shape:
            raise InputError(
                f"the likelihood must give log g of shape {alpha.shape}, as the rates have, not {log_g.shape}"
            )
        return log_g

    def draw(self, *_: Any) -> Any:
        raise InputError("a function has no sampler, so that no new counts can be drawn from it")

    def locate(
        self,
        z: jax.Array,
        counts: Counts,
        shared: tuple[jax.Array, ...],
        epsilon: Array | float,
        delta: Array | float,
        strength: Array | float,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        return locate(z, Guess.of(counts, self.tau, self.rho), epsilon, delta, strength)


def _law(likelihood: Any, tau: Array | float, rho: Array | float) -> BaseLikelihood:
    if callable(likelihood):
        return _Function(likelihood, tau, rho)
    try:
        return likelihood_of(likelihood)
    except InputError:
        names = ", ".join(LIKELIHOODS)
        raise InputError(f"likelihood must be a function or one of {names}, not {show(likelihood)}") from None


def _prior(parameter: str, prior: Any) -> Any:
    return prior if isinstance(prior, dist.Distribution) else numpyro_law(prior_of(parameter, prior))


def _image(z: jax.Array, log_g: jax.Array) -> jax.Array:
    """Which of the images (n, 4) of each base's folded rates to take, (n,): drawn in proportion to g.

    A density has no random numbers, so the last digits of the coordinates, which mean nothing, are the seed.
    """
    digits = lax.bitcast_convert_type(jnp.sum(z), jnp.uint32)
    key = jax.random.fold_in(jax.random.key(0, impl="threefry2x32"), jnp.sum(digits))
    return jax.random.categorical(key, log_g, axis=-1)
