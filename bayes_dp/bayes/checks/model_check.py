"""Does the model fit the counts? Posterior predictive checks, and the leave-one-out score that compares likelihoods.

- Scatter, within a base: Pearson's T = Σ (X − N0 α)²/(N0 α(1−α)) + (Y − N1 β)²/(N1 β(1−β)) of the counts against
  that of new counts at the same rates (Gelman, Meng and Stern 1996). Rates are free within the layer, so that this
  speaks only where the layer pins them.
- Levels, between bases: the separation d′ = |z(1−a) + z(1−b)|, z = Φ^{-1}, of a base's smoothed rates
  a = (X + ½)/(N0 + 1), b = (Y + ½)/(N1 + 1). Its rank among new bases at the same place (`new_bases.py`) under the
  posterior of the other bases (the leave-one-out probability integral transform) is uniform where the levels are as the
  layer says.
- Shape, along the boundary: Spearman's correlation, over the bases, of d′ with the place |z(1−a) − z(1−b)| against that
  of new bases at the same places. Where thresholds differ, d′ falls or rises with the place as the boundary has it.
  Where χ² does not tell the false positive rates of the bases apart at 1%, or the false negative rates, there is no
  shape to see: the place then is a function of d′, blurred by the errors.
- Batches: where several rows bear one base's label, Pearson's χ² of their homogeneity, which needs no model of rates.
- elpd: Σ log p(X_i, Y_i | other bases), by Pareto-smoothed importance sampling (Vehtari, Gelman and Gabry 2017).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import special
from scipy.special import logsumexp

from bayes_dp import region
from bayes_dp.bayes.checks.new_bases import new_rates
from bayes_dp.bayes.checks.pointwise import log_likelihood
from bayes_dp.bayes.levels.posterior import FamilyPosterior, FamilyQuestion
from bayes_dp.bayes.likelihoods.counts import Counts, at_an_end
from bayes_dp.bayes.question import Question
from bayes_dp.checks import InputError, show, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import A_LINE, A_SHARE, SENTENCES, TRUTH, Wanted, a_list, checked_object, finite, is_finite
from bayes_dp.results.base import Saved
from bayes_dp.results.diagnostics import PARETO_K, psis
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.arrays import Floats
from bayes_dp.support.kolmogorov import kolmogorov_p
from bayes_dp.support.ranks import ranks
from bayes_dp.support.text import Part, Rows, Sentences, digits

__all__ = ["ModelCheck", "check", "new_counts", "rates_given"]


_DOUBTFUL = 0.01  # p-value below which a check speaks up
_ALIKE = 0.01  # p-value from which rates are taken to be those of one threshold
_TOGETHER = 500_000  # densities that are computed at once
_CANDIDATES = 1000  # places on the boundary among which a tight base's rates are drawn


@dataclass(frozen=True, eq=False, repr=False)
class ModelCheck(Saved):
    """What the checks found; arrays by base have shape (n,).

    >>> found = bdp.check(bdp.estimate(bdp.datasets.mnist_a4(), delta=1e-3))
    >>> print(found.summary())
    Check of the likelihood binomial on 20 bases
      scatter of the counts   1.10 of what it should be, p = 0.3...
    ...
    """

    format = "bayes-dp/check/1"
    likelihood: str
    bases: tuple[str, ...]
    dispersion: float  # T of the counts over that of new counts, averaged over the posterior
    dispersion_p: float  # P(T of new counts ≥ T of the counts)
    rank: Floats  # of every base's level, (n,), in [0, 1]
    rank_p: float  # Kolmogorov-Smirnov p-value of the ranks
    shape: float | None  # correlation of the separations of the bases with their places; None: none is seen
    shape_p: float | None  # two-sided, of that among new bases at the same places
    batches_p: float | None  # of the homogeneity of the rows of a base; None where no label repeats
    elpd: float
    elpd_se: float
    elpd_by_base: Floats
    pareto_k: Floats
    advice: tuple[str, ...]  # sentences; the first says whether anything speaks against the model

    @property
    def doubtful(self) -> bool:
        """Whether one of the tests speaks against the model, at 1% each."""
        return min(self._tests()) < _DOUBTFUL

    @property
    def p_value(self) -> float:
        """Of the tests together: the smallest of their p-values times their number (Bonferroni)."""
        return min(1.0, len(self._tests()) * min(self._tests()))

    def _tests(self) -> list[float]:
        found = [self.dispersion_p, self.rank_p, self.shape_p, self.batches_p]
        return [p for p in found if p is not None]

    def _parts(self) -> Iterator[Part]:
        rows = [
            ("scatter of the counts", f"{self.dispersion:.2f} of what it should be, p = {self.dispersion_p:.3f}"),
            ("levels of the bases", f"p = {self.rank_p:.3f} that they are spread as the layer says"),
            (
                "leave-one-out score",
                f"{digits(self.elpd)} ± {digits(self.elpd_se)}, Pareto k up to {self.pareto_k.max():.2f}",
            ),
        ]
        if self.shape_p is not None:
            rows.insert(2, ("shape of the boundary", f"p = {self.shape_p:.3f} that they change along it as it says"))
        if self.batches_p is not None:
            rows.insert(1, ("rows of the same base", f"p = {self.batches_p:.3f} that they are alike"))
        title = f"Check of the likelihood {self.likelihood} on {len(self.bases)} bases"
        yield Rows(rows, caption=title, gap="   ", indent="  ")
        yield Sentences("", self.advice)

    def to_dict(self) -> dict[str, Any]:
        """Everything a report needs, in full precision, fit for JSON."""
        return {
            "format": self.format,
            "likelihood": self.likelihood,
            "doubtful": self.doubtful,
            "dispersion": finite(self.dispersion),
            "dispersion_p": self.dispersion_p,
            "rank_p": self.rank_p,
            "shape": self.shape,
            "shape_p": self.shape_p,
            "batches_p": self.batches_p,
            "elpd": finite(self.elpd),
            "elpd_se": finite(self.elpd_se),
            "advice": list(self.advice),
            "bases": [
                {
                    "base": base,
                    "rank": float(self.rank[i]),
                    "elpd": finite(float(self.elpd_by_base[i])),
                    "pareto_k": finite(float(self.pareto_k[i])),
                }
                for i, base in enumerate(self.bases)
            ],
        }

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = checked_check(name, without_format(name, content, cls.format))
        bases = found["bases"]
        columns = {key: np.array([row[key] for row in bases], float) for key in ("rank", "elpd", "pareto_k")}
        numbers = {key: math.nan if found[key] is None else found[key] for key in ("dispersion", "elpd", "elpd_se")}
        made = cls(
            **numbers,
            likelihood=found["likelihood"],
            bases=tuple(row["base"] for row in bases),
            dispersion_p=found["dispersion_p"],
            rank=columns["rank"],
            rank_p=found["rank_p"],
            shape=found["shape"],
            shape_p=found["shape_p"],
            batches_p=found["batches_p"],
            elpd_by_base=columns["elpd"],
            pareto_k=columns["pareto_k"],
            advice=tuple(found["advice"]),
        )
        if made.doubtful != found["doubtful"]:
            raise InputError(f"{name}: doubtful is {show(found['doubtful'])}, which is not what the p-values say")
        return made

    def to_frame(self) -> Any:
        """One row a base: the rank of its level, its leave-one-out score and its Pareto k, as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["bases"]).set_index("base")


