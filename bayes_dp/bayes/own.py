"""A likelihood of one's own: a function, and priors for its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from bayes_dp.bayes.correlated import WideCandidates
from bayes_dp.bayes.likelihoods import Array, Counts
from bayes_dp.bayes.priors import parse
from bayes_dp.checks import InputError

__all__ = ["Likelihood"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, init=False)
class Likelihood(WideCandidates):
    """log g(X, Y | α, β, parameters) as a JAX function, to be given to `estimate` in the place of a name.

    `log_g(counts, alpha, beta, *parameters)` takes the fields x, n0, y, n1 of `counts`, each (n, 1), rates that
    broadcast with them, (n, m), and the parameters as numbers; it gives an array (n, m). It should be normalised over
    the counts if likelihoods are to be compared. `priors` names the parameters, in their order, with NumPyro
    distributions or text. `sampler(rng, counts, alpha, beta, *parameters)`, which only `check` needs, draws new counts
    X and Y with NumPy, each of the shape of the rates, (size, n); there the parameters have shape (size, 1).
    """

    name: str
    shared: tuple[str, ...]
    priors: Mapping[str, Any]
    assumption: str
    log_g: Callable[..., Any]
    sampler: Callable[..., Any] | None

    def __init__(
        self,
        name: str,
        log_g: Callable[..., Any],
        priors: Mapping[str, Any] | None = None,
        *,
        assumption: str = "",
        sampler: Callable[..., Any] | None = None,
    ) -> None:
        given = {key: parse(value) if isinstance(value, str) else value for key, value in (priors or {}).items()}
        for key, prior in given.items():
            if key in ("epsilon", "delta", "strength", "alpha", "beta"):
                raise InputError(f"a likelihood's own parameter cannot be called {key!r}")
            if not hasattr(prior, "log_prob"):
                raise InputError(f"the prior of {key} must be a NumPyro distribution or its text, not {prior!r:.80}")
        try:
            inspect.signature(log_g).bind(None, None, None, *given)
        except TypeError:
            raise InputError(
                f"log_g must take counts, alpha, beta and {len(given)} parameters ({', '.join(given) or 'none'})"
            ) from None
        fields: dict[str, Any] = {
            "name": name,
            "shared": tuple(given),
            "priors": given,
            "assumption": assumption or f"Given its rates, a base's errors follow the law {name}.",
            "log_g": log_g,
            "sampler": sampler,
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g, (n, m); what is not a number counts as impossible."""
        found = jnp.asarray(self.log_g(Counts(*(jnp.asarray(c)[:, None] for c in counts)), alpha, beta, *shared))
        return jnp.where(jnp.isnan(found), -jnp.inf, found)

    def log_prior(self, counts: Counts, *shared: Array) -> jax.Array:
        """The sum of the priors' log densities; −inf outside of their supports."""
        total = jnp.zeros(())
        for prior, value in zip(self.priors.values(), shared, strict=True):
            inside = prior.support(value)
            total += jnp.where(inside, prior.log_prob(jnp.where(inside, value, prior.mean)), -jnp.inf)
        return total

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """Draws from the priors, (q,)."""
        keys = jax.random.split(jax.random.key(int(rng.integers(2**31))), len(self.shared) or 1)
        return np.array([float(prior.sample(key)) for prior, key in zip(self.priors.values(), keys, strict=False)])

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and parameters (size,), each (size, n)."""
        if self.sampler is None:
            raise InputError(f"the likelihood {self.name} has no sampler, so that no new counts can be drawn from it")
        x, y = self.sampler(rng, counts, alpha, beta, *(np.asarray(value)[:, None] for value in shared))
        return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
