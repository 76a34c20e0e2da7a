"""The forms of a report: whatever the names in it, HTML and Markdown mean what they say and nothing else."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from markdown_it import MarkdownIt

import bayes_dp as bdp
from bayes_dp.checks import InputError
from bayes_dp.reporting.document import Code, Document, Figure, Items, Paragraph, ReportTable, Section, shown
from bayes_dp.reporting.html import page, style
from bayes_dp.reporting.markdown import markdown
from bayes_dp.reporting.repetition import repetition
from bayes_dp.reporting.report import Report, format_of
from tests.reporting.conftest import LABELS, SOURCE, TITLE

EMPTY = {"meta", "link", "br", "hr", "img"}
TAGS = {
    "html", "head", "meta", "link", "title", "style", "body", "a", "header", "h1", "nav", "ul", "li", "main", "section",
    "h2", "p", "strong", "ol", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption",
    "pre", "code", "footer", "svg", "g", "path", "defs", "use", "clippath", "rect",
}  # fmt: skip


class Reader(HTMLParser):
    """Tags with their attributes, the text of each, and whether all are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs))
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def said(self, tag: str) -> list[str]:
        return [data for name, data in self.text if name == tag]


@pytest.fixture(scope="module", params=["hostile", "sampled"])
def read(request) -> Reader:
    return Reader(request.getfixturevalue(request.param).html)


