"""Propensities: the chance of each example to be a member, given its features.

`fit` learns them, `known` takes them as given, `falsify` asks whether the memberships contradict them, and `bootstrap`
puts their error into the confidence of a zero-run bound.
"""

from bayes_dp.propensity.bootstrapping import bootstrap
from bayes_dp.propensity.falsification import Falsification, falsify
from bayes_dp.propensity.fitting import fit, known
from bayes_dp.propensity.result import Propensity

__all__ = ["Falsification", "Propensity", "bootstrap", "falsify", "fit", "known"]


def __dir__() -> list[str]:
    return __all__
