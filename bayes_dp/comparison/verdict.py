"""A verdict on a limit of ε: passed, failed or inconclusive, with all reasons.

It fails where the upper end of the posterior's interval is above the limit. Otherwise it passes, unless one of these
speaks against taking that end at its word. Then it is inconclusive:

- design: the counts do not meet what the likelihood assumes, as the posterior itself says.
- computation: the sampler did not converge, or the quadrature did not reach its accuracy.
- model: the check of the model rejects, at 1% for its tests together; not where it rejects no more than the shape of
  the layer of (ε, δ), and another family whose interval is held against the limit fits.
- bound: a lower bound that is valid for the same counts lies above the limit.
- gaussian, family: under Gaussian noise, or another family of trade-off functions whose log evidence is within 5 of the
  best one's, the same counts put the upper end above the limit; also where it is within 5 only given the false
  positives, as the choice of thresholds tells nothing of a family. A family that the caller chose stands alone.
- guessing: no attack is distinguishable from guessing, at 5% for all bases together (Bonferroni). A useless attack on
  a training that leaks looks the same as a good one on a private training.
- control: a positive control was given, the counts of the same attack on a training that is known to leak, and its own
  lower bound does not exceed the limit.

A control whose bound exceeds the limit shows that the attack sees a leak of that size, which removes the reason
"guessing". It does not remove the others: a control says nothing of how the counts at hand arose, whether the model
fits them and was computed well, nor of what the same rates mean at a small δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeGuard

import numpy as np

from bayes_dp.checks import InputError, one_number
from bayes_dp.comparison.control import Evidence, check_control, shows_too_little
from bayes_dp.comparison.guessing import guessing
from bayes_dp.comparison.schema import CODES, checked_verdict
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.formats import without_format
from bayes_dp.data.guesses import Guesses
from bayes_dp.data.json_text import finite
from bayes_dp.results.base import Saved
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.text import Part, Rows, Sentences, digits

if TYPE_CHECKING:
    from bayes_dp.bayes.checks.model_check import ModelCheck
    from bayes_dp.bayes.compare_families import FamilyComparison
    from bayes_dp.bayes.levels.average import AveragePosterior

__all__ = ["CODES", "Outcome", "Reason", "Verdict", "judge"]

Outcome = Literal["passed", "failed", "inconclusive"]

_EXIT: dict[Outcome, int] = {"passed": 0, "failed": 1, "inconclusive": 3}
_GUESSING = 0.05  # level of the tests of guessing, of all bases together
_MODEL = 0.01  # level of the check of the model
_CLOSE = 5.0  # nats below the best log evidence, up to which a family counts


@dataclass(frozen=True)
class Reason:
    """Why a verdict is what it is; `code` is one of those at the top of this module, or "interval"."""

    code: str
    sentence: str


@dataclass(frozen=True, repr=False)
class Verdict(Saved):
    """What the counts allow to say of "ε is at most the limit".

    >>> verdict = bdp.gate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, 1.0)
    >>> verdict.passed, verdict.exit_code
    (False, 1)
    >>> print(verdict.summary())
    Check FAILED: the 90% interval of ε ends at 5.58555, above 1; P(ε > 1) = 1
    """

    format = "bayes-dp/verdict/1"
    verdict: Outcome
    epsilon: float  # the limit
    prob: float  # of the posterior's interval
    upper: float  # its upper end
    prob_above: float  # P(ε > limit)
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...] = ()  # what else has to be known, a sentence each

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    @property
    def reason(self) -> str:
        """The sentences of all reasons."""
        return " ".join(reason.sentence for reason in self.reasons)

    @property
    def exit_code(self) -> int:
        """Of the command line: 0 passed, 1 failed, 3 inconclusive."""
        return _EXIT[self.verdict]

    def _parts(self) -> Iterator[Part]:
        word = self.verdict if self.passed else self.verdict.upper()
        headline = f"Check {word}: {_interval(self)}"
        cells = (
            f"{self.epsilon:g}",
            f"{self.upper:.6g}",
            f"{self.prob * 100:g}%",
            f"{self.prob_above:.3g}",
            self.verdict,
        )
        headings = ("limit of ε", "upper end", "of the interval", "P(ε > limit)", "verdict")
        yield Rows([cells], headings, headline, words=(headline,))
        yield Sentences("", tuple(reason.sentence for reason in self.reasons if reason.code != "interval"))
        yield Sentences("Note", self.notes, "each")

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        return {
            "format": self.format,
            "epsilon": self.epsilon,
            "upper": finite(self.upper),
            "prob": self.prob,
            "prob_above": self.prob_above,
            "passed": self.passed,
            "verdict": self.verdict,
            "reason": self.reason,
            "reasons": [{"code": reason.code, "sentence": reason.sentence} for reason in self.reasons],
            "notes": list(self.notes),
        }

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = checked_verdict(name, without_format(name, content, cls.format))
        return cls(
            found["verdict"],
            found["epsilon"],
            found["prob"],
            math.inf if found["upper"] is None else found["upper"],
            found["prob_above"],
            tuple(Reason(**reason) for reason in found["reasons"]),
            tuple(found["notes"]),
        )


def judge(
    post: Posterior,
    counts: ErrorCounts,
    epsilon: float,
    prob: float = 0.9,
    *,
    bounds: Mapping[str, float],
    control: Evidence = None,
    checked: ModelCheck | None = None,
    seed: int = 0,
) -> Verdict:
    """The verdict on `epsilon` as a limit, from a posterior of ε and the counts that it was made from.

    Parameters
    ----------
    post, counts : the posterior, and the counts of single bases, where `post` has the sums of groups.
    epsilon, prob : the limit, and the probability of the interval. Bounds have the confidence (1 + prob)/2.
    bounds : lower bounds by the names of their methods, each valid for the counts.
    control : see `gate`; of scores, the guesses (`as_control`).
    checked : the check of the model, if there is one already.
    seed : of the check of the model.
    """
    limit = one_number("epsilon", epsilon, 0.0, high_open=True)
    if post.parameter != "epsilon":
        raise InputError(f"a verdict needs a posterior of epsilon, not of {post.parameter}")
    check_control(control, counts)
    upper, above = post.interval(prob)[1], max(0.0, post.prob_above(limit))
    found = Verdict("failed", limit, prob, upper, above, ())
    if not upper <= limit:
        return _with(found, "failed", [_by_interval(found)], [])
    doubts = [*_of_the_posterior(post), *_of_bounds(bounds, limit)]
    notes: list[str] = []
    families = _families(post)
    doubts += _of_families(post, families, limit, prob, notes)
    doubts += _of_the_model(post, families, checked, seed, notes)
    doubts += _of_the_attack(counts, control, post.provenance.known["delta"], limit, prob, notes)
    if doubts:
        return _with(found, "inconclusive", doubts, notes)
    return _with(found, "passed", [_by_interval(found)], notes)


def _with(found: Verdict, outcome: Outcome, reasons: list[Reason], notes: list[str]) -> Verdict:
    return Verdict(outcome, found.epsilon, found.prob, found.upper, found.prob_above, tuple(reasons), tuple(notes))


def _interval(found: Verdict) -> str:
    side = "not above" if found.upper <= found.epsilon else "above"
    return (
        f"the {found.prob * 100:g}% interval of ε ends at {found.upper:.6g}, {side} {found.epsilon:g};"
        f" P(ε > {found.epsilon:g}) = {found.prob_above:.3g}"
    )


def _by_interval(found: Verdict) -> Reason:
    text = _interval(found)
    return Reason("interval", f"{text[0].upper()}{text[1:]}.")


# What speaks against a pass -------------------------------------------------------------------------------------------


def _of_the_posterior(post: Posterior) -> list[Reason]:
    doubts = []
    if post.caution:
        doubts.append(Reason("design", f"The counts do not meet what the interval assumes: {post.caution}"))
    doubts += [Reason("computation", f"The computation is not to be relied on: {said}") for said in post.unreliable]
    return doubts


def _families(post: Posterior) -> FamilyComparison | None:
    """The families by their evidence on the same counts; None where the caller chose one, or there is no evidence."""
    from bayes_dp.bayes.compare_families import FamilyComparison, compare_families  # which need JAX
    from bayes_dp.bayes.levels.beside import BesideGaussian

    if _is_average(post):
        return FamilyComparison(post.posteriors, {name: one.log_evidence for name, one in post.posteriors.items()})
    delta = post.provenance.known["delta"]
    if not isinstance(post, BesideGaussian) or not post.has_evidence or not delta:
        return None
    return compare_families(post.counts, delta, **post.beliefs)


def _is_average(post: Posterior) -> TypeGuard[AveragePosterior]:
    from bayes_dp.bayes.levels.average import AveragePosterior

    return isinstance(post, AveragePosterior)


def _others(post: Posterior, families: FamilyComparison) -> dict[str, Posterior]:
    """The posteriors of families that the counts leave open, but for the one that is judged."""
    judged = () if _is_average(post) else ("approx",)
    return {name: other for name, other in families.left_open(_CLOSE).items() if name not in judged}


def _of_families(
    post: Posterior, found: FamilyComparison | None, limit: float, prob: float, notes: list[str]
) -> list[Reason]:
    """Whether another family that the counts leave open puts the upper end above the limit."""
    from bayes_dp.bayes.levels.beside import BesideGaussian

    if found is None and not isinstance(post, BesideGaussian):
        notes.append(f"The family was chosen, and not found by the counts: {post.high_end(prob)}")
        return []
    if found is None:
        ends = {"gaussian": post.gaussian(prob)[1]}
    else:
        ends = {name: other.interval(prob)[1] for name, other in _others(post, found).items()}
        if "gaussian" in found.posteriors and "gaussian" not in ends:
            less = found.log_evidence[found.best] - found.log_evidence["gaussian"]
            notes.append(
                "Under Gaussian noise the interval would end at"
                f" {digits(found.posteriors['gaussian'].interval(prob)[1])}, but the counts speak against it (its log"
                f" evidence is {less:.3g} below that of {found.best})."
            )
    doubts = []
    for name, high in ends.items():
        if high > limit:
            where = "no finite ε would hold at δ = 0" if np.isinf(high) else f"the interval would end at {digits(high)}"
            said = "Were the noise Gaussian" if name == "gaussian" else f"Under the {name} family"
            doubts.append(Reason("gaussian" if name == "gaussian" else "family", f"{said}, {where}, above the limit."))
    return doubts


def _of_bounds(bounds: Mapping[str, float], limit: float) -> list[Reason]:
    return [
        Reason(
            "bound", f"A lower bound that is valid for the same counts lies above the limit: {digits(low)} by {name}."
        )
        for name, low in bounds.items()
        if low > limit
    ]


def _of_the_model(
    post: Posterior, families: FamilyComparison | None, checked: ModelCheck | None, seed: int, notes: list[str]
) -> list[Reason]:
    if _is_average(post):  # of which each member has a model of its own
        if _of_this_shape(post, families, seed):
            return []
        return [Reason("model", "The check rejects the model of each family that the counts leave open.")]
    if checked is None:
        from bayes_dp.bayes.checks.model_check import check  # which needs JAX

        try:
            checked = check(post, seed=seed)
        except InputError as error:  # groups as a whole, and likelihoods of the user, need not have what it takes
            notes.append(f"Whether the model fits the counts was not checked: {error}.")
            return []
    if checked.p_value >= _MODEL:
        return []
    if replace(checked, shape_p=None).p_value >= _MODEL and (name := _of_this_shape(post, families, seed)):
        notes.append(
            f"The levels change along the boundary as in the {name} family, whose interval is held against the limit"
            f" too, and not as in the layer of (ε, δ) (p = {checked.shape_p:.2g})."
        )
        return []
    doubt = f"The check of the model rejects it (p = {checked.p_value:.2g}, below {_MODEL:g})"
    return [Reason("model", f"{doubt}: {' '.join(checked.advice)}")]


def _of_this_shape(post: Posterior, found: FamilyComparison | None, seed: int) -> str:
    """The likeliest of the families held against the limit that passes its own check; empty where none does."""
    from bayes_dp.bayes.checks.model_check import check

    if found is None:
        return ""
    close = _others(post, found)
    likeliest = sorted(close, key=lambda name: found.log_evidence[name], reverse=True)
    return next((name for name in likeliest if check(close[name], seed=seed).p_value >= _MODEL), "")


def _of_the_attack(
    counts: ErrorCounts, control: Evidence, delta: float, limit: float, prob: float, notes: list[str]
) -> list[Reason]:
    """Whether the attack would have seen a leak: by the counts themselves, or by a control."""
    p, worse = guessing(counts)
    names = counts.base if counts.base is not None else tuple(map(str, range(len(counts))))
    seen = p < _GUESSING / len(counts)
    exact = counts.design != "cross_fed"
    if exact and (seen & worse).any():
        bad = [names[i] for i in np.flatnonzero(seen & worse)]
        more = " and others" if len(bad) > 3 else ""
        notes.append(
            f"The decisions on base {', '.join(bad[:3])}{more} are worse than chance, so that the opposite decisions"
            " leak; the interval counts them as much."
        )
    if isinstance(control, ErrorCounts | Guesses):
        doubts = [Reason("control", text) for text in shows_too_little(control, counts, delta, limit, prob, notes)]
        if not doubts:
            return []
    else:
        doubts = []
    if control is False:
        notes.append(
            "Without a positive control it is not shown that this attack would have seen a leak above the limit: a"
            " useless attack on a training that leaks passes in the same way."
        )
        return []
    if exact and seen.any():
        return doubts
    test = (
        f"smallest p-value {p.min():.2g} in {len(p)} exact test{'s' * (len(p) > 1)} at {_GUESSING:g} together"
        if exact
        else "for cross-fed runs there is no exact test"
    )
    remedy = "" if doubts else " A positive control, such as the same attack on a training without noise, can show it."
    return [
        *doubts,
        Reason(
            "guessing",
            f"No attack is distinguishable from guessing ({test}), so that nothing shows that it would have seen a"
            f" leak.{remedy}",
        ),
    ]
