"""What came out of games of PANORAMIA: coins and scores, ready for `bdp.audits.panoramia`, figures and other methods.

How many of the m examples are taken for members is fixed in advance, as shares of m: r = share·m, rounded. A recall,
the share of the members that are taken, cannot be fixed: which number of guesses gives it depends on the coins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.checks import InputError, numbers, one_number, show, truth, whole_number
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["SHARES", "Played", "shares_of"]

SHARES = (0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.35, 0.45)
_LEVEL = 1e-4
_EDGE = 1e-3  # a propensity lies between this and 1 − this


@dataclass(frozen=True, eq=False, repr=False)
class Played:
    """What came out of S games with m pairs each: coins, and the probabilities of being a member that the classifiers
    give to the examples that are shown.

    `member`, `baseline`, `attack` and, where there is one, `control` are arrays (S, m): the control is an attack on a
    model that leaks little, or nothing, of the members. `shares` of the m examples are taken for members. `generated`
    says whether the others came from a generator, and `sizes` how many examples each part of the data has. `copied` is
    the share of the others that are copies of members, less the share of members that are copies of other members, and
    0 where this is chance.

    >>> rng = np.random.default_rng(0)
    >>> member = rng.random((1, 400)) < 0.5
    >>> played = bdp.games.Played(member, np.full((1, 400), 0.5), 0.3 + 0.4 * member)
    >>> played
    Played: 1 game, 400 pairs, generated non-members, no control
    >>> played.tables()[0].auc().value
    1.0
    """

    member: Bools
    baseline: Floats
    attack: Floats
    control: Floats | None = None
    shares: tuple[float, ...] = SHARES
    generated: bool = True
    sizes: Mapping[str, int] = field(default_factory=dict)
    copied: float = 0.0

    def __post_init__(self) -> None:
        try:
            coins = np.asarray(self.member)
        except Exception:  # a value of any class, which may raise anything
            coins = np.array(None)
        if coins.ndim != 2 or not coins.size or coins.dtype != np.bool_:
            raise InputError(f"member must be truth values of the shape (games, pairs), not {show(self.member):.80}")
        object.__setattr__(self, "member", coins)
        for name in ("baseline", "attack", "control"):
            if name == "control" and self.control is None:
                continue
            found = numbers(name, getattr(self, name), 0.0, 1.0)
            if found.shape != coins.shape:
                raise InputError(f"{name} must have the shape {coins.shape} of member, not {found.shape}")
            object.__setattr__(self, name, found)
        object.__setattr__(self, "shares", shares_of(self.shares, coins.shape[1]))
        truth("generated", self.generated)
        one_number("copied", self.copied, -1.0, 1.0)
        if not isinstance(self.sizes, Mapping):
            raise InputError(f"sizes must be numbers by the names of parts, not {show(self.sizes):.80}")

    def __len__(self) -> int:
        return len(self.member)

    def __getitem__(self, game: int) -> Played:
        """One of the games."""
        if not -len(self) <= (i := whole_number("game", game, -(2**31))) < len(self):
            raise InputError(f"game must be below {len(self)}, the number of games, not {i}")
        one = slice(i % len(self), i % len(self) + 1)
        control = None if self.control is None else self.control[one]
        fixed = self.shares, self.generated, self.sizes, self.copied
        return Played(self.member[one], self.baseline[one], self.attack[one], control, *fixed)

    @property
    def thresholds(self) -> Floats:
        """From which rank on an example is taken for a member, (k,): m − r + 1 for r guesses."""
        m = self.member.shape[1]
        return np.array([m - round(share * m) + 1 for share in self.shares], dtype=np.float64)

    def tables(self, game: int = 0) -> tuple[GuessTable, GuessTable, GuessTable | None]:
        """Of a game the scores by the attack, by the baseline and on the control, as ranks from 1 to m.

        Ties are broken by the places of the pairs, which say nothing of the coins.
        """
        one = self[game]
        return tuple(  # type: ignore[return-value]
            None if score is None else GuessTable(_ranks(score[0]), one.member[0])
            for score in (one.attack, one.baseline, one.control)
        )

    def table(self, game: int = 0) -> GuessTable:
        """For other methods, such as `bdp.compare` and zero-run audits: the attack's log-odds less the baseline's as
        scores, and the baseline's probabilities, within 0.001 and 0.999, as propensities.

        With real non-members there are no propensities, as the coins are fair, and the scores are the attack's; unless
        they are `told_apart`.
        """
        one = self[game]
        attack = special.logit(np.clip(one.attack[0], 1e-9, 1 - 1e-9))
        if not self.generated and not one.told_apart():
            return GuessTable(attack, one.member[0])
        blind = np.clip(one.baseline[0], _EDGE, 1 - _EDGE)
        return GuessTable(attack - special.logit(blind), one.member[0], blind, propensity_source="learned")

    def told_apart(self) -> str:
        """Why the others are not drawn as the members were, in a sentence; nothing where the baseline does not tell,
        and members have no more doubles than the others have among them.

        Two tests of the baseline at 10⁻⁴ for both and all games together. Mann and Whitney's, in both directions:
        examples that are on both sides are taken for the other one. And an exact one of those that it is surest of, as
        a few that are known for certain hardly change an AUC: if it knows nothing, the number of members among the r
        that it takes for such is hypergeometric, and so is that of others among the r that it takes for none.
        """
        if self.copied < 0 and not self.generated:
            return (
                f"{-100 * self.copied:.3g}% of the members have a double among the members, beyond what the non-members"
                " have there: a classifier that learned from one of the two knows the other. Audit one of each."
            )
        games = range(len(self))
        found = min(map(self._told_by_ranks, games)), min(map(self._told_by_ends, games))
        below = [(p, how) for p, how in found if 2 * len(self) * p < _LEVEL]
        if not below:
            return ""
        p, how = 2 * len(self) * below[0][0], below[0][1]
        return (
            "The non-members are not drawn as the members were: a classifier that does not see the model tells them"
            f" apart ({how}, p = {p:.1g}). It must be told nothing of who is who, such as numbers of rows, and no"
            " example may be on both sides."
        )

    def _told_by_ranks(self, k: int) -> tuple[float, str]:
        """The p-value of a game, and what it says."""
        from scipy.stats import mannwhitneyu

        inside, outside = self.baseline[k][self.member[k]], self.baseline[k][~self.member[k]]
        if not min(len(inside), len(outside)) or np.ptp(self.baseline[k]) == 0:
            return 1.0, ""
        test = mannwhitneyu(inside, outside, method="asymptotic")
        return float(test.pvalue), f"AUC {test.statistic / (len(inside) * len(outside)):.2f}"

    def _told_by_ends(self, k: int) -> tuple[float, str]:
        from scipy.stats import hypergeom

        member = self.member[k][np.argsort(self.baseline[k], kind="stable")]
        sizes = np.round(np.array(self.shares) * member.size).astype(np.intp)
        found = []
        for kind, told in (("members", member[::-1]), ("none", ~member)):
            right = np.cumsum(told)[sizes - 1]
            p_values = hypergeom.sf(right - 1, member.size, told.sum(), sizes)
            i = int(np.argmin(p_values))
            found.append((float(p_values[i]), f"{right[i]} of the {sizes[i]} that it is surest of are {kind}"))
        p, how = min(found)
        return 2 * len(sizes) * p, how

    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal."""
        content = hashlib.sha256(f"{self.member.shape} {self.shares} {self.generated}\n".encode())
        for each in (self.member.astype("u1"), self.baseline, self.attack, self.control):
            content.update(b"none" if each is None else np.ascontiguousarray(each).tobytes())
        return content.hexdigest()

    def __repr__(self) -> str:
        games, pairs = self.member.shape
        kind = "generated" if self.generated else "real"
        control = "no control" if self.control is None else "a control"
        return f"Played: {games} game{'s' * (games > 1)}, {pairs} pairs, {kind} non-members, {control}"


def _ranks(score: Floats) -> Floats:
    ranks = np.empty(len(score))
    ranks[np.argsort(score, kind="stable")] = np.arange(1, len(score) + 1)
    return ranks


def shares_of(given: Any, pairs: int) -> tuple[float, ...]:
    """Shares of the pairs that are taken for members, each of at least one."""
    found = np.unique(numbers("shares", given, 0.0, 1.0, low_open=True))
    if np.ndim(given) > 1 or not found.size:
        raise InputError(f"shares must be numbers in a row, at least one, not {show(given)}")
    return tuple(found[np.round(found * pairs) >= 1].tolist()) or (1 / pairs,)
