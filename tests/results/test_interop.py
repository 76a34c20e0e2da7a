"""The ArviZ adapter: what is in the objects."""

import json
import subprocess
import sys

import numpy as np

import bayes_dp as bdp
from bayes_dp.results.interop import to_arviz
from bayes_dp.results.posterior import Provenance

CHAINS, DRAWS = 3, 20


def exported(base=None, stats=True):
    rng = np.random.default_rng(0)
    counts = bdp.ErrorCounts([1, 2], [10, 20], [3, 4], [30, 40], base=base)
    posterior = {"epsilon": rng.random((CHAINS, DRAWS)), "alpha": rng.random((CHAINS, DRAWS, 2))}
    sample_stats = {"lp": rng.random((CHAINS, DRAWS))} if stats else {}
    provenance = Provenance("mhaar", counts.digest(), {"delta": 0.01}, {"epsilon": "HalfNormal"}, {"seed": 3})
    attrs = {"chains": CHAINS, "free": True}
    return posterior, sample_stats, to_arviz(posterior, sample_stats, counts, provenance, attrs)


def test_groups_and_values():
    posterior, stats, found = exported()
    for name, values in posterior.items():
        np.testing.assert_array_equal(found["posterior"][name].values, values)
    np.testing.assert_array_equal(found["sample_stats"]["lp"].values, stats["lp"])
    np.testing.assert_array_equal(found["observed_data"]["false_positives"].values, [1, 2])
    np.testing.assert_array_equal(found["constant_data"]["positives"].values, [30, 40])
    assert found["posterior"]["epsilon"].dims == ("chain", "draw")
    assert found["posterior"]["alpha"].dims == ("chain", "draw", "base")
    assert found["observed_data"]["false_negatives"].dims == ("base",)


def test_bases_are_labelled():
    assert exported(base=["a", "b"])[2]["posterior"]["alpha"].coords["base"].values.tolist() == ["a", "b"]
    assert exported()[2]["posterior"]["alpha"].coords["base"].values.tolist() == [0, 1]


def test_without_sample_stats():
    found = exported(stats=False)[2]
    names = found.groups() if callable(found.groups) else [group.strip("/") for group in found.groups]
    assert "posterior" in names
    assert "sample_stats" not in names


def test_attributes_can_be_written_to_netcdf():
    attrs = exported()[2].attrs
    assert attrs["method"] == "mhaar"
    assert attrs["delta"] == 0.01
    assert attrs["chains"] == CHAINS
    assert json.loads(attrs["free"]) is True
    assert json.loads(attrs["settings"]) == {"seed": 3}
    assert json.loads(attrs["priors"]) == {"epsilon": "HalfNormal"}
    assert len(attrs["digest"]) == 64
    assert attrs["version"] == bdp.__version__


def test_arviz_is_imported_late_and_quietly():
    code = """
import sys
import bayes_dp.results.interop
assert "arviz" not in sys.modules
import bayes_dp as bdp
found = bdp.estimate(bdp.ErrorCounts([1], 5, [3], 5), 0.1).to_arviz()
assert "arviz" in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error::FutureWarning:bayes_dp", "-c", code], check=True)
