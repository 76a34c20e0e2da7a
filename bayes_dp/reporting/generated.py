"""What a report says of a game of PANORAMIA: the measurement, what counts as evidence, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bayes_dp.reporting.document import Figure, Items, Paragraph, Piece, ReportTable, shown
from bayes_dp.results.bound import Estimate, LowerBound
from bayes_dp.support.text import digits

__all__ = ["game_in_short", "of_game"]

_ROWS = {
    "c_plus_epsilon_lower_bound": "lower bound of c + ε, by the attack that sees the model",
    "c_lower_bound": "lower bound of c, by the baseline that does not",
    "baseline": "the bound of the baseline by itself, 0 where nothing but the model tells members",
    "control": "the same measurement on the control",
    "excess": "by how much the model's exceeds it",
    "largest_possible": "the largest bound that so many guesses can give",
}


def game_in_short(found: Estimate | LowerBound) -> Iterator[Piece]:
    """The main thing: the number, and whether it is evidence."""
    yield Paragraph(shown(_capital(f"{found.statement()}.")), "lead")
    if found.kind == "estimate":
        yield Paragraph(
            "The non-members are generated. The estimate is the difference of two lower bounds, and no bound: it is too"
            " large if the attack sees a flaw of the generator that the baseline misses."
        )
    for sentence in filter(None, (found.invalid, *found.warnings)):
        yield Paragraph(shown(sentence), "warning")


def of_game(found: Estimate | LowerBound, figures: Mapping[str, Figure]) -> Iterator[Piece]:
    rows = [(words, digits(found.details[name])) for name, words in _ROWS.items() if name in found.details]
    sizes = found.details.get("sizes", {})
    rows += [(f"examples: {part}", str(size)) for part, size in sizes.items()]
    caption = f"The game, with confidence {100 * found.confidence:g}%."
    yield ReportTable("game", caption, ("what", "value"), ((found.provenance.method, digits(found.value)), *rows))
    yield figures["precision"]
    yield Items(tuple(map(shown, found.assumptions)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
