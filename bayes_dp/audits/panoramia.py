"""PANORAMIA's measurement (Kazmi et al. 2024): how much better an attack tells members from generated examples than a
baseline does that never sees the model.

Whether an example is a member or a generated one is decided by a fair coin. Among the r examples that a classifier
takes for members, tp are. If the generator is c-close to the members' distribution and the model ε-DP, then
P[Binomial(r, sigmoid(c)) ≥ tp] bounds the chance of such a baseline, and with c + ε that of such an attack; so
lower bounds of c and of c + ε at p/2 each, over all thresholds that are looked at (Propositions 1 and 2; Algorithm 1
and Corollary 2 turn two inequalities round).
With (c,γ)-closeness and (ε,δ)-DP, the tests are those of `one_run.p_value` with γ and γ + δ − γδ in δ's place (Appendix
E; Proposition 4 misprints 2mδ for the baseline).

The difference of two lower bounds is no lower bound: where the generator is worse than the baseline can tell, c is
larger than its bound and ε smaller than the difference. Only with real non-members is c = 0 known.

Of games that were `Played` several times, the median of their results counts, each at half of p: a median of bounds
exceeds the truth only if half of them do, which by Markov's inequality has at most twice the chance of one. Their coins
fall after the training, so ε is that of the replacement of an example.

Even a model that leaks nothing has an estimate above 0 where it tells generated from real examples better than the
baseline does. So a control is asked for, and an estimate that is not above the control's is no evidence.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.audits.base import Audit, Finding, Inputs
from bayes_dp.audits.memberships import Memberships, under_coins
from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.checks import InputError, numbers, one_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.games.played import Played
from bayes_dp.results.bound import REPLACED, Estimate, LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.callable_module import call_module_as

__all__ = ["OF_REPLACEMENT", "panoramia"]


_COIN = "Whether an example is a member was decided by its own fair coin, unknown to the classifiers."
OF_REPLACEMENT = (
    "ε is of the replacement of an example by another one, as coins fell after the training; of adding or removing one"
    " half of it is a bound, at δ/(1 + e^(ε/2))."
)
_TURNED = "The classifiers take members for the others more often than not: the same examples may be on both sides."
_HIGH = 2.5  # of c, with which nothing was seen in what was measured
_COPIED = 0.2  # of the others, that are members too; trees that draw rows of a table in common profiles have 0.12
_LEAST_LEFT = 1.0  # between c and the largest bound that so many guesses can give


def panoramia(
    attack: GuessTable | ErrorCounts | Played,
    baseline: GuessTable | ErrorCounts | None = None,
    delta: float = 0.0,
    *,
    gamma: float = 0.0,
    confidence: float = 0.95,
    thresholds: ArrayLike | None = None,
) -> Estimate | LowerBound:
    """ε̃ = max(0, {c+ε}_lb − c_lb), an estimate; without a baseline c = 0, and it is a lower bound of ε.

    Parameters
    ----------
    attack : scores of members and non-members by an attack that sees the model, or the counts of its decisions. Or
        what `games.Panoramia.play` and `games.coin_pairs` return, which has all that the others say but δ and γ.
    baseline : the same examples scored without the model. None says that the non-members are real ones, drawn as the
        members were, so that nothing but the model tells them apart.
    delta, gamma : of (ε,δ)-DP and of the (c,γ)-closeness of the generator.
    confidence : with which c_lb and {c+ε}_lb hold, both at once.
    thresholds : (k,), an example is taken for a member from such a score on; by default every score that occurs. Each
        threshold is judged at an equal share of the error probability, so a few, chosen in advance, serve better.

    >>> attack = bdp.ErrorCounts(10, 100, 20, 100, design="one_run", examples=200)
    >>> found = bdp.audits.panoramia(attack)  # no baseline: real non-members
    >>> found.kind, round(found.value, 3)
    ('lower_bound', 1.508)
    """
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    gamma = one_number("gamma", gamma, 0.0, 1.0, high_open=True)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    if isinstance(attack, Played):
        if baseline is not None or thresholds is not None:
            raise InputError(
                f"{'thresholds' if baseline is None else 'baseline'} must be None, as games have their own"
            )
        return _of_games(attack, delta, gamma, confidence)
    p, both = 1 - confidence, gamma + delta - gamma * delta
    if baseline is None and gamma > 0:
        raise InputError("gamma is for generated non-members, which a baseline must be given for")
    bound, threshold, tests = _log_odds("attack", attack, thresholds, both, p if baseline is None else p / 2)
    coins = _coins(attack)
    details: dict[str, Any] = {"threshold": threshold, "thresholds": tests, **coins.details}
    several = "The threshold was decided before looking at which decisions are right."
    if tests > 1:
        several = f"The best of {tests} thresholds counts, each judged at an equal share of the error probability."
    digest = hashlib.sha256(attack.digest().encode())
    settings = {"confidence": confidence, "gamma": gamma}
    if baseline is None:
        return LowerBound(
            parameter="epsilon",
            value=bound,
            confidence=confidence,
            assumptions=(
                _COIN,
                *coins.assumptions,
                "The non-members are real examples, drawn as the members were (c = 0).",
                f"δ = {delta:g} is known.",
                several,
            ),
            provenance=Provenance("panoramia", digest.hexdigest(), {"delta": delta}, {}, settings),
            invalid=coins.invalid,
            warnings=_cautions(attack),
            details=details,
            at=lambda d: panoramia(attack, delta=d, confidence=confidence, thresholds=thresholds),
        )
    closeness, base_threshold, base_tests = _log_odds("baseline", baseline, thresholds, gamma, p / 2)
    digest.update(baseline.digest().encode())
    base_coins = _coins(baseline)
    return Estimate(
        parameter="epsilon",
        value=max(0.0, bound - closeness),
        confidence=confidence,
        assumptions=(
            _COIN,
            *coins.assumptions,
            "The baseline is as good at telling generated examples from real ones as any classifier that does not see"
            " the model: were it not, the estimate would be too large.",
            f"δ = {delta:g} and γ = {gamma:g} are known.",
            several,
        ),
        provenance=Provenance("panoramia", digest.hexdigest(), {"delta": delta}, {}, settings),
        invalid=joined(*dict.fromkeys((coins.invalid, base_coins.invalid))),
        warnings=(*_cautions(attack), *(f"Of the baseline: {sentence}" for sentence in _cautions(baseline))),
        details=details
        | {
            "c_lower_bound": closeness,
            "c_plus_epsilon_lower_bound": bound,
            "baseline_threshold": base_threshold,
            "baseline_thresholds": base_tests,
        },
        at=lambda d: panoramia(attack, baseline, delta=d, gamma=gamma, confidence=confidence, thresholds=thresholds),
    )


def _of_games(played: Played, delta: float, gamma: float, confidence: float) -> Estimate | LowerBound:
    """The median of the games, and of those of their control."""
    if gamma > 0 and not played.generated:
        raise InputError("gamma is for generated non-members, which a baseline must be given for")
    each = confidence if len(played) == 1 else 1 - (1 - confidence) / 2
    tables = [played.tables(k) for k in range(len(played))]

    def measured(which: int) -> list[Estimate | LowerBound]:
        return [
            panoramia(
                scores, one[1] if played.generated else None, delta, gamma=gamma, confidence=each,
                thresholds=played.thresholds,
            )
            for one in tables if (scores := one[which]) is not None
        ]  # fmt: skip

    found, controls = measured(0), measured(2)
    best = _middle(found)
    values = np.array([one.value for one in found])
    details = dict(best.details) | {"games": len(found), "mean": float(values.mean()), "sd": float(values.std())}
    details["neighbours"] = REPLACED
    details |= {"largest_possible": _ceiling(played, delta, gamma, 1 - each)}
    if not played.generated:
        details |= {"baseline": _middle(measured(1)).value}
    if controls:
        details |= {"control": (blind := _middle(controls).value), "excess": best.value - blind}
    if played.sizes:
        details["sizes"] = dict(played.sizes)
    assumptions = [*best.assumptions, OF_REPLACEMENT]
    if played.generated:
        assumptions.append("No example that is audited was used to train the generator, a helper or a classifier.")
    if len(found) > 1:
        assumptions.append(f"Of {len(found)} games the median counts, each judged at half of the error probability.")
    settings = {"confidence": confidence, "gamma": gamma, "games": len(found)}
    contradicted = _no_evidence(best.value, details.get("control"), played) if played.generated else played.told_apart()
    return replace(
        best,
        confidence=confidence,
        assumptions=tuple(assumptions),
        provenance=Provenance("panoramia", played.digest(), {"delta": delta}, {}, settings),
        invalid=joined(best.invalid, contradicted),
        warnings=((_TURNED,) if best.warnings else ()) + _copies(played) + _warnings(details, played.generated),
        details=details,
        at=lambda d: panoramia(played, delta=d, gamma=gamma, confidence=confidence),
    )


def _middle(found: list[Estimate | LowerBound]) -> Estimate | LowerBound:
    """The median, or the lower one of two."""
    order = np.argsort([one.value for one in found], kind="stable")
    return found[int(order[(len(found) - 1) // 2])]


def _ceiling(played: Played, delta: float, gamma: float, p: float) -> float:
    """The bound on c + ε if all that are taken for members are."""
    m, cuts = played.member.shape[1], played.thresholds
    taken = m - cuts + 1
    p /= len(cuts) * (2 if played.generated else 1)
    return float(lower_bounds(m, taken, taken, gamma + delta - gamma * delta, p).max())


def _no_evidence(value: float, control: float | None, played: Played) -> str:
    if control is None:
        return (
            "There is no control, a model that leaks little of the members, so that nothing here is evidence of a leak:"
            " such models have estimates above 0 too."
        )
    if played.control is not None and np.array_equal(played.control, played.baseline):
        return (
            "The control adds nothing to what the baseline knows, as a model that says the same of every example, so"
            " that nothing here is evidence of a leak: models that leak little have estimates above 0 too."
        )
    if value > control:
        return ""
    return (
        f"The estimate is not above that of the control, {control:.4g}, which is no evidence that the model leaks more"
        " than the control does."
    )


def _copies(played: Played) -> tuple[str, ...]:
    if played.copied <= _COPIED:
        return ()
    others = "generated examples" if played.generated else "non-members"
    return (
        f"{100 * played.copied:.3g}% of the {others} are copies of members, beyond what members have of each other. The"
        " model knows these as well, so that a leak is hidden.",
    )


def _warnings(details: dict[str, Any], generated: bool) -> tuple[str, ...]:
    control, c = details.get("control", 0.0), details.get("c_lower_bound", 0.0)
    told = []
    if control > 0 and generated:
        told.append(f"The control has an estimate of {control:.4g}: only what is above it is evidence of a leak.")
    if control > 0 and not generated:
        told.append(
            f"The control has a bound of {control:.4g}: it leaks too, or the non-members are not drawn as the members"
            " were, which makes the bound wrong."
        )
    if (blind := details.get("baseline", 0.0)) > 0:
        told.append(
            f"A classifier that does not see the model has a bound of {blind:.4g} by itself, as it seldom should: the"
            " non-members may not be drawn as the members were."
        )
    left = details["largest_possible"] - c
    if left + c < _LEAST_LEFT:
        kind = "estimate" if generated else "bound"
        told.append(f"With so few pairs no {kind} above {max(left, 0.0):.3g} is possible.")
    elif c >= _HIGH or (generated and left < _LEAST_LEFT):
        told.append(
            f"The generated examples are told from real ones without the model (c ≥ {c:.3g}), so that little or nothing"
            f" of what the model leaks can be seen; no estimate above {max(left, 0.0):.3g} is possible. Take a better"
            " generator."
        )
    return tuple(told)


def _coins(given: GuessTable | ErrorCounts) -> Memberships:
    """Whether the memberships contradict the coins of the game."""
    if isinstance(given, ErrorCounts):
        return under_coins(Guesses.from_counts(given))
    members = given.member.sum()
    return under_coins(Guesses(len(given), len(given), members, members=members))  # as if all were taken for members


def _cautions(given: GuessTable | ErrorCounts) -> tuple[str, ...]:
    """What speaks against the scores."""
    return given.cautions() if isinstance(given, GuessTable) else ()


def _log_odds(
    name: str, given: Any, thresholds: ArrayLike | None, slack: float, p: float
) -> tuple[float, float | None, int]:
    """The largest lower bound of the log odds of being a member when taken for one, its threshold, and how many there
    were."""
    if isinstance(given, ErrorCounts):
        if given.design != "one_run":
            raise InputError(f'{name}: counts of the design "{given.design}" are no decisions on one model')
        whole = given.pool()
        tp, fp = int(whole.positives[0] - whole.false_negatives[0]), int(whole.false_positives[0])
        examples = given.examples or int(whole.negatives[0] + whole.positives[0])
        return float(lower_bounds(examples, tp + fp, tp, slack, p)), None, 1
    if not isinstance(given, GuessTable):
        raise InputError(
            f"{name} must be a GuessTable or ErrorCounts, which tell the calls of members apart, not"
            f" {type(given).__name__}"
        )
    if given.propensity is not None and (given.propensity != 0.5).any():
        raise InputError(f"{name}: each example must be a member by a fair coin, and the propensities say otherwise")
    if given.base is not None and len(set(given.base)) > 1:
        raise InputError(f"{name} holds {len(set(given.base))} bases: measure one at a time, see GuessTable.by_base")
    cuts = np.unique(given.score) if thresholds is None else np.atleast_1d(numbers("thresholds", thresholds))
    if cuts.ndim != 1 or not cuts.size:
        raise InputError(f"thresholds must be a number or numbers in a row, not of the shape {cuts.shape}")
    order = np.argsort(given.score)
    score, members = given.score[order], np.append(0, np.cumsum(given.member[order]))
    below = np.searchsorted(score, cuts, side="left")
    taken, right = len(given) - below, members[-1] - members[below]
    bounds = lower_bounds(len(given), taken, right, slack, p / len(cuts))
    best = int(np.argmax(bounds))
    return float(bounds[best]), float(cuts[best]) if bounds[best] > 0 else None, len(cuts)


def _run(counts: ErrorCounts, given: Inputs) -> Finding:
    found = panoramia(counts, given.baseline, given.delta, confidence=given.confidence)
    if given.guesses is None:
        return found
    return replace(found, invalid=joined(under_coins(given.guesses).invalid, found.invalid))


AUDITS = (
    Audit(
        name="panoramia",
        needs=("guesses", "coins"),
        run=_run,
        assumptions=(_COIN,),
        scope="whole",
    ),
)
call_module_as(panoramia)
