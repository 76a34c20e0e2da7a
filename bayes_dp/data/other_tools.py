"""Scores of membership inference attacks from the files and objects of other tools, and from files of this one.

A file is recognised by the names in it, not by what it is called (but for one, see `_OF_SEVERAL`), and nothing in it
is unpickled:

    ml_privacy_meter     attack_result_*.npz: `scores`, `memberships`                        as of 2.0, November 2025
    LeakPro              the JSON file of a MIAResult: `signal_values`, `true_labels`        0.1
    SACRO-ML             report.json: `attack_experiment_logger`, with an `individual` block of `score` and `member`
                         (report_individual), or files of arrays named beside it; or such a file itself   1.2 and 1.3
    TensorFlow Privacy   the fields of AttackInputData as arrays of an .npz file, `loss_train` and `loss_test`, or
                         `logits_*`, `probs_*` with `labels_*`, or `entropy_*`; or the object        0.8 and 0.9
    PrivacyGuard         two frames or tables with a column `score`, of members and of non-members; or its analysis
                         input, with `df_train_user` and `df_test_user`                      1.0

All of their scores are higher for members; losses and entropies of TensorFlow Privacy get the other sign, and of logits
and probabilities the score is log p − log(1 − p) of the example's own class.

What no such file says is how members were chosen. A bound on ε rests on that, so that it is asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, is_one_of, show
from bayes_dp.data.files import printable
from bayes_dp.data.guess_table import GuessTable, guess_table_of, has_scores
from bayes_dp.data.json_text import read_json
from bayes_dp.data.layout import CellKind, Layout, real_number
from bayes_dp.data.log_odds import odds_of_logits, odds_of_probabilities
from bayes_dp.data.npz import npz_arrays
from bayes_dp.data.parsing import file_table, headings_of
from bayes_dp.data.table import Table
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["holds_scores", "read_scores", "scores_of"]

Members = Literal["coins"]

_MOST = 2_000_000_000  # bytes of arrays that are read
_ROWS = 1_000_000
_OF_SEVERAL = "attack_result_average.npz"  # which nothing in it tells from that of one model
_UNSURE = 1e-2  # by which probabilities may miss 1, as those of half precision do
_TABLES = (".csv", ".tsv", ".txt", ".json")
_PICKLED = (".pkl", ".pickle", ".pt", ".joblib")
_TENSORFLOW = ("loss", "logits", "probs", "entropy")  # the first that is there counts
_SIDES = ("train", "test")
_SCORE_ALONE = Layout(
    headings={"score": ("score",)},
    cells={"score": CellKind("d", real_number, "a number (inf and -inf too)")},
    needed=(("score",),),
    optional=(),
    accepted="score",
    example="score",
    content="scores",
)


def read_scores(
    source: str | os.PathLike[str] | pd.DataFrame | Any,
    *,
    members: Members | None = None,
    propensity: ArrayLike | None = None,
    non_members: str | os.PathLike[str] | pd.DataFrame | None = None,
    which: str | None = None,
) -> GuessTable:
    """The scores of an attack on one model, from a file of this package or of another tool, see the module.

    Parameters
    ----------
    source : a .csv, .tsv, .txt, .json or .npz file, or an object as the tool has it in memory.
    members : "coins" says that each example was put into the training data by its own fair coin. Other tools' files do
        not tell, and without it they are refused, unless there is a propensity.
    propensity : the chance of each example to be a member given its features, (n,) or one for all. The way is then
        `audits.zero_run`.
    non_members : of PrivacyGuard, whose frames of members and of non-members are two: that of the non-members.
    which : of a report of SACRO-ML with several results: the name of the one that is wanted.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "attack_result_0.npz"
    >>> np.savez(path, scores=np.arange(4.0), memberships=np.array([False, False, True, True]), auc=1.0)
    >>> bdp.read_scores(path, members="coins")
    GuessTable: 4 examples, 2 members
    """
    if members is not None and not is_one_of(members, ("coins",)):
        raise InputError(f'members must be "coins" or None, not {show(members)}')
    if members is not None and propensity is not None:
        raise InputError('members="coins" and propensity exclude each other: by fair coins every propensity is 1/2')
    tool, table = scores_of(source, non_members, which)
    if propensity is not None:
        return GuessTable(table.score, table.member, propensity, table.base)
    if tool and members is None:
        raise InputError(_asked(_name_of(source), tool))
    return table


def scores_of(source: Any, non_members: Any = None, which: str | None = None) -> tuple[str, GuessTable]:
    """The tool that the scores are from, "" for this one, and the scores, whoever the members are."""
    if which is not None and not isinstance(which, str):
        raise InputError(f"which must be the name of a result, not {show(which)}")
    if non_members is not None:
        return _refuse_which(which, "PrivacyGuard", _of_two(source, non_members))
    if not isinstance(source, str | os.PathLike):
        return _refuse_which(which, *_of_object(source))
    suffix = os.path.splitext(os.fspath(source))[1].lower()
    if suffix == ".npz":
        return _refuse_which(which, *_of_arrays(source))
    if suffix == ".json":
        name, content = read_json(source)
        if isinstance(content, dict) and content.get("result_type") == "MIAResult":
            return _refuse_which(which, "LeakPro", _of_leakpro(name, content))
        if results := _sacro_results(content):
            return "SACRO-ML", _of_sacro(name, os.path.dirname(os.fspath(source)), results, which)
    elif suffix in _PICKLED:
        raise InputError(f"{printable(source)} is pickled, and what is pickled may run anything: it is never read here")
    elif suffix not in _TABLES:
        raise InputError(f"{printable(source)} must end in {', '.join(_TABLES)} or .npz")
    return _refuse_which(which, "", GuessTable.read(source))


def holds_scores(path: str) -> bool:
    """Whether a file is one of scores, and not of error counts; a file that cannot be read is neither."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".json":
        content = read_json(path)[1]
        rows = content if isinstance(content, list) else [content]
        keys = list(rows[0]) if rows and isinstance(rows[0], dict) else []
        return has_scores(keys) or "signal_values" in keys or bool(_sacro_results(content))
    if suffix not in (".csv", ".tsv", ".txt"):
        return suffix in (".npz", *_PICKLED)
    return has_scores(headings_of(path))


def _refuse_which(which: str | None, tool: str, table: GuessTable) -> tuple[str, GuessTable]:
    if which is not None:
        raise InputError(f"which is for a report of SACRO-ML with several results, not {show(which)}")
    return tool, table


def _asked(name: str, tool: str) -> str:
    return (
        f"{name} is of {tool}, which does not say how members were chosen. If each example was put into the training"
        ' data by its own fair coin, say members="coins" (--members coins). If not, no one-run bound holds: the way is'
        " zero_run, with the chance of each example to be a member as propensity, or learned from features"
        " (bayes-dp audit zero-run --features)"
    )


def _name_of(source: Any) -> str:
    return printable(source) if isinstance(source, str | os.PathLike) else f"the {type(source).__name__}"


def _table(name: str, score: Any, member: Any, headings: Sequence[str] = ("score", "member")) -> GuessTable:
    """A table whose messages name the file, the field and the row."""
    columns = {"score": score, "member": member}
    for heading, values in zip(headings, columns.values(), strict=True):
        if (shape := _shape(values)) is None or len(shape) != 1 or not 0 < shape[0] <= _ROWS:
            found = "lists of different lengths" if shape is None else f"the shape {shape}"
            raise InputError(f"{name}: {heading} must have one number for each of 1 to {_ROWS} examples, not {found}")
    return guess_table_of(
        Table(
            columns,
            dict(zip(columns, headings, strict=True)),
            lambda heading, row: f"{name}: {heading}{'' if row is None else f'[{row}]'}",
        )
    )


def _shape(values: Any) -> tuple[int, ...] | None:
    """The shape of an array or of nested lists, None where these have different lengths."""
    try:
        return np.shape(values)
    except ValueError:
        return None


def _joined(name: str, given: Sequence[Any], headings: Sequence[str]) -> GuessTable:
    """Scores of members and of non-members, (n1,) and (n0,)."""
    sides = [np.asarray(values) for values in given]
    for heading, values in zip(headings, sides, strict=True):
        if values.ndim != 1 or values.dtype.kind not in "fiub" or not values.size:
            raise InputError(f"{name}: {heading} must hold numbers, one for each example, not {show(values)}")
        if (bad := np.isnan(values.astype(np.float64))).any():
            raise InputError(f"{name}: {heading}[{int(np.argmax(bad))}] must be a number, not nan")
    member = np.repeat([True, False], [len(values) for values in sides])
    return _table(name, np.concatenate(sides), member)


# Arrays ---------------------------------------------------------------------------------------------------------------


def _of_arrays(source: Any) -> tuple[str, GuessTable]:
    found: list[str] = []

    def choose(name: str, keys: Sequence[str]) -> Mapping[str, str]:
        for tool, chosen in (
            ("ml_privacy_meter", _keys(keys, "scores", "memberships")),
            ("SACRO-ML", _keys(keys, "score", "member")),
            ("SACRO-ML", _keys(keys, "y_pred_proba", "y_test")),
            ("TensorFlow Privacy", _tensorflow_keys(keys)),
        ):
            if chosen:
                found.append(tool)
                return chosen
        if "member" in keys:
            raise InputError(f"{name} looks like a matrix of scores of several models: see ScoreMatrix.from_npz")
        raise InputError(
            f"{name} holds the arrays {show(list(keys))}, which are those of no attack that is known: see the page on"
            " other tools"
        )

    name, arrays = npz_arrays(source, choose, "scores and memberships", "scores", _MOST)
    if found[0] == "ml_privacy_meter" and os.path.basename(os.fspath(source)) == _OF_SEVERAL:
        raise InputError(
            f"{name} has the scores of all target models in one row, which the attack on each has made of the"
            " memberships of the others: take the file of one, attack_result_0.npz and so on"
        )
    values = {field: array for field, (_, array) in arrays.items()}
    if found[0] == "TensorFlow Privacy":
        return found[0], _of_tensorflow(name, values)
    (first, score), (second, member) = values.items()
    if first == "y_pred_proba":
        score = _second_column(name, score)
    return found[0], _table(name, score, member, (first, second))


def _keys(keys: Sequence[str], *wanted: str) -> dict[str, str]:
    return {key: key for key in wanted} if set(wanted) <= set(keys) else {}


def _tensorflow_keys(keys: Sequence[str]) -> dict[str, str]:
    for kind in _TENSORFLOW:
        wanted = [f"{kind}_{side}" for side in _SIDES]
        if kind in ("logits", "probs"):
            wanted += [f"labels_{side}" for side in _SIDES]
        if set(wanted) <= set(keys):
            return {key: key for key in wanted}
    return {}


def _of_tensorflow(name: str, arrays: Mapping[str, Any]) -> GuessTable:
    kind = next(kind for kind in _TENSORFLOW if f"{kind}_train" in arrays)
    headings = [f"{kind}_{side}" for side in _SIDES]
    sides = [np.asarray(arrays[heading]) for heading in headings]
    if kind in ("loss", "entropy"):
        return _joined(name, [-values if values.dtype.kind in "fi" else values for values in sides], headings)
    labels = [np.asarray(arrays[f"labels_{side}"]) for side in _SIDES]
    odds: Callable[..., Floats] = odds_of_logits if kind == "logits" else odds_of_probabilities
    scores = []
    for heading, values, label in zip(headings, sides, labels, strict=True):
        if values.ndim != 2 or values.shape[1] < 2 or values.dtype.kind != "f" or label.shape != values.shape[:1]:
            raise InputError(
                f"{name}: {heading} must be numbers of the shape (examples, classes), of at least 2, with a label"
                f" for each example, not {values.shape} with labels of the shape {label.shape}"
            )
        if values.shape[1] != sides[0].shape[1]:
            raise InputError(f"{name}: {heading} must have {sides[0].shape[1]} classes, not {values.shape[1]}")
        classes = values.shape[1]
        if label.dtype.kind not in "iu" or not ((label >= 0) & (label < classes)).all():
            raise InputError(f"{name}: labels of {heading} must be whole numbers from 0 to {classes - 1}")
        if (bad := ~np.isfinite(values).all(axis=1)).any():
            raise InputError(f"{name}: {heading}[{int(np.argmax(bad))}] must be finite numbers")
        with np.errstate(over="ignore"):  # of logits as large as numbers can be, whose differences are infinite
            shares = ((values >= 0) & (values <= 1)).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= _UNSURE)
            if kind == "probs" and not shares.all():
                i = int(np.argmin(shares))
                raise InputError(
                    f"{name}: {heading}[{i}] must be probabilities that add up to 1, not {show(values[i])}"
                )
            scores.append(odds(values, label.astype(np.intp)))
    return _joined(name, scores, headings)


def _second_column(name: str, values: Any) -> Any:
    values = np.asarray(values)
    if values.ndim != 2 or values.shape[1] != 2:
        raise InputError(
            f"{name}: y_pred_proba must have two columns, of non-members and of members, not the shape {values.shape}"
        )
    return values[:, 1]


# JSON -----------------------------------------------------------------------------------------------------------------


