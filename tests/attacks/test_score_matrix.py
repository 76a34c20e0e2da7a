"""ScoreMatrix: what is accepted, what is refused with which words, and what comes back from files."""

from __future__ import annotations

import copy
import io
import math
import pickle
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pytest

from bayes_dp.attacks.score_matrix import ScoreMatrix
from bayes_dp.data.log_odds import log_likelihood
from tests.data.test_counts import refusal

MEMBER = np.array([[1, 0, 1], [0, 1, -1]])
LOSSES = np.array([[0.1, 2.0, 0.5], [1.5, 0.2, np.nan]])
SMALL = ScoreMatrix(MEMBER, losses=LOSSES)
RNG = np.random.default_rng(0)
LOGITS, LABELS = RNG.normal(0, 3, (2, 3, 4)), [3, 0, 2]
FULL = ScoreMatrix(
    MEMBER,
    logits=LOGITS,
    labels=LABELS,
    population=RNG.normal(size=(2, 5, 4)),
    population_labels=[0, 1, 2, 3, 3],
    gradient_norm=[[1.0, 2.0, 3.0], [4.0, 5.0, np.nan]],
    features=np.ones((3, 2)),
    population_features=np.zeros((5, 2)),
    example=["a", "b", "c"],
    model=["one", "two"],
)


def made(**given: Any) -> ScoreMatrix:
    return ScoreMatrix(**({"member": MEMBER} | given))


def test_a_statistic_in_all_its_forms():
    """Logits, their probabilities and their losses say the same, of the models and examples that are measured."""
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=2, keepdims=True)
    own = p[:, range(3), LABELS]
    forms = [
        {"logits": LOGITS, "labels": LABELS},
        {"logits": LOGITS + 1000, "labels": np.array(LABELS, dtype=float)},
        {"probabilities": p, "labels": LABELS},
        {"probabilities": own},
        {"losses": -np.log(own)},
        {"log_odds": np.log(own) - np.log1p(-own)},
    ]
    expected = np.where(MEMBER >= 0, np.log(own / (1 - own)), np.nan)
    for form in forms:
        np.testing.assert_allclose(made(**form).statistic, expected, rtol=1e-9, err_msg=str(list(form)))
    binary = made(logits=LOGITS[..., 1] - LOGITS[..., 0], labels=[1, 0, 1]).statistic
    np.testing.assert_allclose(binary, made(logits=LOGITS[..., :2], labels=[1, 0, 1]).statistic)
    p1 = 1 / (1 + np.exp(LOGITS[..., 0] - LOGITS[..., 1]))
    np.testing.assert_allclose(binary, made(probabilities=p1, labels=[1, 0, 1]).statistic)


@pytest.mark.parametrize("gap", [-800.0, -50.0, -1.0, 0.0, 1.0, 30.0, 50.0, 800.0])
def test_log_odds_against_many_digits(gap: float):
    given = made(logits=np.tile([gap, 0.0, -1.0], (2, 3, 1)), labels=[0, 0, 0])
    with mpmath.workdps(500):
        others = mpmath.mpf(1) + mpmath.exp(-1)
        odds = gap - mpmath.log(others)
        likelihood = -mpmath.log1p(mpmath.exp(-odds))
    np.testing.assert_allclose(given.statistic[0], float(odds), rtol=1e-13)
    np.testing.assert_allclose(log_likelihood(given.statistic[0]), float(likelihood), rtol=1e-12)


def test_one_model():
    """The axis of the models may be left out of everything."""
    given = {"gradient_norm": np.ones(3), "population_labels": [0, 1]}
    one = ScoreMatrix(MEMBER[0], logits=LOGITS[0], labels=LABELS, population=LOGITS[0, :2], **given)
    two = made(logits=LOGITS, labels=LABELS)
    assert one.member.shape == one.statistic.shape == one.gradient_norm.shape == (1, 3)
    np.testing.assert_array_equal(one.statistic, two.statistic[:1])
    assert one.population.shape == (1, 2)
    assert ScoreMatrix([True, False], losses=[0.1, 0.2]) == ScoreMatrix([[1, 0]], losses=[[0.1, 0.2]])
    np.testing.assert_allclose(ScoreMatrix([True, False], losses=[0.1, 0.2]).attack().score, [-0.1, -0.2])


