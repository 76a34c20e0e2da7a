"""The recipe of CONTRIBUTING.md for an audit, followed word by word in a copy of the package."""

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
import json, sys
import bayes_dp as bdp
from bayes_dp import calibrate, cli
from tests.audits.contract import AuditContract

assert bdp.__file__.startswith(sys.argv[1])
{test}
contract = TestHoeffding()
tests = [getattr(contract, name) for name in dir(contract) if name.startswith("test_")]
assert len(tests) > 10
for test in tests:
    test()

counts = bdp.ErrorCounts([12], 100, [20], 100)
counts.to_csv("counts.csv")
table = bdp.compare(counts, 1e-3)
(row,) = table.select("hoeffding")
assert row.valid and row.value > 0
assert str(table).count("hoeffding") == 1
table.to_json("table.json")
assert bdp.Comparison.from_json("table.json") == table
report = bdp.report(counts, 1e-3)
assert "hoeffding" in report.markdown and "hoeffding" in report.html
assert "hoeffding" in json.dumps(report.to_dict())
study = calibrate.study("hoeffding", repetitions=50, progress=False)
assert study.passed and {{row.valid_claim for row in study.rows}} == {{True}}
for arguments, code in (
    (["audit", "--help"], 0),
    (["audit", "hoeffding", "counts.csv", "--delta", "1e-3"], 0),
    (["audit", "hoeffding", "counts.csv", "--delta", "1e-3", "--fail-above", "0.1", "--json"], 1),
    (["audit", "hoeffding", "counts.csv", "--delta", "1e-3", "--design", "one_run", "--examples", "200"], 2),
    (["compare", "counts.csv", "--delta", "1e-3"], 0),
):
    assert cli.main(arguments) == code, arguments
"""


def blocks() -> tuple[str, str, str]:
    """The file, the line and the test of the recipe."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = re.search(r"^## How to add an audit$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert recipe is not None
    module, line, test = re.findall(r"^```python\n(.*?)^```$", recipe[1], re.MULTILINE | re.DOTALL)
    return module, line, test


def test_one_file_and_one_line(tmp_path: Path):
    module, line, test = blocks()
    assert line.count("\n") == 1
    shutil.copytree(Path(bayes_dp.__file__).parent, tmp_path / "bayes_dp")
    (tmp_path / "bayes_dp" / "audits" / "hoeffding.py").write_text(module, encoding="utf-8")
    registry = tmp_path / "bayes_dp" / "audits" / "registry.py"
    before = registry.read_text(encoding="utf-8")
    after = before.replace('    "jeffreys": Entry(', line + '    "jeffreys": Entry(')
    assert after != before
    registry.write_text(after, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-c", FOLLOWED.format(test=test), str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert re.search(r"^  hoeffding +Hoeffding's inequality for both error rates", found.stdout, re.MULTILINE)
    assert re.search(
        r"^epsilon >= [\d.]+ at delta = 0.001 with confidence 95% \(hoeffding\)$", found.stdout, re.MULTILINE
    )
    assert '"method": "hoeffding"' in found.stdout
    assert re.search(r"^hoeffding +all +lower bound", found.stdout, re.MULTILINE)
