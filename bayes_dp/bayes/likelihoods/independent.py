"""Laws under which X and Y are independent given the rates, and follow one law of a single count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from bayes_dp.bayes.likelihoods.counts import Array, Counts

__all__ = ["of_both"]


def of_both(law: Callable[..., Any], counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
    """log g of independent X and Y of one law, `law(errors, trials, rate, *shared)`, (n, m).

    It is called once for both, so that a program has one copy of the law to compile.
    """
    errors, trials = (jnp.concatenate([jnp.asarray(v)[:, None] for v in pair]) for pair in (counts[::2], counts[1::2]))
    first, second = jnp.split(law(errors, trials, jnp.concatenate([alpha, beta]), *shared), 2)
    return jnp.asarray(first + second)
