"""Every public argument, at, just inside and just outside its range.

`CALLS` has one entry for each public function and class: arguments that work, and for each argument what it takes and
what it refuses. A public callable or argument that is missing there fails a test. What is refused is an `InputError` of
one line that names the argument, before any work.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
import sys
import types
import unittest.mock
from collections.abc import Iterator
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import numpyro
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import bayes_dp as bdp
from bayes_dp import attacks, audits, calibrate, datasets, games, leakage, plots, propensity, region, trackers, tradeoff
from bayes_dp.audits.combine import METHODS
from bayes_dp.checks import InputError
from bayes_dp.tradeoff.polygon import Polygon
from tests.contract.argument_calls import (
    CALLS,
    COUNTS,
    FEATURES,
    GAUSSIAN,
    GUESSES,
    LOGISTIC,
    LOSSES,
    MATRIX,
    MEMBER,
    ONE,
    ONE_RUN,
    PLAN,
    RNG,
    SCORES,
    SHADOWS,
    WITH_PROPENSITIES,
    Call,
    Later,
    Method,
    WorkBegunError,
    average_of_curves,
    call,
    comparison,
    curves,
    family_posterior,
    learned,
    logistic,
    posterior,
    run,
)
from tests.contract.argument_members import PATH, classes, families, members, of_records
from tests.contract.argument_values import (
    CONFIDENCE,
    SEED,
    THING,
    Values,
    besides,
    flag,
    number,
    numbers,
    one_of,
    text,
    thing,
    whole,
)

# What arguments take --------------------------------------------------------------------------------------------------

DELTA = number(0, 1, "[)", 1e-2)
LOOK = {
    "label": text("a name", optional=True),
    "color": Values((None, "red", (0.1, 0.2, 0.3)), ("reddish", 3, True, THING, [1, 2])),
}
DELTA_TO_ONE = number(0, 1, "[]", 1e-2)
OPTIONAL_DELTA = number(0, 1, "[)", 1e-2, optional=True)
REPEATED = thing(COUNTS, ONE, wrong=(ONE_RUN, GUESSES, SCORES, (3, 20, 4, 20)))
GUESSED = thing(GUESSES, ONE_RUN, SCORES, WITH_PROPENSITIES, wrong=(LOSSES,))
CHOICE = Values(
    (
        None,
        10,
        np.int64(10),
        60,
        attacks.Fixed(10),
        attacks.Bonferroni(),
        attacks.Split(),
        attacks.MultiSplit(splits=3),
    ),
    (0, -1, 2.5, math.nan, "all", True, [10], THING, 61, attacks.Fixed(61), attacks.Bonferroni([61])),
    ("n must", "numbers"),
)
SIDES = one_of("both", "members")
CLAIM = bdp.Claim(1.0, 1e-5)
CLAIMED = thing(CLAIM, bdp.Claim.gaussian(1.0), optional=True)
GUESSING = {"choice": CHOICE, "sides": SIDES, "seed": SEED}
PARAMETER = Values((None, "epsilon", "strength"), ("", "mu", 3, True, ["epsilon"], THING))
PRIOR = Values(
    ("HalfNormal(1)", None),
    (
        "",
        "Normal",
        "Cauchy(0)",
        "Poisson(1)",
        "Normal(-5, 0.1)",
        3,
        math.nan,
        True,
        ["HalfNormal(1)"],
        THING,
    ),
    ("prior",),
)
PRIOR_STRENGTH = Values(("Beta(2, 2)", None), PRIOR.bad, PRIOR.names)
STRENGTH = Values(
    ("free", "tight", 0.5, 0, 0.0, np.float64(0.999)),
    ("loose", "", -0.1, -5e-324, 1, 1.0, 1.5, math.nan, math.inf, True, None, [0.5], THING),
)
AXES = Values((), (3, "axes", True, [1], THING, plt))
ARRAY_OF_COUNTS = Values(
    (3, [3, 5], (3, 5), np.array([3, 5]), np.array([3.0, 5.0]), pd.Series([3, 5]), np.int64(3), np.array([3, 5], "u1")),
    (
        -1,
        [3, -1],
        2.5,
        [3, 2.5],
        math.nan,
        [3, math.nan],
        math.inf,
        [3, math.inf],
        "3",
        ["3", "5"],
        True,
        [True, 5],
        None,
        [3, None],
        [],
        [[3, 5]],
        np.zeros((2, 2)),
        2**53 + 2,
        [3, 2**70],
        THING,
        pd.Series(["a", "b"]),
        np.ma.masked_array([3, 5], [True, False]),
        1j,
        {},
        {"a": 3},
    ),
)
LABELS = Values(
    (None, ["a", "b"], ("a", "a"), [1, 2], pd.Series(["a", "b"])),
    ("ab", ["a"], [1.5, 2], [None, "b"], ["a\n", "b"], 3, [["a", "b"]]),
)


# Counts and tables ----------------------------------------------------------------------------------------------------

PAIR = {"false_positives": [3, 5], "negatives": [20, 30], "false_negatives": [4, 6], "positives": [20, 30]}
SINGLE = Values(
    ([3, 5], (3, 5), np.array([3, 5]), np.array([3.0, 5.0]), pd.Series([3, 5]), [0, 0], [20, 30]),
    (*ARRAY_OF_COUNTS.bad, [3, 31], [21, 5], [3], [3, 5, 7]),
)
TOTAL = Values(
    (20, [20, 30], np.int64(2**40 * 10), pd.Series([20, 30]), [10, 10]),
    (0, [0, 30], *ARRAY_OF_COUNTS.bad, [20], [20, 30, 40], 2),
    ("false_positives", "false_negatives"),
)
call(
    "bayes_dp.ErrorCounts",
    bdp.ErrorCounts,
    PAIR,
    false_positives=SINGLE,
    negatives=TOTAL,
    false_negatives=SINGLE,
    positives=TOTAL,
    base=LABELS,
    group=LABELS,
    design=besides(
        one_of("repeated", "cross_fed", "one_run", "observational"),
        bad=("one_run", "observational"),
        names=("examples",),
    ),
    examples=Values((None,), (60, 3.5, "many", True, -1, math.nan, THING), ("one_run",)),
)
call(
    "bayes_dp.ErrorCounts of one run",
    bdp.ErrorCounts,
    PAIR | {"design": "one_run", "examples": 200},
    examples=Values(
        (100, np.int64(100), 100.0, 2**53), (99, 0, -1, 100.5, math.nan, math.inf, "many", True, None, [200], THING)
    ),
    design=one_of("one_run"),
)
RATES = Values(
    ([0.1, 0.5], np.array([0, 1]), pd.Series([0.1, 0.5])),
    (-0.1, 1.1, [0.1, 1.0000001], math.nan, [0.1, math.nan], "0.1", True, None, THING, [0.12345, 0.5], [0.1] * 3),
)
call(
    "bayes_dp.ErrorCounts.from_rates",
    bdp.ErrorCounts.from_rates,
    {"false_positive_rate": [0.1, 0.5], "negatives": 20, "false_negative_rate": [0.1, 0.5], "positives": 20},
    false_positive_rate=RATES,
    false_negative_rate=besides(RATES, names=("false_positive_rate",)),
    negatives=besides(TOTAL, bad=(2,), names=("false_positive_rate",)),
    positives=besides(TOTAL, bad=(2,), names=("false_negative_rate",)),
)
CELLS = besides(ARRAY_OF_COUNTS, names=("fp", "tp", "tn", "fn"))
CELLS = Values(([3, 5], np.array([3.0, 5.0]), pd.Series([3, 5])), ARRAY_OF_COUNTS.bad, ("fp", "fn", "tp", "tn"))
call(
    "bayes_dp.ErrorCounts.from_confusion",
    bdp.ErrorCounts.from_confusion,
    {"tp": [3, 5], "fp": [1, 2], "tn": [9, 9], "fn": [4, 4]},
    tp=CELLS,
    fp=CELLS,
    tn=CELLS,
    fn=CELLS,
)
SCORE = Values(
    (np.arange(60), list(range(60)), np.full(60, math.inf), pd.Series(range(60))),
    (
        np.arange(59),
        [],
        [math.nan] * 60,
        ["1"] * 60,
        [True] * 60,
        None,
        3.0,
        THING,
        np.zeros((60, 1)),
        [None] * 60,
        [[1], [2, 3]],
    ),
)
TRUTHS = Values(
    (MEMBER, MEMBER.astype(int), MEMBER.tolist(), MEMBER.astype(float), pd.Series(MEMBER)),
    (MEMBER[:-1], [], [0.5] * 60, ["in"] * 60, [2] * 60, [math.nan] * 60, None, True, THING, MEMBER[None]),
    ("score",),
)
call(
    "bayes_dp.GuessTable",
    bdp.GuessTable,
    {"score": np.arange(60), "member": MEMBER},
    score=besides(SCORE, names=("member",)),
    propensity_source=one_of("given", "simulated", "learned", "rejected"),
    member=TRUTHS,
    propensity=Values(
        (None, 0.5, np.full(60, 0.5), [5e-324] * 60, np.nextafter(1, 0), pd.Series([0.5] * 60)),
        (0, 1, 0.0, 1.0, -0.1, math.nan, "half", True, [0.5], [0.5] * 59 + [1.0], np.full((60, 1), 0.5), THING),
    ),
    base=Values((None, ["a"] * 60, list(range(60))), ("a", ["a"], [1.5] * 60, [None] * 60, 3, THING)),
)
call(
    "bayes_dp.GuessTable.counts",
    SCORES.counts,
    {"threshold": 0.5},
    threshold=number(-math.inf, math.inf, "[]", 0.5),
    per_base=besides(flag(), bad=(True, np.True_), names=("base",)),
)
call(
    "bayes_dp.GuessTable.split",
    SCORES.split,
    {},
    fraction=Values((0.5, 0.01, 0.99), number(0, 1, "()", 0.5).bad + (0.001,)),
    seed=SEED,
)
LOSS = Values(
    (np.ones((3, 12)), [[1.0] * 12] * 3, np.zeros((3, 5)), pd.DataFrame(np.ones((3, 12)))),
    (
        np.ones((2, 12)),
        np.ones((3, 0)),
        np.full((3, 12), math.nan),
        [["a"] * 12] * 3,
        None,
        3,
        True,
        THING,
        np.ones((3, 2, 2)),
        [[1.0], [1.0, 2.0], [1.0]],
    ),
    ("without", "with_"),
)
call(
    "bayes_dp.LossTable",
    bdp.LossTable,
    {"without": LOSSES.without, "with_": LOSSES.with_},
    without=LOSS,
    with_=LOSS,
    base=Values((None, list("abc")), (["a"], "abc", [1.5] * 3, 3, THING)),
)
CELLS_OF_MATRIX = Values(
    (MATRIX.statistic, MATRIX.statistic.tolist(), pd.DataFrame(MATRIX.statistic), MATRIX.statistic.astype("f4")),
    (
        MATRIX.statistic[:5],
        MATRIX.statistic[:, :7],
        MATRIX.statistic[0],
        np.full((6, 8), math.nan),
        np.full((6, 8), math.inf),
        np.full((6, 8), 1e101),
        np.ones((6, 8, 2)),
        np.ma.masked_array(np.ones((6, 8)), np.eye(6, 8, dtype=bool)),
        [["a"] * 8] * 6,
        [],
        [[1.0], [1.0, 2.0]],
        3,
        True,
        THING,
    ),
    ("one of",),
)
LOGITS, OF_MATRIX = RNG.normal(size=(6, 8, 3)), {"member": MATRIX.member}
MATRICES = {  # a statistic, and what it takes
    "losses": (
        np.ones((6, 8)),
        Values((np.zeros((6, 8)), np.full((6, 8), 1e100)), (*CELLS_OF_MATRIX.bad, -np.ones((6, 8))), ("one of",)),
    ),
    "log_odds": (MATRIX.statistic, CELLS_OF_MATRIX),
    "scores": (MATRIX.statistic, CELLS_OF_MATRIX),
}
MEMBERS = Values(
    (MATRIX.member, MATRIX.member.tolist(), MATRIX.member == 1, pd.DataFrame(MATRIX.member == 1), MATRIX.member * 1.0),
    (
        MATRIX.member[:5],
        MATRIX.member[0],
        MATRIX.member * 2,
        None,
        3,
        True,
        "in",
        [],
        [["in"] * 8] * 6,
        THING,
        [[1], []],
    ),
    ("model",),
)
NAMES_OF_MATRIX = {
    "example": Values((None, list("abcdefgh"), range(8)), (["a"], "abcdefgh", [1.5] * 8, 3, THING)),
    "model": Values((None, list("abcdef")), (["a"], "abcdef", [1.5] * 6, 3, THING)),
    "gradient_norm": Values(
        (None, np.ones((6, 8)), np.full((6, 8), math.nan)),
        (-np.ones((6, 8)), np.ones((6, 7)), np.full((6, 8), math.inf), 3, "a", True, THING, np.ones((6, 8, 2))),
    ),
}
for _name, (_values, _taken) in MATRICES.items():
    call(
        f"bayes_dp.ScoreMatrix of {_name}",
        bdp.ScoreMatrix,
        OF_MATRIX | {_name: _values},
        **{_name: _taken},
        population=Values(
            (None, np.ones((6, 3))),
            (np.ones((5, 3)), np.ones(6), np.full((6, 3), math.nan), np.ones((6, 0)), 3, "a", True, THING),
        ),
    )
call(
    "bayes_dp.ScoreMatrix",
    bdp.ScoreMatrix,
    OF_MATRIX | {"logits": LOGITS, "labels": np.arange(8) % 3},
    member=MEMBERS,
    logits=Values(
        (LOGITS, LOGITS.astype("f4"), LOGITS.tolist()), (LOGITS[:5], LOGITS * math.inf, 3, "a", THING), ("one",)
    ),
    labels=Values(
        (np.arange(8) % 3, [0] * 8, [2.0] * 8),
        ([3] * 8, [-1] * 8, [0.5] * 8, [0] * 7, [math.nan] * 8, None, 0, "a", True, THING, [[0] * 8]),
    ),
    population=Values((None,), (LOGITS, LOGITS[..., :2], np.ones((6, 8)), 3, "a", True, THING), ("population_labels",)),
    population_labels=Values((None,), ([0] * 8, 3, "a", True, THING), ("population",)),
    features=Values((None,), (np.ones((8, 2)), 3, "a", THING), ("population_features",)),
    population_features=Values((None,), (np.ones((8, 2)), 3, "a", THING), ("features",)),
    **NAMES_OF_MATRIX,
)
call(
    "bayes_dp.ScoreMatrix of probabilities with a population",
    bdp.ScoreMatrix,
    OF_MATRIX
    | {
        "probabilities": np.full((6, 8, 2), 0.5),
        "labels": [0, 1] * 4,
        "population": np.full((6, 3, 2), 0.5),
        "population_labels": [0, 1, 1],
        "features": np.ones((8, 2)),
        "population_features": np.ones((3, 2)),
    },
    probabilities=Values(
        (np.full((6, 8, 2), 0.5), np.full((6, 8, 2), 0.5, dtype="f2")),
        (np.full((6, 8, 2), 0.6), np.full((6, 8, 2), math.nan), np.full((6, 8, 2), [-0.5, 1.5]), 3, "a", THING, None),
        ("one of",),
    ),
    population=Values(
        (np.full((6, 3, 2), 0.5),), (np.full((6, 3, 2), 0.6), np.full((5, 3, 2), 0.5), np.ones((6, 3)), 3, "a", THING)
    ),
    population_labels=Values(([0, 1, 1],), ([0, 1, 2], [0, 1], None, 3, "a", True, THING)),
    features=Values(
        (np.ones((8, 3))[:, :2], FEATURES[:8]), (np.ones((8, 3)), np.ones((7, 2)), np.full((8, 2), math.nan))
    ),
    population_features=Values((FEATURES[:3],), (np.ones((3, 3)), np.ones((2, 2)), np.full((3, 2), math.inf), None)),
)
call(
    "bayes_dp.LossTable.split",
    LOSSES.split,
    {},
    fraction=Values((0.5, 0.1, 0.9), number(0, 1, "()", 0.5).bad + (0.001,)),
    seed=SEED,
)
MADE = Values(
    ([40], 40, np.array([40]), 0, 60, pd.Series([40])),
    (61, -1, 2.5, math.nan, "40", True, None, [[40]], THING, [40, 50], []),
    ("correct", "made", "rule"),
)
call(
    "bayes_dp.Guesses",
    bdp.Guesses,
    {"examples": 60, "made": 40, "correct": 0},
    examples=Values((60, 40, 60.0, np.int64(60)), (39, -1, 60.5, math.nan, "60", True, None, [60], THING), ("made",)),
    made=MADE,
    correct=Values((0, 40, [30]), (41, -1, 2.5, math.nan, "3", True, None, [[3]], THING, [3, 4])),
    rule=besides(one_of("fixed", "bonferroni", "uncorrected"), bad=("split",), names=("pilot",)),
    splits=Values(((), []), (3, "splits", True, THING, None, [GUESSES])),
    pilot=Values((None,), (GUESSES, 3, "pilot", THING, True), ()),
    warnings=Values(((), ("A sentence.",), ["A sentence."]), ("A sentence.", [3], 3, True, None, THING)),
    members=Values(
        (None, 30, 0, 60, (20, 30), [0, 60]), (-1, 61, (30, 20), 2.5, "some", True, (1, 2, 3), THING, math.nan)
    ),
)
SPLIT = {
    "examples": 60,
    "made": [20, 40],
    "correct": [10, 30],
    "rule": "split",
    "pilot": bdp.Guesses(60, [20, 40], [10, 30], "uncorrected"),
}
call(
    "bayes_dp.Guesses of two parts",
    bdp.Guesses,
    SPLIT,
    pilot=Values((SPLIT["pilot"],), (None, GUESSES, 3, "pilot", THING, True)),
)
call(
    "bayes_dp.Guesses.from_counts",
    bdp.Guesses.from_counts,
    {"counts": ONE_RUN},
    counts=thing(ONE_RUN, wrong=(COUNTS, GUESSES)),
)

# Audits ---------------------------------------------------------------------------------------------------------------

INTERVAL = {"counts": COUNTS, "delta": 1e-2}
for _name in ("clopper_pearson", "jeffreys", "katz"):
    call(
        f"bayes_dp.audits.{_name}",
        getattr(audits, _name),
        INTERVAL,
        counts=REPEATED,
        delta=DELTA_TO_ONE,
        confidence=CONFIDENCE,
        two_sided=flag(),
    )
call(
    "bayes_dp.audits.accuracy",
    audits.accuracy,
    INTERVAL,
    counts=besides(REPEATED, bad=(bdp.ErrorCounts(3, 20, 4, 30),), names=("accuracy",)),
    delta=DELTA_TO_ONE,
    confidence=CONFIDENCE,
)
call(
    "bayes_dp.audits.joint_exact",
    audits.joint_exact,
    INTERVAL,
    counts=REPEATED,
    delta=DELTA_TO_ONE,
    confidence=CONFIDENCE,
)
call(
    "bayes_dp.audits.combine",
    audits.combine,
    INTERVAL | {"dependence": "independent"},
    counts=REPEATED,
    delta=DELTA_TO_ONE,
    confidence=CONFIDENCE,
    dependence=one_of("any", "independent"),
    method=one_of(*METHODS, optional=True),
    at_least=whole(1, 2),
)
SOME_SCORES = Values(
    ([0.1, 0.2], np.array([0.5, math.inf]), (1, 2, 3)),
    ([], [math.nan], ["a"], "a", [[1.0]], 3.0, [1j], [[1], [2, 3]], THING, {}),
)
call(
    "bayes_dp.audits.profile",
    audits.profile,
    {"without": [0.1, 0.3], "with_": [0.2, 0.5]},
    without=SOME_SCORES,
    with_=besides(SOME_SCORES, bad=(None,)),
    confidence=CONFIDENCE,
    band=one_of("equal", "dkw"),
)
CLASSES = np.arange(60) % 2
PROXY, MODEL, CONTROL = (np.column_stack([1 - p, p]) for p in np.random.default_rng(0).uniform(0.2, 0.8, (3, 60)))
OF_CLASSES = Values(
    (CLASSES, CLASSES.tolist(), CLASSES.astype(float)),
    (CLASSES[:-1], CLASSES + 1, CLASSES - 0.5, CLASSES[:, None], ["a"] * 60, None, 3, THING, [math.nan] * 60),
)
PROBABILITIES = (PROXY[:-1], PROXY + 0.1, PROXY[:, :1], -PROXY, PROXY[None], [["a", "b"]] * 60, 3, THING)
call(
    "bayes_dp.audits.labels",
    audits.labels,
    {"labels": CLASSES, "proxy": PROXY, "model": MODEL, "delta": 0.0},
    labels=OF_CLASSES,
    proxy=Values((PROXY, PROXY.tolist()), (*PROBABILITIES, None, MODEL), ("model", "labels")),
    model=Values((MODEL,), (*PROBABILITIES, None, PROXY), ("likelihood",)),
    delta=DELTA,
    likelihood=Values((None,), (MODEL,), ("model",)),
    control=Values((None, CONTROL), (*PROBABILITIES, MODEL, PROXY), ("likelihood",)),
    exact=flag(),
    tau=DELTA_TO_ONE,
    family=Values(("approx",), ("gaussian", "laplace", 3, None, True, THING), ("Gaussian",)),
    scores=Values(
        (["difference"], ("log ratio", "difference"), "difference"), ([], "best", ["difference"] * 2, None, 3, THING)
    ),
    choice=CHOICE,
    games=whole(1, 1000),
    confidence=CONFIDENCE,
    seed=SEED,
)
call(
    "bayes_dp.audits.proxy_error",
    audits.proxy_error,
    {"labels": CLASSES, "proxy": PROXY},
    labels=OF_CLASSES,
    proxy=Values((PROXY,), (*PROBABILITIES, None), ("labels",)),
    confidence=CONFIDENCE,
    features=Values((None, MODEL), (MODEL[:-1], MODEL[:, 0], MODEL * math.nan, "a", 3, THING)),
    estimator=Values((None,), (3, "a", THING), ("features",)),
    seed=SEED,
)
CURVE = audits.sensitivity(lambda tau: audits.labels(CLASSES, PROXY, MODEL, 0.0, tau=tau, games=1), [0.0, 0.5])
call(
    "bayes_dp.audits.sensitivity",
    audits.sensitivity,
    {"audit": lambda tau: audits.labels(CLASSES, PROXY, MODEL, 0.0, tau=tau, games=1), "tau": 0.1},
    audit=Values((), (None, 3, "a", lambda tau: tau, lambda tau: audits.labels(CLASSES, PROXY, MODEL, 0.0), THING)),
    tau=Values((0.2, [0.1, 0.2]), ([], [0.2, 0.1], [0.1, 0.1], [[0.1]], -0.1, 1.1, math.nan, "a", None, True, THING)),
)
call("bayes_dp.audits.sensitivity.Sensitivity.at", CURVE.at, {"tau": 0.1}, tau=number(0, 0.5, "[]", 0.1))
LABEL_GAME, OTHER_GAME = (games.LabelGame(CLASSES, PROXY, score) for score in (MODEL, CONTROL))
call(
    "bayes_dp.audits.observational",
    audits.observational,
    {"game": LABEL_GAME, "delta": 0.0},
    game=thing(LABEL_GAME, wrong=(None, games.LabelGame)),
    delta=DELTA,
    control=Values(
        (None, OTHER_GAME), (LABEL_GAME, games.LabelGame([0, 1], [[0.5, 0.5]] * 2, [[1, -1]] * 2), 3, "a", True, THING)
    ),
    exact=flag(),
    tau=DELTA_TO_ONE,
    family=Values(("approx",), ("gaussian", "laplace", 3, None, True, THING), ("Gaussian",)),
    choice=CHOICE,
    games=whole(1, 1000),
    confidence=CONFIDENCE,
    seed=SEED,
)
PROFILE = audits.profile([0.1, 0.3], [0.2, 0.5])
for _name, _argument, _values in (
    ("epsilon_at", "delta", numbers(0, 1, "[]", 0.1)),
    ("delta_at", "epsilon", numbers(0, math.inf, "[)", 1.0)),
    ("threshold_at", "delta", DELTA_TO_ONE),
    ("bound", "delta", DELTA_TO_ONE),
):
    call(f"bayes_dp.audits.profile.Profile.{_name}", getattr(PROFILE, _name), {_argument: 0.1}, **{_argument: _values})
call(
    "bayes_dp.plan_claim",
    bdp.plan_claim,
    {"epsilon": 1.0, "delta": 1e-2, "truth": 3.0, "method": "clopper_pearson"},
    epsilon=number(0, 50, "[]", 1.0),
    delta=DELTA,
    truth=Values(
        (3, 2.5, [0.1, 0.2], (0.1, 0.2), np.array([0.1, 0.2]), GAUSSIAN),
        (-1, math.inf, math.nan, "a", None, True, [0.1], [0.1, 1.1], [0.1, 0.2, 0.3], {}, THING, [[0.1, 0.2]]),
    ),
    power=number(0, 1, "()", 0.8),
    confidence=CONFIDENCE,
    method=one_of("joint_exact", "clopper_pearson", "accuracy", "betting", "one_run"),
)
call(
    "bayes_dp.audits.sequential",
    audits.sequential,
    {"delta": 0.0},
    delta=DELTA,
    confidence=CONFIDENCE,
    method=one_of("betting", "mixture", "one_run"),
    family=besides(one_of("approx", "gaussian", "laplace"), GAUSSIAN),
    pairs=one_of("independent", "dependent"),
    block=Values(
        ((1, 1), [2, 3], (np.int64(2), 1)),
        (None, 1, "a", (), (1,), (1, 2, 3), (0, 1), (1.5, 1), (True, 1), [math.nan, 1], ("a", 1), {}, THING),
    ),
    grid=Values(
        (None, [0, 1], np.array([0.0, 0.5, 50.0]), pd.Series([0.0, 3.0])),
        ([], [0.0], 1.0, [0.1, 1.0], [0.0, 1.0, 1.0], [0.0, 51.0], [0.0, math.nan], [[0.0, 1.0]], ["a"], "a", THING),
    ),
    claim=number(0, 50, optional=True),
    seed=SEED,
)
call(
    "bayes_dp.audits.joint_beta",
    audits.joint_beta,
    {"counts": ONE, "delta": 1e-2},
    counts=besides(thing(ONE, wrong=(ONE_RUN, GUESSES, COUNTS)), names=("joint_beta",)),
    delta=DELTA,
    confidence=CONFIDENCE,
    prior=number(0.5, 1e9, "[]", 1.0),
)
call(
    "bayes_dp.audits.one_run",
    audits.one_run,
    {"guesses": SCORES, "delta": 1e-2},
    guesses=GUESSED,
    delta=DELTA_TO_ONE,
    confidence=CONFIDENCE,
    method=one_of("best", "binomial", "f_dp", "exact"),
    **GUESSING,
)
call(
    "bayes_dp.audits.f_dp",
    audits.f_dp,
    {"guesses": SCORES},
    guesses=GUESSED,
    delta=number(0, 1, "(]", 1e-2, optional=True),
    tau=DELTA_TO_ONE,
    confidence=CONFIDENCE,
    family=Values(
        ("gaussian", "laplace", tradeoff.Gaussian),
        ("Gaussian", "", 3, None, THING, ["gaussian"], True, abs, lambda mu: 3),
        ("function",),
    ),
    **GUESSING,
)
OVERLAP = number(0, 0.5, "(]", 0.3)
call(
    "bayes_dp.audits.compositional",
    audits.compositional,
    {"guesses": SCORES, "delta": 1e-2, "overlap": 0.3},
    guesses=GUESSED,
    delta=besides(DELTA, bad=(None,)),
    overlap=OVERLAP,
    shift_delta=DELTA,
    family=one_of("approx", "gaussian"),
    confidence=CONFIDENCE,
    **GUESSING,
)
DECIDED = thing(SCORES, ONE_RUN, WITH_PROPENSITIES, wrong=(COUNTS, GUESSES, bdp.GuessTable(SCORES.score, MEMBER, 0.4)))
call(
    "bayes_dp.audits.panoramia",
    audits.panoramia,
    {"attack": SCORES, "baseline": SCORES},
    attack=DECIDED,
    baseline=besides(DECIDED, None),
    delta=DELTA,
    gamma=DELTA,
    confidence=CONFIDENCE,
    thresholds=Values(
        (None, 0.5, [0.1, 0.5], pd.Series([1.0])), ("low", [math.nan], [math.inf, "a"], True, [], [[0.1]], THING)
    ),
)
ZERO_RUN = {
    "family": one_of("approx", "gaussian"),
    "directional": flag(),
    "aware": flag(),
    "confidence": CONFIDENCE,
    "propensity": one_of("cautious", "exact"),
} | GUESSING
call(
    "bayes_dp.audits.zero_run",
    audits.zero_run,
    {"guesses": WITH_PROPENSITIES, "delta": 1e-2},
    guesses=besides(
        thing(WITH_PROPENSITIES, attacks.call_members(WITH_PROPENSITIES, 10), wrong=(GUESSES, ONE_RUN)),
        bad=(SCORES,),
        names=("propensity",),
    ),
    delta=OPTIONAL_DELTA,
    form=one_of("tampered", "compositional", optional=True),
    derandomised=flag(),
    overlap=Values((None,), (0.3, "a", True), ()),
    shift_delta=Values((0.0, 0), (0.1, "a", None, math.nan, THING)),
    **ZERO_RUN,
)
call(
    "bayes_dp.audits.zero_run compositional",
    audits.zero_run,
    {"guesses": WITH_PROPENSITIES, "delta": 1e-2, "form": "compositional", "overlap": 0.3},
    overlap=besides(OVERLAP, None),
    shift_delta=DELTA,
)

# Attacks --------------------------------------------------------------------------------------------------------------

SEVERAL = Values(
    (None, 5, [5, 9], (1,), np.array([5.0]), pd.Series([5, 9])),
    (0, [0], [5, 5], 2.5, math.nan, "all", True, [], [[5]], THING, [5, None]),
)
call("bayes_dp.attacks.Fixed", attacks.Fixed, {"n": 3}, n=besides(whole(1, floats=True), bad=([3],)))
for _name in ("Bonferroni", "Uncorrected", "Split", "MultiSplit"):
    _more = {"fraction": number(0, 1, "()", 0.5), "seed": SEED} if "Split" in _name else {}
    _more |= {"splits": whole(2, 1000)} if _name == "MultiSplit" else {}
    call(f"bayes_dp.attacks.{_name}", getattr(attacks, _name), {}, numbers=SEVERAL, **_more)
TABLE = thing(SCORES, WITH_PROPENSITIES, wrong=(GUESSES, COUNTS))
MADE_BY = besides(CHOICE, bad=(None,))
call(
    "bayes_dp.attacks.guess",
    attacks.guess,
    {"table": SCORES, "choice": 10},
    table=besides(TABLE, bad=(bdp.GuessTable(SCORES.score, MEMBER, 0.4),), names=("propensity",)),
    **GUESSING | {"choice": MADE_BY},
)
call(
    "bayes_dp.attacks.call_members",
    attacks.call_members,
    {"table": WITH_PROPENSITIES, "choice": 10},
    table=besides(TABLE, bad=(SCORES,), names=("propensity",)),
    aware=flag(),
    directional=flag(),
    **GUESSING | {"choice": MADE_BY},
)
LOSS_TABLE = thing(LOSSES, wrong=(SCORES, COUNTS, LOSSES.without))
TARGET = numbers(0, 1, "()", 0.3)
TARGET = Values(  # the rates of a curve are in a row
    tuple(v for v in TARGET.good if np.ndim(v) < 2 and np.size(v)), (*TARGET.bad, [], [[0.1]], np.full((2, 1), 0.3))
)
call(
    "bayes_dp.attacks.measure",
    attacks.measure,
    {"table": LOSSES, "target_fpr": 0.3, "shadows": SHADOWS},
    table=LOSS_TABLE,
    target_fpr=TARGET,
    shadows=thing(SHADOWS, wrong=(SCORES, COUNTS, SHADOWS.without)),
)
call(
    "bayes_dp.attacks.measure_fast",
    attacks.measure_fast,
    {"table": LOSSES, "target_fpr": 0.3},
    table=LOSS_TABLE,
    target_fpr=TARGET,
)
call(
    "bayes_dp.attacks.choose_target",
    attacks.choose_target,
    {"table": LOSSES, "grid": [0.1, 0.3]},
    table=LOSS_TABLE,
    grid=Values(
        ([0.1], (0.2, 0.5), np.array([0.5]), pd.Series([0.2])),
        ([], [0.1, 1.0], [[0.1]], ["a"], [0.0], [math.nan], None, "grid", True, THING),
    ),
    fraction=Values((0.5, 0.3), number(0, 1, "()", 0.5).bad + (0.001,)),
    seed=SEED,
    score=Values((None, lambda counts: 1.0), (3, "score", True, [abs], THING, math.nan)),
)

STEPPED = {"inner": RNG.normal(size=(5, 60)) + MEMBER, "member": MEMBER, "claim": bdp.Claim.dp_sgd(1.0, 1.0, 5, 1e-5)}
call(
    "bayes_dp.estimate_steps",
    bdp.estimate_steps,
    STEPPED,
    until="bayes_dp.bayes.white_box:_posterior",
    inner=Values(
        (STEPPED["inner"], STEPPED["inner"][:2]),
        (
            *(
                np.zeros((5, 60)),
                np.zeros(5),
                STEPPED["inner"][:1],
                STEPPED["inner"][:, :3],
                np.full((5, 60), math.nan),
            ),
            *(np.full((5, 60), math.inf), np.ones((6, 60)), "a", True, None, 3.0, THING),
        ),
        ("member",),
    ),
    member=Values(
        (MEMBER, MEMBER.astype(int), MEMBER.tolist()),
        (MEMBER[:-1], MEMBER | True, np.zeros(60, bool), [0.5] * 60, [2] * 60, "a", None, True, 3, THING),
    ),
    claim=thing(STEPPED["claim"], wrong=(CLAIM, bdp.Claim.dp_sgd(1.0, 1.0, 5), bdp.Claim.gaussian(1.0), None)),
    clipped=flag(),
    seed=SEED,
)
call(
    "bayes_dp.StepsPosterior.interval",
    Method(cache(lambda: bdp.estimate_steps(**STEPPED)), "interval"),
    {},
    prob=number(0, 1, "()", 0.9),
    parameter=one_of("epsilon", "noise_multiplier", "sampling_rate", "norm"),
)
TWO_GRADIENTS = {
    "gram": Values(
        (np.eye(2), [[1, 0.5], [0.5, 1]]),
        (
            np.eye(3),
            1.0,
            [1.0, 1.0],
            [[1, 2], [2, 1]],
            [[1, 0], [0, math.nan]],
            [[1, 0], [0, math.inf]],
            "a",
            True,
            None,
        ),
        ("inner",),
    ),
    "inner": Values(
        ([1.0, 0.0], np.zeros(2)),
        ([1.0], 1.0, [], [[1.0, 0.0]], [math.nan, 0.0], [math.inf, 0.0], "a", True, None, THING),
        ("gram", "canaries"),
    ),
}
RATE_OF_SAMPLING = number(0, 1, "(]", 0.5)
call(
    "bayes_dp.attacks.step_scores",
    attacks.step_scores,
    {"gram": np.eye(2), "inner": [1.0, 0.0], "canaries": 1, "noise_multiplier": 1.0, "sampling_rate": 0.5},
    canaries=Values((1, 2), (0, 3, 1.0, -1, "a", True, None, [1], THING)),
    noise_multiplier=Values((0.0, 1.0, 1e3), (-1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    sampling_rate=Values((0.5, 1.0, 1e-3), RATE_OF_SAMPLING.bad),
    clip=Values((1.0, 2.5), (0.0, 0.5, -1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    members=Values((None, 1, 100), (0, 1.5, -1, "a", True, [1], THING)),
    member_sum=Values(
        (None, [1.0, 0.0], np.zeros(2)),
        ([1.0], 1.0, [], [[1.0, 0.0]], [math.nan, 0.0], [math.inf, 0.0], "a", True, THING),
        ("inner",),
    ),
    **TWO_GRADIENTS,
)
call(
    "bayes_dp.attacks.glir_step_scores",
    attacks.glir_step_scores,
    {
        "gram": np.eye(2),
        "inner": [1.0, 0.0],
        "canaries": 1,
        "square": 4.0,
        "parameters": 10,
        "noise_multiplier": 1.0,
        "batch": 4.0,
    },
    canaries=Values((1,), (0, 2, 3, 1.0, "a", True, None, [1], THING), ("gram",)),
    square=Values((0.0, 4.0), (-1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    parameters=Values((1, 10**6), (0, 1.5, -1, "a", True, None, [1], THING)),
    noise_multiplier=Values((0.0, 1.0, 1e3), (-1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    batch=Values((1.5, 64), (1.0, 0.0, -1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    clip=Values((0.5, 1.0), (0.0, -1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    **TWO_GRADIENTS,
)
call(
    "bayes_dp.attacks.printed_step_scores",
    attacks.printed_step_scores,
    {
        "gram": np.eye(2),
        "inner": [1.0, 0.0],
        "canaries": 1,
        "sampling_rate": 0.5,
        "learning_rate": 0.1,
        "batch": 4.0,
    },
    canaries=Values((1,), (0, 2, 3, 1.0, "a", True, None, [1], THING), ("gram",)),
    sampling_rate=Values((0.5, 1.0, 1e-3), RATE_OF_SAMPLING.bad),
    learning_rate=Values((0.1, 1.0), (0.0, -1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    batch=Values((0.5, 64), (0.0, -1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    **TWO_GRADIENTS,
)
COIN_TABLES = [bdp.GuessTable([0.5 * r, 1.0 - r], [r % 2 == 0, r % 2 == 1]) for r in range(4)]
call(
    "bayes_dp.attacks.canary_counts",
    attacks.canary_counts,
    {"runs": COIN_TABLES},
    runs=Values(
        (COIN_TABLES, tuple(COIN_TABLES)), ([], COIN_TABLES[:1], COIN_TABLES[0], [3], 3, "a", None, True, THING)
    ),
    threshold=Values((0.5, [0.0, 1.0]), ([0.0], [[0.0, 1.0]], math.nan, "a", None, True, THING)),
)
call(
    "bayes_dp.attacks.dirac_scores",
    attacks.dirac_scores,
    {"inner": np.zeros((2, 3)), "noise_multiplier": 1.0, "sampling_rate": 0.5},
    inner=Values(
        (np.ones((2, 3)), [[1.0]]), ([1.0], 1.0, np.zeros((0, 3)), [[math.nan]], [[math.inf]], "a", True, None, THING)
    ),
    noise_multiplier=Values((0.5, 1.0), (0.0, -1.0, math.inf, math.nan, "a", True, None, [1.0], THING)),
    sampling_rate=Values((0.5, 1.0, 1e-3), RATE_OF_SAMPLING.bad),
)
call(
    "bayes_dp.attacks.choose_canaries",
    attacks.choose_canaries,
    {"leakage": np.ones((2, 3)), "count": 2},
    leakage=Values(
        (np.ones((2, 3)), np.full((1, 3), 2.0)),
        ([1.0], 1.0, np.zeros((0, 3)), [[-1.0, 2.0]], [[math.nan, 1.0]], [[math.inf, 1.0]], "a", True, None, THING),
    ),
    count=Values((1, 3), (0, 4, 1.5, "a", True, None, [1], THING)),
    by=one_of("sum", "ranks"),
)

# Propensities ---------------------------------------------------------------------------------------------------------

FEATURE = Values(
    (FEATURES, FEATURES[:, :1], FEATURES.tolist(), pd.DataFrame(FEATURES, columns=["a", "b"])),
    (
        FEATURES[:-1],
        FEATURES[:, 0],
        np.full((60, 2), math.nan),
        np.zeros((60, 0)),
        np.zeros((60, 2, 2)),
        None,
        3,
        "a.csv",
        True,
        THING,
        [],
    ),
    ("member", "a.csv"),
)
MEMBERS = Values(TRUTHS.good, TRUTHS.bad + (np.ones(60, bool), np.zeros(60)), ("features",))
call(
    "bayes_dp.propensity.fit",
    propensity.fit,
    {"features": FEATURES, "member": MEMBER},
    features=FEATURE,
    member=MEMBERS,
    estimator=Values((None,), (3, "logistic", True, [1], THING, int)),
    calibration=one_of("platt", "isotonic", "none"),
    categories=Values(((), []), (3, True, [3], THING, ["z"], math.nan, None), ("column",)),
    folds=Values((2, 3, np.int64(2)), (1, 0, -1, 2.0, 2.5, 61, "two", True, None, [2], THING)),
    groups=Values(
        (None, np.arange(60) // 2, [f"g{i // 2}" for i in range(60)]),
        (["a"], "a", 3, THING, [None] * 60, [1.5] * 60, [["a"]] * 60),
    ),
    training=Values(
        (None, (FEATURES, MEMBER)),
        ((FEATURES,), [True], "a", 3, THING, np.zeros(60, bool), [0.5] * 60, np.ones((60, 1))),
    ),
    seed=SEED,
)
call(
    "bayes_dp.propensity.known",
    propensity.known,
    {"values": np.full(60, 0.5), "member": MEMBER},
    values=Values(
        (0.5, [0.5] * 60, pd.Series([0.4] * 60)),
        ([0.5], 0.0, 1.0, [1.0] * 60, math.nan, [math.nan] * 60, None, "half", True, np.full((60, 1), 0.5), THING),
        ("propensity",),
    ),
    member=besides(MEMBERS, names=("values", "propensity")),
)
call(
    "bayes_dp.propensity.falsify",
    propensity.falsify,
    {"propensity": propensity.known(np.full(60, 0.5), MEMBER)},
    propensity=thing(propensity.known(np.full(60, 0.5), MEMBER), wrong=(SCORES, np.full(60, 0.5))),
    challenger=Values((None,), (3, "trees", True, [1], THING, int)),
    features=besides(FEATURE, None, names=("propensity",)),
    level=number(0, 1, "()", 0.05),
    seed=besides(SEED, None),
)
N_JOBS = Values((None, 1, -1), (0, 1.5, "two", True, [1], math.nan, THING))
PROGRESS = Values((None, False), (1, "yes", 0.5, [True], THING, math.nan))
X_OF_SHADOW, Y_OF_SHADOW = RNG.normal(size=(20, 2)), np.arange(20) % 2
call(
    "bayes_dp.attacks.shadow",
    attacks.shadow,
    {"fit": lambda x, y: lambda asked: asked, "x": X_OF_SHADOW, "y": Y_OF_SHADOW, "models": 2},
    fit=Values((lambda x, y: lambda asked: asked,), (3, None, True, "a", [], THING, math.nan)),
    x=Values((X_OF_SHADOW, X_OF_SHADOW[:, ::-1]), (3, None, True, "a", [], X_OF_SHADOW[:7], THING, {}), ("y",)),
    y=Values((Y_OF_SHADOW, [0.0, 1.0] * 10), (3, None, True, "a", [], [0], [2] * 20, THING, math.nan)),
    models=whole(1),
    population=Values((None, (X_OF_SHADOW, [0] * 20)), (3, True, "a", [], X_OF_SHADOW, (X_OF_SHADOW, [0]), THING)),
    output=one_of("logits"),
    checkpoint=Values((None,), (3, True, ["a"], THING, math.nan, {})),
    seed=SEED,
    n_jobs=N_JOBS,
    progress=PROGRESS,
)
REPLICATES = Values((600,), (0, -1, 2.5, 20, math.nan, "many", True, None, [600], THING))
call(
    "bayes_dp.propensity.bootstrap",
    propensity.bootstrap,
    {"learned": Later(learned), "score": SCORES.score, "delta": 1e-2},
    until="bayes_dp.propensity.bootstrapping:_draws",
    learned=thing(Later(learned), wrong=(propensity.known(np.full(60, 0.5), MEMBER), SCORES)),
    score=SCORE,
    delta=OPTIONAL_DELTA,
    replicates=REPLICATES,
    quantile=Values((None, 0.025, 0.01), number(0, 0.06, "()", optional=True).bad),
    form=one_of("tampered", optional=True),
    n_jobs=N_JOBS,
    progress=PROGRESS,
    checkpoint=Values((None,), (3.5, True, ["file"], THING, math.nan)),
    **ZERO_RUN | {"confidence": Values((0.9, 0.5, np.float64(0.95)), (*CONFIDENCE.bad, 1 - 1e-9), ("replicates",))},
)

# Bayes ----------------------------------------------------------------------------------------------------------------

LIKELIHOOD = besides(one_of("binomial"), bad=("normal",))
METHOD = one_of("exact", optional=True)
BAYES = {"prior_epsilon": PRIOR, "prior_strength": PRIOR_STRENGTH}
COUNTED = thing(COUNTS, wrong=(GUESSES, SCORES, (3, 20, 4, 20)))
EVIDENCE = besides(COUNTED, SCORES, names=("guesses",))
OF_COUNTS = Values((None,), (10, attacks.Fixed(10), attacks.Split(), True, THING), ("choice",))
ONE_NUMBER = Values(
    (None, 10, np.int64(10), attacks.Fixed(10), attacks.Split(), attacks.Split([20, 40])),
    (0, 2.5, math.nan, "all", True, [10], THING, 61, attacks.Bonferroni(), attacks.MultiSplit(), attacks.Uncorrected()),
    ("n must", "numbers"),
)
BOUNDED = besides(CONFIDENCE, bad=(np.nextafter(0, 1), np.nextafter(1, 0)))  # of an interval, with bounds beside it
ESTIMATE = {
    "counts": COUNTED,
    "delta": DELTA,
    **BAYES,
    "strength": STRENGTH,
    "likelihood": LIKELIHOOD,
    "method": METHOD,
}
call(
    "bayes_dp.estimate",
    bdp.estimate,
    {"counts": COUNTS, "delta": 1e-2},
    **ESTIMATE | {"counts": EVIDENCE},
    choice=OF_COUNTS,
    groups=Values((None,), ("aggregate", "group", "", 3, True, ["hierarchical"], THING, math.nan)),
    spread=Values((None,), (0.5, "HalfNormal(1)", True, THING)),
    seed=SEED,
    settings=Values((), (), ()),
    family=besides(one_of("approx", "gaussian", "laplace", "pure", "average"), LOGISTIC, bad=(bdp.Family, GAUSSIAN)),
    prior=Values((None,), ("HalfNormal(1)", 3, True, THING)),
)
call("bayes_dp.estimate of scores", bdp.estimate, {"counts": SCORES, "delta": 1e-2, "choice": 20}, choice=ONE_NUMBER)
call(
    "bayes_dp.estimate of a family",
    bdp.estimate,
    {"counts": COUNTS, "delta": 1e-2, "family": "gaussian"},
    **ESTIMATE | {"counts": EVIDENCE, "delta": besides(DELTA, None, bad=(0, 0.0))},
    prior=Values(PRIOR.good, PRIOR.bad, ("mu",)),
    groups=Values((None,), ("aggregate", "", 3, True, THING)),
    spread=Values((None,), (0.5, "HalfNormal(1)", True, THING)),
    seed=SEED,
)
call(
    "bayes_dp.compare_families",
    bdp.compare_families,
    {"counts": COUNTS, "delta": 1e-2, "families": ["approx"]},
    **{name: values for name, values in ESTIMATE.items() if name not in ("likelihood", "method", "delta")},
    delta=besides(DELTA, bad=(0, 0.0)),
    families=Values(
        ("gaussian", ["approx", "gaussian"], ("laplace",), [LOGISTIC]),
        ([], "", "normal", 3, None, True, [3], ["gaussian", "gaussian"], THING),
        ("family",),
    ),
)
call(
    "bayes_dp.Family",
    bdp.Family,
    {"name": "logistic", "f": logistic},
    name=text("gaussian", "with spaces"),
    f=thing(
        logistic,
        wrong=(
            None,
            lambda a: 1 - a,
            lambda a, theta: "a",
            lambda a, theta: 1.0,
            lambda a, theta: a,
            lambda a, theta: np.maximum(0.0, 1 - a * np.exp(theta)),  # not symmetric
        ),
    ),
    most=number(1e-6, math.inf, "[]", 3.0),
)
call("bayes_dp.subsampled_gaussian", bdp.subsampled_gaussian, {"q": 0.3}, q=number(0, 1, "(]", 0.3))
call(
    "bayes_dp.estimate_many",
    bdp.estimate_many,
    {"counts": [COUNTS], "delta": 0.01},
    until="bayes_dp.bayes.exact.many:pool",
    counts=Values(
        ([COUNTS], (COUNTS, COUNTS), []), (COUNTS, 3, "counts.csv", None, [COUNTS, None], [[1, 10, 2, 10]], THING)
    ),
    delta=DELTA,
    **BAYES,
    strength=STRENGTH,
    n_jobs=N_JOBS,
)
CALLED = attacks.call_members(WITH_PROPENSITIES, 40)
call(
    "bayes_dp.estimate_shifted",
    bdp.estimate_shifted,
    {"guesses": CALLED},
    until="bayes_dp.bayes.levels.shifted:ShiftedPosterior",
    guesses=besides(
        thing(CALLED, WITH_PROPENSITIES, wrong=(COUNTS, GUESSES, SCORES, None)),
        bad=(attacks.call_members(WITH_PROPENSITIES, attacks.Bonferroni()),),
        names=("propensity",),
    ),
    delta=DELTA,
    draws=Values(
        (None, np.full((20, 60), 0.4), np.full((1, 60), 5e-324), [[0.5] * 60] * 3, pd.DataFrame(np.full((2, 60), 0.5))),
        (
            0.5,
            [0.5] * 60,
            np.full((20, 59), 0.4),
            np.full((60, 20), 0.4),
            np.full((0, 60), 0.4),
            np.full((2, 60, 1), 0.4),
            np.zeros((2, 60)),
            np.ones((2, 60)),
            np.full((2, 60), math.nan),
            np.full((2, 60), True),
            "many",
            True,
            THING,
        ),
    ),
    known=flag(),
    **BAYES,
    strength=STRENGTH,
    seed=SEED,
)
ROWS = np.arange(6.0).reshape(2, 3)
call(
    "bayes_dp.estimate_curves",
    bdp.estimate_curves,
    {"scores": LOSSES, "delta": 0.3, "family": "pure"},
    until="bayes_dp.bayes.levels.curves:CurvePosterior",
    scores=besides(
        thing(
            LOSSES,
            MATRIX,
            (ROWS, ROWS),
            ([1, 2], [3.0]),
            ([[1.0], [2, 3]], [ROWS[0], [math.inf]]),
            wrong=(
                SCORES,
                COUNTS,
                None,
                (ROWS,),
                (ROWS, ROWS, ROWS),
                [ROWS, ROWS],
                (ROWS, ROWS[:1]),
                (ROWS, np.full((2, 3), math.nan)),
                (ROWS, ROWS > 1),
                (ROWS, ROWS.astype(str)),
                ([[]], [[1.0]]),
                ([], []),
                (ROWS[None], ROWS[None]),
            ),
        ),
        names=("score",),
    ),
    delta=OPTIONAL_DELTA,
    family=besides(
        one_of("gaussian", "laplace", "pure", "average"),
        LOGISTIC,
        [LOGISTIC, "pure"],
        ["gaussian"],
        ("laplace", "pure"),
        bad=("approx", bdp.Family, GAUSSIAN, [], ["average"], ["pure", "pure"]),
        names=("families",),
    ),
    prior=Values(PRIOR.good, (*PRIOR.bad, {"pure": "HalfNormal(1)"}), ("theta",)),
    **BAYES,
    strength=STRENGTH,
    accept_misfit=flag(),
    seed=SEED,
)
call(
    "bayes_dp.estimate_curves of an average",
    bdp.estimate_curves,
    {"scores": LOSSES},
    until="bayes_dp.bayes.levels.curves:CurvePosterior",
    delta=besides(OPTIONAL_DELTA, bad=(0, 0.0)),
    prior=Values(
        (None, {}, {"pure": "HalfNormal(1)"}, {"pure": "HalfNormal(1)", "laplace": "HalfNormal(2)"}),
        ("HalfNormal(1)", 3, True, THING, {"pure": "Normal"}, {"own": "HalfNormal(1)"}, {3: "HalfNormal(1)"}),
        ("theta",),
    ),
)
LAYER = besides(STRENGTH, bad=("tight",))
SAMPLER = {"chains": whole(1), "draws": whole(1), "warmup": whole(0), "seed": SEED, "progress": PROGRESS}
for _method, _first in (("nuts", "draws_of"), ("mhaar", "_run")):
    _base = {"counts": COUNTS, "delta": 1e-2, "method": _method}
    _sampler = {"draws": besides(whole(1), None)}
    if _method == "nuts":
        _sampler = {"target_accept": number(0, 1, "()", 0.9, optional=True)}
    call(
        f"bayes_dp.estimate by {_method}",
        bdp.estimate,
        _base,
        until=f"bayes_dp.bayes.{_method}.posterior:{_first}",
        **{n: v for n, v in ESTIMATE.items() if n not in ("method", "prior_strength")}
        | {"counts": EVIDENCE, "strength": LAYER},
        **SAMPLER | _sampler,
    )
call(
    "bayes_dp.run_nuts",
    bdp.run_nuts,
    {"model": lambda: None},
    until="bayes_dp.bayes.nuts.sampler:sample",
    model=thing(lambda: None, wrong=(None,)),
    **SAMPLER,
    target_accept=number(0, 1, "()", 0.9),
)
SHOWN_GAMES = games.Played(np.tile(MEMBER, (2, 1)), *np.random.default_rng(0).random((2, 2, 60)))
call(
    "bayes_dp.compare",
    bdp.compare,
    {"counts": COUNTS, "delta": 1e-2, "names": ["katz"]},
    counts=besides(EVIDENCE, SHOWN_GAMES[0], bad=(SHOWN_GAMES,)),
    choice=OF_COUNTS,
    delta=DELTA,
    confidence=number(0.5, 1, "()", 0.9),
    overlap=besides(OVERLAP, None),
    baseline=thing(ONE_RUN, wrong=(GUESSES,), optional=True),
    scores=thing(WITH_PROPENSITIES, wrong=(GUESSES, SCORES), optional=True),
    limit=besides(number(0, math.inf, "[)", 2.0), None),
    control=besides(thing(wrong=(GUESSES, SCORES, ONE_RUN)), None),
    claim=CLAIMED,
    **BAYES,
    posteriors=Values((None, {}), (3, [3], {"mine": 3}, {3: 3}, {"katz": 3}, True, THING, "posterior")),
    per_base=flag(),
    names=Values(
        ("katz", ["katz", "accuracy"], ()), ("magic", ["magic"], 3, True, [3], THING, math.nan, [["katz"]]), ("method",)
    ),
)
call(
    "bayes_dp.compare of scores",
    bdp.compare,
    {"counts": SCORES, "delta": 1e-2, "choice": 20, "names": ["katz"]},
    choice=ONE_NUMBER,
)
call(
    "bayes_dp.gate",
    bdp.gate,
    {"counts": COUNTS, "delta": 1e-2, "epsilon": 2.0},
    until="bayes_dp.bayes.exact.posterior:_likelihood",
    counts=EVIDENCE,
    choice=OF_COUNTS,
    delta=DELTA,
    epsilon=number(0, math.inf, "[)", 2.0),
    prob=BOUNDED,
    control=besides(thing(wrong=(GUESSES, SCORES, ONE_RUN)), None),
    seed=SEED,
)

SIGMA = Values(
    (1.1, 0.5, np.float64(1.1), 1e9), (0, -1.0, 1e-9, 0.01, math.inf, math.nan, True, "1.1", None, [1.1], THING)
)
TRAINING = {"noise_multiplier": 1.1, "sampling_rate": 0.01, "steps": 10}
call("bayes_dp.Claim", bdp.Claim, {"epsilon": 1.0}, epsilon=number(0, math.inf, "[)", 1.0), delta=DELTA)
call(
    "bayes_dp.Claim.gaussian",
    bdp.Claim.gaussian,
    {"mu": 1.0},
    mu=number(0, math.inf, "[)", 1.0),
    delta=besides(DELTA, None),
)
call(
    "bayes_dp.Claim.dp_sgd",
    bdp.Claim.dp_sgd,
    TRAINING,
    noise_multiplier=SIGMA,
    sampling_rate=number(0, 1, "(]", 0.01),
    steps=whole(1),
    delta=besides(DELTA, None),
)
call(
    "bayes_dp.Claim.accounted",
    bdp.Claim.accounted,
    {"mechanism": "an event"},  # those of dp_accounting are in tests/claims/test_accountant.py
    mechanism=thing(wrong=(None, GAUSSIAN)),
    delta=Values((), ()),
)
call(
    "bayes_dp.Claim.trade_off",
    bdp.Claim.trade_off,
    {"f": GAUSSIAN},
    f=thing(GAUSSIAN, tradeoff.SubsampledGaussian(1.0, 0.5), wrong=(None, tradeoff.Gaussian)),
    delta=besides(DELTA, None),
)
POLYGON = Polygon(np.array([0.0, 0.1]), np.array([0.01, 0.3]))
call("bayes_dp.tradeoff.polygon.Polygon.inverse", POLYGON.inverse, {}, y=numbers(0, 1))
call("bayes_dp.tradeoff.polygon.Polygon.delta_at", POLYGON.delta_at, {}, epsilon=numbers(0, math.inf, "[)", 1.0))
call("bayes_dp.tradeoff.polygon.Polygon.epsilon_at", POLYGON.epsilon_at, {}, delta=numbers(0, 1))
call("bayes_dp.Claim.epsilon_at", CLAIM.epsilon_at, {}, delta=numbers(0, 1, "[]", 0.1))
call("bayes_dp.Claim.statement", CLAIM.statement, {}, delta=besides(DELTA_TO_ONE, None))
call("bayes_dp.Claim.meaning", CLAIM.meaning, {}, baseline=number(0, 1, "[]", 0.1))
call(
    "bayes_dp.Claim.test",
    CLAIM.test,
    {"evidence": SCORES},
    evidence=thing(
        *(COUNTS, ONE_RUN, GUESSES, SCORES, Later(posterior), audits.katz(COUNTS, 0.1)),
        *(audits.profile([0.1, 0.2], [0.3]), audits.sequential(1e-3, grid=[0, 1])),
        wrong=(None, LOSSES, MEMBER),
    ),
    method=Values((None,), ("joint_exact", "accuracy", "", 3, True, ["accuracy"], THING)),
    confidence=CONFIDENCE,
    choice=CHOICE,
    sides=SIDES,
    seed=SEED,
)


def traced(model: Any) -> Any:
    """The model, run once with a seed."""
    return lambda **arguments: numpyro.handlers.trace(
        numpyro.handlers.substitute(numpyro.handlers.seed(model, 0), PLACES)
    ).get_trace(**arguments)


PLACES = {
    "places": np.zeros((2, 2)),
    "strength_place": 0.0,
    "tau_place": 0.0,
    "rho_place": 0.0,
}  # which have a density, and cannot be drawn
SITES = {"counts": COUNTS, "delta": 1e-2}
OF_MODEL = Values((0.5, 0.0, np.float32(0.25), jnp.array(0.5)), ("many", None, THING, [0.5] * 3, {}, [[0.5, 0.5]]))
call(
    "bayes_dp.bayes_model",
    traced(bdp.bayes_model),
    SITES,
    until="bayes_dp.bayes.nuts.model:_observe",
    counts=COUNTED,
    delta=besides(OF_MODEL, bad=(-0.1, 1.0, math.nan)),
    **BAYES,
    strength=besides(OF_MODEL, "free", bad=(-0.1, 1.0, math.nan)),
    likelihood=Values(("binomial", "beta_binomial"), ("normal", "", 3, True, None, THING)),
)
call(
    "bayes_dp.observe_counts",
    traced(bdp.observe_counts),
    SITES | {"epsilon": 1.0, "strength": 0.5},
    until="bayes_dp.bayes.nuts.model:_observe",
    counts=COUNTED,
    epsilon=besides(OF_MODEL, [1.0, 2.0], bad=(-0.1, math.inf, math.nan)),
    delta=besides(OF_MODEL, [0.1, 0.2], bad=(-0.1, 1.0, math.nan)),
    strength=besides(OF_MODEL, [0.1, 0.2], bad=(-0.1, 1.0, math.nan)),
    likelihood=Values(("binomial", "beta_binomial", abs), ("normal", "", 3, True, None, THING)),
    tau=OF_MODEL,
    rho=OF_MODEL,
)
call(
    "bayes_dp.check",
    bdp.check,
    {"posterior": Later(posterior), "size": 20},
    posterior=thing(Later(posterior), wrong=(COUNTS, None)),
    size=whole(2),
    seed=SEED,
)
call(
    "bayes_dp.records",
    bdp.records,
    {"post": Later(family_posterior)},
    post=thing(Later(family_posterior), wrong=(COUNTS, Later(posterior), None)),
    epsilon=number(0, math.inf, "[)", 2.0),
    delta=number(0, 1, "()", 1e-2, optional=True),
    q=number(0, 1, "()", 0.1),
    prob=CONFIDENCE,
)
call(
    "bayes_dp.compare_likelihoods",
    bdp.compare_likelihoods,
    {"counts": COUNTS, "delta": 1e-2, "likelihoods": ["binomial"], "size": 20},
    until="bayes_dp.bayes.exact.posterior:_likelihood",
    counts=COUNTED,
    delta=DELTA,
    likelihoods=Values(
        (["binomial"], ("binomial",), "binomial"),
        ([], ["normal"], "normal", 3, True, None, THING, ["binomial", "binomial"], [["binomial"]]),
    ),
    size=Values((2, 20), whole(2).bad),
    seed=Values((0, 1), SEED.bad),
)
call(
    "bayes_dp.Likelihood",
    bdp.Likelihood,
    {"name": "mine", "log_g": lambda counts, alpha, beta: alpha},
    name=besides(text("mine", "two words"), bad=("",)),
    log_g=thing(lambda counts, alpha, beta: alpha, wrong=(None,)),
    priors=Values((None, {}), (3, ["a"], True, {"a": "Normal(0, 1)"}, {3: 3}, THING, "a"), ("log_g", "parameter")),
    assumption=text("", "A sentence."),
    correlated=flag(),
    sampler=thing(lambda rng, counts, alpha, beta: None, optional=True),
)
call(
    "bayes_dp.plan",
    bdp.plan,
    {"given": COUNTS, "delta": 1e-2, "width": 1.0},
    until="bayes_dp.planning.plan:Work",
    given=thing(COUNTS, bdp.Experiment(2, 10, 10), wrong=(GUESSES, None)),
    delta=DELTA,
    width=number(0, math.inf, "()", 1.0),
    prob=CONFIDENCE,
    assurance=CONFIDENCE,
    vary=one_of("both", "challenges", "bases"),
    largest=number(1, math.inf, "[)", 2.0),
    **BAYES,
    strength=LAYER,
    repetitions=whole(2),
    seed=SEED,
    n_jobs=N_JOBS,
    progress=PROGRESS,
)
call(
    "bayes_dp.Experiment",
    bdp.Experiment,
    {"bases": 2, "negatives": 10, "positives": 10},
    bases=whole(1),
    negatives=whole(1),
    positives=whole(1),
    epsilon=Values(
        (None, 1.0, 0.0, "HalfNormal(1)"), (-1.0, math.nan, math.inf, "", "one", True, [1.0], THING), ("prior",)
    ),
    strength=Values((None, 0.5, "Beta(2, 2)", 0.0), (-0.1, 1.5, math.nan, "", "one", True, [0.5], THING), ("prior",)),
)
call(
    "bayes_dp.report",
    bdp.report,
    {"counts": COUNTS, "delta": 1e-2},
    until="bayes_dp.bayes.exact.posterior:_likelihood",
    counts=besides(EVIDENCE, SHOWN_GAMES[0], bad=(SHOWN_GAMES,)),
    choice=OF_COUNTS,
    delta=DELTA,
    prob=BOUNDED,
    limit=besides(number(0, math.inf, "[)", 2.0), None),
    control=besides(thing(wrong=(GUESSES, SCORES, ONE_RUN)), None),
    scores=besides(thing(wrong=(GUESSES, SCORES, WITH_PROPENSITIES)), None),
    claim=CLAIMED,
    **BAYES,
    strength=STRENGTH,
    likelihood=LIKELIHOOD,
    method=METHOD,
    seed=SEED,
    title=text("a title", optional=True),
    source=text("a file", optional=True),
)
PROB = number(0, 1, "()", 0.9)

# Figures --------------------------------------------------------------------------------------------------------------

POST = thing(Later(posterior), wrong=(COUNTS, None, audits.katz(COUNTS, 0.1)))
DRAWS = RNG.normal(size=(2, 40))
CHAINS = besides(
    thing(DRAWS, DRAWS.tolist(), wrong=(COUNTS, None, DRAWS[0], DRAWS[:, :3], np.full((2, 40), math.nan))),
    bad=(Later(posterior),),
    names=("draws",),
)
NAME = text("x", optional=True)
call(
    "bayes_dp.plots.autocorrelation",
    plots.autocorrelation,
    {"post": DRAWS},
    post=CHAINS,
    ax=AXES,
    parameter=NAME,
    lags=whole(1),
    **LOOK,
)
call("bayes_dp.plots.ess", plots.ess, {"post": DRAWS}, post=CHAINS, ax=AXES, parameter=NAME, **LOOK)
call("bayes_dp.plots.rank", plots.rank, {"post": DRAWS}, post=CHAINS, ax=AXES, parameter=NAME, bins=whole(2), **LOOK)
call("bayes_dp.plots.trace", plots.trace, {"post": DRAWS}, post=CHAINS, ax=AXES, parameter=NAME, **LOOK)
ROW = Values(
    ([0.1, 0.5], (0.1, 0.9), pd.Series([0.5, 0.6])),
    ([], 0.5, "a", [math.nan, 1.0], None, True, THING, [[0.1], [0.2]], ["a", "b"]),
)
GAMES_DRAWN = thing(SHOWN_GAMES, {"E5": SHOWN_GAMES}, wrong=(None, {"E5": 3}, {"baseline": SHOWN_GAMES}, SCORES))
call(
    "bayes_dp.plots.precision",
    plots.precision,
    {"played": SHOWN_GAMES},
    played=GAMES_DRAWN,
    ax=AXES,
    game=Values((0, 1, np.int64(1)), (2, -1, 0.5, "0", None, True, [0], THING)),
    **LOOK,
)
call(
    "bayes_dp.plots.closeness",
    plots.closeness,
    {"played": SHOWN_GAMES},
    played=GAMES_DRAWN,
    ax=AXES,
    confidence=CONFIDENCE,
    **LOOK,
)
REMEMBERED = audits.katz(COUNTS, 0.1)
call(
    "bayes_dp.plots.remembered",
    plots.remembered,
    {"bounds": {"none": {1.0: REMEMBERED}}},
    bounds=Values(
        ({"none": {math.inf: REMEMBERED}, "noise": {2: REMEMBERED}},),
        ({}, {"none": {}}, {"none": 3}, {"none": {-1.0: REMEMBERED}}, {"none": {1.0: 3}}, "a", 3, True, None, THING),
    ),
    ax=AXES,
    **LOOK,
)
call(
    "bayes_dp.plots.sensitivity",
    plots.sensitivity,
    {"curve": CURVE},
    curve=thing(CURVE, wrong=(COUNTS, None, REMEMBERED)),
    ax=AXES,
    **LOOK,
)
call(
    "bayes_dp.plots.sbc_ranks",
    plots.sbc_ranks,
    {"ranks": [0.1, 0.5]},
    ranks=besides(ROW, bad=([-0.1], [1.1])),
    ax=AXES,
    bins=whole(2),
    prob=PROB,
    **LOOK,
)
call(
    "bayes_dp.plots.epsilon_delta",
    plots.epsilon_delta,
    {"given": audits.katz(COUNTS, 0.1), "deltas": [0.01, 0.1]},
    given=thing(audits.katz(COUNTS, 0.1), PROFILE, wrong=(COUNTS, None, GAUSSIAN)),
    ax=AXES,
    deltas=besides(ROW, None, bad=([0.5], [0.0, 0.5], [0.5, 1.0])),
    prob=PROB,
    **LOOK,
)
call(
    "bayes_dp.plots.running",
    plots.running,
    {"audit": audits.sequential(1e-3, grid=[0, 1])},
    audit=thing(audits.sequential(1e-3, grid=[0, 1]), wrong=(COUNTS, None)),
    ax=AXES,
    posteriors=Values((None, {}), (3, [1], {"a": 1}, {1: COUNTS}, {-1: COUNTS}, THING, "a")),
    prob=PROB,
    **LOOK,
)
call(
    "bayes_dp.plots.bases",
    plots.bases,
    {"counts": ONE, "bound": audits.katz(ONE, 0.1)},
    counts=thing(ONE, wrong=(GUESSES, None)),
    bound=thing(audits.katz(ONE, 0.1), wrong=(COUNTS, audits.f_dp(GUESSES), None)),
    ax=AXES,
    **LOOK,
)
call(
    "bayes_dp.plots.error_curves",
    plots.error_curves,
    {"curve": attacks.measure_fast(LOSSES, [0.1, 0.5])},
    curve=thing(attacks.measure_fast(LOSSES, [0.1, 0.5]), wrong=(COUNTS, None)),
    ax=AXES,
    **LOOK,
)
call(
    "bayes_dp.plots.predictive",
    plots.predictive,
    {"post": Later(posterior)},
    post=POST,
    ax=AXES,
    prob=PROB,
    seed=SEED,
    **LOOK,
)
call(
    "bayes_dp.plots.families",
    plots.families,
    {"found": Later(families)},
    found=thing(Later(families), Later(average_of_curves), wrong=(COUNTS, None)),
    ax=AXES,
    prob=PROB,
    **LOOK,
)
call(
    "bayes_dp.plots.levels",
    plots.levels,
    {"post": Later(family_posterior)},
    post=thing(
        Later(family_posterior), Later(curves), Later(average_of_curves), wrong=(COUNTS, Later(posterior), None)
    ),
    ax=AXES,
    prob=PROB,
    **LOOK,
)
call(
    "bayes_dp.plots.records",
    plots.records,
    {"found": Later(of_records)},
    found=thing(Later(of_records), wrong=(COUNTS, None)),
    ax=AXES,
    **LOOK,
)
call(
    "bayes_dp.plots.forest",
    plots.forest,
    {"comparison": Later(comparison)},
    comparison=thing(Later(comparison), wrong=(COUNTS, None)),
    ax=AXES,
    truth=number(0, math.inf, "[)", 1.0, optional=True),
    **LOOK,
)
call(
    "bayes_dp.plots.joint",
    plots.joint,
    {"post": Later(posterior), "size": 50},
    post=POST,
    ax=AXES,
    size=whole(1),
    seed=SEED,
    **LOOK,
)
call(
    "bayes_dp.plots.posterior",
    plots.posterior,
    {"post": Later(posterior)},
    post=POST,
    ax=AXES,
    parameter=PARAMETER,
    prob=PROB,
    **LOOK,
    thresholds=Values(
        ((), 1.0, [1, 2], np.array(1.0), pd.Series([1.0])), ("a", [math.nan], None, True, [[1.0]], THING)
    ),
)
call(
    "bayes_dp.plots.prior_posterior",
    plots.prior_posterior,
    {"post": Later(posterior)},
    post=POST,
    ax=AXES,
    parameter=PARAMETER,
    prob=PROB,
    **LOOK,
)
for _name in ("roc", "scores"):
    _more = {"confidence": CONFIDENCE} if _name == "roc" else {"bins": whole(2)}
    call(
        f"bayes_dp.plots.{_name}",
        getattr(plots, _name),
        {"table": SCORES},
        table=besides(
            thing(SCORES, wrong=(GUESSES, COUNTS)), bad=(bdp.GuessTable([1.0, 2.0], [1, 1]),), names=("all",)
        ),
        ax=AXES,
        **LOOK,
        **_more,
    )
call(
    "bayes_dp.plots.propensities",
    plots.propensities,
    {"propensity": [0.1, 0.5], "member": [True, False]},
    propensity=besides(ROW, bad=([0.5, 1.1], [0.5]), names=("propensities",)),
    ax=AXES,
    member=Values(
        ([True, False], [1, 0], pd.Series([1.0, 0.0])),
        ([True], [2, 0], "a", None, THING, ["in", "out"], [math.nan, 1], True),
    ),
    overlap=besides(OVERLAP, None),
    bins=whole(2),
    **LOOK,
)
call(
    "bayes_dp.plots.roc_plane",
    plots.roc_plane,
    {"attacks": COUNTS, "epsilon": 1.0, "delta": 0.1},
    attacks=thing(COUNTS, wrong=(SCORES,), optional=True),
    ax=AXES,
    post=besides(POST, None),
    epsilon=number(0, math.inf, "[)", 1.0),
    delta=number(0, 1, "[]", 0.1),
    strength=number(0, 1, "[)", 0.5),
    prob=PROB,
    **LOOK,
)
call(
    "bayes_dp.plots.tradeoff",
    plots.tradeoff,
    {"post": Later(posterior)},
    post=POST,
    ax=AXES,
    prob=PROB,
    others=Values((None, {}, {"mine": GAUSSIAN}), (3, [GAUSSIAN], "mine", True, {"mine": 3}, {3: GAUSSIAN}, THING)),
    **LOOK,
)
call("bayes_dp.plots.widths", plots.widths, {"plan": PLAN}, plan=thing(PLAN, wrong=(COUNTS, None)), ax=AXES, **LOOK)

# Mathematics ----------------------------------------------------------------------------------------------------------

FRACTION, POSITIVE, FINE = numbers(0, 1, "[]", 0.3), numbers(0, math.inf, "[)", 1.0), numbers(0, 1, "[)", 0.5)
PLANE = {
    "alpha": FRACTION,
    "beta": FRACTION,
    "u": FRACTION,
    "v": FRACTION,
    "epsilon": POSITIVE,
    "delta": FRACTION,
    "strength": FINE,
}
MATHS = {"mu": POSITIVE, "advantage": FRACTION, "total_epsilon": POSITIVE, "k": whole(1)} | PLANE
SIZE = Values(((2, 2), 3, np.int64(1), (), 0, (2, 0)), (-1, 2.5, "many", True, None, (2, -1), [2.5], THING, math.nan))
GENERATOR = thing(np.random.default_rng(0), wrong=(None, 0, np.random, np.random.RandomState(0)))


def maths(module: ModuleType, name: str, **others: Values) -> None:
    """A function of numbers, all of which have the ranges that their names say."""
    function = getattr(module, name)
    arguments = {p: others.get(p) or MATHS[p] for p in inspect.signature(function).parameters}
    call(f"{module.__name__}.{name}", function, {p: values.good[0] for p, values in arguments.items()}, **arguments)


def filling(values: Values) -> Values:
    """The values of a shape that can be broadcast to (2, 2)."""
    return Values(tuple(v for v in values.good if np.size(v)), values.bad, values.names)


for _name in region.__all__:
    _more = {"size": SIZE, "rng": GENERATOR, "order": whole(1)}
    if _name.startswith("sample"):
        _more |= {name: filling(PLANE[name]) for name in ("epsilon", "delta", "strength")}
    if _name == "sample_boundary":
        _more["delta"] = filling(numbers(0, 1, "[)", 0.1))
    elif _name == "cubature":
        _more |= {
            "epsilon": number(0, math.inf, "[)", 1.0),
            "delta": number(0, 1, "[]", 0.1),
            "strength": number(0, 1, "[)", 0.5),
        }
    maths(region, _name, **_more)
MEANINGS = {
    "bayes_risk": {"prior": numbers(0, 1, "()", 0.5)},
    "largest_tpr": {"fpr": numbers(0, 1)},
    "reconstruction": {"baseline": numbers(0, 1)},
}
for _name in tradeoff.__all__:
    if not inspect.isclass(getattr(tradeoff, _name)) and _name not in ("require_symmetric", *MEANINGS):
        maths(tradeoff, _name)
for _name, _more in MEANINGS.items():
    _base = {"f": GAUSSIAN} | {p: values.good[0] for p, values in _more.items()}
    call(f"bayes_dp.tradeoff.{_name}", getattr(tradeoff, _name), _base, f=thing(GAUSSIAN), **_more)
for _name, _parameters in (
    ("ApproxDP", ("epsilon", "delta")),
    ("Gaussian", ("mu",)),
    ("Laplace", ("mu",)),
    ("SubsampledGaussian", ("mu", "rate")),
):
    _ranges = {
        "rate": number(0, 1, "(]", 0.5),
        "epsilon": number(0, math.inf, "[)", 1.0),
        "mu": number(0, math.inf, "[)", 1.0),
        "delta": number(0, 1, "[]", 0.1),
    }
    _class = getattr(tradeoff, _name)
    call(f"bayes_dp.tradeoff.{_name}", _class, dict.fromkeys(_parameters, 0.5), **{p: _ranges[p] for p in _parameters})
    for _method, _argument in (
        ("__call__", "alpha"),
        ("inverse", "y"),
        ("delta_at", "epsilon"),
        ("epsilon_at", "delta"),
    ):
        call(
            f"{_class.__module__}.{_name}.{_method}",
            getattr(_class(*[0.5] * len(_parameters)), _method),
            {_argument: 0.3},
            **{_argument: POSITIVE if _argument == "epsilon" else FRACTION},
        )
call(
    "bayes_dp.tradeoff.TradeOff",
    tradeoff.TradeOff,
    {"function": lambda alpha: 1 - alpha},
    function=thing(
        lambda alpha: 1 - alpha,
        wrong=(None, lambda alpha: alpha, lambda alpha: "a", lambda alpha: 2 - alpha, lambda: 0),
    ),
)
for _method, _argument in (("inverse", "y"), ("delta_at", "epsilon"), ("epsilon_at", "delta")):
    _range = POSITIVE if _argument == "epsilon" else FRACTION
    call(
        f"bayes_dp.tradeoff.functions.TradeOff.{_method}",
        getattr(tradeoff.TradeOff(lambda alpha: 1 - alpha), _method),
        {_argument: 0.3},
        **{_argument: Values((0.3, 0, [0.3]), _range.bad)},
    )
call(
    "bayes_dp.tradeoff.require_symmetric",
    tradeoff.require_symmetric,
    {"f": GAUSSIAN},
    f=thing(GAUSSIAN, wrong=(None, tradeoff.TradeOff(lambda a: np.maximum(0, 1 - a / 0.7)))),
)

# Leakage of a datum in a mean -----------------------------------------------------------------------------------------

SCORE_OF_DATUM = Values(
    (*POSITIVE.good, math.inf, [0.0, math.inf]), tuple(v for v in POSITIVE.bad if v is not math.inf)
)
SUBSAMPLE = numbers(0, 1, "(]", 0.5)
LEAKING = {
    "score": SCORE_OF_DATUM,
    "alpha": FRACTION,
    "epsilon": POSITIVE,
    "delta": FRACTION,
    "subsample": SUBSAMPLE,
    "m_targ": numbers(0, math.inf, "()", 1.0),
    "m_scal": numbers(-math.inf, math.inf, "()", 0.5),
}
ONE_SUBSAMPLE = number(0, 1, "(]", 0.5)
for _name in (
    *("advantage", "delta", "epsilon", "power", "power_as_printed"),
    *("misspecified_power", "misspecified_advantage"),
):
    _function = getattr(leakage, _name)
    _ranges = {p: LEAKING[p] for p in inspect.signature(_function).parameters}
    call(f"bayes_dp.leakage.{_name}", _function, {p: values.good[0] for p, values in _ranges.items()}, **_ranges)
call(
    "bayes_dp.leakage.average_power",
    leakage.average_power,
    {"score": [0.5, 2.0], "alpha": 0.1},
    score=Values(
        ([0.5], (0.0, 2.0), np.ones(3)), (1.0, [], [[1.0]], [-1.0], [math.inf], [math.nan], "a", True, None, THING)
    ),
    alpha=FRACTION,
    subsample=ONE_SUBSAMPLE,
)
call(
    "bayes_dp.leakage.trade_off",
    leakage.trade_off,
    {"score": 2.0},
    score=number(0, math.inf, "[)", 2.0),
    subsample=ONE_SUBSAMPLE,
)
DATUM = Values(
    ([1.0, 2.0], np.ones(2), np.ones((3, 2)), [[1, 2]]),
    (
        [1.0],
        1.0,
        [1.0, math.nan],
        [1.0, math.inf],
        ["a", "b"],
        [True, False],
        np.ones((2, 3)),
        np.ones((1, 1, 2)),
        None,
        THING,
    ),
)
DATUM_OF_GAME = besides(DATUM, names=("targets",))
LAW = {
    "mean": Values(
        ([0.0, 0.5], np.zeros(2), pd.Series([0.0, 1.0])),
        (0.0, [], [[0.0, 1.0]], [0.0, math.nan], [0.0, math.inf], "a", True, None, THING),
    ),
    "covariance": Values(
        ([1.0, 2.0], np.eye(2), [[2, 1], [1, 2]]),
        (
            1.0,
            [1.0],
            np.eye(3),
            [1.0, 0.0],
            [1.0, -1.0],
            [[1, 1], [1, 1]],
            [[1, 0.5], [0, 1]],
            [1.0, math.nan],
            "a",
            True,
            None,
        ),
    ),
    "n": whole(1),
    "noise": Values(
        (0.0, 1, [0.5, 0.0], np.ones(2)), (-1.0, [1.0], [0.5, -1.0], math.nan, math.inf, "a", True, None, THING)
    ),
}
KNOWN_LAW = {"mean": [0.0, 0.5], "covariance": [1.0, 2.0], "n": 10}
call("bayes_dp.leakage.score", leakage.score, {"z": [1.0, 2.0], **KNOWN_LAW}, z=DATUM, **LAW)
call(
    "bayes_dp.leakage.alignment",
    leakage.alignment,
    {"target": [1.0, 2.0], "truth": [0.0, 2.0], **KNOWN_LAW},
    target=DATUM,
    truth=DATUM,
    **LAW,
)
RELEASE = Values(
    (np.zeros((3, 2)), [[0.1, 0.2]] * 3),
    ([0.1, 0.2], 1.0, np.zeros((3, 3)), [[math.nan, 0.0]] * 3, [[math.inf, 0.0]] * 3, "a", True, None, THING),
    ("target", "mean", "reference"),
)
TARGET = Values(
    ([1.0, 2.0], np.ones(2), np.ones((3, 2))),
    ([1.0], 1.0, [1.0, math.nan], [1.0, math.inf], ["a", "b"], np.ones((2, 2)), np.ones((1, 1, 2)), None, THING),
)
RELEASED = {"release": np.zeros((3, 2)), "target": [1.0, 2.0]}
call(
    "bayes_dp.leakage.likelihood_ratio",
    leakage.likelihood_ratio,
    RELEASED | KNOWN_LAW,
    release=RELEASE,
    target=TARGET,
    subsample=Values((0.1, 0.5, np.float64(1.0)), (0.09, *ONE_SUBSAMPLE.bad)),
    **LAW | {"n": whole(1)},
)
REFERENCE = Values(
    (np.eye(2), RNG.normal(size=(9, 2))),
    (np.eye(3), [1.0, 2.0], np.zeros((1, 2)), np.full((3, 2), math.nan), np.full((3, 2), math.inf), "a", True, None),
)
call(
    "bayes_dp.leakage.plug_in",
    leakage.plug_in,
    RELEASED | {"reference": RNG.normal(size=(9, 2)), "n": 10},
    release=RELEASE,
    target=TARGET,
    reference=REFERENCE,
    n=LAW["n"],
    noise=LAW["noise"],
    subsample=Values((0.1, 0.5, np.float64(1.0)), (0.09, *ONE_SUBSAMPLE.bad)),
)
call(
    "bayes_dp.leakage.scalar_product",
    leakage.scalar_product,
    RELEASED | {"reference": [0.0, 1.0]},
    release=RELEASE,
    target=TARGET,
    reference=Values(([0.0, 1.0], np.zeros(2)), ([0.0], 1.0, [0.0, math.nan], np.eye(2), "a", True, None, THING)),
)
X_OF_PAIRS, Y_OF_PAIRS = RNG.normal(size=(100, 2)), np.arange(100) % 2
DATA_SETS = games.DataSets(lambda rng, n: rng.normal(size=(n, 2)), lambda data, rng: data.mean(axis=0), 5)
PLAYED = {
    "mechanism": thing(DATA_SETS, wrong=(None, games.DataSets)),
    "score": thing(lambda release, target: release[:, 0], wrong=(None, lambda release, target: release)),
    "rounds": Values((2, 3, np.int64(2)), (*whole(2).bad,)),
    "seed": SEED,
}
_base = {"mechanism": DATA_SETS, "score": PLAYED["score"].good[0], "rounds": 4}
call("bayes_dp.games.average_datum", games.average_datum, _base, **PLAYED)
call("bayes_dp.games.fixed_datum", games.fixed_datum, _base | {"target": [1.0, 2.0]}, target=DATUM_OF_GAME, **PLAYED)
call(
    "bayes_dp.games.DataSets",
    games.DataSets,
    {"law": DATA_SETS.law, "release": DATA_SETS.release, "n": 5},
    law=thing(DATA_SETS.law, wrong=(None,)),
    release=thing(DATA_SETS.release, wrong=(None,)),
    n=whole(1),
)
MANY = Values((np.zeros((3, 2)), [[1, 2]]), ([[1.0]], [1.0], [[math.nan, 1.0]], "a", True, None, THING))
ROUNDS = whole(0)
for _name, _values in (("data", {"rounds": ROUNDS}), ("without", {"rounds": ROUNDS}), ("with_", {"targets": MANY})):
    call(
        f"bayes_dp.games.per_datum.DataSets.{_name}",
        getattr(DATA_SETS, _name),
        {"rng": np.random.default_rng(0)} | {name: values.good[-1] for name, values in _values.items()},
        **_values,
    )
call(
    "bayes_dp.games.counts",
    games.counts,
    {"table": SCORES},
    table=thing(SCORES, wrong=(COUNTS, None)),
    threshold=number(-math.inf, math.inf, "[]", 0.5),
    per_base=Values((False,), (*flag().bad, True), ("base",)),
)
call(
    "bayes_dp.games.LabelGame",
    games.LabelGame,
    {"labels": CLASSES, "proxy": PROXY, "score": MODEL},
    labels=OF_CLASSES,
    proxy=Values((PROXY,), (*PROBABILITIES, None), ("labels", "score")),
    score=Values((MODEL, -MODEL, MODEL * math.inf), (MODEL[:-1], MODEL * math.nan, None, 3, "a", THING)),
)
_game = games.LabelGame([0, 1, 1], [[0.5, 0.5]] * 3, [[-1.0, 1.0]] * 3)
call("bayes_dp.games.labels.LabelGame.play", _game.play, {}, seed=SEED)
ATTRIBUTES = Values((np.zeros((3, 2)), [[1], [2], [3]]), ([1, 2, 3], [[math.nan]] * 3, "a", True, None, 3, THING))
IMPUTER = SimpleNamespace(
    sample=lambda public, seed: np.random.default_rng(seed).normal(size=(len(public), 1)),
    log_prob=lambda public, values: values[:, 0],
)
call(
    "bayes_dp.games.AttributeGame",
    games.AttributeGame,
    {"public": [[0.0]] * 3, "values": [[1.0]] * 3, "imputer": IMPUTER, "score": lambda public, values: values[:, 0]},
    public=besides(ATTRIBUTES, np.zeros((3, 0)), bad=(np.zeros((2, 1)),)),
    values=besides(ATTRIBUTES, bad=(np.zeros((3, 0)), np.zeros((2, 1)))),
    imputer=Values((IMPUTER,), (None, 3, "a", True, THING, [1.0])),
    score=thing(lambda public, values: values[:, 0], wrong=(None,)),
    relative=flag(),
)
_game = games.AttributeGame([[0.0]] * 3, [[1.0]] * 3, IMPUTER, lambda public, values: values[:, 0])
call("bayes_dp.games.attributes.AttributeGame.play", _game.play, {}, seed=SEED)
OF_THREE = Values(([0.1, 0.2, 0.3], np.zeros(3)), ([1, 2], [[1, 2, 3]], [math.nan] * 3, "a", True, None, 3, THING))
call("bayes_dp.games.MembershipCoins", games.MembershipCoins, {"n": 3}, n=whole(1), seed=SEED)
call("bayes_dp.games.membership.MembershipCoins.table", games.MembershipCoins(3).table, {}, score=OF_THREE)
call(
    "bayes_dp.games.shown_members",
    games.shown_members,
    {"training": [1.0, 2.0, 3.0], "fresh": [0.0, 1.0, 2.0]},
    training=besides(OF_THREE, names=("fresh",)),
    fresh=OF_THREE,
    seed=SEED,
)
call(
    "bayes_dp.games.LabelCanaries", games.LabelCanaries, {"n": 3, "classes": 2}, n=whole(1), classes=whole(2), seed=SEED
)
call(
    "bayes_dp.games.label_canaries.LabelCanaries.table",
    games.LabelCanaries(3, 2).table,
    {},
    score=Values((np.zeros((3, 2)), [[-math.inf, 0]] * 3), (np.zeros((3, 3)), [1, 2], "a", True, None, THING)),
)
COINS, CHANCES = (RNG.random((2, 60)) < 0.5), RNG.random((2, 60))
IN_GAMES = Values((CHANCES, CHANCES.tolist()), (CHANCES[:1], 2 * CHANCES + 1, CHANCES * math.nan, None, 3, "a", THING))
SHARES = Values(
    ((0.1, 0.5), [0.1], 0.2, 1.0, 1e-9, pd.Series([0.1])), ([], [0.0], 1.5, [[0.1]], math.nan, "a", True, None, THING)
)
call(
    "bayes_dp.games.Played",
    games.Played,
    {"member": COINS, "baseline": CHANCES, "attack": CHANCES},
    member=Values((COINS, COINS.tolist()), (COINS[0], CHANCES, [], None, 3, "a", THING)),
    baseline=IN_GAMES,
    attack=IN_GAMES,
    control=besides(IN_GAMES, None),
    shares=SHARES,
    generated=flag(),
    sizes=Values(({}, {"audit": 60}), (3, None, "a", True, [1], THING, math.nan)),
    copied=Values((0.0, 0.5, -1, np.float64(0.1)), (1.5, math.nan, "a", True, None, [0.5], THING)),
)
GAMES_PLAYED = games.Played(COINS, CHANCES, CHANCES)
for _name in ("tables", "table"):
    _full = f"bayes_dp.games.played.Played.{_name}"
    call(
        _full,
        getattr(GAMES_PLAYED, _name),
        {},
        game=Values((0, 1, -1, np.int64(1)), (2, -3, 0.5, "0", None, True, [0])),
    )
LINEAR = Values((None, LogisticRegression()), (3, "trees", True, [1], THING, int, math.nan))
GAMES = {
    "seeds": whole(1),
    "seed": SEED,
    "n_jobs": N_JOBS,
    "progress": PROGRESS,
    "checkpoint": Values((None,), (3, True, ["a"], THING, math.nan, {})),
}
SAID = Values(
    ((Y_OF_PAIRS, Y_OF_PAIRS), [Y_OF_PAIRS, Y_OF_PAIRS[:, None]]),
    (
        Y_OF_PAIRS,
        (Y_OF_PAIRS[:9], Y_OF_PAIRS),
        (["a"] * 50, Y_OF_PAIRS),
        (Y_OF_PAIRS * math.nan, 3),
        3,
        "ab",
        None,
        THING,
    ),
)
call(
    "bayes_dp.games.coin_pairs",
    games.coin_pairs,
    {"features": (X_OF_PAIRS, X_OF_PAIRS), "target": (Y_OF_PAIRS, Y_OF_PAIRS)},
    until="bayes_dp.games.pairs:play_all",
    features=Values(
        ((X_OF_PAIRS, X_OF_PAIRS), (X_OF_PAIRS * math.nan, X_OF_PAIRS)),
        (X_OF_PAIRS, (X_OF_PAIRS, X_OF_PAIRS[:, :1]), (X_OF_PAIRS + math.inf, X_OF_PAIRS), ("a", "b"), 3, None, THING),
    ),
    target=SAID,
    control=besides(SAID, None),
    real=flag(),
    training=Values((0.4, 0.6), (0, 1, 0.0, math.nan, "a", None, True, [0.5])),
    shares=SHARES,
    attack_classifier=LINEAR,
    baseline_classifier=LINEAR,
    **GAMES,
)


class _Generator:
    def fit(self, x: Any) -> None: ...

    def sample(self, n: int, seed: int) -> Any:
        return np.zeros((n, 2))


CALLED = Values((None, lambda x: x), (3, "a", True, [1], THING, math.nan))
call(
    "bayes_dp.games.Panoramia",
    games.Panoramia,
    {"x": X_OF_PAIRS, "generator": _Generator(), "helper": lambda x: x},
    x=Values((X_OF_PAIRS, X_OF_PAIRS.tolist()), (3, None, True, "a", [], X_OF_PAIRS[:7], THING, {}), ("members",)),
    y=Values((None, Y_OF_PAIRS, Y_OF_PAIRS.tolist()), (3, True, "a", [], [0], [[1], [1, 2]], THING, math.nan)),
    generator=Values((_Generator(),), (3, None, True, "a", _Generator, THING, math.nan)),
    real=Values((None,), (X_OF_PAIRS, 3, True, "a", THING), ("generator",)),
    helper=CALLED,
    helpers=Values((None, ("generated",), ["members"], "members", ()), ("all", 3, True, ["a"], [1], THING, math.nan)),
    features=CALLED,
    parts=Values(
        ((0.4, 0.3), [30, 0.3], (30, 30)),
        (3, None, "ab", (0.5,), (0.9, 0.05), (0, 0.5), ("a", 1), (30.5, 9)),
        ("members",),
    ),
    shares=SHARES,
    attack_classifier=LINEAR,
    baseline_classifier=LINEAR,
)
TARGETS = Values(({"a": lambda x: x[:, 0]},), (3, None, True, "a", {}, [abs], THING, {1: abs}, {"control": abs}))
_game = games.Panoramia(X_OF_PAIRS, generator=_Generator())
ONE_TARGET = Values((lambda x: x[:, 0],), (3, None, True, "a", [abs], THING, lambda x: x, math.nan))
for _name, _values in (("play", {"target": ONE_TARGET}), ("play_all", {"targets": TARGETS, **GAMES})):
    call(
        f"bayes_dp.games.panoramia.Panoramia.{_name}",
        getattr(_game, _name),
        {name: _values[name].good[0] for name in ("target", "targets") if name in _values},
        until="bayes_dp.games.panoramia:play_all",
        control=besides(ONE_TARGET, None),
        **_values,
    )
LEAKAGE = leakage.scores(FEATURES, labels=[f"row {i}" for i in range(60)])
call(
    "bayes_dp.leakage.scores",
    leakage.scores,
    {"x": FEATURES},
    x=Values(
        (FEATURES, FEATURES.tolist(), pd.DataFrame(FEATURES, columns=["a", "b"]), FEATURES.astype("f4")),
        (
            *(FEATURES[:3], FEATURES[:4], FEATURES[:, 0], np.full((60, 2), math.nan), np.zeros((60, 0))),
            *(np.zeros((60, 2, 2)), None, 3, "a.csv", True, THING, [], np.full((60, 2), "a")),
        ),
    ),
    covariance=one_of("full", "diagonal"),
    noise=LAW["noise"],
    subsample=Values((1, 0.5, 1 / 60), (*ONE_SUBSAMPLE.bad, 0.01)),
    labels=Values(
        (None, [f"{i}" for i in range(60)], list(range(60))), ("a", ["a"], [1.5] * 60, [None] * 60, 3, True, THING)
    ),
)
for _name, _argument in (("power", "alpha"), ("epsilon_at", "delta")):
    _ranges = {_argument: number(0, 1, "[]", 0.3)}
    call(f"bayes_dp.leakage.table.LeakageTable.{_name}", getattr(LEAKAGE, _name), {_argument: 0.3}, **_ranges)
call("bayes_dp.leakage.table.LeakageTable.largest", LEAKAGE.largest, {}, count=whole(1))
call("bayes_dp.leakage.table.LeakageTable.name", LEAKAGE.name, {}, row=whole(0, 59))
for _name in ("columns", "to_frame", "csv", "to_csv"):
    _more = {} if _name in ("columns", "to_frame") else {"safe_cells": flag()}
    _path = {"path": PATH} if _name == "to_csv" else {}
    call(
        f"bayes_dp.leakage.table.LeakageTable.{_name}",
        getattr(LEAKAGE, _name),
        {name: values.good[0] for name, values in _path.items()},
        delta=number(0, 1, "[]", 0.3, optional=True),
        **_more,
        **_path,
    )
for _name, _argument in (("leakage", "bins"), ("at_risk", "count")):
    call(
        f"bayes_dp.plots.{_name}",
        getattr(plots, _name),
        {"table": LEAKAGE},
        table=thing(LEAKAGE, wrong=(COUNTS, SCORES, None)),
        ax=AXES,
        **{_argument: whole(2 if _argument == "bins" else 1)},
        **LOOK,
    )

# Trackers -------------------------------------------------------------------------------------------------------------


class Logged:
    """What has the methods of a tracker's run."""

    summary: dict[str, str] = {}  # noqa: RUF012

    def log(self, metrics: Any) -> None:
        pass


