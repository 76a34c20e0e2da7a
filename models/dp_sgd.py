"""DP-SGD: stochastic gradient descent on sums of clipped gradients with noise (Abadi et al. 2016), to be audited.

Step t draws each member with probability q, by itself (Poisson sampling), clips their gradients, and releases

    U = Σ ĝᵢ + σ c ξ,    ĝᵢ = gᵢ min(1, c/|gᵢ|),    ξ ~ N(0, I),        θ ← θ − η U/B.

B = q n for all n examples, and says nothing of who is a member. Neighbours differ in one example, there or not.

- Examples that are drawn are gathered into `room` rows. A step that draws more stops the training, since leaving some
  out would be another mechanism than the one whose ε is known. By default that happens once in 10⁹ steps.
- Of each gradient only what `models/gradients.py` computes is asked, and all steps are one compiled loop. The random
  numbers of a step come from the seed and its number, so a training that was interrupted goes on to the same bits.
- Dirac canaries have coordinates of their own, which the network does not use: the gradient of one is κ c there, with
  κ = `norm`, and it is sampled, clipped and hidden by noise with the others.
- What a white-box audit needs is kept: U of each step, (T, p), or only its inner products with the clipped gradients of
  the examples that are watched, (T, k). `replay` gives from the former, step by step, what `step_scores` asks.
- Noise in floating point has weaknesses (Mironov 2012) that this does nothing against: it is to be audited, and not to
  keep secrets.

A planted fault is one of `models.dirac_canaries.FAULTS`.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import ArrayLike, NDArray

import bayes_dp as bdp
from bayes_dp.checks import InputError, is_one_of, one_number, seed_of, show, whole_number
from bayes_dp.data.files import write_bytes_atomically
from bayes_dp.support.content import digest_of
from models.dirac_canaries import FAULTS
from models.gradients import Gradients, dense

__all__ = ["Products", "Run", "Settings", "replay", "train"]

Floats = NDArray[np.floating[Any]]
_MOST = 1e9  # of numbers that are multiplied in 32 bits
_SERIAL = {"xla_cpu_multi_thread_eigen": False}  # the sums of a product depend on the number of threads that share it


@dataclass(frozen=True)
class Settings:
    """σ, q, T, c, η; the planted fault, if any; and the seed of sampling and noise."""

    noise_multiplier: float
    sampling_rate: float
    steps: int
    clip: float = 1.0
    learning_rate: float = 1.0
    fault: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        one_number("noise_multiplier", self.noise_multiplier, 0.0, _MOST)
        one_number("sampling_rate", self.sampling_rate, 1 / _MOST, 1.0)
        whole_number("steps", self.steps, 1)
        one_number("clip", self.clip, 1 / _MOST, _MOST)
        one_number("learning_rate", self.learning_rate, 0.0, _MOST, low_open=True)
        if self.fault is not None and not is_one_of(self.fault, FAULTS):
            raise InputError(f"fault must be {', '.join(map(repr, FAULTS))} or None, not {show(self.fault)}")
        seed_of(self.seed)

    def claim(self, delta: float) -> bdp.Claim:
        """What the accountant says of it, were there no fault."""
        return bdp.Claim.dp_sgd(self.noise_multiplier, self.sampling_rate, self.steps, delta)


class Run(NamedTuple):
    """A training, and what was kept of it."""

    weights: Any  # after the last step
    first: Any  # before the first
    updates: Floats | None  # U, (T, p), flat as `ravel_pytree` makes it
    inner: Floats  # ⟨ĝᵢ, U⟩ of the k examples that are watched, (T, k)
    dirac: Floats  # U at the coordinate of each of m Dirac canaries, over c, (T, m)
    drawn: NDArray[np.int64]  # how many examples were drawn, (T,)
    batch: float  # B


def train(
    weights: Any,
    x: ArrayLike,
    y: ArrayLike,
    settings: Settings,
    *,
    gradients: Callable[[Any, Any, Any], Gradients] = dense,
    member: ArrayLike | None = None,
    dirac: ArrayLike = (),
    norm: float = 1.0,
    watched: ArrayLike = (),
    keep_updates: bool = False,
    room: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 100,
) -> Run:
    """Train from `weights` on the examples x (n, …) and y (n,) whose coin in `member` (n,) says so, by default all.

    Parameters
    ----------
    gradients : of a dense network, or `of_loss(loss)`.
    dirac, norm : the coins of Dirac canaries, (m,), and the norm of their gradients before they are clipped, over c.
    watched : the examples whose inner products with U are kept, (k,).
    keep_updates : whether U is.
    room : the most examples that a step may draw; by default qn + 6√(qn) + 8.
    checkpoint, every : a file that keeps what is done, after so many steps each; from there the training goes on.
    """
    x, y = np.asarray(x), np.asarray(y)
    n = len(x) if x.ndim else 0
    inside, coins = np.ones(n, bool) if member is None else _coins("member", member), _coins("dirac", dirac)
    if not n or y.shape[:1] != (n,) or inside.shape != (n,):
        raise InputError(f"x must have examples, and y and member one value for each of the {n}")
    if gradients is dense:
        _check_dense(weights, x, y)
    rows = _rows("watched", watched, n)
    mean = settings.sampling_rate * n
    most = min(n, math.ceil(mean + 6 * math.sqrt(mean) + 8)) if room is None else whole_number("room", room, 1, n)
    one_number("norm", norm, 0.0, _MOST, low_open=True)
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise InputError(f"checkpoint must be a path, not {show(checkpoint)}")
    start, unravel = ravel_pytree(weights)
    kept = {
        "flat": np.asarray(start),
        "updates": np.empty((0, len(start) if keep_updates else 0), np.float32),
        "inner": np.empty((0, len(rows)), np.float32),
        "dirac": np.empty((0, len(coins)), np.float32),
        "drawn": np.empty(0, np.int64),
    }
    path, identity = None if checkpoint is None else Path(checkpoint), ""
    if path is not None:
        given = settings, np.asarray(start), x, y, inside, coins, rows, norm, most, keep_updates, gradients
        identity = digest_of(list(given))
        kept = _read(path, identity, kept) if path.exists() else kept
    chunk = settings.steps if path is None else whole_number("every", every, 1)
    while (done := len(kept["drawn"])) < settings.steps:
        steps = np.arange(done, min(done + chunk, settings.steps))
        flat, parts = _steps(
            kept["flat"], steps, x, y, inside, coins, rows, _Numbers.of(settings, norm, mean),
            gradients=gradients, unravel=unravel, room=most, keep_updates=keep_updates,
        )  # fmt: skip
        parts = {name: np.asarray(part) for name, part in parts.items()}
        if parts["drawn"].max() > most:
            t = int(np.argmax(parts["drawn"] > most))
            raise InputError(f"room must be at least {parts['drawn'][t]}, which step {done + t} drew, not {most}")
        if not np.isfinite(flat).all():
            raise InputError(f"x must have finite gradients, and by step {steps[-1]} the weights are no numbers")
        kept = {"flat": np.asarray(flat)} | {name: np.concatenate([kept[name], part]) for name, part in parts.items()}
        if path is not None:
            _write(path, identity, kept)
    return Run(
        unravel(kept["flat"]),
        weights,
        kept["updates"] if keep_updates else None,
        kept["inner"],
        kept["dirac"],
        kept["drawn"],
        mean,
    )


class Products(NamedTuple):
    """Of one step: inner products of clipped gradients, without the coordinates of Dirac canaries."""

    gram: Floats  # of those of the k examples that are watched, (k, k)
    inner: Floats  # of these with U, (k,)
    summed: Floats  # of these with the sum of the clipped gradients of all members that are known, (k,)
    square: float  # |U|²


def replay(
    run: Run,
    x: ArrayLike,
    y: ArrayLike,
    settings: Settings,
    watched: ArrayLike,
    known: ArrayLike,
    *,
    gradients: Callable[[Any, Any, Any], Gradients] = dense,
    every: int = 1,
) -> Iterator[Products]:
    """What `attacks.step_scores` needs of each step, or of each `every`-th, for the examples `watched` (k,).

    x (n, …) and y (n,) are the examples of the training, and others, `known` (n,) says which are members for all to
    see. A run of another learning rate is refused in the end.
    """
    if run.updates is None:
        raise InputError("run must have its updates: train with keep_updates=True")
    whole_number("every", every, 1)
    now, unravel = ravel_pytree(run.first)
    now, rate = np.asarray(now), np.float32(settings.learning_rate / run.batch)
    x, y, seen = np.asarray(x), np.asarray(y), _coins("known", known)
    if run.updates.shape != (settings.steps, len(now)):
        raise InputError(f"run must be of these settings, and its updates are of the shape {run.updates.shape}")
    if y.shape[:1] != (len(x),) or seen.shape != (len(x),):
        raise InputError(f"y and known must have one value for each of the {len(x)} examples")
    given = x, y, _rows("watched", watched, len(x)), seen, settings.clip
    for t, update in enumerate(run.updates):
        if t % every == 0:
            found = _products(now, update, *given, gradients=gradients, unravel=unravel)
            yield Products(*(np.asarray(part, np.float64) for part in found), square=float(update @ update))
        now = now - rate * update
    if not np.allclose(now, ravel_pytree(run.weights)[0], rtol=1e-3, atol=1e-3 * float(np.abs(now).max())):
        raise InputError("run must be of these settings: its updates do not lead to its weights")


class _Numbers(NamedTuple):
    """What a compiled program takes as given: others of these need no other program."""

    key: Any
    rate: float  # q
    noise: float  # the standard deviation of what is added
    clip: float  # c
    limit: float  # at which gradients are clipped
    norm: float  # of Dirac canaries
    eta: float  # η/B
    window: int  # steps of an epoch
    held: int  # steps for which noise is kept
    shuffled: bool

    @classmethod
    def of(cls, settings: Settings, norm: float, batch: float) -> _Numbers:
        fault, window = settings.fault, max(1, round(1 / settings.sampling_rate))
        return cls(
            jax.random.fold_in(jax.random.key(settings.seed & 0xFFFFFFFF), settings.seed >> 32),
            settings.sampling_rate,
            settings.noise_multiplier * settings.clip * (0.5 if fault == "half noise" else 1.0),
            settings.clip,
            math.inf if fault == "no clipping" else settings.clip,
            norm * settings.clip,
            settings.learning_rate / batch,
            window,
            window if fault == "frozen noise" else 1,
            fault == "shuffling",
        )


@partial(jax.jit, static_argnames=("gradients", "unravel", "room", "keep_updates"), compiler_options=_SERIAL)
def _steps(
    flat: Any, steps: Any, x: Any, y: Any, member: Any, coins: Any, watched: Any, of: _Numbers, *,
    gradients: Any, unravel: Any, room: int, keep_updates: bool,
) -> tuple[Any, dict[str, Any]]:  # fmt: skip
    """The weights after these steps, flat, and what is kept of each."""
    n, m = len(x), len(coins)
    sampling, hiding = jax.random.split(of.key)
    inside = jnp.concatenate([member, coins])

    def chosen(t: Any) -> Any:
        """Which of n examples and m Dirac canaries are drawn, were they all members."""
        u = jax.random.uniform(jax.random.fold_in(sampling, jnp.where(of.shuffled, t // of.window, t)), (n + m,))
        return jnp.where(of.shuffled, jnp.floor(u * of.window) == t % of.window, u < of.rate)

    def step(now: Any, t: Any) -> tuple[Any, dict[str, Any]]:
        drawn = chosen(t) & inside
        (rows,) = jnp.nonzero(drawn[:n], size=room, fill_value=0)
        count = jnp.sum(drawn[:n])
        there = jnp.arange(room) < count
        batch = jnp.where(there.reshape(-1, *(1,) * (x.ndim - 1)), x[rows], 0)  # not example 0 where there is none
        found = gradients(unravel(now), batch, y[rows])
        total, _ = ravel_pytree(found.total(_clipped(found.squares(), of.limit) * there))
        noise = of.noise * jax.random.normal(jax.random.fold_in(hiding, t // of.held), (len(now) + m,))
        update = total + noise[: len(now)]
        seen = gradients(unravel(now), x[watched], y[watched])
        spare = of.norm * _clipped(of.norm**2, of.limit) * drawn[n:] + noise[len(now) :]
        kept = {
            "updates": update if keep_updates else update[:0],
            "inner": _clipped(seen.squares(), of.clip) * seen.along(unravel(update)),
            "dirac": spare / of.clip,
            "drawn": count,
        }
        return now - of.eta * update, kept

    return jax.lax.scan(step, flat, steps)


@partial(jax.jit, static_argnames=("gradients", "unravel"), compiler_options=_SERIAL)
def _products(
    flat: Any, update: Any, x: Any, y: Any, watched: Any, known: Any, clip: Any, *, gradients: Any, unravel: Any
) -> tuple[Any, Any, Any]:
    weights = unravel(flat)
    everybody, seen = gradients(weights, x, y), gradients(weights, x[watched], y[watched])
    members = everybody.total(_clipped(everybody.squares(), clip) * known)
    share = _clipped(seen.squares(), clip)
    return share[:, None] * share * seen.gram(), share * seen.along(unravel(update)), share * seen.along(members)


def _coins(name: str, value: ArrayLike) -> NDArray[np.bool_]:
    coins = np.asarray(value) if np.size(value) else np.empty(0, bool)
    if coins.ndim != 1 or coins.dtype.kind not in "bui" or not np.isin(coins, (0, 1)).all():
        raise InputError(f"{name} must be truth values in a row, not {show(value):.80}")
    return coins.astype(bool)


def _check_dense(weights: Any, x: NDArray[Any], y: NDArray[Any]) -> None:
    """Refuse examples that are none of this network."""
    try:
        inputs, classes = len(weights[0].weight), len(weights[-1].bias)
    except Exception as error:  # a value of any class, which may raise anything
        raise InputError(f"weights must be a tuple of Layer, not {show(weights):.80}") from error
    if x.shape[1:] != (inputs,) or x.dtype.kind not in "biuf":
        raise InputError(f"x must hold numbers of the shape (examples, {inputs}), not {x.dtype} of {x.shape}")
    if y.ndim != 1 or y.dtype.kind not in "ui" or y.min() < 0 or y.max() >= classes:
        raise InputError(f"y must hold classes, whole numbers from 0 to {classes - 1}, not {show(y):.80}")


def _rows(name: str, value: ArrayLike, n: int) -> NDArray[np.int64]:
    rows = np.asarray(value) if np.size(value) else np.empty(0, np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "ui":
        raise InputError(f"{name} must be numbers of examples in a row, not {show(value):.80}")
    for wrong in rows[(rows < 0) | (rows >= n)][:1]:
        raise InputError(f"{name} must name examples from 0 to {n - 1}, not {wrong}")
    return rows.astype(np.int64)


def _clipped(squares: Any, clip: Any) -> Any:
    """min(1, c/|g|)."""
    return jnp.minimum(1.0, clip / jnp.sqrt(jnp.maximum(squares, 1e-30)))


def _read(path: Path, identity: str, empty: dict[str, Any]) -> dict[str, Any]:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except Exception as error:  # whatever a damaged archive raises
        raise InputError(f"{path} cannot be read as a training that was begun") from error
    steps = len(found.get("drawn", ()))
    shapes = {name: part.shape if name == "flat" else (steps, *part.shape[1:]) for name, part in empty.items()}
    if str(found.pop("identity", "")) != identity or {name: part.shape for name, part in found.items()} != shapes:
        raise InputError(f"{path} is of another training: choose another file for this one")
    return found


def _write(path: Path, identity: str, kept: dict[str, Any]) -> None:
    content = io.BytesIO()
    np.savez(content, identity=identity, **kept)
    write_bytes_atomically(path, content.getvalue())
