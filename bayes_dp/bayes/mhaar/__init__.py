"""The posterior by Markov chains over the parameters and the error rates: MCMC-DP-Est."""
