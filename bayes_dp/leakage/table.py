"""The leakage scores of a whole data set, each row against the law that the other rows show.

The law is estimated, for each row from the others: else an outlier would widen the law that it is held against, and no
score of n rows could exceed 1. With x̄ and S the mean and the scatter of all rows, c = (n − 1)/n, u = (xᵢ − x̄)/c the
distance to the mean of the others, and Γ the variance of the noise,

    A = S/(n − 2) + Γ,    a = uᵀ A^{-1} u,    m* = a/(1 − c a/(n − 2))/n

which is uᵀ (C₋ᵢ + Γ)^{-1} u/n with the covariance C₋ᵢ of the others, by the formula of Sherman and Morrison. One
Cholesky factor of A serves all rows. Columns that others determine are left out (by pivoting): no row differs in them
alone. Where 1 − c a/(n − 2) is 0, a row differs from the mean in a direction in which the others do not spread at all:
its score is infinite, as the mean shows whether it is there.

Where d features are estimated from n rows, m* reads too large by a factor of about 1/(1 − d/n).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from bayes_dp.checks import InputError, is_one_of, one_number, show, whole_number
from bayes_dp.data.files import write_text_atomically
from bayes_dp.data.json_text import finite
from bayes_dp.data.table import Table, csv_text
from bayes_dp.data.table import labels as checked_labels
from bayes_dp.leakage.formulas import advantage, epsilon, power
from bayes_dp.leakage.mahalanobis import noise_variance
from bayes_dp.propensity.feature_files import MAX_COLUMNS
from bayes_dp.propensity.features import Features, as_features
from bayes_dp.results.base import Result
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COVARIANCES", "LeakageTable", "scores"]

Covariance = Literal["full", "diagonal"]

COVARIANCES: tuple[Covariance, ...] = ("full", "diagonal")
_FPR = 0.01  # of the summary and the table
_SHOWN = 5  # rows of the summary
_FAR = 1e100  # from 1: units in which features are taken for others
_FEW = 10  # rows for each feature, below which the summary says that scores read too large
_BLOCK = 4096  # rows that are worked on at once
_REDUNDANT = 1e-11  # of a column's variance, below which the columns before it determine it
_ALONE = 1e-9  # of 1 − c a/(n − 2), below which it is taken for 0


@dataclass(frozen=True, eq=False, repr=False)
class LeakageTable(Result):
    """The leakage score of each of n rows in the mean of their features, as `scores` gives them.

    `score` is m*, (n,), infinite where a row shows by itself. `subsample` is the part of the rows that the mean is of.

    >>> table = bdp.leakage.scores(np.random.default_rng(0).normal(size=(200, 3)))
    >>> len(table), table.largest(2)
    (200, array([159, 101]))
    >>> print(table.advantage[table.largest(2)].round(3))
    [0.116 0.107]
    """

    score: Floats
    labels: tuple[str, ...] | None
    features: int
    subsample: float
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    provenance: Provenance

    format = "bayes-dp/leakage/1"
    kind = "estimate"

    def __post_init__(self) -> None:
        self.score.flags.writeable = False

    def __len__(self) -> int:
        return len(self.score)

    @property
    def advantage(self) -> Floats:
        """The largest true positive rate less false positive rate of an attack on each row, (n,)."""
        return advantage(self.score, subsample=self.subsample)

    def power(self, alpha: float) -> Floats:
        """The largest true positive rate on each row, (n,), where the share `alpha` of attacks on absent rows errs."""
        return power(self.score, one_number("alpha", alpha, 0.0, 1.0), subsample=self.subsample)

    def epsilon_at(self, delta: float) -> Floats:
        """The ε of each row at this δ, (n,)."""
        return epsilon(self.score, one_number("delta", delta, 0.0, 1.0), subsample=self.subsample)

    def largest(self, count: int) -> Indices:
        """Which rows leak most, those first that leak more; all if there are no more than `count`."""
        wanted = whole_number("count", count, 1)
        return np.argsort(-self.score, kind="stable")[:wanted]

    def name(self, row: int) -> str:
        """The label of a row, or its number, from 0."""
        i = whole_number("row", row, 0, len(self) - 1)
        return str(i) if self.labels is None else self.labels[i]

    # -- how it is shown and saved ------------------------------------------------------------------------------

    def columns(self, delta: float | None = None) -> dict[str, Any]:
        """The table: row, label, score, advantage, the true positive rate at an FPR of 1%, and ε at δ where asked."""
        found: dict[str, Any] = {"row": np.arange(len(self))}
        if self.labels is not None:
            found["label"] = list(self.labels)
        found |= {"score": self.score, "advantage": self.advantage, "tpr_at_1_percent": self.power(_FPR)}
        return found if delta is None else found | {"epsilon": self.epsilon_at(delta)}

    def to_frame(self, delta: float | None = None) -> pd.DataFrame:
        """The table as a pandas DataFrame, with ε at `delta` if it is given."""
        import pandas as pd

        return pd.DataFrame(self.columns(delta))

    def csv(self, delta: float | None = None, *, safe_cells: bool = False) -> str:
        """The text that `to_csv` writes."""
        columns = self.columns(delta)
        lists = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in columns.items()}
        return csv_text(lists, safe_cells)

    def to_csv(self, path: str | PathLike[str], delta: float | None = None, *, safe_cells: bool = False) -> None:
        """Write the table as a CSV file.

        With `safe_cells`, a label that a spreadsheet would take for a formula gets an apostrophe before it.
        """
        write_text_atomically(path, self.csv(delta, safe_cells=safe_cells))

    def _parts(self) -> Iterator[Part]:
        yield Line(f"Leakage of {len(self)} rows in the mean of {self.features} features")
        shares = self.advantage
        above = ", ".join(f"{int((shares >= level).sum())} of at least {level:g}" for level in (0.5, 0.1))
        yield Line(f"Advantage of the best attack on a row: {digits(float(shares.mean()))} on average, {above}")
        rates = self.power(_FPR)
        cells = [
            (self.name(int(i)), digits(float(self.score[i])), f"{shares[i]:.3f}", f"{rates[i]:.3f}")
            for i in self.largest(_SHOWN)
        ]
        yield Rows(cells, ("row", "score", "advantage", f"TPR at FPR {_FPR:g}"), "Most at risk:", "lrrr", gap="   ")
        yield Line()
        yield Sentences("Assumptions", self.assumptions)
        yield Sentences("Warning", self.warnings, "each")

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "kind": self.kind,
            "features": self.features,
            "subsample": self.subsample,
            "score": finite(self.score.tolist()),
            "advantage": self.advantage.tolist(),
            "labels": None if self.labels is None else list(self.labels),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
        }


def scores(
    x: Any,
    *,
    covariance: Covariance = "full",
    noise: ArrayLike = 0.0,
    subsample: float = 1.0,
    labels: Sequence[str] | None = None,
) -> LeakageTable:
    """How much the mean of a data set leaks about each of its rows: m*, by a covariance that the other rows show.

    Parameters
    ----------
    x : numbers (n, d), a DataFrame or the path of a file (.csv, .tsv, .txt, .npy, .parquet); texts become 0 and 1.
    covariance : "full", or "diagonal" for features that are independent, as they have to be where d is near to n.
    noise : γ, the standard deviation of the noise on each row, a number or one for each feature: the mean of k rows has
        noise of γ/√k.
    subsample : ρ, the part of the rows that the mean is of, drawn without replacement.
    labels : a name for each row, (n,).

    >>> x = np.random.default_rng(0).normal(size=(1000, 5))
    >>> x[7] += 20
    >>> table = bdp.leakage.scores(x)
    >>> print(table.largest(1), table.score[7].round(2), np.median(table.score).round(4))  # about d/n
    [7] 2.14 0.0036
    """
    if not is_one_of(covariance, COVARIANCES):
        raise InputError(f"covariance must be {' or '.join(map(repr, COVARIANCES))}, not {show(covariance)}")
    part = one_number("subsample", subsample, 0.0, 1.0, low_open=True)
    given = _features(x)
    _names, values = given.matrix() if given.texts else (given.names, given.numbers)
    n, d = values.shape
    if n < 4:
        raise InputError(f"x must have at least 4 rows, not {n}")
    if part * n < 1 - 1e-9:
        raise InputError(f"subsample must leave at least one of the {n} rows, 1/{n}, not {part:g}")
    rows = None
    if labels is not None:
        rows = checked_labels(Table({"labels": labels}, {"labels": "labels"}), "labels", n, "row")
    extra = noise_variance(noise, d)
    mean = values.mean(axis=0)
    unit = np.ptp(values, axis=0)
    spread = unit > 0
    if not spread.all():
        values, mean, extra, unit = values[:, spread], mean[spread], extra[spread], unit[spread]
    if ((unit < 1 / _FAR) | (unit > _FAR)).any():  # whose squares float64 has no numbers for
        values, mean, extra = values / unit, mean / unit, (np.sqrt(extra) / unit) ** 2
    found = (_full if covariance == "full" else _diagonal)(values, mean, extra)
    kept = int(spread.sum())
    warned = []
    if covariance == "full" and n < _FEW * kept:
        factor = 1 / (1 - min(kept / n, 0.99))
        warned.append(f"{kept} features of {n} rows: scores read too large by a factor of up to about {factor:.2g}.")
    if alone := int(np.isinf(found).sum()):
        warned.append(f"{alone} of {n} rows differ in something that no other row has: the mean shows them by itself.")
    settings = {"covariance": covariance, "noise": np.sqrt(np.unique(extra)).tolist(), "subsample": part}
    return LeakageTable(
        found,
        rows,
        d,
        part,
        tuple(_assumptions(n, part, bool(extra.any()), covariance)),
        tuple(warned),
        Provenance("leakage", given.digest(), {}, {}, settings),
    )


def _features(x: Any) -> Features:
    """Of a large array no copy is made."""
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim == 2 and 0 < x.shape[1] <= MAX_COLUMNS:
        with np.errstate(over="ignore", invalid="ignore"):
            usable = bool(np.isfinite(x.sum()))
        if usable:
            return Features(tuple(map(str, range(x.shape[1]))), x, {})
    try:
        return as_features(x)
    except InputError as error:
        raise InputError(f"x cannot be used: {error}") from None


def _assumptions(n: int, part: float, noisy: bool, covariance: Covariance) -> Iterator[str]:
    rows = f"all {n} rows" if part == 1 else f"{part:g} of the {n} rows, drawn without replacement,"
    yield f"What is released is the mean of {rows} once, {'with Gaussian noise' if noisy else 'without noise'}."
    yield "The attack knows the law of the data, and not the other rows; for each row it is estimated from the others."
    if covariance == "diagonal":
        yield "The features are independent of each other."
    yield "There are so many rows and features that the mean's distance to the row is Gaussian."


def _full(values: Floats, mean: Floats, extra: Floats) -> Floats:
    n, d = values.shape
    scatter = np.zeros((d, d))
    for block in _blocks(values, mean):
        scatter += block.T @ block
    total = scatter / (n - 2) + np.diag(extra)
    lower, chosen = _factor(total)
    if len(chosen) > n - 3 and not extra.any():
        raise InputError(
            f"x must have more rows than features by 3, as {len(chosen)} are estimated from {n} rows: give"
            " covariance='diagonal', or noise"
        )
    found = [np.zeros(0)]
    for block in _blocks(values, mean):
        part = block if len(chosen) == d else block[:, chosen]
        white = linalg.solve_triangular(lower, part.T, lower=True, overwrite_b=True, check_finite=False)
        found.append(np.einsum("ij,ij->j", white, white))
    return _without_itself(np.concatenate(found), n) / n


def _factor(total: Floats) -> tuple[Floats, Indices]:
    """The lower Cholesky factor of the columns that no others determine, and which these are, in its order."""
    scale = np.sqrt(np.diagonal(total))
    even = total / np.outer(scale, scale)
    lower, failed = linalg.lapack.dpotrf(even, lower=1, clean=1)
    chosen: Indices = np.arange(len(total))
    if failed or (np.diagonal(lower) ** 2 <= _REDUNDANT).any():
        whole, order, rank, _ = linalg.lapack.dpstrf(even, tol=_REDUNDANT, lower=1)
        lower, chosen = np.tril(whole[:rank, :rank]), np.asarray(order[:rank] - 1, dtype=np.intp)
    return lower * scale[chosen, None], chosen


def _diagonal(values: Floats, mean: Floats, extra: Floats) -> Floats:
    n = len(values)
    variance = sum((np.sum(block**2, axis=0) for block in _blocks(values, mean)), np.zeros(values.shape[1]))
    total = variance / (n - 2) + extra
    found = [_without_itself(block**2 / total, n).sum(axis=1) for block in _blocks(values, mean)]
    return np.concatenate(found) / n


def _blocks(values: Floats, mean: Floats) -> Iterator[Floats]:
    """The rows less their mean, some thousands at once."""
    for start in range(0, len(values), _BLOCK):
        yield values[start : start + _BLOCK] - mean


def _without_itself(squared: Floats, n: int) -> Floats:
    """uᵀ (C₋ᵢ + Γ)^{-1} u from (xᵢ − x̄)ᵀ A^{-1} (xᵢ − x̄) = c² a."""
    c = (n - 1) / n
    a = squared / c**2
    left = 1 - c * a / (n - 2)
    return np.where(left > _ALONE, a / np.where(left > _ALONE, left, 1.0), math.inf)
