"""From what an attack measured to guesses of membership, and to counts of its errors."""

from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.lira import choose_target, measure, measure_fast
from bayes_dp.attacks.scores import Bonferroni, Fixed, Split, Uncorrected, guess

__all__ = [
    "Bonferroni",
    "Fixed",
    "Split",
    "Uncorrected",
    "call_members",
    "choose_target",
    "guess",
    "measure",
    "measure_fast",
]
