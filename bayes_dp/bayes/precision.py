"""64-bit JAX for the calls inside only, and numbers that suit it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from bayes_dp.bayes.priors import numpyro_law
from bayes_dp.support.workers import jax_must_run

__all__ = ["double", "doubled"]


@contextmanager
def double() -> Iterator[None]:
    """64-bit JAX on the CPU, for the calls inside only."""
    jax_must_run()
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        yield


def doubled(prior: Any) -> Any:
    """The prior in NumPyro, its numbers as 64-bit arrays, whatever they were, so that one program serves them all."""
    return jax.tree.map(lambda leaf: np.asarray(leaf, dtype=np.float64), numpyro_law(prior))
