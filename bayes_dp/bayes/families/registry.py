"""The families that have a name."""

from __future__ import annotations

from typing import Any

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.families.laplace import LAPLACE
from bayes_dp.bayes.families.pure import PURE
from bayes_dp.checks import InputError, show

__all__ = ["FAMILIES", "family_of"]

FAMILIES: dict[str, TradeOffFamily] = {family.name: family for family in (GAUSSIAN, LAPLACE, PURE)}


def family_of(family: Any) -> TradeOffFamily:
    """The family itself, or the one of this name."""
    if isinstance(family, TradeOffFamily):
        return family
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]
    names = ", ".join(map(repr, ("approx", *FAMILIES, "average")))
    raise InputError(f"family must be {names} or a Family, not {show(family)}")
