"""The posterior of what a DP-SGD really does, σ and q, from what its Dirac canaries see, and of the ε that follows.

A Dirac canary has a coordinate of the gradient to itself. Step t shows of it oₜ, in units of the clipping norm, which
is N(0, σ²) where the canary is not in the training, and where it is

    oₜ ~ (1 − q) N(0, σ²) + q N(κ, σ²),

independently from step to step and from canary to canary. q is the sampling rate, σ the noise multiplier, and κ the
norm of what is added, 1 if it is clipped. What protects is σ/κ.

    priors       log σ ~ N(log σ₀, 1.5²), logit q ~ Logistic(logit q₀, 1), log κ ~ N(0, 1), with the claimed σ₀ and q₀,
                 or ½ where q₀ is more: so that a true claim is not refuted by the prior where the data say little
    likelihood   by cells of the observations, each at its mean: at most 400 of them, however many there are
    posterior    by importance sampling from Student's t laws in (log σ, logit q, log κ), fitted twice
    ε            the accountant's, of each draw: ε(σ/κ, q) of the claimed steps at δ, by cubics between 16 points; less
                 than 0.45 of the claimed noise, or 0.1 of the claimed rate, counts as that

That steps are independent is tested apart from the posterior. In windows of 1/q steps, with e = o less its mean,

    Z = Σ over windows of ((Σ e)² − Σ e²) / √(2 w (w − 1) v² n),

n windows of w steps and v the variance of o, is standard normal if they are. Sampling by shuffling makes it negative
for members, as each is drawn once an epoch; noise that is used again makes it large for all. The same sum over the
canaries of a step tells noise that several coordinates share. And Σ o² of a step over the canaries that are out is
σ² times χ², so that a step with less noise than is claimed shows, though all together have it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import interpolate, optimize, special, stats

from bayes_dp.checks import InputError, numbers, one_number, seed_of, show, truth
from bayes_dp.claims.claim import Claim
from bayes_dp.data.json_text import finite
from bayes_dp.results.base import Result
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits

__all__ = ["StepsPosterior", "estimate_steps"]

_DRAWS = 4000
_CELLS = 400
_LEVEL = 0.025  # of each of the two ways to refute a claim: the posterior, and the tests of independence
_POINTS = 4  # of each axis, between which ε is interpolated
_LEAST_NOISE, _MOST_NOISE = 0.45, 4.0  # σ/κ of these points, times the claimed one
_MUCH_NOISE = 100.0  # up to which they go in any case
_LEAST_RATE = 0.1  # times the claimed one
_FEW = 200  # effective draws; observations for a test of their law
_STRANGE = 5.0  # standard errors
_NOTHING_HIDDEN = 700.0  # ε


@dataclass(frozen=True, eq=False, repr=False)
class StepsPosterior(Result):
    """What the canaries of a DP-SGD say of it, as `estimate_steps` gives it.

    `noise_multiplier` (σ/κ), `sampling_rate` (q), `norm` (κ) and `epsilon` are draws from the posterior, (4000,) each.
    `z_members`, `z_others` and `z_canaries` are what tells whether steps and canaries depend on each other.

    >>> rng = np.random.default_rng(0)
    >>> member = np.arange(400) < 200
    >>> inner = 0.5 * rng.normal(size=(20, 400)) + (rng.random((20, 400)) < 0.1) * member  # half of the noise
    >>> found = bdp.estimate_steps(inner, member, bdp.Claim.dp_sgd(1.0, 0.1, 20, 1e-5))
    >>> found.refuted, [round(end, 1) for end in found.interval(0.9, "noise_multiplier")]
    (True, [0.5, 0.5])
    """

    claim: Claim
    noise_multiplier: Floats
    sampling_rate: Floats
    norm: Floats
    epsilon: Floats
    z_members: float
    z_others: float
    z_canaries: float
    p_noise: float
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    provenance: Provenance

    format = "bayes-dp/steps/1"
    kind = "posterior"

    @property
    def prob_above(self) -> float:
        """P(ε > the claim's ε | data)."""
        return float(np.mean(self.epsilon > (self.claim.epsilon or 0.0)))

    @property
    def p_independence(self) -> float:
        """The p-value that steps, and canaries, are independent: the least of twice that of members from step to step,
        and eight times those of the others, and of all from canary to canary."""
        first, *others = (2 * float(stats.norm.sf(abs(z))) for z in (self.z_members, self.z_others, self.z_canaries))
        return min(1.0, 2 * first, *(8 * p for p in others))

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted: ε is above it with probability 0.975, or steps or canaries depend on each other
        with p < 0.025, or a step has less noise than is claimed with `p_noise` < 0.025, four times its p-value.

        A true claim is refuted in 5% of the audits at most, as far as the posterior is calibrated: half of that is the
        posterior's, and of the rest a half is that of members from step to step, as shuffling is hard to see.
        """
        return self.prob_above > 1 - _LEVEL or min(self.p_independence, self.p_noise) < _LEVEL

    def interval(self, prob: float = 0.9, parameter: str = "epsilon") -> tuple[float, float]:
        """The interval with equal tails of "epsilon", "noise_multiplier", "sampling_rate" or "norm"."""
        share = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        if not isinstance(parameter, str) or parameter not in _PARAMETERS:
            raise InputError(f"parameter must be one of {', '.join(_PARAMETERS)}, not {show(parameter)}")
        low, high = np.quantile(getattr(self, parameter), [(1 - share) / 2, (1 + share) / 2])
        return float(low), float(high)

    def _parts(self) -> Iterator[Part]:
        yield Line(f"The claim ({self.claim.statement()}) is {'REFUTED' if self.refuted else 'not refuted'}")
        claimed = dict(zip(_PARAMETERS, (self.claim.epsilon, *(self.claim.training or ())[:2], 1.0), strict=True))
        rows = []
        for name in _PARAMETERS:
            low, high = self.interval(0.9, name)
            said = claimed[name]
            rows.append((name, digits(float(said or 0.0)), digits(float(np.median(getattr(self, name)))),
                         f"{digits(low)} to {digits(high)}"))  # fmt: skip
        yield Rows(rows, ("", "claimed", "median", "90% interval"), sides="lrrr", gap="   ")
        yield Line(
            f"P(epsilon above the claim) = {self.prob_above:.3f}; steps and canaries are independent: p ="
            f" {self.p_independence:.2g}; no step has less noise than claimed: p = {self.p_noise:.2g}"
        )
        yield Sentences("Assumptions", self.assumptions)
        yield Sentences("Warning", self.warnings, "each")

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "kind": self.kind,
            "claim": self.claim.statement(),
            "refuted": self.refuted,
            "prob_above": self.prob_above,
            "p_independence": self.p_independence,
            "p_noise": self.p_noise,
            "medians": finite({name: float(np.median(getattr(self, name))) for name in _PARAMETERS}),
            "intervals": {name: finite(list(self.interval(0.9, name))) for name in _PARAMETERS},
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
        }


_PARAMETERS = ("epsilon", "noise_multiplier", "sampling_rate", "norm")


def estimate_steps(
    inner: ArrayLike, member: ArrayLike, claim: Claim, *, clipped: bool = True, seed: int = 0
) -> StepsPosterior:
    """The posterior of noise and sampling rate of a DP-SGD, and of its ε beside the claim's, from Dirac canaries.

    Parameters
    ----------
    inner : what each step shows of each canary, in units of the clipping norm, (T, m): U at its coordinate over c.
    member : the coins, (m,); some canaries have to be in the training, and some not.
    claim : of `Claim.dp_sgd`, with its δ. T may be fewer steps than it has.
    clipped : whether the canaries are known to be added with the norm c, so that κ = 1. With False κ is estimated: give
        canaries of a larger norm to the training, and see whether they are clipped.

    >>> rng = np.random.default_rng(0)
    >>> member = np.arange(400) < 200
    >>> inner = rng.normal(size=(20, 400)) + (rng.random((20, 400)) < 0.1) * member
    >>> found = bdp.estimate_steps(inner, member, bdp.Claim.dp_sgd(1.0, 0.1, 20, 1e-5))
    >>> found.refuted, [round(end, 1) for end in found.interval(0.9, "noise_multiplier")]
    (False, [1.0, 1.0])
    """
    seen = numbers("inner", inner, low_open=True, high_open=True)
    if seen.ndim != 2 or len(seen) < 2:
        raise InputError(f"inner must be of the shape (steps, canaries) with at least 2 steps, not {seen.shape}")
    inside = _coins(member, seen.shape[1])
    if not isinstance(claim, Claim) or claim.training is None or claim.epsilon is None or not claim.delta:
        raise InputError(f"claim must be one of Claim.dp_sgd with its delta, above 0, not {show(claim)}")
    known, rng = truth("clipped", clipped), np.random.default_rng(seed_of(seed))
    noise, rate, steps = claim.training
    if np.ptp(seen) > 1e9:
        raise InputError("inner must be in units of the clipping norm, and differs by more than 1e9")
    if len(seen) > steps:
        raise InputError(f"inner must have at most the {steps} steps of the claim, not {len(seen)}")
    if np.ptp(seen[:, ~inside]) == 0 or np.ptp(seen[:, inside]) == 0:
        raise InputError("inner must differ from step to step: without noise there is nothing to estimate")
    if np.ptp(seen[:, ~inside]) < 1e-9:
        raise InputError("inner must be in units of the clipping norm, and that of canaries that are out is below 1e-9")
    draws, effective = _posterior(_Data.of(seen, inside, (noise, rate)), known, rng)
    sigma, q, norm = np.exp(draws[:, 0]), special.expit(draws[:, 1]), np.exp(draws[:, 2])
    warned = []
    if effective < _FEW:
        warned.append(
            f"Only {effective:.0f} of {_DRAWS} draws are effective: too few data tell these parameters apart."
        )
    scatter = float(np.sqrt(np.mean(seen[:, ~inside] ** 2)))
    if not noise / _OFF <= scatter <= noise * _OFF:
        warned.append(
            f"What is shown of canaries that are out scatters by {scatter:.3g}, where the claim has noise of"
            f" {noise:.3g}: is inner in units of the clipping norm?"
        )
    warned.extend(_oddities(seen[:, inside], seen[:, ~inside], scatter))
    window = min(max(2, round(1 / rate)), len(seen))
    least = noise * (1.0 if known else float(np.quantile(norm, 1e-3)))
    return StepsPosterior(
        claim,
        sigma / norm,
        q,
        norm,
        _epsilon(sigma / norm, q, steps, claim),
        _dependence(seen[:, inside], window),
        _dependence(seen[:, ~inside], window),
        _together(seen, inside),
        _less_noise(seen[:, ~inside], least),
        tuple(_assumptions(known)),
        tuple(warned),
        Provenance(
            "steps",
            _digest(seen, inside),
            {"delta": float(claim.delta or 0.0)},
            {
                "noise_multiplier": f"LogNormal(log({noise:g}), 1.5)",
                "sampling_rate": f"logit ~ Logistic(logit({min(rate, _EVEN):g}), 1)",
                "norm": "LogNormal(0, 1)",
            },
            {"seed": int(seed), "clipped": known},
        ),
    )


_OFF = 4.0  # a factor of the noise that looks like other units
_EVEN = 0.5  # the sampling rate about which the prior is uniform


def _assumptions(known: bool) -> Iterator[str]:
    yield "Each canary has a coordinate of the gradient to itself, and what is given of each step is what it released."
    yield "All steps have one noise and one sampling rate; steps that were not shown are as those that were."
    if known:
        yield "Canaries are added with the clipping norm."
    yield "The posterior takes steps and canaries to be independent, which is tested."


def _digest(seen: Floats, inside: Bools) -> str:
    content = hashlib.sha256(f"{seen.shape}\n".encode())
    content.update(seen.astype("<f8").tobytes())
    content.update(inside.astype("u1").tobytes())
    return content.hexdigest()


def _coins(member: ArrayLike, m: int) -> Bools:
    cells = np.asarray(member)
    if cells.shape != (m,) or cells.dtype.kind not in "bui" or not np.isin(cells, (0, 1)).all():
        raise InputError(f"member must be truth values, or 0 and 1, one for each of the {m} canaries")
    found = cells.astype(bool)
    if found.all() or not found.any():
        raise InputError(f"member must have canaries of both kinds, and all are {'in' if found.all() else 'out'}")
    return found


@dataclass(frozen=True, eq=False)
class _Data:
    """Cells of the members' observations, (k,): means and how many; and of the others the sum of squares."""

    at: Floats
    count: Floats
    squares: float
    others: int
    start: tuple[float, float, float]  # σ, q and κ by the method of moments
    middle: tuple[float, float]  # of the priors of log σ and logit q

    @classmethod
    def of(cls, seen: Floats, inside: Bools, claimed: tuple[float, float] = (1.0, _EVEN)) -> _Data:
        ours, others = seen[:, inside].ravel(), seen[:, ~inside].ravel()
        edges = np.linspace(ours.min(), ours.max(), _CELLS + 1)
        place = np.clip(np.searchsorted(edges, ours, side="right") - 1, 0, _CELLS - 1)
        count = np.bincount(place, minlength=_CELLS).astype(np.float64)
        total = np.bincount(place, ours, _CELLS)
        filled = count > 0
        variance = float(np.mean(others**2))
        mean = max(float(ours.mean()), 1e-3 * math.sqrt(variance / len(ours)))
        norm = mean + max(float(ours.var()) - variance, 0.05 * mean) / mean
        start = math.sqrt(variance), min(max(mean / norm, 1e-4), 0.999), norm
        middle = math.log(claimed[0]), float(special.logit(min(claimed[1], _EVEN)))
        cells = total[filled] / count[filled], count[filled]
        return cls(*cells, float(np.sum(others**2)), len(others), start, middle)

    def log_posterior(self, point: Floats, known: bool) -> Floats:
        """Of points (n, 3), log σ, logit q and log κ, up to a constant."""
        log_sigma, logit, log_norm = point.T
        sigma, norm = np.exp(log_sigma)[:, None], np.exp(log_norm)[:, None]
        log_q, log_rest = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
        with np.errstate(under="ignore"):
            shift = norm * (self.at - norm / 2) / sigma**2
            mixed = np.logaddexp(log_rest[:, None], log_q[:, None] + shift)
            inside = mixed - self.at**2 / (2 * sigma**2) - log_sigma[:, None]
        found = inside @ self.count - self.squares / (2 * sigma[:, 0] ** 2) - self.others * log_sigma
        away = logit - self.middle[1]
        prior = -((log_sigma - self.middle[0]) ** 2) / (2 * 1.5**2) - np.logaddexp(0.0, -away) - np.logaddexp(0.0, away)
        return np.asarray(found + prior - (0.0 if known else log_norm**2 / 2))


def _posterior(data: _Data, known: bool, rng: np.random.Generator) -> tuple[Floats, float]:
    """Draws (4000, 3) of log σ, logit q and log κ, and how many independent ones they are worth."""
    free = 2 if known else 3
    sigma, q, norm = data.start
    start = np.array([math.log(sigma), special.logit(q if not known else min(max(q * norm, 1e-4), 0.999)),
                      0.0 if known else math.log(norm)])  # fmt: skip

    def whole(points: Floats) -> Floats:
        return np.hstack([points, np.zeros((len(points), 3 - free))])

    def loss(point: Floats) -> float:
        return -float(data.log_posterior(whole(point[None]), known)[0])

    best = optimize.minimize(loss, start[:free], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-6,
                                                                              "maxiter": 2000})  # fmt: skip
    mode, spread = best.x, _covariance(loss, best.x)
    log_weight = points = np.empty(0)
    for _ in range(3):
        law = stats.multivariate_t(mode, spread, df=5, seed=rng)
        points = np.reshape(law.rvs(_DRAWS), (_DRAWS, free))
        log_weight = data.log_posterior(whole(points), known) - law.logpdf(points)
        weight = np.exp(log_weight - special.logsumexp(log_weight))
        mode = weight @ points
        away = points - mode
        spread = (away.T * weight) @ away + 1e-12 * np.eye(free)
    chosen = rng.choice(_DRAWS, _DRAWS, p=weight)
    return whole(points[chosen]), float(1 / np.sum(weight**2))


