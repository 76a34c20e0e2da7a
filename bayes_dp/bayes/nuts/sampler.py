"""Hamiltonian Monte Carlo for any NumPyro model: the No-U-Turn sampler, in 64 bits.

The sampler is NumPyro's (Hoffman and Gelman 2014, with multinomial trajectories and windowed adaptation as in Stan),
which follows H(θ, r) = −log p(θ) + ½ rᵀM⁻¹r. The parameters share a dense mass matrix M; arrays of coordinates that
have no prior of their own, such as those of the error rates, have a diagonal one. A model is compiled once for
arguments of the same shapes: the numbers in arrays and fractions may change, whole numbers, text and all else may not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax import lax
from numpy.typing import NDArray
from numpyro import handlers
from numpyro.distributions import biject_to
from numpyro.infer import init_to_uniform
from numpyro.infer.hmc import HMCState, hmc
from numpyro.infer.util import ParamInfo, constrain_fn, potential_energy

from bayes_dp.bayes.compiling import compiler_options, leaf_order, uses_earlier_emitters
from bayes_dp.bayes.convergence import Failure, convergence, warn
from bayes_dp.bayes.precision import double
from bayes_dp.checks import InputError, one_number, seed_of, show, whole_number
from bayes_dp.support.progress import bar, check_shown

__all__ = ["ModelDraws", "NutsSettings", "compiled", "run_nuts", "sample"]

# Where ArviZ 1 was imported first, NumPyro is a module that loads at the first look. `import numpyro.distributions`
# then runs that package twice, and the second one lacks this part, which `numpyro.factor` asks for.
if not hasattr(dist, "distribution"):
    setattr(dist, "distribution", sys.modules["numpyro.distributions.distribution"])  # noqa: B010

_BLOCK = 100  # iterations at most between two looks at the progress bar and the keyboard
_ATTEMPTS = 100
_TREE_DEPTH = 7, 10  # at most, in the warm-up and after it
_TINY = 10.0  # how many times smaller than the median step of the chains a step may be
_SPREAD = 2.0  # the chains start from coordinates that are uniform between this and its negative
_STATS = {  # what is kept of every draw: ArviZ's name -> NumPyro's
    "diverging": "diverging",
    "n_steps": "num_steps",
    "acceptance_rate": "accept_prob",
    "energy": "energy",
}


@dataclass(frozen=True)
class NutsSettings:
    """How a run is to be made."""

    chains: int
    draws: int
    warmup: int
    target_accept: float
    seed: int
    progress: bool | None

    def __post_init__(self) -> None:
        for name, least in (("chains", 1), ("draws", 1), ("warmup", 0)):
            whole_number(name, getattr(self, name), least)
        one_number("target_accept", self.target_accept, 0.0, 1.0, low_open=True, high_open=True)
        seed_of(self.seed)
        check_shown(self.progress)


@dataclass(frozen=True, eq=False)
class ModelDraws:
    """Draws from a model: `samples` and `stats` by name, (chains, draws, ...); diagnostics; warnings, a sentence each.

    The samples are those of all parameters and deterministic sites. Coordinates that have no prior are left out.
    """

    samples: Mapping[str, NDArray[Any]]
    stats: Mapping[str, NDArray[Any]]
    diagnostics: Mapping[str, Any]
    warnings: tuple[str, ...]


def run_nuts(
    model: Callable[..., Any],
    *args: Any,
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 1000,
    target_accept: float = 0.9,
    seed: int = 0,
    progress: bool | None = None,
    **keywords: Any,
) -> ModelDraws:
    """Sample a NumPyro model, called with `args` and all other `keywords`, by NUTS: `draws` draws of each chain after
    `warmup` iterations.

    A larger `target_accept` makes smaller steps, which is the first remedy for divergences. The same seed gives the
    same draws. `progress` says whether there is a bar on standard error, by default on a terminal.

    Interrupting (KeyboardInterrupt) after the warm-up gives the draws finished so far, with a warning. A
    `ConvergenceWarning` says when the draws are not to be trusted.

    >>> import numpyro
    >>> import numpyro.distributions as dist
    >>> def coin(heads):
    ...     numpyro.sample("heads", dist.Binomial(10, numpyro.sample("p", dist.Beta(1, 1))), obs=heads)
    >>> found = bdp.run_nuts(coin, 8, warmup=200, progress=False)
    >>> found.samples["p"].shape, abs(float(found.samples["p"].mean()) - 0.75) < 0.05  # the mean of Beta(9, 3)
    ((4, 1000), True)
    """
    if not callable(model):
        raise InputError(f"model must be a NumPyro model, a function, not {type(model).__name__}")
    found = sample(model, args, NutsSettings(chains, draws, warmup, target_accept, seed, progress), **keywords)
    warn(found.warnings)
    return found


def sample(model: Callable[..., Any], args: tuple[Any, ...], settings: NutsSettings, **keywords: Any) -> ModelDraws:
    """`run_nuts` without a warning."""
    form, numbers = _Form.of(args, keywords)
    blocks = [
        (min(_BLOCK, total - begin), phase)
        for phase, total in (("warm-up", settings.warmup), ("sampling", settings.draws))
        for begin in range(0, total, _BLOCK)
    ]
    kept: list[Any] = []  # by block, chain by chain
    with double(), ThreadPoolExecutor(min(settings.chains, os.cpu_count() or 1)) as pool:
        program = compiled(model, form, int(settings.warmup), float(settings.target_accept))
        keys = jax.random.split(jax.random.key(settings.seed, impl="threefry2x32"), settings.chains)
        states = [_start(program, key, numbers) for key in keys]

        def run(state: Any, length: int, keep: bool) -> tuple[Any, Any]:
            with double():  # which is a thread's own
                state, places, stats = program.advance(state, numbers, length)
                found = (program.values(places, numbers), stats) if keep else None
                return state, jax.tree.map(lambda v: np.asarray(v)[:length], found)

        try:
            with bar(settings.warmup + settings.draws, settings.progress) as tell:
                for length, phase in blocks:
                    if phase == "sampling" and not kept:
                        states = _without_tiny_steps(states)
                    jobs = [pool.submit(run, state, length, phase == "sampling") for state in states]
                    states, found = (list(part) for part in zip(*(job.result() for job in jobs), strict=True))
                    if phase == "sampling":
                        kept.append(found)
                    tell(length, phase)
        except KeyboardInterrupt:
            if not kept:
                raise
    chains = [jax.tree.map(lambda *parts: np.concatenate(parts), *blocks) for blocks in zip(*kept, strict=True)]
    samples, stats = jax.tree.map(lambda *values: np.stack(values), *chains)
    return _draws(samples, stats, program.parameters, [float(s.adapt_state.step_size) for s in states], settings)


def _start(program: _Program, key: jax.Array, numbers: Sequence[Any]) -> HMCState:
    """A state of positive density.

    The potential U and its gradient come from the program that moves chains, as a second one with the gradient takes as
    long to compile. A step of infinite mass ends where it begins, and from an infinite energy it is always accepted.
    """
    for attempt in range(_ATTEMPTS):
        state = program.start(jax.random.fold_in(key, attempt), numbers)
        mass = jax.tree.map(np.zeros_like, state.adapt_state.inverse_mass_matrix)
        heavy = state._replace(adapt_state=state.adapt_state._replace(inverse_mass_matrix=mass))
        there, _, _ = program.advance(heavy, numbers, 1)
        found = {"potential_energy": there.potential_energy, "z_grad": there.z_grad}
        if all(np.all(np.isfinite(value)) for value in jax.tree.leaves(found)):
            return state._replace(**found)
    raise InputError("no place was found from which a chain may start, with a positive density and finite gradients")


def _without_tiny_steps(states: list[HMCState]) -> list[HMCState]:
    """A chain whose warm-up ended in a narrow place, with a step far below the others', takes over a step and masses.

    They are those of the chain whose step is the median. Fixed from now on, they leave the posterior as it is.
    """
    order = sorted(states, key=lambda state: float(state.adapt_state.step_size))
    middle = order[len(order) // 2].adapt_state
    least = float(middle.step_size) / _TINY
    return [s if float(s.adapt_state.step_size) >= least else s._replace(adapt_state=middle) for s in states]


def _draws(
    samples: dict[str, NDArray[Any]],
    stats: dict[str, NDArray[Any]],
    parameters: Sequence[str],
    step_size: list[float],
    settings: NutsSettings,
) -> ModelDraws:
    """With diagnostics of every number among the parameters."""
    numbers = {}
    for name in parameters:
        for place in np.ndindex(samples[name].shape[2:]):
            label = f"[{', '.join(map(str, place))}]" if place else ""
            numbers[name + label] = samples[name][(slice(None), slice(None), *place)]
    found, sentences = convergence(numbers)
    kept, diverged = stats["diverging"].shape[1], int(stats["diverging"].sum())
    if diverged:
        sentences.insert(
            0,
            Failure.DIVERGED.said(diverged=diverged, draws=stats["diverging"].size, target=settings.target_accept),
        )
    if kept < settings.draws:
        sentences.insert(0, Failure.INTERRUPTED.said(kept=kept, wanted=settings.draws))
    diagnostics = {
        **found,
        "divergences": diverged,
        "acceptance": stats["acceptance_rate"].mean(axis=1).tolist(),
        "steps": stats["n_steps"].mean(axis=1).tolist(),
        "step_size": step_size,
        "draws": kept,
    }
    return ModelDraws(samples, stats, diagnostics, tuple(sentences))


# Compiling ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Form:
    """The arguments of a model but for their numbers."""

    structure: Any
    fixed: tuple[Any, ...]  # the leaves; None in the place of numbers
    shapes: tuple[jax.ShapeDtypeStruct, ...]  # of the numbers

    @classmethod
    def of(cls, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[_Form, list[NDArray[Any]]]:
        """The form, and the numbers."""
        leaves, structure = jax.tree.flatten((args, keywords))
        free = [isinstance(leaf, float | np.ndarray | np.generic | jax.Array) for leaf in leaves]
        numbers = [np.asarray(leaves[i]) for i in leaf_order(structure) if free[i]]
        fixed = tuple(None if is_free else leaf for leaf, is_free in zip(leaves, free, strict=True))
        shapes = tuple(jax.ShapeDtypeStruct(v.shape, v.dtype) for v in numbers)  # type: ignore[no-untyped-call]
        return cls(structure, fixed, shapes), numbers

    def fill(self, numbers: Sequence[Any]) -> Any:
        """The arguments, and those by keyword, with these numbers."""
        leaves, rest = list(self.fixed), iter(numbers)
        for i in leaf_order(self.structure):
            if leaves[i] is None:
                leaves[i] = next(rest)
        return jax.tree.unflatten(self.structure, leaves)


class _Program(NamedTuple):
    """The compiled parts of a run of one chain; `numbers` are those of the model's arguments."""

    start: Callable[..., Any]  # (key, numbers) -> a state of U = ∞, as that is not known, and of no gradient
    advance: Callable[..., Any]  # (state, numbers, iterations) -> state, coordinates and stats, these (_BLOCK, ...)
    values: Callable[..., Any]  # (coordinates, numbers) -> the samples, (_BLOCK, ...)
    parameters: tuple[str, ...]  # those to be diagnosed


