"""`report`: one call for the whole analysis, and the file that tells of it."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Literal

from bayes_dp import __version__
from bayes_dp.attacks.scores import NumberOfGuesses
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.question import Strength
from bayes_dp.checks import InputError, is_one_of, show
from bayes_dp.claims.claim import Claim
from bayes_dp.comparison.control import Control
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import write_text_atomically
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.data.json_text import finite, json_of
from bayes_dp.games.played import Played
from bayes_dp.reporting.answer import answer
from bayes_dp.reporting.document import Document, Items, Paragraph, shown
from bayes_dp.reporting.evidence import evidence
from bayes_dp.reporting.figures import figures
from bayes_dp.reporting.findings import Findings, find
from bayes_dp.reporting.html import page
from bayes_dp.reporting.markdown import markdown, markdown_section
from bayes_dp.reporting.model_card import model_card
from bayes_dp.reporting.repetition import repetition
from bayes_dp.reporting.scored import scores_to_dict
from bayes_dp.results.base import Result
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.text import Line, Part, Sentences

__all__ = ["FORMATS", "Format", "Report", "format_of", "report"]

Format = Literal["html", "markdown", "json"]

FORMATS: dict[str, Format] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
}


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """What was found, and its forms: a page, a text, plain data.

    >>> page = bdp.report(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> page.posterior
    <Posterior of epsilon given delta=0.001: 90% interval 1.842 to 5.586; if Gaussian, 7.601 to 31.29>
    >>> page.to_dict()["in_short"][0]
    'With 90% probability, ε is between 1.84 and 5.59, at δ = 0.001; were the noise Gaussian, between 7.6 and 31.3. ...
    """

    format = "bayes-dp/report/1"
    findings: Findings
    title: str
    source: str | None  # where the counts are from

    @property
    def posterior(self) -> Posterior:
        return self.findings.posterior

    @cached_property
    def document(self) -> Document:
        """The report as plain data: sections of paragraphs, tables and figures."""
        pictures = figures(self.findings)
        again = repetition(self.findings, self.title if self.title != _title(self.source) else None, self.source)
        sections = (*answer(self.findings, pictures, self.source), *evidence(self.findings, pictures, again))
        return Document(shown(self.title), sections)

    @cached_property
    def html(self) -> str:
        """One HTML page with all that it needs."""
        return page(self.document)

    @cached_property
    def markdown(self) -> str:
        """The same in Markdown, with the figures told in words."""
        return markdown(self.document)

    @cached_property
    def model_card(self) -> str:
        """One section of a model card, in Markdown: what was attacked and found, its limits, what it rests on."""
        return markdown_section(model_card(self.findings))

    def to_dict(self) -> dict[str, Any]:
        """The numbers in full precision and the sentences about them, fit for JSON (what is not finite is None)."""
        said = [piece.text if isinstance(piece, Paragraph) else list(piece.entries) for piece in self._in_short]
        head = {"title": shown(self.title), "source": None if self.source is None else shown(self.source)}
        own = {"format": self.format} | head | {"version": __version__, "in_short": said}
        judged = self.findings.judged
        scores = {} if judged is None else {"scores": scores_to_dict(judged, self.findings.prob)}
        return finite(own | self.findings.to_dict() | scores)

    @property
    def _in_short(self) -> list[Paragraph | Items]:
        return [piece for piece in self.document.sections[0].pieces if isinstance(piece, Paragraph | Items)]

    def _parts(self) -> Iterator[Part]:
        yield Line(shown(self.title))
        for piece in self._in_short:
            yield Line(piece.text) if isinstance(piece, Paragraph) else Sentences("", piece.entries)

    @property
    def json(self) -> str:
        """`to_dict` as text."""
        return json_of(self.to_dict())

    def text(self, form: Format) -> str:
        """The form "html", "markdown" or "json"."""
        if not is_one_of(form, tuple(FORMATS.values())):
            raise InputError(f"format must be 'html', 'markdown' or 'json', not {show(form)}")
        return str(getattr(self, form))

    def save(self, path: str | PathLike[str], form: Format | None = None) -> None:
        """Write it, atomically, in the form that the path's suffix tells (.html, .md or .json) unless it is given."""
        form = format_of(path) if form is None else form
        write_text_atomically(path, self.text(form))

    def __repr__(self) -> str:
        return f"<Report {self.title!r}: {self.posterior!r}>"

    def _repr_html_(self) -> str:
        style = "width:100%;height:45rem;border:1px solid #c4ccd4"
        return f'<iframe sandbox title="Report" style="{style}" srcdoc="{html.escape(self.html)}"></iframe>'


def report(
    counts: ErrorCounts | GuessTable | Guesses | Played,
    delta: float,
    *,
    prob: float = 0.9,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    likelihood: str | BaseLikelihood = "binomial",
    method: str | None = None,
    seed: int = 0,
    title: str | None = None,
    source: str | None = None,
    limit: float | None = None,
    control: Control = None,
    scores: GuessTable | None = None,
    claim: Claim | None = None,
    choice: NumberOfGuesses | int | None = None,
    **settings: Any,
) -> Report:
    """Analyse the counts and tell of it: posterior, other methods, check of the model, other priors and strengths.

    Parameters
    ----------
    counts, delta, prior_epsilon, prior_strength, strength, likelihood, method, settings : see `estimate`.
    prob : the probability of the intervals; the lower bounds have the confidence (1 + prob)/2, which is that of the
        intervals' lower ends.
    seed : of all draws; the same seed gives the same report.
    title : the heading.
    source : the path of the file that the counts were read from, to be shown and to tell how to repeat the report.
    limit, control : a limit of ε to be judged, and the positive control, see `gate`.
    scores : for guesses on one model, the attack's scores of the examples behind the counts, with propensities: the
        report then tells first what the guesses show with the shift taken off, see `estimate_shifted`.
    claim : what is said of the training; the report then answers first whether that is refuted, see `Claim.test`.
    choice : where `counts` are scores, how many guesses are made, as for `compare`. The report then has the ROC curve
        and the distribution of the scores, the AUC and the TPR at low FPRs, how the number of guesses was chosen, and
        whether the number of members fits fair coins.

    >>> page = bdp.report(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, title="Our model")
    >>> page.title, len(page.html) > 10_000  # a whole page, in the browser or by `page.save("report.html")`
    ('Our model', True)
    """
    for name, value in (("title", title), ("source", source)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be text, not {show(value)}")
    options = {
        "prior_epsilon": prior_epsilon,
        "prior_strength": prior_strength,
        "strength": strength,
        "likelihood": likelihood,
        "method": method,
        **settings,
    }
    found = find(counts, delta, prob, seed, options, limit, control, scores, claim, choice)
    return Report(found, title or _title(source), source)


def format_of(path: str | PathLike[str]) -> Format:
    """The form that a path's suffix tells."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a path, not {show(path)}")
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in FORMATS:
        raise InputError(f"the suffix of a report must be one of {', '.join(FORMATS)}, not {show(suffix)}")
    return FORMATS[suffix]


def _title(source: str | None) -> str:
    named = source not in (None, "", "-")
    return "How private is this training?" + (f" {os.path.basename(str(source))}" if named else "")