def _covariance(loss: Any, mode: Floats) -> Floats:
    """The inverse of the curvature at the mode, by differences; wide where there is none."""
    d = len(mode)
    step = 1e-3
    curve = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            total = 0.0
            for a in (1, -1):
                for b in (1, -1):
                    moved = mode.copy()
                    moved[i] += a * step
                    moved[j] += b * step
                    total += a * b * loss(moved)
            curve[i, j] = total / (4 * step**2)
    values, axes = np.linalg.eigh((curve + curve.T) / 2)
    return np.asarray((axes / np.maximum(values, 0.1)) @ axes.T)


def _epsilon(noise: Floats, rate: Floats, steps: int, claim: Claim) -> Floats:
    """The accountant's ε of each draw, between points at which it is asked."""
    delta = float(claim.delta or 0.0)
    claimed, sampled, _ = claim.training or (1.0, 1.0, 1)
    least, lowest, axes = math.log(_LEAST_NOISE * claimed), math.log(_LEAST_RATE * sampled), []
    most = math.log(max(_MUCH_NOISE, _MOST_NOISE * claimed))
    for values, low, high in ((np.log(noise), least, most), (np.log(rate), lowest, 0.0)):
        ends = np.clip(np.quantile(values, [0.001, 0.999]), low, high)
        middle, half = ends.mean(), max(float(np.ptp(ends)) / 2, 1e-3)
        axes.append(np.linspace(max(middle - half, low), min(middle + half, high), _POINTS))
    asked = [_asked(math.exp(s), np.exp(axes[1]), steps, delta, sampled) for s in axes[0]]
    surface = interpolate.RectBivariateSpline(*axes, np.log(np.maximum(asked, 1e-6)))
    inside = [np.clip(np.log(values), axis[0], axis[-1]) for values, axis in zip((noise, rate), axes, strict=True)]
    return np.asarray(np.exp(surface.ev(*inside)))


