"""Geometry of the privacy region in the plane of error rates: inside, area, level, uniform sampling, cubature.

A point is (α, β), the false positive and false negative rate of an attack. Under (ε, δ)-DP it lies in

    R(ε, δ) = {(α, β) ∈ [0, 1]² : f(α) ≤ β ≤ 1 − f(1 − α)},   f(α) = max(0, 1 − δ − e^ε α, e^{−ε}(1 − δ − α)).

An attack of strength at least s lies in the layer R_s(ε, δ) = R(ε, δ) without R(sε, sδ): four congruent quadrilaterals.
The first, with β ≥ α and α + β ≤ 1, has the vertices (0, 1−δ), (0, 1−sδ), (x_s, x_s), (x, x), where x = (1−δ)/(1+e^ε)
and x_s = (1−sδ)/(1+e^{sε}). The others are its images under (α,β) → (β,α), (1−α,1−β), (1−β,1−α).

The map (u, v) ∈ [0, 1]² → first quadrilateral used throughout is bilinear,

    α = v ((1−u) x_s + u x),   β = α + (1−v)(1 − (s + (1−s)u) δ),

so u runs from the inner boundary to the outer one and v from the β axis to the diagonal. Its Jacobian,
v (x_s − x)(1 − (s + (1−s)u) δ) + (1−v)(1−s) δ ((1−u) x_s + u x), is bilinear too and a sum of non-negative terms.

All parameters broadcast; scalars give scalars. ε ≥ 0 is finite, 0 ≤ δ ≤ 1, 0 ≤ s < 1. With q(t) = 1/(1 + e^t), small
differences are taken from q(sε) − q(ε) = q(sε) (1 − q(ε)) (1 − e^{−(1−s)ε}), which neither cancels nor overflows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, is_whole, one_number, show, whole_number
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.tradeoff import approx_dp as lower
from bayes_dp.tradeoff import arrays, least, scalar

__all__ = [
    "area",
    "contains",
    "corner",
    "cubature",
    "fold",
    "images",
    "in_layer",
    "layer_area",
    "layer_map",
    "level",
    "log_area",
    "log_boundary_area",
    "log_layer_area",
    "lower",
    "quadrilateral",
    "sample",
    "sample_boundary",
    "strength_level",
]


def __dir__() -> list[str]:
    return __all__


# Points ---------------------------------------------------------------------------------------------------------------


def fold(alpha: ArrayLike, beta: ArrayLike) -> tuple[Floats, Floats]:
    """The image of each point with α ≤ β and α + β ≤ 1; every region here looks the same from all four images.

    >>> a, b = bdp.region.fold([0.2, 0.7], [0.1, 0.9])
    >>> print(a.round(9), b.round(9))
    [0.1 0.1] [0.2 0.3]
    """
    return _fold(*arrays(alpha=alpha, beta=beta))


def _fold(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
    above = alpha + beta > 1
    alpha, beta = np.where(above, 1 - alpha, alpha), np.where(above, 1 - beta, beta)
    return np.minimum(alpha, beta), np.maximum(alpha, beta)


def images(alpha: ArrayLike, beta: ArrayLike) -> Floats:
    """The four images (α,β), (β,α), (1−α,1−β), (1−β,1−α) of each point: shape (..., 4, 2).

    >>> print(bdp.region.images(0.1, 0.2).round(9))
    [[0.1 0.2]
     [0.2 0.1]
     [0.9 0.8]
     [0.8 0.9]]
    """
    alpha, beta = np.broadcast_arrays(*arrays(alpha=alpha, beta=beta))
    first = np.stack((alpha, beta, 1 - alpha, 1 - beta), axis=-1)
    second = np.stack((beta, alpha, 1 - beta, 1 - alpha), axis=-1)
    return np.stack((first, second), axis=-1)


def contains(alpha: ArrayLike, beta: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Bools:
    """Whether (α, β) lies in R(ε, δ), boundary included.

    >>> bdp.region.contains([0.25, 0.2], [0.25, 0.2], 1.0986123, 0.0)  # log 3 allows α = β = 1/4, but not less
    array([ True, False])
    """
    alpha, beta, epsilon, delta = arrays(alpha=alpha, beta=beta, epsilon=epsilon, delta=delta)
    return _contains(*_fold(alpha, beta), epsilon, delta)


def in_layer(alpha: ArrayLike, beta: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, strength: ArrayLike) -> Bools:
    """Whether (α, β) lies in R_s(ε, δ) = R(ε, δ) without R(sε, sδ).

    >>> bdp.region.in_layer([0.3, 0.4], [0.3, 0.4], 1.0, 0.0, 0.5)  # (0.4, 0.4) is in R(0.5, 0)
    array([ True, False])
    """
    alpha, beta, epsilon, delta, s = arrays(alpha=alpha, beta=beta, epsilon=epsilon, delta=delta, strength=strength)
    point = _fold(alpha, beta)
    return _contains(*point, epsilon, delta) & ~_contains(*point, s * epsilon, s * delta)


def level(alpha: ArrayLike, beta: ArrayLike, delta: ArrayLike) -> Floats:
    """Least ε ≥ 0 with (α, β) ∈ R(ε, δ), infinite if there is none: max(0, log((1 − δ − β)/α)) for the folded point.

    >>> round(float(bdp.region.level(0.1, 0.2, 0.0)), 4)  # log(0.8/0.1)
    2.0794
    >>> bdp.region.level([0.0, 0.5], [0.2, 0.5], 0.0)
    array([inf,  0.])
    """
    alpha, beta, delta = arrays(alpha=alpha, beta=beta, delta=delta)
    alpha, beta = _fold(alpha, beta)
    gap = 1 - delta - beta
    positive = np.where(gap > alpha, gap, 1.0)
    excess = np.where(gap > alpha, gap - alpha, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # α = 0 < gap: infinite; 0/0 is not used
        far = np.log(positive) - np.log(alpha)
        return scalar(np.where(gap > 2 * alpha, far, np.log1p(excess / np.where(alpha > 0, alpha, 1.0))))


def strength_level(alpha: ArrayLike, beta: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """Largest s ∈ [0, 1] for which (α, β) is not inside R(sε, sδ): for a point of R(ε, δ), sup{s : (α, β) ∈ R_s(ε, δ)}.

    It solves e^{sε} α + sδ = 1 − β for the folded point. It is 0 on the line α + β = 1 (which is R(0, 0)), 1 on the
    boundary of R(ε, δ) and outside; at δ = 0 it is level/ε.

    >>> round(float(bdp.region.strength_level(0.3, 0.3, 1.0, 0.0)), 4)  # level/ε at δ = 0
    0.8473
    >>> float(bdp.region.strength_level(0.5, 0.5, 1.0, 0.1))  # guessing has no strength
    0.0
    """
    alpha, beta, epsilon, delta = arrays(alpha=alpha, beta=beta, epsilon=epsilon, delta=delta)
    alpha, beta = _fold(alpha, beta)
    alpha, gap, epsilon, delta = np.broadcast_arrays(alpha, 1 - beta - alpha, epsilon, delta)

    def reached(s: Floats) -> Bools:
        return np.asarray(alpha * np.expm1(np.minimum(s * epsilon, 709.0)) + s * delta >= gap)

    return scalar(least(reached, 0.0, np.ones(gap.shape)))


# Area -----------------------------------------------------------------------------------------------------------------


def corner(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """x = (1 − δ)/(1 + e^ε), where the lower boundary meets the diagonal.

    >>> round(float(bdp.region.corner(np.log(3), 0.0)), 9)  # the best attack errs at α = β = 1/4
    0.25
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    return (1 - delta) * _q(epsilon)


