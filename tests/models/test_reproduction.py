"""The reproduction of MCMC-DP-Est: its prior, its Monte Carlo errors, the numbers of its page, the whole in small."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

import bayes_dp as bdp
from bayes_dp.bayes.convergence import ConvergenceWarning
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from models import reproduction
from models.reproduction import CodePrior, Settings, artificial, attack_of, main, quantile_error, weak_attacks

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "reproduction.md"
FAST = {"chains": 2, "draws": 200, "warmup": 100}
TINY = Settings(
    seeds=(0, 1),
    sampler=FAST,
    fit=FAST,
    likelihoods=("binomial", "bivariate_normal"),
    size=50,
    iterations=60,
    lags=20,
    strengths=(0.0, 0.99, "tight"),
    sizes=(100, 500),
)


@pytest.mark.parametrize("least", [1e-6, 0.5])
def test_the_prior_of_the_code_has_the_integral_one_and_is_as_in_the_code(least: float):
    prior = CodePrior(least)
    epsilon = np.array([0.7, 2.5])

    log_epsilon = np.linspace(np.log(least), np.log(30), 20_001)
    in_log = np.exp(np.asarray(prior.log_prob(np.exp(log_epsilon))) + log_epsilon)
    total = integrate.trapezoid(in_log, log_epsilon)
    assert total == pytest.approx(1, rel=1e-4)
    ratio = np.exp(np.diff(np.asarray(prior.log_prob(epsilon))))
    assert ratio == pytest.approx(np.exp(-(2.5**2 - 0.7**2) / 10) * 0.7 / 2.5, rel=1e-5)
    assert float(prior.support.lower_bound) == least


@pytest.mark.parametrize(("runs", "strength"), [(500, 0.0), (100, 0.99), (200, 0.99)])
@pytest.mark.parametrize("least", [1e-3, 1e-9])
def test_the_posterior_with_the_prior_of_the_code_is_what_its_chain_aims_at(runs: int, strength: float, least: float):
    """A random walk on log ε without the factor ε'/ε goes to the density L(ε) exp(−ε²/10) of log ε."""
    errors = round(0.4 * runs)
    base = MarginalLikelihood(*(np.array([float(k)]) for k in (errors, runs, errors, runs)))
    log_epsilon = np.linspace(np.log(least), np.log(25), 6001)
    epsilon = np.exp(log_epsilon)
    log_density = -(epsilon**2) / 10
    log_density += base.total(epsilon, np.full(len(epsilon), 0.01), np.full((len(epsilon), 1), strength))[:, 0]
    density = np.exp(log_density - log_density.max())
    cumulative = integrate.cumulative_trapezoid(density, log_epsilon, initial=0)
    slow = np.exp(np.interp([0.05, 0.95], cumulative / cumulative[-1], log_epsilon))
    fast = artificial(attack_of(runs), least, strength=strength).interval(0.9)
    np.testing.assert_allclose(fast, slow, rtol=2e-3, atol=1e-4)


def test_the_error_of_a_quantile_is_its_spread_over_repetitions():
    rng = np.random.default_rng(0)
    chains = rng.standard_normal((300, 4, 500))
    for p in (0.05, 0.95):
        spread = np.std([np.quantile(draws, p) for draws in chains])
        stated = np.mean([quantile_error(draws, p) for draws in chains[:40]])
        assert stated == pytest.approx(spread, rel=0.12)
        theory = np.sqrt(p * (1 - p) / 2000) / stats.norm.pdf(stats.norm.ppf(p))
        assert stated == pytest.approx(theory, rel=0.12)
    # Draws that each come ten times are worth a tenth.
    slow = np.repeat(chains[0], 10, axis=1)
    assert quantile_error(slow, 0.05) == pytest.approx(quantile_error(chains[0], 0.05), rel=0.25)
    assert quantile_error(slow, 0.05, effective=2000) == pytest.approx(quantile_error(chains[0], 0.05), rel=0.25)


def test_weak_attacks_are_as_the_paper_draws_them():
    counts = weak_attacks()
    assert len(counts) == 10
    assert set(counts.negatives) == set(counts.positives) == {1000}
    rates = np.concatenate([c.false_positives / 1000 for c in map(weak_attacks, range(200))])
    binomial = 0.25 * (1 - 1 / 21) / 1000  # of the counts around their rates
    assert rates.mean() == pytest.approx(0.5, abs=0.01)
    assert rates.var() == pytest.approx(0.25 / 21 + binomial, rel=0.1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder and what is printed of a small run, on losses of one algorithm in place of the published and our own.

    Everything is run once, and looked at by several tests.
    """
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(3)
    path = folder / "mcmc_dp_est_losses.npz"
    losses = rng.normal(0, 1, (2, 4, 12)) - np.array([0, 1])[:, None, None]
    np.savez(path, A1_out=losses[0], A1_in=losses[1])
    one = (("A1", "A1", (5.52, 10.52)),)
    printed = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(action="ignore", category=ConvergenceWarning),
    ):
        patch.setattr(reproduction, "PUBLISHED", one)
        patch.setattr(reproduction, "OWN", one)
        patch.setattr(reproduction, "_OWN_LOSSES", path)
        assert main(["--data", str(folder), "--figures", str(folder)], TINY) == 0
    return folder, printed.getvalue()


def test_the_page_has_the_exact_numbers(made: tuple[Path, str]):
    """Those of Figures 2 and 3, which are computed and not sampled, row by row."""
    page = PAGE.read_text(encoding="utf-8")
    printed = made[1].split("Table 1")[0].splitlines()
    rows = [line for line in printed if line.startswith("| ") and not line.startswith("| ---")]
    assert len(rows) == (1 + 3) + (1 + 2) + (1 + 4)
    missing = [row for row in rows if row not in page]
    assert not missing, "docs/evidence/reproduction.md lacks " + "; ".join(missing)


@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_everything_runs_in_small(made: tuple[Path, str]):
    folder, out = made
    counts = bdp.attacks.measure_fast(bdp.LossTable.from_npz(folder / "mcmc_dp_est_losses.npz", "A1"), 0.1)
    post = bdp.estimate(counts, 1e-3, likelihood="bivariate_normal", seed=0, progress=False, **FAST)
    low, high = post.interval(0.9)
    assert out.count(f"| A1 | 5.52 to 10.52 | {low:.2f} to {high:.2f} |") == 2
    assert "`binomial`" in out
    assert "`bivariate_normal`" in out
    names = ("fig2", "fig3", "fig4_5", "error_curves", "own_fig4_5", "fig6")
    for name in names:
        picture = (folder / f"reproduction_{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert 5_000 < len(picture) < 150_000
    assert len(list(folder.glob("*.png"))) == len(names)


def test_bad_input_is_told_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for arguments, words in (
        (["--data", str(tmp_path)], "mcmc_dp_est_losses.npz cannot be read: no such file"),
        (["--data", str(tmp_path), "--figures", str(tmp_path / "none")], "there is no folder"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        captured = capsys.readouterr()
        assert words in captured.err
        assert not captured.out
