"""A parameter of a posterior as a value with arithmetic, carried by joint draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, interval_probability, numbers, one_number, show
from bayes_dp.support.arrays import Floats
from bayes_dp.support.completion import PublicNames
from bayes_dp.support.text import digits

__all__ = ["Drawn"]

_SIGNS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**",
    "greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!=",
    "bitwise_and": "&", "bitwise_or": "|",
}  # fmt: skip


class Drawn(PublicNames, np.lib.mixins.NDArrayOperatorsMixin):
    """A function of the parameters of one posterior, by its `values` (size,) at draws from it.

    Arithmetic and the functions of NumPy go draw by draw, so that what is made of several parameters has their joint
    law. A comparison is 1 or 0 at each draw, and its `mean` a probability, with a standard error of at most
    1/(2 sqrt(size)), .008 for 4000 independent draws.

    >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3)
    >>> excess = post.epsilon - 2
    >>> excess.name, round(excess.prob_above(0), 1), round(post.prob_above(2), 1)
    ('epsilon - 2', 0.9, 0.9)
    >>> least = post.epsilon * post.strength  # what every attack shows at least
    >>> round((least > 1).mean, 1)
    0.8
    """

    def __init__(self, values: Floats, name: str, origin: object) -> None:
        self.values, self.name, self._origin = values, name, origin

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def sd(self) -> float:
        return float(self.values.std())

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    def quantile(self, probability: ArrayLike) -> Floats:
        return np.asarray(np.quantile(self.values, numbers("probability", probability, 0.0, 1.0)))

    def interval(self, prob: float = 0.9) -> tuple[float, float]:
        """The credible interval of this probability, with equal tails."""
        prob = interval_probability(prob)
        low, high = self.quantile([(1 - prob) / 2, (1 + prob) / 2])
        return float(low), float(high)

    def prob_above(self, value: float) -> float:
        """The share of the draws above a value."""
        return float(np.mean(self.values > one_number("value", value)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout != 1:
            return NotImplemented
        values: list[Any] = []
        for other in inputs:
            if isinstance(other, Drawn):
                if other._origin is not self._origin:
                    raise InputError(
                        f"{self.name} and {other.name} are of two posteriors, which say nothing of their joint law; if"
                        " the two are independent, take draws(seed=...) of each with a seed of its own"
                    )
                values.append(other.values)
            elif isinstance(other, bool | int | float | np.bool_ | np.integer | np.floating):
                values.append(other)
            else:
                return NotImplemented
        return Drawn(np.asarray(ufunc(*values)), _name(ufunc.__name__, inputs), self._origin)

    def __bool__(self) -> bool:
        raise InputError(f"{self.name} is neither true nor false: it has the probability ({self.name}).mean")

    def __repr__(self) -> str:
        size = f"by {len(self.values)} draws"
        if self.values.dtype == np.bool_:
            return f"<{self.name}: probability {digits(self.mean)}, {size}>"
        low, high = self.interval()
        return f"<{self.name}: mean {digits(self.mean)}, 90% interval {digits(low)} to {digits(high)}, {size}>"


def _name(function: str, inputs: tuple[Any, ...]) -> str:
    """The formula, with the names of what goes into it."""
    names = [each.name if isinstance(each, Drawn) else show(each) for each in inputs]
    if function not in _SIGNS:
        return f"{function}({', '.join(names)})"
    return f" {_SIGNS[function]} ".join(f"({name})" if " " in name else name for name in names)
