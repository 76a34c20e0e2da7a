"""White-box audits of DP-SGD trainings (Algorithm 5 of Azize and Basu 2024): coins, training, scores, guesses, bounds.

Each of m canaries is in the training by the fall of a coin, beside n − m other examples. All steps are seen, and each
canary is scored by them, or by its loss at the end (black box). Of `r` of the other examples the covariance of a step
is estimated; its mean is exact. The networks have one hidden layer of 32 units, and learn Fashion-MNIST.

Canaries are, with the name of the kind and how they are chosen:

    mislabelled    images with a wrong class
    real           images as they are
    sum, ranks     the best of four times as many, by Σ gᵀ V^{-1} g or by the sum of its ranks (Algorithm 6), on a
                   training of its own without any of them and before the coins

python -m models.dp_sgd_audit                      what each score finds, by ε
python -m models.dp_sgd_audit --canaries kinds      what each kind of canary gives away
python -m models.dp_sgd_audit --trainings 20        several trainings of the same canaries, with other coins each
python -m models.dp_sgd_audit --faults 5            planted faults, as Dirac canaries in these trainings show them
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray

import bayes_dp as bdp
from bayes_dp.attacks import choose_canaries, glir_step_scores, printed_step_scores, step_scores
from bayes_dp.checks import InputError, numbers, whole_number
from models.data import fashion_mnist
from models.dirac_canaries import DELTA, FAULTS, NORM, noise_for
from models.dp_sgd import Settings, replay, train
from models.gradients import first_weights, losses

__all__ = ["KINDS", "Examples", "audit", "choose", "dirac", "images", "main", "rows", "several", "tables"]

Floats = NDArray[np.floating[Any]]

KINDS = ("real", "real, ranks", "real, sum", "mislabelled", "mislabelled, sum")
SIZE, CANARIES, REFERENCES, GUESSES = 2000, 500, 200, 100
_POOL = 4  # candidates for each canary, where they are chosen
_HIDDEN, _CLASSES = 32, 10
_LARGEST = ("largest ratio", "Algorithm 7 as printed")  # whose steps are not added up


class Examples(NamedTuple):
    """Of a game: the canaries first."""

    x: Floats  # (n, P)
    y: NDArray[np.int64]  # (n,)
    canaries: int


def images(n: int, canaries: int, mislabelled: bool, seed: int) -> Examples:
    """Images of Fashion-MNIST, from 0 to 1 less the mean of all pixels; wrong classes are drawn at random."""
    pixels, classes = fashion_mnist()
    rng = np.random.default_rng([seed, 0])
    chosen = rng.choice(len(pixels), n, replace=False)
    x, y = pixels[chosen].astype(np.float32) / 255, classes[chosen]
    if mislabelled:
        y[:canaries] = (y[:canaries] + rng.integers(1, _CLASSES, canaries)) % _CLASSES
    return Examples(x - x[canaries:].mean(), y, canaries)


def tables(
    of: Examples, settings: Settings, *, references: int = REFERENCES, hidden: int = _HIDDEN, every: int = 1
) -> dict[str, bdp.GuessTable]:
    """The scores of a game by name, each a table with the coins. Coins and first weights come from the seed."""
    n, m, q = len(of.x), of.canaries, settings.sampling_rate
    known = np.arange(n) >= m
    coins = np.random.default_rng([settings.seed, 1]).random(m) < 0.5
    first = first_weights(settings.seed, of.x.shape[1], hidden, _CLASSES)
    run = train(first, of.x, of.y, settings, member=np.append(coins, known[m:]), keep_updates=True)
    sigma, c, parameters = settings.noise_multiplier, settings.clip, len(ravel_pytree(first)[0])
    total: dict[str, Floats] = {}
    for seen in replay(run, of.x, of.y, settings, np.arange(m + references), known, every=every):
        found = step_scores(
            seen.gram, seen.inner, m,
            noise_multiplier=sigma, sampling_rate=q, clip=c, members=n - m, member_sum=seen.summed,
        )  # fmt: skip
        scores = found._asdict() | {
            "largest ratio": found.ratio,
            "GLiR": glir_step_scores(
                seen.gram, seen.inner, m,
                square=seen.square, parameters=parameters, noise_multiplier=sigma, batch=run.batch, clip=c,
            ),
            "Algorithm 7 as printed": printed_step_scores(
                seen.gram, seen.inner, m, sampling_rate=q, learning_rate=settings.learning_rate, batch=run.batch
            ),
        }  # fmt: skip
        for name, score in scores.items():
            join = np.maximum if name in _LARGEST else np.add
            total[name] = join(total[name], score) if name in total else score
    del total["leakage"]
    total["black box"] = -np.asarray(losses(run.weights, of.x[:m], of.y[:m]), np.float64)
    return {name: bdp.GuessTable(score, coins) for name, score in total.items()}


def choose(
    of: Examples, count: int, settings: Settings, *, by: str = "sum", references: int = REFERENCES, every: int = 5
) -> Examples:
    """The examples of a game with the `count` best of the canaries of `of`, by a training without any of them.

    Of the candidates as many at a time as there will be canaries are taken for canaries.
    """
    n, m = len(of.x), of.canaries
    known, sigma = np.arange(n) >= m, settings.noise_multiplier
    pilot = replace(settings, seed=settings.seed + 2**40)  # not the training of the game
    first = first_weights(pilot.seed, of.x.shape[1], _HIDDEN, _CLASSES)
    run = train(first, of.x[m:], of.y[m:], pilot, keep_updates=True)
    leakage = []
    for seen in replay(run, of.x, of.y, pilot, np.arange(m + references), known, every=every):
        leakage.append(np.empty(m))
        for block in np.array_split(np.arange(m), math.ceil(m / count)):
            at = np.append(block, np.arange(m, m + references))
            leakage[-1][block] = step_scores(
                seen.gram[np.ix_(at, at)], seen.inner[at], len(block),
                noise_multiplier=sigma, sampling_rate=pilot.sampling_rate, clip=pilot.clip, members=n - m,
            ).leakage  # fmt: skip
    kept = np.append(choose_canaries(leakage, count, by=by), np.arange(m, n))
    return Examples(of.x[kept], of.y[kept], count)


def audit(table: bdp.GuessTable, guesses: int = GUESSES) -> tuple[float, float, float]:
    """AUC, and the lower bounds on ε at δ = 10⁻⁵ of the one-run audit and of that for Gaussian DP, with 95%."""
    guessed = bdp.attacks.guess(table, guesses)
    bounds = bdp.audits.one_run(guessed, DELTA), bdp.audits.f_dp(guessed, DELTA)
    return table.auc().value, *(bound.value for bound in bounds)


def rows(
    kind: str, settings: Settings, seeds: int, *, guesses: int = GUESSES, references: int = REFERENCES
) -> Iterator[tuple[str, Floats]]:
    """For each score AUC and both bounds of each seed, (seeds, 3)."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    name, _, by = kind.partition(", ")
    for seed in range(seeds):
        now = replace(settings, seed=seed)
        pool = CANARIES * (_POOL if by else 1)
        of = images(SIZE - CANARIES + pool, pool, name == "mislabelled", seed)
        of = choose(of, CANARIES, now, by=by, references=references) if by else of
        for score, table in tables(of, now, references=references).items():
            found.setdefault(score, []).append(audit(table, guesses))
    for score, values in found.items():
        yield score, np.array(values)