def _of_leakpro(name: str, content: Mapping[str, Any]) -> GuessTable:
    if not content.get("signal_values"):
        raise InputError(
            f"{name} has no signal_values: this attack of LeakPro gave counts of its errors only, and no scores"
        )
    return _table(name, content["signal_values"], content.get("true_labels") or [], ("signal_values", "true_labels"))


def _sacro_results(content: Any) -> dict[str, Any]:
    """The results of a report by their names, ATTACK/INSTANCE."""
    found: dict[str, Any] = {}
    for attack, entry in content.items() if isinstance(content, dict) else ():
        logger = entry.get("attack_experiment_logger") if isinstance(entry, dict) else None
        instances = logger.get("attack_instance_logger") if isinstance(logger, dict) else None
        for instance, result in instances.items() if isinstance(instances, dict) else ():
            found[f"{attack}/{instance}"] = result
    return found


def _of_sacro(name: str, folder: str, results: Mapping[str, Any], which: str | None) -> GuessTable:
    scored = {key: result for key, result in results.items() if isinstance(result, dict) and _has_scores(result)}
    if not scored:
        raise InputError(
            f"{name} has no scores of single examples: run the attack of SACRO-ML with report_individual=True"
        )
    if which is None and len(scored) > 1:
        raise InputError(f"{name} has several results, of which which must name one: {', '.join(scored)}")
    if which is not None and which not in scored:
        raise InputError(f"which must be one of {', '.join(scored)}, not {show(which)}")
    result = scored[which or next(iter(scored))]
    if isinstance(block := result.get("individual"), dict):
        return _table(name, block.get("score") or [], block.get("member") or [])
    beside = result.get("individual_file") or result.get("predictions_file")
    if not isinstance(beside, str) or os.path.basename(beside) != beside or not beside.endswith(".npz"):
        raise InputError(f"{name} names {show(beside)}, which is no .npz file beside it")
    return _of_arrays(os.path.join(folder, beside))[1]


def _has_scores(result: Mapping[str, Any]) -> bool:
    return any(result.get(key) for key in ("individual", "individual_file", "predictions_file"))


# Frames and objects ---------------------------------------------------------------------------------------------------


def _of_two(inside: Any, outside: Any) -> GuessTable:
    """Two tables or frames, each with a column score."""
    sources = {"source": inside, "non_members": outside}
    for argument, source in sources.items():
        if isinstance(source, str | os.PathLike) and os.path.splitext(os.fspath(source))[1].lower() in _TABLES:
            continue
        if type(source).__name__ != "DataFrame":
            beside = " beside non_members" if argument == "source" else ""
            raise InputError(
                f"{argument} must be a .csv, .tsv, .txt or .json file or a pandas DataFrame{beside}, not {show(source)}"
            )
    columns = [_score_column(_name_of(source), source) for source in sources.values()]
    names = dict.fromkeys(map(_name_of, sources.values()))
    return _joined(" and ".join(names), columns, ("score of members", "score of non-members"))


def _score_column(name: str, source: Any) -> Any:
    if isinstance(source, str | os.PathLike):
        return np.asarray(file_table(source, _SCORE_ALONE).columns["score"])
    if "score" not in source.columns:
        raise InputError(f"{name} must have a column score, and has {show(list(source.columns))}")
    return source["score"].to_numpy()


def _of_object(source: Any) -> tuple[str, GuessTable]:
    """What a tool has in memory, known by the names of its attributes."""
    name = _name_of(source)
    if hasattr(source, "df_train_user") and hasattr(source, "df_test_user"):
        return "PrivacyGuard", _of_two(source.df_train_user, source.df_test_user)
    if hasattr(source, "signal_values") and hasattr(source, "true"):
        if source.signal_values is None:
            raise InputError(f"{name} has no signal_values, only counts of errors")
        return "LeakPro", _table(name, np.ravel(source.signal_values), np.ravel(source.true), ("signal_values", "true"))
    kinds = (*_TENSORFLOW, "labels")
    fields = {f"{kind}_{side}": getattr(source, f"{kind}_{side}", None) for kind in kinds for side in _SIDES}
    arrays = {key: value for key, value in fields.items() if value is not None}
    if chosen := _tensorflow_keys(list(arrays)):
        return "TensorFlow Privacy", _of_tensorflow(name, {key: arrays[key] for key in chosen})
    if type(source).__name__ == "DataFrame":
        return "", GuessTable.from_frame(source)
    raise InputError(f"source must be a path, a pandas DataFrame or the result of a tool that is known, not {name}")
