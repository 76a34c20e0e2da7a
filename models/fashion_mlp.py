"""Small networks on Fashion-MNIST, and how well each attack on a matrix of scores finds their training examples.

8000 images, 4000 other ones as the population, 50 principal components of the population's pixels. Each network has one
hidden layer of 128 units and is trained for 30 epochs on the images that fair coins give it. Each of eight targets is
attacked with 1, 4, 8 and 32 of the others as references. The table has means over the targets, with standard errors.

    python -m models.fashion_mlp --checkpoint fashion --jobs 2

The table of docs/methods/attacks.md is what this prints.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayes_dp import ScoreMatrix
from bayes_dp.attacks import shadow
from bayes_dp.attacks.references.registry import INDEX
from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats, Ints
from models.data import fashion_mnist

__all__ = ["ATTACKS", "fit", "images", "main", "row", "train"]

ATTACKS: Mapping[str, Mapping[str, Any]] = {  # name in the table -> settings
    **{name: {} for name in INDEX if name != "gradient-norm"},
    "rmia-offline, a = 0.3": {"a": 0.3},
    "lira, own variances": {"variance": "own"},
}
_COMPONENTS, _HIDDEN, _EPOCHS, _BATCH = 50, 128, 30, 128
_IMAGES = 60_000  # of the training part
_FPRS = (0.001, 0.01)


def images(examples: int = 8000, population: int = 4000, seed: int = 0) -> tuple[Floats, Ints]:
    """Components (examples + population, 50), of unit size on average, and classes; the examples first."""
    from sklearn.decomposition import PCA

    if examples + population > _IMAGES:
        raise InputError(f"examples and population must be at most {_IMAGES} together, not {examples + population}")
    pixels, classes = fashion_mnist()
    chosen = np.random.default_rng(seed).permutation(_IMAGES)[: examples + population]
    scaled = pixels[chosen].astype(np.float32) / 255
    components = PCA(_COMPONENTS, random_state=0).fit(scaled[examples:]).transform(scaled).astype(np.float64)
    return components / components[examples:].std(), classes[chosen]


def fit(x: Floats, y: Ints, seed: int) -> Any:
    """A trained network."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((_HIDDEN,), batch_size=min(_BATCH, len(x)), max_iter=_EPOCHS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return network.fit(x, y)


def train(x: Floats, y: Ints, examples: int, models: int, **settings: Any) -> ScoreMatrix:
    """The networks' scores of the first `examples` rows, and of the others as the population, with features of both."""
    found = shadow(fit, x[:examples], y[:examples], models, population=(x[examples:], y[examples:]), **settings)
    features = np.column_stack([x, np.eye(10)[y]])
    return ScoreMatrix(
        found.member,
        log_odds=found.statistic,
        population=found.population,
        features=features[:examples],
        population_features=features[examples:],
    )


def row(matrix: ScoreMatrix, name: str, settings: Mapping[str, Any], references: int, targets: int) -> Floats:
    """AUC and the TPR at an FPR of 0.1% and of 1%, means over targets and their standard errors, all in %; (2, 3)."""
    found = []
    for target in range(targets):
        known = [(target + 1 + k) % len(matrix) for k in range(references)]
        table = matrix.attack(name.split(",")[0], target, known, **settings)
        curve = table.roc()
        found.append([curve.area(), *(curve.tpr_at(fpr).value for fpr in _FPRS)])
    rates = 100 * np.array(found)
    return np.stack([rates.mean(axis=0), rates.std(axis=0, ddof=1) / np.sqrt(targets)])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.fashion_mlp", description=__doc__.split("\n\n")[0])
    parser.add_argument("--references", type=int, nargs="+", default=[1, 4, 8, 32], help="(default 1 4 8 32)")
    parser.add_argument("--targets", type=int, default=8, help="networks that are attacked (default 8)")
    parser.add_argument("--examples", type=int, default=8000, help="(default 8000)")
    parser.add_argument("--population", type=int, default=4000, help="(default 4000)")
    parser.add_argument("--seed", type=int, default=0, help="of images, coins and training")
    parser.add_argument("--jobs", type=int, default=None, help="processes (default 1)")
    parser.add_argument("--checkpoint", metavar="DIR", help="a folder that keeps networks that are trained")
    given = parser.parse_args(arguments)
    try:
        x, y = images(given.examples, given.population, given.seed)
        models = max(*given.references, given.targets - 1, 1) + 1
        how = {"seed": given.seed, "n_jobs": given.jobs, "checkpoint": given.checkpoint}
        matrix = train(x, y, given.examples, models, **how)
    except InputError as error:
        parser.error(" ".join(str(error).split()))
    print("| Attack |", " | ".join(f"{n} reference{'s' * (n > 1)}" for n in given.references), "|")
    print("|---" * (len(given.references) + 1) + "|")
    for name, settings in ATTACKS.items():
        cells = []
        for references in given.references:
            (area, *rates), errors = row(matrix, name, settings, references, given.targets)
            cells.append(f"{area:.1f} ± {errors[0]:.1f}, {rates[0]:.2f} / {rates[1]:.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    from models import fashion_mlp  # workers find its functions under this name, not in __main__

    sys.exit(fashion_mlp.main())
