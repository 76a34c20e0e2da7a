"""Bayesian estimation of ε: priors, likelihoods and the methods that combine them."""

import importlib
import sys
import warnings

# NumPyro imports it. In a notebook without ipywidgets it warns that its bar, which is never shown here, will be plain.
if "ipykernel" in sys.modules:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("tqdm.auto")
