"""The posterior by Hamiltonian Monte Carlo, and its model in NumPyro."""
