"""Digests of values: the same for what is the same, whatever the process, and others for others."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bayes_dp.support.content import digest_of
from models.gradients import of_loss


def times(k: float) -> Any:
    return lambda x: x * k


def power(x: float, k: int, *, by: int = 1) -> float:
    return x**k * by


X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (times(1.0), times(2.0)),
        (lambda x: x, lambda x: -x),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x: [y for y in x], lambda x: [y + 1 for y in x]),  # noqa: C416
        (lambda x, k=1: x, lambda x, k=2: x),
        (lambda x: x.sum(), lambda x: x.min()),
        (partial(power, k=1), partial(power, k=2)),
        (partial(power, 1), partial(power, k=1)),
        (X, X.T.copy()),
        (X, X.astype(np.float32)),
        (1, 1.0),
        (1, True),
        ("a", b"a"),
        (["a", "b"], ["ab"]),
        ([["a"], "b"], [["a", "b"]]),
        ({"a": 1}, {"a": 2}),
        ({1}, {2}),
        (None, 0),
        (SimpleNamespace(mask=[True]), SimpleNamespace(mask=[False])),
        (SimpleNamespace(a=None), SimpleNamespace()),
        (SimpleNamespace(a=1).__eq__, SimpleNamespace(a=2).__eq__),
        (LogisticRegression(C=1.0), LogisticRegression(C=2.0)),
        (LogisticRegression().fit(X, [0, 1, 1]), LogisticRegression().fit(X, [1, 0, 0])),
        (LogisticRegression, SimpleNamespace),
        (pd.DataFrame(X), pd.DataFrame(X + 1)),
        (sparse.csr_array(X), sparse.csr_array(X + 1)),
        (np.random.default_rng(0), np.random.default_rng(1)),
    ],
)
def test_others_have_others(one, other):
    assert digest_of(one) == digest_of(one)
    assert digest_of(one) != digest_of(other)


def test_what_was_made_twice_has_one():
    assert digest_of(times(2.0)) == digest_of(times(2.0))
    assert digest_of(partial(power, k=2)) == digest_of(partial(power, k=2))
    assert digest_of({3, "a", 1}) == digest_of({"a", 1, 3})
    frame = pd.DataFrame(X, columns=["a", "b"])
    before = digest_of(frame)
    assert frame["a"].sum() == 6.0  # which pandas may remember
    assert digest_of(frame) == before == digest_of(frame.copy())


def test_what_holds_itself_or_cannot_be_pickled():
    loop: list[Any] = [1]
    loop.append(loop)
    assert digest_of(loop) != digest_of([1])
    with open(__file__) as file:
        assert digest_of(file) != digest_of(threading.Lock())
    made = times(1.0)

    def calls_itself():
        return calls_itself, made

    assert digest_of(calls_itself) == digest_of(calls_itself)


def test_much_that_is_shared_takes_no_time():
    """Lists of twice the same list, which are 2^200 in all; as deep as no stack; a module; functions of JAX."""
    twice: list[Any] = [1]
    deep: list[Any] = [1]
    for _ in range(200):
        twice = [twice, twice]
    for _ in range(5000):
        deep = [deep]
    assert digest_of(twice) != digest_of(deep)
    assert digest_of(np) != digest_of(pd)
    one, other = (of_loss(each) for each in (lambda w, x, y: w @ x, lambda w, x, y: w @ x - y))
    start = time.process_time()
    assert digest_of(one) != digest_of(other)
    assert time.process_time() - start < 2


def test_another_process_finds_the_same():
    code = "from tests.support import test_content as t; print(t.digest_of([t.times(2.0), t.X, {'a', 'b', 'c'}]))"
    root = Path(__file__).parents[2]
    shown = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == digest_of([times(2.0), X, {"a", "b", "c"}])


def test_tensors():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    assert digest_of(torch.ones(2)) == digest_of(torch.ones(2)) != digest_of(torch.zeros(2))
