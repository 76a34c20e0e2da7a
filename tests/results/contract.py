"""What every result has to do: tests that each kind of result inherits, as `test_results.py` does for all of them."""

from __future__ import annotations

import copy
import html.parser
import json
import os
import pickle
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pytest

from bayes_dp.checks import InputError
from bayes_dp.results.base import Result, Saved
from bayes_dp.support.text import Lines

HOSTILE = "<script>alert('ε & δ')</script>"
_ALONE = ("meta", "link", "br")


class Page(html.parser.HTMLParser):
    """The tags of a page, which have to be closed in order, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.inner: list[Page] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in _ALONE:
            self._open.append(tag)
        self.inner += [Page(value) for name, value in attrs if name == "srcdoc"]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


class ResultContract(ABC):
    """The tests. A subclass says how a result of its kind is made, and one whose words are hostile."""

    @abstractmethod
    def made(self) -> Result: ...

    @abstractmethod
    def hostile(self) -> Result:
        """With HOSTILE in each text that comes from the user or that a subclass of it may say."""

    def test_text(self):
        result = self.made()
        text = result.summary()
        assert isinstance(text, Lines)
        assert text == str(result)
        assert text.strip()
        assert type(str(result)) is str
        for other in (copy.copy(text), pickle.loads(pickle.dumps(text))):
            assert (other, other.html) == (text, text.html)

    def test_in_brief(self):
        result = self.made()
        whole, brief = result.summary().splitlines(), result.brief().splitlines()
        assert len(brief) <= len(whole)
        added = [line for line in brief if line not in whole]
        assert all(line.endswith(", not shown in brief") for line in added)
        assert bool(added) == (len(brief) < len(whole)) or len(added) == 1

    def test_repr_is_one_line(self):
        for result in (self.made(), self.hostile()):
            assert len(repr(result).splitlines()) == 1
            assert repr(result).startswith("<")
            assert " object at 0x" not in repr(result)

    def test_html_is_tables_and_lists(self):
        result = self.made()
        page = Page(result._repr_html_())
        (page,) = page.inner or [page]
        assert "table" in page.tags
        assert "pre" not in page.tags or type(result).__name__ == "Report"  # whose page has code to run

    def test_html_is_escaped(self):
        shown = self.hostile()._repr_html_()
        page = Page(shown)
        assert "script" not in page.tags
        assert "<script" not in shown
        (page,) = page.inner or [page]
        assert "script" not in page.tags
        assert HOSTILE in page.text
        assert HOSTILE in self.hostile().summary()

    def test_dictionary_is_json(self):
        result = self.made()
        content = result.to_dict()
        assert next(iter(content)) == "format"
        assert content["format"] == result.format
        kind = result.format.split("/")
        assert (kind[0], kind[2]) == ("bayes-dp", "1")
        assert json.loads(json.dumps(content, allow_nan=False)) == _lists(content)

    def test_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        result, path = self.made(), tmp_path / "result.json"
        result.to_json(path)
        text = path.read_text(encoding="utf-8")
        assert json.loads(text) == _lists(result.to_dict())
        assert text.endswith("}\n")

        def fails(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", fails)
        with pytest.raises(InputError, match=r"cannot be written: no space left"):
            self.hostile().to_json(path)
        assert path.read_text(encoding="utf-8") == text
        assert os.listdir(tmp_path) == ["result.json"]


class SavedContract(ResultContract):
    """The tests of results that can be read back."""

    @abstractmethod
    def made(self) -> Saved: ...

    @abstractmethod
    def hostile(self) -> Saved: ...

    def test_round_trip(self, tmp_path: Path):
        for result in (self.made(), self.hostile()):
            result.to_json(tmp_path / "result.json")
            for again in (type(result).from_json(tmp_path / "result.json"), type(result).from_dict(result.to_dict())):
                assert type(again) is type(result)
                assert str(again) == str(result)
                assert repr(again) == repr(result)
                assert again.to_dict() == result.to_dict()

    def test_a_file_from_before_there_were_formats(self):
        content = self.made().to_dict()
        old = _without_formats(content)
        assert old != content
        assert type(self.made()).from_dict(old).to_dict() == content

    @pytest.mark.parametrize(
        "unknown", ["bayes-dp/something/1", "", None, 1, True, ["bayes-dp/bound/1"], {}, "BAYES-DP/BOUND/1", "\n"]
    )
    def test_an_unknown_format(self, unknown: Any):
        self._refused(self.made().to_dict() | {"format": unknown}, "is of the format")

    def test_a_later_version(self):
        result = self.made()
        later = result.format.removesuffix("1") + "2"
        self._refused(result.to_dict() | {"format": later}, f"is of the format '{later}', and .* '{result.format}'")

    def test_what_was_never_written(self):
        content = self.made().to_dict()
        self._refused(content | {"more": 1}, "'more', which is not known")
        for key in content:
            if key != "format":
                self._refused({name: value for name, value in content.items() if name != key}, f"has no '{key}'")
                self._refused(content | {key: {"a": [1]} if not isinstance(content[key], dict) else 3}, key)
        for other in (None, 3, [], "text", [{}], {}):
            self._refused(other, "this is not a")

    def test_a_number_that_is_none(self, tmp_path: Path):
        path = tmp_path / "result.json"
        for text in ('{"format": NaN}', '{"value": 1e999}', "", "{", "[[[[", '{"a": 1, "a": 2}'):
            path.write_text(text)
            with pytest.raises(InputError):
                type(self.made()).from_json(path)

    def _refused(self, content: Any, message: str) -> None:
        with pytest.raises(InputError, match=message) as error:
            type(self.made()).from_dict(content)
        assert len(str(error.value).splitlines()) == 1
        assert len(str(error.value)) < 500


def _lists(content: Any) -> Any:
    """The same with lists for tuples, as JSON has them."""
    if isinstance(content, dict):
        return {key: _lists(value) for key, value in content.items()}
    return [_lists(value) for value in content] if isinstance(content, list | tuple) else content


def _without_formats(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_formats(value) for key, value in content.items() if key != "format"}
    return [_without_formats(value) for value in content] if isinstance(content, list) else content
