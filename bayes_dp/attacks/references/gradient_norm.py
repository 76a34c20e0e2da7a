"""The norm of the gradient: score −‖∇ℓ‖ (Nasr et al. 2019). It needs no reference models, but the gradients' norms."""

from __future__ import annotations

import numpy as np

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import View
from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]


def gradient_norm(view: View) -> Floats:
    """−‖∇ℓ‖ of each example's loss by the weights of the target, (n,)."""
    if view.gradient_norm is None or np.isnan(view.gradient_norm[view.target]).any():
        raise InputError(
            f'attack "gradient-norm" needs gradient_norm, that of every example for model {view.target}, not given'
        )
    return -view.gradient_norm[view.target]


ATTACKS = (Attack("gradient-norm", gradient_norm),)
