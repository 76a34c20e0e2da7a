"""What models of several libraries give, as log-odds: the same for the same model, however it is asked."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse, special
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bayes_dp.attacks.score_matrix import ScoreMatrix
from tests.data.test_counts import refusal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.arange(60) % 3
MEMBER = RNG.random((2, 60)) < 0.5
MODELS = [LogisticRegression().fit(X[row], Y[row]) for row in MEMBER]


def logits(model: LogisticRegression) -> Any:
    return lambda x: np.asarray(x) @ model.coef_.T + model.intercept_


def odds(models: Any, x: Any = X, y: Any = Y, **others: Any) -> np.ndarray:
    return ScoreMatrix.from_models(models, x, y, MEMBER, **others).statistic


EXPECTED = ScoreMatrix(MEMBER, logits=np.stack([logits(model)(X) for model in MODELS]), labels=Y).statistic


def test_libraries():
    np.testing.assert_allclose(odds(MODELS), EXPECTED, rtol=1e-9)
    np.testing.assert_allclose(odds([logits(model) for model in MODELS]), EXPECTED, rtol=1e-12)
    in_jax = [lambda x, w=model.coef_, b=model.intercept_: jnp.asarray(x) @ w.T + b for model in MODELS]
    np.testing.assert_allclose(odds(in_jax), EXPECTED, rtol=1e-4, atol=1e-5)
    by_probability = [lambda x, m=model: special.softmax(logits(m)(x), axis=1) for model in MODELS]
    np.testing.assert_allclose(odds(by_probability, output="probabilities"), EXPECTED, rtol=1e-9)
    only_decision = [SimpleNamespace(decision_function=m.decision_function, classes_=m.classes_) for m in MODELS]
    np.testing.assert_allclose(odds(only_decision), EXPECTED, rtol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 7, 60, 10**6])
def test_batches_and_generators(batch_size: int):
    np.testing.assert_allclose(odds((model for model in MODELS), batch_size=batch_size), EXPECTED, rtol=1e-9)


@pytest.mark.parametrize("x", [X.tolist(), pd.DataFrame(X, index=RNG.permutation(60)), sparse.csr_matrix(X)])
def test_forms_of_examples(x: Any):
    models = MODELS
    if isinstance(x, pd.DataFrame):
        models = [LogisticRegression().fit(x[row], Y[row]) for row in MEMBER]
    np.testing.assert_allclose(odds(models, x, batch_size=25), EXPECTED, rtol=1e-9)


@pytest.mark.parametrize("form", [sparse.coo_array, sparse.bsr_matrix, sparse.dia_array, sparse.csc_matrix])
def test_sparse_forms_without_rows_to_choose(form: Any):
    found = ScoreMatrix.from_models(MODELS, form(X), Y, MEMBER, batch_size=7)
    np.testing.assert_allclose(found.statistic, ScoreMatrix.from_models(MODELS, X, Y, MEMBER).statistic)


def test_two_classes():
    """In one column or two, by decision or by probability."""
    y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    models = [make_pipeline(StandardScaler(), LogisticRegression()).fit(X[row], y[row]) for row in MEMBER]
    codes = (y == "yes").astype(int)
    one = np.stack([model.decision_function(X) for model in models])
    expected = np.where(codes == 1, one, -one)
    np.testing.assert_allclose(odds(models, y=y), expected, rtol=1e-7)
    np.testing.assert_allclose(odds([m.decision_function for m in models], y=codes), expected, rtol=1e-12)
    column = [lambda x, m=m: m.decision_function(x)[:, None] for m in models]
    np.testing.assert_allclose(odds(column, y=codes.astype(float)), expected, rtol=1e-12)
    one_p = [lambda x, m=m: m.predict_proba(x)[:, 1] for m in models]
    np.testing.assert_allclose(odds(one_p, y=codes, output="probabilities"), expected, rtol=1e-7)


def test_one_model():
    """By itself, with memberships of one axis; a pipeline and a forest could be iterated over."""
    expected = odds(MODELS)[:1]
    for model in (MODELS[0], [MODELS[0]], logits(MODELS[0]), make_pipeline(MODELS[0])):
        found = ScoreMatrix.from_models(model, X, Y, MEMBER[0])
        np.testing.assert_allclose(found.statistic, expected, rtol=1e-9)
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    assert len(ScoreMatrix.from_models(forest, X, Y, MEMBER[0])) == 1


def test_margins():
    for kind in (LinearSVC(), SVC()):
        found = odds([kind.fit(X, Y)] * 2)
        assert np.isfinite(found).all()


def test_a_class_that_a_model_never_saw_has_probability_0():
    models = [GaussianNB().fit(X[row & (Y < 2)], Y[row & (Y < 2)]) for row in MEMBER]
    found = odds(models)
    assert (found[:, Y == 2] < -36).all()
    own = models[0].predict_proba(X)[np.arange(60), np.minimum(Y, 1)][Y < 2]
    np.testing.assert_allclose(found[0, Y < 2], special.logit(own), rtol=1e-6)


def test_population():
    given = ScoreMatrix.from_models(MODELS, X, Y, MEMBER, population=(X[:7] + 1, Y[:7]))
    other = np.stack([logits(model)(X[:7] + 1) for model in MODELS])
    np.testing.assert_allclose(given.population, ScoreMatrix(MEMBER[:, :7], logits=other, labels=Y[:7]).statistic)


def test_progress(capfd: pytest.CaptureFixture[str]):
    odds(MODELS, progress=True)
    assert "models" in capfd.readouterr().err
    odds(MODELS)
    assert capfd.readouterr() == ("", "")


class Tensor(np.ndarray):
    """As much of a tensor as is asked of one."""

    def is_floating_point(self) -> bool:
        return self.dtype.kind == "f"

    def detach(self) -> Any:
        assert not FakeTorch.gradients, "a gradient is kept"
        return self

    def to(self, *_: Any, device: str = "cpu", dtype: Any = None) -> Any:
        return self if dtype is None else self.astype(dtype).view(Tensor)

    def double(self) -> Any:
        return self.astype(np.float64).view(Tensor)

    def numpy(self) -> np.ndarray:
        return np.asarray(self)


class FakeModule:
    """As much of a module as is asked of one, with a part whose mode differs from its own."""

    def __init__(self, weights: LogisticRegression) -> None:
        self.weights, self.training, self.part = weights, True, SimpleNamespace(training=False)

    def parameters(self) -> Any:
        yield SimpleNamespace(device="cpu", dtype=np.float32)

    def modules(self) -> list[Any]:
        return [self, self.part]

    def eval(self) -> None:
        self.training = self.part.training = False

    def __call__(self, x: Tensor) -> Tensor:
        assert (x.dtype, self.training) == (np.float32, False)
        return logits(self.weights)(x).astype(np.float32).view(Tensor)


class FakeTorch(ModuleType):
    gradients = True
    Tensor = Tensor
    nn = SimpleNamespace(Module=FakeModule)

    @staticmethod
    def as_tensor(x: np.ndarray) -> Tensor:
        return np.asarray(x).view(Tensor)

    class no_grad:  # noqa: N801
        def __enter__(self) -> None:
            FakeTorch.gradients = False

        def __exit__(self, *_: Any) -> None:
            FakeTorch.gradients = True


def test_a_pytorch_module_by_a_stand_in(monkeypatch: pytest.MonkeyPatch):
    """Asked in `eval` mode, without gradients, in the type of its parameters; then each part is in the mode it was."""
    monkeypatch.setitem(sys.modules, "torch", FakeTorch("torch"))
    modules = [FakeModule(model) for model in MODELS]
    np.testing.assert_allclose(odds(modules, batch_size=9), EXPECTED, rtol=1e-4, atol=1e-5)
    assert [(module.training, module.part.training) for module in modules] == [(True, False)] * 2
    assert FakeTorch.gradients

    def broken(x: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr(FakeModule, "__call__", broken)
    with pytest.raises((RuntimeError, TypeError)):
        odds(modules)
    assert modules[0].training


def test_a_pytorch_module():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    modules = []
    for model in MODELS:
        module = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))
        module[0].weight.data = torch.tensor(model.coef_, dtype=torch.float32)
        module[0].bias.data = torch.tensor(model.intercept_, dtype=torch.float32)
        modules.append(module)
    for x in (X, torch.tensor(X)):
        np.testing.assert_allclose(odds(modules, x), EXPECTED, rtol=1e-4, atol=1e-5)
    assert all(module.training for module in modules)


def test_pytorch_is_not_imported():
    assert "torch" not in sys.modules or not hasattr(sys.modules["torch"], "gradients")


REFUSED = [
    ({"models": [3, 4]}, "models[0] must have predict_proba or decision_function, be a PyTorch module, or"),
    ({"models": MODELS[:1]}, "models must be as many as the rows of member, 2, not 1"),
    ({"models": MODELS * 2}, "models must be as many as the rows of member, 2, not more"),
    ({"models": MODELS[0]}, "models must be as many as the rows of member, 2, not 1"),
    ({"models": 3}, "models must be a list of models or a generator, not 3"),
    ({"models": [LogisticRegression()] * 2}, "models[0] must be a fitted classifier with classes_"),
    (
        {"models": [lambda x: np.ones((2, 3))] * 2},
        "models[0] must give a row for each of 60 examples, not the",
    ),
    ({"models": [lambda x: "a"] * 2}, "models[0] must give an array (n,) or (n, k) of numbers, not 'a'"),
    (
        {"models": [lambda x: np.full((60, 3), np.nan)] * 2},
        "models[0] must give logits for example 0, not [nan, nan",
    ),
    ({"models": [lambda x: x, lambda x: x[:, :2]]}, "y[2] must be the number of a column of what models[1] gives"),
    ({"models": [lambda x: x] * 2, "output": "probabilities"}, "models[0] must give probabilities for example 0"),
    ({"models": [lambda x: x] * 2, "y": ["a"] * 60}, "y[0] must be the number of a column of what models[0] gives"),
    ({"models": [lambda x: x] * 2, "y": Y + 0.5}, "y[0] must be the number of a column of what models[0] gives"),
    ({"y": np.where(np.arange(60) == 7, np.nan, Y)}, "y[7] must be a class, not nan"),
    ({"y": np.array([*Y[:-1], None], dtype=object)}, "y[59] must be a class, not None"),
    ({"y": Y[:59]}, "y must hold a class for each of the 60 examples, not"),
    ({"x": []}, "x must hold examples along its first axis, at least one, not []"),
    ({"x": X[:50], "y": Y[:50]}, "member must have a column for each of the 50 examples x, not 60"),
    ({"population": X}, "population must be a pair (x, y) of examples and their classes, not"),
    ({"population": (X, Y[:3])}, "population[1] must hold a class for each of the 60 examples, not"),
    (
        {"y": [str(label) for label in Y]},
        "y must hold the classes of models[0], [0, 1, 2], and has not one of them: it begins with '0'",
    ),
    ({"y": Y + 10}, "y must hold the classes of models[0], [0, 1, 2], and has not one of them: it begins with 10"),
    ({"population": (X, Y + 10)}, "population[1] must hold classes of y and has not one of them: it begins with 10"),
    ({"batch_size": 0}, "batch_size must be a whole number, at least 1, not 0"),
    ({"output": "losses"}, 'output must be "logits" or "probabilities", not \'losses\''),
    ({"progress": 3}, "progress must be True or False, not 3"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_refused(given: dict[str, Any], message: str):
    arguments = {"models": MODELS, "x": X, "y": Y, "member": MEMBER} | given
    assert refusal(ScoreMatrix.from_models, **arguments).startswith(message)


def test_a_model_of_one_class_is_refused_by_name():
    dummy = DummyClassifier().fit(X, np.zeros(60))
    assert "models[0] must give a column for each of its 1 classes, not 2" in refusal(odds, [dummy, dummy])
