"""The same thing has the same name and the same default in every public function, and is said in plain words."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bayes_dp

ROOT = Path(bayes_dp.__file__).parent.parent
ROOMS = ("attacks", "audits", "calibrate", "games", "leakage", "plots", "propensity")
DEFAULTS = {"seed": 0, "n_jobs": None, "progress": None}  # in the order in which they stand, after all else
OTHER_DEFAULTS = {"bayes_dp.propensity.falsify": {"seed": None}}  # that of the fit
PLAIN = re.compile(r"\b(anew|one's own|reckon\w*|thereof|whence|hitherto|lest)\b|\b(its|his|their) \w+ likes\b")


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in (bayes_dp, *(importlib.import_module(f"bayes_dp.{room}") for room in ROOMS)):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not inspect.isclass(value):
                yield f"{module.__name__}.{name}", value


@pytest.mark.parametrize(("name", "function"), [pytest.param(*each, id=each[0]) for each in public()])
def test_seeds_jobs_and_bars_are_asked_for_alike(name: str, function: Callable[..., Any]):
    parameters = inspect.signature(function).parameters
    found = {key: parameters[key].default for key in parameters if key in DEFAULTS}
    assert found == {key: DEFAULTS[key] for key in found} | OTHER_DEFAULTS.get(name, {})
    assert list(found) == [key for key in DEFAULTS if key in found]
    assert {"confidence", "prob"} - parameters.keys(), "bounds have a confidence, posteriors a probability"


def texts() -> list[Path]:
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bayes_dp/**/*.py"), *ROOT.glob("models/*.py")]
    return [path for path in files if path.name not in ("CHANGELOG.md", "CONTRIBUTING.md")]


def test_words_are_plain():
    assert len(texts()) > 150
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in texts()
        for match in PLAIN.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found
