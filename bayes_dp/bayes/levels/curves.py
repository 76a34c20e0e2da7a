"""The posterior of a whole trade-off curve, in one family or averaged over several, from the order of all scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayes_dp.attacks.score_matrix import ScoreMatrix
from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.choice import family_of
from bayes_dp.bayes.families.registry import AVERAGE
from bayes_dp.bayes.levels.curve_posterior import CurvePosterior, CurveQuestion
from bayes_dp.bayes.levels.curves_average import CurvesAverage
from bayes_dp.bayes.levels.posterior import finite_delta
from bayes_dp.bayes.levels.score_orders import ScoreOrders
from bayes_dp.bayes.priors import prior_of
from bayes_dp.bayes.question import Strength, priors_for
from bayes_dp.checks import InputError, one_number, seed_of, show, truth
from bayes_dp.data.loss_table import LossTable

__all__ = ["estimate_curves"]

_AVERAGED = ("gaussian", "laplace", "pure")


def estimate_curves(
    scores: LossTable | ScoreMatrix | tuple[Any, Any],
    delta: float | None = None,
    family: str | TradeOffFamily | Sequence[str | TradeOffFamily] = "average",
    *,
    prior: Any = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    accept_misfit: bool = False,
    seed: int = 0,
) -> CurvePosterior | CurvesAverage:
    """The posterior of a whole trade-off curve from the order of the scores of each base, for all thresholds at once.

    Parameters
    ----------
    scores : a LossTable, where a low loss speaks for a member, or a ScoreMatrix, each of whose examples is a base; or
        scores (without, with z) that are higher for members, each of shape (n, N), or (N,) for one base, or a list of n
        arrays. They may be infinite. Each has to be a fixed function of one trained model, as a raw loss is and a
        p-value among other runs is not.
    delta : at which ε is asked; without, the posterior is of the family's own parameter, and for an average, whose
        families have none in common, of δ at ε = 0, which is the largest advantage of an attack.
    family : "gaussian", "laplace", "pure" or a `Family`; a list of families, which are averaged by their evidence,
        equally probable beforehand; or "average" for the list of those three.
    prior : of the family's parameter; where families are averaged, priors by the names of families.
    prior_epsilon, prior_strength, strength : see `estimate`.
    accept_misfit : an average has ε at δ < 1/N0 even where the check rejects the most probable family.
    seed : of the order of ties, of the scores that are used where a base has more than 5000, and of the check.

    >>> rng = np.random.default_rng(0)
    >>> post = bdp.estimate_curves((rng.normal(size=(3, 50)), rng.normal(1.0, 1.0, (3, 50))), 0.05)
    >>> {name: round(weight, 2) for name, weight in post.weights.items()}
    {'gaussian': 1.0, 'laplace': 0.0, 'pure': 0.0}
    >>> [round(end, 1) for end in post.interval()]
    [0.8, 6.8]
    """
    seed, accept_misfit = seed_of(seed), truth("accept_misfit", accept_misfit)
    chosen, averaged = _families(family)
    if delta is not None:
        delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
        for each in chosen:
            finite_delta(each, delta)
    priors = _priors(prior, chosen, averaged)
    if priors and not averaged and prior_epsilon is not None:
        raise InputError("give prior, of the family's parameter, or prior_epsilon, of the largest advantage, not both")
    strength, shared = priors_for("epsilon", prior_epsilon, strength, prior_strength)
    orders = ScoreOrders.of(scores, seed)
    found = {}
    for each in chosen:
        known: float | None
        parameter, known = ("delta", 0.0) if averaged else (each.parameter, None)
        if delta is not None:
            parameter, known = "epsilon", delta
        own = priors.get(each.name)
        first = shared["epsilon"] if own is None else None
        found[each.name] = CurvePosterior(
            CurveQuestion(orders, each, parameter, known, own, first, strength, shared.get("strength"), seed)
        )
    if not averaged:
        return found[chosen[0].name]
    average = CurvesAverage(found, accept_misfit)
    if delta is not None:
        average._refuse_misfit(delta, accept_misfit)
    return average


def _families(family: Any) -> tuple[list[TradeOffFamily], bool]:
    """The families, and whether they are to be averaged."""
    if isinstance(family, str) and family == AVERAGE:
        family = _AVERAGED
    if not isinstance(family, list | tuple):
        return [family_of(family)], False
    chosen = [family_of(each) for each in family]
    if not chosen:
        raise InputError("family is empty: name one or more")
    if len({each.name for each in chosen}) < len(chosen):
        raise InputError("family has two of the same name")
    return chosen, True


def _priors(prior: Any, chosen: list[TradeOffFamily], averaged: bool) -> dict[str, Any]:
    """The priors that were given, by the names of families."""
    if prior is None:
        return {}
    if not averaged:
        return {chosen[0].name: prior_of(chosen[0].parameter, prior)}
    if not isinstance(prior, Mapping):
        raise InputError(f"prior must be a mapping from names of the averaged families to priors, not {show(prior)}")
    families = {each.name: each for each in chosen}
    for name in prior:
        if name not in families:
            raise InputError(f"prior has {show(name)}, which is none of the averaged families {', '.join(families)}")
    return {name: prior_of(families[name].parameter, given) for name, given in prior.items()}
