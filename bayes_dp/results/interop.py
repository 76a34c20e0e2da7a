"""The one place that talks to ArviZ: 0.23 (InferenceData) and 1.x (DataTree) behind the same three functions.

ArviZ takes more than a second to import, so it is imported when first needed.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.results.posterior import Provenance

__all__ = ["PARETO_K", "ess", "of_bases", "psis", "rhat", "to_arviz"]

PARETO_K = 0.7  # of smoothed weights, above which they are not to be trusted

_ERRORS = ("false_positives", "false_negatives")
_CHALLENGES = ("negatives", "positives")
_BY_BASE = ("alpha", "beta", "counts", *_ERRORS, *_CHALLENGES)
_FEWEST = 4  # draws of a chain for which ArviZ has diagnostics


def to_arviz(
    posterior: Mapping[str, ArrayLike],
    sample_stats: Mapping[str, ArrayLike],
    counts: ErrorCounts,
    provenance: Provenance,
    attrs: Mapping[str, Any] | None = None,
    others: Mapping[str, Mapping[str, ArrayLike]] | None = None,
) -> Any:
    """Draws, each of shape (chains, draws, ...), as an InferenceData (ArviZ 0.x) or a DataTree (ArviZ 1.x).

    The counts of errors become the group `observed_data`, those of challenges `constant_data`, and `others` are groups
    by name, in which the counts have the same names. The labels (or 0, 1, ...) are the coordinate `base` of the counts
    and of the error rates `alpha` and `beta`, of shape (chains, draws, n). The provenance and `attrs` are the
    attributes of the whole, those that are neither text nor numbers as JSON, so that it can be saved as netCDF.
    """
    groups = {
        "posterior": posterior,
        "sample_stats": sample_stats,
        "observed_data": {name: getattr(counts, name) for name in _ERRORS},
        "constant_data": {name: getattr(counts, name) for name in _CHALLENGES},
        **(others or {}),
    }
    bases = list(counts.base) if counts.base is not None else list(range(len(counts)))
    return of_bases(groups, bases, _BY_BASE, provenance, attrs)


def of_bases(
    groups: Mapping[str, Mapping[str, ArrayLike]],
    bases: Sequence[Any],
    by_base: Sequence[str],
    provenance: Provenance,
    attrs: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, ArrayLike] | None = None,
) -> Any:
    """The same for groups of variables by name, of which those in `by_base` have the last dimension `base`; `dims` are
    the last dimensions of others, with their coordinates."""
    az = _arviz()
    groups = {
        name: {each: np.asarray(values) for each, values in group.items()} for name, group in groups.items() if group
    }
    named = {name: ["base"] for name in by_base} | {name: list(of) for name, of in (dims or {}).items()}
    places: dict[str, Any] = {"coords": {"base": list(bases), **(coords or {})}, "dims": named}
    everything = provenance.to_dict() | (dict(attrs) if attrs else {})
    everything |= everything.pop("known")
    flat = {name: v if type(v) in (str, int, float) else json.dumps(v) for name, v in everything.items()}
    if az.__version__.startswith("0."):
        of_prior = groups.pop("log_prior", None)  # which its reader does not know, and its functions do
        found = az.from_dict(**groups, **places, attrs=flat)
        if of_prior is not None:
            found.add_groups({"log_prior": az.from_dict(posterior=of_prior).posterior})
        return found
    return az.from_dict(groups, **places, attrs={"/": flat})


def rhat(samples: ArrayLike) -> float:
    """Rank-normalised split R̂ of draws (chains, draws); NaN for too few draws, or constant ones."""
    return _diagnostic("rhat", samples)


def ess(samples: ArrayLike, kind: Literal["bulk", "tail"] = "bulk") -> float:
    """Effective sample size of draws (chains, draws); NaN for too few draws.

    "bulk" is that of the rank-normalised draws, "tail" the lesser one of the 5% and 95% quantiles.
    """
    return _diagnostic("ess", samples, method=kind, **({"prob": (0.05, 0.95)} if kind == "tail" else {}))


def psis(log_weights: ArrayLike) -> tuple[Floats, Floats]:
    """Pareto-smoothed importance sampling: log weights (n, size) made steady and to sum to one, and k of each row.

    Where the greatest weights are equal, or too few, they stay as they are and k is infinite.
    """
    given = np.asarray(log_weights, dtype=np.float64)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of weights so uneven that k tells
        rows = [_smoothed(row) for row in given]
    smooth = np.stack([row for row, _ in rows])
    k = np.array([k for _, k in rows], dtype=np.float64)
    smooth = smooth - np.logaddexp.reduce(smooth, axis=1, keepdims=True)
    return smooth, np.where(np.isnan(k), np.inf, k)


def _smoothed(log_weights: Floats) -> tuple[Floats, float]:
    az = _arviz()
    if hasattr(az, "psislw"):
        smooth, k = az.psislw(log_weights)
        return np.asarray(smooth), float(k)
    from arviz_stats.base import array_stats

    try:
        smooth, k = array_stats.psislw(-log_weights)  # which takes log likelihoods, the negative log weights
    except (ValueError, IndexError):  # too few draws, or equal ones
        return log_weights, np.inf
    return np.asarray(smooth), float(k)


def _diagnostic(name: str, samples: ArrayLike, **options: Any) -> float:
    split = _halves(samples)
    if split.shape[1] < _FEWEST:
        return float("nan")
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that never moved
        return float(getattr(_arviz(), name)(split, **options))


def _halves(samples: ArrayLike) -> Floats:
    """A single chain as two half-chains, several chains as they are."""
    array = np.asarray(samples, dtype=np.float64)
    half = array.shape[1] // 2
    return array if array.shape[0] > 1 else np.stack([array[0, :half], array[0, half : 2 * half]])


def _arviz() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ 0.23 announces 1.0 on import
        import arviz
    return arviz
