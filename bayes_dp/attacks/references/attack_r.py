"""Attack R: in how many models without the example it is less likely than in the target (Ye et al. 2022, "Enhanced
membership inference attacks against machine learning models").

    share = #{references without the example whose log p is below that of the target}/#{references without the example}

The share has few values, so that the order of examples with the same one is that of the `calibration` score c:

    score = share + (c/(1 + |c|)) / (2 · (R + 1)²),   R the number of references,

where the second part is smaller than half the difference of any two shares. Where there is no reference without the
example, its share is ½.
"""

from __future__ import annotations

import numpy as np

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.calibration import calibration
from bayes_dp.attacks.references.view import View
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]


def attack_r(view: View) -> Floats:
    """The scores, (n,)."""
    view.require("attack-r", "out")
    own = view.log_likelihood[view.target]
    count, below = np.zeros(len(own)), np.zeros(len(own))
    for r in view.references:
        without = view.counted(r, "out")
        count += without
        below += without & (view.log_likelihood[r] < own)
    share = np.where(count > 0, below / np.maximum(count, 1), 0.5)
    c = calibration(view)
    return share + c / (1 + np.abs(c)) / (2 * (len(view.references) + 1) ** 2)


ATTACKS = (Attack("attack-r", attack_r),)
