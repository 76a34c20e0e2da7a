"""White-box scores of DP-SGD as papers have them, for comparison: use `step_scores`.

`printed_step_scores` is Algorithm 7 of Azize and Basu (2024). It leaves out the mixture and the noise in V, has a wrong
penalty, and takes the largest step for the sum: see `docs/methods/errata.md`.

`glir_step_scores` is the gradient likelihood ratio attack (GLiR), Algorithm 1 of Leemann, Pawelczyk and Kasneci (2023),
"Gaussian membership inference privacy". It asks how near the mean of a step's gradients is to that of the canary. If a
step is the mean of B draws from N(μ, Σ) without the canary,

    S = (B − 1) |U/B − g|²   is non-central χ² with d degrees of freedom and the parameter B |g − μ|²,

both norms in the metric of Σ^{-1}. The score is the sum over steps of −log P(χ² ≤ S). All d directions count, even
those in which the canary has nothing, so that little is seen of one among thousands of parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, special

from bayes_dp.attacks.white_box import RIDGE, products_of, training_of
from bayes_dp.checks import InputError, one_number, whole_number
from bayes_dp.support.arrays import Floats

__all__ = ["glir_step_scores", "printed_step_scores"]


def printed_step_scores(
    gram: ArrayLike,
    inner: ArrayLike,
    canaries: int,
    *,
    sampling_rate: float,
    learning_rate: float,
    batch: float,
) -> Floats:
    """Algorithm 7 of Azize and Basu (2024) as it is printed, of one step, (m,): for comparison only, use `step_scores`.

    (g − μ)ᵀ C^{-1} (U/B − μ) − (g − μ)ᵀ C^{-1} (g − μ)/(2qη) with μ and C = Σ ggᵀ/r from the references, and B the
    `batch` by which U is divided. With fewer references than parameters C has no inverse: 0.001 is added to its
    diagonal. The scores of a canary in all steps are not added up, but the largest is taken. `gram` is
    (m + r, m + r), `inner` (m + r,).

    >>> rng = np.random.default_rng(0)
    >>> g = rng.normal(size=(30, 200)) / 20
    >>> of = {"sampling_rate": 0.2, "learning_rate": 0.1, "batch": 4.0}
    >>> bdp.attacks.printed_step_scores(g @ g.T, g @ g[0], 10, **of).shape
    (10,)
    """
    matrix, products, m = products_of(gram, inner, canaries)
    _, q, _, _ = training_of(1.0, sampling_rate, 1.0)
    eta = one_number("learning_rate", learning_rate, 0.0, low_open=True, high_open=True)
    size = one_number("batch", batch, 0.0, low_open=True, high_open=True)
    r = len(products) - m
    if not r:
        raise InputError("gram must have the gradients of references too, below those of the canaries")
    centre = np.append(np.zeros(m), np.full(r, 1 / r))  # of the gradients, for μ
    points = np.eye(m, m + r) - centre  # of the gradients, for g − μ
    seen = products / size - matrix @ centre  # products of all gradients with U/B − μ
    at_references = matrix[m:] @ points.T
    solved = linalg.solve(matrix[m:, m:] / r + RIDGE * np.eye(r), at_references, assume_a="pos") / r
    first = points @ seen - solved.T @ seen[m:]
    distance = np.sum((points @ matrix) * points, axis=1) - np.sum(at_references * solved, axis=0)
    return np.asarray((first - distance / (2 * q * eta)) / RIDGE)


def glir_step_scores(
    gram: ArrayLike,
    inner: ArrayLike,
    canaries: int,
    *,
    square: float,
    parameters: int,
    noise_multiplier: float,
    batch: float,
    clip: float = 1.0,
) -> Floats:
    """GLiR's score of one step, −log P(χ² ≤ S) of each canary, (m,), to be added up: for comparison, use `step_scores`.

    `gram` is (m + r, m + r) and `inner` (m + r,), of the canaries first, then of references, whose mean is μ and whose
    covariance about it is Σ, with the noise σ²c²/B in each direction, or a ridge without noise. `square` is |U|², and
    `parameters` d. The law of S is taken for a normal one of the same mean and variance, as d is large.

    >>> rng = np.random.default_rng(0)
    >>> g = rng.normal(size=(30, 200)) / 20
    >>> u = g[:8].sum(axis=0) + rng.normal(size=200)
    >>> of = {"square": u @ u, "parameters": 200, "noise_multiplier": 1.0, "batch": 8.0}
    >>> bdp.attacks.glir_step_scores(g @ g.T, g @ u, 10, **of).shape
    (10,)
    """
    matrix, products, m = products_of(gram, inner, canaries)
    _, _, _, variance = training_of(noise_multiplier, 1.0, clip)
    length = one_number("square", square, 0.0, high_open=True)
    d = whole_number("parameters", parameters, 1)
    size = one_number("batch", batch, 1.0, low_open=True, high_open=True)
    r = len(products) - m
    if not r:
        raise InputError("gram must have the gradients of references too, below those of the canaries")
    noise = variance / size
    towards = matrix[m:] - matrix[m:].mean(axis=0)  # of g − μ of the references with all gradients, (r, m + r)
    spread = towards[:, m:] - towards[:, m:].mean(axis=1, keepdims=True)
    at_step = (products[m:] - products[m:].mean()) / size
    norms = np.diagonal(matrix)[:m]

    def measured(square: Floats, along: Floats) -> Floats:
        """vᵀ Σ^{-1} v, of |v|² (m,) and of the inner products with g − μ of the references, (r, m)."""
        solved = linalg.solve(spread + r * noise * np.eye(r), along, assume_a="pos")
        return (square - np.sum(along * solved, axis=0)) / noise

    mean = matrix[m:, m:].mean(axis=0)
    away = norms - 2 * matrix[:m, m:].mean(axis=1) + mean.mean()
    from_mean = measured(away, towards[:, :m] - towards[:, m:].mean(axis=1, keepdims=True))
    from_step = measured(length / size**2 - 2 * products[:m] / size + norms, at_step[:, None] - towards[:, :m])
    seen, centre = (size - 1) * from_step, size * from_mean
    return np.asarray(-special.log_ndtr((seen - d - centre) / np.sqrt(2 * (d + 2 * centre))))
