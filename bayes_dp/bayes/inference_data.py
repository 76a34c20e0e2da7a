"""A posterior as the groups that ArviZ knows, so that its checks and figures work.

    posterior               parameters (chains, draws), and the rates α and β of every base (chains, draws, n)
    sample_stats            what the sampler tells; lp, the log density up to a constant
    log_likelihood          log p(X_i, Y_i | parameters), the rates of the base integrated out (chains, draws, n)
    log_prior               of each parameter that has a prior
    prior                   as many draws of these
    posterior_predictive    counts of new bases at the places of the old ones (`checks/new_bases.py`)
    observed_data           the counts of errors; constant_data has the numbers of challenges

Of orders of scores the likelihood is that of each base's order, its level integrated out, and what is predicted and
observed are the errors on scores with z at some false positive rates (`checks/new_orders.py`), (n, rates). Of guesses
on one model it is that of each group of guesses, its e integrated out, and the number of right ones
(`checks/new_guesses.py`). Where several groups share draws of the propensities, the draw is an unknown like the
others, `propensity_draw`.

An average over families is one model whose family is unknown as well: each draw has the density, the likelihood and the
predicted data of its own family, which is in `sample_stats`, and `log_prior` is that of all its parameters.

In the hierarchical form of groups the likelihood and the predicted counts are of the same bases, given their rates. A
sampler's draws are thinned evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from scipy import stats

from bayes_dp.bayes import priors
from bayes_dp.bayes.checks.model_check import rates_given
from bayes_dp.bayes.checks.new_bases import new_rates
from bayes_dp.bayes.checks.new_guesses import draws_given_leaks, new_levels, right_guesses
from bayes_dp.bayes.checks.new_orders import FALSE_POSITIVE_RATES, missed, new_orders
from bayes_dp.bayes.checks.pointwise import log_likelihood
from bayes_dp.bayes.grouped import GroupedPosterior
from bayes_dp.bayes.levels.average import AveragePosterior
from bayes_dp.bayes.levels.curve_posterior import CurvePosterior
from bayes_dp.bayes.levels.curves_average import CurvesAverage
from bayes_dp.bayes.levels.leaks import draw_rows
from bayes_dp.bayes.levels.posterior import FamilyPosterior
from bayes_dp.bayes.levels.shifted import ShiftedPosterior
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.precision import double
from bayes_dp.results.interop import of_bases, to_arviz
from bayes_dp.support.arrays import Floats

__all__ = ["inference_data", "of_guesses", "of_orders"]

Values = dict[str, Floats]
Groups = dict[str, Any]


def inference_data(post: Any, size: int, seed: int) -> Any:
    """The groups of at most `size` draws of a posterior that was made from counts."""
    found = _averaged(post, size, seed, _groups) if isinstance(post, AveragePosterior) else _groups(post, size, seed)
    drawn, stats_of_draws = found.pop("posterior"), found.pop("sample_stats")
    return to_arviz(drawn, stats_of_draws, post.counts, post.provenance, {"seed": seed}, found)


def of_orders(post: CurvePosterior | CurvesAverage, size: int, seed: int) -> Any:
    """Those of a posterior of orders of scores, in one family or averaged over several."""
    found = (
        _of_orders(post, size, seed) if isinstance(post, CurvePosterior) else _averaged(post, size, seed, _of_orders)
    )
    labels = post.question.orders.labels
    found["observed_data"] = {"false_negatives": missed(labels)}
    found["constant_data"] = {
        "negatives": np.array([np.sum(order == 0) for order in labels]),
        "positives": np.array([np.sum(order == 1) for order in labels]),
    }
    by_base = "scores", "negatives", "positives"
    curve = {"false_negatives": ("base", "false_positive_rate")}
    more = {"false_positive_rate": FALSE_POSITIVE_RATES}
    return of_bases(found, list(post.bases), by_base, post.provenance, {"seed": seed}, curve, more)


def of_guesses(post: ShiftedPosterior, size: int, seed: int) -> Any:
    """Those of a posterior of guesses on one model."""
    question, likelihood = post.question, post._likelihood
    drawn, delta, groups = post.draws(size, seed), question.delta, list(question.groups)
    epsilon, leaks = drawn["epsilon"], np.stack([drawn[name] for name in post.leaks], axis=1)
    s = post._strength_of(drawn)
    draw, pointwise = draw_rows(likelihood, epsilon, s, np.random.default_rng([seed, 1]))  # as `post.draws` does
    of_prior = {name: priors.log_density(law)(drawn[name]) for name, law in question.priors.items()}
    rng = np.random.default_rng([seed, 4])
    before = {name: priors.draw(law, size, rng) for name, law in question.priors.items()}
    level = new_levels(before["epsilon"], post._strength_of(before), delta, len(groups), rng)
    known = {"propensity_draw": draw} if likelihood.rows > 1 else {}
    if likelihood.rows < likelihood.draws:
        draw = draws_given_leaks(likelihood, epsilon, leaks[:, 0], rng)
    new = new_levels(epsilon, s, delta, len(groups), rng)
    found = {
        "posterior": {name: drawn[name] for name in question.priors} | {"e": leaks, **known},
        "sample_stats": {"lp": pointwise.sum(axis=1) + sum(of_prior.values())},
        "log_likelihood": {"guesses": pointwise},
        "log_prior": of_prior,
        "prior": before | {"e": level * before["epsilon"][:, None]},
        "posterior_predictive": {"correct": right_guesses(question, likelihood, epsilon, new, draw, rng)},
    }
    chains: Groups = {name: {each: values[None] for each, values in group.items()} for name, group in found.items()}
    chosen = question.groups.values()
    chains["observed_data"] = {"correct": np.array([(question.right & mask).sum() for mask in chosen])}
    chains["constant_data"] = {"made": np.array([mask.sum() for mask in chosen])}
    return of_bases(chains, groups, ("e", "guesses", "made", "correct"), post.provenance, {"seed": seed})


def _of_orders(post: CurvePosterior, size: int, seed: int) -> Groups:
    """The groups of one family, but for the data."""
    drawn, rng = post.draws(size, seed), np.random.default_rng([seed, 4])
    pointwise, of_prior = post._pointwise(drawn), _log_prior(post, drawn, size, seed)
    groups = {
        "posterior": drawn,
        "sample_stats": {"lp": pointwise.sum(axis=1) + sum(of_prior.values())},
        "log_likelihood": {"scores": pointwise},
        "log_prior": of_prior,
        "prior": _prior(post, drawn, size, rng),
        "posterior_predictive": {"false_negatives": new_orders(post, size, seed)},
    }
    return {name: {each: values[None] for each, values in group.items()} for name, group in groups.items()}


def _averaged(post: Any, size: int, seed: int, groups_of: Callable[[Any, int, int], Groups]) -> Groups:
    """Those of each draw's family."""
    which, rng = post._which(size, seed), np.random.default_rng([seed, 5])
    parts = [groups_of(one, size, seed) for one in post._kept]

    def mixed(values: Sequence[Floats]) -> Floats:  # each (1, size, ...)
        rows = np.zeros_like(values[0])
        for i, each in enumerate(values):
            rows[:, which == i] = each[:, which == i]
        return rows

    both = [name for name in parts[0]["posterior"] if all(name in part["posterior"] for part in parts)]
    drawn = {name: mixed([part["posterior"][name] for part in parts]) for name in both if name != "strength"}
    found: Groups = {
        name: {each: mixed([part[name][each] for part in parts]) for each in parts[0][name]}
        for name in ("log_likelihood", "posterior_predictive")
    }
    sums = [np.asarray(sum(part["log_prior"].values())) for part in parts]
    before = [_prior(one, drawn, size, rng)[post.parameter] for one in post.posteriors.values()]
    chosen = rng.integers(len(before), size=size)  # all families were equally probable
    return found | {
        "posterior": drawn,
        "sample_stats": {"lp": mixed([part["sample_stats"]["lp"] for part in parts]), "family": which[None]},
        "log_prior": {"parameters": mixed(sums)},
        "prior": {post.parameter: np.choose(chosen, before)[None]},
    }


