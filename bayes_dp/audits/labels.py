"""The observational audit of labels: what a model remembers of the labels it was trained on, by a game afterwards.

The game is `games.LabelGame`: of each example the attacker is shown the label of the training or one that the proxy q
draws, by a fair coin, and guesses which. If the labels of the training come from q too, then the guesses of a model
that is (ε, δ)-DP in its labels are right as rarely as those of memberships in a one-run audit: at δ = 0 each with
chance e^ε/(1 + e^ε) at most, given the others. `observational` has the
slack τ, the median of several games and the control. What is bounded is SIM-DP (Mahloujifar et al. 2025): a simulator
puts a draw of q in the place of a label. Where any label may be replaced by any other, ε is no less.

A control has to know as much of the labels as the audited model learned from all examples; that it knows less than the
proxy is seen (`label_control`). What the labels themselves say of τ is in `proxy_error`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.attacks import label_scores
from bayes_dp.attacks.scores import NumberOfGuesses
from bayes_dp.audits.label_control import blind_likelihood, blind_model, turned_model
from bayes_dp.audits.observational import Family, blamed, by_default, checked, lower_of, of_games, played, said_of
from bayes_dp.audits.proxy_error import proxy_error
from bayes_dp.checks import InputError, is_one_of, show
from bayes_dp.data.class_probabilities import classes, probabilities
from bayes_dp.games.labels import LabelGame
from bayes_dp.results.bound import REPLACED, LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.support.callable_module import call_module_as

__all__ = ["labels"]

Score = Literal["log ratio", "difference"]

_SCORES = {"log ratio": label_scores.log_ratio, "difference": label_scores.difference}
_LEVEL = 1e-4  # at which labels contradict what is said of their proxy
_SAME = 1e-9  # what probabilities of two models may differ by and be those of one


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
    family: Family = "approx",
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
    control : what `model` or `likelihood` is, of another model that never saw these labels, and that knows all that the
        audited one knows besides them. Without it the bound is not valid, unless `exact` says that the proxy is the
        very law of the labels, as in a simulation.
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
    delta, tau, exact, confidence, games, seed = checked(delta, tau, exact, confidence, games, seed, family)
    if (model is None) == (likelihood is None):
        raise InputError("give model, the probabilities of the audited model, or likelihood, and not both")
    names = _names(scores)
    choice = by_default(len(y), tau) if choice is None else choice
    audited = likelihood if model is None else model
    tables = _scored(audited, q, names, "likelihood" if model is None else "model")
    controls = None if control is None else _scored(control, q, names, "likelihood" if model is None else "control")
    if control is not None and _one(np.asarray(audited), np.asarray(control)):
        raise InputError("the control has the numbers of the audited model: it must be one that never saw the labels")
    lower = lower_of(family, delta, tau)

    def judged(scored: Mapping[str, Floats]) -> dict[str, Any]:
        return played(
            {name: LabelGame(y, q, score) for name, score in scored.items()}, choice, lower, 1 - confidence, games, seed
        )

    found = judged(tables)
    blind = None if controls is None else judged(controls)
    error = proxy_error(y, q, 1 - _LEVEL)
    weak = "" if controls is None or exact else _blind(y, q, control, controls, model is None)
    invalid = [found["invalid"], _contradicted(error, tau), blamed(blind, exact, found["value"]), weak]
    details = {key: value for key, value in found.items() if key not in ("value", "assumption", "invalid")}
    details["tau_at_least"] = proxy_error(y, q, confidence)
    details["neighbours"] = REPLACED
    if blind is not None:
        details |= {"control": blind["value"], "excess": found["value"] - blind["value"]}
    turned = "" if model is None else turned_model(y, probabilities("model", model))
    digest = _digest(y, q, *tables.values(), *(controls or {}).values())
    settings = {"confidence": confidence, "tau": tau, "family": family, "games": games, "seed": seed, "exact": exact}

    def at(d: float) -> LowerBound:
        return _labels(
            y, q, model, d, likelihood=likelihood, control=control, exact=exact, tau=tau, family=family,
            scores=scores, choice=choice, games=games, confidence=confidence, seed=seed,
        )  # fmt: skip

    assumptions = [*_assumptions(tau, exact, games, len(tables), family), found["assumption"], *said_of(blind)]
    return LowerBound(
        parameter="epsilon",
        value=found["value"],
        confidence=confidence,
        assumptions=(*assumptions, f"δ = {delta:g} is known."),
        provenance=Provenance("labels", digest, {"delta": delta}, {}, settings),
        invalid=joined(*invalid),
        warnings=(turned,) if turned else (),
        details=details,
        at=at,
    )


_labels = labels  # whose first argument bears its name


def _names(scores: Any) -> tuple[str, ...]:
    given = (scores,) if isinstance(scores, str) else tuple(scores) if isinstance(scores, list | tuple) else ()
    known = {name for name in given if is_one_of(name, tuple(_SCORES))}
    if not known or len(known) < len(given):
        raise InputError(f"scores must be one or both of {', '.join(_SCORES)}, not {show(scores)}")
    return given


def _scored(given: Any, q: Floats, names: Sequence[str], what: str) -> dict[str, Floats]:
    if what == "likelihood":
        return {what: label_scores.likelihood(given, q)}
    found = probabilities(what, given)
    if found.shape != q.shape:
        raise InputError(f"{what} must have the shape {q.shape} of proxy, not {found.shape}")
    if _one(found, q):
        raise InputError(f"the {what} has the probabilities of the proxy: they must be two models")
    return {name: _SCORES[name](found, q) for name in names}


def _one(first: Floats, second: Floats) -> bool:
    return first.shape == second.shape and bool(np.max(np.abs(first - second)) <= _SAME)


def _contradicted(error: float, tau: float) -> str:
    if error <= tau:
        return ""
    return (
        f"The labels are not as the proxy says: the law of some is farther from it than {error:.3g} in total variation,"
        f" at the level {_LEVEL:g}, and τ is {tau:g}."
    )


def _blind(y: Ints, q: Floats, control: Any, scored: Mapping[str, Floats], likely: bool) -> str:
    return blind_likelihood(scored["likelihood"]) if likely else blind_model(y, q, probabilities("control", control))


def _assumptions(tau: float, exact: bool, games: int, scores: int, family: str) -> Iterator[str]:
    within = f"a law within total variation {tau:g} of the proxy's" if tau else "the law of the proxy"
    yield f"Given its features, each label of the training was drawn by {within}, independently of the others."
    law = "The proxy is the very law." if tau == 0 else "That the proxy is no farther from the law is known."
    yield "The proxy and the control were made without these labels." if not exact else law
    yield (
        "ε is of the privacy of labels alone, as SIM-DP: by how much the model's law changes if a label is removed, and"
        " a draw of the proxy put in its place. Features are taken to be known."
    )
    yield from of_games(games, family)
    if scores > 1:
        yield f"The best of {scores} scores was taken, which share the error probability."


def _digest(*arrays: Any) -> str:
    content = hashlib.sha256()
    for array in arrays:
        content.update(f"{array.shape}".encode())
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


call_module_as(labels)
