"""The documentation as a site: links lead somewhere, nothing is loaded from elsewhere, and a browser shows all signs.

The notebooks are on it without outputs here; tests/contract/test_notebooks.py looks at those.
"""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer

import bayes_dp as bdp
from bayes_dp.cli.program import app
from tests.cli.test_options import verbs

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("mkdocs", "material", "latex2mathml")),
    reason="the tools of `make docs` are not installed",
)


class Page(HTMLParser):
    """The links and anchors of a page, and its text by what it stands in."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.text = {"text": "", "code": "", "math": "", "script": "", "cell": ""}
        self._open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if source := given.get("src") or (tag == "link" and given.get("rel") == "stylesheet" and given["href"]):
            self.loaded.append(source)
        if tag in ("code", "math", "script", "style", "td"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else "text"
        self.text[{"style": "script", "td": "text"}.get(inside, inside)] += data
        if self._open[-2:] == ["td", "code"]:
            self.text["cell"] += data


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": search}
    environment.pop("BAYES_DP_NOTEBOOKS", None)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    assert len(found) > 50
    return found


def lost(pages: dict[Path, Page]) -> list[str]:
    """The links that lead to no file, or to no anchor of a page."""
    found = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[to].anchors if to in pages else {""}
            if not to.is_file() or unquote(parts.fragment) not in anchors | {""}:
                found.append(f"{path.name}: {link}")
    return found


def test_links_lead_somewhere(pages):
    assert not lost(pages)


def test_every_page_is_in_the_navigation(site, pages):
    reached = {(site / unquote(urlsplit(link).path)).resolve() for link in pages[site / "index.html"].links}
    assert not [path for path in pages if path not in reached]


def test_nothing_is_loaded_from_elsewhere(pages):
    assert not {source for page in pages.values() for source in page.loaded if urlsplit(source).netloc}


def test_no_backslash_is_left(pages):
    """Of formulas and of tables. In code that is not in a table they may be meant."""
    for path, page in pages.items():
        for kind in ("text", "math", "cell"):
            assert "\\" not in page.text[kind], (path.name, kind)


def test_no_star_is_taken_for_emphasis(pages):
    """As that of α* would be: what is emphasised begins with a word or a sign that stands before one."""
    for path in pages:
        assert not re.findall(r".{30}<em>[\s.,;:)/=].{20}", path.read_text(encoding="utf-8")), path.name


def test_the_reference_has_every_public_name(site, pages):
    anchors = pages[site / "reference" / "bayes_dp.html"].anchors
    for name in bdp.__all__:
        value = getattr(bdp, name)
        if isinstance(value, type(os)):
            inner = pages[site / "reference" / f"{name}.html"].anchors
            assert {each.lower() for each in value.__all__} <= inner, name
        elif name != "__version__":
            assert name.lower() in anchors, name
    assert {"errorcountspool", "errorcountsfrom_csv", "posteriorinterval"} <= anchors


def test_the_reference_has_every_option(site, pages):
    page = pages[site / "reference" / "command_line.html"]
    for verb, command in verbs(typer.main.get_command(app)).items():
        assert f"bayes-dp-{verb.replace(' ', '-')}" in page.anchors
        options = [each.opts[0] for each in command.params if each.opts[0].startswith("-")]
        assert not [option for option in options if option not in page.text["code"]]


def test_faults_are_seen(tmp_path):
    path = (tmp_path / "a.html").resolve()
    path.write_text(
        '<p id="here">\\(x\\)</p><a href="#here"></a><a href="#there"></a><a href="b.html"></a>'
        '<script src="https://x.org/y.js">\\</script><table><td>a <code>b\\|c</code></td></table><math>\\{</math>'
    )
    pages = {path: Page(path)}
    assert lost(pages) == ["a.html: #there", "a.html: b.html"]
    assert pages[path].loaded == ["https://x.org/y.js"]
    assert [pages[path].text[kind] for kind in ("text", "cell", "math")] == ["\\(x\\)a ", "b\\|c", "\\{"]


def shown(folder: Path, address: str) -> str:
    """A page as Chromium has it, its scripts run."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [CHROMIUM, *flags, profile, "--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom", address],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


@browser
def test_the_search_works_without_a_server(site, tmp_path):
    found = shown(tmp_path, (site / "index.html").as_uri() + "?q=panoramia")
    assert int(re.search(r'md-search-result__meta">(\d+) matching', found)[1]) > 5


LOOK = """<!doctype html><meta charset="utf-8"><pre id="out"></pre><script>
// A sign that no font has is drawn as one that no font can have.
const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", {willReadFrequently: true});
canvas.width = canvas.height = 48;
function drawn(sign, font) {
  pen.clearRect(0, 0, 48, 48); pen.font = "28px " + font; pen.fillText(sign, 8, 34);
  return pen.getImageData(0, 0, 48, 48).data.join();
}
const missing = [];
for (const [font, signs] of Object.entries(SIGNS)) {
  const none = new Set(["\\u0378", "\\u{2FE0}", "\\u{E0FFF}"].map(sign => drawn(sign, font)));
  for (const sign of signs) if (none.has(drawn(sign, font))) missing.push(font + " " + sign);
}
document.getElementById("out").textContent = JSON.stringify(missing);
</script>"""


def without_a_glyph(signs: dict[str, str], folder: Path) -> list[str]:
    path = folder / "signs.html"
    path.write_text(LOOK.replace("SIGNS", json.dumps(signs)), encoding="utf-8")
    return json.loads(html.unescape(re.search(r'<pre id="out">(.*?)</pre>', shown(folder, path.as_uri()))[1]))


@browser
def test_every_sign_has_a_glyph(pages, tmp_path):
    fonts = {"text": "Helvetica, Arial, sans-serif", "code": "Menlo, monospace", "math": "math"}
    signs = {}
    for kind, font in fonts.items():
        used = set("".join(page.text[kind] for page in pages.values()))
        signs[font] = "".join(sorted(sign for sign in used if unicodedata.category(sign)[0] not in "CZ"))
        assert len(signs[font]) > 50
    assert without_a_glyph({"math": "x\u0379"}, tmp_path) == ["math \u0379"]
    assert not without_a_glyph(signs, tmp_path)