def several(
    of: Examples, settings: Settings, trainings: int, *, guesses: int = GUESSES, **how: int
) -> Iterator[tuple[bdp.GuessTable, float, float]]:
    """After each training of the same canaries its table by `ratio`, and the lower bounds on ε of this one alone, and
    of all so far by e-values, which hold however long one goes on.

    `how` is that of `tables`. Coins and noise of the trainings come from seeds that follow each other. There are
    e-values of the one-run audit only, and not of that for Gaussian DP; `attacks.canary_counts` takes the tables.
    """
    together = bdp.audits.sequential(DELTA, method="one_run")
    for number in range(trainings):
        table = tables(of, replace(settings, seed=settings.seed + number), **how)["ratio"]
        together.update_guesses(bdp.attacks.guess(table, guesses))
        yield table, audit(table, guesses)[1], together.bound().value


def dirac(of: Examples, settings: Settings, canaries: int) -> bdp.StepsPosterior:
    """What the Dirac canaries of a training say of its noise and sampling; half of them are in, of the norm 3c."""
    coins = np.arange(canaries) % 2 == 0
    first = first_weights(settings.seed, of.x.shape[1], _HIDDEN, _CLASSES)
    run = train(first, of.x, of.y, settings, dirac=coins, norm=NORM)
    return bdp.estimate_steps(run.dirac, coins, settings.claim(DELTA), clipped=False)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.dp_sgd_audit", description=__doc__.split("\n")[0])
    parser.add_argument("--canaries", choices=("mislabelled", "kinds"), default="mislabelled")
    parser.add_argument(
        "--epsilon", metavar="E", type=float, nargs="+", help="of the trainings; inf is no noise; of kinds the first"
    )
    parser.add_argument("--rate", metavar="Q", type=float, default=0.05, help="sampling rate (default 0.05)")
    parser.add_argument("--steps", metavar="T", type=int, default=100, help="(default 100)")
    parser.add_argument("--guesses", metavar="R", type=int, default=GUESSES, help=f"(default {GUESSES})")
    parser.add_argument("--references", metavar="N", type=int, default=REFERENCES, help=f"(default {REFERENCES})")
    parser.add_argument("--seeds", metavar="N", type=int, default=3, help="games of each row (default 3)")
    parser.add_argument(
        "--trainings", metavar="N", type=int, help="of the same mislabelled canaries, at the first ε (default 8)"
    )
    parser.add_argument("--faults", metavar="N", type=int, help="trainings with each fault")
    chosen = parser.parse_args(arguments)
    try:
        whole_number("seeds", chosen.seeds, 1)
        if chosen.faults is not None:
            _print_faults(whole_number("faults", chosen.faults, 1))
            return 0
        every_kind = chosen.canaries == "kinds"
        settings = Settings(0.0, chosen.rate, chosen.steps, learning_rate=0.5)
        how = {"guesses": chosen.guesses, "references": chosen.references}
        one = every_kind or chosen.trainings is not None
        epsilons = chosen.epsilon or ((8.0,) if one else (1.0, 4.0, 8.0, math.inf))
        numbers("epsilon", epsilons, 0.0, low_open=True)
        noise = [0.0 if math.isinf(epsilon) else noise_for(epsilon, chosen.rate, chosen.steps) for epsilon in epsilons]
        each = [replace(settings, noise_multiplier=sigma) for sigma in noise]
        if chosen.trainings is not None:
            _print_several(each[0], whole_number("trainings", chosen.trainings, 1), how)
            return 0
        if every_kind:
            print("| Canaries | AUC | One run | Gaussian |\n|---|---:|---:|---:|")
            for kind in KINDS:
                area, plain, gaussian = dict(rows(kind, each[0], chosen.seeds, **how))["ratio"].mean(axis=0)
                print(f"| {kind} | {area:.3f} | {plain:.2f} | {gaussian:.2f} |", flush=True)
            return 0
        cells: dict[str, list[str]] = {}
        for now in each:
            for score, values in rows("mislabelled", now, chosen.seeds, **how):
                area, plain, gaussian = values.mean(axis=0)
                cells.setdefault(score, []).append(f"{area:.3f}, {plain:.2f} / {gaussian:.2f}")
        heads = ["no noise" if math.isinf(epsilon) else f"ε = {epsilon:g}" for epsilon in epsilons]
        print(f"| Score | {' | '.join(heads)} |\n|---{'|---:' * len(heads)}|")
        for score, row in cells.items():
            print(f"| {score} | {' | '.join(row)} |")
    except InputError as error:
        parser.error(" ".join(str(error).split()))
    return 0


