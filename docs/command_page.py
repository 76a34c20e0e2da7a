"""The page of the command line: all verbs and their options, from the declarations that `--help` shows."""

from __future__ import annotations

import re
from typing import Any

import typer

from bayes_dp.cli.program import app


def page() -> str:
    """A section for each verb, with a table for each heading of its `--help`."""
    parts = ["# Command line\n\nAll verbs and their options, as `bayes-dp VERB --help` shows them.\n"]
    for verb, command in sorted(verbs(typer.main.get_command(app)).items()):
        arguments = " ".join(each.metavar or each.name.upper() for each in _of_kind(command, "argument"))
        usage = f"```text\nbayes-dp {verb} [OPTIONS] {arguments}\n```"
        parts.append(f"## bayes-dp {verb}\n\n{usage}\n\n{command.help}\n")
        panels: dict[str, list[str]] = {}
        for each in _of_kind(command, "option"):
            name, meaning = (text.replace("|", r"\|") for text in each.get_help_record(command.context_class(command)))
            panels.setdefault(each.rich_help_panel or "Options", []).append(f"| `{name}` | {_plain(meaning)} |")
        for panel, rows in panels.items():
            parts.append(f"**{panel}**\n\n| Option | Meaning |\n|---|---|\n" + "\n".join(rows) + "\n")
        if command.epilog:
            parts.append(f"```text\n{command.epilog.replace(chr(8), '').strip(chr(10))}\n```\n")
    return "\n".join(parts)


def verbs(command: Any, name: tuple[str, ...] = ()) -> dict[str, Any]:
    """All verbs by their names, those of `audit` too."""
    if not hasattr(command, "commands"):
        return {" ".join(name): command}
    inner = (verbs(part, (*name, word)) for word, part in command.commands.items())
    return {verb: found for each in inner for verb, found in each.items()}


def _of_kind(command: Any, kind: str) -> list[Any]:
    return [each for each in command.params if each.param_type_name == kind and not getattr(each, "hidden", False)]


def _plain(text: str) -> str:
    """Text in which Markdown sees no signs of its own."""
    return re.sub(r"([*_<])", r"\\\1", " ".join(text.split()))
