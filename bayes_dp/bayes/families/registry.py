"""The registered families: one file of this room and one line here for each.

The file `name.py` holds the family as `NAME`, an object of a subclass of `base.TradeOffFamily`. It is imported when it
is first asked for, so that the command line can list the names without waiting for SciPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayes_dp.support.registry import Registry

if TYPE_CHECKING:
    from bayes_dp.bayes.families.base import TradeOffFamily

__all__ = ["APPROX", "AVERAGE", "FAMILIES", "NAMES"]

NAMES = [
    "gaussian",
    "laplace",
    "pure",
]
APPROX, AVERAGE = "approx", "average"  # what estimate takes besides: (ε, δ), and an average of families

FAMILIES: Registry[TradeOffFamily] = Registry("FAMILIES", __package__, NAMES)
