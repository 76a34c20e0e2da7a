"""The public names."""

from __future__ import annotations

import re
import types

import pytest

import bayes_dp as bdp


@pytest.mark.parametrize("name", bdp.__all__)
def test_every_public_name_is_there(name: str):
    value = getattr(bdp, name)
    assert value is not None
    assert getattr(bdp, name) is value
    if isinstance(value, types.ModuleType):
        assert value.__name__ == f"bayes_dp.{name}"
    elif name != "__version__":
        assert value.__name__ == name
        assert value.__module__.startswith("bayes_dp.")


def test_the_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", bdp.__version__)


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(AttributeError, match="no attribute 'ErorCounts'") as error:
        _ = bdp.ErorCounts
    for name in bdp.__all__:
        assert name == "__version__" or name in str(error.value)


def test_dir_lists_the_public_names():
    assert dir(bdp) == sorted(bdp.__all__)
    modules = [getattr(bdp, name) for name in bdp._MODULES]
    called = [getattr(bdp.audits, name) for name in ("one_run", "f_dp", "zero_run", "sequential")]
    for module in modules + called:
        assert dir(module) == sorted(module.__all__)


def test_what_users_hold_has_public_names_only():
    counts = bdp.ErrorCounts(10, 100, 20, 100)
    table = bdp.GuessTable([0.1, 0.4, 0.8, 0.9], [False, True, False, True])
    held = [
        counts,
        table,
        bdp.LossTable([1.0, 2.0], [3.0, 4.0]),
        bdp.Guesses(100, 20, 15),
        bdp.audits.katz(counts, 0.01),
    ]
    for each in held:
        assert not [name for name in dir(each) if name.startswith("_")]
        assert "summary" in dir(each)


def test_star_import():
    names: dict[str, object] = {}
    exec("from bayes_dp import *", names)
    assert set(bdp.__all__) <= set(names)
