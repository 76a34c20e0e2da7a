"""The command behind every verb: how its help is set, and that what is refused bears the name of an option."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

__all__ = ["EXPERT", "WIDTH", "Verb"]

WIDTH = 100  # of the help at most, in columns
EXPERT = "Expert options"


class Verb(TyperCommand):
    """A verb whose help has the common options first, and then a heading for each panel of the others."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What follows the name in the usage: [OPTIONS] FILE, and [FILE] where it may be left out."""
        arguments = [each for each in self.get_params(ctx) if each.param_type_name == "argument"]
        return ["[OPTIONS]", *(_name(each) if each.required else f"[{_name(each)}]" for each in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, the common options, and the options of each panel in the order of the signature, those for
        experts last."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and each.param_type_name == "argument":
                sections["Arguments"].append((_name(each), record[1]))
            elif record is not None:
                panel = getattr(each, "rich_help_panel", None) or "Options"
                sections.setdefault(panel, []).append(record)
        for heading, records in sorted(sections.items(), key=lambda section: section[0] == EXPERT):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb. "draws must be ..." of a function becomes "--draws must be ...", where that is an option."""
        try:
            return super().invoke(ctx)
        except ValueError as error:
            from bayes_dp.checks import InputError

            found = re.match(r"([\w-]+) must (?:be|lie) ", str(error))
            options = [name for each in self.params for name in each.opts]
            if not isinstance(error, InputError) or found is None or f"--{found[1]}" not in options:
                raise
            raise InputError(f"--{error}") from error


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name)
