"""White-box scores of canaries in DP-SGD: from inner products of gradients with what each step released.

A step releases U = Σ bⱼ gⱼ + σ c ξ, with gⱼ the clipped gradients of the members, |gⱼ| ≤ c, each drawn with probability
q, and ξ standard normal: U is q n η^{-1} times the change of the parameters, if the learning rate η divides by q n.
Without canary i

    U ~ N(b, V),    b = Σ βⱼ gⱼ,    V = σ²c² I + Σ wⱼ gⱼ gⱼᵀ

with β = q, w = q (1 − q) for a member. Other canaries are members by a fair coin: β = q/2, w = (q/2)(1 − q/2). With
canary i it is the mixture (1 − q) N(b, V) + q N(b + gᵢ, V), as i is drawn with probability q. So the best score is
the log-likelihood ratio, summed over the steps,

    log(1 − q + q exp(gᵢᵀ V^{-1} (U − b) − gᵢᵀ V^{-1} gᵢ/2)).

V is of the size of the parameters, and is never formed. With K the matrix of the inner products of all gradients,
y = K-rows of U − b and A = (K + σ²c² diag(1/w))^{-1} (Woodbury), all canaries are scored at once, V and b being without
canary i:

    gᵢᵀ V^{-1} gᵢ = 1/(σ²c² Aᵢᵢ) − 1/wᵢ        gᵢᵀ V^{-1} (U − b) = (A y)ᵢ/(σ²c² Aᵢᵢ) + (q/2) gᵢᵀ V^{-1} gᵢ

The noise is what makes V invertible. A small ridge takes the place of noise below 0.03, as K has rounding errors.
Scores as papers have them are in `printed_scores.py`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from bayes_dp.checks import InputError, is_one_of, numbers, one_number, show, whole_number
from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.support.ranks import ranks

__all__ = ["RIDGE", "StepScores", "choose_canaries", "dirac_scores", "products_of", "step_scores", "training_of"]

_ROUNDED = 1e-3  # of the square of a norm, in 32 bits
_MOST_NOISE = 1e9
_FAR = 1e100  # in any unit: farther out squares and their sums are beyond double precision
RIDGE = 1e-3  # of the variance of a step with little noise, in squared clipping norms


class StepScores(NamedTuple):
    """What a step says of each of m canaries, (m,) each; scores of several steps are added up.

    >>> found = bdp.attacks.step_scores(np.eye(2), [1.5, 0.0], 2, noise_multiplier=1.0, sampling_rate=1.0)
    >>> found._fields
    ('plain', 'centred', 'linear', 'ratio', 'leakage')
    """

    plain: Floats  # ⟨g, U⟩
    centred: Floats  # ⟨g, U − b⟩
    linear: Floats  # gᵀ V^{-1} (U − b)
    ratio: Floats  # the log-likelihood ratio of the mixture
    leakage: Floats  # gᵀ V^{-1} g, what is to be expected of a canary before U is seen


def step_scores(
    gram: ArrayLike,
    inner: ArrayLike,
    canaries: int,
    *,
    noise_multiplier: float,
    sampling_rate: float,
    clip: float = 1.0,
    members: int | None = None,
    member_sum: ArrayLike | None = None,
) -> StepScores:
    """The scores of m canaries in one step, all at once.

    Parameters
    ----------
    gram : the inner products of clipped gradients, (m + r, m + r), of the canaries first, then of r members.
    inner : the inner products of the same gradients with U, (m + r,).
    canaries : m.
    noise_multiplier, sampling_rate, clip : σ, q and c of the training.
    members : how many members, canaries apart, the r stand for; by default they are all of them.
    member_sum : the inner products of the same gradients with the sum of those of all members, canaries apart,
        (m + r,). It makes b exact; otherwise the r stand for the members there too, which costs much of the power.

    >>> rng = np.random.default_rng(0)
    >>> g = rng.normal(size=(30, 200)) / 20
    >>> u = g[0] + g[20:].sum(axis=0) / 5 + rng.normal(size=200)  # the first canary is in this step
    >>> found = bdp.attacks.step_scores(g @ g.T, g @ u, 10, noise_multiplier=1.0, sampling_rate=0.2)
    >>> found.ratio.shape, bool(found.ratio[0] > np.median(found.ratio))
    ((10,), True)
    """
    matrix, products, m = products_of(gram, inner, canaries)
    _, q, c, variance = training_of(noise_multiplier, sampling_rate, clip)
    if (long := np.diagonal(matrix) > (1 + _ROUNDED) * c**2).any():
        i = int(np.argmax(long))
        raise InputError(
            f"gram must be of clipped gradients, and that at [{i}, {i}] has the norm {math.sqrt(matrix[i, i]):g}, above"
            f" clip, {c:g}: are gradients and clip in the same units?"
        )
    r = len(products) - m
    each = (r if members is None else whole_number("members", members, r)) / max(r, 1)
    if members and not r:
        raise InputError("members must be 0 where no member's gradient is given")
    half = q / 2
    if member_sum is None:
        total = matrix[:, m:] @ np.full(r, each)
    else:
        total = numbers("member_sum", member_sum, low_open=True, high_open=True)
        if total.shape != products.shape:
            raise InputError(f"member_sum must be of the shape {products.shape}, as inner is, not {total.shape}")
    weight = np.append(np.full(m, half * (1 - half)), np.full(r, q * (1 - q) * each))
    centred = products - half * matrix[:, :m].sum(axis=1) - q * total
    kept = weight > 0  # with q = 1 members are in for certain, and add no variance
    inverse, solved = _inverse(matrix[np.ix_(kept, kept)], variance / weight[kept], centred[kept])
    with np.errstate(divide="ignore"):
        leakage = np.maximum(0.0, 1 / (variance * inverse[:m]) - 1 / weight[:m])
    linear = solved[:m] / (variance * inverse[:m]) + half * leakage
    ratio = _mixture(linear - leakage / 2, q)
    return StepScores(products[:m], centred[:m] + half * np.diagonal(matrix)[:m], linear, ratio, leakage)


def dirac_scores(inner: ArrayLike, *, noise_multiplier: float, sampling_rate: float) -> Floats:
    """Σₜ log(1 − q + q exp((uₜ − ½)/σ²)), the score of canaries that share their coordinate with nobody, (m,).

    `inner` has the inner products u of T steps in units of the clipping norm, (T, m): U at the canary's own coordinate
    over c, which is N(0, σ²) without it and N(1, σ²) where it is drawn. Such a canary says nothing of the
    gradients, and all about sampling and noise.

    >>> bdp.attacks.dirac_scores([[1.0, 0.0], [0.5, -0.5]], noise_multiplier=1.0, sampling_rate=1.0)
    array([ 0.5, -1.5])
    """
    sigma, q, _, _ = training_of(noise_multiplier, sampling_rate, 1.0)
    u = numbers("inner", inner, -_FAR, _FAR)
    if u.ndim != 2 or not u.size:
        raise InputError(f"inner must be of the shape (steps, canaries), not {u.shape}")
    if sigma < 1 / _FAR:
        raise InputError("noise_multiplier must be above 0 for canaries that only noise hides")
    return np.asarray(_mixture((u - 0.5) / sigma**2, q).sum(axis=0))


def choose_canaries(leakage: ArrayLike, count: int, *, by: str = "sum") -> Indices:
    """The `count` candidates of which the steps (T, candidates) promise most, those first that promise more.

    `leakage` has gᵀ V^{-1} g of each step and candidate, from a run of its own, before any coin is thrown. By "sum" the
    sum over steps decides, which is what the log-likelihood ratio grows by; by "ranks" the sum of the ranks in each
    step (Algorithm 6 of Azize and Basu). The result has their numbers, (count,).

    >>> bdp.attacks.choose_canaries([[1.0, 5.0, 2.0], [1.0, 0.0, 2.0]], 2)
    array([1, 2])
    >>> bdp.attacks.choose_canaries([[1.0, 5.0, 2.0], [1.0, 0.0, 2.0]], 2, by="ranks")
    array([2, 1])
    """
    given = numbers("leakage", leakage, 0.0, _FAR**2)
    if given.ndim != 2 or not given.size:
        raise InputError(f"leakage must be of the shape (steps, candidates), not {given.shape}")
    wanted = whole_number("count", count, 1, given.shape[1])
    if not is_one_of(by, ("sum", "ranks")):
        raise InputError(f"by must be 'sum' or 'ranks', not {show(by)}")
    if by == "ranks":
        given = ranks(given)
    total = given.sum(axis=0)
    return np.argsort(-total, kind="stable")[:wanted]


def _mixture(exponent: Floats, q: float) -> Floats:
    """log(1 − q + q e^x)."""
    return exponent if q == 1 else np.logaddexp(math.log1p(-q), math.log(q) + exponent)


def _inverse(matrix: Floats, extra: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The diagonal of A = (K + diag(extra))^{-1}, and A times `right`."""
    scale = np.sqrt(np.diagonal(matrix) + extra)
    try:
        factor = linalg.cholesky(
            (matrix + np.diag(extra)) / np.outer(scale, scale), lower=True, check_finite=False, overwrite_a=True
        )
    except linalg.LinAlgError as error:
        raise InputError(
            "gram must hold inner products, and such have no negative eigenvalue: are all of the same step, and the"
            " noise what was added?"
        ) from error
    roots = linalg.solve_triangular(factor, np.eye(len(factor)), lower=True, check_finite=False, overwrite_b=True)
    return np.sum(roots**2, axis=0) / scale**2, (roots.T @ (roots @ (right / scale))) / scale


