"""The findings as pictures, and what they show in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bayes_dp import plots
from bayes_dp.audits.judged import Judged
from bayes_dp.bayes.levels.shifted import ShiftedPosterior
from bayes_dp.checks import InputError
from bayes_dp.comparison.table import ComparisonRow
from bayes_dp.games.played import Played
from bayes_dp.reporting.document import Figure
from bayes_dp.reporting.findings import Findings
from bayes_dp.reporting.svg import svg_of, unstyled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figures"]

_WIDTH = 5.2  # inches
_POINTS = 1000  # draws of a chain that are drawn


def figures(found: Findings) -> dict[str, Figure]:
    """By name; `trace` and `rank` only where the posterior is by sampling."""
    return {figure.name: figure for figure in _figures(found)}


def _figures(found: Findings) -> Iterator[Figure]:
    post, prob = found.posterior, found.prob
    low, high = found.interval
    share = f"{100 * prob:g}%"
    yield _figure(
        "density",
        "What the counts have taught about ε. The dashed line is the prior, what was believed of ε before; the solid"
        f" one the posterior. The bars below are the {share} intervals, with dots at the medians.",
        f"The posterior density of ε at δ = {found.delta:g}, with its median at {post.median:.3g} and {share} of it"
        f" between {low:.3g} and {high:.3g}, beside the density of its prior.",
        lambda ax: _density(post, ax, prob),
        3.3,
    )
    if found.shifted is not None and "e" in found.shifted.leaks:
        yield _leak(found.shifted, prob)
    yield _figure(
        "rates",
        "The attacks. A dot is a challenge base: how often the attack took a non-member for a member, and a member for"
        f" a non-member, each with an exact {share} confidence interval. Guessing at random is on the dotted line. The"
        " further below it, the more is given away: no true rates may be below the boundary, which is shaded, the"
        " darker the more probable.",
        f"The observed false positive and false negative rates of {_bases(found)}, and below them the boundary that ε"
        f" sets, at ε = {post.median:.3g} in the middle of its posterior.",
        lambda ax: plots.roc_plane(found.counts, ax, post=post, prob=prob),
        5.6,
    )
    if found.judged is not None:
        yield from _of_scores(found.judged, prob)
    if isinstance(game := found.given, Played):
        yield _of_game(game)
    rows = [row for row in found.comparison.rows if row.kind != "refused"]
    if rows:
        yield _figure(
            "forest",
            "What each method says of ε. Only the upper ends of posteriors speak of ε from above. What is hollow, grey"
            " or broken does not hold as it stands.",
            "A line for each method: "
            + "; ".join(f"{_name(row)}, {row.kind.replace('_', ' ')}, {_ends(row.lower, row.upper)}" for row in rows)
            + ". The same numbers are in the table of the methods.",
            lambda ax: plots.forest(found.comparison, ax),
            1.6 + 0.24 * len(rows),
        )
    if post.samples:
        chains = post.samples["epsilon"]
        count, step = len(chains), -(-chains.shape[1] // _POINTS)
        yield _figure(
            "trace",
            f"{'The draws' if step == 1 else f'Every draw in {step}'} of ε in their order, a line for each chain. They"
            " should look like noise around one level.",
            f"The draws of ε by {count} chains in their order.",
            lambda ax: plots.trace(chains[:, ::step], ax, "epsilon"),
            2.6,
        )
        yield _figure(
            "rank",
            "The ranks of each chain's draws of ε among those of all. The lines should follow each other and be flat.",
            f"Histograms of the ranks of the draws of ε, one for each of {count} chains.",
            lambda ax: plots.rank(post, ax),
            2.8,
        )


def _of_scores(judged: Judged, prob: float) -> Iterator[Figure]:
    """The ROC curve of all scores, and their distribution."""
    table, share = judged.table, f"{100 * prob:g}%"
    curve = table.roc(prob)
    found = ", ".join(f"{100 * curve.tpr_at(fpr).value:.3g}% at {100 * fpr:g}%" for fpr in (0.001, 0.01, 0.1))
    yield _figure(
        "roc",
        "The share of the members that the attack finds, by the share of the non-members that it accuses. The band is"
        f" the exact {share} interval at each threshold by itself, and the dotted line is guessing.",
        f"The ROC curve with logarithmic axes: of the members the attack finds {found} of the non-members accused.",
        lambda ax: plots.roc(table, ax, prob),
        4.2,
    )
    yield _figure(
        "score_distribution",
        "How the scores of members and of non-members are distributed. The further apart, the more is given away.",
        f"Histograms of the scores of {curve.positives} members and of {curve.negatives} non-members.",
        lambda ax: plots.scores(table, ax),
        2.8,
    )


def _of_game(game: Played) -> Figure:
    baseline = ", and of the baseline that does not" if game.generated else ""
    return _figure(
        "precision",
        "How many of those that are taken for members are, against how many of the members are found; each band is a"
        " 95% interval by itself.",
        f"Precision against recall of the attack that sees the model{baseline}.",
        lambda ax: plots.precision(game, ax),
        4.2,
    )


def _leak(post: ShiftedPosterior, prob: float) -> Figure:
    """The density of e, what one group of guesses got out, and the bound on the same guesses."""
    low, high = post.interval(prob, parameter="e")
    bound = post.zero_run(prob)
    lines = [] if bound is None or math.isinf(bound.value) else [float(f"{bound.value:.3g}")]
    beside = "".join(f" The line is the zero-run bound on the same guesses, {value:g}." for value in lines)
    share = f"{100 * prob:g}%"
    return _figure(
        "leak",
        f"What this attack got out of the model, e, with the shift taken off, and its {share} interval.{beside}",
        f"The posterior density of e, with {share} of it between {low:.3g} and {high:.3g}.{beside}",
        lambda ax: plots.posterior(post, ax, "e", prob, thresholds=lines),
        3.3,
    )


def _figure(name: str, caption: str, description: str, draw: Callable[[Axes], Any], height: float) -> Figure:
    def svg() -> str:
        from matplotlib.figure import Figure as Canvas

        with unstyled():
            canvas = Canvas(figsize=(_WIDTH, height), layout="constrained")
            draw(canvas.subplots())
            return svg_of(canvas, name, description)

    return Figure(name, caption, description, svg)


def _density(post: Any, ax: Axes, prob: float) -> None:
    """Prior and posterior; the posterior alone where the prior cannot be read back from its description."""
    try:
        plots.prior_posterior(post, ax, prob=prob)
    except InputError:
        plots.posterior(post, ax, prob=prob)


def _bases(found: Findings) -> str:
    return "1 challenge base" if len(found.counts) == 1 else f"{len(found.counts)} challenge bases"


def _name(row: ComparisonRow) -> str:
    return row.method if row.parameter == "epsilon" else f"{row.method} ({row.parameter})"


def _ends(low: float | None, high: float | None) -> str:
    first = "infinity" if low is None else f"{low:.3g}"
    return f"at least {first}" if high is None else f"{first} to {high:.3g}"
