"""What every Bayesian method returns: a posterior that can be asked, printed, saved and handed to ArviZ."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp import __version__
from bayes_dp.checks import InputError, is_one_of, numbers, one_number, seed_of, show, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import Source, write_text_atomically
from bayes_dp.data.json_text import A_LINE, AN_OBJECT, Wanted, checked_object, finite, is_finite, is_line, json_of
from bayes_dp.results.base import Result
from bayes_dp.results.drawn import Drawn
from bayes_dp.results.meaning import Meaning, meaning_of
from bayes_dp.support.arrays import Floats
from bayes_dp.support.once import once
from bayes_dp.support.text import Lines, Part, Rows, Sentences, digits, in_brief
from bayes_dp.tradeoff import ApproxDP, TradeOffFunction

if TYPE_CHECKING:
    from bayes_dp.bayes.question import Question

__all__ = [
    "IntervalKind",
    "Marginal",
    "Posterior",
    "Provenance",
    "SampleMarginal",
    "WithChains",
    "check_draws",
]

IntervalKind = Literal["equal-tailed", "hdi"]


class Marginal(Protocol):
    """The posterior of one parameter."""

    @property
    def mean(self) -> float: ...

    @property
    def sd(self) -> float: ...

    def quantile(self, probability: ArrayLike) -> Floats: ...

    def cdf(self, value: ArrayLike) -> Floats: ...

    def hdi(self, probability: float) -> tuple[float, float]: ...


@runtime_checkable
class WithChains(Protocol):
    """What has draws of several chains."""

    @property
    def samples(self) -> Mapping[str, Floats]: ...  # by parameter, (chains, draws)


@dataclass(frozen=True)
class Provenance:
    """What it takes to repeat a result: the data's digest, the question and the settings."""

    method: str
    digest: str
    known: Mapping[str, float]  # the privacy parameter that is given: {"delta": …} or {"epsilon": …}
    priors: Mapping[str, str]  # parameter -> prior, in words
    settings: Mapping[str, Any]  # of the method, the seed among them
    version: str = __version__

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "digest": self.digest,
            "known": dict(self.known),
            "priors": dict(self.priors),
            "settings": finite(dict(self.settings)),
            "version": self.version,
        }


_PROVENANCE: dict[str, Wanted] = {
    "method": A_LINE,
    "digest": A_LINE,
    "known": AN_OBJECT,
    "priors": AN_OBJECT,
    "settings": AN_OBJECT,
    "version": A_LINE,
}


def checked_provenance(place: str, content: Any) -> dict[str, Any]:
    """The provenance in a file, where it is one."""
    found = checked_object(place, content, _PROVENANCE)
    for name, value in found["known"].items():
        if not is_finite(value, 0.0):
            raise InputError(f"{place}: {name} must be a finite number, at least 0, not {show(value)}")
    for name, value in found["priors"].items():
        if not is_line(value):
            raise InputError(f"{place}: the prior of {name} must be a text of one line, not {show(value)}")
    return found


