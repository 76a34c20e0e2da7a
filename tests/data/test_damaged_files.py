"""Every reader on damaged files: it reads them or refuses them in one sentence, with little memory and in little time.

Each file is a good one with a few changes, drawn from a seed: bits flipped, bytes cut out, doubled or exchanged for
words that readers stumble over.
"""

from __future__ import annotations

import json
import random
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_dp as bdp
from bayes_dp.data.loss_table import LossTable
from bayes_dp.data.table import is_one_line
from bayes_dp.propensity.checkpoint import Checkpoint
from bayes_dp.propensity.features import as_features
from models.mnist_mlp import Chunk, Settings, _claim, _read

ROUNDS = 300
MEMORY = 100_000_000
SECONDS = 30

WORDS = [
    b"", b"0", b"-1", b"1e999", b"1" * 400, b"9" * 5000, b"0.5", b"nan", b"NaN", b"Infinity", b"-Infinity", b"true",
    b"null", b"[", b"]", b"{", b"}", b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b":", b"#", b"=1+1", b"\0", b"\xff",
    b"\xef\xbb\xbf", b"\xff\xfe", "é٣\u2028".encode(), b"\\ud800", b"[" * 2000, b"{}", b"fp", b"design", b"one_run",
    b"(0, 100000000)", b"100000000", b"'|O'", b"<f2", b"PK\x03\x04", b"\x93NUMPY", b"PAR1",
]  # fmt: skip


