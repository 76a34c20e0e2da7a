"""The registered likelihoods: one file of this room and one line here for each.

The file `name.py` holds the likelihood as `NAME`, an object of a subclass of `base.BaseLikelihood`. It is imported when
it is first asked for, so that the command line can list the names without waiting for JAX.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayes_dp.bayes.likelihoods.base import BaseLikelihood

__all__ = ["LIKELIHOODS", "NAMES"]

NAMES = [
    "binomial",
    "bivariate_normal",
    "beta_binomial",
    "kupper_haseman",
]


class _Registry(Mapping[str, "BaseLikelihood"]):
    def __getitem__(self, name: str) -> BaseLikelihood:
        if name not in NAMES:
            raise KeyError(name)
        found: BaseLikelihood = getattr(importlib.import_module(f"{__package__}.{name}"), name.upper())
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __repr__(self) -> str:
        return f"LIKELIHOODS({', '.join(NAMES)})"


LIKELIHOODS = _Registry()