class Posterior(Result):
    """A posterior over the unknown privacy parameter (`parameter`) and, unless it is fixed, the attack strength.

    >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3)
    >>> post
    <Posterior of epsilon given delta=0.001: 90% interval 1.842 to 5.586; if Gaussian, 7.601 to 31.29>
    >>> round(post.median, 2), round(post.prob_above(2.0), 3)
    (2.71, 0.889)
    >>> (post.epsilon - 1).name, round((post.epsilon - 1 > 1).mean, 1)  # by joint draws
    ('epsilon - 1', 0.9)
    >>> print(post.summary())
    Posterior given delta = 0.001 (exact)
    parameter              mean      sd  median  90% interval       90% HDI
    epsilon               3.081   1.219   2.708  1.842 to 5.586     1.596 to 4.827
    strength              0.526  0.2691  0.5253  0.08451 to 0.9488  0.1543 to 1
    epsilon, if Gaussian  15.18   7.767   12.54  7.601 to 31.29     6.335 to 26.57
    ...
    """

    format = "bayes-dp/posterior/1"
    kind = "posterior"
    question: Question  # what it answers
    marginals: Mapping[str, Marginal]
    samples: Mapping[str, Floats] = MappingProxyType({})  # draws by parameter, (chains, draws); none without chains
    provenance: Provenance
    assumptions: tuple[str, ...]
    caution: str = ""  # why the counts do not meet them, a sentence; empty where they do
    diagnostics: Mapping[str, Any]
    warnings: tuple[str, ...]
    epsilon: (
        Drawn  # a parameter as a value with arithmetic; `strength`, `delta` and others likewise, where they are unknown
    )
    strength: Drawn
    unchecked: str = ""  # why `bayes_dp.check` cannot be made from it, a sentence; empty where it can

    # -- what a method provides ---------------------------------------------------------------------------------

    @abstractmethod
    def draws(self, size: int = 4000, seed: int = 0) -> dict[str, Floats]:
        """`size` draws from the joint posterior, by parameter name; each array has shape (size,)."""

    @abstractmethod
    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        """Draws of the latent error rates α and β of every base; two arrays of shape (size, n)."""

    @abstractmethod
    def _answer(self, question: Question) -> Self:
        """The answer of the same method, with the same settings, to another question on the same counts."""

    @property
    def _has_rates(self) -> bool:
        return True

    def _joint_density(self, value: Floats, strength: Floats) -> Floats | None:
        """The density of the unknown parameter (r,) and the strength (c,), (r, c), up to a constant; None by draws."""
        return None

    def _chains_of(self, size: int = 4000, seed: int = 0) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """At most `size` draws of all chains, and what the sampler tells of each: arrays (chains, draws, ...).

        Beside the parameters there are the rates `alpha` and `beta`, where the posterior has any. Draws without chains
        are one chain.
        """
        found = {name: values[None] for name, values in self.draws(size, seed).items()}
        if self._has_rates:
            alpha, beta = self.rates(size, seed)
            found |= {"alpha": alpha[None], "beta": beta[None]}
        return found, {}

    def to_arviz(self, size: int = 4000, seed: int = 0) -> Any:
        """At most `size` draws as an ArviZ object: InferenceData with ArviZ 0.x, DataTree with ArviZ 1.x.

        Its groups are those of `bayes/inference_data.py`: what `az.loo`, `az.plot_ppc` and others ask for. Draws of a
        sampler are thinned evenly; draws by quadrature are one chain, and independent.
        """
        size, seed = check_draws(size, seed)
        return _above("inference_data").inference_data(self, size, seed)

    def pdf(self, value: ArrayLike, parameter: str | None = None) -> Floats:
        """The marginal posterior density of a parameter."""
        raise InputError(f"{self._method} gives draws and no density; the posterior of method='exact' has pdf")

    def delta_at(self, epsilon: float, prior: Any = None) -> Self:
        """The inverse question: the posterior of δ given ε, under a prior on δ (Uniform(0,1) by default)."""
        raise InputError(f"{self._method} has no delta_at; the posterior of method='exact' has it")

    # -- parameters as values -----------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # which would take any name for a parameter

        def __getattr__(self, name: str) -> Drawn:
            """A parameter by its name, at 4000 joint draws: `post.epsilon - 1`."""
            marginals = vars(self).get("marginals", {})
            if name not in marginals:
                has = f"; its parameters are {', '.join(marginals)}" if marginals else ""
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{has}")
            return Drawn(self._joint_draws()[name], name, self)

    @once
    def _joint_draws(self) -> dict[str, Floats]:
        return self.draws()

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isidentifier, self.marginals)})  # not "e[a]", which no dot takes

    # -- questions ----------------------------------------------------------------------------------------------

    @property
    def counts(self) -> ErrorCounts:
        """What it was made from; where groups were summed, their sums."""
        return self.question.counts

    @property
    def parameter(self) -> str:
        """The parameter that is unknown: "epsilon", or "delta" when ε is given."""
        return self.question.parameter

    @property
    def _method(self) -> str:
        return f"the posterior of method {show(self.provenance.method)}"

    @overload
    def epsilon_at(self, delta: float) -> Self: ...

    @overload
    def epsilon_at(self, delta: Sequence[float] | Floats) -> list[Self]: ...

    def epsilon_at(self, delta: float | Sequence[float] | Floats) -> Self | list[Self]:
        """The posterior of ε given the same counts and another δ, by the same method; a list for a sequence of δ.

        A sampler runs again for each δ, with the same settings. The exact method uses the tables of the counts again.

        >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3)
        >>> post.epsilon_at(0.1)  # another question, with its own posterior
        <Posterior of epsilon given delta=0.1: 90% interval 1.71 to 5.494; if Gaussian, 3.821 to 21.25>
        """
        values = numbers("delta", delta, 0.0, 1.0, high_open=True)
        found = [self._answer(self.question.given("epsilon", float(value))) for value in np.atleast_1d(values)]
        return found if values.ndim else found[0]

    def _marginal(self, parameter: str | None) -> Marginal:
        name = self.parameter if parameter is None else parameter
        if not isinstance(name, str) or name not in self.marginals:
            raise InputError(f"this posterior has no parameter {show(name)}; it has {', '.join(self.marginals)}")
        return self.marginals[name]

    @property
    def mean(self) -> float:
        return self._marginal(None).mean

    @property
    def sd(self) -> float:
        return self._marginal(None).sd

    @property
    def median(self) -> float:
        return float(self.quantile(0.5))

    def quantile(self, probability: ArrayLike, parameter: str | None = None) -> Floats:
        return self._marginal(parameter).quantile(numbers("probability", probability, 0.0, 1.0))

    def interval(
        self, prob: float = 0.9, kind: IntervalKind = "equal-tailed", parameter: str | None = None
    ) -> tuple[float, float]:
        """The credible interval of the given probability: equal tails, or the shortest (highest density).

        >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3)
        >>> low, high = post.interval(0.9)
        >>> round(low, 2), round(high, 2), round(post.prob_above(low), 3)
        (1.84, 5.59, 0.95)
        >>> [round(end, 2) for end in post.interval(0.9, kind="hdi")]  # the shortest of this probability
        [1.6, 4.83]
        """
        prob = _probability(prob)
        if not is_one_of(kind, ("equal-tailed", "hdi")):
            raise InputError(f"kind must be 'equal-tailed' or 'hdi', not {show(kind)}")
        if kind == "equal-tailed":
            low, high = self.quantile([(1 - prob) / 2, (1 + prob) / 2], parameter)
            return float(low), float(high)
        return self._marginal(parameter).hdi(prob)

    def prob_above(self, value: float, parameter: str | None = None) -> float:
        """P(parameter > value | data)."""
        return float(1.0 - self._marginal(parameter).cdf(one_number("value", value)))

    def meaning(self, prob: float = 0.9, *, baseline: float = 0.1) -> Meaning:
        """What the ends of the interval and the median let the best attack do; an example is guessed with chance
        `baseline` without the training.

        >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3)
        >>> [round(row.tpr[1], 3) for row in post.meaning().rows.values()]  # found, where 1% are falsely accused
        [0.064, 0.151, 0.996]
        """
        prob = _probability(prob)
        places = {"lower end": (1 - prob) / 2, "median": 0.5, "upper end": (1 + prob) / 2}
        functions = {}
        for what, place in places.items():
            name, value, f = self._trade_off(place)
            functions[f"{what}, {name} = {digits(value)}"] = f
        return meaning_of(functions, baseline)

    def _trade_off(self, probability: float) -> tuple[str, float, TradeOffFunction]:
        """A quantile: of which parameter, its value, and the trade-off function that has it."""
        value, pair = float(self.quantile(probability)), {**self.provenance.known}
        pair[self.parameter] = value
        if pair.keys() != {"epsilon", "delta"}:
            raise InputError(f"what a value of {self.parameter} means is not known without its trade-off function")
        return self.parameter, value, ApproxDP(**pair)

    def _most(self, probability: Floats, alpha: Floats) -> Floats:
        """What the trade-off functions of k quantiles allow at most: true positive rates at m false positive rates, and
        the advantage, (k, m + 1)."""
        functions = [self._trade_off(float(each))[2] for each in probability]
        return np.array([[*(1 - f(alpha)), f.advantage()] for f in functions])

    @property
    def unreliable(self) -> tuple[str, ...]:
        """The warnings that say that the numbers may not be those of the posterior."""
        return self.warnings

    # -- what its high end is worth -----------------------------------------------------------------------------

    @abstractmethod
    def gaussian(self, prob: float = 0.9) -> tuple[float, float]:
        """Where the interval would be if the noise of the training were Gaussian, with equal tails."""

    @abstractmethod
    def high_end(self, prob: float = 0.9) -> str:
        """What the upper end of the interval presumes, and what it would be without that: a sentence or two."""

    # -- how it is shown and saved ------------------------------------------------------------------------------

    def table(self, prob: float = 0.9) -> list[dict[str, Any]]:
        """One row a parameter: mean, sd, median and both intervals."""
        rows = []
        for name, marginal in self.marginals.items():
            low, high = self.interval(prob, parameter=name)
            hdi_low, hdi_high = marginal.hdi(prob)
            rows.append(
                {
                    "parameter": name,
                    "mean": marginal.mean,
                    "sd": marginal.sd,
                    "median": float(marginal.quantile(0.5)),
                    "low": low,
                    "high": high,
                    "hdi_low": hdi_low,
                    "hdi_high": hdi_high,
                }
            )
        return rows

    def shown(self, prob: float = 0.9) -> list[dict[str, Any]]:
        """The rows that are printed: those of `table`, and what has to be seen beside them."""
        return self.table(prob)

    def _rows(self, prob: float) -> Rows:
        """The table of the summary; of draws also R̂ and the lesser effective sample size, of bulk and tails."""
        known = ", ".join(f"{name} = {value:g}" for name, value in self.provenance.known.items())
        given = f" given {known}" if known else ""
        share = f"{100 * prob:g}%"
        cells = []
        for row in self.shown(prob):
            numbers = (digits(row[name]) for name in ("mean", "sd", "median"))
            ends = (("low", "high"), ("hdi_low", "hdi_high"))
            chains = self._convergence(row["parameter"]) if self.samples else ()
            ranges = (f"{digits(row[a])} to {digits(row[b])}" for a, b in ends)
            cells.append((row["parameter"], *numbers, *ranges, *chains))
        of_draws = ("R-hat", "ESS") if self.samples else ()
        headings = ("parameter", "mean", "sd", "median", f"{share} interval", f"{share} HDI", *of_draws)
        return Rows(cells, headings, f"Posterior{given} ({self.provenance.method})", "lrrrll" + "r" * len(of_draws))

    def _convergence(self, parameter: str) -> tuple[str, str]:
        rhat, bulk, tail = (self.diagnostics.get(name, {}).get(parameter) for name in ("rhat", "ess_bulk", "ess_tail"))
        if rhat is None or bulk is None or tail is None:
            return "", ""
        return f"{rhat:.3f}", f"{min(bulk, tail):.0f}"

    def _parts(self, prob: float = 0.9) -> Iterator[Part]:
        prob = _probability(prob)
        yield self._rows(prob)
        yield Sentences("Assumptions", self.assumptions)
        yield Sentences("Caution", (self.high_end(prob),), "each")
        yield Sentences("Warning", self.warnings, "each")

    def summary(self, prob: float = 0.9) -> Lines:
        """The posterior in a few lines of text, with its assumptions."""
        return Lines.of(self._parts(prob))

    def brief(self, prob: float = 0.9) -> Lines:
        """The summary with its assumptions counted and not listed, but for what the counts are known to break."""
        return Lines.of(
            [*in_brief(self._parts(prob)), Sentences("Caution", (self.caution,) if self.caution else (), "each")]
        )

    def to_dict(self, prob: float = 0.9) -> dict[str, Any]:
        """Everything a report needs, in full precision, fit for JSON."""
        prob = _probability(prob)
        return {
            "format": self.format,
            "kind": self.kind,
            "parameter": self.parameter,
            "prob": prob,
            "estimates": {row.pop("parameter"): finite(row) for row in self.table(prob)},
            "gaussian": finite(dict(zip(("low", "high"), self.gaussian(prob), strict=True))),
            "diagnostics": finite(dict(self.diagnostics)),
            "assumptions": list(self.assumptions),
            "cautions": [self.high_end(prob)],
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
            "asked": self._saved_question(),
        }

    def _saved_question(self) -> dict[str, Any] | None:
        """What it takes to ask again and get the same; None for a posterior by draws."""
        return None

    @staticmethod
    def from_json(source: Source) -> Posterior:
        """The posterior of a file that `to_json` or `bayes-dp estimate --json` wrote, by asking its question again.

        It takes as long as it did; of a sampler the chains are run again, with the seed. A file is refused whose
        intervals are not those of its data and priors, and one of a family, a likelihood or a prior of the user's own.
        """
        return _above("saved").read_file(source)

    @staticmethod
    def from_dict(content: dict[str, Any]) -> Posterior:
        """The inverse of `to_dict`, likewise.

        >>> rng = np.random.default_rng(0)
        >>> post = bdp.estimate_curves((rng.normal(size=50), rng.normal(1.0, 1.0, 50)), 0.1, family="pure")
        >>> bdp.Posterior.from_dict(post.to_dict()).interval() == post.interval()
        True
        """
        return _above("saved").read_dict(content)

    def to_json(self, path: str | PathLike[str], prob: float = 0.9) -> None:
        """Save `to_dict` as a JSON file, atomically."""
        write_text_atomically(path, json_of(self.to_dict(prob)))

    def to_frame(self, size: int = 4000, seed: int = 0) -> Any:
        """Draws as a pandas DataFrame, one column a parameter."""
        import pandas as pd

        return pd.DataFrame(self.draws(size, seed))

    def __repr__(self) -> str:
        low, high = self.interval(0.9)
        known = ", ".join(f"{name}={value:g}" for name, value in self.provenance.known.items())
        given = f" given {known}" if known else ""
        return f"<Posterior of {self.parameter}{given}{self._in_short(digits(low), digits(high))}>"

    def _in_short(self, low: str, high: str) -> str:
        """How `repr` goes on, with the ends of the 90% interval."""
        return f": 90% interval {low} to {high}"