def test_models_are_put_together():
    """Those of one matrix and then those of others; what only some have of gradients is missing for the others."""
    member, phi = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]]), RNG.normal(size=(3, 3))
    population, names = RNG.normal(size=(3, 4)), ["a", "b", "c"]
    whole = ScoreMatrix(member, log_odds=phi, population=population, example=names, model=["x", "y", "z"])
    parts = [
        ScoreMatrix(member[rows], log_odds=phi[rows], population=population[rows], example=names, model=list(labels))
        for rows, labels in (([0], "x"), ([1, 2], "yz"))
    ]
    assert parts[0].concat(parts[1]) == whole
    assert whole.concat() == whole
    norms = ScoreMatrix(member, log_odds=phi, gradient_norm=np.ones((3, 3)))
    both = norms.concat(ScoreMatrix(member, log_odds=phi))
    np.testing.assert_array_equal(both.gradient_norm[:, 0], [1, 1, 1, np.nan, np.nan, np.nan])
    assert len(both.attack("gradient-norm", 2)) == 3
    assert "needs gradient_norm" in refusal(both.attack, "gradient-norm", 3)
    assert both.attack("rmia", 0, [4, 5]) == ScoreMatrix(member[[0, 1, 2]], log_odds=phi).attack("rmia", 0, [1, 2])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (3, "matrix 1 must be a ScoreMatrix, not int"),
        (ScoreMatrix([[1, 0]], losses=[[1, 2]]), "matrix 1 must have the 3 examples of matrix 0, not 2"),
        (ScoreMatrix([[1, 0, 1]], scores=[[1, 2, 3]]), "matrix 1 must hold log-odds, as matrix 0 does, not scores"),
        (
            ScoreMatrix([[1, 0, 1]], losses=[[1, 2, 3]], example=["a", "b", "c"]),
            "matrix 1 must have the example labels",
        ),
        (
            ScoreMatrix([[1, 0, 1]], losses=[[1, 2, 3]], model=["a"]),
            "matrix 1 must have model labels if matrix 0",
        ),
        (
            ScoreMatrix([[1, 0, 1]], losses=[[1, 2, 3]], population=[[1.0]]),
            "matrix 1 must have the population of matrix 0, none, not 1 example",
        ),
    ],
)
def test_what_is_not_put_together(other: Any, message: str):
    assert refusal(SMALL.concat, other).startswith(message)


def test_what_rounds_to_certainty_stays_finite():
    for form in ({"losses": np.array([[0.0, 1e100, 1e-300]] * 2)}, {"probabilities": np.array([[1.0, 0.0, 0.5]] * 2)}):
        given = made(**form).statistic[0]
        assert np.isfinite(given).all()
    assert made(losses=np.zeros((2, 3))).statistic[0, 0] == pytest.approx(53 * math.log(2))


def test_what_is_not_known_may_be_anything():
    for unknown in (-1, math.nan):
        for value in (math.nan, math.inf, -3.0, 0.5):
            member, losses = MEMBER * 1.0, LOSSES.copy()
            member[1, 2], losses[1, 2] = unknown, value
            assert made(member=member, losses=losses) == SMALL
    masked = np.ma.masked_array(MEMBER == 1, MEMBER < 0)
    assert made(member=masked, losses=np.ma.masked_invalid(LOSSES)) == SMALL
    frame = pd.DataFrame({"x": [True, False], "y": [False, True], "z": [True, None]})
    assert made(member=frame, losses=pd.DataFrame(LOSSES)) == SMALL
    logits = LOGITS.copy()
    logits[1, 2] = math.nan
    np.testing.assert_array_equal(made(logits=logits, labels=LABELS).statistic, FULL.statistic)


def test_the_input_is_copied_and_the_fields_never_change():
    losses, member = LOSSES.copy(), MEMBER.copy()
    given = ScoreMatrix(member, losses=losses)
    losses[0, 0], member[0, 0] = 9, 0
    assert given == SMALL
    assert not given.statistic.flags.writeable
    assert not given.member.flags.writeable


