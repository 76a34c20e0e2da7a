"""The posterior of ε from guesses on one model, where members and non-members differ in their features.

It is the Bayesian twin of the zero-run audit: of the same guesses, with the same propensities. The model is that of
`shift.py`. There are two answers, which are always shown together:

    e   what this attack got out of the model, the shift taken off, for each group of guesses
    ε   what an attack might get out, e = tε, under a prior: a belief

Neither is a bound, and neither decides a gate.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.audits.zero_run import zero_run
from bayes_dp.bayes import priors
from bayes_dp.bayes.grid.axis import axis_of
from bayes_dp.bayes.grid.grid import HEAVY_TAIL, Grid, GridMarginal
from bayes_dp.bayes.levels.leaks import draw_leaks, leak_marginals, nodes_by_weight
from bayes_dp.bayes.levels.shift_question import ShiftQuestion, ask_of_guesses
from bayes_dp.bayes.question import Strength
from bayes_dp.checks import InputError, interval_probability, numbers, one_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.data.json_text import finite
from bayes_dp.results.bound import LowerBound
from bayes_dp.results.posterior import Marginal, Posterior, check_draws
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits
from bayes_dp.support.workers import one_thread

__all__ = ["ShiftedPosterior", "estimate_shifted"]


_FINE = 0.005  # of the posterior, at most, in a cell over which e is averaged
_AVERAGED = 256  # nodes over which the shares of the draws are averaged
_IMPOSSIBLE = -1e12  # in the place of the logarithm of 0
_FARTHEST = 1e10  # ε up to which levels are told from none
_FEWEST_DRAWS = 20
_EXTREME = 0.01
_LEAK = (
    "e is what this attack got out of the model. Of neither e nor ε anything is proved: for a claim that a guarantee is"
    " violated take zero_run."
)
_BELIEF = (
    "ε is a belief about attacks that need not be the best. Its low end is no bound: it lies above that of e by design."
)
_ZERO = (
    "No interval with equal tails contains 0, whatever the guesses: whether there is a leak at all is told by the Bayes"
    " factor of no leak, or by the bound."
)
_LEARNED = (
    "The propensities were learned, and are taken here as if they were known: with features of which the guesses make"
    " use, e comes out too large too often. Draws of the propensities do not mend that; known=False does, at a price."
)


class ShiftedPosterior(Posterior):
    """The posterior of ε, of s unless it is fixed, and of e = tε in each group of guesses on one model.

    The parameters are "epsilon", "strength" and "e", or "e[LABEL]" for each of several groups.

    >>> rng = np.random.default_rng(0)
    >>> propensity = rng.uniform(0.3, 0.7, 400)
    >>> member = rng.random(400) < propensity
    >>> table = bdp.GuessTable(2 * member + rng.normal(size=400), member, propensity)
    >>> post = bdp.estimate_shifted(bdp.attacks.call_members(table, 100))
    >>> [round(end, 2) for end in post.interval(0.9, parameter="e")]
    [3.02, 5.18]
    >>> post.zero_run().statement()
    'epsilon >= 2.952 at delta = 0 with confidence 95% (zero-run)'
    """

    format = "bayes-dp/shifted/1"
    unchecked = "check is for the posterior of error counts; this one is of guesses on one model"
    question: Any

    @underflow_is_zero
    def __init__(self, question: ShiftQuestion) -> None:
        self.question, self._likelihood = question, question.likelihood()
        axes = [axis_of(name, prior) for name, prior in question.priors.items()]

        def log_likelihood(epsilon: Floats, strength: Floats) -> Floats:
            s = self._strength(epsilon, strength)
            found = self._likelihood.total(epsilon, s)
            # Where all guesses would be revealed, and some are wrong: a slope leads the search to a smaller s.
            return np.where(np.isneginf(found), _IMPOSSIBLE * (1.0 + s), found)

        self._grid = grid = Grid(axes, log_likelihood, ridge=question.strength == "free")
        if grid.log_evidence < 0.5 * _IMPOSSIBLE:
            raise InputError(
                f"delta = {question.delta:g} is too large: it would reveal all {len(question.right)} guesses, of"
                f" {question.guesses.examples} examples, at every strength, but {np.sum(~question.right)} are wrong"
            )
        self.log_evidence = grid.log_evidence
        self.no_leak = _exp(self._likelihood.log_null() - grid.log_evidence)  # the Bayes factor of e = 0 everywhere
        beyond = float(grid.weight[grid.nodes["epsilon"] > _FARTHEST].sum())
        if beyond > 1e-4:
            raise InputError(
                f"{100 * beyond:.3g}% of the posterior lies at epsilon > {_FARTHEST:.0e}, where it cannot be followed:"
                " give prior_epsilon an end"
            )
        self.leaks = self._leaks()
        of_strength = {name: grid.marginals[name] for name in question.priors if name != "epsilon"}
        self.marginals: Mapping[str, Marginal] = {"epsilon": grid.marginals["epsilon"], **self.leaks, **of_strength}
        self.diagnostics = {
            "log_evidence": grid.log_evidence,
            "relative_error": grid.error,
            "cells": grid.cells,
            "no_leak": self.no_leak,
            "p_few_right": question.p_few(),
            "upper_end_over_prior": self._upper_end_over_prior(),
        }
        if question.drawn:
            self.diagnostics["draws"], self.diagnostics["effective_draws"] = self._effective_draws()
        self.assumptions, self.caution = question.assumptions(), self._contradiction()
        self.warnings = tuple(self._warnings())
        self.provenance = question.provenance()

    # -- parts ----------------------------------------------------------------------------------------------------

    def _strength(self, epsilon: Floats, strength: Floats) -> Floats:
        """s (r, c) for ε (r,), whether it is free or not."""
        fixed = self.question.strength
        if fixed == "free":
            return strength
        return np.full((len(epsilon), 1), 1.0 if fixed == "tight" else fixed)

    def _strength_of(self, drawn: Mapping[str, Floats]) -> Floats:
        """s of draws of ε, and of s where it is free, (m,); 1 where it is tight."""
        epsilon = drawn["epsilon"]
        s = self._strength(epsilon, drawn.get("strength", epsilon)[:, None])[:, 0]
        return s if self.question.strength == "tight" else np.minimum(s, self._likelihood.last)

    def _leaks(self) -> dict[str, GridMarginal]:
        """The posterior of e in each group, by the parameter's name."""
        names = ["e" if len(self.question.groups) == 1 else f"e[{name}]" for name in self.question.groups]
        if self.question.strength == "tight":
            return dict.fromkeys(names, self._grid.marginals["epsilon"])
        fine = self._likelihood.rows == 1  # with draws of several groups all costs K times as much
        nodes, weight = self._grid.finer(_FINE) if fine else (self._grid.nodes, self._grid.weight)
        strength = self._strength(nodes["epsilon"], nodes.get("strength", weight)).ravel()
        found = leak_marginals(self._likelihood, nodes["epsilon"], strength, weight)
        return dict(zip(names, found, strict=True))

    def _upper_end_over_prior(self) -> float:
        """The 95% quantile of ε in units of that of its prior."""
        prior = float(np.quantile(priors.witnesses(self.question.priors["epsilon"]), 0.95, method="hazen"))
        return float(self._grid.marginals["epsilon"].quantile(0.95)) / prior

    def _effective_draws(self) -> tuple[int, float]:
        """K, and how many equally good draws tell as much as these: 1/Σ w_k² with their posterior weights w."""
        chosen = nodes_by_weight(self._grid.weight, _AVERAGED)
        epsilon = self._grid.nodes["epsilon"][chosen]
        strength = self._strength(epsilon, self._grid.nodes.get("strength", epsilon)[chosen, None])
        share = self._likelihood.weights(epsilon, strength).mean(axis=(1, 2))
        return len(share), float(1.0 / np.sum(share**2))

    def _contradiction(self) -> str:
        return " ".join(filter(None, (self.question.contradiction(), self.question.guesses.table.source.objection)))

    def _warnings(self) -> Iterator[str]:
        question, found = self.question, self.diagnostics
        if not found["relative_error"] < 1e-3:
            yield (
                f"the quadrature reached a relative error of only {found['relative_error']:.1e}; a prior with a sharp"
                " edge or a strong singularity is the usual cause."
            )
        if any(math.isnan(marginal.sd) for marginal in self._grid.marginals.values()):
            yield HEAVY_TAIL
        if found["p_few_right"] < _EXTREME:
            few = (
                f"only {question.right.sum()} of {len(question.right)} guesses are right, and so few would be with a"
                f" chance of {found['p_few_right']:.2g} if nothing leaked"
            )
            yield (
                f"The propensities are too extreme: {few}."
                if question.leans.any()
                else f"The guesses are worse than coins: {few}. The opposite ones may leak, of which e, at least 0,"
                " knows nothing."
            )
        if question.drawn and found["draws"] < _FEWEST_DRAWS:
            are = "draw of the propensities is" if found["draws"] == 1 else "draws of the propensities are"
            yield f"{found['draws']} {are} few: take at least {_FEWEST_DRAWS}."
        if question.drawn and found["effective_draws"] < 0.5 * min(found["draws"], _FEWEST_DRAWS):
            yield (
                f"The guesses favour few of the {found['draws']} draws of the propensities, which count as"
                f" {found['effective_draws']:.3g}: draw more."
            )
        source = question.guesses.table.source
        if source.name != "given" and question.known:
            yield _LEARNED
        yield from source.warnings
        yield from question.guesses.warnings

    @property
    def unreliable(self) -> tuple[str, ...]:
        """The warnings that say that the numbers may not be those of the posterior: that of the quadrature."""
        return tuple(sentence for sentence in self.warnings if sentence.startswith("the quadrature"))

    @property
    def untrusted(self) -> tuple[str, ...]:
        """The warnings that say that the propensities are not fit for this: that they were learned."""
        return tuple(sentence for sentence in self.warnings if sentence == _LEARNED)

    # -- answers --------------------------------------------------------------------------------------------------

    @underflow_is_zero
    def zero_run(self, prob: float = 0.9) -> LowerBound | None:
        """The zero-run bound of the confidence (1 + prob)/2 on the same guesses.

        None where there is no such bound, as all examples are members, or none is.
        """
        confidence = (1.0 + interval_probability(prob)) / 2.0
        if self.question.one_kind:
            return None
        return zero_run(
            self.question.guesses,
            self.question.delta,
            propensity="exact" if self.question.known else "cautious",
            confidence=confidence,
            seed=self.question.seed,
        )

    def pdf(self, value: ArrayLike, parameter: str | None = None) -> Floats:
        """The marginal posterior density of a parameter."""
        marginal = self._marginal(parameter)
        assert isinstance(marginal, GridMarginal)
        return marginal.pdf(numbers("value", value))

    @underflow_is_zero
    def draws(self, size: int = 4000, seed: int = 0) -> dict[str, Floats]:
        """`size` draws from the joint posterior, by parameter name; each array has shape (size,)."""
        size, seed = check_draws(size, seed)
        drawn = self._grid.draws(size, np.random.default_rng(seed))
        epsilon, fixed = drawn["epsilon"], self.question.strength
        if fixed == "tight":
            return {"epsilon": epsilon, **dict.fromkeys(self.leaks, epsilon)}
        leaks = draw_leaks(self._likelihood, epsilon, self._strength_of(drawn), np.random.default_rng([seed, 1]))
        return {"epsilon": epsilon, **dict(zip(self.leaks, leaks.T, strict=True)), **drawn}

    def to_arviz(self, size: int = 4000, seed: int = 0) -> Any:
        """Independent draws as an ArviZ object, one chain, with the groups of `bayes/inference_data.py`: epsilon,
        strength and e (draws, groups), the log likelihood of each group of guesses, the log priors and draws of the
        prior, and the numbers of right guesses, observed and predicted. `az.loo`, `az.psense` and `az.plot_ppc` work on
        it; the guesses of one group are one observation."""
        size, seed = check_draws(size, seed)
        return importlib.import_module("bayes_dp.bayes.inference_data").of_guesses(self, size, seed)

    @property
    def counts(self) -> ErrorCounts:
        raise InputError("this posterior is of guesses on one model, and not of error counts")

    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        """Refused: guesses on one model have no error rates of their own."""
        raise InputError("this posterior is of guesses on one model, which have no error rates")

    def gaussian(self, prob: float = 0.9) -> tuple[float, float]:
        """Refused: it is a reading of error counts."""
        raise InputError("this posterior is of guesses on one model, which have no gaussian reading")

    def delta_at(self, epsilon: float, prior: Any = None) -> Self:
        """Refused: δ is given."""
        raise InputError("the posterior of guesses on one model has no delta_at")

    def _answer(self, question: Any) -> Self:
        return type(self)(question)

    # -- how it is shown ------------------------------------------------------------------------------------------

    def high_end(self, prob: float = 0.9) -> str:
        """What the upper end of the interval of ε rests on, a sentence."""
        one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        share = f"the 95% quantile of ε is {digits(self.diagnostics['upper_end_over_prior'])} times that of its prior"
        if self.question.strength == "free" and len(self.question.groups) == 1:
            return (
                f"One group of guesses does not tell s from ε, so the upper end of ε is the prior's: {share}. Several"
                " groups (labels `base`) would tell."
            )
        if self.diagnostics["upper_end_over_prior"] > 0.5:
            return f"The upper end of ε is the prior's for the most part: {share}."
        return f"The upper end of ε presumes that t is spread over [s, 1] as assumed; {share}."

    def _bound(self, prob: float) -> LowerBound | None:
        """That of `zero_run`, and None too for a probability that has none."""
        return self.zero_run(prob) if 0.5 < (1.0 + prob) / 2.0 < 1.0 else None

    def _beside(self, prob: float) -> Iterator[str]:
        """The Bayes factor and the bound, lines."""
        yield f"Bayes factor of no leak, e = 0, against this model: {digits(self.no_leak)}"
        bound = self._bound(prob)
        if bound is None:
            yield "There is no zero-run bound on these guesses."
        else:
            yield f"Zero-run on the same guesses: {bound.statement()}"
            if bound.invalid:
                yield f"  NOT VALID: {bound.invalid}"

    def _parts(self, prob: float = 0.9) -> Iterator[Part]:
        title, *rest = super()._parts(prob)
        assert isinstance(title, Rows)
        yield title
        yield from map(Line, self._beside(prob))
        for part in rest:
            if isinstance(part, Sentences) and part.title == "Caution":
                yield Sentences("Caution", self._cautions(prob), "each")
            else:
                yield part

    def _cautions(self, prob: float) -> tuple[str, ...]:
        return tuple(filter(None, (self.caution, f"{_LEAK} {_BELIEF}", _ZERO, self.high_end(prob))))

    def notes(self, parameter: str | None = None, prob: float = 0.9) -> tuple[str, ...]:
        """What has to be known to read an interval of ε, or of e, where it stands among others: sentences."""
        self._marginal(parameter)
        high_end = self.high_end(prob)
        own = (_LEAK, _ZERO) if parameter in self.leaks else (_BELIEF, high_end)
        right, bound = self.question.right, self._bound(prob)
        said = "There is no zero-run bound on these guesses."
        if bound is not None:
            trust = "as they are" if self.question.known else "cautiously"
            invalid = f" It is NOT VALID: {bound.invalid}" if bound.invalid else ""
            said = f"Zero-run on the same guesses, with the propensities taken {trust}: {bound.statement()}.{invalid}"
        return (
            *own,
            f"It is of the {len(right)} guesses that the scores and the propensities make surest; {right.sum()} are"
            " right.",
            f"The Bayes factor of no leak, e = 0, against this model is {digits(self.no_leak)}.",
            said,
        )

    def to_dict(self, prob: float = 0.9) -> dict[str, Any]:
        """Everything a report needs, in full precision, fit for JSON."""
        rows = {row.pop("parameter"): finite(row) for row in self.table(prob)}
        bound = self._bound(prob)
        return {
            "format": self.format,
            "kind": self.kind,
            "parameter": self.parameter,
            "prob": float(prob),
            "estimates": rows,
            "zero_run": None if bound is None else bound.to_dict(),
            "diagnostics": finite(dict(self.diagnostics)),
            "assumptions": list(self.assumptions),
            "cautions": list(self._cautions(prob)),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
            "asked": self._saved_question(),
        }

    def _saved_question(self) -> dict[str, Any] | None:
        return self.question.saved()

    def __repr__(self) -> str:
        ends = []
        for name in ("epsilon", *list(self.leaks)[:3]):
            low, high = self.interval(0.9, parameter=name)
            ends.append(f"{name} {digits(low)} to {digits(high)}")
        more = ", …" if len(self.leaks) > 3 else ""
        return f"<Posterior of guesses given delta={self.question.delta:g}: 90% intervals {', '.join(ends)}{more}>"


