"""Scores of other tools: files as these write them, made here by the description of their public code."""

from __future__ import annotations

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bayes_dp as bdp
from bayes_dp.data.other_tools import scores_of

RNG = np.random.default_rng(0)
MEMBER = np.arange(40) < 20
SCORE = MEMBER + RNG.normal(size=40)
LOGITS = RNG.normal(size=(40, 3))
LABELS = np.arange(40) % 3


def privacy_meter(folder):
    """`np.savez` of get_audit_results."""
    fpr = np.linspace(0, 1, 5)
    rates = {"fpr": fpr, "tpr": fpr, "auc": 0.5, "one_tenth_fpr": 0.0, "zero_fpr": 0.0}
    path = folder / "attack_result_3.npz"
    np.savez(path, **rates, scores=SCORE, memberships=MEMBER)
    return path


def leakpro(folder, **changed):
    """The model dump of MIAResultSchema."""
    path = folder / "attack.json"
    content = {
        "result_name": "rmia", "result_type": "MIAResult", "id": "rmia-1", "tpr": [0.0, 1.0], "fpr": [0.0, 1.0],
        "roc_auc": 0.6, "accuracy": [0.5], "config": {"gamma": 2.0}, "fixed_fpr": {"TPR@1%FPR": 0.1},
        "signal_values": SCORE.tolist(), "true_labels": MEMBER.astype(int).tolist(),
        "tp": [1], "fp": [1], "tn": [1], "fn": [1],
    }  # fmt: skip
    path.write_text(json.dumps(content | changed))
    return path


def sacro(folder, *results):
    """`report.json`, with an entry for each attack."""
    path = folder / "report.json"
    instances = {f"instance_{i}": result for i, result in enumerate(results)}
    entry = {
        "log_id": "7", "log_time": "01/11/2025", "metadata": {"sacroml_version": "1.3.0", "attack_name": "LiRA Attack"},
        "attack_experiment_logger": {"attack_instance_logger": instances},
    }  # fmt: skip
    path.write_text(json.dumps({"LiRA Attack_7": entry}))
    return path


INDIVIDUAL = {"score": SCORE.tolist(), "member": MEMBER.astype(int).tolist(), "label": LABELS.tolist()}


def tensorflow(folder, **arrays):
    path = folder / "inputs.npz"
    np.savez(path, **arrays)
    return path


def sides(name, values):
    return {f"{name}_train": values[MEMBER], f"{name}_test": values[~MEMBER]}


def beside(folder):
    np.savez_compressed(folder / "lira_individual_7_instance_0.npz", score=SCORE, member=MEMBER.astype(int))
    return sacro(folder, {"AUC": 0.6, "individual_file": "lira_individual_7_instance_0.npz"})


def predictions(folder):
    shares = np.stack([1 - SCORE, SCORE], axis=1)
    np.savez_compressed(folder / "worst_predictions.npz", y_pred_proba=shares, y_test=MEMBER.astype(float))
    return sacro(folder, {"AUC": 0.6, "predictions_file": "worst_predictions.npz"})


def odds(values):
    """log p − log(1 − p) of the own class, by the softmax."""
    p = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    own = p[np.arange(40), LABELS]
    return np.log(own) - np.log(1 - own)


PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
FILES = {
    "ml_privacy_meter": ("ml_privacy_meter", privacy_meter, SCORE),
    "LeakPro": ("LeakPro", leakpro, SCORE),
    "SACRO-ML, inline": ("SACRO-ML", lambda folder: sacro(folder, {"AUC": 0.6, "individual": INDIVIDUAL}), SCORE),
    "SACRO-ML, beside": ("SACRO-ML", beside, SCORE),
    "SACRO-ML, predictions": ("SACRO-ML", predictions, SCORE),
    "TensorFlow, losses": ("TensorFlow Privacy", lambda f: tensorflow(f, **sides("loss", -SCORE)), SCORE),
    "TensorFlow, entropies": ("TensorFlow Privacy", lambda f: tensorflow(f, **sides("entropy", -SCORE)), SCORE),
    "TensorFlow, logits": (
        "TensorFlow Privacy",
        lambda f: tensorflow(f, **sides("logits", LOGITS), **sides("labels", LABELS)),
        odds(LOGITS),
    ),
    "TensorFlow, probabilities": (
        "TensorFlow Privacy",
        lambda f: tensorflow(f, **sides("probs", PROBABILITIES), **sides("labels", LABELS)),
        odds(LOGITS),
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_each_file_is_recognised(case, tmp_path):
    tool, make, score = FILES[case]
    path = make(tmp_path)
    found = bdp.read_scores(path, members="coins")
    np.testing.assert_allclose(found.score, score, atol=1e-12)
    np.testing.assert_array_equal(found.member, MEMBER)
    assert found.propensity is None
    assert scores_of(path)[0] == tool
    with pytest.raises(bdp.InputError) as error:
        bdp.read_scores(path)
    said = str(error.value)
    assert said.startswith(f"{path} is of {tool}, which does not say how members were chosen.")
    for words in ('members="coins"', "--members coins", "zero_run"):
        assert words in said
    shifted = bdp.read_scores(path, propensity=0.4)
    assert (shifted.propensity == 0.4).all()
    with pytest.raises(bdp.InputError, match="fair coin"):
        bdp.audits.one_run(shifted, 1e-5)
    with pytest.raises(bdp.InputError, match="exclude each other"):
        bdp.read_scores(path, members="coins", propensity=0.4)


def test_what_tools_have_in_memory():
    fields = dict.fromkeys(("logits_train", "logits_test", "probs_train", "probs_test", "labels_train", "labels_test"))
    attack_input = SimpleNamespace(**fields | sides("loss", -SCORE), entropy_train=None, entropy_test=None)
    result = SimpleNamespace(signal_values=SCORE, true=MEMBER.astype(int))
    frame = pd.DataFrame({"user_id": np.arange(40), "score": SCORE})
    guard = SimpleNamespace(df_train_user=frame[MEMBER], df_test_user=frame[~MEMBER])
    for source in (attack_input, result, guard):
        found = bdp.read_scores(source, members="coins")
        np.testing.assert_array_equal((found.score, found.member), (SCORE, MEMBER))
    pair = bdp.read_scores(frame[MEMBER], non_members=frame[~MEMBER], members="coins")
    np.testing.assert_array_equal(pair.score, SCORE)
    with pytest.raises(bdp.InputError, match="the SimpleNamespace is of PrivacyGuard, which does not say"):
        bdp.read_scores(guard)
    with pytest.raises(bdp.InputError, match="source must be a path, a pandas DataFrame or the result of a tool"):
        bdp.read_scores(3)
    assert len(bdp.read_scores(pd.DataFrame({"score": SCORE, "member": MEMBER}))) == 40


def test_frames_of_members_and_non_members_as_files(tmp_path):
    paths = [tmp_path / name for name in ("train.csv", "test.csv")]
    for path, who in zip(paths, (MEMBER, ~MEMBER), strict=True):
        pd.DataFrame({"user_id": np.arange(20), "score": SCORE[who]}).to_csv(path, index=False)
    found = bdp.read_scores(paths[0], non_members=paths[1], members="coins")
    np.testing.assert_allclose(found.score, SCORE)
    paths[1].write_text("user_id,score\n1,2.5\n2,nothing\n")
    with pytest.raises(bdp.InputError, match=r"test.csv, line 3: score must be a number .*, not 'nothing'"):
        bdp.read_scores(paths[0], non_members=paths[1], members="coins")


def test_logits_as_large_as_numbers_can_be(tmp_path):
    """Their differences are infinite, and so may scores be."""
    logits = 1.5e308 * np.where(np.eye(3)[LABELS] == 1, 1.0, -1.0)
    path = tensorflow(tmp_path, **sides("logits", logits), **sides("labels", LABELS))
    assert (bdp.read_scores(path, members="coins").score == np.inf).all()


def test_several_results_of_one_report(tmp_path):
    other = INDIVIDUAL | {"score": (-SCORE).tolist()}
    path = sacro(tmp_path, {"individual": INDIVIDUAL}, {"individual": other}, {"AUC": 0.5})
    with pytest.raises(
        bdp.InputError, match=r"several results, of which which must name one: LiRA Attack_7/instance_0, "
    ):
        bdp.read_scores(path, members="coins")
    found = bdp.read_scores(path, members="coins", which="LiRA Attack_7/instance_1")
    np.testing.assert_array_equal(found.score, -SCORE)
    with pytest.raises(bdp.InputError, match="which must be one of LiRA Attack_7/instance_0, LiRA Attack_7/instance_1"):
        bdp.read_scores(path, members="coins", which="instance_2")
    with pytest.raises(bdp.InputError, match="which is for a report of SACRO-ML"):
        bdp.read_scores(privacy_meter(tmp_path), members="coins", which="LiRA Attack_7/instance_1")


def test_files_of_this_package_need_no_word_on_members(tmp_path):
    table = bdp.GuessTable(SCORE, MEMBER)
    table.to_csv(tmp_path / "scores.csv")
    assert bdp.read_scores(tmp_path / "scores.csv") == table
    (tmp_path / "counts.csv").write_text("fp,n0,fn,n1\n1,20,4,20\n")
    with pytest.raises(bdp.InputError, match="no column for score or loss"):
        bdp.read_scores(tmp_path / "counts.csv")


def write_npz(folder, **arrays):
    return tensorflow(folder, **arrays)


def pickled(folder):
    path = folder / "attack_results.pkl"
    path.write_bytes(pickle.dumps({"scores": [1, 2]}))
    return path


def objects(folder):
    path = folder / "objects.npz"
    np.savez(path, scores=np.array([1.0, {}], dtype=object), memberships=np.array([0, 1]))
    return path


BAD = {
    "pickled": (pickled, "is pickled, and what is pickled may run anything"),
    "pickled arrays": (objects, "scores cannot be read as a plain array"),
    "nan": (
        lambda f: write_npz(f, scores=[1.0, np.nan], memberships=[0, 1]),
        r"inputs.npz: scores\[1\] must be a number",
    ),
    "membership": (
        lambda f: write_npz(f, scores=[1.0, 2.0], memberships=[0, 2]),
        r"inputs.npz: memberships\[1\] must be",
    ),
    "lengths": (
        lambda f: write_npz(f, scores=[1.0, 2.0], memberships=[0]),
        "memberships must hold as many rows as scores, 2",
    ),
    "none": (lambda f: write_npz(f, scores=[], memberships=[]), "scores must have one number for each of 1 to"),
    "unknown arrays": (lambda f: write_npz(f, fpr=[0.0], tpr=[1.0]), "which are those of no attack that is known"),
    "a matrix": (lambda f: write_npz(f, member=[[1, 0]], losses=[[0.1, 1.0]]), "see ScoreMatrix.from_npz"),
    "nan losses": (
        lambda f: write_npz(f, loss_train=[0.1, np.nan], loss_test=[1.0]),
        r"loss_train\[1\] must be a number, not nan",
    ),
    "labels": (
        lambda f: write_npz(f, **sides("logits", LOGITS), **sides("labels", LABELS + 1)),
        "labels of logits_train must be whole numbers from 0 to 2",
    ),
    "no labels": (lambda f: write_npz(f, **sides("logits", LOGITS)), "which are those of no attack that is known"),
    "counts of LeakPro": (
        lambda f: leakpro(f, signal_values=None),
        "has no signal_values: this attack of LeakPro gave counts",
    ),
    "labels of LeakPro": (
        lambda f: leakpro(f, true_labels=[1, 0]),
        "true_labels must hold as many rows as signal_values, 40",
    ),
    "no individuals": (lambda f: sacro(f, {"AUC": 0.6}), "run the attack of SACRO-ML with report_individual=True"),
    "a path": (
        lambda f: sacro(f, {"individual_file": "../secret.npz"}),
        r"names '../secret.npz', which is no .npz file beside it",
    ),
    "an odd block": (lambda f: sacro(f, {"individual": [1, 2]}), "names None, which is no .npz file beside it"),
    "several models": (
        lambda f: write_npz(f, scores=np.ones((3, 2)), memberships=np.ones((3, 2))),
        r"scores must have one number for each .*, not the shape \(3, 2\)",
    ),
    "one class": (
        lambda f: write_npz(f, **sides("logits", LOGITS[:, :1]), **sides("labels", 0 * LABELS)),
        "of at least 2, with a label",
    ),
    "other classes": (
        lambda f: write_npz(f, logits_train=LOGITS[:20], logits_test=LOGITS[20:, :2], **sides("labels", LABELS % 2)),
        "logits_test must have 3 classes, not 2",
    ),
    "lists of different lengths": (
        lambda f: leakpro(f, signal_values=[[1.0, 2.0], [3.0]]),
        "signal_values must have one number for each of 1 to 1000000 examples, not lists of different lengths",
    ),
    "several target models": (
        lambda f: privacy_meter(f).rename(f / "attack_result_average.npz"),
        "attack_result_average.npz has the scores of all target models in one row",
    ),
    "one array": (lambda f: f / "scores.npy", "scores.npy must end in .csv, .tsv, .txt, .json or .npz"),
    "no probabilities": (
        lambda f: write_npz(f, **sides("probs", 2 * PROBABILITIES), **sides("labels", LABELS)),
        r"probs_train\[0\] must be probabilities that add up to 1",
    ),
    "a missing file": (lambda f: sacro(f, {"individual_file": "gone.npz"}), "gone.npz cannot be read: no such file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_sentence(case, tmp_path):
    make, message = BAD[case]
    path = make(tmp_path)
    with pytest.raises(bdp.InputError, match=message) as error:
        bdp.read_scores(path, members="coins")
    assert "\n" not in str(error.value)
