"""Files that are claimed, and temporary files that somebody removes."""

from __future__ import annotations

import os

import pytest

from bayes_dp.checks import InputError
from bayes_dp.data.files import remove_temporary, write_bytes_atomically, write_text_if_new


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_is_written_once(tmp_path, monkeypatch, links):
    if not links:

        def unknown(*paths):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", unknown)
    path = tmp_path / "claim"
    assert write_text_if_new(path, "one")
    assert not write_text_if_new(path, "other")
    assert path.read_text() == "one"
    assert os.listdir(tmp_path) == ["claim"]
    with pytest.raises(InputError, match="none/claim cannot be written: no such file"):
        write_text_if_new(tmp_path / "none" / "claim", "one")


def test_only_temporary_files_are_removed(tmp_path):
    for name in (".0123456789abcdef.tmp", "a.tmp", ".a.tmp", ".0123456789ABCDEF.tmp", ".0123456789abcdef.tmp2"):
        (tmp_path / name).touch()
    remove_temporary(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".0123456789ABCDEF.tmp", ".0123456789abcdef.tmp2", ".a.tmp", "a.tmp"]


def test_a_temporary_file_that_another_process_removes_is_written_again(tmp_path, monkeypatch):
    sync, removed = os.fsync, []

    def tidied(file):
        sync(file)
        if not removed:
            removed.extend(os.listdir(tmp_path))
            remove_temporary(tmp_path)

    monkeypatch.setattr(os, "fsync", tidied)
    write_bytes_atomically(tmp_path / "losses", b"1")
    assert len(removed) == 1
    assert os.listdir(tmp_path) == ["losses"]