def area(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """|R(ε, δ)| = 1 − 2(1 − δ)²/(1 + e^ε) = δ(2 − δ) + (1 − δ)² tanh(ε/2).

    >>> print(bdp.region.area([0.0, 1.0, 800.0], 0.0).round(4))  # from the line α + β = 1 to the whole square
    [0.     0.4621 1.    ]
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    return delta * (2 - delta) + (1 - delta) ** 2 * np.tanh(epsilon / 2)


def log_area(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """log |R(ε, δ)|; −∞ at ε = δ = 0.

    >>> print(bdp.region.log_area([0.0, 1e-300, 800.0], 0.0).round(2))
    [   -inf -691.47    0.  ]
    """
    with np.errstate(divide="ignore"):
        return np.log(area(epsilon, delta))


def layer_area(epsilon: ArrayLike, delta: ArrayLike, strength: ArrayLike) -> Floats:
    """|R_s(ε, δ)| = 2 [(1 − sδ)²/(1 + e^{sε}) − (1 − δ)²/(1 + e^ε)].

    >>> layer, inner = bdp.region.layer_area(1.0, 0.1, 0.5), bdp.region.area(0.5, 0.05)
    >>> bool(np.isclose(layer + inner, bdp.region.area(1.0, 0.1)))
    True
    """
    epsilon, delta, s = arrays(epsilon=epsilon, delta=delta, strength=strength)
    return (1 - s) * _q(s * epsilon) * _area_rate(epsilon, delta, s)


def log_layer_area(epsilon: ArrayLike, delta: ArrayLike, strength: ArrayLike) -> Floats:
    """log |R_s(ε, δ)|, also where the area is below the smallest float; −∞ at ε = δ = 0.

    >>> round(float(bdp.region.log_layer_area(800.0, 0.0, 0.9995)), 1)  # the area itself is 0 in floating point
    -800.0
    """
    epsilon, delta, s = arrays(epsilon=epsilon, delta=delta, strength=strength)
    return np.log1p(-s) + _log_area_rate(epsilon, delta, s)


def log_boundary_area(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """log of lim_{s→1} |R_s(ε, δ)|/(1 − s) = log [2(1 − δ) (2δ + (1 − δ) ε/(1 + e^{−ε}))/(1 + e^ε)].

    >>> s = 1 - 1e-6
    >>> print(np.round(bdp.region.log_layer_area(1.0, 0.1, s) - np.log(1 - s), 4))
    -0.8787
    >>> print(np.round(bdp.region.log_boundary_area(1.0, 0.1), 4))
    -0.8787
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    return _log_area_rate(epsilon, delta, np.ones(()))


def quadrilateral(epsilon: ArrayLike, delta: ArrayLike, strength: ArrayLike) -> Floats:
    """Vertices (0, 1−δ), (0, 1−sδ), (x_s, x_s), (x, x) of the first image of R_s(ε, δ): shape (..., 4, 2).

    >>> print(bdp.region.quadrilateral(np.log(3), 0.0, 0.5).round(4))
    [[0.    1.   ]
     [0.    1.   ]
     [0.366 0.366]
     [0.25  0.25 ]]
    """
    epsilon, delta, s = np.broadcast_arrays(*arrays(epsilon=epsilon, delta=delta, strength=strength))
    inner, outer = (1 - s * delta) * _q(s * epsilon), (1 - delta) * _q(epsilon)
    alpha = np.stack((np.zeros_like(inner), np.zeros_like(inner), inner, outer), axis=-1)
    beta = np.stack((1 - delta, 1 - s * delta, inner, outer), axis=-1)
    return np.stack((alpha, beta), axis=-1)


# Integration and sampling ---------------------------------------------------------------------------------------------


def layer_map(
    u: ArrayLike, v: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, strength: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """(α, β, log Jacobian) of the bilinear map from (u, v) ∈ [0, 1]² onto the first quadrilateral, see the top.

    >>> a, b, log_jacobian = bdp.region.layer_map([0.0, 0.5], [0.0, 0.5], 1.0, 0.0, 0.5)
    >>> print(a.round(4), b.round(4), bdp.region.in_layer(a[1], b[1], 1.0, 0.0, 0.5))
    [0.     0.1616] [1.     0.6616] True
    """
    u, v, epsilon, delta, s = arrays(u=u, v=v, epsilon=epsilon, delta=delta, strength=strength)
    inner, outer, drop = _edges(epsilon, delta, s)
    width = v * drop * (1 - delta + delta * (1 - s) * (1 - u)) + (1 - v) * delta * ((1 - u) * inner + u * outer)
    with np.errstate(divide="ignore"):  # a corner where the quadrilateral is a triangle
        log_jacobian = np.log1p(-s) + _log_q(s * epsilon) + np.log(width)
    return *_place(u, v, epsilon, delta, s), log_jacobian


def cubature(epsilon: float, delta: float, strength: float, order: int) -> tuple[Floats, Floats]:
    """Nodes (4 order², 2) and weights (4 order²,), which sum to |R_s(ε, δ)|, for integrals over R_s(ε, δ).

    Gauss–Legendre in the bilinear coordinates of each quadrilateral: exact for polynomials in (α, β) of total degree
    up to 2 order − 2.

    >>> points, weights = bdp.region.cubature(1.0, 0.1, 0.5, order=3)
    >>> points.shape, weights.shape
    ((36, 2), (36,))
    >>> bool(np.isclose(weights.sum(), bdp.region.layer_area(1.0, 0.1, 0.5)))
    True
    """
    epsilon, delta = one_number("epsilon", epsilon, 0.0), one_number("delta", delta)
    strength = one_number("strength", strength)
    nodes, weights = np.polynomial.legendre.leggauss(whole_number("order", order, 1))
    u, v = np.meshgrid((nodes + 1) / 2, (nodes + 1) / 2, indexing="ij")
    alpha, beta, log_jacobian = layer_map(u, v, epsilon, delta, strength)
    weight = np.outer(weights, weights) / 4 * np.exp(log_jacobian)
    return images(alpha, beta).reshape(-1, 2), np.repeat(weight.ravel(), 4)


def sample(
    epsilon: ArrayLike,
    delta: ArrayLike,
    strength: ArrayLike,
    size: int | tuple[int, ...],
    rng: np.random.Generator,
) -> Floats:
    """Exact uniform draws from R_s(ε, δ), shape (*size, 2); parameters broadcast to `size` as in NumPy's samplers.

    >>> points = bdp.region.sample(1.0, 0.0, 0.5, 1000, np.random.default_rng(0))
    >>> points.shape, bool(bdp.region.in_layer(*points.T, 1.0, 0.0, 0.5).all())
    ((1000, 2), True)
    """
    epsilon, delta, s = arrays(epsilon=epsilon, delta=delta, strength=strength)
    return _sample(epsilon, delta, s, size, rng)


def sample_boundary(
    epsilon: ArrayLike, delta: ArrayLike, size: int | tuple[int, ...], rng: np.random.Generator
) -> Floats:
    """Draws from the limit of the uniform law on R_s(ε, δ) as s → 1: on the boundary of R(ε, δ), shape (*size, 2).

    The density along the boundary is proportional to the layer's local width.

    >>> points = bdp.region.sample_boundary(1.0, 0.0, 1000, np.random.default_rng(0))
    >>> bool(np.allclose(bdp.region.level(*points.T, 0.0), 1.0))  # all on the boundary of R(1, 0)
    True
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    return _sample(epsilon, delta, np.ones(()), size, rng)


def _sample(epsilon: Floats, delta: Floats, s: Floats, size: int | tuple[int, ...], rng: np.random.Generator) -> Floats:
    """The Jacobian is linear in v, and in u given v: both are drawn by inverting a quadratic distribution function."""
    inner, outer, drop = _edges(epsilon, delta, s)
    at_axis, at_diagonal = delta * (inner + outer) / 2, drop * (1 - delta + delta * (1 - s) / 2)
    if np.any(at_axis + at_diagonal == 0):
        raise InputError(
            "the layer R_s(epsilon, delta) has no area for epsilon = delta = 0, nor its boundary for delta = 1"
        )
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a generator, as np.random.default_rng(seed) gives it, not {show(rng)}")
    shape = size if isinstance(size, tuple) else (size,)
    if not all(is_whole(n) and 0 <= n < 2**63 for n in shape):
        raise InputError(f"size must be a whole number, or a tuple of such, at least 0, not {show(size)}")
    given = np.broadcast_shapes(epsilon.shape, delta.shape, s.shape)
    try:
        fits = np.broadcast_shapes(given, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise InputError(f"size must be a shape to which the parameters, of the shape {given}, broadcast, not {shape}")
    v = _draw_linear(at_axis, at_diagonal, size, rng)
    share = v * drop + (1 - v) * delta
    u = _draw_linear(inner * share, v * drop * (1 - delta) + (1 - v) * delta * outer, size, rng)
    points = images(*_place(u, v, epsilon, delta, s))
    which = rng.integers(4, size=size)
    return np.take_along_axis(points, np.asarray(which)[..., None, None], axis=-2)[..., 0, :]


def _draw_linear(left: Floats, right: Floats, size: int | tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draws from the density on [0, 1] that is linear with values proportional to `left` at 0 and `right` at 1."""
    chance = 1 - rng.random(size)  # in (0, 1], so that the quotient below is never 0/0
    start = left / (left + right)
    return np.minimum(1.0, chance / (start + np.sqrt(start**2 + chance * (1 - 2 * start))))


def _place(u: Floats, v: Floats, epsilon: Floats, delta: Floats, s: Floats) -> tuple[Floats, Floats]:
    alpha = v * ((1 - u) * (1 - s * delta) * _q(s * epsilon) + u * (1 - delta) * _q(epsilon))
    return alpha, alpha + (1 - v) * (1 - delta + delta * (1 - s) * (1 - u))


def _edges(epsilon: Floats, delta: Floats, s: Floats) -> tuple[Floats, Floats, Floats]:
    """x_s/q(sε), x/q(sε) and (x_s − x)/((1 − s) q(sε)); all three have a limit at s = 1."""
    decay = (1 - s) * epsilon
    mean = np.where(decay > 0, -np.expm1(-decay) / np.where(decay > 0, decay, 1.0), 1.0)
    rest = 1 + np.exp(-epsilon)
    inner = 1 - delta + delta * (1 - s)
    outer = (1 - delta) * np.exp(-decay) * (1 + np.exp(-s * epsilon)) / rest
    return inner, outer, delta + (1 - delta) * epsilon * mean / rest


def _area_rate(epsilon: Floats, delta: Floats, s: Floats) -> Floats:
    """|R_s|/((1 − s) q(sε))."""
    inner, _, drop = _edges(epsilon, delta, s)
    return 2 * ((1 - delta) * drop + delta * inner)


def _log_area_rate(epsilon: Floats, delta: Floats, s: Floats) -> Floats:
    """log of |R_s|/(1 − s)."""
    with np.errstate(divide="ignore"):
        return _log_q(s * epsilon) + np.log(_area_rate(epsilon, delta, s))


def _contains(alpha: Floats, beta: Floats, epsilon: Floats, delta: Floats) -> Bools:
    """For a folded point; there β ≥ 1 − δ − e^ε α is the only bound that can fail."""
    reach: Floats = np.exp(np.minimum(epsilon, 709.0)) * alpha
    return 1 - delta - beta <= reach


def _q(t: Floats) -> Floats:
    """1/(1 + e^t) for t ≥ 0."""
    decay: Floats = np.exp(-t)
    return decay / (1 + decay)


def _log_q(t: Floats) -> Floats:
    return -t - np.log1p(np.exp(-t))
