"""The attacks on a matrix of scores by name, a line each: the module that has it, and how many references it needs.

An attack is an `Attack` (`attack.py`) in the tuple `ATTACKS` at the end of its module.
"""

from __future__ import annotations

import importlib
from typing import Any

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.checks import InputError, show

__all__ = ["INDEX", "attack", "default"]

INDEX = {  # name -> module
    "loss": "loss",
    "gradient-norm": "gradient_norm",
    "quantile-regression": "quantile_regression",
    "calibration": "calibration",
    "attack-r": "attack_r",
    "lira": "lira",
    "lira-offline": "lira",
    "rmia": "rmia",
    "rmia-offline": "rmia",
    "base": "base",
    "bavaria": "bavaria",
}
_FEW = 2  # references, up to which the means of both sides say little


def default(references: int) -> str:
    """The name of the attack for so many references: "loss" for none, "calibration" for one or two, else "rmia"."""
    if not references:
        return "loss"
    return "calibration" if references <= _FEW else "rmia"


def attack(name: Any) -> Attack:
    """The attack of this name in `INDEX`."""
    if not isinstance(name, str) or name not in INDEX:
        raise InputError(f"name must be one of {', '.join(INDEX)}, not {show(name):.80}")
    found: tuple[Attack, ...] = importlib.import_module(f"bayes_dp.attacks.references.{INDEX[name]}").ATTACKS
    return next(each for each in found if each.name == name)