def _above(name: str) -> Any:
    """A module that knows all methods, and so stands above this one; it is imported when it is first asked for."""
    return importlib.import_module(f"bayes_dp.bayes.{name}")


def _probability(prob: Any) -> float:
    return one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)


@dataclass(frozen=True)
class SampleMarginal:
    """The posterior of one parameter given by draws of shape (m,)."""

    values: Floats  # sorted
    mean: float
    sd: float

    @classmethod
    def of(cls, draws: ArrayLike) -> SampleMarginal:
        values = np.sort(np.asarray(draws, dtype=np.float64).ravel())
        return cls(values, float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0)

    def quantile(self, probability: ArrayLike) -> Floats:
        return np.asarray(np.quantile(self.values, np.asarray(probability, dtype=np.float64)))

    def cdf(self, value: ArrayLike) -> Floats:
        return np.asarray(np.searchsorted(self.values, value, side="right") / len(self.values))

    def hdi(self, probability: float) -> tuple[float, float]:
        """The shortest interval that holds the given share of the draws."""
        inside = min(len(self.values) - 1, int(np.ceil(probability * len(self.values))) - 1)
        widths = self.values[inside:] - self.values[: len(self.values) - inside]
        start = int(np.argmin(widths))
        return float(self.values[start]), float(self.values[start + inside])


def check_draws(size: Any, seed: Any) -> tuple[int, int]:
    """A number of draws and a seed, checked."""
    return whole_number("size", size, 1), seed_of(seed)
