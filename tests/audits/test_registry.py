"""The registered audits keep the contract, and all that lists audits has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bayes_dp as bdp
from bayes_dp import calibrate
from bayes_dp.audits.base import Audit, Inputs
from bayes_dp.audits.registry import INDEX, audits
from bayes_dp.cli import main
from bayes_dp.comparison.compare import methods
from tests.audits.contract import AuditContract, guesses

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "methods" / "audits"


class TestJointBeta(AuditContract):
    name = "joint-beta"
    nothing = 0.1  # the lower end of a posterior is above 0


class TestClopperPearson(AuditContract):
    name = "clopper-pearson"


class TestJeffreys(AuditContract):
    name = "jeffreys"


class TestKatz(AuditContract):
    name = "katz"


class TestAccuracy(AuditContract):
    name = "accuracy"

    def test_unequal_numbers_are_refused(self):
        assert "as many runs" in self.audit.refused(bdp.ErrorCounts(1, 10, 1, 20), self.inputs())


class TestJointExact(AuditContract):
    name = "joint-exact"


class TestOneRun(AuditContract):
    name = "one-run"


class TestOneRunExact(AuditContract):
    name = "one-run-exact"


class TestFDPGaussian(AuditContract):
    name = "f-dp-gaussian"

    def test_no_delta_is_refused(self):
        assert "no finite" in self.audit.refused(self.counts(), Inputs(0.0, 0.95))


class TestFDPLaplace(AuditContract):
    name = "f-dp-laplace"


class TestCompositional(AuditContract):
    name = "zero-run-compositional"


class TestZeroRun(AuditContract):
    name = "zero-run"


class TestZeroRunGaussian(AuditContract):
    name = "zero-run-gaussian"

    def test_no_delta_is_refused(self):
        assert "no finite" in self.audit.refused(self.counts(), Inputs(0.0, 0.95, scores=self.inputs().scores))


class TestPanoramia(AuditContract):
    name = "panoramia"

    def test_with_a_baseline_it_estimates(self):
        assert self.audit.on(self.counts(), Inputs(1e-3, 0.95, baseline=guesses(0.4))).kind == "estimate"


def test_every_audit_keeps_the_contract():
    tested = {each.name for each in AuditContract.__subclasses__()}
    assert tested == set(INDEX) == set(audits())


def test_all_that_lists_audits_has_them():
    assert [name for name in methods() if not name.startswith("posterior")] == list(INDEX)
    others = {"combine", "profile", "sequential", "wrong-pairs"}  # studies of what is no row of a comparison
    assert {entry.study for entry in INDEX.values()} == set(calibrate.AUDITS) - others


def test_the_command_line_has_them(capsys):
    def help_of(*verbs: str) -> str:
        assert main([*verbs, "--help"]) == 0
        return capsys.readouterr().out.replace("-\n  ", "-")  # a name may be broken

    listed, studies = help_of("audit"), help_of("calibrate").partition("AUDIT is one of")[2]
    for name, entry in INDEX.items():
        assert re.search(rf"^  {entry.family} ", listed, re.MULTILINE)
        assert re.search(rf"\b{entry.study}\b", studies)
        kind = name.removeprefix(entry.family).strip("-")  # of a verb that has several
        assert re.search(rf"\b{kind}\b", help_of("audit", entry.family))


def test_the_index_of_the_documentation():
    """A row for each audit, in the order of the registry, that says what it needs; and a page."""
    rows = re.findall(
        r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| \[.*\]\((.*)\) \|$", (DOCS / "index.md").read_text(), re.M
    )
    assert [(name, what) for name, what, *_ in rows] == [(name, entry.what) for name, entry in INDEX.items()]
    for name, _, needs, page in rows:
        assert needs == ", ".join(audits()[name].needs)
        assert page == f"{INDEX[name].family.replace('-', '_')}.md"
        assert (DOCS / page).is_file()
    pages = {page for *_, page in rows} | {"index.md", "labels.md", "profile.md", "sequential.md"}
    assert (ROOT / "mkdocs.yml").read_text().count("methods/audits/") == len(pages)


def test_unknown_needs_are_refused():
    for needs, message in (
        (("counts", "luck"), "needs must be among counts, guesses, coins, overlap, scores, not 'luck'"),
        ((), "needs must hold counts alone, or something of guesses"),
        (("counts", "scores"), "needs must hold counts alone, or something of guesses"),
    ):
        with pytest.raises(bdp.InputError, match=message):
            Audit("toy", needs, lambda counts, inputs: None, ("It is a toy.",))
