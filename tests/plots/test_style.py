"""All figures: new ones are a column wide, nothing is cut off or overlaps, and imports stay lazy."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.attacks import measure_fast
from bayes_dp.checks import InputError
from tests.plots.test_generated import games
from tests.plots.test_memory_of_labels import bounds
from tests.plots.test_of_slack import curve
from tests.plots.test_planned import made

RNG = np.random.default_rng(0)
COUNTS = bdp.datasets.strong_attacks()
LOSSES = bdp.LossTable(RNG.gamma(1, 1, (4, 30)), RNG.gamma(0.5, 0.5, (4, 30)))
CHANCE = RNG.beta(2, 2, 300)
LEAKAGE = bdp.leakage.scores(np.random.default_rng(1).normal(size=(300, 2)))
SCORES = bdp.GuessTable(RNG.normal(size=300) + (CHANCE > 0.5), CHANCE > 0.5)

# name -> a call with the fixtures `exact` and `sampled`, and what else is given
CALLS = {
    "posterior": lambda exact, sampled, ax: plots.posterior(exact, ax, thresholds=[1, 2]),
    "prior_posterior": lambda exact, sampled, ax: plots.prior_posterior(exact, ax),
    "joint": lambda exact, sampled, ax: plots.joint(exact, ax, size=2000),
    "roc_plane": lambda exact, sampled, ax: plots.roc_plane(
        COUNTS, ax, post=exact, epsilon=3.0, delta=0.01, strength=0.6
    ),
    "tradeoff": lambda exact, sampled, ax: plots.tradeoff(exact, ax, others={"Gaussian": bdp.tradeoff.Gaussian(1.0)}),
    "epsilon_delta": lambda exact, sampled, ax: plots.epsilon_delta(
        bdp.audits.clopper_pearson(COUNTS, 1e-3, confidence=0.9), ax
    ),
    "forest": lambda exact, sampled, ax: plots.forest(bdp.compare(COUNTS[:2], 1e-3, names=_BOUNDS), ax, truth=1.0),
    "families": lambda exact, sampled, ax: plots.families(bdp.compare_families(COUNTS[:2], 1e-3), ax),
    "records": lambda exact, sampled, ax: plots.records(
        bdp.records(bdp.estimate(COUNTS, 1e-3, family="pure"), 2.5), ax
    ),
    "levels": lambda exact, sampled, ax: plots.levels(bdp.estimate(COUNTS, family="gaussian"), ax),
    "predictive": lambda exact, sampled, ax: plots.predictive(exact, ax),
    "error_curves": lambda exact, sampled, ax: plots.error_curves(measure_fast(LOSSES, np.arange(1, 50) / 50), ax),
    "trace": lambda exact, sampled, ax: plots.trace(sampled, ax),
    "rank": lambda exact, sampled, ax: plots.rank(sampled, ax),
    "autocorrelation": lambda exact, sampled, ax: plots.autocorrelation(sampled, ax),
    "ess": lambda exact, sampled, ax: plots.ess(sampled, ax),
    "sbc_ranks": lambda exact, sampled, ax: plots.sbc_ranks(RNG.random(300), ax),
    "propensities": lambda exact, sampled, ax: plots.propensities(CHANCE, RNG.random(300) < CHANCE, ax, overlap=0.1),
    "leakage": lambda exact, sampled, ax: plots.leakage(LEAKAGE, ax),
    "at_risk": lambda exact, sampled, ax: plots.at_risk(LEAKAGE, ax),
    "running": lambda exact, sampled, ax: plots.running(audit(), ax, posteriors={40: exact, 50: exact}),
    "bases": lambda exact, sampled, ax: plots.bases(COUNTS, bdp.audits.combine(COUNTS, 1e-3), ax),
    "roc": lambda exact, sampled, ax: plots.roc(SCORES, ax),
    "scores": lambda exact, sampled, ax: plots.scores(SCORES, ax),
    "remembered": lambda exact, sampled, ax: plots.remembered(bounds(), ax),
    "sensitivity": lambda exact, sampled, ax: plots.sensitivity(curve(0.6), ax),
    "precision": lambda exact, sampled, ax: plots.precision(games(), ax),
    "closeness": lambda exact, sampled, ax: plots.closeness(games(), ax),
    "widths": lambda exact, sampled, ax: plots.widths(made(1.8), ax),
}


def audit():
    return bdp.audits.sequential(1e-3, claim=1.0).update([0] * 60, [0] * 60)


_BOUNDS = ("clopper-pearson", "jeffreys", "katz", "accuracy")


def test_every_figure_is_here():
    assert set(CALLS) == set(plots.__all__)


def boxes(texts, renderer):
    return {t.get_text(): t.get_window_extent(renderer) for t in texts if t.get_visible() and t.get_text().strip()}


def tick_labels(axis, which):
    """Those of the ticks that are in view."""
    low, high = sorted(axis.get_view_interval())
    return [text for text in axis.get_ticklabels(which="both") if low <= text.get_position()[which] <= high]


@pytest.mark.parametrize("name", CALLS)
def test_a_new_figure_is_a_column_wide_and_nothing_is_cut_off_or_overlaps(name, exact, sampled):
    first = np.ravel(CALLS[name](exact, sampled, None))[0]
    figure = first.figure
    try:
        assert figure.get_size_inches()[0] == pytest.approx(3.4)
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        width, height = figure.bbox.size
        for ax in figure.axes:
            ticks = [boxes(tick_labels(axis, i), renderer) for i, axis in enumerate((ax.xaxis, ax.yaxis))]
            legend = boxes(ax.get_legend().get_texts(), renderer) if ax.get_legend() else {}
            titles = boxes([ax.title, ax.xaxis.label, ax.yaxis.label], renderer)
            everything = {**ticks[0], **ticks[1], **legend, **titles}
            for text, box in everything.items():
                assert box.x0 >= 0, text
                assert box.y0 >= 0, text
                assert box.x1 <= width, text
                assert box.y1 <= height, text
            groups = [*ticks, legend, titles]
            for group in groups:
                for (text, box), (other, there) in combinations(group.items(), 2):
                    assert not box.overlaps(there), (text, other)
            for group, others in combinations(groups, 2):
                for text, box in group.items():
                    assert not any(box.overlaps(there) for there in others.values()), text
            for text in ax.texts + ax.get_xticklabels() + [ax.xaxis.label, *(ax.get_legend() or ax).texts]:
                assert text.get_fontsize() >= 6.5
    finally:
        plt.close(figure)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_given_is_returned(name, exact, sampled):
    figure = Figure(figsize=(6, 4), layout="constrained")
    given = figure.subplots(1, 2) if name in ("error_curves", "running") else figure.subplots()
    found = CALLS[name](exact, sampled, given)
    assert list(np.ravel(found)) == list(np.ravel(given))
    FigureCanvasAgg(figure).draw()


@pytest.mark.parametrize("name", CALLS)
def test_axes_are_checked(name, exact, sampled):
    with pytest.raises(InputError, match=r"must be Matplotlib Axes, not int|must be 2 Matplotlib Axes, not 1"):
        CALLS[name](exact, sampled, 3)


def test_imports_are_lazy():
    code = "import sys, bayes_dp.plots; print({'matplotlib', 'arviz', 'joblib', 'jax', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
