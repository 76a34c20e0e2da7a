"""The tables of measured numbers: pages show what the files in docs/evidence/data hold.

    python docs/tables.py                  # put the tables of all files into the pages
    python docs/tables.py record NAME ...  # measure again, by the command that the file names; then the same

A file NAME.csv begins with lines of the form `# key: value`:

    command  what prints the table
    table    which of the Markdown tables that it prints, from 1 on; missing where the page has an excerpt
    date     of the measurement; of those that are older than the files, when they were put into the page
    version  of the package, then

and goes on with the headings of the page and a row for each of the table. In a page the table stands between the lines
`<!-- table NAME -->` and `<!-- end -->`, and below it what made it.
"""

from __future__ import annotations

import csv
import datetime
import io
import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
DATA = DOCS / "evidence" / "data"

_TABLE = re.compile(r"^\|.*\|\n\|[-:| ]+\|\n((?:\|.*\|\n)+)", re.MULTILINE)


def read(path: Path) -> tuple[dict[str, str], list[list[str]]]:
    """What is said of a table, and its rows, the headings first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    said = dict(re.fullmatch(r"# (\w+): (.+)", line).groups() for line in lines if line.startswith("# "))
    return said, list(csv.reader(line for line in lines if not line.startswith("# ")))


def write(path: Path, said: dict[str, str], rows: list[list[str]]) -> None:
    text = io.StringIO()
    text.writelines(f"# {key}: {value}\n" for key, value in said.items())
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def shown(path: Path) -> str:
    """The table as Markdown, and what made it."""
    said, (heads, *rows) = read(path)
    lines = [f"| {' | '.join(row)} |" for row in (heads, *rows)]
    lines.insert(1, "|" + "---|" * len(heads))
    return "\n".join(lines) + f"\n\n`{said['command']}`, version {said['version']}, {said['date']}\n"


def rendered(page: str) -> str:
    """The text of a page with the tables that the files hold."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- table {match[1]} -->\n{shown(DATA / f'{match[1]}.csv')}<!-- end -->"

    return re.sub(r"<!-- table (\w+) -->\n.*?<!-- end -->", table, page, flags=re.DOTALL)


def printed(text: str, number: int) -> list[list[str]]:
    """The rows of a Markdown table of several, from 1 on, without its headings."""
    rows = _TABLE.findall(text + "\n")[number - 1].strip().splitlines()
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def record(name: str) -> None:
    """Measure a table again."""
    from bayes_dp import __version__

    path = DATA / f"{name}.csv"
    said, (heads, *_) = read(path)
    if "table" not in said:
        raise SystemExit(f"{said['command']} prints no table of the form of {path}")
    path_of_python = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", said["command"]],
        cwd=DOCS.parent,
        env={**os.environ, "PATH": path_of_python},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows = printed(done.stdout, int(said["table"]))
    if {len(row) for row in rows} != {len(heads)}:
        raise SystemExit(f"the table that {said['command']} prints has other columns than {path}")
    write(path, said | {"date": str(datetime.date.today()), "version": __version__}, [heads, *rows])


def main(arguments: list[str]) -> None:
    for name in arguments[1:] if arguments[:1] == ["record"] else ():
        record(name)
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := rendered(text)) != text:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
