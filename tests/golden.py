"""The golden values of one function, for `pytest.mark.parametrize`: skipped where BAYES_DP_GOLDEN names no folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

__all__ = ["golden"]


def golden(file: str, function: str) -> Any:
    """Parametrizes a test's `entry` by the entries of FILE.json for a function."""
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if folder is None:
        return pytest.mark.parametrize(
            "entry", [pytest.param(None, marks=pytest.mark.skip("BAYES_DP_GOLDEN is not set"))]
        )
    entries = json.loads((Path(folder) / f"{file}.json").read_text())
    mine = [each for each in entries if each["inputs"]["function"] == function]
    assert mine, f"{file}.json has no {function}"
    return pytest.mark.parametrize("entry", mine, ids=[each["name"] for each in mine])
