"""Integration of a density over one or two parameters, of which each has a prior: the posterior on a grid."""
