"""The public functions: where δ is among their arguments, and that none hides its module."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import pydoc
import subprocess
import sys
import types

import pytest

import bayes_dp as bdp

GUESSES = bdp.Guesses(100, 50, 45)
CALLED = (
    "combine",
    "compositional",
    "f_dp",
    "labels",
    "observational",
    "one_run",
    "panoramia",
    "profile",
    "proxy_error",
    "sensitivity",
    "sequential",
    "zero_run",
)
WITHOUT_DELTA = "profile", "proxy_error", "sensitivity"
DATA = {"attack", "baseline", "counts", "game", "guesses", "labels", "learned", "model", "proxy", "score"}


@pytest.mark.parametrize("name", [*(name for name in bdp.audits.__all__ if name not in WITHOUT_DELTA), "bootstrap"])
def test_delta_follows_the_data(name):
    function = bdp.propensity.bootstrap if name == "bootstrap" else getattr(bdp.audits, name)
    parameters = list(inspect.signature(function).parameters.values())
    data = [each for each in parameters if each.name in DATA]
    assert parameters[: len(data)] == data
    delta = parameters[len(data)]
    assert (delta.name, delta.kind) == ("delta", delta.POSITIONAL_OR_KEYWORD)
    assert all(each.kind == each.KEYWORD_ONLY for each in parameters[len(data) + 1 :])


def test_delta_by_position_and_by_name():
    for audit in (bdp.audits.one_run, bdp.audits.f_dp):
        assert audit(GUESSES, 1e-5).value == audit(GUESSES, delta=1e-5).value > 0
    counts = bdp.ErrorCounts(10, 50, 10, 50, design="one_run", examples=100)
    named = bdp.audits.panoramia(counts, counts, delta=1e-5)
    assert bdp.audits.panoramia(counts, counts, 1e-5).to_dict() == named.to_dict()
    assert bdp.audits.panoramia(counts, delta=1e-5).kind == "lower_bound"


def test_no_name_of_the_package_hides_a_module():
    modules = [each.name for each in pkgutil.walk_packages(bdp.__path__, "bayes_dp.")]
    for name in modules:
        importlib.import_module(name)
    for name in modules:
        above, _, last = name.rpartition(".")
        assert getattr(sys.modules[above], last) is sys.modules[name], name


@pytest.mark.parametrize("name", CALLED)
def test_an_audit_and_its_module_are_one_name(name):
    module = importlib.import_module(f"bayes_dp.audits.{name}")
    function = getattr(module, name)
    assert isinstance(module, types.ModuleType)
    assert getattr(bdp.audits, name) is module
    assert inspect.signature(module) == inspect.signature(function)
    assert module.__call__.__doc__ == function.__doc__
    assert function.__doc__.splitlines()[0] in pydoc.render_doc(module, renderer=pydoc.plaintext)
    assert inspect.getsource(module) == inspect.getsource(function)
    for copied in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert copied is module


def test_modules_are_found_without_an_import():
    code = "import bayes_dp as bdp; print(bdp.audits.intervals.epsilon_from_rates(0.1, 0.2, 0.0), bdp.audits.choice)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.startswith("2.07944")
    assert "module 'bayes_dp.audits.choice'" in found


def test_it_is_called_like_the_function():
    from bayes_dp.audits import one_run

    assert one_run(GUESSES, 1e-5).value == one_run.one_run(GUESSES, 1e-5).value > 0
    assert one_run.p_value(100, 50, 45, 1.0, 0.0) < 0.05
    with pytest.raises(bdp.InputError, match="delta"):
        one_run(GUESSES, 2)


def test_an_unknown_audit_is_answered_with_the_known_ones():
    with pytest.raises(AttributeError, match="has no attribute 'onerun'; it has accuracy, clopper_pearson"):
        _ = bdp.audits.onerun
    assert dir(bdp.audits) == sorted(bdp.audits.__all__)
