"""Which examples are copies of others, number by number: a generator may give back what it was fitted on.

The model knows a copied member as well as the others, so that guesses between the two are coins, and a leak is hidden.
And of members that have doubles one may train a classifier that is asked about the other, which then needs no model to
know it for a member.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from bayes_dp.support.arrays import Bools

__all__ = ["among", "excess", "marks"]


_CHANCE = 4.0  # standard deviations


def marks(x: Any, y: Any = None) -> list[bytes]:
    """Of each example a digest of what it holds, and of its class; none where examples are of no known kind.

    >>> from bayes_dp.games.copies import marks
    >>> one, other, again = marks(np.array([[1.0, -0.0], [1.0, 2.0], [1.0, 0.0]]))
    >>> one == again, one == other
    (True, False)
    """
    try:
        array = np.asarray(x)
        ends = [""] * len(array) if y is None else np.asarray(y).tolist()
        return [_mark(row, end) for row, end in zip(array, ends, strict=True)]
    except Exception:  # a value of any class, which may raise anything
        return []


def _mark(row: Any, label: Any) -> bytes:
    cells = np.asarray(row)
    numeric = cells.dtype.kind in "biuf"
    content = (cells.astype(np.float64) + 0.0).tobytes() if numeric else repr(cells.tolist()).encode()  # −0 is 0
    return hashlib.blake2b(content + repr(label).encode(), digest_size=12).digest()


def among(some: list[bytes], others: list[bytes]) -> Bools:
    """Whether there is a copy of each of some examples among the others, by their marks, (n,)."""
    known = set(others)
    return np.array([mark in known for mark in some], dtype=bool)


def excess(copied: float, others: int, own: list[bytes]) -> float:
    """The share of so many others that are copies of members, less that of the n members with a double; 0 within four
    standard deviations of examples of one law.

    The chance that another one is no copy differs from the share u of members without a double by chance, with the
    variance (u(1 − u) + v)/n, where v is the share of members with one double (Esty 1983, Annals of Statistics 11).
    Where there is hardly any such member, examples that all members lack may come in groups as large as theirs.

    >>> from bayes_dp.games.copies import excess, marks
    >>> excess(0.5, 100, marks(np.arange(100))), excess(0.0, 1, [b"a", b"a"])
    (0.5, 0.0)
    """
    if not own:
        return 0.0
    n = len(own)
    counts = np.unique(np.array(own, dtype="S12"), return_counts=True)[1]
    single, in_pairs = (counts == 1).sum() / n, 2 * (counts == 2).sum() / n
    found = float(copied - (1 - single))
    mean = (copied + 1 - single) / 2
    group = 1 / len(counts)  # their mean size, over n
    noise = (mean * (1 - mean) / others + (single * (1 - single) + in_pairs) / n + group**2) ** 0.5
    return found if abs(found) > _CHANCE * noise else 0.0
