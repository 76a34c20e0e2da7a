"""What a report is about: all that is computed from the counts, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bayes_dp.attacks.scores import NumberOfGuesses
from bayes_dp.audits.judged import Judged
from bayes_dp.audits.panoramia import panoramia
from bayes_dp.bayes.checks.model_check import ModelCheck, check
from bayes_dp.bayes.estimate import Estimates
from bayes_dp.bayes.levels.shifted import ShiftedPosterior
from bayes_dp.checks import InputError, interval_probability, one_number, seed_of
from bayes_dp.claims.claim import Claim, check_claim
from bayes_dp.claims.result import ClaimTest
from bayes_dp.comparison.compare import MethodInputs, check_scores, counts_and_guesses, of_game, shifted_of, tabulate
from bayes_dp.comparison.control import Control, as_control, check_limit
from bayes_dp.comparison.table import Comparison, ComparisonRow
from bayes_dp.comparison.verdict import Verdict, judge
from bayes_dp.data.counts import ONE_MODEL, ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.games.played import Played
from bayes_dp.reporting.sensitivity import Variation, variations
from bayes_dp.results.bound import Estimate, LowerBound
from bayes_dp.results.posterior import Posterior

__all__ = ["Findings", "find"]

# The lower bound to be quoted, chosen by the design and not by its value, which would be choosing after looking.
_QUOTED = {"repeated": "clopper-pearson", "one_run": "one-run"}


@dataclass(frozen=True, eq=False)
class Findings:
    """The counts, what was asked of them, and what came out."""

    counts: ErrorCounts
    posterior: Posterior
    comparison: Comparison
    check: ModelCheck | None
    unchecked: str  # why there is no check of the model, a sentence; empty where there is one
    variations: tuple[Variation, ...]
    delta: float
    prob: float
    seed: int
    options: Mapping[str, Any]  # of `estimate`, as they were given
    verdict: Verdict | None = None  # on a limit of ε, where one was given
    control: Control = None  # of that verdict
    stated: Claim | None = None  # the claim that was given
    claim: ClaimTest | None = None  # what the posterior says of it; what the counts say is in the comparison
    scores: GuessTable | None = None  # of the examples behind the counts, with propensities
    shifted: ShiftedPosterior | None = None  # of guesses by these scores, where it applies
    judged: Judged | None = None  # the guesses that were judged, where scores were given in the place of counts
    choice: NumberOfGuesses | int | None = None  # of their number, as it was given
    given: ErrorCounts | GuessTable | Guesses | Played | None = None  # in the place of counts
    game: Estimate | LowerBound | None = None  # what a game of PANORAMIA says, where one was given

    @property
    def interval(self) -> tuple[float, float]:
        return self.posterior.interval(self.prob)

    @property
    def alike(self) -> bool:
        """Whether no features are known to tell members from non-members."""
        return self.scores is None or bool((self.scores.needed_propensity() == 0.5).all())

    @property
    def quoted(self) -> ComparisonRow | None:
        """The lower bound that fits the design, for all bases; None where no method is valid for it."""
        name = _QUOTED.get(self.counts.design) if self.alike else "zero-run"
        rows = self.comparison.select(name, "all") if name else ()
        return rows[0] if rows and rows[0].valid else None

    @property
    def cautions(self) -> tuple[str, ...]:
        """Why the answer should not be taken as it stands, a sentence each."""
        doubts = self.check.advice if self.check is not None and self.check.doubtful else ()
        return tuple(filter(None, (self.posterior.caution, *self.posterior.warnings, *doubts)))

    def to_dict(self) -> dict[str, Any]:
        """Everything in full precision, fit for JSON."""
        return {
            "question": {"delta": self.delta, "prob": self.prob, "seed": self.seed},
            "data": self.counts.to_dict() | {"digest": self.counts.digest()},
            "posterior": self.posterior.to_dict(self.prob),
            "shifted": None if self.shifted is None else self.shifted.to_dict(self.prob) | {"asked": None},  # no scores
            "comparison": self.comparison.to_dict(),
            **({} if self.game is None else {"panoramia": self.game.to_dict()}),
            "model_check": None if self.check is None else self.check.to_dict(),
            "gate": None if self.verdict is None else self.verdict.to_dict(),
            "claim": None if self.claim is None else self.claim.to_dict(),
            "sensitivity": [asdict(variation) for variation in self.variations],
        }


def find(
    given: ErrorCounts | GuessTable | Guesses | Played,
    delta: float,
    prob: float,
    seed: int,
    options: Mapping[str, Any],
    limit: float | None = None,
    control: Control = None,
    scores: GuessTable | None = None,
    claim: Claim | None = None,
    choice: NumberOfGuesses | int | None = None,
) -> Findings:
    """Compute all of it. `options` are those of `estimate`; the seed goes to a sampler and to the check."""
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    evidence, game = of_game(given)
    counts, judged = counts_and_guesses(evidence, delta, choice, scores)
    if judged is not None:
        scores = judged.table
    check_limit(limit, control)
    positive = as_control(control, counts, judged, delta, choice)
    check_claim(claim)
    if scores is not None and counts.design not in ONE_MODEL:
        raise InputError(f'scores are of guesses on one model, and counts are of the design "{counts.design}"')
    check_scores(scores)
    prob = interval_probability(prob)
    seed = seed_of(seed)
    estimates = Estimates()
    post = estimates(counts, delta, seed=seed, **options)
    checked, unchecked = None, ""
    try:
        checked = check(post, seed=seed)
    except InputError as error:  # a user's likelihood need not have what a check needs
        unchecked = f"The model was not checked: {error}."
    priors = {key: options[key] for key in ("prior_epsilon", "prior_strength")}
    plain = post.question.likelihood.closed_form and options["strength"] in ("free", "tight")
    others = {} if plain and not options.get("groups") else {"posterior, as above": post}
    guesses = None if judged is None else judged.guesses
    inputs = MethodInputs(
        delta, (1 + prob) / 2, scores=scores, guesses=guesses, estimate=estimates, game=game, **priors
    )
    comparison = tabulate(counts, inputs, posteriors=others, claim=claim)
    verdict = None
    if limit is not None:
        bounds = comparison.bounds()
        verdict = judge(post, counts, limit, prob, bounds=bounds, control=positive, checked=checked, seed=seed)
    return Findings(
        counts=counts,
        posterior=post,
        comparison=comparison,
        check=checked,
        unchecked=unchecked,
        variations=variations(post, counts, options, prob, estimates),
        delta=delta,
        prob=prob,
        seed=seed,
        options=options,
        verdict=verdict,
        control=control,
        claim=None if claim is None else claim.test(post),
        stated=claim,
        scores=scores,
        shifted=shifted_of(counts, inputs),
        judged=judged,
        choice=choice,
        given=given,
        game=None if game is None else panoramia(game, delta=delta, confidence=(1 + prob) / 2),
    )
