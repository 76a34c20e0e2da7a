"""Posteriors of many data sets at once, by plain sums on one grid: for simulations, where a hundredth is exact enough.

With the probability Q_i(t) that the rates of base i, given its counts alone, lie outside R(t), the likelihood of (θ, s)
is L_i = [Q_i(sθ) − Q_i(θ)] / [G(θ) − G(sθ)]. Q_i is the integral over z = Φ⁻¹(1 − α) of the density of α times the
distribution function of β at f_t(α). On a grid of levels with equal ratios sθ is a level of the grid again, so that the
plane of all (θ, s) needs nothing but these. This shares no code with `bayes/levels` and `bayes/exact`, save the curves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp import region, tradeoff
from bayes_dp.bayes.families.choice import family_of

ENDS = -8.5, 8.5  # of z
FINE = 0.005  # steps of z in which the distribution of β is tabulated
CHUNK = 64  # bases done at once
STRIDE = 12  # levels between those at which Q is looked at first
FIRST, LOWEST = 600.0, 1e7  # the largest level over the smallest, of families and of (ε, δ)
TOP = 13.0  # the largest ε, or level under a prior of its own
FAMILIES = "approx", "gaussian", "laplace"  # those of `compare_families`
OPEN = 5.0  # nats below the best up to which the gate heeds a family
EPSILON = stats.halfnorm(scale=np.sqrt(10.0))  # the default prior


@dataclass(frozen=True)
class Many:
    """Of each data set: the ends of the 90% interval of ε, log p(X, Y), log p(Y | X), and the law of ε at levels."""

    low: np.ndarray
    high: np.ndarray
    log_evidence: np.ndarray
    given: np.ndarray
    epsilon: np.ndarray
    weight: np.ndarray  # (data sets, T)


def outside(curve, counts, levels, step):
    """Q, and E[f_t(α) + f_t(1 − α)], (2, T, m) for distinct counts (4, m); `curve` gives Φ⁻¹(1 − f_t(α)) at z (U,)."""
    x, n0, y, n1 = (column[:, None] for column in counts.astype(float))
    centre = -special.ndtri((x + 0.5) / (n0 + 1.0))[:, 0]
    found, lengths = np.empty((2, len(levels), counts.shape[1]))
    fine = np.arange(ENDS[0], ENDS[1], FINE)
    coarse = np.arange(ENDS[0], ENDS[1], step)
    order = np.argsort(centre, kind="stable")
    for part in np.array_split(order, -(-len(order) // CHUNK)):
        density = _density(coarse, x[part], n0[part])
        used = np.flatnonzero(density.max(axis=0) > 1e-14 * density.max())
        z, density = coarse[used[0] : used[-1] + 1], density[:, used[0] : used[-1] + 1].T
        density = np.ascontiguousarray(density / density.sum(axis=0))
        both = np.array([special.ndtr(-curve(z, t)) + special.ndtr(-curve(-z, t)) for t in levels])
        lengths[:, part] = both @ density
        values = _density(fine, y[part], n1[part])
        below = (np.cumsum(values, axis=1) - 0.5 * values).T  # of z(1 − β)
        below = below / below[-1]
        above = np.ascontiguousarray(1.0 - below)
        rough = np.unique(np.append(np.arange(0, len(levels), STRIDE), len(levels) - 1))
        at = np.array([_outside(curve, z, t, density, above, below) for t in levels[rough]])
        for first, last, start, stop in zip(rough[:-1], rough[1:], at[:-1], at[1:], strict=True):
            found[first, part], found[last, part] = start, stop
            if np.abs(stop - start).max() < 1e-14 or (start < 1e-17).all():
                found[first + 1 : last, part] = start
                continue
            for k in range(first + 1, last):
                found[k, part] = _outside(curve, z, levels[k], density, above, below)
    return np.stack([found, lengths])


def _outside(curve, z, t, density, above, below):
    """Both corners outside of R(t), {β < f(α)} and {1 − β < f(1 − α)}; (m,)."""
    return _mean(above, curve(z, t), density) + _mean(below, -curve(-z, t), density)


def _density(z, errors, trials):
    """Of z = Φ⁻¹(1 − rate), up to a factor: rate ~ Beta(errors + 1, trials − errors + 1)."""
    log_density = errors * special.log_ndtr(-z) + (trials - errors) * special.log_ndtr(z) - 0.5 * z**2
    return np.exp(log_density - log_density.max(axis=1, keepdims=True))


def _mean(table, z, density):
    """Σ over z of the tabulated function of z, row by row, with these weights; (m,)."""
    at = np.clip((z - ENDS[0]) / FINE, 0.0, len(table) - 1.001)
    index = at.astype(int)
    share = (at - index)[:, None]
    return np.einsum("um,um->m", table[index] * (1.0 - share) + table[index + 1] * share, density)


def many(counts, family, delta, *, prior=None, ratio=0.015, step=0.02):
    """The posteriors of data sets with as many bases each, error counts (4, data sets, n), under a family.

    `prior` is a distribution of θ in SciPy's manner; `ratio` and `step` are those of the levels, and of z.
    """
    distinct, where = np.unique(counts.reshape(4, -1), axis=1, return_inverse=True)
    where = where.reshape(counts.shape[1:])
    approx = isinstance(family, str) and family == "approx"
    if approx:  # which may gather where ε is far below δ
        ratio = 2 * ratio
    count = int(np.log(LOWEST if approx else FIRST) / ratio) + 1
    shrink = np.exp(-ratio * np.arange(count)[::-1])
    if approx:
        levels = epsilon = TOP * shrink
        share = np.minimum(levels[:, None] / levels, 1.0)
        nodes = np.linspace(0.0, 1.0, 6 if delta > 1e-3 else 2)
        tables = [outside(_approx_curve(d), distinct, levels, step) for d in nodes * delta]
        # Q at (sε, sδ) by the polynomial through its values at (sε, δ′).
        others = [np.delete(nodes, i) for i in range(len(nodes))]
        parts = [
            np.prod((share[..., None] - rest) / (node - rest), axis=-1)
            for node, rest in zip(nodes, others, strict=True)
        ]
        area = region.layer_area(levels, delta, np.minimum(share, 1 - 1e-9))
        whole = region.area(levels, delta)
        mass = np.diff(EPSILON.cdf(_edges(levels, ratio)))
    else:
        member = family_of(family)
        levels = (TOP if prior is not None else float(member.by_epsilon(np.array(TOP)))) * shrink
        share = np.minimum(levels[:, None] / levels, 1.0)
        tables, parts = [outside(_family_curve(member), distinct, levels, step)], [np.ones_like(share)]
        gap = np.maximum(levels - levels[:, None], 1e-9)
        area = np.exp(member.log_layer(np.broadcast_to(levels[:, None], gap.shape), gap))
        whole = np.exp(member.log_layer(np.zeros(count), levels))
        epsilon = member.epsilon_at(levels, delta)
        edges = _edges(levels, ratio)
        fine = np.linspace(0.0, TOP + 1.0, 30_001)
        law = prior or EPSILON
        mass = np.diff(law.cdf(edges if prior else np.interp(edges, member.by_epsilon(fine), fine)))
    curves, lengths = zip(*tables, strict=True)
    found = mass * np.stack([_over_strengths(curves, parts, area, whole, share, bases) for bases in where])
    every = slice(None, None, 2)  # level, which is enough for an evidence
    curves, lengths, parts = ([part[every] for part in each] for each in (curves, lengths, parts))
    given = [_given(curves, lengths, [p[:, every] for p in parts], share[every, every], bases) for bases in where]
    given = np.log((2.0 * mass[every] * np.stack(given)).sum(axis=1)) + np.log1p(counts[1]).sum(axis=1)
    total = found.sum(axis=1)
    weight = found / total[:, None]
    ends = np.array([[_quantile(epsilon, row, p) for p in (0.05, 0.95)] for row in weight])
    return Many(ends[:, 0], ends[:, 1], np.log(total), given, epsilon, weight)


def _over_strengths(tables, parts, area, whole, share, bases):
    """∫ Π_i L_i(θ, s) ds at each level θ, by trapezoids in log s; the last, s < the first level over θ, is one."""
    n, outer = len(bases), tables[-1][:, bases]
    all_in = (1.0 - outer).prod(axis=1)
    first = int(np.argmax(all_in > 1e-250 * all_in.max()))  # no level below is an outer one
    inner = min(first, int(np.argmax((outer < 1 - 1e-13).any(axis=1))))  # and none below sees any base
    step = np.log(share[0, 0] / share[0, 1])
    with np.errstate(over="ignore"):
        thick = 1.0 / np.where(share < 1.0, area, np.inf)
        plain = all_in * thick**n
    found = (plain[:inner] * share[:inner]).sum(axis=0) * step + all_in / whole**n * share[0] * (1.0 - 0.5 * step)
    at = np.arange(len(whole) - inner)
    plane = np.ones((len(at), len(at)))
    for base in bases:
        q = sum(part[inner:, inner:] * table[inner:, base, None] for part, table in zip(parts, tables, strict=True))
        layer = (q - tables[-1][inner:, base]) * thick[inner:, inner:]
        beside = layer[at[:-1], at[1:]]
        layer[at[1:-1], at[1:-1]] = 0.5 * (beside[:-1] + beside[1:])  # the limit s → 1
        plane *= np.maximum(layer, 0.0)
    weight = np.triu(share[inner:, inner:]) * step
    weight[at, at] *= 0.5
    found[inner:] += (plane * weight).sum(axis=0)
    found[:first] = 0.0
    return found


def _given(tables, lengths, parts, share, bases):
    """∫ Π_i p(X_i, Y_i | θ, s)/p(X_i | θ, s) ds at each level θ: as `_over_strengths`, with lengths for areas."""
    all_in = (1.0 - tables[-1][:, bases]).prod(axis=1)
    first = int(np.argmax(all_in > 1e-250 * all_in.max()))
    at = np.arange(first, len(all_in))
    plane, thick = np.ones((len(all_in), len(at))), share[:, first:] < 1.0
    for base in bases:
        mass, length = (
            sum(part[:, first:] * table[:, base, None] for part, table in zip(parts, each, strict=True))
            - each[-1][first:, base]
            for each in (tables, lengths)
        )
        length = np.where(thick, length, np.inf)  # where sθ < θ, and above what rounding leaves of a length
        layer = np.maximum(mass, 0.0) / np.where(length > 1e-15, length, np.inf)
        beside = layer[at[:-1], at[1:] - first]
        layer[at[1:-1], at[1:-1] - first] = 0.5 * (beside[:-1] + beside[1:])
        plane *= layer
    step = np.log(share[0, 0] / share[0, 1])
    weight = np.triu(share)[:, first:] * step
    weight[at, at - first] *= 0.5
    found = np.zeros(len(all_in))
    found[first:] = (plane * weight).sum(axis=0) + plane[0] * share[0, first:] * (1.0 - 0.5 * step)
    return found


def average(posteriors):
    """The ends of the intervals of mixtures by evidence, (data sets, 2)."""
    posteriors = list(posteriors)
    evidence = np.stack([post.log_evidence for post in posteriors])
    share = np.exp(evidence - evidence.max(axis=0))
    share /= share.sum(axis=0)
    at = np.unique(np.concatenate([post.epsilon for post in posteriors]))
    ends = []
    for i in range(share.shape[1]):
        parts = [np.interp(at, _upper(post.epsilon), np.append(0.0, np.cumsum(post.weight[i]))) for post in posteriors]
        ends.append(np.interp([0.05, 0.95], share[:, i] @ np.array(parts), at))
    return np.array(ends)


def compared(every, delta):
    """The posteriors of data sets with as many bases each, by the families that `compare_families` compares."""
    counts = columns(every)
    return {name: many(counts, name, delta, **grid(every)) for name in FAMILIES}


def columns(every):
    names = ("false_positives", "negatives", "false_negatives", "positives")
    return np.array([[getattr(counts, name) for counts in every] for name in names])


def grid(every):
    """Coarser levels for few runs, which do not tell near ones apart."""
    return {} if every[0].negatives[0] > 100 else {"ratio": 0.025}


def gaps(found):
    """How far each family is below the best, by p(X, Y) or by p(Y | X), whichever is less; (families, data sets)."""
    both = (np.stack([getattr(found[name], kind) for name in FAMILIES]) for kind in ("log_evidence", "given"))
    return np.min([value.max(axis=0) - value for value in both], axis=0)


def passing(every, found, delta, limit, gates=4, **options):
    """The share of data sets that pass the gate: that in which no interval that it heeds ends above the limit, times
    the share of the first `gates` of these that it passes indeed."""
    heeded = gaps(found) <= OPEN
    heeded[0] = True  # that of (ε, δ), whose interval is the posterior's own
    upper = np.max([np.where(use, found[name].high, 0.0) for use, name in zip(heeded, FAMILIES, strict=True)], axis=0)
    open_ = np.flatnonzero(upper <= limit)
    tried = [bdp.gate(every[i], delta, limit, **options).passed for i in open_[:gates]]
    return len(open_) / len(every) * np.mean(tried) if tried else 0.0


def _edges(levels, ratio):
    """Between which each level stands for all."""
    found = np.append(levels, levels[-1] * np.exp(ratio)) * np.exp(-0.5 * ratio)
    found[0] = 0.0
    return found


def _upper(epsilon):
    middle = 0.5 * (epsilon[1:] + epsilon[:-1])
    return np.concatenate([[max(0.0, 2 * epsilon[0] - middle[0])], middle, [2 * epsilon[-1] - middle[-1]]])


def _quantile(epsilon, weight, probability):
    return np.interp(probability, np.append(0.0, np.cumsum(weight)), _upper(epsilon))


def _family_curve(family):
    def curve(z, t):
        log_beta, log_other, _ = family.curve(special.log_ndtr(-z), special.log_ndtr(z), np.full_like(z, t))
        return np.where(log_beta < log_other, -special.ndtri_exp(log_beta), special.ndtri_exp(log_other))

    return curve


def _approx_curve(delta):
    def curve(z, t):
        return -special.ndtri(tradeoff.approx_dp(special.ndtr(-z), t, delta))

    return curve
