"""PANORAMIA (Kazmi et al. 2024, Algorithm 1): audit a model whose non-members are lost, with generated ones.

The members that are known are dealt into parts with no example in common:

    D_G     trains the generator and the helper models
    D_tr    trains the attack and the baseline, beside as many generated examples
    D_te    is audited: m pairs, each of a member and a generated example, of which a coin shows one

A helper is a model like the audited one that has not seen D_tr and D_te. What it says of an example is a feature of the
baseline, and so of the attack, and makes both stronger: trained on "generated" examples it finds these (the paper's
helper); trained on the "members" of D_G it tells how hard an example is. A weak baseline makes the estimate too large.

With `real` non-members in the generator's place nothing but the model tells them from members, c = 0, and there is a
lower bound (the paper's RM;RN).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.attacks.outputs import log_odds, rows
from bayes_dp.checks import InputError, numbers, one_number, show, whole_number
from bayes_dp.games.copies import among, excess, marks
from bayes_dp.games.pairs import Classifiers, How, Scores, Sides, check_sizes, matrix, one_game, play_all
from bayes_dp.games.played import SHARES, Played, shares_of
from bayes_dp.support.arrays import Floats, Indices

__all__ = ["HELPERS", "Panoramia", "says"]

HELPERS = ("generated", "members")

_TAKEN = ("baseline", "member", "control", "copied")
_BATCH = 4096
_LEAST = 1e-12  # loss of which there is a logarithm
_MOST_CLASSES = 50  # that get a column each


@dataclass(frozen=True, eq=False)
class Panoramia:
    """A game that models can be audited by, again and again.

    Parameters
    ----------
    x, y : examples that the model was trained on, along the first axis, and their classes; y is None where there are
        none, as for language models.
    generator : an object with `fit(x, y)` and `sample(n, seed)`, which returns the pair (x, y) of n examples; or
        `fit(x)` and x where there are no classes. It is copied for each game.
    real : real non-members in its place, drawn as the members were: x, or the pair (x, y).
    helper : a function `fit(x, y)`, or `fit(x, y, seed)`, that trains a model like the audited one and returns it; see
        `says` for what it may be.
    helpers : what helper models are trained on, of "generated" and "members"; by default generated examples, or with
        real non-members the members of D_G.
    features : a function from examples to numbers (n, d) for the baseline; by default the examples themselves.
    parts : how many members are for D_G and D_tr, shares or whole numbers; the others are audited.
    shares : of the pairs that are taken for members, fixed before looking.
    attack_classifier, baseline_classifier : of scikit-learn, by default gradient boosting on histograms.

    >>> class Normal:  # a generator
    ...     def fit(self, x): self.law = x.mean(axis=0), np.cov(x.T)
    ...     def sample(self, n, seed): return np.random.default_rng(seed).multivariate_normal(*self.law, n)
    >>> x = np.random.default_rng(0).normal(size=(800, 2))
    >>> game = bdp.games.Panoramia(x, generator=Normal())
    >>> remembers = lambda found: 1.0 - np.isin(found[:, 0], x[400:, 0])  # a loss of 0 for half of the members
    >>> played = game.play(remembers, control=lambda found: np.abs(found[:, 0]))
    >>> played.sizes["audit"], played.tables()[0].auc().value > played.tables()[1].auc().value
    (200, True)
    """

    x: Any
    y: Any = None
    generator: Any = None
    real: Any = None
    helper: Callable[..., Any] | None = None
    helpers: Sequence[str] | None = None
    features: Callable[[Any], Any] | None = None
    parts: tuple[float, float] = (0.5, 0.25)
    shares: ArrayLike = SHARES
    attack_classifier: Any = None
    baseline_classifier: Any = None

    def __post_init__(self) -> None:
        _pair("x", self.x, self.y)
        if (self.generator is None) == (self.real is None):
            raise InputError("give a generator, or real non-members, and not both")
        lacks = isinstance(self.generator, type) or not all(
            callable(getattr(self.generator, name, None)) for name in ("fit", "sample")
        )
        if self.generator is not None and lacks:
            raise InputError(f"generator must be an object with fit and sample, not {show(self.generator):.80}")
        for name in ("helper", "features"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise InputError(f"{name} must be a function, not {show(getattr(self, name)):.80}")
        if self.real is not None:
            self._real()
        self._helpers()
        self._sizes()
        shares_of(self.shares, self._sizes()[2])
        self._classifiers()

    def play(self, target: Any, control: Any = None, **how: Any) -> Played:
        """Play against one model; `control` and `how` are those of `play_all`."""
        return self.play_all({"target": target}, control, **how)["target"]

    def play_all(
        self,
        targets: Mapping[str, Any],
        control: Any = None,
        *,
        seeds: int = 1,
        seed: int = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        progress: bool | None = None,
    ) -> dict[str, Played]:
        """Play against several models at once, with the same parts, generated examples, helpers, baseline and coins.

        Parameters
        ----------
        targets : the audited models by name, see `says` for what they may be.
        control : a model that leaks little of the members: a well generalised one, or one that has not seen them. By
            default one that the `helper` trains on D_G, unless it is a helper already.
        seeds : how many games there are, each with parts, generator, helpers, classifiers and coins of its own.
        checkpoint : a folder, made if missing, where games that are done are kept, and looked for.
        n_jobs : of joblib: by default one process, or the active backend's (`joblib.parallel_config`), such as Dask's.
        """
        if not isinstance(targets, Mapping) or not targets:
            raise InputError(f"targets must be models by their names, not {show(targets):.80}")
        if odd := [name for name in targets if not isinstance(name, str) or name in _TAKEN]:
            raise InputError(f"targets must have names other than {', '.join(_TAKEN)}, not {show(odd[0])}")
        how = How(seeds, seed, n_jobs, checkpoint, progress)
        models = dict(targets) | ({} if control is None else {"control": control})
        own = control is None and self.helper is not None and "members" not in self._helpers()
        names = [*models, *(["control"] if own else []), "copied"]
        told = _said(models, self.x, self.y)
        real = None if self.real is None else self._said_of_real(models)
        first, second, pairs = self._sizes()
        inputs = [self.x, self.y, self.real, *told.values(), names, first, second, self._helpers()]
        inputs += list(models.values())  # which may say the same of all members, as those that know them by heart
        inputs += [self.helper, self.features, self.generator, self._classifiers()]
        own_marks = marks(self.x, self.y)
        job = _Job(self, models, told, real, own, own_marks)
        found = dict(play_all(job, names, pairs, inputs, how))
        copied = excess(float(found["copied"].mean()), pairs, own_marks)
        sizes = {"generator and helpers": first, "attack training": second, "audit": pairs}
        return {
            name: Played(
                found["member"] > 0, found["baseline"], found[name], found.get("control"),
                shares_of(self.shares, pairs), self.generator is not None, sizes, copied,
            )
            for name in targets
        }  # fmt: skip

    def _said_of_real(self, models: Mapping[str, Any]) -> dict[str, Floats]:
        x, y = self._real()
        if self.features is None:
            _alike("real", x, self.x)
        try:
            return _said(models, x, y)
        except InputError as error:
            raise InputError(f"real has examples that cannot be used: {error}") from error

    def _real(self) -> tuple[Any, Any]:
        given = self.real if self.y is not None else (self.real, None)
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise InputError(f"real must be a pair (x, y), as the members have classes, not {show(given):.80}")
        _pair("real", *given)
        return given[0], given[1]

    def _helpers(self) -> tuple[str, ...]:
        if self.helpers is None:
            usual = HELPERS[0] if self.generator is not None else HELPERS[1]
            return () if self.helper is None else (usual,)
        given = tuple(self.helpers) if isinstance(self.helpers, list | tuple) else (self.helpers,)
        if odd := [each for each in given if not isinstance(each, str) or each not in HELPERS]:
            raise InputError(f"helpers must be among {', '.join(HELPERS)}, not {show(odd[0])}")
        if given and self.helper is None:
            raise InputError("helpers need a helper, the function that trains them")
        if "generated" in given and self.generator is None:
            raise InputError("helpers trained on generated examples need a generator")
        return tuple(dict.fromkeys(given))

    def _sizes(self) -> tuple[int, int, int]:
        """Of D_G, of D_tr and of the pairs."""
        n = _length(self.x)
        if not isinstance(self.parts, tuple | list) or len(self.parts) != 2:
            raise InputError(f"parts must be two numbers, of D_G and of D_tr, not {show(self.parts)}")
        first, second = (
            round(n * part) if part < 1 else whole_number("parts", int(part), 1)
            for part in (one_number("parts", each, 0.0, low_open=True) for each in self.parts)
        )
        pairs = n - first - second
        if self.real is not None:
            pairs = min(pairs, _length(self._real()[0]) - second)
        check_sizes(min(first, second), pairs)
        return first, second, pairs

    def _classifiers(self) -> Classifiers:
        return Classifiers(self.attack_classifier, self.baseline_classifier)


@dataclass(frozen=True)
class _Job:
    """Plays one game, in whatever process."""

    game: Panoramia
    models: Mapping[str, Any]
    told: Mapping[str, Floats]  # what they say of all members
    real: Mapping[str, Floats] | None  # and of all real non-members
    own_control: bool
    marks: list[bytes]  # of all members, see `copies`

    def __call__(self, rng: np.random.Generator) -> Scores:
        game = self.game
        first, second, pairs = game._sizes()
        order = rng.permutation(_length(game.x))
        learned, kept = order[:first], order[first : first + second + pairs]
        for_generator = _chosen(game.x, game.y, learned)
        helpers = game._helpers()
        generated = None
        if game.generator is None:
            x, y = game._real()
            shown = rng.permutation(_length(x))[: second + pairs]
            others = _chosen(x, y, shown)
        else:
            made = copy.deepcopy(game.generator)
            made.fit(*(each for each in for_generator if each is not None))
            more = first if "generated" in helpers else 0
            drawn = _drawn(made, second + pairs + more, int(rng.integers(2**31)), game.y is not None)
            others = _chosen(*drawn, np.arange(second + pairs))
            generated = _chosen(*drawn, np.arange(second + pairs, second + pairs + more))
        assert game.helper is not None or not (helpers or self.own_control)
        beside = [
            _trained(game.helper, *(for_generator if name == "members" or generated is None else generated), rng)
            for name in helpers
        ]
        control = {"control": _trained(game.helper, *for_generator, rng)} if self.own_control else {}
        classes = None if game.y is None else np.unique(np.asarray(game.y))
        members = _chosen(game.x, game.y, kept)
        who = "real" if game.generator is None else "generator.sample"
        if game.features is None:
            _alike(who, others[0], members[0])
        of_members = {name: said[kept] for name, said in self.told.items()} | _said(control, *members)
        sides = [Sides(self._features(*members, beside, classes), of_members)]
        try:
            features = self._features(*others, beside, classes)
            if self.real is None:
                of_others = _said({**self.models, **control}, *others)
            else:
                of_others = {name: said[shown] for name, said in self.real.items()} | _said(control, *others)
            sides.append(Sides(features, of_others))
        except InputError as error:
            raise InputError(f"{who} has examples that cannot be used: {error}") from error
        if sides[0].features.shape[1] != sides[1].features.shape[1]:
            found = sides[1].features.shape[1], sides[0].features.shape[1]
            raise InputError(f"{who} must have examples like the members, with {found[1]} features, not {found[0]}")
        coins, scores = one_game(sides[0], sides[1], second, game._classifiers(), rng)
        copied = among(marks(*others), self.marks)[second:].astype(np.float64)
        return coins, scores | {"copied": copied if len(copied) else np.zeros(len(coins))}

    def _features(self, x: Any, y: Any, helpers: Sequence[Any], classes: Any) -> Floats:
        n = _length(x)
        given = x if self.game.features is None else self.game.features(x)
        name = "x" if self.game.features is None else "features(x)"
        found = matrix(name, given)
        if found.shape[:1] != (n,):
            raise InputError(f"{name} must have a row for each of {n} examples, not the shape {found.shape}")
        columns: list[Any] = [found.reshape(n, -1)]
        if classes is not None:
            own = np.asarray(y)
            one_each = len(classes) <= _MOST_CLASSES
            columns.append(own[:, None] == classes if one_each else np.searchsorted(classes, own)[:, None])
        columns += [says(model, x, y, "the helper") for model in helpers]
        return np.column_stack(columns).astype(np.float64)


def says(model: Any, x: Any, y: Any, name: str = "model") -> Floats:
    """What a model says of examples, (n, k): the loss −log p_y, its logarithm and the margin log p_y − log(1 − p_y).

    A model of classes is a scikit-learn classifier, a PyTorch module, or a function from examples to logits (n, k).
    Where y is None, it is a function from examples to losses (n,): these and sign(l) log(1 + |l|) are the columns.

    >>> certain = lambda x: np.column_stack([-x, x])  # logits
    >>> bdp.games.panoramia.says(certain, np.array([0.0, 2.0]), np.array([1, 1])).round(3)
    array([[ 0.693, -0.367,  0.   ],
           [ 0.018, -4.009,  4.   ]])
    """
    if y is not None:
        margin = log_odds(model, x, np.asarray(y), _BATCH, "logits", name)
        loss = np.logaddexp(0.0, -margin)
        return np.column_stack([loss, np.log(np.maximum(loss, _LEAST)), margin])
    if not callable(model):
        raise InputError(f"{name} must be a function from examples to their losses, not {show(model):.80}")
    loss = numbers(f"the losses by {name}", model(x), low_open=True, high_open=True)
    if loss.shape != (_length(x),):
        raise InputError(f"{name} must give a loss for each of {_length(x)} examples, not the shape {loss.shape}")
    return np.column_stack([loss, np.sign(loss) * np.log1p(np.abs(loss))])


def _said(models: Mapping[str, Any], x: Any, y: Any) -> dict[str, Floats]:
    """What each of them says; one that has two names is asked once."""
    found: dict[str, Floats] = {}
    for name, model in models.items():
        same = next((found[other] for other in found if models[other] is model), None)
        found[name] = says(model, x, y, name) if same is None else same
    return found


def _trained(fit: Any, x: Any, y: Any, rng: np.random.Generator) -> Any:
    seed = int(rng.integers(2**31))
    try:
        seeded = {"seed": seed} if "seed" in inspect.signature(fit).parameters else {}
    except (TypeError, ValueError):  # some built-in functions have no signature
        seeded = {}
    return fit(*(each for each in (x, y) if each is not None), **seeded)


def _drawn(generator: Any, n: int, seed: int, classes: bool) -> tuple[Any, Any]:
    found = generator.sample(n, seed)
    if classes and (not isinstance(found, tuple | list) or len(found) != 2):
        raise InputError(
            f"generator.sample must return a pair (x, y), as the members have classes, not {show(found):.80}"
        )
    x, y = found if classes else (found, None)
    _pair("generator.sample", x, y)
    if _length(x) != n:
        raise InputError(f"generator.sample must return {n} examples, not {_length(x)}")
    return x, y


def _alike(name: str, x: Any, members: Any) -> None:
    """Refuse examples of another shape than the members, or with other columns, or lists in the place of arrays."""
    if hasattr(members, "shape") and not hasattr(x, "shape"):
        raise InputError(f"{name} must have examples like the members, in one array, not in a {type(x).__name__}")
    for what, of in (("shape", lambda each: tuple(each.shape[1:])), ("columns", lambda each: list(each.columns))):
        try:
            found, wanted = of(x), of(members)
        except Exception:  # they have none, or are of any class, which may raise anything
            continue
        if found != wanted:
            raise InputError(f"{name} must have examples like the members, of the {what} {wanted}, not {found}")


def _pair(name: str, x: Any, y: Any) -> None:
    if not (n := _length(x)):
        raise InputError(f"{name} must hold examples along its first axis, at least one, not {show(x):.80}")
    try:
        fits = y is None or np.shape(y) == (n,)
    except Exception:  # a ragged list, or a value of any class, which may raise anything
        fits = False
    if not fits:
        what = "y" if name == "x" else name
        raise InputError(f"{what} must hold a class for each of the {n} examples, not {show(y):.80}")


def _length(x: Any) -> int:
    try:
        return 0 if isinstance(x, str | bytes | dict) else int(x.shape[0]) if hasattr(x, "shape") else len(x)
    except Exception:  # a value of any class, which may raise anything
        return 0


def _chosen(x: Any, y: Any, which: Indices) -> tuple[Any, Any]:
    return rows(x, which), None if y is None else np.asarray(y)[which]
