"""What draws are worth: R̂ and effective sample sizes of chains, and Pareto-smoothed importance weights.

R̂ and the sample sizes are those of Vehtari et al. (2021), "Rank-normalization, folding, and localization: an improved
R̂"; the sum over lags is Geyer's (1992), of the initial monotone sequence of pairs. The weights are those of Vehtari et
al. (2024), "Pareto smoothed importance sampling", with the fit of Zhang and Stephens (2009). ArviZ has all of them too,
but takes two seconds to import.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayes_dp.support.arrays import Floats
from bayes_dp.support.ranks import ranks

__all__ = ["PARETO_K", "ess", "psis", "rhat"]

PARETO_K = 0.7  # of smoothed weights, above which they are not to be trusted

_FEWEST = 4  # draws of a chain that there are diagnostics for
_TAIL = 0.05, 0.95  # quantiles
_STILL = 1e-15  # a range within which draws count as equal
_FEWEST_IN_TAIL = 5


def rhat(samples: ArrayLike) -> float:
    """Rank-normalised split R̂ of draws (chains, draws); NaN for too few draws, or constant ones.

    It is the greater of that of the draws and that of their distances from the median.
    """
    halves = _halves(samples)
    if halves is None:
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return float(np.fmax(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded))))


def ess(samples: ArrayLike, kind: Literal["bulk", "tail"] = "bulk") -> float:
    """Effective sample size of draws (chains, draws); NaN for too few draws.

    "bulk" is that of the rank-normalised draws, "tail" the lesser one of the 5% and 95% quantiles.
    """
    halves = _halves(samples)
    if halves is None:
        return float("nan")
    if kind == "bulk":
        return _ess(_normal_scores(halves))
    whole = _chains(samples)
    return min(_ess((halves <= quantile).astype(np.float64)) for quantile in np.quantile(whole, _TAIL))


def _chains(samples: ArrayLike) -> Floats:
    """A single chain as two half-chains, several chains as they are."""
    array = np.asarray(samples, dtype=np.float64)
    half = array.shape[1] // 2
    return array if array.shape[0] > 1 else np.stack([array[0, :half], array[0, half : 2 * half]])


def _halves(samples: ArrayLike) -> Floats | None:
    """Every chain as two, without the draw in the middle of an odd number; None for too few draws, or no numbers."""
    chains = _chains(samples)
    half = chains.shape[1] // 2
    if chains.shape[1] < _FEWEST or np.isnan(chains).any():
        return None
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def _normal_scores(values: Floats) -> Floats:
    """Φ^{-1} of the ranks among all values, those of equal ones averaged, at (rank − 3/8)/(size + 1/4)."""
    return np.asarray(ndtri((ranks(values.ravel()) - 0.375) / (values.size + 0.25))).reshape(values.shape)


def _rhat(chains: Floats) -> float:
    draws = chains.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that never moved
        between, within = chains.mean(axis=1).var(ddof=1), chains.var(axis=1, ddof=1).mean()
        return float(np.sqrt(between / within + (draws - 1) / draws))


def _ess(chains: Floats) -> float:
    """The number of draws over 1 + 2 Σ ρ_t; the pairs ρ_2k + ρ_2k+1 are summed as long as they are positive, and none
    counts for more than one before it."""
    if np.ptp(chains) < _STILL:
        return float(chains.size)
    draws = chains.shape[1]
    mean = chains.mean(axis=1, keepdims=True)
    wave = np.fft.rfft(chains - mean, 2 ** int(np.ceil(np.log2(2 * draws))), axis=1)
    together = np.fft.irfft(np.mean(wave.real**2 + wave.imag**2, axis=0))[:draws] / draws
    within = together[0] * draws / (draws - 1)
    total = together[0] + mean.var(ddof=1)
    rho = 1 - (within - together) / total
    rho[0] = 1.0
    pairs = rho[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)[: max(draws - 1, 2) // 2]
    kept = int(np.append(np.flatnonzero(pairs <= 0), len(pairs) - 1)[0])
    last = rho[2 * kept] if pairs[kept] >= 0 else max(rho[2 * kept], 0.0)
    time = -1 + 2 * np.minimum.accumulate(pairs[:kept]).sum() + last
    return float(chains.size / max(time, 1 / np.log10(chains.size)))


def psis(log_weights: ArrayLike) -> tuple[Floats, Floats]:
    """Pareto-smoothed importance sampling: log weights (n, size) made steady and to sum to one, and k of each row.

    Where the greatest weights are equal, or too few, they stay as they are and k is infinite.
    """
    given = np.asarray(log_weights, dtype=np.float64)
    with np.errstate(all="ignore"):  # of weights so uneven that k tells
        rows = [_smoothed(row - row.max()) for row in given]
    smooth = np.stack([row for row, _ in rows])
    smooth = smooth - np.logaddexp.reduce(smooth, axis=1, keepdims=True)
    return smooth, np.array([k for _, k in rows], dtype=np.float64)


def _smoothed(log_weights: Floats) -> tuple[Floats, float]:
    """The 3√size greatest weights, or the greatest fifth of few, become quantiles of the Pareto law that fits them."""
    size = len(log_weights)
    count = int(3 * size**0.5) if size > 225 else size // 5
    order = np.argsort(log_weights)
    tail = order[size - count :]
    if count < _FEWEST_IN_TAIL or not log_weights[tail[-1]] - log_weights[tail[0]] >= np.finfo(float).tiny:
        return log_weights, np.inf
    cutoff = np.exp(log_weights[order[size - count - 1]])
    k, scale = _pareto(np.exp(log_weights[tail]) - cutoff)
    if not np.isfinite(k):
        return log_weights, np.inf
    p = np.arange(0.5, count) / count
    quantiles = np.log(cutoff + scale * (-np.log1p(-p) if k == 0 else np.expm1(-k * np.log1p(-p)) / k))
    found = log_weights.copy()
    found[tail] = np.minimum(quantiles, log_weights[tail[-1]])
    return found, k


def _pareto(excess: Floats) -> tuple[float, float]:
    """Shape k and scale of the generalised Pareto law of values in order: the posterior mean of b = −k/scale under
    Zhang and Stephens's prior, and k given b, drawn to ½ as by ten values more; NaN where it is no such law."""
    n = len(excess)
    quartile = excess[int(n / 4 + 0.5) - 1]
    if not quartile > excess[0]:
        return np.nan, np.nan
    steps = 30 + int(n**0.5)
    b = 1 / excess[-1] + (1 - np.sqrt(steps / (np.arange(steps) + 0.5))) / (3 * quartile)
    k = np.mean(np.log1p(-b[:, None] * excess), axis=1)
    log_likelihood = n * (np.log(-b / k) - k - 1)
    weight = np.exp(log_likelihood - np.logaddexp.reduce(log_likelihood))
    weight = np.where(weight >= 10 * np.finfo(float).eps, weight, 0.0)
    mean = np.sum(b * weight) / weight.sum()
    found = np.mean(np.log1p(-mean * excess))
    return float((n * found + 10 * 0.5) / (n + 10)), float(-found / mean)
