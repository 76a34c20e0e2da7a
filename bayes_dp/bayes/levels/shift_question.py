"""The question put to guesses on one model: which guesses, their propensities, δ, the strength and the priors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import special

from bayes_dp.attacks.adversary import call_members
from bayes_dp.audits.memberships import under_propensities
from bayes_dp.audits.poisson_binomial import tail
from bayes_dp.audits.tampering import lean
from bayes_dp.bayes.levels.leans import GroupOfGuesses
from bayes_dp.bayes.levels.saved_guesses import dict_of_guesses
from bayes_dp.bayes.levels.shift import ShiftLikelihood
from bayes_dp.bayes.priors import describe, prior_of
from bayes_dp.bayes.question import Strength, priors_for, words_of_priors
from bayes_dp.checks import InputError, numbers, one_number, seed_of, truth
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["ShiftQuestion", "ask_of_guesses"]


MOST_GROUPS = 200
_TESTED = 20  # draws of the propensities, at most, for which the number of right guesses is judged
_MODEL = (
    "Given the features of all examples, each is a member with the chance that is its propensity, independently.",
    "All guesses were made from one trained model and from features, without a look at who is a member.",
    "How many guesses are made was decided before looking.",
    "Given the features, the guesses are right or wrong independently of each other.",
    "Every guess of a group got the same e = tε out of the model.",
)
_STRENGTH = {
    "free": "The level t of a group lies between s and 1, uniformly in the accuracy that it allows without shift, and s"
    " is estimated along with ε.",
    "tight": "Every group reaches the whole of ε (s → 1).",
}


@dataclass(frozen=True)
class ShiftQuestion:
    """A checked question on one number of guesses; `propensity` (K, m) is of all m rows of their table."""

    guesses: Guesses
    delta: float
    propensity: Floats
    drawn: bool  # whether the propensities are draws
    known: bool  # whether they are known: if not, a guess against its propensity gets no credit for that
    strength: Strength
    priors: Mapping[str, Any]
    seed: int
    parameter: Literal["epsilon"] = "epsilon"

    def given(self, parameter: str, known: float, prior: Any = None) -> ShiftQuestion:
        """The same question at another δ."""
        priors = self.priors if prior is None else {**self.priors, "epsilon": prior_of("epsilon", prior)}
        return replace(self, delta=one_number("delta", known, 0.0, 1.0, high_open=True), priors=priors)

    @cached_property
    def right(self) -> Bools:
        """Which guesses are right, (r,)."""
        rows, called = self.guesses.guessed(0)
        return self.guesses.table.member[rows] == called

    @property
    def one_kind(self) -> bool:
        """Whether all examples are members, or none is, so that there is no zero-run bound."""
        member = self.guesses.table.member[self.guesses.rows]
        return bool(member.all() or not member.any())

    @cached_property
    def leans(self) -> Floats:
        """T·logit π of the guesses in each draw, (K, r)."""
        rows, called = self.guesses.guessed(0)
        return np.asarray(lean(self.propensity[:, rows], called))

    @cached_property
    def groups(self) -> dict[str, Bools]:
        """Which guesses are those of each label, (r,), in the order of the table; one group has the label ""."""
        labels, rows = self.guesses.table.base, self.guesses.guessed(0)[0]
        if labels is None:
            return {"": np.ones(len(rows), dtype=np.bool_)}
        of_guesses = np.array([labels[row] for row in rows])
        return {name: of_guesses == name for name in dict.fromkeys(labels[row] for row in np.sort(rows))}

    def likelihood(self) -> ShiftLikelihood:
        leans = self.leans if self.known else np.maximum(self.leans, 0.0)
        groups = [GroupOfGuesses(leans[:, chosen], self.right[chosen]) for chosen in self.groups.values()]
        return ShiftLikelihood(groups, self.delta, self.guesses.examples)

    # -- what speaks against the answer --------------------------------------------------------------------------

    def p_few(self) -> float:
        """P(so few guesses right) if nothing leaked, by the propensities; the mean over draws."""
        some = self.leans[np.unique(np.linspace(0, len(self.leans) - 1, _TESTED).astype(np.intp))]
        return float(np.mean(tail(special.expit(-some), np.full(len(some), np.sum(~self.right)))))

    def contradiction(self) -> str:
        """Why the memberships speak against the propensities, a sentence; empty where they do not."""
        rows = self.guesses.rows
        member, propensity = self.guesses.table.member[rows], self.propensity.mean(axis=0)[rows]
        if self.one_kind:
            return f"The examples are all {'' if member[0] else 'non-'}members."
        return under_propensities(member, propensity, len(rows)).invalid

    # -- what it rests on ----------------------------------------------------------------------------------------

    def assumptions(self) -> tuple[str, ...]:
        strength = _STRENGTH.get(str(self.strength), f"The weakest group's share of ε is known, s = {self.strength}.")
        found = [*_MODEL, f"δ = {self.delta:g} is known.", strength]
        if self.delta > 0:
            found.append("What δ reveals is among the guesses, and spread evenly over the groups.")
        if not self.known:
            found.append("A guess against its propensity is no surer sign of a leak than one on a fair coin.")
        elif self.drawn:
            found.append("The true propensities are as likely to be one of the draws as another.")
        else:
            found.append("The propensities are exact: where they are not, e and ε may be too large.")
        return (*found, *self.guesses.table.source.assumptions)

    def saved(self) -> dict[str, Any] | None:
        """What it takes to ask again; None for a prior that text cannot say, or guesses whose number others chose."""
        priors, guesses = words_of_priors(self.priors), dict_of_guesses(self.guesses)
        if priors is None or guesses is None:
            return None
        return {
            "guesses": guesses,
            "draws": [" ".join(map(repr, row)) for row in self.propensity.tolist()] if self.drawn else None,
            "trusted": self.known,
            "known": self.delta,
            "strength": self.strength,
            "priors": priors,
            "seed": self.seed,
        }

    def provenance(self) -> Provenance:
        digest = self.guesses.digest_of_examples()
        if self.drawn:
            digest = hashlib.sha256(digest.encode() + self.propensity.astype("<f8").tobytes()).hexdigest()
        settings = {"strength": self.strength, "known": self.known, "seed": self.seed}
        settings |= {"draws": len(self.propensity)} if self.drawn else {}
        priors = {name: describe(prior) for name, prior in self.priors.items()}
        return Provenance("shifted", digest, {"delta": self.delta}, priors, settings)


def ask_of_guesses(
    guesses: Any, delta: Any, draws: Any, known: Any, prior_epsilon: Any, prior_strength: Any, strength: Any, seed: Any
) -> ShiftQuestion:
    """A question from what the caller gives; each fault is an InputError."""
    seed, known = seed_of(seed), truth("known", known)
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    if not isinstance(guesses, Guesses | GuessTable):
        raise InputError(
            f"guesses must be a GuessTable, or Guesses as attacks.call_members gives them, not {type(guesses).__name__}"
        )
    table = guesses if isinstance(guesses, GuessTable) else guesses.table
    propensity = table.needed_propensity()[None]
    if draws is not None:
        propensity = numbers("draws", draws, 0.0, 1.0, low_open=True, high_open=True)
        if propensity.ndim != 2 or propensity.shape[1] != len(table) or not len(propensity):
            raise InputError(
                f"draws must be of shape (K, {len(table)}), K draws of the propensity of each row of the table, not"
                f" {propensity.shape}"
            )
    strength, priors = priors_for("epsilon", prior_epsilon, strength, prior_strength)
    if isinstance(guesses, GuessTable):
        guesses = call_members(guesses, len(guesses), seed=seed)
    if len(guesses) != 1:
        raise InputError(
            f"guesses must be of one number that was decided before looking, such as call_members(table, 100) gives,"
            f" not of the best of {len(guesses)} numbers"
        )
    if not guesses.made[0]:
        raise InputError("guesses must hold at least one guess, not 0")
    asked = ShiftQuestion(guesses, delta, propensity, draws is not None, known, strength, priors, seed)
    if len(asked.groups) > MOST_GROUPS:
        raise InputError(
            f"guesses must be in at most {MOST_GROUPS} groups of one base label each, not in {len(asked.groups)}"
        )
    return asked
