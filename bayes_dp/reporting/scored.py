"""What a report says of the scores of one model: how well they tell members, and how the guesses were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from bayes_dp.audits.judged import Judged
from bayes_dp.audits.memberships import LEVEL, Memberships, under_coins, under_propensities
from bayes_dp.data.roc import Rate
from bayes_dp.reporting.document import Figure, Items, Paragraph, Piece, ReportTable, shown
from bayes_dp.reporting.findings import Findings

__all__ = ["about_scores", "scores_in_short", "scores_to_dict"]

_FPRS = (0.001, 0.01, 0.1)


def scores_in_short(judged: Judged, prob: float) -> str:
    """How well the attack does, a sentence."""
    curve = judged.table.roc(prob)
    rates = " and ".join(f"{_percent(curve.tpr_at(fpr).value)} at {_percent(fpr)}" for fpr in _FPRS[:2])
    return (
        f"The attack's AUC is {_interval(curve.auc('delong'))}; of the members it finds {rates} of the non-members"
        f" accused, of {curve.positives} members and {curve.negatives} non-members."
    )


def about_scores(found: Findings, judged: Judged, figures: Mapping[str, Figure]) -> Iterator[Piece]:
    table, share = judged.table, f"{100 * found.prob:g}%"
    members = int(table.member.sum())
    others = len(table) - members
    if table.design == "observational":
        yield Paragraph(
            f"After the training a game was played with {len(table)} examples. Coins decided with which of them the"
            f" attack was shown what the training had: with {members}, which are called members here. With the other"
            f" {others} it was shown a draw in its place. It gave each a score, the higher the surer that this is what"
            " the training had."
        )
    else:
        yield Paragraph(
            f"An attack gave each of {len(table)} examples a score, the higher the surer that the example was in the"
            f" training data. {members} of them were, and {others} were not."
        )
    for sentence in table.cautions():
        yield Paragraph(shown(sentence), "warning")
    yield figures["roc"]
    curve = table.roc(found.prob)
    rows = [
        ("area under the ROC curve", _interval(curve.auc()), ""),
        ("the same, approximately (DeLong)", _interval(curve.auc("delong")), ""),
    ]
    for fpr in _FPRS:
        at = curve.tpr_at(fpr)
        rows.append(
            (
                f"members found where {_percent(fpr)} of the non-members are accused",
                _interval(at, 100),
                f"{_interval(at.fpr, 100)}"
                + (f"; 1 of {curve.negatives} is more" if fpr * curve.negatives < 1 else ""),
            )
        )
    yield ReportTable(
        "rates_of_scores",
        f"How well the scores tell members from non-members, with {share} intervals, exact but for one, of what the"
        " same model and attack would reach on further such examples. An AUC of 0.5 is guessing. The last column is the"
        " share of the non-members that is really accused by the threshold.",
        ("", f"value and {share} interval", "non-members accused"),
        tuple(rows),
    )
    yield figures["score_distribution"]
    yield from _balance(judged)
    yield from _choice(judged)


def scores_to_dict(judged: Judged, prob: float) -> dict[str, Any]:
    """The same in full precision, fit for JSON."""
    curve = judged.table.roc(prob)
    return {
        "examples": len(judged.table),
        "members": int(judged.table.member.sum()),
        "digest": judged.table.digest(),
        "auc": asdict(curve.auc()),
        "auc_delong": asdict(curve.auc("delong")),
        "tpr_at_fpr": {f"{fpr:g}": asdict(curve.tpr_at(fpr)) for fpr in _FPRS},
        "memberships": _memberships(judged).details,
        "guesses": {
            "rule": judged.guesses.rule,
            "made": int(judged.guesses.made[0]),
            "correct": int(judged.guesses.correct[0]),
            "of": judged.guesses.examples,
            "tried_on_the_pilot": [asdict(one) for one in judged.tried],
        },
    }


def _balance(judged: Judged) -> Iterator[Piece]:
    assumed = "a fair coin" if judged.fair else "its propensity"
    tested = _memberships(judged)
    yield Paragraph(
        "Were members chosen as the bounds assume? They hold only if each example was put into the training data by"
        f" {assumed}, whatever the others. The number of members can contradict that, and cannot confirm it."
    )
    if tested.invalid:
        yield Paragraph(shown(tested.invalid), "warning")
        if judged.table.design != "observational":
            yield Paragraph(
                "Without fair coins there is the zero-run audit, which needs for each example the chance to be a member"
                " given its features (its propensity). It can be learned from features."
            )
    else:
        yield Paragraph(
            f"It does not: members are as many as {assumed} may give (p = {tested.details['memberships_p_value']:.2g},"
            f" and {LEVEL:g} or less is rejected)."
        )


def _memberships(judged: Judged) -> Memberships:
    if judged.fair:
        return under_coins(judged.guesses)
    kept = judged.kept
    return under_propensities(kept.member, kept.needed_propensity(), len(kept))


def _choice(judged: Judged) -> Iterator[Piece]:
    guesses = judged.guesses
    made, right = int(guesses.made[0]), int(guesses.correct[0])
    least, most = int(guesses.lowest[0]), int(guesses.highest[0])
    outcome = (
        f"The {most} examples of the highest scores were called members and the {least} of the lowest non-members;"
        f" {right} of the {made} guesses are right. The others were left open."
    )
    if not judged.fair:
        outcome = f"{most} examples were called members and {least} non-members, the surest ones beside what the"
        outcome += f" features tell; {right} of the {made} guesses are right. The others were left open."
    if not judged.tried:
        yield Paragraph(f"How many guesses are made was decided before looking: {made}. {outcome}")
        return
    pilot = guesses.pilot
    yield Paragraph(
        "How many guesses are best is not known beforehand: few are surer, many show more. Whoever tries several"
        " numbers and keeps the best must pay for it. Here they were tried on a part of the examples drawn at random,"
        f" the pilot, and the best was taken for the other {guesses.examples}, which alone count from here on."
        f" {outcome}"
    )
    best = int(pilot.made[0]) if pilot is not None else 0
    rows = tuple(
        (f"{one.made}{' (taken)' if one.made == best else ''}", f"{one.correct}", f"{one.bound:.3g}")
        for one in judged.tried
    )
    yield ReportTable(
        "pilot",
        f"The numbers of guesses that were tried on the {0 if pilot is None else pilot.examples} examples of the pilot."
        " The bounds show nothing but which number was taken; of equal ones the number counts that is nearest to a"
        " bound above.",
        ("guesses on the pilot", "right", "lower bound on ε"),
        rows,
    )
    yield Items(
        (
            "The largest of these bounds holds nothing: it is the best of several.",
            "Neither scores nor memberships of the pilot are in any number from here on but the figures above.",
        )
    )


def _interval(rate: Rate, times: float = 1) -> str:
    value, low, high = (f"{times * number:.3g}" for number in (rate.value, rate.low, rate.high))
    return f"{value}% ({low}% to {high}%)" if times != 1 else f"{value} ({low} to {high})"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
