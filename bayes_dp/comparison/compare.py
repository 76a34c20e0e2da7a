"""All methods on the same counts, in one table: the posterior beside every lower bound that applies.

The audits of `audits/registry.py` are methods of the table, and so is what users `register`, with the designs that it
is valid for. Where a method does not apply, the table says why. Posteriors are given by their equal-tailed interval of
probability 2·confidence − 1, so that their lower ends and the one-sided bounds are missed with the same probability.

Scores of the examples of one model can be given as they are. How many guesses of them all methods judge is said in
`audits/judged.py`.

Where propensities are given that are no fair coins, the posteriors of error counts, which take members and non-members
for alike, give way to the one of guesses under shift, with the shift taken off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bayes_dp.attacks.scores import NumberOfGuesses
from bayes_dp.audits.base import Finding as Bound
from bayes_dp.audits.base import Inputs, Scope
from bayes_dp.audits.judged import Judged, judged
from bayes_dp.audits.panoramia import OF_REPLACEMENT, panoramia
from bayes_dp.audits.registry import audit, audits
from bayes_dp.bayes.estimate import Estimates
from bayes_dp.bayes.levels.beside import BesideGaussian
from bayes_dp.bayes.levels.posterior import FamilyPosterior
from bayes_dp.bayes.levels.shifted import ShiftedPosterior
from bayes_dp.bayes.priors import prior_of
from bayes_dp.checks import InputError, one_number, show, truth
from bayes_dp.claims.claim import Claim, check_claim
from bayes_dp.claims.result import ClaimTest
from bayes_dp.comparison.contradictions import reconciled
from bayes_dp.comparison.control import Control, as_control, check_limit
from bayes_dp.comparison.table import Comparison, ComparisonRow
from bayes_dp.comparison.verdict import judge
from bayes_dp.data.counts import DESIGNS, ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses, dependent
from bayes_dp.games.played import Played
from bayes_dp.results.posterior import Posterior

__all__ = [
    "Comparison",
    "ComparisonRow",
    "Method",
    "MethodInputs",
    "check_scores",
    "compare",
    "counts_and_guesses",
    "methods",
    "of_game",
    "register",
    "shifted_of",
    "tabulate",
]

Finding = Bound | Posterior

_ALL = "all"
_LOW_END = (
    "The lower end of a posterior is no lower bound: if every attack is the strongest possible, it may well lie above"
    " ε, most of all with one base and many runs."
)


@dataclass(frozen=True)
class MethodInputs(Inputs):
    """What a method is given besides the counts: what an audit is, and what a posterior needs."""

    prior_epsilon: Any = None
    prior_strength: Any = None
    estimate: Estimates = field(default_factory=Estimates)
    game: Played | None = None  # of PANORAMIA, that the scores are of


@dataclass(frozen=True)
class Method:
    """A method of the table: `run` answers from counts; `refuse` gives the reason where it does not apply, or ""."""

    name: str
    run: Callable[[ErrorCounts, MethodInputs], Finding]
    designs: tuple[str, ...]
    why: str = ""  # why it is not for the other designs
    scope: Scope = "both"
    refuse: Callable[[ErrorCounts, MethodInputs], str] = lambda counts, inputs: ""


_REGISTRY: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Add a method to the tables that are made from now on; its name must be new."""
    if method.name in _REGISTRY:
        raise InputError(f"a method named {show(method.name)} is registered already")
    if unknown := set(method.designs) - set(DESIGNS):
        raise InputError(f"designs must be among {', '.join(DESIGNS)}, not {sorted(unknown)}")
    _REGISTRY[method.name] = method
    return method


def methods() -> dict[str, Method]:
    """The registered methods by name, in the order of the table."""
    return dict(_REGISTRY)