def products_of(gram: ArrayLike, inner: ArrayLike, canaries: Any) -> tuple[Floats, Floats, int]:
    """The inner products that callers give, checked: (m + r, m + r) and (m + r,); and m."""
    products = numbers("inner", inner, -_FAR, _FAR)
    if products.ndim != 1 or not products.size:
        raise InputError(f"inner must be of the shape (gradients,), not {products.shape}")
    matrix = numbers("gram", gram, low_open=True, high_open=True)
    if matrix.shape != (products.size, products.size):
        raise InputError(f"gram must be of the shape {(products.size,) * 2}, as inner is, not {matrix.shape}")
    norms = np.diagonal(matrix)
    if (norms < 0).any():
        i = int(np.argmax(norms < 0))
        raise InputError(f"gram[{i}, {i}] must be at least 0, the square of a norm, not {norms[i]:g}")
    scale = np.sqrt(norms)
    wrong = (np.abs(matrix - matrix.T) > 1e-5 * (np.outer(scale, scale) + 1e-300)) | (
        np.abs(matrix) > (1 + 1e-5) * np.outer(scale, scale) + 1e-300
    )
    if wrong.any():
        i, j = map(int, np.unravel_index(int(np.argmax(wrong)), wrong.shape))
        raise InputError(f"gram must hold inner products, and {matrix[i, j]:g} at [{i}, {j}] cannot be one")
    return (matrix + matrix.T) / 2, products, whole_number("canaries", canaries, 1, products.size)


def training_of(noise_multiplier: Any, sampling_rate: Any, clip: Any) -> tuple[float, float, float, float]:
    """σ, q, c and the variance σ²c² of a step, or the ridge where that is more."""
    sigma = one_number("noise_multiplier", noise_multiplier, 0.0, _MOST_NOISE)
    q = one_number("sampling_rate", sampling_rate, 1 / _FAR, 1.0)
    c = one_number("clip", clip, 1 / _FAR, _FAR)
    return sigma, q, c, max(sigma**2, RIDGE) * c**2
