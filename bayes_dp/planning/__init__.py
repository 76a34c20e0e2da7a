"""How large an experiment has to be for an interval of ε of a wanted width.

simulated   the experiments: a truth, error rates, and counts of any size
limit       the interval given the error rates, which more and more challenges lead to
result      widths by size, and the size that is needed
search      `plan`: the sizes that are tried
"""

from bayes_dp.planning.result import Needed, Plan, Row
from bayes_dp.planning.search import plan
from bayes_dp.planning.simulated import Experiment

__all__ = ["Experiment", "Needed", "Plan", "Row", "plan"]