@pytest.mark.parametrize("given", [SMALL, FULL, ScoreMatrix(MEMBER == 1, scores=np.nan_to_num(LOSSES))])
def test_round_trips(given: ScoreMatrix, tmp_path: Path):
    path = tmp_path / "matrix.npz"
    given.to_npz(path)
    with open(path, "rb") as opened:
        assert ScoreMatrix.from_npz(opened) == given
    assert ScoreMatrix.from_npz(path) == pickle.loads(pickle.dumps(given)) == copy.deepcopy(given) == given
    assert [each.name for each in tmp_path.iterdir()] == ["matrix.npz"]
    assert hash(pickle.loads(pickle.dumps(given))) == hash(given)
    assert not pickle.loads(pickle.dumps(given)).statistic.flags.writeable


def test_equal_is_what_has_equal_content():
    assert made(losses=LOSSES, example=[1, 2, 3]) != SMALL
    assert made(log_odds=SMALL.statistic) == SMALL
    assert made(scores=SMALL.statistic) != SMALL
    assert SMALL != 3


def test_a_frame_has_a_row_for_each_pair_that_is_known():
    frame = SMALL.to_frame()
    assert len(frame) == 5
    shuffled = frame.sample(frac=1, random_state=1)
    back = ScoreMatrix.from_frame(frame)
    assert (back.model, back.example) == (("0", "1"), ("0", "1", "2"))
    np.testing.assert_array_equal(back.statistic, SMALL.statistic)
    np.testing.assert_array_equal(back.member, SMALL.member)
    assert len(ScoreMatrix.from_frame(shuffled).to_frame().merge(frame.astype({"model": str, "example": str}))) == 5
    np.testing.assert_array_equal(ScoreMatrix.from_frame(FULL.to_frame()).gradient_norm, FULL.gradient_norm)


MISSING = [np.nan, None, pd.NA, -1]


@pytest.mark.parametrize("kind", ["object", "Float64", "float64", "Int64"])
def test_rows_whose_membership_is_missing_were_not_measured(kind: str):
    frame = SMALL.to_frame()
    columns = {name: frame[name].tolist() for name in frame}
    for missing in MISSING if kind == "object" else (-1, np.nan):
        more = {"model": 1, "example": 2, "member": missing, "log_odds": missing}
        longer = pd.DataFrame(
            {name: pd.Series([*values, more[name]], dtype=object) for name, values in columns.items()}
        )
        types = {"member": kind, "log_odds": "float64" if kind == "Int64" else kind}
        found = ScoreMatrix.from_frame(longer.astype({"model": int, "example": int} | types))
        np.testing.assert_array_equal(found.member, SMALL.member)
        np.testing.assert_array_equal(found.statistic, SMALL.statistic)


def test_norms_of_some_models_come_back_from_a_frame():
    norms = ScoreMatrix(MEMBER, losses=LOSSES, gradient_norm=LOSSES + 1)
    both = norms.concat(ScoreMatrix(MEMBER, losses=LOSSES))
    np.testing.assert_array_equal(ScoreMatrix.from_frame(both.to_frame()).gradient_norm, both.gradient_norm)


def test_wide_frames_of_the_types_of_pandas():
    """A row for each model, a column for each example; what is missing there is pandas' NA."""
    member, losses = pd.DataFrame([[True, False], [False, True]]), pd.DataFrame([[0.5, 2.0], [1.5, 0.25]])
    plain = ScoreMatrix(member, losses=losses)
    own = ScoreMatrix(member.astype("boolean"), losses=losses.astype("Float64"))
    mixed = ScoreMatrix(member.astype({0: "boolean"}), losses=losses.astype({1: "Float32"}).astype({1: "Float64"}))
    assert plain == own
    np.testing.assert_allclose(mixed.statistic, plain.statistic, rtol=1e-6)
    member, losses = member.astype("Int64"), losses.astype("Float64")
    member.iloc[0, 1] = losses.iloc[0, 1] = pd.NA
    gaps = ScoreMatrix(member, losses=losses)
    assert gaps.member[0, 1] == -1
    assert np.isnan(gaps.statistic[0, 1])


