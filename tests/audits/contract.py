"""What every registered audit keeps, as a class that a test of each inherits and gives the name."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits.base import NEEDS, Audit, Inputs
from bayes_dp.audits.registry import INDEX, audit
from bayes_dp.data.counts import DESIGNS, ONE_MODEL
from bayes_dp.results.bound import CredibleInterval, Estimate, LowerBound


def table(leak: float, members: float | None = None, seed: int = 0) -> bdp.GuessTable:
    """Scores of 400 examples that say `leak` standard deviations of noise of membership; all `members`, or none, or by
    propensities."""
    rng = np.random.default_rng(seed)
    logit = 0.5 * rng.normal(size=400)
    member = rng.random(400) < (special.expit(logit) if members is None else members)
    return bdp.GuessTable(leak * member + rng.normal(size=400), member, special.expit(logit))


def guesses(wrong: float, members: int = 200) -> bdp.ErrorCounts:
    """All of 400 examples guessed, of which a share is wrong."""
    others = 400 - members
    kind: dict[str, Any] = {"design": "one_run", "examples": 400}
    return bdp.ErrorCounts(round(wrong * others), others, round(wrong * members), members, **kind)


class AuditContract:
    """Override what an audit needs otherwise, such as other data."""

    name: ClassVar[str]
    nothing = 0.0  # the most that a useless attack may show

    @property
    def audit(self) -> Audit:
        return audit(self.name)

    @property
    def by_runs(self) -> bool:
        return "counts" in self.audit.needs

    def counts(self, wrong: float = 0.1) -> bdp.ErrorCounts:
        """Of an attack that is wrong so often, where it can be wrong half the time."""
        return bdp.ErrorCounts(round(200 * wrong), 200, round(200 * wrong), 200) if self.by_runs else guesses(wrong)

    def inputs(self, leak: float = 6.0) -> Inputs:
        given = Inputs(delta=1e-3, confidence=0.95)
        if "overlap" in self.audit.needs:
            given = replace(given, overlap=0.4)
        return replace(given, scores=table(leak)) if "scores" in self.audit.needs else given

    def values(self, name: str, *changes: float) -> list[float]:
        return [self.audit.on(self.counts(), replace(self.inputs(), **{name: each})).value for each in changes]

    def test_its_line_and_its_object(self) -> None:
        assert self.audit.name == self.name in INDEX
        assert set(self.audit.needs) <= set(NEEDS)
        assert self.audit.assumptions
        assert all(sentence.endswith(".") for sentence in self.audit.assumptions)
        assert self.audit.why.endswith(".")

    def test_a_strong_attack_shows_a_leak(self) -> None:
        found = self.audit.on(self.counts(), self.inputs())
        assert isinstance(found, LowerBound | CredibleInterval | Estimate)
        assert 0.1 < found.value < 10
        assert found.upper > found.value

    def test_a_useless_attack_shows_nothing(self) -> None:
        assert self.audit.on(self.counts(wrong=0.5), self.inputs(leak=0.0)).value <= self.nothing

    def test_the_surer_the_less(self) -> None:
        values = self.values("confidence", 0.8, 0.95, 0.99, 0.999)
        assert (np.diff(values) <= 1e-9).all()
        assert values[-1] < values[0]

    def test_the_more_delta_the_less(self) -> None:
        values = self.values("delta", 1e-6, 1e-4, 1e-3, 0.05, 0.3)
        assert (np.diff(values) <= 1e-9).all()
        assert values[-1] < values[0]

    def test_what_it_says(self) -> None:
        found = self.audit.on(self.counts(), self.inputs())
        assert set(self.audit.assumptions) <= set(found.assumptions)
        assert found.parameter in found.statement()
        for sentence in found.assumptions:
            assert sentence in found.summary()
        content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert (content["value"], content["kind"], content["valid"]) == (found.value, found.kind, not found.invalid)
        assert content["assumptions"] == list(found.assumptions)
        assert content["provenance"]["known"] == {"delta": 1e-3}

    def test_it_is_read_back_from_json(self) -> None:
        found = self.audit.on(self.counts(), self.inputs())
        content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        again = type(found).from_dict(content)
        assert again.to_dict() == found.to_dict()
        assert again.summary() == found.summary()
        with pytest.raises(bdp.InputError):
            type(found).from_dict(content | {"unknown": 1})

    def test_its_digest_tells_data_apart(self) -> None:
        one, same, other = (
            self.audit.on(self.counts(wrong), self.inputs(leak)).provenance.digest
            for wrong, leak in ((0.1, 6.0), (0.1, 6.0), (0.11, 5.0))
        )
        assert one == same != other

    def test_other_designs_are_refused(self) -> None:
        for design in DESIGNS:
            if design not in self.audit.designs:
                examples = {"examples": 400} if design in ONE_MODEL else {}
                other = bdp.ErrorCounts(10, 50, 10, 50, design=design, **examples)
                with pytest.raises(bdp.InputError, match=f'{self.name} is not for the design "{design}"'):
                    self.audit.on(other, self.inputs())

    def test_without_its_needs_it_is_refused(self) -> None:
        for need in self.audit.needs:
            without = {"overlap": {"overlap": None}, "scores": {"scores": None}, "coins": {"overlap": 0.4}}.get(need)
            if without is not None:
                assert self.audit.refused(self.counts(), replace(self.inputs(), **without)).endswith(".")
                with pytest.raises(bdp.InputError, match=f"{self.name} does not apply: "):
                    self.audit.on(self.counts(), replace(self.inputs(), **without))
        assert not self.audit.refused(self.counts(), self.inputs())

    def test_memberships_that_cannot_be(self) -> None:
        if self.by_runs:  # whose numbers with and without an example are set
            return
        for members, share in ((399, 0.999), (20, 0.05)):
            given = replace(self.inputs(), scores=table(6.0, share)) if "scores" in self.audit.needs else self.inputs()
            found = self.audit.on(guesses(0.1, members), given)
            assert "contradict" in found.invalid
        if "scores" in self.audit.needs:
            with pytest.raises(bdp.InputError, match="all 400 examples are members"):
                self.audit.on(self.counts(), replace(self.inputs(), scores=table(6.0, 1.0)))

    def test_runs_that_were_cross_fed(self) -> None:
        if self.by_runs:
            found = self.audit.on(replace(self.counts(), design="cross_fed"), self.inputs())
            assert "correlated" in found.invalid

    def test_at_another_delta(self) -> None:
        found = self.audit.on(self.counts(), self.inputs())
        other = self.audit.on(self.counts(), replace(self.inputs(), delta=0.01))
        assert found.epsilon_at(0.01).to_dict() == other.to_dict()

    def test_it_is_a_row_of_the_comparison(self) -> None:
        given = self.inputs()
        (row,) = bdp.compare(
            self.counts(), given.delta, given.confidence, overlap=given.overlap, scores=given.scores, names=[self.name]
        ).rows
        found = self.audit.on(self.counts(), given)
        assert (row.kind, row.parameter, row.valid) == (found.kind, found.parameter, found.valid)
        value = found.value if row.lower is None else row.lower
        assert math.isclose(value, found.value)
