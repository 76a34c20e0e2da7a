"""The notebooks as pages of the site, with the outputs that they have when they are run.

They are saved without outputs. Running all takes about a minute, so that what was run is kept in `.notebook_cache`, as
long as the notebook, the package, the models and the versions of what they need stay as they are.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def page(path: Path, run: bool) -> tuple[str, dict[str, bytes]]:
    """The text of a notebook's page, and the pictures on it by their names."""
    cells = (executed(path) if run else json.loads(path.read_text(encoding="utf-8")))["cells"]
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text.replace("](../docs/", "](../"))
            continue
        parts.append(f"```python\n{text}\n```")
        parts += [_shown(output, f"{path.stem}_{len(pictures) + 1}.png", pictures) for output in cell["outputs"]]
    title, rest = parts[0].split("\n", 1)
    where = f"This page is the [notebook]({path.name})" + (":" if run else ", without its outputs:")
    return "\n\n".join([title, f"{where} download it to run it.", rest.strip(), *parts[1:]]) + "\n", pictures


def _shown(output: dict[str, Any], name: str, pictures: dict[str, bytes]) -> str:
    """An output of a cell as Markdown; a picture is put under `name`."""
    found = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text", "")}).items()}
    if "image/png" in found:
        pictures[name] = base64.b64decode(found["image/png"])
        return f"![What the code draws]({name})"
    if "text/html" in found:
        table = re.sub(r"<style.*?</style>| border=\"1\" class=\"dataframe\"", "", found["text/html"], flags=re.DOTALL)
        return re.sub(r"\n\s*\n", "\n", table).strip()  # Markdown ends a block of HTML at an empty line
    text = found["text/plain"].rstrip()
    return "" if re.match(r"<(Axes|matplotlib)|\[<matplotlib", text) else f"```text\n{text}\n```"


def executed(path: Path) -> dict[str, Any]:
    """The notebook after a run from top to bottom, in an empty folder that it must leave empty."""
    import nbclient
    import nbformat

    kept = ROOT / ".notebook_cache" / f"{path.stem}_{_key(path)}.ipynb"
    if not kept.is_file():
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        # Without MPLBACKEND, as the kernel's own keeps the figures in the notebook.
        environment = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"} | {"PYTHONPATH": search}
        with tempfile.TemporaryDirectory() as folder:
            place = {"metadata": {"path": folder}}
            quiet = ["--log-level=ERROR"]
            client = nbclient.NotebookClient(notebook, timeout=240, resources=place, extra_arguments=quiet)
            client.execute(env=environment)
            if left := sorted(os.listdir(folder)):
                raise ValueError(f"{path.name} leaves {', '.join(left)} behind")
        kept.parent.mkdir(exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        nbformat.write(notebook, part)
        part.replace(kept)
    return json.loads(kept.read_text(encoding="utf-8"))


def _key(path: Path) -> str:
    """A name for all that the outputs depend on."""
    digest = hashlib.sha256(path.read_bytes() + sys.version.encode())
    for folder in ("bayes_dp", "models"):
        for source in sorted((ROOT / folder).rglob("*.py")):
            digest.update(source.read_bytes())
    versions: dict[str, str] = {}
    for name in ("bayes-dp", "ipykernel", "nbclient"):
        _add_versions(name, versions)
    digest.update(repr(sorted(versions.items())).encode())
    return digest.hexdigest()[:16]


def _add_versions(name: str, versions: dict[str, str]) -> None:
    """Those of a distribution and of all that it requires. What is only for tests or linters is no part of them."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:  # what another system would need
        return
    if name not in versions:
        versions[name] = found.version
        for required in found.requires or ():
            if "extra ==" not in required:
                _add_versions(re.match(r"[\w.-]+", required)[0], versions)
