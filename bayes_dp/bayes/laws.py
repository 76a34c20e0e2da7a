"""The usual priors by special functions: densities, quantiles and draws without JAX, NumPyro or `scipy.stats`.

Each is a distribution of NumPyro by its name and its numbers. To import NumPyro takes longer than a usual posterior.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.checks import show
from bayes_dp.support.arrays import Floats

__all__ = ["LAWS", "Law", "law_of", "shown"]


@dataclass(frozen=True)
class Law(ABC):
    """A continuous distribution of one number; arrays in, arrays of the same shape out."""

    @property
    def ends(self) -> tuple[float, float]:
        """Of the support."""
        return 0.0, math.inf

    def fault(self) -> str:
        """Why there is no such law; empty where there is: its numbers are finite and above 0."""
        for name, value in asdict(self).items():
            if not _is_finite(value) or value <= 0:
                return f"{name} must be a finite number above 0, not {shown(value)}"
        return ""

    @abstractmethod
    def log_density(self, x: Floats) -> Floats:
        """The log density, for x in the support."""

    @abstractmethod
    def below(self, x: Any) -> Any:
        """The probability of less than x."""

    @abstractmethod
    def above(self, x: Any) -> Any:
        """The probability of more than x, with all its digits."""

    @abstractmethod
    def quantile(self, p: Floats) -> Floats: ...

    @abstractmethod
    def draw(self, size: int, rng: np.random.Generator) -> Floats: ...

    def numpyro(self) -> Any:
        """The same as a distribution of NumPyro."""
        import numpyro.distributions as dist

        return getattr(dist, type(self).__name__)(**asdict(self), validate_args=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value)


def shown(value: Any) -> str:
    """A number of a prior, or what was given in its place, in a message."""
    return f"{value:.6g}" if _is_number(value) else show(value)


@dataclass(frozen=True)
class HalfNormal(Law):
    scale: float = 1.0

    def log_density(self, x: Floats) -> Floats:
        return 0.5 * math.log(2 / math.pi) - math.log(self.scale) - 0.5 * (x / self.scale) ** 2

    def below(self, x: Any) -> Any:
        return special.erf(np.maximum(x, 0.0) / (self.scale * math.sqrt(2.0)))

    def above(self, x: Any) -> Any:
        return special.erfc(np.maximum(x, 0.0) / (self.scale * math.sqrt(2.0)))

    def quantile(self, p: Floats) -> Floats:
        return np.asarray(self.scale * special.ndtri((1.0 + p) / 2.0))

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        return np.abs(rng.standard_normal(size)) * self.scale


@dataclass(frozen=True)
class Beta(Law):
    concentration1: float
    concentration0: float

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, 1.0

    def log_density(self, x: Floats) -> Floats:
        a, b = self.concentration1, self.concentration0
        norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        return np.asarray(norm + special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x))

    def below(self, x: Any) -> Any:
        return special.betainc(self.concentration1, self.concentration0, np.clip(x, 0.0, 1.0))

    def above(self, x: Any) -> Any:
        return special.betaincc(self.concentration1, self.concentration0, np.clip(x, 0.0, 1.0))

    def quantile(self, p: Floats) -> Floats:
        return np.asarray(special.betaincinv(self.concentration1, self.concentration0, p))

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.beta(self.concentration1, self.concentration0, size)


@dataclass(frozen=True)
class Uniform(Law):
    low: float = 0.0
    high: float = 1.0

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high

    def fault(self) -> str:
        """Why there is no such law: its ends are not finite, or not in order."""
        for name, value in asdict(self).items():
            if not _is_finite(value):
                return f"{name} must be a finite number, not {shown(value)}"
        return "" if self.low < self.high else f"low must be below high, not {self.low:g} and {self.high:g}"

    def log_density(self, x: Floats) -> Floats:
        return np.where((x >= self.low) & (x <= self.high), -math.log(self.high - self.low), -np.inf)

    def below(self, x: Any) -> Any:
        return np.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    def above(self, x: Any) -> Any:
        return np.clip((self.high - x) / (self.high - self.low), 0.0, 1.0)

    def quantile(self, p: Floats) -> Floats:
        return self.low + p * (self.high - self.low)

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.uniform(0.0, 1.0, size) * (self.high - self.low) + self.low


@dataclass(frozen=True)
class Gamma(Law):
    concentration: float
    rate: float = 1.0

    def log_density(self, x: Floats) -> Floats:
        a, inside = self.concentration, np.where(x >= 0, x, np.nan)
        found = a * math.log(self.rate) - math.lgamma(a) + special.xlogy(a - 1, inside) - self.rate * inside
        return np.where(np.isnan(found), -np.inf, found)

    def below(self, x: Any) -> Any:
        return special.gammainc(self.concentration, np.maximum(x, 0.0) * self.rate)

    def above(self, x: Any) -> Any:
        return special.gammaincc(self.concentration, np.maximum(x, 0.0) * self.rate)

    def quantile(self, p: Floats) -> Floats:
        return np.asarray(special.gammaincinv(self.concentration, p) / self.rate)

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.standard_gamma(self.concentration, size) / self.rate


@dataclass(frozen=True)
class Exponential(Law):
    rate: float = 1.0

    def log_density(self, x: Floats) -> Floats:
        return np.where(x >= 0, math.log(self.rate) - self.rate * x, -np.inf)

    def below(self, x: Any) -> Any:
        return -np.expm1(-np.maximum(x, 0.0) * self.rate)

    def above(self, x: Any) -> Any:
        return np.exp(-np.maximum(x, 0.0) * self.rate)

    def quantile(self, p: Floats) -> Floats:
        return -np.log1p(-p) / self.rate

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.standard_exponential(size) / self.rate


LAWS: dict[str, type[Law]] = {law.__name__: law for law in (HalfNormal, Beta, Uniform, Gamma, Exponential)}


def law_of(prior: Any) -> Law | None:
    """The law that a NumPyro distribution of one number is, if it is among these; a law as it is."""
    if isinstance(prior, Law):
        return prior
    law = LAWS.get(type(prior).__name__)
    if law is None or not type(prior).__module__.startswith("numpyro."):
        return None
    if prior.batch_shape or prior.event_shape:
        return None
    found = law(*(float(getattr(prior, field.name)) for field in fields(law)))
    return None if found.fault() else found
