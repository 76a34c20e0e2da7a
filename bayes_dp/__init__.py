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

from bayes_dp.forks import note_forks

__version__ = "0.1.0"

# Public name -> the module that holds it; a value equal to the module's own name exports the module.
_HOMES = {
    "InputError": "checks",
    "ErrorCounts": "data",
    "Posterior": "result",
    "GuessTable": "guess_table",
    "Guesses": "guesses",
    "LossTable": "loss_table",
    "LowerBound": "bound",
    "Comparison": "comparison",
    "compare": "comparison",
    "gate": "gating",
    "Verdict": "verdict",
    "estimate": "bayes.estimate",
    "Likelihood": "bayes.own",
    "bayes_model": "bayes.model",
    "observe_counts": "bayes.model",
    "run_nuts": "bayes.hamiltonian",
    "check": "bayes.model_check",
    "compare_likelihoods": "bayes.likelihood_comparison",
    "plan": "planning",
    "Plan": "planning",
    "Experiment": "planning",
    "report": "reporting",
    "Report": "reporting",
    "datasets": "datasets",
    "region": "region",
    "tradeoff": "tradeoff",
    "audits": "audits",
    "attacks": "attacks",
    "propensity": "propensity",
    "plots": "plots",
}

__all__ = ["__version__", *_HOMES]

note_forks()

if TYPE_CHECKING:  # the same names, for type checkers
    from bayes_dp import attacks as attacks
    from bayes_dp import audits as audits
    from bayes_dp import datasets as datasets
    from bayes_dp import plots as plots
    from bayes_dp import propensity as propensity
    from bayes_dp import region as region
    from bayes_dp import tradeoff as tradeoff
    from bayes_dp.bayes.estimate import estimate as estimate
    from bayes_dp.bayes.hamiltonian import run_nuts as run_nuts
    from bayes_dp.bayes.likelihood_comparison import compare_likelihoods as compare_likelihoods
    from bayes_dp.bayes.model import bayes_model as bayes_model
    from bayes_dp.bayes.model import observe_counts as observe_counts
    from bayes_dp.bayes.model_check import check as check
    from bayes_dp.bayes.own import Likelihood as Likelihood
    from bayes_dp.bound import LowerBound as LowerBound
    from bayes_dp.checks import InputError as InputError
    from bayes_dp.comparison import Comparison as Comparison
    from bayes_dp.comparison import compare as compare
    from bayes_dp.data import ErrorCounts as ErrorCounts
    from bayes_dp.gating import gate as gate
    from bayes_dp.guess_table import GuessTable as GuessTable
    from bayes_dp.guesses import Guesses as Guesses
    from bayes_dp.loss_table import LossTable as LossTable
    from bayes_dp.planning import Experiment as Experiment
    from bayes_dp.planning import Plan as Plan
    from bayes_dp.planning import plan as plan
    from bayes_dp.reporting import Report as Report
    from bayes_dp.reporting import report as report
    from bayes_dp.result import Posterior as Posterior
    from bayes_dp.verdict import Verdict as Verdict


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'bayes_dp' has no attribute {name!r}; it has {', '.join(_HOMES)}")
    module = importlib.import_module(f"bayes_dp.{home}")
    value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
