"""The registered likelihoods: one file of this room and one line here for each.

The file `name.py` holds the likelihood as `NAME`, an object of a subclass of `base.BaseLikelihood`. It is imported when
it is first asked for, so that the command line can list the names without waiting for JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayes_dp.support.registry import Registry

if TYPE_CHECKING:
    from bayes_dp.bayes.likelihoods.base import BaseLikelihood

__all__ = ["LIKELIHOODS", "NAMES"]

NAMES = [
    "binomial",
    "bivariate_normal",
    "beta_binomial",
    "kupper_haseman",
]


LIKELIHOODS: Registry[BaseLikelihood] = Registry("LIKELIHOODS", __package__, NAMES)
