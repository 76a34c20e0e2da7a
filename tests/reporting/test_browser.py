"""The page in a real browser: nothing is complained of, cut off or hard to read, in light and dark and on paper."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import bayes_dp as bdp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)
WIDTHS = (320, 600, 1100)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

# Looks at the page from outside, in frames of several widths, as the page itself allows no scripts.
LOOK = """
<script>
const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
const light = c => { const l = parts(c).slice(0, 3).map(v => v / 255)
  .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]; };
const clear = c => c === 'transparent' || parts(c)[3] === 0;
function contrast(a, b) {
  const [x, y] = [light(a), light(b)].sort((p, q) => p - q);
  return (y + 0.05) / (x + 0.05);
}
function behind(e, w) {
  for (; e; e = e.parentElement) { const c = w.getComputedStyle(e).backgroundColor; if (!clear(c)) return c; }
  return 'rgb(255, 255, 255)';
}
const all = [];
function look(frame) {
  const w = frame.contentWindow, d = w.document, found = {contrasts: [], small: 0, outside: [], colours: new Set()};
  found.width = d.documentElement.clientWidth;
  found.scroll = d.documentElement.scrollWidth;
  found.dark = w.matchMedia('(prefers-color-scheme: dark)').matches;
  found.paper = w.getComputedStyle(d.documentElement).backgroundColor;
  for (const e of d.querySelectorAll('body *:not(svg *)')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    const s = w.getComputedStyle(e);
    found.contrasts.push(contrast(s.color, behind(e, w)));
    if (parseFloat(s.fontSize) < 12) found.small += 1;
    const box = e.getBoundingClientRect();
    if (!e.closest('.wide, .skip') && box.right > found.width + 1) found.outside.push(e.textContent.slice(0, 60));
  }
  for (const e of d.querySelectorAll('svg path, svg use')) {
    const s = w.getComputedStyle(e);
    for (const c of [s.fill, s.stroke]) if (c !== 'none') found.colours.add(c);
  }
  found.colours = [...found.colours].map(c => [c, contrast(c, found.paper)]);
  found.svgs = [...d.querySelectorAll('svg')].map(e => e.getBoundingClientRect()).map(b => [b.width, b.height]);
  found.scripts = d.scripts.length;
  found.alerts = w.hacked || 0;
  found.focus = [...d.querySelectorAll('a, [tabindex]')].every(e => { e.focus(); return d.activeElement === e; });
  found.contrasts = [Math.min(...found.contrasts), found.contrasts.length];
  all.push(found);
  document.getElementById('out').textContent = JSON.stringify(all);
}
</script>
<pre id="out"></pre>
"""


def chromium(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    profile = f"--user-data-dir={folder / 'profile'}"
    return subprocess.run([CHROMIUM, *FLAGS, profile, *arguments], capture_output=True, text=True, timeout=300)


def looked_at(report: bdp.Report, folder: Path, *flags: str) -> list[dict]:
    frames = "".join(
        f'<iframe width="{w}" height="700" onload="look(this)" srcdoc="{html.escape(report.html)}"></iframe>'
        for w in WIDTHS
    )
    path = folder / "look.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'>{LOOK}{frames}", encoding="utf-8")
    done = chromium(folder, *flags, "--dump-dom", path.as_uri())
    assert "CONSOLE" not in done.stderr, done.stderr
    return json.loads(html.unescape(re.search(r'<pre id="out">(.*?)</pre>', done.stdout, re.DOTALL)[1]))


@pytest.mark.parametrize("name", ["hostile", "sampled"])
@pytest.mark.parametrize("dark", [False, True])
def test_on_a_screen(request, tmp_path, name, dark):
    report = request.getfixturevalue(name)
    frames = looked_at(report, tmp_path, *(["--force-dark-mode"] if dark else []))
    assert len(frames) == len(WIDTHS)
    for found in frames:
        assert found["dark"] is dark
        assert found["scroll"] <= found["width"]
        assert not found["outside"]
        least, number = found["contrasts"]
        assert least >= 4.5
        assert number > 100
        assert found["small"] == 0
        assert found["scripts"] == found["alerts"] == 0
        assert found["focus"]
        for colour, contrast in found["colours"]:
            assert contrast >= 3 or contrast == 1, colour  # what has the colour of the paper is meant to be hollow
        for width, height in found["svgs"]:
            assert 250 <= width <= found["width"]
            assert height > 100


@pytest.mark.parametrize("name", ["hostile", "sampled"])
def test_alone_and_on_paper(request, tmp_path, name):
    report = request.getfixturevalue(name)
    path = tmp_path / "report.html"
    report.save(path)
    done = chromium(tmp_path, f"--print-to-pdf={tmp_path / 'report.pdf'}", path.as_uri())
    assert "CONSOLE" not in done.stderr, done.stderr
    pdf = (tmp_path / "report.pdf").read_bytes()
    boxes = re.findall(rb"/MediaBox\s*\[([^\]]*)\]", pdf)
    assert 4 <= len(boxes) <= 14
    for box in boxes:
        assert [round(float(part)) for part in box.split()] == [0, 0, 595, 842]  # A4, in points


def test_the_look_sees_what_is_wrong(tmp_path):
    """A page with faults, so that silence means something."""

    class Bad:
        html = (
            "<!doctype html><body style='color:#999;background:#fff'><p style='width:2000px'>wide</p>"
            "<script>window.hacked = 1; console.error('x')</script>"
        )

    with pytest.raises(AssertionError, match="CONSOLE"):
        looked_at(Bad(), tmp_path)
    Bad.html = Bad.html.replace("console.error('x')", "")
    for found in looked_at(Bad(), tmp_path):
        assert found["scroll"] > found["width"]
        assert found["outside"]
        assert found["contrasts"][0] < 4.5
        assert found["alerts"] == 1
