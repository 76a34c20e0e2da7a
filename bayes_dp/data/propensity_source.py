"""Where the propensities of a table come from, which decides what a bound from them may claim.

given      by somebody who knows how members came to be members
simulated  fair coins that decide what is shown, in a game in which nobody changed the training: "members" are examples
           that are shown with what it had, the others with a draw in its place, which is right only if the draw has
           the law of what it had
learned    from features and memberships, so that they are never exact
rejected   learned, and then contradicted by the memberships (see `propensity.falsify`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bayes_dp.checks import InputError, show
from bayes_dp.data.counts import OBSERVATIONAL

__all__ = ["GIVEN", "SIMULATED", "Name", "PropensitySource", "named", "worst"]

Name = Literal["given", "simulated", "learned", "rejected"]
NAMES: tuple[Name, ...] = get_args(Name)  # the later, the less a bound can rest on


@dataclass(frozen=True)
class PropensitySource:
    """Where propensities come from, and the sentences about them that a result carries.

    `test` is what is known of the falsification test, fit for JSON, and `objection` says why nothing valid can rest on
    them, as where they were rejected; it is empty where it can.
    """

    name: Name
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    objection: str = ""
    test: Mapping[str, Any] | None = None


GIVEN = PropensitySource("given")
SIMULATED = PropensitySource("simulated", objection=OBSERVATIONAL)
_UNTOLD = "Propensities were learned, the table does not say how."
_OF_THE_NAME = {
    "given": GIVEN,
    "simulated": SIMULATED,
    "learned": PropensitySource("learned", assumptions=(_UNTOLD,)),
    "rejected": PropensitySource(
        "rejected", assumptions=(_UNTOLD,), objection="The table says that its propensities were REJECTED."
    ),
}


def named(name: Any, where: str) -> PropensitySource:
    """All that is known of propensities by the name of their source; `where` is what a message calls it."""
    if not isinstance(name, str) or name not in _OF_THE_NAME:
        raise InputError(f"{where} must be {', '.join(NAMES[:-1])} or {NAMES[-1]}, not {show(name)}")
    return _OF_THE_NAME[name]


def worst(sources: Sequence[PropensitySource]) -> PropensitySource:
    """The source of propensities of several sources, as a whole."""
    return max(sources, key=lambda source: NAMES.index(source.name))
