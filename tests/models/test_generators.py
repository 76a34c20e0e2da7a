"""Generators draw what they were fitted to: laws that are known, values that occur, and chances counted by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bayes_dp.checks import InputError
from models.char_model import CharModel
from models.generators import Copula, Mixture, Ngrams, Trees


def test_a_mixture_has_the_moments_of_each_class():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    x = rng.normal(size=(4000, 3)) * [1, 2, 0.5] + 5 * y[:, None]
    drawn, classes = Mixture(1).fit(x, y).sample(4000, 1)
    assert abs(classes.mean() - y.mean()) < 0.03
    for k in (0, 1):
        np.testing.assert_allclose(drawn[classes == k].mean(axis=0), x[y == k].mean(axis=0), atol=0.15)
        np.testing.assert_allclose(np.cov(drawn[classes == k].T), np.cov(x[y == k].T), atol=0.3)
    flat = Mixture(1, components=2).fit(x).sample(100, 1)
    assert np.linalg.matrix_rank(flat - flat.mean(axis=0), tol=1e-8) == 2


def mixed(n=3000):
    """A category, what follows from it, an amount that is missing where the category is 2, and a class."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n).astype(float)
    amount = np.where(kind == 2, np.nan, np.round(rng.gamma(2, 1, n), 1))
    return np.column_stack([kind, 10 - kind, amount]), (kind == 1).astype(np.int64)


def test_trees_keep_what_hangs_together():
    x, y = mixed()
    drawn, classes = Trees([True, True, False]).fit(x, y).sample(2000, 1)
    np.testing.assert_array_equal(drawn[:, 1], 10 - drawn[:, 0])
    np.testing.assert_array_equal(np.isnan(drawn[:, 2]), drawn[:, 0] == 2)
    np.testing.assert_array_equal(classes, drawn[:, 0] == 1)
    amounts = drawn[:, 2][drawn[:, 0] != 2]
    assert set(amounts) <= set(x[:, 2])
    assert abs(amounts.mean() - np.nanmean(x[:, 2])) < 0.1
    assert np.isin(Trees().fit(x).sample(50, 1)[:, 1], [8, 9, 10]).all()


def test_a_copula_keeps_the_margins_and_breaks_what_hangs_together():
    x, y = mixed()
    drawn, classes = Copula().fit(x, y).sample(2000, 1)
    for column, own in zip(drawn.T, x.T, strict=True):
        assert set(column[~np.isnan(column)]) <= set(own)
        assert abs(np.isnan(column).mean() - np.isnan(own).mean()) < 0.04
        assert abs(np.nanmean(column) - np.nanmean(own)) < 0.2
    assert (classes != (drawn[:, 0] == 1)).mean() > 0.1


def test_columns_of_one_value_and_classes_of_one_example():
    rng = np.random.default_rng(0)
    x = np.column_stack([np.full(40, 3.0), rng.normal(size=40)])
    assert set(Copula().fit(x).sample(20, 1)[:, 0]) == {3.0}
    drawn, classes = Mixture(2).fit(x, (np.arange(40) == 7).astype(int)).sample(400, 1)
    assert np.abs(drawn[classes == 1] - x[7]).max() < 0.1
    with pytest.raises(InputError, match="order must be lower for 64 symbols, not 12"):
        Ngrams(12)


def chance(texts, history, symbol, symbols, backoff):
    """By the recursion over the lengths of the history, with loops and counts."""
    p = 1 / symbols
    for size in range(len(history) + 1):
        end = history[len(history) - size :]
        before = Counter()
        both = Counter()
        for text in texts:
            padded = [-1] * len(history) + list(text)
            for t in range(len(history), len(padded)):
                before[tuple(padded[t - size : t])] += 1
                both[tuple(padded[t - size : t]), padded[t]] += 1
        p = (both[tuple(end), symbol] + backoff * p) / (before[tuple(end)] + backoff)
    return p


@pytest.mark.parametrize("make", [Mixture, Trees, Copula])
def test_classes_of_any_kind_and_columns_without_a_value(make):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(60, 2)), np.array(["no", "yes", "?"])[rng.integers(0, 3, 60)]
    for classes in (y, np.searchsorted(["?", "no", "yes"], y) * 10, y == "yes"):
        drawn = make().fit(x, classes).sample(200, 0)[1]
        assert set(drawn.tolist()) == set(classes.tolist())
        assert drawn.dtype == classes.dtype
    if make is not Mixture:
        empty = make().fit(np.column_stack([x, np.full(60, np.nan)]), y).sample(20, 0)[0]
        assert np.isnan(empty[:, 2]).all()
        assert np.isfinite(empty[:, :2]).all()


def test_ngrams_of_no_character():
    with pytest.raises(InputError, match="order must be a whole number, at least 1, not 0"):
        Ngrams(0)


def test_chances_of_ngrams_by_hand():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (6, 7))
    model = Ngrams(order=3, symbols=3, backoff=0.5).fit(x)
    text = np.array([0, 2, 1, 1, 0, 2, 2])
    padded = [-1, -1, *text]
    expected = [chance(x.tolist(), padded[t : t + 2], padded[t + 2], 3, 0.5) for t in range(7)]
    assert model.loss(text[None])[0] == pytest.approx(-np.log2(expected).mean())


@pytest.mark.parametrize("model", [Ngrams(3, symbols=3), CharModel(symbols=3, window=2, hidden=16, epochs=150)])
def test_what_is_drawn_follows_the_texts(model):
    """Texts in which each symbol follows from the one before, but for a tenth."""
    rng = np.random.default_rng(0)
    x = np.empty((400, 12), dtype=np.int64)
    x[:, 0] = rng.integers(0, 3, 400)
    for t in range(1, 12):
        x[:, t] = np.where(rng.random(400) < 0.9, (x[:, t - 1] + 1) % 3, rng.integers(0, 3, 400))
    drawn = model.fit(x).sample(300, 1)
    assert drawn.shape == (300, 12)
    assert abs(((drawn[:, 1:] - drawn[:, :-1]) % 3 == 1).mean() - 0.933) < 0.03
    assert model.loss(x).mean() < 0.75 < model.loss(rng.integers(0, 3, (300, 12))).mean()
    np.testing.assert_array_equal(drawn, model.sample(300, 1))


def test_snapshots_are_those_of_shorter_trainings():
    x = np.random.default_rng(0).integers(0, 3, (40, 6))
    settings = {"symbols": 3, "window": 2, "hidden": 8}
    early, late = CharModel(**settings).snapshots(x, (2, 60))
    np.testing.assert_array_equal(early.loss(x), CharModel(**settings, epochs=2).fit(x).loss(x))
    assert late.loss(x).mean() < early.loss(x).mean()
    assert (early.epochs, late.epochs) == (2, 60)
    assert late.sample(4, 0).shape == (4, 6)


def test_a_network_asks_for_the_characters_before():
    model = CharModel(symbols=4, window=3)
    x = np.array([[1, 2, 3, 0]])
    model.length = 4
    np.testing.assert_array_equal(model._before(x)[0], [[4, 4, 4], [4, 4, 1], [4, 1, 2], [1, 2, 3]])
