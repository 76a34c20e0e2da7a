"""The trade-off function of DP-SGD, computed from the law of its privacy loss, with a bound from either side.

One step adds N(0, σ²) to a sum of which z is a part of size 1 with probability q. So "without z" is Q = N(0, σ²) and
"with z" is P = (1 − q) N(0, σ²) + q N(1, σ²), with the privacy loss ℓ(x) = log(1 − q + q exp((x − ½)/σ²)), which grows
in x. Steps add up: the law of the sum of T losses is a convolution, here by the fast Fourier transform on the grid kh.

A step is given by H(t) = E_Q (e^ℓ − t)_+, which is convex in t. The larger H, the more leaks, and composition keeps
that order. A polygon with its corners at t = e^{kh} is a law on the grid. So

    below f    H is replaced by its chords, which are above it (Doroshenko et al., "Connect the dots", PETS 2022)
    above f    H is replaced by the largest convex function below the polygon with corners H(e^{kh}) − s_k, where s_k is
               the larger of the greatest distances between H and its chords on both sides of the corner. With the
               Q-mass of a cell of width w divided into l and r by its chord, tangents bound it by w l r/(l + r)

Both differ from f by O(h²). h is made smaller until the two are within `TOLERANCE` everywhere. For the opposite order,
"with z" against "without z", all losses change their sign. The function here is the largest convex one below both: it
is symmetric, and its δ(ε) is the larger of the two. z is added or removed; each step samples by itself (Poisson).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import fft, special

from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.tradeoff.arguments import LARGEST_EXPONENT
from bayes_dp.tradeoff.functions import Gaussian, TradeOffFunction
from bayes_dp.tradeoff.polygon import Polygon

__all__ = ["TOLERANCE", "dp_sgd"]

TOLERANCE = 1e-6  # of the distance between the two bounds
_FIRST = 0.02  # width of the first grid, in standard deviations of the loss of a step; where z is rarely drawn, more
_MOST = 2**25  # points of a grid
_ROUNDED = 2e-14  # what differences of probabilities lose in the law below the true one; seen up to 9e-15
_NONE = 1e-9  # advantage that is taken for none
_TAIL = 1e-40  # probability that may fall off the grid of the sum
_EACH = 4000  # losses on each side of the likeliest one that are looked at one by one for moments
_FAR = 1e-12  # probability of the tail that is to be right


class _Law(NamedTuple):
    """Of a loss on the grid: (first + i) h has the probability q[i] without z and p[i] with it."""

    first: int
    p: Floats
    q: Floats


def dp_sgd(
    noise_multiplier: float, sampling_rate: float, steps: int, tolerance: float = TOLERANCE
) -> tuple[TradeOffFunction, TradeOffFunction]:
    """The bounds below and above f, for a noise multiplier σ > 0, a sampling rate 0 < q ≤ 1 and T ≥ 1 steps."""
    if sampling_rate == 1:  # all of the data in each step
        f = Gaussian(math.sqrt(steps) / noise_multiplier)
        return f, f
    most = steps * sampling_rate * float(special.erf(1 / (math.sqrt(8) * noise_multiplier)))  # of the advantage
    if most < _NONE:
        return Polygon(np.zeros(1), np.array([most])), Polygon(np.zeros(1), np.zeros(1))
    if 1 / noise_multiplier**2 > LARGEST_EXPONENT:
        raise InputError(f"noise_multiplier must be above 0.04, not {noise_multiplier:g}: less hides nothing")
    rare = min(max(1.0, math.sqrt(0.04 / (steps * sampling_rate))), 4.0)
    width = rare * _FIRST * _spread(noise_multiplier, sampling_rate)
    while True:
        cells = _cells(noise_multiplier, sampling_rate, steps, width)
        below = _composed(_chords(cells, width), steps, width, 1)
        above = _composed(_under(cells, width), steps, width, -1)
        gap = _distance(below, above)
        if gap <= tolerance:
            return below, above
        width *= min(0.5, max(0.2, 0.9 * math.sqrt(tolerance / gap)))  # the gap of a coarse grid says little


def _spread(sigma: float, rate: float) -> float:
    """The standard deviation of the loss of a step without z."""
    z = np.linspace(-9.0, 9.0, 3601)
    weight = np.exp(-(z**2) / 2)
    loss = np.logaddexp(math.log1p(-rate), math.log(rate) + z / sigma - 0.5 / sigma**2)
    mean = np.average(loss, weights=weight)
    return math.sqrt(np.average((loss - mean) ** 2, weights=weight))


# One step -------------------------------------------------------------------------------------------------------------


def _cells(sigma: float, rate: float, steps: int, width: float) -> _Law:
    """The probabilities of the losses between (first + i) h and (first + i + 1) h."""
    farthest = 1 / sigma - float(special.ndtri(1e-3 * _TAIL / steps))  # in units of σ; no more is beyond
    ends = np.array([1 / sigma - farthest, farthest]) / sigma - 0.5 / sigma**2
    lowest, highest = np.logaddexp(math.log1p(-rate), math.log(rate) + ends) / width
    first, last = math.floor(lowest), math.ceil(highest)
    _check_size(last - first)
    with np.errstate(divide="ignore"):
        excess = np.expm1(width * np.arange(first, last + 1)) / rate  # exp(z/σ − 1/2σ²) − 1 at the edges
        edge = sigma * np.log1p(np.maximum(excess, -1.0)) + 0.5 / sigma
    edge[0], edge[-1] = -np.inf, np.inf
    without = _between(edge)
    return _Law(first, (1 - rate) * without + rate * _between(edge - 1 / sigma), without)


def _between(edge: Floats) -> Floats:
    """The normal probabilities between neighbouring edges."""
    low, high = special.ndtr(edge), special.ndtr(-edge)
    return np.where(edge[:-1] > 0, high[:-1] - high[1:], low[1:] - low[:-1])


def _split(cells: _Law, width: float) -> tuple[Floats, Floats]:
    """The Q-mass of each cell that its chord puts on its left and on its right end."""
    left_end = width * (cells.first + np.arange(len(cells.q)))
    right = np.clip((np.exp(-left_end) * cells.p - cells.q) / math.expm1(width), 0.0, cells.q)
    return cells.q - right, right


def _on_grid(first: int, q: Floats, width: float) -> _Law:
    return _Law(first, np.exp(width * (first + np.arange(len(q)))) * q, q)


def _chords(cells: _Law, width: float) -> _Law:
    """The law whose H is the chords."""
    left, right = _split(cells, width)
    return _on_grid(cells.first, np.append(left, 0.0) + np.append(0.0, right), width)


def _under(cells: _Law, width: float) -> _Law:
    """The law whose H is below the true one; all of H − s is kept between the least possible, (1 − t)_+, and H."""
    from scipy.optimize import isotonic_regression  # a tenth of a second to import

    left, right = _split(cells, width)
    n, mass = len(left), left + right
    wide = np.exp(width * (cells.first + np.arange(n))) * math.expm1(width)
    distance = wide * left * np.divide(right, mass, out=np.zeros(n), where=mass > 0)
    lowered = np.maximum(np.append(distance, 0.0), np.append(0.0, distance))
    corners = np.append(left, 0.0) + np.append(0.0, right)
    below, above = np.cumsum(corners)[:-1], np.cumsum(corners[:0:-1])[::-1]  # Q-mass on either side of a cell
    over_line = np.append(0.0, np.cumsum(below * wide))  # H(t) − (1 − t)
    over_zero = np.append(np.cumsum((above * wide)[::-1])[::-1], 0.0)  # H(t)
    start = int(np.flatnonzero(over_line <= lowered)[-1]) + 1
    stop = int(np.flatnonzero(over_zero <= lowered)[0]) - 1
    if stop - start < 2:  # the grid is too wide to say anything: all at the loss 0, which leaks nothing
        return _Law(0, np.ones(1), np.ones(1))
    lowered[start], lowered[stop] = over_line[start], over_zero[stop]
    rise = np.diff(lowered) / wide
    found = np.zeros(n + 1)
    found[start + 1 : stop] = corners[start + 1 : stop] - np.diff(rise)[start : stop - 1]
    found[start] = below[start] - rise[start]
    found[stop] = above[stop - 1] + rise[stop - 1]
    end = start
    while (found < 0).any():  # where H bends too sharply for the grid: the largest convex function below
        end = min(stop, max(int(np.flatnonzero(found < 0)[-1]) + 2, 2 * end - start))
        steep = (above + rise)[start:end]
        steep = isotonic_regression(steep, weights=wide[start:end], increasing=False).x
        found[start] = 1 - steep[0]
        found[start + 1 : end] = -np.diff(steep)
        found[end] = steep[-1] - (above[end] + rise[end] if end < stop else 0.0)
        if end == stop:
            found = np.maximum(found, 0.0)
    return _on_grid(cells.first, found, width)


# All steps ------------------------------------------------------------------------------------------------------------


def _composed(step: _Law, steps: int, width: float, side: int) -> Polygon:
    """The polygon of the sum, moved by what the computation may have lost, down for side 1 and up for −1."""
    high, low = (_farthest(step, steps, width, sign) for sign in (1, -1))
    if width * max(high, low) > LARGEST_EXPONENT:
        raise InputError(
            "the privacy loss of so many steps with so small a noise_multiplier is beyond 700: it hides nothing"
        )
    size = fft.next_fast_len(low + high + 1, real=True)
    _check_size(size)
    length = max(low, high) + 1
    power, alpha, lost = np.zeros((3, 2, length))
    for i, sign, reach in ((0, 1, high), (1, -1, low)):  # losses above 0 with z, and below 0 without
        mass, slack = _sum(step, steps, width, sign, size, reach)
        with np.errstate(under="ignore"):
            power[i, : reach + 1] = _tail(mass)
            alpha[i, : reach + 1] = _tail(mass * np.exp(-width * np.arange(reach + 1)))
        lost[i, : reach + 1] = slack
    slack = np.minimum(lost.max(axis=0), lost.max()) + (_ROUNDED if side < 0 else 0.0)
    ratio = np.exp(width * np.arange(length + 1))
    at_left, at_right = (power[0] - t * alpha[0] >= power[1] - t * alpha[1] for t in (ratio[:-1], ratio[1:]))

    def best(values: Floats) -> Floats:
        """Of the better order at the right end of each cell of e^ε, and at its left end: as α grows."""
        both = [np.where(better, values[0], values[1]) for better in (at_right, at_left)]
        return np.stack(both, axis=1)[::-1].ravel()

    alpha, power = best(alpha), np.clip(best(power) + side * np.repeat(slack, 2)[::-1], 0.0, 1.0)
    start = float(power[0]) if side > 0 else 0.0
    keep = (alpha > 0) & (power > np.maximum(alpha, start))
    alpha, power = np.append(0.0, alpha[keep]), np.append(start, power[keep])
    grows = np.append(True, np.diff(np.maximum.accumulate(alpha)) > 0)
    return Polygon(alpha[grows], power[grows])


def _sum(step: _Law, steps: int, width: float, sign: int, size: int, reach: int) -> tuple[Floats, Floats]:
    """The probabilities of 0, h, …, `reach` h times the sign, and by how much their tail sums may be wrong.

    The transform is wrong by some multiple of the rounding error everywhere, which is too much for small probabilities.
    So it is done twice, the second time of the law with the density e^{tℓ}/M, which has its middle where the tail is.
    There the error is smaller by M^T e^{−tkh}; but more is off the grid, at most (M_u/M_t)^T e^{−(u − t) reach h} for
    any u > t.
    """
    mass, loss = _toward(step, width, sign)
    place = np.round(loss / width).astype(np.int64) % size
    tilts, moments = _moments(mass, loss, steps)
    noise = 1e-14 + 1e-15 * steps
    with np.errstate(under="ignore", over="ignore"):
        off = np.exp(moments - moments[:, None] - (tilts - tilts[:, None]) * reach * width)  # (t, u)
        errors = noise + np.where(tilts > tilts[:, None], off, np.inf).min(axis=1)
        far = _quantile(tilts, moments, _FAR)
        best = int(np.argmin(np.log(errors) + moments - tilts * far))
        tilt, moment = float(tilts[best]), float(moments[best])
        scale = np.exp(np.minimum(moment - tilt * width * np.arange(reach + 1), 700.0))
        plain = _powered(mass, place, size, steps)[: reach + 1]
        tilted = _powered(np.exp(np.log(mass) + tilt * loss - moment / steps), place, size, steps)[: reach + 1]
        better = errors[best] * scale < noise
        return np.maximum(np.where(better, tilted * scale, plain), 0.0), np.minimum(noise, errors[best] * scale)


def _toward(step: _Law, width: float, sign: int) -> tuple[Floats, Floats]:
    """The probabilities that are not 0, with z for losses times 1, without z for those times −1, and these losses."""
    mass = step.p if sign > 0 else step.q
    return mass[mass > 0], np.asarray(sign * width * (step.first + np.flatnonzero(mass > 0)), dtype=np.float64)


def _powered(mass: Floats, place: Indices, size: int, steps: int) -> Floats:
    """The law of the sum; what falls off one end comes in at the other."""
    return np.asarray(fft.irfft(fft.rfft(np.bincount(place, mass, size)) ** steps, size))


def _tail(mass: Floats) -> Floats:
    """The sums of all that follows each place."""
    return np.append(np.cumsum(mass[:0:-1])[::-1], 0.0)


def _farthest(step: _Law, steps: int, width: float, sign: int) -> int:
    """How many h the sum is beyond with a probability of at most `_TAIL`: above with z, or below without."""
    return math.ceil(max(_quantile(*_moments(*_toward(step, width, sign), steps), _TAIL), width) / width)


def _moments(mass: Floats, loss: Floats, steps: int) -> tuple[Floats, Floats]:
    """Some t > 0, and T log E e^{tℓ} of each; losses far from the middle are taken together with their neighbours."""
    further = _EACH * 1.01 ** np.arange(100 * math.log(max(len(mass), _EACH)))
    far = np.concatenate([np.arange(_EACH), further]).astype(int)
    middle = int(np.argmax(mass))
    starts = np.unique(np.clip(np.concatenate([middle - far, middle + far]), 0, len(mass) - 1))
    loss, mass = np.add.reduceat(mass * loss, starts), np.add.reduceat(mass, starts)
    loss = loss / mass
    spread = math.sqrt(max(steps * float(mass @ (loss - float(mass @ loss)) ** 2), 1e-300))
    least = -max(6, math.ceil(math.log2(14 / spread)))  # with few losses far from the others, tails end by t near 1
    tilts = 14 / spread * 2.0 ** np.arange(least, 1.5, 0.5)
    log_mass = np.log(mass)
    return tilts, np.array([steps * float(special.logsumexp(log_mass + t * loss)) for t in tilts])


def _quantile(tilts: Floats, moments: Floats, tail: float) -> float:
    """Chernoff's bound, the least (T log E e^{tℓ} − log tail)/t."""
    return float(np.min((moments - math.log(tail)) / tilts))


def _check_size(size: int) -> None:
    if size > _MOST:
        raise InputError(
            "the trade-off function of these steps needs a grid of more than 2**25 points: noise_multiplier or"
            " sampling_rate is too small for so many steps"
        )


def _distance(below: Polygon, above: Polygon) -> float:
    """The largest, which is at a corner of one of the two."""
    return max(float(np.max(above(at) - below(at))) for at in (_corners(below), _corners(above)))


def _corners(polygon: Polygon) -> Floats:
    return np.concatenate([polygon.alpha, 1 - polygon.power])
