"""Train models on random halves of the examples, and keep what each gives to all of them.

Whether an example is in the training set of a model is decided by a fair coin of its own, so that any of the models can
be the target of an audit, with the others as its references. Model r has coins and a seed of its own, from `seed` and
r: neither the backend, nor the number of processes, nor an interruption changes a bit of the matrix, and with more
models the first ones stay as they are.

A folder for checkpoints has `settings.json`, which says what it is of, and a file for each model as soon as it is
done: its log-odds, and the digest of them and of all that they depend on. The function `fit` counts with its code and
what it encloses, and not with the functions that it calls.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp import __version__
from bayes_dp.attacks.outputs import Output, Questions, asked, log_odds, rows
from bayes_dp.attacks.score_matrix import ScoreMatrix
from bayes_dp.checks import InputError, is_one_of, seed_of, show, whole_number
from bayes_dp.data.kept import Kept
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.content import digest_of
from bayes_dp.support.progress import bar, check_shown
from bayes_dp.support.workers import check_jobs, one_thread, pool

__all__ = ["shadow"]

Fit = Callable[..., Any]

_FORMAT = "bayes-dp/shadow-models/1"
_BATCH = 4096


def shadow(
    fit: Fit,
    x: Any,
    y: ArrayLike,
    models: int = 16,
    *,
    population: tuple[Any, ArrayLike] | None = None,
    output: Output = "logits",
    checkpoint: str | os.PathLike[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> ScoreMatrix:
    """Train models on examples chosen by fair coins, and ask each about all examples: model r is trained with example i
    if C_ri = 1, where P[C_ri = 1] = ½, independently; the matrix has C and the log-odds φ_ri, both (M, m).

    Parameters
    ----------
    fit : a function `fit(x, y)` that trains a model on examples and their classes and returns it; if it has a parameter
        `seed`, it gets a whole number below 2**31, another one for each model. What it returns is asked as
        `ScoreMatrix.from_models` says.
    x, y : the m examples, along the first axis, and their classes.
    models : how many are trained, M.
    population : a pair (x, y) of examples that no model is trained on.
    output : what a model gives that is a PyTorch module or a function, "logits" or "probabilities".
    checkpoint : a folder, made if missing, where models that are done are kept, and looked for.
    seed : of the coins and of all training; the same seed gives the same matrix.
    n_jobs : of joblib: by default one process, or the active backend's (`joblib.parallel_config`), such as Dask's.
    progress : whether there is a bar on standard error, with the time left, by default on a terminal.

    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(60, 20)), np.arange(60) % 2
    >>> matrix = bdp.attacks.shadow(lambda x, y: LogisticRegression(C=100).fit(x, y), x, y, models=5)
    >>> matrix
    ScoreMatrix: 5 models, 60 examples with 0 to 5 of them trained on each
    >>> matrix.attack("rmia").auc().value > 0.7
    True
    """
    if not callable(fit):
        raise InputError(f"fit must be a function of examples and their classes, not {show(fit):.80}")
    models = whole_number("models", models, 1)
    questions = asked(x, y, population)
    if not is_one_of(output, get_args(Output)):
        raise InputError(f'output must be "logits" or "probabilities", not {show(output):.80}')
    seed = seed_of(seed)
    check_jobs(n_jobs)
    check_shown(progress)
    inputs = _digest(fit, questions, output, seed) if checkpoint is not None else ""
    kept = Kept(checkpoint, _FORMAT, inputs, "model", "log_odds", "other examples, or of another fit, output or seed")
    sizes = [len(labels) for _, labels in questions]
    task = _Task(fit, questions, output, seed)
    done = {r: found for r in range(models) if (found := kept.read(r, sizes)) is not None}
    with bar(models, progress) as move:
        from joblib import delayed

        move(len(done), "models")
        left = (delayed(task)(r) for r in range(models) if r not in done)
        for r, found in pool(n_jobs, return_as="generator_unordered", batch_size=1)(left):
            kept.write(r, found)
            done[r] = found
            move(1, "models")
    parts = [np.stack([done[r][k] for r in range(models)]) for k in range(len(questions))]
    member = np.stack([_coins(seed, r, len(questions[0][1])) for r in range(models)])
    return ScoreMatrix(member, log_odds=parts[0], population=parts[1] if len(parts) > 1 else None)


def _stream(seed: int, r: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r,)))


def _coins(seed: int, r: int, n: int) -> Bools:
    """Which examples model r is trained on, (n,)."""
    return _stream(seed, r).random(n) < 0.5


class _Task:
    """Trains one model, in whatever process."""

    def __init__(self, fit: Fit, questions: Questions, output: Output, seed: int) -> None:
        self.fit, self.questions, self.output, self.seed = fit, questions, output, seed

    def __call__(self, r: int) -> tuple[int, list[Floats]]:
        """r, and the log-odds of the examples and of the population."""
        # A worker's arrays may lie anywhere in memory, and the last digits of sums depend on it
        questions = [(np.array(x) if isinstance(x, np.ndarray) else x, y) for x, y in self.questions]
        x, y = questions[0]
        member = _coins(self.seed, r, len(y))
        if not member.any():
            raise InputError(f"x must have more examples than {len(y)}, as model {r} would be trained on none of them")
        state = np.random.SeedSequence(self.seed, spawn_key=(r, 0)).generate_state(1)[0]
        seeded = {"seed": int(state >> 1)} if _takes_seed(self.fit) else {}
        with one_thread():
            model = self.fit(rows(x, member), y[member], **seeded)
            name = f"the model of fit, number {r},"
            return r, [log_odds(model, *each, _BATCH, self.output, name) for each in questions]


def _takes_seed(fit: Fit) -> bool:
    try:
        return "seed" in inspect.signature(fit).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False


def _digest(fit: Fit, questions: Questions, output: Output, seed: int) -> str:
    """SHA-256 of all that a model depends on."""
    return digest_of([fit, output, seed, __version__, questions])
