"""The zero-run audit: a lower bound for a model that is trained already, from members and non-members that may differ.

Given its features each example is a member with a probability that need not be ½, its propensity. What the features
tell is taken off guess by guess (Ceberé, Even, Bleistein, Bellet, "Privacy auditing with zero (0) training run"). There
are three forms:

    untampered      for pure ε-DP: a tail of the Poisson binomial law, P[Σ Bernoulli(sigmoid(ε + lean_i)) ≥ correct]
                    (Theorem D.1), module `propensity_bounds`
    tampered        for (ε, δ)-DP and Gaussian DP: guesses are kept by coins (Theorem 5.1), modules `tampering` and
                    `propensity_bounds`
    compositional   the worst propensity counts for all (Corollary 1), module `compositional`

The first two are directional unless that is switched off: a guess against its propensity needs no discount. By default
the untampered form is taken for pure ε-DP, and the tampered one for all else.

A tampered bound depends on its coins. They are drawn with `seed`, one uniform number for each example, whatever the
number of guesses. `derandomised` does without: it takes twice the mean p-value over all coins for ε, and the median
number of kept guesses at half the error probability for μ. Both are valid, at the price of the 2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import Bonferroni, NumberOfGuesses, Sides
from bayes_dp.audits.base import Audit, Finding, Inputs, no_gaussian_epsilon
from bayes_dp.audits.choice import Choice, choose_by
from bayes_dp.audits.compositional import compositional
from bayes_dp.audits.f_dp import refuse_delta_zero
from bayes_dp.audits.memberships import Memberships, under_propensities
from bayes_dp.audits.propensity_bounds import (
    Form,
    Parameter,
    bounds_for_propensities,
    chosen_form,
    expected_bound,
    median_bound,
)
from bayes_dp.audits.tampering import keep_for_epsilon, keep_for_f, lean
from bayes_dp.checks import InputError, is_one_of, one_number, seed_of, show, truth
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.data.propensity_source import PropensitySource
from bayes_dp.results.bound import LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats, Indices
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.tradeoff import Gaussian

__all__ = ["ESTIMATED", "FAR", "NOT_BOOTSTRAPPED", "Trust", "cautions", "resting_on", "trusted", "uniforms", "zero_run"]

AnyForm = Literal["untampered", "tampered", "compositional"]
Trust = Literal["cautious", "exact"]

ESTIMATED = (
    "Learned propensities have an error of their own, which a bound from them knows of only if it is bootstrapped."
)
NOT_BOOTSTRAPPED = (
    "The propensities were learned, and whoever guesses where they err shows a leak that is none: bootstrap"
    " (propensity.bootstrap, or --bootstrap 600) for a bound that knows of their error."
)
FAR = 0.01  # propensities below this or above 1 − this: the features alone all but decide


def zero_run(
    guesses: GuessTable | Guesses,
    delta: float | None = None,
    *,
    family: Literal["approx", "gaussian"] = "approx",
    form: AnyForm | None = None,
    directional: bool = True,
    propensity: Trust = "cautious",
    derandomised: bool = False,
    overlap: float | None = None,
    shift_delta: float = 0.0,
    choice: NumberOfGuesses | int | None = None,
    sides: Sides = "both",
    aware: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
) -> LowerBound:
    """Lower bound on ε at δ, or on μ of Gaussian DP, from guesses on a model that is trained already.

    Parameters
    ----------
    guesses : a table of scores with propensities, or what `attacks.call_members` made of one. Where the propensities
        were learned, the table knows it, and the result says what is known of them and is not valid: see
        `propensity.bootstrap`.
    delta : of (ε, δ)-DP, by default 0. For the family "gaussian" the bound is on μ, or on ε at `delta` if it is given.
    form : one of the forms above; by default the tightest that is valid.
    directional : whether a guess against its propensity goes without a discount; False is as in the paper.
    propensity : "exact" where the propensities are exact. If they are not, "cautious": a guess against its propensity
        counts as one on a fair coin, and propensities that are more extreme than the true ones do no harm. All but the
        directional untampered form are cautious anyway.
    derandomised : for the tampered form, a bound that no coins decide.
    overlap, shift_delta : η and δ_DS of the compositional form; η is by default the least of all examples.
    choice, sides, aware : of a table's guesses, see `attacks.call_members`; by default the best of several numbers,
        corrected for their number.
    seed : of all draws, the coins and the guesses of a table; the same seed gives the same bound.

    >>> rng = np.random.default_rng(0)
    >>> propensity = rng.uniform(0.3, 0.7, 2000)
    >>> member = rng.random(2000) < propensity
    >>> table = bdp.GuessTable(4 * member + rng.normal(size=2000), member, propensity)
    >>> round(bdp.audits.zero_run(table, 1e-5).value, 3)
    5.091
    """
    seed, directional, propensity = seed_of(seed), truth("directional", directional), trusted(propensity)
    derandomised, aware = truth("derandomised", derandomised), truth("aware", aware)
    shift_delta = one_number("shift_delta", shift_delta, 0.0, 1.0, high_open=True)
    calls = _calls(guesses, choice, sides, aware, directional, seed)
    if not is_one_of(family, ("approx", "gaussian")):
        raise InputError(f'family must be "approx" or "gaussian", not {show(family)}')
    if form is not None and not is_one_of(form, ("untampered", "tampered", "compositional")):
        raise InputError(f'form must be "untampered", "tampered" or "compositional", not {show(form)}')
    if delta is None and family == "approx":
        delta = 0.0
    if delta is not None:
        delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    if family == "gaussian":
        refuse_delta_zero(delta)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    settings: dict[str, Any] = {
        "family": family, "form": form, "directional": directional, "propensity": propensity,
        "derandomised": derandomised, "overlap": overlap, "shift_delta": shift_delta, "confidence": confidence,
        "seed": seed,
    }  # fmt: skip
    if form == "compositional":
        return _compositional(calls, delta, settings)
    if overlap is not None or shift_delta:
        raise InputError('overlap and shift_delta are for the form "compositional"; the others take the propensities')
    parameter: Parameter = "mu" if family == "gaussian" else "epsilon"
    chosen = chosen_form(parameter, delta or 0.0, form)
    if derandomised and chosen == "untampered":
        raise InputError("derandomised is for the tampered form; the untampered one has no coins")
    uniform = uniforms(calls, seed)

    def lower(part: Guesses, rows: Indices, p: float) -> Floats:
        return np.array([_bound(part, i, uniform, parameter, delta or 0.0, chosen, settings, p) for i in rows.tolist()])

    members, found = _members(calls), choose_by(calls, 1 - confidence, lower)
    details: dict[str, Any] = {**found.counts, "level": found.level, "form": chosen, "directional": directional}
    details |= members.details
    details["far"] = int(np.sum(_far(calls.propensity)))
    if chosen == "tampered":
        details["mean_keep"] = _mean_keep(calls, found, parameter, directional)
    value, name, assumptions = found.value, str(parameter), [*_ASSUMPTIONS, found.assumption]
    assumptions.append(_why(chosen, directional, derandomised, delta, form is None))
    assumptions += cautions(chosen, directional, settings["propensity"])
    if family == "gaussian" and delta is not None:
        details["mu"], name = value, "epsilon"
        value = float(Gaussian(value).epsilon_at(delta))
        assumptions.append("The privacy of the training is that of one member of the family, Gaussian DP.")
    if delta is not None:
        assumptions.append(f"δ = {delta:g} is known.")
    bound = LowerBound(
        parameter=name,
        value=value,
        confidence=confidence,
        assumptions=tuple(assumptions),
        provenance=_provenance(calls, delta, settings | {"form": chosen}),
        invalid=joined(members.invalid, found.invalid),
        warnings=tuple(_warnings(calls, details["mean_keep"] if parameter == "mu" else 1.0)),
        details=details,
        at=lambda d: zero_run(calls, d, **settings),
    )
    return resting_on(bound, calls.table.source)


def resting_on(bound: LowerBound, source: PropensitySource, *, bootstrapped: bool = False) -> LowerBound:
    """The bound with all that is to be said of the propensities that it was made with, by where they come from.

    `bootstrapped` says whether the error of learned ones is in the bound. If it is not, the bound is not valid: the
    adversary may guess just those examples whose propensities err in its favour.
    """
    if source.name == "given":
        return bound
    return replace(
        bound,
        assumptions=(*bound.assumptions, *source.assumptions),
        invalid=joined(bound.invalid, source.objection or ("" if bootstrapped else NOT_BOOTSTRAPPED)),
        warnings=(*source.warnings, *bound.warnings),
        details={**bound.details, "propensities": {"source": source.name, **(source.test or {})}},
    )


def trusted(propensity: Any) -> Trust:
    """The argument of `zero_run` that says how propensities are taken, checked."""
    if not isinstance(propensity, str) or propensity not in ("cautious", "exact"):
        raise InputError(f'propensity must be "cautious" or "exact", not {show(propensity)}')
    return "cautious" if propensity == "cautious" else "exact"


def uniforms(guesses: Guesses, seed: int) -> Floats:
    """The coins of the tampered form: one uniform number for each row of the table that the guesses or their pilot
    have, (n,), and 0 for the others."""
    coins = np.zeros(len(guesses.table))
    for part, key in ((guesses, 2), (guesses.pilot, 3)):  # streams of their own, as seeds are reused
        if part is not None:
            stream = np.random.SeedSequence(seed_of(seed), spawn_key=(key,))
            coins[part.rows] = np.random.default_rng(stream).random(part.examples)
    return coins


# Parts ----------------------------------------------------------------------------------------------------------------

_ASSUMPTIONS = (
    "Given the features of all examples, each is a member with the chance that is its propensity, independently.",
    "All guesses were made from one trained model and from features, without a look at who is a member.",
)


def _calls(
    guesses: Any, choice: NumberOfGuesses | int | None, sides: Sides, aware: bool, directional: bool, seed: int
) -> Guesses:
    if isinstance(guesses, Guesses):
        if choice is not None:
            raise InputError("choice is for a table of scores; these guesses are made already")
        guesses.table.needed_propensity()  # which is refused where there is none
        return guesses
    if not isinstance(guesses, GuessTable):
        raise InputError(
            f"guesses must be a GuessTable, or Guesses as attacks.call_members gives them, not {type(guesses).__name__}"
        )
    choice = Bonferroni() if choice is None else choice
    return call_members(guesses, choice, sides, aware=aware, directional=directional, seed=seed)


def _bound(
    calls: Guesses,
    i: int,
    uniform: Floats,
    parameter: Parameter,
    delta: float,
    form: Form,
    settings: dict[str, Any],
    p: float,
) -> float:
    """The bound of the i-th number of guesses at error probability p."""
    (rows, called), m = calls.guessed(i), calls.examples
    right, propensity = calls.table.member[rows] == called, calls.table.needed_propensity()[rows]
    directional = settings["directional"]
    if settings["derandomised"]:
        leans = lean(propensity[right], called[right], directional)
        if parameter == "mu":
            return median_bound(m, len(rows), leans, p)
        return expected_bound(m, len(rows), leans, delta, p)
    bounds = bounds_for_propensities(
        propensity, called, right, uniform[rows], examples=m, p=p, parameter=parameter, delta=delta, form=form,
        directional=directional, cautious=settings["propensity"] == "cautious",
    )  # fmt: skip
    return float(bounds[0])


def _members(calls: Guesses) -> Memberships:
    """Whether the memberships contradict the propensities."""
    rows = np.concatenate([part.rows for part in (calls, calls.pilot) if part is not None])
    return under_propensities(calls.table.member[rows], calls.table.needed_propensity()[rows], calls.examples)


def _mean_keep(calls: Guesses, found: Choice, parameter: Parameter, directional: bool) -> float:
    """The mean chance with which the guesses are kept, at the bound for ε."""
    rows, called = calls.guessed(found.row)
    leans = lean(calls.table.needed_propensity()[rows], called, directional)
    keep = keep_for_f(leans) if parameter == "mu" else keep_for_epsilon(leans, found.value)
    return float(np.mean(keep)) if len(rows) else 1.0


def _compositional(calls: Guesses, delta: float | None, settings: dict[str, Any]) -> LowerBound:
    """`compositional` with the overlap of the table, if none is given."""
    if settings["derandomised"]:
        raise InputError("derandomised is for the tampered form; the compositional one has no coins")
    given, eta = settings["overlap"], settings["overlap"]
    if eta is None:
        eta = float(np.minimum(calls.propensity, 1 - calls.propensity).min())
    found = compositional(
        calls.counted(), delta, overlap=eta, shift_delta=settings["shift_delta"], family=settings["family"],
        confidence=settings["confidence"],
    )  # fmt: skip
    assumptions, invalid, details = list(found.assumptions), found.invalid, dict(found.details)
    if given is None:
        assumptions.append(f"No example could have had a propensity further from 1/2 than the {calls.examples} here.")
        members = _members(calls)  # which is all that the overlap is taken from
        invalid, details = joined(members.invalid, invalid), details | members.details
    bound = LowerBound(
        found.parameter, found.value, found.confidence, tuple(assumptions),
        _provenance(calls, delta, settings | {"overlap": eta}), invalid, warnings=found.warnings, details=details,
        at=lambda d: zero_run(calls, d, **settings),
    )  # fmt: skip
    return bound if given is not None else resting_on(bound, calls.table.source)


def _provenance(calls: Guesses, delta: float | None, settings: dict[str, Any]) -> Provenance:
    return Provenance(
        "zero-run",
        calls.digest_of_examples(),
        {} if delta is None else {"delta": delta},
        {},
        {**settings, "rule": calls.rule},
    )


def _why(form: str, directional: bool, derandomised: bool, delta: float | None, by_default: bool) -> str:
    """Which form was used, and why, a sentence."""
    name = f"{'directional ' if directional else ''}{form} form"
    if form == "untampered":
        why = "on average no other form is tighter at δ = 0"
    elif delta is None:
        why = "for Gaussian DP there is no untampered one"
    elif delta > 0:
        why = "for δ > 0 there is no untampered one"
    else:
        why = "although the untampered one is tighter on average at δ = 0"
    coins = "" if form == "untampered" else ", without coins" if derandomised else ", with coins drawn by the seed"
    return f"The {name} was {'taken' if by_default else 'asked for'}{coins}: {why}."


def cautions(form: str, directional: bool, propensity: Trust) -> list[str]:
    """What a bound assumes of the propensities that it is made with, sentences."""
    if form == "untampered" and directional and propensity == "exact":
        return [
            "The propensities are exact: more extreme ones would make the bound too large, not only less extreme ones."
        ]
    return ["No propensity is nearer to 1/2 than the true one; further away, on its side of 1/2, does no harm."]


def _far(propensity: Floats) -> Bools:
    return np.minimum(propensity, 1 - propensity) < FAR


def _warnings(calls: Guesses, keep: float) -> list[str]:
    found = list(calls.warnings)
    if far := int(np.sum(_far(calls.propensity))):
        found.append(
            f"{far} of {calls.examples} examples have a propensity below {FAR:g} or above {1 - FAR:g}: their features"
            " alone all but tell who is a member, and guesses of them show next to nothing."
        )
    if keep <= 0.5:
        found.append(
            f"The guesses are kept with chance {keep:.3g} on average, and up to 1/2 the bound on μ is 0 whatever was"
            " guessed; make fewer guesses, and with features that tell less."
        )
    return found


def _run(given: Inputs, family: Literal["approx", "gaussian"]) -> Finding:
    assert given.scores is not None  # as they are needed
    guesses = given.scores if given.guesses is None else given.guesses
    return zero_run(guesses, given.delta, family=family, confidence=given.confidence)


AUDITS = (
    Audit(
        name="zero-run",
        needs=("scores",),
        run=lambda counts, given: _run(given, "approx"),
        assumptions=_ASSUMPTIONS,
        scope="whole",
    ),
    Audit(
        name="zero-run-gaussian",
        needs=("scores",),
        run=lambda counts, given: _run(given, "gaussian"),
        assumptions=_ASSUMPTIONS,
        refuse=no_gaussian_epsilon,
        scope="whole",
    ),
)
call_module_as(zero_run)