def _asked(noise: float, rates: Floats, steps: int, delta: float, claimed: float) -> list[float]:
    """The accountant's ε at rates that rise, or that from which on it says that nothing is hidden.

    A rate that is too small for it, below the claimed one, has the ε of the next, which is no less.
    """
    found: list[float] = []
    for rate in rates[::-1].tolist():
        try:
            found.append(Claim.dp_sgd(noise, rate, steps).epsilon_at(delta))
        except InputError:
            found.append(found[-1] if found and rate < claimed else _NOTHING_HIDDEN)
    return found[::-1]


def _oddities(inside: Floats, others: Floats, scatter: float) -> Iterator[str]:
    """What no DP-SGD shows, be its noise and rate what they may."""
    for seen, which, side in ((others, "out", 0.0), (inside, "in", 1.0)):
        mean = float(seen.mean())
        if (mean < 0 or not side) and abs(mean) * math.sqrt(seen.size) > _STRANGE * float(np.std(seen)):
            wanted = "at least 0" if side else "0"
            yield (
                f"Canaries that are {which} have a mean of {mean:.3g}, which should be {wanted}: are those that are in"
                " and out mixed up, or has inner another sign?"
            )
    if others.size >= _FEW and stats.kurtosistest(others.ravel()).pvalue < 1e-6:
        yield "What is shown of canaries that are out is not normal, so that ε of Gaussian noise is not that of this."
    away = np.sum(others**2, axis=1) / scatter**2 / others.size
    law = stats.beta(others.shape[1] / 2, others.shape[1] * (len(others) - 1) / 2)
    if len(others) * 2 * min(law.cdf(away).min(), law.sf(away).min()) < 1e-6:
        yield "The noise differs from step to step, and ε is that of steps with one noise: it may be too small."


def _together(seen: Floats, inside: Bools) -> float:
    """Z of the canaries of each step, as `_dependence` is of steps."""
    away = seen - np.where(inside, seen[:, inside].mean(), seen[:, ~inside].mean())
    away /= np.where(inside, away[:, inside].std(), away[:, ~inside].std())
    steps, m = seen.shape
    return float(np.sum(away.sum(axis=1) ** 2 - np.sum(away**2, axis=1)) / math.sqrt(2 * m * (m - 1) * steps))


def _less_noise(others: Floats, claimed: float) -> float:
    """Four times the p-value that each step has the claimed noise, or more."""
    lowest = stats.chi2(others.shape[1]).cdf(np.sum(others**2, axis=1) / claimed**2).min()
    return min(1.0, 4 * len(others) * float(lowest))


def _dependence(seen: Floats, window: int) -> float:
    """Z of steps (T, m), in whole windows."""
    whole = len(seen) // window
    away = (seen - seen.mean())[: whole * window].reshape(whole, window, -1)
    variance = float(np.mean(away**2))
    pairs = np.sum(away.sum(axis=1) ** 2) - np.sum(away**2)
    return float(pairs / math.sqrt(2 * window * (window - 1) * whole * seen.shape[1]) / variance)
