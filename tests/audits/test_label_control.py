"""Controls that cannot show the proxy's error are told, and honest ones of any quality that proxies have are not."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.audits.label_control import blind_likelihood, blind_model


def two(one):
    return np.column_stack([1 - one, one])


def learned(rng, w, x, trained_on, features=slice(None)):
    """A logistic regression as fitted to so many examples: the truth and the error that is due to their number."""
    info = trained_on * 0.15
    noise = rng.normal(size=len(w)) / np.sqrt(info)
    kept = np.zeros(len(w))
    kept[features] = 1
    return two(1 / (1 + np.exp(-x @ ((w + noise) * kept))))


def example(n, strength, seed):
    """Features, weights, labels, and the generator."""
    rng = np.random.default_rng([seed, n])
    x = rng.normal(size=(n, 5))
    w = np.full(5, strength / np.sqrt(5))
    return x, w, (rng.random(n) < 1 / (1 + np.exp(-x @ w))).astype(int), rng


USELESS = {
    "one half, with noise": lambda rng, w, x, q: two(np.clip(0.5 + rng.normal(0, 0.02, len(q)), 0, 1)),
    "the classes' frequencies": lambda rng, w, x, q: np.tile(q.mean(axis=0), (len(q), 1)),
    "the proxy": lambda rng, w, x, q: q + 0.0,
    "the proxy, rounded": lambda rng, w, x, q: np.round(q, 2),
    "other rows": lambda rng, w, x, q: learned(rng, w, x, 4000)[rng.permutation(len(q))],
    "other order of classes": lambda rng, w, x, q: learned(rng, w, x, 4000)[:, ::-1],
    "fewer features": lambda rng, w, x, q: learned(rng, w, x, 4000, slice(0, 2)),
    "random": lambda rng, w, x, q: rng.dirichlet([1, 1], len(q)),
    "sure of itself": lambda rng, w, x, q: np.eye(2)[learned(rng, w, x, 4000).argmax(axis=1)],
}


@pytest.mark.parametrize("control", USELESS.values(), ids=USELESS)
@pytest.mark.parametrize("exact", [True, False], ids=["the law", "a fit"])
def test_useless_controls(control, exact):
    for seed in range(20):
        x, w, y, rng = example(4000, 1.0, seed)
        q = two(1 / (1 + np.exp(-x @ w))) if exact else learned(rng, w, x, 4000)
        assert blind_model(y, q, control(rng, w, x, q))


@pytest.mark.parametrize("n", [50, 400, 4000, 40_000])
@pytest.mark.parametrize("strength", [0.3, 1.0, 4.0])
def test_another_model_of_the_same_kind_is_no_useless_control(n, strength):
    flagged = 0
    for seed in range(100):
        x, w, y, rng = example(n, strength, seed)
        flagged += bool(blind_model(y, *(learned(rng, w, x, max(n, 500)) for _ in range(2))))
    assert flagged <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


def test_a_little_worse_is_good_enough():
    """A control of a fifth as many examples loses 0.005 nats, of 0.1 that the proxy knows."""
    flagged = 0
    for seed in range(50):
        x, w, y, rng = example(20_000, 1.0, seed)
        flagged += bool(blind_model(y, learned(rng, w, x, 20_000), learned(rng, w, x, 4000)))
    assert flagged <= 1


def test_more_classes_and_classes_that_never_come():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(10), 3000)
    q[:, 3] = 0
    q /= q.sum(axis=1, keepdims=True)
    y = (rng.random(3000)[:, None] >= np.cumsum(q, axis=1)[:, :-1]).sum(axis=1)
    near = q * rng.uniform(0.9, 1.1, q.shape)
    assert not blind_model(y, q, near / near.sum(axis=1, keepdims=True))
    assert "worse than the proxy" in blind_model(y, q, np.roll(q, 1, axis=1))
    assert "worse than the proxy" in blind_model(y, q, rng.dirichlet(np.ones(10), 3000))


def test_a_proxy_that_has_seen_the_labels():
    x, w, y, rng = example(3000, 1.0, 1)
    seen = 0.8 * learned(rng, w, x, 3000) + 0.2 * np.eye(2)[y]
    assert "has seen the labels" in blind_model(y, seen, learned(rng, w, x, 3000))


def test_one_example():
    assert not blind_model(np.array([1]), np.array([[0.1, 0.9]]), np.array([[0.4, 0.6]]))


def test_likelihoods():
    assert "alike" in blind_likelihood(np.zeros((5, 2)))
    assert not blind_likelihood(np.array([[0.0, 0.0], [0.5, -0.3]]))


@pytest.mark.parametrize("control", [USELESS["the classes' frequencies"], USELESS["other rows"]])
def test_the_audit_is_not_valid_with_them(control):
    x, w, y, rng = example(4000, 1.0, 2)
    q = learned(rng, w, x, 4000)
    model = 0.5 * q + 0.5 * np.eye(2)[y]
    honest = bdp.audits.labels(y, q, model, 0, control=learned(rng, w, x, 4000))
    found = bdp.audits.labels(y, q, model, 0, control=control(rng, w, x, q))
    assert honest.valid
    assert found.value == honest.value > 1
    assert found.details["control"] == 0
    assert "control" in found.invalid


def test_an_attribute_with_a_control_that_says_nothing():
    x, w, y, rng = example(2000, 1.0, 3)
    q = learned(rng, w, x, 2000)
    likely = np.where(np.eye(2)[y] == 1, 0.9, 0.3)
    assert (
        "likes all labels"
        in bdp.audits.labels(y, q, None, 0, likelihood=likely, control=np.full((2000, 2), 0.4)).invalid
    )
