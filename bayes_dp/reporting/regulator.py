"""The questions of a supervisory authority about a trained model, and where the report answers them.

Source: European Data Protection Board, "Opinion 28/2024 on certain data protection aspects related to the processing
of personal data in the context of AI models", adopted on 17 December 2024. Whether a model is anonymous is assessed
case by case: the likelihood that personal data of those in the training can be extracted from the model, and that of
obtaining them by queries, should be insignificant, by all means reasonably likely to be used (GDPR, recital 26).
"""

from __future__ import annotations

from collections.abc import Iterator

from bayes_dp.reporting.answer import GUESSED
from bayes_dp.reporting.document import Paragraph, Piece, ReportTable
from bayes_dp.reporting.findings import Findings
from bayes_dp.results.meaning import attained
from bayes_dp.tradeoff import ApproxDP

__all__ = ["for_regulators"]


def for_regulators(found: Findings) -> Iterator[Piece]:
    """What is asked, what is said here, and in which section."""
    yield Paragraph(
        "Opinion 28/2024 of the European Data Protection Board has models assessed case by case: by the likelihood that"
        " personal data of those in the training are extracted from the model or obtained by queries, with the means"
        " reasonably likely to be used. What this report has to say of that, and where. The assessment is the"
        " authority's."
    )
    low, high = found.interval
    ends = [attained(ApproxDP(end, found.delta), GUESSED) for end in (low, high)]
    least, most = (end.cells for end in ends)
    share = f"{100 * found.prob:g}%"
    strong = (
        "its strength was taken as known"
        if "strength" not in found.posterior.marginals
        else "how near it comes to the best attack is estimated,"
        f" s = {float(found.posterior.quantile(0.5, 'strength')):.2g} at the median"
    )
    bound = found.quoted
    rows = (
        (
            "How likely is it that someone is recognised as part of the training?",
            f"By any attack that may falsely accuse 1% of the others: at most {least[1]} of the members at the lower"
            f" end of the {share} interval of ε, {most[1]} at the upper end.",
            "The posterior of ε",
        ),
        (
            "How likely is it that data are extracted or reconstructed?",
            f"An example that is guessed with a chance of {100 * GUESSED:g}% without the training is reconstructed with"
            f" at most {least[-1]} at the lower end, {most[-1]} at the upper end.",
            "The posterior of ε",
        ),
        (
            "Do the attacks have the means reasonably likely to be used?",
            f"One attack was made on each base, and {strong}. A stronger attack is not excluded by this report.",
            "The data; What the answer rests on",
        ),
        (
            "What is shown without a model of the attacks?",
            "Nothing: no lower bound here is valid for these counts."
            if bound is None or bound.lower is None
            else f"ε is at least {bound.lower:.3g} with confidence {100 * (bound.level or 0):g}% ({bound.method}). That"
            " it is small is shown by no lower bound.",
            "What other methods say",
        ),
        (
            "Is the likelihood insignificant?",
            "No threshold is set here. Only a proof of the algorithm bounds ε from above; attacks can refute a claim"
            " and not establish one.",
            "What may be concluded, and what not",
        ),
        (
            "Can it be verified?",
            "Data, settings and versions are given, by which the same numbers come out.",
            "How to repeat it",
        ),
    )
    yield ReportTable("regulator", "Questions, and where they are answered.", ("question", "answer", "section"), rows)
