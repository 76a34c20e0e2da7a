"""The likelihood of the order of scores: exact, and the same for every increasing function of the scores.

N0 scores of models without z and N1 of models with it, in increasing order, have labels c_1, …, c_N, 1 for "with". At
the level t of a family of trade-off functions their order has the probability

    ℓ(t) = N0! N1! ∫_{z_1 < … < z_N} Π_k φ(z_k) r_t(z_k)^{c_k} dz,

where a score without z is N(0, 1) and r_t is the density of one with it over that, r_t(z) = −f_t′(α) at α = Φ(−z). With
C_0 = 1 and C_k(z) = ∫_{−∞}^z φ r_t^{c_k} C_{k−1} it is N0! N1! C_N(∞).

C_k is a polynomial on each of many panels of the line, given by its values at Gauss–Legendre nodes, and the integral is
a matrix. As C_k grows like a k-th power, a panel holds a few scores and no more; as only z near the k-th score matters,
only the panels within so many standard deviations of it are kept. Where scores lie is known by `order_paths`. Whether
panels are short and many enough is seen from a second, finer, integral at some of the levels; they are refined until
both agree. Where the last two do not even agree roughly, which happens far below the largest ℓ, the result is NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.pure import PURE
from bayes_dp.bayes.levels.order_paths import Paths, likely_paths, log_normal
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["log_order_probability", "sketch"]

_NODES = 16  # of a panel
_SCORES, _LENGTH = 8.0, 0.8  # in a panel, and its length, at most
_REACH = 8.5  # standard deviations of an order statistic that are kept
_FINER = 5  # times that panels are refined at most
_AGREE = 2e-10  # what two integrals may differ by, as a share of log ℓ, besides what the family allows in nats
_USABLE = 1e-4, 1e-6  # the same of the last two, in nats and as a share, beyond which there is no result
_AT_ONCE = 48  # levels
_RESCALED = 4  # after so many scores, where densities do not differ by more than e^100 along the path
_STEEP = 12.0  # from which level on they may
_BEYOND, _ROUNDING = 1e3, 1e-15  # a gap up to which G has grown to 1, and what a probability may lack of 1
_LARGEST = 400.0  # the logarithm of C at the right end of what is kept, at most


def _integration() -> tuple[Floats, Floats]:
    """The nodes on [0, 1], and the matrix from values there to the integrals up to each node, and to 1, (q + 1, q)."""
    x, weight = legendre.leggauss(_NODES)
    order = np.arange(_NODES)
    to_series = (legendre.legvander(x, _NODES - 1) * weight[:, None]).T * (order[:, None] + 0.5)
    values = legendre.legvander(x, _NODES)
    series = np.column_stack([x + 1.0, (values[:, 2:] - values[:, :-2]) / (2.0 * order[1:] + 1.0)])
    return 0.5 + 0.5 * x, 0.5 * np.vstack([series @ to_series, weight])


_X, _INTEGRAL = _integration()


@underflow_is_zero
def log_order_probability(labels: Ints, family: TradeOffFamily, t: Floats, paths: Paths | None = None) -> Floats:
    """log ℓ(t) at levels t (T,) of labels (N,) in the order of their scores, 0 without and 1 with z; (T,).

    NaN where the integral does not converge. `paths` are those of `sketch` at these levels, if they are known.
    """
    if family is PURE:
        return _pure(labels, t)
    paths = likely_paths(labels, family, t) if paths is None else paths
    found, open_ = np.zeros(len(t)), ~_certain(labels, family, t)
    if open_.any():
        found[open_] = _general(labels, family, t[open_], paths.at(np.flatnonzero(open_)))
    return found


def _certain(labels: Ints, family: TradeOffFamily, t: Floats) -> Bools:
    """Whether ℓ(t) is 1 but for rounding: where all scores with z are above all others, and no pair may be otherwise.

    One with z is below one without with the probability ∫ f_t = (1 − G(t))/2, so that 1 − ℓ(t) ≤ N0 N1 (1 − G(t))/2.
    """
    if family.most < np.inf or (np.diff(labels) < 0).any():
        return np.zeros(len(t), bool)
    ones = int(labels.sum())
    with np.errstate(divide="ignore"):
        pairs = np.log(ones) + np.log(len(labels) - ones)
        log_pair = family.log_layer(t, np.full(len(t), _BEYOND)) - np.log(2.0)
    return np.asarray(pairs + log_pair < np.log(_ROUNDING))


def sketch(labels: Ints, family: TradeOffFamily, t: Floats) -> tuple[Floats, Paths | None]:
    """Roughly log ℓ(t) at levels t (T,), but for a constant that the labels backwards have too; and what tells it."""
    if family is PURE:
        return _pure(labels, t), None
    paths = likely_paths(labels, family, t)
    return paths.height, paths


def _general(labels: Ints, family: TradeOffFamily, t: Floats, paths: Paths) -> Floats:
    """log ℓ(t) of any family."""
    found = np.empty(len(t))
    order = np.argsort(t, kind="stable")
    for i in range(0, len(t), _AT_ONCE):
        some = order[i : i + _AT_ONCE]
        found[some] = _converged(labels, family, t[some], paths.at(some))
    ones = int(labels.sum())
    return found + special.gammaln(ones + 1.0) + special.gammaln(len(labels) - ones + 1.0)


def _pure(labels: Ints, t: Floats) -> Floats:
    """r is e^{−t} up to α = 1/(1 + e^t) and e^t beyond: the sum over how many scores, j, are on this side of it."""
    size, ones = len(labels), int(labels.sum())
    j, below = np.arange(size + 1)[:, None], np.append(0, np.cumsum(labels))[:, None]
    log_terms = -j * np.logaddexp(0.0, -t) - (size - j) * np.logaddexp(0.0, t) + t * (ones - 2 * below)
    log_ways = special.gammaln(size - ones + 1.0) + special.gammaln(ones + 1.0)
    ways = log_ways - special.gammaln(j + 1.0) - special.gammaln(size - j + 1.0)
    return np.asarray(special.logsumexp(log_terms + ways, axis=0))


def _converged(labels: Ints, family: TradeOffFamily, t: Floats, paths: Paths) -> Floats:
    """log C_N(∞), on finer panels where these tell otherwise; at first they are asked at three of the levels."""
    found = _log_integral(labels, family, t, paths, 0)
    wanted = family.ratio_error, _AGREE
    few = np.unique([0, len(t) // 2, len(t) - 1])
    if _agree(found[few], _log_integral(labels, family, t[few], paths.at(few), 1), wanted).all():
        return found
    open_ = np.arange(len(t))
    for finer in range(1, _FINER + 1):
        before, found[open_] = found[open_], _log_integral(labels, family, t[open_], paths.at(open_), finer)
        agree = _agree(before, found[open_], wanted)
        usable = _agree(before, found[open_], _USABLE)
        open_, lost = open_[~agree], open_[~usable]
        if not len(open_):
            break
    found[lost] = np.nan
    return found


def _agree(one: Floats, other: Floats, within: tuple[float, float]) -> Bools:
    with np.errstate(invalid="ignore"):
        return np.asarray((one == other) | (np.abs(one - other) <= within[0] + within[1] * np.abs(other)))


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def _log_integral(labels: Ints, family: TradeOffFamily, t: Floats, paths: Paths, finer: int) -> Floats:
    """log C_N(∞) at levels (T,) on panels that are halved `finer` times; nonsense or NaN where these are too coarse."""
    size, levels = len(labels), len(t)
    scores, length, reach = _SCORES / 1.5**finer, _LENGTH / 2.0**finer, _REACH * 1.6**finer
    edges, first, last = _panels(family, t, paths, scores, length, reach)
    weights = _weights(family, t, edges, paths.log_density)
    count = len(edges)  # of panels, and of the place above all of them
    c = np.ones((_NODES, count * levels))
    scaled = np.empty_like(c)
    right, log_scale = np.ones(levels), np.zeros(levels)
    often = _RESCALED if t.max() < _STEEP else 1
    largest = np.exp(min(_LARGEST, 0.5 * _REACH * np.sqrt(size)))
    for k, label in enumerate(labels):
        if k and last[k] > last[k - 1]:  # beyond its panels C is about what it is at their end
            c[:, last[k - 1] * levels : last[k] * levels] = np.tile(right, last[k] - last[k - 1])
        kept = slice(first[k] * levels, last[k] * levels)
        inside = np.multiply(c[:, kept], weights[label][:, kept], out=scaled[:, kept])
        integral = _INTEGRAL @ inside
        total = integral[-1].reshape(-1, levels)
        before = np.cumsum(total, axis=0)
        right = before[-1].copy()
        before -= total
        np.add(integral[:-1], before.reshape(-1), out=c[:, kept])
        if k % often == often - 1:
            scale = right / largest
            c[:, kept] /= np.tile(scale, last[k] - first[k])
            log_scale += np.log(scale)
            right = np.full(levels, largest)
    ones = int(labels.sum())
    log_scale += np.log(right)
    return log_scale + (size - ones) * paths.log_density[0] + ones * paths.log_density[1]


def _panels(
    family: TradeOffFamily, t: Floats, paths: Paths, scores: float, length: float, reach: float
) -> tuple[Floats, Ints, Ints]:
    """The edges of panels (P + 1, T), and for each score the first panel kept and the one after the last, (N,)."""
    size, levels = int(paths.rank[-1]), len(t)
    turn = 2.0 * np.arcsin(np.sqrt(np.arange(1, size + 1) / size))
    near = [size * np.sin(0.5 * np.clip(turn + side * reach / np.sqrt(size), 0.0, np.pi)) ** 2 for side in (-1.0, 1.0)]
    kinks = -special.ndtri(family.kinks(t))  # (T, j)
    loads = [_load(paths, j, scores, length) for j in range(levels)]
    # Panels end at kinks; between them they are of equal load, at most 1.
    stops = np.array(
        [[0.0, *np.sort(np.interp(at, *load)), load[1][-1]] for at, load in zip(kinks, loads, strict=True)]
    )
    parts = np.ceil(np.diff(stops, axis=1) - 1e-9).astype(int)
    count = int(parts.sum(axis=1).max())
    parts[:, -1] += count - parts.sum(axis=1)
    starts = np.column_stack([np.zeros(levels, int), np.cumsum(parts, axis=1)])
    edges, low, high = np.empty((count + 1, levels)), np.full(size, count - 1.0), np.zeros(size)
    for j, (z, load) in enumerate(loads):
        some = np.append(True, parts[j] > 0)
        at = np.interp(np.arange(count + 1), starts[j, some], stops[j, some])
        edges[:, j] = np.interp(at, load, z)
        for path in _distinct(paths, j):
            ends = [
                np.interp(np.interp(np.interp(rank, paths.rank, path), z, load), at, np.arange(count + 1))
                for rank in near
            ]
            low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
    first = np.floor(low).astype(int)
    last = np.where(near[1] < size, np.ceil(high), count + 1).astype(int)  # with what is at z = ∞
    return edges, np.maximum.accumulate(first), np.maximum.accumulate(np.maximum(last, first + 1))


def _load(paths: Paths, level: int, scores: float, length: float) -> tuple[Floats, Floats]:
    """Places z and a function there that rises by 1 along a panel as long as one may be."""
    distinct = _distinct(paths, level)
    z = np.unique(distinct)
    ranks = sum(np.interp(z, path, paths.rank) for path in distinct)
    return z, np.asarray(ranks / scores + (z - z[0]) / length)


def _distinct(paths: Paths, level: int) -> list[Floats]:
    first, *others = paths.z[..., level]
    return [first, *(path for path in others if (path != first).any())]


def _weights(family: TradeOffFamily, t: Floats, edges: Floats, log_density: Floats) -> Floats:
    """φ and φ r times the length of its panel at all nodes, each over what it is along the path: (2, q, (P + 1) T).

    The last panel stands for z = ∞: what there is of the scores with z, and 0 of those without.
    """
    length = np.diff(edges, axis=0)
    z = edges[:-1] + length * _X[:, None, None]
    log_weight = np.stack([log_normal(z), log_normal(z) + family.log_ratio(z, t)]) + np.log(length)
    beyond = np.maximum(1.0 - np.einsum("q,qpt->t", _INTEGRAL[-1], np.exp(log_weight[1])), 0.0)
    weight = np.zeros((2, _NODES, len(edges), len(t)))
    weight[:, :, :-1] = np.exp(log_weight - log_density[:, None, None])
    weight[1, :, -1] = beyond * np.exp(-log_density[1])
    return weight.reshape(2, _NODES, -1)