def test_a_page_has_only_what_it_should(read):
    assert {tag for tag, _ in read.tags} <= TAGS
    for _, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("href", "src"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    policy = next(a["content"] for a in read.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "script" not in policy


def test_a_page_needs_no_network(sampled):
    assert "http" not in sampled.html.replace("http-equiv", "")
    assert "url(" not in style()
    assert "@import" not in style()


def test_a_page_can_be_read_by_machines(read):
    ids = Counter(attributes["id"] for _, attributes in read.tags if "id" in attributes)
    assert max(ids.values()) == 1
    for _, attributes in read.tags:
        for name in ("href", "aria-labelledby", "clip-path"):
            value = attributes.get(name, "data:,")
            if value != "data:,":
                assert value.removeprefix("url(").rstrip(")").removeprefix("#") in ids
    assert read.all("html") == [{"lang": "en"}]
    assert len(read.all("h1")) == len(read.all("main")) == 1
    headings = [tag for tag, _ in read.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1"
    assert set(headings[1:]) == {"h2"}
    assert len(read.all("caption")) == len(read.all("table"))
    assert {attributes["scope"] for attributes in read.all("th")} == {"row", "col"}
    for svg in read.all("svg"):
        assert svg["role"] == "img"
        assert "width" not in svg
    assert len(read.all("svg")) == len(read.all("figure")) >= 3
    assert {a["tabindex"] for a in read.all("div")} == {"0"}


def test_hostile_names_are_text(hostile):
    read = Reader(hostile.html)
    cells = read.said("th")
    for label, group in zip(LABELS, LABELS[::-1], strict=True):
        assert f"{shown(label)} ({shown(group)})" in cells
    assert read.said("h1") == [TITLE]
    assert any(shown(SOURCE) in text for text in read.said("p"))
    assert "\u202e" not in hostile.html


def test_hostile_names_are_text_in_markdown(hostile):
    html = MarkdownIt("commonmark").enable("table").render(hostile.markdown)
    read = Reader(html)
    assert {tag for tag, _ in read.tags} <= {
        "h1", "h2", "p", "strong", "em", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td",
        "pre", "code",
    }  # fmt: skip
    cells = set(read.said("td"))
    for label, group in zip(LABELS, LABELS[::-1], strict=True):
        assert f"{shown(label)} ({shown(group)})" in cells
    assert read.said("h1") == [TITLE]
    code = " ".join(read.said("code"))
    assert shlex.quote(shown(SOURCE)) in code
    assert "https://" not in hostile.markdown
    # GitHub reads every bar that is not escaped as the border of a cell.
    rows = re.findall(r"^\|.*\|$", hostile.markdown, re.MULTILINE)
    bases = [row for row in rows if "alert" in row]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in bases} == {4}


def test_markdown_says_what_the_page_says(sampled):
    html = Reader(sampled.html)
    text = Reader(MarkdownIt("commonmark").enable("table").render(sampled.markdown))
    assert text.said("h2") == html.said("h2")
    first = [t.strip() for t in html.said("li") if t.strip()]
    assert {t.strip() for t in text.said("li") if t.strip()} == set(first) - set(html.said("a"))
    cells = lambda read: [t for tag, t in read.text if tag in ("th", "td") and t.strip()]  # noqa: E731
    assert sorted(cells(text)) == sorted(cells(html))


TEXTS = [
    "1. one",
    "- a",
    "+ b",
    "= c",
    "# d",
    "> e",
    "12) f",
    "a\nb",
    "",
    "  x  ",
    "1.5 of 2",
    "\\",
    "a_b_c",
    "&amp;",
    "~~s~~",
]


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_means_itself(text):
    document = Document(
        text or "t",
        (
            Section(
                "s",
                text or "t",
                (
                    Paragraph(text),
                    Paragraph(text, "lead"),
                    Paragraph(text, "warning"),
                    Items((text,)),
                    Items((text, text), numbered=True),
                    ReportTable("t", text, (text, "b"), ((text, text),)),
                    Figure("f", text, text, lambda: "<svg></svg>"),
                    Code("c", text, text),
                ),
            ),
        ),
    )
    line = " ".join(text.split())
    rendered = MarkdownIt("commonmark").enable("table").render(markdown(document))
    read = Reader(rendered)
    assert len(read.all("td")) == 2
    assert len(read.all("li")) == 3
    assert len(read.all("h1")) == len(read.all("h2")) == len(read.all("blockquote")) == 1
    if line:
        assert read.said("td") == [line, line]
        assert line in read.said("p")
        assert [t for t in read.said("li") if t.strip()] == [line] * 3
    assert Reader(page(document)).said("td") == ([text] if text else [])


def test_what_is_shown():
    assert shown("a\tb\nc\x00\u2028\u202ed\ud800") == "a\ufffdb\ufffdc\ufffd\ufffd\ufffdd\ufffd"
    assert shown("Zoë ε 猫 👨‍👩‍👧") == "Zoë ε 猫 👨‍👩‍👧"


def test_colours_are_those_of_the_page(sampled, hostile):
    for report in (sampled, hostile):
        drawings = re.findall(r"<svg.*?</svg>", report.html, re.DOTALL)
        assert drawings
        for drawing in drawings:
            assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[\s;\"])", re.sub(r'(href|id)="[^"]*"', "", drawing))
            assert set(re.findall(r"var\((--\w+)\)", drawing)) <= set(palette(style(), dark=False))


def palette(css: str, dark: bool) -> dict[str, str]:
    light, night = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    return dict(re.findall(r"(--\w+): (#[0-9a-f]{6});", night if dark else light))


def contrast(first: str, second: str) -> float:
    """Of two colours, as the Web Content Accessibility Guidelines 2.1 define it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_contrasts(dark):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    colours = palette(style(), dark)
    for ink, behind in (
        ("--ink", "--paper"), ("--muted", "--paper"), ("--link", "--paper"), ("--ink", "--panel"),
        ("--ink", "--warning"), ("--grey", "--paper"),
    ):  # fmt: skip
        assert contrast(colours[ink], colours[behind]) >= 4.5
    for line in ("--blue", "--orange", "--green", "--pink"):
        assert contrast(colours[line], colours["--paper"]) >= 3


def test_the_same_report_is_the_same_text(hostile, counts):
    with mpl.rc_context({"axes.facecolor": "red", "lines.linewidth": 9, "svg.hashsalt": "mine", "font.size": 30}):
        again = bdp.report(counts, 1e-3, title=TITLE, source=SOURCE)
        for form in ("html", "markdown", "json"):
            assert again.text(form) == hostile.text(form)


def test_nothing_global_is_changed(hostile):
    mpl.get_backend()  # settles the entry "backend"
    before, open_before = mpl.rcParams.copy(), plt.get_fignums()
    Report(hostile.findings, "t", None).html  # noqa: B018
    assert mpl.rcParams == before
    assert plt.get_fignums() == open_before


def test_how_to_repeat_it(counts, tmp_path):
    path = str(tmp_path / "a b.csv")
    counts.to_csv(path)
    made = bdp.report(
        bdp.ErrorCounts.read(path), 1e-3, prob=0.8, strength=0.5, prior_epsilon="Gamma(2, 1)", source=path
    )
    codes = {p.name: p.text for s in made.document.sections for p in s.pieces if isinstance(p, Code)}
    names = {}
    exec(codes["python"].replace(".save('report.html')", "").replace("bdp.report(", "again = bdp.report("), names)
    assert names["again"].html == made.html
    words = shlex.split(codes["command"])
    assert words[:3] == ["bayes-dp", "report", path]
    from tests.cli.test_report import run_to_file

    assert run_to_file(words[1:-2], tmp_path / "again.html") == made.html


def test_the_command_has_the_settings_of_a_sampler(sampled):
    """Which the command line has; others of Python's are told in Python only."""
    findings, others = sampled.findings, {"chains", "draws", "warmup", "progress"}
    for taken, there in (
        ({"chains": 2, "draws": 150, "warmup": 300}, True),
        ({"chains": 2, "n_auxiliaries": 4}, False),
    ):
        options = {name: value for name, value in findings.options.items() if name not in others} | taken
        codes = repetition(replace(findings, options=options), None, "counts.csv")
        assert ("command" in codes) == there
        assert "method='mhaar', chains=2" in codes["python"].text
        if there:
            words = shlex.split(codes["command"].text)
            assert words[words.index("--method") :][:8] == [
                "--method", "mhaar", "--chains", "2", "--draws", "150", "--warmup", "300"
            ]  # fmt: skip


def test_without_a_source_there_is_no_command(sampled):
    codes = {p.name: p.text for s in sampled.document.sections for p in s.pieces if isinstance(p, Code)}
    assert set(codes) == {"python"}
    assert sampled.findings.counts.digest() in codes["python"]
    assert "method='mhaar', chains=2, draws=150, warmup=300, progress=False, seed=3" in codes["python"]


def test_saving(hostile, tmp_path):
    for name, text in (("a.html", hostile.html), ("b.MD", hostile.markdown), ("c.json", hostile.json)):
        hostile.save(tmp_path / name)
        assert (tmp_path / name).read_text() == text
    hostile.save(tmp_path / "d.txt", "json")
    assert (tmp_path / "d.txt").read_text() == hostile.json
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "b.MD", "c.json", "d.txt"]
    with pytest.raises(InputError, match=r"suffix of a report must be one of .html, .htm, .md, .markdown, .json, not"):
        hostile.save(tmp_path / "report.pdf")
    with pytest.raises(InputError, match="format must be 'html', 'markdown' or 'json', not 'pdf'"):
        hostile.text("pdf")
    assert format_of("x/y.HTM") == "html"


def test_in_a_notebook(hostile):
    shown_there = hostile._repr_html_()
    read = Reader(shown_there)
    assert [tag for tag, _ in read.tags] == ["iframe"]
    assert read.tags[0][1]["srcdoc"] == hostile.html
    assert "sandbox" in read.tags[0][1]
    assert repr(hostile).startswith("<Report '# Is <b>it</b>")