def estimate_shifted(
    guesses: Guesses | GuessTable,
    delta: float = 0.0,
    *,
    draws: ArrayLike | None = None,
    known: bool = True,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    seed: int = 0,
) -> ShiftedPosterior:
    """The posterior of ε, and of e, what the attack got out, from guesses on one model whose features may tell, too.

    Parameters
    ----------
    guesses : what `attacks.call_members` made of a table with propensities, for one number of guesses that was decided
        before looking. Of a table all examples are guessed. Guesses with one `base` label form a group, which gets the
        same e; without labels all are one group.
    delta : the known δ, in [0, 1).
    draws : (K, m) draws of the propensities of the m rows of the table, in the place of its own, K ≥ 20. The likelihood
        is the mean over the draws.
    known : False where the propensities are not known well: a guess against its propensity is then judged as one on a
        fair coin, as `zero_run` does with propensity="cautious".
    prior_epsilon, prior_strength, strength : see `estimate`.
    seed : of the coins of a zero-run bound at δ > 0, and of ties in a table; the same seed gives the same result.

    >>> table = bdp.GuessTable(np.arange(200), np.arange(200) % 10 < np.arange(200) // 20, 0.5)
    >>> bdp.estimate_shifted(bdp.attacks.call_members(table, 60))
    <Posterior of guesses given delta=0: 90% intervals epsilon 1.964 to 5.893, e 1.657 to 3.153>
    """
    question = ask_of_guesses(guesses, delta, draws, known, prior_epsilon, prior_strength, strength, seed)
    with one_thread():  # its products are many and small: two threads take as long, and the time of both
        return ShiftedPosterior(question)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf
