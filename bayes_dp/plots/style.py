"""What the figures have in common: colours, names, sizes, and the axes they are drawn into.

The colours are those of Okabe and Ito, which colour-blind readers can tell apart. Nothing global is changed, and
Matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_dp.checks import InputError, show
from bayes_dp.results.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.bayes.families.base import TradeOffFamily
    from bayes_dp.bayes.levels.score_orders import ScoreOrders

__all__ = [
    "BLUE",
    "CURVES",
    "CYCLE",
    "GREEN",
    "GREY",
    "ORANGE",
    "Look",
    "axes_of",
    "check_look",
    "check_shared",
    "dressed",
    "explained",
    "explained_above",
    "explained_below",
    "family_of",
    "held",
    "ink",
    "known",
    "label",
    "logarithmic",
    "look_at",
    "look_of",
    "marked",
    "named_places",
    "next_place",
    "orders_of",
    "panels_of",
    "paper",
    "posterior_of",
    "shortened",
    "spread_out",
    "title_of",
    "veil",
]

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#6e6e6e"
CYCLE = (BLUE, ORANGE, GREEN, "#cc79a7", "#e69f00", "#56b4e9")  # without black and yellow, for light and dark grounds

CURVES = tuple(colour for colour in CYCLE if colour != ORANGE)  # which is that of what stands beside a curve

_LIGHT = 1.5  # of red, green and blue, each at most 1, from which an ink is of a dark ground
_FAR = 50.0  # the ratio from which numbers are shown in logarithms
_DEEPEST = 1e-5  # of the largest number, the left end of such an axis
_LONGEST = 18  # letters of a name
_COLUMN = 3.4  # inches, of a paper's column
_INSIDE = 4  # entries of a legend that has room within the axes
_ENTRY, _FRAME = 0.165, 0.11  # inches, of an entry of a legend and of what is around them
_LABELS = {"epsilon": "ε", "delta": "δ", "strength": "s", "tau": "τ", "rho": "ρ", "mu": "μ", "theta": "θ"}
_AXIS_LABELS = {"strength": "attack strength s"}


def label(parameter: str, short: bool = True) -> str:
    """The parameter's letter; the words of an axis where it is not short."""
    letter = _LABELS.get(parameter, parameter)
    return letter if short else _AXIS_LABELS.get(parameter, letter)


def known(post: Posterior) -> str:
    """What the posterior is given: "δ = 0.001", or the counts alone."""
    return ", ".join(f"{label(name)} = {value:g}" for name, value in post.provenance.known.items()) or "the counts"


def posterior_of(post: Any, name: str = "post") -> Posterior:
    """The posterior that is given, checked."""
    if not isinstance(post, Posterior):
        raise InputError(f"{name} must be a posterior, as bayes_dp.estimate gives it, not {type(post).__name__}")
    return post


def family_of(post: Posterior) -> TradeOffFamily | None:
    """The family of trade-off functions that the posterior is of; None for one of (ε, δ)."""
    from bayes_dp.bayes.levels.posterior import FamilyPosterior

    return post.family if isinstance(post, FamilyPosterior) else None


def orders_of(post: Posterior) -> ScoreOrders | None:
    """The order of the scores that the posterior is of; None for one of anything else."""
    from bayes_dp.bayes.levels.curve_posterior import OfOrders

    return post.question.orders if isinstance(post, OfOrders) else None


def axes_of(ax: Any, height: float = 2.6) -> Axes:
    """The axes that are given, checked, or those of a new figure as wide as a column."""
    if ax is None:
        return panels_of(None, (1, 1), height)[0]
    _check(ax, "ax")
    return ax


def panels_of(axes: Any, shape: tuple[int, int], height: float) -> NDArray[np.object_]:
    """The axes that are given, checked, or those of a new figure: a flat array of rows times columns."""
    wanted = shape[0] * shape[1]
    if axes is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(_COLUMN, height), layout="constrained")
        return figure.subplots(*shape, squeeze=False).ravel()
    panels = np.asarray(axes, dtype=object).ravel()
    if len(panels) != wanted:
        raise InputError(f"ax must be {wanted} Matplotlib Axes, not {len(panels)}")
    for i, ax in enumerate(panels):
        _check(ax, f"ax[{i}]")
    return panels


def check_look(label: Any, color: Any) -> None:
    """Refuse what is no name for a legend, or no colour."""
    from matplotlib.colors import is_color_like

    if label is not None and not isinstance(label, str):
        raise InputError(f"label must be text, not {show(label)}")
    if color is not None and not is_color_like(color):
        raise InputError(f"color must be a colour as Matplotlib writes it, not {show(color)}")


@dataclass(frozen=True)
class Look:
    """How a thing of several parts is drawn on axes that may have others of its kind.

    number: how many there are already. name: what stands before the words of its parts in the legend, "" for nothing.
    color: that of all its parts, None where each part has its own.
    """

    number: int
    name: str
    color: Any

    def words(self, part: str) -> str:
        return f"{self.name}, {part}" if self.name else part

    def hue(self, own: Any) -> Any:
        return own if self.color is None else self.color


def marked(ax: Axes, kind: str) -> list[Any]:
    """What the axes have of a kind: each thing that is drawn has one artist with the kind as its gid."""
    return [artist for artist in ax.get_children() if artist.get_gid() == kind]


def look_at(ax: Axes, kind: str, noun: str, label: str | None, color: Any) -> Look:
    """The look of one more thing of a kind: by default it has a name and a colour of its own if it is not the first."""
    check_look(label, color)
    number = len(marked(ax, kind))
    if number and color is None:
        color = CURVES[number % len(CURVES)]
    return Look(number, label or (f"{noun} {number + 1}" if number else ""), color)


def check_shared(ax: Axes, look: Look, x: str | None = None, y: str | None = None, title: str | None = None) -> None:
    """Refuse what does not have the axes of the things that are there."""
    for old, new in ((ax.get_xlabel(), x), (ax.get_ylabel(), y), (ax.get_title(), title)):
        if look.number and new is not None and old != new:
            raise InputError(f"ax shows {old}, so that {new} needs axes of its own")


def title_of(ax: Axes, look: Look, title: str) -> str:
    """The title, or none where the things on the axes have different ones."""
    return title if not look.number or ax.get_title() == title else " "


def next_place(look: Look, end: float) -> int:
    """The place of the first row (or column) of a thing: after those of the things before, which come to `end`."""
    return int(np.floor(end)) + 2 if look.number else 0


def named_places(axis: Any, look: Look, place: ArrayLike, names: list[str]) -> None:
    """Names at the places of rows or columns, besides those that there are."""
    if look.number:
        place = [*axis.get_ticklocs(), *np.asarray(place)]
        names = [*(text.get_text() for text in axis.get_ticklabels()), *names]
    axis.set_ticks(place, names)


def look_of(ax: Axes, kind: str, name: str, label: str | None, color: Any) -> tuple[Any, str, bool]:
    """The colour and the name of one more curve of a kind, whose lines have it as their gid, and whether there is one.

    By default the next colour that is free, and a name with its number.
    """
    check_look(label, color)
    before = sum(line.get_gid() == kind for line in ax.get_lines())
    colour = CURVES[before % len(CURVES)] if color is None else color
    return colour, label or (f"{name} {before + 1}" if before else name), bool(before)


def held(ax: Axes, more: bool, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Limits of these ends, or, with more than one curve on the axes, of these and those that there are."""
    for name, (low, high) in (("x", x), ("y", y)):
        start, end = getattr(ax, f"get_{name}lim")()
        getattr(ax, f"set_{name}lim")(min(low, start) if more else low, max(high, end) if more else high)


def ink(ax: Axes) -> Any:
    """The colour of the frame: black on white, white on a dark ground."""
    return ax.spines["left"].get_edgecolor()


def paper(ax: Axes) -> Any:
    """The colour of the ground."""
    return ax.get_facecolor()


def veil(ax: Axes, opacity: float) -> float:
    """The opacity of an area: more on a dark ground, on which the colours are less bright than on a light one."""
    from matplotlib.colors import to_rgb

    return min(1.0, 2.0 * opacity) if sum(to_rgb(ink(ax))) > _LIGHT else opacity


def dressed(ax: Axes, x: str, y: str, title: str = "") -> None:
    """Labels and title in sizes that suit a column."""
    ax.set_xlabel(x, fontsize="small")
    ax.set_ylabel(y, fontsize="small")
    ax.tick_params(labelsize="x-small")
    if title:
        ax.set_title(title, fontsize="small")


def logarithmic(ax: Axes) -> None:
    """Both axes in logarithms, with plain numbers at 1, 2 and 5 times the powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def shortened(name: str) -> str:
    """A name that has room beside an axis."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def spread_out(axis: Any, values: ArrayLike, most: float) -> tuple[float, float]:
    """The ends of an axis for values up to `most`: from 0, or in logarithms where positive values differ by far."""
    positive = np.asarray(values, float)
    positive = positive[positive > 0]
    if not len(positive) or positive.max() < _FAR * positive.min():
        return 0.0, 1.05 * most or 1.0
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_formatter("{x:g}")
    return float(max(0.5 * positive.min(), _DEEPEST * most)), 1.3 * most


def explained(ax: Axes, place: Any = "upper right", above: bool = False, **options: Any) -> Any:
    """A legend in the axes or, with many entries, below them; `above` makes room for it above all that is drawn."""
    entries = len(ax.get_legend_handles_labels()[1])
    if entries > _INSIDE:
        entries = 0
        if "bbox_to_anchor" not in options:
            place, options = "upper center", {"bbox_to_anchor": (0.5, 0.0), "borderaxespad": 4.5}
    if above:
        _raised(ax, _ENTRY * entries + _FRAME)
    style: dict[str, Any] = {"frameon": False, "fontsize": "x-small", "handlelength": 1.6}
    return ax.legend(loc=place, **style | options)


def _raised(ax: Axes, inches: float) -> None:
    """The upper end of the axis is so many inches above the data."""
    share = min(inches / (ax.bbox.height / ax.figure.dpi), 0.6)
    bottom, top = ax.get_ylim()[0], float(ax.dataLim.y1)
    if ax.get_yscale() == "log":
        ax.set_ylim(bottom, bottom * (top / bottom) ** (1 / (1 - share)))
    else:
        ax.set_ylim(bottom, bottom + (top - bottom) / (1 - share))


def explained_above(ax: Axes) -> None:
    """A legend above the axes, where it hides nothing."""
    explained(ax, "lower center", bbox_to_anchor=(0.5, 1.0))


def explained_below(ax: Axes, columns: int = 1, **options: Any) -> Any:
    """A legend under the axes and their label, where it hides nothing."""
    return explained(ax, "upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.5, ncols=columns, **options)


def _check(ax: Any, name: str) -> None:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InputError(f"{name} must be Matplotlib Axes, not {type(ax).__name__}")
