"""From what an attack measured to guesses of membership, and to counts of its errors."""

import inspect

from bayes_dp.attacks.adversary import call_members as call_members
from bayes_dp.attacks.counts_of_canaries import canary_counts as canary_counts
from bayes_dp.attacks.lira import choose_target as choose_target
from bayes_dp.attacks.lira import measure as measure
from bayes_dp.attacks.lira import measure_fast as measure_fast
from bayes_dp.attacks.printed_scores import glir_step_scores as glir_step_scores
from bayes_dp.attacks.printed_scores import printed_step_scores as printed_step_scores
from bayes_dp.attacks.scores import Bonferroni as Bonferroni
from bayes_dp.attacks.scores import Fixed as Fixed
from bayes_dp.attacks.scores import MultiSplit as MultiSplit
from bayes_dp.attacks.scores import Split as Split
from bayes_dp.attacks.scores import Uncorrected as Uncorrected
from bayes_dp.attacks.scores import guess as guess
from bayes_dp.attacks.shadow_models import shadow as shadow
from bayes_dp.attacks.white_box import StepScores as StepScores
from bayes_dp.attacks.white_box import choose_canaries as choose_canaries
from bayes_dp.attacks.white_box import dirac_scores as dirac_scores
from bayes_dp.attacks.white_box import step_scores as step_scores

__all__ = sorted(name for name, value in globals().items() if inspect.isfunction(value) or inspect.isclass(value))


def __dir__() -> list[str]:
    return __all__
