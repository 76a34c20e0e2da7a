"""The first sections of a report: in short, the question, the data, the posterior."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal

from bayes_dp.bayes.levels.beside import BesideGaussian
from bayes_dp.claims.result import ClaimTest
from bayes_dp.comparison.verdict import Verdict
from bayes_dp.data.counts import ONE_MODEL
from bayes_dp.plots.style import label
from bayes_dp.reporting.document import Figure, Items, Paragraph, Piece, ReportTable, Section, shown
from bayes_dp.reporting.findings import Findings
from bayes_dp.reporting.generated import game_in_short, of_game
from bayes_dp.reporting.scored import about_scores, scores_in_short
from bayes_dp.reporting.shift import shift_in_short, under_shift
from bayes_dp.results.meaning import FPRS, attained
from bayes_dp.tradeoff import ApproxDP, approx_dp

__all__ = ["GUESSED", "answer"]

_MOST = 60  # bases that are listed
GUESSED = 0.1  # the chance to guess an example without the training, for reconstruction
_DESIGNS = {
    "repeated": "They are stated to be of repeated runs: each attack was on a model of its own, and the runs of a base"
    " are independent of each other.",
    "cross_fed": "They are stated to be of cross-fed runs: the models of a base also taught the attacks on each other,"
    " so that their errors are correlated.",
    "one_run": "They are stated to be of one run: all examples were judged on one and the same model.",
    "observational": "They are stated to be of a game after the training, which nobody changed. All examples were"
    " judged on one and the same model. Those that are called members were shown with what the training had, the others"
    " with a draw in its place.",
}


def answer(found: Findings, figures: Mapping[str, Figure], source: str | None) -> Iterator[Section]:
    """In the order in which they are read."""
    yield Section("short", "In short", tuple(_in_short(found)))
    yield Section("question", "The question", tuple(_question(found)))
    if found.game is not None:
        heading = "Generated non-members" if found.game.kind == "estimate" else "Real non-members"
        yield Section("game", heading, tuple(of_game(found.game, figures)))
    if found.judged is not None:
        yield Section("scores", "The scores", tuple(about_scores(found, found.judged, figures)))
    yield Section("data", "The data", tuple(_data(found, figures, source)))
    if found.shifted is not None:
        heading = "What the attack got out" if found.alike else "The guesses, with the shift taken off"
        yield Section("shift", heading, tuple(under_shift(found, found.shifted, figures)))
    if (tested := found.comparison.claim) is not None:
        yield Section("claim", "The claim", tuple(_claim(tested)))
    yield Section("posterior", "The posterior of ε", tuple(_posterior(found, figures)))


def _in_short(found: Findings) -> Iterator[Piece]:
    low, high = (f"{end:.3g}" for end in found.interval)
    share = f"{100 * found.prob:g}%"
    ends = found.posterior.gaussian(found.prob)
    beside = "; were the noise Gaussian, " + (
        "no finite ε would hold" if math.isinf(ends[1]) else f"between {ends[0]:.3g} and {ends[1]:.3g}"
    )
    if found.claim is not None and (tested := found.comparison.claim) is not None:
        yield Paragraph(shown(f"{tested.answer} {found.claim.answer}"), "lead")
    if found.game is not None:
        yield from game_in_short(found.game)
    if found.shifted is not None:
        yield from shift_in_short(found, found.shifted)
        alike = "" if found.alike else ", which take members and non-members for alike"
        yield Paragraph(f"What follows is of the error counts alone{alike}:")
    tone: Literal["plain", "lead"] = "lead" if found.shifted is None and found.claim is None else "plain"
    if found.cautions:
        yield Paragraph(
            f"Under a model that should not be taken as it stands (see the warnings), ε is between {low} and {high}"
            f" with {share} probability, at δ = {found.delta:g}{beside}.{_told(found)}",
            tone,
        )
    else:
        yield Paragraph(
            f"With {share} probability, ε is between {low} and {high}, at δ = {found.delta:g}{beside}.{_told(found)}",
            tone,
        )
    if found.verdict is not None:
        yield from _verdict(found.verdict)
    for sentence in (*found.cautions, _why_two(found)):
        yield Paragraph(shown(sentence), "warning")
    if found.cautions and found.check is not None:
        yield Paragraph("The section on whether the model fits the counts says what may be done about it.")
    yield Items(tuple(_main_points(found)))


def _why_two(found: Findings) -> str:
    """What the headline's two intervals presume, without telling again what it says."""
    post = found.posterior
    if isinstance(post, BesideGaussian):
        return post.why_two_intervals(found.prob)
    return post.high_end(found.prob)


def _told(found: Findings) -> str:
    """Which of the two families the counts favour, or that they do not tell."""
    return f" {shown(found.posterior.told)}" if isinstance(found.posterior, BesideGaussian) else ""