def _groups(post: Any, size: int, seed: int) -> Groups:
    """The groups of a posterior under one model, but for the data."""
    drawn, sampled = post._chains_of(size, seed)
    shape = next(iter(drawn.values())).shape[:2]
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in drawn.items()}
    scalars = {name: values for name, values in flat.items() if values.ndim == 1}
    total, rng = shape[0] * shape[1], np.random.default_rng([seed, 4])
    rates = (flat["alpha"], flat["beta"]) if "alpha" in flat else rates_given(post, scalars, rng)
    pointwise = _pointwise(post, scalars, rates, seed)
    of_prior = _log_prior(post, scalars, total, seed)
    density = sampled.get("lp", (pointwise.sum(axis=1) + sum(of_prior.values())).reshape(shape))
    groups = {
        "log_likelihood": {"counts": pointwise},
        "log_prior": of_prior,
        "posterior_predictive": _predicted(post, scalars, rates, rng),
    }
    found: Groups = {
        name: {each: values.reshape(*shape, *values.shape[1:]) for each, values in group.items()}
        for name, group in groups.items()
    }
    found["prior"] = {name: values[None] for name, values in _prior(post, scalars, total, rng).items()}
    return found | {"posterior": drawn, "sample_stats": {**sampled, "lp": density}}


def _pointwise(post: Any, draws: Values, rates: tuple[Floats, Floats], seed: int) -> Floats:
    """(draws, n)."""
    counts = post.counts
    if isinstance(post, FamilyPosterior):
        return post._pointwise(draws)
    if isinstance(post, GroupedPosterior):
        sides = (counts.false_positives, counts.negatives), (counts.false_negatives, counts.positives)
        return np.asarray(sum(stats.binom.logpmf(k, n, rate) for (k, n), rate in zip(sides, rates, strict=True)))
    return log_likelihood(post.question, draws, seed)


