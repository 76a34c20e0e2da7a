"""From what an attack measured to guesses of membership."""

from bayes_dp.attacks.scores import Bonferroni, Fixed, Split, Uncorrected, guess

__all__ = ["Bonferroni", "Fixed", "Split", "Uncorrected", "guess"]
