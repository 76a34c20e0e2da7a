"""The game of PANORAMIA (Kazmi et al. 2024, Definition 2) on features: which example of a pair is the member?

Of examples that the model was trained on (members) and others, generated or real, a part trains two classifiers to
tell them apart. The rest are m pairs (x_i^in, x_i^out). A fair coin s_i says which example of a pair is shown,
x_i = s_i x_i^in + (1 − s_i) x_i^out, and both classifiers score it:

    the baseline    by features of the example that no audited model gave
    the attack      by these, and by what the audited model says of the example

The coins fall after the training. Where a pair's other example is shown, the member is in the training set in its
place: so the game bounds ε of the *replacement* of an example. (The proof of the paper's Proposition 2 needs it too,
though its Definition 1 adds or removes one. With add-or-remove ε, replacing is 2ε-DP.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp import __version__
from bayes_dp.checks import InputError, numbers, one_number, seed_of, show, truth, whole_number
from bayes_dp.data.kept import Kept
from bayes_dp.games.copies import among, excess, marks
from bayes_dp.games.played import SHARES, Played, shares_of
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.content import digest_of
from bayes_dp.support.estimators import chances, check_classifier, with_states
from bayes_dp.support.progress import bar, check_shown
from bayes_dp.support.workers import check_jobs, one_thread, pool

__all__ = ["Classifiers", "How", "Scores", "Sides", "check_sizes", "coin_pairs", "matrix", "one_game", "play_all"]

_FORMAT = "bayes-dp/panoramia-games/2"
_FEWEST = 20  # pairs, to learn from and to audit

Scores = tuple[Bools, dict[str, Floats]]  # coins, and the scores of the baseline and of the attack on each model


# A game on features ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Classifiers:
    """Those that are trained for the attack and for the baseline; None stands for gradient boosting of small
    trees, which overfit less than those that scikit-learn has by default."""

    attack: Any = None
    baseline: Any = None

    def __post_init__(self) -> None:
        for name in ("attack", "baseline"):
            if getattr(self, name) is not None:
                check_classifier(f"{name}_classifier", getattr(self, name))

    def made(self, name: str, state: int) -> Any:
        """A copy of one of them, not fitted."""
        if (given := getattr(self, name)) is not None:
            return with_states(given, state)
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(learning_rate=0.05, max_iter=200, max_leaf_nodes=8, random_state=state)


@dataclass(frozen=True)
class Sides:
    """Of members, or of the others: features of the baseline (n, d), and (n, k) of what each model says of them."""

    features: Floats
    said: Mapping[str, Floats]


@dataclass(frozen=True)
class How:
    """How many games are played, and how: a folder that keeps those that are done, processes of joblib, and a bar."""

    seeds: int = 1
    seed: int = 0
    n_jobs: int | None = None
    checkpoint: Any = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        whole_number("seeds", self.seeds, 1)
        seed_of(self.seed)
        check_jobs(self.n_jobs)
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | os.PathLike):
            raise InputError(f"checkpoint must be a path, not {type(self.checkpoint).__name__}")
        check_shown(self.progress)


def one_game(
    members: Sides, others: Sides, training: int, classifiers: Classifiers, rng: np.random.Generator
) -> Scores:
    """The first `training` rows of each side train the classifiers, the others are the pairs.

    A model that says the same of all examples adds nothing to the baseline's scores.
    """
    states = rng.integers(2**31, size=2)
    coins = rng.random(len(members.features) - training) < 0.5
    found: dict[str, Floats] = {}
    for name in ("baseline", *members.said):
        if (twin := _as_before(name, found, members.said, others.said)) is not None:
            found[name] = found[twin]
            continue
        inside, outside = (_columns(side, name) for side in (members, others))
        kind = "baseline" if name == "baseline" else "attack"
        model = classifiers.made(kind, int(states[int(kind == "attack")]))
        learned = np.concatenate([inside[:training], outside[:training]])
        try:
            shown = np.where(coins[:, None], inside[training:], outside[training:])
            empty = np.isnan(learned).all(axis=0)  # which tells nothing, and which scikit-learn's trees refuse
            learned[:, empty] = shown[:, empty] = 0.0
            model.fit(learned, np.repeat([1, 0], training))
            found[name] = chances(model, shown, type(model).__name__)
        except InputError:
            raise
        except Exception as error:  # a classifier may raise anything
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"the classifier {type(model).__name__} of the {kind} failed: {reason}") from error
    return coins, found


def _as_before(name: str, found: Mapping[str, Floats], *said: Mapping[str, Floats]) -> str | None:
    """The baseline for a model that says the same of all examples; or a model before this one that says what this one
    says, as a control does that is one of the targets."""
    if name == "baseline":
        return None
    if np.ptp(np.concatenate([side[name] for side in said]), axis=0).max(initial=0.0) == 0:
        return "baseline"
    before = (other for other in found if other != "baseline")
    return next((other for other in before if all(np.array_equal(side[other], side[name]) for side in said)), None)


def _columns(side: Sides, name: str) -> Floats:
    return side.features if name == "baseline" else np.column_stack([side.features, side.said[name]])


def play_all(
    game: Callable[[np.random.Generator], Scores],
    names: Sequence[str],
    pairs: int,
    inputs: Sequence[Any],
    how: How,
) -> Iterator[tuple[str, Floats]]:
    """The coins, as 0 and 1, and the scores of each name, from all games, (seeds, pairs); `inputs` say of what."""
    from joblib import delayed

    seeds, seed = how.seeds, how.seed
    kept = Kept(how.checkpoint, _FORMAT, _digest(inputs, seed), "game", "scores", "other data, models or settings")
    columns = ["member", "baseline", *names]
    done = {k: found for k in range(seeds) if (found := kept.read(k, [pairs] * len(columns))) is not None}
    with bar(seeds, how.progress) as move:
        move(len(done), "games")
        left = (delayed(_run)(game, names, seed, k) for k in range(seeds) if k not in done)
        for k, arrays in pool(how.n_jobs, return_as="generator_unordered", batch_size=1)(left):
            kept.write(k, arrays)
            done[k] = arrays
            move(1, "games")
    for i, name in enumerate(columns):
        yield name, np.stack([done[k][i] for k in range(seeds)])


def _run(game: Any, names: Sequence[str], seed: int, k: int) -> tuple[int, list[Floats]]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,)))
    with one_thread():
        coins, found = game(rng)
    return k, [coins.astype(np.float64), found["baseline"], *(found[name] for name in names)]


def _digest(inputs: Sequence[Any], seed: int) -> str:
    return digest_of([seed, __version__, *inputs])


# Of arrays ------------------------------------------------------------------------------------------------------------


def coin_pairs(
    features: tuple[ArrayLike, ArrayLike],
    target: tuple[ArrayLike, ArrayLike],
    control: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    real: bool = False,
    training: float = 0.5,
    shares: ArrayLike = SHARES,
    attack_classifier: Any = None,
    baseline_classifier: Any = None,
    seeds: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: Any = None,
    progress: bool | None = None,
) -> Played:
    """The game on examples that were generated and scored elsewhere, with any software.

    Parameters
    ----------
    features : of the members (n, d) and of the others (n', d), for the baseline; losses of helper models belong here.
        No member may have been used to make the generator or a helper. Missing values (NaN) are for classifiers that
        take them, as the default does.
    target, control : what the audited model and the control say of both, such as losses: (n,) or (n, k), and (n',).
    real : whether the others are real examples, drawn as the members were.
    training : the share of the examples that train the classifiers; the others are the pairs.
    shares : of the pairs that are taken for members, fixed before looking.
    attack_classifier, baseline_classifier : of scikit-learn, by default gradient boosting on histograms.
    seeds : how many games there are, each with parts, classifiers and coins of its own.
    checkpoint, n_jobs, progress : a folder that keeps games that are done, processes of joblib, and a bar.

    >>> rng = np.random.default_rng(0)
    >>> x, generated = rng.normal(size=(2, 600, 3))
    >>> losses = rng.gamma(1, 1, 600), rng.gamma(4, 1, 600)  # members have lower ones
    >>> played = bdp.games.coin_pairs((x, generated), losses)
    >>> played.tables()[0].auc().value > 0.8 > played.tables()[1].auc().value
    True
    """
    blind = _both("features", features, missing=True)
    models = {"attack": _both("target", target)} | ({} if control is None else {"control": _both("control", control)})
    for name, pair in models.items():
        if [len(each) for each in pair] != [len(each) for each in blind]:
            what = "target" if name == "attack" else name
            raise InputError(f"{what} must have as many rows as features, {len(blind[0])} and {len(blind[1])}")
    classifiers = Classifiers(attack_classifier, baseline_classifier)
    truth("real", real)
    share = one_number("training", training, 0.0, 1.0, low_open=True, high_open=True)
    how = How(seeds, seed, n_jobs, checkpoint, progress)
    n = min(len(each) for each in blind)
    learned = round(share * n)
    check_sizes(learned, n - learned)
    sides = [Sides(blind[k], {name: pair[k] for name, pair in models.items()}) for k in (0, 1)]
    fixed = shares_of(shares, n - learned)
    found = dict(
        play_all(
            _Pairs(sides[0], sides[1], n, learned, classifiers), tuple(models), n - learned,
            [*blind, *(each for pair in models.values() for each in pair), classifiers, share],
            how,
        )
    )  # fmt: skip
    sizes = {"members": len(blind[0]), "others": len(blind[1]), "attack training": learned, "audit": n - learned}
    own, rest = (marks(each) for each in blind)
    copied = excess(float(among(rest, own).mean()), len(rest), own)
    return Played(found.pop("member") > 0, **found, shares=fixed, generated=not real, sizes=sizes, copied=copied)


@dataclass(frozen=True)
class _Pairs:
    members: Sides
    others: Sides
    rows: int
    training: int
    classifiers: Classifiers

    def __call__(self, rng: np.random.Generator) -> Scores:
        members, others = (
            _rows(side, rng.permutation(len(side.features))[: self.rows]) for side in (self.members, self.others)
        )
        return one_game(members, others, self.training, self.classifiers, rng)


def _rows(side: Sides, rows: Any) -> Sides:
    return Sides(side.features[rows], {name: said[rows] for name, said in side.said.items()})


def check_sizes(training: int, pairs: int) -> None:
    """Refuse parts that are too small."""
    if min(training, pairs) < _FEWEST:
        raise InputError(
            f"at least {_FEWEST} members and {_FEWEST} others are needed to train the attack and as many to audit, not"
            f" {training} and {pairs}"
        )


def _both(name: str, given: Any, missing: bool = False) -> tuple[Floats, Floats]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(f"{name} must be a pair of arrays, of the members and of the others, not {show(given):.80}")
    found = []
    for which, each in zip(("members", "others"), given, strict=True):
        called = f"{name} of the {which}"
        array = matrix(called, each) if missing else numbers(called, each, low_open=True, high_open=True)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or not array.size:
            raise InputError(f"{called} must be of the shape (examples, columns), not {array.shape}")
        found.append(array)
    if found[0].shape[1] != found[1].shape[1]:
        raise InputError(f"{name} must have as many columns for both, not {found[0].shape[1]} and {found[1].shape[1]}")
    return found[0], found[1]


def matrix(name: str, given: Any) -> Floats:
    """Numbers as they are, of which some may be missing (NaN)."""
    try:
        array = np.asarray(given)
    except Exception:  # a value of any class, which may raise anything
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be an array of numbers, not {show(given):.80}")
    found = array.astype(np.float64)
    if (bad := np.isinf(found)).any():
        place = ", ".join(str(int(i)) for i in np.unravel_index(int(np.argmax(bad)), found.shape))
        raise InputError(f"{name}[{place}] must be finite, or missing")
    return found