def test_labels_of_two_classes_may_be_truth_values():
    logits, labels = LOGITS[..., :2], np.array([True, False, True])
    assert made(logits=logits, labels=labels) == made(logits=logits, labels=labels.astype(int))


def test_refused_frames():
    frame = SMALL.to_frame()

    def refused(**columns: Any) -> str:
        return refusal(ScoreMatrix.from_frame, frame.assign(**columns))

    assert (
        refused(example=[0, 0, 2, 0, 1])
        == "example[1] must be there once for each model, but '0' of model '0' is there twice"
    )
    wanted = "must be True or False (or 1 or 0, or −1 or nothing where it is not known)"
    assert refused(member=[1, 0, 2, 0, 1]) == f"member[2] {wanted}, not 2"
    assert refused(member=["1", 0, 2, 0, 1]) == f"member[0] {wanted}, not '1'"
    assert (
        refused(member=[1, 0, 1, 0, None], log_odds=[1, 2, np.nan, 4, 5])
        == "log_odds[2] must be a finite number, not nan"
    )
    assert refused(log_odds=[1, 2, 3, np.nan, 4]) == "log_odds[3] must be a finite number, not nan"
    assert refused(gradient_norm=-1.0) == "gradient_norm[0] must be a finite number of at least 0, not -1.0"
    assert refused(loss=1.0) == "loss must not stand beside log_odds: leave one of them out"
    losses = frame.rename(columns={"log_odds": "loss"})
    assert "loss[1] must be a cross-entropy" in refusal(ScoreMatrix.from_frame, losses)


