"""Which family is meant: the object itself, or one by its name."""

from __future__ import annotations

import difflib
import re
from typing import Any

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.registry import APPROX, AVERAGE, FAMILIES
from bayes_dp.bayes.families.subsampled import SubsampledGaussian, subsampled_gaussian
from bayes_dp.checks import InputError, show

__all__ = ["family_of", "family_of_words", "words_of_family"]

_FUNCTION = "subsampled_gaussian"  # which has a parameter of its own
_CALLED = re.compile(rf"{_FUNCTION}\(([0-9]+(?:\.[0-9]+)?(?:e-[0-9]+)?)\)")


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


def words_of_family(family: TradeOffFamily) -> str | None:
    """Text that `family_of_words` reads as this very family; None for one of the user's own."""
    if type(family) is SubsampledGaussian:
        return f"{_FUNCTION}({family.q!r})"
    return family.name if FAMILIES.get(family.name) is family else None


def family_of_words(words: str) -> TradeOffFamily:
    """The family of this name, or "subsampled_gaussian(q)" with its q."""
    called = _CALLED.fullmatch(words)
    return subsampled_gaussian(float(called[1])) if called else family_of(words)


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