def compare(
    counts: ErrorCounts | GuessTable | Guesses | Played,
    delta: float,
    confidence: float = 0.95,
    *,
    overlap: float | None = None,
    baseline: ErrorCounts | None = None,
    scores: GuessTable | None = None,
    choice: NumberOfGuesses | int | None = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    posteriors: Mapping[str, Posterior] | None = None,
    per_base: bool = False,
    names: Iterable[str] | None = None,
    limit: float | None = None,
    control: Control = None,
    claim: Claim | None = None,
) -> Comparison:
    """One row per method and base, and one for all bases together.

    Parameters
    ----------
    counts : errors of n challenge bases; their design decides which methods apply. Or the scores of the examples of one
        model, or guesses made from such: fair coins decided who is a member, unless there are propensities. Or a game
        of PANORAMIA: its scores are judged by all methods, with the baseline's probabilities as propensities.
    delta, confidence : of all bounds; the confidence is above 1/2.
    overlap : for zero-run bounds: each example is a member with a probability between this and one minus this.
    baseline : for PANORAMIA: the counts of decisions made without the model, where the non-members are generated.
    scores : for zero-run bounds and the posterior under shift: the attack's scores of the examples behind the counts,
        with propensities. That posterior is of as many guesses as the counts hold, see `estimate_shifted`.
    choice : of scores, how many guesses all methods judge: a number decided before looking, or a `Split`, the default.
    prior_epsilon, prior_strength : of the posterior, see `estimate`.
    posteriors : further rows by name: posteriors of ε at `delta` from the same counts, such as those of `estimate` with
        another likelihood, method or treatment of groups; or of guesses by `scores`, such as those of
        `estimate_shifted` with draws of the propensities.
    per_base : whether there are rows for each base too.
    names : the methods wanted, all by default.
    limit, control : a limit of ε to be judged by the posterior, or by the first of `posteriors` from counts if there
        are any, and the positive control, see `gate`.
    claim : to be held against the counts, see `Claim.test`.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> table = bdp.compare(counts, 1e-3)
    >>> for row in [row for row in table.rows if row.kind != "refused"][:6]:
    ...     print(f"{row.method:18} {row.kind:12} {row.lower:.3f}")
    posterior          posterior    1.842
    posterior-tight    posterior    1.622
    posterior-gaussian posterior    7.601
    joint-beta         posterior    1.619
    clopper-pearson    lower_bound  1.390
    jeffreys           lower_bound  1.433
    >>> table.select("one-run")[0].reason
    'It is not for the design "repeated": it is for guesses on one model, each example a member by its own coin.'
    """
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    counts, game = of_game(counts)
    counts, found_in = counts_and_guesses(counts, delta, choice, scores)
    if baseline is not None and not isinstance(baseline, ErrorCounts):
        raise InputError(f"baseline must be ErrorCounts, not {type(baseline).__name__}")
    check_scores(scores)
    inputs = MethodInputs(
        delta=delta,
        confidence=one_number("confidence", confidence, 0.5, 1.0, low_open=True, high_open=True),
        overlap=None if overlap is None else one_number("overlap", overlap, 0.0, 0.5, low_open=True),
        baseline=baseline,
        scores=scores if found_in is None else found_in.table,
        guesses=None if found_in is None else found_in.guesses,
        prior_epsilon=prior_epsilon,
        prior_strength=prior_strength,
        game=game,
    )
    check_limit(limit, control)
    positive = as_control(control, counts, found_in, delta, choice)
    check_claim(claim)
    for parameter, prior in (("epsilon", prior_epsilon), ("strength", prior_strength)):
        if prior is not None:
            prior_of(parameter, prior)
    wanted, per_base = _wanted(names), truth("per_base", per_base)
    if posteriors is not None and not isinstance(posteriors, Mapping):
        raise InputError(f"posteriors must be a mapping from names to posteriors, not {type(posteriors).__name__}")
    given = {} if posteriors is None else dict(posteriors)
    for name, post in given.items():
        _check_posterior(name, post, counts, inputs)
    found = tabulate(counts, inputs, posteriors=given, wanted=wanted, per_base=per_base, claim=claim)
    if limit is None:
        return found
    of_counts = (post for post in given.values() if not isinstance(post, ShiftedPosterior))
    judged = next(of_counts, None) or _posterior("free")(counts, inputs)
    others = [method for name, method in _REGISTRY.items() if not name.startswith("posterior") and method not in wanted]
    more = tuple(row for method in others for row in _rows(method, counts, inputs, False))
    bounds = replace(found, rows=(*found.rows, *more)).bounds()
    verdict = judge(judged, counts, limit, inputs.probability, bounds=bounds, control=positive)
    return replace(found, gate=verdict)


