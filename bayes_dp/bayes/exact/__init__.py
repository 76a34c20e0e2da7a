"""The posterior by quadrature, for binomial counts."""
