"""The wheel holds the package, its data and its licence, and nothing else.

`.ci/run` builds the wheel and names it in BAYES_DP_WHEEL, since building needs a package index.
"""

from __future__ import annotations

import os
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import bayes_dp

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif("BAYES_DP_WHEEL" not in os.environ, reason="BAYES_DP_WHEEL names no wheel")


@pytest.fixture(scope="module")
def wheel() -> zipfile.ZipFile:
    return zipfile.ZipFile(os.environ["BAYES_DP_WHEEL"])


def test_it_holds_every_file_of_the_package_and_no_other(wheel: zipfile.ZipFile):
    info = f"bayes_dp-{bayes_dp.__version__}.dist-info/"
    found = {name for name in wheel.namelist() if not name.startswith(info)}
    package = ROOT / "bayes_dp"
    files = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert found == {path.relative_to(ROOT).as_posix() for path in files}
    assert "bayes_dp/py.typed" in found
    assert any(name.startswith("bayes_dp/data/bundled/") for name in found)


def test_what_it_says_of_itself(wheel: zipfile.ZipFile):
    info = f"bayes_dp-{bayes_dp.__version__}.dist-info/"
    assert info + "licenses/LICENSE" in wheel.namelist()
    assert "bayes-dp = bayes_dp.cli:main" in wheel.read(info + "entry_points.txt").decode()
    metadata = Parser().parsestr(wheel.read(info + "METADATA").decode())
    assert metadata["Name"] == "bayes-dp"
    assert metadata["Version"] == bayes_dp.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
