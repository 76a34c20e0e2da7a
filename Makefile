# The commands of this repository. Each sets up what it needs, once per interpreter: PYTHON=python3.12 make test

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
VENV := .venv-$(VERSION)
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
TWO := -n 2 --dist worksteal # workers, of which one that is done takes over tests of the other
OLDEST := .venv-oldest

# What needs no sampler, no training and no long simulation.
QUICK := tests/attacks tests/audits tests/data tests/leakage tests/propensity tests/results tests/support \
	tests/test_checks.py tests/test_init.py tests/test_region.py tests/test_tradeoff.py \
	tests/contract/test_imports.py tests/bayes/exact tests/bayes/likelihoods/test_binomial.py \
	$(patsubst %,tests/bayes/test_%.py,estimate layer priors) \
	$(patsubst %,tests/comparison/test_%.py,contradictions guessing) \
	$(patsubst %,tests/cli/test_%.py,cli measure plan propensity zero_run) \
	$(patsubst %,--ignore=tests/%.py,audits/test_choice audits/test_memberships bayes/grid/test_axis \
	propensity/test_bootstrapping propensity/test_falsification support/test_workers)
# What leans on the dependencies: arrays, special functions, compilers, samplers, diagnostics, files, figures, options.
CORE := tests/audits tests/plots tests/cli/test_cli.py tests/propensity/test_fitting.py tests/test_tradeoff.py \
	$(patsubst %,tests/data/test_%.py,counts guess_table loss_table) tests/results/test_interop.py \
	$(patsubst %,tests/bayes/exact/test_%.py,posterior marginal) tests/bayes/test_estimate.py tests/bayes/test_priors.py \
	tests/bayes/nuts/test_posterior.py::test_forms tests/bayes/mhaar/test_posterior.py::test_same_seed_same_bits

.PHONY: help demo test test-fast test-oldest test-slow bench bench-report lint ruff types docs docs-check wheel clean
.NOTPARALLEL:

help:
	@echo "make demo        the main job on bundled data: a table, a figure and a JSON file in bayes-dp-demo/"
	@echo "make test        the test suite (minutes)"
	@echo "make test-fast   the part of it that needs no sampler and no training, for daily work"
	@echo "make test-oldest the core tests with the oldest allowed versions of all dependencies"
	@echo "make test-slow   the long simulations"
	@echo "make bench       the speed measurements"
	@echo "make bench-report  how long things take and how that grows, into docs/evidence/speed.md"
	@echo "make lint        ruff and mypy"
	@echo "make docs        the documentation as a site, in site/ (open site/index.html)"
	@echo "make docs-check  run the code of README.md and docs/"
	@echo "make wheel       build the wheel into dist/"
	@echo "make clean       remove what the others made, environments included"
	@echo "PYTHON=python3.12 make ... picks another interpreter (3.11 or later)"

demo: $(VENV)/.installed
	$(BIN)/bayes-dp demo

test: $(VENV)/.test-installed
	$(PYTEST) $(TWO)

test-fast: $(VENV)/.test-installed
	$(PYTEST) $(TWO) $(QUICK)

test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest $(TWO) $(CORE)

test-slow: $(VENV)/.test-installed
	$(PYTEST) -m slow $(TWO)

bench: $(VENV)/.test-installed
	$(PYTEST) tests/benchmarks --benchmark-enable

bench-report: $(VENV)/.test-installed
	$(BIN)/python docs/tables.py record speed growth starts samplers

lint: ruff types

ruff: $(VENV)/.lint-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint-installed
	$(BIN)/mypy

docs: $(VENV)/.docs-installed
	BAYES_DP_NOTEBOOKS=1 NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-check: $(VENV)/.test-installed
	$(PYTEST) tests/contract/test_readme.py

wheel: $(BIN)/python
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf .venv-* build dist site bayes-dp-demo .hypothesis .benchmarks .*_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "PYTHON=$(PYTHON) must be a Python 3.11 or later"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Stamps: an environment is brought up to date when pyproject.toml changes, and otherwise used as it is.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.installed

$(VENV)/.docs-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@ $(VENV)/.installed

$(VENV)/.lint-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[lint]"
	touch $@ $(VENV)/.installed

$(OLDEST)/.installed: pyproject.toml .ci/oldest.py
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) .ci/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --editable ".[test]" --constraint $(OLDEST)/constraints.txt
	touch $@
