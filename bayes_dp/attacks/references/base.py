"""BASE, the Bayes-approximate membership status estimation of Lassila et al. (2025, arXiv 2505.24089).

    score = log p(target) − log of the mean of p over all references

With as many references trained with an example as without, this is what `rmia` ranks by. Here each reference counts as
any other, and there each side as the other one. Where an example has no reference, the mean is that of the others.
"""

from __future__ import annotations

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import View, or_mean
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]


def base(view: View) -> Floats:
    """The scores, (n,)."""
    view.require("base", "any")
    return view.log_likelihood[view.target] - or_mean(*view.log_mean_likelihoods("any")[0])


ATTACKS = (Attack("base", base),)
