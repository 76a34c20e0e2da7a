"""The posterior of one attack's ε when its two error rates have independent Beta posteriors.

With a ~ Beta(X+c, N0−X+c) and b ~ Beta(Y+c, N1−Y+c), c = 1/2 being Jeffreys' prior, P[ε ≤ e] = P[(a,b) ∈ R(e,δ)]
(Zanella-Béguelin et al. 2023, "Bayesian Estimation of Differential Privacy", 4). This is the ε of the attack, so it is
that of the mechanism only if the attack is the strongest possible.

The complement of R(e,δ) is K = {b < f_{e,δ}(a)} and its image K' under (a,b) → (1−a,1−b). With the line
l(t) = 1−δ−e^e t, which crosses the diagonal at x = (1−δ)/(1+e^e),

    P(K)     = ∫_0^x p_a (F_b(l)−F_b(x)) dt + ∫_0^x p_b (F_a(l)−F_a(x)) dt + F_a(x) F_b(x)
    1 − P(K) = ∫_0^x p_a (1−F_b(l)) dt      + ∫_0^x p_b (1−F_a(l)) dt      + (1−F_a(x)) (1−F_b(x))
    −dP(K)/de = ∫_0^x p_a p_b(l) e^e t dt   + ∫_0^x p_b p_a(l) e^e t dt.

In the angle θ, t = sin²θ, the integrands have no singularities for c ≥ 1/2, and a Beta law of n trials has a standard
deviation of about 1/(2√n) wherever its mean is, which tells where to cut the range.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.beta import log_density, log_peak
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["JointBeta"]


_X, _W = np.polynomial.legendre.leggauss(12)
_NODES, _WEIGHTS = (_X + 1) / 2, _W / 2
_CUTS = np.arange(-9.0, 9.1, 3.0)  # standard deviations from the mean, at which the range is cut into panels
_LARGEST = 700.0


class JointBeta:
    """The posterior of ε given δ from the counts of one base; `prior` is c, at least 1/2."""

    def __init__(self, x: int, n0: int, y: int, n1: int, delta: float, prior: float = 0.5) -> None:
        a, b = (x + prior, n0 - x + prior), (y + prior, n1 - y + prior)
        # Both corners, each with either rate integrated over: the first rate's Beta parameters, then the second's.
        pairs = np.array([[a, b], [b, a], [a[::-1], b[::-1]], [b[::-1], a[::-1]]])
        self._p, self._q = pairs[..., 0], pairs[..., 1]  # (4, 2): integral, rate
        self._delta = delta
        total = self._p + self._q
        self._angles = np.arcsin(np.sqrt(self._p / total))[..., None] + _CUTS / (2 * np.sqrt(total))[..., None]
        self._angles = np.clip(self._angles, 0.0, math.pi / 2)
        # The density of Beta(p,q) is that of Beta(p+1,q+1), whose mode is inside, over t (1−t), times a constant.
        self._peak = log_peak(self._p, total) + np.log(self._p * self._q / (total * (total + 1)))

    def cdf(self, epsilon: float) -> float:
        """P[ε ≤ epsilon]."""
        return self._at(epsilon)[0]

    def quantile(self, probability: float) -> float:
        """The least ε ≥ 0 with P[ε ≤ it] ≥ probability, by Newton's method on the log odds within a bracket."""
        if probability >= 1:  # as 1 − p/2 is, rounded, for the smallest p
            return math.inf
        goal = special.logit(probability)
        low, high, (at, stride) = -1.0, math.inf, self._guess(probability)
        while high - low > 1e-12 * max(1.0, low) and at < _LARGEST:
            below, above, density = self._at(at)
            seen = min(below, above) > 1e-15
            off = special.logit(below) if below < above else -special.logit(above)
            low, high = (at, high) if off < goal else (low, at)
            if at == 0 and off >= goal:
                return 0.0
            new = max(0.0, at + (goal - off) * below * above / density) if seen and density > 0 else math.nan
            if abs(goal - off) < 1e-3 and abs(new - at) <= 1e-7:  # another step would change the square of that
                return float(new)
            if not low < new < high or abs(new - at) > 8 * stride:  # far out in a tail, where Newton goes astray
                new = max(0.0, at + math.copysign(stride, goal - off))
                stride *= 2
                if not low < new < high:
                    new = 0.5 * (low + high)
            at = new
        return at if at < _LARGEST else math.inf

    def _guess(self, probability: float) -> tuple[float, float]:
        """About the largest quantile of log((1−δ−b)/a) and of the three other ratios, and its standard deviation."""
        best, scale = 0.0, 0.5
        z = float(special.ndtri(probability))
        for (p, p_b), (q, q_b) in zip(self._p, self._q, strict=True):
            n, m = p + q, p_b + q_b
            gap = 1 - self._delta - p_b / m
            if gap <= 0:
                continue
            from_a = math.sqrt(special.polygamma(1, p) - special.polygamma(1, n))
            spread = math.hypot(from_a, math.sqrt(p_b * q_b / m**3) / gap)
            quantile = math.log(gap * n / p) + z * spread
            if spread < 2 * from_a:  # then it is worth to know that a is not log-normal
                rate = special.betaincinv(p, q, special.ndtr(-z * spread / from_a))
                quantile = math.log(gap / rate) if rate > 0 else 50.0
            if quantile > best:
                best, scale = quantile, spread
        return min(best, 50.0), min(scale, 1.0)

    def _at(self, epsilon: float) -> tuple[float, float, float]:
        """P[ε ≤ epsilon], P[ε > epsilon] and the density."""
        delta, growth = self._delta, math.exp(epsilon)
        corner = (1 - delta) * special.expit(-epsilon)
        which, theta, weight = self._nodes(epsilon, corner)
        sine, cosine = np.sin(theta), np.cos(theta)
        t = sine**2
        mass = weight * np.exp(self._log_pdf(which, 0, t, cosine**2)) * 2 * sine * cosine
        drop = growth * t
        line, rest = np.maximum(1 - delta - drop, corner), np.minimum(delta + drop, 1 - corner)
        p, q = self._p[which, 1], self._q[which, 1]
        cdf = special.betainc(p, q, line)
        sf = np.where(line < 0.1, 1.0 - cdf, special.betainc(q, p, rest))
        below = special.betainc(self._p[:, 1], self._q[:, 1], corner)  # F of the second rate at x
        above = special.betaincc(self._p[:, 1], self._q[:, 1], corner)
        inside = np.bincount(which, mass * sf, 4).reshape(2, 2).sum(axis=1) + np.prod(above.reshape(2, 2), axis=1)
        outside = np.bincount(which, mass * np.maximum(cdf - below[which], 0.0), 4).reshape(2, 2).sum(axis=1)
        outside += np.prod(below.reshape(2, 2), axis=1)
        density = float(mass @ (np.exp(self._log_pdf(which, 1, line, rest)) * drop))
        # 1 − P(K) − P(K'), from the complement of the larger corner.
        large = int(np.argmax(outside))
        return max(0.0, float(inside[large] - outside[1 - large])), min(1.0, float(outside.sum())), density

    def _log_pdf(self, which: Ints, rate: int, t: Floats, rest: Floats) -> Floats:
        """Of the rate (0 or 1) of each node's integral, at t with rest = 1 − t given apart."""
        k, n = self._p[which, rate], self._p[which, rate] + self._q[which, rate]
        with np.errstate(divide="ignore"):
            return log_density(k, n, self._peak[which, rate], t, rest) - np.log(t * rest)

    def _nodes(self, epsilon: float, corner: float) -> tuple[Ints, Floats, Floats]:
        """Gauss-Legendre nodes in the angle: which integral they are of, place and weight; each (nodes,).

        The cuts are where the first rate's density changes, and where the line meets those of the second rate's.
        """
        end = math.asin(math.sqrt(corner))
        drop = math.exp(-epsilon) * np.clip(np.cos(self._angles[:, 1]) ** 2 - self._delta, 0.0, 1.0)
        cuts = np.concatenate([np.zeros((4, 1)), self._angles[:, 0], np.arcsin(np.sqrt(drop))], axis=1)
        cuts = np.append(np.sort(np.minimum(cuts, end), axis=1), np.full((4, 1), end), axis=1)
        width = np.diff(cuts, axis=1)
        # Panels more than nine deviations from the mean hold nothing, unless the end keeps the range from the mean.
        near = cuts[:, 1:] > np.minimum(self._angles[:, 0, :1], 0.9 * end)
        near &= cuts[:, :-1] < self._angles[:, 0, -1:]
        which, panel = np.nonzero((width > 0) & near)
        theta = cuts[which, panel, None] + width[which, panel, None] * _NODES
        weight = width[which, panel, None] * _WEIGHTS
        return np.repeat(which, len(_NODES)), theta.ravel(), weight.ravel()
