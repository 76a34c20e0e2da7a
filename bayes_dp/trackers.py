"""Results in the trackers of experiments: their numbers as metrics, what they say as text.

MLflow and Weights & Biases are brought by who uses them.
"""

from __future__ import annotations

import importlib
from typing import Any

from bayes_dp.checks import InputError, show
from bayes_dp.results.base import Result

__all__ = ["metrics", "to_mlflow", "to_wandb"]


def __dir__() -> list[str]:
    return __all__


def metrics(result: Result, name: str = "privacy") -> dict[str, float]:
    """The finite numbers of a posterior, or of what an audit returns, such as "privacy.epsilon.median".

    >>> found = bdp.trackers.metrics(bdp.audits.one_run(bdp.Guesses(1000, 200, 150), delta=1e-5), "audit")
    >>> {name: round(value, 2) for name, value in found.items()}
    {'audit.epsilon.value': 0.82, 'audit.epsilon.confidence': 0.95, 'audit.epsilon.valid': 1.0}
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"name must be text, not {show(name)}")
    content = result.to_dict() if isinstance(result, Result) else {}
    kept: tuple[str, ...]
    if "estimates" in content:
        rows, kept = content["estimates"], ("median", "low", "high")
    elif "value" in content:
        rows, kept = {content["parameter"]: content}, ("value", "upper", "confidence", "valid")
    else:
        raise InputError(f"result must be a posterior or what an audit returns, not {type(result).__name__}")
    found = {f"{name}.{row}.{key}": values[key] for row, values in rows.items() for key in kept}
    return {key: float(value) for key, value in found.items() if value is not None}


def to_mlflow(result: Result, name: str = "privacy") -> None:
    """Log the metrics to the active run of MLflow, and all that the result says as the file `name`.json.

    >>> import sys, types, unittest.mock
    >>> bound = bdp.audits.one_run(bdp.Guesses(1000, 200, 150), delta=1e-5)
    >>> played = types.SimpleNamespace(log_metrics=print, log_dict=lambda content, file: print(file))
    >>> with unittest.mock.patch.dict(sys.modules, mlflow=played):  # in the place of MLflow
    ...     bdp.trackers.to_mlflow(bound)
    {'privacy.epsilon.value': 0.8..., 'privacy.epsilon.confidence': 0.95, 'privacy.epsilon.valid': 1.0}
    privacy.json
    """
    found = metrics(result, name)
    try:
        mlflow: Any = importlib.import_module("mlflow")
    except ImportError:
        raise InputError("mlflow must be installed to log to it") from None
    mlflow.log_metrics(found)
    mlflow.log_dict(result.to_dict(), f"{name}.json")


def to_wandb(result: Result, run: Any, name: str = "privacy") -> None:
    """Log the metrics to a run of Weights & Biases, as `wandb.init` gives it, and what they rest on to its summary.

    >>> import types
    >>> run = types.SimpleNamespace(log=print, summary={})  # in the place of wandb.init()
    >>> bdp.trackers.to_wandb(bdp.audits.one_run(bdp.Guesses(1000, 200, 150), delta=1e-5), run)
    {'privacy.epsilon.value': 0.8..., 'privacy.epsilon.confidence': 0.95, 'privacy.epsilon.valid': 1.0}
    """
    found = metrics(result, name)
    if not callable(getattr(run, "log", None)) or not hasattr(getattr(run, "summary", None), "update"):
        raise InputError(f"run must have log and summary, as wandb.init gives it, not {type(run).__name__}")
    run.log(found)
    run.summary.update({f"{name}.summary": str(result)})
