"""Which family is meant: the object itself, or one by its name."""

from __future__ import annotations

import difflib
from typing import Any

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.registry import APPROX, AVERAGE, FAMILIES
from bayes_dp.checks import InputError, show

__all__ = ["family_of"]

_FUNCTION = "subsampled_gaussian"  # which has a parameter of its own


def family_of(family: Any) -> TradeOffFamily:
    """The family itself, or the one of this name."""
    if isinstance(family, TradeOffFamily):
        return family
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]
    if isinstance(family, str) and family == AVERAGE:
        raise InputError(f"{show(family)} is made of several families, and is none itself")
    names = (APPROX, *FAMILIES, AVERAGE)
    raise InputError(
        f"family must be {', '.join(map(repr, names))} or a Family, not {show(family)}{_meant(family, names)}"
    )


def _meant(family: Any, names: tuple[str, ...]) -> str:
    """What was probably meant by a name that there is not."""
    if isinstance(family, type) and issubclass(family, TradeOffFamily):
        return "; give an object of it, such as Family(name, f)"
    if not isinstance(family, str):
        return ""
    near = difflib.get_close_matches(family.strip().lower().replace("-", "_"), [*names, _FUNCTION], 1)
    if near == [_FUNCTION]:
        return f"; is bdp.{_FUNCTION}(q) meant?"
    return f"; is {near[0]!r} meant?" if near else ""