def check(posterior: Posterior, *, size: int = 1000, seed: int = 0) -> ModelCheck:
    """Whether the likelihood and the layer fit the counts that the posterior was made from, by `size` of its draws.

    >>> post = bdp.estimate(bdp.datasets.mnist_a4(), delta=1e-3)
    >>> found = bdp.check(post)
    >>> found.doubtful, len(found.elpd_by_base)
    (False, 20)
    """
    if not isinstance(posterior, Posterior):
        raise InputError(f"check is for a posterior of bayes_dp.estimate, not {type(posterior).__name__}")
    if posterior.unchecked:
        raise InputError(posterior.unchecked)
    question = posterior.question
    draws = posterior.draws(whole_number("size", size, 2), seed)
    rng = np.random.default_rng([seed, 2])
    counts, columns = question.counts, Counts.of(question.counts)
    if isinstance(posterior, FamilyPosterior):
        pointwise = posterior._pointwise(draws)
    else:
        pointwise = log_likelihood(question, draws, seed)
    log_weights, pareto_k = psis(-pointwise.T)
    elpd = np.asarray(logsumexp(log_weights + pointwise.T, axis=1))
    rates = _rates(posterior, draws, size, seed, rng)
    dispersion, dispersion_p = _dispersion(question, columns, draws, rates, rng)
    shared = [draws[name] for name in question.likelihood.shared]
    new = _along(columns, *question.likelihood.draw(rng, columns, *new_rates(question, draws, rates, rng), *shared))
    seen = _along(columns, np.asarray(columns.x), np.asarray(columns.y))
    rank = _ranks(seen[0], new[0], np.exp(log_weights), rng)
    shape, shape_p = _shape(seen, new) if _thresholds_differ(columns) else (None, None)
    batches_p = _batches(counts, rng)
    found: dict[str, Any] = {
        "likelihood": question.likelihood.name,
        "bases": counts.base if counts.base is not None else tuple(str(i) for i in range(len(counts))),
        "dispersion": dispersion,
        "dispersion_p": dispersion_p,
        "rank": rank,
        "rank_p": kolmogorov_p(rank),
        "shape": shape,
        "shape_p": shape_p,
        "batches_p": batches_p,
        "elpd": float(elpd.sum()),
        "elpd_se": float(np.sqrt(len(elpd)) * elpd.std(ddof=1)) if len(elpd) > 1 else float("nan"),
        "elpd_by_base": elpd,
        "pareto_k": pareto_k,
    }
    return ModelCheck(**found, advice=_advice(question, found))