TRACKED = {
    "result": thing(audits.katz(COUNTS, 0.1), Later(posterior), wrong=(COUNTS, None, 0.5)),
    "name": Values(("privacy",), ("", *text().bad)),
}
call("bayes_dp.trackers.metrics", trackers.metrics, {"result": audits.katz(COUNTS, 0.1)}, **TRACKED)
call(
    "bayes_dp.trackers.to_wandb",
    trackers.to_wandb,
    {"result": audits.katz(COUNTS, 0.1), "run": Logged()},
    run=thing(Logged(), wrong=(None, COUNTS)),
    **TRACKED,
)
_MLFLOW = types.SimpleNamespace(log_metrics=lambda metrics: None, log_dict=lambda content, path: None)


def _to_mlflow(**arguments: Any) -> None:
    with unittest.mock.patch.dict(sys.modules, mlflow=_MLFLOW):
        trackers.to_mlflow(**arguments)


call("bayes_dp.trackers.to_mlflow", _to_mlflow, {"result": audits.katz(COUNTS, 0.1)}, **TRACKED)

# Simulated audits -----------------------------------------------------------------------------------------------------

call(
    "bayes_dp.calibrate.study",
    calibrate.study,
    {"audit": "one-run", "repetitions": 1, "progress": False},
    until="bayes_dp.calibrate.studies:_run",
    audit=one_of(*calibrate.AUDITS),
    repetitions=whole(1),
    p=number(0, 1, "()", 0.05),
    seed=SEED,
    progress=PROGRESS,
)


