"""Bayesian estimation of ε: priors, likelihoods and the methods that combine them."""
