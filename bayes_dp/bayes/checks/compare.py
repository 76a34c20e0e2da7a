"""Which likelihood predicts the counts best? The scores of several, elpd = Σ log p(X_i, Y_i | other bases)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from bayes_dp.bayes.checks.model_check import ModelCheck, check
from bayes_dp.bayes.estimate import estimate
from bayes_dp.bayes.likelihoods.base import BaseLikelihood, likelihood_of
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.checks import InputError, is_one_of, one_number, seed_of, show, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import write_text_atomically
from bayes_dp.data.json_text import finite, json_of
from bayes_dp.results.base import Result
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.text import Lines, Part, Rows, digits

__all__ = ["LikelihoodComparison", "compare_likelihoods"]

_GENERAL = ("prior_epsilon", "prior_strength", "strength", "method")  # what `estimate` takes for every method


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodComparison(Result):
    """Posteriors and their checks by the name of the likelihood, best leave-one-out score first.

    >>> found = bdp.compare_likelihoods(bdp.ErrorCounts([10, 30], 100, [20, 5], 100), 1e-3, ["binomial"])
    >>> [(row["likelihood"], round(row["elpd"])) for row in found.rows()]
    [('binomial', -17)]
    """

    format = "bayes-dp/likelihoods/1"
    posteriors: Mapping[str, Posterior]
    checks: Mapping[str, ModelCheck]

    def __iter__(self) -> Iterator[str]:
        return iter(self.checks)

    def rows(self, prob: float = 0.9) -> list[dict[str, Any]]:
        """One row a likelihood: interval of ε, elpd, its difference to the best and the standard error of that.

        Scores differ for good where the difference is several standard errors, and no base's Pareto k exceeds 0.7.
        """
        best = next(iter(self.checks.values()))
        rows = []
        for name, found in self.checks.items():
            difference = found.elpd_by_base - best.elpd_by_base
            low, high = self.posteriors[name].interval(prob)
            n = len(difference)
            rows.append(
                {
                    "likelihood": name,
                    "low": low,
                    "high": high,
                    "elpd": found.elpd,
                    "difference": float(difference.sum()),
                    "difference_se": float(np.sqrt(n) * difference.std(ddof=1)) if n > 1 else float("nan"),
                    "pareto_k": float(found.pareto_k.max()),
                    "doubtful": found.doubtful,
                }
            )
        return rows

    def _parts(self, prob: float = 0.9) -> Iterator[Part]:
        rows = self.rows(prob)
        headings = ("likelihood", f"{100 * prob:g}% interval", "elpd", "difference", "se", "Pareto k", "check")
        yield Rows([_cells(row) for row in rows], headings, sides="llrrrrl")

    def summary(self, prob: float = 0.9) -> Lines:
        """The rows as a table of text."""
        return Lines.of(self._parts(prob))

    def to_dict(self, prob: float = 0.9) -> dict[str, Any]:
        """The rows and the checks, fit for JSON."""
        prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        checks = {name: found.to_dict() for name, found in self.checks.items()}
        return {"format": self.format, "prob": prob, "rows": finite(self.rows(prob)), "checks": checks}

    def to_json(self, path: str | PathLike[str], prob: float = 0.9) -> None:
        """Save `to_dict` as a JSON file, atomically."""
        write_text_atomically(path, json_of(self.to_dict(prob)))

    def to_frame(self, prob: float = 0.9) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows(prob)).set_index("likelihood")

    def __repr__(self) -> str:
        return f"<LikelihoodComparison of {', '.join(self)}, the best first>"


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    scores = (f"{row[key]:.1f}" for key in ("elpd", "difference", "difference_se"))
    interval, verdict = (
        f"{digits(row['low'])} to {digits(row['high'])}",
        "doubtful" if row["doubtful"] else "passed",
    )
    return (row["likelihood"], interval, *scores, f"{row['pareto_k']:.2f}", verdict)


def compare_likelihoods(
    counts: ErrorCounts,
    delta: float,
    likelihoods: Iterable[str | BaseLikelihood] = LIKELIHOODS,
    *,
    size: int = 500,
    seed: int = 0,
    **settings: Any,
) -> LikelihoodComparison:
    """The posterior under each likelihood, checked with `size` draws; `settings` are those of `estimate`.

    A `Likelihood` of your own needs a sampler, as for `check`. Settings of a sampler of posteriors go to the
    likelihoods that are sampled.

    >>> counts = bdp.ErrorCounts([10, 30], 100, [20, 5], 100)
    >>> found = bdp.compare_likelihoods(counts, 1e-3, ["binomial"])  # by default four, of which three are sampled
    >>> found.checks["binomial"].doubtful
    False
    """
    if not isinstance(counts, ErrorCounts):
        raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
    laws, size, seed = _by_name(likelihoods), whole_number("size", size, 2), seed_of(seed)
    general = {name: settings.pop(name) for name in list(settings) if name in _GENERAL}
    posteriors = {}
    for name, law in laws.items():
        own = {} if law.closed_form and general.get("method") is None else {"seed": seed, **settings}
        posteriors[name] = estimate(counts, delta, likelihood=law, **general, **own)
    checks = {name: check(posterior, size=size, seed=seed) for name, posterior in posteriors.items()}
    order = sorted(laws, key=lambda name: -checks[name].elpd)
    return LikelihoodComparison({name: posteriors[name] for name in order}, {name: checks[name] for name in order})


def _by_name(likelihoods: Iterable[str | BaseLikelihood]) -> dict[str, BaseLikelihood]:
    """What is to be compared, checked, by its names."""
    given = (
        [likelihoods] if isinstance(likelihoods, str) or not isinstance(likelihoods, Iterable) else list(likelihoods)
    )
    unknown = [law for law in given if not isinstance(law, BaseLikelihood) and not is_one_of(law, tuple(LIKELIHOODS))]
    if unknown or not given:
        raise InputError(
            f"likelihoods must be some of {', '.join(LIKELIHOODS)}, or of the type bayes_dp.Likelihood, not"
            f" {show(unknown or given)}"
        )
    found: dict[str, BaseLikelihood] = {}
    for law in map(likelihood_of, given):
        if law.name in found:
            raise InputError(f"likelihoods must have names of their own, but two are called {show(law.name)}")
        if not law.can_draw:
            raise InputError(
                f"the likelihood {law.name} has no sampler, without which it cannot be checked and compared"
            )
        found[law.name] = law
    return found
