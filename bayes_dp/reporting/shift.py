"""What a report says of guesses on one model whose propensities are known: the posterior with the shift taken off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from bayes_dp.bayes.levels.shifted import ShiftedPosterior
from bayes_dp.plots.style import label
from bayes_dp.reporting.document import Figure, Items, Paragraph, Piece, ReportTable, shown
from bayes_dp.reporting.findings import Findings
from bayes_dp.support.arrays import Bools

__all__ = ["shift_in_short", "under_shift"]

_NAMED = 3  # groups whose e is in the first sentence


def shift_in_short(found: Findings, post: ShiftedPosterior) -> Iterator[Piece]:
    """The main thing: e, beside ε and the bound on the same guesses."""
    low, high = (f"{end:.3g}" for end in post.interval(found.prob))
    share, doubts = f"{100 * found.prob:g}%", _doubts(post)
    first = (
        "Under propensities that should not be taken as they stand (see the warning)" if doubts else "By these guesses"
    )
    taken_off = "" if found.alike else ", with what the features tell taken off,"
    yield Paragraph(
        f"{first}, what this attack got out of the model{taken_off} is"
        f" {_leaks(found, post)} with {share} probability, at δ = {found.delta:g}. What any attack might get out, ε, is"
        f" believed to be between {low} and {high}. {_bound(found, post)}",
        "lead",
    )
    for sentence in doubts:
        yield Paragraph(shown(sentence), "warning")


def under_shift(found: Findings, post: ShiftedPosterior, figures: Mapping[str, Figure]) -> Iterator[Piece]:
    right = post.question.right
    if found.alike:
        yield Paragraph(
            f"By fair coins a guess is right in half of all cases, if nothing leaked. {len(right)} guesses were made,"
            f" and {right.sum()} are right. e is what was got out of the model by them: at e = 0 nothing leaked, and a"
            " guess is right with the chance e^e/(1 + e^e). ε is what any attack might get out. Unlike the posterior of"
            " the error counts, this one knows that the guesses were made on one model, by which all got the same e."
        )
    else:
        yield from _of_features(right)
    yield from _table(found, post, figures)


def _of_features(right: Bools) -> Iterator[Piece]:
    yield Paragraph(
        "Members and non-members differ in their features, so that a guess may be right though nothing leaked. For each"
        " example it is known how likely it is to be a member by its features alone, its propensity. A guess counts"
        " here by how much surer it was than that."
    )
    yield Paragraph(
        f"The scores and the propensities made {len(right)} guesses, as many as the counts hold, of which"
        f" {right.sum()} are right. e is what was got out of the model by them: at e = 0 nothing leaked, and a guess of"
        " an example with propensity 1/2 is right with the chance e^e/(1 + e^e). ε is what any attack might get out."
    )


def _table(found: Findings, post: ShiftedPosterior, figures: Mapping[str, Figure]) -> Iterator[Piece]:
    if "leak" in figures:
        yield figures["leak"]
    share = f"{100 * found.prob:g}%"
    rows = []
    for row in post.table(found.prob):
        numbers = (row["median"], row["mean"], row["sd"])
        cells = [f"{value:.3g}" if math.isfinite(value) else "not known" for value in numbers]
        rows.append((shown(label(row["parameter"], short=False)), *cells, f"{row['low']:.3g} to {row['high']:.3g}"))
    yield ReportTable(
        "shifted",
        f"The posterior of the guesses at δ = {found.delta:g}.",
        ("parameter", "median", "mean", "standard deviation", f"{share} interval"),
        tuple(rows),
    )
    first = next(iter(post.leaks))
    notes = (*post.notes(first, found.prob), *post.notes("epsilon", found.prob), *post.warnings)
    yield Paragraph("To be known of it:")
    yield Items(tuple(map(shown, dict.fromkeys(notes))))
    yield Paragraph("It is conditional on these sentences:")
    yield Items(tuple(map(shown, post.assumptions)))


def _doubts(post: ShiftedPosterior) -> tuple[str, ...]:
    return tuple(filter(None, (post.caution, *post.unreliable, *post.untrusted)))


def _leaks(found: Findings, post: ShiftedPosterior) -> str:
    """e of every group, in words."""
    ends = {name: post.interval(found.prob, parameter=name) for name in post.leaks}
    if list(ends) == ["e"]:
        return "e between {:.3g} and {:.3g}".format(*ends["e"])
    told = [f"{shown(name)} between {low:.3g} and {high:.3g}" for name, (low, high) in list(ends.items())[:_NAMED]]
    more = f" and so on for {len(ends) - _NAMED} more groups, each" if len(ends) > _NAMED else ", each"
    return f"{', '.join(told)}{more}"


def _bound(found: Findings, post: ShiftedPosterior) -> str:
    bound = post.zero_run(found.prob)
    if bound is None:
        return "There is no zero-run bound on the same guesses."
    but = ", which is NOT VALID" if bound.invalid else ""
    return (
        f"Zero-run bounds ε on the same guesses by {bound.value:.3g} from below, with confidence"
        f" {100 * bound.confidence:g}%{but}."
    )
