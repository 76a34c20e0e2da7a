"""The report as one section of a model card, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from bayes_dp import __version__
from bayes_dp.reporting.document import Items, Paragraph, Piece, ReportTable, Section, shown
from bayes_dp.reporting.findings import Findings

__all__ = ["model_card"]


def model_card(found: Findings) -> Section:
    """What was attacked, what was found, and what speaks against it."""
    return Section("privacy", "Privacy of the training data", tuple(_pieces(found)))


def _pieces(found: Findings) -> Iterator[Piece]:
    yield Paragraph(
        "Membership inference attacks were made on this training. The smaller ε of (ε, δ)-differential privacy, the"
        " less the model gives away about any one example of its training data. What follows is measured, and"
        " guarantees nothing."
    )
    yield ReportTable("privacy", "What was found.", ("", "result"), tuple(_rows(found)))
    cautions = (*found.cautions, found.posterior.high_end(found.prob))
    yield Paragraph("Known limits:")
    yield Items(tuple(map(shown, cautions)))
    yield Paragraph(f"It rests on {len(found.posterior.assumptions)} assumptions:")
    yield Items(tuple(map(shown, found.posterior.assumptions)))


def _rows(found: Findings) -> Iterator[tuple[str, str]]:
    low, high = found.interval
    counts, bound = found.counts, found.quoted
    challenges = int(counts.negatives.sum()), int(counts.positives.sum())
    bases = "1 base" if len(counts) == 1 else f"{len(counts)} bases"
    yield (
        "attacks",
        f'{bases}, {challenges[0]} non-members and {challenges[1]} members, design "{counts.design}"',
    )
    yield f"ε at δ = {found.delta:g}", f"{low:.3g} to {high:.3g} with {100 * found.prob:g}% posterior probability"
    if found.shifted is not None:
        ends = found.shifted.interval(found.prob)
        yield "ε by the guesses, shift taken off", f"{ends[0]:.3g} to {ends[1]:.3g}"
    yield (
        "lower bound without a model of the attacks",
        "none is valid"
        if bound is None or bound.lower is None
        else f"at least {bound.lower:.3g} with confidence {100 * (bound.level or 0):g}% ({bound.method})",
    )
    if (tested := found.comparison.claim) is not None:
        yield "claim", shown(tested.answer)
    if found.verdict is not None:
        yield f"limit {found.verdict.epsilon:g}", f"{found.verdict.verdict}: {shown(found.verdict.reason)}"
    yield "made with", f"bayes-dp {__version__}, data {counts.digest()[:16]}, seed {found.seed}"