def _verdict(verdict: Verdict) -> Iterator[Piece]:
    answers = {"passed": "it passed", "failed": "it FAILED", "inconclusive": "INCONCLUSIVE"}
    yield Paragraph(
        f"Asked whether ε is at most {verdict.epsilon:g}: {answers[verdict.verdict]}. {shown(verdict.reason)}",
        "plain" if verdict.passed else "warning",
    )
    if verdict.notes:
        yield Items(tuple(map(shown, verdict.notes)))


def _claim(tested: ClaimTest) -> Iterator[Piece]:
    yield Paragraph(shown(tested.answer))
    if tested.noise_multiplier is not None:
        yield Paragraph(shown(tested.noise))
    yield ReportTable(
        "claim",
        "What each method says of the claim. The first one decides; to take the best of them would be choosing after"
        " looking.",
        ("method", "kind", "value", "refutes", "note"),
        tuple((row.method, row.kind, row.text, row.word, shown(row.reason)) for row in tested.rows),
    )
    yield Items(tuple(map(shown, tested.assumptions)))


def _main_points(found: Findings) -> Iterator[str]:
    low, high = found.interval
    yield (
        "This is a posterior: what the counts, a model of the attacks and the beliefs held before say together. It is"
        " neither a guarantee nor a proof, and it is only as good as what it rests on, which is listed below."
    )
    yield f"Values of ε above and below {found.posterior.median:.3g} are equally probable, by the first interval."
    yield (
        f"An ε of {high:.3g} would mean: whoever is free to falsely accuse 1% of the non-members finds at most"
        f" {_percent(_most_found(found, high, 0.01))} of the members; with an ε of {low:.3g}, at most"
        f" {_percent(_most_found(found, low, 0.01))}."
    )
    yield _without_the_model(found)
    if found.judged is not None:
        yield scores_in_short(found.judged, found.prob)
    lows = [v.low for v in found.variations if v.low is not None]
    highs = [v.high for v in found.variations if v.high is not None]
    if lows and highs:
        yield (
            "Under the other priors and strengths that were tried, the lower end of the interval was from"
            f" {min(lows):.3g} to {max(lows):.3g} and the upper end from {min(highs):.3g} to {max(highs):.3g}."
        )


def _without_the_model(found: Findings) -> str:
    """What the lower bound for the design says, and what only the model adds."""
    row, (low, high) = found.quoted, found.interval
    if row is None:
        return (
            "No lower bound in this report is valid for the way these counts arose, so that no value of ε is ruled out"
            f" without the model. That an ε below {low:.3g} is improbable is said by the posterior alone, and only if"
            " its assumptions hold."
        )
    needs = (
        "the runs are independent and the attack was fixed before they were counted"
        if found.counts.design == "repeated"
        else f"each example was a member by its own {'fair coin' if found.alike else 'propensity'}, and attack"
        " and number of guesses were fixed before"
    )
    if row.lower == 0:
        return (
            f"The lower bound that needs no model of the attacks ({row.method}, confidence {_percent(row.level or 0)})"
            f" is 0: by themselves the counts rule out no ε at all. That an ε below {low:.3g} is improbable holds only"
            " under the assumptions of the posterior."
        )
    bound = math.inf if row.lower is None else row.lower
    text = (
        f"The counts rule out an ε below {bound:.3g} with confidence {_percent(row.level or 0)} ({row.method}) without"
        f" a model of the attacks, only if {needs}."
    )
    if bound < low:
        text += (
            f" That an ε between {bound:.3g} and {low:.3g} is improbable holds only under the assumptions of the"
            " posterior."
        )
    elif bound > high:
        text += (
            f" All of the interval from {low:.3g} to {high:.3g} is below that bound. The two contradict each other, and"
            " the model of the posterior, which assumes more, is the first to be doubted."
        )
    return text


def _question(found: Findings) -> Iterator[Piece]:
    yield Paragraph(
        "How much does a trained model give away about any one example of its training data? The measure is ε of"
        " (ε, δ)-differential privacy: the smaller ε, the less."
    )
    yield Paragraph(
        "It is defined by the best possible attack. An attacker looks at the model and says of an example whether it"
        " was in the training data. Then the share of the members that are found is at most e^ε times the share of the"
        f" non-members that are falsely accused, plus δ. Here δ is given, {found.delta:g}, and ε is asked for. The"
        " factor e^ε is 1 at ε = 0, where no attack beats guessing by more than δ. It is 2.7 at ε = 1, 20 at ε = 3 and"
        " 148 at ε = 5."
    )
    yield Paragraph(
        "Only the outcomes of some attacks are known, though, and these need not have been the best ones. So ε is"
        " inferred from them, with the uncertainty that remains."
    )


