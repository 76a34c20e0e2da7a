"""Models at several degrees of over-fitting, audited with real and with generated non-members (Kazmi et al. 2024).

    images     Fashion-MNIST, 20 principal components; JAX networks after 5, 30 and 100 epochs; Gaussian mixtures
    private    the same images; networks trained by DP-SGD at ε = 1, 2 and 10, beside one without noise
    tabular    Adult without `fnlwgt` and `education-num`; networks and gradient boosting; sequential CART, a copula
    text       64 characters of the State of the Union addresses; n-gram models and a JAX network; n-grams
    tiny       points in four dimensions, made here: nothing has to be downloaded

For each seed the members are dealt into D_G, attack training and audit. A row is a generator with its helpers, a
column a model: {c+ε}_lb − c_lb, or with real non-members the lower bound of ε, means and standard deviations over the
seeds. The first model of each task is well generalised: it is the control of the others.

The rows O(1) are lower bounds by the audit of one run (Steinke et al. 2023), which counts guesses of both kinds, on as
many pairs of a member and a real non-member: by the losses alone, as the paper has it, and by the attack of the row
with real non-members. The best of the numbers of guesses m, m/2, … counts, each at an equal share of the 5%.

    python -m models.panoramia images --seeds 5 --jobs 2 --checkpoint games

The tables of the documentation are what this prints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from bayes_dp import plots
from bayes_dp.attacks import Bonferroni, guess
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.panoramia import panoramia
from bayes_dp.checks import InputError, whole_number
from bayes_dp.data.files import check_writable
from bayes_dp.games.panoramia import Panoramia, says
from bayes_dp.games.played import Played
from bayes_dp.support.arrays import Bools, Floats, Ints
from models.char_model import CharModel
from models.data import adult, fashion_mnist, speeches
from models.dirac_canaries import noise_for
from models.dp_sgd import Settings
from models.dp_sgd import train as dp_sgd
from models.generators import Copula, Mixture, Ngrams, Trees
from models.gradients import first_weights
from models.net import Net, snapshots, train

__all__ = ["TASKS", "Encoded", "Task", "by_losses", "images", "main", "played", "private", "tabular", "text", "tiny"]

_REAL = "real non-members"
_LOSSES, _ATTACK = "O(1): losses, real non-members", "O(1): the attack, real non-members"


@dataclass(frozen=True, eq=False)
class Task:
    """Members and real non-members with their classes, models, what trains a helper, and the rows of the table: names
    with settings of `Panoramia`."""

    members: tuple[Any, Any]
    real: tuple[Any, Any]
    targets: Mapping[str, Any]
    helper: Callable[..., Any]
    rows: Mapping[str, Mapping[str, Any]]
    parts: tuple[int, int]
    features: Callable[[Any], Any] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def game(self, row: str) -> Panoramia:
        x, y = self.members
        settings = dict(self.rows[row])
        if row.startswith(_REAL):
            settings["real"] = self.real[0] if y is None else self.real
        if settings.get("helpers") != ():
            settings["helper"] = self.helper
        return Panoramia(x, y, features=self.features, parts=self.parts, **settings)


# The tasks ------------------------------------------------------------------------------------------------------------


def images(members: int = 25_000, epochs: Sequence[int] = (5, 30, 100), seed: int = 0) -> Task:
    """Networks on principal components of the members; two fifths of these are audited."""
    own, real = _components(members, seed)
    nets = snapshots(*own, epochs, seed, hidden=(512, 512))
    rows = {
        f"{_REAL}, helper on D_G": {},
        "10 Gaussians a class, no helper": {"generator": Mixture(10), "helpers": ()},
        "10 Gaussians a class, helper on generated": {"generator": Mixture(10)},
        "10 Gaussians a class, helper on D_G": {"generator": Mixture(10), "helpers": ("members",)},
        "10 Gaussians a class, both helpers": {"generator": Mixture(10), "helpers": ("generated", "members")},
        "30 Gaussians a class, helper on generated": {"generator": Mixture(30)},
    }
    targets = {f"E{e}": net for e, net in zip(epochs, nets, strict=True)}
    return Task(own, real, targets, partial(train, epochs=40), rows, (members * 2 // 5, members // 5))


def private(members: int = 25_000, epsilons: Sequence[float] = (1, 2, 10), epochs: int = 30, seed: int = 0) -> Task:
    """The most private network is the control; that without noise is trained as those of `images`."""
    own, real = _components(members, seed)
    rate, targets = 1 / 64, {}
    for epsilon in epsilons:
        settings = Settings(noise_for(epsilon, rate, 64 * epochs), rate, 64 * epochs, learning_rate=2.0, seed=seed)
        layers = dp_sgd(first_weights(seed, own[0].shape[1], 256, 256, 10), *own, settings).weights
        targets[f"DP-SGD, ε = {epsilon:g}"] = Net([tuple(map(np.float64, layer)) for layer in layers])
    targets["no noise"] = train(*own, seed, epochs=epochs)
    rows = {
        f"{_REAL}, helper on D_G": {},
        "10 Gaussians a class, helper on generated": {"generator": Mixture(10)},
    }
    return Task(own, real, targets, partial(train, epochs=40), rows, (members * 2 // 5, members // 5))


def _components(members: int, seed: int) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]:
    """20 principal components of Fashion-MNIST with the classes: of so many members, and of three fifths as many."""
    from sklearn.decomposition import PCA

    pixels, classes = fashion_mnist()
    chosen = np.random.default_rng(seed).permutation(len(pixels))[: members + members * 3 // 5]
    scaled = pixels[chosen].astype(np.float32) / 255
    pca = PCA(20, random_state=0).fit(scaled[:members])
    x = pca.transform(scaled).astype(np.float64)
    x, y = x / x[:members].std(), classes[chosen]
    return (x[:members], y[:members]), (x[members:], y[members:])


@dataclass(frozen=True, eq=False)
class Encoded:
    """A network on columns that are standardised, or have 0 and 1 for each category and for what is missing."""

    net: Callable[[Floats], Floats]
    law: tuple[Any, ...]

    def __call__(self, x: Floats) -> Floats:
        return self.net(encoded(x, *self.law))


def encoded(x: Floats, kinds: Bools, sizes: Ints, mean: Floats, spread: Floats) -> Floats:
    columns = []
    for j, column in enumerate(x.T):
        known = np.nan_to_num(column, nan=-1.0 if kinds[j] else mean[j])
        columns.append(
            np.eye(sizes[j])[known.astype(int) + 1] if kinds[j] else ((known - mean[j]) / spread[j])[:, None]
        )
    return np.hstack(columns)


def tabular(members: int = 20_000, epochs: Sequence[int] = (5, 100), seed: int = 0) -> Task:
    """Networks and gradient boosting, all on the same members."""
    x, kinds, y = adult()
    kept = [j for j in range(x.shape[1]) if j not in (2, 4)]
    x, kinds = x[:, kept], kinds[kept]
    order = np.random.default_rng(seed).permutation(len(y))[: members + members // 2]
    x, y = x[order], y[order]
    own = x[:members]
    law = kinds, np.nanmax(x, axis=0).astype(int) + 2, np.nanmean(own, axis=0), np.nanstd(own, axis=0)
    boosted = partial(_boosted, kinds)
    nets = snapshots(encoded(own, *law), y[:members], epochs, seed)
    targets: dict[str, Any] = {f"net, E{e}": Encoded(net, law) for e, net in zip(epochs, nets, strict=True)}
    targets |= {f"{n} trees": boosted(own, y[:members], seed, n, k) for n, k in ((20, 15), (200, 63), (500, 127))}
    rows = {
        f"{_REAL}, helper on D_G": {},
        "sequential CART, helper on generated": {"generator": Trees(kinds)},
        "Gaussian copula, helper on generated": {"generator": Copula()},
    }
    sides = (own, y[:members]), (x[members:], y[members:])
    return Task(*sides, targets, boosted, rows, (members // 2, members // 4))


def _boosted(kinds: Bools, x: Floats, y: Ints, seed: int = 0, trees: int = 100, leaves: int = 31) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=trees, max_leaf_nodes=leaves, early_stopping=False, categorical_features=kinds, random_state=seed
    )
    return model.fit(x, y)


def text(members: int = 20_000, length: int = 64, epochs: Sequence[int] = (3, 10, 30), seed: int = 0) -> Task:
    """A network and n-gram models on pieces of text; the baseline sees how often each character comes."""
    whole = " ".join(speeches().lower().split())
    symbols, counts = np.unique(list(whole), return_counts=True)
    code = {symbol: i for i, symbol in enumerate(symbols[np.argsort(-counts, kind="stable")])}
    letters = np.array([min(code[letter], 63) for letter in whole[: len(whole) // length * length]]).reshape(-1, length)
    x = letters[np.random.default_rng(seed).permutation(len(letters))[: members + members * 3 // 5]]
    own = x[:members]
    nets = CharModel(hidden=256, seed=seed).snapshots(own, epochs)
    targets: dict[str, Any] = {f"network, E{net.epochs}": net.loss for net in nets}
    targets |= {f"{order}-grams": Ngrams(order).fit(own).loss for order in (5, 6, 8)}
    rows = {
        f"{_REAL}, helper on D_G": {},
        "6-grams, helper on generated": {"generator": Ngrams(6)},
        "network, helper on generated": {"generator": CharModel(epochs=5)},
    }
    sides = (own, None), (x[members:], None)
    return Task(*sides, targets, _grams, rows, (members * 2 // 5, members // 5), _letters)


def _grams(x: Ints) -> Callable[[Ints], Floats]:
    return Ngrams(6).fit(x).loss


def _letters(x: Ints) -> Floats:
    return np.stack([(x == symbol).sum(axis=1) for symbol in range(64)], axis=1).astype(np.float64)


def tiny(members: int = 1600, seed: int = 0) -> Task:
    """Two classes of points whose labels are noisy, and boosting that learns them by heart; some seconds in all."""
    rng = np.random.default_rng(seed)
    n = members + members // 2
    x = rng.normal(size=(n, 4)) * np.exp(0.3 * rng.normal(size=(n, 1)))
    y = (x[:, 0] + rng.normal(size=n) > 0).astype(np.int64)
    own = x[:members], y[:members]
    boosted = partial(_boosted, np.zeros(4, dtype=bool))
    targets = {"5 trees": boosted(*own, seed, 5, 4), "100 trees": boosted(*own, seed, 100, 31)}
    rows = {f"{_REAL}, helper on D_G": {}, "3 Gaussians a class, helper on generated": {"generator": Mixture(3)}}
    return Task(own, (x[members:], y[members:]), targets, boosted, rows, (members // 2, members // 4))


TASKS: Mapping[str, Callable[..., Task]] = {
    "images": images,
    "private": private,
    "tabular": tabular,
    "text": text,
    "tiny": tiny,
}


# Tables ---------------------------------------------------------------------------------------------------------------


def played(task: Task, seeds: int, checkpoint: Any = None, rows: Sequence[str] | None = None, **how: Any
) -> Iterator[tuple[str, dict[str, Played]]]:  # fmt: skip
    """The games of each row against all models; the first model is the control of the others."""
    control = next(iter(task.targets.values()))
    for number, row in enumerate(task.rows):
        if rows is None or any(each in row for each in rows):
            folder = None if checkpoint is None else Path(checkpoint) / f"{number}"
            yield row, task.game(row).play_all(task.targets, control, seeds=seeds, checkpoint=folder, **how)


def by_losses(task: Task, seeds: int) -> dict[str, Played]:
    """Games of as many pairs with real non-members, in which nothing is trained: small losses are taken for members."""
    (x, y), (other, classes) = task.members, task.real
    pairs = min(len(x) - sum(task.parts), len(other) - task.parts[1])
    losses = {
        name: (says(model, x, y, name)[:, 0], says(model, other, classes, name)[:, 0])
        for name, model in task.targets.items()
    }
    draws = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 1])
        shown = rng.permutation(len(x))[:pairs], rng.permutation(len(other))[:pairs]
        draws.append((rng.random(pairs) < 0.5, *shown))
    member, blind = np.stack([coins for coins, *_ in draws]), np.full((seeds, pairs), 0.5)
    found = {}
    for name, (inside, outside) in losses.items():
        loss = np.stack([np.where(coins, inside[own], outside[others]) for coins, own, others in draws])
        found[name] = Played(member, blind, 1 - stats.rankdata(loss, axis=1) / pairs, generated=False)
    return found


def _cells(games: Played) -> tuple[str, str]:
    """c_lb, and ε̃ or the bound, with the standard deviation over games."""
    found = [panoramia(games[k]) for k in range(len(games))]
    return _shown([one.details.get("c_lower_bound", 0.0) for one in found]), _shown([one.value for one in found])


def _one_run_cells(games: Played) -> tuple[str, str]:
    """Nothing for c_lb, and the bound of the audit of one run."""
    tables = (games.tables(k)[0] for k in range(len(games)))
    return "–", _shown([one_run(guess(table, Bonferroni()), 0.0).value for table in tables])


def _shown(values: Sequence[float]) -> str:
    return f"{np.mean(values):.2f}" + (f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else "")


def _first(games: Played, pairs: int | None) -> Played:
    """The games with their first pairs only."""
    if pairs is None:
        return games
    member, baseline, attack = (each[:, :pairs] for each in (games.member, games.baseline, games.attack))
    control = None if games.control is None else games.control[:, :pairs]
    return Played(member, baseline, attack, control, generated=games.generated)


def _print(row: str, games: Mapping[str, Played], sizes: Sequence[int] | None, cells: Callable[..., Any]) -> None:
    for pairs in sizes or [None]:
        found = [cells(_first(each, pairs)) for each in games.values()]
        name = row if pairs is None else f"{row}, {pairs} pairs"
        print(f"| {name} | {found[0][0]} |", " | ".join(value for _, value in found), "|", flush=True)


def _draw(games: dict[str, Played], path: str) -> None:
    """Precision, and {c+ε}_lb, against recall."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.8, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    plots.precision(games, left)
    plots.closeness(games, right)
    figure.savefig(path, dpi=160)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.panoramia", description=__doc__.split("\n\n")[0])
    parser.add_argument("task", choices=list(TASKS))
    parser.add_argument("--rows", nargs="+", help="only the rows whose names hold one of these words")
    parser.add_argument("--members", type=int, help="how many (default 25000 images, else 20000)")
    parser.add_argument("--pairs", type=int, nargs="+", help="audit so many of the pairs, too (default all)")
    parser.add_argument("--seeds", type=int, default=3, help="games of each row (default 3)")
    parser.add_argument("--jobs", type=int, default=None, help="processes (default 1)")
    parser.add_argument("--checkpoint", metavar="DIR", help="a folder that keeps games that are done")
    parser.add_argument("--figure", metavar="FILE", help="a picture of the last row (Figures 3 and 4 of the paper)")
    given = parser.parse_args(arguments)
    try:
        whole_number("seeds", given.seeds, 1)
        for pairs in given.pairs or ():
            whole_number("pairs", pairs, 1)
        if given.figure is not None:
            check_writable(given.figure)
        task = TASKS[given.task](**({} if given.members is None else {"members": given.members}))
        chosen = [row for row in (_LOSSES, *task.rows) if given.rows is None or any(each in row for each in given.rows)]
        if not chosen:
            raise InputError(f"rows must hold a word of {'; '.join((_LOSSES, *task.rows))}, not {' '.join(given.rows)}")
        if given.figure is not None and chosen == [_LOSSES]:
            raise InputError(f"figure is of a row of {'; '.join(task.rows)}")
        print("| non-members | c_lb |", " | ".join(task.targets), "|")
        print("|---|---:" + "|---:" * len(task.targets) + "|")
        if _LOSSES in chosen:
            _print(_LOSSES, by_losses(task, given.seeds), given.pairs, _one_run_cells)
        for row, games in played(task, given.seeds, given.checkpoint, given.rows, n_jobs=given.jobs):
            _print(row, games, given.pairs, _cells)
            if row.startswith(_REAL):
                _print(_ATTACK, games, given.pairs, _one_run_cells)
        if given.figure is not None:
            _draw(games, given.figure)
    except InputError as error:
        parser.error(" ".join(str(error).split()))
    return 0


if __name__ == "__main__":
    from models import panoramia as module  # workers find its functions under this name, not in __main__

    sys.exit(module.main())
