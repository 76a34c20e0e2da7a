"""The one place that talks to ArviZ: 0.23 (InferenceData) and 1.x (DataTree) behind the same two functions.

ArviZ takes two seconds to import, so it is imported when first needed.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.results.posterior import Provenance

__all__ = ["of_bases", "to_arviz"]

_ERRORS = ("false_positives", "false_negatives")
_CHALLENGES = ("negatives", "positives")
_BY_BASE = ("alpha", "beta", "counts", *_ERRORS, *_CHALLENGES)


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


def _arviz() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ 0.23 announces 1.0 on import
        import arviz
    return arviz