def _log_prior(post: Any, draws: Values, size: int, seed: int) -> Values:
    """The log density of each prior, in the coordinate that it is stated in, (draws,) each."""
    question = post.question
    if isinstance(post, FamilyPosterior):
        own = question.family.parameter
        stated = post._stated(size, seed)
        return {
            name if name == "strength" else own: priors.log_density(prior)(stated[name])
            for name, prior in question.priors.items()
        }
    found = {name: priors.log_density(prior)(draws[name]) for name, prior in question.priors.items()}
    if isinstance(post, GroupedPosterior):
        spread = post.prior_spread
        return found if spread is None else found | {"spread": priors.log_density(spread)(draws["spread"])}
    law, columns = question.likelihood, Counts.of(question.counts)
    if law.shared:
        with double():
            each = jax.vmap(lambda *values: law.log_prior(columns, *values))(*(draws[name] for name in law.shared))
            found["_".join(law.shared)] = np.asarray(each)
    return found


def _prior(post: Any, draws: Values, size: int, rng: np.random.Generator) -> Values:
    """Draws of what was believed before the counts, of the parameters that the posterior has."""
    question = post.question
    if isinstance(post, FamilyPosterior):
        level = rng.random(size)  # one member, whose ε and δ are functions of its parameter
        return {
            name: post.prior_quantile(rng.random(size) if name == "strength" else level, name)
            for name in post.marginals
        }
    laws = dict(question.priors)
    if isinstance(post, GroupedPosterior) and post.prior_spread is not None:
        laws["spread"] = post.prior_spread
    found = {name: priors.draw(law, size, rng) for name, law in laws.items()}
    found |= question.likelihood.draw_shared(rng, Counts.of(question.counts), size)
    return {name: values for name, values in found.items() if name in draws}


def _predicted(post: Any, draws: Values, rates: tuple[Floats, Floats], rng: np.random.Generator) -> Values:
    """New counts (draws, n); none of a likelihood that has no sampler."""
    question = post.question
    law = question.likelihood
    if not law.can_draw:
        return {}
    if not isinstance(post, GroupedPosterior):
        rates = new_rates(question, draws, rates, rng)
    found = law.draw(rng, Counts.of(question.counts), *rates, *(draws[name] for name in law.shared))
    # Whole numbers as such, since plot_ppc of 0.23 smooths floats, and cannot where all bases have one count.
    whole = all(np.array_equal(values, np.rint(values)) for values in found)
    names = "false_positives", "false_negatives"
    return {name: values.astype(int) if whole else values for name, values in zip(names, found, strict=True)}