def new_counts(posterior: Posterior, size: int = 2000, seed: int = 0) -> tuple[Floats, Floats]:
    """False positives and false negatives of new bases at the places of the old ones, (size, n) each: what the
    posterior predicts."""
    if not isinstance(posterior, Posterior):
        raise InputError(f"posterior must be one of bayes_dp.estimate, not {type(posterior).__name__}")
    if posterior.unchecked:
        raise InputError(posterior.unchecked)
    question = posterior.question
    draws = posterior.draws(whole_number("size", size, 2), seed)
    rng = np.random.default_rng([seed, 3])
    rates = new_rates(question, draws, _rates(posterior, draws, size, seed, rng), rng)
    shared = [draws[name] for name in question.likelihood.shared]
    return question.likelihood.draw(rng, Counts.of(question.counts), *rates, *shared)


def _rates(
    posterior: Posterior, draws: Mapping[str, Floats], size: int, seed: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Rates of every base given the counts and the draws, each (size, n)."""
    tight = posterior.question.strength == "tight" and not isinstance(posterior, FamilyPosterior)
    return rates_given(posterior, draws, rng) if tight else posterior.rates(size, seed)


def rates_given(posterior: Posterior, draws: Mapping[str, Floats], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rates of every base in the limit strength="tight", where a posterior of (ε, δ) has none: each (size, n).

    They are drawn among uniform places on the boundary, in proportion to the likelihood.
    """
    from bayes_dp.bayes.precision import double  # and JAX

    question = posterior.question
    columns, n = Counts.of(question.counts), len(question.counts)
    epsilon, delta = question.privacy(draws[question.parameter])
    alpha, beta = np.empty((2, len(epsilon), n))
    together = max(1, _TOGETHER // (n * _CANDIDATES))
    for rows in (slice(at, at + together) for at in range(0, len(epsilon), together)):
        shape = len(epsilon[rows]), _CANDIDATES
        points = region.sample_boundary(epsilon[rows, None], delta[rows, None], shape, rng)
        with double():
            log_g = question.likelihood.log_density(columns, *points.reshape(1, -1, 2).transpose(2, 0, 1))
        found = np.asarray(log_g).reshape(n, *shape)
        most = found.max(axis=2, keepdims=True)
        cumulative = np.cumsum(np.exp(found - np.where(np.isfinite(most), most, 0.0)), axis=2)
        at = np.sum(cumulative < cumulative[..., -1:] * rng.random((n, len(points), 1)), axis=2)
        alpha[rows], beta[rows] = points[np.arange(len(points)), at].T
    return alpha, beta


def _dispersion(
    question: Question | FamilyQuestion,
    columns: Counts,
    draws: Mapping[str, Floats],
    rates: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> tuple[float, float]:
    """The ratio of Pearson's T to that of new counts, and the share of new counts with at least as large a T."""
    # A rate within rounding of 0 or 1 has no variance to divide by.
    alpha, beta = (np.clip(rate, 1e-12, 1 - 1e-12) for rate in rates)
    shared = [draws[name] for name in question.likelihood.shared]
    _, n0, _, n1 = (np.asarray(column) for column in columns)

    def pearson(x: Floats, y: Floats) -> Floats:
        first = (x - n0 * alpha) ** 2 / (n0 * alpha * (1 - alpha))
        return np.asarray(np.sum(first + (y - n1 * beta) ** 2 / (n1 * beta * (1 - beta)), axis=1))

    seen = pearson(np.asarray(columns.x), np.asarray(columns.y))
    new = pearson(*question.likelihood.draw(rng, columns, alpha, beta, *shared))
    return float(np.median(seen) / np.median(new)), float(np.mean(new >= seen))


def _along(columns: Counts, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The separation d′ of the smoothed rates of counts (..., n), and their place, which is 0 at α = β."""
    _, n0, _, n1 = (np.asarray(column) for column in columns)
    # A normal law gives counts beyond the possible ones.
    u = -special.ndtri((np.clip(x, 0, n0) + 0.5) / (n0 + 1))
    v = -special.ndtri((np.clip(y, 0, n1) + 0.5) / (n1 + 1))
    return np.abs(u + v), np.abs(u - v)


def _ranks(seen: Floats, new: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """The share of `new` bases (size, n) below each base's `seen` (n,) under its leave-one-out `weights` (n, size).

    Ties are broken evenly.
    """
    tie = (new == seen) * rng.random(len(seen))
    return np.asarray(np.clip(np.sum(weights.T * ((new < seen) + tie), axis=0), 0.0, 1.0))


def _thresholds_differ(columns: Counts) -> bool:
    """Whether neither the false positive rates of the bases nor the false negative ones may all be the same."""
    for errors, trials in ((columns.x, columns.n0), (columns.y, columns.n1)):
        k, n = np.asarray(errors, float), np.asarray(trials, float)
        variance = n * (share := k.sum() / n.sum()) * (1.0 - share)
        seen = np.sum((k - n * share) ** 2 / np.where(variance > 0, variance, 1.0))
        if special.chdtrc(max(len(k) - 1, 1), seen) >= _ALIKE:
            return False
    return True


def _shape(seen: tuple[Floats, Floats], new: tuple[Floats, Floats]) -> tuple[float, float]:
    """Spearman's correlation of separation and place over the bases, and its two-sided p-value among new ones."""

    def correlation(separation: Floats, place: Floats) -> Floats:
        first, second = (ranks(part) - 0.5 * (part.shape[-1] + 1) for part in (separation, place))
        scale = np.sqrt(np.sum(first**2, axis=-1) * np.sum(second**2, axis=-1))
        return np.asarray(np.sum(first * second, axis=-1) / np.where(scale > 0, scale, 1.0))

    found, others = float(correlation(*seen)), correlation(*new)
    # Ranks of few bases have few correlations: equal ones differ by rounding.
    beyond = [np.sum(sign * (others - found) >= -1e-9) for sign in (-1, 1)]
    return found, float(min(1.0, 2.0 * (1 + min(beyond)) / (1 + len(others))))


def _batches(counts: ErrorCounts, rng: np.random.Generator) -> float | None:
    """The p-value of Pearson's χ² that rows of one base share their rates, given the totals, by simulation."""
    if counts.base is None or len(set(counts.base)) == len(counts):
        return None
    labels = np.unique(np.asarray(counts.base), return_inverse=True)[1]
    columns = Counts.of(counts)
    seen, new = 0.0, np.zeros(_CANDIDATES - 1)
    for errors, trials in ((columns.x, columns.n0), (columns.y, columns.n1)):
        for label in range(labels.max() + 1):
            rows = labels == label
            k, n = np.asarray(errors)[rows].astype(int), np.asarray(trials)[rows].astype(int)
            share = k.sum() / n.sum()
            if len(k) < 2 or share in (0.0, 1.0):
                continue
            drawn = rng.multivariate_hypergeometric(n, int(k.sum()), len(new), method="marginals")
            seen += float(np.sum((k - n * share) ** 2 / (n * share * (1 - share))))
            new += np.sum((drawn - n * share) ** 2 / (n * share * (1 - share)), axis=1)
    return float((1 + np.sum(new >= seen - 1e-9)) / (1 + len(new)))


def _advice(question: Question | FamilyQuestion, found: Mapping[str, Any]) -> tuple[str, ...]:
    """What to do, a sentence each."""
    independent = not question.likelihood.correlated
    sentences = []
    if question.counts.design == "cross_fed" and independent:
        remedy = (
            "use likelihood='beta_binomial', since some counts are 0 or all of their runs, where the bivariate normal"
            " law has no bound"
            if at_an_end(question.counts)
            else "use likelihood='bivariate_normal'"
        )
        sentences.append(
            "The runs were cross-fed, so that the decisions within a base are correlated, which its one pair of counts"
            f" cannot show: {remedy}."
        )
    scattered = found["dispersion_p"] < _DOUBTFUL or (found["batches_p"] or 1.0) < _DOUBTFUL
    if scattered:
        remedy = (
            "use likelihood='beta_binomial', or 'bivariate_normal' if X and Y of a base share shadow models"
            if independent
            else "their correlation is larger than its prior expects, or the layer too narrow"
        )
        sentences.append(f"The counts scatter more than the likelihood {question.likelihood.name} allows: {remedy}.")
    if found["rank_p"] < _DOUBTFUL:
        sentences.append(
            "The levels of the bases are not spread as uniform rates over the layer would have them: look for groups of"
            " bases that leak differently, and for bases that do not belong."
        )
    if (found["shape_p"] or 1.0) < _DOUBTFUL:
        sentences.append(
            f"The levels of the bases change along the boundary in another way than in {_boundary(question)}: another"
            " family of trade-off functions may fit, and ε at a small δ may be a multiple of this."
        )
    bad = [base for base, k in zip(found["bases"], found["pareto_k"], strict=True) if not k <= PARETO_K]
    if bad:
        sentences.append(
            f"The posterior leans so much on the {_some(bad)} that the leave-one-out score is unreliable there"
            f" (Pareto k > {PARETO_K})."
        )
    if not sentences:
        sentences.append(
            "Nothing here speaks against the model; one pair of counts per base shows correlated decisions only where"
            " the strength is known or nearly so."
        )
    return tuple(sentences)


def _boundary(question: Question | FamilyQuestion) -> str:
    return f"the {question.family.name} family" if isinstance(question, FamilyQuestion) else "the (ε, δ) layer"


def _some(bases: Sequence[str]) -> str:
    shown = ", ".join(repr(base) for base in bases[:3])
    return f"base {shown}" if len(bases) == 1 else f"bases {shown}" + (" and others" if len(bases) > 3 else "")


_FINITE: Wanted = (lambda value: value is None or is_finite(value), "a finite number, or null")
_SHARE_OR_NULL: Wanted = (lambda value: value is None or is_finite(value, 0.0, 1.0), "a number from 0 to 1, or null")
_FIELDS: dict[str, Wanted] = {
    "likelihood": A_LINE,
    "doubtful": TRUTH,
    "dispersion": _FINITE,
    "dispersion_p": A_SHARE,
    "rank_p": A_SHARE,
    "shape": (lambda value: value is None or is_finite(value, -1.0, 1.0), "a number from -1 to 1, or null"),
    "shape_p": _SHARE_OR_NULL,
    "batches_p": _SHARE_OR_NULL,
    "elpd": _FINITE,
    "elpd_se": _FINITE,
    "advice": SENTENCES,
    "bases": a_list("bases"),
}
_BASE: dict[str, Wanted] = {"base": A_LINE, "rank": A_SHARE, "elpd": _FINITE, "pareto_k": _FINITE}


def checked_check(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a check says, and nothing else."""
    try:
        if isinstance(content, dict) and not {"shape", "shape_p"} & content.keys():  # it is from before there was one
            content = content | {"shape": None, "shape_p": None}
        found = checked_object(name, content, _FIELDS)
        for i, row in enumerate(found["bases"]):
            checked_object(f"{name}: bases[{i}]", row, _BASE)
        if not found["bases"]:
            raise InputError(f"{name}: there must be a base")
    except InputError as error:
        raise InputError(f"{error}; this is not a check as to_json and to_dict give it") from None
    return found
