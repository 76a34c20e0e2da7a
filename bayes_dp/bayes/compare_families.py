"""Which family of trade-off functions do the counts favour? The evidences of several, with the same prior beliefs.

The evidence of a family is Z = ∫ Π_i L_i(θ, s) p(θ) p(s) dθ ds, the probability of the counts under it. Its weight
among the families is Z / Σ Z.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayes_dp.bayes.exact.posterior import exact
from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.choice import family_of
from bayes_dp.bayes.families.registry import APPROX
from bayes_dp.bayes.levels.average import AveragePosterior, behind
from bayes_dp.bayes.levels.beside import TELLING
from bayes_dp.bayes.levels.posterior import posterior_of_family
from bayes_dp.bayes.question import Strength
from bayes_dp.checks import InputError, one_number, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.json_text import finite
from bayes_dp.results.base import Result
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.text import Lines, Part, Rows, Sentences, digits

__all__ = ["FamilyComparison", "compare_families"]

DEFAULT = (APPROX, "gaussian", "laplace")  # "pure" is "approx" at δ = 0, which counts do not tell from a small δ


@dataclass(frozen=True, eq=False, repr=False)
class FamilyComparison(Result):
    """Posteriors of ε by the name of the family, from the same counts.

    >>> found = bdp.compare_families(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> found.told
    False
    >>> for row in found.rows():
    ...     print(f"{row['family']:9} {row['weight']:.2f} {row['low']:6.2f} {row['high']:6.2f}")
    approx    0.31   1.84   5.59
    gaussian  0.38   7.60  31.29
    laplace   0.31   2.29   9.23
    """

    format = "bayes-dp/families/1"
    posteriors: Mapping[str, Posterior]
    log_evidence: Mapping[str, float]

    @property
    def weights(self) -> dict[str, float]:
        """The probability of each family, were all equally probable before."""
        values = np.array(list(self.log_evidence.values()))
        weight = np.exp(values - values.max())
        return dict(zip(self.log_evidence, (weight / weight.sum()).tolist(), strict=True))

    @property
    def best(self) -> str:
        """The family with the largest evidence."""
        return max(self.log_evidence, key=lambda name: self.log_evidence[name])

    @property
    def told(self) -> bool:
        """Whether the counts favour the best family over each other by 3 nats or more, and do so given the thresholds
        too: p(X, Y), and p(Y | X), which leaves out what the choice of the false positive rates adds to an evidence."""
        return all(gap >= TELLING for name, gap in self._gaps.items() if name != self.best)

    @cached_property
    def _gaps(self) -> dict[str, float]:
        """By how many nats each family is below the best one."""
        return behind(self.posteriors, self.log_evidence)

    @property
    def said(self) -> str:
        """What the counts say of the families, a sentence."""
        if self.told:
            return f"The counts favour the family {show(self.best)}."
        close = [name for name, gap in self._gaps.items() if gap < TELLING]
        lows, highs = zip(*(self.posteriors[name].interval() for name in close), strict=True)
        return (
            f"The counts do not tell which of the families {', '.join(close)} is right, under which ε is anywhere from"
            f" {digits(min(lows))} to {digits(max(highs))}."
        )

    @property
    def average(self) -> AveragePosterior:
        """The mixture of the posteriors by the weights."""
        return AveragePosterior(self.posteriors)

    def within(self, nats: float) -> dict[str, Posterior]:
        """The posteriors of families whose log evidence is at most so far below the largest."""
        nats = one_number("nats", nats, 0.0)
        first = max(self.log_evidence.values())
        return {name: post for name, post in self.posteriors.items() if self.log_evidence[name] >= first - nats}

    def left_open(self, nats: float) -> dict[str, Posterior]:
        """The posteriors of families that the counts speak against by no more, or not given the thresholds.

        Those of `within`, and those whose log p(Y | X) is at most so far below the largest. For the evidence of a
        family also says how well the choice of thresholds agrees with its law of them.
        """
        nats = one_number("nats", nats, 0.0)
        return {name: post for name, post in self.posteriors.items() if self._gaps[name] <= nats}

    def rows(self, prob: float = 0.9) -> list[dict[str, Any]]:
        """One row a family: log evidence, weight, median and interval of ε."""
        rows: list[dict[str, Any]] = []
        for name, post in self.posteriors.items():
            low, high = post.interval(prob)
            rows.append(
                {
                    "family": name,
                    "log_evidence": self.log_evidence[name],
                    "weight": self.weights[name],
                    "median": post.median,
                    "low": low,
                    "high": high,
                }
            )
        return rows

    def _parts(self, prob: float = 0.9) -> Iterator[Part]:
        cells = [
            (
                row["family"],
                f"{row['log_evidence']:.2f}",
                f"{row['weight']:.2g}",
                digits(row["median"]),
                f"{digits(row['low'])} to {digits(row['high'])}",
            )
            for row in self.rows(prob)
        ]
        headings = ("family", "log evidence", "weight", "median", f"{100 * prob:g}% interval")
        (known,) = {post.provenance.known["delta"] for post in self.posteriors.values()}
        yield Rows(cells, headings, f"Families of trade-off functions, ε given delta = {known:g}", "lrrrl")
        yield Sentences("Note", (self.said,), "each")

    def summary(self, prob: float = 0.9) -> Lines:
        """The rows as a table, and what they say."""
        return Lines.of(self._parts(prob))

    def to_dict(self, prob: float = 0.9) -> dict[str, Any]:
        """The rows, fit for JSON."""
        first = next(iter(self.posteriors.values()))
        return {
            "format": self.format,
            "prob": prob,
            "families": [finite(row) for row in self.rows(prob)],
            "best": self.best,
            "told": self.told,
            "said": self.said,
            "known": dict(first.provenance.known),
            "digest": first.provenance.digest,
        }


def compare_families(
    counts: ErrorCounts,
    delta: float,
    families: Iterable[str | TradeOffFamily] = DEFAULT,
    *,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
) -> FamilyComparison:
    """The posterior of ε under each family, with its evidence: the probability of the counts under the family.

    The prior beliefs are the same in all: of the strength, and of the largest advantage. So a difference of log
    evidences is what the counts say of the families. At a difference of less than 3 they do not tell.

    Parameters
    ----------
    counts, delta, prior_epsilon, prior_strength, strength : see `estimate`.
    families : their names, "approx" for (ε, δ), or families of your own.

    >>> found = bdp.compare_families(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, ["approx", "gaussian"])
    >>> print(found.said)
    The counts do not tell which of the families approx, gaussian is right, under which ε is anywhere from ...
    """
    delta = one_number("delta", delta, 0.0, 1.0, low_open=True, high_open=True)
    alone = isinstance(families, str | TradeOffFamily) or not isinstance(families, Iterable)
    wanted: list[Any] = [families] if alone else list(families)
    if not wanted:
        raise InputError("families is empty: name one or more")
    beliefs: dict[str, Any] = {
        "prior_epsilon": prior_epsilon,
        "prior_strength": prior_strength,
        "strength": strength,
    }
    chosen = {(family if family == APPROX else family_of(family).name): family for family in wanted}
    if len(chosen) < len(wanted):
        raise InputError("families names one twice")
    posteriors: dict[str, Any] = {
        name: exact(counts, delta, **beliefs)
        if name == APPROX
        else posterior_of_family(counts, family, delta, **beliefs)
        for name, family in chosen.items()
    }
    return FamilyComparison(posteriors, {name: float(post.log_evidence) for name, post in posteriors.items()})