def _print_several(settings: Settings, trainings: int, how: dict[str, int]) -> None:
    of, made = images(SIZE, CANARIES, True, settings.seed), []
    print("| Trainings | The last alone | All together |\n|---:|---:|---:|")
    for number, (table, alone, together) in enumerate(several(of, settings, trainings, **how), 1):
        made.append(table)
        print(f"| {number} | {alone:.2f} | {together:.2f} |", flush=True)
    counts = bdp.attacks.canary_counts(made)
    low, high = bdp.estimate(counts, DELTA, family="gaussian").interval(0.9)
    bound = bdp.audits.combine(counts, DELTA).value
    print("\n| Of the errors on each canary | ε |\n|---|---:|")
    print(f"| bound from all canaries, however they depend on each other | {bound:.2f} |")
    print(f"| posterior of a Gaussian mechanism, 90%, as if they did not | {low:.2f} to {high:.2f} |")


def _print_faults(trainings: int) -> None:
    """How many trainings are refuted, without a fault and with each."""
    settings = Settings(1.0, 0.1, 100, learning_rate=0.5)
    print(settings.claim(DELTA).statement())
    for canaries in (50, 1000):
        for fault in (None, *FAULTS):
            refuted = 0
            for seed in range(trainings):
                of = images(SIZE, 0, False, seed)
                refuted += dirac(of, replace(settings, fault=fault, seed=seed), canaries).refuted
            print(f"{canaries:>4} canaries  {fault or 'no fault':>12}  {refuted} of {trainings} refuted", flush=True)


if __name__ == "__main__":
    sys.exit(main())
