"""`estimate`: one call for the posterior of ε, by the method that fits. `Estimates`: each answer computed once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Set
from typing import Any, Literal, TypeVar

from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import NumberOfGuesses
from bayes_dp.audits.judged import judged
from bayes_dp.bayes.compare_families import compare_families
from bayes_dp.bayes.exact.posterior import exact
from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.choice import family_of
from bayes_dp.bayes.levels.posterior import posterior_of_family
from bayes_dp.bayes.levels.shifted import ShiftedPosterior, estimate_shifted
from bayes_dp.bayes.likelihoods.base import BaseLikelihood, likelihood_of
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.question import Strength
from bayes_dp.checks import InputError, is_one_of, seed_of, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.posterior import Posterior

__all__ = ["Estimates", "estimate"]

Answer = TypeVar("Answer", bound=Posterior)


def estimate(
    counts: ErrorCounts | GuessTable | Guesses,
    delta: float | None = None,
    *,
    family: str | TradeOffFamily = "approx",
    prior: Any = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    likelihood: str | BaseLikelihood = "binomial",
    method: Literal["exact", "mhaar", "nuts"] | None = None,
    groups: Literal["hierarchical", "aggregate"] | None = None,
    spread: Any = None,
    choice: NumberOfGuesses | int | None = None,
    seed: int = 0,
    **settings: Any,
) -> Posterior:
    """The posterior of ε, and of the attack strength s unless it is fixed, given error counts and δ.

    Parameters
    ----------
    counts : errors of n challenge bases. Or the scores of the examples of one model, or guesses made from such: their
        errors are counted. With propensities that are no fair coins the answer is that of `estimate_shifted`.
    delta : the known δ, in [0, 1). A family but "approx" can go without: the posterior is then of its own parameter.
    family : what the training is taken to be, by its trade-off function. "approx" is (ε, δ)-differential privacy; one
        member of "gaussian", "laplace", "pure" or a `Family` of your own holds at every δ at once. "average" weighs
        all of them by their evidence, see `compare_families`.
    prior : of the parameter of such a family, a NumPyro distribution or text; by default its best attack has the
        advantage that it has against (ε, 0)-DP with `prior_epsilon`.
    prior_epsilon, prior_strength : NumPyro distributions, or text such as "Gamma(2, 1)"; by default ε ~ HalfNormal
        with variance 10 and s ~ Beta(1, 1).
    strength : "free" estimates s along with ε; a number in [0, 1) fixes it; "tight" is the limit s → 1, where every
        attack is taken to be the strongest possible.
    likelihood : of the counts given the error rates: "binomial", or one for correlated counts, such as those of
        cross-fed runs: "bivariate_normal", "beta_binomial", "kupper_haseman"; or a `Likelihood` of your own.
    method : "exact" integrates numerically, with a known error, and is the default for the binomial likelihood;
        "mhaar" samples by MCMC-DP-Est (Algorithms 1 and 6), and is that for the others; "nuts" samples the same
        posterior by Hamiltonian Monte Carlo.
    groups : for dependent attacks, whose `counts.group` says which belong together: "hierarchical" samples the whole
        model by NUTS, "aggregate" takes each group's sums for one base's counts, which scatter more, by MHAAR.
    spread : of the rates within groups, a number above 0 and at most 1, or its prior; by default κ ~ HalfNormal(0.1).
    choice : of scores, how many guesses are made: a number decided before looking, or a `Split`, the default.
    seed : of all draws; the same seed gives the same posterior. The exact method has no use for it.
    settings : of the sampler: chains, draws, warmup, n_auxiliaries, auxiliaries (see `mhaar`), or chains, draws,
        warmup, target_accept (see `nuts`); and progress, whether there is a bar on standard error, by default on a
        terminal.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> bdp.estimate(counts, delta=1e-3)
    <Posterior of epsilon given delta=0.001: 90% interval 1.842 to 5.586; if Gaussian, 7.601 to 31.29>
    >>> bdp.estimate(counts, delta=1e-3, strength="tight")  # takes every attack to be the strongest possible
    <Posterior of epsilon given delta=0.001: 90% interval 1.622 to 2.619; if Gaussian, 6.47 to 10.23>
    >>> bdp.estimate(counts, delta=1e-3, family="gaussian")  # were the noise Gaussian
    <Posterior of epsilon given delta=0.001 in the gaussian family: 90% interval 7.601 to 31.29>
    """
    seed = seed_of(seed)
    shared: dict[str, Any] = {
        "prior_epsilon": prior_epsilon,
        "prior_strength": prior_strength,
        "strength": strength,
    }
    if isinstance(counts, GuessTable | Guesses):
        found = judged(counts, delta, choice)
        if not found.fair:
            asked = (family, prior, likelihood, method, groups, spread, settings)
            return _under_shift(found.guesses, delta, asked, shared, seed)
        counts = found.counts
    elif choice is not None:
        raise InputError("choice is for a table of scores; counts are of guesses that are made already")
    if not (isinstance(family, str) and family == "approx"):
        if isinstance(family, str) and family == "average":
            return _averaged(counts, delta, prior, likelihood, method, groups, spread, settings, shared)
        chosen = family_of(family)
        _check_family(chosen.name, likelihood, method, groups, spread, settings)
        return posterior_of_family(counts, chosen, delta, prior=prior, **shared)
    if prior is not None:
        raise InputError("prior is for the parameter of a family; the prior of ε is prior_epsilon")
    if delta is None:
        raise InputError("delta is missing: the posterior of ε is for a known δ, unless family= says what it is of")
    if groups is not None:
        shared["spread"] = spread
        return _grouped(counts, delta, groups, likelihood, method, shared, settings | {"seed": seed})
    if spread is not None:
        raise InputError("spread is for groups='hierarchical' or 'aggregate'")
    law = likelihood_of(likelihood)
    if method is not None and not is_one_of(method, ("exact", "mhaar", "nuts")):
        raise InputError(f"method must be 'exact', 'mhaar' or 'nuts', not {show(method)}")
    if strength == "tight" and not law.closed_form:
        raise InputError(
            f"strength='tight', the limit s → 1, exists for the {_closed()} likelihood only, not for {show(law.name)}"
        )
    if method is None:
        method = "exact" if law.closed_form else "mhaar"
    if method == "exact":
        if not law.closed_form:
            raise InputError(
                f"method='exact' is for likelihood={show(_closed())}, not {show(law.name)}; use method='mhaar'"
            )
        if settings:
            raise InputError(f"{', '.join(settings)}: settings of a sampler, which method='exact' does not have")
        return exact(counts, delta, **shared)
    sampler = _sampler(method)
    _check_settings(f"method={show(method)}", settings, sampler, {"likelihood", *shared})
    return sampler(counts, delta, likelihood=law, **shared, **settings, seed=seed)


def _under_shift(
    guesses: Guesses, delta: float | None, asked: tuple[Any, ...], shared: Mapping[str, Any], seed: int
) -> Posterior:
    """That of guesses whose propensities are no fair coins, for which there is one model only."""
    if asked != ("approx", None, "binomial", None, None, None, {}):
        raise InputError(
            "members differ from non-members by their propensities: family, prior, likelihood, method, groups, spread"
            " and settings of samplers are for error counts, which do not know them"
        )
    if delta is None:
        raise InputError("delta is missing: the posterior of ε is for a known δ")
    return estimate_shifted(guesses, delta, **shared, seed=seed)


def _averaged(
    counts: ErrorCounts,
    delta: Any,
    prior: Any,
    likelihood: Any,
    method: Any,
    groups: Any,
    spread: Any,
    settings: Mapping[str, Any],
    shared: Mapping[str, Any],
) -> Posterior:
    """The average over the families by their evidence."""
    _check_family("average", likelihood, method, groups, spread, settings)
    if prior is not None:
        raise InputError("prior is for one family; family='average' has prior_epsilon, of the largest advantage")
    if delta is None:
        raise InputError("delta is missing: the families of family='average' have no parameter in common")
    return compare_families(counts, delta, **shared).average


def _check_family(
    name: str, likelihood: Any, method: Any, groups: Any, spread: Any, settings: Mapping[str, Any]
) -> None:
    """Refuse what is not for families of trade-off functions."""
    name = show(name)
    if not likelihood_of(likelihood).closed_form:
        raise InputError(f"family={name} is for the {_closed()} likelihood only, not for {show(likelihood)}")
    if method is not None and not is_one_of(method, ("exact",)):
        raise InputError(
            f"family={name} is computed by method='exact', not by {show(method)}: the samplers draw rates from the"
            " layer of (ε, δ)"
        )
    if groups is not None or spread is not None:
        raise InputError(f"groups and spread are for (ε, δ), not for family={name}")
    if settings:
        raise InputError(f"{', '.join(settings)}: settings of a sampler, which method='exact' does not have")


class Estimates:
    """`estimate` for one analysis: what was asked before is not computed again.

    The counts and what is neither number nor text, such as a prior, are the same if they are the same object.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], tuple[Any, Mapping[str, Any]]] = {}

    def __call__(self, counts: ErrorCounts, delta: float, **options: Any) -> Posterior:
        """The posterior that `estimate` gives."""
        asked = inspect.signature(estimate).bind(counts, delta, **options)
        asked.apply_defaults()
        named = {**asked.arguments, **asked.arguments["settings"]}
        del named["settings"]
        named["likelihood"] = law = likelihood_of(named["likelihood"])
        if law.closed_form and named["method"] in (None, "exact") and named["groups"] is None:
            named |= {"method": "exact", "seed": 0}  # the default by another name, and a seed without use
        return self._once(named, lambda: estimate(counts, delta, **options))

    def shifted(self, given: GuessTable | Guesses, made: int, delta: float, **options: Any) -> ShiftedPosterior:
        """The posterior that `estimate_shifted` gives of guesses, or of so many of a table."""
        named = {"given": given, "made": made, "delta": delta} | options

        def ask() -> ShiftedPosterior:
            guesses = given if isinstance(given, Guesses) else call_members(given, made)
            return estimate_shifted(guesses, delta, **options)

        return self._once(named, ask)

    def _once(self, named: Mapping[str, Any], ask: Callable[[], Answer]) -> Answer:
        question = tuple((name, *_identity(value)) for name, value in sorted(named.items()))
        if question not in self._found:
            self._found[question] = ask(), named  # kept too, for no other object to get its place in memory
        found: Answer = self._found[question][0]
        return found


