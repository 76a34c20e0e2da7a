"""Priors: NumPyro distributions of one real parameter, their support, their density in NumPy, their name.

The defaults are those of the MCMC-DP-Est paper: ε ~ HalfNormal(variance 10), s ~ Beta(1,1); δ, where it is the
unknown, gets Uniform(0,1), and the spread of groups HalfNormal(0.1). Any continuous NumPyro distribution whose support
lies in that of its parameter will do. The usual ones are held as a `Law`, which needs neither NumPyro nor JAX.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bayes_dp.bayes.laws import LAWS, Law, law_of, shown
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
    "numpyro_law",
    "parse",
    "prior_of",
    "read",
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


class _Words(NamedTuple):
    """What the text of a prior says: a family, and its numbers by place and by name."""

    text: str
    family: str
    places: list[float]
    names: dict[str, float]

    def refuse(self, why: str) -> InputError:
        return _refusal(self.text, why)


def prior_of(parameter: str, prior: Any = None) -> Any:
    """The prior as a `Law`, or else as a NumPyro distribution: the default, text such as 'Gamma(2, 1)', or what is
    given."""
    if prior is None:
        prior = DEFAULTS[parameter][0]
    prior = read(prior) if isinstance(prior, str) else law_of(prior) or prior
    if not isinstance(prior, Law):
        jax_must_run()
    support(parameter, prior)
    return prior


def read(text: str) -> Any:
    """A `Law`, or else a NumPyro distribution, from text like 'HalfNormal(2)' or 'Gamma(concentration=2, rate=1)'."""
    words = _read(text)
    return _law(words) or _distribution(words)


def parse(text: str) -> Any:
    """A NumPyro distribution from such text, with numbers only."""
    words = _read(text)
    _law(words)  # which knows that ends have to be in order, as NumPyro does not
    return _distribution(words)


def numpyro_law(prior: Any) -> Any:
    """The prior as a NumPyro distribution, which models and samplers take."""
    return prior.numpyro() if isinstance(prior, Law) else prior


def _read(text: str) -> _Words:
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
            raise _refusal(text, f"has the argument {show(ast.unparse(node))}, which is not a number")
        if math.isinf(value):
            raise _refusal(text, "has an argument that is not finite")
        return value

    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refusal(text, "cannot be read") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise _refusal(text, "is not a distribution with its arguments")
    places = [number(a) for a in call.args]
    names = [k.arg for k in call.keywords]
    if None in names:
        raise _refusal(text, "has arguments after **, which are not read")
    for name in names:
        if names.count(name) > 1:
            raise _refusal(text, f"gives {show(name)} twice")
    return _Words(text, call.func.id, places, {str(k.arg): number(k.value) for k in call.keywords})


def _refusal(text: str, why: str) -> InputError:
    return InputError(f"prior {show(text)} {why}; write it like 'HalfNormal(3)' or 'Gamma(2, rate=1)'")


def _law(words: _Words) -> Law | None:
    """The law of these words, if it is a usual one."""
    make = LAWS.get(words.family)
    try:
        found = None if make is None else make(*words.places, **words.names)
    except TypeError:  # not the arguments that it has, which is for NumPyro to say
        return None
    if found is not None and (fault := found.fault()):
        raise words.refuse(f"is no distribution: {fault}")
    return found


def _distribution(words: _Words) -> Any:
    import numpyro.distributions as dist

    jax_must_run()  # which NumPyro needs for the simplest prior
    family = getattr(dist, words.family, None)
    if not (inspect.isclass(family) and issubclass(family, dist.Distribution)):
        raise words.refuse(f"names {show(words.family)}, which is not a NumPyro distribution")
    make: Any = family
    try:
        return make(*words.places, **words.names, validate_args=True)
    except (TypeError, ValueError, AttributeError) as error:
        if fault := _fault_without_check(words, make):
            raise words.refuse(f"is no distribution: {fault}") from None
        raise words.refuse(f"is refused by NumPyro ({str(error).splitlines()[0]:.120})") from None


def _fault_without_check(words: _Words, make: Any) -> str:
    """What is wrong with the numbers of a distribution that NumPyro refuses; empty where it is something else."""
    import numpyro

    try:
        with numpyro.validation_enabled(is_validate=False):
            return _fault(make(*words.places, **words.names))
    except Exception:  # arguments that it has not, or whatever numbers that it cannot work with lead to
        return ""


def _fault(prior: Any) -> str:
    """Why there is no such distribution, by the first of its numbers that is not as it must be; empty where there is.

    NumPyro looks at them itself when it is asked to, but not at the order of ends, and names the distribution within.
    """
    if isinstance(prior, Law):
        return prior.fault()
    for name, constraint in getattr(prior, "arg_constraints", {}).items():
        value = getattr(prior, name, None)
        if value is None or np.ndim(value):
            continue
        value = float(value)
        if math.isnan(value) or (
            math.isinf(value) and (name not in ("low", "high") or not hasattr(prior, "base_dist"))
        ):
            return f"{name} must be a finite number, not {value:g}"
        if not getattr(constraint, "is_discrete", False) and not _holds(constraint, value):
            return f"{name} must be {_wanted(constraint)}, not {value:g}"
    lower, upper = _ends(prior)
    if not lower < upper:
        named = hasattr(prior, "low") and hasattr(prior, "high")
        return f"{'low must be below high' if named else 'its ends must be in order'}, not {lower:g} and {upper:g}"
    inner = getattr(prior, "base_dist", None)
    return "" if inner is None else _fault(inner)


def _holds(constraint: Any, value: float) -> bool:
    """Whether a number is as a constraint wants it; one that depends on other numbers says nothing."""
    try:
        return bool(constraint(value))
    except (TypeError, ValueError, NotImplementedError):
        return True


def _wanted(constraint: Any) -> str:
    """A constraint in words."""
    lower, upper = (getattr(constraint, f"{end}_bound", None) for end in ("lower", "upper"))
    if lower is not None and upper is not None:
        return f"between {float(lower):g} and {float(upper):g}"
    return "a finite number" if lower is None else f"above {float(lower):g}"


def support(parameter: str, prior: Any) -> tuple[float, float]:
    """The ends of the prior's support, which must lie in the parameter's range."""
    _, low, high = DEFAULTS[parameter]
    if not isinstance(prior, Law):
        _check_distribution(parameter, prior)
    if fault := _fault(prior):
        raise InputError(f"the prior of {parameter} cannot be {describe(prior)}: {fault}")
    lower, upper = _ends(prior)
    if lower < low or upper > high:
        raise InputError(
            f"the prior of {parameter} must live within [{low:g}, {high:g}], but {describe(prior)} lives on"
            f" [{lower:g}, {upper:g}]"
        )
    return lower, upper


def _check_distribution(parameter: str, prior: Any) -> None:
    import numpyro.distributions as dist

    if not isinstance(prior, dist.Distribution):
        raise InputError(f"the prior of {parameter} must be a NumPyro distribution or its text, not {show(prior)}")
    if prior.batch_shape or prior.event_shape or getattr(prior.support, "is_discrete", False):
        raise InputError(
            f"the prior of {parameter} must be a continuous distribution of one number, not {describe(prior)}"
        )


def _ends(prior: Any) -> tuple[float, float]:
    """Of the support."""
    if isinstance(prior, Law):
        return prior.ends
    low, high = (getattr(prior.support, f"{end}_bound", None) for end in ("lower", "upper"))
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def inside(prior: Any) -> float:
    """A value between the ends of the support, found without a compiler."""
    low, high = _ends(prior)
    if math.isfinite(low) and math.isfinite(high):
        return 0.5 * (low + high)
    return low + 1.0 if math.isfinite(low) else min(high - 1.0, 0.0)


def describe(prior: Any) -> str:
    """The prior in words: 'Gamma(concentration=2, rate=1)'."""
    return _call(prior, shown)


def exact_words(prior: Any) -> str | None:
    """Text that is read as this very prior, with all digits; None where there is none."""
    words = _call(prior, repr)
    try:
        again = read(words)
    except InputError:
        return None
    prior = law_of(prior) or prior
    return words if type(again) is type(prior) and _call(again, repr) == words else None


def _call(prior: Any, written: Callable[[float], str]) -> str:
    if isinstance(prior, Law):
        numbers = asdict(prior)
    else:
        values = {name: getattr(prior, name, None) for name in getattr(prior, "arg_constraints", {})}
        numbers = {name: float(value) for name, value in values.items() if value is not None and np.ndim(value) == 0}
    return f"{type(prior).__name__}({', '.join(f'{name}={written(value)}' for name, value in numbers.items())})"


def log_density(prior: Any) -> Callable[[Floats], Floats]:
    """The log density as a NumPy function of an array (m,), evaluated in 64 bits.

    A `Law` has a closed form in NumPy, so that the usual call need not wait for a compiler.
    """
    law = law_of(prior)
    if law is not None:
        return law.log_density

    import jax

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
    law = law_of(prior)
    if law is not None:
        return law.draw(size, rng)

    import jax

    with jax.enable_x64(True):
        return np.asarray(_in_64_bits(prior).sample(jax.random.PRNGKey(int(rng.integers(2**31))), (size,)), float)


def witnesses(prior: Any) -> Floats:
    """Places (m,) where the prior's mass is: quantiles of the usual families, independent draws of the others."""
    law = law_of(prior)
    if law is not None:
        return law.quantile((np.arange(_DRAWS // 4) + 0.5) / (_DRAWS // 4))

    import jax

    try:
        with jax.enable_x64(True):
            found = np.asarray(_in_64_bits(prior).sample(jax.random.PRNGKey(0), (_DRAWS,)), float)
    except NotImplementedError:
        raise InputError(f"the prior {describe(prior)} has no draws, by which its modes are found") from None
    return found[np.isfinite(found)]


def tails(prior: Any) -> Tails | None:
    """The mass below and the mass above a value, if the prior has a distribution function."""
    law = law_of(prior)
    if law is not None:
        return law.below, law.above

    import jax

    wide = _in_64_bits(prior)

    def below(value: float) -> float:
        with jax.enable_x64(True):
            return float(wide.cdf(value))

    try:
        below(float(witnesses(prior)[0]))
    except Exception:  # what a distribution without one does is its own affair
        return None
    return below, lambda value: 1.0 - below(value)


def _in_64_bits(prior: Any) -> Any:
    """The distribution with parameters of 64 bits, as norms from parameters of 32 bits are off by up to 1e-4."""
    jax_must_run()
    import jax

    def widened(leaf: Any) -> Any:
        array = np.asarray(leaf)
        return array.astype(np.float64) if array.dtype.kind == "f" else leaf

    with jax.enable_x64(True):
        wide = jax.tree.map(widened, prior)
    for name, value in vars(prior).items():  # a distribution of the user's may have more than JAX knows of
        vars(wide).setdefault(name, value)
    return wide
