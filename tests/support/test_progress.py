"""The progress bar."""

import pytest
import rich.console

from bayes_dp.support.progress import bar


def test_time_left_is_told_for_slow_steps(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(rich.console, "monotonic", lambda: now[0])
    with bar(10, shown=True) as move:
        for _ in range(4):
            now[0] += 100.0
            move(1, "training")
    last = capsys.readouterr().err.splitlines()[-1]
    assert "training" in last
    assert "4/10" in last
    assert "0:10:00" in last  # 6 steps of 100 s


@pytest.mark.parametrize("shown", [None, False])
def test_silent_where_nobody_looks(shown, capsys):
    with bar(3, shown) as move:
        move(3, "work")
    assert capsys.readouterr().err == ""
