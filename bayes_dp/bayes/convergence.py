"""Did the chains of a sampler agree, and are there enough draws? R̂ and effective sample sizes, and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayes_dp.results.interop import ess, rhat
from bayes_dp.support.arrays import Floats

__all__ = ["ConvergenceWarning", "convergence", "warn"]


_RHAT = 1.01  # limits of Vehtari et al. (2021), "Rank-normalization, folding, and localization: an improved R̂"
_ESS = 400.0


class ConvergenceWarning(UserWarning):
    """The draws may not represent the posterior.

    >>> issubclass(bdp.ConvergenceWarning, UserWarning)
    True
    """


def convergence(samples: Mapping[str, Floats]) -> tuple[dict[str, Any], list[str]]:
    """Diagnostics by name and parameter, and a sentence for each parameter of shape (chains, draws) that fails."""
    found: dict[str, dict[str, float]] = {"rhat": {}, "ess_bulk": {}, "ess_tail": {}}
    sentences = []
    for name, values in samples.items():
        found["rhat"][name] = rhat(values)
        found["ess_bulk"][name] = ess(values, "bulk")
        found["ess_tail"][name] = ess(values, "tail")
        enough = min(found["ess_bulk"][name], found["ess_tail"][name])
        if np.isnan(enough):
            sentences.append(f"There are too few draws of {name} to tell whether they can be trusted: run more.")
        elif not found["rhat"][name] < _RHAT:
            sentences.append(
                f"The chains disagree on {name} (R-hat = {found['rhat'][name]:.3f}, not below {_RHAT}):"
                " run a longer warmup and more draws."
            )
        elif not enough >= _ESS:
            sentences.append(
                f"The draws of {name} are worth only {enough:.0f} independent ones in the bulk or the tails, fewer than"
                f" {_ESS:.0f}: run more draws."
            )
    return found, sentences


def warn(sentences: Sequence[str]) -> None:
    """One ConvergenceWarning, if there is anything to say, that points to the first line outside of this package."""
    if not sentences:
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "bayes_dp":
        frame, level = frame.f_back, level + 1
    warnings.warn(" ".join(sentences), ConvergenceWarning, stacklevel=level)
