"""What a likelihood g(X, Y | α, β) of the error counts of a base given its error rates has to answer.

Each is a frozen dataclass in a file of its own that inherits from `BaseLikelihood`. It must have a `name`, an
`assumption`, `log_density` and `draw`; and, for parameters that all bases share, `priors`. All else has a default that
suits any law, and is there to be overridden where a law allows for better: a closed form, candidates, coordinates, a
range of a parameter that depends on the counts. No other module asks which likelihood it has.

Arrays over bases have shape (n,), those over candidate rates (n, m), those over draws of the parameters (size, n);
shared parameters are numbers, or (size,) for draws. What an attribute means does not change; a likelihood that needs
more gets an attribute more, with a default. JAX and NumPyro are imported by what needs them: the usual question has the
binomial law, whose closed form needs neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.bayes.likelihoods.candidates import Auxiliaries, BetaPair, uniform_pairs, wide_pairs
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.priors import draw, inside, parse
from bayes_dp.checks import InputError, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    import jax

__all__ = ["BaseLikelihood", "likelihood_of"]


class BaseLikelihood(ABC):
    """The law of the counts of a base given its error rates; `==` and `hash` tell which are one compiled program."""

    name: str
    assumption: str  # the sentence about it that every result prints
    correlated: bool = False  # whether decisions within a base may depend on each other, as those of cross-fed runs do
    closed_form: bool = False  # whether `exact/` integrates it: the binomial law of independent counts
    can_draw: bool = True  # whether `draw` gives new counts, which the checks of the model need
    target_accept: float = 0.9  # of NUTS, by default

    @property
    def priors(self) -> Mapping[str, Any]:
        """The parameters that all bases share, with their priors: continuous NumPyro distributions of one number, or
        their text. None is called epsilon, delta, strength, alpha, beta, places or errors, which the model has."""
        return {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else it takes to repeat a result of it, by name, fit for JSON."""
        return {}

    @property
    def shared(self) -> tuple[str, ...]:
        """The names of the parameters that all bases share, in their order."""
        return tuple(self.priors)

    def distributions(self) -> dict[str, Any]:
        """The priors as NumPyro distributions."""
        return {name: parse(prior) if isinstance(prior, str) else prior for name, prior in self.priors.items()}

    # The law

    @abstractmethod
    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g(X, Y | α, β) in JAX at α and β of shape (n, m): (n, m); −∞ where the rates or the parameters
        are impossible. It is normalised over the counts, unless it has a closed form, which knows its norm."""

    @abstractmethod
    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New counts X and Y of N0 and N1 at rates (size, n) and parameters (size,), each (size, n)."""

    def log_prior(self, counts: Counts, *shared: Array) -> jax.Array:
        """The log density of the shared parameters, normalised; −∞ outside of their range."""
        import jax.numpy as jnp

        total = jnp.zeros(())
        for prior, value in zip(self.distributions().values(), shared, strict=True):
            possible = prior.support(value)
            total += jnp.where(possible, prior.log_prob(jnp.where(possible, value, inside(prior))), -jnp.inf)
        return total

    def draw_shared(self, rng: np.random.Generator, counts: Counts, size: int) -> dict[str, Floats]:
        """Draws of the shared parameters from their prior, (size,) each."""
        return {name: draw(prior, size, rng) for name, prior in self.distributions().items()}

    # What is said of it

    def check(self, counts: Counts) -> None:
        """Refuse, by an InputError, what cannot be worked with."""
        return

    def caution(self, counts: ErrorCounts) -> str:
        """Why these counts do not suit the law, a sentence; empty where they do."""
        return ""

    # For MHAAR

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """Shared parameters to start a chain from, (q,), possible at all rates if they can be."""
        return np.array([found[0] for found in self.draw_shared(rng, counts, 1).values()])

    def proposal(self, counts: Counts, auxiliaries: Auxiliaries) -> tuple[BetaPair, bool]:
        """The law q of the candidates for the rates, and whether g/q is constant in (α, β).

        "uniform" is Unif(0,1)²; "posterior" should be wider than g as a function of the rates, so that no g/q is huge.
        """
        return (uniform_pairs(len(counts.x)) if auxiliaries == "uniform" else wide_pairs(counts)), False

    # For NUTS

    def sites(self, counts: Counts) -> tuple[jax.Array, ...]:
        """NumPyro sites of the shared parameters, by their names, with their priors."""
        import numpyro

        return tuple(numpyro.sample(name, prior) for name, prior in self.distributions().items())

    def locate(
        self,
        z: jax.Array,
        counts: Counts,
        shared: tuple[jax.Array, ...],
        epsilon: Array | float,
        delta: Array | float,
        strength: Array | float,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Folded rates (low, high) of each base at coordinates z (n, 2), and the log density of z; see
        `coordinates.locate`."""
        from bayes_dp.bayes.coordinates import Guess, locate

        return locate(z, Guess.of(counts), epsilon, delta, strength)

    def rates(
        self, z: jax.Array, counts: Counts, epsilon: Array | float, delta: Array | float, strength: Array | float
    ) -> tuple[jax.Array, jax.Array, jax.Array, tuple[jax.Array, ...]]:
        """The images (n, 4) of each base's α and β at coordinates z, the log density of z (n,), and the sites of the
        shared parameters, which come first, unless their range depends on the rates."""
        from bayes_dp.bayes.layer import images

        shared = self.sites(counts)
        low, high, log_weight = self.locate(z, counts, shared, epsilon, delta, strength)
        return *images(low, high), log_weight, shared


def likelihood_of(given: Any) -> BaseLikelihood:
    """A registered likelihood by its name, or a likelihood as it is."""
    if isinstance(given, BaseLikelihood):
        return given
    if isinstance(given, str) and given in LIKELIHOODS:
        return LIKELIHOODS[given]
    raise InputError(f"likelihood must be one of {', '.join(LIKELIHOODS)}, or a bayes_dp.Likelihood, not {show(given)}")
