"""Error counts of canaries over several trainings, each with coins of its own.

In training r the coin c_ir says whether it has canary i, whose score is s_ir, such as the sum of `step_scores`. The
attack says "it is in" where s_ir ≥ t_i. So canary i is a challenge base with

    N0 = #{r: c_ir = 0},  X = #{r: c_ir = 0, s_ir ≥ t_i},  N1 = #{r: c_ir = 1},  Y = #{r: c_ir = 1, s_ir < t_i}.

Given the coins of a canary, its decisions are independent if the trainings are, and X and Y are binomial: the design
"repeated". The canaries of a training share its noise and its batches, so that the rows may depend on each other. They
have one `group` label for that, which every posterior heeds; bounds of single rows, and Bonferroni's of several, hold
all the same.

The thresholds must not come from these trainings. For log-likelihood ratios 0 is where both errors weigh the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable

__all__ = ["canary_counts"]

_GROUP = "canaries of the same trainings"


def canary_counts(runs: Sequence[GuessTable], threshold: ArrayLike = 0.0) -> ErrorCounts:
    """The errors on each of m canaries over R trainings, a row for each.

    Parameters
    ----------
    runs : for each training the table of the same m canaries in the same order, with the coins of that training. The
        `base` labels of the first, which all have or none, are those of the counts.
    threshold : from where on a score says "it is in": a number, or one for each canary, (m,), fixed before.

    >>> rng = np.random.default_rng(0)
    >>> coins = rng.random((200, 3)) < 0.5  # 200 trainings, 3 canaries
    >>> runs = [bdp.GuessTable(c - 0.5 + rng.normal(size=3), c) for c in coins]
    >>> counts = bdp.attacks.canary_counts(runs)
    >>> counts
    ErrorCounts: 3 bases, 106 to 111 + 89 to 94 challenges each, design "repeated"
    >>> bdp.estimate(counts, family="gaussian", strength="tight").interval(0.9)[0] < 1.0  # the noise has μ = 1
    True
    """
    tables: list[Any] = list(runs) if isinstance(runs, list | tuple) else []
    if not tables or not all(isinstance(table, GuessTable) for table in tables):
        raise InputError(f"runs must be a list of tables, one of each training, not {show(runs):.80}")
    first, seen = tables[0], dict[bytes, int]()
    for r, table in enumerate(tables):
        if len(table) != len(first) or table.base != first.base:
            raise InputError(f"runs[{r}] must have the {len(first)} canaries of runs[0], in the same order")
        if table.design != "one_run" or (table.propensity is not None and (table.propensity != 0.5).any()):
            raise InputError(f"runs[{r}] must have canaries that a fair coin put into the training")
        before = seen.setdefault(table.score.tobytes(), r)
        if before < r and len(first) > 1 and (table.score % 1 != 0).any():  # classes or counts may come again
            raise InputError(f"runs[{r}] has the scores of runs[{before}]: each must be of a training of its own")
    least = numbers("threshold", threshold)
    if least.shape not in ((), (len(first),)):
        raise InputError(f"threshold must be a number, or one for each of the {len(first)} canaries")
    member, score = (np.stack([getattr(table, name) for table in tables]) for name in ("member", "score"))
    called = score >= least
    negatives, positives = (~member).sum(axis=0), member.sum(axis=0)
    for total, kind in ((negatives, "without"), (positives, "with")):
        if not total.all():
            raise InputError(f"runs have no training {kind} canary {int(np.argmin(total))}: more are needed")
    return ErrorCounts(
        (called & ~member).sum(axis=0),
        negatives,
        (~called & member).sum(axis=0),
        positives,
        base=first.base,
        group=[_GROUP] * len(first) if len(first) > 1 else None,
        design="repeated",
    )
