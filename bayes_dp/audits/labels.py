"""The observational audit of labels: what a model remembers of the labels it was trained on, by a game afterwards.

The game is `attacks.LabelGame`: of each example the attacker is shown the label of the training or one that the proxy q
draws, by a fair coin, and guesses which. If the labels of the training come from q too, then the guesses of a model
that is (ε, δ)-DP in its labels are right as rarely as those of memberships in a one-run audit. What is bounded is the
privacy that a simulator sees, which puts a draw of q in the place of a label; where any label may be replaced by any
other, ε is no less.

If each label's law D_i is only within total variation τ of q_i, couple the drawn labels with draws of D_i, so that they
differ with a chance of at most τ. Those that are shown and differ, a set S, are at most Bin(n, τ/2) in number. Were the
draws of D_i shown, then the scores of the other examples would be the same, and of the r largest ones at most |S| would
be others, so that C correct guesses would be C − |S| or more. Hence at error probability p the count C − k is judged at
0.9 p, where k is exceeded by Bin(n, τ/2) with a chance of at most 0.1 p. The paper's slack instead lowers f̄⁻¹ by τ
("Observational Auditing of Privacy", Theorem 5; `f_dp` has it), which leaves nothing once τ is above p times the share
of guesses: with 20 000 examples of randomized response with ε = 3 and τ = 0.005 its bound is 0.01, and this one's 1.9.

Several games of one model share its labels. Each bound holds by itself, and of K of them the median holds if each is
made at p/2 (Markov; see `attacks.MultiSplit`). Several scores share p equally.

What makes the bound fail is a proxy that is not the law of the labels: the attacker then needs no model. Hence the
*control*, the same audit of a model that never saw these labels. If its bound is above 0, then so much can be had
without a leak, and the result is not valid. Beside it stands what the labels themselves say of τ: for the share S/n of
examples with some property of features and label, Hoeffding (1956) bounds the tails of S by those of a binomial law, so
that Clopper-Pearson's end L of S/n gives τ ≥ L − Σ q_i/n.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from bayes_dp.attacks import label_game
from bayes_dp.attacks.label_game import LabelGame, classes, probabilities
from bayes_dp.attacks.scores import Bonferroni, NumberOfGuesses, guess_extremes
from bayes_dp.audits.choice import Lower, choose
from bayes_dp.audits.f_dp import GAUSSIAN, refuse_delta_zero
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.one_run import best_lower_bounds
from bayes_dp.checks import InputError, is_one_of, one_number, seed_of, show, truth, whole_number
from bayes_dp.results.bound import LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.tradeoff import epsilon_from_mu

__all__ = ["labels", "proxy_error"]

Score = Literal["log ratio", "difference"]
LabelFamily = Literal["approx", "gaussian"]

_SCORES = {"log ratio": label_game.log_ratio, "difference": label_game.difference}
_SHARES = (0.01, 0.05, 0.2)  # of the examples that are guessed, if nothing is said
_SHARES_WITH_SLACK = (0.05, 0.2, 0.5)
_OF_SLACK = 0.1  # of the error probability
_LEVEL = 1e-4  # at which labels contradict what is said of their proxy
_COUNTED = 10  # classes, the most frequent ones, whose numbers are compared with the proxy's
_SAME = 1e-9  # what probabilities of two models may differ by and be those of one
_NOTHING = 1e-9  # a bound that rounding makes of 0


def labels(
    labels: ArrayLike,
    proxy: ArrayLike,
    model: ArrayLike | None,
    delta: float,
    *,
    likelihood: ArrayLike | None = None,
    control: ArrayLike | None = None,
    exact: bool = False,
    tau: float = 0.0,
    family: LabelFamily = "approx",
    scores: Sequence[Score] = ("log ratio", "difference"),
    choice: NumberOfGuesses | int | None = None,
    games: int = 21,
    confidence: float = 0.95,
    seed: int = 0,
) -> LowerBound:
    """Lower bound on the ε of label privacy at `delta`, from a trained model and a proxy of the law of labels.

    Parameters
    ----------
    labels : the classes that were trained on, whole numbers from 0, shape (n,).
    proxy : probabilities of the classes by a model that never saw these labels, shape (n, k).
    model : those by the audited model; or None, and instead
    likelihood : of a mechanism that is known, the chance of what it put out for each class, shape (n, k).
    control : what `model` or `likelihood` is, of another model that never saw these labels. Without it the bound is not
        valid, unless `exact` says that the proxy is the very law of the labels, as in a simulation.
    tau : by how much, in total variation, the law of each label may differ from the proxy's.
    family : "approx", or "gaussian" for a bound on μ that is converted to ε at `delta`.
    scores : of "log ratio" and "difference"; each shares the error probability. A likelihood is a score of its own.
    choice : how many guesses, as for `one_run`; by default the best of 1%, 5% and 20% of the examples, or
        where τ is above 0 of 5%, 20% and 50%, corrected.
    games : how often the game is played. The bound is the median of theirs, each made at half the error probability.

    >>> rng = np.random.default_rng(0)
    >>> q = np.full((20000, 2), 0.5)
    >>> truth = rng.integers(0, 2, 20000)
    >>> released = np.where(rng.random(20000) < 1 / (1 + np.exp(-2.0)), truth, 1 - truth)  # randomized response, ε = 2
    >>> chance = np.where(released[:, None] == [0, 1], 1 / (1 + np.exp(-2.0)), 1 / (1 + np.exp(2.0)))
    >>> bound = bdp.audits.labels(truth, q, None, 0, likelihood=chance, exact=True)
    >>> round(bound.value, 1)
    1.4
    """
    q = probabilities("proxy", proxy)
    y = classes(labels, q.shape)
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    tau, exact = one_number("tau", tau, 0.0, 1.0), truth("exact", exact)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    games, seed = whole_number("games", games, 1, 10_000), seed_of(seed)
    if not is_one_of(family, get_args(LabelFamily)):
        raise InputError(f"family must be approx or gaussian, not {show(family)}")
    if family == "gaussian":
        refuse_delta_zero(delta)
    if (model is None) == (likelihood is None):
        raise InputError("give model, the probabilities of the audited model, or likelihood, and not both")
    names = _names(scores)
    if choice is None:
        shares = _SHARES_WITH_SLACK if tau > 0 else _SHARES
        choice = Bonferroni(np.unique([max(1, round(len(y) * share)) for share in shares]))
    audited = likelihood if model is None else model
    tables = _scored(audited, q, names, "likelihood" if model is None else "model")
    controls = None if control is None else _scored(control, q, names, "likelihood" if model is None else "control")
    if control is not None and _one(np.asarray(audited), np.asarray(control)):
        raise InputError("the control has the numbers of the audited model: it must be one that never saw the labels")
    lower = _lower(family, delta, tau)
    found = _played(tables, y, q, choice, lower, 1 - confidence, games, seed)
    blind = None if controls is None else _played(controls, y, q, choice, lower, 1 - confidence, games, seed)
    error = proxy_error(y, q, 1 - _LEVEL)
    invalid = [found["invalid"], _contradicted(error, tau), _without_control(blind, exact, found["value"])]
    details = {key: value for key, value in found.items() if key not in ("value", "assumption", "invalid")}
    details["tau_at_least"] = proxy_error(y, q, confidence)
    if blind is not None:
        details |= {"control": blind["value"], "excess": found["value"] - blind["value"]}
    digest = _digest(y, q, *tables.values(), *(controls or {}).values())
    settings = {"confidence": confidence, "tau": tau, "family": family, "games": games, "seed": seed, "exact": exact}

    def at(d: float) -> LowerBound:
        return _labels(
            y, q, model, d, likelihood=likelihood, control=control, exact=exact, tau=tau, family=family,
            scores=scores, choice=choice, games=games, confidence=confidence, seed=seed,
        )  # fmt: skip

    assumptions = [*_assumptions(tau, exact, games, len(tables), family), found["assumption"]]
    return LowerBound(
        parameter="epsilon",
        value=found["value"],
        confidence=confidence,
        assumptions=(*assumptions, f"δ = {delta:g} is known."),
        provenance=Provenance("labels", digest, {"delta": delta}, {}, settings),
        invalid=joined(*invalid),
        details=details,
        at=at,
    )


_labels = labels  # whose first argument bears its name


def proxy_error(labels: ArrayLike, proxy: ArrayLike, confidence: float = 0.95) -> float:
    """A lower bound on τ, the total variation between the laws of labels and of the proxy; 0 if nothing speaks for any.

    It compares how often labels are those that the proxy holds for likeliest, for improbable (below 1%), and how often
    each of the classes comes, up to ten, with what the proxy expects. Much it cannot see.

    >>> round(bdp.audits.labels.proxy_error(np.ones(1000, int), np.full((1000, 2), 0.5)), 3)
    0.495
    """
    q = probabilities("proxy", proxy)
    y = classes(labels, q.shape)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    properties = list(_properties(y, q))
    p, n = (1 - confidence) / (2 * len(properties)), len(y)
    least = 0.0
    for count, expected in properties:
        low = special.betaincinv(count, n - count + 1, p) if count else 0.0
        high = special.betaincinv(count + 1, n - count, 1 - p) if count < n else 1.0
        least = max(least, float(low - expected), float(expected - high))
    return least


def _properties(y: Ints, q: Floats) -> Iterator[tuple[int, float]]:
    """Of how many examples the label has a property, and the share that the proxy expects."""
    own = np.take_along_axis(q, y[:, None], 1)[:, 0]
    most = q.argmax(axis=1)
    yield int((y == most).sum()), float(q.max(axis=1).mean())
    yield int((own < 0.01).sum()), float(np.where(q < 0.01, q, 0.0).sum(axis=1).mean())
    share = q.mean(axis=0)
    for label in np.argsort(-share, kind="stable")[:_COUNTED]:
        yield int((y == label).sum()), float(share[label])


def _names(scores: Any) -> tuple[str, ...]:
    given = (scores,) if isinstance(scores, str) else tuple(scores) if isinstance(scores, list | tuple) else ()
    known = {name for name in given if is_one_of(name, tuple(_SCORES))}
    if not known or len(known) < len(given):
        raise InputError(f"scores must be one or both of {', '.join(_SCORES)}, not {show(scores)}")
    return given


def _scored(given: Any, q: Floats, names: Sequence[str], what: str) -> dict[str, Floats]:
    if what == "likelihood":
        return {what: label_game.likelihood(given, q)}
    found = probabilities(what, given)
    if found.shape != q.shape:
        raise InputError(f"{what} must have the shape {q.shape} of proxy, not {found.shape}")
    if _one(found, q):
        raise InputError(f"the {what} has the probabilities of the proxy: they must be two models")
    return {name: _SCORES[name](found, q) for name in names}


def _one(first: Floats, second: Floats) -> bool:
    return first.shape == second.shape and bool(np.max(np.abs(first - second)) <= _SAME)


def _lower(family: str, delta: float, tau: float) -> Lower:
    def exact(m: Floats, n: Floats, c: Floats, p: float) -> Floats:
        if family == "gaussian":
            return np.asarray(epsilon_from_mu(f_dp_lower_bounds(GAUSSIAN, m, n, c, p), delta))
        return best_lower_bounds(m, n, c, delta, p)

    def with_slack(m: Floats, n: Floats, c: Floats, p: float) -> Floats:
        moved = stats.binom.isf(_OF_SLACK * p, m, tau / 2)
        return exact(m, n, np.maximum(c - moved, 0.0), (1 - _OF_SLACK) * p)

    return with_slack if tau > 0 else exact


def _played(
    tables: Mapping[str, Floats],
    y: Ints,
    q: Floats,
    made: NumberOfGuesses | int,
    lower: Lower,
    p: float,
    games: int,
    seed: int,
) -> dict[str, Any]:
    """The best over the scores of the median over the games, and what the games gave."""
    p /= len(tables) * (2 if games > 1 else 1)
    seeds = np.random.SeedSequence(seed, spawn_key=(5,)).generate_state(games)
    best: dict[str, Any] = {}
    for name, table in tables.items():
        game = LabelGame(y, q, table)
        found = [choose(guess_extremes(game.play(int(s)), made, "largest", int(s), ()), p, lower) for s in seeds]
        values = np.array([each.value for each in found])
        middle = found[int(np.argsort(values, kind="stable")[(games - 1) // 2])]
        if not best or middle.value > best["value"]:
            best = {
                "value": middle.value, "score": name, "mean": float(values.mean()), "sd": float(values.std()),
                "games": games, **middle.counts, "assumption": middle.assumption, "invalid": middle.invalid,
            }  # fmt: skip
    return best


def _contradicted(error: float, tau: float) -> str:
    if error <= tau:
        return ""
    return (
        f"The labels are not as the proxy says: the law of some is farther from it than {error:.3g} in total variation,"
        f" at the level {_LEVEL:g}, and τ is {tau:g}."
    )


def _without_control(blind: Mapping[str, Any] | None, exact: bool, value: float) -> str:
    if exact or (blind is not None and blind["value"] < _NOTHING):
        return ""
    if blind is None:
        return (
            "There is no control, a model that never saw these labels, so that an error of the proxy looks like a leak."
        )
    return (
        f"A control that never saw these labels has a bound of {blind['value']:.4g}, so that the audit cannot be"
        f" distinguished from the proxy's error; the model's bound exceeds it by {value - blind['value']:.4g}."
    )


def _assumptions(tau: float, exact: bool, games: int, scores: int, family: str) -> Iterator[str]:
    within = f"a law within total variation {tau:g} of the proxy's" if tau else "the law of the proxy"
    yield f"Given its features, each label of the training was drawn by {within}, independently of the others."
    yield "The proxy and the control were made without these labels." if not exact else "The proxy is the very law."
    yield (
        "ε is of the privacy of labels alone: by how much the model's law changes if a label is replaced by a draw of"
        " the proxy. Features are taken to be known."
    )
    if games > 1:
        yield f"The bound is the median of {games} games, each made at half the error probability."
    if scores > 1:
        yield f"The best of {scores} scores was taken, which share the error probability."
    if family == "gaussian":
        yield "The privacy of the training is that of one member of the family, Gaussian DP."


def _digest(*arrays: Any) -> str:
    content = hashlib.sha256()
    for array in arrays:
        content.update(f"{array.shape}".encode())
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


call_module_as(labels)
