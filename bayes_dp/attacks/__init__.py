"""From what an attack measured to guesses of membership, and to counts of its errors."""

import inspect

from bayes_dp.attacks.adversary import call_members as call_members
from bayes_dp.attacks.lira import choose_target as choose_target
from bayes_dp.attacks.lira import measure as measure
from bayes_dp.attacks.lira import measure_fast as measure_fast
from bayes_dp.attacks.scores import Bonferroni as Bonferroni
from bayes_dp.attacks.scores import Fixed as Fixed
from bayes_dp.attacks.scores import MultiSplit as MultiSplit
from bayes_dp.attacks.scores import Split as Split
from bayes_dp.attacks.scores import Uncorrected as Uncorrected
from bayes_dp.attacks.scores import guess as guess
from bayes_dp.attacks.shadow_models import shadow as shadow

__all__ = sorted(name for name, value in globals().items() if inspect.isfunction(value) or inspect.isclass(value))
