"""bayes-dp: from attack results on a trained model to statements about differential privacy.

    import bayes_dp as bdp
    counts = bdp.ErrorCounts.from_csv("counts.csv")
    post = bdp.estimate(counts, delta=1e-3)
    post.interval(0.9)

The public names are imported when they are first used, so that importing the package stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bayes_dp.support.forks import note_forks

__version__ = "0.1.0"

# Public name -> the module that holds it.
_HOMES = {
    "InputError": "checks",
    "ErrorCounts": "data.counts",
    "Posterior": "results.posterior",
    "ConvergenceWarning": "bayes.convergence",
    "GuessTable": "data.guess_table",
    "Guesses": "data.guesses",
    "read_scores": "data.other_tools",
    "LossTable": "data.loss_table",
    "ScoreMatrix": "attacks.score_matrix",
    "LowerBound": "results.bound",
    "CredibleInterval": "results.bound",
    "Estimate": "results.bound",
    "Comparison": "comparison.compare",
    "compare": "comparison.compare",
    "gate": "comparison.gate",
    "Claim": "claims.claim",
    "ClaimTest": "claims.result",
    "Verdict": "comparison.verdict",
    "estimate": "bayes.estimate",
    "estimate_many": "bayes.exact.many",
    "Family": "bayes.families.custom",
    "subsampled_gaussian": "bayes.families.subsampled",
    "records": "bayes.levels.records",
    "Records": "bayes.levels.records",
    "estimate_curves": "bayes.levels.curves",
    "estimate_shifted": "bayes.levels.shifted",
    "Likelihood": "bayes.likelihoods.custom",
    "bayes_model": "bayes.nuts.model",
    "observe_counts": "bayes.nuts.model",
    "run_nuts": "bayes.nuts.sampler",
    "estimate_steps": "bayes.white_box",
    "StepsPosterior": "bayes.white_box",
    "check": "bayes.checks.model_check",
    "ModelCheck": "bayes.checks.model_check",
    "compare_likelihoods": "bayes.checks.compare",
    "compare_families": "bayes.compare_families",
    "FamilyComparison": "bayes.compare_families",
    "LikelihoodComparison": "bayes.checks.compare",
    "plan": "planning.plan",
    "Plan": "planning.result",
    "plan_claim": "planning.claims",
    "ClaimPlan": "planning.claims",
    "Experiment": "planning.simulated",
    "report": "reporting.report",
    "Report": "reporting.report",
}
_MODULES = (
    "datasets",
    "region",
    "tradeoff",
    "audits",
    "attacks",
    "propensity",
    "plots",
    "calibrate",
    "leakage",
    "games",
    "trackers",
)

__all__ = ["__version__", *_HOMES, *_MODULES]

note_forks()

if TYPE_CHECKING:  # the same names, for type checkers
    from bayes_dp import attacks as attacks
    from bayes_dp import audits as audits
    from bayes_dp import calibrate as calibrate
    from bayes_dp import datasets as datasets
    from bayes_dp import games as games
    from bayes_dp import leakage as leakage
    from bayes_dp import plots as plots
    from bayes_dp import propensity as propensity
    from bayes_dp import region as region
    from bayes_dp import trackers as trackers
    from bayes_dp import tradeoff as tradeoff
    from bayes_dp.attacks.score_matrix import ScoreMatrix as ScoreMatrix
    from bayes_dp.bayes.checks.compare import LikelihoodComparison as LikelihoodComparison
    from bayes_dp.bayes.checks.compare import compare_likelihoods as compare_likelihoods
    from bayes_dp.bayes.checks.model_check import ModelCheck as ModelCheck
    from bayes_dp.bayes.checks.model_check import check as check
    from bayes_dp.bayes.compare_families import FamilyComparison as FamilyComparison
    from bayes_dp.bayes.compare_families import compare_families as compare_families
    from bayes_dp.bayes.convergence import ConvergenceWarning as ConvergenceWarning
    from bayes_dp.bayes.estimate import estimate as estimate
    from bayes_dp.bayes.exact.many import estimate_many as estimate_many
    from bayes_dp.bayes.families.custom import Family as Family
    from bayes_dp.bayes.families.subsampled import subsampled_gaussian as subsampled_gaussian
    from bayes_dp.bayes.levels.curves import estimate_curves as estimate_curves
    from bayes_dp.bayes.levels.records import Records as Records
    from bayes_dp.bayes.levels.records import records as records
    from bayes_dp.bayes.levels.shifted import estimate_shifted as estimate_shifted
    from bayes_dp.bayes.likelihoods.custom import Likelihood as Likelihood
    from bayes_dp.bayes.nuts.model import bayes_model as bayes_model
    from bayes_dp.bayes.nuts.model import observe_counts as observe_counts
    from bayes_dp.bayes.nuts.sampler import run_nuts as run_nuts
    from bayes_dp.bayes.white_box import StepsPosterior as StepsPosterior
    from bayes_dp.bayes.white_box import estimate_steps as estimate_steps
    from bayes_dp.checks import InputError as InputError
    from bayes_dp.claims.claim import Claim as Claim
    from bayes_dp.claims.result import ClaimTest as ClaimTest
    from bayes_dp.comparison.compare import Comparison as Comparison
    from bayes_dp.comparison.compare import compare as compare
    from bayes_dp.comparison.gate import gate as gate
    from bayes_dp.comparison.verdict import Verdict as Verdict
    from bayes_dp.data.counts import ErrorCounts as ErrorCounts
    from bayes_dp.data.guess_table import GuessTable as GuessTable
    from bayes_dp.data.guesses import Guesses as Guesses
    from bayes_dp.data.loss_table import LossTable as LossTable
    from bayes_dp.data.other_tools import read_scores as read_scores
    from bayes_dp.planning.claims import ClaimPlan as ClaimPlan
    from bayes_dp.planning.claims import plan_claim as plan_claim
    from bayes_dp.planning.plan import plan as plan
    from bayes_dp.planning.result import Plan as Plan
    from bayes_dp.planning.simulated import Experiment as Experiment
    from bayes_dp.reporting.report import Report as Report
    from bayes_dp.reporting.report import report as report
    from bayes_dp.results.bound import CredibleInterval as CredibleInterval
    from bayes_dp.results.bound import Estimate as Estimate
    from bayes_dp.results.bound import LowerBound as LowerBound
    from bayes_dp.results.posterior import Posterior as Posterior


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(f"bayes_dp.{name}")
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"bayes_dp.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'bayes_dp' has no attribute {name!r}; it has {', '.join(__all__[1:])}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
