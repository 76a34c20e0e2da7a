"""Priors: NumPyro distributions of one real parameter, their support, their density in NumPy, their name.

The defaults are those of the MCMC-DP-Est paper: ε ~ HalfNormal(variance 10), s ~ Beta(1,1); δ, where it is the
unknown, gets Uniform(0,1), and the spread of groups HalfNormal(0.1). Any continuous NumPyro distribution whose support
lies in that of its parameter will do.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.checks import InputError, show
from bayes_dp.support.arrays import Floats
from bayes_dp.support.workers import jax_must_run

__all__ = [
    "DEFAULTS",
    "describe",
    "draw",
    "exact_words",
    "inside",
    "log_density",
    "parse",
    "prior_of",
    "support",
    "tails",
    "witnesses",
]

Tails = tuple[Callable[[float], float], Callable[[float], float]]

#: parameter -> (default prior, the parameter's own range)
DEFAULTS: dict[str, tuple[str, float, float]] = {
    "epsilon": (f"HalfNormal({math.sqrt(10)!r})", 0.0, math.inf),
    "delta": ("Uniform(0, 1)", 0.0, 1.0),
    "strength": ("Beta(1, 1)", 0.0, 1.0),
    "spread": ("HalfNormal(0.1)", 0.0, math.inf),
    "mu": ("HalfNormal(1)", 0.0, math.inf),
    "theta": ("HalfNormal(1)", 0.0, math.inf),
}

_DRAWS = 4096  # witnesses of a prior: a mode that holds a thousandth of it has one with probability .98
_BATCH = 1024  # densities are evaluated in blocks of one size, so that JAX compiles once


def prior_of(parameter: str, prior: Any = None) -> Any:
    """The prior as a NumPyro distribution: the default, text such as 'Gamma(2, 1)', or the distribution itself."""
    jax_must_run()  # which NumPyro needs for the simplest prior
    if prior is None:
        prior = DEFAULTS[parameter][0]
    if isinstance(prior, str):
        prior = parse(prior)
    support(parameter, prior)
    return prior


def parse(text: str) -> Any:
    """A NumPyro distribution from text like 'HalfNormal(2)' or 'Gamma(concentration=2, rate=1)'; numbers only."""
    import numpyro.distributions as dist

    def refuse(why: str) -> InputError:
        return InputError(f"prior {show(text)} {why}; write it like 'HalfNormal(3)' or 'Gamma(2, rate=1)'")

    def number(node: ast.expr) -> float:
        try:
            value = ast.literal_eval(node)
            plain = isinstance(value, int | float) and not isinstance(value, bool)
            value = float(value) if plain else math.nan
        except ValueError:
            value = math.nan
        except OverflowError:  # a whole number beyond the largest float
            value = math.inf
        if math.isnan(value):
            raise refuse(f"has the argument {show(ast.unparse(node))}, which is not a number")
        if math.isinf(value):
            raise refuse("has an argument that is not finite")
        return value

    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise refuse("cannot be read") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise refuse("is not a distribution with its arguments")
    family = getattr(dist, call.func.id, None)
    if not (inspect.isclass(family) and issubclass(family, dist.Distribution)):
        raise refuse(f"names {show(call.func.id)}, which is not a NumPyro distribution")
    make: Any = family
    arguments = [number(a) for a in call.args]
    names = [k.arg for k in call.keywords]
    if None in names:
        raise refuse("has arguments after **, which are not read")
    for name in names:
        if names.count(name) > 1:
            raise refuse(f"gives {show(name)} twice")
    named = {str(k.arg): number(k.value) for k in call.keywords}
    try:
        return make(*arguments, **named, validate_args=True)
    except (TypeError, ValueError, AttributeError) as error:
        raise refuse(f"is refused by NumPyro ({str(error).splitlines()[0]:.120})") from None


def support(parameter: str, prior: Any) -> tuple[float, float]:
    """The ends of the prior's support, which must lie in the parameter's range."""
    import numpyro.distributions as dist

    _, low, high = DEFAULTS[parameter]
    if not isinstance(prior, dist.Distribution):
        raise InputError(f"the prior of {parameter} must be a NumPyro distribution or its text, not {show(prior)}")
    if prior.batch_shape or prior.event_shape or getattr(prior.support, "is_discrete", False):
        raise InputError(
            f"the prior of {parameter} must be a continuous distribution of one number, not {describe(prior)}"
        )
    lower = float(getattr(prior.support, "lower_bound", -math.inf))
    upper = float(getattr(prior.support, "upper_bound", math.inf))
    if lower < low or upper > high or not lower < upper:
        raise InputError(
            f"the prior of {parameter} must live within [{low:g}, {high:g}], but {describe(prior)} lives on"
            f" [{lower:g}, {upper:g}]"
        )
    return lower, upper


def inside(prior: Any) -> float:
    """A value between the ends of the support, found without a compiler."""
    low = float(getattr(prior.support, "lower_bound", -math.inf))
    high = float(getattr(prior.support, "upper_bound", math.inf))
    if math.isfinite(low) and math.isfinite(high):
        return 0.5 * (low + high)
    return low + 1.0 if math.isfinite(low) else min(high - 1.0, 0.0)


def describe(prior: Any) -> str:
    """The prior in words: 'Gamma(concentration=2, rate=1)'."""
    return _call(prior, lambda value: f"{value:.6g}")


def exact_words(prior: Any) -> str | None:
    """Text that `parse` reads as this very prior, with all digits; None where there is none."""
    words = _call(prior, repr)
    try:
        again = parse(words)
    except InputError:
        return None
    return words if type(again) is type(prior) and _call(again, repr) == words else None


def _call(prior: Any, shown: Callable[[float], str]) -> str:
    values = {name: getattr(prior, name, None) for name in getattr(prior, "arg_constraints", {})}
    numbers = {name: float(value) for name, value in values.items() if value is not None and np.ndim(value) == 0}
    return f"{type(prior).__name__}({', '.join(f'{name}={shown(value)}' for name, value in numbers.items())})"


def log_density(prior: Any) -> Callable[[Floats], Floats]:
    """The log density as a NumPy function of an array (m,), evaluated in 64 bits.

    The families of the defaults have closed forms in NumPy, so that the usual call need not wait for a compiler.
    """
    import jax
    import numpyro.distributions as dist

    if type(prior) is dist.HalfNormal:
        scale = float(prior.scale)
        return lambda x: 0.5 * math.log(2 / math.pi) - math.log(scale) - 0.5 * (x / scale) ** 2
    if type(prior) is dist.Beta:
        a, b = float(prior.concentration1), float(prior.concentration0)
        norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        return lambda x: np.asarray(norm + special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x))

    compiled = jax.jit(_in_64_bits(prior).log_prob)

    def evaluate(values: Floats) -> Floats:
        result = np.empty(len(values))
        with jax.enable_x64(True):
            for start in range(0, len(values), _BATCH):
                block = values[start : start + _BATCH]
                padded = np.concatenate([block, np.full(_BATCH - len(block), block[0])])
                result[start : start + _BATCH] = np.asarray(compiled(padded))[: len(block)]
        return np.where(np.isnan(result), -np.inf, result)

    return evaluate


def draw(prior: Any, size: int, rng: np.random.Generator) -> Floats:
    """Independent draws (size,); of the usual families without a compiler."""
    import jax

    law = _scipy(prior)
    if law is not None:
        return np.asarray(law.rvs(size, random_state=rng))
    with jax.enable_x64(True):
        return np.asarray(_in_64_bits(prior).sample(jax.random.PRNGKey(int(rng.integers(2**31))), (size,)), float)


def witnesses(prior: Any) -> Floats:
    """Places (m,) where the prior's mass is: quantiles of the usual families, independent draws of the others."""
    import jax

    law = _scipy(prior)
    if law is not None:
        return np.asarray(law.ppf((np.arange(_DRAWS // 4) + 0.5) / (_DRAWS // 4)))
    try:
        with jax.enable_x64(True):
            found = np.asarray(_in_64_bits(prior).sample(jax.random.PRNGKey(0), (_DRAWS,)), float)
    except NotImplementedError:
        raise InputError(f"the prior {describe(prior)} has no draws, by which its modes are found") from None
    return found[np.isfinite(found)]


def tails(prior: Any) -> Tails | None:
    """The mass below and the mass above a value, if the prior has a distribution function."""
    import jax

    law = _scipy(prior)
    if law is not None:
        return law.cdf, law.sf
    wide = _in_64_bits(prior)

    def below(value: float) -> float:
        with jax.enable_x64(True):
            return float(wide.cdf(value))

    try:
        below(float(witnesses(prior)[0]))
    except Exception:  # what a distribution without one does is its own affair
        return None
    return below, lambda value: 1.0 - below(value)


@dataclass(frozen=True)
class _HalfNormal:
    """What is asked of a law of SciPy, by special functions: `scipy.stats` takes a quarter of a second to import."""

    scale: float

    def cdf(self, x: Any) -> Any:
        return special.erf(np.maximum(x, 0.0) / (self.scale * math.sqrt(2.0)))

    def sf(self, x: Any) -> Any:
        return special.erfc(np.maximum(x, 0.0) / (self.scale * math.sqrt(2.0)))

    def ppf(self, q: Any) -> Any:
        return self.scale * special.ndtri((1.0 + q) / 2.0)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return np.abs(random_state.standard_normal(size)) * self.scale


@dataclass(frozen=True)
class _Beta:
    a: float
    b: float

    def cdf(self, x: Any) -> Any:
        return special.betainc(self.a, self.b, np.clip(x, 0.0, 1.0))

    def sf(self, x: Any) -> Any:
        return special.betaincc(self.a, self.b, np.clip(x, 0.0, 1.0))

    def ppf(self, q: Any) -> Any:
        return special.betaincinv(self.a, self.b, q)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return random_state.beta(self.a, self.b, size)


def _scipy(prior: Any) -> Any:
    """The law as SciPy has it, for families where NumPyro would have JAX compile for seconds; None for the others."""
    import numpyro.distributions as dist

    if type(prior) is dist.HalfNormal:
        return _HalfNormal(float(prior.scale))
    if type(prior) is dist.Beta:
        return _Beta(float(prior.concentration1), float(prior.concentration0))
    if type(prior) not in (dist.Uniform, dist.Gamma, dist.Exponential):
        return None
    from scipy import stats

    if type(prior) is dist.Uniform:
        return stats.uniform(float(prior.low), float(prior.high) - float(prior.low))
    if type(prior) is dist.Gamma:
        return stats.gamma(float(prior.concentration), scale=1 / float(prior.rate))
    return stats.expon(scale=1 / float(prior.rate))


def _in_64_bits(prior: Any) -> Any:
    """The distribution with parameters of 64 bits, as norms from parameters of 32 bits are off by up to 1e-4."""
    import jax

    def widened(leaf: Any) -> Any:
        array = np.asarray(leaf)
        return array.astype(np.float64) if array.dtype.kind == "f" else leaf

    with jax.enable_x64(True):
        wide = jax.tree.map(widened, prior)
    for name, value in vars(prior).items():  # a distribution of the user's may have more than JAX knows of
        vars(wide).setdefault(name, value)
    return wide
