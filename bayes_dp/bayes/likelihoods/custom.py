"""A likelihood that the user defines: a function, and priors for its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.bayes.precision import double
from bayes_dp.bayes.priors import describe, parse
from bayes_dp.checks import InputError, show, truth
from bayes_dp.support.arrays import Floats

__all__ = ["Likelihood"]

_TAKEN = ("epsilon", "delta", "strength", "alpha", "beta", "places", "errors")  # by the model


@dataclass(frozen=True, eq=False, init=False)
class Likelihood(BaseLikelihood):
    """log g(X, Y | α, β, parameters) as a JAX function, to be given to `estimate` in the place of a name.

    `log_g(counts, alpha, beta, *parameters)` takes the fields x, n0, y, n1 of `counts`, each (n, 1), rates that
    broadcast with them, (n, m), and the parameters as numbers; it gives an array (n, m). It should be normalised over
    the counts if likelihoods are to be compared. `priors` names the parameters, in their order, with continuous NumPyro
    distributions or text. `correlated` says whether it allows for decisions within a base that depend on each other, so
    that cross-fed runs need no caution. `sampler(rng, counts, alpha, beta, *parameters)`, which only `check` and
    `compare_likelihoods` need, draws new counts X and Y with NumPy, each of the shape of the rates, (size, n); there
    the parameters have shape (size, 1).

    >>> from jax.scipy.stats import norm
    >>> def normal(counts, alpha, beta, sd):
    ...     return norm.logpdf(counts.x, counts.n0 * alpha, sd) + norm.logpdf(counts.y, counts.n1 * beta, sd)
    >>> own = bdp.Likelihood("normal", normal, {"sd": "HalfNormal(10)"}, assumption="Errors are normal.")
    >>> own.name, own.shared
    ('normal', ('sd',))
    >>> bdp.Likelihood("normal", normal, {"sd": "Poisson(10)"})
    Traceback (most recent call last):
        ...
    bayes_dp.checks.InputError: the prior of sd must be a proper, continuous distribution of one number, not ...
    """

    name: str
    assumption: str
    correlated: bool
    log_g: Callable[..., Any]
    sampler: Callable[..., Any] | None
    _priors: Mapping[str, Any]

    def __init__(
        self,
        name: str,
        log_g: Callable[..., Any],
        priors: Mapping[str, Any] | None = None,
        *,
        assumption: str = "",
        correlated: bool = False,
        sampler: Callable[..., Any] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InputError(f"the name of a likelihood must be text, not {show(name)}")
        if not isinstance(assumption, str):
            raise InputError(f"assumption must be text, a sentence, not {show(assumption)}")
        if sampler is not None and not callable(sampler):
            raise InputError(f"sampler must be a function, not {show(sampler)}")
        if priors is not None and not isinstance(priors, Mapping):
            raise InputError(f"priors must be a dict from names of parameters to their priors, not {show(priors)}")
        given = {key: _prior(key, value) for key, value in (priors or {}).items()}
        try:
            inspect.signature(log_g).bind(None, None, None, *given)
        except (TypeError, ValueError):  # ValueError: a type of Python's own, which has no signature
            raise InputError(
                f"log_g must take counts, alpha, beta and {len(given)} parameters ({', '.join(given) or 'none'})"
            ) from None
        fields: dict[str, Any] = {
            "name": name,
            "_priors": given,
            "assumption": assumption or f"Given its rates, a base's errors follow the law {name}.",
            "correlated": truth("correlated", correlated),
            "log_g": log_g,
            "sampler": sampler,
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    @property
    def priors(self) -> Mapping[str, Any]:
        return self._priors

    @property
    def can_draw(self) -> bool:  # type: ignore[override]
        return self.sampler is not None

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g, (n, m); what is not a number counts as impossible."""
        found = self.log_g(Counts(*(jnp.asarray(c)[:, None] for c in counts)), alpha, beta, *shared)
        shape, wanted = getattr(found, "shape", None), jnp.shape(alpha)
        if shape != wanted or not jnp.isrealobj(found):
            given = show(found) if shape is None else f"{found.dtype} numbers of shape {shape}"
            raise InputError(
                f"log_g of the likelihood {self.name} must give real numbers of shape {wanted} for rates of that shape,"
                f" not {given}"
            )
        return jnp.where(jnp.isnan(found), -jnp.inf, found)

    def check(self, counts: Counts) -> None:
        """Refuse a log_g that fails on counts (n, 1) and rates (n, m), or gives another shape than theirs."""
        n = len(counts.x)
        rates = np.full((n, n + 1), 0.5)  # so that no other shape is taken for (n, m)
        try:
            with double():
                jax.eval_shape(self.log_density, counts, rates, rates, *(0.5 for _ in self.shared))
        except InputError as error:
            raise InputError(str(error)) from None  # without JAX's remarks
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise InputError(f"log_g of the likelihood {self.name} fails with {why:.200}") from error

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and parameters (size,), each (size, n)."""
        if self.sampler is None:
            raise InputError(f"the likelihood {self.name} has no sampler, so that no new counts can be drawn from it")
        x, y = self.sampler(rng, counts, alpha, beta, *(np.asarray(value)[:, None] for value in shared))
        return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)


def _prior(name: Any, given: Any) -> Any:
    """The prior of a parameter, checked along with its name."""
    import numpyro.distributions as dist

    if not isinstance(name, str) or not name or name in _TAKEN:
        raise InputError(f"a likelihood's own parameter cannot be called {show(name)}")
    prior = parse(given) if isinstance(given, str) else given
    if not isinstance(prior, dist.Distribution):
        raise InputError(f"the prior of {name} must be a NumPyro distribution or its text, not {show(prior)}")
    shape = prior.batch_shape + prior.event_shape
    discrete = isinstance(prior, dist.Delta) or getattr(prior.support, "is_discrete", False)
    if shape or discrete or isinstance(prior, dist.ImproperUniform):
        raise InputError(
            f"the prior of {name} must be a proper, continuous distribution of one number, not {describe(prior)}"
            + (f" of shape {shape}" if shape else "")
        )
    return prior
