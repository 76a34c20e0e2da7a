"""Difficulty calibration: how much likelier an example is to the target than to models that do not have it
(Watson et al. 2022, "On the importance of difficulty calibration in membership inference attacks").

    score = log p(target) − mean of log p over the references without the example
"""

from __future__ import annotations

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import View, both_sides
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]


def calibration(view: View) -> Floats:
    """The scores, (n,)."""
    view.require("calibration", "any")
    means = both_sides(view.mean_log_likelihood("out"), view.mean_log_likelihood("in"))
    return view.log_likelihood[view.target] - means.out


ATTACKS = (Attack("calibration", calibration),)
