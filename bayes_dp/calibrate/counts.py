"""Numbers of correct guesses of many audits, drawn from their exact law without a table of scores.

The m scores, put in order, are at levels U_(1) < … < U_(m), which are uniform order statistics; a mechanism's curve G,
with g = G', says where members are (see `mechanisms`). Given the levels U_(i) < U_(j) of two neighbouring cuts, the
j − i − 1 scores between them are independent, each that of a member with chance

    (G(U_(j)) − G(U_(i)))/(U_(j) − U_(i)),

and that at U_(j) with chance g(U_(j)). So the counts of a repetition cost as much as the number of cuts, whatever m is,
and have the law of sorted scores exactly.
"""

from __future__ import annotations

import numpy as np

from bayes_dp.attacks.scores import Sides
from bayes_dp.calibrate.mechanisms import Mechanism
from bayes_dp.data.guesses import Guesses
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["draw_above", "draw_correct"]


def draw_correct(
    mechanism: Mechanism, guesses: Guesses, size: int, rng: np.random.Generator, sides: Sides = "both"
) -> Ints:
    """How many of the guesses are right, for each number in `guesses.made`, shape (size, k)."""
    m, made = guesses.examples, guesses.made
    lowest = made // 2 if sides == "both" else np.zeros_like(made)
    cuts = np.unique(np.concatenate([[0, m], lowest, m - (made - lowest)]))
    members = _members_below(mechanism, m, cuts, size, rng)
    low, high = members[:, np.searchsorted(cuts, lowest)], members[:, np.searchsorted(cuts, m - (made - lowest))]
    return members[:, -1:] - high + lowest - low


def draw_above(
    mechanism: Mechanism, examples: int, levels: Floats, size: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Scores above each level and the members among them, both (size, k), for rising levels (k,) known in advance."""
    edges = np.concatenate([[0.0], levels, [1.0]])
    below, _ = mechanism.curve(edges)
    inside = rng.multinomial(examples, np.diff(edges), size)
    members = rng.binomial(inside, np.clip(np.diff(below) / np.diff(edges), 0.0, 1.0))
    above = [np.cumsum(values[:, :0:-1], axis=1)[:, ::-1] for values in (inside, members)]
    return above[0], above[1]


def _members_below(mechanism: Mechanism, examples: int, cuts: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Members among the `cuts[j]` lowest of so many scores; cuts (k,) rising from 0 to `examples`, result (size, k)."""
    steps = np.diff(cuts)
    gaps = rng.standard_gamma(np.append(steps[:-1], steps[-1] + 1).astype(np.float64), (size, len(steps)))
    levels = np.cumsum(gaps, axis=1)
    levels = np.concatenate([np.zeros((size, 1)), levels / levels[:, -1:]], axis=1)
    below, chance = mechanism.curve(levels)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 where no score is between
        share = np.clip(np.nan_to_num(np.diff(below) / np.diff(levels)), 0.0, 1.0)
    inside = steps - 1
    inside[-1] += 1  # the last level, 1, is beyond all scores
    counts = rng.binomial(inside, share)
    counts[:, :-1] += rng.random((size, len(steps) - 1)) < chance[:, 1:-1]
    return np.concatenate([np.zeros((size, 1), np.int64), np.cumsum(counts, axis=1)], axis=1)
