"""Generators of examples for PANORAMIA: what `bdp.games.Panoramia` fits to members and draws non-members from.

    Mixture    a Gaussian mixture for each class, on principal components: images
    Trees      columns drawn one after the other by decision trees (sequential CART): tables of mixed types
    Ngrams     characters drawn given those before, with back-off: texts as whole numbers
    Copula     a Gaussian copula of the columns: the example that fails, as any classifier sees through it

Each has `fit(x)` or `fit(x, y)`, and `sample(n, seed)`, which returns what was fitted: x, or the pair (x, y). A text is
a row of whole numbers from 0. `models.char_model` has a network for texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from bayes_dp.checks import InputError, whole_number
from bayes_dp.support.arrays import Bools, Floats, Indices, Ints

__all__ = ["Copula", "Mixture", "Ngrams", "Trees"]


class Mixture:
    """Gaussian mixtures with full covariances, one for each class, on the first principal components of all.

    Examples are drawn on these components. Without a number of them (None) the features are taken as they are.
    """

    def __init__(self, per_class: int = 10, components: int | None = None, seed: int = 0) -> None:
        self.per_class, self.components, self.seed = per_class, components, seed

    def fit(self, x: Floats, y: Ints | None = None) -> Mixture:
        from sklearn.decomposition import PCA
        from sklearn.mixture import GaussianMixture

        self.pca = None if self.components is None else PCA(self.components, random_state=self.seed).fit(x)
        at = x if self.pca is None else self.pca.transform(x)
        classes = np.zeros(len(x), dtype=np.int64) if y is None else y
        self.labelled = y is not None
        self.classes, sizes = np.unique(classes, return_counts=True)
        self.share = sizes / sizes.sum()
        self.mixtures = [
            GaussianMixture(min(self.per_class, int(n)), reg_covar=1e-4, random_state=self.seed).fit(
                np.repeat(at[classes == k], 1 + (n == 1), axis=0)  # which wants two examples
            )
            for k, n in zip(self.classes, sizes, strict=True)
        ]
        return self

    def sample(self, n: int, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(self.classes), n, p=self.share)
        found = np.empty((n, self.mixtures[0].means_.shape[1]))
        for k, mixture in enumerate(self.mixtures):
            rows = np.flatnonzero(chosen == k)
            part = rng.choice(len(mixture.weights_), len(rows), p=mixture.weights_ / mixture.weights_.sum())
            roots = np.linalg.cholesky(mixture.covariances_)
            noise = rng.standard_normal((len(rows), found.shape[1]))
            found[rows] = mixture.means_[part] + np.einsum("nij,nj->ni", roots[part], noise)
        x = found if self.pca is None else self.pca.inverse_transform(found)
        return (x, self.classes[chosen]) if self.labelled else x


class Trees:
    """Sequential CART: the first column is drawn as it comes in the data, each other one from a leaf of a tree that
    predicts it by the columns before (Reiter 2005), so that only values that occur are drawn, missing ones too.

    The class is a column, the last one. `categories` (d,) says which columns of x have codes that are no amounts.
    """

    def __init__(self, categories: Any = None, leaf: int = 5, seed: int = 0) -> None:
        self.categories, self.leaf, self.seed = categories, leaf, seed

    def fit(self, x: Floats, y: Ints | None = None) -> Trees:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        data, self.classes = _table(x, y)
        named = np.zeros(data.shape[1], dtype=bool)
        if self.categories is not None:
            named[: x.shape[1]] = self.categories
        named[-1] |= self.classes is not None
        self.first = data[:, 0].copy()
        self.steps: list[tuple[Any, dict[int, Floats]]] = []
        for column in range(1, data.shape[1]):
            before, now = _filled(data[:, :column]), data[:, column]
            values, codes = np.unique(now, return_inverse=True)  # a missing value is one more
            tree = (DecisionTreeClassifier if named[column] else DecisionTreeRegressor)(
                min_samples_leaf=self.leaf, random_state=self.seed
            )
            tree.fit(before, codes if named[column] else np.where(np.isnan(now), np.nan_to_num(values[0]) - 1, now))
            leaves = tree.apply(before)
            order = np.argsort(leaves, kind="stable")
            places, starts = np.unique(leaves[order], return_index=True)
            parts = np.split(now[order], starts[1:])
            self.steps.append((tree, dict(zip(places.tolist(), parts, strict=True))))
        return self

    def sample(self, n: int, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        data = np.empty((n, len(self.steps) + 1))
        data[:, 0] = rng.choice(self.first, n)
        for column, (tree, values) in enumerate(self.steps, 1):
            leaves = tree.apply(_filled(data[:, :column]))
            for leaf in np.unique(leaves):
                rows = leaves == leaf
                data[rows, column] = rng.choice(values[int(leaf)], int(rows.sum()))
        return _parted(data, self.classes)


def _table(x: Floats, y: Any) -> tuple[Floats, Any]:
    """The columns, last the numbers of the classes, and these classes."""
    columns = np.asarray(x, dtype=np.float64)
    if y is None:
        return columns, None
    classes, codes = np.unique(y, return_inverse=True)
    return np.column_stack([columns, codes]), classes


def _parted(data: Floats, classes: Any) -> Any:
    return data if classes is None else (data[:, :-1], classes[data[:, -1].astype(np.intp)])


def _filled(x: Floats) -> Floats:
    return np.where(np.isnan(x), -1e6, x)  # trees may put missing values on a side of their own


class Copula:
    """Columns with their own laws, joined by a Gaussian copula: ranks are made normal, and their correlations kept."""

    def fit(self, x: Floats, y: Ints | None = None) -> Copula:
        data, self.classes = _table(x, y)
        self.sorted = np.sort(data, axis=0)  # missing values last
        ranks = stats.rankdata(np.where(np.isnan(data), np.inf, data), axis=0)
        normal = special.ndtri((ranks - 0.5) / len(data))
        normal -= normal.mean(axis=0)
        normal /= np.maximum(normal.std(axis=0), 1e-9)  # a column of one value stays one
        correlation = normal.T @ normal / len(data)
        self.root = np.linalg.cholesky(correlation + 1e-6 * np.eye(len(correlation)))
        return self

    def sample(self, n: int, seed: int) -> Any:
        noise = np.random.default_rng(seed).standard_normal((n, len(self.root))) @ self.root.T
        places = np.minimum((special.ndtr(noise) * len(self.sorted)).astype(np.intp), len(self.sorted) - 1)
        data = np.take_along_axis(self.sorted, places, axis=0)
        return _parted(data, self.classes)


class Ngrams:
    """Characters given the `order` − 1 before, with back-off: P_k(c | h) = (N(h, c) + b P_{k−1}(c | h'))/(N(h) + b),
    where h' is h without its first character, P_0 is uniform over the `symbols`, and b > 0.

    A text is a row of whole numbers below `symbols`. Histories may reach beyond its start into nothing: -1.
    """

    def __init__(self, order: int = 5, symbols: int = 64, backoff: float = 1.0) -> None:
        whole_number("order", order, 1)
        if (symbols + 1) ** (order + 1) >= 2**63:  # a history and a character are one whole number
            raise InputError(f"order must be lower for {symbols} symbols, not {order}")
        self.order, self.symbols, self.backoff = order, symbols, backoff

    def fit(self, x: Ints) -> Ngrams:
        self.length = x.shape[1]
        self.tables: list[tuple[Ints, Floats, Ints, Floats]] = []
        for size in range(self.order):
            history = self._histories(x, size)
            pairs, counts = np.unique(history * (self.symbols + 1) + x.ravel() + 1, return_counts=True)
            places, totals = np.unique(history, return_counts=True)
            self.tables.append((pairs, counts.astype(np.float64), places, totals.astype(np.float64)))
        return self

    def _histories(self, x: Ints, size: int) -> Ints:
        """A whole number for the `size` characters before each character, (n · length,)."""
        before = np.concatenate([np.full((len(x), size), -1), x], axis=1)
        found = np.zeros(x.shape, dtype=np.int64)
        for k in range(size):
            found = found * (self.symbols + 1) + before[:, k : k + x.shape[1]] + 1
        return found.ravel()

    def _chances(self, histories: list[Ints], symbol: Ints) -> Floats:
        """P(symbol | history), where histories has those of 0, 1, … characters."""
        found = np.full(len(symbol), 1 / self.symbols)
        for history, (pairs, counts, places, totals) in zip(histories, self.tables, strict=True):
            seen = _counted(history * (self.symbols + 1) + symbol + 1, pairs, counts)
            found = (seen + self.backoff * found) / (_counted(history, places, totals) + self.backoff)
        return found

    def loss(self, x: Ints) -> Floats:
        """−log₂ P of each text, in bits for each character, (n,)."""
        chances = self._chances([self._histories(x, size) for size in range(self.order)], x.ravel())
        return -np.log2(chances).reshape(x.shape).mean(axis=1)

    def sample(self, n: int, seed: int) -> Ints:
        rng = np.random.default_rng(seed)
        found = np.full((n, self.length + self.order - 1), -1, dtype=np.int64)
        symbols = np.tile(np.arange(self.symbols), n)
        for k in range(self.length):
            at = k + self.order - 1
            histories = []
            for size in range(self.order):
                code = np.zeros(n, dtype=np.int64)
                for j in range(size):
                    code = code * (self.symbols + 1) + found[:, at - size + j] + 1
                histories.append(np.repeat(code, self.symbols))
            chances = self._chances(histories, symbols).reshape(n, self.symbols)
            drawn = (rng.random(n)[:, None] * chances.sum(axis=1, keepdims=True) > chances.cumsum(axis=1)).sum(axis=1)
            found[:, at] = np.minimum(drawn, self.symbols - 1)
        return found[:, self.order - 1 :]


def _counted(keys: Ints, known: Ints, counts: Floats) -> Floats:
    """How often keys occur, by the sorted `known` ones."""
    places: Indices = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    there: Bools = known[places] == keys
    found: NDArray[np.float64] = np.where(there, counts[places], 0.0)
    return found
