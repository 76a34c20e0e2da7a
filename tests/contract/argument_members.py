"""The calls of the table of arguments that are members of public classes, or of what public functions return."""

from __future__ import annotations

import atexit
import importlib
import inspect
import io
import math
import pkgutil
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

import bayes_dp as bdp
from bayes_dp import attacks, audits, propensity
from bayes_dp.attacks.references.registry import INDEX
from bayes_dp.bayes.grouped import GroupedPosterior
from bayes_dp.bayes.mhaar.posterior import MhaarPosterior
from bayes_dp.bayes.nuts.posterior import NutsPosterior
from bayes_dp.bayes.question import ask
from bayes_dp.bayes.sampled import SampledPosterior
from tests.contract.argument_calls import (
    COUNTS,
    GUESSES,
    LOGISTIC,
    LOSSES,
    MATRIX,
    MEMBER,
    PLAN,
    SCORES,
    Later,
    Method,
    average_of_curves,
    call,
    comparison,
    curves,
    family_posterior,
    posterior,
    shifted,
)
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
    thing,
    whole,
)

# What is public of classes --------------------------------------------------------------------------------------------

INTERNAL = {  # what the classes of the package say to each other
    "bayes_dp.attacks.adversary.Calls",
    "bayes_dp.bayes.likelihoods.candidates.BetaPair",
    *(
        f"bayes_dp.bayes.families.base.TradeOffFamily.{name}"  # and of all families
        for name in ("by_epsilon", "curve", "kinks", "log_density", "log_layer", "log_ratio")
    ),
    "bayes_dp.Likelihood",
    "bayes_dp.support.text.Lines",
    "bayes_dp.propensity.result.Origin",
    "bayes_dp.data.propensity_source.PropensitySource",
    "bayes_dp.results.posterior.Marginal",
    "bayes_dp.data.roc.RocCurve.of",
    "bayes_dp.tradeoff.functions.TradeOffFunction",
    "bayes_dp.games.attributes.Imputer",
    "bayes_dp.games.per_datum.Mechanism",
}


def classes(modules: Iterable[ModuleType]) -> list[type]:
    """The public classes and the classes of the package that these, or public functions, say they return."""
    known = _known()
    values = [getattr(module, name) for module in modules for name in module.__all__]
    todo = [value for value in values if inspect.isclass(value)]
    todo += [
        cls for value in map(inspect.unwrap, values) if inspect.isfunction(value) for cls in _returned(value, known)
    ]
    found: dict[type, None] = {}
    while todo:
        cls = todo.pop()
        if cls not in found:
            found[cls] = None
            todo += [each for each in cls.__subclasses__() if each.__module__.startswith("bayes_dp")]  # not of tests
            todo += [other for _, value in _attributes(cls) for other in _returned(value, known)]
    return [cls for cls in found if not cls.__name__.startswith("_") and name_of(cls) not in INTERNAL]


