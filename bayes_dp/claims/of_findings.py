"""What findings that are there already say of a claim: bounds, whole profiles, sequential audits and posteriors.

A profile bounds ε at every δ at once, so that a claim is held against it at all of them, and the one at which the bound
exceeds most what the claim allows is told. A sequential audit has p-values that may be read at any time.

A bound from a game after the training is of the replacement of an example or a label by another one. If the claim is of
DP-SGD, or of what an accountant says, neighbours differ in one example that is there or not, and to replace one is to
remove it and to add another: the claim then allows f(1 − f(α)) (Dong, Roth and Su 2022, Theorem 2.14). Between points α
of a grid, f being decreasing, ε at δ is at most log((1 − δ − f(1 − f(α₂)))/α₁), α₁ < α₂ being neighbours.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayes_dp.audits.profile import Profile
from bayes_dp.audits.rate_tests import mixture_log_e
from bayes_dp.audits.sequential import Sequential
from bayes_dp.checks import InputError
from bayes_dp.claims.outcome import as_test, decided, least_refuted_noise
from bayes_dp.claims.result import ClaimFinding, ClaimTest
from bayes_dp.results.bound import REPLACED, CredibleInterval, LowerBound
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import ApproxDP, Gaussian, Laplace, TradeOffFunction

if TYPE_CHECKING:
    from bayes_dp.claims.claim import Claim

__all__ = ["by_bound", "by_posterior", "by_profile", "by_sequential"]

_DELTAS = np.r_[0.0, np.logspace(-12, 0, 241)[:-1]]  # at which a profile is held against a claim
_ROUNDING = 1e-9  # of δ
_LEAST_ALPHA, _ALPHAS = 1e-14, 60_000  # of a grid, on which ε is at most 6e-4 too large


def by_bound(claim: Claim, bound: LowerBound) -> ClaimTest:
    delta = bound.provenance.known.get("delta")
    family = str(bound.provenance.settings.get("family", ""))
    reason, limit = bound.invalid, math.inf
    if bound.parameter == "mu" and isinstance(claim.below, Gaussian):
        limit = claim.below.mu
    elif bound.parameter != "epsilon" or delta is None:
        reason = reason or f"A bound on {bound.parameter} says nothing of {claim.what}."
    else:
        limit = claim.epsilon_at(delta)
        assumed = family in ("gaussian", "laplace", "custom") or "gaussian" in bound.provenance.method
        if assumed and not (isinstance(claim.below, Gaussian) and family in ("gaussian", "")):
            reason = reason or "The bound assumes a family of trade-off functions that is not the claim's."
    assumptions = bound.assumptions
    if claim.accounted_for and delta is not None and bound.details.get("neighbours") == REPLACED:
        limit = _of_replacement(claim.below, delta)
        assumptions = (
            *assumptions,
            "The bound is of the replacement of an example, and the claim of one that is there or not, which allows"
            f" ε = {limit:.4g} of a replacement.",
        )
    refutes = not reason and bound.value > limit
    row = ClaimFinding(bound.provenance.method, "bound", bound.value, refutes, not reason, reason)
    return decided(claim, [row], bound.confidence, None, assumptions, bound.provenance.digest, {}, delta)


def _of_replacement(f: TradeOffFunction, delta: float) -> float:
    """ε at δ of two steps of f; infinite if it is beyond the grid."""
    alpha = np.geomspace(_LEAST_ALPHA, 1.0, _ALPHAS)
    twice = np.asarray(f(np.minimum(1.0, 1.0 - np.asarray(f(alpha)) + np.finfo(float).eps)))
    if twice[0] < 1.0 - delta:
        return math.inf
    slope = (1.0 - delta - twice[1:]) / alpha[:-1]
    return math.log(max(float(slope.max()), 1.0))


def by_posterior(claim: Claim, found: Posterior | CredibleInterval) -> ClaimTest:
    delta = found.provenance.known.get("delta")
    if found.parameter != "epsilon" or delta is None:
        raise InputError(f"a posterior of {found.parameter} is not one of epsilon at a known delta")
    if isinstance(found, CredibleInterval):
        raise InputError("a credible interval has no P(epsilon > claim); give the posterior of bdp.estimate")
    limit = claim.epsilon_at(delta)
    above = 0.0 if math.isinf(limit) else min(1.0, max(0.0, found.prob_above(limit)))
    method = f"posterior ({found.provenance.method})"
    reason = " ".join(filter(None, (found.caution, *found.unreliable)))
    row = ClaimFinding(method, "posterior", above, False, not reason, reason)
    return decided(claim, [row], 0.95, None, found.assumptions, found.provenance.digest, {}, delta)


def by_profile(claim: Claim, profile: Profile) -> ClaimTest:
    """By the bound on ε at the δ where it exceeds most what the claim allows; at the claim's δ, if it does nowhere."""
    deltas = _DELTAS if claim.delta is None else np.union1d(_DELTAS, [claim.delta])
    found = profile.epsilon_at(deltas)

    def excess(f: TradeOffFunction) -> Floats:
        return np.asarray(found - f.epsilon_at(deltas))

    beyond = excess(claim.below)
    at = float(deltas[int(beyond.argmax())])
    if beyond.max() <= 0 and claim.delta is not None:
        at = claim.delta
    noise = least_refuted_noise(claim, lambda f: bool((excess(f) > 0).any()))
    return replace(by_bound(claim, profile.bound(at)), noise_multiplier=noise, warnings=profile.warnings)


