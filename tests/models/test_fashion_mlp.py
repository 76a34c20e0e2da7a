"""Networks on Fashion-MNIST: the reader of its files, and the table, on images that are made here."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from bayes_dp.attacks.references.registry import INDEX
from models import data, fashion_mlp
from tests.data.test_counts import refusal


def idx(path: Path, values: np.ndarray) -> None:
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    path.write_bytes(gzip.compress(header + values.astype(np.uint8).tobytes()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Noisy images of ten patterns, in the files and with the names of Fashion-MNIST."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 256, (10, 28, 28))
    (tmp_path / "fashion-mnist").mkdir()
    for part, n in (("train", 400), ("t10k", 50)):
        labels = rng.integers(0, 10, n)
        images = np.where(rng.random((n, 28, 28)) < 0.7, rng.integers(0, 256, (n, 28, 28)), patterns[labels])
        idx(tmp_path / "fashion-mnist" / f"{part}-images-idx3-ubyte.gz", images)
        idx(tmp_path / "fashion-mnist" / f"{part}-labels-idx1-ubyte.gz", labels)
    monkeypatch.setenv(data.FOLDER, str(tmp_path))
    return tmp_path / "fashion-mnist"


def test_the_files_are_read_as_they_are(folder: Path):
    pixels, classes = data.fashion_mnist()
    assert (pixels.shape, classes.shape) == ((450, 784), (450,))
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        assert pixels[:400].tobytes() == file.read()[16:]


def test_damaged_files_are_named(folder: Path):
    file = folder / "train-labels-idx1-ubyte.gz"
    content = gzip.decompress(file.read_bytes())
    for bad in (b"", content[:-1], content[:6], b"\1" + content[1:]):
        file.write_bytes(gzip.compress(bad))
        assert refusal(data.fashion_mnist) == f"{file} is no IDX file of bytes in 1 dimensions"
    file.write_bytes(content)
    assert refusal(data.fashion_mnist).startswith(f"{file} cannot be read: ")
    file.unlink()
    assert refusal(data.fashion_mnist) == f"{file} cannot be read: No such file or directory"


def test_the_table(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(fashion_mlp, "_IMAGES", 400)
    monkeypatch.setattr(fashion_mlp, "_EPOCHS", 15)
    command = ["--references", "1", "3", "--targets", "2", "--examples", "200", "--population", "100"]
    assert fashion_mlp.main([*command, "--checkpoint", str(tmp_path / "kept")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| Attack | 1 reference | 3 references |"
    names = [line.split("|")[1].strip() for line in lines[2:]]
    assert names[: len(INDEX) - 1] == [name for name in INDEX if name != "gradient-norm"]
    areas = {name: float(line.split("|")[3].split("±")[0]) for name, line in zip(names, lines[2:], strict=True)}
    assert min(areas["rmia"], areas["calibration"]) > 55
    with pytest.raises(SystemExit):
        fashion_mlp.main([*command, "--checkpoint", str(folder / "train-labels-idx1-ubyte.gz")])
    with pytest.raises(SystemExit):
        fashion_mlp.main([*command, "--examples", "400"])
    assert "examples and population must be at most 400 together, not 500" in capsys.readouterr().err


PUBLISHED = {  # of docs/methods/attacks.md, with four references
    "loss": 52.3,
    "quantile-regression": 53.7,
    "calibration": 59.7,
    "attack-r": 59.0,
    "lira": 57.1,
    "lira-offline": 58.5,
    "rmia": 61.6,
    "rmia-offline": 60.5,
    "base": 61.8,
    "bavaria": 59.8,
    "rmia-offline, a = 0.3": 57.1,
    "lira, own variances": 54.5,
}


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get(data.FOLDER), reason=f"{data.FOLDER} names no folder of data sets")
def test_the_attacks_on_fashion_mnist():
    """Each AUC with four references is that of docs/methods/attacks.md within four standard errors of eight targets."""
    x, y = fashion_mlp.images()
    matrix = fashion_mlp.train(x, y, 8000, 12, n_jobs=2)
    for name, expected in PUBLISHED.items():
        (area, *_), (error, *_) = fashion_mlp.row(matrix, name, fashion_mlp.ATTACKS[name], 4, 8)
        assert abs(area - expected) < max(4 * error, 1.0), name
