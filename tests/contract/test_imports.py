"""Imports run one way: every module imports from layers below its own, and siblings leave each other alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayes_dp

PACKAGE = Path(bayes_dp.__file__).parent

# From the bottom to the top; modules on one line are siblings, which do not import each other.
LAYERS = (
    ("bayes_dp.forks",),
    ("bayes_dp", "bayes_dp.bayes"),  # the version and the lazy table of public names
    (
        "bayes_dp.arithmetic",
        "bayes_dp.checks",
        "bayes_dp.beta",
        "bayes_dp.npy",
        "bayes_dp.text",
    ),
    ("bayes_dp.progress",),
    ("bayes_dp.files", "bayes_dp.workers"),
    ("bayes_dp.table", "bayes_dp.roc"),
    ("bayes_dp.json_text",),
    ("bayes_dp.parsing", "bayes_dp.checkpoint"),
    ("bayes_dp.tradeoff",),
    ("bayes_dp.region",),
    ("bayes_dp.data",),
    ("bayes_dp.gaussian_reading", "bayes_dp.guessing", "bayes_dp.propensity_source"),
    ("bayes_dp.guess_table", "bayes_dp.loss_table"),
    ("bayes_dp.datasets",),
    ("bayes_dp.result", "bayes_dp.interop"),
    ("bayes_dp.guesses",),
    ("bayes_dp.bound",),
    ("bayes_dp.attacks.scores",),
    ("bayes_dp.audits.choice", "bayes_dp.audits.poisson_binomial"),
    ("bayes_dp.audits.memberships",),
    ("bayes_dp.audits.f_dp",),
    ("bayes_dp.audits.one_run", "bayes_dp.audits.joint_beta"),
    (
        "bayes_dp.audits.intervals",
        "bayes_dp.audits.panoramia",
        "bayes_dp.audits.compositional",
        "bayes_dp.audits.tampering",
        "bayes_dp.attacks.lira",
    ),
    ("bayes_dp.audits.conditional", "bayes_dp.attacks.shifted"),
    ("bayes_dp.audits.zero_run",),
    ("bayes_dp.audits", "bayes_dp.attacks"),
    ("bayes_dp.propensity.parquet",),
    (
        "bayes_dp.propensity.features",
        "bayes_dp.propensity.splits",
        "bayes_dp.propensity.logistic",
        "bayes_dp.propensity.diagnostics",
    ),
    ("bayes_dp.propensity.learning", "bayes_dp.propensity.matching", "bayes_dp.propensity.region"),
    ("bayes_dp.propensity.falsification", "bayes_dp.propensity.worst_case"),
    ("bayes_dp.propensity.result",),
    ("bayes_dp.propensity.linear",),
    ("bayes_dp.propensity.learn", "bayes_dp.propensity.bootstrap"),
    ("bayes_dp.propensity",),
    ("bayes_dp.bayes.beta_tails",),
    ("bayes_dp.bayes.slices",),
    ("bayes_dp.bayes.marginal",),
    (
        "bayes_dp.bayes.corner_table",
        "bayes_dp.bayes.cells",
        "bayes_dp.bayes.priors",
        "bayes_dp.bayes.latent",
        "bayes_dp.bayes.likelihoods",
        "bayes_dp.bayes.layer",
        "bayes_dp.bayes.precision",
        "bayes_dp.bayes.sampled",
    ),
    (
        "bayes_dp.bayes.axis",
        "bayes_dp.bayes.correlated",
        "bayes_dp.bayes.cubature",
        "bayes_dp.bayes.coordinates",
        "bayes_dp.bayes.groups",
    ),
    ("bayes_dp.bayes.shared",),
    (
        "bayes_dp.bayes.own",
        "bayes_dp.bayes.aggregate",
        "bayes_dp.bayes.group_model",
        "bayes_dp.bayes.residuals",
    ),
    (
        "bayes_dp.bayes.question",
        "bayes_dp.bayes.mhaar_kernel",
        "bayes_dp.bayes.adaptation",
        "bayes_dp.bayes.convergence",
    ),
    ("bayes_dp.bayes.hamiltonian", "bayes_dp.bayes.model", "bayes_dp.bayes.pointwise"),
    ("bayes_dp.bayes.exact", "bayes_dp.bayes.mhaar", "bayes_dp.bayes.nuts"),
    ("bayes_dp.bayes.grouped",),
    ("bayes_dp.bayes.estimate", "bayes_dp.bayes.model_check"),
    ("bayes_dp.bayes.likelihood_comparison",),
    ("bayes_dp.verdict",),
    ("bayes_dp.comparison_schema",),
    ("bayes_dp.comparison_table",),
    ("bayes_dp.contradictions",),
    ("bayes_dp.comparison",),
    ("bayes_dp.gating",),
    ("bayes_dp.calibrate.result", "bayes_dp.calibrate.mechanisms"),
    ("bayes_dp.calibrate.counts", "bayes_dp.calibrate.extreme"),
    ("bayes_dp.calibrate.bounds",),
    ("bayes_dp.calibrate.guesses", "bayes_dp.calibrate.rates", "bayes_dp.calibrate.shifted"),
    ("bayes_dp.calibrate.wrong_pairs",),
    ("bayes_dp.calibrate.studies",),
    ("bayes_dp.calibrate",),
    ("bayes_dp.planning.limit", "bayes_dp.planning.result", "bayes_dp.planning.simulated"),
    ("bayes_dp.planning.search",),
    ("bayes_dp.planning",),
    ("bayes_dp.plots.style",),
    (
        "bayes_dp.plots.attack_curves",
        "bayes_dp.plots.calibration",
        "bayes_dp.plots.chains",
        "bayes_dp.plots.comparisons",
        "bayes_dp.plots.densities",
        "bayes_dp.plots.membership",
        "bayes_dp.plots.plane",
        "bayes_dp.plots.planned",
        "bayes_dp.plots.profile",
    ),
    ("bayes_dp.plots",),
    ("bayes_dp.reporting.document", "bayes_dp.reporting.drawing", "bayes_dp.reporting.sensitivity"),
    ("bayes_dp.reporting.findings",),
    (
        "bayes_dp.reporting.answer",
        "bayes_dp.reporting.evidence",
        "bayes_dp.reporting.figures",
        "bayes_dp.reporting.repetition",
        "bayes_dp.reporting.page",
        "bayes_dp.reporting.plain",
    ),
    ("bayes_dp.reporting.assembled",),
    ("bayes_dp.reporting",),
    ("bayes_dp.cli.program",),
    ("bayes_dp.cli.options",),
    (
        "bayes_dp.cli.audit",
        "bayes_dp.cli.compare",
        "bayes_dp.cli.estimate",
        "bayes_dp.cli.measure",
        "bayes_dp.cli.plan",
        "bayes_dp.cli.propensity",
        "bayes_dp.cli.report",
        "bayes_dp.cli.validity",
    ),
    ("bayes_dp.cli.zero_run",),
    ("bayes_dp.cli",),
)
HEIGHT = {module: height for height, layer in enumerate(LAYERS) for module in layer}


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """The dotted names that are imported, in functions too, but not under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                yield from imports(ast.Module([other], []), known)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module or ""
        else:
            yield from imports(node, known)


