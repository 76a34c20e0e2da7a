"""The audit of a training that nobody changed, by games in which a coin shows the truth or a draw of a simulator.

A game, such as those of `games/`, can be played again and again: each time it gives the scores of what was shown, and
the coins. If the simulator draws from the law that the truth came from, then the guesses of a model that is
(ε, δ)-SIM-DP are right as rarely as those of memberships in a one-run audit ("Observational Auditing of Privacy",
Theorem 5 with τ = 0).

If each law D_i is only within total variation τ of the simulator's, couple the draws with draws of D_i, so that they
differ with a chance of at most τ. Those that are shown and differ, a set S, are at most Bin(n, τ/2) in number. Were the
draws of D_i shown, then the scores of the other examples would be the same, and of the r largest ones at most |S| would
be others, so that C correct guesses would be C − |S| or more; or C − 2|S|, where as many of the highest as of the
lowest scores are guessed, both of which change. Hence at error probability p the count C − k is judged at 0.9 p, where
k is exceeded by Bin(n, τ/2) with a chance of at most 0.1 p. The paper's slack instead lowers f̄⁻¹ by τ (Theorem 5;
`f_dp` has it), which leaves nothing once τ is above p times the share of guesses: with 20 000 examples of randomized
response with ε = 3 and τ = 0.005 its bound is 0.01, and this one's 1.9.

Several games of one model share its data. Each bound holds by itself, and of K of them the median holds if each is
made at p/2 (Markov; see `attacks.MultiSplit`). Several scores share p equally.

What makes the bound fail is a simulator that is not the law of the truth: the attacker then needs no model. Hence the
*control*, the same game with the scores of a model that never saw these data. If its bound is above 0, then so much can
be had without a leak, and the result is not valid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol, get_args

import numpy as np
from scipy import stats

from bayes_dp.attacks.scores import Bonferroni, NumberOfGuesses, guess_extremes, require_fair
from bayes_dp.audits.choice import Lower, choose
from bayes_dp.audits.f_dp import GAUSSIAN, refuse_delta_zero
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.label_control import blind_game
from bayes_dp.audits.one_run import best_lower_bounds
from bayes_dp.checks import InputError, is_one_of, one_number, seed_of, show, truth, whole_number
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.results.bound import REPLACED, LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.tradeoff import epsilon_from_mu

__all__ = [
    "Family",
    "Game",
    "Sides",
    "blamed",
    "by_default",
    "checked",
    "lower_of",
    "observational",
    "of_games",
    "played",
    "said_of",
]

Family = Literal["approx", "gaussian"]
Sides = Literal["largest", "both"]

_SHARES = (0.01, 0.05, 0.2)  # of the examples that are guessed, if nothing is said
_SHARES_WITH_SLACK = (0.05, 0.2, 0.5)
_OF_SLACK = 0.1  # of the error probability
_NOTHING = 1e-9  # a bound that rounding makes of 0


class Game(Protocol):
    """What is played: `games.LabelGame`, `games.AttributeGame`, or one of your own.

    >>> isinstance(bdp.games.LabelGame([0, 1], [[0.5, 0.5]] * 2, [[1, -1]] * 2).play(seed=3), bdp.GuessTable)
    True
    """

    def play(self, seed: int = 0) -> GuessTable:
        """Scores and coins of one game, which the seed decides."""


def observational(
    game: Game,
    delta: float,
    *,
    control: Game | None = None,
    exact: bool = False,
    tau: float = 0.0,
    family: Family = "approx",
    choice: NumberOfGuesses | int | None = None,
    games: int = 21,
    confidence: float = 0.95,
    seed: int = 0,
) -> LowerBound:
    """Lower bound on ε at `delta` from a game in which nobody changed the training; for labels see `labels`.

    Of n guesses as many are of the highest scores as of the lowest ones.

    Parameters
    ----------
    game : with a method `play(seed)`, such as `games.AttributeGame`.
    control : the same game with the scores of a model that never saw these data. Without it the bound is not valid,
        unless `exact` says that the simulator's law is the very law of the data, as in a simulation.
    tau : by how much, in total variation, the law of each example may differ from the simulator's.
    family : "approx", or "gaussian" for a bound on μ that is converted to ε at `delta`.
    choice : how many guesses, as for `one_run`; by default the best of 1%, 5% and 20% of the examples, or
        where τ is above 0 of 5%, 20% and 50%, corrected.
    games : how often the game is played. The bound is the median of theirs, each made at half the error probability.

    >>> rng = np.random.default_rng(0)
    >>> incomes = rng.normal(size=(2000, 1))
    >>> class Normal:
    ...     def sample(self, public, seed):
    ...         return np.random.default_rng(seed).normal(size=(len(public), 1))
    >>> known = lambda public, shown: -np.abs(shown - incomes)[:, 0]  # a model that knows them
    >>> game = bdp.games.AttributeGame(np.zeros((2000, 0)), incomes, Normal(), known)
    >>> round(bdp.audits.observational(game, 0, exact=True).value, 1)
    4.4
    """
    for name, value in (("game", game), ("control", control)):
        if not (name == "control" and value is None) and (
            isinstance(value, type) or not callable(getattr(value, "play", None))
        ):
            raise InputError(f"{name} must have a method play, which {show(value)} has not")
    delta, tau, exact, confidence, games, seed = checked(delta, tau, exact, confidence, games, seed, family)
    table = _table("game", game, seed)
    other = None if control is None else _table("control", control, seed)
    if other is not None and len(other) != len(table):
        raise InputError(f"control must be a game of the {len(table)} examples of game")
    if other is not None and np.array_equal(other.score, table.score):
        raise InputError("the control has the scores of the game: it must be a model that never saw these data")
    made = by_default(len(table), tau) if choice is None else choice
    lower = lower_of(family, delta, tau, "both")
    found = played({"score": game}, made, lower, 1 - confidence, games, seed, "both")
    blind = None if control is None else played({"score": control}, made, lower, 1 - confidence, games, seed, "both")
    details = {key: value for key, value in found.items() if key not in ("value", "score", "assumption", "invalid")}
    details["neighbours"] = REPLACED
    if blind is not None:
        details |= {"control": blind["value"], "excess": found["value"] - blind["value"]}
    settings = {"confidence": confidence, "tau": tau, "family": family, "games": games, "seed": seed, "exact": exact}

    def at(d: float) -> LowerBound:
        return _observational(
            game, d, control=control, exact=exact, tau=tau, family=family, choice=made, games=games,
            confidence=confidence, seed=seed,
        )  # fmt: skip

    content = hashlib.sha256(table.score.tobytes() + table.member.tobytes()).hexdigest()
    return LowerBound(
        parameter="epsilon",
        value=found["value"],
        confidence=confidence,
        assumptions=(
            *_assumptions(tau, exact, games, family),
            found["assumption"],
            *said_of(blind),
            f"δ = {delta:g} is known.",
        ),
        provenance=Provenance("observational", content, {"delta": delta}, {}, settings),
        invalid=joined(
            found["invalid"], blamed(blind, exact, found["value"]), "" if other is None else blind_game(other.score)
        ),
        details=details,
        at=at,
    )


_observational = observational


def _table(name: str, game: Game, seed: int) -> GuessTable:
    table = game.play(seed)
    if not isinstance(table, GuessTable):
        raise InputError(f"{name}.play(seed) must give a GuessTable, not {type(table).__name__}")
    try:
        require_fair(table)
    except InputError as error:
        raise InputError(f"{name}.play(seed): {error}") from None
    return table


def checked(
    delta: float, tau: float, exact: bool, confidence: float, games: int, seed: int, family: Any
) -> tuple[float, float, bool, float, int, int]:
    """The settings that all such audits have."""
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    tau, exact = one_number("tau", tau, 0.0, 1.0), truth("exact", exact)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    games, seed = whole_number("games", games, 1, 1000), seed_of(seed)
    if not is_one_of(family, get_args(Family)):
        raise InputError(f"family must be approx or gaussian, not {show(family)}")
    if family == "gaussian":
        refuse_delta_zero(delta)
    return delta, tau, exact, confidence, games, seed


def by_default(examples: int, tau: float) -> Bonferroni:
    """The numbers of guesses that are tried if nothing is said."""
    shares = _SHARES_WITH_SLACK if tau > 0 else _SHARES
    return Bonferroni(np.unique([max(1, round(examples * share)) for share in shares]))


def lower_of(family: str, delta: float, tau: float, sides: Sides = "largest") -> Lower:
    """Bounds at p from numbers of examples, guesses and correct ones, with the slack τ."""

    def exact(m: Floats, n: Floats, c: Floats, p: float) -> Floats:
        if family == "gaussian":
            return np.asarray(epsilon_from_mu(f_dp_lower_bounds(GAUSSIAN, m, n, c, p), delta))
        return best_lower_bounds(m, n, c, delta, p)

    def with_slack(m: Floats, n: Floats, c: Floats, p: float) -> Floats:
        moved = stats.binom.isf(_OF_SLACK * p, m, tau / 2) * (2 if sides == "both" else 1)
        return exact(m, n, np.maximum(c - moved, 0.0), (1 - _OF_SLACK) * p)

    return with_slack if tau > 0 else exact


def played(
    scored: Mapping[str, Game],
    made: NumberOfGuesses | int,
    lower: Lower,
    p: float,
    games: int,
    seed: int,
    sides: Sides = "largest",
) -> dict[str, Any]:
    """The best over the scores of the median over the games, and what the games gave."""
    p /= len(scored) * (2 if games > 1 else 1)
    seeds = np.random.SeedSequence(seed, spawn_key=(5,)).generate_state(games)
    best: dict[str, Any] = {}
    for name, game in scored.items():
        found = [choose(guess_extremes(game.play(int(s)), made, sides, int(s), ()), p, lower) for s in seeds]
        values = np.array([each.value for each in found])
        middle = found[int(np.argsort(values, kind="stable")[(games - 1) // 2])]
        if not best or middle.value > best["value"]:
            best = {
                "value": middle.value, "score": name, "mean": float(values.mean()), "sd": float(values.std()),
                "games": games, **middle.counts, "assumption": middle.assumption, "invalid": middle.invalid,
            }  # fmt: skip
    return best


def blamed(blind: Mapping[str, Any] | None, exact: bool, value: float) -> str:
    """Why the result is not valid by its control; or nothing."""
    if (exact and blind is None) or (blind is not None and blind["value"] < _NOTHING):
        return ""
    if blind is None:
        return "There is no control, a model that never saw these data: an error of the proxy looks like a leak."
    return (
        f"A control that never saw these data has a bound of {blind['value']:.4g}, so that the audit cannot be"
        f" distinguished from the proxy's error; the model's bound exceeds it by {value - blind['value']:.4g}."
    )


def said_of(blind: Mapping[str, Any] | None) -> Iterator[str]:
    """What the control showed, a sentence, if there is one."""
    if blind is not None:
        yield (
            "The control never saw what the game hides, and knows all that the audited model knows besides that; its"
            f" own bound is {blind['value']:.4g}."
        )


def _assumptions(tau: float, exact: bool, games: int, family: str) -> Iterator[str]:
    within = f"a law within total variation {tau:g} of the simulator's" if tau else "the law of the simulator"
    yield f"What the game hides was drawn by {within}, for each example independently of the others."
    law = "The simulator is the law." if tau == 0 else "That the simulator is no farther from the law is known."
    yield "The simulator and the control were made without these data." if not exact else law
    yield from of_games(games, family)
    yield (
        "ε is that of SIM-DP: by how much the model's law changes if what is hidden of one example is removed, and a"
        " draw of the simulator put in its place."
    )


def of_games(games: int, family: str) -> Iterator[str]:
    """Sentences on the median of several games, and on the family."""
    if games > 1:
        yield f"The bound is the median of {games} games, each made at half the error probability."
    if family == "gaussian":
        yield "The privacy of the training is that of one member of the family, Gaussian DP."


call_module_as(observational)