def _identity(value: Any) -> tuple[type, Any]:
    return type(value), value if isinstance(value, bool | int | float | str) else id(value)


def _closed() -> str:
    """The likelihood that has a closed form."""
    return ", ".join(name for name, law in LIKELIHOODS.items() if law.closed_form)


def _sampler(method: str) -> Callable[..., Posterior]:
    if method == "mhaar":
        from bayes_dp.bayes.mhaar.posterior import mhaar

        return mhaar
    from bayes_dp.bayes.nuts.posterior import nuts

    return nuts


def _check_settings(what: str, settings: Mapping[str, Any], sampler: Callable[..., Any], others: Set[str]) -> None:
    """Refuse settings that the sampler does not have; it has those that are not among the `others`."""
    known = inspect.signature(sampler).parameters.keys() - {"counts", "delta", *others}
    if unknown := settings.keys() - known:
        raise InputError(f"{what} has no setting {', '.join(sorted(unknown))}; it has {', '.join(sorted(known))}")


def _grouped(
    counts: ErrorCounts,
    delta: float,
    form: str,
    likelihood: Any,
    method: Any,
    shared: dict[str, Any],
    settings: dict[str, Any],
) -> Posterior:
    from bayes_dp.bayes.grouped import aggregate, hierarchical

    forms: dict[str, tuple[Callable[..., Posterior], str]] = {
        "hierarchical": (hierarchical, "nuts"),
        "aggregate": (aggregate, "mhaar"),
    }
    if not is_one_of(form, tuple(forms)):
        raise InputError(f"groups must be 'hierarchical' or 'aggregate', not {show(form)}")
    answer, method_of_form = forms[form]
    if method not in (None, method_of_form):
        raise InputError(f"groups={show(form)} is sampled by {show(method_of_form)}, not {show(method)}")
    if not likelihood_of(likelihood).closed_form:
        raise InputError("groups are for binomial counts only: leave the likelihood out")
    _check_settings(f"groups={show(form)}", settings, _sampler(method_of_form), {"likelihood", *shared})
    return answer(counts, delta, **shared, **settings)
