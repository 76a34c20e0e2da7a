"""The marginal likelihood of a base under any likelihood, by cubature over the layer R_s(ε, δ).

log ∫ g(X, Y | α, β) dα dβ / |R_s| over the four quadrilaterals of the layer (`region.layer_map`), with Gauss-Legendre
panels in both coordinates. The side v = 0 of a quadrilateral is where a rate is 0 or 1 and a density may be singular
like v^{-1/2} or essentially: with v = t⁴ panels gather there. They are halved until the value stands still. This is the
slow reference of the samplers; for the binomial likelihood `marginal.py` is exact and fast.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayes_dp import region
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats

__all__ = ["log_marginal", "rule_of"]


_ORDER = 16
_GRADE = 4
MOST_PANELS = 256
_NODES_AT_ONCE = 1 << 16  # all those of the first try, so that one compiled program serves any number of panels


def log_marginal(
    likelihood: Any,
    counts: Counts,
    epsilon: float,
    delta: float,
    strength: float,
    shared: tuple[float, ...] = (),
    tolerance: float = 1e-6,
) -> Floats:
    """log of the marginal likelihood of each base, (n,), to an absolute error of about `tolerance`.

    Where that cannot be had, as for counts of very many runs far from the layer, it is an InputError.
    """
    found = np.empty(len(counts.x))
    for i in range(len(found)):
        base = Counts(*(np.asarray(column)[i : i + 1] for column in counts))
        panels, value = 8, -np.inf
        while True:
            last, value = value, _integral(likelihood, base, epsilon, delta, strength, shared, panels)
            if panels > 8 and not abs(value - last) > tolerance:
                break
            panels *= 2
            if panels > MOST_PANELS:
                raise InputError(
                    f"base {i}: the marginal likelihood was not found to {tolerance:g} with {MOST_PANELS} panels, of"
                    f" which its last halving changed log L by {abs(value - last):.2g}; raise the tolerance"
                )
        found[i] = value
    return found - float(region.log_layer_area(epsilon, delta, strength))


def _integral(
    likelihood: Any, base: Counts, epsilon: float, delta: float, strength: float, shared: tuple[float, ...], panels: int
) -> float:
    """log of the integral over the layer, with so many panels a coordinate."""
    u, weight_u = rule_of(panels)
    t, weight_t = rule_of(panels)
    v, weight_v = t**_GRADE, _GRADE * t ** (_GRADE - 1) * weight_t
    parts = []
    rows = max(1, _NODES_AT_ONCE // (4 * len(v)))
    for start in range(0, len(u), rows):
        uu, vv = np.meshgrid(u[start : start + rows], v, indexing="ij")
        alpha, beta, log_jacobian = region.layer_map(uu.ravel(), vv.ravel(), epsilon, delta, strength)
        points = region.images(alpha, beta)
        with jax.enable_x64(True):
            log_g = _log_g(likelihood, base, points[..., 0].reshape(1, -1), points[..., 1].reshape(1, -1), shared)
        with np.errstate(divide="ignore"):
            log_weight = log_jacobian + np.log(np.outer(weight_u[start : start + rows], weight_v).ravel())
        parts.append(np.asarray(log_g).reshape(-1, 4) + log_weight[:, None])
    return float(np.logaddexp.reduce(np.concatenate([part.ravel() for part in parts])))


@partial(jax.jit, static_argnames="likelihood")
def _log_g(likelihood: Any, base: Counts, alpha: Array, beta: Array, shared: tuple[float, ...]) -> jax.Array:
    return jnp.asarray(likelihood.log_density(base, alpha, beta, *shared))


def rule_of(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of so many Gauss-Legendre panels on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(_ORDER)
    starts = np.arange(count)[:, None]
    return ((starts + (x + 1) / 2) / count).ravel(), np.tile(w / 2 / count, count)
