"""Random balanced parts of examples that keep the examples of a group together."""

from __future__ import annotations

import numpy as np

from bayes_dp.support.arrays import Bools, Indices

__all__ = ["balanced_parts"]


def balanced_parts(unit: Indices, member: Bools, parts: int, rng: np.random.Generator) -> Indices:
    """The part, from 0 to `parts` − 1, of each of n examples, shape (n,); all of one unit are in one part.

    Of members and of non-members each part gets an equal share, up to one example where every example is a unit.
    Larger units are dealt first, in random order among equals, each to the part that it keeps most in balance.
    """
    unit = np.unique(unit, return_inverse=True)[1]
    members = np.bincount(unit, weights=member)
    others = np.bincount(unit, weights=~member)
    order = rng.permutation(len(members))
    if len(members) == len(unit):
        dealt = order[np.argsort(~(members[order] > 0), kind="stable")]  # members first, so that the deal goes on
        of_unit = np.empty(len(members), dtype=np.intp)
        of_unit[dealt] = rng.permutation(parts)[np.arange(len(dealt)) % parts]
        return of_unit[unit]
    order = order[np.argsort(-(members + others)[order], kind="stable")]
    sizes = np.column_stack([members, others])
    weight = 1 / np.maximum(sizes.sum(axis=0), 1.0) ** 2
    load = np.zeros((parts, 2))
    of_unit = np.empty(len(members), dtype=np.intp)
    for u in order:  # what the unit adds to the sum of squares of the loads, but for a constant
        part = int(np.argmin((load * weight) @ sizes[u]))
        load[part] += sizes[u]
        of_unit[u] = part
    return of_unit[unit]