# The tests ------------------------------------------------------------------------------------------------------------

MODULES = (bdp, audits, attacks, propensity, games, leakage, plots, calibrate, region, tradeoff, datasets, trackers)
RESULTS = {  # which users are given and do not make; their members are in the table
    "InputError",
    "LeakageTable",
    "Posterior",
    "LowerBound",
    "CredibleInterval",
    "Estimate",
    "ModelCheck",
    "ClaimTest",
    "ClaimPlan",
    "LikelihoodComparison",
    "FamilyComparison",
    "ConvergenceWarning",
    "Comparison",
    "Plan",
    "Records",
    "Report",
    "Falsification",
    "Propensity",
    "Needed",
    "Row",
    "StepScores",
    "StepsPosterior",
    "Study",
    "TradeOffFunction",
    "Mechanism",
    "Imputer",
    "Verdict",
}
ELSEWHERE = {  # arguments of whatever is called, which another test has
    **{f"bayes_dp.games.per_datum.DataSets.{name}": {"rng"} for name in ("data", "without", "with_")},
    "bayes_dp.games.panoramia.Panoramia.play": {"how"},
    "bayes_dp.estimate": {"settings"},
    "bayes_dp.report": {"settings"},
    "bayes_dp.gate": {"options"},
    "bayes_dp.compare_likelihoods": {"settings"},
    "bayes_dp.run_nuts": {"args", "keywords"},
    "bayes_dp.ErrorCounts.from_rates": {"others"},
    "bayes_dp.ErrorCounts.from_confusion": {"others"},
    "bayes_dp.ErrorCounts.concat": {"others"},
    "bayes_dp.ScoreMatrix.attack": {"settings"},
    "bayes_dp.ScoreMatrix.concat": {"others"},
    "bayes_dp.ScoreMatrix.model_counts": {"settings"},
}