def by_sequential(claim: Claim, audit: Sequential) -> ClaimTest:
    """By its p-value, which may be read at any time; that of its own confidence decides."""
    value, reason = _anytime(claim, audit)
    row = as_test(f"sequential {audit.method}".replace("_", "-"), value, 1 - audit.confidence, reason)
    delta = audit.delta if audit.family == "approx" and audit.method != "mixture" else None
    return decided(claim, [row], audit.confidence, None, audit.assumptions, "", {}, delta)


def _anytime(claim: Claim, audit: Sequential) -> tuple[float, str]:
    """The p-value, and why it is none. The mixture's e-value is of any claim, those of bets are of the audit's own."""
    value, reason = _of_its_own(claim, audit)
    if reason and audit.method == "mixture":
        log_e = sum(mixture_log_e(claim.below, *stretch) for stretch in audit.stretches)
        value, reason = min(1.0, math.exp(-log_e)), ""
    return value, audit.invalid or reason


def _of_its_own(claim: Claim, audit: Sequential) -> tuple[float, str]:
    """The same for claims of the audit's family."""
    f = claim.below
    if audit.lines is not None:
        epsilon, delta = audit.lines
        allowed = bool((np.asarray(f.delta_at(epsilon)) <= delta + _ROUNDING).all())
        return audit.p_value(), "" if allowed else _OF_ANOTHER
    if audit.family == "gaussian":
        return (audit.p_value(f.mu), "") if isinstance(f, Gaussian) else (1.0, _OF_FAMILY)
    if audit.family == "laplace":
        return (audit.p_value(f.mu), "") if isinstance(f, Laplace) else (1.0, _OF_FAMILY)
    limit = claim.epsilon_at(audit.delta)
    if audit.method == "mixture" and not (isinstance(f, ApproxDP) and f.delta == audit.delta):
        return 1.0, _OF_FAMILY  # of which (ε, δ) at one δ is not all
    if math.isinf(limit):
        return 1.0, f"The claim has no finite epsilon at delta = {audit.delta:g}, of which the audit is."
    return audit.p_value(limit), ""


_OF_ANOTHER = "The audit is of a trade-off function that allows less than the claim does."
_OF_FAMILY = "The audit assumes a family of trade-off functions that is not the claim's."