def members(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of a class by their full names, each under the class that defines it."""
    for name, value in _attributes(cls):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        full = f"{name_of(cls if owner.__name__.startswith('_') else owner)}.{name}"
        method = inspect.isroutine(getattr(cls, name)) and not getattr(value, "__isabstractmethod__", False)
        internal = any(f"{name_of(base)}.{name}" in INTERNAL for base in cls.__mro__)
        if method and not internal:
            yield full, value


@cache
def _known() -> dict[str, list[type]]:
    for module in pkgutil.walk_packages(bdp.__path__, "bayes_dp."):
        if not module.name.startswith("bayes_dp.cli") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: dict[str, list[type]] = {}
    for name, module in list(sys.modules.items()):
        for value in vars(module).values() if name.startswith("bayes_dp") else ():
            if inspect.isclass(value) and value.__module__ == name:
                found.setdefault(value.__name__, []).append(value)
    return found


def _attributes(cls: type) -> list[tuple[str, Callable[..., Any]]]:
    """The public methods and properties, as functions, that classes of the package define."""
    own = [base for base in cls.__mro__ if base.__module__.startswith("bayes_dp")]
    names = {name for base in own for name in vars(base) if not name.startswith("_")}
    found = []
    for name in sorted(names):
        value = inspect.getattr_static(cls, name)
        inner = [getattr(value, part, None) for part in ("fget", "func", "__func__")]
        found.append((name, next(filter(None, inner), value)))
    return [(name, value) for name, value in found if inspect.isfunction(value)]


def _returned(value: Any, known: dict[str, list[type]]) -> list[type]:
    words = re.findall(r"\w+", str(inspect.signature(value).return_annotation))
    return [cls for word in words for cls in known.get(word, ())]


def name_of(cls: type) -> str:
    short = bdp.__dict__.get(cls.__name__) is cls
    return f"bayes_dp.{cls.__name__}" if short else f"{cls.__module__}.{cls.__qualname__}"


# Files ----------------------------------------------------------------------------------------------------------------

FOLDER = Path(tempfile.mkdtemp(prefix="arguments-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
NO_PATH = (3, None, True, 1.5, THING, ["a"], {}, math.nan)
PATH = Values(
    (str(FOLDER / "out.json"), FOLDER / "out.json"),
    (*NO_PATH, "", str(FOLDER / "none" / "out.json"), "a\0b.json", FOLDER),
    ("cannot be written",),
)


def file(name: str, content: str) -> Path:
    """A file of this content, among those that the tests read."""
    path = FOLDER / name
    path.write_text(content)
    return path


def source(path: Path, *, opened: bool = True) -> Values:
    """What reads the file takes: its path, or the open file; and what it refuses."""
    good = (path, str(path), *([Later(lambda: io.StringIO(path.read_text()))] if opened else []))
    empty = file(f"empty{path.suffix}", "")
    wrong = file(f"wrong{path.suffix}", '{"a": 1}' if path.suffix == ".json" else "a,b\n1,2\n")
    bad = (*NO_PATH, "", str(FOLDER / "none.csv"), "a\0b", FOLDER, empty, wrong)
    named = ("path", "cannot be read", "must end in", "NPZ", empty.name, wrong.name)
    return Values(good, bad, named)


def saving(cls: str, make: Callable[[], Any], *names: str, **others: Values) -> None:
    """The methods that write a file."""
    for name in names:
        arguments = {"path": PATH} | ({"safe_cells": flag()} if name == "to_csv" and cls not in _NO_LABELS else {})
        call(f"{cls}.{name}", Method(make, name), {"path": FOLDER / "out"}, **arguments | others)


_NO_LABELS = ("bayes_dp.propensity.result.Propensity",)

# Counts and tables ----------------------------------------------------------------------------------------------------

DESIGN = Values(("repeated", "cross_fed"), ("one_run", "", "Repeated", 3, True, ["repeated"], THING, {}), ("examples",))
EXAMPLES = Values((None,), (60, 3.5, "many", True, -1, math.nan, THING), ("one_run",))
GROUP = Values((None, "lab"), ("", "none", 3, True, ["lab"], THING, {}), ("column", "heading"))
COUNTS_CSV = file("counts.csv", "fp,n0,fn,n1,lab\n3,20,4,20,a\n5,30,6,30,b\n")
COUNTS_JSON = file("counts.json", '{"fp": [3, 5], "n0": [20, 30], "fn": [4, 6], "n1": [20, 30], "lab": ["a", "b"]}')
FRAME = pd.read_csv(COUNTS_CSV)
NO_FRAME = (3, None, True, "a", [1], {}, THING, pd.DataFrame(), pd.DataFrame({"a": [1]}), np.zeros((2, 2)))
for _name, _argument, _values in (
    ("from_csv", "source", source(COUNTS_CSV)),
    ("from_json", "source", source(COUNTS_JSON)),
    ("from_frame", "frame", Values((FRAME,), NO_FRAME, ("data frame", "the columns"))),
    ("read", "path", source(COUNTS_CSV, opened=False)),
):
    _none = (None,) if _name in ("from_json", "read") else ()
    call(
        f"bayes_dp.ErrorCounts.{_name}",
        getattr(bdp.ErrorCounts, _name),
        {_argument: _values.good[0]},
        **{_argument: _values},
        design=besides(DESIGN, *_none),
        examples=EXAMPLES,
        group=GROUP,
    )
saving("bayes_dp.ErrorCounts", lambda: COUNTS, "to_csv", "to_json")
call("bayes_dp.ErrorCounts.csv", COUNTS.csv, {}, safe_cells=flag())

SCORES_CSV = file("scores.csv", "score,member\n1,1\n2,0\n3,1\n")
SCORES_JSON = file("scores.json", '{"score": [1, 2, 3], "member": [1, 0, 1]}')
LOSSES_CSV = file("losses.csv", "member,loss\n1,1\n1,2\n0,2\n0,3\n")
for _class, _csv in ((bdp.GuessTable, SCORES_CSV), (bdp.LossTable, LOSSES_CSV)):
    _name = f"bayes_dp.{_class.__name__}"
    call(f"{_name}.from_csv", _class.from_csv, {}, source=source(_csv))
    call(
        f"{_name}.from_frame",
        _class.from_frame,
        {},
        frame=Values((pd.read_csv(_csv),), NO_FRAME, ("data frame", "the columns")),
    )
call("bayes_dp.GuessTable.from_json", bdp.GuessTable.from_json, {}, source=source(SCORES_JSON))
call("bayes_dp.GuessTable.read", bdp.GuessTable.read, {}, path=source(SCORES_CSV, opened=False))
saving("bayes_dp.GuessTable", lambda: SCORES, "to_csv")
saving("bayes_dp.LossTable", lambda: LOSSES, "to_npz")
saving("bayes_dp.ScoreMatrix", lambda: MATRIX, "to_npz")
MATRIX.to_npz(FOLDER / "matrix.npz")
call(
    "bayes_dp.ScoreMatrix.from_npz",
    bdp.ScoreMatrix.from_npz,
    {},
    source=source(FOLDER / "matrix.npz", opened=False),
)
call(
    "bayes_dp.ScoreMatrix.from_frame",
    bdp.ScoreMatrix.from_frame,
    {},
    frame=Values((MATRIX.to_frame(),), NO_FRAME, ("data frame", "the columns")),
)
call(
    "bayes_dp.ScoreMatrix.example_counts",
    bdp.ScoreMatrix(MATRIX.member, log_odds=MATRIX.statistic).example_counts,
    {},
    target_fpr=number(0, 1, "()", 0.1),
)
call(
    "bayes_dp.ScoreMatrix.model_counts",
    MATRIX.model_counts,
    {"guesses": 8},
    guesses=Values((8, np.int64(8)), (0, 9, -1, 2.5, math.nan, "8", True, None, [8], THING)),
    name=besides(one_of(*INDEX, optional=True), names=("attack",)),
    targets=Values((None, [1], (1, 2)), ([], [1, 1], [6], [-1], [1.5], 1, "12", True, [[1]], THING, math.nan, {})),
    sides=one_of("both", "members"),
    seed=SEED,
)
X_OF_MATRIX = np.random.default_rng(3).normal(size=(8, 2))
call(
    "bayes_dp.ScoreMatrix.from_models",
    bdp.ScoreMatrix.from_models,
    {"models": [lambda x: x] * 6, "x": X_OF_MATRIX, "y": [0, 1] * 4, "member": MATRIX.member},
    models=Values(([lambda x: x] * 6,), (3, None, True, "a", [], [lambda x: x], THING, [3] * 6, math.nan)),
    x=Values((X_OF_MATRIX,), (3, None, True, "a", [], X_OF_MATRIX[:7], THING, {}, math.nan), ("y", "models[0]")),
    y=Values(([0, 1] * 4, np.ones(8)), (3, None, True, "a", [], [0], [2] * 8, [0.5] * 8, THING, math.nan)),
    member=Values((MATRIX.member, MATRIX.member == 1), (3, None, True, "a", [], MATRIX.member[:, :7], THING)),
    population=Values((None, (X_OF_MATRIX, [0] * 8)), (3, True, "a", [], X_OF_MATRIX, (X_OF_MATRIX, [0]), THING)),
    output=one_of("logits"),
    batch_size=whole(1),
    progress=Values((None, True, False), (0, "yes", [True], THING, math.nan)),
)
call(
    "bayes_dp.ScoreMatrix.attack",
    MATRIX.attack,
    {},
    name=besides(one_of(*INDEX, optional=True), bad=(), names=("attack",)),
    target=whole(0, 5),
    references=Values(
        (None, [1], (1, 2), np.array([1, 2, 3])),
        ([0], [1, 1], [6], [-1], [1.5], 1, "12", True, [[1]], [None], THING, math.nan, {}),
    ),
)
LOSSES.to_npz(FOLDER / "losses.npz")
for _name, _argument in (("from_npz", "source"), ("read", "path")):
    call(
        f"bayes_dp.LossTable.{_name}",
        getattr(bdp.LossTable, _name),
        {_argument: FOLDER / "losses.npz"},
        **{_argument: source(FOLDER / "losses.npz", opened=False)},
        name=Values((None,), ("A1", 3, True, ["A1"], THING), ("losses.npz",)),
    )

N = len(MEMBER)
NEW_SCORE = Values(
    (np.arange(N), list(range(N)), pd.Series(range(N)), np.full(N, math.inf)),
    (np.arange(N - 1), [], [math.nan] * N, ["1"] * N, [True] * N, None, 3.0, THING, np.zeros((N, 1)), [[1], [2, 3]]),
    ("member",),
)
call("bayes_dp.GuessTable.rescored", SCORES.rescored, {}, score=NEW_SCORE)
call(
    "bayes_dp.GuessTable.from_losses",
    bdp.GuessTable.from_losses,
    {"loss": np.arange(N), "member": MEMBER},
    loss=NEW_SCORE,
    member=Values(
        (MEMBER, MEMBER.astype(int), MEMBER.tolist()),
        (MEMBER[:-1], [], [0.5] * N, ["in"] * N, [math.nan] * N, None, True, THING, MEMBER[None]),
        ("loss",),
    ),
    propensity=Values((None, 0.5, np.full(N, 0.5)), (0, 1, -0.1, math.nan, "half", True, [0.5], np.full((N, 1), 0.5))),
    base=Values((None, ["a"] * N), ("a", ["a"], [1.5] * N, 3, THING)),
)
AREA = one_of("exact", "delong")
call("bayes_dp.GuessTable.auc", SCORES.auc, {}, confidence=CONFIDENCE, method=AREA)
call("bayes_dp.data.roc.RocCurve.auc", SCORES.roc().auc, {}, method=AREA)
call("bayes_dp.GuessTable.roc", SCORES.roc, {}, confidence=CONFIDENCE)
FPR = number(0, 1, "[]", 0.1)
call("bayes_dp.GuessTable.tpr_at", SCORES.tpr_at, {"fpr": 0.1}, fpr=FPR, confidence=CONFIDENCE)
call("bayes_dp.data.roc.RocCurve.tpr_at", SCORES.roc().tpr_at, {"fpr": 0.1}, fpr=FPR)

# Attacks and audits ---------------------------------------------------------------------------------------------------

CURVE = attacks.measure_fast(LOSSES, [0.1, 0.5])
for _name in ("guessed", "only", "narrowed", "counts"):
    call(
        f"bayes_dp.Guesses.{_name}",
        getattr(attacks.guess(SCORES, attacks.Bonferroni([5, 10])), _name),
        {},
        i=Values((0, 1, np.int64(1)), (-1, 2, 0.5, math.nan, "0", None, True, [0], THING)),
    )
call(
    "bayes_dp.attacks.lira.Curve.at",
    CURVE.at,
    {"target_fpr": 0.1},
    target_fpr=Values((0.1, 0.5, np.float64(0.1)), (0.3, 0, 1, math.nan, "0.1", None, True, [0.1], THING)),
)
call(
    "bayes_dp.attacks.lira.Curve.best",
    CURVE.best,
    {},
    score=Values((None, lambda counts: 1.0), (3, "score", True, [abs], THING, math.nan)),
)
for _choice in (attacks.Fixed(10), attacks.Bonferroni(), attacks.Split(), attacks.MultiSplit(), attacks.Uncorrected()):
    _name = f"bayes_dp.attacks.scores.{type(_choice).__name__}.numbers_for"
    call(_name, _choice.numbers_for, {}, examples=whole(1 if _choice.__dict__.get("n") is None else 10))
BOUND = audits.katz(COUNTS, 0.1)
for _class in ("LowerBound", "CredibleInterval", "Estimate"):
    _made = BOUND if _class == "LowerBound" else audits.joint_beta(COUNTS[0], 0.1)
    _made = audits.panoramia(SCORES, SCORES) if _class == "Estimate" else _made
    call(
        f"bayes_dp.{_class}.epsilon_at", _made.epsilon_at, {}, delta=number(0, 1, "[]" if _made is BOUND else "[)", 0.1)
    )
    call(f"bayes_dp.{_class}.meaning", _made.meaning, {}, baseline=number(0, 1, "[]", 0.1))
call("bayes_dp.Comparison.meaning", Method(comparison, "meaning"), {}, baseline=number(0, 1, "[]", 0.1))
call(
    "bayes_dp.Comparison.select",
    Method(comparison, "select"),
    {},
    method=Values((None, "katz", "none"), (3, True, ["katz"], THING, math.nan)),
    base=Values((None, "all", "none"), (3, True, ["all"], THING, math.nan)),
)
SEQUENTIAL = "bayes_dp.audits.sequential.Sequential"
ERRORS = Values(
    ([0, 1], [True], [], 1, np.array([0.5]), (0.2, 1), pd.Series([1])),
    ([-1], [2], [math.nan], ["a"], "a", [[0, 1]], [[0], [1, 1]], THING, {}, None, [1j]),
)
SOME_SCORES = Values(([0.1, 0.5], (1, -2)), (["a"], "a", [[1.0, 2.0]], [math.nan, 1], [[1], [2, 3]], None, THING, {}))


def under_way() -> Any:
    return audits.sequential(1e-3, grid=[0.0, 1.0])


call(
    f"{SEQUENTIAL}.update",
    Method(under_way, "update"),
    {"false_positive": [0, 1], "false_negative": [0, 0]},
    false_positive=ERRORS,
    false_negative=ERRORS,
    new_rule=flag(),
)
call(
    f"{SEQUENTIAL}.update_scores",
    Method(under_way, "update_scores"),
    {"without": [0.1, 0.3], "with_": [0.2, 0.5]},
    without=besides(SOME_SCORES, bad=([0.1],)),
    with_=besides(SOME_SCORES, bad=([0.1],)),
    threshold=besides(number(-math.inf, math.inf, "[]", 0.1), "adaptive"),
)
call(
    f"{SEQUENTIAL}.update_counts",
    Method(under_way, "update_counts"),
    {"counts": COUNTS[0]},
    counts=thing(COUNTS[0], wrong=(COUNTS, GUESSES)),
    new_rule=flag(),
)
call(
    f"{SEQUENTIAL}.update_guesses",
    Method(lambda: audits.sequential(1e-3, grid=[0.0, 1.0], method="one_run"), "update_guesses"),
    {},
    guesses=thing(GUESSES, wrong=(COUNTS, bdp.Guesses(60, [10, 20], [5, 10], "bonferroni"))),
)
for _name in ("e_value", "rejects", "p_value"):
    call(f"{SEQUENTIAL}.{_name}", Method(under_way, _name), {}, epsilon=number(0, math.inf, "[)", 1.0))
saving(SEQUENTIAL, under_way, "to_json")
under_way().to_json(FOLDER / "sequential.json")
call(f"{SEQUENTIAL}.from_json", type(under_way()).from_json, {}, source=source(FOLDER / "sequential.json"))

saving("bayes_dp.results.base.Result", comparison, "to_json")  # of all results but these with a `prob`
comparison().to_json(FOLDER / "comparison.json")
SAVED = "bayes_dp.results.base.Saved"
call(f"{SAVED}.from_json", bdp.Comparison.from_json, {}, source=source(FOLDER / "comparison.json"))
call(
    f"{SAVED}.from_dict",
    bdp.Comparison.from_dict,
    {},
    content=Values(
        (Later(lambda: comparison().to_dict()),),
        (3, None, True, "a", [1], {}, THING, {"schema": 3}),
        ("comparison",),
    ),
)

# Posteriors -----------------------------------------------------------------------------------------------------------

PROB = number(0, 1, "()", 0.9)
PARAMETER = Values((None, "epsilon", "strength"), ("", "mu", 3, True, ["epsilon"], THING))
DRAWS = {"size": whole(1), "seed": SEED}
ONLY_DELTAS, ONLY_EPSILONS = (
    tuple(v for v in values.bad if not isinstance(v, list | np.ndarray | pd.Series))
    for values in (number(0, 1, "[)", 0.1), number(0, math.inf, "[)", 1.0))
)
DELTAS = Values((0, 0.01, np.float64(0.01), [0.01, 0.1], np.array([0.1])), ONLY_DELTAS)
POINTS = {"value": numbers(-math.inf, math.inf, "[]", 1.0), "parameter": PARAMETER}
for _name, _base, _arguments in (
    ("interval", {}, {"prob": PROB, "kind": one_of("equal-tailed", "hdi"), "parameter": PARAMETER}),
    ("quantile", {"probability": 0.5}, {"probability": numbers(0, 1, "[]", 0.5), "parameter": PARAMETER}),
    ("prob_above", {"value": 1.0}, {"value": number(-math.inf, math.inf, "[]", 1.0), "parameter": PARAMETER}),
    ("to_frame", {}, DRAWS),
    ("table", {}, {"prob": PROB}),
    ("shown", {}, {"prob": PROB}),
    ("summary", {}, {"prob": PROB}),
    ("brief", {}, {"prob": PROB}),
    ("meaning", {}, {"prob": PROB, "baseline": number(0, 1, "[]", 0.1)}),
    ("to_dict", {}, {"prob": PROB}),
    ("gaussian", {}, {"prob": PROB}),
    ("high_end", {}, {"prob": PROB}),
    ("to_json", {"path": "/dev/null"}, {"path": Values(PATH.good[:1], PATH.bad[-2:], PATH.names), "prob": PROB}),
):
    call(f"bayes_dp.Posterior.{_name}", Method(posterior, _name), _base, **_arguments)
posterior().to_json(FOLDER / "posterior.json")
call("bayes_dp.Posterior.from_json", bdp.Posterior.from_json, {}, source=source(FOLDER / "posterior.json"))
call(
    "bayes_dp.Posterior.from_dict",
    bdp.Posterior.from_dict,
    {},
    content=Values(
        (Later(lambda: posterior().to_dict()),), (3, None, True, "a", [1], {}, THING, {"schema": 3}), ("posterior",)
    ),
)
EXACT = "bayes_dp.bayes.exact.posterior.ExactPosterior"
call(f"{EXACT}.draws", Method(posterior, "draws"), {}, **DRAWS)
call(f"{EXACT}.rates", Method(posterior, "rates"), {}, **DRAWS)
call("bayes_dp.Posterior.to_arviz", Method(posterior, "to_arviz"), {}, **DRAWS)
call(f"{EXACT}.pdf", Method(posterior, "pdf"), {"value": 1.0}, **POINTS)
call(
    "bayes_dp.Posterior.epsilon_at",
    Method(posterior, "epsilon_at"),
    {"delta": 0.1},
    until="bayes_dp.bayes.exact.posterior:ExactPosterior",
    delta=DELTAS,
)
call(
    f"{EXACT}.delta_at",
    Method(posterior, "delta_at"),
    {"epsilon": 1.0},
    until="bayes_dp.bayes.exact.posterior:ExactPosterior",
    epsilon=Values((0.5, np.float64(1.0)), (*ONLY_EPSILONS, [0.5])),
    prior=Values((None, "Uniform(0, 1)"), ("", "Normal", 3, math.nan, True, ["Beta(1, 2)"], THING, "Normal(5, 1)")),
)


@cache
def average() -> Any:
    return bdp.estimate(COUNTS, 1e-2, family="average")


FAMILY = "bayes_dp.bayes.levels.posterior.FamilyPosterior"
MU = {"parameter": Values((None, "epsilon", "mu", "strength"), ("", "delta", 3, True, ["epsilon"], THING))}
for _name, _base, _arguments in (
    ("draws", {}, DRAWS),
    ("levels", {}, DRAWS),
    ("rates", {}, DRAWS),
    ("pdf", {"value": 1.0}, POINTS | MU),
    ("epsilon_at", {"delta": 0.1}, {"delta": besides(DELTAS, bad=(0,))}),
    (
        "delta_at",
        {"epsilon": 1.0},
        {
            "epsilon": Values((0.5, 0, np.float64(1.0)), (*ONLY_EPSILONS, 701.0, [0.5])),
            "prior": Values((None,), ("Uniform(0, 1)", 3, THING)),
        },
    ),
    ("prior_quantile", {"probability": 0.5}, {"probability": numbers(0, 1, "[]", 0.1)} | MU),
    ("band", {"alpha": 0.1}, {"alpha": numbers(0, 1, "[]", 0.1), "prob": PROB}),
    ("gaussian", {}, {"prob": PROB}),
    ("high_end", {}, {"prob": PROB}),
):
    call(f"{FAMILY}.{_name}", Method(family_posterior, _name), _base, **_arguments)
AVERAGE, BESIDE = "bayes_dp.bayes.levels.average.AveragePosterior", "bayes_dp.bayes.levels.beside.BesideGaussian"
for _name, _base, _arguments in (
    ("draws", {}, DRAWS),
    ("rates", {}, DRAWS),
    ("to_arviz", {}, DRAWS),
    ("epsilon_at", {"delta": 0.1}, {"delta": besides(DELTAS, bad=(0,))}),
    ("gaussian", {}, {"prob": PROB}),
    ("high_end", {}, {"prob": PROB}),
):
    call(f"{AVERAGE}.{_name}", Method(average, _name), _base, **_arguments)
call(f"{AVERAGE}.meaning", Method(average, "meaning"), {}, prob=PROB, baseline=number(0, 1, "[]", 0.1))
OF_ORDERS = Values((), (1.0, math.nan, "a", True, THING), ("scores",))  # refused whatever is asked
ALPHAS = {"alpha": numbers(0, 1, "[]", 0.1), "prob": PROB}
CURVES, CURVES_AVERAGE, ORDERS = (
    f"bayes_dp.bayes.levels.{name}"
    for name in ("curve_posterior.CurvePosterior", "curves_average.CurvesAverage", "curve_posterior.OfOrders")
)
for _class, _post in ((CURVES, curves), (CURVES_AVERAGE, average_of_curves)):
    for _name in ("gaussian", "high_end", "cautions"):
        call(f"{_class}.{_name}", Method(_post, _name), {}, prob=PROB)
call(f"{ORDERS}.rates", Method(curves, "rates"), {}, size=OF_ORDERS, seed=OF_ORDERS)
call(f"{CURVES}.to_arviz", Method(curves, "to_arviz"), {}, **DRAWS)
call(f"{ORDERS}.to_arviz", Method(average_of_curves, "to_arviz"), {}, **DRAWS)
call(f"{ORDERS}.to_dict", Method(curves, "to_dict"), {}, prob=PROB)
call(f"{CURVES_AVERAGE}.levels", Method(average_of_curves, "levels"), {}, **DRAWS)
call(f"{CURVES_AVERAGE}.band", Method(average_of_curves, "band"), {"alpha": 0.1}, **ALPHAS)
call(
    f"{CURVES_AVERAGE}.curve_quantiles",
    Method(average_of_curves, "curve_quantiles"),
    {"alpha": 0.1, "probability": 0.5},
    alpha=ALPHAS["alpha"],
    probability=numbers(0, 1, "[]", 0.5),
)
call(
    f"{CURVES_AVERAGE}.epsilon_at",
    Method(average_of_curves, "epsilon_at"),
    {"delta": 0.2},
    delta=besides(DELTAS, bad=(0,)),
    accept_misfit=flag(),
)
call(
    f"{CURVES_AVERAGE}.delta_at",
    Method(average_of_curves, "delta_at"),
    {"epsilon": 1.0},
    epsilon=Values((0.5, 0, np.float64(1.0)), (*ONLY_EPSILONS, 701.0, [0.5])),
    prior=Values((None,), ("Uniform(0, 1)", 3, THING)),
)
ONE = {"parameter": Values((None, "epsilon"), ("", "delta", "strength", 3, True, ["epsilon"], THING))}
call(f"{AVERAGE}.pdf", Method(average, "pdf"), {"value": 1.0}, **POINTS | ONE)
for _name in ("gaussian", "high_end", "shown", "why_two_intervals"):
    call(f"{BESIDE}.{_name}", Method(posterior, _name), {}, prob=PROB)

# Members of a family
for _name, _other, _range in (
    ("__call__", "alpha", numbers(0, 1, "[]", 0.1)),
    ("epsilon_at", "delta", numbers(0, 1, "[]", 0.1)),
    ("delta_at", "epsilon", numbers(0, math.inf, "[)", 1.0)),
):
    call(
        f"bayes_dp.bayes.families.base.TradeOffFamily.{_name}",
        Method(lambda: LOGISTIC, _name),
        {_other: 0.3, "t": 1.0},
        **{_other: _range, "t": numbers(0, math.inf, "[)", 1.0)},
    )


class Drawn(SampledPosterior):
    provenance = BOUND.provenance

    def _answer(self, question: Any) -> Any:
        raise NotImplementedError


QUESTION = ask(COUNTS, "epsilon", 0.1, likelihood="binomial")
SAMPLES = Drawn(QUESTION, {"epsilon": np.ones((2, 30))}, np.ones((2, 30, 2)), np.ones((2, 30, 2)), {})
call("bayes_dp.bayes.sampled.SampledPosterior.draws", SAMPLES.draws, {}, **DRAWS)
call("bayes_dp.bayes.sampled.SampledPosterior.rates", SAMPLES.rates, {}, **DRAWS)
NEVER = Values(
    (), (1.0, math.nan, "a", True, THING), ("method",)
)  # what draws do not tell is refused whatever is asked
SHIFTED = "bayes_dp.bayes.levels.shifted.ShiftedPosterior"
OF_GUESSES = besides(PARAMETER, "e", bad=("e[a]",))
call(f"{SHIFTED}.draws", Method(shifted, "draws"), {}, **DRAWS)
call(f"{SHIFTED}.to_arviz", Method(shifted, "to_arviz"), {}, **DRAWS)
call(f"{SHIFTED}.pdf", Method(shifted, "pdf"), {"value": 1.0}, **POINTS | {"parameter": OF_GUESSES})
call(f"{SHIFTED}.notes", Method(shifted, "notes"), {"parameter": "e"}, prob=PROB, parameter=OF_GUESSES)
call(
    f"{SHIFTED}.zero_run",
    Method(shifted, "zero_run"),
    {},
    prob=besides(PROB, bad=(np.nextafter(0, 1), np.nextafter(1, 0))),
)
for _name in ("high_end", "to_dict"):
    call(f"{SHIFTED}.{_name}", Method(shifted, _name), {}, prob=PROB)
OF_COUNTS = Values((), (1.0, math.nan, "a", True, THING), ("guesses",))  # refused whatever is asked
call(f"{SHIFTED}.rates", Method(shifted, "rates"), {}, size=OF_COUNTS, seed=OF_COUNTS)
call(f"{SHIFTED}.gaussian", Method(shifted, "gaussian"), {}, prob=OF_COUNTS)
call(f"{SHIFTED}.delta_at", Method(shifted, "delta_at"), {"epsilon": 1.0}, epsilon=OF_COUNTS, prior=OF_COUNTS)
call("bayes_dp.Posterior.pdf", SAMPLES.pdf, {"value": 1.0}, value=NEVER, parameter=NEVER)
call("bayes_dp.Posterior.delta_at", SAMPLES.delta_at, {"epsilon": 1.0}, epsilon=NEVER, prior=NEVER)


def again(cls: type, known: dict[str, Any], work: str) -> None:
    """`epsilon_at` of a sampled posterior, up to the sampler, which has a long way to go."""
    made = object.__new__(cls)
    vars(made).update(known)
    module, name = cls.__module__, f"{cls.__module__}.{cls.__name__}"
    call(f"{name}.epsilon_at", made.epsilon_at, {"delta": 0.1}, until=f"{module}:{work}", delta=DELTAS)


again(MhaarPosterior, {"question": QUESTION, "_settings": None}, "_run")


@dataclass(frozen=True)
class Asked:
    question: Any


again(GroupedPosterior, {"question": QUESTION, "_asked": Asked(QUESTION)}, "_sampled")
again(NutsPosterior, {"question": QUESTION, "_settings": None}, "draws_of")


@cache
def likelihoods() -> Any:
    return bdp.compare_likelihoods(COUNTS, 1e-2, ["binomial"], size=20)


for _name in ("rows", "summary", "to_dict", "to_frame"):
    _full = f"bayes_dp.LikelihoodComparison.{_name}"
    call(_full, Method(likelihoods, _name), {}, prob=PROB)
saving("bayes_dp.LikelihoodComparison", likelihoods, "to_json", prob=PROB)


@cache
def families() -> Any:
    return bdp.compare_families(COUNTS, 1e-2, ["approx", "gaussian"])


for _name in ("rows", "summary", "to_dict"):
    call(f"bayes_dp.FamilyComparison.{_name}", Method(families, _name), {}, prob=PROB)
call("bayes_dp.FamilyComparison.within", Method(families, "within"), {}, nats=number(0, math.inf, "[]", 5.0))
call("bayes_dp.FamilyComparison.left_open", Method(families, "left_open"), {}, nats=number(0, math.inf, "[]", 5.0))
saving("bayes_dp.FamilyComparison", families, "to_json")


@cache
def of_records() -> Any:
    return bdp.records(family_posterior(), 1.0)


call("bayes_dp.Records.csv", Method(of_records, "csv"), {}, safe_cells=flag())
saving("bayes_dp.Records", of_records, "to_csv")

# Plans, propensities and reports --------------------------------------------------------------------------------------

WAY = Values(("challenges",), ("bases", "", "both", 3, None, True, ["challenges"], THING))
call("bayes_dp.Plan.select", PLAN.select, {}, way=WAY)
call("bayes_dp.Plan.reason", PLAN.reason, {}, way=WAY)
call("bayes_dp.planning.result.PlanRow.quantile", PLAN.rows[0].quantile, {}, probability=number(0, 1, "[]", 0.5))
call("bayes_dp.planning.result.PlanRow.assured", PLAN.rows[0].assured, {}, share=number(0, 1, "()", 0.5))
KNOWN = propensity.known(np.full(N, 0.5), MEMBER)
PROPENSITY = "bayes_dp.propensity.result.Propensity"
call(f"{PROPENSITY}.table", KNOWN.table, {}, score=NEW_SCORE)
call(f"{PROPENSITY}.inside", KNOWN.inside, {}, edge=number(0, 0.5, "[]", 0.1))
saving(PROPENSITY, lambda: KNOWN, "to_csv")


@cache
def report() -> Any:
    made = object.__new__(bdp.Report)
    vars(made).update(html="", markdown="")  # which take long to draw
    return made


FORM = one_of("html", "markdown")
call("bayes_dp.Report.text", Method(report, "text"), {}, form=besides(FORM, names=("format",)))
call(
    "bayes_dp.Report.save",
    Method(report, "save"),
    {"path": FOLDER / "out.md"},
    path=Values(
        (FOLDER / "out.html", str(FOLDER / "out.md")),
        (*NO_PATH, "", str(FOLDER / "none" / "out.md"), "out", "out.txt"),
        (*PATH.names, "suffix"),
    ),
    form=besides(FORM, None, names=("format",)),
)
np.savez(FOLDER / "attack.npz", scores=SCORES.score, memberships=MEMBER)
call(
    "bayes_dp.read_scores",
    bdp.read_scores,
    {"source": FOLDER / "attack.npz", "members": "coins"},
    source=Values(
        (FOLDER / "attack.npz", str(FOLDER / "attack.npz"), pd.DataFrame({"score": [1.0, 2.0], "member": [0, 1]})),
        (3, None, THING, "", str(FOLDER), "gone.npz", FOLDER / "gone.csv", np.ones(3), pd.DataFrame({"score": [1.0]})),
        ("frame", "cannot be read", "must end in"),
    ),
    members=Values(("coins",), (None, "other", "", 3, True, THING, ["coins"])),
    propensity=Values((None,), (0.5,)),
    non_members=Values(
        (None,), (3, THING, True, "gone.csv"), ("int", "gone.csv", "bool", "Path", "PosixPath", "column")
    ),
    which=Values((None,), ("a", 3, True, THING)),
)
call(
    "bayes_dp.read_scores with propensities",
    bdp.read_scores,
    {"source": FOLDER / "attack.npz", "propensity": 0.4},
    propensity=Values((0.4, np.full(60, 0.4)), (0, 1, 1.5, math.nan, "a", [0.4], THING)),
)