def public() -> Iterator[tuple[str, Any]]:
    """Every public function and class, and every public member of what is public or made by it, by its name."""
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and name not in RESULTS:
                yield f"{module.__name__}.{name}", value
    for cls in classes(MODULES):
        yield from members(cls)


def test_no_public_module_is_left_out():
    assert {value for value in map(bdp.__dict__.get, bdp.__all__) if inspect.ismodule(value)} <= set(MODULES)


def test_every_public_callable_and_every_argument_is_in_the_table():
    missing = {}
    for name, value in public():
        entries = [entry for key, entry in CALLS.items() if key == name or entry.function is value]
        listed = {argument for entry in entries for argument in entry.arguments} | ELSEWHERE.get(name, set())
        if left := set(inspect.signature(value).parameters) - {"self", "cls"} - listed:
            missing[name] = left
    assert missing == {}


def arrays_of(entry: Call) -> list[str]:
    """The arguments that broadcast with each other: those of a function of the geometry that take arrays."""
    if not (getattr(entry.function, "__module__", None) or "").startswith(("bayes_dp.region", "bayes_dp.tradeoff")):
        return []
    return [
        argument
        for argument, values in entry.arguments.items()
        if any(isinstance(value, list) and len(value) == 1 for value in values.good)
    ]


CASES = [(name, argument) for name, entry in CALLS.items() for argument in entry.arguments]


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_what_is_accepted(name: str, argument: str):
    for value in CALLS[name].arguments[argument].good:
        try:
            run(CALLS[name], argument, value)
        except WorkBegunError:
            continue
        except Exception as error:
            raise AssertionError(f"{name}({argument}={value!r}) is refused: {error!r}") from error
        finally:
            plt.close("all")


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_what_is_refused(name: str, argument: str):
    values = CALLS[name].arguments[argument]
    wrong = []
    for value in values.bad:
        try:
            run(CALLS[name], argument, value)
        except InputError as error:
            message = str(error)
            if not any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in (argument, *values.names)):
                wrong.append(f"{argument}={value!r:.60}: not named by {message!r}")
            elif "\n" in message or len(message) > 400:
                wrong.append(f"{argument}={value!r:.60}: not one short line: {message!r}")
        except Exception as error:
            wrong.append(f"{argument}={value!r:.60}: {type(error).__name__}: {error!s:.200}")
        else:
            wrong.append(f"{argument}={value!r:.60}: accepted")
        plt.close("all")
    assert not wrong, "\n".join((name, *wrong))