def tabulate(
    counts: ErrorCounts,
    inputs: MethodInputs,
    *,
    posteriors: Mapping[str, Posterior],
    wanted: Sequence[Method] | None = None,
    per_base: bool = False,
    claim: Claim | None = None,
) -> Comparison:
    """The table of `compare`, from what is known to be right."""
    rows: list[ComparisonRow] = []
    for method in _wanted(None) if wanted is None else wanted:
        rows += _rows(method, counts, inputs, per_base)
    for name, post in posteriors.items():
        rows += _found(name, _ALL, post, inputs)
    return Comparison(
        rows=reconciled(rows),
        delta=inputs.delta,
        confidence=inputs.confidence,
        design=counts.design,
        digest=counts.digest(),
        claim=None if claim is None else _tested(claim, counts, inputs),
    )


def _tested(claim: Claim, counts: ErrorCounts, inputs: MethodInputs) -> ClaimTest:
    """By the counts; by the bound for examples that were no members by fair coins, where they were not; by that of a
    game, which knows that its coins fell after the training."""
    if inputs.game is not None and not inputs.game.generated:
        tested = claim.test(panoramia(inputs.game, delta=inputs.delta, confidence=inputs.confidence))
    elif counts.design == "one_run" and not dependent(counts) and audit("one-run").refused(counts, inputs):
        bound = audit("zero-run-compositional" if inputs.scores is None else "zero-run").on(counts, inputs)
        tested = claim.test(bound)
    else:
        tested = claim.test(inputs.guessed(counts), confidence=inputs.confidence)
    limit = claim.epsilon_at(inputs.delta)
    return replace(
        tested,
        claim=claim.statement(inputs.delta),
        delta=inputs.delta,
        epsilon=limit if math.isfinite(limit) else None,
    )


def of_game(given: Any) -> tuple[Any, Played | None]:
    """The scores of a game of PANORAMIA in its place, and the game; all else as it is, and None."""
    if not isinstance(given, Played):
        return given, None
    if len(given) > 1:
        raise InputError(f"counts must be one game, such as counts[0], and not {len(given)} of them")
    return given.table(), given


def counts_and_guesses(
    given: Any, delta: float, choice: NumberOfGuesses | int | None, scores: Any
) -> tuple[ErrorCounts, Judged | None]:
    """The counts that are given, or those of scores or guesses, with these."""
    if isinstance(given, GuessTable | Guesses):
        if scores is not None:
            raise InputError("scores are for error counts; here the scores are given in their place")
        found = judged(given, delta, choice)
        return found.counts, found
    if not isinstance(given, ErrorCounts):
        raise InputError(f"counts must be ErrorCounts, a GuessTable or Guesses, not {type(given).__name__}")
    if choice is not None:
        raise InputError("choice is for a table of scores; counts are of guesses that are made already")
    return given, None


def check_scores(scores: GuessTable | None) -> None:
    """Refuse what is neither a table with propensities nor None."""
    if scores is not None and (not isinstance(scores, GuessTable) or scores.propensity is None):
        raise InputError("scores must be a GuessTable with propensities")


def shifted_of(counts: ErrorCounts, inputs: MethodInputs) -> ShiftedPosterior | None:
    """The posterior of the row `posterior-shifted`; None where it does not apply."""
    return None if counts.design != "one_run" or _shifted_refused(counts, inputs) else _shifted(counts, inputs)


def _wanted(names: Iterable[str] | None) -> list[Method]:
    if names is None:
        return list(_REGISTRY.values())
    wanted = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if unknown := [name for name in wanted if not isinstance(name, str) or name not in _REGISTRY]:
        raise InputError(f"there is no method {show(unknown[0])}; the methods are {', '.join(_REGISTRY)}")
    return [_REGISTRY[name] for name in wanted]