def _data(found: Findings, figures: Mapping[str, Figure], source: str | None) -> Iterator[Piece]:
    counts = found.counts
    n, absent, present = len(counts), int(counts.negatives.sum()), int(counts.positives.sum())
    wrong, missed = int(counts.false_positives.sum()), int(counts.false_negatives.sum())
    what = "The error counts" if found.judged is None else "The guesses by the scores"
    origin = {None: what, "-": f"{what} from standard input"}.get(source, f"{what} in {shown(source or '')}")
    false = f"({_percent(wrong / absent)}, false positives)", f"({_percent(missed / present)}, false negatives)"
    if counts.design in ONE_MODEL:
        said = (
            f"Of {absent} guesses on non-members, {wrong} said member {false[0]}. Of {present} guesses on members,"
            f" {missed} said non-member {false[1]}. There were {counts.examples} examples, guessed or not."
        )
        unit = "Here a base is a group of the examples."
    else:
        said = (
            f"Of {absent} runs without the example in question, {wrong} were wrongly taken for runs with it {false[0]}."
            f" Of {present} runs with it, {missed} were taken for runs without it {false[1]}."
        )
        unit = "A challenge base is a data set, and an example that is in it or not. On each there is one attack."
    yield Paragraph(
        f"{origin} are of attacks on {n} challenge base{'s' * (n > 1)}. {unit} {said} {_DESIGNS[counts.design]}"
    )
    yield figures["rates"]
    yield _bases(found)


def _bases(found: Findings) -> ReportTable:
    counts = found.counts
    names = counts.base or tuple(map(str, range(len(counts))))
    rows = []
    for i, name in enumerate(names[:_MOST]):
        label = name if counts.group is None else f"{name} ({counts.group[i]})"
        errors = f"{counts.false_positives[i]} of {counts.negatives[i]}"
        misses = f"{counts.false_negatives[i]} of {counts.positives[i]}"
        rows.append((shown(label), errors, misses))
    rest = f" The first {_MOST} of {len(names)} are here; the JSON form of this report has all." * (len(names) > _MOST)
    return ReportTable(
        "bases",
        "The attack on each base: how many non-members it took for members, and how many members for non-members."
        + rest,
        ("base", "false positives", "false negatives"),
        tuple(rows),
    )


def _posterior(found: Findings, figures: Mapping[str, Figure]) -> Iterator[Piece]:
    post, share = found.posterior, f"{100 * found.prob:g}%"
    low, high = found.interval
    tail = _percent((1 - found.prob) / 2)
    yield Paragraph(
        f"Given the counts, the model and the priors, ε is between {low:.3g} and {high:.3g} with {share} probability."
        f" It is below {low:.3g} with {tail} probability and above {high:.3g} with {tail}. These are statements of"
        " belief about this training procedure, and not about how often such intervals hold. The model is the family of"
        f" (ε, δ), beside which the table has the Gaussian one, if that has a finite ε at this δ.{_told(found)}"
    )
    yield figures["density"]
    rows = []
    for row in post.shown(found.prob):
        numbers = (row["median"], row["mean"], row["sd"])
        cells = [f"{value:.3g}" if math.isfinite(value) else "not known" for value in numbers]
        intervals = (f"{row[a]:.3g} to {row[b]:.3g}" for a, b in (("low", "high"), ("hdi_low", "hdi_high")))
        name, comma, condition = row["parameter"].partition(",")
        rows.append((shown(label(name, short=False) + comma + condition), *cells, *intervals))
    yield ReportTable(
        "parameters",
        f"The posterior at δ = {found.delta:g}. The first interval leaves equal probability on both sides, the other is"
        " the shortest.",
        ("parameter", "median", "mean", "standard deviation", f"{share} interval", f"shortest {share} interval"),
        tuple(rows),
    )
    if "strength" in post.marginals:
        yield Paragraph(
            "The strength s says how near the attacks come to the best possible one: at 0 worthless ones may be among"
            " them, at 1 each is the best. It is estimated along with ε, as the same counts may come from good attacks"
            " on a training that gives little away, or from bad attacks on one that gives away more."
        )
    yield _meaning(found, {"lower end": low, "median": post.median, "upper end": high})


def _meaning(found: Findings, ends: dict[str, float]) -> ReportTable:
    """What the ends of the interval, the quoted lower bound and the claim let an attacker do."""
    if found.quoted is not None and found.quoted.lower is not None:
        ends = ends | {f"the bound by {found.quoted.method}": found.quoted.lower}
    if found.stated is not None and math.isfinite(claimed := found.stated.epsilon_at(found.delta)):
        ends = ends | {"the claim": claimed}
    rows = []
    for what, value in ends.items():
        rows.append((f"{what}, {value:.3g}", *attained(ApproxDP(value, found.delta), GUESSED).cells))
    return ReportTable(
        "meaning",
        f"What such values of ε mean, at δ = {found.delta:g}: the largest share of the members that any attack can"
        " find, by the share of the non-members that it may falsely accuse; the advantage, by how much the first may"
        " exceed the second; the smallest share of wrong decisions on as many members as non-members; and the largest"
        f" chance to reconstruct an example that is guessed with a chance of {100 * GUESSED:g}% without the training.",
        (
            "value of ε",
            *(f"{100 * rate:g}% accused" for rate in FPRS),
            "advantage",
            "wrong decisions",
            "reconstruction",
        ),
        tuple(rows),
    )


def _most_found(found: Findings, epsilon: float, rate: float) -> float:
    """The largest true positive rate at a false positive rate."""
    return 1 - float(approx_dp(rate, epsilon, found.delta))


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
