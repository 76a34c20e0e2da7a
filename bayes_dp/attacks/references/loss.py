"""The loss: score log p (Yeom et al. 2018, "Privacy risk in machine learning"). It needs no reference models."""

from __future__ import annotations

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import View
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]


def loss(view: View) -> Floats:
    """log p, (n,)."""
    return view.log_likelihood[view.target]


ATTACKS = (Attack("loss", loss),)
