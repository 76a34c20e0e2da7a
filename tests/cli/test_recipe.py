"""The recipe of CONTRIBUTING.md for an option of the command line, followed word by word in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import bayes_dp

ROOT = Path(__file__).parents[2]

FOLLOWED = """
import sys
import bayes_dp
from bayes_dp import cli

assert bayes_dp.__file__.startswith(sys.argv[1])
open("counts.csv", "w").write("fp,n0,fn,n1\\n12,100,20,100\\n")
assert cli.main(["compare", "--help"]) == 0
print("=====")
verb = ["compare", "counts.csv", "--delta", "1e-3"]
assert cli.main([*verb, "--only", "accuracy", "--only", "jeffreys"]) == 0
assert cli.main([*verb, "--only", "magic"]) == 2
"""


def blocks() -> list[str]:
    """The declaration, the parameter and the use."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = re.search(r"^## How to add an option of the command line$(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert recipe is not None
    return re.findall(r"^```(?:python|text)\n(.*?)^```$", recipe[1], re.MULTILINE | re.DOTALL)


def test_a_declaration_a_parameter_and_a_use(tmp_path: Path):
    declaration, parameter, use = blocks()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(bayes_dp.__file__).parent, tmp_path / "bayes_dp", ignore=ignored)
    verb = tmp_path / "bayes_dp" / "cli" / "compare.py"
    text = verb.read_text(encoding="utf-8")
    for new, before in (
        (f"{declaration}\n\n", "@app.command("),
        (parameter, "    safe_cells: SafeCells = False,\n"),
        (use, "        per_base=bases,\n"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, new + before)
    verb.write_text(text, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-c", FOLLOWED, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    shown, _, table = found.stdout.partition("=====\n")
    assert re.search(r"--only NAME +Only this method; may be given several times\.", shown.split("Expert options:")[1])
    rows = re.findall(r"^(\S+) +all +lower bound", table, re.MULTILINE)
    assert rows == ["accuracy", "jeffreys"]
    assert found.stderr.startswith("bayes-dp: error: there is no method 'magic'; the methods are ")