def damaged(content: bytes, rng: random.Random) -> bytes:
    """One to four changes."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed) + 1)
        end = min(len(changed), at + rng.choice((1, 1, 4, 20, 200)))
        way = rng.randrange(6)
        if way == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            del changed[at:end]
        elif way == 2:
            changed[at:at] = changed[at:end] * rng.choice((1, 1, 50))
        elif way == 3:
            changed[at:end] = rng.choice(WORDS)
        elif way == 4:
            changed[at:at] = rng.choice(WORDS)
        elif rng.random() < 0.2:
            del changed[at:]
    return bytes(changed)


COUNTS = bdp.ErrorCounts([1, 4, 2], 20, [5, 3, 9], 20, base=["a", "b", "c"], group=["u", "u", "v"])
SCORES = bdp.GuessTable([0.5, -1.25, 3.0, 2.0], [True, False, True, False], [0.5, 0.25, 0.75, 0.5], list("abab"))
LOSSES = LossTable(np.arange(12.0).reshape(2, 6) / 7, np.arange(10.0).reshape(2, 5) / 7, base=["x", "y"])
FEATURES = pd.DataFrame({"age": [20.5, 31.0, 44.0, 18.0], "site": ["n", "s", "n", "s"], "n": [1, 2, 3, 4]})
SETTINGS, CHUNK = Settings(1, 2, 1), Chunk("fixed", 0, 0, 2)


def checkpoint(path: Path) -> Checkpoint:
    return Checkpoint(path, "abc")


def counts(path: Path) -> None:
    COUNTS.to_json(path) if path.suffix == ".json" else path.write_text(_separated(COUNTS.csv(), path))


def scores(path: Path) -> None:
    if path.suffix == ".json":
        path.write_text(json.dumps(SCORES.to_frame().to_dict("records" if "rows" in path.name else "list")))
    else:
        SCORES.to_csv(path)


def losses(path: Path) -> None:
    if path.suffix == ".npz" and "packed" in path.name:
        LOSSES.to_npz(path)
    elif path.suffix == ".npz":
        np.savez(path, A_without=LOSSES.without, A_with=LOSSES.with_, base=np.array(LOSSES.base))
    elif path.suffix == ".json":
        path.write_text(json.dumps(LOSSES.to_frame().to_dict("list")))
    else:
        path.write_text(_separated(LOSSES.to_frame().to_csv(index=False), path))


def features(path: Path) -> None:
    if path.suffix == ".parquet":
        FEATURES.to_parquet(path, compression="zstd" if "packed" in path.name else None)
    elif path.suffix == ".npy":
        np.save(path, FEATURES[["age", "n"]].to_numpy())
    else:
        FEATURES.to_csv(path, index=False)


def _separated(text: str, path: Path) -> str:
    return text.replace(",", "\t") if path.suffix == ".tsv" else text


READERS = {
    "counts.csv": (counts, bdp.ErrorCounts.read),
    "counts.tsv": (counts, bdp.ErrorCounts.read),
    "counts.json": (counts, bdp.ErrorCounts.read),
    "scores.csv": (scores, bdp.GuessTable.read),
    "scores.json": (scores, bdp.GuessTable.read),
    "scores_rows.json": (scores, bdp.GuessTable.read),
    "losses.tsv": (losses, LossTable.read),
    "losses.json": (losses, LossTable.read),
    "losses.npz": (losses, LossTable.read),
    "losses_packed.npz": (losses, LossTable.read),
    "features.csv": (features, as_features),
    "features.npy": (features, as_features),
    "features.parquet": (features, as_features),
    "features_packed.parquet": (features, as_features),
    "comparison.json": (
        lambda path: bdp.compare(COUNTS, 0.1, names=["posterior", "katz", "one-run"]).to_json(path),
        bdp.Comparison.from_json,
    ),
    "checkpoint.json": (lambda path: checkpoint(path).save({0: 0.5, 1: 1.25, 2: 0.0}), checkpoint),
    "settings.json": (lambda path: _claim(path.parent, SETTINGS), lambda path: _claim(path.parent, SETTINGS)),
    "chunk.npz": (
        lambda path: np.savez_compressed(path, losses=np.linspace(0, 1, 16).reshape(4, 2, 2)),
        lambda path: _read(path, CHUNK),
    ),
}


def sentence(read, path, what):
    """The sentence in which a file is refused; None where it is read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(path)
    except bdp.InputError as error:
        said = str(error)
    except BaseException as error:
        raise AssertionError(f"{type(error).__name__}: {error}, by {what}") from error
    else:
        return None
    assert is_one_line(said), what
    assert 10 < len(said) < 1000, what
    return said


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(tmp_path, name):
    write, read = READERS[name]
    path = tmp_path / name
    write(path)
    good = path.read_bytes()
    read(path)
    rng = random.Random(name)
    refused, began = 0, time.process_time()
    tracemalloc.start()
    try:
        for number in range(ROUNDS):
            path.write_bytes(bad := damaged(good, rng))
            said = sentence(read, path, f"change {number}: {bad[:2000]!r}")
            refused += said is not None
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < SECONDS
    assert refused > ROUNDS / 10


WRONG = [None, True, -1, 10**400, 0.5, "", "x", [], [[]], {}, {"a": 1}, "\x1b[2J", "\n", "9" * 5000, [1] * 3]


def holes(content):
    """Every place in a JSON value, as a path of keys."""
    yield ()
    for key, inner in content.items() if isinstance(content, dict) else enumerate(content):
        yield (key,)
        if isinstance(inner, dict | list):
            yield from ((key, *rest) for rest in holes(inner) if rest)


@pytest.mark.parametrize("name", [name for name in READERS if name.endswith(".json")])
def test_wrong_values_in_every_place_are_read_or_refused(tmp_path, name):
    write, read = READERS[name]
    path = tmp_path / name
    write(path)
    good = path.read_text()
    rng = random.Random(name)
    places = sorted(holes(json.loads(good)), key=repr)
    for place in rng.sample(places, min(len(places), 25)):
        for value in WRONG:
            content = [json.loads(good)]
            target, key = content, 0
            for step in place:
                target, key = target[key], step
            target[key] = value
            path.write_text(json.dumps(content[0]))
            sentence(read, path, f"{value!r:.60} at {place}")
