"""The fixture of pytest."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import bayes_dp as bdp

CODE = """
import bayes_dp as bdp

def test_leaks(privacy_gate):
    privacy_gate(bdp.ErrorCounts(10, 100, 20, 100), epsilon=1, delta=1e-3)

def test_private(privacy_gate):
    verdict = privacy_gate(bdp.ErrorCounts(50, 100, 50, 100), epsilon=200, delta=1e-3, control=False)
    assert verdict.passed

def test_inconclusive(privacy_gate):
    privacy_gate(bdp.ErrorCounts(50, 100, 50, 100), epsilon=200, delta=1e-3)
"""


def test_the_fixture_fails_a_test_with_the_reasons(tmp_path: Path):
    (tmp_path / "test_model.py").write_text(CODE)
    installed = any(each.value == "bayes_dp.testing" for each in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "bayes_dp.testing"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", "--rootdir"]
    found = subprocess.run(
        [*command, str(tmp_path), str(tmp_path)], capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False
    )
    assert "2 failed, 1 passed" in found.stdout
    assert "Check FAILED" in found.stdout
    assert "No attack is distinguishable from guessing" in found.stdout


def test_the_fixture_is_registered():
    text = (Path(bdp.__file__).parent.parent / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\nbayes_dp = "bayes_dp.testing"' in text


def test_nothing_heavy_is_loaded_by_a_plugin_that_is_not_used():
    code = "import bayes_dp.testing, sys; sys.exit('numpy' in sys.modules or 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode == 0
