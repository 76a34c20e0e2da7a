"""`Claim`: what is said of a training, as a trade-off function, to be held against evidence.

A claim says that the training is f-DP. For (ε, δ)-DP and for Gaussian DP f is known in closed form. For DP-SGD it lies
between two polygons that are at most 1e-6 apart (`tradeoff/dp_sgd.py`). A test takes the lower one, and ε(δ) is the
larger of the two, so that no true claim is refuted by what is lost in between.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number, show, whole_number
from bayes_dp.results.meaning import Meaning, meaning_of
from bayes_dp.support.arrays import Floats
from bayes_dp.support.text import digits
from bayes_dp.tradeoff import ApproxDP, Gaussian, TradeOffFunction, require_symmetric

if TYPE_CHECKING:
    from bayes_dp.attacks.scores import NumberOfGuesses, Sides
    from bayes_dp.claims.result import ClaimTest
    from bayes_dp.claims.testing import CountsMethod

__all__ = ["Claim", "check_claim"]


class Claim:
    """That a training is (ε, δ)-differentially private; other claims are made by `gaussian`, `dp_sgd`,
    `trade_off` and `accounted`.

    >>> claim = bdp.Claim(1.0, 1e-5)
    >>> claim
    <Claim: (ε, δ)-DP with ε = 1 at δ = 1e-05>
    >>> claim.test(bdp.ErrorCounts(10, 100, 20, 100)).refuted
    True
    """

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        f = ApproxDP(epsilon, one_number("delta", delta, 0.0, 1.0, high_open=True))
        self._say("(ε, δ)-DP", f, f, f.delta)
        self.expression = f"bdp.Claim({f.epsilon!r}, {f.delta!r})"

    def _say(self, what: str, below: TradeOffFunction, above: TradeOffFunction, delta: float | None) -> None:
        self.what = what  # the claim in words, without its ε
        self.below, self.above = below, above  # between which f lies
        self.delta = delta  # at which its ε is stated; None for none
        self.expression = "..."  # of Python, that makes it
        self.training: tuple[float, float, int] | None = None  # noise multiplier, sampling rate and steps of DP-SGD
        self.accounted_for = False  # whether neighbours differ in one example that is there or not, as accountants say

    @classmethod
    def _of(cls, what: str, below: TradeOffFunction, above: TradeOffFunction, delta: float | None) -> Self:
        if delta is not None:
            delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
        claim = cls.__new__(cls)
        claim._say(what, below, above, delta)
        return claim

    @classmethod
    def gaussian(cls, mu: float, delta: float | None = None) -> Self:
        """That it is μ-Gaussian differentially private.

        >>> claim = bdp.Claim.gaussian(1.0)
        >>> round(claim.epsilon_at(1e-5), 3)
        4.377
        """
        f = Gaussian(mu)
        claim = cls._of(f"Gaussian DP with μ = {f.mu:.6g}", f, f, delta)
        claim.expression = f"bdp.Claim.gaussian({f.mu!r}, {claim.delta!r})"
        return claim

    @classmethod
    def dp_sgd(cls, noise_multiplier: float, sampling_rate: float, steps: int, delta: float | None = None) -> Self:
        """That it is DP-SGD: `steps` steps on Poisson samples, with noise of so many times the largest gradient.

        Neighbours differ in one example, which is there or not.

        >>> claim = bdp.Claim.dp_sgd(1.1, 0.01, 1000, 1e-5)
        >>> claim
        <Claim: DP-SGD with noise multiplier 1.1, sampling rate 0.01 and 1000 steps, ε = 1.515 at δ = 1e-05>
        >>> bool(claim.above(0.1) - claim.below(0.1) < 1e-6)
        True
        """
        sigma = one_number("noise_multiplier", noise_multiplier, 0.0, math.inf, low_open=True, high_open=True)
        rate = one_number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True)
        count = whole_number("steps", steps, 1)
        from bayes_dp.tradeoff.dp_sgd import dp_sgd

        below, above = dp_sgd(sigma, rate, count)
        what = f"DP-SGD with noise multiplier {sigma:.6g}, sampling rate {rate:.6g} and {count} steps"
        claim = cls._of(what, below, above, delta)
        claim.training, claim.accounted_for = (sigma, rate, count), True
        claim.expression = f"bdp.Claim.dp_sgd({sigma!r}, {rate!r}, {count!r}, {claim.delta!r})"
        return claim

    @classmethod
    def trade_off(cls, f: TradeOffFunction, delta: float | None = None) -> Self:
        """That it is f-DP, for a symmetric trade-off function, such as `leakage.trade_off` gives of one datum.

        >>> claim = bdp.Claim.trade_off(bdp.tradeoff.SubsampledGaussian(3.0, 0.1), 1e-3)
        >>> claim
        <Claim: f-DP, ε = 8.443 at δ = 0.001>
        """
        require_symmetric(f)
        return cls._of("f-DP", f, f, delta)

    @classmethod
    def accounted(cls, mechanism: Any, delta: float | None = None) -> Self:
        """That it is as private as Google's `dp_accounting` says of an event, or of a privacy loss distribution.

        The accountant's own ε is taken, which is an upper bound. Gaussian noise, and DP-SGD of one kind of step, are
        computed here. The package is needed for nothing else: `pip install bayes-dp[accounting]`.

        >>> bdp.Claim.accounted("dp-sgd")
        Traceback (most recent call last):
        ...
        bayes_dp.checks.InputError: mechanism must be an event or a privacy loss distribution of dp_accounting ...
        """
        from bayes_dp.claims.accountant import claim_of

        what, found = claim_of(mechanism)
        if isinstance(found, tuple):
            return cls.dp_sgd(*found, delta=delta)
        claim = cls._of(what, found, found, delta)
        claim.accounted_for = True
        return claim

    # -- what it says -------------------------------------------------------------------------------------------

    @property
    def epsilon(self) -> float | None:
        """Its ε at its δ, if it has one."""
        return None if self.delta is None else self.epsilon_at(self.delta)

    @overload
    def epsilon_at(self, delta: float) -> float: ...

    @overload
    def epsilon_at(self, delta: ArrayLike) -> Floats: ...

    def epsilon_at(self, delta: ArrayLike) -> float | Floats:
        """The ε that it allows at any δ, or at each of an array.

        >>> bdp.Claim(1.0, 1e-5).epsilon_at(0.0)  # of no use there
        inf
        >>> bdp.Claim.gaussian(1.0).epsilon_at([1e-5, 1e-3]).round(2)
        array([4.38, 3.14])
        """
        found = np.asarray(self.below.epsilon_at(numbers("delta", delta, 0.0, 1.0)))
        return found if found.ndim else float(found)

    def statement(self, delta: float | None = None) -> str:
        """The claim in words, with its ε at `delta`, or at its own δ."""
        at = self.delta if delta is None else one_number("delta", delta, 0.0, 1.0)
        if at is None:
            return self.what
        link = " with" if isinstance(self.below, ApproxDP) else ","
        return f"{self.what}{link} ε = {_text(self.epsilon_at(at))} at δ = {at:g}"

    def meaning(self, *, baseline: float = 0.1) -> Meaning:
        """What it lets the best attack do; an example is guessed with chance `baseline` without the training.

        >>> print(bdp.Claim.dp_sgd(1.1, 0.01, 1000).meaning().rows["the claim"].cells)
        ('0.336%', '2.54%', '17.9%', '14%', '43%', '17.9%')
        """
        return meaning_of({"the claim": self.below}, baseline)

    def __repr__(self) -> str:
        return f"<Claim: {self.statement()}>"

    # -- what is held against it --------------------------------------------------------------------------------

    def test(
        self,
        evidence: Any,
        *,
        confidence: float = 0.95,
        method: CountsMethod | None = None,
        choice: NumberOfGuesses | int | None = None,
        sides: Sides = "both",
        seed: int = 0,
    ) -> ClaimTest:
        """Whether the evidence refutes the claim. It can never verify it.

        Parameters
        ----------
        evidence : ErrorCounts, Guesses, a GuessTable, a lower bound, a profile, a sequential audit or a posterior.
        confidence : one minus the chance to refute a true claim. Bounds, profiles and sequential audits have their own.
        method : for error counts of repeated runs, the test that decides: "joint_exact", the default where no base has
            more than 20 000 runs, "clopper_pearson" or "accuracy".
        choice, sides, seed : how guesses are made of a table, see `audits.one_run`.

        >>> bdp.Claim(1.0, 1e-5).test(bdp.Guesses(examples=1000, made=200, correct=150)).answer
        'The claim ((ε, δ)-DP with ε = 1 at δ = 1e-05) is not refuted at 95% (p = 0.3, one-run-exact). ...
        """
        from bayes_dp.claims.testing import tested

        return tested(self, evidence, confidence, method, choice, sides, seed)


def check_claim(claim: Claim | None) -> None:
    """Refuse what is neither a claim nor None."""
    if claim is not None and not isinstance(claim, Claim):
        raise InputError(f"claim must be a Claim, such as bdp.Claim(1.0, 1e-5), not {show(claim)}")


def _text(epsilon: float) -> str:
    return "infinity" if math.isinf(epsilon) else digits(epsilon)
