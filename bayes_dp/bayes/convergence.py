"""Did the chains of a sampler agree, and are there enough draws? R̂ and effective sample sizes, and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from bayes_dp.results.diagnostics import ess, rhat
from bayes_dp.support.arrays import Floats

__all__ = ["ConvergenceWarning", "Failure", "convergence", "warn"]


_RHAT = 1.01  # limits of Vehtari et al. (2021), "Rank-normalization, folding, and localization: an improved R̂"
_ESS = 400.0


class Failure(Enum):
    """What may be wrong with the draws of a sampler: a sentence that names the cause and, after the colon, the cure."""

    INTERRUPTED = "The run was interrupted: {kept} of {wanted} draws of each chain were kept."
    DIVERGED = (
        "{diverged} of {draws} trajectories diverged, so that parts of the posterior may be missing: raise"
        " target_accept above {target:g}."
    )
    TOO_FEW = "There are too few draws of {name} to tell whether they can be trusted: run more."
    CHAINS_DISAGREE = (
        "The chains disagree on {name} (R-hat = {rhat:.3f}, not below {limit}): run a longer warmup and more draws."
    )
    WORTH_LITTLE = (
        "The draws of {name} are worth only {ess:.0f} independent ones in the bulk or the tails, fewer than"
        " {limit:.0f}: run more draws."
    )

    def said(self, **known: Any) -> str:
        """The sentence, with what is known of the case."""
        return self.value.format(**known)


class ConvergenceWarning(UserWarning):
    """The draws may not represent the posterior: R̂ ≥ 1.01, or an effective sample size < 400 (Vehtari et al. 2021).

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", bdp.ConvergenceWarning)  # an error, where draws must be trusted
    ...     bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)  # which integrates, and does not draw
    <Posterior of epsilon given delta=0.001: 90% interval 1.842 to 5.586; if Gaussian, 7.601 to 31.29>
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
            sentences.append(Failure.TOO_FEW.said(name=name))
        elif not found["rhat"][name] < _RHAT:
            sentences.append(Failure.CHAINS_DISAGREE.said(name=name, rhat=found["rhat"][name], limit=_RHAT))
        elif not enough >= _ESS:
            sentences.append(Failure.WORTH_LITTLE.said(name=name, ess=enough, limit=_ESS))
    return found, sentences


def warn(sentences: Sequence[str]) -> None:
    """One ConvergenceWarning, if there is anything to say, that points to the first line outside of this package."""
    if not sentences:
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "bayes_dp":
        frame, level = frame.f_back, level + 1
    warnings.warn(" ".join(sentences), ConvergenceWarning, stacklevel=level)