def ours(source: str, known: set[str] | None = None) -> list[str]:
    names = imports(ast.parse(source), set(MODULES) if known is None else known)
    return [name for name in names if name.split(".")[0] == "bayes_dp"]


def test_every_module_has_a_layer():
    assert set(MODULES) == set(HEIGHT)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_lies_below(module: str):
    wrong = [name for name in ours(MODULES[module].read_text()) if HEIGHT.get(name, len(LAYERS)) >= HEIGHT[module]]
    assert not wrong, f"{module} imports {', '.join(wrong)}"


@pytest.mark.parametrize("module", MODULES)
def test_the_package_needs_neither_models_nor_tests(module: str):
    tops = {name.split(".")[0] for name in imports(ast.parse(MODULES[module].read_text()), set(MODULES))}
    assert not tops & {"models", "tests", "notebooks"}


def test_imports_are_found_wherever_they_hide():
    source = """
import os, bayes_dp.cli
from bayes_dp import region, __version__
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from bayes_dp.result import Posterior
else:
    import bayes_dp.files
def f():
    with open("x"):
        from bayes_dp.bayes.exact import exact
class A:
    async def g(self):
        import bayes_dp.plots as p
"""
    assert ours(source, {"bayes_dp", "bayes_dp.region", "bayes_dp.bayes.exact"}) == [
        "bayes_dp.cli",
        "bayes_dp.region",
        "bayes_dp",
        "bayes_dp.files",
        "bayes_dp.bayes.exact",
        "bayes_dp.plots",
    ]
