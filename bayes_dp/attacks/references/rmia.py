"""Robust membership inference, online and offline (Zarifzadeh, Liu and Shokri 2024, "Low-cost high-power membership
inference attacks").

With p(x | θ) the probability that a model gives to the class of an example x, and p(x) its mean over models, a score
is the share of population examples z that x beats by the factor γ:

    ratio(x) = p(x | target)/p(x),   score(x) = #{z: ratio(x)/ratio(z) ≥ γ}/#{z}

    online:    p(x) = (mean of p over the references with x + mean of p over those without x)/2
    offline:   p(x) = ((1 + a) · mean of p over the references without x + 1 − a)/2

No model was trained on z, so that p(z) is the mean over all references; the z of a matrix without population examples
are its examples. The ratios of the z are sorted once, and each x is a search among them.

a is by default the one of 0, 0.1, …, 1 by which the first reference is attacked best by the others (AUC of the ratios),
and 0.3 where there is one reference, or where it was trained with all examples or none. The target is never looked at.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import View, both_sides
from bayes_dp.checks import InputError, one_number
from bayes_dp.data.roc import RocCurve
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]

_UNTUNED = 0.3
_TRIED = tuple(k / 10 for k in range(11))


def rmia(view: View, gamma: float = 2.0) -> Floats:
    """The online scores, (n,)."""
    gamma = _gamma(gamma)
    view.require("rmia", "any")
    means = both_sides(*view.log_mean_likelihoods("out", "in"))
    ratio = view.log_likelihood[view.target] - np.logaddexp(means.out, means.in_) + math.log(2)
    return _share_beaten(view, ratio, view.population_log_mean_likelihood(), gamma)


def rmia_offline(view: View, gamma: float = 2.0, a: float | None = None) -> Floats:
    """The offline scores, (n,)."""
    gamma = _gamma(gamma)
    if a is not None:
        a = one_number("a", a, 0, 1)
    if not view.is_probability:
        raise InputError(
            'attack "rmia-offline" needs probabilities: losses, logits, probabilities or log_odds, not scores'
        )
    view.require("rmia-offline", "out")
    a = _tuned(view) if a is None else a
    ratio = view.log_likelihood[view.target] - _offline(_out(view), a)
    population = view.population_log_mean_likelihood()
    return _share_beaten(view, ratio, None if population is None else _offline(population, a), gamma)


def _out(view: View) -> Floats:
    """The log of the mean of p over the references without x, (n,)."""
    means = both_sides(*view.log_mean_likelihoods("out", "in"))
    return np.minimum(means.out, 0.0)


def _offline(log_mean: Floats, a: float) -> Floats:
    """log p(x), (n,)."""
    return np.logaddexp(log_mean + math.log((1 + a) / 2), math.log((1 - a) / 2) if a < 1 else -math.inf)


def _tuned(view: View) -> float:
    """a, from the references alone."""
    if len(view.references) < 2:
        return _UNTUNED
    stand_in = view.on_a_reference()
    known = stand_in.member[stand_in.target] >= 0
    member = stand_in.member[stand_in.target][known] == 1
    if member.all() or not member.any() or not stand_in.has("out"):
        return _UNTUNED
    p, out = stand_in.log_likelihood[stand_in.target][known], _out(stand_in)[known]
    return max(_TRIED, key=lambda a: RocCurve.of(p - _offline(out, a), member).area())  # of equal ones the smallest a


def _share_beaten(view: View, ratio: Floats, population: Floats | None, gamma: float) -> Floats:
    """#{z: log ratio(x) − log ratio(z) ≥ log γ}/#{z}, (n,)."""
    others = ratio
    if population is not None and view.population_log_likelihood is not None:
        others = view.population_log_likelihood[view.target] - population
    return np.searchsorted(np.sort(others), ratio - math.log(gamma), side="right") / len(others)


def _gamma(gamma: float) -> float:
    return one_number("gamma", gamma, 0, low_open=True, high_open=True)


ATTACKS = (Attack("rmia", rmia, ("gamma",)), Attack("rmia-offline", rmia_offline, ("gamma", "a")))
