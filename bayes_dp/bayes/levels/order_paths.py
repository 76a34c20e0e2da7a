"""Where scores in a given order most likely lie, in blocks: what says where the exact integral needs a fine grid.

The scores without z are N(0, 1), those with it have r_t times that density. Their places z_1 < … < z_K in the middles
of K blocks of consecutive scores, of which n_j are in block j and m_j of these with z, maximise

    Σ_j [n_j log φ(z_j) + m_j log r_t(z_j)] + Σ_j w_j log(z_{j+1} − z_j),   w_j = (n_j + n_{j+1})/2,

whose last sum is the volume in which the scores of a block may move. Blocks are of equal length in 2 asin √(rank/N), in
which all order statistics have the same standard deviation, 1/√N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.support.arrays import Floats, Indices, Ints

__all__ = ["Paths", "likely_paths", "log_normal"]

_BLOCKS = 32
_TURNS = 18  # Newton's steps at most
_LEFT = 0.8  # of a gap that a step may close
_NEAR = 3e-3  # the last of them
_STEP = 0.05  # of differences in z
_FLATTER = 0.9  # the most by which log r may bend upwards: less than log φ bends downwards, so that Newton climbs
_START = 200  # points of the densities at which the first path is found
_LOW = -8.5  # what lies below in N(0, 1) is left out
_NEGLIGIBLE = 38.0  # nats of a density, after which it is left out
_FARTHEST = 40.0
_NEVER = 1e4  # nats for a density that is 0
_SAME = 0.05  # by which paths of one maximum may differ


@dataclass(frozen=True)
class Paths:
    """Places (S, K + 2, T) that the scores of the ranks (K + 2,) take at each of T levels, with the ends of the line.

    There are several where the sum has several maxima, as it may for a density ratio that jumps; the highest is first.
    """

    rank: Floats
    z: Floats
    height: Floats  # (T,) of the largest maximum: log ℓ(t) but for some nats, and a number that t does not change
    log_density: Floats  # (2, T) the mean of log φ over the scores without z, and of log(φ r) over those with it

    def at(self, levels: Indices) -> Paths:
        """Those of some of the levels."""
        return Paths(self.rank, self.z[..., levels], self.height[levels], self.log_density[:, levels])


def log_normal(z: Floats) -> Floats:
    """log φ(z)."""
    return np.asarray(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi))


def likely_paths(labels: Ints, family: TradeOffFamily, t: Floats) -> Paths:
    """The paths of labels (N,), 1 for a score with z, in the order of their scores, at the levels t (T,)."""
    size, share = len(labels), float(labels.mean())
    rank = size * np.sin(0.5 * np.linspace(0.0, np.pi, 2 * _BLOCKS + 1)) ** 2
    n = np.diff(rank[::2])[:, None]
    below = np.interp(rank[::2], np.arange(size + 1), np.append(0.0, np.cumsum(labels)))
    with_z = np.diff(below)[:, None]
    high = _upper_end(family, t)

    def climbed(mixed: list[float], some: list[Indices]) -> list[Floats]:
        """For each share of scores with z in the mixture at which it starts, the path at some of the levels."""
        starts = [
            _mixture(rank[1::2] / size, each, family, t[levels], high[levels])
            for each, levels in zip(mixed, some, strict=True)
        ]
        found = _climb(np.concatenate(starts, axis=1), n, with_z, family, t[np.concatenate(some)])
        return np.split(found, np.cumsum([len(levels) for levels in some])[:-1], axis=1)

    every, few = np.arange(len(t)), np.unique([0, len(t) // 2, len(t) - 1])
    first, *others = climbed([share, 0.0, 1.0], [every, few, few])
    z = first[None]
    if np.abs(np.stack(others) - first[:, few]).max() > _SAME:
        z = np.stack([first, *climbed([0.0, 1.0], [every, every])])
    log_phi, log_ratio = log_normal(z), _finite(family.log_ratio(z, t))
    height = (n * log_phi + with_z * log_ratio).sum(axis=1) + (_gaps(n) * np.log(np.diff(z, axis=1))).sum(axis=1)
    best = height.argmax(axis=0)
    order = np.argsort(-height, axis=0)
    # A path far below the best, or the same as the best, is replaced by it.
    lesser = (height < height[best, every] - _NEGLIGIBLE) | (np.abs(z - z[best, :, every].T).max(axis=1) < _SAME)
    z = np.where(lesser[:, None], z[best, :, every].T, z)
    z = np.take_along_axis(z, order[:, None], axis=0)
    log_phi, log_ratio = log_phi[best, :, every].T, log_ratio[best, :, every].T
    ends = np.broadcast_to(_LOW, (len(z), 1, len(t))), np.broadcast_to(high, (len(z), 1, len(t)))
    without, some = n - with_z, with_z * (log_ratio > -_NEVER)
    return Paths(
        rank=np.concatenate([[0.0], rank[1::2], [size]]),
        z=np.concatenate([ends[0], z, ends[1]], axis=1),
        height=height.max(axis=0),
        log_density=np.stack(
            [
                (without * log_phi).sum(axis=0) / max(float(without.sum()), 1e-9),
                (some * (log_phi + log_ratio)).sum(axis=0) / np.maximum(some.sum(axis=0), 1e-9),
            ]
        ),
    )


def _upper_end(family: TradeOffFamily, t: Floats) -> Floats:
    """The z (T,) above which neither density is worth a look."""
    z = np.arange(0.0, max(_FARTHEST, 10.0 + 1.25 * float(t.max())), 0.25)[:, None]
    seen = log_normal(z) + family.log_ratio(z, t) > -_NEGLIGIBLE
    return np.maximum(np.where(seen, z, 0.0).max(axis=0) + 0.25, -_LOW)


def _mixture(share: Floats, with_z: float, family: TradeOffFamily, t: Floats, high: Floats) -> Floats:
    """The quantiles of both kinds of scores together, (K, T)."""
    z = _LOW + (high - _LOW) * np.linspace(0.0, 1.0, _START)[:, None]
    log_phi = log_normal(z)
    density = (1.0 - with_z) * np.exp(log_phi) + with_z * np.exp(np.minimum(log_phi + family.log_ratio(z, t), 700.0))
    below = np.zeros_like(z)
    below[1:] = np.cumsum(0.5 * (density[1:] + density[:-1]), axis=0)
    below = below / below[-1] + 1e-9 * np.arange(_START)[:, None]  # increasing where the density is 0
    return np.stack([np.interp(share * below[-1, j], below[:, j], z[:, j]) for j in range(len(t))], axis=1)


def _climb(start: Floats, n: Floats, with_z: Floats, family: TradeOffFamily, t: Floats) -> Floats:
    """Newton's method for all levels at once, with steps that leave a part of every gap."""
    found, w, open_ = start.copy(), _gaps(n), np.arange(len(t))
    for _ in range(_TURNS):
        z = found[:, open_]
        gap = np.diff(z, axis=0)
        before, at, after = _finite(family.log_ratio(z + np.array([-_STEP, 0.0, _STEP])[:, None, None], t[open_]))
        slope = with_z * (after - before) / (2.0 * _STEP) - n * z
        slope[1:] += w / gap
        slope[:-1] -= w / gap
        bend = n - with_z * np.minimum((after - 2.0 * at + before) / _STEP**2, _FLATTER)
        stiff = w / gap**2
        bend[1:] += stiff
        bend[:-1] += stiff
        move = _solve(bend, stiff, slope)
        closed = (-np.diff(move, axis=0) / gap).max(axis=0)
        found[:, open_] = z + move * np.minimum(1.0, _LEFT / np.maximum(closed, 1e-9))
        open_ = open_[np.abs(move).max(axis=0) > _NEAR]
        if not len(open_):
            break
    return found


def _solve(diagonal: Floats, beside: Floats, right: Floats) -> Floats:
    """x of A x = right for T positive definite A with this diagonal (K, T) and −beside (K − 1, T) next to it.

    They are one matrix with nothing between the blocks.
    """
    off = np.zeros_like(diagonal)
    off[:-1] = -beside
    *_, x, _ = lapack.dptsv(diagonal.T.ravel(), off.T.ravel()[:-1], right.T.ravel())
    return np.asarray(x).reshape(right.shape[::-1]).T


def _gaps(n: Floats) -> Floats:
    return 0.5 * (n[1:] + n[:-1])


def _finite(log_ratio: Floats) -> Floats:
    return np.clip(log_ratio, -_NEVER, _NEVER)
