"""Dependent attacks at a low price: a group of bases as one base with the sums of their counts, that scatter more.

Appendix C of MCMC-DP-Est. Around a group's centre (α, β) its members' rates have the standard deviation κ, so that the
sum X of the group's false positives has mean N0 α, with N0 = Σ_j N0_j, and variance

    N0 α(1−α) + κ² Σ_j N0_j (N0_j − 1),

and Y likewise. The paper matches a normal law to these moments; here it is a beta-binomial one, which gives whole
numbers only, and is the binomial law of the sums at κ = 0. What is lost is that members' rates cannot leave R(ε, δ),
and what their counts tell of κ by how they differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayes_dp.bayes.groups import Members
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.beta_binomial import beta_binomial, draw_beta_binomial
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.support.arrays import Floats

__all__ = ["Aggregate"]

_MOST = 0.99  # intra-class correlation at most: a rate in [0, 1] has no larger variance than α(1−α)


@dataclass(frozen=True, eq=False)
class Aggregate(BaseLikelihood):
    """The law of the sums of groups; `pairs0` and `pairs1` are Σ_j N_j (N_j − 1) of every group, (G,)."""

    pairs0: Floats
    pairs1: Floats
    spread: Any  # κ or its prior
    name: str = "aggregate"
    assumption: str = (
        "The rates of a group's bases lie around their centre with a standard deviation κ; the sums of their counts are"
        " beta-binomial."
    )

    @classmethod
    def of(cls, members: Members, spread: Any) -> Aggregate:
        counts = members.counts
        n0, n1 = np.asarray(counts.n0), np.asarray(counts.n1)
        pairs0, pairs1 = (np.bincount(members.group, n * (n - 1)).astype(np.float64) for n in (n0, n1))
        return cls(pairs0, pairs1, spread)

    def _key(self) -> tuple[Any, ...]:
        """What tells it from others: equal laws are compiled once."""
        prior = self.spread
        if not isinstance(prior, float):
            numbers = tuple(np.asarray(getattr(prior, name)).tobytes() for name in prior.arg_constraints)
            prior = (type(prior), numbers) if numbers else id(prior)
        return self.pairs0.tobytes(), self.pairs1.tobytes(), prior

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aggregate) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def priors(self) -> Mapping[str, Any]:
        """That of κ, unless it is known."""
        return {} if isinstance(self.spread, float) else {"spread": self.spread}

    @property
    def settings(self) -> Mapping[str, Any]:
        """κ, if it is known."""
        return {"spread": self.spread} if isinstance(self.spread, float) else {}

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g of the sums, (G, m)."""
        x, n0, y, n1 = (jnp.asarray(column)[:, None] for column in counts)
        tau0, tau1 = self._correlations(counts, alpha, beta, *shared)
        return beta_binomial(x, n0, alpha, tau0) + beta_binomial(y, n1, beta, tau1)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New sums at rates (size, G) and κ (size,), each (size, G)."""
        columns = [value[None, :] for value in shared]
        with jax.enable_x64(True):
            tau0, tau1 = (np.asarray(tau).T for tau in self._correlations(counts, alpha.T, beta.T, *columns))
        return draw_beta_binomial(rng, counts.n0, alpha, tau0), draw_beta_binomial(rng, counts.n1, beta, tau1)

    def log_prior(self, counts: Counts, *shared: Array) -> jax.Array:
        """log p(κ)."""
        if not shared:
            return jnp.zeros(())
        return jnp.where(shared[0] > 0, self.spread.log_prob(jnp.maximum(shared[0], 1e-300)), -jnp.inf)

    def _correlations(self, counts: Counts, alpha: Array, beta: Array, *spread: Array) -> tuple[jax.Array, jax.Array]:
        """τ with which beta-binomial sums have the variance of the groups', (G, m) each."""
        kappa = jnp.asarray(spread[0] if spread else self.spread)
        found = []
        for pairs, n, rate in ((self.pairs0, counts.n0, alpha), (self.pairs1, counts.n1, beta)):
            trials = jnp.asarray(n)[:, None]
            share = jnp.asarray(pairs)[:, None] / jnp.maximum(trials * (trials - 1), 1)
            variance = jnp.maximum(rate * (1 - rate), 1e-300)
            found.append(jnp.minimum(kappa**2 * share / variance, _MOST))
        return found[0], found[1]
