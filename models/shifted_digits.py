"""A network that memorises handwritten digits, and non-members that are not like its members: a zero-run audit.

The 1797 digits that come with scikit-learn (8 × 8 pixels) are turned by random angles, three times each. Whether a
turned digit is in the training set is decided by a coin of its own. In the control its chance is ½. With a shift it
depends on what the digit is and how far it is turned, so that members are more often even and upright:

    logit π = ±0.5 + 1.5 (1 − 2 · angle/40°),  + for even digits and − for odd ones, angle uniform on [0°, 40°]

A network is trained on the members until it knows them by heart, and the attack scores an example by the log-odds of
the probability that the network gives to its class. Non-members that are turned look unlike what the network was
trained on, so their scores would be low even if it had memorised nothing. A one-run audit, which takes memberships for
fair coins, counts that as a leak. The zero-run audit does not.

    python -m models.shifted_digits --replicates 200

The propensities that it uses are learned, from the pixels and the class; that they are known here shows how well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_dp.attacks.scores import Bonferroni, guess
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.propensity import Falsification, Propensity, bootstrap, falsify, fit, known
from bayes_dp.results.bound import LowerBound
from bayes_dp.support.arrays import Bools, Floats, Ints
from bayes_dp.support.workers import one_thread

__all__ = ["Digits", "Outcome", "audit", "digits", "features", "interval", "main", "scores"]

_LARGEST = 40.0  # degrees
_BY_CLASS, _BY_ANGLE = 0.5, 1.5  # of the log-odds
_NUMBERS = (100, 200, 400, 800, 1600)  # of guesses, in 5391 examples


@dataclass(frozen=True)
class Digits:
    """n turned digits; all arrays have n rows."""

    pixels: Floats  # (n, 64), from 0 to 1
    label: Ints
    source: Ints  # the digit that was turned
    chance: Floats  # of being a member
    member: Bools


@dataclass(frozen=True)
class Outcome:
    """What the audits say of one network."""

    naive: LowerBound  # one-run, which takes memberships for fair coins
    informed: LowerBound  # zero-run with the true propensities
    cautious: LowerBound  # zero-run with learned propensities, which may be too extreme
    learned: LowerBound  # zero-run with learned propensities, which are right but for their error, bootstrapped
    propensity: Propensity
    falsification: Falsification
    naive_interval: tuple[float, float]  # of the bound, over resamples of the digits
    learned_interval: tuple[float, float]


def digits(shifted: bool, seed: int = 0, copies: int = 3) -> Digits:
    """Each digit `copies` times, with or without a shift."""
    from scipy import ndimage, special
    from sklearn.datasets import load_digits

    bundled = load_digits()
    rng = np.random.default_rng(seed)
    source = np.tile(np.arange(len(bundled.target)), copies)
    angle = rng.uniform(0, _LARGEST, len(source))
    turned = [
        ndimage.rotate(bundled.images[i] / 16, a, reshape=False, order=1) for i, a in zip(source, angle, strict=True)
    ]
    label = bundled.target[source]
    odds = _BY_CLASS * np.where(label % 2 == 0, 1.0, -1.0) + _BY_ANGLE * (1 - 2 * angle / _LARGEST)
    chance = special.expit(odds if shifted else 0 * odds)
    return Digits(np.clip(turned, 0, 1).reshape(-1, 64), label, source, chance, rng.random(len(source)) < chance)


def scores(data: Digits, seed: int = 0) -> Floats:
    """Trains a network on the members; the log-odds of the chance that it gives to the class of each example, (n,)."""
    from scipy import special
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((256,), alpha=1e-5, learning_rate_init=3e-3, max_iter=400, random_state=seed)
    with one_thread():
        network.fit(data.pixels[data.member], data.label[data.member])
    chance = network.predict_proba(data.pixels)[np.arange(len(data.label)), data.label]
    return np.asarray(special.logit(np.clip(chance, 1e-12, 1 - 1e-12)))


def features(data: Digits) -> Floats:
    """30 principal components of the pixels, the class, and the second moments of the ink, (n, 43)."""
    from sklearn.decomposition import PCA

    ink = data.pixels.reshape(-1, 8, 8)
    ink = ink / ink.sum(axis=(1, 2), keepdims=True)
    y, x = np.mgrid[:8, :8].astype(np.float64)
    x, y = (axis - (ink * axis).sum(axis=(1, 2))[:, None, None] for axis in (x, y))
    moments = [(ink * product).sum(axis=(1, 2)) for product in (x * x, x * y, y * y)]
    components = PCA(30, random_state=0).fit_transform(data.pixels)
    return np.column_stack([components, np.eye(10)[data.label], *moments])


def audit(shifted: bool, seed: int = 0, replicates: int = 200, copies: int = 3, n_jobs: int | None = None) -> Outcome:
    """Trains a network and audits it in three ways, all with 95% confidence for ε at δ = 0."""
    data = digits(shifted, seed, copies)
    score = scores(data, seed)
    numbers = Bonferroni([n for n in _NUMBERS if n <= len(score)])
    learned = fit(features(data), data.member, groups=data.source, seed=seed)
    coins = GuessTable(score, data.member)

    def ignoring(table: GuessTable) -> LowerBound:
        return one_run(guess(table, numbers, seed=seed), 0.0)

    def zero(table: GuessTable) -> LowerBound:
        return zero_run(table, choice=numbers, propensity="exact", seed=seed)

    return Outcome(
        naive=ignoring(coins),
        informed=zero(known(data.chance, data.member).table(score)),
        cautious=zero_run(learned.table(score), choice=numbers, seed=seed),
        learned=bootstrap(
            learned, score, propensity="exact", choice=numbers, replicates=replicates, seed=seed, n_jobs=n_jobs
        ),
        propensity=learned,
        falsification=falsify(learned, seed=seed),
        naive_interval=interval(ignoring, coins, data.source),
        learned_interval=interval(zero, learned.table(score), data.source),
    )


def interval(
    bound: Callable[[GuessTable], LowerBound], table: GuessTable, source: Ints, resamples: int = 100
) -> tuple[float, float]:
    """The middle 90% of a bound when the digits, with all their copies, are drawn again with replacement."""
    rng, copies = np.random.default_rng(1), [np.flatnonzero(source == i) for i in range(int(source.max()) + 1)]
    found = []
    for _ in range(resamples):
        drawn = rng.integers(len(copies), size=len(copies))
        found.append(bound(table[np.concatenate([copies[i] for i in drawn])]).value)
    return float(np.quantile(found, 0.05)), float(np.quantile(found, 0.95))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.shifted_digits", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="networks without and with a shift (default 1 of each)")
    parser.add_argument("--replicates", type=int, default=200, help="of the bootstrap (default 200)")
    parser.add_argument("--jobs", type=int, default=None, help="processes of the bootstrap (default 1)")
    given = parser.parse_args(arguments)
    print("| non-members | seed | one-run | over resamples | true π | cautious | learned π | over resamples", end=" ")
    print("| bootstrapped | falsified with p |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for seed in range(given.seeds):
        for shifted in (False, True):
            print(_row(shifted, seed, audit(shifted, seed, given.replicates, n_jobs=given.jobs)), flush=True)
    return 0


def _row(shifted: bool, seed: int, found: Outcome) -> str:
    naive, learned = (f"{low:.2f} to {high:.2f}" for low, high in (found.naive_interval, found.learned_interval))
    first = found.learned.details["without_bootstrap"]
    values = [found.naive.value, naive, found.informed.value, found.cautious.value, first, learned, found.learned.value]
    cells = [value if isinstance(value, str) else f"{value:.2f}" for value in values]
    head = ["shifted" if shifted else "alike", str(seed)]
    return f"| {' | '.join([*head, *cells])} | {found.falsification.p_value:.2g} |"


if __name__ == "__main__":
    sys.exit(main())
