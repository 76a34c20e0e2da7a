"""Networks trained many at once are those of plain stochastic gradient descent, one at a time."""

from __future__ import annotations

import math

import jax
import mpmath
import numpy as np
import pytest
from scipy.stats import kstest

from models.mlp import Weights, first_weights, loss_at, noisy, orders, train

ROWS, BATCH = 9, 3
SIZES = (8, 8, 9, 8, 9, 9, 8)  # of the training sets of seven networks; the last batch of eight examples has two


def plain_training(weights, order, images, labels, size):
    """Gradient descent with momentum, example by example, in double precision; the gradients by hand."""
    weights = [np.array(w, dtype=float) for w in weights]
    speeds = [np.zeros_like(w) for w in weights]
    for epoch in order:
        rows = [row for row in epoch if row < size]
        for i in range(0, len(rows), BATCH):
            batch = rows[i : i + BATCH]
            mean = [np.zeros_like(w) for w in weights]
            for row in batch:
                for total, part in zip(mean, plain_gradient(weights, images[row], labels[row]), strict=True):
                    total += part / len(batch)
            for w, speed, g in zip(weights, speeds, mean, strict=True):
                speed *= 0.9
                speed -= 0.01 * g
                w += speed
    return weights


def plain_gradient(weights, image, label):
    w1, b1, w2, b2 = weights
    inner = image @ w1 + b1
    hidden = np.where(inner > 0, inner, 0)
    logits = hidden @ w2 + b2
    by_logit = np.exp(logits) / np.exp(logits).sum() - (np.arange(10) == label)
    by_inner = np.where(inner > 0, w2 @ by_logit, 0)
    return np.outer(image, by_inner), by_inner, np.outer(hidden, by_logit), by_logit


def stacked(networks):
    return jax.tree.map(lambda *parts: np.stack(parts), *networks)


@pytest.fixture(scope="module")
def tiny():
    rng = np.random.default_rng(0)
    images = (rng.random((ROWS, 50)) * (rng.random((ROWS, 50)) < 0.5)).astype(np.float32)
    labels = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5])
    first = stacked([first_weights(np.random.default_rng([1, i]), 50) for i in range(len(SIZES))])
    order = np.stack([orders(np.random.default_rng([2, i]), n, ROWS, 30) for i, n in enumerate(SIZES)])
    return first, order, np.array(SIZES), images, labels


@pytest.fixture(scope="module")
def trained(tiny):
    return train(*tiny, batch=BATCH)


def test_training_is_plain_gradient_descent(tiny, trained):
    first, order, size, images, labels = tiny
    for i in range(len(SIZES)):
        start = [w[i] for w in first]
        plain = plain_training(start, order[i], images, labels, size[i])
        for found, expected, before in zip(trained, plain, start, strict=True):
            moved = np.abs(expected - before).max()
            assert moved > 0.02
            np.testing.assert_allclose(found[i], expected, rtol=0, atol=1e-4 * moved)


def test_the_example_left_out_has_no_influence(tiny, trained):
    first, order, size, images, labels = tiny
    images, labels = images.copy(), labels.copy()
    images[-1], labels[-1] = 1 - images[-1], 7
    again = train(first, order, size, images, labels, batch=BATCH)
    for found, before in zip(again, trained, strict=True):
        same = [np.array_equal(found[i], before[i]) for i in range(len(SIZES))]
        assert same == [n == ROWS - 1 for n in SIZES]


def test_an_order_is_a_new_shuffle_for_each_epoch():
    order = orders(np.random.default_rng(0), 999, 1000, 200)
    assert order.shape == (200, 1000)
    assert (np.sort(order, axis=1) == np.arange(1000)).all()
    assert (order[:, -1] == 999).all()
    assert len(np.unique(order, axis=0)) == 200
    # Each row of D is equally often in each batch: the number of 200 epochs is binomial, and chi-square adds them up.
    often = np.array([np.bincount(order[:, i : i + 100].ravel(), minlength=999)[:999] for i in range(0, 900, 100)])
    excess = ((often - 200 * 100 / 999) ** 2).mean() / (200 * (100 / 999) * (899 / 999))
    assert abs(excess - 1) < 0.08
    everything = orders(np.random.default_rng(0), 1000, 1000, 50)
    assert len(set(everything[:, -1])) > 40


def test_first_weights():
    weights = first_weights(np.random.default_rng(0), 784)
    for layer, inputs, outputs in ((weights.hidden, 784, 128), (weights.output, 128, 10)):
        limit = math.sqrt(6 / (inputs + outputs))
        assert layer.shape == (inputs, outputs)
        assert kstest(layer.ravel() / limit, "uniform", args=(-1, 2)).pvalue > 1e-3
    assert not weights.hidden_bias.any()
    assert not weights.output_bias.any()


def test_noise_is_on_every_weight(trained):
    one = Weights(*(np.asarray(w[0]) for w in trained))
    added = [(w - v).ravel() / 0.05 for w, v in zip(noisy(np.random.default_rng(3), one, 0.05), one, strict=True)]
    assert [len(part) for part in added] == [50 * 128, 128, 1280, 10]
    for part in added:
        assert kstest(part, "norm").pvalue > 1e-3
    assert len(np.unique(np.concatenate(added))) == sum(map(len, added))


@pytest.mark.parametrize("scale", [1, 30, 300])
def test_loss_is_the_cross_entropy_in_high_precision(tiny, trained, scale):
    weights = Weights(*(np.asarray(w[2]) for w in trained))
    weights = weights._replace(output=weights.output * np.float32(scale))
    for image, label in zip(tiny[3], tiny[4], strict=True):
        hidden = np.maximum(image @ weights.hidden.astype(float) + weights.hidden_bias, 0)
        logits = [mpmath.mpf(x) for x in hidden @ weights.output.astype(float) + weights.output_bias]
        with mpmath.workdps(400):
            expected = mpmath.log(mpmath.fsum(mpmath.exp(x - logits[label]) for x in logits))
        assert loss_at(weights, image, label) == pytest.approx(float(expected), rel=1e-9, abs=1e-300)