def _check_posterior(name: str, post: Posterior, counts: ErrorCounts, inputs: MethodInputs) -> None:
    if not isinstance(name, str):
        raise InputError(f"the names of posteriors must be text, not {show(name)}")
    if not isinstance(post, Posterior):
        raise InputError(f"posteriors[{show(name)}] must be a posterior, not {type(post).__name__}")
    if name in _REGISTRY:
        raise InputError(f"posteriors[{show(name)}] has the name of a method; give it another")
    if post.parameter != "epsilon" or post.provenance.known.get("delta") != inputs.delta:
        known = ", ".join(f"{key} = {value:g}" for key, value in post.provenance.known.items())
        raise InputError(
            f"posteriors[{show(name)}] is of {post.parameter} at {known}, not of epsilon at {inputs.delta:g}"
        )
    if isinstance(post, ShiftedPosterior):
        if inputs.scores is None or not _same_examples(post.question.guesses.table, inputs.scores):
            raise InputError(f"posteriors[{show(name)}] is of guesses of other examples than those of scores")
    elif post.provenance.digest != counts.digest():
        raise InputError(f"posteriors[{show(name)}] is that of other counts")


def _same_examples(one: GuessTable, other: GuessTable) -> bool:
    """Whether they are the same but for the scores, of which guesses make their own."""
    return len(one) == len(other) and one.rescored(other.score) == other


def _rows(method: Method, counts: ErrorCounts, inputs: MethodInputs, per_base: bool) -> list[ComparisonRow]:
    if counts.design not in method.designs:
        return [_refused(method, _ALL, f'It is not for the design "{counts.design}": {method.why}')]
    if method.name == "panoramia" and inputs.game is not None:
        return _found(
            method.name, _ALL, panoramia(inputs.game, delta=inputs.delta, confidence=inputs.confidence), inputs
        )
    n = len(counts)
    if method.scope == "base" and n > 1 and not per_base:
        return [_refused(method, _ALL, "It is for single bases, which were not asked for.")]
    parts = []
    if method.scope != "whole" and n > 1 and per_base:
        parts += [(counts.base[i] if counts.base else str(i), counts[i]) for i in range(n)]
    if method.scope != "base" or n == 1:
        parts.append((_ALL, counts))
    rows = []
    for base, part in parts:
        reason = method.refuse(part, inputs)
        rows += (
            [_refused(method, base, reason)] if reason else _found(method.name, base, method.run(part, inputs), inputs)
        )
    return rows


def _refused(method: Method, base: str, reason: str) -> ComparisonRow:
    return ComparisonRow(method.name, base, "refused", "epsilon", None, None, None, None, False, reason, ())


def _found(name: str, base: str, found: Finding, inputs: MethodInputs) -> list[ComparisonRow]:
    """The rows of one answer: more than one only of guesses under shift, where e stands beside ε."""
    if isinstance(found, ShiftedPosterior):
        return [_of_guesses(name, found, parameter, inputs) for parameter in (*found.leaks, "epsilon")]
    row = _row(name, base, found, inputs)
    if isinstance(found, FamilyPosterior) and found.family.name == "gaussian":
        row = replace(row, notes=(*row.notes, _beside_gaussian(found, inputs)))
    if inputs.game is not None and OF_REPLACEMENT not in row.assumptions:
        row = replace(row, assumptions=(*row.assumptions, OF_REPLACEMENT))
    return [row]


def _beside_gaussian(post: FamilyPosterior, inputs: MethodInputs) -> str:
    """What the counts say of the Gaussian family and that of (ε, δ)."""
    beside = inputs.estimate(
        post.counts,
        inputs.delta,
        prior_epsilon=inputs.prior_epsilon,
        prior_strength=inputs.prior_strength,
        strength=post.question.strength,
    )
    assert isinstance(beside, BesideGaussian)
    return f"The other posterior of the same counts is that of (ε,δ). {beside.told}"


def _of_guesses(name: str, post: ShiftedPosterior, parameter: str, inputs: MethodInputs) -> ComparisonRow:
    """What the attack got out of a group of guesses, e, or the belief about ε."""
    low, high = post.interval(inputs.probability, parameter=parameter)
    doubts = (*post.unreliable, *post.untrusted)
    reason = " ".join(filter(None, (post.caution, *doubts)))
    said = (sentence for sentence in post.warnings if sentence not in doubts)
    letter, group = ("e", parameter[2:-1]) if parameter.startswith("e[") else (parameter, _ALL)
    return ComparisonRow(
        name, group, "posterior", letter, float(post.quantile(0.5, parameter)), low, high, inputs.probability,
        not reason, reason, post.assumptions, (*post.notes(parameter, inputs.probability), *said),
    )  # fmt: skip


