"""The other sections of a report: what supports the answer, what it rests on, how to repeat it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from bayes_dp.comparison.table import ComparisonRow
from bayes_dp.data.counts import ONE_MODEL
from bayes_dp.plots.style import label
from bayes_dp.reporting.document import Code, Figure, Items, Paragraph, Piece, ReportTable, Section, shown
from bayes_dp.reporting.findings import Findings
from bayes_dp.reporting.regulator import for_regulators

__all__ = ["evidence"]

_WORDS = (
    "Member: an example that was in the training data; non-member: one that was not.",
    "False positive: a non-member that an attack takes for a member; false negative: a member that it takes for a"
    " non-member. Their rates, α and β, are the shares of such errors.",
    "Challenge base: a data set, and an example that is in it or not. Each has its own attack, and its own true rates.",
    "Prior: what is believed of a number before the counts, as a distribution. Posterior: what is believed after them.",
    "Strength s: how near the attacks come to the best one possible, as a share; the least one counts. Layer R_s(ε,δ):"
    " the pairs of rates that (ε, δ) allows, without those that (sε, sδ) would allow too.",
    "Probability: of a statement given the counts, as the posterior has it. Confidence: the share of all audits in"
    " which a rule is right.",
)
_KINDS = {"posterior": "posterior", "lower_bound": "lower bound", "estimate": "estimate"}


def evidence(found: Findings, figures: Mapping[str, Figure], repeated: Mapping[str, Code]) -> Iterator[Section]:
    """In the order in which they are read; `repeated` are the codes that give the report again."""
    yield Section("sensitivity", "How much depends on priors and strength", tuple(_sensitivity(found)))
    yield Section("methods", "What other methods say", tuple(_methods(found, figures)))
    yield Section("check", "Does the model fit the counts?", tuple(_check(found)))
    yield Section("computation", "Was it computed well?", tuple(_computation(found, figures)))
    yield Section("assumptions", "What the answer rests on", tuple(_assumptions(found)))
    yield Section("conclusions", "What may be concluded, and what not", tuple(_conclusions(found)))
    yield Section("regulator", "What a supervisory authority asks", tuple(for_regulators(found)))
    yield Section("words", "What the words mean", (Items(_WORDS),))
    yield Section("repeat", "How to repeat it", tuple(_repeat(found, repeated)))


def _sensitivity(found: Findings) -> Iterator[Piece]:
    low, high = found.interval
    share = f"{100 * found.prob:g}%"
    yield Paragraph(
        "Nobody knows the right prior, nor how strong the attacks were. This is what the same counts say under other"
        " choices. Where the rows differ much, the counts alone do not decide, and the choice has to be argued for."
        " With few challenge bases the upper end mostly follows the priors."
    )
    rows = [("as in this report", "", f"{low:.3g} to {high:.3g}", f"{found.posterior.median:.3g}")]
    for v in found.variations:
        known = v.low is not None and v.high is not None and v.median is not None
        rows.append(
            (
                v.change,
                v.meaning,
                f"{v.low:.3g} to {v.high:.3g}" if known else "not known",
                f"{v.median:.3g}" if known else "not known",
            )
        )
    yield ReportTable(
        "variations",
        f"ε at δ = {found.delta:g} if one thing is changed.",
        ("changed", "what that means", f"{share} interval", "median"),
        tuple(rows),
    )
    yield Paragraph(
        "To take every attack for the strongest possible gives the shortest interval and is rarely true. It errs in the"
        " dangerous direction: a weak attack is then read as a private training."
    )


def _methods(found: Findings, figures: Mapping[str, Figure]) -> Iterator[Piece]:
    comparison = found.comparison
    yield Paragraph(
        "There are three kinds of statement, which should not be mixed. A lower bound is given by a rule that is right"
        " in the stated share of all audits, whatever the truth and whatever the strength of the attack; it says"
        " nothing of how large ε may be. A posterior says from above as well as from below where ε is believed to be,"
        " if its model and priors are accepted. Its lower end is no lower bound: if every attack is the strongest"
        " possible, it may well lie above ε, most of all with one base and many runs. An estimate is a number of the"
        " size of ε that bounds nothing."
    )
    yield Paragraph(
        "To look at all bounds and then to report the largest is wrong more often than its confidence says. Choose the"
        " method before you look. Bounds of 0 show nothing, neither a leak nor safety."
    )
    if _differs(found):
        settings = found.posterior.provenance.settings
        yield Paragraph(
            "The posteriors in this table take the errors for binomial counts, with a free strength, or"
            " (posterior-tight) with every attack the strongest possible. The answer of this report is another one: its"
            f" likelihood is {shown(str(settings['likelihood']))}, its strength {settings['strength']}."
        )
    rows = [row for row in comparison.rows if row.kind != "refused"]
    if "forest" in figures:
        yield figures["forest"]
    notes: dict[str, int] = {}
    cells = []
    for row in rows:
        numbers = ", ".join(str(notes.setdefault(sentence, len(notes) + 1)) for sentence in row.sentences)
        valid = "yes" if row.valid else f"no, see note {notes[row.reason]}"
        level = "" if row.level is None else f"{100 * row.level:g}%"
        name = row.method if row.base == "all" else f"{row.method} [{shown(row.base)}]"
        cells.append((name, _KINDS[row.kind], _statement(row), level, valid, numbers))
    yield ReportTable(
        "comparison",
        f"All methods for these counts, at δ = {comparison.delta:g}. The notes are below.",
        ("method", "kind", "ε", "probability or confidence", "valid", "notes"),
        tuple(cells),
    )
    yield Paragraph("Notes to the table: what a row assumes, why it is not valid, and what else has to be known of it.")
    yield Items(tuple(map(shown, notes)), numbered=True)
    refused: dict[str, list[str]] = {}
    for row in comparison.rows:
        if row.kind == "refused":
            refused.setdefault(row.reason, []).append(row.method)
    if refused:
        yield Paragraph("These methods are not for these counts:")
        yield Items(tuple(f"{', '.join(names)}. {shown(reason)}" for reason, names in refused.items()))


def _differs(found: Findings) -> bool:
    settings, law = found.posterior.provenance.settings, found.posterior.question.likelihood
    return not law.closed_form or settings["strength"] != "free" or "groups" in settings


def _statement(row: ComparisonRow) -> str:
    if row.kind == "estimate":
        return "about infinity" if row.value is None else f"about {row.value:.3g}"
    low = "infinity" if row.lower is None else f"{row.lower:.3g}"
    if row.kind == "posterior":
        low = low if row.parameter == "epsilon" else f"{row.parameter}: {low}"
        return f"{low} to {'infinity' if row.upper is None else f'{row.upper:.3g}'}"
    return f"at least {low}"


def _check(found: Findings) -> Iterator[Piece]:
    check = found.check
    if check is None:
        yield Paragraph(shown(found.unchecked), "warning")
        return
    yield Paragraph(
        "The model was asked for new counts, and these were compared with the real ones. A small p says that the real"
        " ones would be unusual if the model were right; below 0.01 the check speaks up."
    )
    rows = [
        (
            "scatter of the counts",
            f"{check.dispersion:.2f} of what it should be",
            f"{check.dispersion_p:.3g}",
            "whether the decisions within a base are correlated",
        ),
        (
            "levels of the bases",
            "",
            f"{check.rank_p:.3g}",
            "whether the bases are spread as the model says, or some leak in another way",
        ),
    ]
    if check.shape_p is not None:
        rows.append(
            (
                "shape of the boundary",
                "",
                f"{check.shape_p:.3g}",
                "whether the levels change along the boundary as the model says, where thresholds differ",
            )
        )
    if check.batches_p is not None:
        rows.append(
            ("rows of the same base", "", f"{check.batches_p:.3g}", "whether rows that should be alike are alike")
        )
    yield ReportTable(
        "checks", "Checks of the model against the counts.", ("check", "found", "p", "what it looks for"), tuple(rows)
    )
    yield Paragraph("What follows from them:")
    yield Items(tuple(map(shown, check.advice)))
    yield Paragraph(
        "A check that says nothing is no proof. One pair of counts for each base cannot show correlated decisions"
        " unless the strength is nearly known, and no check sees how the attack, the bases or the counts were chosen."
    )


def _computation(found: Findings, figures: Mapping[str, Figure]) -> Iterator[Piece]:
    post = found.posterior
    diagnostics = post.diagnostics
    if "rhat" in diagnostics:
        yield Paragraph(
            "The posterior is known by draws of several Markov chains. They are good if the chains agree (R-hat below"
            " 1.01) and if the draws are worth at least 400 independent ones, in the middle of the posterior and in its"
            " tails."
        )
        names = tuple(diagnostics["rhat"])
        rows = tuple(
            (
                shown(label(name)),
                _number(diagnostics["rhat"][name], ".4f"),
                _number(diagnostics["ess_bulk"][name], ".0f"),
                _number(diagnostics["ess_tail"][name], ".0f"),
            )
            for name in names
        )
        yield ReportTable(
            "chains",
            "Agreement of the chains, and what their draws are worth.",
            ("parameter", "R-hat", "effective draws, middle", "effective draws, tails"),
            rows,
        )
        for name in ("trace", "rank"):
            if name in figures:
                yield figures[name]
    elif "relative_error" in diagnostics:
        yield Paragraph(
            "The posterior was integrated numerically and not sampled, so there are no chains to distrust. The"
            f" estimated relative error of the integral is {diagnostics['relative_error']:.1e}, with"
            f" {diagnostics['cells']} cells."
        )
    if post.warnings:
        for sentence in post.warnings:
            yield Paragraph(shown(sentence), "warning")
    else:
        yield Paragraph("The computation gave no warnings.")


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "not known"


def _assumptions(found: Findings) -> Iterator[Piece]:
    post = found.posterior
    yield Paragraph("The posterior is conditional on these sentences:")
    priors = tuple(f"The prior of {label(name)} is {prior}." for name, prior in post.provenance.priors.items())
    yield Items(tuple(map(shown, (*post.assumptions, *priors))))
    yield Paragraph("They would be broken, and the answer with them, by any of these:")
    yield Items(tuple(_breakers(found)))


def _breakers(found: Findings) -> Iterator[str]:
    settings, design = found.posterior.provenance.settings, found.counts.design
    yield "The rule of an attack was tuned on the runs that are counted. The attacks then look too good."
    yield (
        "Bases were left out because the attack failed on them, or chosen because it succeeded. The rows that are left"
        " are not what the model says."
    )
    yield (
        "Rows share their data: several thresholds of one attack, several attacks on one base, or one example in many"
        " data sets. The interval is then too short."
    )
    if design == "repeated":
        yield (
            "The runs were not independent after all, for instance because the models of a base also served as each"
            " other's shadow models, or shared a seed. The interval is then too short, and the lower bounds do not"
            " hold."
        )
    if design == "observational":
        yield (
            "The draws in the place of what the training had are of another law. That looks like a leak, and the"
            " interval is too high."
        )
    if design in ONE_MODEL:
        yield "The examples influence each other through the one model they share. The interval is then too short."
    if found.posterior.question.likelihood.shared:
        yield "The correlation of the errors is much larger than its prior expects, or of another kind."
    if settings["strength"] == "tight":
        yield "Any attack was weaker than the strongest possible. The interval is then too low."
    elif settings["strength"] != "free":
        yield f"The attacks were weaker, or all much stronger, than s = {settings['strength']} says."
    yield (
        "The bases leak in kinds: some examples far more than others. The model has them spread evenly between the"
        " weakest and the strongest possible attack."
    )
    yield "The members differ from the non-members in more than having been trained on, say in their source or age."


def _conclusions(found: Findings) -> Iterator[Piece]:
    low, high = (f"{end:.3g}" for end in found.interval)
    yield Paragraph("It may be concluded:")
    yield Items(
        (
            f"how probable values of ε are, given the counts and all that is listed under what the answer rests on;"
            f" for instance, that {low} to {high} holds {100 * found.prob:g}% of the probability;",
            "what each lower bound that is marked as valid says, with its confidence and under its own notes;",
            "how much of this changes with the prior and the strength.",
        )
    )
    yield Paragraph("It may not be concluded:")
    yield Items(
        (
            f"that ε is at most {high}. There may be a stronger attack, a worse example, or a fault in the model, as"
            " there is for Gaussian noise: its ε at a small δ lies in tails that such counts do not show;",
            f"anything about another δ than {found.delta:g}. For a smaller δ the same training has a larger ε, or the"
            " same;",
            "anything about examples unlike the bases. An example that was made to stand out may leak more;",
            "that the training is safe, or that it is differentially private. Only a proof of the algorithm shows that;"
            " an attack can refute such a claim and never establish it;",
            "that a lower bound near 0 means privacy. It may mean too few runs, or a weak attack.",
        )
    )


def _repeat(found: Findings, repeated: Mapping[str, Code]) -> Iterator[Piece]:
    provenance = found.posterior.provenance
    yield Paragraph("With the same version, data and settings the numbers come out the same.")
    rows = [
        ("version of bayes-dp", provenance.version),
        ("SHA-256 of counts and design", provenance.digest),
        ("method", provenance.method),
        ("seed", str(found.seed)),
        ("δ", repr(found.delta)),
        ("probability of the intervals", repr(found.prob)),
        *((f"prior of {label(name)}", prior) for name, prior in provenance.priors.items()),
        *((name, str(value)) for name, value in provenance.settings.items() if name != "seed"),
    ]
    yield ReportTable(
        "settings",
        "What the numbers come from.",
        ("setting", "value"),
        tuple((shown(name), shown(value)) for name, value in rows),
    )
    yield from repeated.values()
