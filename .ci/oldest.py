"""Print, for pip, that every dependency of the package and of its tests is to have its oldest allowed version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
needed = [*project["dependencies"], *(one for name in ("dask", "mnist", "parquet", "test") for one in extras[name])]
for requirement in needed:
    found = re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)$", requirement)
    if found:  # the tests also require the package itself, with extras
        print(f"{found[1]}=={found[2]}")