@lru_cache(maxsize=16)
def compiled(model: Callable[..., Any], form: _Form, warmup: int, target_accept: float) -> _Program:
    sites: dict[str, Any] = {}

    def coordinates(numbers: Sequence[jax.Array]) -> dict[str, jax.Array]:
        """Unconstrained values of the latent sites, only the shapes of which matter; also notes all sites."""
        random = handlers.seed(model, jax.random.key(0))
        traced = handlers.trace(handlers.substitute(random, substitute_fn=init_to_uniform))
        args, keywords = form.fill(numbers)
        sites.update(traced.get_trace(*args, **keywords))
        latent = {name: one for name, one in sites.items() if one["type"] == "sample" and not one["is_observed"]}
        for name, one in latent.items():
            if one["fn"].support.is_discrete:
                raise InputError(f"NUTS cannot sample {show(name)}, which is discrete: sum over its values")
        return {name: biject_to(one["fn"].support).inv(one["value"]) for name, one in latent.items()}

    shapes = jax.eval_shape(coordinates, form.shapes)
    bare = [name for name in shapes if isinstance(sites[name]["fn"], dist.ImproperUniform)]
    dense = tuple(name for name, value in shapes.items() if not (name in bare and value.ndim))
    scalars = [name for name, one in sites.items() if one["type"] == "deterministic" and not jnp.ndim(one["value"])]
    first_state, next_state = hmc(
        potential_fn_gen=lambda *args, **keywords: partial(potential_energy, model, args, keywords)
    )

    def start(key: jax.Array, numbers: Sequence[jax.Array]) -> HMCState:
        args, keywords = form.fill(numbers)
        key, *keys = jax.random.split(key, 1 + len(shapes))
        place = {
            name: jax.random.uniform(k, one.shape, minval=-_SPREAD, maxval=_SPREAD)
            for k, (name, one) in zip(keys, shapes.items(), strict=True)
        }
        return first_state(
            ParamInfo(place, jnp.array(jnp.inf), jax.tree.map(jnp.zeros_like, place)),
            warmup,
            dense_mass=[dense] if dense else False,
            target_accept_prob=target_accept,
            max_tree_depth=_TREE_DEPTH,
            model_args=args,
            model_kwargs=keywords,
            rng_key=key,
        )

    def advance(state: HMCState, numbers: Sequence[jax.Array], iterations: int) -> tuple[HMCState, Any, Any]:
        args, keywords = form.fill(numbers)

        def pick(state: HMCState) -> tuple[Any, dict[str, Any]]:
            return state.z, {name: getattr(state, field) for name, field in _STATS.items()}

        def iterate(i: jax.Array, carry: Any) -> Any:
            state, kept = carry
            state = next_state(state, model_args=args, model_kwargs=keywords)
            return state, jax.tree.map(lambda k, v: lax.dynamic_update_index_in_dim(k, v, i, 0), kept, pick(state))

        nothing = jax.tree.map(lambda v: jnp.zeros((_BLOCK, *v.shape), v.dtype), pick(state))
        state, kept = lax.fori_loop(0, iterations, iterate, (state, nothing))
        return state, *kept

    def values(places: dict[str, jax.Array], numbers: Sequence[jax.Array]) -> dict[str, jax.Array]:
        args, keywords = form.fill(numbers)
        found = jax.vmap(lambda z: constrain_fn(model, args, keywords, z, return_deterministic=True))(places)
        return {name: value for name, value in found.items() if name not in bare}

    def compiled(part: Callable[..., Any], level: int) -> Callable[..., Any]:
        earlier = uses_earlier_emitters(sum(one.size for one in form.shapes))
        return jax.jit(part, compiler_options=compiler_options(level, earlier))

    # More takes long for no gain, and what runs a few times only needs none.
    parameters = tuple([n for n in shapes if n not in bare] + scalars)
    return _Program(compiled(start, 0), compiled(advance, 1), compiled(values, 0), parameters)