def _row(name: str, base: str, found: Finding, inputs: MethodInputs) -> ComparisonRow:
    if isinstance(found, Posterior):
        low, high = found.interval(inputs.probability)
        reason = " ".join(filter(None, (found.caution, *found.unreliable)))
        said = (sentence for sentence in found.warnings if sentence not in found.unreliable)
        return ComparisonRow(
            name, base, "posterior", found.parameter, found.median, low, high, inputs.probability, not reason,
            reason, found.assumptions, (_LOW_END, found.high_end(inputs.probability), *said),
        )  # fmt: skip
    if found.kind == "estimate":
        reason = " ".join(filter(None, ("It is an estimate and bounds nothing.", found.invalid, *found.warnings)))
        return ComparisonRow(
            name, base, "estimate", found.parameter, _finite(found.value), None, None, None, False, reason,
            found.assumptions,
        )  # fmt: skip
    value = found.details["median"] if found.kind == "posterior" else found.value
    reason = " ".join(filter(None, (found.invalid, *found.warnings)))
    return ComparisonRow(
        name, base, found.kind, found.parameter, _finite(value), _finite(found.value),
        _finite(found.upper), found.confidence, found.valid, reason, found.assumptions,
    )  # fmt: skip


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _gaussian(counts: ErrorCounts, inputs: MethodInputs) -> Posterior:
    return inputs.estimate(
        counts,
        inputs.delta,
        family="gaussian",
        prior_epsilon=inputs.prior_epsilon,
        prior_strength=inputs.prior_strength,
    )


def _no_epsilon(counts: ErrorCounts, inputs: MethodInputs) -> str:
    return "At δ = 0 no finite ε holds for Gaussian noise." if inputs.delta == 0 else ""


# The methods ----------------------------------------------------------------------------------------------------------


def _posterior(strength: Any) -> Callable[[ErrorCounts, MethodInputs], Posterior]:
    def run(counts: ErrorCounts, inputs: MethodInputs) -> Posterior:
        return inputs.estimate(
            counts,
            inputs.delta,
            prior_epsilon=inputs.prior_epsilon,
            prior_strength=inputs.prior_strength if strength == "free" else None,
            strength=strength,
        )

    return run


def _not_alike(counts: ErrorCounts, inputs: MethodInputs) -> str:
    """Error counts do not know what the features tell, guesses with propensities do."""
    if counts.design != "one_run" or inputs.scores is None or (inputs.scores.needed_propensity() == 0.5).all():
        return ""
    return "It takes members and non-members for alike; with propensities there is posterior-shifted in its place."


def _gaussian_refused(counts: ErrorCounts, inputs: MethodInputs) -> str:
    return _not_alike(counts, inputs) or _no_epsilon(counts, inputs)


def _made(counts: ErrorCounts) -> int:
    """The number of guesses."""
    return int((counts.negatives + counts.positives).sum())


def _shifted(counts: ErrorCounts, inputs: MethodInputs) -> ShiftedPosterior:
    assert inputs.scores is not None  # as they are needed
    return inputs.estimate.shifted(
        inputs.scores if inputs.guesses is None else inputs.guesses,
        _made(counts),
        inputs.delta,
        prior_epsilon=inputs.prior_epsilon,
        prior_strength=inputs.prior_strength,
    )


def _shifted_refused(counts: ErrorCounts, inputs: MethodInputs) -> str:
    if inputs.scores is None:
        return "No scores with propensities were given."
    if _made(counts) > len(inputs.scores):
        return f"There are {_made(counts)} guesses, and scores of only {len(inputs.scores)} examples."
    try:
        _shifted(counts, inputs)
    except InputError as error:
        return f"{error}."
    return ""


register(Method("posterior", _posterior("free"), DESIGNS, refuse=_not_alike))
register(Method("posterior-tight", _posterior("tight"), DESIGNS, refuse=_not_alike))
register(Method("posterior-gaussian", _gaussian, DESIGNS, refuse=_gaussian_refused))
register(
    Method(
        "posterior-shifted",
        _shifted,
        ("one_run",),
        "it is for guesses on one model.",
        scope="whole",
        refuse=_shifted_refused,
    )
)
for _audit in audits().values():
    register(Method(_audit.name, _audit.run, _audit.designs, _audit.why, _audit.scope, _audit.refused))