@pytest.mark.parametrize("name", [name for name, entry in CALLS.items() if len(arrays_of(entry)) > 1])
def test_arrays_that_do_not_fit_each_other(name: str):
    entry = CALLS[name]
    for first, second in itertools.combinations(arrays_of(entry), 2):
        arguments = {argument: np.full(n, entry.base[argument]) for argument, n in ((first, 2), (second, 3))}
        with pytest.raises(InputError, match=rf"\b{first}\b.*\b{second}\b.* not .*\(2,\).*\(3,\)"):
            entry.function(**entry.base | arguments)


STRICT = ("ErrorCounts", "GuessTable", "LossTable", "ScoreMatrix", "Guesses", "attacks", "region", "tradeoff")


@pytest.mark.parametrize("name", [name for name in CALLS if name.split(".")[1] in STRICT])
def test_the_strictest_arithmetic(name: str):
    """No reader, attack or conversion depends on what the user has told NumPy to do about overflow and the like."""
    for argument, values in CALLS[name].arguments.items():
        for value in values.good[:2]:
            with np.errstate(all="raise"):
                run(CALLS[name], argument, value)


DIGITS = 10**5000  # more than Python prints


def unprintable(values: Values) -> Iterator[Any]:
    """What cannot be printed as it is: by itself, and in the place of an element of a list that is taken."""
    yield from (DIGITS, -DIGITS, [DIGITS], "x" * 100_000)
    for good in values.good:
        if isinstance(good, list) and good:
            yield from ([DIGITS, *good[1:]], ["x" * 100_000, *good[1:]])


@pytest.mark.parametrize("name", CALLS)
def test_what_cannot_be_printed(name: str):
    """Numbers of more digits than Python prints and texts without end are taken or refused in one short line."""
    wrong = []
    for argument, values in CALLS[name].arguments.items():
        for value in unprintable(values):
            try:
                run(CALLS[name], argument, value)
            except WorkBegunError:
                continue
            except InputError as error:
                if "\n" in str(error) or len(str(error)) > 500:
                    wrong.append(f"{argument}: {error!s:.100}")
            except Exception as error:
                wrong.append(f"{argument}: {type(error).__name__}: {error!s:.100}")
            finally:
                plt.close("all")
    assert not wrong, "\n".join(wrong)
