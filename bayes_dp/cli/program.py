"""The command line: parse, call, print.

Answers go to standard output; progress, warnings and errors to standard error. Exit codes: 0 done, 1 a check failed,
2 bad input (one line says what), 3 a gate is inconclusive, 70 the program itself failed, 130 interrupted, 141 the
reader of the output went away.
NumPy and all that is heavier are imported by the verbs, so that --help stays quick.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp import __version__
from bayes_dp.cli.command import WIDTH
from bayes_dp.cli.kept_programs import keep_programs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayes_dp.audits.judged import Judged
    from bayes_dp.comparison.control import Control, Evidence
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.data.guess_table import GuessTable
    from bayes_dp.data.guesses import Guesses

__all__ = [
    "app",
    "judged_in",
    "main",
    "make_folder",
    "png",
    "read_control",
    "read_counts",
    "read_evidence",
    "read_scores",
    "read_table",
    "unwarned",
    "write_or_print",
]

# The base class of usage errors, to which typer gives no public name.
_UsageError: Any = typer.BadParameter.__bases__[0]

_COMPLETES = "_BAYES_DP_COMPLETE"  # in the environment where a shell asks how a line goes on

_TOP_EPILOG = """\b
See it at work:   bayes-dp demo
Your own counts:  bayes-dp estimate counts.csv --delta 1e-3
All methods:      bayes-dp compare counts.csv --delta 1e-3
One lower bound:  bayes-dp audit one-run guesses.csv --delta 1e-5
What to give it:  bayes-dp estimate --help"""


app = typer.Typer(rich_markup_mode=None, context_settings={"max_content_width": WIDTH})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments (by default those of the process); returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an output that cannot show ε is no reason to fail
            stream.reconfigure(errors="replace")
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end of the process
        if isinstance(error, BrokenPipeError):
            return 141
        return _complain(f"the output cannot be written: {error.strerror}")
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        words = frozenset(sys.argv[1:] if arguments is None else arguments)
        asked = None if _COMPLETES in os.environ else words & _names(app)
        code = _command(app, asked).main(arguments, prog_name="bayes-dp", standalone_mode=False)
    except _UsageError as error:
        message = error.format_message().rstrip(".").replace("Value error, ", "")
        hint = f"; see {error.ctx.command_path} --help" if error.ctx is not None else ""
        return _complain(message[:1].lower() + message[1:] + hint)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except SystemExit as end:
        if end.code:  # how typer answers a broken pipe
            raise BrokenPipeError from None
        return 0  # and how it ends when it has told a shell how a line goes on
    except OSError:  # files that cannot be read or written are InputErrors, so this is the output; see main
        raise
    except Exception as error:
        from bayes_dp.checks import InputError

        if isinstance(error, InputError):
            return _complain(str(error))
        traceback.print_exc()
        return 70
    if code == 130:
        typer.echo("bayes-dp: interrupted", err=True)
    return int(code or 0)


@cache
def _command(verbs: typer.Typer, asked: frozenset[str] | None = None) -> Any:
    """What parses a command line on which verbs of these names are asked, or any verb.

    To put all options of all verbs together takes half of the time of --help. So the others have their words only.
    """
    return typer.main.get_command(verbs if asked is None else _with_options(verbs, asked))


@cache
def _names(verbs: typer.Typer) -> frozenset[str]:
    below = (_names(group.typer_instance) for group in verbs.registered_groups if group.typer_instance)
    return frozenset(map(_name, verbs.registered_commands)).union(*below)


def _name(verb: Any) -> str:
    return str(verb.name or typer.main.get_command_name(verb.callback.__name__))


def _with_options(verbs: typer.Typer, asked: frozenset[str]) -> typer.Typer:
    found = copy(verbs)
    found.registered_commands = [
        verb if _name(verb) in asked else _with_words(verb) for verb in verbs.registered_commands
    ]
    found.registered_groups = [copy(group) for group in verbs.registered_groups]
    for group in found.registered_groups:
        if group.typer_instance:
            group.typer_instance = _with_options(group.typer_instance, asked)
    return found


def _with_words(verb: Any) -> Any:
    found = copy(verb)
    found.name, found.help, found.callback = _name(verb), verb.help or verb.callback.__doc__, _nothing
    return found


def _nothing() -> None:
    """In the place of a verb that is not asked."""


def _complain(message: str) -> int:
    typer.echo(f"bayes-dp: error: {' '.join(message.split())}", err=True)
    return 2


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayes-dp {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=_TOP_EPILOG)
def _top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Do not keep compiled samplers in the cache folder of the user (~/.cache)."),
    ] = False,
) -> None:
    """How private is a trained model? From the errors of membership inference attacks on it to a posterior over ε,
    the parameter of (ε, δ)-differential privacy: the smaller ε, the less a model gives away about any one example.
    """
    if not no_cache:
        keep_programs()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def read_counts(file: str, design: str | None, examples: int | None, group: str | None = None) -> ErrorCounts:
    """Error counts from a file, or from standard input."""
    import io

    from bayes_dp.checks import InputError
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.data.files import read_text

    design = None if design is None else str(design)  # an option's name is more than a str
    if file != "-":
        return ErrorCounts.read(file, design=design, examples=examples, group=group)
    if sys.stdin is None:
        raise InputError("standard input is closed")
    name, text = read_text(sys.stdin.buffer)
    source = io.StringIO(text)
    source.name = name
    if text.lstrip()[:1] in ("{", "["):
        return ErrorCounts.from_json(source, design=design, examples=examples, group=group)
    return ErrorCounts.from_csv(source, design=design, examples=examples, group=group)


def read_table(
    file: str, members: str | None = None, non_members: str | None = None, which: str | None = None
) -> GuessTable:
    """Scores from a file of this package, or of another tool."""
    from bayes_dp.data.other_tools import read_scores as read

    return read(file, members=None if members is None else str(members), non_members=non_members, which=which)  # type: ignore[arg-type]


def read_evidence(
    file: str,
    design: str | None,
    examples: int | None,
    group: str | None = None,
    *,
    choice: Any = None,
    members: str | None = None,
    non_members: str | None = None,
    which: str | None = None,
) -> ErrorCounts | GuessTable:
    """Error counts, or the scores of one model, by the headings of the file."""
    from bayes_dp.checks import InputError
    from bayes_dp.data.counts import ONE_MODEL
    from bayes_dp.data.other_tools import holds_scores

    given = {"guesses and --choice": choice, "members": members, "non-members": non_members, "which": which}
    if file == "-" or (non_members is None and not holds_scores(file)):
        for name, value in given.items():
            if value is not None:
                raise InputError(f"--{name} are for scores, which {file} does not hold")
        return read_counts(file, design, examples, group)
    if design not in (None, *ONE_MODEL) or examples is not None or group is not None:
        raise InputError(f"--design, --examples and --groups are for error counts, and {file} holds scores")
    table = read_table(file, members, non_members, which)
    if table.base is not None and len(set(table.base)) > 1:
        raise InputError(f"{file} holds {len(set(table.base))} bases, each an audit of its own model: keep one of them")
    return table


def judged_in(
    given: ErrorCounts | GuessTable, delta: float | None, choice: Any
) -> tuple[ErrorCounts | Guesses, ErrorCounts]:
    """What the methods judge, and its error counts: counts as they are, or the guesses of scores."""
    from bayes_dp.data.counts import ErrorCounts

    if isinstance(given, ErrorCounts):
        return given, given
    found, counts = _judged(given, delta, choice)
    return found.guesses, counts


def _judged(given: GuessTable, delta: float | None, choice: Any) -> tuple[Judged, ErrorCounts]:
    from bayes_dp.audits.judged import judged

    found = judged(given, delta, choice)
    return found, found.counts


def read_control(
    file: str | None,
    without: bool,
    limit: float | None,
    given: ErrorCounts | GuessTable,
    delta: float | None,
    source: str,
    *,
    choice: Any = None,
    members: str | None = None,
    which: str | None = None,
) -> Evidence:
    """What --control and --no-control say, checked. Error counts of a CSV file are taken to be of the design of those
    that are judged; scores are read, and guessed from, as those that are judged.

    `source` is the file of these.
    """
    from bayes_dp.checks import InputError, one_number

    if limit is None:
        if file is not None or without:
            raise InputError(f"{'--no-control' if without else '--control'} is for a gate: it needs --fail-above EPS")
        return None

    from bayes_dp.comparison.control import as_control
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.data.other_tools import holds_scores

    one_number("fail-above", limit, 0.0, high_open=True)
    if file is None:
        return False if without else None
    if without:
        raise InputError("--control and --no-control exclude each other")
    if file == source == "-":
        raise InputError("the counts and --control cannot both come from standard input")
    evidence, counts = (None, given) if isinstance(given, ErrorCounts) else _judged(given, delta, choice)
    if file != "-" and holds_scores(file):
        if isinstance(given, ErrorCounts):
            raise InputError(f"{file} holds scores, and {source} error counts: a control is made as the counts are")
        control: Control = read_evidence(file, None, None, members=members, which=which)
        return as_control(control, counts, evidence, delta or 0.0, choice)
    stated = os.path.splitext(file)[1].lower() == ".json"
    control = read_counts(file, None if stated else counts.design, None if stated else counts.examples)
    return as_control(control, counts, evidence, delta or 0.0)


def read_scores(file: str | None) -> GuessTable | None:
    """What --scores names, which must have propensities."""
    from bayes_dp.checks import InputError
    from bayes_dp.data.guess_table import GuessTable

    table = None if file is None else GuessTable.read(file)
    if table is not None and table.propensity is None:
        raise InputError(f"{file} must have a column propensity, the chance of being a member given the features")
    return table


def make_folder(path: str, *names: str) -> None:
    """Make a folder, where files of these names can be written."""
    from bayes_dp.checks import InputError, show
    from bayes_dp.data.files import check_writable

    try:
        os.makedirs(path, exist_ok=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the folder {show(path)} cannot be made: {why}") from error
    for name in names:
        check_writable(os.path.join(path, name))


def write_or_print(path: str, text: str, printed: bool = False) -> None:
    """Write a result to a file; where that fails, print it if it is not `printed`, and refuse the file all the same."""
    from bayes_dp.checks import InputError
    from bayes_dp.data.files import write_text_atomically

    try:
        write_text_atomically(path, text)
    except InputError:
        if not printed:
            typer.echo(text, nl=False)
        raise


def png(figure: Figure) -> bytes:
    """A figure as the content of a PNG file."""
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    content = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()


@contextmanager
def unwarned() -> Iterator[None]:
    """Without warnings that chains have not converged, for results which print these sentences themselves."""
    from bayes_dp.bayes.convergence import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