REFUSED = [
    ({"losses": [[0.1, -2.0, 0.5], [1.5, 0.2, 0]]}, "losses[0, 1], of model 0 at example 1, must be a cross-entropy"),
    ({"losses": [[0.1, 2.0, np.nan], [1.5, 0.2, 0]]}, "losses[0, 2], of model 0 at example 2, must be"),
    ({"losses": [[0.1, 2.0, np.inf], [1.5, 0.2, 0]]}, "losses[0, 2], of model 0 at example 2, must be"),
    ({"losses": LOSSES.T}, "losses must have a row for each of the 2 models"),
    ({"losses": LOSSES, "labels": [0, 1, 2]}, "labels must not be given for losses"),
    (
        {"losses": LOSSES, "scores": LOSSES},
        "one of losses, logits, probabilities, log_odds or scores must be",
    ),
    ({}, "one of losses, logits, probabilities, log_odds or scores must be given, not none"),
    ({"logits": LOGITS}, "labels must be given, the class of each example, for logits"),
    ({"logits": LOGITS, "labels": [3, 0, 4]}, "labels[2] must be a whole number from 0 to 3, not 4"),
    ({"logits": LOGITS[..., 0], "labels": [1, 0, 2]}, "labels[2] must be a whole number from 0 to 1, not 2"),
    (
        {"logits": np.where(LOGITS[0, 1, 3] == LOGITS, np.inf, LOGITS), "labels": LABELS},
        "logits[0, 1, 3], of model",
    ),
    (
        {"probabilities": np.full((2, 3, 4), 0.3), "labels": LABELS},
        "probabilities[0, 0], of model 0 at example 0",
    ),
    (
        {"probabilities": LOSSES},
        "probabilities[0, 1], of model 0 at example 1, must be a probability",
    ),
    ({"logits": LOGITS[..., :1], "labels": [0, 0, 0]}, "logits must have two classes or more along the last axis"),
    ({"probabilities": np.ones((2, 3, 1)), "labels": [0, 0, 0]}, "probabilities must have two classes or more"),
    ({"losses": LOSSES, "population": [[1.0], [math.nan]]}, "population[1, 0], of model 1 at example 0, must be"),
    ({"losses": LOSSES, "population": [[1.0]]}, "population must hold losses of the 2 models, not the shape (1, 1)"),
    ({"losses": LOSSES, "population_labels": [0]}, "population_labels must be given with population and labels only"),
    ({"losses": LOSSES, "features": np.ones((3, 1))}, "features must be given with population and population_features"),
    (
        {"losses": LOSSES, "gradient_norm": [[1, 2, -3], [1, 1, 1]]},
        "gradient_norm[0, 2], of model 0 at example 2",
    ),
    ({"losses": LOSSES, "example": ["a"]}, "example must hold 3 labels, one per example, not 1"),
    (
        {"member": [[1, 0, 1], [0, 1, 2]], "losses": LOSSES},
        "member[1, 2] must be 1 (the model was trained with example 2)",
    ),
    (
        {"member": [1, 0, 1], "losses": LOSSES},
        "losses must be of the shape (m,), as member is of one model",
    ),
    ({"member": [1, 0, 3], "losses": LOSSES[0]}, "member[2] must be 1 (the model was trained with example 2), 0"),
    ({"member": [MEMBER], "losses": LOSSES}, "member must have a row for each model and a column for each example"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_refused(given: dict[str, Any], message: str):
    assert refusal(made, **given).startswith(message)


def test_refused_files(tmp_path: Path):
    def npz(**arrays: Any) -> io.BytesIO:
        file = io.BytesIO()
        np.savez(file, **arrays)
        file.seek(0)
        return file

    message = refusal(ScoreMatrix.from_npz, npz(member=MEMBER, loss=LOSSES))
    assert "must hold the array member and one of losses" in message
    assert "['member', 'loss']" in message
    bad = LOSSES.copy()
    bad[0, 1] = math.nan
    message = refusal(ScoreMatrix.from_npz, npz(member=MEMBER, losses=bad))
    assert message.startswith("the input: losses[0, 1], of model 0 at example 1, must be")
    pickled = npz(member=MEMBER, losses=np.array([object()]))
    assert "losses cannot be read as a plain array" in refusal(ScoreMatrix.from_npz, pickled)
    (tmp_path / "no.npz").write_bytes(b"nothing")
    assert "is not an NPZ file" in refusal(ScoreMatrix.from_npz, tmp_path / "no.npz")
    member = npz(member=MEMBER, losses=LOSSES, labels=[0, 1, 2], others=[1])
    assert "labels must not be given for losses" in refusal(ScoreMatrix.from_npz, member)


def test_refused_calls():
    assert refusal(SMALL.attack, "lira", 2) == "target must be the number of a model, from 0 to 1, not 2"
    assert refusal(SMALL.attack, "magic").startswith("name must be one of loss, ")
    assert refusal(SMALL.attack, None, 0, [1, 0]) == "references must not have the target among them, model 0"
    assert refusal(SMALL.attack, "loss", gamma=2) == 'gamma is no setting of the attack "loss", which has none'
    assert refusal(SMALL.attack, "lira", variance="both") == 'variance must be "pooled" or "own", not \'both\''
    assert refusal(SMALL.attack, "rmia", gamma=0).startswith("gamma must lie in (0, inf)")
    assert refusal(SMALL.attack, "rmia-offline", a=2).startswith("a must lie in [0, 1]")
    with_features = ScoreMatrix(
        [1, 0], losses=[1, 1], population=[1], features=np.ones((2, 1)), population_features=[[1]]
    )
    assert refusal(with_features.attack, "quantile-regression", quantile=1).startswith("quantile must lie in (0, 1)")
    unknown = ScoreMatrix([[-1, -1], [0, 1]], losses=[[1, 1], [1, 1]])
    assert refusal(unknown.attack) == "target must be a model with known memberships, which model 0 has for no example"


def test_examples_that_are_not_known_of_the_target_are_left_out():
    table = SMALL.attack("loss", 1)
    np.testing.assert_allclose(table.score, [-1.5, -0.2])
    assert table.member.tolist() == [False, True]


def test_what_it_says_of_itself():
    assert repr(SMALL) == "ScoreMatrix: 2 models, 3 examples with 1 of them trained on each"
    assert (
        repr(ScoreMatrix([[True]], losses=[[1.0]])) == "ScoreMatrix: 1 model, 1 example with 1 of them trained on each"
    )
    text = str(FULL)
    assert "pairs whose membership is not known  1" in text
    assert "population examples" in text
    assert "<table>" in FULL._repr_html_()
