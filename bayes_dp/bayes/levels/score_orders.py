"""The order of scores: what is left of them when only their ranks count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.attacks.score_matrix import ScoreMatrix
from bayes_dp.checks import InputError, seed_of, show
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.json_text import A_COUNT, Wanted, checked_object, is_finite
from bayes_dp.data.loss_table import LossTable
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["ScoreOrders"]

_MOST = 5000  # scores of a base that are used
_TIED = 0.01  # share of tied scores from which it is told
_SIDES = ("without the example", "with it")


def _is_order(value: Any) -> bool:
    """Whether a JSON value says the order of scores of both kinds."""
    return isinstance(value, str) and len(value) <= _MOST and set(value) == {"0", "1"}


_FIELDS: dict[str, Wanted] = {
    "labels": (
        lambda value: isinstance(value, list) and len(value) > 0 and all(map(_is_order, value)),
        f"texts of at most {_MOST} letters 0 and 1, both in each",
    ),
    "base": (
        lambda value: isinstance(value, list) and all(isinstance(label, str) for label in value),
        "a list of labels",
    ),
    "tied": (
        lambda value: isinstance(value, list) and all(is_finite(share, 0.0, 1.0) for share in value),
        "a list of numbers from 0 to 1",
    ),
    "left_out": A_COUNT,
}


@dataclass(frozen=True)
class ScoreOrders:
    """For each of n bases the labels (N,) of its scores in increasing order: 0 for a run without z, 1 for one with it.

    `tied` is the share of each base's scores that equal one of the other kind, (n,): their order was drawn. Of bases
    with more than 5000 scores, `left_out` in number, so many were drawn, of both kinds in proportion.
    """

    labels: tuple[Ints, ...]
    base: tuple[str, ...]
    tied: Floats
    left_out: int = 0

    @classmethod
    def of(cls, scores: Any, seed: int = 0) -> ScoreOrders:
        """Of a LossTable, a ScoreMatrix, or a pair (without, with) of arrays (n, N) or (N,), or lists of n arrays."""
        if isinstance(scores, LossTable):
            return cls.from_losses(scores, seed)
        if isinstance(scores, ScoreMatrix):
            pairs = list(zip(scores.statistic.T, scores.member.T, strict=True))
            without, with_ = ([values[member == kind] for values, member in pairs] for kind in (0, 1))
            return cls.from_scores(without, with_, scores.example, seed)
        if isinstance(scores, GuessTable):
            raise InputError(
                "scores must be of many models for each base, and not a GuessTable, whose scores are of one model:"
                " estimate_shifted is for these"
            )
        if not isinstance(scores, tuple) or len(scores) != 2:
            raise InputError(f"scores must be a LossTable, a ScoreMatrix or a pair (without, with), not {show(scores)}")
        return cls.from_scores(_bases(scores[0]), _bases(scores[1]), seed=seed)

    @classmethod
    def from_losses(cls, losses: LossTable, seed: int = 0) -> ScoreOrders:
        """The lower the loss, the higher the score."""
        return cls.from_scores(-losses.without, -losses.with_, losses.base, seed)

    @classmethod
    def from_scores(
        cls,
        without: Sequence[ArrayLike] | Floats,
        with_: Sequence[ArrayLike] | Floats,
        base: Sequence[str] | None = None,
        seed: int = 0,
    ) -> ScoreOrders:
        """Of the scores of each base; the higher, the more like a member. They may be infinite."""
        if len(without) != len(with_) or not len(without):
            raise InputError(
                "scores must be of as many bases with as without the example, and of one at least, not of"
                f" {len(with_)} and {len(without)}"
            )
        names = tuple(str(i) for i in range(len(without))) if base is None else tuple(base)
        rng, some = np.random.default_rng(seed_of(seed)), np.random.default_rng([seed, 7])
        every = [
            [_scores(values, name, side) for values, side in zip(sides, _SIDES, strict=True)]
            for name, *sides in zip(names, without, with_, strict=True)
        ]
        labels, tied, left_out = [], np.empty(len(every)), 0
        for i, given in enumerate(every):
            size = sum(map(len, given))
            if size > _MOST:
                left_out += 1
                given = [some.choice(side, max(1, len(side) * _MOST // size), replace=False) for side in given]
            scores = np.concatenate(given)
            label = np.repeat([0, 1], [len(side) for side in given])
            labels.append(label[np.lexsort((rng.random(len(scores)), scores))])
            _, place = np.unique(scores, return_inverse=True)
            both = np.intersect1d(place[label == 0], place[label == 1])
            tied[i] = np.isin(place, both).mean()
        return cls(tuple(labels), names, tied, left_out)

    def to_dict(self) -> dict[str, Any]:
        """The labels of each base as a text of 0 and 1, and what else `from_dict` reads."""
        return {
            "labels": ["".join(map(str, labels)) for labels in self.labels],
            "base": list(self.base),
            "tied": self.tied.tolist(),
            "left_out": self.left_out,
        }

    @classmethod
    def from_dict(cls, place: str, content: Any) -> ScoreOrders:
        """The inverse of `to_dict`; anything else is refused, by messages that begin with `place`."""
        found = checked_object(place, content, _FIELDS)
        n = len(found["labels"])
        for name in ("base", "tied"):
            if len(found[name]) != n:
                raise InputError(f"{place}: {name} must hold as many values as labels, {n}, not {len(found[name])}")
        if found["left_out"] > n:
            raise InputError(f"{place}: left_out must be at most the number of bases, {n}, not {found['left_out']}")
        labels = tuple(np.array([char == "1" for char in text], dtype=np.int64) for text in found["labels"])
        return cls(labels, tuple(found["base"]), np.array(found["tied"], dtype=np.float64), found["left_out"])

    def notes(self) -> tuple[str, ...]:
        """What was drawn, sentences."""
        most, found = int(self.tied.argmax()), []
        if self.tied[most] > _TIED:
            found.append(
                f"{100 * self.tied[most]:.3g}% of the scores of base {self.base[most]} are tied with scores of the"
                " other kind; the order of ties was drawn by the seed, as if each score had a little noise."
            )
        if self.left_out:
            found.append(
                f"of {self.left_out} of {len(self.base)} bases only {_MOST} scores were used, drawn by the seed."
            )
        return tuple(found)


def _bases(side: Any) -> Sequence[Any]:
    """The scores of each base: of one, where there are as many numbers in a row."""
    try:
        given = np.asarray(side)
    except Exception:  # lists of different lengths
        given = None
    if given is not None and given.dtype.kind in "iuf":
        if given.ndim in (1, 2) and given.size:
            return [given] if given.ndim == 1 else list(given)
    elif isinstance(side, list | tuple):
        return side
    raise InputError(
        f"scores must be arrays of the shape (n, N) or (N,), or lists of n arrays, with numbers, not {show(side)}"
    )


def _scores(values: Any, name: str, side: str) -> Floats:
    try:
        scores = np.asarray(values)
    except Exception:  # a ragged list
        scores = np.array(None)
    if scores.ndim != 1 or not scores.size or scores.dtype.kind not in "iuf":
        raise InputError(
            f"scores of base {show(name)} must be a number for each run {side}, at least one, not {show(values)}"
        )
    with np.errstate(all="ignore"):  # an extended float beyond the range of float64 becomes inf
        scores = scores.astype(np.float64)
    if np.isnan(scores).any():
        run = int(np.argmax(np.isnan(scores)))
        raise InputError(f"the score of base {show(name)} in run {run} {side} must be a number, not nan")
    return scores
